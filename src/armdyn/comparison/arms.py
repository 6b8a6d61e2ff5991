"""Comparisons of several arms, side by side: a column of operations and one of times an arm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from armdyn.comparison import Comparison
from armdyn.comparison.ranking import Measured, Ranking
from armdyn.comparison.rendering import duration
from armdyn.output.report import table

Rankings = Sequence[tuple[str, Ranking]]  # of one quantity: an arm's name, its ranking


def renderables(found: Sequence[Comparison]) -> Iterator[RenderableType]:
    """A table a quantity, and why each arm's method was chosen."""
    for rankings in by_quantity(found):
        headings, rows = grid(rankings)
        made = table(title(rankings), headings[0], *(f">{heading}" for heading in headings[1:]))
        for row in rows:
            made.add_row(*map(Text, row))
        yield made
        for name, ranking in rankings:
            alarming = any(row.chosen for row in ranking.wrong)
            yield Text(f"{name}: {ranking.reason}", style="bold red" if alarming else "green")
            for remark in ranking.remarks:
                if "WRONG" in remark:
                    yield Text(f"{name}: {remark}", style="bold red")
        yield ""
    yield Text(legend(found[0]), style="dim")


def legend(comparison: Comparison) -> str:
    """What the columns say."""
    return (
        "Operations of the program for each arm (a division as 8), and time of a call from Python "
        f"on {comparison.cpu}. *: what Robot chooses there. With one arm there is more to see."
    )


def by_quantity(found: Sequence[Comparison]) -> list[Rankings]:
    """The rankings that all arms have, quantity by quantity."""
    every = [{ranking.quantity: ranking for ranking in one.rankings} for one in found]
    common = [name for name in every[0] if all(name in rankings for rankings in every)]
    return [
        [(one.robot, rankings[name]) for one, rankings in zip(found, every, strict=True)]
        for name in common
    ]


def title(rankings: Rankings) -> str:
    """Of one table."""
    return f"{rankings[0][1].quantity}: operations on each arm, and the time of a call"


def grid(rankings: Rankings) -> tuple[list[str], list[list[str]]]:
    """Headings, and a row a method: those with the fewest operations on all arms together first."""
    rows = [{row.method: row for row in ranking.rows} for _, ranking in rankings]
    methods = list(dict.fromkeys(method for each in rows for method in each))

    def total(method: str) -> tuple[int, int]:
        costs = [each[method].operations if method in each else None for each in rows]
        known = [cost for cost in costs if cost is not None]
        return len(rows) - len(known), sum(known)

    headings = ["method"]
    for name, _ in rankings:
        headings += [f"{name}\noperations", f"{name}\na call"]
    lines = []
    for method in sorted(methods, key=total):
        pairs = [_cells(each.get(method)) for each in rows]
        lines.append([method, *(cell for pair in pairs for cell in pair)])
    return headings, lines


def _cells(row: Measured | None) -> tuple[str, str]:
    """Operations with a star where chosen, and the time of a call."""
    if row is None:
        return "does not apply", ""
    if row.operations is None:
        return row.verdict, ""
    words = {"wrong": " WRONG", "approximate": " approx."}
    star = "*" if row.chosen else ""
    return f"{star}{row.operations}{words.get(row.verdict, '')}", duration(row.call_ns)
