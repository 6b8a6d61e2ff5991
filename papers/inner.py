"""The papers' inner quantities, in their letters, of any arm and state.

The functions that compute the methods compute these too: there is no second implementation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from armdyn.algorithms import gdahj, kic_augmented, lin1991, lin_fang_minimal
from armdyn.algorithms.method import without_centres
from armdyn.chain import Chain
from armdyn.chain.arm import Arm
from armdyn.chain.minimal import MinimalParameters
from armdyn.errors import MethodError, ShapeError, shorten, unknown
from armdyn.spatial import ZERO, Symmetric, Vector

Array = np.ndarray[Any, np.dtype[np.float64]]
Indexed = dict[Any, Array]  # by j or by (m, j), joints counted from 1 as in the papers
Floats = list[float]


def inner(
    robot: Any, paper: str, q: Sequence[float], qd: Sequence[float] | None = None
) -> dict[str, Indexed]:
    """A paper's inner quantities: letter -> index -> array, SI units.

    Joints count from 1 and frames are the paper's. An index that a method leaves out is absent.

    Args:
        robot: a Robot or a Chain of n joints.
        paper: one of these keys.
            "lin1991": d_mj (3,) of (66) for m < j and j >= N_JR; a_j (3,) of (62) and B_j (3, 3) of
            (64) for rotational j > N_JR; zeta_j (3,) of (55) for j > N_JR, if qd is given. In E_j.
            "lin1999": k_i, l_i (3,) and U_i, V_i (3, 3) of (22) to (26) and (C1) to (C3). In E_i.
            "safeea2018": b_i, d_i, y_i (3,) and D_i (3, 3). In base axes.
            "kang": C_k (3,), the point C*_k, and III_k (3, 3). From the origin of E_1, in its axes.
        q: joint positions [rad or m], shape (n,).
        qd: joint velocities, shape (n,); only zeta needs them.
    """
    chain = getattr(robot, "chain", robot)
    if not isinstance(chain, Chain):
        raise MethodError(f"robot is {shorten(robot)}; expected a Robot or a Chain")
    if not isinstance(paper, str) or paper not in PAPERS:
        raise MethodError(unknown("paper with inner quantities", paper, PAPERS))
    speeds = None if qd is None else state(chain, "qd", qd)
    return PAPERS[paper](chain, state(chain, "q", q), speeds)


def state(chain: Chain, name: str, given: Sequence[float]) -> Floats:
    """A state as a list of n floats."""
    array = np.asarray(given, dtype=float)
    if array.shape != (chain.n,) or not np.isfinite(array).all():
        raise ShapeError(f"{name} is {shorten(given)}; expected {chain.n} finite numbers")
    return list(map(float, array))


def of_lin1991(chain: Chain, q: Floats, qd: Floats | None) -> dict[str, Indexed]:
    """d_mj, a_j, B_j and zeta_j."""
    arm = with_centres(chain)
    R = arm.rotations(q)
    body = lin1991.composite_bodies(arm, R, q)
    d = lin1991.bias_coefficients(arm, body)
    found: dict[str, Indexed] = {
        "d": {(m + 1, j + 1): vector(d_mj) for (m, j), d_mj in d.items()},
        "a": {j + 1: vector(lin1991.vector_a(body, j)) for j in sorted(body.A)},
        "B": {j + 1: matrix(lin1991.matrix_B(body, j)) for j in sorted(body.A)},
    }
    if qd is not None:
        zetas = lin1991.zetas(arm, R, body.u, qd)
        found["zeta"] = {j + 1: vector(zeta) for j, zeta in zetas.items()}
    return found


def of_lin1999(chain: Chain, q: Floats, qd: Floats | None) -> dict[str, Indexed]:
    """k_i, U_i, l_i and V_i of the natural parameters."""
    arm, n = chain.on(float), chain.n
    R, d = arm.rotations(q), arm.extensions(q)
    constants = [ten @ chain.parameters for ten in MinimalParameters(chain).constants()]
    mh = [float(m) for m, *_ in constants]
    k = [Vector(*map(float, c[1:4])) for c in constants]
    U = [Symmetric(xx, xy, xz, yy, yz, zz) for *_, xx, xy, yy, xz, yz, zz in constants]
    body = lin_fang_minimal.bodies(mh, k, U)
    V = [Symmetric(0, 0, 0, 0, 0, 0)] * n
    for i in reversed(range(n - 1)):
        X = lin_fang_minimal.tensor_X(arm, d, body, V[i + 1], i)
        V[i] = lin_fang_minimal.tensor_V(arm, R, d, body, X, i)
    return {
        "k": indexed(map(vector, k)),
        "U": indexed(matrix(J.rows()) for J in U),
        "l": indexed(map(vector, body.l)),
        "V": indexed(matrix(J.rows()) for J in V),
    }


def of_safeea2018(chain: Chain, q: Floats, qd: Floats | None) -> dict[str, Indexed]:
    """b_i, D_i, d_i and y_i."""
    arm = with_centres(chain)
    R, p = gdahj.kinematics(arm, q)
    bodies = gdahj.composites(arm, R, p, ZERO, gdahj.AsOne())
    axes = [Vector(x.z, y.z, z.z) for x, y, z in R]
    forces = [gdahj.force(*of_joint) for of_joint in zip(axes, bodies, arm.revolute, strict=True)]
    return {
        "b": indexed(vector(body.b) for body in bodies),
        "D": indexed(matrix(body.D) for body in bodies),
        "d": indexed(vector(d) for d, _ in forces),
        "y": indexed(vector(y) for _, y in forces),
    }


def of_kang(chain: Chain, q: Floats, qd: Floats | None) -> dict[str, Indexed]:
    """III_k and C*_k."""
    arm = with_centres(chain)
    bodies = kic_augmented.augmented_bodies(arm, *kic_augmented.placements(arm, q))
    return {
        "III": indexed(matrix(J.rows()) for J in bodies.III),
        "C": indexed(map(vector, bodies.C)),
    }


PAPERS: Mapping[str, Callable[[Chain, Floats, Floats | None], dict[str, Indexed]]] = {
    "lin1991": of_lin1991,
    "lin1999": of_lin1999,
    "safeea2018": of_safeea2018,
    "kang": of_kang,
}


def with_centres(chain: Chain) -> Arm:
    """The arm on floats, if each link has a centre of mass."""
    arm = chain.on(float)
    reason = without_centres(arm)
    if reason:
        raise MethodError(f"{shorten(chain.name)} has no such quantities: {reason}")
    return arm


def indexed(arrays: Iterable[Array]) -> Indexed:
    """Arrays by their index from 1."""
    return dict(enumerate(arrays, start=1))


def vector(v: Vector) -> Array:
    """A vector as an array (3,)."""
    return np.array(list(v), dtype=float)


def matrix(rows: Iterable[Vector]) -> Array:
    """A matrix by its rows as an array (3, 3)."""
    return np.array([list(row) for row in rows], dtype=float)
