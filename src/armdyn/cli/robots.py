"""The command ``armdyn robots``."""

from __future__ import annotations

import argparse
import json

import armdyn
from armdyn.chain.description import robots_table, summary
from armdyn.output.report import console

HELP = "list the arms that ship with armdyn"


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of the command."""
    command.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> None:
    """List the shipped arms."""
    chains = [armdyn.load(name).chain for name in armdyn.robots()]
    if arguments.json:
        print(json.dumps([summary(chain) for chain in chains], indent=2))
    else:
        console().show(robots_table(chains))
