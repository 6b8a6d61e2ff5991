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
from typing import NamedTuple

from armdyn.algorithms.echeandia_wensing import Flow, Matrix, added, crossed, dyad
from armdyn.algorithms.kinematics import Placed, frames_in_first
from armdyn.algorithms.momentum import inertia, square
from armdyn.algorithms.newton_euler import Wrench, accelerator, times
from armdyn.chain.arm import Arm
from armdyn.spatial import ZERO, Row, Scalar, Symmetric, Vector
from armdyn.spatial.matrices import joined, products


class Twists(NamedTuple):
    """S, twice Psid, and Psidd of a joint; of Psid the angular part."""

    S: tuple[Vector, Vector]
    Psid2: tuple[Vector, Vector]
    Psidd: tuple[Vector, Vector]
    u: Vector


class Motion(NamedTuple):
    """How a link moves: w, v, and the matrix U and alpha that accelerate its points."""

    w: Vector
    v: Vector
    U: Matrix
    alpha: Vector


class Composite(NamedTuple):
    """Links i..n: as a body, twice p and K of its velocities, and the force that moves it."""

    M: Scalar
    h: Vector
    E: Symmetric
    doubled: Flow
    wrench: Wrench


class Forces(NamedTuple):
    """(L, P) = I S, N = 2 B^T S, twice F1, and G, the bracket of dtau_j/dq_i: moments first."""

    L: Vector
    P: Vector
    N: Vector
    F1: tuple[Vector, Vector]
    G: tuple[Vector, Vector]


def inverse_dynamics_derivatives(
    arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> tuple[list[Row], list[Row], list[Row]]:
    """(dtau/dq, dtau/dqd, dtau/dqdd), shape (n, n) each; a row a torque, a column a joint."""
    placed = frames_in_first(arm, q)
    joints, links = motions(arm, placed, q, qd, qdd)
    columns = list(map(forces, joints, composites(arm, placed, links)))
    S, momenta = [joint.S for joint in joints], [(F.N, F.L, F.P) for F in columns]
    dqdd = products(S, [(F.L, F.P) for F in columns])
    dqd = joined(
        products([(joint.S[0], *joint.Psid2) for joint in joints], momenta),
        products(S, [F.F1 for F in columns]),
    )
    dq = joined(
        products([(joint.u, *joint.Psidd) for joint in joints], momenta),
        products(S, [F.G for F in columns]),
    )
    return dq, dqd, dqdd


def motions(
    arm: Arm,
    placed: Sequence[Placed],
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
) -> tuple[list[Twists], list[Motion]]:
    """The twists of the joints, and how the links move; gravity is an acceleration upward.

    Psidd = (U w, U v + alpha x w + 2 v_link x (w_link x w)) of S = (w, v), link and all that of
    the link before.
    """
    w, v, wd, a = ZERO, ZERO, ZERO, arm.rotations(q)[0].down(-arm.gravity)
    (U, _), alpha = accelerator(w, wd), a
    joints, links = [], []
    for i, frame in enumerate(placed):
        S = (frame.z, frame.o.cross(frame.z)) if arm.revolute[i] else (ZERO, frame.z)
        u = w.cross(S[0])
        Psid2 = (2 * u, (2 * w).cross(S[1]) + (2 * v).cross(S[0]))
        Psidd = times(U, S[0]), times(U, S[1]) + alpha.cross(S[0]) + (2 * v).cross(u)
        joints.append(Twists(S, Psid2, Psidd, u))
        w, v = w + qd[i] * S[0], v + qd[i] * S[1]
        wd, a = wd + qdd[i] * S[0] + qd[i] * u, a + qdd[i] * S[1] + (qd[i] / 2) * Psid2[1]
        (U, _), alpha = accelerator(w, wd), a + w.cross(v)
        links.append(Motion(w, v, U, alpha))
    return joints, links


def composites(arm: Arm, placed: Sequence[Placed], links: Sequence[Motion]) -> list[Composite]:
    """The composite bodies, summed from the tip inward."""
    M, h, E, (p, K), f, t = 0, ZERO, Symmetric(0, 0, 0, 0, 0, 0), Flow(), ZERO, ZERO
    found = []
    for i, (w, v, U, alpha) in reversed(list(enumerate(links))):
        m, h_i, E_i = body(arm, i, placed[i])
        M, h, E = M + m, h + h_i, E + E_i
        p = p + m * (2 * v) + (2 * w).cross(h_i)
        K = added(K, added(crossed(2 * w, E_i), dyad(2 * v, h_i)))
        f = f + m * alpha + times(U, h_i)
        t = t + axial(U, E_i) + h_i.cross(alpha)
        found.append(Composite(M, h, E, Flow(p, K), (f, t)))
    return found[::-1]


def body(arm: Arm, i: int, placed: Placed) -> tuple[Scalar, Vector, Symmetric]:
    """Mass, first and second moment of a flat link, whose own E_zz is 0.

    E is a sum of pairs of dyads, a x^T + x a^T + b y^T + y b^T + c o^T + o c^T, and of m o o^T, by
    the axes x, y and the origin o of the link's frame.
    """
    x, y, z, o = placed
    m, h, J = arm.mass[i], arm.first_moment[i], arm.inertia[i]
    a = half(J.yy) * x - J.xy * y - J.xz * z + h.x * o
    b = half(J.xx) * y - J.yz * z + h.y * o
    A = mixed(a, x) + mixed(b, y) + mixed(h.z * z, o)
    E = Symmetric(2 * A.xx, A.xy, A.xz, 2 * A.yy, A.yz, 2 * A.zz)
    return m, placed.out(h) + m * o, E + square(m * o, o)


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


def forces(joint: Twists, body: Composite) -> Forces:
    """What a composite body takes along the joint that carries it."""
    M, h, E, (p, K), (f, t) = body
    (w, v), (w2, v2), (wdd, vdd), u = joint
    I, B = inertia(E), couple(K)
    N = times(transposed(B), w) + p.cross(v)
    F1 = times(B, w) + I @ w2 + h.cross(v2), M * v2 + w2.cross(h) + w.cross(p)
    g = M * vdd + wdd.cross(h) + u.cross(p) + w.cross(f)
    G = times(B, u) + I @ wdd + h.cross(vdd) + w.cross(t) + v.cross(f), g
    return Forces(I @ w + h.cross(v), M * v + w.cross(h), N, F1, G)


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
