"""Checks of what [kang] claims of its counts."""

from __future__ import annotations

from armdyn.algorithms import catalogue
from armdyn.counting.polynomial import Polynomial
from armdyn.papers import kang
from armdyn.papers.checks.counts import NONE, misprinted_cell
from armdyn.papers.claims import Part, Table, add_up, revolute
from armdyn.papers.evidence import Evidence, claim


def cell_1715() -> Evidence:
    """The total of additions for n = 6."""
    return misprinted_cell(next(c for c in kang.claims() if c.name == "Steps 1 to 7"), 6, 1)


def sum_of_steps() -> Evidence:
    """The printed total against the printed steps."""
    row = kang.sum_of_steps()
    wrong = {op: row.difference[op] for op in "MA" if row.difference[op] != NONE}
    found = ", ".join(f"{row.found[op]} {op}" for op in "MA")
    return claim(not wrong, f"the printed steps add up to {found}")


def printed_totals() -> Evidence:
    """Claim: 3362 (abstract) and 3363 (conclusion) operations for n = 6."""
    own = [int(kang._printed_sum(k)(6)) for k in (0, 1)]
    same = set(kang.TOTAL_IN_TEXT.values()) == {sum(kang.CELL)} == {sum(own)}
    return claim(same, f"its cells add up to {sum(kang.CELL)}, its steps to {sum(own)}")


def saving() -> Evidence:
    """Claim: 44 % less than the 5995 operations of the previous algorithm."""
    before = kang.QUOTED["previous algorithm, after Hernandez 1989"]
    printed, steps = (
        100 * (1 - ops / before)
        for ops in (sum(kang.CELL), sum(int(kang._printed_sum(k)(6)) for k in (0, 1)))
    )
    return claim(
        round(printed) == round(steps) == 44,
        f"{printed:.1f} % by the printed total, {steps:.1f} % by the printed steps",
    )


def cubic_model() -> Evidence:
    """Claim: the modified algorithm is of order n^3, the current one of order n^4."""
    orders = {}
    for method in ("kic-augmented", "kic"):
        parts = (Part(method, quantity="christoffel"),)
        values = {n: sum(add_up(parts, revolute, n).values()) for n in range(3, 10)}
        orders[method] = len(Polynomial.through(values).coefficients) - 1
    return claim(
        orders == {"kic-augmented": 3, "kic": 4}, f"degrees {', '.join(map(str, orders.values()))}"
    )


def elements() -> Evidence:
    """Claim: the numbers of independent elements."""
    table: Table = kang.elements()
    wrong = [row.name for row in table.lines if row.verdicts[""].word != "exact"]
    return claim(not wrong, "counted for n = 6 to 11")


def comparable_to_li() -> Evidence:
    """Claim: comparable to Li's 2528 operations, whose algorithm the paper does not describe."""
    known = [method.name for method in catalogue.methods("christoffel") if method.paper == "li1989"]
    more = sum(kang.CELL) / kang.QUOTED["Li 1989"] - 1
    text = f"as quoted 2528 against {sum(kang.CELL)}, {more:.0%} more"
    return claim(more < 0.1, text) if known else Evidence("not described", text)
