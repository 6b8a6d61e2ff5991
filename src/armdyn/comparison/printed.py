"""The papers' tables, printed beside counted: one kind of count per column.

"printed" is the paper's polynomial, "its lines" the sum of the lines that it prints, and "literal"
or "folded" our count, see :mod:`armdyn.counting`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from armdyn.algorithms.catalogue import find
from armdyn.chain import Chain
from armdyn.chain.arm import Arm
from armdyn.counting import count, published
from armdyn.counting.polynomial import Polynomial
from armdyn.counting.published import Line, Pair, Part, Table
from armdyn.errors import MethodError, unknown
from armdyn.loaders import load

SIZES = range(6, 12)  # a polynomial of degree 3 is fitted to four of them and confirmed by the rest


@dataclass(frozen=True)
class Grid:
    """Texts under headings; the first ``words`` columns are words."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1
    notes: tuple[str, ...] = ()


def check_paper(key: str) -> str:
    """A paper's key."""
    if key not in published.PAPERS:
        raise MethodError(unknown("paper", key, published.PAPERS))
    return key


def citation(paper: str) -> str:
    """Authors, title and year of a paper."""
    return str(published.data()[check_paper(paper)]["citation"])


def grids(paper: str) -> Iterator[Grid]:
    """The tables of a paper, as they are counted."""
    tables = published.tables(check_paper(paper))
    for table in tables:
        yield totals(table)
        if any(line.cells for line in table.lines):
            yield cells(table)
    for given in published.data()[paper].get("list", ()):
        lines = [line for table in tables for line in table.lines if line.steps]
        yield line_list(given["place"], [x for x in lines if x.method == given["method"]])
    if "torques" in published.data()[paper]:
        yield torques(paper)


# Counting ----------------------------------------------------------------------------------------


def counted(table: Table, line: Line, n: int) -> tuple[int, int] | None:
    """Our M and A of a line for n joints, a doubling as its paper takes it."""
    if not line.parts:
        return None
    found = [_part(part, line.kinds(n)) for part in line.parts]
    mul, add, double = map(sum, zip(*found, strict=True))
    more = {op: int(table.charge[k](n)) for k, op in enumerate("MA")}
    more[table.doubling] = more.get(table.doubling, 0) + double
    return mul + more["M"], add + more["A"]


@cache
def _part(part: Part, kinds: str) -> tuple[int, int, int]:
    chain = Chain.random(len(kinds), kinds)
    found = count(chain, part.quantity, part.method, part.kind, part.stage)
    return found.mul, found.add, found.double


def _at(pair: Pair | None, n: int) -> tuple[int, int] | None:
    return pair and (int(pair[0](n)), int(pair[1](n)))


def fitted(table: Table, line: Line) -> Pair | None:
    """The same as polynomials in n, confirmed on more sizes than they are fitted to."""
    if not line.parts:
        return None
    found = {n: counted(table, line, n) or (0, 0) for n in SIZES}
    mul, add = (Polynomial.through({n: found[n][k] for n in SIZES}) for k in (0, 1))
    return mul, add


# Tables ------------------------------------------------------------------------------------------


def totals(table: Table) -> Grid:
    """A table's polynomials: printed, by the paper's lines, and counted."""
    rows = []
    for line in table.lines:
        ours = fitted(table, line)
        added = None if line.by_the_paper is line.printed else line.by_the_paper
        for k, op in enumerate("MA"):
            texts = ["" if pair is None else str(pair[k]) for pair in (line.printed, added, ours)]
            apart = str(ours[k] - line.printed[k]) if ours and line.printed else ""
            rows.append(("" if k else line.name, op, *texts, apart))
    headings = ("", "", "printed", "its lines", table.kind, "difference")
    used = [c for c in range(len(headings)) if any(row[c] for row in rows)]
    return Grid(
        f"{table.place}. {table.subject}",
        tuple(headings[c] for c in used),
        tuple(tuple(row[c] for c in used) for row in rows),
        2,
        (f"Rule: {table.rule}.", *(f"{x.name}: {x.note}." for x in table.lines if x.note)),
    )


def cells(table: Table) -> Grid:
    """A table's cells: printed, by the printed polynomial if that differs, and counted."""
    rows = []
    sizes = next(line.cells for line in table.lines if line.cells)
    for line in (line for line in table.lines if line.cells and line.printed):
        formula = {n: _at(line.printed, n) for n in sizes}
        ours = {n: counted(table, line, n) for n in sizes}
        found = [("printed", line.cells), ("by its polynomial", formula), (table.kind, ours)]
        for k, (kind, by_n) in enumerate(found):
            pairs = [by_n[n] for n in sizes]
            if k == 0 or (all(pairs) and pairs != list(line.cells.values())):
                texts = (f"{pair[0]}/{pair[1]}" for pair in pairs if pair)
                rows.append(("" if k else line.name, kind, *texts))
    title = f"{table.place}, cells M/A; rows equal to the printed one are left out"
    return Grid(title, ("", "", *(f"n = {n}" for n in sizes)), tuple(rows), 2)


def line_list(place: str, lines: list[Line]) -> Grid:
    """A paper's algorithm line by line, and our M and A where they differ."""
    rows = []
    for steps in zip(*(line.steps for line in lines), strict=True):
        text, (mul, add), _, ours = steps[0]
        differs = map(str, ours) if ours != (mul, add) else ("", "")
        rows.append((text, *(str(step.times) for step in steps), str(mul), str(add), *differs))
    kinds = [f"times, {line.kinds(5)}..." for line in lines]
    return Grid(
        f"{place}, line by line, beside {lines[0].method}",
        ("", *kinds, "printed M", "printed A", "literal M", "literal A"),
        tuple(rows),
        1,
        ("The last two columns are empty where both are equal.",),
    )


def torques(paper: str) -> Grid:
    """The printed torques, and those of the shipped arm with gravity down and up."""
    given = published.data()[paper]["torques"]
    chain, rows = load(given["robot"]).chain, []
    arms = {"gravity down": chain, "gravity up": chain.with_gravity([-g for g in chain.gravity])}
    q = [given["q"]] * chain.n
    for k, w in enumerate(given["w"]):
        for row, method in given["rows"].items():
            rows.append((f"{w:g}", row, "printed", *given[row][k]))
            for which, turned in arms.items():
                found = torques_of(turned.on(float), method, q, [w] * chain.n)
                rows.append(("", "", f"{method}, {which}", *(f"{torque:.4g}" for torque in found)))
    title = f"{given['place']}. {given['subject']}"
    headings = ("w", "row", "", *(f"joint {k + 1}" for k in range(chain.n)))
    return Grid(title, headings, tuple(rows), 3)


def torques_of(arm: Arm, method: str, q: list[float], w: list[float]) -> np.ndarray:
    """M w + b(q, w), rotors included, with a method's velocity and gravity torques."""
    M = np.array(find("mass_matrix", "lagrange").function(arm, q)) + np.diag(arm.rotor_inertia)
    return np.asarray(M @ w + np.array(find("bias", method).function(arm, q, w)))


# Markdown ----------------------------------------------------------------------------------------


def markdown(grid: Grid) -> str:
    """A table as Markdown, under a heading."""
    rules = ["---" if k < grid.words else "---:" for k in range(len(grid.headings))]
    rows = ["| " + " | ".join(row) + " |" for row in (grid.headings, rules, *grid.rows)]
    notes = [f"- {note}" for note in grid.notes]
    text = "\n".join([f"### {grid.title}\n", *notes, *[""] * bool(notes), *rows])
    text = re.sub(r"(?<=n)\^([23])", lambda match: "²³"[int(match[1]) - 2], text)
    return re.sub(r"([*\[\]_])", r"\\\1", text).replace("<", "&lt;") + "\n"
