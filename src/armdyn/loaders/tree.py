"""A tree of links and joints, and the one serial chain in it that moves."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from armdyn.chain import dh
from armdyn.chain.inertia import Inertia
from armdyn.chain.pose import IDENTITY, Pose, Triple, cos_sin
from armdyn.errors import ModelError

LARGEST = 1e9  # m, rad, kg or kg m^2: no arm has more of anything, and no square overflows
LISTED = 20  # names in a message


@dataclass(frozen=True)
class TreeLink:
    """A body: its inertia about its own centre, in a frame that stands at ``inertial`` in it."""

    name: str
    inertia: Inertia = Inertia()
    inertial: Pose = IDENTITY


@dataclass(frozen=True)
class TreeJoint:
    """A joint from one link to another, whose frame it is; it moves about or along ``axis``."""

    name: str
    type: str  # revolute, continuous, prismatic, fixed, floating or planar
    parent: str
    child: str
    origin: Pose = IDENTITY  # of the child link's frame in the parent's, at position 0
    axis: Triple = (1.0, 0.0, 0.0)  # a unit vector in the child link's frame
    mimics: tuple[str, float, float] | None = None  # joint, multiplier, offset
    properties: dict[str, Any] = field(default_factory=dict)  # limits and friction, as Joint's

    def at(self, position: float) -> Pose:
        """The child link's frame in the parent's, with the joint at ``position`` [rad or m]."""
        if position == 0:
            return self.origin
        if self.type in ("floating", "planar"):
            raise ModelError(
                f"joint {self.name!r} is {self.type}: it can be locked at 0 only, not at {position}"
            )
        if self.type == "prismatic":
            return self.origin @ Pose.of(np.eye(3), position * np.array(self.axis))
        return self.origin @ Pose.of(_rotation(self.axis, position))


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
                    f"joint {joint.name!r}: {end} link {link!r} is unknown; expected one of: "
                    + _listed(self.links)
                )
        if joint.child in self.arriving:
            raise ModelError(
                f"link {joint.child!r} is the child of joints "
                f"{self.arriving[joint.child].name!r} and {joint.name!r}, which closes a loop; "
                "expected one parent a link"
            )
        if joint.mimics and joint.mimics[0] not in self.joints:
            raise ModelError(f"joint {joint.name!r} mimics {joint.mimics[0]!r}, which is no joint")
        self.arriving[joint.child] = joint
        self.leaving[joint.parent].append(joint)

    def _find_root(self) -> str:
        roots = [name for name in self.links if name not in self.arriving]
        if len(roots) > 1:
            raise ModelError(
                f"{len(roots)} links have no parent ({_listed(roots)}); expected one root"
            )
        reached = {joint.child for joint in self.below(roots[0])} if roots else set()
        for name in self.links:
            if name not in reached and name not in roots:
                raise ModelError(
                    f"joints form a loop: {_listed(self._loop(name))}; expected a tree"
                )
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

    def below(self, link: str) -> Iterator[TreeJoint]:
        """All joints outboard of a link, each after the joint that its parent hangs on."""
        waiting = [link]
        for name in waiting:
            for joint in self.leaving[name]:
                yield joint
                waiting.append(joint.child)

    def link(self, name: str, what: str) -> str:
        """The name of a link, checked to be one."""
        if not isinstance(name, str) or name not in self.links:
            raise ModelError(f"{what}={name!r} is no link; expected one of: " + _listed(self.links))
        return name


@dataclass(frozen=True)
class Serial:
    """The chain that moves: from link ``base`` over the ``moving`` joints to link ``tip``.

    ``locked`` holds the positions of all other joints outboard of the base, fixed ones apart;
    ``notes`` says which of them mimic a joint that moves.
    """

    base: str
    tip: str
    moving: list[TreeJoint]
    locked: dict[str, float]
    notes: list[str]


def choose(tree: Tree, base: str | None, tip: str | None, lock: Mapping[str, float]) -> Serial:
    """The joints between base and tip or, without a tip, those of the trunk.

    The trunk follows moving joints from the base until a body carries two or more of them; what
    lies beyond is locked at zero. A joint that mimics another is locked where that one puts it.
    """
    start = tree.root if base is None else tree.link(base, "base")
    _check_lock(tree, lock)
    held = {name for name in tree.joints if tree.joints[name].type == "fixed"}
    held |= {name for name, joint in tree.joints.items() if _leader(tree, joint, lock)[0] in lock}
    if tip is None:
        moving = _trunk(tree, start, held)
    else:
        moving = _path(tree, start, tree.link(tip, "tip"), held)
    if not moving:
        raise ModelError(
            f"no joint moves between base {start!r} and "
            f"{'any tip' if tip is None else f'tip {tip!r}'}; expected at least one"
        )
    dh.check_count(len(moving))
    for joint in moving:
        _refuse_unmovable(joint)
    names = {joint.name for joint in moving}
    still = [j for j in tree.below(start) if j.type != "fixed" and j.name not in names]
    locked = {joint.name: _position(tree, joint, lock) for joint in still}
    notes = [
        f"joint {joint.name!r} mimics {leader!r}, which moves, but is locked at "
        f"{locked[joint.name]:g}"
        for joint in still
        if (leader := _leader(tree, joint, lock)[0]) in names
    ]
    return Serial(start, moving[-1].child if tip is None else tip, moving, locked, notes)


def _trunk(tree: Tree, base: str, held: set[str]) -> list[TreeJoint]:
    moving: list[TreeJoint] = []
    link = base
    while len(found := list(_leaving_body(tree, link, held))) == 1:
        moving += found
        link = found[0].child
    if len(found) > 1 and not moving:
        beyond = [joint.child for start in found for joint in (start, *tree.below(start.child))]
        tips = [name for name in beyond if not tree.leaving[name]]
        raise ModelError(
            f"the arm branches at its base {base!r}, into joints "
            f"{_listed(joint.name for joint in found)}; choose one of its tips by tip=: "
            + _listed(tips)
        )
    return moving


def _leaving_body(tree: Tree, link: str, held: set[str]) -> Iterator[TreeJoint]:
    """The moving joints on a link and on all that is fixed to it."""
    waiting = [link]
    for name in waiting:
        for joint in tree.leaving[name]:
            if joint.name in held:
                waiting.append(joint.child)
            else:
                yield joint


def _path(tree: Tree, base: str, tip: str, held: set[str]) -> list[TreeJoint]:
    joints: list[TreeJoint] = []
    link = tip
    while link != base:
        if link == tree.root:
            raise ModelError(f"tip={tip!r} is not outboard of base={base!r}")
        joints.append(tree.arriving[link])
        link = joints[-1].parent
    return [joint for joint in reversed(joints) if joint.name not in held]


def _refuse_unmovable(joint: TreeJoint) -> None:
    remedy = (
        f"lock={{{joint.name!r}: 0.0}} locks it, and tip= (or base=) ends the chain before "
        "(or starts it after) it"
    )
    if joint.mimics:
        raise ModelError(
            f"joint {joint.name!r} mimics {joint.mimics[0]!r}; expected joints that move by "
            f"themselves: {remedy}"
        )
    if joint.type in ("floating", "planar"):
        raise ModelError(
            f"joint {joint.name!r} is {joint.type}; expected revolute, continuous, prismatic or "
            f"fixed joints: {remedy}"
        )


def _check_lock(tree: Tree, lock: Mapping[str, float]) -> None:
    if not isinstance(lock, Mapping):
        raise ModelError(f"lock is a mapping from joints to positions, not {lock!r}")
    for name, position in lock.items():
        if name not in tree.joints:
            raise ModelError(
                f"lock names {name!r}, which is no joint; expected one of: " + _listed(tree.joints)
            )
        if tree.joints[name].type == "fixed":
            raise ModelError(f"lock names joint {name!r}, which is fixed already")
        try:
            finite = math.isfinite(position)
        except (TypeError, OverflowError):
            finite = False
        if not finite:
            raise ModelError(f"lock: joint {name!r} needs a finite position, not {position!r}")


def _leader(tree: Tree, joint: TreeJoint, lock: Mapping[str, float]) -> tuple[str, float, float]:
    """The joint that a joint follows in the end (itself, if it mimics none), the ratio, the offset.

    A joint that ``lock`` names follows no other.
    """
    ratio, offset = 1.0, 0.0
    seen = {joint.name: None}
    while joint.mimics and joint.name not in lock:
        name, multiplier, added = joint.mimics
        ratio, offset = ratio * multiplier, ratio * added + offset
        joint = tree.joints[name]
        if name in seen:
            raise ModelError(f"joints mimic one another in a circle: {_listed([*seen, name])}")
        seen[name] = None
    return joint.name, ratio, offset


def _position(tree: Tree, joint: TreeJoint, lock: Mapping[str, float]) -> float:
    leader, ratio, offset = _leader(tree, joint, lock)
    position = ratio * float(lock.get(leader, 0.0)) + offset
    if not abs(position) <= LARGEST:
        raise ModelError(
            f"joint {joint.name!r} would be locked at {position:g}; expected at most {LARGEST:g}"
        )
    return position


def _rotation(axis: Triple, angle: float) -> np.ndarray:
    """Rodrigues' formula, exact for quarter turns about coordinate axes."""
    c, s = cos_sin(angle)
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return c * np.eye(3) + s * cross + (1 - c) * np.outer(axis, axis)


def _refuse_twins(what: str, names: Iterable[str]) -> None:
    twins = [name for name, times in Counter(names).items() if times > 1]
    if twins:
        raise ModelError(f"{what} name {twins[0]!r} is used twice; expected names of their own")


def _listed(names: Iterable[str]) -> str:
    shown = [repr(name) for name in names]
    more = f" and {len(shown) - LISTED} more" if len(shown) > LISTED else ""
    return ", ".join(shown[:LISTED]) + more
