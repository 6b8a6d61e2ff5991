"""A comparison as one HTML file: sortable tables, with a bar in each row. It needs nothing else."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources
from pathlib import Path

from armdyn.algorithms import catalogue
from armdyn.comparison import Comparison, arms, rendering
from armdyn.comparison.ranking import Measured, Ranking
from armdyn.errors import MethodError
from armdyn.output import files

COLUMNS = (  # heading and tooltip of the numbers of a method
    ("this arm", "Operations of the program for this arm, a division as 8"),
    ("generic arm", "Operations counted literally on a generic arm with such joints"),
    ("printed", "Multiplications and additions that a paper prints for such joints, by its rule"),
    ("printed by", "The paper that prints them"),
    ("a call", "Time of a call from Python with one state, with the overhead of the call"),
    ("batch state", "Time of a state in a batch, on one thread"),
    ("error", "The largest relative error at random states"),
    ("in eps", "The error in units of a double's rounding, 2^-52"),
    ("longest chain", "Operations that wait for each other"),
    ("code bytes", "Instructions of the kernel for one state"),
)


def write(found: Sequence[Comparison], path: str | Path) -> None:
    """Write the page, whole or not at all."""
    with files.written(path) as place:
        place.write_text(html(found), encoding="utf-8")


def html(found: Sequence[Comparison]) -> str:
    """The page."""
    names = ", ".join(one.robot for one in found)
    title = f"Methods compared on {escape(names)}"
    several = arms.by_quantity(found) if len(found) > 1 else []
    parts = [_side_by_side(rankings) for rankings in several]
    parts += [_article(one, ranking) for one in found for ranking in one.rankings]
    note = f'<p class="faint">{escape(_legend(found[0]))}</p>' if found else ""
    style = _asset("armdyn.output", "style.css") + _asset("armdyn.comparison", "assets/page.css")
    script = _asset("armdyn.comparison", "assets/page.js")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        f"<title>{title} - armdyn</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{title}</h1>\n{note}\n" + "\n".join(parts) + "\n</main>\n"
        f'<script type="module">\n{script}</script>\n</body>\n</html>\n'
    )


def _asset(package: str, name: str) -> str:
    return (resources.files(package) / name).read_text(encoding="utf-8")


def _legend(comparison: Comparison) -> str:
    return (
        f"Measured on {comparison.cpu}, with batches of {comparison.batch} states; errors at "
        f"{comparison.states} random states, against {comparison.digits} digits. Press a heading "
        "to sort by it: the bars follow. The chosen method is the one that Robot uses."
    )


def _article(one: Comparison, ranking: Ranking) -> str:
    """A quantity of an arm: the table, and the sentences about it."""
    most = max((row.operations or 0 for row in ranking.rows), default=0) or 1
    rows = [_row(ranking.quantity, row, 100 * (row.operations or 0) / most) for row in ranking.rows]
    headings = [
        _heading("method", words=True),
        '<th class="bar words">this arm</th>',
        *(_heading(*column, sort="ascending" * (k == 0)) for k, column in enumerate(COLUMNS)),
        _heading("paper", words=True),
    ]
    reason, *remarks = (f"<p>{escape(text)}</p>" for text in (ranking.reason, *ranking.remarks))
    title = f"<h2>{escape(rendering.title(one, ranking))}</h2>"
    return "\n".join(["<article>", title, reason, _table(headings, rows), *remarks, "</article>"])


def _row(quantity: str, row: Measured, bar: float) -> str:
    """A method: its name, its bar, the numbers under COLUMNS, its paper."""
    _, name, paper, generic, this, call, batch, error = rendering.cells(row)
    by, printed, depth, code, eps = rendering.more_cells(row)
    texts = (this, generic, printed, by, call, batch, error, eps, depth, code)
    values = (
        *(row.operations, row.operations_generic, row.operations_printed, row.printed_by),
        *(row.call_ns, row.batch_ns),
        *(row.error, row.error_eps, row.depth, row.code_bytes),
    )
    mark = "chosen" if row.chosen and row.verdict == "right" else row.verdict
    badge = "" if mark == "right" else f'<span class="badge">{mark}</span>'
    cells = [
        f'<th scope="row" class="words" data-value="{escape(name)}" '
        f'title="{escape(_about(quantity, row))}">{escape(name)}{badge}</th>',
        '<td class="bar"><svg viewBox="0 0 100 10" preserveAspectRatio="none">'
        f'<rect width="{bar:.2f}" height="10" rx="0.5"/></svg></td>',
        *(
            _cell(heading, text, value)
            for (heading, _), text, value in zip(COLUMNS, texts, values, strict=True)
        ),
        _cell("paper", paper, paper, words=True),
    ]
    return f'<tr class="{mark}">{"".join(cells)}</tr>'


def _about(quantity: str, row: Measured) -> str:
    """The tooltip of a method: its paper, the place there, and the algorithm in a sentence."""
    source = ", ".join(filter(None, (row.paper, row.where)))
    try:
        function = inspect.unwrap(catalogue.find(quantity, row.method).function)
    except MethodError:  # registered in another session
        return source
    text = sys.modules[function.__module__].__doc__ or ""
    return f"{source}. {' '.join(text.split(chr(10) * 2)[0].split())}"


def _side_by_side(rankings: arms.Rankings) -> str:
    """Several arms in one table: operations and the time of a call on each."""
    found = [{row.method: row for row in ranking.rows} for _, ranking in rankings]
    labels, lines = arms.grid(rankings)
    labels = [label.replace("\n", ", ") for label in labels]
    rows = []
    for method, *texts in lines:
        cells = [
            f'<th scope="row" class="words" data-value="{escape(method)}">{escape(method)}</th>'
        ]
        for k, text in enumerate(texts):
            row = found[k // 2].get(method)
            value = None if row is None else row.call_ns if k % 2 else row.operations
            cells.append(_cell(labels[k + 1], text, value))
        rows.append(f"<tr>{''.join(cells)}</tr>")
    headings = [_heading(label, words=not k) for k, label in enumerate(labels)]
    title = f"<h2>{escape(arms.title(rankings))}</h2>"
    return f"<article>\n{title}\n{_table(headings, rows)}\n</article>"


def _table(headings: Iterable[str], rows: Iterable[str]) -> str:
    head, body = "".join(headings), "\n".join(rows)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def _heading(text: str, tip: str = "", words: bool = False, sort: str = "") -> str:
    """A heading that sorts its column when it is pressed."""
    side = ' class="words"' if words else ""
    sorted_by = f' aria-sort="{sort}"' if sort else ""
    button = f'<button type="button" title="{escape(tip)}">{escape(text)}</button>'
    return f'<th scope="col"{side}{sorted_by}>{button}</th>'


def _cell(label: str, text: str, value: float | str | None, words: bool = False) -> str:
    """A cell, with the value that it is sorted by; a star becomes a badge."""
    side = ' class="words"' if words else ""
    known = "" if value is None else f' data-value="{escape(str(value))}"'
    badge = '<span class="badge chosen">chosen</span>' if text.startswith("*") else ""
    shown = escape(text.removeprefix("*"))
    return f'<td{side}{known} data-label="{escape(label)}">{shown}{badge}</td>'
