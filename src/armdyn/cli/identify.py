"""The command ``armdyn identify``."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.cli.arguments import add_robot, load, number, print_paths
from armdyn.cli.excite import add_columns, columns
from armdyn.errors import IdentificationError, shorten
from armdyn.identification import Identification, identify
from armdyn.identification.logs import Log
from armdyn.identification.moments import Moments, moments
from armdyn.output import files
from armdyn.output.progress import told
from armdyn.output.report import console, table
from armdyn.robot import Robot

HELP = "an arm's parameters from logs of its motion"


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_robot(command)
    add = command.add_argument
    add("logs", metavar="LOG", nargs="+", help="measured motions (.csv, .npz, .parquet)")
    add(
        "--hold-out",
        metavar="LOG",
        action="append",
        default=[],
        help="a log to predict, not to fit",
    )
    add("--payload", action="store_true", help="only a load at the tip; the arm is right")
    add(
        "--cutoff",
        metavar="HZ",
        type=number,
        help="of the low-pass filter (default: by validation)",
    )
    add("--weight", type=number, help="of the given parameters (default: by validation)")
    add("--rest", metavar="SPEED", type=number, help="leave out what is slower (default: 5 %%)")
    add_columns(command)
    add("--moments", metavar="FILE", help="keep sums of the logs (.npz), and go on from them")
    add("--save", metavar="FILE", help="write the arm (.urdf, .toml)")
    add("--plot", metavar="FILE", help="draw torques and parameters (.png, .svg, .pdf)")
    add("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> None:
    """Identify an arm, and write and show what was found."""
    check_files(arguments)
    robot = load(arguments, check="warn")
    held = [Log.read(path, progress=True) for path in arguments.hold_out]
    options = chosen(arguments)
    fitting = {"payload": arguments.payload, "weight": options.pop("weight")}
    if arguments.moments:
        total = summed(robot, arguments.logs, Path(arguments.moments), options)
        found = total.fit(**fitting)
    else:
        logs = [Log.read(path, progress=True) for path in arguments.logs]
        found = identify(robot, logs, **options, **fitting)
    errors = {path: found.validate(log) for path, log in zip(arguments.hold_out, held, strict=True)}
    notes = list(found.notes)
    if arguments.save:
        notes += found.save(arguments.save)
    if arguments.plot:
        shown = held[0] if held else next(Log.parts(arguments.logs[0]))
        found.plot(arguments.plot, shown)
    if arguments.json:
        print(json.dumps(data(found, errors, notes), indent=2))
    else:
        show(found, errors, notes)
        print_paths([arguments.save, arguments.plot, arguments.moments])


def check_files(arguments: argparse.Namespace) -> None:
    """Refuse files that could not be written, before anything is computed for them."""
    for option, suffixes in (("save", (".urdf", ".toml")), ("moments", (".npz",))):
        path = getattr(arguments, option)
        if path and Path(path).suffix.lower() not in suffixes:
            expected = " or ".join(suffixes)
            raise IdentificationError(f"--{option} {shorten(path)}; expected a name in {expected}")
        if path:
            files.check_writable(path)
    if arguments.plot:
        files.check_picture(arguments.plot)


def chosen(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of ``armdyn.identify``; what was not given it chooses itself."""
    given = {name: getattr(arguments, name) for name in ("cutoff", "weight", "rest")}
    found = {name: "auto" if value is None else value for name, value in given.items()}
    return found | columns(arguments)


# Sums of many logs -------------------------------------------------------------------------------


def summed(robot: Robot, paths: list[str], file: Path, options: dict[str, Any]) -> Moments:
    """The moments of all logs, those in the file among them; it has each part once it is summed up.

    A log whose reading is interrupted is kept up to its last whole part.
    """
    total = resumed(robot, file, options) if os.path.exists(file) else None
    with told(True, "summing up", "", IdentificationError) as tell:
        for k, path in enumerate(paths):
            for name, log in parts(path):
                if total is not None and name in total.notes:
                    continue
                if tell is not None:
                    tell(f"summing up {name}", k, len(paths))
                one = part_of(robot, log, name, options if total is None else settings(total))
                total = one if total is None else total + one
                total.save(file)
    assert total is not None  # there is a log, and it has a part
    return total


def resumed(robot: Robot, file: Path, options: dict[str, Any]) -> Moments:
    """The moments of a file, if they are of this arm and were made with these options."""
    total = Moments.load(file)
    if total.columns.chain != robot.chain:
        raise IdentificationError(
            f"the moments in {shorten(str(file))} are of another arm, "
            f"{shorten(total.columns.chain.name)}; expected those of {shorten(robot.name)}"
        )
    for name, made in settings(total).items():
        asked = options[name]
        if asked != "auto" and (made is None or not np.all(np.equal(made, asked))):
            raise IdentificationError(
                f"the moments in {shorten(str(file))} were made with {name} {shorten(made)}, not "
                f"{shorten(asked)}; expected the same, or another file"
            )
    return total


def parts(path: str) -> Iterator[tuple[str, Log]]:
    """The parts of a log, and what moments note of each."""
    for k, log in enumerate(Log.parts(path), 1):
        yield f"part {k} of {path}, {len(log.t)} rows", log


def settings(total: Moments) -> dict[str, Any]:
    """What further logs must share with those that are summed up."""
    drives = total.columns.drives
    return {
        "cutoff": total.cutoff,
        "rest": total.rest,
        "friction": "viscous" in drives,
        "rotors": "rotor" in drives,
        "offsets": "offset" in drives,
    }


def part_of(robot: Robot, log: Log, name: str, options: dict[str, Any]) -> Moments:
    """The moments of a part; what is not settled yet is chosen as ``armdyn.identify`` does."""
    if "auto" in (str(options["cutoff"]), str(options["rest"])):
        options = settings(identify(robot, log, **options, progress=None).moments)
    found = moments(robot, log, **options)
    return replace(found, notes=(*found.notes, name))


# To be read --------------------------------------------------------------------------------------


def show(found: Identification, errors: dict[str, Any], notes: list[str]) -> None:
    """Tables of parameters and of joints, and what a user should know."""
    screen = console()
    made = table("Parameters", "name", ">value", ">standard deviation", "unit")
    for each in found.parameters:
        sure = f"{each.deviation:.2g}" if np.isfinite(each.deviation) else "not determined"
        made.add_row(each.name, f"{each.value:.6g}", sure, each.unit)
    screen.show(made)
    heading = "Measured minus predicted torque, rms [N m or N]"
    made = table(heading, "joint", ">fit", *(f">{path}" for path in errors))
    columns = [found.rms, *(error.rms for error in errors.values())]
    for name, *row in zip(found.robot.joint_names, *columns, strict=True):
        made.add_row(name, *(f"{value:.4g}" for value in row))
    screen.show(made)
    filtered = "no low-pass" if found.cutoff is None else f"low-pass at {found.cutoff:g} Hz"
    screen.show(f"condition {found.condition:.4g}; {filtered}; weight {found.weight:.2g}")
    for note in notes:
        screen.show(note)


def data(found: Identification, errors: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    """What was found as programs read it, in SI units and radians; infinite is None."""
    return {
        "robot": found.robot.name,
        "parameters": [
            each._asdict() | {"deviation": each.deviation if np.isfinite(each.deviation) else None}
            for each in found.parameters
        ],
        "joints": list(found.robot.joint_names),
        "rms": found.rms.tolist(),
        "hold_out": {
            path: {"rms": error.rms.tolist(), "torque": error.torque.tolist()}
            for path, error in errors.items()
        },
        "condition": found.condition if np.isfinite(found.condition) else None,
        "cutoff": found.cutoff,
        "weight": found.weight,
        "undetermined": {name: list(of) for name, of in found.undetermined._asdict().items()},
        "notes": notes,
    }
