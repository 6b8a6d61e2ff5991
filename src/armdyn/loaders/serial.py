"""The one serial arm that moves in a tree, as a chain in normal frames.

Fixed and locked joints are merged into the link that carries them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from armdyn.chain import Chain, Frame, Joint, Link
from armdyn.chain.given import triple, vector
from armdyn.chain.inertia import Inertia
from armdyn.chain.limits import HUGE, UNLIMITED
from armdyn.chain.pose import IDENTITY, Pose
from armdyn.errors import ACCEPTED, ModelError, shorten
from armdyn.loaders.normal_frames import (
    PARALLEL,
    ROUNDING,
    Axis,
    Extent,
    TableRow,
    normal_frames,
    tidy,
)
from armdyn.loaders.tree import Tree, TreeJoint
from armdyn.loaders.trunk import Serial


def to_chain(
    tree: Tree,
    serial: Serial,
    *,
    name: str,
    gravity: ArrayLike,
    snap: float,
    check: Literal["error", "warn"],
    notes: Sequence[str],
    moved: Sequence[float],
) -> Chain:
    """The chain that moves in a tree, see ``armdyn.loaders.urdf.load``.

    Args:
        tree: all links and joints.
        serial: those that move.
        name: of the chain.
        gravity: in the root link's axes (3,) [m/s^2].
        snap: see ``urdf.load``.
        check: see ``urdf.load``.
        notes: of the tree's reader.
        moved: by how much that reader snapped angles [rad].
    """
    serial = _sound(serial, check)
    placed = _placed(serial)
    axes = [
        Axis(joint.name, joint.type != "prismatic", _placement(joint, placed), joint.axis)
        for joint in serial.moving
    ]
    end = placed[serial.tip][1]
    extent = _extent(tree, serial, placed, axes, end)
    reach = extent.reach
    moves = [*moved]
    rows, losses = normal_frames(axes, extent, snap, moves)
    own, turned = np.array(vector("gravity", gravity)), np.array(tidy(serial.stance, 1.0).rotation)
    carriers = [IDENTITY] + [row.frame for row in rows]  # the base, then E_1, E_2, ...
    frames = [
        Frame(link, i - 1, tidy(carriers[i].inverse() @ pose, reach))
        for link, (i, pose) in placed.items()
    ]
    fixed: list[list[Frame]] = [[] for _ in carriers]
    for frame in frames:
        fixed[frame.link + 1].append(frame)
    return Chain(
        name=name,
        joints=tuple(map(_joint, serial.moving, rows)),
        links=tuple(
            Link(joint.child, lumped(tree, group))
            for joint, group in zip(serial.moving, fixed[1:], strict=True)
        ),
        base=tidy(axes[0].placement @ rows[0].frame, reach),
        tip=tidy(rows[-1].frame.inverse() @ end, reach),
        gravity=triple(own @ turned + 0.0 if abs(own).max() <= HUGE else own),  # Chain refuses it
        frames=tuple(frames),
        locked=tuple(serial.locked.items()),
        notes=(*serial.cuts, *notes, *serial.notes, *losses, *_small(moves)),
        check=check,
    )


def _small(moves: Sequence[float]) -> list[str]:
    """One note on all angles that were snapped by no more than their digits leave open."""
    small = [move for move in moves if ROUNDING < move <= PARALLEL]
    if not small:
        return []
    angles = "angle" if len(small) == 1 else "angles"
    return [f"{len(small)} {angles} snapped, at most {max(small):.1e} rad"]


def _sound(serial: Serial, check: str) -> Serial:
    """The same joints without friction that would drive them, and without limits upside down."""
    moving, notes = [], list(serial.notes)
    for joint in serial.moving:
        kept = dict(joint.properties)
        lower, upper = kept.get("lower", -math.inf), kept.get("upper", math.inf)
        sizes = {"viscous": kept.get("viscous", 0.0), "coulomb": kept.get("coulomb", (0, 0))[1]}
        slips: dict[str, tuple[str, ...]] = {
            f"{key} friction {size:g} is negative": (key,)
            for key, size in sizes.items()
            if size < 0
        }
        if lower > upper:
            right = f"expected lower <= upper, or {-UNLIMITED:g} and {UNLIMITED:g} for no limit"
            slips[f"limits are lower {lower:g} and upper {upper:g}; {right}"] = ("lower", "upper")
        for problem, keys in slips.items():
            said = f"joint {shorten(joint.name)}: {problem}"
            if check == "error":
                raise ModelError(f"{said}; {ACCEPTED}")
            notes.append(f"{said}; read as none")
            kept = {name: value for name, value in kept.items() if name not in keys}
        moving.append(joint._replace(properties=kept))
    return serial._replace(moving=moving, notes=notes)


def _placed(serial: Serial) -> dict[str, tuple[int, Pose]]:
    """Which body each link belongs to (0: the base, then one a joint), and where it stands there.

    A body's frame is that of the link its joint moves.
    """
    bodies = {joint.name: i + 1 for i, joint in enumerate(serial.moving)}
    placed = {serial.base: (0, IDENTITY)}
    for joint in serial.outboard:
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
        body += lumped(tree, list(links))
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
    return farthest if 0 < farthest < math.inf else reach


def _joint(joint: TreeJoint, row: TableRow) -> Joint:
    kind: Literal["P", "R"] = "P" if joint.type == "prismatic" else "R"
    return Joint(joint.name, kind, row.b, row.beta, row.d, row.theta, **joint.properties)


def lumped(tree: Tree, frames: Sequence[Frame]) -> Inertia:
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
