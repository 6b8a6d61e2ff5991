"""How the first axes of a chain lie: what its structure alone says, whatever its joints do."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from armdyn.chain.given import Triple, triple
from armdyn.chain.pose import Pose, rotation_about

if TYPE_CHECKING:
    from armdyn.chain import Chain

ROUNDING = 1e-12  # rad, or of the arm's length: what a product of rotations may leave behind


class Start(NamedTuple):
    """The start of a chain, up to the joint that first turns its links about a second direction.

    Attributes:
        r: the first revolute joint, counted from 0; n if there is none.
        s: the first revolute joint not parallel to joint r; n if there is none.
        u: joint r's axis in E_i, for each i of r <= i < s, where it is constant; in integers 0 and
            +-1 where joint i is parallel to it.
    """

    r: int
    s: int
    u: dict[int, Triple]


def start(chain: Chain) -> Start:
    """Joints r and s of [lin1999], Theorem 1, and u_r^<i>."""
    n = chain.n
    r = (chain.kinds + "R").index("R")
    u: dict[int, Triple] = {}
    axis = np.array([0.0, 0.0, 1.0])
    for i in range(r, n):
        joint = chain.joints[i]
        if i > r:
            turn = rotation_about("x", joint.beta) @ rotation_about("z", joint.theta)
            axis = turn.T @ axis
        if np.hypot(axis[0], axis[1]) <= ROUNDING:
            axis = np.array([0.0, 0.0, np.sign(axis[2])])
            u[i] = (0, 0, int(axis[2]))
        elif joint.kind == "R":
            return Start(r, i, u)
        else:
            u[i] = triple(axis)
    return Start(r, n, u)


def turns_in_place(chain: Chain) -> list[bool]:
    """Whether joint i, r <= i < s, can only spin its links about one line, along gravity.

    That is delta_i = 0 of [lin1999], Theorem 1: joint r, every joint before i (prismatic
    ones too) and gravity are parallel, and the axes of the revolute joints up to i coincide. A
    zero vector counts as parallel.
    """
    r, s, _ = start(chain)
    in_place = [False] * chain.n
    if r == chain.n:
        return in_place
    poses = placed(chain)
    z = np.array([np.array(pose.rotation)[:, 2] for pose in poses])
    o = np.array([pose.translation for pose in poses])
    gravity = np.array(chain.base.rotation).T @ chain.gravity
    reach = sum(abs(joint.b) + abs(joint.d) for joint in chain.joints)

    def along(v: np.ndarray, size: float) -> bool:
        return bool(np.linalg.norm(np.cross(z[r], v)) <= ROUNDING * size)

    for i in range(r, s):
        turning = [m for m in range(r, i) if chain.kinds[m] == "R"]
        in_place[i] = (
            along(gravity, float(np.linalg.norm(gravity)))
            and all(along(z[k], 1.0) for k in range(i))
            and all(along(o[i] - o[m], reach) for m in turning)
        )
    return in_place


def placed(chain: Chain) -> list[Pose]:
    """E_1, ..., E_n in E_0 with every joint at zero."""
    poses, pose = [], Pose()
    for joint in chain.joints:
        pose = pose @ Pose.mdh(joint.b, joint.beta, joint.theta, joint.d)
        poses.append(pose)
    return poses
