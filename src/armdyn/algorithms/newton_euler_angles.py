"""Newton-Euler with the sines of summed angles.

Ours. ``newton_euler_sums`` where the sine and cosine of each sum phi are taken of phi itself: fewer
additions and multiplications than any other method where axes are parallel, for a sine and a
cosine more for each sum. These take longer than what is saved, so this method is never chosen by
itself. Joints count from 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.algorithms.newton_euler import carried, wrenches
from armdyn.algorithms.newton_euler_sums import is_summed, motion, summed_rotations
from armdyn.chain.arm import Arm
from armdyn.spatial import Rotation, Row, Scalar


def inverse_dynamics(
    arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> Row:
    """Joint torques tau (n,) that give accelerations qdd in state q, qd."""
    return carried(arm, q, wrenches(arm, motion(arm, q, qd, qdd, rotations_by_sums)))


def bias(arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Row:
    """C(q, qd) qd + g(q), shape (n,): the torque of a motion without acceleration."""
    return inverse_dynamics(arm, q, qd, [0] * arm.n)


def rotations_by_sums(arm: Arm, q: Sequence[Scalar], R: Sequence[Rotation]) -> list[Rotation]:
    """R(phi) of each link, by the sine and cosine of phi; outside of sums R_i.

    Where the joints' sines and cosines are given in place of angles, those of sums follow from
    them by the addition theorem.
    """
    if any(isinstance(angle, tuple) for angle in q):
        return summed_rotations(arm, q, R)
    found: list[Rotation] = []
    constant, phi = 0.0, 0  # the sum of the arm's own angles, and of the joints'
    for i in range(arm.n):
        own, Cb = q[i] if arm.revolute[i] else 0, R[i].Cb
        if is_summed(arm, i):
            constant, phi = arm.theta[i] + Cb * constant, own + Cb * phi
            C, S = arm.turned(constant, phi)
            found.append(Rotation(C, S, Cb * found[-1].Cb, Cb * found[-1].Sb))
        else:
            constant, phi = arm.theta[i], own
            found.append(R[i])
    return found
