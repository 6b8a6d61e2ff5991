"""The command ``armdyn show``."""

from __future__ import annotations

import argparse
import json

from armdyn.chain.description import data, renderables
from armdyn.cli.arguments import add_robot, load
from armdyn.output.report import console

HELP = "show an arm: joints, table, masses, limits, findings"


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_robot(command)
    command.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> None:
    """Show one arm."""
    chain = load(arguments, check="warn").chain
    if arguments.json:
        print(json.dumps(data(chain), indent=2))
    else:
        screen = console()
        for part in renderables(chain):
            screen.show(part)
