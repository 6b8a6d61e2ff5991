"""Writes docs/literature.md, published counts beside ours: ``python docs/make_literature.py``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from armdyn.algorithms import catalogue
from armdyn.chain import Chain
from armdyn.comparison import printed as tables
from armdyn.counting import Count, Kind, count, published
from armdyn.loaders import load

PAGE = Path(__file__).parent / "literature.md"
N = 6
MORE_SINES = "newton-euler-angles"  # which are not counted among operations
GENERIC, SLIDE, PUMA, STANFORD = "generic 6R", "generic RRPRRR", "Puma 560", "Stanford"

OPENING = """\
# The literature, count beside count

<!-- Made by docs/make_literature.py: change that. -->

Operation counts that were published for arms of six joints, beside ours *by the same kind of
count*. A count says little without its kind: one and the same formulation takes 714 operations line
by line, and fewer once equal terms are shared.

- **lines**: line by line on a generic arm; entries of R_i, sines and cosines on hand
  (`kind="literal"`).
- **lines, bodies folded**: the same, but the composite bodies from minimal parameters with all
  constants folded, and a doubling as a multiplication: how [lin1999] counts.
- **program**: all operations of a program for that very arm (`kind="program"`), sines and cosines
  apart.

M + A are multiplications and additions; a third number of ours is doublings, tallied apart. *Ours*
is what armdyn has, whoever found it: the exact [method](methods.md) with the fewest operations by
that kind of count.

*Known from* says how a figure came here: **its paper** (one of the five on hand), **quoted** (by
one of the five: the original was not seen), **abstract** (of the original, looked up), **its text**
(an excerpt of the original, looked up), **commonly quoted** (in textbooks; the original was not
seen).
"""

CLOSING = """
## What is claimed

Fewest operations of all figures on this page, by the kind of count of the row:

{claims}

No more is claimed. {others}

With equal terms shared, which nobody else on this page counts, a generic arm of six revolute joints
takes:

{shared}

## What is not here

- Khalil and Kleinfinger's own table of 1987 for inverse dynamics (a general 6R arm, with customised
  symbols), the count of the full explicit model in Table 1 of Armstrong, Khatib and Burdick, and
  what symbolic generators print for the Puma: they could not be looked up. So nothing is claimed
  for inverse dynamics, nor for the Puma's Christoffel symbols, where EMDEG's figure is that of a
  first output which its authors went on to reduce.
- For the Stanford arm itself no published count could be looked up; ours stand alone.
- Echeandia and Wensing (2021) print times, not operations: 10 to 20 us for the Coriolis matrix and
  40 to 120 us for Christoffel symbols, on systems of 20 degrees of freedom (abstract).
  [Performance](performance.md) has our times.
"""


class Figure(NamedTuple):
    """A published count, and how to count ours by the same kind."""

    quantity: str
    arm: str
    who: str
    published: tuple[int, int] | int | None  # M and A, or both together
    known: str
    kind: str
    ours: Callable[[], tuple[str, Count]]


# Ours --------------------------------------------------------------------------------------------


@cache
def chain(arm: str) -> Chain:
    """The arm of a row."""
    shipped = {PUMA: "puma560", STANFORD: "stanford"}
    if arm in shipped:
        return load(shipped[arm]).chain
    return Chain.random(N, "RRPRRR" if arm == SLIDE else "R" * N)


@cache
def best(quantity: str, arm: str, kind: Kind) -> tuple[str, Count]:
    """Our exact method with the fewest operations by a kind of count."""
    able = [
        method.name
        for method in catalogue.methods(quantity)
        if method.exact and method.name != MORE_SINES
        if not method.refuses(chain(arm).on(float))
    ]
    counts = {name: count(chain(arm), quantity, name, kind) for name in able}
    name = min(counts, key=lambda name: counts[name].cost)
    return name, counts[name]


@cache
def as_lin_fang_count(kind: int) -> tuple[str, Count]:
    """The better formulation by [lin1999]'s own mixture of counts."""
    table = table_of("lin1999", f"Table VIII, type {kind}")
    counts = {line.method: tables.counted(table, line, N) for line in table.lines}
    found = {method: Count(*pair) for method, pair in counts.items() if pair}
    method = min(found, key=lambda method: found[method].cost)
    return method, found[method]


@cache
def matrix_and_symbols() -> tuple[str, Count]:
    """M and Christoffel symbols together by lin1991: what both need is counted once."""

    def lines(quantity: str, stage: str | None = None) -> Count:
        return count(chain(GENERIC), quantity, "lin1991", "literal", stage)

    more = lines("mass_matrix", "composites") - lines("christoffel", "composites")
    return "lin1991", lines("christoffel") + lines("mass_matrix", "H") + more


@cache
def together(arm: str, *quantities: str) -> tuple[str, Count]:
    """Several quantities in one program."""
    return "the cheapest of each", count(chain(arm), quantities, kind="program")


# Theirs ------------------------------------------------------------------------------------------


def table_of(paper: str, place: str) -> published.Table:
    """A printed table."""
    (table,) = [table for table in published.tables(paper) if table.place == place]
    return table


def cell(paper: str, place: str, name: str) -> tuple[int, int]:
    """A printed line for six joints; where the paper prints its parts, their sum."""
    (line,) = [line for line in table_of(paper, place).lines if line.name == name]
    assert line.by_the_paper is not None
    mul, add = (int(polynomial(N)) for polynomial in line.by_the_paper)
    return mul, add


def figures() -> list[Figure]:
    """All rows, quantity by quantity."""
    M, ID, b = "M", "inverse dynamics", "bias"
    lines = partial(Figure, kind="lines")
    generic_M = partial(best, "mass_matrix", GENERIC, "literal")
    generic_b = partial(best, "bias", GENERIC, "literal")
    generic_I = partial(best, "inverse_dynamics", GENERIC, "literal")
    first, second = partial(cell, "lin1991", "Table I"), partial(cell, "lin1991", "Table II")
    safeea, kang = partial(cell, "safeea2018", "Table I"), partial(cell, "kang", "Section 4.2")
    eight = {k: table_of("lin1999", f"Table VIII, type {k}") for k in (1, 2)}
    quoted = "quoted, lin1991 Table {}"
    rows = [
        lines(
            M,
            GENERIC,
            "Walker and Orin 1982",
            first("Walker and Orin"),
            quoted.format("I"),
            ours=generic_M,
        ),
        lines(M, GENERIC, "Renaud 1984", first("Renaud"), quoted.format("I"), ours=generic_M),
        lines(
            M,
            GENERIC,
            "Fijany and Bejczy 1989",
            first("Fijany and Bejczy"),
            quoted.format("I"),
            ours=generic_M,
        ),
        lines(
            M,
            GENERIC,
            "Lin 1988",
            first("Lin, reference 13"),
            quoted.format("I"),
            ours=generic_M,
        ),
        lines(M, GENERIC, "Lin 1991", first("Present"), "its paper", ours=generic_M),
        lines(M, GENERIC, "Kang, steps 1 to 4", kang("Steps 1 to 4"), "its paper", ours=generic_M),
        lines(
            M,
            GENERIC,
            "CRBA, Featherstone",
            safeea("CRBA"),
            "quoted, safeea2018 Table I",
            ours=generic_M,
        ),
        lines(
            M,
            GENERIC,
            "GDAHJ 2018, kinematics apart",
            safeea("GDAHJ"),
            "its paper",
            ours=generic_M,
        ),
        *(
            Figure(
                M,
                GENERIC,
                f"{name} (1996)" if "Kawasaki" in name else f"Lin and Fang 1999, {name}",
                cell("lin1999", eight[1].place, name),
                "quoted, lin1999 Table VIII" if "Kawasaki" in name else "its paper",
                "lines, bodies folded",
                partial(as_lin_fang_count, 1),
            )
            for name in (line.name for line in eight[1].lines)
        ),
        *(
            Figure(
                M,
                SLIDE,
                f"Lin and Fang 1999, {line.name}",
                cell("lin1999", eight[2].place, line.name),
                "its paper",
                "lines, bodies folded",
                partial(as_lin_fang_count, 2),
            )
            for line in eight[2].lines
        ),
        Figure(
            M,
            PUMA,
            "",
            None,
            "none looked up",
            "program",
            partial(best, "mass_matrix", PUMA, "program"),
        ),
        Figure(
            M,
            STANFORD,
            "",
            None,
            "none looked up",
            "program",
            partial(best, "mass_matrix", STANFORD, "program"),
        ),
        Figure(
            "M and gravity",
            PUMA,
            "Izaguirre and Paul 1985, by the symmetries of the arm",
            (65, 41),
            "abstract",
            "program",
            partial(together, PUMA, "mass_matrix", "gravity"),
        ),
        lines(
            b,
            GENERIC,
            "Khalil and Kleinfinger 1987",
            second("Khalil and Kleinfinger"),
            quoted.format("II"),
            ours=generic_b,
        ),
        lines(
            b,
            GENERIC,
            "Balafoutis et al. 1988",
            second("Balafoutis et al."),
            quoted.format("II"),
            ours=generic_b,
        ),
        lines(b, GENERIC, "Lin 1991, M on hand", second("Present"), "its paper", ours=generic_b),
        Figure(
            b, PUMA, "", None, "none looked up", "program", partial(best, "bias", PUMA, "program")
        ),
        Figure(
            b,
            STANFORD,
            "",
            None,
            "none looked up",
            "program",
            partial(best, "bias", STANFORD, "program"),
        ),
        lines(
            ID,
            GENERIC,
            "Uicker and Kahn, 4 x 4 Lagrangian",
            (66271, 51548),
            "commonly quoted",
            ours=generic_I,
        ),
        lines(
            ID,
            GENERIC,
            "Hollerbach 1980, 3 x 3 Lagrangian",
            (2195, 1719),
            "commonly quoted",
            ours=generic_I,
        ),
        lines(
            ID, GENERIC, "Luh, Walker and Paul 1980", (852, 738), "commonly quoted", ours=generic_I
        ),
        lines(
            ID,
            GENERIC,
            "RNEA, Featherstone",
            safeea("RNEA"),
            "quoted, safeea2018 Table I",
            ours=generic_I,
        ),
        Figure(
            ID,
            PUMA,
            "Armstrong, Khatib and Burdick 1986, terms below 1 % dropped",
            305,
            "abstract",
            "program",
            partial(best, "inverse_dynamics", PUMA, "program"),
        ),
        Figure(
            ID,
            STANFORD,
            "",
            None,
            "none looked up",
            "program",
            partial(best, "inverse_dynamics", STANFORD, "program"),
        ),
        Figure(
            "M and Christoffel symbols",
            GENERIC,
            "Hernandez 1989",
            5995,
            "quoted, kang",
            "lines",
            matrix_and_symbols,
        ),
        Figure(
            "M and Christoffel symbols",
            GENERIC,
            "Kang, [I*] and [P*], the sum of its seven steps",
            kang("Steps 1 to 7"),
            "its paper",
            "lines",
            matrix_and_symbols,
        ),
        Figure(
            "M and Christoffel symbols",
            GENERIC,
            "Li 1989",
            2528,
            "quoted, kang",
            "lines",
            matrix_and_symbols,
        ),
        Figure(
            "M and Christoffel symbols",
            GENERIC,
            "Vukobratovic et al. 1985",
            safeea("Symbolic-numeric"),
            "quoted, safeea2018 Table I",
            "lines",
            matrix_and_symbols,
        ),
        Figure(
            "M and Christoffel symbols",
            PUMA,
            "EMDEG, as Armstrong et al. 1986 had it first",
            (15000, 3500),
            "its text",
            "program",
            partial(together, PUMA, "mass_matrix", "christoffel"),
        ),
        Figure(
            "M and Christoffel symbols",
            STANFORD,
            "",
            None,
            "none looked up",
            "program",
            partial(together, STANFORD, "mass_matrix", "christoffel"),
        ),
    ]
    return rows


# The page ----------------------------------------------------------------------------------------

HEADINGS = (
    "arm",
    "published by",
    "M + A",
    "together",
    "known from",
    "kind",
    "ours",
    "together",
    "method",
    "ours takes",
)


def total(published: tuple[int, int] | int | None) -> int | None:
    """Multiplications and additions together."""
    return sum(published) if isinstance(published, tuple) else published


def row(figure: Figure) -> list[str]:
    """A figure under HEADINGS."""
    method, ours = figure.ours()
    printed, published = total(figure.published), figure.published
    numbers = [ours.mul, ours.add, *([ours.double] if ours.double else [])]
    return [
        figure.arm,
        figure.who,
        " + ".join(map(str, published)) if isinstance(published, tuple) else "",
        "" if printed is None else str(printed),
        figure.known,
        figure.kind,
        " + ".join(map(str, numbers)),
        str(ours.cost),
        method,
        "" if printed is None else "fewer" if ours.cost < printed else "more",
    ]


def markdown() -> str:
    """The page."""
    rows = figures()
    parts = [OPENING]
    for quantity in dict.fromkeys(figure.quantity for figure in rows):
        lines = [HEADINGS, ["---"] * len(HEADINGS)]
        lines += [row(figure) for figure in rows if figure.quantity == quantity]
        table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
        parts.append(f"\n## {quantity[0].upper()}{quantity[1:]}\n\n{table}")
    fewest, not_fewest = claims(rows)
    shared = "\n".join(
        f"- {found.cost} operations for {name} (`{method}`)"
        for name, quantity in SHARED.items()
        for method, found in [best(quantity, GENERIC, "shared")]
    )
    parts.append(
        CLOSING.format(
            claims="\n".join(f"- {text}" for text in fewest), others=not_fewest, shared=shared
        )
    )
    return "".join(parts)


SHARED = {
    "M": "mass_matrix",
    "the bias": "bias",
    "inverse dynamics": "inverse_dynamics",
    "Christoffel symbols": "christoffel",
}
NOT_CLAIMED = (  # where figures are missing here
    ("inverse dynamics", GENERIC),
    ("inverse dynamics", PUMA),
    ("M and Christoffel symbols", PUMA),
)


def claims(rows: Sequence[Figure]) -> tuple[list[str], str]:
    """Where ours is the fewest of all that is published here, and where it is not."""
    fewest, others = [], []
    keys = dict.fromkeys((figure.quantity, figure.arm, figure.kind) for figure in rows)
    for key in keys:
        several = [figure for figure in rows if (figure[0], figure[1], figure.kind) == key]
        printed = [number for number in (total(f.published) for f in several) if number is not None]
        if not printed or key[:2] in NOT_CLAIMED:
            continue
        ours = several[0].ours()[1].cost
        text = f"{key[0]}, {key[1]}, by {key[2]} ({ours}, next {min(printed)})"
        (fewest if ours < min(printed) else others).append(text)
    said = f"Not the fewest: {'; '.join(others)}." if others else ""
    return fewest, said


if __name__ == "__main__":
    PAGE.write_text(markdown(), encoding="utf-8")
