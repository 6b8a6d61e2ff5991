"""What commands have in common: the arm that they are given, lists, numbers."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import armdyn
from armdyn.chain import dh
from armdyn.errors import ModelError, ShapeError, shorten, unknown, warn
from armdyn.forks import importing
from armdyn.quantities import QUANTITIES

SEPARATOR = r"\s*,\s*|\s+"  # between the items of a list


def add_robot(command: argparse.ArgumentParser, several: bool = False) -> None:
    """The arguments by which a command is given its arm, or several."""
    command.add_argument(
        "robot",
        metavar="ROBOT",
        nargs="+" if several else None,
        help="a shipped arm's name, or a file in URDF, MJCF, xacro, TOML or CSV (a DH table)",
    )
    command.add_argument("--base", metavar="LINK", help="the link of a URDF to stand on")
    command.add_argument("--tip", metavar="LINK", help="the link of a URDF where the chain ends")
    command.add_argument(
        "--lock",
        metavar="JOINT=POSITION",
        action="append",
        default=[],
        help="lock a joint of a URDF",
    )
    command.add_argument(
        "--snap",
        metavar="ANGLE",
        type=finite,
        help="snap angles to quarter turns [rad] (default: what a .toml file says, else 1e-9)",
    )
    command.add_argument(
        "--xacro",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="argument of the macros in a .xacro file",
    )
    command.add_argument(
        "--package",
        metavar="NAME=FOLDER",
        action="append",
        default=[],
        help="folder of a package, for package:// and $(find NAME)",
    )
    command.add_argument(
        "--untrusted",
        action="store_true",
        help="reading in a child process, limited to 10 s and 1 GB",
    )


def load(arguments: argparse.Namespace, check: str = "error") -> armdyn.Robot:
    """The arm that a command was given."""
    return load_one(arguments, arguments.robot, check)


def load_one(arguments: argparse.Namespace, source: str, check: str = "error") -> armdyn.Robot:
    """One of the arms that a command was given."""
    return armdyn.load(
        source,
        base=arguments.base,
        tip=arguments.tip,
        lock=positions(arguments.lock),
        snap=arguments.snap,
        check=check,  # type: ignore[arg-type]
        xacro=pairs("--xacro", arguments.xacro, "NAME=VALUE") or None,
        packages=pairs("--package", arguments.package, "NAME=FOLDER"),
        trusted=not arguments.untrusted,
    )


def pairs(option: str, given: list[str], form: str) -> dict[str, str]:
    """Values by name, each given as NAME=VALUE."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise ModelError(f"{option} takes {form}, not {shorten(text)}")
        if name in found:
            raise ModelError(f"{option} is given twice for {shorten(name)}")
        found[name] = value
    return found


def positions(locks: list[str]) -> dict[str, float]:
    """The positions of joints, each given as JOINT=POSITION."""
    found: dict[str, float] = {}
    for text in locks:
        joint, _, position = text.rpartition("=")
        try:
            value = float(position)
        except ValueError:
            value = math.nan
        if not (joint and math.isfinite(value)):
            raise ModelError(f"--lock takes JOINT=POSITION with a number, not {shorten(text)}")
        if joint in found:
            raise ModelError(f"--lock is given twice for joint {shorten(joint)}")
        found[joint] = value
    return found


def add_degrees(command: argparse.ArgumentParser) -> None:
    """The option that all angles are given in degrees."""
    command.add_argument(
        "--degrees", action="store_true", help="take angles in degrees (or write 90deg)"
    )


def quantity(text: str) -> str:
    """The name of a quantity, given in letters of any case."""
    name = text.lower()
    if name not in QUANTITIES:
        with importing:
            from armdyn.robot.fixed import INSTEAD

        called = re.match(r"robot\.(\w+)\(", INSTEAD.get(name, ""))
        if called and called[1] in QUANTITIES:
            raise argparse.ArgumentTypeError(f"no quantity {shorten(text)}; it is {called[1]} here")
        raise argparse.ArgumentTypeError(unknown("quantity", text, QUANTITIES))
    return name


def print_paths(paths: Iterable[str | Path | None]) -> None:
    """Print where files were written, in full; a page as an address that a browser opens."""
    for full in (Path(path).resolve() for path in paths if path):
        print(full.as_uri() if full.suffix.lower() in (".html", ".htm") else full)


def items(text: str) -> list[str]:
    """The items of a list separated by commas."""
    return [item.strip() for item in text.split(",") if item.strip()]


def number(text: str) -> float:
    """A number, whose size is for others to judge."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number, not {shorten(text)}") from None


def finite(text: str) -> float:
    """A number that is finite."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"expected a finite number, not {shorten(text)}")
    return value


def whole(text: str) -> int:
    """A whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a whole number, not {shorten(text)}") from None


def numbers(text: str) -> np.ndarray:
    """A list of finite numbers separated by commas or spaces."""
    try:
        found = np.array([float(item) for item in re.split(SEPARATOR, text.strip())])
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{shorten(text)} is not a list of numbers separated by commas, such as 0.5,-1,0"
        ) from None
    if not np.isfinite(found).all():
        raise argparse.ArgumentTypeError(f"expected finite numbers, not {shorten(text)}")
    return found


class Motion(NamedTuple):
    """Positions, speeds or accelerations of joints, and which of them are in degrees."""

    values: np.ndarray
    degrees: np.ndarray


def motion(text: str) -> Motion:
    """A list of numbers, in which angles may be in degrees: 0.5,90deg."""
    whole = re.sub(r"\s+(deg\b|\u00b0)", r"\1", text.strip())
    typed = re.split(SEPARATOR, whole)
    plain = [re.sub(r"(?<=[\d.])(deg|\u00b0)$", "", item) for item in typed]
    values = numbers(",".join(plain))
    return Motion(values, np.array([a != b for a, b in zip(typed, plain, strict=True)]))


def each(
    robot: armdyn.Robot, option: str, given: np.ndarray | Motion, degrees: bool = False
) -> np.ndarray:
    """One number per joint, in radians or metres; ``degrees``: all given angles are in degrees."""
    values, marked = given if isinstance(given, Motion) else (given, np.zeros(len(given), bool))
    if len(values) not in (1, robot.n):
        raise ShapeError(
            f"{option} has {len(values)} numbers; expected one, or {robot.n} for the joints of "
            f"{shorten(robot.name)}"
        )
    values, marked = (np.broadcast_to(x, robot.n) for x in (values, marked))
    turns = np.array([kind == "R" for kind in robot.chain.kinds])
    for name in np.array(robot.joint_names)[marked & ~turns]:
        raise ShapeError(f"{option}: joint {shorten(str(name))} slides; expected m, not degrees")
    return np.where(turns & (marked | degrees), np.radians(values), values)


def position(
    robot: armdyn.Robot, option: str, given: np.ndarray | Motion, degrees: bool = False
) -> np.ndarray:
    """One number per joint; the log warns of an angle that looks like degrees."""
    found = each(robot, option, given, degrees)
    for joint, kind, value in zip(robot.joint_names, robot.chain.kinds, found, strict=True):
        if kind == "R":
            for note in dh.in_degrees(f"{option}: joint {shorten(joint)}", value):
                warn("%s", note)
    return found
