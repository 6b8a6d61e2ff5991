"""Christoffel symbols from the momenta of composite bodies: one 3-vector a pair of joints.

Ours. All vectors are in the axes of E_1, from its origin; or from the origin of E_n, where moments
of the outer links are small, and many are zero if the last axes meet. Joint k moves its composite
body, links k..n, by the twist (w, v), angular velocity and velocity at the origin: (S, O x S) for a
revolute joint with the axis S through O, (0, S) for a prismatic one. The body has mass M, first
moment h and second moment E = integral of r r^T dm, so that its inertia tensor is tr(E) 1 - E. [a]x
is the matrix of the product a x. Joints count from 0.

A symbol Gamma_ijk with i < k, j <= k is how joint j turns the momentum that joint k gives to its
body, as joint i feels it: w_j . W_ik, with one vector W_ik for all j. The other symbols are zero,
equal to these or their opposite: Gamma_ikj = Gamma_ijk; Gamma_kji = - Gamma_ijk for j <= i.

On flat bodies (see ``newton_euler_flat``) moments are taken about the origins of link frames, of
which much is zero, and no link needs a centre of mass.

All revolute, n >= 3, kinematics included: the mass matrix and the symbols together take
n^3+17/2n^2+209/2n-157 M, 2/3n^3+7n^2+253/3n-116 A.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from armdyn.algorithms.kinematics import Placed, frames_from_last, frames_in_first
from armdyn.algorithms.stages import stage
from armdyn.chain.arm import Arm
from armdyn.spatial import ZERO, Row, Scalar, Symmetric, Vector, double_cross

Matrix = tuple[Vector, Vector, Vector]  # by its rows
Moments = tuple[Vector, Symmetric, Symmetric]  # h of a link, and two tensors whose difference is E


class Body(NamedTuple):
    """A composite body, the twist of the joint that moves it, and the momentum it has from it."""

    h: Vector
    E: Symmetric
    w: Vector
    v: Vector
    P: Vector


@stage("bodies")
def composite_bodies(
    arm: Arm,
    q: Sequence[Scalar],
    frames: Callable[[Arm, Sequence[Scalar]], list[Placed]] = frames_in_first,
    moments: Callable[[Arm, int, Placed], Moments] | None = None,  # about_centre
) -> list[Body]:
    """Summed from the tip inward: M, h and E of the links; P = M v + w x h."""
    M, h, E = 0, ZERO, Symmetric(0, 0, 0, 0, 0, 0)
    bodies = []
    for k, frame in reversed(list(enumerate(frames(arm, q)))):
        first, shift, minus_own = (moments or about_centre)(arm, k, frame)
        E = E + shift - minus_own
        M, h = M + arm.mass[k], h + first
        S = frame.z
        w, v = (S, frame.o.cross(S)) if arm.revolute[k] else (ZERO, S)
        bodies.append(Body(h, E, w, v, M * v + w.cross(h)))
    return bodies[::-1]


def about_centre(arm: Arm, k: int, frame: Placed) -> Moments:
    """M c; m c c^T, and minus E about the centre, which together are E of link k."""
    c = frame.o + frame.out(arm.com[k])
    mc = arm.mass[k] * c
    return mc, square(mc, c), arm.inertia_dyads[k].less_half_trace().turned(frame.rows)


def flat_about_origin(arm: Arm, k: int, frame: Placed) -> Moments:
    """The same of a flat body from h and E about the origin o of E_k; nothing is divided by m.

    m c = m o + h, and E = o (m c)^T + h o^T + E about o, which is symmetric.
    """
    o, h, J = frame.o, frame.out(arm.first_moment[k]), arm.inertia[k]
    mc = arm.mass[k] * o + h
    shift = Symmetric(
        o.x * mc.x + h.x * o.x,
        o.x * mc.y + h.x * o.y,
        o.x * mc.z + h.x * o.z,
        o.y * mc.y + h.y * o.y,
        o.y * mc.z + h.y * o.z,
        o.z * mc.z + h.z * o.z,
    )
    minus_E = Symmetric(-J.yy, J.xy, J.xz, -J.xx, J.yz, 0)  # E_zz = 0
    return mc, shift, minus_E.turned(frame.rows)


def mass_matrix(arm: Arm, q: Sequence[Scalar]) -> list[Row]:
    """M(q), shape (n, n): joint i feels the momenta P, L that joint k gives to its body."""
    bodies = composite_bodies(arm, q)
    A: list[Row] = [[0] * arm.n for _ in range(arm.n)]
    for k, body in enumerate(bodies):
        L = inertia(body.E) @ body.w + body.h.cross(body.v)
        for i in range(k + 1):
            A[i][k] = A[k][i] = bodies[i].w @ L + bodies[i].v @ body.P
    return A


def christoffel(arm: Arm, q: Sequence[Scalar]) -> list[list[Row]]:
    """Gamma(q), shape (n, n, n)."""
    return symbols(composite_bodies(arm, q))


def christoffel_from_last(arm: Arm, q: Sequence[Scalar]) -> list[list[Row]]:
    """Gamma(q), shape (n, n, n), all vectors from the origin of E_n."""
    return symbols(composite_bodies(arm, q, frames_from_last))


def christoffel_flat(arm: Arm, q: Sequence[Scalar]) -> list[list[Row]]:
    """Gamma(q), shape (n, n, n), of flat bodies."""
    return symbols(composite_bodies(arm, q, frames_in_first, flat_about_origin))


def christoffel_flat_from_last(arm: Arm, q: Sequence[Scalar]) -> list[list[Row]]:
    """Gamma(q), shape (n, n, n), of flat bodies, all vectors from the origin of E_n."""
    return symbols(composite_bodies(arm, q, frames_from_last, flat_about_origin))


def coriolis_matrix(arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Row]:
    """C(q, qd), shape (n, n), for which Mdot - 2 C is skew."""
    return summed(composite_bodies(arm, q), qd)


def coriolis_matrix_from_last(arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Row]:
    """C(q, qd), shape (n, n), all vectors from the origin of E_n."""
    return summed(composite_bodies(arm, q, frames_from_last), qd)


def coriolis_matrix_flat(arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Row]:
    """C(q, qd), shape (n, n), of flat bodies."""
    return summed(composite_bodies(arm, q, frames_in_first, flat_about_origin), qd)


def coriolis_matrix_flat_from_last(
    arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> list[Row]:
    """C(q, qd), shape (n, n), of flat bodies, all vectors from the origin of E_n."""
    return summed(composite_bodies(arm, q, frames_from_last, flat_about_origin), qd)


def symbols(bodies: Sequence[Body]) -> list[list[Row]]:
    """Gamma_ijk = w_j . W_ik, and those that follow."""
    n = len(bodies)
    Gamma: list[list[Row]] = [[[0] * n for _ in range(n)] for _ in range(n)]
    for (i, k), W in turns(bodies).items():
        for j in range(k + 1):
            Gamma[i][j][k] = Gamma[i][k][j] = bodies[j].w @ W
            if j <= i:
                Gamma[k][j][i] = Gamma[k][i][j] = -Gamma[i][j][k]
    return Gamma


def summed(bodies: Sequence[Body], qd: Sequence[Scalar]) -> list[Row]:
    """C_ij = sum over k of Gamma_ijk qd_k, in n^2 steps.

    The symbols of a pair of joints share W, so C takes two running sums: omega_j, the angular
    velocity of link j, sums qd_k w_k from the base on; T sums qd_k W along row i of C, from the
    tip inward, W_ik of the joints k beyond joint i and -W_ki of those before it.
    """
    n, W, omega = len(bodies), turns(bodies), [qd[0] * bodies[0].w]
    for speed, body in zip(qd[1:], bodies[1:], strict=True):
        omega.append(omega[-1] + speed * body.w)
    C: list[Row] = [[0] * n for _ in range(n)]
    for i in range(n):
        T = ZERO
        for j in reversed(range(i + 1, n)):
            T = T + qd[j] * W[i, j]
            C[i][j] = bodies[j].w @ T + omega[j - 1] @ W[i, j]
        C[i][i] = bodies[i].w @ T
        for j in reversed(range(i)):
            C[i][j] = bodies[j].w @ T - omega[j] @ W[j, i]
            T = T - qd[j] * W[j, i]
    return C


def turns(bodies: Sequence[Body]) -> dict[tuple[int, int], Vector]:
    """W_ik = P_k x v_i + B_k w_i of each pair of joints i < k, by ``[i, k]``."""
    W = {}
    for k, body in enumerate(bodies):
        B = turning(body)
        for i, joint in enumerate(bodies[:k]):
            W[i, k] = body.P.cross(joint.v) + Vector(*(row @ joint.w for row in B))
    return W


def turning(body: Body) -> Matrix:
    """B = E [w]x - [v]x [h]x, 27M21A; a row e of E times [w]x is e x w."""
    products = zip(body.E.rows(), double_cross(body.v, body.h), strict=True)
    x, y, z = (row.cross(body.w) - shift for row, shift in products)
    return x, y, z


def inertia(E: Symmetric) -> Symmetric:
    """J = tr(E) 1 - E, 3A."""
    return Symmetric(E.yy + E.zz, -E.xy, -E.xz, E.xx + E.zz, -E.yz, E.xx + E.yy)


def square(mc: Vector, c: Vector) -> Symmetric:
    """The dyad m c c^T, 6M."""
    return Symmetric(mc.x * c.x, mc.x * c.y, mc.x * c.z, mc.y * c.y, mc.y * c.z, mc.z * c.z)
