"""The command ``armdyn compare``."""

from __future__ import annotations

import argparse
import json

from armdyn import comparison
from armdyn.algorithms import catalogue
from armdyn.cli.arguments import add_robot, finite, items, load, whole
from armdyn.comparison.report import renderables
from armdyn.errors import ArmdynError, MethodError, listed, shorten, unknown
from armdyn.output import files
from armdyn.output.report import console, progress

HELP = "every method on an arm: operations, time, error"
LONGEST = 3600.0  # [s], that measuring a quantity may take,
EXACT = 2e-4  # [s], times n^2: what a state of an arm of n joints takes in fifty digits, about
LARGEST = 4e9  # [bytes], of a batch


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_robot(command)
    command.add_argument(
        "--quantity",
        metavar="LIST",
        default=",".join(comparison.DEFAULT),
        help=f"what to compute, separated by commas: {', '.join(comparison.QUANTITIES)} "
        "(default: %(default)s)",
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
    quantities = items(arguments.quantity)
    methods = None if arguments.methods is None else items(arguments.methods)
    check_sizes(arguments, robot.n)
    check_names(quantities, methods or [])
    with progress() as bar:
        task = bar.add_task("comparing")
        found = comparison.compare(
            robot,
            quantities,
            methods,
            batch=arguments.batch,
            states=arguments.states,
            seconds=arguments.seconds,
            progress=lambda what, done, total: bar.update(
                task, description=what, completed=done, total=total
            ),
        )
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
    wrong = [f"{table.quantity} by {row.method}" for table in found.rankings for row in table.wrong]
    if wrong:
        raise ArmdynError(f"wrong on {shorten(robot.name)}: {listed(wrong)}")


def check_sizes(arguments: argparse.Namespace, n: int) -> None:
    """Refuse what would take for ever, or more memory than there is, on an arm of n joints."""
    sizes = {  # option -> its value, what one of it takes, of what, and how much there may be
        "--seconds": (arguments.seconds, 2.0, "s of timing for each quantity", LONGEST),
        "--states": (arguments.states or 0, EXACT * n**2, "s for each quantity", LONGEST),
        "--batch": (arguments.batch, 8.0 * (4 * n + n**2), "bytes", LARGEST),
    }
    if arguments.seconds < 0:
        raise MethodError(f"--seconds is {arguments.seconds:g}; expected 0 or more")
    for option, (value, each, unit, most) in sizes.items():
        if value > most / each:
            takes = f"about {min(value, 10**300) * each:.0e} {unit}"
            at_most = f"expected at most {most / each:.0f}"
            raise MethodError(f"{option} is {shorten(value)}, which takes {takes}; {at_most}")


def check_names(quantities: list[str], methods: list[str]) -> None:
    """Refuse to compare nothing, and a method that no quantity has beside some that they have."""
    if not quantities:
        raise MethodError(f"--quantity names nothing; known: {listed(comparison.QUANTITIES)}")
    rows = [row for quantity in quantities for row in catalogue.CATALOGUE.get(quantity, ())]
    known = dict.fromkeys(row.name for row in rows)
    names = {name for row in rows for name in row.names}
    strange = [name for name in methods if name not in names]
    if 0 < len(strange) < len(methods):
        raise MethodError(unknown("method", strange[0], known))
