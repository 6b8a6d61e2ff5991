"""The command ``armdyn view``."""

from __future__ import annotations

import argparse
import re
import tempfile
from pathlib import Path

from armdyn import view
from armdyn.cli.arguments import add_robot, load, print_paths
from armdyn.errors import warn

HELP = "look at an arm: a page to move, drag and simulate it"


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_robot(command)
    command.add_argument(
        "--save", metavar="FILE", help="where the page goes (.html; default: a file of its own)"
    )
    command.add_argument(
        "--no-open", action="store_true", help="write the page, but open no browser"
    )


def run(arguments: argparse.Namespace) -> None:
    """Write an arm's page, say where, and open it."""
    if arguments.save:
        view.check_path(arguments.save)
    robot = load(arguments)
    page = view.view(robot)
    path = Path(arguments.save) if arguments.save else new_file(robot.name)
    for note in page.notes:
        warn("%s: %s", robot.name, note)
    if arguments.no_open:
        page.save(path)
    elif not page.open(path):
        warn("no browser was found; open %s yourself", path)
    print_paths([path])


def new_file(name: str) -> Path:
    """A file in a new folder of the system's for such."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:60] or "arm"
    return Path(tempfile.mkdtemp(prefix="armdyn-")) / f"{plain}.html"
