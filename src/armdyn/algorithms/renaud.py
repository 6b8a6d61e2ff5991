"""Renaud's composite bodies, each about the origin of its own frame.

[lin1991], Appendix: Fig. A1 and (A1) to (A9), after [renaud1984] and [burdick1986]. Joints count
from 0; r is the first revolute joint (N_JR). ``u[m, j]`` is u_m^<j>, ``sh[m, j]`` is
u_m x (the way from E_m to E_j) in E_j; ``ch[j]`` and ``Jh[j]`` (c-hat, J-hat) are given in E_j.

Our copy of the paper is machine-read. In three places of Fig. A1 this file follows (A1) and (A8):

- e_j is made of c-hat_j; our copy has p-hat_j.
- m-hat s-hat_z and m-hat u_z; our copy has the x components.
- The prismatic term of the (3, 3) line is m-hat (s_x^2 + s_y^2); our copy has z for x.
"""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.algorithms.lin1991 import (
    Pairs,
    Row,
    Vectors,
    across,
    composite_masses,
    first_revolute,
    similarity,
)
from armdyn.algorithms.stages import stage
from armdyn.chain.arm import Arm
from armdyn.spatial import Rotation, Scalar, Symmetric, Vector, steiner


def mass_matrix(arm: Arm, q: Sequence[Scalar]) -> list[Row]:
    """H(q), shape (n, n): Fig. A1, with (A1).

    All revolute 13.5n^2+22.5n-68 M, 9n^2+23n-58 A, 3n-6 D, as in Table I with D = 1 A.
    """
    R, s, mh = arm.rotations(q), arm.shifts(q), composite_masses(arm)
    u, sh = axes(arm, R, s)
    ch, Jh = composites(arm, R, s, mh)
    H: list[Row] = [[0] * arm.n for _ in range(arm.n)]
    for j in range(arm.n):
        H[j][j] = Jh[j].zz if arm.revolute[j] else mh[j]
        e = across(ch[j])
        for m in range(j):
            if arm.revolute[m] and arm.revolute[j]:
                a = Vector(Jh[j].xz, Jh[j].yz, Jh[j].zz)
                H[m][j] = a @ u[m, j] + sh[m, j] @ e
            elif arm.revolute[j]:
                H[m][j] = e @ u[m, j]
            elif arm.revolute[m]:
                H[m][j] = mh[j] * sh[m, j].z - e @ u[m, j]
            else:
                H[m][j] = mh[j] * u[m, j].z
            H[j][m] = H[m][j]
    return H


@stage("axes")
def axes(arm: Arm, R: Sequence[Rotation], s: Sequence[Vector]) -> tuple[Pairs, Pairs]:
    """u_j^<i>, and of revolute joints s-hat_j^<i> by (A9), for i > j."""
    u: Pairs = {}
    sh: Pairs = {}
    for j in range(arm.n - 1):
        X, Y, u[j, j + 1] = R[j + 1].rows()
        if arm.revolute[j]:  # 4M2A: the third component is constant
            v = across(s[j + 1])
            sh[j, j + 1] = Vector(
                v.x * X.x + v.y * Y.x, v.x * X.y + v.y * Y.y, -arm.b[j + 1] * arm.Sb[j + 1]
            )
        for i in range(j + 2, arm.n):
            u[j, i] = R[i].down(u[j, i - 1])
            if arm.revolute[j]:
                sh[j, i] = R[i].down(sh[j, i - 1] + u[j, i - 1].cross(s[i]))
    return u, sh


@stage("composites")
def composites(
    arm: Arm, R: Sequence[Rotation], s: Sequence[Vector], mh: Row, innermost: int = 0
) -> tuple[Vectors, dict[int, Symmetric]]:
    """c-hat_i (A7) and, for i >= r, J-hat_i (A8), of which the first has its (3, 3) only.

    c-bar (A5) and J-bar (A6) take the outer links' mass to the origin of E_{i+1}, and are constant
    unless that origin slides.
    """
    n, r = arm.n, first_revolute(arm)
    ch, Jh = {n - 1: arm.first_moment[n - 1]}, {n - 1: arm.inertia[n - 1]}
    for i in reversed(range(innermost, n - 1)):
        k = i + 1
        c, ms = R[k].up(ch[k]), mh[k] * s[k]
        ch[i] = (arm.first_moment[i] + ms) + c
        if i > r:
            Jbar = arm.inertia[i] + steiner(ms, s[k])
            Jh[i] = Jbar + similarity(R[k], Jh[k]) + crossed(s[k], c)
        elif i == r:
            Jh[i] = Symmetric(0, 0, 0, 0, 0, polar_moment(arm.inertia[i], R[k], Jh[k], s[k], ms, c))
    return ch, Jh


def polar_moment(
    I: Symmetric, R: Rotation, Jh: Symmetric, s: Vector, ms: Vector, c: Vector
) -> Scalar:
    """The (3, 3) of J-hat_i from J-hat_{i+1}, 14M11A."""
    Z = R.rows()[2]
    Jbar = I.zz + (ms.x * s.x + ms.y * s.y)
    return Jbar + Z @ (Jh @ Z) + ((2 * s.x) * c.x + (2 * s.y) * c.y)


def crossed(s: Vector, c: Vector) -> Symmetric:
    """-[s x][c x] - [c x][s x], 9M6A3D; 15A with the addition to J-hat and doubling by addition."""
    xx, yy, zz = s.x * c.x, s.y * c.y, s.z * c.z
    return Symmetric(
        2 * (yy + zz),
        -(s.x * c.y + s.y * c.x),
        -(s.x * c.z + s.z * c.x),
        2 * (xx + zz),
        -(s.y * c.z + s.z * c.y),
        2 * (xx + yy),
    )
