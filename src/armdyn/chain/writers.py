"""A chain as text: armdyn's own TOML format, and URDF."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

import numpy as np

from armdyn.chain.checks import Finding
from armdyn.chain.dh import EARTH
from armdyn.chain.inertia import Inertia
from armdyn.chain.parts import Joint, Link
from armdyn.chain.pose import IDENTITY, Pose
from armdyn.errors import ModelError, listed, shorten

if TYPE_CHECKING:
    from armdyn.chain import Chain

TENSOR = {  # where each attribute of a URDF's <inertia> stands
    **{"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2)},
    **{"iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)},
}
NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
HALVED = 1e-14  # relative: what halving and adding numbers leaves of nothing


def to_toml(chain: Chain) -> str:
    """A chain in armdyn's TOML format, which ``armdyn.load`` reads back bit for bit.

    The links stand about their frames' origins and no angle is to be snapped; what has its
    default value is left out.
    """
    return "\n".join(_lines(chain)) + "\n"


def _lines(chain: Chain) -> Iterator[str]:
    yield _entry("name", chain.name)
    yield _entry("gravity", chain.gravity)
    yield _entry("convention", "mdh")
    yield _entry("inertia_about", "origin")
    yield _entry("snap", 0.0)
    said = [note for note in chain.notes if not isinstance(note, Finding)]
    yield from _unless_default(("notes", said, ()))
    for key, pose in (("base", chain.base), ("tip", chain.tip)):
        entries = list(_pose_lines(pose))
        if entries:
            yield from ("", f"[{key}]", *entries)
    for joint, link in zip(chain.joints, chain.links, strict=True):
        yield from ("", "[[joint]]", *_joint_lines(joint))
        yield from ("[joint.link]", *_link_lines(link))
    for frame in chain.frames:
        yield from ("", "[[frame]]", _entry("name", frame.name))
        if frame.link >= 0:
            yield _entry("link", chain.links[frame.link].name)
        yield from _pose_lines(frame.pose)
    for name, position in chain.locked:
        yield from ("", "[[locked]]", _entry("joint", name), _entry("position", position))


def _joint_lines(joint: Joint) -> Iterator[str]:
    yield _entry("name", joint.name)
    yield _entry("type", "revolute" if joint.kind == "R" else "prismatic")
    for key in ("b", "beta", "d", "theta"):
        yield _entry(key, getattr(joint, key))
    yield from _unless_default(
        ("rotor_inertia", joint.rotor_inertia, 0.0),
        ("viscous", joint.viscous, 0.0),
        ("coulomb", joint.coulomb, (0.0, 0.0)),
        ("limits", (joint.lower, joint.upper), (-math.inf, math.inf)),
        ("velocity", joint.velocity, math.inf),
        ("effort", joint.effort, math.inf),
    )


def _link_lines(link: Link) -> Iterator[str]:
    yield _entry("name", link.name)
    yield _entry("mass", link.inertia.mass)
    yield _entry("first_moment", link.inertia.first_moment)
    xx, xy, xz, yy, yz, zz = link.inertia.tensor
    yield _entry("inertia", ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))


def _pose_lines(pose: Pose) -> Iterator[str]:
    yield from _unless_default(
        ("translation", pose.translation, IDENTITY.translation),
        ("rotation", pose.rotation, IDENTITY.rotation),
    )


def _unless_default(*entries: tuple[str, Any, Any]) -> Iterator[str]:
    """Compared as text, so that a negative zero is written."""
    for key, value, default in entries:
        if _value(value) != _value(default):
            yield _entry(key, value)


def _entry(key: str, value: Any) -> str:
    return f"{key} = {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, str):  # JSON's escapes are TOML's, which forbids one character more
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Sequence):
        return f"[{', '.join(map(_value, value))}]"
    return repr(float(value))


# URDF ---------------------------------------------------------------------------------------


def to_urdf(chain: Chain) -> str:
    """A chain as a URDF of its own: a link a joint, and one without mass for each named frame.

    A link's frame stands where a frame of its name does, if that lies on the joint's axis, else at
    E_i. The format has no place for gravity, rotors, friction that differs by direction,
    and the tip.
    """
    for what, name in [
        ("robot", chain.name),
        *(("joint", joint.name) for joint in chain.joints),
        *(("link", link.name) for link in chain.links),
        *(("frame", frame.name) for frame in chain.frames),
    ]:
        if strange := NOT_XML.search(name):
            raise ModelError(
                f"the name of {what} {shorten(name)} has the character {strange[0]!r}, which "
                "XML does not have; a .toml file keeps it"
            )
    return "\n".join(_urdf_lines(chain)) + "\n"


def left_out(chain: Chain) -> Iterator[str]:
    """What a URDF has no place for."""
    if chain.gravity != EARTH:
        yield f"a URDF has no place for gravity {chain.gravity}; load it with gravity="
    rotors = [shorten(joint.name) for joint in chain.joints if joint.rotor_inertia]
    if rotors:
        yield f"a URDF has no place for the rotors of joints {listed(rotors)}; a .toml file has"
    for joint in chain.joints:
        middle = sum(joint.coulomb) / 2
        if abs(middle) > HALVED * max(map(abs, joint.coulomb)):
            yield (
                f"a URDF has no place for Coulomb friction that differs by direction: joint "
                f"{shorten(joint.name)} has {joint.coulomb[0]:.6g} and {joint.coulomb[1]:.6g}, of "
                f"which {middle:.3g} is left out; a .toml file keeps it"
            )


def tip_link(chain: Chain) -> str | None:
    """The name of a link that the URDF has for the tip alone; None if the last link is there."""
    named = {_root(chain), *chain.frame_names}
    return None if chain.tip == _seen_at(chain)[-1] else _unused("tip", named)


def lost_tip(chain: Chain) -> Iterator[str]:
    """That a URDF does not say which of its links is the tip."""
    if name := tip_link(chain):
        yield f"a URDF has no place for the tip; load it with tip={shorten(name)}"


def _urdf_lines(chain: Chain) -> Iterator[str]:
    root, seen = _root(chain), _seen_at(chain)
    yield from ('<?xml version="1.0"?>', f"<robot name={quoteattr(chain.name)}>")
    yield f"  <link name={quoteattr(root)}/>"
    parent, to_next = root, chain.base
    for joint, link, own in zip(chain.joints, chain.links, seen, strict=True):
        origin = to_next @ Pose.mdh(joint.b, joint.beta, joint.theta, joint.d) @ own
        yield from _moving(joint, parent, link.name, origin, own)
        yield from (
            f"  <link name={quoteattr(link.name)}>",
            *_inertial_lines(link, own),
            "  </link>",
        )
        parent, to_next = link.name, own.inverse()
    named = {root, *(link.name for link in chain.links)}
    for frame in chain.frames:
        if frame.name not in named:
            held = IDENTITY if frame.link < 0 else seen[frame.link].inverse()
            carrier = root if frame.link < 0 else chain.links[frame.link].name
            yield from _fixed(frame.name, carrier, held @ frame.pose)
            named.add(frame.name)
    if name := tip_link(chain):
        yield from _fixed(name, parent, to_next @ chain.tip)
    yield "</robot>"


def _root(chain: Chain) -> str:
    """The base link's name: that of a frame that stands there, or one of its own."""
    there = [frame.name for frame in chain.frames if frame.link < 0 and frame.pose == IDENTITY]
    return there[0] if there else _unused("base", set(chain.frame_names))


def _unused(name: str, named: set[str]) -> str:
    while name in named:
        name += "_"
    return name


def _seen_at(chain: Chain) -> list[Pose]:
    """Where each link's frame stands in E_i."""
    places = []
    for joint, link in zip(chain.joints, chain.links, strict=True):
        pose = chain.find_frame(link.name)[1]
        on_axis = joint.kind == "P" or pose.translation[:2] == (0.0, 0.0)
        places.append(pose if on_axis else IDENTITY)
    return places


def _moving(joint: Joint, parent: str, child: str, origin: Pose, own: Pose) -> Iterator[str]:
    limited = math.isfinite(joint.lower) or math.isfinite(joint.upper)
    kind = "prismatic" if joint.kind == "P" else "revolute" if limited else "continuous"
    axis = np.array(own.rotation)[2]  # z of E_i in the link's frame
    yield f'  <joint name={quoteattr(joint.name)} type="{kind}">'
    yield from _ends(parent, child, origin)
    yield f'    <axis xyz="{_spaced(axis)}"/>'
    limits = {"effort": joint.effort, "velocity": joint.velocity}
    if kind != "continuous":
        limits |= {"lower": joint.lower, "upper": joint.upper}
    if kind != "continuous" or not all(map(math.isinf, limits.values())):
        yield f"    <limit{''.join(map(_bound, limits, limits.values()))}/>"
    negative, positive = joint.coulomb
    if joint.viscous or negative or positive:
        friction = (positive - negative) / 2
        yield f'    <dynamics damping="{joint.viscous!r}" friction="{friction!r}"/>'
    yield "  </joint>"


def _bound(key: str, value: float) -> str:
    """An attribute of a <limit>: the format has no infinity, and wants all of them."""
    largest = sys.float_info.max
    return f' {key}="{min(max(value, -largest), largest)!r}"'


def _fixed(name: str, parent: str, pose: Pose) -> Iterator[str]:
    yield f"  <link name={quoteattr(name)}/>"
    yield f'  <joint name={quoteattr(f"fixed to {parent}: {name}")} type="fixed">'
    yield from _ends(parent, name, pose)
    yield "  </joint>"


def _ends(parent: str, child: str, origin: Pose) -> Iterator[str]:
    yield f"    <parent link={quoteattr(parent)}/>"
    yield f"    <child link={quoteattr(child)}/>"
    yield f'    <origin xyz="{_spaced(origin.translation)}" rpy="{_spaced(rpy(origin))}"/>'


def _inertial_lines(link: Link, own: Pose) -> Iterator[str]:
    if not link.inertia.is_zero:
        body = link.inertia.seen_from(own.inverse())
        yield from (f"    {line}" for line in inertial(body))


def inertial(body: Inertia) -> list[str]:
    """The lines of a URDF's <inertial> for a body given in its link's frame."""
    J = body.about_com
    tensor = " ".join(f'{key}="{float(J[ij])!r}"' for key, ij in TENSOR.items())
    return [
        "<inertial>",
        f'  <origin xyz="{_spaced(body.com)}" rpy="0 0 0"/>',
        f'  <mass value="{body.mass!r}"/>',
        f"  <inertia {tensor}/>",
        "</inertial>",
    ]


def rpy(pose: Pose) -> tuple[float, float, float]:
    """Roll, pitch and yaw [rad] of a pose, as URDF has them."""
    R = np.array(pose.rotation)
    across = math.hypot(R[2, 1], R[2, 2])
    pitch = math.atan2(-R[2, 0], across)
    if across < 1e-9:  # straight up or down, where roll and yaw are one: all of it is yaw
        return 0.0, pitch, math.atan2(-R[0, 1], R[1, 1])
    return math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])


def _spaced(values: Iterable[float]) -> str:
    return " ".join(repr(float(x) + 0.0) for x in values)
