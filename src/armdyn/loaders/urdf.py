"""URDF: links, joints, inertia, limits and friction of a robot description.

Pictures, meshes, transmissions and simulator settings are not read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from armdyn.chain import Chain, dh
from armdyn.chain.dh import EARTH, SNAP
from armdyn.chain.given import Triple, choice, snap_angle, triple
from armdyn.chain.inertia import Inertia
from armdyn.chain.limits import LARGEST
from armdyn.chain.pose import IDENTITY, Pose, rotation_rpy
from armdyn.errors import ModelError, shorten
from armdyn.loaders.markup import FOREIGN, Element, parse
from armdyn.loaders.normal_frames import PARALLEL, ROUNDING
from armdyn.loaders.serial import to_chain
from armdyn.loaders.tree import Tree, TreeJoint, TreeLink, bound

MOVING = ("revolute", "continuous", "prismatic")
TYPES = (*MOVING, "fixed", "floating", "planar")
ORIGIN: Triple = (0.0, 0.0, 0.0)


def load(
    text: str | bytes,
    *,
    name: str | None = None,
    base: str | None = None,
    tip: str | None = None,
    lock: Mapping[str, float] | None = None,
    gravity: ArrayLike = EARTH,
    snap: float = SNAP,
    check: Literal["error", "warn"] = "error",
) -> Chain:
    """A chain from the text of a URDF.

    Args:
        text: XML.
        name: of the arm, in place of the robot's.
        base: the link to stand on, in place of the root; gravity is given in its frame.
        tip: the link at which the arm ends: exactly the joints between base and tip move. If not
            given, the arm follows moving joints until a link carries two or more of them, and
            ends at the link that the last joint moves.
        lock: joints that do not move, on the chain or off it, and their positions [rad or m].
        gravity: acceleration of free fall in the base link's frame (3,) [m/s^2].
        snap: a constant angle within ``snap`` [rad] of a quarter turn becomes it, and axes within
            ``snap`` of parallel become parallel.
        check: "error" refuses an arm that could not exist, "warn" only logs it.
    """
    reader = Reader(max(snap_angle(snap), ROUNDING), choice("check", check, ("error", "warn")))
    robot = parse(text)
    if robot.tag != "robot":
        format = f": this is {FOREIGN[robot.tag]}" if robot.tag in FOREIGN else ""
        raise ModelError(f"{robot.label} is the root of the XML; expected <robot>{format}")
    for element in robot.children:
        if element.tag.startswith("xacro:"):
            raise ModelError(f"{element.label} is {FOREIGN['xacro']}")
    tree = Tree(
        [reader.link(element) for element in robot.named("link")],
        [reader.joint(element) for element in robot.named("joint")],
    )
    return to_chain(
        tree,
        name=robot.attributes.get("name") or "robot" if name is None else name,
        base=base,
        tip=tip,
        lock={} if lock is None else lock,
        gravity=gravity,
        snap=snap,
        check=check,
        notes=reader.notes,
        moved=reader.moved,
    )


# Reading ------------------------------------------------------------------------------------


@dataclass
class Reader:
    """Reads elements; says in ``notes`` what it snapped, and what it read past."""

    snap: float  # rad
    check: str = "error"  # "warn": a slip that can be read past is noted
    notes: list[str] = field(default_factory=list)
    moved: float = 0.0  # by which angles were snapped, in all [rad], but for rounding

    def only(self, element: Element, tag: str) -> Element | None:
        """The child of that tag, None if there is none; of several, the first under "warn"."""
        try:
            return element.only(tag)
        except ModelError as error:
            if self.check == "error":
                raise
            self.notes.append(f"{error}; the first is read")
            return element.named(tag)[0]

    def link(self, element: Element) -> TreeLink:
        """A <link> with its inertia, if it has any."""
        name = element.text("name")
        inertial = self.only(element, "inertial")
        if inertial is None:
            return TreeLink(name)
        mass = inertial.needed("mass").number("value", largest=LARGEST)
        given = inertial.needed("inertia")
        xx, xy, xz, yy, yz, zz = (
            given.number(key, largest=LARGEST) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        )
        body = Inertia(mass, ORIGIN, (xx, xy, xz, yy, yz, zz))
        return TreeLink(name, body, self.pose(self.only(inertial, "origin")))

    def joint(self, element: Element) -> TreeJoint:
        """A <joint>; a fixed one's axis, limits and friction mean nothing and are not read."""
        name, kind = element.text("name"), element.text("type")
        if kind not in TYPES:
            raise element.wrong("type", f"is unknown; expected {', '.join(MOVING)} or fixed")
        parent, child = (element.needed(end).text("link") for end in ("parent", "child"))
        joint = TreeJoint(name, kind, parent, child, self.pose(self.only(element, "origin")))
        if kind not in MOVING:
            return joint
        return joint._replace(
            axis=self.axis(self.only(element, "axis")),
            mimics=_mimics(self.only(element, "mimic")),
            properties=self.properties(element, kind),
        )

    def pose(self, origin: Element | None) -> Pose:
        """An <origin>: fixed-axis roll, pitch and yaw, then a shift."""
        if origin is None:
            return IDENTITY
        shift = origin.triple("xyz", ORIGIN, LARGEST)
        angles = origin.triple("rpy", ORIGIN, LARGEST)
        turns = [dh.snapped(angle, self.snap) for angle in angles]
        moved = sum(abs(turn - angle) for turn, angle in zip(turns, angles, strict=True))
        self.notes += dh.in_degrees(f"{origin.label} rpy", *angles)
        self.note(origin, "rpy", moved, "quarter turns")
        return Pose.of(rotation_rpy(*turns), shift)

    def axis(self, element: Element | None) -> Triple:
        """An <axis> as a unit vector; one within snap of a coordinate axis becomes it."""
        if element is None:
            return 1.0, 0.0, 0.0
        xyz = np.array(element.triple("xyz"))
        largest = abs(xyz).max()
        if largest == 0:
            raise element.wrong("xyz", "is no direction; expected three numbers, not all zero")
        xyz = xyz / largest
        unit = xyz / np.linalg.norm(xyz)
        nearest = np.rint(unit) + 0.0
        moved = float(np.linalg.norm(unit - nearest))
        if abs(nearest).sum() != 1 or moved > self.snap:
            return triple(unit)
        self.note(element, "xyz", moved, "a coordinate axis")
        return triple(nearest)

    def properties(self, element: Element, kind: str) -> dict[str, Any]:
        """Limits and friction by the names a chain's joint has for them."""
        found: dict[str, Any] = {}
        limit, dynamics = (self.only(element, tag) for tag in ("limit", "dynamics"))
        if limit is not None:
            absent = {"velocity": math.inf, "effort": math.inf}
            if kind != "continuous":
                absent |= {"lower": 0.0, "upper": 0.0}  # as the format has it
            found |= {name: bound(limit.number(name, absent[name])) for name in absent}
        if dynamics is not None:
            friction = dynamics.number("friction", 0.0)
            found["viscous"] = dynamics.number("damping", 0.0)
            found["coulomb"] = (0.0 - friction, friction)
        return found

    def note(self, element: Element, attribute: str, moved: float, to: str) -> None:
        """Remember by how much [rad] an attribute was snapped, and to what."""
        if moved > ROUNDING:
            value = shorten(element.attributes[attribute])
            said = f"{attribute}={value} snapped by {moved:.1e} rad to {to}"
            self.notes.append(f"{element.label} {said}")
            self.moved += moved if moved > PARALLEL else 0.0


def _mimics(element: Element | None) -> tuple[str, float, float] | None:
    if element is None:
        return None
    return element.text("joint"), element.number("multiplier", 1.0), element.number("offset", 0.0)
