"""armdyn's own text format: an arm in TOML, easy by hand, exact to the bit by ``to_toml``.

``docs/format.md`` describes the format. Everything a file can get wrong ends in a ModelError that
names the key, shows what stands there and says what is expected.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from armdyn.chain import Chain, Frame, Joint, Link, dh
from armdyn.chain.dh import EARTH, SNAP
from armdyn.chain.given import check_count, is_symmetric, snap_angle, vector
from armdyn.chain.inertia import Inertia
from armdyn.chain.pose import IDENTITY, Pose, rotation_rpy
from armdyn.errors import ModelError
from armdyn.loaders.tables import MATRIX, NUMBER, PAIR, VECTOR, Table, parse

PROSE = ("description", "source", "licence")  # for the reader of the file; the chain has no such
STYLE = ("convention", "inertia_about", "degrees", "snap")
TOP = ("name", *PROSE, "gravity", *STYLE, "notes", "base", "tip", "joint", "frame", "locked")
MOTOR = ("rotor_inertia", "viscous", "coulomb", "limits", "velocity", "effort")
BODY = ("name", "mass", "com", "first_moment", "inertia")
POSE = ("translation", "rotation", "rpy")


# Reading ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Style:
    """How a file writes: its DH convention, its angles, the point its inertias are about."""

    convention: str
    about: str
    degrees: bool
    snap: float
    notes: list[str] = field(default_factory=list)  # on the angles of poses

    @classmethod
    def of(cls, file: Table, snap: float | None) -> Style:
        """As the file says; ``snap`` overrides it."""
        return cls(
            file.choice("convention", tuple(dh.COLUMNS), "mdh"),
            file.choice("inertia_about", ("com", "origin"), "com"),
            file.flag("degrees", False),
            snap_angle(file.number("snap", SNAP) if snap is None else snap),
        )

    def angle(self, value: float) -> float:
        """An angle of the file in radians."""
        return math.radians(value) if self.degrees else value


def load(
    text: str | bytes,
    *,
    name: str | None = None,
    gravity: ArrayLike | None = None,
    snap: float | None = None,
    check: Literal["error", "warn"] = "error",
) -> Chain:
    """A chain from text in armdyn's TOML format.

    Args:
        text: the file's content; bytes are UTF-8.
        name: of the arm, if the file gives none.
        gravity: acceleration of free fall in the base frame (3,) [m/s^2], in place of the file's.
        snap: a constant angle within ``snap`` [rad] of a quarter turn becomes it; if not given
            as the file says (``to_toml`` says 0), else 1e-9.
        check: "error" refuses an arm that could not exist, "warn" only logs it.
    """
    file = Table("top level", parse(text), TOP)
    for key in PROSE:
        file.text(key, "")
    style = Style.of(file, snap)
    keys = ("name", "type", *dh.COLUMNS[style.convention], *MOTOR, "link")
    rows = file.tables("joint", keys)
    if not rows:
        raise file.wrong("joint", "one table [[joint]] a joint")
    check_count(len(rows))
    names = [row.text("name", f"joint{i + 1}") for i, row in enumerate(rows)]
    table = _dh_table(rows, names, style)
    base, tip = (_pose(file.table(key, POSE), style) for key in ("base", "tip"))
    links = [_link(i, row.table("link", BODY), style) for i, row in enumerate(rows)]
    frames = _frames(file, [link.name for link in links], style)
    return table.chain(
        name=file.text("name", "arm" if name is None else name),
        joints=[_joint(*pair, style) for pair in zip(names, rows, strict=True)],
        links=links,
        base=base,
        tip=tip,
        frames=frames,
        gravity=file.vector("gravity", EARTH) if gravity is None else vector("gravity", gravity),
        locked=tuple(
            (row.text("joint"), row.number("position"))
            for row in file.tables("locked", ("joint", "position"))
        ),
        notes=(*file.texts("notes"), *table.notes, *style.notes),
        check=check,
    )


def _dh_table(rows: Sequence[Table], names: Sequence[str], style: Style) -> dh.DHTable:
    keys = dh.COLUMNS[style.convention]
    columns = {key: np.array([row.number(key, 0.0) for row in rows]) for key in keys}
    return dh.DHTable.of(style.convention, columns, names, style.snap, style.degrees)


def _joint(name: str, row: Table, style: Style) -> Joint:
    """A joint without its row of the table."""
    revolute = row.choice("type", ("revolute", "prismatic")) == "revolute"
    limits = row.array("limits", PAIR, default=(-math.inf, math.inf), infinite=True).tolist()
    if revolute:
        limits = [style.angle(limit) for limit in limits]
    friction = row.array("coulomb", NUMBER, PAIR, default=(0.0, 0.0))
    if friction.shape == NUMBER:
        friction = np.array([0.0 - abs(friction), abs(friction)])
    return Joint(
        name,
        "R" if revolute else "P",
        rotor_inertia=row.number("rotor_inertia", 0.0),
        viscous=row.number("viscous", 0.0),
        coulomb=(float(friction[0]), float(friction[1])),
        lower=limits[0],
        upper=limits[1],
        velocity=row.number("velocity", math.inf, infinite=True),
        effort=row.number("effort", math.inf, infinite=True),
    )


def _link(i: int, row: Table, style: Style) -> Link:
    """A link in the frame of the file's convention; a joint without [joint.link] moves none."""
    name = row.text("name", f"link{i + 1}")
    if not row.entries:
        return Link(name)
    mass = row.number("mass")
    tensor = row.array("inertia", VECTOR, MATRIX, default=(0.0, 0.0, 0.0))
    if tensor.shape == VECTOR:
        tensor = np.diag(tensor)
    if not is_symmetric(tensor):
        raise row.wrong("inertia", "symmetric")
    if "first_moment" in row:
        if style.about != "origin" or "com" in row:
            raise ModelError(
                f"{row.where}: first_moment stands in place of com, and needs "
                "inertia_about = 'origin' at the top level"
            )
        return Link(name, Inertia.of(mass, row.vector("first_moment"), tensor))
    com = np.array(row.vector("com", (0.0, 0.0, 0.0)))
    if style.about == "origin":
        with np.errstate(over="ignore"):  # what overflows is found not finite when it is checked
            return Link(name, Inertia.of(mass, mass * com, tensor))
    return Link(name, Inertia.from_com(mass, com, tensor))


def _pose(row: Table, style: Style) -> Pose:
    shift = row.vector("translation", (0.0, 0.0, 0.0))
    if "rpy" in row:
        if "rotation" in row:
            raise row.wrong("rpy", "absent where rotation is given")
        angles = [style.angle(value) for value in row.vector("rpy")]
        turns = [dh.snapped(angle, style.snap) for angle in angles]
        for key, angle, turned in zip(("roll", "pitch", "yaw"), angles, turns, strict=True):
            style.notes.extend(dh.moved(f"{row.where}: {key}", angle, turned))
            style.notes.extend(dh.in_degrees(f"{row.where}: {key}", angle))
        return Pose.of(rotation_rpy(*turns), shift)
    turn = row.array("rotation", MATRIX, default=IDENTITY.rotation)
    try:
        return Pose.from_matrix(Pose.of(turn, shift).matrix)
    except ModelError:
        raise row.wrong("rotation", "a rotation matrix") from None


def _frames(file: Table, links: Sequence[str], style: Style) -> list[Frame]:
    """The named frames; one that names no link is fixed to the base."""
    return [
        Frame(
            row.text("name"),
            links.index(row.choice("link", links)) if "link" in row else -1,
            _pose(row, style),
        )
        for row in file.tables("frame", ("name", "link", *POSE))
    ]
