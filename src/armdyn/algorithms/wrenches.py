"""What the joints feel of a wrench that acts on the arm at a frame: J^T w, without forming J."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from armdyn.algorithms.kinematics import frames
from armdyn.chain.arm import Arm
from armdyn.spatial import Row, Scalar, Vector

Formula = Callable[..., Any]  # lists of n scalars in, a list of n out


def felt(arm: Arm, q: Sequence[Scalar], wrench: Row, frame: str | None) -> Row:
    """J^T w (n,): the force f at the frame's origin and the moment t, in base axes, at each joint.

    Inward from the frame t is taken about the origin of one link frame after the other; a revolute
    joint feels its part along the axis, a prismatic one that of f.
    """
    f, t = Vector(*wrench[:3]), Vector(*wrench[3:])
    link, _, p = arm.frame(frame)
    E, d = frames(arm, q), arm.extensions(q)
    tau: Row = [0] * arm.n
    lever = E[link + 1].out(p)
    for k in reversed(range(link + 1)):
        t = t + lever.cross(f)
        z = E[k + 1].z
        tau[k] = z @ (t if arm.revolute[k] else f)
        lever = arm.b[k] * E[k].x + d[k] * z
    return tau


def borne(arm: Arm, free: Formula, frame: str | None) -> Formula:
    """Inverse dynamics of a motion to which a wrench contributes: it is spared that torque."""

    def inverse_dynamics(q: Row, qd: Row, qdd: Row, wrench: Row) -> Row:
        both = zip(free(q, qd, qdd), felt(arm, q, wrench, frame), strict=True)
        return [tau - t for tau, t in both]

    return inverse_dynamics


def pushed(arm: Arm, free: Formula, frame: str | None) -> Formula:
    """Forward dynamics under torques and a wrench."""

    def forward_dynamics(q: Row, qd: Row, tau: Row, wrench: Row) -> Row:
        both = zip(tau, felt(arm, q, wrench, frame), strict=True)
        return free(q, qd, [given + t for given, t in both])

    return forward_dynamics
