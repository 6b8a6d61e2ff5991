"""What a paper claims of a method's cost, what we count, and the verdict on the two.

A ``Claim`` is data: the printed polynomials in n, the printed cells, how to count the same here,
and, where both are known to differ, the difference and its reason. ``judge`` runs the counts. A
difference that is not the stated one is never explained away: the verdict is "unexplained".

All that one column of a table counts is of one kind (see :mod:`armdyn.counting`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from armdyn.chain import Chain
from armdyn.counting import Count, Kind, count
from armdyn.counting.polynomial import Polynomial

Known = Literal["explained", "presumed", "not described"]  # what a known difference may be
Word = Known | Literal["exact", "refuted", "ours", "unexplained"]
Joints = Callable[[int], str]

SIZES = range(6, 12)  # a polynomial of degree 3 is fitted to four of them and confirmed by the rest
FIELDS = {"M": "mul", "A": "add", "D": "double"}  # operations, as fields of Count


def revolute(n: int) -> str:
    """The kinds of n revolute joints."""
    return "R" * n


@dataclass(frozen=True)
class Verdict:
    """What became of a claim, in a word, and why."""

    word: Word
    reason: str = ""

    def __str__(self) -> str:
        word = "not described in the paper" if self.word == "not described" else self.word
        return f"{word}: {self.reason}" if self.reason else word


@dataclass(frozen=True)
class Part:
    """Something to count: a method, or a stage of it; -1 ``times`` what others have in common."""

    method: str
    kind: Kind = "literal"
    stage: str | None = None
    quantity: str | tuple[str, ...] = "mass_matrix"
    times: int = 1


@dataclass(frozen=True)
class Claim:
    """One line of a printed table.

    Attributes:
        name: of the line.
        published: the printed polynomials: multiplications, additions; none for a line of ours.
        cells: the printed numbers, n -> (multiplications, additions).
        parts: what to count and add up; nothing where the paper describes no algorithm.
        joints: the kinds of n joints.
        doubling: what the paper takes a doubling for; None leaves them apart.
        charge: (M, A) that the paper charges on top and our rules leave free; they are added to
            the shared count too.
        shared: what of the same to count with equal terms shared.
        difference: (M, A), counted minus published, that ``why`` accounts for.
        why: the reason; where there is no difference, what the agreement rests on.
        known: what is known of the difference. "explained": the paper's own lines show the reason;
            "presumed": they do not; "not described": the paper does not say what its count is made
            of, and ``why`` names our variant.
    """

    name: str
    published: tuple[str, str] | None
    cells: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    joints: Joints = revolute
    doubling: Literal["M", "A"] | None = None
    charge: tuple[str, str] = ("0", "0")
    shared: tuple[Part, ...] = ()
    difference: tuple[str, str] = ("0", "0")
    why: str = ""
    known: Known = "explained"


@dataclass(frozen=True)
class Cell:
    """A printed number, what its own polynomial gives for it, and what we count (None: nothing)."""

    printed: int
    formula: int
    counted: int | None


@dataclass(frozen=True)
class Line:
    """A claim and its verdict, by operation (M, A, D; "" where it is no operation).

    Attributes:
        name: of the line.
        published, found, difference: what the paper has, what we have, and ours minus theirs.
        verdicts: on each of them.
        shared: the count with equal terms shared.
        cells: by n, then by operation.
        misprints: where a printed cell is not what its own polynomial gives.
    """

    name: str
    published: Mapping[str, Any]
    found: Mapping[str, Any]
    difference: Mapping[str, Any]
    verdicts: Mapping[str, Verdict]
    shared: Mapping[str, Polynomial] = field(default_factory=dict)
    cells: Mapping[int, Mapping[str, Cell]] = field(default_factory=dict)
    misprints: tuple[Verdict, ...] = ()


@dataclass(frozen=True)
class Table:
    """A printed table, line by line beside ours.

    Attributes:
        title: where it stands and what it is about.
        lines: as they are printed, and ours.
        note: how it is counted.
        found: the heading of what we have.
    """

    title: str
    lines: tuple[Line, ...]
    note: str = ""
    found: str = "counted"


@dataclass(frozen=True)
class Grid:
    """Plain numbers under headings; the first ``words`` columns are words."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    words: int = 1


def because(*reasons: tuple[str, str, str]) -> tuple[tuple[str, str], str]:
    """A difference, M and A, and what accounts for it: reasons of (M, A, text) that add up."""
    sums = [sum((Polynomial.parse(r[k]) for r in reasons), Polynomial()) for k in (0, 1)]
    texts = [f"{mul} M, {add} A: {text}" for mul, add, text in reasons]
    return (str(sums[0]), str(sums[1])), "; ".join(texts)


# Counting ----------------------------------------------------------------------------------------


@cache
def count_part(part: Part, joints: Joints, n: int) -> Count:
    """The count of a part, once, on a generic arm of n joints."""
    return count(Chain.random(n, joints(n)), part.quantity, part.method, part.kind, part.stage)


def add_up(parts: Sequence[Part], joints: Joints, n: int) -> dict[str, int]:
    """M, A and D of all parts on a generic arm of n joints."""
    counts = [(part.times, count_part(part, joints, n)) for part in parts]
    return {op: sum(k * getattr(c, name) for k, c in counts) for op, name in FIELDS.items()}


def fit(parts: Sequence[Part], joints: Joints = revolute) -> dict[str, Polynomial]:
    """M, A and D of all parts together, each confirmed on more sizes than it was fitted to."""
    totals = {n: add_up(parts, joints, n) for n in SIZES}
    return {op: Polynomial.through({n: totals[n][op] for n in SIZES}) for op in FIELDS}


def judge(claim: Claim) -> Line:
    """Count what is claimed, and judge."""
    published = dict(zip("MA", map(Polynomial.parse, claim.published or ()), strict=False))
    found, shared = (_with_charge(claim, parts) for parts in (claim.parts, claim.shared))
    charged = _charged(claim, found)
    found = _without_zero_doublings(found)
    difference: dict[str, Any] = {op: charged[op] - published[op] for op in published if found}
    stated = dict(zip("MA", map(Polynomial.parse, claim.difference), strict=True))
    verdicts = {op: _verdict(claim, difference.get(op), stated[op]) for op in "MA"}
    cells = {n: _cells(claim, published, n) for n in claim.cells}
    if published and "D" in found:
        difference["D"] = f"as {claim.doubling}" if claim.doubling else "apart"
    return Line(
        claim.name,
        published,
        found,
        difference,
        verdicts,
        _without_zero_doublings(shared),
        cells,
        tuple(_misprints(cells)),
    )


def _with_charge(claim: Claim, parts: Sequence[Part]) -> dict[str, Polynomial]:
    """M, A and D of all parts, with what the paper charges on top; nothing where nothing is."""
    if not parts:
        return {}
    found = fit(parts, claim.joints)
    for op, charge in zip("MA", claim.charge, strict=True):
        found[op] += Polynomial.parse(charge)
    return found


def _charged(claim: Claim, found: Mapping[str, Any]) -> dict[str, Any]:
    """M and A, with the doublings among those that the paper takes them for."""
    return {op: found[op] + found["D"] if claim.doubling == op else found[op] for op in found}


def _verdict(claim: Claim, difference: Polynomial | None, stated: Polynomial) -> Verdict:
    if claim.published is None:
        return Verdict("ours", claim.why)
    if difference is None:
        return Verdict("not described", claim.why)
    if difference != stated:
        return Verdict("unexplained", f"a difference of {stated} was expected")
    if difference == Polynomial():
        return Verdict("exact", claim.why if claim.difference == ("0", "0") else "")
    return Verdict(claim.known, claim.why)


def _cells(claim: Claim, published: Mapping[str, Polynomial], n: int) -> dict[str, Cell]:
    ours: dict[str, int] = {}
    if claim.parts:
        ours = _charged(claim, add_up(claim.parts, claim.joints, n))
        for op, charge in zip("MA", claim.charge, strict=True):
            ours[op] += int(Polynomial.parse(charge)(n))
    return {
        op: Cell(printed, int(published[op](n)), ours.get(op))
        for op, printed in zip("MA", claim.cells[n], strict=True)
    }


def _misprints(cells: Mapping[int, Mapping[str, Cell]]) -> Iterable[Verdict]:
    for n, by_operation in cells.items():
        for op, cell in by_operation.items():
            if cell.printed != cell.formula:
                reason = f"{cell.printed} {op} printed for n = {n} is {cell.formula} by its formula"
                yield Verdict("refuted", reason)


def _without_zero_doublings(found: Mapping[str, Polynomial]) -> dict[str, Polynomial]:
    return {op: p for op, p in found.items() if op != "D" or p != Polynomial()}
