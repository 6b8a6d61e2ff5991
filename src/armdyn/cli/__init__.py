"""The command line, a file for each command.

A command is a module with ``HELP``, ``add_options(parser)`` and ``run(arguments)``.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

import armdyn
from armdyn.errors import ArmdynError, cut, shorten, unknown

COMMANDS = (
    *("robots", "show", "view", "eval", "trace", "convert", "compare", "tables", "verify"),
    *("simulate", "excite", "identify", "export"),
)
LONGEST = 600  # characters of a complaint
WRONG, INTERRUPTED = 2, 130  # exit statuses


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 2 after an error, which takes one line."""
    try:
        try:
            if isinstance(sys.stdout, io.TextIOWrapper):  # a name may have any letters
                sys.stdout.reconfigure(errors="backslashreplace")
            arguments = parser().parse_args(argv)
            arguments.run(arguments)
        finally:
            if sys.stdout:
                sys.stdout.flush()  # here, where a failure can still be told
    except KeyboardInterrupt:
        complain("interrupted")
        return INTERRUPTED
    except ArmdynError as error:
        return complain(str(error))
    except MemoryError as error:
        return complain(f"not enough memory: {error}" if str(error) else "not enough memory")
    except RecursionError:
        return complain("the input is nested too deeply")
    except BrokenPipeError:  # the reader, such as head, has seen enough
        discard_output()
    except OSError as error:
        if error.filename is not None:  # not the output, then, but a defect of a command
            raise
        discard_output()
        return complain(f"cannot write the output: {error.strerror or error}")
    return 0


def complain(message: str, hint: str = "") -> int:
    """Say in one line what is wrong; the exit status that goes with it."""
    if sys.stderr:
        with suppress(OSError):
            print(f"armdyn: {cut(message, LONGEST)}{hint}", file=sys.stderr)
    return WRONG


def discard_output() -> None:
    """Lead what is still to be written nowhere, or Python would fail again when it ends."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


# The parser --------------------------------------------------------------------------------------


class Parser(argparse.ArgumentParser):
    """argparse that complains on one line, and says what was perhaps meant."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.register("action", None, Once)
        self.given: set[str] = set()  # options that were met
        self._negative_number_matcher = re.compile(r"-\.?\d")  # -1,0 is a list, not an option

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line and exit with status 2."""
        raise SystemExit(complain(message, hint=f" (try '{self.prog} --help')"))

    def parse_known_args(self, *given: Any, **options: Any) -> Any:
        """Arguments that are not known are refused here, by the command that got them."""
        self.given.clear()
        found, strange = super().parse_known_args(*given, **options)
        if strange:
            near = get_close_matches(strange[0].partition("=")[0], self._option_string_actions, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            self.error(f"unknown argument {shorten(strange[0])}{hint}")
        return found, strange

    def _print_message(self, message: str, file: Any = None) -> None:
        print(message, end="", file=file)  # argparse's own says nothing when that fails

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        if action.option_strings and arg_strings == ["--"]:  # of which argparse makes []
            raise argparse.ArgumentError(action, "expected an argument, not '--'")
        return super()._get_values(action, arg_strings)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            named, what = (action, "choice") if action.option_strings else (None, "command")
            raise argparse.ArgumentError(named, unknown(what, value, action.choices))


class Once(argparse.Action):
    """An option's value: a second one would take the place of the first without a word."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: str | None = None) -> None:
        """Keep the value, if it is the only one."""
        if option and self.dest in parser.given:
            listed = ", its items separated by commas" if self.metavar == "LIST" else ""
            raise argparse.ArgumentError(self, f"given twice; expected once{listed}")
        parser.given.add(self.dest)
        setattr(namespace, self.dest, values)


def parser() -> Parser:
    """All commands and their options."""
    top = Parser(prog="armdyn", description="The dynamics of robot arms.")
    top.add_argument("--version", action="version", version=f"armdyn {armdyn.__version__}")
    top.set_defaults(run=lambda _: top.print_help())
    commands = top.add_subparsers(metavar="COMMAND", parser_class=Parser)
    for name in COMMANDS:
        module = import_module(f"armdyn.cli.{name}")
        command = commands.add_parser(name, help=module.HELP)
        module.add_options(command)
        command.set_defaults(run=module.run)
    return top
