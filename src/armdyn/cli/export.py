"""The command ``armdyn export``."""

from __future__ import annotations

import argparse
from pathlib import Path

from armdyn import export
from armdyn.cli.arguments import add_robot, items, load, print_paths
from armdyn.engine.derived import KINDS
from armdyn.errors import MethodError, shorten
from armdyn.output import files
from armdyn.quantities import AXES, GIVEN, QUANTITIES
from armdyn.quantities.tasks import quantities_of

HELP = "write an arm's dynamics as source: C99, JavaScript"


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_robot(command)
    command.add_argument(
        "--quantity",
        metavar="LIST",
        default=",".join(export.DEFAULT),
        help=f"what to export, separated by commas: all, or {', '.join(QUANTITIES)} "
        "(default: %(default)s)",
    )
    command.add_argument(
        "--derivative",
        metavar="LIST",
        default="",
        help=f"derivatives of these quantities to export besides: {', '.join(KINDS)}",
    )
    command.add_argument(
        "--wrt",
        metavar="LIST",
        help="with respect to which arguments: q, qd, ... (default: all of them)",
    )
    command.add_argument(
        "--to",
        choices=list(export.WRITERS),
        type=language,
        default="c",
        help="the language (default: c)",
    )
    command.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        type=Path,
        default=Path(),
        help="where the files go (default: here)",
    )
    command.add_argument(
        "--dtype",
        choices=list(export.DTYPES),
        default="double",
        help="of all numbers (default: double; JavaScript has no other)",
    )
    command.add_argument(
        "--method",
        metavar="LIST",
        default="",
        help="in place of the cheapest, a method for all quantities, or QUANTITY=METHOD,...",
    )
    command.add_argument(
        "--frame",
        metavar="NAME",
        help="the frame of pose, jacobian and others (default: the tip)",
    )
    command.add_argument("--axes", choices=AXES, default="base", help="the axes (default: base)")
    command.add_argument(
        "--friction", action="store_true", help="inverse and forward dynamics with friction"
    )
    command.add_argument(
        "--arguments",
        metavar="LIST",
        default="",
        help=f"what functions take besides the state: {', '.join(GIVEN)}",
    )
    command.add_argument(
        "--payload-frame", metavar="NAME", help="the frame of payloads (default: the tip)"
    )
    command.add_argument(
        "--wrench-frame", metavar="NAME", help="the frame that wrenches act at (default: the tip)"
    )
    command.add_argument(
        "--name",
        help="the start of names of files, and of functions in C (default: the arm's)",
    )
    command.add_argument(
        "--force", action="store_true", help="replace files that armdyn did not write"
    )


def run(arguments: argparse.Namespace) -> None:
    """Write an arm's dynamics as source, and say where."""
    files.check_name(arguments.output)
    asked = items(arguments.quantity.lower())
    chain = load(arguments).chain
    quantities = quantities_of(chain) if asked == ["all"] else asked
    texts = export.WRITERS[arguments.to](
        chain,
        quantities,
        dtype=arguments.dtype,
        methods=methods(items(arguments.method), quantities),
        name=arguments.name,
        derivatives=items(arguments.derivative),
        wrt=None if arguments.wrt is None else items(arguments.wrt),
        frame=arguments.frame,
        axes=arguments.axes,
        friction=arguments.friction,
        arguments=items(arguments.arguments),
        payload_frame=arguments.payload_frame,
        wrench_frame=arguments.wrench_frame,
    )
    print_paths(export.write(texts, arguments.output, force=arguments.force))


def language(text: str) -> str:
    """A language that source is written in; its name is for others to judge."""
    if text.lower() == "casadi":
        raise argparse.ArgumentTypeError(
            "no source is written for CasADi; robot.casadi(quantity) is a casadi.Function in Python"
        )
    return text


def methods(given: list[str], quantities: list[str]) -> dict[str, str]:
    """The method of each quantity, of METHOD for all of them, or QUANTITY=METHOD for some."""
    if len(given) == 1 and "=" not in given[0]:
        return dict.fromkeys(quantities, given[0])
    found: dict[str, str] = {}
    for item in given:
        quantity, equals, method = item.partition("=")
        if not equals:
            raise MethodError(f"--method takes one METHOD, or QUANTITY=METHOD, not {shorten(item)}")
        if quantity in found:
            raise MethodError(f"--method is given twice for {shorten(quantity)}")
        found[quantity] = method
    return found
