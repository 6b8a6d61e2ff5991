"""The experiment of [safeea2018]: operations and rounding errors of long random arms.

The error is that of eq. (32): the sum of all differences over the largest element. The paper takes
it between two methods; here it is taken against the mass matrix in fifty digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cache

import numpy as np

from armdyn.algorithms.catalogue import find
from armdyn.chain import Chain
from armdyn.papers.claims import Grid, Part, fit
from armdyn.spatial import Scalar

SIZES = (5, 10, 20, 40, 70, 100)
POSTURES = 3  # of one arm a size
DIGITS = 50
STAGES = {"gdahj": "dynamics", "crba": None, "hybrid": "dynamics"}  # kinematics are on hand
METHODS = tuple(STAGES)

Matrix = Sequence[Sequence[Scalar]]


@dataclass(frozen=True)
class Trial:
    """What the experiment gave for an arm of n joints.

    Attributes:
        n: the number of joints.
        operations: by method, M + A + D.
        errors: by method, eq. (32) against fifty digits, the mean of all postures.
        apart: eq. (32) between GDAHJ and CRBA, as the paper has it.
    """

    n: int
    operations: dict[str, int]
    errors: dict[str, float]
    apart: float


def relative_error(A: Matrix, B: Matrix) -> float:
    """Eq. (32)."""
    pairs = [
        (Decimal(a), Decimal(b))
        for rows in zip(A, B, strict=True)
        for a, b in zip(*rows, strict=True)
    ]
    apart = sum((abs(a - b) for a, b in pairs), Decimal(0))
    return float(apart / max(abs(a + b) / 2 for a, b in pairs))


def mass_matrix(method: str, chain: Chain, q: Sequence[float], number: type = float) -> Matrix:
    """The mass matrix on scalars of this type."""
    matrix: Matrix = find("mass_matrix", method).function(chain.on(number), list(map(number, q)))
    return matrix


@cache
def trial(n: int) -> Trial:
    """A random arm of n revolute joints in random postures."""
    chain = Chain.random(n)
    errors: dict[str, list[float]] = {method: [] for method in METHODS}
    apart = []
    for q in np.random.default_rng(n).uniform(-math.pi, math.pi, (POSTURES, n)).tolist():
        found = {method: mass_matrix(method, chain, q) for method in METHODS}
        with localcontext(prec=DIGITS):
            truth = mass_matrix("crba", chain, q, Decimal)
            for method in METHODS:
                errors[method].append(relative_error(found[method], truth))
            apart.append(relative_error(found["gdahj"], found["crba"]))
    means = {method: float(np.mean(several)) for method, several in errors.items()}
    return Trial(n, operations(n), means, float(np.mean(apart)))


def operations(n: int) -> dict[str, int]:
    """M + A + D by method, literal, kinematics on hand."""
    return {
        method: int(sum(p(n) for p in fit((Part(method, stage=stage),)).values()))
        for method, stage in STAGES.items()
    }


def table() -> Grid:
    """The experiment as numbers."""
    names = ("GDAHJ", "CRBA", "hybrid")
    return Grid(
        "Experiment. Operations, and errors by eq. (32)",
        (
            "n",
            *(f"{name} ops" for name in names),
            *(f"{name} error" for name in names),
            "GDAHJ-CRBA",
        ),
        tuple(
            (
                str(t.n),
                *(str(t.operations[method]) for method in METHODS),
                *(f"{t.errors[method]:.1e}" for method in METHODS),
                f"{t.apart:.1e}",
            )
            for t in map(trial, SIZES)
        ),
        f"A random arm of n revolute joints a line. Errors are means of {POSTURES} postures, "
        f"against {DIGITS} digits; the last column is the paper's, between two methods in doubles. "
        "Operations are M + A + D, literal, with direct kinematics on hand.",
        words=0,
    )
