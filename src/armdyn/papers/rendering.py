"""Renders the papers' tables: for a terminal, as Markdown, and as plain data (JSON)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.rule import Rule
from rich.table import Table as RichTable
from rich.text import Text

from armdyn.papers.claims import Grid, Line, Table, Verdict

Tables = list[tuple[str, str, list[Table | Grid]]]  # key, citation and tables of each paper

Writer = Callable[[str], str]  # how a terminal writes a text

STYLES = {
    "exact": "green",
    "explained": "yellow",
    "presumed": "magenta",
    "refuted": "red",
    "not described": "dim",
    "ours": "cyan",
    "unexplained": "bold red",
}
ORDER = ("M", "A", "D", "")
WRONG = "*"  # marks a printed cell that its own formula refutes
INTRODUCTION = """\
# The papers, cell by cell

What the five papers print, beside what armdyn counts by running their formulations on counting
scalars. This page is what `armdyn tables --markdown` prints, written by `docs/make_papers.py`; in a
terminal, `armdyn tables --paper KEY` shows one of them. Each paper has a page with its formulas and
claims, [lin1991](papers/lin1991.md), [lin1999](papers/lin1999.md), [kang](papers/kang.md),
[safeea2018](papers/safeea2018.md), [zomaya1988](papers/zomaya1988.md), and what is wrong in them is
in the [errata](papers/errata.md).

- M, A and D are multiplications, additions or subtractions, and doublings; n is the number of
  joints.
- *Literal* counts follow the papers' lines on a generic arm: nothing is shared between lines, and
  what a paper forms at run time counts as run-time, constants in it included. *Folded* counts fold
  all constants. *Shared* counts also take equal terms once and leave out what nothing needs, but do
  no algebra. The entries of R_i are free in all three. *Program* counts, which `armdyn.count` has
  too, are of every operation on a given arm.
- The polynomials go through the counts of six sizes, more than they need; the cells are counted one
  by one.
- One column has one kind of count; the note above a table says which. What is on hand for one of
  its columns is on hand for the other.
- **exact**: no difference. **explained**: the difference is the polynomial shown, for the reason
  given, which the paper's own lines show. **presumed**: the same, but nothing in the paper shows
  the reason. **refuted**: the print contradicts itself or the laws of motion. **not described in
  the paper**: it prints a number, but not what that takes. **ours**: not in the paper.
- In the tables of cells `640/635` is 640 printed, 635 counted, and `1016*` a printed cell that is
  not what its own formula gives.
"""


# What all three have in common -------------------------------------------------------------------


def operations(line: Line) -> list[str]:
    """The operations of a line, in order."""
    return [op for op in ORDER if op in line.published or op in line.found]


def comparison_grid(table: Table, with_shared: bool = False) -> Grid:
    """The lines of a table, a row an operation, with the verdict in a word."""
    headings = ["", "", "published", table.found, "difference", "verdict"]
    headings += ["shared"] * with_shared
    rows = []
    for line in table.lines:
        for op in operations(line):
            name, verdict = line.name if op == operations(line)[0] else "", line.verdicts.get(op)
            texts = [
                str(part.get(op, "")) for part in (line.published, line.found, line.difference)
            ]
            word = verdict.word if verdict else ""
            rows.append([name, op, *texts, word] + [str(line.shared.get(op, ""))] * with_shared)
    used = [k for k in range(len(headings)) if any(row[k] for row in rows)]
    shown = tuple(tuple(row[k] for k in used) for row in rows)
    return Grid("", tuple(headings[k] for k in used), shown, words=len(used))


def cell_grid(table: Table) -> Grid | None:
    """The printed cells of a table, with ours where they differ."""
    lines = [line for line in table.lines if line.cells]
    if not lines:
        return None
    rows = []
    for line in lines:
        for op in ("M", "A"):
            cells = [by_operation[op] for by_operation in line.cells.values()]
            texts = []
            for cell in cells:
                text = str(cell.printed) + (WRONG if cell.printed != cell.formula else "")
                differs = cell.counted is not None and cell.counted != cell.printed
                texts.append(f"{text}/{cell.counted}" if differs else text)
            rows.append((line.name if op == "M" else "", op, *texts))
    sizes = tuple(f"n = {n}" for n in lines[0].cells)
    return Grid("Cells", ("", "", *sizes), tuple(rows), words=2)


def reasons(line: Line) -> Iterator[str]:
    """Why the verdicts on a line are as they are."""
    yield from dict.fromkeys(str(verdict) for verdict in line.verdicts.values() if verdict.reason)
    yield from map(str, line.misprints)


def shared(line: Line) -> Iterator[str]:
    """The count of a line with equal terms shared."""
    if line.shared:
        yield "shared: " + ", ".join(f"{polynomial} {op}" for op, polynomial in line.shared.items())


def collect_remarks(table: Table, *sources: Callable[[Line], Iterator[str]]) -> dict[str, str]:
    """What these sources say of the lines, each thing once, with the names of its lines."""
    names: dict[str, list[str]] = {}
    for line in table.lines:
        for source in sources:
            for remark in source(line):
                names.setdefault(remark, []).append(line.name)
    return {remark: ", ".join(of) for remark, of in names.items()}


def superscript(text: str) -> str:
    """n^2 as it is written by hand."""
    return re.sub(r"(?<=[nw])\^([23])", lambda match: "²³"[int(match[1]) - 2], text)


# Terminal ----------------------------------------------------------------------------------------


def renderables(papers: Tables, ascii_only: bool = False) -> Iterator[RenderableType]:
    """All of it as a terminal shows it."""
    write = str if ascii_only else superscript
    for key, citation, tables in papers:
        yield Rule(Text(key, style="bold"), align="left")
        yield Text(f"{citation}.\n", style="italic")
        for table in tables:
            yield from _shown(table, write)


def _shown(table: Table | Grid, write: Writer) -> Iterator[RenderableType]:
    """A table, what there is to say about it, and its cells."""
    yield Text(write(table.title), style="bold")
    if table.note:
        yield Text(write(table.note))
    yield ""
    if isinstance(table, Grid):
        yield from (_grid(table, write), "")
        return
    yield from (_grid(comparison_grid(table), write), "")
    remarks = collect_remarks(table, reasons, shared)
    if remarks:
        yield from (_remarks(remarks, write), "")
    cells = cell_grid(table)
    if cells:
        yield from (_grid(cells, write), "")


def _remarks(remarks: dict[str, str], write: Writer) -> RichTable:
    shown = RichTable.grid(padding=(0, 2))
    shown.add_column(max_width=26)
    shown.add_column()
    before = ""
    for remark, names in remarks.items():
        word, colon, rest = write(remark).partition(":")
        style = STYLES.get(word.removesuffix(" in the paper"), "")
        name = "" if names == before else names
        shown.add_row(Text(name), Text.assemble((word + colon, style), rest))
        before = names
    return shown


def _grid(grid: Grid, write: Writer) -> RichTable:
    """A grid as a terminal shows it; verdicts have their colours."""
    shown = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for k, heading in enumerate(grid.headings):
        shown.add_column(heading, justify="left" if k < grid.words else "right", overflow="fold")
    for line in grid.rows:
        shown.add_row(*(Text(write(text), style=STYLES.get(text, "")) for text in line))
    return shown


# Markdown ----------------------------------------------------------------------------------------


def markdown(papers: Tables) -> str:
    """All of it as a page."""
    parts = [INTRODUCTION]
    for key, citation, tables in papers:
        parts.append(f"## {key}\n\n{citation}.\n")
        for table in tables:
            parts.append(f"### {_marked(table.title)}\n")
            if table.note:
                parts.append(f"{_marked(table.note)}\n")
            parts += [_marked_grid(table)] if isinstance(table, Grid) else _marked_table(table)
    return "\n".join(parts)


def _marked_table(table: Table) -> Iterator[str]:
    yield _marked_grid(comparison_grid(table, with_shared=True))
    remarks = collect_remarks(table, reasons)
    if remarks:
        lines = (f"- {_marked(of)}: {_marked(remark)}" for remark, of in remarks.items())
        yield "\n".join(lines) + "\n"
    cells = cell_grid(table)
    if cells:
        yield _marked_grid(cells)


def _marked_grid(grid: Grid) -> str:
    rules = ["---" if k < grid.words else "---:" for k in range(len(grid.headings))]
    lines = [grid.headings, rules, *grid.rows]
    return "\n".join("| " + " | ".join(map(_marked, line)) + " |" for line in lines) + "\n"


def _marked(text: str) -> str:
    """Plain text as Markdown."""
    return superscript(re.sub(r"([*\[\]])", r"\\\1", text).replace("<", "&lt;"))


# JSON --------------------------------------------------------------------------------------------


def data(papers: Tables) -> list[dict[str, Any]]:
    """All of it as plain data."""
    return [
        {"paper": key, "citation": citation, "tables": list(map(_data, tables))}
        for key, citation, tables in papers
    ]


def _data(table: Table | Grid) -> dict[str, Any]:
    if isinstance(table, Grid):
        rows = [list(row) for row in table.rows]
        return {"title": table.title, "note": table.note, "headings": table.headings, "rows": rows}
    return {
        "title": table.title,
        "note": table.note,
        "rows": [
            {
                "name": line.name,
                "published": _texts(line.published),
                table.found: _texts(line.found),
                "difference": _texts(line.difference),
                "shared": _texts(line.shared),
                "verdict": {op: _verdict(verdict) for op, verdict in line.verdicts.items()},
                "cells": {
                    n: {op: vars(cell) for op, cell in cells.items()}
                    for n, cells in line.cells.items()
                },
                "misprints": [verdict.reason for verdict in line.misprints],
            }
            for line in table.lines
        ],
    }


def _texts(values: Any) -> dict[str, str]:
    return {op: str(value) for op, value in values.items()}


def _verdict(verdict: Verdict) -> dict[str, str]:
    return {"word": verdict.word, "reason": verdict.reason}
