"""The Coriolis matrix of composite bodies in link frames, in n^2 steps.

[echeandia2021], Algorithm 1. A point r of the arm gives C_ij = sum of m dr/dq_i . d/dt(dr/dq_j), so
that joint j < i feels of composite body i (links i..n, accelerated along joint i)

    C_ji = S_j . F1,   C_ij = Sdot_j . F2 + S_j . F3,   F1 = I Sdot_i + B S_i,  F2 = I S_i,
    F3 = B^T S_i

with S the joints' twists. Differs from the paper: its 6 by 6 matrix B has 12 numbers, the momentum
p = integral of v dm and K = integral of v r^T dm of the body, by which B (w, .) is the force w x p
and the couple tr(K) w - K w, and F3 is a couple alone; and velocities v are counted, like r, from
the origin of the frame at hand, since a uniform velocity changes nothing but F3, by c x (force of
F2) from frame to frame. Bodies are flat (see ``newton_euler_flat``), for K's sake. [a]x is the
matrix of the product a x. Joints count from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from armdyn.algorithms.crba import Body, composites
from armdyn.chain.arm import Arm
from armdyn.spatial import Z_AXIS, ZERO, Rotation, Row, Scalar, Symmetric, Vector

Matrix = tuple[Vector, Vector, Vector]  # by its rows


class Forces(NamedTuple):
    """F1 = (f, t), F2 = (P, L) and F3 = (0, N): forces, and moments about the frame's origin."""

    f: Vector
    t: Vector
    P: Vector
    L: Vector
    N: Vector


def coriolis_matrix(arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Row]:
    """C(q, qd), shape (n, n): sum over k of Gamma_ijk qd_k, for which Mdot - 2 C is skew."""
    R, s = arm.rotations(q), arm.shifts(q)
    w, c = velocities(arm, q, qd)
    p, K = ZERO, (ZERO, ZERO, ZERO)
    C: list[Row] = [[0] * arm.n for _ in range(arm.n)]
    for i, body in reversed(list(enumerate(composites(arm, q)))):
        p = p + w[i].cross(arm.first_moment[i])
        K = added(K, crossed(w[i], second_moment(arm.inertia[i])))
        F = forces(arm.revolute[i], body, p, K, w[i])
        C[i][i] = F.t.z if arm.revolute[i] else F.f.z
        for j in reversed(range(i)):
            F = inward(R[j + 1], s[j + 1], c[j + 1], F)
            if arm.revolute[j]:
                C[j][i], C[i][j] = F.t.z, F.L.x * w[j].y - F.L.y * w[j].x + F.N.z
            else:
                C[j][i], C[i][j] = F.f.z, F.P.x * w[j].y - F.P.y * w[j].x
        if i > 0:
            K = turned(R[i], added(K, dyad(c[i], body.h)))
            p = R[i].up(p + body.M * c[i])
            K = added(K, dyad(p, s[i]))
    return C


def velocities(
    arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> tuple[list[Vector], list[Vector]]:
    """w_i of each link, and c_i of the origin of E_i less that of E_{i-1}, both in E_i."""
    w: list[Vector] = []
    c: list[Vector] = []
    before = ZERO
    for i, (R, s) in enumerate(zip(arm.rotations(q), arm.shifts(q), strict=True)):
        c.append(R.down(before.cross(s)))
        w.append(R.down(before))
        if arm.revolute[i]:
            w[i] = w[i] + qd[i] * Z_AXIS
        else:
            c[i] = c[i] + qd[i] * Z_AXIS
        before = w[i]
    return w, c


def forces(revolute: bool, body: Body, p: Vector, K: Matrix, w: Vector) -> Forces:
    """F1, F2, F3 of a body along the joint that carries it; the axis moves by u = w x z."""
    M, h, I = body
    u = w.cross(Z_AXIS)
    if not revolute:
        return Forces(M * u, h.cross(u), Vector(0, 0, M), h.cross(Z_AXIS), p.cross(Z_AXIS))
    x, y, z = K
    return Forces(
        u.cross(h) + Vector(-p.y, p.x, 0),
        I @ u + Vector(-x.z, -y.z, x.x + y.y),
        Vector(-h.y, h.x, 0),
        Vector(I.xz, I.yz, I.zz),
        Vector(-z.x, -z.y, x.x + y.y),
    )


def inward(R: Rotation, s: Vector, c: Vector, F: Forces) -> Forces:
    """Forces and moments seen one frame further in."""
    f, P, N = R.up(F.f), R.up(F.P), R.up(F.N + c.cross(F.P))
    return Forces(f, R.up(F.t) + s.cross(f), P, R.up(F.L) + s.cross(P), N)


# Matrices that are not symmetric -----------------------------------------------------------------


def second_moment(J: Symmetric) -> Symmetric:
    """E = integral of r r^T dm = tr(J)/2 1 - J of a flat body, which has E_zz = 0."""
    return Symmetric(J.yy, -J.xy, -J.xz, J.xx, -J.yz, 0)


def crossed(w: Vector, E: Symmetric) -> Matrix:
    """[w]x E, 18M9A, column by column."""
    x, y, z = zip(*(w.cross(column) for column in E.rows()), strict=True)
    return Vector(*x), Vector(*y), Vector(*z)


def dyad(a: Vector, b: Vector) -> Matrix:
    """The matrix a b^T, 9M."""
    return a.x * b, a.y * b, a.z * b


def added(K: Matrix, other: Matrix) -> Matrix:
    """K + other, 9A."""
    x, y, z = (row + more for row, more in zip(K, other, strict=True))
    return x, y, z


def turned(R: Rotation, K: Matrix) -> Matrix:
    """R K R^T, 24M22A: about z, then with the axes renamed about x."""
    K = about_z(R.C, R.S, K)
    return renamed(renamed(about_z(R.Cb, R.Sb, renamed(K))))


def about_z(C: Scalar, S: Scalar, K: Matrix) -> Matrix:
    """Rz K Rz^T, 12M11A."""
    x, y, z = K
    w = S * (x.x - y.y) + C * (x.y + y.x)
    return (
        Vector(x.x - S * w, C * w - y.x, C * x.z - S * y.z),
        Vector(C * w - x.y, y.y + S * w, S * x.z + C * y.z),
        Vector(C * z.x - S * z.y, S * z.x + C * z.y, z.z),
    )


def renamed(K: Matrix) -> Matrix:
    """K with y, z, x called x, y, z."""
    x, y, z = (Vector(row.y, row.z, row.x) for row in K)
    return y, z, x
