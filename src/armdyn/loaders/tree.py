"""Links and joints as a tree."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from armdyn.chain.given import Triple
from armdyn.chain.inertia import Inertia
from armdyn.chain.limits import UNLIMITED
from armdyn.chain.pose import IDENTITY, Pose, cos_sin
from armdyn.errors import ModelError, listed, meant, shorten

UNMOVABLE = ("floating", "planar", "ball")  # joints with more than one freedom


class TreeLink(NamedTuple):
    """A body: its inertia about its own centre, in a frame that stands at ``inertial`` in it."""

    name: str
    inertia: Inertia = Inertia()
    inertial: Pose = IDENTITY


class TreeJoint(NamedTuple):
    """A joint from one link to another, whose frame it is; it moves about or along ``axis``."""

    name: str
    type: str  # revolute, continuous, prismatic, fixed, or one of UNMOVABLE
    parent: str
    child: str
    origin: Pose = IDENTITY  # of the child link's frame in the parent's, at position 0
    axis: Triple = (1.0, 0.0, 0.0)  # a unit vector in the child link's frame
    mimics: tuple[str, float, float] | None = None  # joint, multiplier, offset
    properties: Mapping[str, Any] = MappingProxyType({})  # limits and friction, as Joint's

    def at(self, position: float) -> Pose:
        """The child link's frame in the parent's, with the joint at ``position`` [rad or m]."""
        if position == 0:
            return self.origin
        if self.type in UNMOVABLE:
            raise ModelError(
                f"joint {shorten(self.name)} is {self.type}: it can be locked at 0 only, not at "
                f"{position}"
            )
        if self.type == "prismatic":
            return self.origin @ Pose.of(np.eye(3), position * np.array(self.axis))
        return self.origin @ Pose.of(rotation(self.axis, position))


class Tree:
    """Links and joints, checked to be one tree."""

    def __init__(self, links: Sequence[TreeLink], joints: Sequence[TreeJoint]) -> None:
        self.links = {link.name: link for link in links}
        self.joints = {joint.name: joint for joint in joints}
        _refuse_twins("link", (link.name for link in links))
        _refuse_twins("joint", (joint.name for joint in joints))
        self.leaving: dict[str, list[TreeJoint]] = {name: [] for name in self.links}
        self.arriving: dict[str, TreeJoint] = {}
        for joint in joints:
            self._attach(joint)
        self.root = self._find_root()

    def _attach(self, joint: TreeJoint) -> None:
        for end, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in self.links:
                raise ModelError(
                    f"joint {shorten(joint.name)}: {end} link {shorten(link)} is unknown; "
                    f"{meant(link, self.links)}expected one of: {quoted(self.links)}"
                )
        if joint.child in self.arriving:
            raise ModelError(
                f"link {shorten(joint.child)} is the child of joints "
                f"{shorten(self.arriving[joint.child].name)} and {shorten(joint.name)}, which "
                "closes a loop; expected one parent a link"
            )
        self.arriving[joint.child] = joint
        self.leaving[joint.parent].append(joint)

    def _find_root(self) -> str:
        roots = [name for name in self.links if name not in self.arriving]
        if len(roots) > 1:
            raise ModelError(
                f"{len(roots)} links have no parent ({quoted(roots)}); expected one root"
            )
        reached = {joint.child for joint in self.below(roots[0])} if roots else set()
        for name in self.links:
            if name not in reached and name not in roots:
                raise ModelError(f"joints form a loop: {quoted(self._loop(name))}; expected a tree")
        if not roots:
            raise ModelError("the robot has no link; expected at least two and a joint")
        return roots[0]

    def _loop(self, link: str) -> list[str]:
        """The joints of the loop one runs into from a link, going from child to parent."""
        seen: dict[str, None] = {}
        while self.arriving[link].name not in seen:
            seen[self.arriving[link].name] = None
            link = self.arriving[link].parent
        names = list(seen)
        return names[names.index(self.arriving[link].name) :]

    def below(self, link: str, without: Container[str] = ()) -> Iterator[TreeJoint]:
        """All joints outboard of a link, parents first, without some and those they carry."""
        waiting = [link]
        for name in waiting:
            for joint in self.leaving[name]:
                if joint.name not in without:
                    yield joint
                    waiting.append(joint.child)

    def link(self, name: str, what: str) -> str:
        """The name of a link, checked to be one."""
        if isinstance(name, Sequence) and not isinstance(name, str):
            raise ModelError(
                f"{what} is one link, not {shorten(name)}; load one robot for each {what}"
            )
        if not isinstance(name, str) or name not in self.links:
            raise ModelError(
                f"{what}={shorten(name)} is no link; {meant(name, self.links)}expected one of: "
                + quoted(self.links)
            )
        return name


def rotation(axis: Triple, angle: float) -> np.ndarray:
    """Rodrigues' formula, exact for quarter turns about coordinate axes."""
    c, s = cos_sin(angle)
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return c * np.eye(3) + s * cross + (1 - c) * np.outer(axis, axis)


def rotation_quaternion(x: float, y: float, z: float, w: float) -> np.ndarray:
    """The rotation of a quaternion of any size but zero; exact for quarter turns."""
    size = math.hypot(x, y, z)
    if size == 0:
        return np.eye(3)
    return rotation((x / size, y / size, z / size), 2 * math.atan2(size, w))


def bound(value: float) -> float:
    """A limit as a file has it: its largest numbers say that there is none."""
    return math.copysign(math.inf, value) if abs(value) >= UNLIMITED else value


def _refuse_twins(what: str, names: Iterable[str]) -> None:
    twins = [name for name, times in Counter(names).items() if times > 1]
    if twins:
        raise ModelError(
            f"{what} name {shorten(twins[0])} is used twice; expected names of their own"
        )


def quoted(names: Iterable[str]) -> str:
    """Names in quotes, as a message lists them."""
    return listed(map(repr, names))
