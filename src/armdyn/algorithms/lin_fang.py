"""Five formulations of the inertia matrix from composite bodies about their link's origin.

[lin1999], Tables I to V. Composite body i is the union of links i to n; mh, ch and Jh are its
mass, first moment and inertia tensor about the origin of E_i, in E_i. Column i of the inertia
matrix D is what the joints j <= i must hold while joint i alone accelerates body i by one unit: a
force f_{j,i}, a torque t_{j,i}. Formulations 1 and 5 carry f and t inward from E_i to E_j, 2 and
3 carry the inner axes u_j outward to E_i, 4 takes everything to E_n.

Joints count from 0: R[i], d[i], b[i] lead from E_{i-1} to E_i. The lines that the tables set apart
because of a zero in f_{i,i} or u_j^<j+1> are the general ones here: the zeros drop out by
themselves. Table VI counts the stage "matrix" of each, with mh, ch and Jh on hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from armdyn.algorithms.stages import stage
from armdyn.chain.arm import Arm
from armdyn.spatial import ZERO, Rotation, Row, Scalar, Symmetric, Vector


class Composites(NamedTuple):
    """Of each composite body: mass mh_i, first moment ch_i and third column J3_i of Jh_i, in E_i.

    ``h`` is its first moment about the origin of E_{i-1}, in E_{i-1}: ^{i-1}h_i^i of (B3).
    """

    mh: Sequence[Scalar]
    ch: Sequence[Vector]
    J3: Sequence[Vector]
    h: Sequence[Vector]


@stage("composites")
def composites(arm: Arm, R: Sequence[Rotation], d: Sequence[Scalar]) -> Composites:
    """(3) to (5), from the tip inward.

    As in (18) and (33) a body moves from E_i to E_{i-1} in three steps: d along z_i, the rotation
    R_i, b along x_{i-1}.
    """
    mh, ch, Jh = list(arm.mass), list(arm.first_moment), list(arm.inertia)
    h = [ZERO] * arm.n
    for i in reversed(range(1, arm.n)):
        b, m = arm.b[i], mh[i]
        J = R[i].similarity(Jh[i] + moved_along_z(d[i], m, ch[i]))
        c = R[i].up(ch[i] + Vector(0, 0, m * d[i]))
        h[i] = c + Vector(m * b, 0, 0)
        mh[i - 1] = mh[i - 1] + m
        ch[i - 1] = ch[i - 1] + h[i]
        Jh[i - 1] = Jh[i - 1] + (J + moved_along_x(b, m, c))
    return Composites(mh, ch, [Vector(J.xz, J.yz, J.zz) for J in Jh], h)


def moved_along_z(d: Scalar, m: Scalar, c: Vector) -> Symmetric:
    """What a tensor gains when the body, of mass m and first moment c, moves by d along z: (35)."""
    w = d * (m * d + 2 * c.z)
    return Symmetric(w, 0, -(d * c.x), w, -(d * c.y), 0)


def moved_along_x(b: Scalar, m: Scalar, c: Vector) -> Symmetric:
    """The same by b along x."""
    w = b * (m * b + 2 * c.x)
    return Symmetric(0, -(b * c.y), -(b * c.z), w, 0, w)


def formulation_1(arm: Arm, q: Sequence[Scalar]) -> list[Row]:
    """D(q), shape (n, n), by Table I: f and t carried inward, each in its own frame."""
    R, d = arm.rotations(q), arm.extensions(q)
    return table_1(arm, R, d, composites(arm, R, d))


@stage("matrix")
def table_1(arm: Arm, R: Sequence[Rotation], d: Sequence[Scalar], body: Composites) -> list[Row]:
    """Table I."""
    s = from_shoulder(arm, R, d)
    return symmetric([column_1(arm, R, d, s, body, i) for i in range(arm.n)])


def column_1(
    arm: Arm, R: Sequence[Rotation], d: Sequence[Scalar], s: Vector, body: Composites, i: int
) -> Row:
    """D_ji for j <= i by Table I. f_{i-1,i} is constant for a translational joint.

    With s_1^<2> the table does not need f_{1,i}. Here, and not in the table, s does the same for
    all joints up to the shoulder, whose axes meet in one point: t is taken about that point, and f
    is not carried further.
    """
    revolute, D, shoulder = arm.revolute, [0] * (i + 1), arm.shoulder
    f, t = body_wrench(arm, body, i)
    D[i] = t.z if revolute[i] else f.z
    for j in reversed(range(shoulder + 1, i)):
        t = t + Vector(0, 0, d[j + 1]).cross(f)
        f = R[j + 1].up(f) if revolute[i] or j < i - 1 else body.mh[i] * axis_before(arm, i)
        t = R[j + 1].up(t) + Vector(arm.b[j + 1], 0, 0).cross(f)
        D[j] = t.z if revolute[j] else f.z
    if i > 0 and revolute[0]:
        t = t + (s if i > shoulder else Vector(0, 0, d[i])).cross(f)
    last = min(i - 1, shoulder)
    for j in reversed(range(last + 1)):
        if j < last:
            f, t = R[j + 2].up(f), R[j + 2].up(t)
        D[j] = R[j + 1].up(t).z if revolute[j] else R[j + 1].up(f).z
    return D


def from_shoulder(arm: Arm, R: Sequence[Rotation], d: Sequence[Scalar]) -> Vector:
    """The distance from the shoulder to the origin of the first E_i beyond, in E_i.

    Where the first two axes do not meet, it is s_1^<2> of Table I.
    """
    j = arm.shoulder
    s = offset(arm, R, d, j + 1)
    return s + R[j + 1].down(Vector(0, 0, d[j])) if 0 < j < arm.n - 1 else s


def formulation_2(arm: Arm, q: Sequence[Scalar]) -> list[Row]:
    """D(q), shape (n, n), by Table II: the axes u_j and the distances s_j to E_i, all in E_i."""
    R, d = arm.rotations(q), arm.extensions(q)
    return table_2(arm, R, d, composites(arm, R, d))


@stage("matrix")
def table_2(arm: Arm, R: Sequence[Rotation], d: Sequence[Scalar], body: Composites) -> list[Row]:
    """Table II.

    The two products of s_j^<j+1> in (1) count here; no line of the table charges them.
    """
    columns = diagonal(arm, body)
    for j in range(arm.n):
        for i, u, s in outward(arm, R, d, j):
            columns[i][j] = entry_2(arm, body, j, i, u, s)
    return symmetric(columns)


def entry_2(arm: Arm, body: Composites, j: int, i: int, u: Vector, s: Vector) -> Scalar:
    """D_ji for j < i by (20), from u_j^<i> and s_j^<i>."""
    m, c, J = body.mh[i], body.ch[i], body.J3[i]
    if arm.revolute[j] and arm.revolute[i]:
        return u @ Vector(J.x - c.x * s.z, J.y - c.y * s.z, J.z + c.x * s.x + c.y * s.y)
    if arm.revolute[i]:
        return u @ Vector(-c.y, c.x, 0)
    if arm.revolute[j]:
        return u @ Vector(m * s.y + c.y, -(m * s.x + c.x), 0)
    return m * u.z


def formulation_3(arm: Arm, q: Sequence[Scalar]) -> list[Row]:
    """D(q), shape (n, n), by Table III: as Table II, but with sh_j = u_j x s_j in place of s_j.

    Renaud's generalised links, as [lin1991] extends them.
    """
    R, d = arm.rotations(q), arm.extensions(q)
    return table_3(arm, R, d, composites(arm, R, d))


@stage("matrix")
def table_3(arm: Arm, R: Sequence[Rotation], d: Sequence[Scalar], body: Composites) -> list[Row]:
    """Table III.

    The K*_j K_i term is mh sh_z - u.[-c_y, c_x, 0], as in (21). The bracket of the K*_j K*_i term
    is the scalar [-c_y, c_x, 0].sh.
    """
    columns = diagonal(arm, body)
    for j in range(arm.n):
        for i, u, sh in outward_moments(arm, R, d, j):
            m, c, J = body.mh[i], body.ch[i], body.J3[i]
            e = Vector(-c.y, c.x, 0)
            if arm.revolute[j] and arm.revolute[i]:
                columns[i][j] = u @ J + e @ sh
            elif arm.revolute[i]:
                columns[i][j] = u @ e
            elif arm.revolute[j]:
                columns[i][j] = m * sh.z - u @ e
            else:
                columns[i][j] = m * u.z
    return symmetric(columns)


def formulation_4(arm: Arm, q: Sequence[Scalar]) -> list[Row]:
    """D(q), shape (n, n), by Table IV, Fijany and Bejczy's: as Table I, but all in E_n."""
    R, d = arm.rotations(q), arm.extensions(q)
    return table_4(arm, R, d, composites(arm, R, d))


@stage("matrix")
def table_4(arm: Arm, R: Sequence[Rotation], d: Sequence[Scalar], body: Composites) -> list[Row]:
    """Table IV.

    u_i^<n> is the third column of the rotation from E_i to E_n, so it takes no operation here; the
    table charges 8M4A.
    """
    revolute, columns = arm.revolute, diagonal(arm, body)
    N = [(Vector(1, 0, 0), Vector(0, 1, 0), Vector(0, 0, 1))]  # from E_i to E_n, row by row
    for i in reversed(range(1, arm.n)):
        x, y, z = N[0]
        N.insert(0, (R[i].up(x), R[i].up(y), R[i].up(z)))
    u = [Vector(*(row.z for row in rows)) for rows in N]
    s = [arm.b[i] * Vector(*(row.x for row in N[i - 1])) + d[i] * u[i] for i in range(1, arm.n)]
    for i in range(1, arm.n):
        f, t = body_wrench(arm, body, i)
        f, t = Vector(*(row @ f for row in N[i])), Vector(*(row @ t for row in N[i]))
        for j in reversed(range(i)):
            t = t + s[j].cross(f)
            columns[i][j] = u[j] @ t if revolute[j] else u[j] @ f
    return symmetric(columns)


def formulation_5(arm: Arm, q: Sequence[Scalar]) -> list[Row]:
    """D(q), shape (n, n), by Table V, Kawasaki's: as Table I, but from h_i in place of ch_i."""
    R, d = arm.rotations(q), arm.extensions(q)
    return table_5(arm, R, d, composites(arm, R, d))


@stage("matrix")
def table_5(arm: Arm, R: Sequence[Rotation], d: Sequence[Scalar], body: Composites) -> list[Row]:
    """Table V.

    In t_{i-1,i} the term -f x s belongs to K*_i, as in (B8): a translational joint i takes 4M1A,
    where the table charges 8M5A. D_ij takes K of joint j, as in (11). The two products of s_1^<2>
    count here; no line of the table charges them.
    """
    revolute, columns = arm.revolute, diagonal(arm, body)
    s_1 = offset(arm, R, d, 1)
    for i in range(1, arm.n):
        m, h, u, D = body.mh[i], body.h[i], axis_before(arm, i), columns[i]
        if revolute[i]:
            s = Vector(arm.b[i], -(d[i] * arm.Sb[i]), d[i] * arm.Cb[i])
            f = -(h - m * s).cross(u)
            t = R[i].up(body.J3[i]) - f.cross(s)
        else:
            f, t = m * u, h.cross(u)
        D[i - 1] = t.z if revolute[i - 1] else f.z
        for j in reversed(range(1, i - 1)):
            t = t + Vector(0, 0, d[j + 1]).cross(f)
            f = R[j + 1].up(f)
            t = R[j + 1].up(t) + Vector(arm.b[j + 1], 0, 0).cross(f)
            D[j] = t.z if revolute[j] else f.z
        if i > 1:
            D[0] = R[1].up(t + s_1.cross(f)).z if revolute[0] else R[1].up(f).z
    return symmetric(columns)


# What the tables have in common --------------------------------------------------------------


def diagonal(arm: Arm, body: Composites) -> list[Row]:
    """The columns of D down to the diagonal, with D_ii = K*_i Jh_33 + K_i mh filled in."""
    pairs = zip(arm.revolute, body.J3, body.mh, strict=True)
    return [[0] * i + [J.z if turns else m] for i, (turns, J, m) in enumerate(pairs)]


def symmetric(columns: Sequence[Row]) -> list[Row]:
    """D, shape (n, n), from its columns down to the diagonal."""
    n = len(columns)
    return [[columns[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]


def body_wrench(arm: Arm, body: Composites, i: int) -> tuple[Vector, Vector]:
    """f_{i,i} and t_{i,i} in E_i, which accelerate composite body i by one unit of joint i."""
    c = body.ch[i]
    if arm.revolute[i]:
        return Vector(-c.y, c.x, 0), body.J3[i]
    return Vector(0, 0, body.mh[i]), Vector(c.y, -c.x, 0)


def axis_before(arm: Arm, i: int) -> Vector:
    """u_i^<i-1>, a constant."""
    return Vector(0, -arm.Sb[i], arm.Cb[i])


def offset(arm: Arm, R: Sequence[Rotation], d: Sequence[Scalar], i: int) -> Vector:
    """The distance from the origin of E_{i-1} to that of E_i, in E_i: (1); zero beyond the tip."""
    if i == arm.n:
        return ZERO
    return Vector(arm.b[i] * R[i].C, -(arm.b[i] * R[i].S), d[i])


def outward(
    arm: Arm, R: Sequence[Rotation], d: Sequence[Scalar], j: int
) -> Iterator[tuple[int, Vector, Vector]]:
    """(i, u_j^<i>, s_j^<i>) for i = j + 1 to n; s_j is the distance from E_j to E_i.

    u_j^<j+1> is the third row of R_{j+1}; s_j of a translational joint is not wanted.
    """
    u = s = ZERO
    for i in range(j + 1, arm.n):
        first = i == j + 1
        u = R[i].rows()[2] if first else R[i].down(u)
        if arm.revolute[j] and first:
            s = offset(arm, R, d, i)
        elif arm.revolute[j]:
            s = R[i].down(s + Vector(arm.b[i], 0, 0)) + Vector(0, 0, d[i])
        yield i, u, s


def outward_moments(
    arm: Arm, R: Sequence[Rotation], d: Sequence[Scalar], j: int
) -> Iterator[tuple[int, Vector, Vector]]:
    """(i, u_j^<i>, sh_j^<i>) for i = j + 1 to n, with sh_j = u_j x s_j.

    sh_j^<j+1> takes d_{j+1}, and sh_j^<k> follows from sh_j^<k-1>.
    """
    u = sh = ZERO
    for i in range(j + 1, arm.n):
        b, v = arm.b[i], u
        u = R[i].rows()[2] if i == j + 1 else R[i].down(v)
        if arm.revolute[j] and i == j + 1:
            x, y, _ = R[i].rows()
            a = d[i] * arm.Sb[i]
            sh = Vector(x.x * a + y.x * b, x.y * a + y.y * b, -(arm.Sb[i] * b))
        elif arm.revolute[j]:
            sh = R[i].down(sh + v.cross(Vector(b, 0, 0))) + u.cross(Vector(0, 0, d[i]))
        yield i, u, sh
