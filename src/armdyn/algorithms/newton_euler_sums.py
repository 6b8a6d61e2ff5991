"""Newton-Euler with the angles of parallel joints summed.

Ours. Parallel joints that follow each other turn their links about one direction: link i of such a
run by the sum phi of the angles so far, with their summed speed Q. So its angular velocity and
acceleration come in one step from w_0 and wd_0 of the link before the run, instead of link by link:

    w_i = R(phi)^T w_0 + Q z,   wd_i = R(phi)^T wd_0 + (R(phi)^T w_0) x Q z + Qd z.

That pays where w_0 has one component only: in the first run that turns links about a second
direction. An antiparallel joint turns the sums round; a prismatic one adds no speed. R(phi) comes
by the addition theorem, 4M2A, so that no sine is taken but the joints' own. The rest is
``newton_euler``. Joints count from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from armdyn.algorithms.newton_euler import Motion, accelerator, carried, times, wrenches
from armdyn.chain.arm import Arm
from armdyn.spatial import Z_AXIS, ZERO, Rotation, Row, Scalar

Summed = Callable[[Arm, Sequence[Scalar], Sequence[Rotation]], Sequence[Rotation]]  # R(phi) of R


def inverse_dynamics(
    arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> Row:
    """Joint torques tau (n,) that give accelerations qdd in state q, qd."""
    return carried(arm, q, wrenches(arm, motion(arm, q, qd, qdd)))


def bias(arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Row:
    """C(q, qd) qd + g(q), shape (n,): the torque of a motion without acceleration."""
    return inverse_dynamics(arm, q, qd, [0] * arm.n)


def summed_rotations(arm: Arm, q: Sequence[Scalar], R: Sequence[Rotation]) -> list[Rotation]:
    """R(phi) of each link, made of the R_i by the addition theorem; outside of sums R_i."""
    found: list[Rotation] = []
    for i in range(arm.n):
        found.append(turned_on(found[-1], R[i]) if is_summed(arm, i) else R[i])
    return found


def motion(
    arm: Arm,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    rotations: Summed = summed_rotations,
) -> list[Motion]:
    """The motion of each link; gravity enters as an upward acceleration of the base."""
    R, s = arm.rotations(q), arm.shifts(q)
    w, wd, a = ZERO, ZERO, -arm.gravity
    U, ww = accelerator(w, wd)
    w_0, wd_0, Q, Qd = w, wd, 0, 0
    links = []
    for i, turn in enumerate(rotations(arm, q, R)):
        a = R[i].down(a + times(U, s[i]))
        if is_summed(arm, i):
            Q, Qd = R[i].Cb * Q, R[i].Cb * Qd
        else:
            w_0, wd_0, Q, Qd = w, wd, 0, 0
        if arm.revolute[i]:
            Q, Qd = Q + qd[i], Qd + qdd[i]
        w, wd = turn.down(w_0), turn.down(wd_0)
        w, wd = w + Q * Z_AXIS, wd + w.cross(Q * Z_AXIS) + Qd * Z_AXIS
        if not arm.revolute[i]:
            a = a + 2 * w.cross(qd[i] * Z_AXIS) + qdd[i] * Z_AXIS
        U, ww = accelerator(w, wd)
        links.append(Motion(wd, a, U, ww))
    return links


def is_summed(arm: Arm, i: int) -> bool:
    """Whether joint i adds its angle to that of the joint before."""
    return arm.parallel[i] and i < end_of_sums(arm)


def end_of_sums(arm: Arm) -> int:
    """The joint behind the first run that turns links about a second direction."""
    _, second, _ = arm.start
    return next((i for i in range(second + 1, arm.n) if not arm.parallel[i]), arm.n)


def turned_on(turn: Rotation, R: Rotation) -> Rotation:
    """R(phi) one joint further, by the addition theorem, 4M2A.

    An antiparallel joint (Cb = -1) takes the angle so far off its own.
    """
    C = turn.C * R.C - R.Cb * (turn.S * R.S)
    S = turn.C * R.S + R.Cb * (turn.S * R.C)
    return Rotation(C, S, R.Cb * turn.Cb, R.Cb * turn.Sb)
