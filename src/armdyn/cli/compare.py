"""The command ``armdyn compare``."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace

from armdyn import comparison, view
from armdyn.cli.arguments import add_robot, finite, items, load_one, print_paths, whole
from armdyn.comparison import arms, page
from armdyn.comparison.rendering import renderables
from armdyn.errors import ArmdynError, listed, shorten
from armdyn.output import files
from armdyn.output.report import console
from armdyn.quantities import SEVERAL
from armdyn.robot import Robot

HELP = "every method on an arm, or on several: operations, time, error"
MOST = 5  # methods of a quantity that a terminal shows, unless all are asked for


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_robot(command, several=True)
    command.add_argument(
        "--quantity",
        metavar="LIST",
        default=",".join(comparison.DEFAULT),
        help=f"what to compute, separated by commas: all, or {', '.join(SEVERAL)} "
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
    command.add_argument(
        "--all", action="store_true", help=f"show all methods, not the first {MOST} on a terminal"
    )
    command.add_argument("--plot", metavar="FILE", help="draw bars: a .png or .svg")
    command.add_argument("--html", metavar="FILE", help="write tables and bars as a page of HTML")


def run(arguments: argparse.Namespace) -> None:
    """Compare every method on each arm; a wrong one is an error, once all is shown."""
    if arguments.plot:
        files.check_picture(arguments.plot)
    if arguments.html:
        view.check_path(arguments.html)
    if arguments.plot and len(arguments.robot) > 1:
        raise ArmdynError("--plot draws one arm; --html shows several")
    robots = [load_one(arguments, source) for source in arguments.robot]
    asked = items(arguments.quantity.lower())
    quantities = list(SEVERAL) if asked == ["all"] else asked
    found: list[comparison.Comparison] = []
    try:
        for robot in robots:
            found.append(compared(robot, quantities, arguments))
    except comparison.Interrupted as stopped:
        found += [stopped.partial] if stopped.partial.rankings else []
        if found:
            show(found, arguments)
        raise
    show(found, arguments)
    for one in found:
        wrong = [
            f"{table.quantity} by {row.method}" for table in one.rankings for row in table.wrong
        ]
        if wrong:
            raise ArmdynError(f"wrong on {shorten(one.robot)}: {listed(wrong)}")


def compared(
    robot: Robot, quantities: list[str], arguments: argparse.Namespace
) -> comparison.Comparison:
    """The comparison of one arm, as the options say."""
    return comparison.compare(
        robot,
        quantities,
        None if arguments.methods is None else items(arguments.methods),
        batch=arguments.batch,
        states=arguments.states,
        seconds=arguments.seconds,
        progress=True,
    )


def show(found: list[comparison.Comparison], arguments: argparse.Namespace) -> None:
    """Print comparisons, draw them and write their page, as the options say."""
    if arguments.plot:
        found[0].plot(arguments.plot)
    if arguments.html:
        page.write(found, arguments.html)
    if arguments.json:
        every = [one.to_dict() for one in found]
        print(json.dumps(every if len(arguments.robot) > 1 else every[0], indent=2))
    elif arguments.csv:
        lines = [one.to_csv().splitlines(keepends=True) for one in found]
        print("".join(line for k, each in enumerate(lines) for line in each[min(k, 1) :]), end="")
    elif len(found) > 1:
        screen = console()
        for part in arms.renderables(found):
            screen.show(part)
        print_paths([arguments.html])
    else:
        screen = console()
        shown = found[0] if arguments.all or not screen.is_terminal else first(found[0])
        for part in renderables(shown, screen.width):
            screen.show(part, names=2)
        print_paths([arguments.plot, arguments.html])


def first(found: comparison.Comparison) -> comparison.Comparison:
    """The comparison with a few methods of each quantity, and with each chosen or wrong one."""
    rankings = []
    for ranking in found.rankings:
        rows = tuple(
            row
            for k, row in enumerate(ranking.rows)
            if k < MOST or row.chosen or row.verdict == "wrong"
        )
        left = len(ranking.rows) - len(rows)
        more = (f"{left} more: --all shows them.",) if left else ()
        rankings.append(replace(ranking, rows=rows, remarks=(*ranking.remarks, *more)))
    return replace(found, rankings=tuple(rankings))
