"""URDF: the serial arm that moves in a robot description, whatever else it describes.

Links, joints, inertia, limits and friction are read; pictures, meshes, transmissions and
simulator settings are not. Fixed and locked joints are merged into the link that carries them.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from armdyn.chain import EARTH, SNAP, Chain, Frame, Joint, Link, dh
from armdyn.chain.inertia import Inertia
from armdyn.chain.pose import IDENTITY, Pose, Triple, rotation_about, triple
from armdyn.errors import ModelError
from armdyn.loaders.markup import Element, parse
from armdyn.loaders.normal_frames import PARALLEL, ROUNDING, Axis, Extent, Row, normal_frames, tidy
from armdyn.loaders.tree import LARGEST, Serial, Tree, TreeJoint, TreeLink, choose

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
    gravity: Sequence[float] = EARTH,
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
    snap = dh.checked_snap(snap)
    robot = parse(text)
    if robot.tag != "robot":
        raise ModelError(f"{robot.label} is the root of the XML; expected <robot>")
    reader = Reader(max(snap, ROUNDING))
    tree = Tree(
        [reader.link(element) for element in robot.named("link")],
        [reader.joint(element) for element in robot.named("joint")],
    )
    serial = choose(tree, base, tip, {} if lock is None else lock)
    return Chain(
        name=name or robot.attributes.get("name") or "robot",
        gravity=dh.vector("gravity", gravity),
        locked=tuple(serial.locked.items()),
        check=check,
        **_in_normal_frames(tree, serial, snap, reader),
    )


# Reading ------------------------------------------------------------------------------------


@dataclass
class Reader:
    """Reads elements; says in ``notes`` which of their angles it snapped."""

    snap: float  # rad
    notes: list[str] = field(default_factory=list)
    moved: float = 0.0  # by which angles were snapped, in all [rad], but for rounding

    def link(self, element: Element) -> TreeLink:
        """A <link> with its inertia, if it has any."""
        name = element.text("name")
        inertial = element.only("inertial")
        if inertial is None:
            return TreeLink(name)
        mass = inertial.needed("mass").number("value", largest=LARGEST)
        given = inertial.needed("inertia")
        xx, xy, xz, yy, yz, zz = (
            given.number(key, largest=LARGEST) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        )
        body = Inertia(mass, ORIGIN, (xx, xy, xz, yy, yz, zz))
        return TreeLink(name, body, self.pose(inertial.only("origin")))

    def joint(self, element: Element) -> TreeJoint:
        """A <joint>; a fixed one's axis, limits and friction mean nothing and are not read."""
        name, kind = element.text("name"), element.text("type")
        if kind not in TYPES:
            raise element.wrong("type", f"is unknown; expected {', '.join(MOVING)} or fixed")
        parent, child = (element.needed(end).text("link") for end in ("parent", "child"))
        joint = TreeJoint(name, kind, parent, child, self.pose(element.only("origin")))
        if kind not in MOVING:
            return joint
        return dataclasses.replace(
            joint,
            axis=self.axis(element.only("axis")),
            mimics=_mimics(element.only("mimic")),
            properties=_properties(element, kind),
        )

    def pose(self, origin: Element | None) -> Pose:
        """An <origin>: fixed-axis roll, pitch and yaw, then a shift."""
        if origin is None:
            return IDENTITY
        shift = origin.triple("xyz", ORIGIN, LARGEST)
        angles = origin.triple("rpy", ORIGIN, LARGEST)
        turns = [dh.snapped(angle, self.snap) for angle in angles]
        moved = sum(abs(turn - angle) for turn, angle in zip(turns, angles, strict=True))
        self.note(origin, "rpy", moved, "quarter turns")
        x, y, z = map(rotation_about, "xyz", turns)
        return Pose.of(z @ y @ x, shift)

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

    def note(self, element: Element, attribute: str, moved: float, to: str) -> None:
        """Remember by how much [rad] an attribute was snapped, and to what."""
        if moved > ROUNDING:
            value = element.attributes[attribute]
            said = f"{attribute}={value!r} snapped by {moved:.1e} rad to {to}"
            self.notes.append(f"{element.label} {said}")
            self.moved += moved if moved > PARALLEL else 0.0


def _mimics(element: Element | None) -> tuple[str, float, float] | None:
    if element is None:
        return None
    return element.text("joint"), element.number("multiplier", 1.0), element.number("offset", 0.0)


def _properties(element: Element, kind: str) -> dict[str, Any]:
    """Limits and friction by the names a chain's joint has for them."""
    found: dict[str, Any] = {}
    limit, dynamics = element.only("limit"), element.only("dynamics")
    if limit is not None:
        found["velocity"] = limit.number("velocity", math.inf)
        found["effort"] = limit.number("effort", math.inf)
        if kind != "continuous":  # absent means 0, as the format has it
            found["lower"], found["upper"] = limit.number("lower", 0.0), limit.number("upper", 0.0)
    if dynamics is not None:
        friction = dynamics.number("friction", 0.0)
        found["viscous"] = dynamics.number("damping", 0.0)
        found["coulomb"] = (0.0 - friction, friction)
    return found


# Converting ---------------------------------------------------------------------------------


def _in_normal_frames(tree: Tree, serial: Serial, snap: float, reader: Reader) -> dict[str, Any]:
    """Joints, links, base, tip, frames and notes of the chain."""
    placed = _placed(tree, serial)
    axes = [
        Axis(joint.name, joint.type != "prismatic", _placement(joint, placed), joint.axis)
        for joint in serial.moving
    ]
    tip = placed[serial.tip][1]
    extent = _extent(tree, serial, placed, axes, tip)
    reach = extent.reach
    rows, losses = normal_frames(axes, extent, snap, reader.moved)
    carriers = [IDENTITY] + [row.frame for row in rows]  # the base, then E_1, E_2, ...
    frames = [
        Frame(link, i - 1, tidy(carriers[i].inverse() @ pose, reach))
        for link, (i, pose) in placed.items()
    ]
    fixed: list[list[Frame]] = [[] for _ in carriers]
    for frame in frames:
        fixed[frame.link + 1].append(frame)
    return {
        "joints": tuple(map(_joint, serial.moving, rows)),
        "links": tuple(
            Link(joint.child, _lumped(tree, group))
            for joint, group in zip(serial.moving, fixed[1:], strict=True)
        ),
        "base": tidy(axes[0].placement @ rows[0].frame, reach),
        "tip": tidy(rows[-1].frame.inverse() @ tip, reach),
        "frames": tuple(frames),
        "notes": (*reader.notes, *serial.notes, *losses),
    }


def _placed(tree: Tree, serial: Serial) -> dict[str, tuple[int, Pose]]:
    """Which body each link belongs to (0: the base, then one a joint), and where it stands there.

    A body's frame is that of the link its joint moves.
    """
    bodies = {joint.name: i + 1 for i, joint in enumerate(serial.moving)}
    placed = {serial.base: (0, IDENTITY)}
    for joint in tree.below(serial.base):
        body, pose = placed[joint.parent]
        if joint.name in bodies:
            placed[joint.child] = bodies[joint.name], IDENTITY
        else:
            placed[joint.child] = body, pose @ joint.at(serial.locked.get(joint.name, 0.0))
    return placed


def _placement(joint: TreeJoint, placed: dict[str, tuple[int, Pose]]) -> Pose:
    return placed[joint.parent][1] @ joint.origin


def _extent(
    tree: Tree,
    serial: Serial,
    placed: dict[str, tuple[int, Pose]],
    axes: Sequence[Axis],
    tip: Pose,
) -> Extent:
    """How large the arm is, with all joints at zero."""
    distances = [axis.placement.translation for axis in axes[1:]] + [tip.translation]
    reach = sum(math.hypot(*distance) for distance in distances) or 1.0
    slides = sum(_travel(joint, reach) for joint in serial.moving)
    body, inertia, carried = Inertia(), [0.0], []  # body: all that joint i carries, in its frame
    for i in reversed(range(len(axes))):
        links = (Frame(name, i, pose) for name, (k, pose) in placed.items() if k == i + 1)
        body += _lumped(tree, list(links))
        z = np.array(axes[i].direction)
        inertia.append(float(z @ body.matrix @ z) if axes[i].revolute else body.mass)
        carried.append(body.mass)
        body = body.seen_from(axes[i].placement)
    return Extent(reach, slides, max(inertia), tuple(reversed(carried)))


def _travel(joint: TreeJoint, reach: float) -> float:
    """How far a joint slides from zero [m]; the arm's length where its limits do not say."""
    if joint.type != "prismatic":
        return 0.0
    farthest = max(abs(joint.properties.get(end, 0.0)) for end in ("lower", "upper"))
    return farthest or reach


def _joint(joint: TreeJoint, row: Row) -> Joint:
    return Joint(
        joint.name,
        "P" if joint.type == "prismatic" else "R",
        row.b,
        row.beta,
        row.d,
        row.theta,
        **joint.properties,
    )


def _lumped(tree: Tree, frames: Sequence[Frame]) -> Inertia:
    """The inertia of links fixed to one another; what only rounding left of it is zero."""
    total = Inertia()
    mass = moment = square = 0.0  # the sizes of what is added
    for frame in frames:
        link = tree.links[frame.name]
        total += link.inertia.seen_from(frame.pose @ link.inertial)
        arm = math.hypot(*frame.pose.translation) + math.hypot(*link.inertial.translation)
        mass += abs(link.inertia.mass)
        moment += abs(link.inertia.mass) * arm
        square += abs(link.inertia.mass) * arm**2 + max(map(abs, link.inertia.tensor))

    def cleared(value: float, size: float) -> float:
        return value if abs(value) > ROUNDING * size else 0.0

    m = cleared(total.mass, mass)
    x, y, z = (cleared(h, moment) for h in total.first_moment)
    xx, xy, xz, yy, yz, zz = total.tensor
    xy, xz, yz = (cleared(product, square) for product in (xy, xz, yz))
    if not m:  # of a small body far off, moments are small against m r^2 and yet its own
        xx, yy, zz = (cleared(own, square) for own in (xx, yy, zz))
    return Inertia(m, (x, y, z), (xx, xy, xz, yy, yz, zz))
