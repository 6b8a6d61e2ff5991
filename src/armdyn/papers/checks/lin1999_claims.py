"""Checks of what [lin1999] claims of its counts, and of its misprinted cells."""

from __future__ import annotations

from armdyn.counting.scalars import Counted
from armdyn.papers import lin1991, lin1999
from armdyn.papers.checks.counts import misprinted_cell, part, total
from armdyn.papers.checks.lin1991_claims import operations
from armdyn.papers.evidence import Evidence, claim
from armdyn.spatial import Rotation, Vector


def totals(kind: int, n: int) -> dict[int, int]:
    """Operations of the five formulations by Table VI."""
    lines = lin1999.TABLE_VI[kind]
    return {k: int(total(lines, f"Formulation {k}")(n)) for k in range(1, 6)}


def best_formulation() -> Evidence:
    """Claim: formulation 1 for 5 <= n <= 11 (type 2: 9 to 11), formulation 2 for fewer joints."""
    kinds = {1: (range(2, 12), 5), 2: (range(4, 12), 9)}  # sizes, and from where on 1 is best
    right = all(
        min(totals(kind, n), key=totals(kind, n).__getitem__) == (1 if n >= first else 2)
        for kind, (sizes, first) in kinds.items()
        for n in sizes
    )
    return claim(right, "by Table VI for n = 2 to 11 and, type 2, n = 4 to 11")


def least_efficient() -> Evidence:
    """Claim: formulation 4 is the worst of 1, 4 and 5 up to n = 11."""
    sizes = [n for n in range(4, 12) if totals(1, n)[4] < max(totals(1, n)[1], totals(1, n)[5])]
    at = totals(1, 11)
    return claim(not sizes, f"at n = 11 it takes {at[4]}, formulation 5 {at[5]}")


def more_than_2() -> Evidence:
    """Claim: formulation 3 takes n(n-1) and, type 2, n(n-3) M more than formulation 2."""
    more = [
        part(lin1999.TABLE_VI[kind], "Formulation 3", 0)
        - part(lin1999.TABLE_VI[kind], "Formulation 2", 0)
        for kind in (1, 2)
    ]
    return claim(
        list(map(str, more)) == ["n^2-n", "n^2-3n"], f"by Table VI {more[0]} and {more[1]}"
    )


def more_than_1() -> Evidence:
    """Claim: formulation 5 takes 4n A more than formulation 1."""
    more = [
        part(lin1999.TABLE_VI[kind], "Formulation 5", 1)
        - part(lin1999.TABLE_VI[kind], "Formulation 1", 1)
        for kind in (1, 2)
    ]
    return claim(list(map(str, more)) == ["4n", "4n"], f"by Table VI {more[0]} and {more[1]}")


def saved_by_type_2() -> Evidence:
    """Claim: on type 2 formulation 2 takes (13n-44)M (11n-36)A less, formulation 1 10M 4A less."""
    less = [
        str(part(lin1999.TABLE_VI[1], name, k) - part(lin1999.TABLE_VI[2], name, k))
        for name in ("Formulation 2", "Formulation 1")
        for k in (0, 1)
    ]
    return claim(less == ["13n-44", "11n-36", "10", "4"], f"by Table VI {', '.join(less)}")


def third_column() -> Evidence:
    """Claim: 24M and 27A a body for the third column of J-hat: the lines of Table VII."""
    lines = {"X": (3, 6), "Y": (18, 14), "V": (3, 4), "J": (0, 3)}
    mul, add = (sum(cost[k] for cost in lines.values()) for k in (0, 1))
    return claim((mul, add) == (24, 27), f"its lines add up to {mul}M {add}A")


def below_kawasaki() -> Evidence:
    """Claim: formulation 1 takes less than both algorithms of Kawasaki et al."""
    lines = lin1999.TABLE_VIII[1]
    first = total(lines, "Formulation 1")
    theirs = [total(lines, f"Kawasaki et al. {number}") for number in ("I", "II")]
    wins = [n for n in range(2, 50) if first(n) < min(p(n) for p in theirs)]
    return claim(wins == list(range(3, 50)), f"by Table VIII from n = {wins[0]} on")


def below_kawasaki_2() -> Evidence:
    """Claim: formulation 2 takes less than both for n < 8."""
    lines = lin1999.TABLE_VIII[1]
    second, theirs = total(lines, "Formulation 2"), total(lines, "Kawasaki et al. II")
    wins = [n for n in range(3, 20) if second(n) < theirs(n)]
    text = f"by Table VIII for n = 3 to {wins[-1]}; at n = 7 {second(7)} against {theirs(7)}"
    return claim(wins == list(range(3, 8)), text)


def cell_1016() -> Evidence:
    """Table VI, formulation 5, type 1, n = 11."""
    return misprinted_cell(lin1999.TABLE_VI[1][4], 11, 0)


def cell_194() -> Evidence:
    """Table VIII, Kawasaki et al. I, n = 4."""
    return misprinted_cell(lin1999.TABLE_VIII[1][2], 4, 0)


def two_steps() -> Evidence:
    """Claim: with (18) the torque (10) takes 12M 8A instead of 14M 10A."""

    def at_once(x: Counted) -> object:
        f, R = Vector(x, x, x), Rotation(x, x, x, x)
        return R.up(f) + Vector(x, x, x).cross(f)

    def in_two(x: Counted) -> object:
        f, R = Vector(x, x, x), Rotation(x, x, x, x)
        return R.up(f + Vector(0, 0, x).cross(f)) + Vector(x, 0, 0).cross(f)

    once, twice = operations(at_once), operations(in_two)
    return claim((once, twice) == ("14M 10A", "12M 8A"), f"{twice} in place of {once}")


def underestimated() -> Evidence:
    """Claim: the efficiency of these formulations was underestimated: against Table I of 1991."""
    bodies = total(lin1999.TABLE_VII, "Type 1")
    pairs = {3: "Renaud", 4: "Fijany and Bejczy"}
    here = {k: total(lin1999.TABLE_VI[1], f"Formulation {k}") + bodies for k in pairs}
    there = {k: total(lin1991.TABLE_I, name) for k, name in pairs.items()}
    less = all(here[k](n) < there[k](n) for k in pairs for n in range(3, 12))
    text = ", ".join(f"{here[k](6)} against {there[k](6)}" for k in pairs)
    return claim(less, f"Formulations 3 and 4, n = 6, bodies included: {text}")
