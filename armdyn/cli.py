"""The command line: armdyn robots | show | compare | tables | simulate | export."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from rich.console import Console
from rich.progress import Progress

import armdyn
from armdyn import comparison, export, files, report
from armdyn.comparison.report import renderables
from armdyn.errors import ArmdynError, ModelError
from armdyn.papers import command
from armdyn.simulation import command as simulation


class Parser(argparse.ArgumentParser):
    """argparse with its complaint on one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line and exit with status 2."""
        print(f"armdyn: {message} (try 'armdyn --help')", file=sys.stderr)
        raise SystemExit(2)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 2 after an error, which takes one line."""
    arguments = parser().parse_args(argv)
    try:
        arguments.run(arguments)
    except ArmdynError as error:
        print("armdyn: " + " ".join(str(error).split()), file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, such as head, has seen enough
        sys.stderr.close()
    return 0


def parser() -> Parser:
    """All commands and their options."""
    top = Parser(prog="armdyn", description="The dynamics of robot arms.")
    top.add_argument("--version", action="version", version=f"armdyn {armdyn.__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)

    robots = commands.add_parser("robots", help="list the arms that ship with armdyn")
    robots.add_argument("--json", action="store_true", help="print JSON")
    robots.set_defaults(run=run_robots)

    show = commands.add_parser("show", help="show an arm: joints, table, masses, limits, findings")
    add_robot(show)
    show.add_argument("--json", action="store_true", help="print JSON")
    show.set_defaults(run=run_show)

    compare = commands.add_parser("compare", help="every method on an arm: operations, time, error")
    add_robot(compare)
    add_compare(compare)
    compare.set_defaults(run=run_compare)

    tables = commands.add_parser("tables", help="the papers' tables, published beside counted")
    command.add_options(tables)

    simulate = commands.add_parser("simulate", help="move an arm: torques or a controller, in time")
    add_robot(simulate)
    simulation.add_options(simulate)
    simulate.set_defaults(run=run_simulate)

    source = commands.add_parser("export", help="write an arm's dynamics as source: C99")
    add_robot(source)
    add_export(source)
    source.set_defaults(run=run_export)
    return top


def add_robot(command: argparse.ArgumentParser) -> None:
    """The arguments by which a command is given its arm."""
    command.add_argument("robot", metavar="ROBOT", help="a shipped arm's name, or a .urdf or .toml")
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
        type=float,
        help="snap angles to quarter turns [rad] (default: what a .toml file says, else 1e-9)",
    )


def add_compare(command: argparse.ArgumentParser) -> None:
    """The options of compare."""
    command.add_argument(
        "--quantity",
        metavar="LIST",
        default=",".join(comparison.DEFAULT),
        help=f"what to compute, separated by commas: {', '.join(comparison.QUANTITIES)} "
        "(default: %(default)s)",
    )
    command.add_argument("--methods", metavar="LIST", help="only these methods")
    command.add_argument(
        "--batch", metavar="N", type=int, default=comparison.BATCH, help="states in a batch"
    )
    command.add_argument(
        "--states", metavar="K", type=int, help="random states at which errors are measured"
    )
    command.add_argument(
        "--seconds", metavar="S", type=float, default=1.0, help="how long to time each quantity"
    )
    form = command.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--csv", action="store_true", help="print CSV")
    command.add_argument("--plot", metavar="FILE", help="draw bars: a .png or .svg")


def add_export(command: argparse.ArgumentParser) -> None:
    """The options of export."""
    command.add_argument(
        "--quantity",
        metavar="LIST",
        default="mass_matrix,bias,inverse_dynamics,forward_dynamics",
        help=f"what to export, separated by commas: all, or {', '.join(export.RESULTS)} "
        "(default: %(default)s)",
    )
    command.add_argument("--to", choices=["c"], default="c", help="the language")
    command.add_argument(
        "-o", "--output", metavar="DIR", type=Path, default=Path(), help="where the files go"
    )
    command.add_argument("--dtype", choices=["double", "float"], default="double")
    command.add_argument(
        "--method",
        metavar="LIST",
        default="",
        help="in place of the cheapest, a method for all quantities, or QUANTITY=METHOD,...",
    )
    command.add_argument(
        "--name", help="with which functions and files begin (default: the arm's name)"
    )
    command.add_argument(
        "--force", action="store_true", help="replace files that armdyn did not write"
    )


def load(arguments: argparse.Namespace, check: str = "error") -> armdyn.Robot:
    """The arm that a command was given."""
    return armdyn.load(
        arguments.robot,
        base=arguments.base,
        tip=arguments.tip,
        lock=dict(map(locked, arguments.lock)),
        snap=arguments.snap,
        check=check,  # type: ignore[arg-type]
    )


def locked(text: str) -> tuple[str, float]:
    """JOINT=POSITION as a pair."""
    joint, _, position = text.rpartition("=")
    try:
        return joint, float(position)
    except ValueError:
        raise ModelError(f"--lock takes JOINT=POSITION with a number, not {text!r}") from None


def run_robots(arguments: argparse.Namespace) -> None:
    """List the shipped arms."""
    robots = [armdyn.load(name) for name in armdyn.robots()]
    if arguments.json:
        print(json.dumps([report.summary(robot) for robot in robots], indent=2))
    else:
        report.console().print(report.robots_table(robots))


def run_show(arguments: argparse.Namespace) -> None:
    """Show one arm."""
    robot = load(arguments, check="warn")
    if arguments.json:
        print(json.dumps(report.description(robot), indent=2))
    else:
        for part in report.description_tables(robot):
            report.console().print(part)


def run_compare(arguments: argparse.Namespace) -> None:
    """Compare every method on one arm; a wrong one is an error, once all is shown."""
    if arguments.plot:
        files.check_picture(arguments.plot)
    robot = load(arguments)
    stderr = Console(stderr=True)
    with Progress(console=stderr, transient=True, disable=not stderr.is_terminal) as bar:
        task = bar.add_task(robot.name)
        found = comparison.compare(
            robot,
            listed(arguments.quantity),
            None if arguments.methods is None else listed(arguments.methods),
            batch=arguments.batch,
            states=arguments.states,
            seconds=arguments.seconds,
            progress=lambda what, done, total: bar.update(
                task, description=what, completed=done, total=total
            ),
        )
    if arguments.json:
        print(json.dumps(found.to_dict(), indent=2))
    elif arguments.csv:
        print(found.to_csv(), end="")
    else:
        screen = report.console()
        for part in renderables(found, screen.width):
            screen.print(part)
    if arguments.plot:
        found.plot(arguments.plot)
    wrong = [f"{table.quantity} by {row.method}" for table in found.rankings for row in table.wrong]
    if wrong:
        raise ArmdynError(f"wrong on {robot.name!r}: {', '.join(wrong)}")


def run_simulate(arguments: argparse.Namespace) -> None:
    """Simulate one arm."""
    simulation.run(load(arguments), arguments)


def run_export(arguments: argparse.Namespace) -> None:
    """Write an arm's dynamics as source, and say where."""
    asked = listed(arguments.quantity)
    quantities = list(export.RESULTS) if asked == ["all"] else asked
    methods: dict[str, str] = {}
    for item in listed(arguments.method):
        quantity, given, method = item.partition("=")
        methods |= {quantity: method} if given else dict.fromkeys(quantities, item)
    texts = export.c_files(
        load(arguments).chain,
        quantities,
        dtype=arguments.dtype,
        methods=methods,
        name=arguments.name,
    )
    for path in export.write(texts, arguments.output, force=arguments.force):
        print(path)


def listed(text: str) -> list[str]:
    """The items of a list separated by commas."""
    return [item.strip() for item in text.split(",") if item.strip()]


if __name__ == "__main__":
    sys.exit(main())
