"""The experiment of [safeea2018]: operations and rounding errors of long random arms.

The arms are drawn as the paper says, section IV: masses from 1 to 10 kg; inertia tensors that are
random positive definite matrices with elements from 1 to 10 kg m^2; the rest, of which it says no
more than "generated randomly", uniform here, angles in one turn, lengths and centres of mass within
1 m. Such a tensor need not be that of a body, and most are not: the mass matrix does not mind.

The error is that of eq. (32): the sum of all differences over the largest element. The paper takes
it between two methods; here it is taken against the mass matrix in fifty digits.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cache

import numpy as np
from numpy.random import Generator, default_rng

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


def random_arm(n: int, seed: int = 0) -> Chain:
    """An arm of n revolute joints by the paper's distributions."""
    rng = default_rng(seed)
    turns, lengths = rng.uniform(-math.pi, math.pi, (2, n)), rng.uniform(-1.0, 1.0, (2, n))
    mass, com = rng.uniform(1.0, 10.0, n), rng.uniform(-1.0, 1.0, (n, 3))
    with unlogged():
        return Chain.from_mdh(
            beta=turns[0],
            theta=turns[1],
            b=lengths[0],
            d=lengths[1],
            mass=mass,
            com=com,
            inertia=[random_tensor(rng) for _ in range(n)],
            name=f"safeea2018-{n}",
            check="warn",
        )


@contextmanager
def unlogged() -> Iterator[None]:
    """While it lasts nothing is logged: that a link is no body is said once, under the table."""
    log = logging.getLogger("armdyn")
    log.addFilter(_nothing)
    try:
        yield
    finally:
        log.removeFilter(_nothing)


def _nothing(record: logging.LogRecord) -> bool:
    return False


def random_tensor(rng: Generator) -> np.ndarray:
    """A positive definite matrix with elements from 1 to 10, by drawing until one is."""
    while True:
        xx, xy, xz, yy, yz, zz = rng.uniform(1.0, 10.0, 6)
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if np.linalg.eigvalsh(tensor)[0] > 0:
            return tensor


def bodies(n: int) -> int:
    """How many links of such an arm are bodies: their moments obey the triangle inequality."""
    tensors = (link.inertia.about_com for link in random_arm(n).links)
    moments = (np.linalg.eigvalsh(tensor) for tensor in tensors)
    return sum(bool(low + middle >= high) for low, middle, high in moments)


@cache
def trial(n: int) -> Trial:
    """A random arm of n revolute joints in random postures."""
    chain = random_arm(n)
    errors: dict[str, list[float]] = {method: [] for method in METHODS}
    apart = []
    for q in default_rng(n).uniform(-math.pi, math.pi, (POSTURES, n)).tolist():
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
        "A random arm of n revolute joints a line, by the paper's distributions; of the "
        f"{SIZES[-1]} tensors of the last one, {bodies(SIZES[-1])} can be that of a body. Errors "
        f"are means of {POSTURES} postures, against {DIGITS} digits; the last column is the "
        "paper's, between two methods in doubles. Operations are M + A + D, literal, with direct "
        "kinematics on hand.",
        words=0,
    )
