"""Checks of printed operation counts: each line of a table against our count, and claims of them.

A printed count is right where ours by the same rules is the same, or less for a reason that the
paper's own lines show; refuted where its own formulas take more; presumed where nothing printed
shows the reason; not described where the paper does not say what it counts.
"""

from __future__ import annotations

from armdyn.counting.polynomial import Polynomial
from armdyn.papers import kang, lin1991, lin1999, safeea2018
from armdyn.papers.claims import Claim, Line, judge
from armdyn.papers.evidence import Evidence, Word

NONE = Polynomial()
TABLES: dict[str, dict[str, tuple[Claim, ...]]] = {
    "lin1991": {
        "Table I": lin1991.TABLE_I,
        "Text": lin1991.TEXT,
        "Table II": lin1991.TABLE_II,
    },
    "lin1999": {
        **{f"Table VI, type {kind}": lines for kind, lines in lin1999.TABLE_VI.items()},
        "Table VII": lin1999.TABLE_VII,
        **{f"Table VIII, type {kind}": lines for kind, lines in lin1999.TABLE_VIII.items()},
    },
    "kang": {"Section 4.2": tuple(kang.claims())},
    "safeea2018": {"Table I": safeea2018.TABLE_I},
}


def line(key: str, named: str) -> Evidence:
    """A line of a table, named "Table I: Renaud"."""
    return judged(printed_line(key, named))


def printed_line(key: str, named: str) -> Claim:
    """The line of that name."""
    table, _, name = named.partition(": ")
    (found,) = [claim for claim in TABLES[key][table] if claim.name == name]
    return found


def judged(printed: Claim) -> Evidence:
    """The verdict on a printed count."""
    row = judge(printed)
    word = word_of({verdict.word for verdict in row.verdicts.values()}, row)
    if word == "unclear":
        counted = " / ".join(str(row.found[op]) for op in ("M", "A", "D") if op in row.found)
        return Evidence(word, f"{stated(printed)}, but it is {counted}")
    return Evidence(word, stated(printed))


def stated(printed: Claim) -> str:
    """What is printed, and what our list says that we count: M / A, doublings as there."""
    published = [Polynomial.parse(text) for text in printed.published or ()]
    text = f"printed {' / '.join(map(str, published))}"
    if printed.parts:
        differences = map(Polynomial.parse, printed.difference)
        ours = [p + more for p, more in zip(published, differences, strict=True)]
        return f"{text}; counted {'the same' if ours == published else ' / '.join(map(str, ours))}"
    if not printed.cells:
        return text
    cells = [
        number == published[k](n)
        for n, pair in printed.cells.items()
        for k, number in enumerate(pair)
    ]
    return f"{text}; {sum(cells)} of {len(cells)} cells are what its formulas give"


def word_of(words: set[str], row: Line) -> Word:
    """One word for the verdicts on multiplications and additions."""
    if "unexplained" in words:
        return "unclear"
    if "not described" in words:
        return "not described"
    if "presumed" in words:
        return "presumed"
    takes_more = any(
        difference(n) > 0
        for difference in row.difference.values()
        if isinstance(difference, Polynomial)
        for n in range(4, 12)
    )
    return "refuted" if takes_more else "right"


def misprinted_cell(printed: Claim, n: int, k: int) -> Evidence:
    """A printed cell against its own polynomial; k = 0 for multiplications, 1 for additions."""
    cell = printed.cells[n][k]
    value = int(Polynomial.parse((printed.published or ("", ""))[k])(n))
    return Evidence(
        "right" if cell == value else "misprinted", f"printed {cell}; its own formula gives {value}"
    )


def total(lines: tuple[Claim, ...], name: str) -> Polynomial:
    """Multiplications and additions together of a printed line."""
    (found,) = [line for line in lines if line.name == name]
    return sum(map(Polynomial.parse, found.published or ()), NONE)


def part(lines: tuple[Claim, ...], name: str, k: int) -> Polynomial:
    """One of the two printed polynomials of a line."""
    (found,) = [line for line in lines if line.name == name]
    return Polynomial.parse((found.published or ("", ""))[k])
