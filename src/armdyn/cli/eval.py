"""The command ``armdyn eval``."""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np
from rich.table import Table

from armdyn.cli.arguments import (
    add_degrees,
    add_robot,
    each,
    load,
    motion,
    numbers,
    position,
    quantity,
)
from armdyn.errors import MethodError, listed
from armdyn.output.report import console, table
from armdyn.quantities import ARGUMENTS, AXES, GIVEN, QUANTITIES, find
from armdyn.robot import Robot

HELP = "compute any quantity of an arm in one state"
DIGITS = 6  # that people read
OPTIONS = (
    "payload",
    "payload_frame",
    "gravity",
    "wrench",
    "wrench_frame",
    "method",
    "frame",
    "axes",
)


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_robot(command)
    add, payload, wrench = command.add_argument, ARGUMENTS["payload"], ARGUMENTS["wrench"]
    add_state(command)
    add("--payload", metavar="LIST", type=numbers, help=f"carried load: {payload.meaning} [kg, m]")
    add("--payload-frame", metavar="NAME", help="the frame of the payload (default: the tip)")
    add("--gravity", metavar="LIST", type=numbers, help="free fall in the base frame [m/s^2]")
    add("--wrench", metavar="LIST", type=numbers, help=f"pushes the arm: {wrench.meaning} [N, N m]")
    add("--wrench-frame", metavar="NAME", help="the frame that it acts at (default: the tip)")
    add("--method", help="the formulation, in place of the cheapest")
    add("--frame", help="the link or frame, in place of the tip")
    add("--axes", choices=AXES, help="of vectors at the frame (default: base)")
    add("--friction", action="store_true", help="with the joints' friction")
    add("--json", action="store_true", help="print JSON")


def add_state(command: argparse.ArgumentParser) -> None:
    """The quantity, and the state in which it is computed."""
    add = command.add_argument
    names = ", ".join(QUANTITIES)
    add("quantity", metavar="QUANTITY", type=quantity, help=f"one of {names}")
    add("--q", metavar="LIST", type=motion, help="positions [rad or m] (default: zeros)")
    add("--qd", metavar="LIST", type=motion, help="speeds (default: zeros)")
    add("--qdd", metavar="LIST", type=motion, help="accelerations (default: zeros)")
    add("--tau", metavar="LIST", type=numbers, help="torques [N m or N] (default: zeros)")
    add_degrees(command)


def run(arguments: argparse.Namespace) -> None:
    """Compute a quantity, and print each of its results."""
    robot, asked = load(arguments), find(arguments.quantity)
    state = {name: argument(robot, name, arguments) for name in asked.arguments}
    refuse_idle(arguments)
    options = {name: getattr(arguments, name) for name in OPTIONS}
    given = {name: value for name, value in options.items() if value is not None}
    if arguments.friction:
        given["friction"] = True
    found = getattr(robot, arguments.quantity)(*state.values(), **given)
    arrays = [np.asarray(x) for x in (found if isinstance(found, tuple) else (found,))]
    if arguments.json:
        results = {result.name: x for result, x in zip(asked.results, arrays, strict=True)}
        arrays_given = {name: given[name] for name in GIVEN if name in given}
        whole = data(robot, arguments.quantity, state | arrays_given, results)
        print(json.dumps(whole, indent=2, allow_nan=False))
        return
    screen = console()
    turned = " Here the axes are the frame's own." if arguments.axes == "frame" else ""
    screen.print(asked.sentence + turned)
    if arguments.q is None and "q" in asked.arguments:
        screen.print("At q = 0 for all joints; --q LIST gives another position.")
    for result, value in zip(asked.results, arrays, strict=True):
        for part in shown(robot, result.name, result.sizes.split(), value):
            screen.show(part)


def argument(robot: Robot, name: str, arguments: argparse.Namespace) -> np.ndarray:
    """An argument of the quantity: one number per joint, zeros by default."""
    values = getattr(arguments, name)
    if values is None:
        return np.zeros(robot.n)
    return (position if name == "q" else each)(robot, f"--{name}", values, arguments.degrees)


def refuse_idle(arguments: argparse.Namespace) -> None:
    """Refuse an option that the quantity does not depend on."""
    quantity = arguments.quantity
    asked = find(quantity)
    works = {name: name in (*asked.arguments, *asked.at_call) for name in ARGUMENTS}
    for name in ("payload", "wrench"):
        works[f"{name}_frame"] = getattr(arguments, name, None) is not None
    works |= {"method": not asked.function, "frame": asked.framed, "axes": asked.axes}
    works["friction"] = asked.friction is not None
    for name, used in works.items():
        value = getattr(arguments, name, None)
        if not used and value is not None and value is not False:
            fit = [
                option(other) for other, fits in works.items() if fits and hasattr(arguments, other)
            ]
            hint = f"; it needs {option(name[:-6])}" if name.endswith("_frame") else ""
            raise MethodError(
                f"{option(name)} does nothing for {quantity}, which takes {listed(fit)}{hint}"
            )


def option(name: str) -> str:
    """The option that sets a name."""
    return f"--{name.replace('_', '-')}"


def data(
    robot: Robot, quantity: str, state: dict[str, np.ndarray], results: dict[str, np.ndarray]
) -> dict[str, Any]:
    """What was computed as programs read it, in SI units and radians; null is no finite number."""
    return {
        "robot": robot.name,
        "joints": list(robot.joint_names),
        "quantity": quantity,
        "arguments": {name: plain(value) for name, value in state.items()},
        "results": {name: plain(value) for name, value in results.items()},
    }


def plain(value: np.ndarray) -> Any:
    """An array as nested lists; None where it is infinite or not a number, which JSON has not."""
    found = value.astype(object)
    found[~np.isfinite(value)] = None
    return found.tolist()


def shown(robot: Robot, name: str, sizes: list[str], value: np.ndarray) -> list[Table | str]:
    """A result as people read it: a number, a column, a matrix, or several matrices."""
    if value.ndim == 0:
        return [f"{name} = {value:.{DIGITS}g}"]
    if value.ndim > 2:
        matrices = enumerate(value, start=1)
        parts = [shown(robot, f"{name}, {i}", sizes[1:], matrix) for i, matrix in matrices]
        return [part for several in parts for part in several]
    rows = value.reshape(len(value), -1) + 0.0  # -0 is 0 to people
    labels = robot.joint_names if sizes[0] == "n" else map(str, range(1, len(rows) + 1))
    heads = [name] if value.ndim == 1 else map(str, range(1, rows.shape[1] + 1))
    made = table("" if value.ndim == 1 else name, "", *(f">{head}" for head in heads))
    for label, row in zip(labels, rows.tolist(), strict=True):
        made.add_row(label, *(f"{x:.{DIGITS}g}" for x in row))
    return [made]
