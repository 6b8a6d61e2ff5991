"""Recursive Newton-Euler: joint torque of a given motion, link frame by link frame.

[LuhWalkerPaul1980] on the normal driving-axis frames of the papers, with each link's inertia
taken about its frame's origin instead of its centre of mass, so that torque is linear in the ten
parameters and nothing is divided by a mass. Joints count from 0. Rotor inertia is not in here.
"""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.arm import Arm
from armdyn.spatial import Z_AXIS, ZERO, Scalar, Vector

Row = list[Scalar]


def motion(
    arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> list[tuple[Vector, Vector, Vector]]:
    """(w, wd, a) of each link: angular velocity and acceleration, acceleration of its origin.

    All in E_i. Gravity enters as an upward acceleration of the base.
    """
    R, s = arm.rotations(q), arm.shifts(q)
    w, wd, a = ZERO, ZERO, -arm.gravity
    links = []
    for i in range(arm.n):
        a = R[i].down(a + wd.cross(s[i]) + w.cross(w.cross(s[i])))
        w, wd = R[i].down(w), R[i].down(wd)
        if arm.revolute[i]:
            wd = wd + qdd[i] * Z_AXIS + w.cross(qd[i] * Z_AXIS)
            w = w + qd[i] * Z_AXIS
        else:
            a = a + qdd[i] * Z_AXIS + 2 * w.cross(qd[i] * Z_AXIS)
        links.append((w, wd, a))
    return links


def inverse_dynamics(
    arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> Row:
    """Joint torques tau (n,) that give accelerations qdd in state q, qd."""
    R, s = arm.rotations(q), arm.shifts(q)
    f: list[Vector] = []  # what accelerates link i: force, and its moment about the origin of E_i
    t: list[Vector] = []
    for m, h, J, (w, wd, a) in zip(
        arm.mass, arm.first_moment, arm.inertia, motion(arm, q, qd, qdd), strict=True
    ):
        f.append(m * a + wd.cross(h) + w.cross(w.cross(h)))
        t.append(J @ wd + w.cross(J @ w) + h.cross(a))
    tau: Row = [0] * arm.n
    for i in reversed(range(arm.n)):
        tau[i] = t[i].z if arm.revolute[i] else f[i].z
        if i > 0:
            force = R[i].up(f[i])
            f[i - 1] = f[i - 1] + force
            t[i - 1] = t[i - 1] + R[i].up(t[i]) + s[i].cross(force)
    return tau


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
