"""A comparison as people read it (terminal, notebook) and as programs do (JSON, CSV)."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import asdict
from html import escape
from typing import Any

from rich import box
from rich.bar import Bar
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from armdyn.comparison import Comparison
from armdyn.comparison.ranking import Measured, Ranking
from armdyn.errors import printable
from armdyn.output.files import marked
from armdyn.output.report import html_table

USUAL = 90  # columns from which no word is abbreviated,
FULL = 124  # from which MORE stands in the same table,
ROOMY, WIDE = 160, 194  # from which it says where in a paper, and from which there are bars
BAR = 18  # columns
MOST_EPS = 1e6  # an error of more is no rounding
STYLES = {"wrong": "bold red", "approximate": "yellow", "not run": "dim"}
HEADINGS = ("", "method", "paper", "generic\narm", "this\narm", "a\ncall", "batch\nstate", "error")
MORE = ("printed\nby", "M + A\nprinted", "longest\nchain", "code\nbytes", "error\nin eps")
WORDS = 3  # columns, set to the left


def text(comparison: Comparison, width: int = 100) -> str:
    """The tables as plain text."""
    page = Console(file=io.StringIO(), width=width, highlight=False, color_system=None)
    for part in renderables(comparison, width):
        page.print(part)
    lines = page.file.getvalue().splitlines()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in lines)


def renderables(comparison: Comparison, width: int) -> Iterator[RenderableType]:
    """All of it as a terminal of so many columns shows it."""
    for ranking in comparison.rankings:
        yield Text(title(comparison, ranking), style="bold")
        yield _table(ranking, width)
        if width < FULL:
            yield ""
            yield _more_table(ranking)
        chosen = next((row for row in ranking.rows if row.chosen), None)
        alarming = chosen is not None and chosen.verdict == "wrong"
        yield Text(ranking.reason, style="bold red" if alarming else "green")
        for remark in ranking.remarks:
            yield Text(remark, style="bold red" if "WRONG" in remark else "")
        yield ""
    yield Text(legend(comparison), style="dim")


def title(comparison: Comparison, ranking: Ranking) -> str:
    """Of one table."""
    return f"{ranking.quantity} of {comparison.robot} ({comparison.joints})"


def legend(comparison: Comparison) -> str:
    """What the columns say."""
    return (
        "Operations counted literally on a generic arm with such joints, and of the program for "
        "this arm (a division as 8). Printed: M + A by that paper's own rule, see armdyn tables. "
        "Time of a call from "
        f"Python, and of a state in batches of {comparison.batch}, on one thread of "
        f"{comparison.cpu}. Largest error at {comparison.states} random states against "
        f"{comparison.digits} digits, relative to the largest number that the joint has, and in "
        "units of a double's rounding, eps. Longest chain: operations that wait for each other. "
        "Code: of the kernel for one state. *: what Robot chooses."
    )


def cells(row: Measured, brief: bool = False) -> tuple[str, ...]:
    """A row under HEADINGS; ``brief`` abbreviates a word."""
    return (
        "*" if row.chosen else "",
        row.method,
        row.paper,
        _number(row.operations_generic),
        _number(row.operations),
        duration(row.call_ns),
        duration(row.batch_ns),
        _error(row, brief),
    )


def more_cells(row: Measured) -> tuple[str, ...]:
    """A row under MORE."""
    eps = row.error_eps
    return (
        row.printed_by or "",
        _number(row.operations_printed),
        _number(row.depth),
        _number(row.code_bytes),
        "" if eps is None or eps > MOST_EPS else f"{eps:.2g}",
    )


def _number(number: int | None) -> str:
    return "" if number is None else str(number)


def duration(ns: float | None) -> str:
    """Three digits and a unit."""
    if ns is None:
        return ""
    for unit, size in (("ns", 1.0), ("us", 1e3), ("ms", 1e6)):
        if ns < 999.5 * size or unit == "ms":
            number = ns / size
            digits = 2 if number < 9.995 else 1 if number < 99.95 else 0
            return f"{number:.{digits}f} {unit}"
    raise AssertionError


def _error(row: Measured, brief: bool) -> str:
    if row.error is None:
        return row.verdict
    words = {"wrong": "wrong: ", "approximate": "approx. " if brief else "approximate: "}
    return f"{words.get(row.verdict, '')}{row.error:.1e}" if row.error else "0"


def _table(ranking: Ranking, width: int) -> Table:
    padding = (0, 1 if width >= ROOMY else 0, 0, 0)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=padding)
    for k, heading in enumerate(HEADINGS):
        side = "left" if k < WORDS else "right"
        table.add_column(heading, justify=side, no_wrap=k != 2, overflow="fold")  # type: ignore[arg-type]
    if width >= FULL:
        for heading in MORE:
            table.add_column(heading, justify="right", no_wrap=True)
    if width >= ROOMY:
        table.add_column("where")
    if width >= WIDE:
        table.add_column("time of a call", width=BAR)
    slowest = max((row.call_ns for row in ranking.rows if row.call_ns), default=1.0)
    for row in ranking.rows:
        style = STYLES.get(row.verdict, "bold green" if row.chosen else "")
        line: list[RenderableType] = [Text(cell, style=style) for cell in cells(row, width < USUAL)]
        if width >= FULL:
            line += [Text(cell, style=style) for cell in more_cells(row)]
        if width >= ROOMY:
            line.append(Text(row.where, style="dim"))
        if width >= WIDE:
            line.append(Bar(slowest, 0, row.call_ns or 0, width=BAR, color="green"))
        table.add_row(*line)
    return table


def _more_table(ranking: Ranking) -> Table:
    """What does not fit a narrow terminal, as a table of its own."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("method", no_wrap=True)
    for heading in MORE:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in ranking.rows:
        style = STYLES.get(row.verdict, "bold green" if row.chosen else "")
        line = (row.method, *more_cells(row))
        table.add_row(*(Text(cell, style=style) for cell in line))
    return table


# Notebook ----------------------------------------------------------------------------------------


def html(comparison: Comparison) -> str:
    """The tables for a notebook."""
    parts = []
    for ranking in comparison.rankings:
        parts.append(f"<h4>{escape(title(comparison, ranking))}</h4>")
        parts.append(table_of_html(ranking))
        sentences = " ".join([ranking.reason, *ranking.remarks])
        parts.append(f"<p>{escape(sentences)}</p>")
    return "\n".join([*parts, f"<p><small>{escape(legend(comparison))}</small></p>"])


def table_of_html(ranking: Ranking) -> str:
    """The table of one quantity."""
    headings = [heading.replace("\n", " ") for heading in HEADINGS + MORE]
    styles = [
        "color:#c0392b" if row.verdict == "wrong" else "font-weight:bold" if row.chosen else ""
        for row in ranking.rows
    ]
    rows = [cells(row) + more_cells(row) for row in ranking.rows]
    return html_table(headings, rows, WORDS, styles)


# JSON and CSV ------------------------------------------------------------------------------------


def data(comparison: Comparison) -> dict[str, Any]:
    """Plain data; what was not measured, and an error that is not finite, is None."""
    return {
        "robot": comparison.robot,
        "joints": comparison.joints,
        "batch_states": comparison.batch,
        "error_states": comparison.states,
        "error_digits": comparison.digits,
        "back_end": comparison.back_end,
        "cpu": comparison.cpu,
        "quantities": [
            {
                "quantity": ranking.quantity,
                "chosen": ranking.chosen,
                "runner_up": ranking.runner_up and ranking.runner_up.method,
                "reason": ranking.reason,
                "remarks": list(ranking.remarks),
                "methods": list(map(_record, ranking.rows)),
            }
            for ranking in comparison.rankings
        ],
    }


def _record(row: Measured) -> dict[str, Any]:
    record = asdict(row)
    record["batch_ns_per_state"] = record.pop("batch_ns")
    error = record.pop("error")
    record["error_relative"] = error if error is not None and math.isfinite(error) else None
    record["error_eps"] = row.error_eps if record["error_relative"] is not None else None
    return record


def csv_text(comparison: Comparison) -> str:
    """A line a method of each quantity, under the names of the JSON."""
    lines = [
        {"robot": marked(printable(comparison.robot)), "quantity": ranking.quantity, **_record(row)}
        for ranking in comparison.rankings
        for row in ranking.rows
    ]
    if not lines:
        return ""
    page = io.StringIO()
    writer = csv.DictWriter(page, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return page.getvalue()
