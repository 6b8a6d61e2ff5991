"""Formulations 1 and 2 of the inertia matrix, from the minimal inertial parameters alone.

[lin1999], sections 3 and 4. First moment and inertia tensor of a composite body split into
constants and what varies, ch_i = k_i + l_i and Jh_i = U_i + V_i, (22) and (23), and of the
constants the minimal ones suffice. Joint r is the first revolute joint, joint s the first
revolute one that is not parallel to it. Links before s turn about one direction only: of their
tensors and torques they need the part along u_r, which is constant in their frames.

Joints count from 0; r or s is n where there is no such joint.
"""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.algorithms.lin_fang import (
    Composites,
    Row,
    axis_before,
    column_1,
    diagonal,
    entry_2,
    moved_along_x,
    moved_along_z,
    offset,
    outward,
    symmetric,
)
from armdyn.algorithms.stages import stage
from armdyn.chain.arm import Arm
from armdyn.spatial import ZERO, Rotation, Scalar, Symmetric, Vector

NONE = Symmetric(0, 0, 0, 0, 0, 0)


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


@stage("composites")
def table_7(
    arm: Arm, R: Sequence[Rotation], d: Sequence[Scalar]
) -> tuple[Composites, list[Scalar]]:
    """Table VII: ch_i and the third column of Jh_i, of which Jh_33 alone for i < s; and t_r.

    t_r is (t_{i,i}^<r>)_z of (29), the torque t_{i,i} along joint r, for r <= i < s. Departures
    from the print: V_13 = Y_13 - b (l_i)_z; Y_33 of a translational joint i + 1 < s takes off
    2 [u_z u_x] l_x and 2 [u_z u_y] l_y; without a joint s the second part begins at the last
    link, with l and V_33 zero. Its two lines for V_33 are one: for revolute i, u_x is zero.
    """
    n, b, turns = arm.n, arm.b, arm.revolute
    r, s, u = arm.start
    mh, k, U = constants(arm, R)
    ch, J3 = list(k), [Vector(J.xz, J.yz, J.zz) for J in U]
    l, V, t_r = [ZERO] * n, [NONE] * n, [0] * n
    V33 = Y33 = 0
    for i in reversed(range(s - 1, n - 1)):
        o = i + 1
        l[i] = moment_l(turns[o], R[o], d[o], mh[o], ch[o], l[o])
        X = tensor_X(turns[o], d[o], mh[o], ch[o], J3[o], U[o], V[o], l[o])
        if i >= s:
            Y = similarity(R[o], X)
            e = 2 * b[o] * l[i].x
            xy, xz = Y.xy - b[o] * l[i].y, Y.xz - b[o] * l[i].z
            V[i] = Symmetric(Y.xx, xy, xz, Y.yy + e, Y.yz, Y.zz + e)
            ch[i] = k[i] + (Vector(l[i].x, l[i].y, 0) if turns[i] else l[i])
            if turns[i]:
                J3[i] = Vector(U[i].xz + V[i].xz, U[i].yz + V[i].yz, U[i].zz + V[i].zz)
        else:
            Y33 = along(u[i].z * R[s].rows()[2] if turns[i] else R[s].down(u[i]), X)
    for i in reversed(range(r, s)):
        o, ur = i + 1, u[i]
        if o < s:
            l[i] = moment_l(turns[o], R[o], d[o], mh[o], ch[o], l[o])
            Y33 = J3[o].z if turns[o] else V33 + slid(d[o], mh[o], kappa_2(u[o], k[o]), u[o], l[o])
        if o < n:
            x, xy, xz = 1 - ur.x * ur.x, ur.x * ur.y, ur.x * ur.z
            V33 = Y33 + 2 * b[o] * (x * l[i].x - xy * l[i].y - xz * l[i].z)
        if turns[i]:
            ch[i] = k[i] + Vector(l[i].x, l[i].y, 0)
            J3[i] = Vector(0, 0, U[i].zz + V33)
            t_r[i] = ur.z * J3[i].z
        else:
            t_r[i] = kappa_1(ur, k[i]) - ur.y * l[i].x + ur.x * l[i].y
    return Composites(mh, ch, J3, []), t_r


def moment_l(turns: bool, R: Rotation, d: Scalar, m: Scalar, c: Vector, l: Vector) -> Vector:
    """l_i by (24), from R, d, mh, ch and l of i + 1."""
    return R.up(Vector(c.x, c.y, l.z)) if turns else R.up(l + Vector(0, 0, m * d))


def tensor_X(
    turns: bool, d: Scalar, m: Scalar, c: Vector, J: Vector, U: Symmetric, V: Symmetric, l: Vector
) -> Symmetric:
    """X, which R_{i+1} turns into E_i in (34) or (35), from what belongs to i + 1."""
    if turns:
        e = 2 * d * l.z
        xx, xy = V.xx + (U.xx - U.yy) + e, V.xy + U.xy
        return Symmetric(xx, xy, J.x - d * c.x, V.yy + e, J.y - d * c.y, J.z)
    e = d * (m * d + 2 * c.z)
    return Symmetric(V.xx + e, V.xy, V.xz - d * c.x, V.yy + e, V.yz - d * c.y, V.zz)


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


def along(u: Vector, X: Symmetric) -> Scalar:
    """u^T X u by (55), with u_z constant."""
    return (
        u.x * (u.x * X.xx + 2 * u.y * X.xy)
        + u.y * u.y * X.yy
        + 2 * u.z * (u.x * X.xz + u.y * X.yz)
        + u.z * u.z * X.zz
    )


def slid(d: Scalar, m: Scalar, kappa_2: Scalar, u: Vector, l: Vector) -> Scalar:
    """What translational joint i + 1 < s adds to Y_33 in (40), u being u_r^<i+1>."""
    across = 1 - u.z * u.z
    xz, yz = 2 * (u.z * u.x), 2 * (u.z * u.y)
    return d * (2 * kappa_2 + across * (m * d + 2 * l.z) - xz * l.x - yz * l.y)


def kappa_1(u: Vector, k: Vector) -> Scalar:
    """(27)."""
    return u.x * k.y - u.y * k.x


def kappa_2(u: Vector, k: Vector) -> Scalar:
    """(28)."""
    return (1 - u.z * u.z) * k.z - u.z * (u.x * k.x + u.y * k.y)


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


@stage("matrix")
def table_1(
    arm: Arm,
    R: Sequence[Rotation],
    d: Sequence[Scalar],
    body: Composites,
    t_r: Sequence[Scalar],
) -> list[Row]:
    """Table I for i >= s; for i < s by (29) to (31), which need t along joint r alone.

    (30), lost in print: (t_{j,i}^<r>)_z = (t_{j+1,i}^<r>)_z + u_r^<j>.(s_{j+1}^<j> x f_{j,i}^<j>);
    (31) has (u_r^<j>)_z; a joint j < r slides, and feels f_{j,i} alone.
    """
    r, s, u = arm.start
    columns = diagonal(arm, body)
    s_1 = offset(arm, R, d, 1)
    for i in range(s, arm.n):
        columns[i] = column_1(arm, R, d, s_1, body, i)
    for i in range(s):
        D, c, t = columns[i], body.ch[i], t_r[i]
        f = Vector(-c.y, c.x, 0) if arm.revolute[i] else Vector(0, 0, body.mh[i])
        for j in reversed(range(i)):
            f = R[j + 1].up(f)
            if j >= r:
                shift = Vector(arm.b[j + 1], 0, 0) + d[j + 1] * axis_before(arm, j + 1)
                t = t + u[j] @ shift.cross(f)
            D[j] = u[j].z * t if arm.revolute[j] else f.z
    return symmetric(columns)


@stage("matrix")
def table_2(
    arm: Arm,
    R: Sequence[Rotation],
    d: Sequence[Scalar],
    body: Composites,
    t_r: Sequence[Scalar],
) -> list[Row]:
    """Table II for i >= s; for i < s by (32), without its delta_i: what that strikes is zero."""
    _, s, ur = arm.start
    columns = diagonal(arm, body)
    for j in range(arm.n):
        for i, u, sj in outward(arm, R, d, j):
            m, c, J = body.mh[i], body.ch[i], body.J3[i]
            if i >= s or not arm.revolute[j]:
                columns[i][j] = entry_2(arm, body, j, i, u, sj)
            elif arm.revolute[i]:
                columns[i][j] = ur[j].z * ur[i].z * (J.z + c.x * sj.x + c.y * sj.y)
            else:
                columns[i][j] = u @ Vector(m * sj.y, -(m * sj.x), 0) + ur[j].z * t_r[i]
    return symmetric(columns)
