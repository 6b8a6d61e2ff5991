"""The arms that are measured, as every library gets them: one reduced model, in MDH and as URDF."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

import armdyn
from armdyn.chain import Chain, Joint
from armdyn.chain.inertia import Inertia
from armdyn.chain.pose import IDENTITY, Pose

ARMS = ("panda", "ur5", "puma560")
QUANTITIES = {  # what all libraries compute, and its arguments
    "mass_matrix": ("q",),
    "bias": ("q", "qd"),
    "inverse_dynamics": ("q", "qd", "qdd"),
    "forward_dynamics": ("q", "qd", "tau"),
}


def arm(name: str) -> Chain:
    """A shipped arm without its rotors, which not every library can carry."""
    chain = armdyn.load(name).chain
    joints = (dataclasses.replace(joint, rotor_inertia=0.0) for joint in chain.joints)
    return dataclasses.replace(chain, joints=tuple(joints))


def states(chain: Chain, *batch: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Random q, qd, qdd and tau, shape (*batch, n) each.

    q is uniform in a turn (prismatic: in (-0.5, 0.5) m), qd within 2 and qdd within 5 rad/s (m/s)
    and a second more; tau, within 20 N m (N), is not that of the motion.
    """
    rng = np.random.default_rng(seed)
    turn = [math.pi if joint.kind == "R" else 0.5 for joint in chain.joints]
    widest = {"q": turn, "qd": 2.0, "qdd": 5.0, "tau": 20.0}
    return {name: width * rng.uniform(-1, 1, (*batch, chain.n)) for name, width in widest.items()}


def urdf(chain: Chain) -> str:
    """The chain as URDF, each link's frame being E_i."""
    parts = [f'<robot name="{chain.name}"><link name="base"/>']
    parent, before = "base", chain.base
    for joint, link in zip(chain.joints, chain.links, strict=True):
        place = before @ Pose.mdh(joint.b, joint.beta, joint.theta, joint.d)
        parts += [_joint(joint, parent, link.name, place), _link(link.name, link.inertia)]
        parent, before = link.name, IDENTITY
    return "\n".join([*parts, "</robot>"])


def _joint(joint: Joint, parent: str, child: str, place: Pose) -> str:
    kind = {"R": "revolute", "P": "prismatic"}[joint.kind]
    R = np.array(place.rotation)
    pitch = math.atan2(-R[2, 0], math.hypot(R[2, 1], R[2, 2]))
    rpy = math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])
    return (
        f'<joint name="{joint.name}" type="{kind}">'
        f'<parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{_numbers(place.translation)}" rpy="{_numbers(rpy)}"/><axis xyz="0 0 1"/>'
        f'<limit lower="-100" upper="100" velocity="1e6" effort="1e6"/></joint>'
    )


def _link(name: str, inertia: Inertia) -> str:
    J = inertia.about_com
    entries = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2)}
    tensor = " ".join(f'{key}="{float(J[ij])!r}"' for key, ij in {**entries, "izz": (2, 2)}.items())
    return (
        f'<link name="{name}"><inertial><origin xyz="{_numbers(inertia.com)}"/>'
        f'<mass value="{inertia.mass!r}"/><inertia {tensor}/></inertial></link>'
    )


def _numbers(values: object) -> str:
    return " ".join(repr(float(value)) for value in values)  # type: ignore[attr-defined]
