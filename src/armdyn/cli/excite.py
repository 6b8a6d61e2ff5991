"""The command ``armdyn excite``."""

from __future__ import annotations

import argparse
import json
from typing import Any

from armdyn.cli.arguments import add_robot, load, number, numbers, print_paths, whole
from armdyn.errors import IdentificationError
from armdyn.identification.excitation import HEADINGS, Excitation, check_path, excite
from armdyn.output import files
from armdyn.output.report import console, table

HELP = "a motion for identification: as telling as limits allow"


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of the command; lists are separated by commas, one number stands for all."""
    add_robot(command)
    add = command.add_argument
    add("--duration", metavar="S", type=number, default=10.0, help="default: %(default)s s")
    add("--harmonics", metavar="N", type=whole, default=8, help="default: %(default)s")
    add("--frequency", metavar="HZ", type=number, help="the slowest (default: one period)")
    add("--speed", metavar="LIST", type=numbers, help="the greatest (default: the joints' limit)")
    add(
        "--acceleration",
        metavar="LIST",
        type=numbers,
        help="the greatest (default: what reaches the greatest speed in 0.5 s)",
    )
    add_columns(command)
    add(
        "--seed",
        metavar="N",
        type=whole,
        default=0,
        help="seed of the random start (default: %(default)s)",
    )
    add("--save", metavar="FILE", help="write the motion (.csv, .npz)")
    add("--rate", metavar="HZ", type=number, help="samples a second to write (default: 1000)")
    add("--plot", metavar="FILE", help="draw the motion (.png, .svg, .pdf)")
    add("--json", action="store_true", help="print JSON")


def add_columns(command: argparse.ArgumentParser) -> None:
    """Which columns there are beside the links'."""
    for name, words in (
        ("friction", "viscous and Coulomb friction"),
        ("rotors", "rotors"),
        ("offsets", "offsets of the torque"),
    ):
        command.add_argument(f"--no-{name}", action="store_true", help=f"without {words}")


def columns(arguments: argparse.Namespace) -> dict[str, bool]:
    """What ``add_columns`` was told."""
    return {
        name: not getattr(arguments, f"no_{name}") for name in ("friction", "rotors", "offsets")
    }


def run(arguments: argparse.Namespace) -> None:
    """Find a motion, say what it is like, write it."""
    if arguments.rate is not None and not arguments.save:
        raise IdentificationError("--rate does nothing here: it needs --save")
    if arguments.save:
        check_path(arguments.save)
    if arguments.plot:
        files.check_picture(arguments.plot)
    found = excite(
        load(arguments, check="warn"),
        arguments.duration,
        speed=one_or_all(arguments.speed),
        acceleration=one_or_all(arguments.acceleration),
        harmonics=arguments.harmonics,
        frequency=arguments.frequency,
        seed=arguments.seed,
        progress=True,
        **columns(arguments),
    )
    if arguments.save:
        found.save(arguments.save, 1000.0 if arguments.rate is None else arguments.rate)
    if arguments.plot:
        found.plot(arguments.plot)
    if arguments.json:
        print(json.dumps(data(found), indent=2))
    else:
        show(found)
        print_paths([arguments.save, arguments.plot])


def one_or_all(values: Any) -> Any:
    """One number for all joints, or the list."""
    return values[0] if values is not None and len(values) == 1 else values


def show(found: Excitation) -> None:
    """A table of the joints, and a line."""
    screen = console()
    made = table("Limits, and how much of them the motion uses [rad or m, s]", HEADINGS[0])
    for heading in HEADINGS[1:]:
        made.add_column(heading, justify="right")
    for row in found.rows():
        made.add_row(*row)
    screen.show(made)
    for line in (found.summary(), *found.notes):
        screen.show(line)


def data(found: Excitation) -> dict[str, Any]:
    """A motion as programs read it, in SI units and radians."""
    return {
        "robot": found.robot.name,
        "duration": found.duration,
        "frequency": found.frequency,
        "harmonics": found.series.harmonics,
        "condition": found.condition,
        "parameters": list(found.parameters),
        "joints": list(found.robot.joint_names),
        "limits": {name: value.tolist() for name, value in found.limits._asdict().items()},
        "used": found.used.tolist(),
        "coefficients": found.coefficients.tolist(),
        "notes": list(found.notes),
    }
