"""URDF: links, joints, inertia, limits and friction of a robot description.

Pictures, meshes and simulator settings are not read, nor limits of acceleration and jerk.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping
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
from armdyn.errors import ACCEPTED, ModelError, cut, listed, meant, shorten
from armdyn.loaders.markup import FOREIGN, TEXT, Element, leftover, parse
from armdyn.loaders.normal_frames import PARALLEL, ROUNDING
from armdyn.loaders.serial import to_chain
from armdyn.loaders.tree import Tree, TreeJoint, TreeLink, bound, quoted, rotation_quaternion
from armdyn.loaders.trunk import choose

MOVING = ("revolute", "continuous", "prismatic")
TYPES = (*MOVING, "fixed", "floating", "planar")
ORIGIN: Triple = (0.0, 0.0, 0.0)
VERSIONS = ("1.0", "1.1", "1.2")
TENSOR = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
ATTRIBUTES = {  # that are read; and those of a limit that bear on no motion computed here
    "origin": ("xyz", "rpy", "quat_xyzw"),
    "axis": ("xyz",),
    "mass": ("value",),
    "inertia": TENSOR,
    "limit": ("lower", "upper", "velocity", "effort", "acceleration", "deceleration", "jerk"),
    "dynamics": ("damping", "friction"),
    "mimic": ("joint", "multiplier", "offset"),
}
MOTORS = (  # of a <transmission>: inertia [kg m^2 or kg] and reduction, as ROS and Drake write them
    (("motorInertia", TEXT), ("mechanicalReduction", TEXT)),
    (("drake:rotor_inertia", "value"), ("drake:gear_ratio", "value")),
)
CHILDREN = {  # that are read; and two that only look like them
    "robot": ("link", "joint", "transmission", "plugin"),
    "link": ("inertial",),
    "inertial": ("origin", "mass", "inertia"),
    "joint": ("parent", "child", "origin", "axis", "limit", "dynamics", "mimic"),
    "actuator": (*(tag for pair in MOTORS for tag, _ in pair), "motorTorqueConstant"),
}
DEFINITIONS = ("xacro:property", "xacro:arg", "xacro:macro")  # which say nothing by themselves
HIDING = ("include", "xi:include", "group")
HIDDEN = "no element of URDF, and may hide links or masses; write what it stands for"
FAR, WIDE = 50.0, 15.0  # m: an offset, and a radius of gyration, that no arm's link has


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
        base: the link to stand on, in place of the root.
        tip: the link at which the arm ends: exactly the joints between base and tip move. If not
            given, the arm follows moving joints until a link carries two or more of them, and
            ends at the link that the last joint moves.
        lock: joints that do not move and their positions [rad or m], on the chain or off it; one
            between root and base turns the base.
        gravity: acceleration of free fall in the root link's axes (3,) [m/s^2].
        snap: a constant angle within ``snap`` [rad] of a quarter turn becomes it, and axes within
            ``snap`` of parallel become parallel.
        check: "error" refuses an arm that could not exist, "warn" only logs it.
    """
    reader = Reader(max(snap_angle(snap), ROUNDING), choice("check", check, ("error", "warn")))
    robot = parse(text)
    if robot.tag != "robot":
        format = f": this is {FOREIGN[robot.tag]}" if robot.tag in FOREIGN else ""
        raise ModelError(f"{robot.label} is the root of the XML; expected <robot>{format}")
    reader.robot(robot)
    tree = Tree(
        [reader.link(element) for element in robot.named("link")],
        [reader.joint(element) for element in robot.named("joint")],
    )
    return to_chain(
        tree,
        choose(tree, base, tip, {} if lock is None else lock, check),
        name=robot.attributes.get("name") or "robot" if name is None else name,
        gravity=gravity,
        snap=snap,
        check=check,
        notes=[*reader.remarked(), *reader.notes],
        moved=reader.moved,
    )


# Reading ------------------------------------------------------------------------------------


@dataclass
class Reader:
    """Reads elements; says in ``notes`` what it snapped, and what it read past."""

    snap: float  # rad
    check: str = "error"  # "warn": a slip that can be read past is noted
    notes: list[str] = field(default_factory=list)
    moved: list[float] = field(default_factory=list)  # by which angles were snapped [rad]
    version: str = VERSIONS[-1]
    rotors: dict[str, float] = field(default_factory=dict)  # of each joint [kg m^2 or kg]
    remarks: dict[str, list[str]] = field(default_factory=dict)  # and where each is true

    def slip(self, problem: str, remedy: str) -> None:
        """Refuse what can be read past; under "warn", note how it is read."""
        if self.check == "error":
            raise ModelError(f"{problem}; {ACCEPTED}")
        self.notes.append(f"{problem}; {remedy}")

    def remarked(self) -> list[str]:
        """The remarks as notes, each with where it is true."""
        notes = []
        for what, places in self.remarks.items():
            more = f" and {len(places) - 3} more" if len(places) > 3 else ""
            notes.append(f"{listed(places[:3])}{more}: {what}")
        return notes

    def robot(self, robot: Element) -> None:
        """Read the motors; refuse elements that may hide links."""
        self.version = robot.attributes.get("version", VERSIONS[0])
        if self.version not in VERSIONS:
            said = f"{robot.label} version={shorten(self.version)} is unknown"
            self.slip(f"{said}; expected {', '.join(VERSIONS)}", f"read as {VERSIONS[-1]}")
        if not robot.named("link") and robot.named("group"):
            raise ModelError(f"{robot.label} has no <link>: this is {FOREIGN['srdf']}")
        self.check_children(robot)
        joints = (joint.attributes for joint in robot.named("joint"))
        moving = {found.get("name", "") for found in joints if found.get("type") in MOVING}
        for element in robot.children:
            if element.tag == "transmission":
                self.transmission(element, moving)
            elif element.tag in DEFINITIONS:
                self.remark("a definition of xacro is not read", element.label)
            elif element.tag.startswith("xacro:"):
                self.slip(f"{element.label} is {FOREIGN['xacro']}", "it is not read")
            elif element.tag in HIDING:
                self.slip(f"{element.label} is {HIDDEN}", "it is not read")

    def remark(self, what: str, place: str) -> None:
        """Note something once for all places where it is true."""
        self.remarks.setdefault(what, []).append(place)

    def known(self, element: Element) -> bool:
        """Whether all attributes of an element are read; those that are not are noted."""
        known = ATTRIBUTES[element.tag]
        odd = [key for key in element.attributes if key not in known and key != TEXT]
        if odd:
            likely = "".join(meant(key, known) for key in odd if ":" not in key)
            are = "are" if odd[1:] else "is"
            what = f"{quoted(odd)} of <{element.tag}> {are} not read; {likely}".rstrip(" ;")
            self.remark(what, element.label.removesuffix(f": {element.tag}"))
        return not odd

    def check_children(self, element: Element) -> None:
        """Note elements that look like misspelt ones."""
        for child in element.children:
            known = CHILDREN[element.tag]
            likely = "" if child.tag in known or ":" in child.tag else meant(child.tag, known)
            if likely:
                self.remark(f"<{cut(child.tag)}> is not read; {likely}".rstrip(), element.label)

    def check_expanded(self, element: Element) -> None:
        """Refuse elements that xacro expands, and those that may hide masses."""
        self.check_children(element)
        waiting = [element]
        for each in waiting:
            waiting += each.children
            words = [
                f"{key}={shorten(value)}"
                for key, value in each.attributes.items()
                if leftover(value)
            ]
            if each.tag.startswith("xacro:") or words:
                said = " ".join([each.label, *words[:1]])
                self.slip(f"{said} in {element.label} is {FOREIGN['xacro']}", "it is not read")
                return
            if each.tag in HIDING:
                self.slip(f"{each.label} in {element.label} is {HIDDEN}", "it is not read")

    def transmission(self, element: Element, moving: Container[str]) -> None:
        """A <transmission>: the inertia of a joint's motor, times its reduction squared."""
        joints, motors = element.named("joint"), element.named("actuator")
        places = [*motors, element, *joints]
        read = [(_first(places, *motor), _first(places, *by)) for motor, by in MOTORS]
        inertia, gear = next((pair for pair in read if pair[0]), (None, read[0][1] or read[1][1]))
        names = [joint.attributes.get("name", "") for joint in joints]
        place = quoted(names) or element.label
        for motor in motors:
            self.check_children(motor)
        if inertia is not None and not len(joints) == len(motors) == 1:
            self.remark("motor inertia of a coupled <transmission> is not read", place)
        elif inertia is not None and names[0] not in moving:
            self.remark("motor inertia is not read: no joint of that name moves", place)
        elif inertia is not None:
            ratio = 1.0 if gear is None else gear[0].number(gear[1], largest=LARGEST)
            if gear is not None and not ratio:
                raise gear[0].wrong(gear[1], "is no reduction; expected a number other than 0")
            rotor = inertia[0].number(inertia[1], largest=LARGEST) * ratio**2
            self.rotors[names[0]] = self.rotors.get(names[0], 0.0) + rotor
            what = f"rotor inertia {rotor:g} (at the joint) is read from <transmission>"
            self.remark(what, place)
        elif gear is not None and gear[0].attributes[gear[1]] not in ("1", "1.0", "-1", "-1.0"):
            said = f"{place} by {cut(gear[0].attributes[gear[1]])}"
            self.remark("reduced without a <motorInertia>, so that rotors weigh nothing", said)

    def only(self, element: Element, tag: str) -> Element | None:
        """The child of that tag, None if there is none; of several, the first under "warn"."""
        try:
            return element.only(tag)
        except ModelError as error:
            self.slip(str(error), "the first is read")
            return element.named(tag)[0]

    def link(self, element: Element) -> TreeLink:
        """A <link> with its inertia, if it has any."""
        name = element.text("name")
        inertial = self.only(element, "inertial")
        if inertial is None:
            self.check_expanded(element)
            return TreeLink(name)
        weighed = inertial.needed("mass")
        self.known(weighed)
        mass = weighed.number("value", largest=LARGEST)
        body = Inertia(mass, ORIGIN, self.tensor(inertial))
        if max(body.tensor) > max(1.0, WIDE**2 * mass):
            said = f"{element.label} of {mass:g} kg has a moment of {max(body.tensor):g} kg m^2"
            self.remark("these look like units of grams or millimetres", said)
        pose = self.pose(self.only(inertial, "origin"))
        self.check_children(inertial)
        self.check_expanded(element)
        return TreeLink(name, body, pose)

    def tensor(self, inertial: Element) -> tuple[float, float, float, float, float, float]:
        """The six numbers of an <inertia>; products that are not written are zero."""
        given = self.only(inertial, "inertia")
        if given is None:
            self.slip(f"{inertial.label} has no <inertia>; expected one", "read as a point")
            return (0.0,) * 6
        zero = 0.0 if self.known(given) else None  # else a product may be misspelt
        xx, yy, zz = (given.number(key, largest=LARGEST) for key in ("ixx", "iyy", "izz"))
        xy, xz, yz = (given.number(key, zero, LARGEST) for key in ("ixy", "ixz", "iyz"))
        return xx, xy, xz, yy, yz, zz

    def joint(self, element: Element) -> TreeJoint:
        """A <joint>; a fixed one's axis, limits and friction mean nothing and are not read."""
        name, kind = element.text("name"), element.text("type")
        if kind not in TYPES:
            likely = meant(kind, TYPES)
            raise element.wrong(
                "type", f"is unknown; {likely}expected {', '.join(MOVING)} or fixed"
            )
        parent, child = (element.needed(end).text("link") for end in ("parent", "child"))
        joint = TreeJoint(name, kind, parent, child, self.pose(self.only(element, "origin")))
        if kind in MOVING:
            joint = joint._replace(
                axis=self.axis(self.only(element, "axis")),
                mimics=self.mimics(self.only(element, "mimic")),
                properties=self.properties(element, kind),
            )
        self.check_expanded(element)
        return joint

    def pose(self, origin: Element | None) -> Pose:
        """An <origin>: fixed-axis roll, pitch and yaw, then a shift."""
        if origin is None:
            return IDENTITY
        self.known(origin)
        shift = origin.triple("xyz", ORIGIN, LARGEST)
        if max(map(abs, shift)) > FAR:
            said = f"{origin.label} xyz={shorten(origin.attributes['xyz'])}"
            self.remark(f"more than {FAR:g} m looks like millimetres", said)
        if "quat_xyzw" in origin.attributes:
            return Pose.of(self.turned(origin), shift)
        angles = origin.triple("rpy", ORIGIN, LARGEST)
        turns = [dh.snapped(angle, self.snap) for angle in angles]
        moved = sum(abs(turn - angle) for turn, angle in zip(turns, angles, strict=True))
        self.notes += dh.in_degrees(f"{origin.label} rpy", *angles)
        if any(math.pi < abs(angle) <= dh.TURNS and (2 * angle).is_integer() for angle in angles):
            said = f"{origin.label} rpy={shorten(origin.attributes['rpy'])}"
            self.remark("a round number beyond half a turn looks like an angle in degrees", said)
        self.note(origin, "rpy", moved, "quarter turns")
        return Pose.of(rotation_rpy(*turns), shift)

    def turned(self, origin: Element) -> np.ndarray:
        """The rotation of a quaternion (x, y, z, w) of whatever size."""
        if "rpy" in origin.attributes:
            raise ModelError(f"{origin.label} has rpy and quat_xyzw; expected one of them")
        if self.version == VERSIONS[0]:
            said = f"{origin.label} has quat_xyzw, which URDF has from version 1.1 on"
            self.slip(f"{said}; expected <robot version='1.1'>", "it is read")
        x, y, z, w = origin.numbers("quat_xyzw", 4, LARGEST)
        if not math.hypot(x, y, z, w):
            raise origin.wrong("quat_xyzw", "is no rotation; expected four numbers, not all zero")
        return rotation_quaternion(x, y, z, w)

    def axis(self, element: Element | None) -> Triple:
        """An <axis> as a unit vector; one within snap of a coordinate axis becomes it."""
        if element is None:
            return 1.0, 0.0, 0.0
        self.known(element)
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
            self.known(limit)
            absent = {"velocity": math.inf, "effort": math.inf}
            if kind != "continuous":
                absent |= {"lower": 0.0, "upper": 0.0}  # as the format has it
            found |= {name: bound(limit.limit(name, absent[name])) for name in absent}
        for name in ("velocity", "effort"):
            if found.get(name) == 0:
                found[name] = math.inf
                self.remark(f"{name} limit 0 is read as no limit", element.label)
        if found.get("lower") == found.get("upper") == 0:
            self.remark("limits 0 and 0 leave no room to move", element.label)
        if dynamics is not None:
            self.known(dynamics)
            friction = dynamics.number("friction", 0.0)
            found["viscous"] = dynamics.number("damping", 0.0)
            found["coulomb"] = (0.0 - friction, friction)
        if rotor := self.rotors.get(element.attributes["name"]):
            found["rotor_inertia"] = rotor
        return found

    def mimics(self, element: Element | None) -> tuple[str, float, float] | None:
        """A <mimic>: the joint, its multiplier and an offset."""
        if element is None:
            return None
        self.known(element)
        numbers = element.number("multiplier", 1.0), element.number("offset", 0.0)
        return element.text("joint"), *numbers

    def note(self, element: Element, attribute: str, moved: float, to: str) -> None:
        """Remember by how much [rad] an attribute was snapped, and to what."""
        if moved > ROUNDING:
            self.moved.append(moved)
        if moved > PARALLEL:
            value = shorten(element.attributes[attribute])
            said = f"{attribute}={value} snapped by {moved:.1e} rad to {to}"
            self.notes.append(f"{element.label} {said}")


def _first(elements: Iterable[Element], tag: str, key: str) -> tuple[Element, str] | None:
    """The first child of that tag that has the attribute, and the attribute's name."""
    children = (child for element in elements for child in element.named(tag))
    return next(((child, key) for child in children if key in child.attributes), None)
