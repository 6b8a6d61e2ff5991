"""A comparison as one file of HTML: its tables, and bars drawn in it. It needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from armdyn.comparison import Comparison, arms, rendering
from armdyn.comparison.ranking import Measured, Ranking
from armdyn.output import files
from armdyn.output.report import html_table

COLOURS = {"wrong": "#c0392b", "approximate": "#b8a038"}
CHOSEN, OTHER = "#2e8b57", "#1f5f99"
LABEL, BARS, NUMBER, LINE = 170, 420, 110, 20  # pixels: a name, the longest bar, a number; a line
STYLE = """
body { font: 15px/1.5 sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em; color: #222 }
table { border-collapse: collapse; font-size: 13px; margin: 1em 0 }
th, td { padding: 2px 10px; border-bottom: 1px solid #ddd; white-space: nowrap }
th { text-align: left; border-bottom: 1px solid #888 }
figure { margin: 1em 0 } figcaption, small { color: #666 } svg text { font: 12px sans-serif }
"""


def write(found: Sequence[Comparison], path: str | Path) -> None:
    """Write the page, whole or not at all."""
    with files.written(path) as place:
        place.write_text(html(found), encoding="utf-8")


def html(found: Sequence[Comparison]) -> str:
    """The page."""
    names = ", ".join(one.robot for one in found)
    parts = [f"<h1>Methods compared on {escape(names)}</h1>"]
    if len(found) > 1:
        for rankings in arms.by_quantity(found):
            headings, rows = arms.grid(rankings)
            headings = [heading.replace("\n", ", ") for heading in headings]
            parts += [f"<h2>{escape(arms.title(rankings))}</h2>", html_table(headings, rows)]
    for one in found:
        for ranking in one.rankings:
            parts += _section(one, ranking)
    if found:
        parts.append(f"<p><small>{escape(rendering.legend(found[0]))}</small></p>")
    body = "\n".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
        f"<title>Methods compared on {escape(names)}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _section(one: Comparison, ranking: Ranking) -> list[str]:
    """A quantity of an arm: the table, what is said of it, and its bars."""
    run = [row for row in ranking.rows if row.verdict != "not run"]
    operations = [float(row.operations or 0) for row in run]
    calls = [row.call_ns or 0.0 for row in run]
    batch = [row.batch_ns or 0.0 for row in run]
    return [
        f"<h2>{escape(rendering.title(one, ranking))}</h2>",
        rendering.table_of_html(ranking),
        *(f"<p>{escape(sentence)}</p>" for sentence in (ranking.reason, *ranking.remarks)),
        _bars("operations on this arm", run, operations, [f"{x:.0f}" for x in operations]),
        _bars("the time of a call", run, calls, list(map(rendering.duration, calls))),
        _bars("the time of a state in a batch", run, batch, list(map(rendering.duration, batch))),
    ]


def _bars(
    caption: str, rows: Sequence[Measured], values: Sequence[float], texts: Sequence[str]
) -> str:
    """A bar a method, the first on top, with its number at its end."""
    longest = max(values, default=0.0) or 1.0
    width, height = LABEL + BARS + NUMBER, LINE * len(rows)
    drawn = []
    for k, (row, value, text) in enumerate(zip(rows, values, texts, strict=True)):
        y, length = LINE * k, BARS * value / longest
        colour = COLOURS.get(row.verdict, CHOSEN if row.chosen else OTHER)
        drawn.append(
            f'<text x="{LABEL - 6}" y="{y + 14}" text-anchor="end">{escape(row.method)}</text>'
            f'<rect x="{LABEL}" y="{y + 3}" width="{length:.1f}" height="{LINE - 6}" '
            f'fill="{colour}"/>'
            f'<text x="{LABEL + length + 6:.1f}" y="{y + 14}">{escape(text)}</text>'
        )
    picture = f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
    return f"<figure>{picture}{''.join(drawn)}</svg><figcaption>{caption}</figcaption></figure>"
