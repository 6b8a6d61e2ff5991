"""The derivatives of inverse dynamics in closed form, in one set of axes, by tables of products.

[singh2022], as in ``singh``, whose letters these are; all vectors in the axes of E_1, from its
origin, so that what a pair of joints takes is scalar products alone. A twist is (w, v), angular
velocity and velocity at the origin; the composite body has mass M, first moment h and second moment
E = integral of r r^T dm; its matrix B consists of p and K, as in ``echeandia_wensing``, here twice
of them. Points of a link are accelerated by alpha + U r, U the matrix of ``newton_euler``. Bodies
are flat (see ``newton_euler_flat``), so that most of them have no mass. Joints count from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from armdyn.algorithms.echeandia_wensing import Matrix, added, crossed, dyad
from armdyn.algorithms.kinematics import Placed, frames_in_first
from armdyn.algorithms.momentum import inertia, square
from armdyn.algorithms.newton_euler import Wrench, accelerator, times
from armdyn.chain.arm import Arm
from armdyn.spatial import ZERO, Row, Scalar, Symmetric, Vector
from armdyn.spatial.each import each, like, scalars
from armdyn.spatial.matrices import joined, products

Twist = tuple[Vector, Vector]
Moments = tuple[Vector, Symmetric]  # first and second: h, and E = integral of r r^T dm
Points = tuple[Matrix, Vector]  # U and alpha: r is accelerated by U r + alpha
Thing = TypeVar("Thing")


class Body(NamedTuple):
    """Mass, first moment and inertia tensor; twice p and tr(K) 1 - K, of which B consists."""

    M: Scalar
    h: Vector
    I: Symmetric
    p: Vector
    B: Matrix


class Motion(NamedTuple):
    """S, u and twice all of Psid, and Psidd of the joints; how the links beyond them move."""

    S: list[Twist]
    u: list[Vector]
    Psid2: list[Twist]
    Psidd: list[Twist]
    links: list[Twist]
    points: list[Points]


class Forces(NamedTuple):
    """(L, P) = I S, N = 2 B^T S and twice F1 of a joint: moments first."""

    L: Vector
    P: Vector
    N: Vector
    F1: tuple[Vector, Vector]


def inverse_dynamics_derivatives(
    arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> tuple[list[Row], list[Row], list[Row]]:
    """(dtau/dq, dtau/dqd, dtau/dqdd), shape (n, n) each; a row a torque, a column a joint."""
    placed = frames_in_first(arm, q)
    S, u, Psid2, Psidd, links, points = motions(arm, placed, q, qd, qdd)
    moments = each(flat, arm.mass, arm.first_moment, arm.inertia, placed)
    bodies = composites(each(moving, arm.mass, moments, links))
    wrenches = composites(each(wrench, arm.mass, moments, points))
    columns, G = each(forces, S, Psid2, bodies), each(turned, S, u, Psidd, bodies, wrenches)
    momenta = [(F.N, F.L, F.P) for F in columns]
    dqdd = products(S, [(F.L, F.P) for F in columns])
    dqd = joined(
        products([(w, *doubled) for (w, _), doubled in zip(S, Psid2, strict=True)], momenta),
        products(S, [F.F1 for F in columns]),
    )
    dq = joined(
        products([(turn, *second) for turn, second in zip(u, Psidd, strict=True)], momenta),
        products(S, G),
    )
    return dq, dqd, dqdd


def motions(
    arm: Arm,
    placed: Sequence[Placed],
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
) -> Motion:
    """How joints and links move; gravity is an acceleration upward."""
    S = [
        (frame.z, frame.o.cross(frame.z)) if revolute else (ZERO, frame.z)
        for frame, revolute in zip(placed, arm.revolute, strict=True)
    ]
    links = [(ZERO, ZERO)]  # the base first, here and below
    for rate, (w, v) in zip(qd, S, strict=True):
        links.append((links[-1][0] + rate * w, links[-1][1] + rate * v))
    u, Psid2 = map(list, zip(*each(turning, S, links[:-1]), strict=True))
    wd, a = [ZERO], [arm.rotations(q)[0].down(-arm.gravity)]
    for i, (w, v) in enumerate(S):
        wd.append(wd[-1] + qdd[i] * w + qd[i] * u[i])
        a.append(a[-1] + qdd[i] * v + (qd[i] / 2) * Psid2[i][1])
    points = [((ZERO, ZERO, ZERO), a[0]), *each(accelerated, links[1:], wd[1:], a[1:])]
    Psidd = each(turning_twice, S, u, links[:-1], points[:-1])
    return Motion(S, u, Psid2, Psidd, links[1:], points[1:])


def turning(S: Twist, link: Twist) -> tuple[Vector, Twist]:
    """The angular part u of Psid, and twice all of it, of a joint on a link that moves so."""
    (w, v), (w_link, v_link) = S, link
    u = w_link.cross(w)
    return u, (2 * u, (2 * w_link).cross(v) + (2 * v_link).cross(w))


def accelerated(link: Twist, wd: Vector, a: Vector) -> Points:
    """U and alpha of a link whose twist changes by (wd, a)."""
    w, v = link
    return accelerator(w, wd)[0], a + w.cross(v)


def turning_twice(S: Twist, u: Vector, link: Twist, points: Points) -> Twist:
    """Psidd = (U w, U v + alpha x w + 2 v_link x u) of a joint on a link."""
    (w, v), (_, v_link), (U, alpha) = S, link, points
    return times(U, w), times(U, v) + alpha.cross(w) + (2 * v_link).cross(u)


def composites(links: Sequence[Thing]) -> list[Thing]:
    """The sums over the links i..n, from the tip inward."""
    found = [links[-1]]
    for link in reversed(links[:-1]):
        numbers = (x + y for x, y in zip(scalars(found[-1]), scalars(link), strict=True))
        found.append(like(link, numbers))
    return found[::-1]


def flat(m: Scalar, h: Vector, J: Symmetric, placed: Placed) -> Moments:
    """The moments of a flat link, whose own E_zz is 0.

    E is a sum of pairs of dyads, a x^T + x a^T + b y^T + y b^T + c o^T + o c^T, and of m o o^T, by
    the axes x, y and the origin o of the link's frame.
    """
    x, y, z, o = placed
    a = half(J.yy) * x - J.xy * y - J.xz * z + h.x * o
    b = half(J.xx) * y - J.yz * z + h.y * o
    A = mixed(a, x) + mixed(b, y) + mixed(h.z * z, o)
    E = Symmetric(2 * A.xx, A.xy, A.xz, 2 * A.yy, A.yz, 2 * A.zz)
    return placed.out(h) + m * o, E + square(m * o, o)


def moving(m: Scalar, moments: Moments, link: Twist) -> Body:
    """A link that moves so."""
    (h, E), (w, v) = moments, link
    K = added(crossed(2 * w, E), dyad(2 * v, h))
    return Body(m, h, inertia(E), m * (2 * v) + (2 * w).cross(h), couple(K))


def wrench(m: Scalar, moments: Moments, points: Points) -> Wrench:
    """What moves a link: a force and its moment."""
    (h, E), (U, alpha) = moments, points
    return m * alpha + times(U, h), axial(U, E) + h.cross(alpha)


def forces(S: Twist, Psid2: Twist, body: Body) -> Forces:
    """What the links beyond a joint take along it."""
    (w, v), (w2, v2), (M, h, I, p, B) = S, Psid2, body
    N = times(transposed(B), w) + p.cross(v)
    F1 = times(B, w) + I @ w2 + h.cross(v2), M * v2 + w2.cross(h) + w.cross(p)
    return Forces(I @ w + h.cross(v), M * v + w.cross(h), N, F1)


def turned(S: Twist, u: Vector, Psidd: Twist, body: Body, moved: Wrench) -> Twist:
    """G = 2 B Psid + I Psidd + S x* f, the bracket of dtau_j/dq_i: a moment and a force."""
    (w, v), (wdd, vdd), (M, h, I, p, B), (f, t) = S, Psidd, body, moved
    force = M * vdd + wdd.cross(h) + u.cross(p) + w.cross(f)
    return times(B, u) + I @ wdd + h.cross(vdd) + w.cross(t) + v.cross(f), force


def half(x: Scalar) -> Scalar:
    """X / 2; an integer 0 stays one."""
    return 0 if isinstance(x, int) else x / 2


def mixed(a: Vector, b: Vector) -> Symmetric:
    """The dyads a b^T + b a^T, but half of their diagonal, 9M3A."""
    return Symmetric(
        a.x * b.x,
        a.x * b.y + a.y * b.x,
        a.x * b.z + a.z * b.x,
        a.y * b.y,
        a.y * b.z + a.z * b.y,
        a.z * b.z,
    )


def axial(U: Matrix, E: Symmetric) -> Vector:
    """Integral of r x (U r) dm, 18M15A: what U E has against its transpose."""
    (Ux, Uy, Uz), (Ex, Ey, Ez) = U, E.rows()
    return Vector(Uz @ Ey - Uy @ Ez, Ux @ Ez - Uz @ Ex, Uy @ Ex - Ux @ Ey)


def couple(K: Matrix) -> Matrix:
    """tr(K) 1 - K, 3A: by which B makes a couple of an angular velocity."""
    x, y, z = K
    return (
        Vector(y.y + z.z, -x.y, -x.z),
        Vector(-y.x, x.x + z.z, -y.z),
        Vector(-z.x, -z.y, x.x + y.y),
    )


def transposed(B: Matrix) -> Matrix:
    """B^T."""
    x, y, z = (Vector(*column) for column in zip(*B, strict=True))
    return x, y, z
