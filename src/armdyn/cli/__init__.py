"""The command line, a file for each command.

A command is a module with ``HELP``, ``add_options(parser)`` and ``run(arguments)``.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

import armdyn
from armdyn.errors import ArmdynError, cut, shorten, unknown

GROUPS = {  # of commands, as the help lists them
    "robots": ("robots", "show", "view", "eval", "trace", "compare", "convert", "export"),
    "motion": ("simulate",),
    "models from data": ("excite", "identify"),
    "papers": ("tables",),
    "shell": ("completion",),
}
COMMANDS = tuple(name for names in GROUPS.values() for name in names)
HABITS = {"ls": "robots", "list": "robots", "info": "show", "print": "show", "open": "view"}
LONGEST = 600  # characters of a complaint
WRONG, INTERRUPTED = 2, 130  # exit statuses


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is 2 after an error, which takes one line."""
    try:
        try:
            if isinstance(sys.stdout, io.TextIOWrapper):  # a name may have any letters
                sys.stdout.reconfigure(errors="backslashreplace")
            words = list(sys.argv[1:] if argv is None else argv)
            if words[:1] == ["help"]:
                words = [*(word for word in words if word != "help"), "--help"]
            arguments = parser().parse_args(words)
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
            if not isinstance(action, argparse._SubParsersAction):
                raise argparse.ArgumentError(action, unknown("choice", value, action.choices))
            if value in HABITS:
                hint = f"no command {value!r}; did you mean {HABITS[value]!r}?"
                raise argparse.ArgumentError(None, hint)
            raise argparse.ArgumentError(None, unknown("command", value, action.choices))


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
    top = Parser(
        prog="armdyn",
        usage="armdyn [-h] [-V] COMMAND ...",
        description="The dynamics of robot arms. 'armdyn help COMMAND' explains a command.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("-V", "--version", action="version", version=f"armdyn {armdyn.__version__}")
    top.set_defaults(run=lambda _: top.print_help())
    commands = top.add_subparsers(metavar="COMMAND", help=argparse.SUPPRESS, parser_class=Parser)
    modules = {name: import_module(f"armdyn.cli.{name}") for name in COMMANDS}
    for name, module in modules.items():
        command = commands.add_parser(name, prog=f"armdyn {name}")
        module.add_options(command)
        command.set_defaults(run=module.run)
    top.epilog = overview({name: module.HELP for name, module in modules.items()})
    return top


def options(name: str) -> list[argparse.Action]:
    """The arguments of a command."""
    command = Parser(prog=f"armdyn {name}")
    import_module(f"armdyn.cli.{name}").add_options(command)
    return command._actions


def overview(helps: dict[str, str]) -> str:
    """All commands, group by group, with their help."""
    width = shutil.get_terminal_size().columns - 2
    lines = []
    for title, names in GROUPS.items():
        lines.append(f"{title}:")
        for name in names:
            lines += textwrap.wrap(
                helps[name], width, initial_indent=f"  {name:<10}  ", subsequent_indent=" " * 14
            )
        lines.append("")
    return "\n".join(lines)
