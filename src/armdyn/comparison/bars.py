"""A comparison as a picture: bars of operations and of times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from armdyn.comparison import Comparison
from armdyn.comparison.ranking import Measured, Ranking
from armdyn.comparison.rendering import duration, title
from armdyn.forks import importing
from armdyn.output import files

CHOSEN, OTHER, WRONG, APPROXIMATE = "#2e8b57", "#1f5f99", "#c0392b", "#b8a038"
MEANINGS = {
    CHOSEN: "chosen: the cheapest",
    OTHER: "exact",
    APPROXIMATE: "approximate",
    WRONG: "wrong",
}
PLAIN: dict[str, Any] = {"frameon": False, "fontsize": "small"}
PALE = 0.4  # the opacity of the second bar of a pair


def draw(comparison: Comparison) -> Any:
    """A matplotlib figure: a line of two panels a quantity."""
    heights = [len(_run(ranking)) + 4 for ranking in comparison.rankings]
    figure = files.figure(11, 0.24 * sum(heights))
    grid = figure.subplots(len(heights), 2, squeeze=False, height_ratios=heights)
    for ranking, (left, right) in zip(comparison.rankings, grid, strict=True):
        _operations(left, ranking)
        left.set_title(title(comparison, ranking), loc="left", parse_math=False)
        _times(right, ranking, comparison.batch)
    rows = [row for ranking in comparison.rankings for row in _run(ranking)]
    figure.legend(handles=list(_keys(rows)), loc="outside lower center", ncols=6, **PLAIN)
    return figure


def _keys(rows: list[Measured]) -> Iterator[Any]:
    """What the colours mean that are there, and the two bars of a pair."""
    with importing:
        from matplotlib.patches import Patch

    used = {_colour(row) for row in rows}
    for colour, meaning in MEANINGS.items():
        if colour in used:
            yield Patch(color=colour, label=meaning)
    yield Patch(color="0.3", alpha=PALE, label="pale: a call")
    yield Patch(color="0.3", label="dark: a state in a batch")


def _operations(axes: Any, ranking: Ranking) -> None:
    rows = _run(ranking)
    values = [row.operations for row in rows]
    _bars(axes, rows, values, list(map(str, values)))
    axes.set_xlabel("operations on this arm, a division as 8")


def _times(axes: Any, ranking: Ranking, batch: int) -> None:
    rows = _run(ranking)
    calls, states = [row.call_ns for row in rows], [row.batch_ns for row in rows]
    texts = [f"{duration(row.call_ns)}, {duration(row.batch_ns)}" for row in rows]
    _bars(axes, rows, calls, texts, alpha=PALE)
    axes.barh(range(len(rows)), states, color=list(map(_colour, rows)), height=0.5)
    axes.set_yticklabels([])
    axes.set_xlabel(f"time [ns], batches of {batch}")


def _bars(
    axes: Any, rows: list[Measured], values: list[Any], texts: list[str], **style: Any
) -> None:
    """A bar a method, the first on top, with its number at its end."""
    places = range(len(rows))
    bars = axes.barh(places, values, color=list(map(_colour, rows)), height=0.75, **style)
    axes.bar_label(bars, texts, padding=3, fontsize=7)
    axes.set_yticks(places, map(_label, rows), fontsize=8)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.margins(x=0.2)
    axes.spines[["top", "right"]].set_visible(False)


def _run(ranking: Ranking) -> list[Measured]:
    return [row for row in ranking.rows if row.verdict != "not run"]


def _label(row: Measured) -> str:
    if row.verdict in ("wrong", "approximate"):
        return f"{row.method} ({row.verdict})"
    return f"{row.method} (chosen)" if row.chosen else row.method


def _colour(row: Measured) -> str:
    by_verdict = {"wrong": WRONG, "approximate": APPROXIMATE}
    return by_verdict.get(row.verdict, CHOSEN if row.chosen else OTHER)
