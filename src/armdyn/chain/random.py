"""Random arms of any size: the test benches on which every method is tried."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.random import default_rng

from armdyn.chain import given
from armdyn.chain.pose import Pose
from armdyn.errors import ModelError, shorten, unknown
from armdyn.forks import importing

if TYPE_CHECKING:
    from armdyn.chain import Chain

Structure = Literal[
    "generic",
    "parallel",
    "antiparallel",
    "parallel-start",
    "antiparallel-start",
    "orthogonal",
    "intersecting",
    "coincident",
    "spherical-wrist",
]
STRUCTURES: tuple[Structure, ...] = Structure.__args__  # type: ignore[attr-defined]


def draw(n: int, joints: str | None, seed: int, structure: Structure) -> Chain:
    """A random arm, defined exactly by these lines.

    From ``numpy.random.default_rng(seed)`` are drawn, in this order, each for all joints at once:

    1. beta and theta, uniform in (-pi, pi), shape (2, n);
    2. b and d, uniform in (-0.5, 0.5) m, shape (2, n);
    3. mass, uniform in (0.5, 5) kg; the centre of mass, uniform in (-0.2, 0.2) m, shape (n, 3);
    4. a rotation a link and one for the base, by QR of standard normal matrices (n + 1, 3, 3)
       with columns made unique by the signs of R's diagonal and the first column's sign chosen
       for determinant one; and three principal second moments a link, E = m r^2 with r uniform
       in (0.02, 0.2) m, shape (n, 3): the inertia about the centre of mass is tr(E) 1 - E
       in the rotated axes, so that it is that of a body;
    5. integers 0 to 3, shape (4, n), used by the sparse structures.

    The structure then changes the table; the first row always moves into the base, whose
    rotation is random, so that gravity (0, 0, -9.81) stands in general position:

    - "generic": nothing; no axis is parallel to, or meets, another.
    - "parallel": every beta = 0. "antiparallel": every beta = pi.
    - "parallel-start", "antiparallel-start": beta_2 = 0 or pi, the rest generic.
    - "orthogonal": beta and theta are quarter turns by the integers 1 and 2, b = 0 where integer 3
      is odd, d = 0 where integer 4 is odd: sparse, like industrial arms.
    - "intersecting": every b = 0.
    - "coincident": b = beta = 0 where integer 3 is odd: the joint's axis is the one before.
    - "spherical-wrist": the last three axes meet at right angles: b = 0 and beta = -+90 degrees
      for the last two rows, d = 0 for the last but one.
    """
    with importing:
        from armdyn.chain import Chain

    if not isinstance(structure, str) or structure not in STRUCTURES:
        raise ModelError(unknown("structure", structure, STRUCTURES))
    n, seed = given.natural("n", n), given.natural("seed", seed)
    given.check_count(n)
    joints = "R" * n if joints is None else joints
    if not isinstance(joints, str) or len(joints) != n:
        raise ModelError(
            f"joints must be one letter for each of n = {n} joints, not {shorten(joints)}"
        )
    rng = default_rng(seed)
    beta, theta = rng.uniform(-math.pi, math.pi, (2, n))
    b, d = rng.uniform(-0.5, 0.5, (2, n))
    mass, com = rng.uniform(0.5, 5.0, n), rng.uniform(-0.2, 0.2, (n, 3))
    turns = [_rotation(A) for A in rng.standard_normal((n + 1, 3, 3))]
    moments = mass[:, None] * rng.uniform(0.02, 0.2, (n, 3)) ** 2
    pick = rng.integers(0, 4, (4, n))
    inertia = [R @ np.diag(E.sum() - E) @ R.T for R, E in zip(turns[:n], moments, strict=True)]
    if structure == "parallel":
        beta[:] = 0.0
    elif structure == "antiparallel":
        beta[:] = math.pi
    elif structure in ("parallel-start", "antiparallel-start"):
        beta[1:2] = 0.0 if structure == "parallel-start" else math.pi
    elif structure == "orthogonal":
        beta, theta = pick[0] * (math.pi / 2), pick[1] * (math.pi / 2)
        b, d = np.where(pick[2] % 2, 0.0, b), np.where(pick[3] % 2, 0.0, d)
    elif structure == "intersecting":
        b[:] = 0.0
    elif structure == "coincident":
        b, beta = np.where(pick[2] % 2, 0.0, b), np.where(pick[2] % 2, 0.0, beta)
    elif structure == "spherical-wrist":
        b[-2:] = 0.0
        d[-2:-1] = 0.0
        beta[-2:] = np.array([-math.pi / 2, math.pi / 2])[-min(n, 2) :]
    return Chain.from_mdh(
        b=b,
        beta=beta,
        d=d,
        theta=theta,
        joints=joints,
        mass=mass,
        com=com,
        inertia=[(J + J.T) / 2 for J in inertia],
        base=Pose.of(turns[n]),
        name=f"{structure}-{joints}-{shorten(seed)}",
    )


def _rotation(A: np.ndarray) -> np.ndarray:
    Q, R = np.linalg.qr(A)
    Q = Q * np.sign(np.diag(R))
    Q[:, 0] *= np.sign(np.linalg.det(Q))
    return Q
