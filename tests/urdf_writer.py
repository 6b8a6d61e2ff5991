"""Writes a chain as URDF, its frames placed anywhere: the converter has to find them again."""

import math

import numpy as np

from armdyn.chain.pose import Pose
from armdyn.chain.random import _rotation


def write(chain, seed=0, tilts=None):
    """The URDF text of a chain, with random frames, axis lengths and extra fixed links.

    A link's own frame stands anywhere on its joint's axis (a prismatic joint's: anywhere), turned
    at random; a random part of the link's inertia is in a second link fixed to it, which carries
    the next joint. ``tilts`` are small rotations [rad] of each joint's origin about a random
    direction across its axis.
    """
    rng = np.random.default_rng(seed)
    parts = ['<?xml version="1.0"?>', "<!-- drawn at random: <robot> -->"]
    parts += [f'<robot name="{chain.name}">', '<!-- a > b --><link name="base"/>']
    outer = Pose.of(_rotation(rng.standard_normal((3, 3))), rng.uniform(-1, 1, 3))
    parts += [_link("mount", None, rng), _joint("mounting", "fixed", "base", "mount", outer)]
    carrier, to_next = "mount", outer.inverse() @ chain.base  # E_0 in the carrier's frame
    for i, (joint, link) in enumerate(zip(chain.joints, chain.links, strict=True)):
        own = _own_frame(joint.kind, rng)  # of the link, in E_i
        step = Pose.mdh(joint.b, joint.beta, joint.theta, joint.d)
        origin = to_next @ step @ _tilt(tilts[i] if tilts else 0.0, rng) @ own
        fixed = Pose.of(_rotation(rng.standard_normal((3, 3))), rng.uniform(-0.3, 0.3, 3))
        share = rng.uniform(0.1, 0.9)
        axis = rng.uniform(0.1, 10) * np.array(own.rotation)[2]  # z of E_i in the link's frame
        kind = "prismatic" if joint.kind == "P" else rng.choice(["revolute", "continuous"])
        in_own, in_fixed = own.inverse(), (own @ fixed).inverse()
        parts += [
            _joint(joint.name, kind, carrier, link.name, origin, axis),
            _link(link.name, _scaled(link.inertia, 1 - share).seen_from(in_own), rng),
            _joint(f"weld{i}", "fixed", link.name, f"plate{i}", fixed),
            _link(f"plate{i}", _scaled(link.inertia, share).seen_from(in_fixed), rng),
        ]
        carrier, to_next = f"plate{i}", in_fixed
    parts += [_joint("last", "fixed", carrier, "tip", to_next @ chain.tip), _link("tip", None, rng)]
    return "\n".join([*parts, "</robot>"])


def _own_frame(kind, rng):
    shift = rng.uniform(-0.3, 0.3, 3) * ((0, 0, 1) if kind == "R" else (1, 1, 1))
    return Pose.of(_rotation(rng.standard_normal((3, 3))), shift)


def _tilt(angle, rng):
    """A rotation about a random direction across z."""
    turn = rng.uniform(-math.pi, math.pi)
    about_z = Pose.mdh(0.0, 0.0, turn, 0.0)
    return about_z @ Pose.mdh(0.0, angle, 0.0, 0.0) @ about_z.inverse()


def _scaled(inertia, share):
    return type(inertia).from_parameters(share * inertia.parameters())


def _link(name, inertia, rng):
    if inertia is None:
        return f'<link name="{name}"/>'
    R = _rotation(rng.standard_normal((3, 3)))  # the axes that the tensor is written in
    J = R.T @ inertia.about_com @ R
    names = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2)}
    tensor = " ".join(f'{key}="{float(J[ij])!r}"' for key, ij in {**names, "izz": (2, 2)}.items())
    return (
        f'<link name="{name}"><inertial>{_origin(Pose.of(R, inertia.com))}'
        f'<mass value="{inertia.mass!r}"/><inertia {tensor}/></inertial></link>'
    )


def _joint(name, kind, parent, child, origin, axis=None):
    motion = ""
    if axis is not None:
        motion = f'<axis xyz="{_numbers(axis)}"/>'
        motion += '<limit lower="-9" upper="9" velocity="1" effort="2"/>'
        motion += '<dynamics damping="0.5" friction="0.25"/>'
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f"{_origin(origin)}{motion}</joint>"
    )


def _origin(pose):
    R = np.array(pose.rotation)
    pitch = math.atan2(-R[2, 0], math.hypot(R[2, 1], R[2, 2]))
    rpy = math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])
    return f'<origin xyz="{_numbers(pose.translation)}" rpy="{_numbers(rpy)}"/>'


def _numbers(values):
    return " ".join(repr(float(value)) for value in values)
