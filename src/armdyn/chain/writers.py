"""A chain as text: armdyn's own TOML format."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from armdyn.chain.checks import Finding
from armdyn.chain.parts import Joint, Link
from armdyn.chain.pose import IDENTITY, Pose

if TYPE_CHECKING:
    from armdyn.chain import Chain


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
