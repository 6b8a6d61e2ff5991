"""What a chain is made of: joints, links and frames, plain data checked one by one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from armdyn.chain.given import check_name, exactly, finite, number
from armdyn.chain.inertia import Inertia
from armdyn.chain.pose import IDENTITY, Pose
from armdyn.errors import ModelError, shorten, whole

NUMBERS = (
    *("b", "beta", "d", "theta", "rotor_inertia", "viscous"),
    *("lower", "upper", "velocity", "effort"),
)


@dataclass(frozen=True)
class Joint:
    """One row of the table: E_{i-1} -> E_i is Rx(beta) Tx(b) Rz(theta) Tz(d), plus its motion.

    A revolute joint ("R") adds q to theta [rad], a prismatic one ("P") adds q to d [m].
    """

    name: str
    kind: Literal["R", "P"]
    b: float = 0.0  # m
    beta: float = 0.0  # rad
    d: float = 0.0  # m
    theta: float = 0.0  # rad
    rotor_inertia: float = 0.0  # reflected to the joint [kg m^2, prismatic: kg]
    viscous: float = 0.0  # friction torque a speed [N m s/rad, prismatic: N s/m]
    coulomb: tuple[float, float] = (0.0, 0.0)  # friction at negative, positive speed [N m or N]
    lower: float = -math.inf  # rad or m
    upper: float = math.inf  # rad or m
    velocity: float = math.inf  # rad/s or m/s
    effort: float = math.inf  # N m or N

    def __post_init__(self) -> None:
        check_name("joint", self.name)
        if not isinstance(self.kind, str) or self.kind not in ("R", "P"):
            raise ModelError(
                f"joint {shorten(self.name)}: kind is 'R' or 'P', not {shorten(self.kind)}"
            )
        for key in NUMBERS:
            if type(value := getattr(self, key)) is not float:
                assign(self, key, number(f"joint {shorten(self.name)}: {key}", value))
        friction = exactly(f"joint {shorten(self.name)}: coulomb", self.coulomb, (2,))
        assign(self, "coulomb", tuple(friction.tolist()))


@dataclass(frozen=True)
class Link:
    """The body that joint i moves, its inertia in E_i about the origin of E_i."""

    name: str
    inertia: Inertia = Inertia()

    def __post_init__(self) -> None:
        check_name("link", self.name)
        if not isinstance(self.inertia, Inertia):
            raise ModelError(
                f"link {shorten(self.name)}: expected an Inertia, not {shorten(self.inertia)}"
            )
        mass, moment, tensor = (
            exactly(f"link {shorten(self.name)}: {key}", getattr(self.inertia, key), shape).tolist()
            for key, shape in (("mass", ()), ("first_moment", (3,)), ("tensor", (6,)))
        )
        assign(self, "inertia", Inertia(mass, tuple(moment), tuple(tensor)))


@dataclass(frozen=True)
class Frame:
    """A named frame fixed to link ``link`` (counted from 0; -1 is the base), at ``pose`` in E_i.

    A frame that bears its link's name is where that link is seen, in place of E_i.
    """

    name: str
    link: int
    pose: Pose = IDENTITY

    def __post_init__(self) -> None:
        check_name("frame", self.name)
        link = whole(self.link)
        if link is None:
            raise ModelError(
                f"frame {shorten(self.name)}: link is counted from 0, the base -1, not "
                + shorten(self.link)
            )
        assign(self, "link", link)
        assign(self, "pose", Pose.given(f"frame {shorten(self.name)}", self.pose))


class File(NamedTuple):
    """The file that a chain was read from, into which a changed one can be written."""

    path: str
    snap: float  # the angle within which it was read as a quarter turn [rad]
    packages: tuple[tuple[str, str], ...] = ()  # names and folders of those given


# Making plain data of what was given --------------------------------------------------------


def assign(owner: object, key: str, value: object) -> None:
    """Set a field of a frozen dataclass, which is still being made."""
    object.__setattr__(owner, key, value)


def locked_at(pair: Sequence[Any]) -> tuple[str, float]:
    """A locked joint's name and its position."""
    if len(pair) != 2 or not isinstance(pair[0], str):
        raise ModelError(f"locked: expected (name of a joint, position), not {shorten(pair)}")
    return pair[0], finite(f"locked: joint {shorten(pair[0])}", pair[1])
