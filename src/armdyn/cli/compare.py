"""The command ``armdyn compare``."""

from __future__ import annotations

import argparse
import json

from armdyn import comparison
from armdyn.cli.arguments import add_robot, finite, items, load, whole
from armdyn.comparison.rendering import renderables
from armdyn.errors import ArmdynError, listed, shorten
from armdyn.output import files
from armdyn.output.report import console
from armdyn.quantities import SEVERAL

HELP = "every method on an arm: operations, time, error"


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_robot(command)
    command.add_argument(
        "--quantity",
        metavar="LIST",
        default=",".join(comparison.DEFAULT),
        help=f"what to compute, separated by commas: {', '.join(SEVERAL)} (default: %(default)s)",
    )
    command.add_argument(
        "--methods", metavar="LIST", help="only these (rnea is newton-euler, aba articulated-body)"
    )
    command.add_argument(
        "--batch",
        metavar="N",
        type=whole,
        default=comparison.BATCH,
        help="states in a batch (default: %(default)s)",
    )
    command.add_argument(
        "--states", metavar="K", type=whole, help="random states at which errors are measured"
    )
    command.add_argument(
        "--seconds",
        metavar="S",
        type=finite,
        default=1.0,
        help="how long to time each quantity (default: %(default)s)",
    )
    form = command.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--csv", action="store_true", help="print CSV")
    command.add_argument("--plot", metavar="FILE", help="draw bars: a .png or .svg")


def run(arguments: argparse.Namespace) -> None:
    """Compare every method on one arm; a wrong one is an error, once all is shown."""
    if arguments.plot:
        files.check_picture(arguments.plot)
    robot = load(arguments)
    try:
        found = comparison.compare(
            robot,
            items(arguments.quantity),
            None if arguments.methods is None else items(arguments.methods),
            batch=arguments.batch,
            states=arguments.states,
            seconds=arguments.seconds,
            progress=True,
        )
    except comparison.Interrupted as stopped:
        if stopped.partial.rankings:
            show(stopped.partial, arguments)
        raise
    show(found, arguments)
    wrong = [f"{table.quantity} by {row.method}" for table in found.rankings for row in table.wrong]
    if wrong:
        raise ArmdynError(f"wrong on {shorten(robot.name)}: {listed(wrong)}")


def show(found: comparison.Comparison, arguments: argparse.Namespace) -> None:
    """Print a comparison, and draw it, as the options say."""
    if arguments.plot:
        found.plot(arguments.plot)
    if arguments.json:
        print(json.dumps(found.to_dict(), indent=2))
    elif arguments.csv:
        print(found.to_csv(), end="")
    else:
        screen = console()
        for part in renderables(found, screen.width):
            screen.show(part, names=2)
