"""The command ``armdyn show``."""

from __future__ import annotations

import argparse
import json

from armdyn.chain.description import data, renderables
from armdyn.cli.arguments import add_degrees, add_robot, load, motion, position, print_paths
from armdyn.errors import MethodError
from armdyn.output import files
from armdyn.output.report import console

HELP = "show an arm: joints, table, masses, limits, findings"


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_robot(command)
    command.add_argument("--json", action="store_true", help="print JSON")
    command.add_argument("--plot", metavar="FILE", help="draw a stick figure (.png, .svg, .pdf)")
    command.add_argument("--q", metavar="LIST", type=motion, help="where to draw it [rad or m]")
    add_degrees(command)


def run(arguments: argparse.Namespace) -> None:
    """Show one arm."""
    if (arguments.q is not None or arguments.degrees) and not arguments.plot:
        raise MethodError("--q says where the arm is drawn; add --plot FILE")
    if arguments.plot:
        files.check_picture(arguments.plot)
    robot = load(arguments, check="warn")
    if arguments.plot:
        q = None if arguments.q is None else position(robot, "--q", arguments.q, arguments.degrees)
        robot.plot(q, arguments.plot)
    chain = robot.chain
    if arguments.json:
        print(json.dumps(data(chain), indent=2))
    else:
        screen = console()
        for part in renderables(chain):
            screen.show(part)
        print_paths([arguments.plot])
