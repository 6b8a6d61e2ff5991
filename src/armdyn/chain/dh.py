"""DH tables: a table of either convention becomes a chain here, and nowhere else."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from armdyn.chain import given
from armdyn.chain.inertia import Inertia, places
from armdyn.chain.parts import Frame, Joint, Link
from armdyn.chain.pose import IDENTITY, QUARTER, Pose, quarter_turns
from armdyn.errors import ModelError, shorten, unknown
from armdyn.forks import importing

if TYPE_CHECKING:
    from armdyn.chain import Chain

COLUMNS = {"mdh": ("b", "beta", "d", "theta"), "dh": ("a", "alpha", "d", "theta")}
EARTH: given.Triple = (0.0, 0.0, -9.81)
SNAP = 1e-9  # rad: a constant angle this close to a quarter turn is meant to be one
TURNS, MEANT_AS_NONE = 4 * math.pi, 1000.0  # rad: an angle between these was given in degrees


# The table ----------------------------------------------------------------------------------


class DHTable(NamedTuple):
    """A DH table of either convention as a modified one, its angles snapped.

    Attributes:
        rows: b, beta, d and theta of each joint; the first row is zero.
        before: what the first row's constants place before joint 1.
        outer: where in E_i the standard frame i stands; empty for a modified table.
        notes: on what was snapped, and what looks wrong.
    """

    rows: list[dict[str, float]]
    before: Pose
    outer: list[Pose]
    notes: list[str]

    @classmethod
    def of(
        cls,
        convention: str,
        columns: Mapping[str, np.ndarray],
        names: Sequence[str],
        snap: float,
        degrees: bool,
    ) -> DHTable:
        """The table with those columns (n,) [m; rad or degrees] under the names of COLUMNS."""
        length, twist, d, theta = (columns[key].tolist() for key in COLUMNS[convention])
        if degrees:
            twist, theta = list(map(math.radians, twist)), list(map(math.radians, theta))
        outer, notes = [], []
        if convention == "dh":
            turned = [snapped(angle, snap) for angle in twist]
            outer = [Pose.mdh(a, alpha, 0.0, 0.0) for a, alpha in zip(length, turned, strict=True)]
            last = f"joint {shorten(names[-1])}: alpha"  # which stands in no row
            notes = moved(last, twist[-1], turned[-1]) + in_degrees(last, twist[-1])
            length, twist = [0.0, *length[:-1]], [0.0, *twist[:-1]]
        turns = {"beta": twist, "theta": theta}
        for key, angles in turns.items():
            turns[key] = [snapped(angle, snap) for angle in angles]
            whats = (f"joint {shorten(name)}: {key}" for name in names)
            for note in map(moved, whats, angles, turns[key]):
                notes += note
        rows = [
            dict(zip(COLUMNS["mdh"], row, strict=True))
            for row in zip(length, turns["beta"], d, turns["theta"], strict=True)
        ]
        before = IDENTITY
        if any(rows[0].values()):
            for key in turns:
                notes += in_degrees(f"joint {shorten(names[0])}: {key}", rows[0][key])
            before, rows[0] = Pose.mdh(**rows[0]), dict.fromkeys(rows[0], 0.0)
        return cls(rows, before, outer, notes)

    def chain(
        self,
        *,
        joints: Iterable[Joint],
        links: Iterable[Link],
        base: Pose,
        tip: Pose,
        frames: Iterable[Frame],
        **rest: Any,
    ) -> Chain:
        """The chain of joints without constants, and of what stands in the convention's frames."""
        with importing:
            from armdyn.chain import Chain

        if self.outer:
            links = [
                Link(link.name, link.inertia.seen_from(pose))
                for link, pose in zip(links, self.outer, strict=True)
            ]
            frames, tip = map(self._in_joint, frames), self.outer[-1] @ tip
        return Chain(
            joints=tuple(
                dataclasses.replace(joint, **row)  # type: ignore[arg-type]
                for joint, row in zip(joints, self.rows, strict=True)
            ),
            links=tuple(links),
            base=base if self.before == IDENTITY else base @ self.before,
            tip=tip,
            frames=tuple(frames),
            **rest,
        )

    def _in_joint(self, frame: Frame) -> Frame:
        """A frame given in a standard frame, seen from E_i; one of the base stays."""
        if not 0 <= frame.link < len(self.outer):
            return frame
        return dataclasses.replace(frame, pose=self.outer[frame.link] @ frame.pose)


# Angles -------------------------------------------------------------------------------------


def snapped(angle: float, snap: float) -> float:
    """The angle, or the quarter turns that it is within ``snap`` [rad] of."""
    k = quarter_turns(angle, snap)
    return angle if k is None or angle == k * QUARTER else k * QUARTER


def moved(what: str, angle: float, turn: float) -> list[str]:
    """A note that an angle became that turn, if it moved."""
    if not math.isfinite(angle) or turn == angle:
        return []
    return [f"{what} snapped by {turn - angle:.1e} rad to a quarter turn"]


def in_degrees(what: str, *angles: float) -> list[str]:
    """A note on angles that were given in degrees, by their size, where radians were expected.

    Wrists turn up to two turns either way; a thousand and more is how people write "no limit".
    """
    odd = [angle for angle in angles if TURNS < abs(angle) < MEANT_AS_NONE]
    return [f"{what} = {odd[0]:g} rad looks like an angle in degrees"] if odd else []


# What a user gives --------------------------------------------------------------------------


class Rest(TypedDict, total=False):
    """What ``Chain.from_mdh`` and ``Chain.from_dh`` take besides the columns of the table."""

    joints: str | Sequence[str] | None
    mass: ArrayLike | None
    com: ArrayLike | None
    inertia: ArrayLike | None
    inertia_about: Literal["com", "origin"]
    parameters: ArrayLike | None
    order: str
    rotor_inertia: ArrayLike
    viscous: ArrayLike
    coulomb: ArrayLike
    limits: ArrayLike
    joint_names: Sequence[str] | None
    link_names: Sequence[str] | None
    base: Pose | ArrayLike
    tip: Pose | ArrayLike
    gravity: ArrayLike
    frames: Sequence[Frame]
    name: str
    degrees: bool
    snap: float
    check: Literal["error", "warn"]


def check_arguments(convention: str, names: Iterable[str]) -> None:
    """Refuse a keyword that a constructor does not have, as Python would, and say which it has."""
    known = [*COLUMNS[convention], *Rest.__annotations__]
    for name in names:
        if name not in known:
            raise TypeError(f"from_{convention}: " + unknown("argument", name, known))


def one_of(name: str, value: ArrayLike | None, alias: str, other: ArrayLike | None) -> ArrayLike:
    """A column that has two names."""
    if value is not None and other is not None:
        raise ModelError(f"{name} and {alias} are the same column; give one of them")
    if value is None and other is None:
        raise ModelError(f"{name} is missing: the table needs the column {name} (or {alias})")
    return value if other is None else other  # type: ignore[return-value]


def build(
    convention: str,
    table: Mapping[str, ArrayLike],
    *,
    joints: str | Sequence[str] | None = None,
    mass: ArrayLike | None = None,
    com: ArrayLike | None = None,
    inertia: ArrayLike | None = None,
    inertia_about: Literal["com", "origin"] = "com",
    parameters: ArrayLike | None = None,
    order: str = "pinocchio",
    rotor_inertia: ArrayLike = 0.0,
    viscous: ArrayLike = 0.0,
    coulomb: ArrayLike = 0.0,
    limits: ArrayLike = (-math.inf, math.inf),
    joint_names: Sequence[str] | None = None,
    link_names: Sequence[str] | None = None,
    base: Pose | ArrayLike = IDENTITY,
    tip: Pose | ArrayLike = IDENTITY,
    gravity: ArrayLike = EARTH,
    frames: Sequence[Frame] = (),
    name: str = "arm",
    degrees: bool = False,
    snap: float = SNAP,
    check: Literal["error", "warn"] = "error",
) -> Chain:
    """The chain of a user's table and of the rest, which ``Chain.from_mdh`` describes."""
    n = _length(table, joints)
    kinds = joints or "R" * n
    columns = {key: given.column(key, value, (n,)) for key, value in table.items()}
    bounds = given.column("limits", limits, (n, 2))
    if given.flag("degrees", degrees):
        turning = np.array([kind == "R" for kind in kinds])
        bounds = np.where(turning[:, None], np.radians(bounds), bounds)
    names = given.names("joint_names", joint_names, "joint", n)
    rows = DHTable.of(convention, columns, names, given.snap_angle(snap), degrees)
    motors = {
        "rotor_inertia": given.column("rotor_inertia", rotor_inertia, (n,)).tolist(),
        "viscous": given.column("viscous", viscous, (n,)).tolist(),
        "coulomb": given.coulomb(coulomb, n).tolist(),
        "lower": bounds[:, 0].tolist(),
        "upper": bounds[:, 1].tolist(),
    }
    bodies = _bodies(n, mass, com, inertia, inertia_about, parameters, order)
    return rows.chain(
        name=name,
        joints=[
            Joint(names[i], kinds[i], **{key: column[i] for key, column in motors.items()})  # type: ignore[arg-type]
            for i in range(n)
        ],
        links=map(Link, given.names("link_names", link_names, "link", n), bodies),
        base=Pose.given("base", base),
        tip=Pose.given("tip", tip),
        gravity=given.vector("gravity", gravity),
        frames=given.tuple_of("frames", frames, Frame),
        notes=tuple(rows.notes),
        check=check,
    )


def _length(columns: Mapping[str, ArrayLike], joints: str | Sequence[str] | None) -> int:
    """The number of joints a table speaks of: of its letters, or of its longest column."""
    if joints is None:
        n = max(given.numbers(name, value).size for name, value in columns.items())
    elif isinstance(joints, str | list | tuple):
        n = len(joints)
    else:
        raise ModelError(f"joints must be a letter a joint, such as 'RRP', not {shorten(joints)}")
    given.check_count(n)
    return n


@np.errstate(over="ignore", invalid="ignore")  # what overflows is found not finite
def _bodies(
    n: int,
    mass: ArrayLike | None,
    com: ArrayLike | None,
    inertia: ArrayLike | None,
    inertia_about: str,
    parameters: ArrayLike | None,
    order: str,
) -> list[Inertia]:
    """The links' inertias, from (mass, com, inertia) or from the ten parameters."""
    places(order)
    given.choice("inertia_about", inertia_about, ("com", "origin"))
    if parameters is not None:
        if not (mass is None and com is None and inertia is None):
            raise ModelError("give either parameters=, or mass=, com= and inertia=, not both")
        rows = given.column("parameters", parameters, (n, 10))
        return [Inertia.from_parameters(row, order) for row in rows]
    if mass is None and com is None and inertia is None:
        return [Inertia()] * n
    if mass is None:
        raise ModelError(
            "a chain needs the links' inertia: give mass=, com= and inertia=, or parameters="
        )
    masses = given.column("mass", mass, (n,))
    centres = given.column("com", 0.0 if com is None else com, (n, 3))
    tensors = given.numbers("inertia", 0.0 if inertia is None else inertia)
    if tensors.ndim < 3:
        diagonals = given.column("inertia", tensors, (n, 3))
        tensors = np.where(np.eye(3) == 1, diagonals[:, :, None], 0.0)
    tensors = given.column("inertia", tensors, (n, 3, 3))
    for i, J in enumerate(tensors):
        given.check_symmetric(f"inertia of link {i + 1}", J)
    bodies = zip(masses, centres, tensors, strict=True)
    if inertia_about == "com":
        return [Inertia.from_com(m, c, J) for m, c, J in bodies]
    return [Inertia.of(m, m * c, J) for m, c, J in bodies]
