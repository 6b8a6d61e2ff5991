"""The command ``armdyn tables``."""

from __future__ import annotations

import argparse
import json

from armdyn.cli.arguments import print_paths
from armdyn.errors import MethodError
from armdyn.output import files
from armdyn.output.report import console, progress_bar
from armdyn.papers import PAPERS, experiment_figure, find, rendering

HELP = "the papers' tables, published beside counted"


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of the command."""
    command.add_argument("--paper", metavar="KEY", help=f"only this one of {', '.join(PAPERS)}")
    form = command.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--markdown", action="store_true", help="print Markdown")
    command.add_argument("--plot", metavar="FILE", help="draw the experiment of safeea2018")


def run(arguments: argparse.Namespace) -> None:
    """Show what the papers print beside what we count."""
    if arguments.plot and arguments.paper != "safeea2018":
        raise MethodError("--plot draws the experiment of safeea2018; add --paper safeea2018")
    if arguments.plot:
        files.check_picture(arguments.plot)
    papers = made([arguments.paper] if arguments.paper else list(PAPERS))
    if arguments.plot:
        experiment_figure.draw(arguments.plot)
    if arguments.json:
        print(json.dumps(rendering.data(papers), indent=2))
    elif arguments.markdown:
        print(rendering.markdown(papers), end="")
    else:
        screen = console()
        for part in rendering.renderables(papers, ascii_only=screen.options.ascii_only):
            screen.show(part)
        print_paths([arguments.plot])


def made(keys: list[str]) -> rendering.Tables:
    """The tables of these papers, with a bar on stderr where that is a terminal."""
    papers: rendering.Tables = [(key, find(key).citation, []) for key in keys]
    with progress_bar() as bar:
        task = bar.add_task("", total=sum(len(find(key).tables) for key in keys))
        for key, _, tables in papers:
            bar.update(task, description=f"counting {key}")
            for table in find(key).tables:
                tables.append(table())
                bar.advance(task)
    return papers
