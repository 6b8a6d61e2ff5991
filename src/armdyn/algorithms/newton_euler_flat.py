"""Newton-Euler on flat bodies, whose tensors have E_zz = 0.

Ours. The minimal parameters are regrouped so that no link has extent along its joint's axis (view
"flat" of a chain). With E = integral of r r^T dm, the moment that turns a link, integral of
r x (U r) dm, takes 13M13A on the five elements of E that are left, 1M1A less than on a tensor with
YY = 0. The rest is ``newton_euler_sums``.
"""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.algorithms.newton_euler import Motion, Wrench, carried, times
from armdyn.algorithms.newton_euler_sums import motion
from armdyn.chain.arm import Arm
from armdyn.spatial import Row, Scalar, Symmetric, Vector


def inverse_dynamics(
    arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> Row:
    """Joint torques tau (n,) that give accelerations qdd in state q, qd."""
    return carried(arm, q, wrenches(arm, motion(arm, q, qd, qdd)))


def bias(arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Row:
    """C(q, qd) qd + g(q), shape (n,): the torque of a motion without acceleration."""
    return inverse_dynamics(arm, q, qd, [0] * arm.n)


def wrenches(arm: Arm, links: Sequence[Motion]) -> list[Wrench]:
    """What accelerates each link on its own."""
    bodies = zip(arm.mass, arm.first_moment, arm.inertia, links, strict=True)
    return [
        (m * a + times(U, h), spin_torque(J, U, ww) + h.cross(a))
        for m, h, J, (_, a, U, ww) in bodies
    ]


def spin_torque(J: Symmetric, U: tuple[Vector, Vector, Vector], ww: Symmetric) -> Vector:
    """Integral of r x (U r) dm, which is J wd + w x (J w), of a flat body, 13M13A.

    Its E has E_xx = J_yy, E_yy = J_xx, and the other elements of J with the opposite sign. By the
    squares in w w^T it does without U_zz.
    """
    x, y, z = U
    return Vector(
        J.xx * z.y - J.xy * z.x + J.xz * y.x + J.yz * (ww.yy - ww.zz),
        J.xy * z.y - J.yy * z.x - J.yz * x.y + J.xz * (ww.zz - ww.xx),
        J.yy * y.x - J.xx * x.y + J.yz * x.z - J.xz * y.z + J.xy * (x.x - y.y),
    )
