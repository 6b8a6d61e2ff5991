"""Formulations 1 and 2 of the inertia matrix, from the minimal inertial parameters alone.

[lin1999], sections 3 and 4. First moment and inertia tensor of a composite body split into
constants and what varies, ch_i = k_i + l_i and Jh_i = U_i + V_i, (22) and (23), and of the
constants the minimal ones suffice. Joint r is the first revolute joint, joint s the first
revolute one that is not parallel to it. Links before s turn about one direction only: of their
tensors and torques they need the part along u_r, which is constant in their frames.

Joints count from 0; r or s is n where there is no such joint. ``u_r[i]`` is u_r^<i>, a constant
for r <= i < s; s_j and u are s_j^<i> and u_j^<i> as in ``lin_fang``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from armdyn.algorithms.lin_fang import (
    Composites,
    axis_before,
    column_1,
    diagonal,
    entry_2,
    from_shoulder,
    moved_along_x,
    moved_along_z,
    outward,
    symmetric,
)
from armdyn.algorithms.stages import stage
from armdyn.chain.arm import Arm
from armdyn.spatial import ZERO, Rotation, Row, Scalar, Symmetric, Vector


@dataclass
class Bodies:
    """What Table VII has of each composite body i, in E_i.

    mh, k and U are the inertia constants. The table fills in l, ch and J3, the third column of Jh,
    as far as they are needed.
    """

    mh: list[Scalar]
    k: list[Vector]
    U: list[Symmetric]
    l: list[Vector]
    ch: list[Vector]
    J3: list[Vector]


def bodies(mh: list[Scalar], k: list[Vector], U: list[Symmetric]) -> Bodies:
    """The composite bodies of an arm, when no more than their constants are known."""
    J3 = [Vector(J.xz, J.yz, J.zz) for J in U]
    return Bodies(mh, k, U, [ZERO] * len(mh), list(k), J3)


def formulation_1(arm: Arm, q: Sequence[Scalar]) -> list[Row]:
    """D(q), shape (n, n), by Table VII, Table I and, for i < s, (29) to (31)."""
    R, d = arm.rotations(q), arm.extensions(q)
    body, t_r = table_7(arm, R, d)
    return table_1(arm, R, d, body, t_r)


def formulation_2(arm: Arm, q: Sequence[Scalar]) -> list[Row]:
    """D(q), shape (n, n), by Table VII, Table II and, for i < s, (32)."""
    R, d = arm.rotations(q), arm.extensions(q)
    body, t_r = table_7(arm, R, d)
    return table_2(arm, R, d, body, t_r)


# Table VII --------------------------------------------------------------------------------------


@stage("composites")
def table_7(
    arm: Arm, R: Sequence[Rotation], d: Sequence[Scalar]
) -> tuple[Composites, list[Scalar]]:
    """Table VII: ch_i, the third column of Jh_i (Jh_33 alone for i < s), and t_r.

    t_r is (t_{i,i}^<r>)_z of (29), the torque t_{i,i} along joint r, for r <= i < s. V_13 is
    Y_13 - b (l_i)_z, as in (34). Y_33 of a translational joint i + 1 < s takes off
    2 [u_z u_x] l_x and 2 [u_z u_y] l_y; the table takes them off once, the second with a plus.
    Without a joint s the second part begins at the last link, with l and V_33 zero. The table's
    two lines for V_33 are one here: for revolute i, u_x is zero.
    """
    body = bodies(*constants(arm, R))
    Y33 = first_part(arm, R, d, body)
    t_r = second_part(arm, R, d, body, Y33)
    return Composites(body.mh, body.ch, body.J3, []), t_r


def first_part(arm: Arm, R: Sequence[Rotation], d: Sequence[Scalar], body: Bodies) -> Scalar:
    """For i = n - 1, ..., s - 1: l_i; ch_i and Jh_i for i >= s; (Y)_33 for i = s - 1."""
    _, s, u_r = arm.start
    V = Symmetric(0, 0, 0, 0, 0, 0)
    for i in reversed(range(s - 1, arm.n - 1)):
        X = tensor_X(arm, d, body, V, i)
        if i == s - 1:
            body.l[i] = moment_l(arm, R, d, body, i)
            u_rs = u_r[i].z * R[s].rows()[2] if arm.revolute[i] else R[s].down(u_r[i])  # (39)
            return along(u_rs, X)
        V = tensor_V(arm, R, d, body, X, i)
    return 0


def tensor_V(
    arm: Arm, R: Sequence[Rotation], d: Sequence[Scalar], body: Bodies, X: Symmetric, i: int
) -> Symmetric:
    """V_i by (34) or (35), from X; on the way l_i, ch_i and the third column of Jh_i."""
    k, U, b = body.k[i], body.U[i], arm.b[i + 1]
    l = body.l[i] = moment_l(arm, R, d, body, i)
    Y = similarity(R[i + 1], X)
    w = 2 * b * l.x
    V = Symmetric(Y.xx, Y.xy - b * l.y, Y.xz - b * l.z, Y.yy + w, Y.yz, Y.zz + w)
    body.ch[i] = k + (Vector(l.x, l.y, 0) if arm.revolute[i] else l)
    if arm.revolute[i]:
        body.J3[i] = Vector(U.xz + V.xz, U.yz + V.yz, U.zz + V.zz)
    return V


def second_part(
    arm: Arm, R: Sequence[Rotation], d: Sequence[Scalar], body: Bodies, Y33: Scalar
) -> list[Scalar]:
    """For i = s - 1, ..., r: ch_i, (Jh_i)_33 and (t_{i,i}^<r>)_z."""
    r, s, u_r = arm.start
    k, U, l, ch, J3 = body.k, body.U, body.l, body.ch, body.J3
    t_r, V33 = [0] * arm.n, 0
    for i in reversed(range(r, s)):
        x, y, z = u_r[i]
        if i + 1 < s:
            l[i] = moment_l(arm, R, d, body, i)
            turns = arm.revolute[i + 1]
            Y33 = J3[i + 1].z if turns else V33 + slid(d[i + 1], u_r[i + 1], body, i + 1)
        if i + 1 < arm.n:
            w = (1 - x * x) * l[i].x - (x * y) * l[i].y - (x * z) * l[i].z
            V33 = Y33 + 2 * arm.b[i + 1] * w
        if arm.revolute[i]:
            ch[i] = k[i] + Vector(l[i].x, l[i].y, 0)
            J3[i] = Vector(0, 0, U[i].zz + V33)
            t_r[i] = z * J3[i].z
        else:
            t_r[i] = kappa_1(u_r[i], k[i]) - y * l[i].x + x * l[i].y
    return t_r


def moment_l(arm: Arm, R: Sequence[Rotation], d: Sequence[Scalar], body: Bodies, i: int) -> Vector:
    """l_i by (24), from the terms of i + 1."""
    m, c, l = body.mh[i + 1], body.ch[i + 1], body.l[i + 1]
    if arm.revolute[i + 1]:
        return R[i + 1].up(Vector(c.x, c.y, l.z))
    return R[i + 1].up(l + Vector(0, 0, m * d[i + 1]))


def tensor_X(arm: Arm, d: Sequence[Scalar], body: Bodies, V: Symmetric, i: int) -> Symmetric:
    """X, which R_{i+1} turns into E_i in (34) or (35), from the terms of i + 1."""
    m, c, l = body.mh[i + 1], body.ch[i + 1], body.l[i + 1]
    U, J, d_o = body.U[i + 1], body.J3[i + 1], d[i + 1]
    if arm.revolute[i + 1]:
        w = 2 * d_o * l.z
        xx, xy = V.xx + (U.xx - U.yy) + w, V.xy + U.xy
        return Symmetric(xx, xy, J.x - d_o * c.x, V.yy + w, J.y - d_o * c.y, J.z)
    w = d_o * (m * d_o + 2 * c.z)
    return Symmetric(V.xx + w, V.xy, V.xz - d_o * c.x, V.yy + w, V.yz - d_o * c.y, V.zz)


def similarity(R: Rotation, X: Symmetric) -> Symmetric:
    """Y = R X R^T by (41) to (54), 16M14A1D once 2 S beta is on hand."""
    C, S, Cb, Sb = R.C, R.S, R.Cb, R.Sb
    A1 = C * (X.xx - X.yy) - 2 * S * X.xy
    A2 = C * A1
    A3 = X.xx - A2
    A4 = S * A1 + X.xy
    A5 = S * X.xz + C * X.yz
    A6 = Cb * (A3 - X.zz) - 2 * Sb * A5
    A7 = Cb * A6
    A8 = C * X.xz - S * X.yz
    Y12, Y13 = Cb * A4 - Sb * A8, Sb * A4 + Cb * A8
    return Symmetric(A2 + X.yy, Y12, Y13, A7 + X.zz, A5 + Sb * A6, A3 - A7)


def along(u_rs: Vector, X: Symmetric) -> Scalar:
    """(Y)_33 = u^T X u by (55), u being u_r^<s>, whose z is constant."""
    x, y, z = u_rs
    return (
        x * (x * X.xx + 2 * y * X.xy) + y * y * X.yy + 2 * z * (x * X.xz + y * X.yz) + z * z * X.zz
    )


def slid(d: Scalar, u_r: Vector, body: Bodies, i: int) -> Scalar:
    """What a translational joint i < s adds to (Y)_33 in (40), u_r being u_r^<i>."""
    x, y, z = u_r
    m, l = body.mh[i], body.l[i]
    moved = (1 - z * z) * (m * d + 2 * l.z)
    return d * (2 * kappa_2(u_r, body.k[i]) + moved - 2 * (z * x) * l.x - 2 * (z * y) * l.y)


def kappa_1(u_r: Vector, k: Vector) -> Scalar:
    """(27)."""
    return u_r.x * k.y - u_r.y * k.x


def kappa_2(u_r: Vector, k: Vector) -> Scalar:
    """(28)."""
    return (1 - u_r.z * u_r.z) * k.z - u_r.z * (u_r.x * k.x + u_r.y * k.y)


def constants(
    arm: Arm, R: Sequence[Rotation]
) -> tuple[list[Scalar], list[Vector], list[Symmetric]]:
    """The inertia constants mh, k and U by (3) and (C1) to (C3), from the minimal view's links.

    Those have handed in already what a revolute joint lets through, but not what rides on a
    prismatic joint further out, which mh, k and U include: a constant sum, of nothing but zeros
    where no prismatic joint follows.
    """
    mh, k, U = list(arm.mass), list(arm.first_moment), list(arm.inertia)
    for i in reversed(range(1, arm.n)):
        if all(arm.revolute[i:]):
            continue
        b, m, c, J = arm.b[i], mh[i], k[i], U[i]
        turn = R[i]
        if arm.revolute[i]:
            turn = Rotation(1, 0, arm.Cb[i], arm.Sb[i])  # theta_i does not matter to what follows
            c = Vector(0, 0, c.z)
            J = Symmetric(J.yy, 0, 0, J.yy, 0, 0) + moved_along_z(arm.d[i], m, c)
            c = c + Vector(0, 0, m * arm.d[i])
        c = turn.up(c)
        mh[i - 1] = mh[i - 1] + m
        k[i - 1] = k[i - 1] + (c + Vector(m * b, 0, 0))
        U[i - 1] = U[i - 1] + (turn.similarity(J) + moved_along_x(b, m, c))
    return mh, k, U


# Tables I and II for minimal parameters ---------------------------------------------------------


@stage("matrix")
def table_1(
    arm: Arm,
    R: Sequence[Rotation],
    d: Sequence[Scalar],
    body: Composites,
    t_r: Sequence[Scalar],
) -> list[Row]:
    """Table I for i >= s; for i < s by (29) to (31), which need t along joint r alone.

    Our copy of the paper does not have (30); here it is
    (t_{j,i}^<r>)_z = (t_{j+1,i}^<r>)_z + u_r^<j>.(s_{j+1}^<j> x f_{j,i}^<j>). (31) takes
    (u_r^<j>)_z. A joint j < r slides, and holds f_{j,i} alone.
    """
    r, s, u_r = arm.start
    columns = diagonal(arm, body)
    distance = from_shoulder(arm, R, d)
    for i in range(s, arm.n):
        columns[i] = column_1(arm, R, d, distance, body, i)
    for i in range(s):
        D, c, t = columns[i], body.ch[i], t_r[i]
        f = Vector(-c.y, c.x, 0) if arm.revolute[i] else Vector(0, 0, body.mh[i])
        for j in reversed(range(i)):
            f = R[j + 1].up(f)
            if j >= r:
                s_j = Vector(arm.b[j + 1], 0, 0) + d[j + 1] * axis_before(arm, j + 1)
                t = t + u_r[j] @ s_j.cross(f)
            D[j] = u_r[j].z * t if arm.revolute[j] else f.z
    return symmetric(columns)


@stage("matrix")
def table_2(
    arm: Arm,
    R: Sequence[Rotation],
    d: Sequence[Scalar],
    body: Composites,
    t_r: Sequence[Scalar],
) -> list[Row]:
    """Table II for i >= s; for i < s by (32), without delta_i, which strikes zeros only."""
    _, s, u_r = arm.start
    columns = diagonal(arm, body)
    for j in range(arm.n):
        for i, u, s_j in outward(arm, R, d, j):
            m, c, J = body.mh[i], body.ch[i], body.J3[i]
            if i >= s or not arm.revolute[j]:
                columns[i][j] = entry_2(arm, body, j, i, u, s_j)
            elif arm.revolute[i]:
                columns[i][j] = u_r[j].z * u_r[i].z * (J.z + c.x * s_j.x + c.y * s_j.y)
            else:
                columns[i][j] = u @ Vector(m * s_j.y, -(m * s_j.x), 0) + u_r[j].z * t_r[i]
    return symmetric(columns)
