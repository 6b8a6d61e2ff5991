"""Integrators: one step of (q, qd), or of (q, p), written once for numbers of any kind.

A vector here is a NumPy array, of floats or of traced scalars; nothing looks at a value. At a
fraction c of the step ``rate(c, q, qd)`` answers with the acceleration qdd and the torque tau. A
step answers with the next q and qd, and with qdd and tau at its beginning.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.spatial import select_lt

Vector = np.ndarray
Rate = Callable[[float, Vector, Vector], tuple[Vector, Vector]]
Stepped = tuple[Vector, Vector, Vector, Vector]  # next q, next qd, qdd, tau
Field = Callable[[Vector, Vector], Vector]
# q, qd of the step; of the stage; weighted sums of both; its number; qdd and tau, of results
Staged = tuple[Vector, ...]


def _equal(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-14)


@dataclass(frozen=True)
class RungeKutta:
    """An explicit Runge-Kutta method by its Butcher tableau."""

    order: int
    nodes: tuple[float, ...]  # c
    rows: tuple[tuple[float, ...], ...]  # a
    weights: tuple[float, ...]  # b

    def __post_init__(self) -> None:
        rows_fit = all(_equal(sum(a), c) for a, c in zip(self.rows, self.nodes, strict=True))
        moments = (
            sum(b * c**k for b, c in zip(self.weights, self.nodes, strict=True))
            for k in range(self.order)
        )
        if not (rows_fit and all(_equal(m, 1 / (k + 1)) for k, m in enumerate(moments))):
            raise ValueError(f"not a method of order {self.order}: {self}")

    def step(self, rate: Rate, h: Any, q: Vector, qd: Vector) -> Stepped:
        """One step of length h."""
        speeds: list[Vector] = []
        accelerations: list[Vector] = []
        torques: list[Vector] = []
        for c, a in zip(self.nodes, self.rows, strict=True):
            speeds.append(moved(qd, h, a, accelerations))
            qdd, tau = rate(c, moved(q, h, a, speeds[:-1]), speeds[-1])
            accelerations.append(qdd)
            torques.append(tau)
        b = self.weights
        q, qd = moved(q, h, b, speeds), moved(qd, h, b, accelerations)
        return q, qd, accelerations[0], torques[0]

    def stage(self, rate: Rate, h: Any, zero: Any, state: Staged) -> Staged:
        """One stage of a step of length h: as many of them as there are weights are ``step``.

        It holds for methods whose stages look at the last one alone. ``zero`` is -0, to which a
        number is added without a change. After the next state stand qdd and tau of this stage.
        """
        q, qd, x, v, moves, kicks, number = state
        last = len(self.weights) - 1

        def of_this_stage(values: Sequence[float]) -> Vector:
            found: Any = values[-1]
            for k in reversed(range(len(values) - 1)):
                found = select_lt(number[0], k + 0.5, values[k], found)
            return np.array([found], dtype=object)

        def unless_last(a: Vector, b: Vector) -> Vector:
            pairs = zip(a, b, strict=True)
            found = [select_lt(number[0], last - 0.5, *pair) for pair in pairs]
            return np.array(found, dtype=object)

        qdd, tau = rate(0, x, v)
        a, b = of_this_stage([row[-1] for row in self.rows[1:]]), of_this_stage(self.weights)
        moves, kicks = moves + b * v, kicks + b * qdd
        x = q + h * unless_last(a * v, moves)
        v = qd + h * unless_last(a * qdd, kicks)
        none = np.repeat(zero, len(q))
        return (
            unless_last(q, x),
            unless_last(qd, v),
            x,
            v,
            unless_last(moves, none),
            unless_last(kicks, none),
            unless_last(number + 1, 0 * number),
            qdd,
            tau,
        )


@dataclass(frozen=True)
class AdamsBashforth:
    """An Adams-Bashforth method by the weights of the present rate and of those before it."""

    order: int
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        for k in range(self.order):  # exact for the k-th power of time
            moment = sum(b * (-j) ** k for j, b in enumerate(self.weights))
            if not _equal(moment, 1 / (k + 1)):
                raise ValueError(f"not a method of order {self.order}: {self}")

    def step(
        self,
        rate: Rate,
        h: Any,
        q: Vector,
        speeds: Sequence[Vector],
        accelerations: Sequence[Vector],
    ) -> Stepped:
        """One step of length h; ``speeds`` are qd now and before, ``accelerations`` from before.

        The latest come first.
        """
        qdd, tau = rate(0, q, speeds[0])
        b = self.weights
        return moved(q, h, b, speeds), moved(speeds[0], h, b, [qdd, *accelerations]), qdd, tau


# [kutta1901]; [bashforth1883], which [lin1991] recommends for simulation.
RK4 = RungeKutta(
    4, (0, 1 / 2, 1 / 2, 1), ((), (1 / 2,), (0, 1 / 2), (0, 0, 1)), (1 / 6, 1 / 3, 1 / 3, 1 / 6)
)
AB4 = AdamsBashforth(4, (55 / 24, -59 / 24, 37 / 24, -9 / 24))
ADAPTIVE = ("DOP853", "LSODA")  # SciPy's, by name
INTEGRATORS = ("ab4", "rk4", "midpoint", *ADAPTIVE)


def moved(x: Vector, h: Any, weights: Sequence[float], rates: Sequence[Vector]) -> Vector:
    """What x becomes: x + h times the weighted sum of rates."""
    terms = [w * rate for w, rate in zip(weights, rates, strict=True) if w]
    return x + h * sum(terms[1:], terms[0]) if terms else x


# The implicit midpoint rule on (q, p), with p = M(q) qd: symplectic ([hairer2006], VI.4). ``force``
# is the rate of p as a function of q and qd, ``speed`` is qd as a function of q and p.


def midpoint_iterated(
    force: Field, speed: Field, h: Any, q: Vector, p: Vector, v: Vector
) -> Vector:
    """The speed at the midpoint, better by one fixed-point iteration than the guess v."""
    middle = q + h / 2 * v
    return speed(middle, p + h / 2 * force(middle, v))


def midpoint_step(force: Field, h: Any, q: Vector, p: Vector, v: Vector) -> tuple[Vector, Vector]:
    """The next q and p, once the speed v at the midpoint is known."""
    return q + h * v, p + h * force(q + h / 2 * v, v)
