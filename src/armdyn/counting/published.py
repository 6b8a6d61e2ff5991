"""Printed operation counts: the tables of ``published.toml``.

A printed number follows its paper's rule of counting, which its table names. Where a paper prints
its algorithm line by line, the sum of those lines is the paper's count; the printed polynomial may
differ from it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal, NamedTuple

from armdyn.counting.polynomial import Polynomial

PAPERS = ("lin1991", "lin1999", "kang", "safeea2018", "zomaya1988")  # as in docs/references.bib
Quantity = str | tuple[str, ...]
Pair = tuple[Polynomial, Polynomial]  # multiplications and additions


class Part(NamedTuple):
    """Something that armdyn counts: a method, or a stage of it."""

    quantity: Quantity
    method: str
    stage: str | None
    kind: Literal["literal", "folded"]


class Step(NamedTuple):
    """A line of a paper's algorithm: its M and A, how often it occurs, and our M and A."""

    text: str
    paper: tuple[int, int]
    times: Polynomial
    ours: tuple[int, int]


@dataclass(frozen=True)
class Line:
    """A line of a printed table.

    Attributes:
        paper, place, name: where it stands.
        quantity, method, stage: our names for it; no method where armdyn has none.
        joints: the kinds of the joints, the last one repeated: "RRPR".
        printed: the printed polynomials, None for a line of ours.
        cells: printed M and A, by the number of joints.
        steps: the paper's algorithm line by line, where it prints what each line takes.
        by_the_paper: M and A by the paper's rule: its lines added up, else what it prints.
        parts: our methods or stages, counted beside it.
        note: the known reason of a difference.
    """

    paper: str
    place: str
    name: str
    quantity: Quantity
    method: str
    stage: str | None
    joints: str
    printed: Pair | None
    cells: Mapping[int, tuple[int, int]]
    steps: tuple[Step, ...]
    by_the_paper: Pair | None
    parts: tuple[Part, ...]
    note: str

    def kinds(self, n: int) -> str:
        """The kinds of n joints."""
        return (self.joints + self.joints[-1] * n)[:n]


@dataclass(frozen=True)
class Table:
    """A printed table; ``kind`` names our count beside it, ``charge`` what the paper adds to it."""

    place: str
    subject: str
    rule: str
    kind: str
    doubling: str
    charge: Pair
    lines: tuple[Line, ...]


def total(steps: Sequence[Step], whose: str) -> Pair:
    """M and A of all lines, those of the "paper" or "ours"."""
    return add_up((s.times * getattr(s, whose)[0], s.times * getattr(s, whose)[1]) for s in steps)


def add_up(pairs: Iterable[Pair]) -> Pair:
    """The sum of some M and A."""
    mul, add = zip(*pairs, strict=True)
    return sum(mul, Polynomial()), sum(add, Polynomial())


@cache
def data() -> dict[str, Any]:
    """The file."""
    text = (resources.files("armdyn.counting") / "published.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def tables(paper: str) -> tuple[Table, ...]:
    """The operation-count tables of a paper."""
    return tuple(_table(paper, given) for given in data()[paper].get("table", ()))


@cache
def lines() -> tuple[Line, ...]:
    """All lines of all tables."""
    return tuple(line for paper in PAPERS for table in tables(paper) for line in table.lines)


def find(quantity: Quantity, method: str, stage: str | None, kinds: str) -> Line | None:
    """The first printed line of a method, or of its stage, for joints of these kinds."""
    n = len(kinds)
    for line in lines():
        same = (line.quantity, line.method, line.stage) == (quantity, method, stage)
        if (
            method
            and same
            and line.printed
            and line.kinds(n) == kinds
            and n >= min(line.cells, default=2)
        ):
            return line
    return None


def _table(paper: str, given: Mapping[str, Any]) -> Table:
    kind, doubling = given.get("kind", "literal"), given.get("doubling", "")
    return Table(
        given["place"],
        given["subject"],
        given["rule"],
        kind,
        doubling,
        _pair(given.get("charge", ("0", "0"))),
        tuple(_line(paper, given, line) for line in given["lines"]),
    )


def _line(paper: str, table: Mapping[str, Any], line: Mapping[str, Any]) -> Line:
    given = {"quantity": "mass_matrix", "joints": "R", "kind": "literal", **table, **line}
    method, stage, joints = given.get("method", ""), given.get("stage"), given["joints"]
    parts = given.get("parts", [{"kind": given["kind"]}] if method else [])
    cells = zip(*given.get("cells", ((), ())), strict=True)
    steps = _steps(paper, method, stage, joints)
    printed = by_the_paper = _pair(line["printed"]) if "printed" in line else None
    if steps:
        by_the_paper = total(steps, "paper")
    elif "adds" in line:  # the lines above it
        by_the_paper = add_up(_pair(each["printed"]) for each in table["lines"][: line["adds"]])
    return Line(
        paper,
        table["place"],
        line["name"],
        _quantity(given),
        method,
        stage,
        joints,
        printed,
        dict(zip(given.get("sizes", ()), cells, strict=False)),
        steps,
        by_the_paper,
        tuple(
            Part(_quantity({**given, **part}), part.get("method", method), each, part["kind"])
            for part in parts
            for each in part.get("stages", [part.get("stage", stage)])
        ),
        given.get("note", ""),
    )


def _steps(paper: str, method: str, stage: str | None, joints: str) -> tuple[Step, ...]:
    for listed in data()[paper].get("list", ()):
        if (listed["method"], listed.get("stage")) == (method, stage) and joints in listed[
            "joints"
        ]:
            k = listed["joints"].index(joints)
            return tuple(
                Step(text, (mul, add), Polynomial.parse(times[k]), tuple(ours) or (mul, add))
                for text, mul, add, times, *ours in listed["lines"]
            )
    return ()


def _quantity(given: Mapping[str, Any]) -> Quantity:
    quantity = given["quantity"]
    return quantity if isinstance(quantity, str) else tuple(quantity)


def _pair(texts: Sequence[str]) -> Pair:
    return Polynomial.parse(texts[0]), Polynomial.parse(texts[1])
