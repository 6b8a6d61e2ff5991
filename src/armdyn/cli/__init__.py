"""The command line: armdyn robots | show | compare | tables | simulate | export, a file each.

A command is a module with ``HELP``, ``add_options(parser)`` and ``run(arguments)``.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import armdyn
from armdyn.cli import compare, export, robots, show, simulate, tables
from armdyn.errors import ArmdynError

COMMANDS = {
    "robots": robots,
    "show": show,
    "compare": compare,
    "tables": tables,
    "simulate": simulate,
    "export": export,
}


class Parser(argparse.ArgumentParser):
    """argparse with its complaint on one line."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._negative_number_matcher = re.compile(r"-\.?\d")  # -1,0 is a list, not an option

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
    for name, module in COMMANDS.items():
        command = commands.add_parser(name, help=module.HELP)
        module.add_options(command)
        command.set_defaults(run=module.run)
    return top
