"""How exact a result is: numbers of a compiled function against arithmetic of fifty digits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation, localcontext
from typing import Any

import numpy as np
from numpy.random import default_rng

from armdyn.chain import Chain
from armdyn.errors import MethodError, shorten
from armdyn.quantities import QUANTITIES, reference
from armdyn.quantities.choice import NEGLIGIBLE, ROUNDING
from armdyn.quantities.tasks import Task, formula

DIGITS = 50
NOTHING = 1e-40  # less than this is the rounding of fifty digits
WORSE = 100  # so often what rounding costs where frames are remote may a right method lose, too

EPS = float(np.finfo(float).eps)

States = Mapping[str, np.ndarray]


def random_states(chain: Chain, count: int, seed: int = 0) -> States:
    """Random q, qd, qdd and tau, shape (count, n) each.

    q is uniform between the joint's limits where both are within a turn (1 m), else in one turn
    (within 1 m); qd within 1, qdd within 5 rad/s (m/s) and a second more, tau within 20 N m (N).
    """
    rng = default_rng(seed)
    widest = [math.pi if joint.kind == "R" else 1.0 for joint in chain.joints]
    limits = [(joint.lower, joint.upper) for joint in chain.joints]
    lower, upper = np.array(
        [
            limit if max(map(abs, limit)) <= 2 * width else (-width, width)
            for limit, width in zip(limits, widest, strict=True)
        ]
    ).T
    q = rng.uniform(lower, upper, (count, chain.n))
    others = {"qd": 1.0, "qdd": 5.0, "tau": 20.0}
    return {"q": q} | {k: rng.uniform(-w, w, (count, chain.n)) for k, w in others.items()}


def remoteness(chain: Chain) -> float:
    """How far off frames lie, in lengths of the arm: hundreds where axes are nearly parallel.

    What is expressed in such frames, and then cancels, loses digits with the square of it. The
    arm's length is the largest radius of gyration about a joint.
    """
    mass_matrix = formula(chain, float, Task("mass_matrix", "newton-euler"))([0.0] * chain.n)
    turning = [i for i, joint in enumerate(chain.joints) if joint.kind == "R"]
    mass = chain.mass
    inertia = max((mass_matrix[i][i] for i in turning), default=0.0)
    if not (mass and inertia > 0):
        return 1.0
    away = [abs(length) for joint in chain.joints for length in (joint.b, joint.d)]
    away += [float(np.linalg.norm(link.inertia.com)) for link in chain.links]
    return max(away) / math.sqrt(inertia / mass)


class Reference:
    """A quantity of an arm at some states in fifty digits, and how far off other numbers are.

    An error is set against the largest number that the same joint has in any of the states: of a
    torque the joint's largest torque, of a mass matrix the largest element in the joint's row; of
    several results each is taken by itself. A
    joint with next to nothing (the torque of gravity about an upright axis) is measured by the
    largest number of all.

    Attributes:
        method: whose formula is evaluated.
        tolerance: the largest error of a right method: what rounding can explain on this arm.
    """

    def __init__(self, chain: Chain, quantity: str, states: States) -> None:
        self.method = reference(chain, quantity)
        task = Task(quantity, self.method)
        columns = [states[argument].tolist() for argument in QUANTITIES[quantity].arguments]
        with localcontext(prec=DIGITS):
            try:
                self._truth = _evaluated(formula(chain, Decimal, task), Decimal, columns)
            except (ZeroDivisionError, InvalidOperation):
                raise MethodError(f"{quantity} of {shorten(chain.name)} divides by zero") from None
        joints = chain.n * len(QUANTITIES[quantity].results)  # those of each result
        size = np.abs(self._by_joint(self._truth, joints)).max(axis=(0, 2))
        largest = size.max() or 1.0
        self._scale = np.where(size < NEGLIGIBLE * largest, largest, size)
        self.tolerance = max(ROUNDING, WORSE * EPS * remoteness(chain) ** 2)

    def error(self, *results: np.ndarray) -> float:
        """The largest error of all states; infinite where a number is not finite."""
        flat = np.hstack([values.reshape(len(self._truth), -1) for values in results]).tolist()
        if not all(math.isfinite(value) for row in flat for value in row):
            return math.inf
        with localcontext(prec=DIGITS):
            apart = [
                [Decimal(value) - true for value, true in zip(*pair, strict=True)]
                for pair in zip(flat, self._truth, strict=True)
            ]
        by_joint = np.abs(self._by_joint(apart, len(self._scale)))
        error = float((by_joint / self._scale[:, None]).max())
        return error if error > NOTHING else 0.0

    @staticmethod
    def _by_joint(rows: Sequence[Sequence[Any]], n: int) -> np.ndarray:
        """(states, joints of all results, what a joint has)."""
        return np.array(rows, dtype=float).reshape(len(rows), n, -1)


def _evaluated(
    function: Callable[..., Any], number: Callable[[float], Any], columns: Sequence[Any]
) -> list[list[Any]]:
    """The results of all states, each as one flat list."""
    return [
        list(leaves(function(*([number(x) for x in argument] for argument in state))))
        for state in zip(*columns, strict=True)
    ]


def leaves(nested: Any) -> Iterator[Any]:
    """The scalars of nested lists and tuples, in order."""
    if isinstance(nested, (list, tuple)):
        for part in nested:
            yield from leaves(part)
    else:
        yield nested
