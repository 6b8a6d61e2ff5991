"""Recursive Newton-Euler: joint torque of a given motion, link frame by link frame.

[luh1980] on the normal driving-axis frames of the papers, with the matrix U of
[khalil1987], U r = wd x r + w x (w x r), and each link's inertia taken about its frame's origin
instead of its centre of mass, so that torque is linear in the ten parameters and nothing is
divided by a mass. Joints count from 0. Rotor inertia is not in here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from armdyn.chain.arm import Arm
from armdyn.spatial import Z_AXIS, ZERO, Rotation, Row, Scalar, Symmetric, Vector


class Motion(NamedTuple):
    """How a link moves, in its own frame E_i."""

    wd: Vector  # angular acceleration
    a: Vector  # acceleration of the origin, gravity included
    U: tuple[Vector, Vector, Vector]  # rows of the matrix that accelerates the points of the link
    ww: Symmetric  # the products of its angular velocity, w w^T


Wrench = tuple[Vector, Vector]  # a force, and its moment about the origin of E_i


def accelerator(w: Vector, wd: Vector) -> tuple[tuple[Vector, Vector, Vector], Symmetric]:
    """The rows of U = [wd x] + [w x][w x], and w w^T, 6M9A."""
    xx, yy, zz = w.x * w.x, w.y * w.y, w.z * w.z
    yz, xz, xy = w.y * w.z, w.x * w.z, w.x * w.y
    rows = (
        Vector(-(yy + zz), xy - wd.z, xz + wd.y),
        Vector(xy + wd.z, -(xx + zz), yz - wd.x),
        Vector(xz - wd.y, yz + wd.x, -(xx + yy)),
    )
    return rows, Symmetric(xx, xy, xz, yy, yz, zz)


def times(U: tuple[Vector, Vector, Vector], r: Vector) -> Vector:
    """U r: the acceleration of a point at r, less that of the origin, 9M6A."""
    return Vector(U[0] @ r, U[1] @ r, U[2] @ r)


def spin_torque(
    J: Symmetric, wd: Vector, U: tuple[Vector, Vector, Vector], ww: Symmetric
) -> Vector:
    """J wd + w x (J w) on the elements of U and of w w^T, 15M15A."""
    x, y, z = U
    return Vector(
        J.xx * wd.x + (J.zz - J.yy) * ww.yz - J.xy * z.x + J.xz * y.x + J.yz * (ww.yy - ww.zz),
        J.yy * wd.y + (J.xx - J.zz) * ww.xz - J.yz * x.y + J.xy * z.y + J.xz * (ww.zz - ww.xx),
        J.zz * wd.z + (J.yy - J.xx) * ww.xy - J.xz * y.z + J.yz * x.z + J.xy * (x.x - y.y),
    )


def motion(
    arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> list[Motion]:
    """The motion of each link; gravity enters as an upward acceleration of the base."""
    R, s = arm.rotations(q), arm.shifts(q)
    w, wd, a = ZERO, ZERO, -arm.gravity
    U, ww = accelerator(w, wd)
    links = []
    for i in range(arm.n):
        a = R[i].down(a + times(U, s[i]))
        w, wd = R[i].down(w), R[i].down(wd)
        if arm.revolute[i]:
            wd = wd + w.cross(qd[i] * Z_AXIS) + qdd[i] * Z_AXIS
            w = w + qd[i] * Z_AXIS
        else:
            a = a + 2 * w.cross(qd[i] * Z_AXIS) + qdd[i] * Z_AXIS
        U, ww = accelerator(w, wd)
        links.append(Motion(wd, a, U, ww))
    return links


def inverse_dynamics(
    arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> Row:
    """Joint torques tau (n,) that give accelerations qdd in state q, qd."""
    return carried(arm, q, wrenches(arm, motion(arm, q, qd, qdd)))


def wrenches(arm: Arm, links: Sequence[Motion]) -> list[Wrench]:
    """What accelerates each link on its own."""
    bodies = zip(arm.mass, arm.first_moment, arm.inertia, links, strict=True)
    return [
        (m * a + times(U, h), spin_torque(J, wd, U, ww) + h.cross(a))
        for m, h, J, (wd, a, U, ww) in bodies
    ]


def carried(arm: Arm, q: Sequence[Scalar], links: Sequence[Wrench]) -> Row:
    """What each joint feels, shape (n,): it carries its own link and those beyond."""
    R, d = arm.rotations(q), arm.extensions(q)
    tau: Row = [0] * arm.n
    f, t = links[-1]
    for i in reversed(range(arm.n)):
        tau[i] = t.z if arm.revolute[i] else f.z
        if i > 0:
            f, t = inward(links[i - 1], R[i], d[i], arm.b[i], (f, t))
    return tau


def inward(own: Wrench, R: Rotation, d: Scalar, b: Scalar, wrench: Wrench) -> Wrench:
    """What link i - 1 carries: its own, and a wrench of E_i.

    That is moved by d along z_i, turned, and moved by b along x_{i-1}.
    """
    f, t = wrench
    force, torque = R.up(f), R.up(t + Vector(0, 0, d).cross(f))
    return own[0] + force, own[1] + torque + Vector(b, 0, 0).cross(force)


def bias(arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Row:
    """C(q, qd) qd + g(q), shape (n,): the torque of a motion without acceleration."""
    return inverse_dynamics(arm, q, qd, [0] * arm.n)


def gravity(arm: Arm, q: Sequence[Scalar]) -> Row:
    """g(q), shape (n,): the torque that holds the arm still."""
    return bias(arm, q, [0] * arm.n)


def mass_matrix(arm: Arm, q: Sequence[Scalar]) -> list[Row]:
    """M(q), shape (n, n), column by column: the torque of a unit acceleration from rest.

    [Safeea2018], note under Table I. Column j is needed from the diagonal down only.
    """
    n, still = arm.n, arm.without_gravity()
    M: list[Row] = [[0] * n for _ in range(n)]
    for j in range(n):
        column = inverse_dynamics(still, q, [0] * n, [int(i == j) for i in range(n)])
        for i in range(j + 1):
            M[i][j] = M[j][i] = column[i]
    return M


def coriolis_matrix(arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Row]:
    """C(q, qd), shape (n, n), for which Mdot - 2 C is skew, by polarising the bias.

    The velocity torque is a quadratic form in qd, so C e_j = (b(qd + e_j) - b(qd - e_j)) / 4 is
    exact: it is the Christoffel symbols' sum over k of Gamma_ijk qd_k. Gravity cancels.
    """
    n, still = arm.n, arm.without_gravity()
    C: list[Row] = [[0] * n for _ in range(n)]
    for j in range(n):
        unit = [int(i == j) for i in range(n)]
        ahead = bias(still, q, [v + e for v, e in zip(qd, unit, strict=True)])
        behind = bias(still, q, [v - e for v, e in zip(qd, unit, strict=True)])
        for i in range(n):
            C[i][j] = (ahead[i] - behind[i]) / 4
    return C
