"""Errors of the compiled functions against the same formulas in arithmetic of 50 digits.

The truth is the method that judges the others (``quantities.reference``; for quantities of one
method: that), not the method that armdyn chose. An error is set against the sum of the absolute
values of the terms that the number is the sum of, when a formula is written out: each term a
product of constants of the arm, sines and cosines of joint angles and numbers of the state. That
formula is the truth's own, unless another method has smaller terms (``TERMS``). Forward dynamics is
judged by its backward error, |M qdd + b - tau| against |M||qdd| + |b| + |tau|, all in the maximum
norm. Second derivatives are set against the largest such sum of their array, for what is zero term
by term in one method's formulas is a difference in another's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

import armdyn
from armdyn.chain import Chain
from armdyn.comparison.exactness import leaves
from armdyn.quantities import QUANTITIES, SEVERAL, reference
from armdyn.quantities.tasks import Task, formula
from armdyn.spatial import sincos
from benchmarks.arms import states

DIGITS = 50
TERMS = {"christoffel": "momentum"}  # whose terms cancel less than those of the truth


@dataclass(frozen=True)
class Accuracy:
    """The largest error of a quantity of an arm, in units of eps times the terms' sum."""

    arm: str
    quantity: str
    dtype: str
    method: str | None
    states: int
    error: float


AS_ARRAYS = ("inverse_dynamics_second_derivatives",)  # judged by an array's largest number
SOLVED = ("forward_dynamics_derivatives",)  # quantities that solve, and so have no terms


class Terms:
    """A number and the sum of the absolute values of the terms that it is the sum of."""

    __slots__ = ("value", "size")

    def __init__(self, value: float, size: float | None = None) -> None:
        self.value = value
        self.size = abs(value) if size is None else size

    def __add__(self, other: Any) -> Terms:
        if isinstance(other, (int, float)):
            other = Terms(other)
        if not isinstance(other, Terms):
            return NotImplemented
        return Terms(self.value + other.value, self.size + other.size)

    def __mul__(self, other: Any) -> Terms:
        if isinstance(other, (int, float)):
            other = Terms(other)
        if not isinstance(other, Terms):
            return NotImplemented
        return Terms(self.value * other.value, self.size * other.size)

    def __truediv__(self, other: Any) -> Terms:
        divisor = other.value if isinstance(other, Terms) else other  # a single term
        return Terms(self.value / divisor, self.size / abs(divisor))

    def __neg__(self) -> Terms:
        return Terms(-self.value, self.size)

    def __sub__(self, other: Any) -> Terms:
        return self + -other

    def __rsub__(self, other: Any) -> Terms:
        return -self + other

    __radd__, __rmul__ = __add__, __mul__


@sincos.register
def _(angle: Terms) -> tuple[Terms, Terms]:
    return Terms(math.sin(angle.value)), Terms(math.cos(angle.value))


def accuracy(arms: tuple[str, ...], count: int, dtypes: tuple[str, ...]) -> list[Accuracy]:
    """Every quantity of every arm at so many random states."""
    found = []
    sums = [name for name, each in QUANTITIES.items() if not each.of and name not in SOLVED]
    with mpmath.workdps(DIGITS):
        for name in arms:
            chain = armdyn.load(name).chain
            for dtype in dtypes:
                numbers = {k: v.astype(dtype) for k, v in states(chain, count, seed=1).items()}
                for quantity in sums:
                    judge = _backward if quantity == "forward_dynamics" else _forward
                    error = judge(chain, quantity, numbers) / float(np.finfo(dtype).eps)
                    method = Task(quantity).settled(chain).method
                    found.append(Accuracy(name, quantity, dtype, method, count, error))
    return found


def _forward(chain: Chain, quantity: str, numbers: dict[str, np.ndarray]) -> float:
    """The largest error, relative to its terms."""
    judge = reference(chain, quantity) if quantity in SEVERAL else None
    exact = formula(chain, mpmath.mpf, Task(quantity, judge))
    terms = formula(chain, Terms, Task(quantity, TERMS.get(quantity, judge)))
    results = armdyn.Robot(chain).function(quantity)(*_of(quantity, numbers))
    computed = results if isinstance(results, tuple) else (results,)
    errors = []
    for k, state in enumerate(zip(*_of(quantity, numbers), strict=True)):
        given = [[float(number) for number in argument] for argument in state]
        truths = list(leaves(exact(*([mpmath.mpf(x) for x in argument] for argument in given))))
        sums = list(leaves(terms(*([Terms(x) for x in argument] for argument in given))))
        values = np.concatenate([np.ravel(result[k]) for result in computed])
        sizes = [total.size if isinstance(total, Terms) else abs(float(total)) for total in sums]
        if quantity in AS_ARRAYS:
            lengths = [result[k].size for result in computed]
            parts = np.split(sizes, np.cumsum(lengths)[:-1])
            sizes = [part.max() for part in parts for _ in part]
        for value, truth, size in zip(values.tolist(), truths, sizes, strict=True):
            error = float(abs(mpmath.mpf(value) - truth))
            errors.append(error / size if size else error and math.inf)
    return float(np.max(errors))  # NaN, if there is one


def _backward(chain: Chain, quantity: str, numbers: dict[str, np.ndarray]) -> float:
    """The largest backward error of forward dynamics, tau being that of inverse dynamics."""
    robot = armdyn.Robot(chain)
    mass_matrix, bias = (
        formula(chain, mpmath.mpf, Task(name, "newton-euler")) for name in ("mass_matrix", "bias")
    )
    tau = robot.inverse_dynamics(numbers["q"], numbers["qd"], numbers["qdd"])
    qdd = robot.forward_dynamics(numbers["q"], numbers["qd"], tau)
    errors = []
    for rows in zip(numbers["q"], numbers["qd"], tau, qdd, strict=True):
        q, qd, t, a = ([mpmath.mpf(float(x)) for x in row] for row in rows)
        M, b = mass_matrix(q), bias(q, qd)
        moved = [sum(m * x for m, x in zip(row, a, strict=True)) for row in M]
        rest = max(abs(x + y - z) for x, y, z in zip(moved, b, t, strict=True))
        norm = max(sum(map(abs, row)) for row in M)
        scale = norm * max(map(abs, a)) + max(map(abs, b)) + max(map(abs, t))
        errors.append(float(rest / scale))
    return float(np.max(errors))


def _of(quantity: str, numbers: dict[str, np.ndarray]) -> list[np.ndarray]:
    return [numbers[argument] for argument in QUANTITIES[quantity].arguments]
