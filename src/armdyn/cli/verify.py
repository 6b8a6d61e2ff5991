"""The command ``armdyn verify``."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.text import Text

from armdyn.errors import ArmdynError, listed
from armdyn.output.report import console, progress_bar, table
from armdyn.papers import PAPERS
from armdyn.papers.entries import KINDS, VERDICTS, Entry, Outcome, outcomes
from armdyn.papers.entries import listed as list_of
from armdyn.papers.rendering import STYLES

HELP = "run the checks of the papers: every formula, table and claim against its verdict"
PLURALS = {"formula": "formulas", "table": "tables", "figure": "figures", "claim": "claims"}
COLOURS = {**STYLES, "right": "green", "misprinted": "red"}


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of the command."""
    command.add_argument(
        "paper", metavar="KEY", nargs="?", help=f"only this one of {', '.join(PAPERS)}"
    )
    command.add_argument("--all", action="store_true", help="show what is right, too")
    command.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> None:
    """Run the checks, show what is wrong in the papers, and add up."""
    keys = [arguments.paper] if arguments.paper else list(PAPERS)
    found = dict(zip(keys, checked_papers(keys), strict=True))
    if arguments.json:
        print(json.dumps([data(key, checked) for key, checked in found.items()], indent=2))
    else:
        for key, checked in found.items():
            show(key, checked, arguments.all)
    otherwise = [
        f"{key}, {outcome.entry.label}: {outcome.evidence.verdict}"
        for key, checked in found.items()
        for outcome in checked
        if outcome.evidence and not outcome.as_expected
    ]
    if otherwise:
        raise ArmdynError(f"{len(otherwise)} checks came out otherwise: {listed(otherwise)}")


def checked_papers(keys: list[str]) -> list[list[Outcome]]:
    """What the checks of these papers find, with a bar on stderr where that is a terminal."""
    papers = [list_of(key) for key in keys]
    checked: list[list[Outcome]] = []
    with progress_bar() as bar:
        task = bar.add_task("", total=sum(len(paper.entries) for paper in papers))
        for paper in papers:
            bar.update(task, description=f"checking {paper.key}")
            checked.append([])
            for outcome in outcomes(paper.key):
                checked[-1].append(outcome)
                bar.advance(task)
    return checked


def show(key: str, checked: list[Outcome], everything: bool) -> None:
    """What of a paper is not right, and the sums."""
    screen = console()
    rows = table(key, "", "verdict", "found")
    for entry, evidence in ((outcome.entry, outcome.evidence) for outcome in checked):
        if evidence and (everything or entry.verdict != "right"):
            word = Text(str(entry.verdict), style=COLOURS.get(str(entry.verdict), ""))
            rows.add_row(Text(entry.label), word, Text(evidence.found))
    screen.show(rows)
    screen.show(Text(summary(checked) + "\n", style="bold"))


def summary(checked: list[Outcome]) -> str:
    """The sums, and how many of the verdicts came out."""
    borne_out = sum(1 for outcome in checked if outcome.evidence and outcome.as_expected)
    total = sum(outcome.evidence is not None for outcome in checked)
    entries = [outcome.entry for outcome in checked]
    return f"{tally(entries)} {borne_out} of {total} verdicts borne out by their checks."


def tally(entries: Sequence[Entry]) -> str:
    """So many formulas, tables, figures and claims; so many right, misprinted and refuted."""
    lines = Counter(entry.kind for entry in entries)
    tables = {entry.whole for entry in entries if entry.kind == "table"}
    kinds = {**lines, "table": len(tables)}
    words = Counter(entry.verdict for entry in entries if entry.verdict)
    things = ", ".join(
        f"{kinds[kind]} {kind if kinds[kind] == 1 else PLURALS[kind]}"
        + (f" in {lines[kind]} lines" if kinds[kind] < lines[kind] else "")
        for kind in KINDS
        if kinds.get(kind)
    )
    verdicts = ", ".join(f"{words[word]} {word}" for word in VERDICTS if words[word])
    return f"{things}: {verdicts}."


def data(key: str, checked: list[Outcome]) -> dict[str, Any]:
    """A paper's checks as plain data."""
    return {
        "paper": key,
        "entries": [
            {
                "label": outcome.entry.label,
                "kind": outcome.entry.kind,
                "says": outcome.entry.says,
                "verdict": outcome.entry.verdict,
                "check": outcome.entry.check,
                "borne_out": outcome.as_expected,
                "found": outcome.evidence and outcome.evidence.found,
                "printed_error": outcome.evidence and outcome.evidence.printed,
                "corrected_error": outcome.evidence and outcome.evidence.corrected,
            }
            for outcome in checked
        ],
    }
