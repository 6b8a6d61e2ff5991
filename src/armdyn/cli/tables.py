"""The command ``armdyn tables``."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from rich.text import Text

from armdyn.comparison import printed
from armdyn.counting.published import PAPERS
from armdyn.output.report import console, progress_bar, table

HELP = "the papers' tables, printed beside counted"


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of the command."""
    command.add_argument("--paper", metavar="KEY", help=f"only this one of {', '.join(PAPERS)}")
    form = command.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--markdown", action="store_true", help="print Markdown")


def run(arguments: argparse.Namespace) -> None:
    """Show what the papers print beside what armdyn counts."""
    found = made([arguments.paper] if arguments.paper else list(PAPERS))
    if arguments.json:
        papers = [
            {"paper": key, "citation": printed.citation(key), "tables": list(map(asdict, grids))}
            for key, grids in found.items()
        ]
        print(json.dumps(papers, indent=2))
        return
    screen = console()
    for key, grids in found.items():
        if arguments.markdown:
            print(f"## {key}\n\n{printed.citation(key)}.\n")
        else:
            screen.show(Text(f"{key}: {printed.citation(key)}.\n", style="italic"))
        for grid in grids:
            if arguments.markdown:
                print(printed.markdown(grid))
                continue
            sides = ["" if k < grid.words else ">" for k in range(len(grid.headings))]
            pairs = zip(sides, grid.headings, strict=True)
            shown = table(grid.title, *(side + heading for side, heading in pairs))
            for row in grid.rows:
                shown.add_row(*map(Text, row))
            screen.show(shown, names=grid.words)
            for note in grid.notes:
                screen.show(Text(f"- {note}"))
            screen.show("")


def made(keys: list[str]) -> dict[str, list[printed.Grid]]:
    """The tables of these papers, with a bar on stderr where that is a terminal."""
    citations = [printed.citation(key) for key in keys]  # refuses what is unknown
    found: dict[str, list[printed.Grid]] = {}
    with progress_bar() as bar:
        task = bar.add_task("", total=len(citations))
        for key in keys:
            bar.update(task, description=f"counting {key}")
            found[key] = list(printed.grids(key))
            bar.advance(task)
    return found
