"""The Coriolis matrix of composite bodies in link frames, in n^2 steps.

[echeandia2021], Algorithm 1. A point r of the arm gives C_ij = sum of m dr/dq_i . d/dt(dr/dq_j), so
that joint j < i feels of composite body i (links i..n, accelerated along joint i)

    C_ji = S_j . F1,   C_ij = Sdot_j . F2 + S_j . F3,   F1 = I Sdot_i + B S_i,  F2 = I S_i,
    F3 = B^T S_i

with S the joints' twists. Differs from the paper: its 6 by 6 matrix B has 12 numbers, the momentum
p = integral of v dm and K = integral of v r^T dm of the body, by which B (w, .) is the force w x p
and the couple tr(K) w - K w, and F3 is a couple alone; and velocities v are counted, like r, from
the origin of the frame at hand, since a uniform velocity changes nothing but F3, by c x (force of
F2) from frame to frame. Bodies are flat (see ``newton_euler_flat``), for K's sake, and frames are
those of ``runs``. [a]x is the matrix of the product a x. Joints count from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from armdyn.algorithms.crba import Body
from armdyn.algorithms.runs import UNTURNED, Link, composites, down_x, inward, links, up_x, up_z
from armdyn.chain.arm import Arm
from armdyn.spatial import Z_AXIS, ZERO, Rotation, Row, Scalar, Symmetric, Vector

Matrix = tuple[Vector, Vector, Vector]  # by its rows
NONE: Matrix = (ZERO, ZERO, ZERO)


class Flow(NamedTuple):
    """Momentum p and K of a body that moves, velocities and places counted from one origin."""

    p: Vector = ZERO
    K: Matrix = NONE


class Forces(NamedTuple):
    """F1 = (f, t), F2 = (P, L) and F3 = (0, N): forces, and moments about the frame's origin."""

    f: Vector
    t: Vector
    P: Vector
    L: Vector
    N: Vector


class Drift(NamedTuple):
    """The velocity of a link's origin less that of the link before, a part for each shift."""

    c: Vector  # by r, in the axes of the link
    e: Vector  # by b, in the axes between the turns


def coriolis_matrix(arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Row]:
    """C(q, qd), shape (n, n): sum over k of Gamma_ijk qd_k, for which Mdot - 2 C is skew."""
    chain = links(arm, q)
    w, drift = velocities(arm, chain, qd)
    bodies = composites(chain)
    C: list[Row] = [[0] * arm.n for _ in range(arm.n)]
    for i, flow in enumerate(flows(chain, bodies, w, drift)):
        F = forces(arm.revolute[i], bodies[i], flow, w[i])
        C[i][i] = F.t.z if arm.revolute[i] else F.f.z
        for j in reversed(range(i)):
            F = forces_inward(chain[j + 1], drift[j + 1], F)
            if arm.revolute[j]:
                C[j][i], C[i][j] = F.t.z, F.L.x * w[j].y - F.L.y * w[j].x + F.N.z
            else:
                C[j][i], C[i][j] = F.f.z, F.P.x * w[j].y - F.P.y * w[j].x
    return C


def velocities(
    arm: Arm, chain: Sequence[Link], qd: Sequence[Scalar], times: int = 1
) -> tuple[list[Vector], list[Drift]]:
    """w_i, the angular velocity of each link, and the drift of its origin, so many times."""
    w, turning, drifting = ZERO, [], []
    for i, (R, r, b, _) in enumerate(chain):
        e = down_x(R, w).cross(times * Vector(b, 0, 0))
        w = R.down(w)
        c = (times * w).cross(r)
        if arm.revolute[i]:
            w = w + qd[i] * Z_AXIS
        else:
            c = c + times * qd[i] * Z_AXIS
        turning.append(times * w)
        drifting.append(Drift(c, e))
    return turning, drifting


def flows(
    chain: Sequence[Link], bodies: Sequence[Body], w: Sequence[Vector], drift: Sequence[Drift]
) -> list[Flow]:
    """P and K of the composite bodies, from the tip inward."""
    p, K = Flow()
    found = []
    for i, ((R, r, b, own), (M, h, _)) in reversed(
        list(enumerate(zip(chain, bodies, strict=True)))
    ):
        c, e = drift[i]
        p = p + w[i].cross(own.h)
        K = added(K, crossed(w[i], second_moment(own.I)))
        found.append(Flow(p, K))
        p = p + M * c
        K = about_z(R, added(added(K, dyad(c, h)), dyad(p, r)))
        h = up_z(R, h + M * r)
        p = up_z(R, p) + M * e
        K = about_x(R, added(added(K, dyad(e, h)), dyad(p, Vector(b, 0, 0))))
        p = up_x(R, p)
    return found[::-1]


def forces(revolute: bool, body: Body, flow: Flow, w: Vector) -> Forces:
    """F1, F2, F3 of a body along the joint that carries it; the axis moves by u = w x z."""
    (M, h, I), (p, K) = body, flow
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


def forces_inward(link: Link, drift: Drift, F: Forces) -> Forces:
    """Forces and moments, seen from the link before, whose origin has the velocity -drift."""
    R, (c, e) = link.R, drift
    f, t = inward(link, F.f, F.t)
    P, L = inward(link, F.P, F.L)
    N = up_z(R, F.N + c.cross(F.P)) + e.cross(up_z(R, F.P))
    return Forces(f, t, P, L, up_x(R, N))


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


def about_z(R: Rotation, K: Matrix) -> Matrix:
    """K of a link in the axes between, 12M11A."""
    return K if R is UNTURNED else about_third(R.C, R.S, K)


def about_x(R: Rotation, K: Matrix) -> Matrix:
    """K in the axes between in those of the link before, 12M11A: as about z, the axes renamed."""
    return K if R is UNTURNED else renamed(renamed(about_third(R.Cb, R.Sb, renamed(K))))


def about_third(C: Scalar, S: Scalar, K: Matrix) -> Matrix:
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
