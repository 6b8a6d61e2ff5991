"""The command ``armdyn export``."""

from __future__ import annotations

import argparse
from pathlib import Path

from armdyn import export
from armdyn.cli.arguments import add_robot, listed, load
from armdyn.quantities import QUANTITIES

HELP = "write an arm's dynamics as source: C99"


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_robot(command)
    command.add_argument(
        "--quantity",
        metavar="LIST",
        default="mass_matrix,bias,inverse_dynamics,forward_dynamics",
        help=f"what to export, separated by commas: all, or {', '.join(QUANTITIES)} "
        "(default: %(default)s)",
    )
    command.add_argument("--to", choices=list(export.WRITERS), default="c", help="the language")
    command.add_argument(
        "-o", "--output", metavar="DIR", type=Path, default=Path(), help="where the files go"
    )
    command.add_argument("--dtype", choices=list(export.DTYPES), default="double")
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


def run(arguments: argparse.Namespace) -> None:
    """Write an arm's dynamics as source, and say where."""
    asked = listed(arguments.quantity)
    quantities = list(QUANTITIES) if asked == ["all"] else asked
    methods: dict[str, str] = {}
    for item in listed(arguments.method):
        quantity, given, method = item.partition("=")
        methods |= {quantity: method} if given else dict.fromkeys(quantities, item)
    texts = export.WRITERS[arguments.to](
        load(arguments).chain,
        quantities,
        dtype=arguments.dtype,
        methods=methods,
        name=arguments.name,
    )
    for path in export.write(texts, arguments.output, force=arguments.force):
        print(path)
