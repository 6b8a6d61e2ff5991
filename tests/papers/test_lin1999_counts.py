"""Lin and Fang 1999: Tables I to VIII.

The printed tables are data, ``published.toml``; tests/test_published.py compares the lines of
Tables I to V with our methods. Type 1 has n revolute joints; of type 2 joint 3 is prismatic.
"""

from typing import Any

import numpy as np

from armdyn.chain import Chain
from armdyn.counting import Kind, count, published
from armdyn.counting.polynomial import Polynomial

Pair = tuple[Polynomial, Polynomial]  # multiplications and additions
LINES = [line for line in published.lines() if line.paper == "lin1999"]


def printed(table: str) -> dict[Any, published.Line]:
    """The lines of a printed table, by type and by formulation or name."""
    found = [line for line in LINES if line.place.startswith(f"Table {table}, ")]
    names = (line.name.removeprefix("Formulation ") for line in found)
    return {(int(line.place[-1]), name): line for line, name in zip(found, names, strict=True)}


def polynomials(table: str) -> dict[Any, Pair]:
    """Its polynomials."""
    return {key: line.printed for key, line in printed(table).items() if line.printed}


VI = {(kind, int(name)): both for (kind, name), both in polynomials("VI").items()}
VII = {kind: both for (kind, _), both in polynomials("VII").items()}
VIII = polynomials("VIII")


def values(pair: Any, n: int) -> list[int]:
    """Multiplications and additions for n joints; a text is parsed."""
    return [int((Polynomial.parse(p) if isinstance(p, str) else p)(n)) for p in pair]


def less(one: Pair, other: Pair) -> tuple[str, str]:
    """One pair of polynomials less another."""
    return str(one[0] - other[0]), str(one[1] - other[1])


def counted(kind: int, method: str, n: int, how: Kind = "literal", part: str = "matrix") -> Any:
    """The operations of a method's stage, by running it."""
    joints = "RRP" + "R" * (n - 3) if kind == 2 else "R" * n
    return count(Chain.random(n, joints), "mass_matrix", method, how, part)


def test_table_2():
    """Tables I to V: the lines add up to Table VI; II to 3M and 3A less for type 2, IV to 4M more.

    I and III do for both types, I with two products of s_1^<2>.
    """
    found = {key: less(line.printed, line.by_the_paper) for key, line in printed("VI").items()}
    apart = {key: both for key, both in found.items() if both != ("0", "0")}
    assert apart == {(1, "4"): ("-4", "0"), (2, "4"): ("-4", "0"), (2, "2"): ("3", "3")}


def test_table_7():
    """Section 4: the third column of J-hat takes 24M 27A: 32M 33A less l, 8M4A, and c-hat, 2A."""
    for M, A in VII.values():
        assert (M(9) - M(8), A(9) - A(8)) == (24 + 8, 27 + 4 + 2)


def other_cells(table: str) -> dict[Any, Any]:
    """The printed cells that are no values of their polynomials, and these values."""
    return {
        (*key, n): (cell, tuple(values(line.printed, n)))
        for key, line in printed(table).items()
        for n, cell in line.cells.items()
        if list(cell) != values(line.printed, n)
    }


def test_cells_of_table_6():
    """Table VI: all cells but one are values of its polynomials; 1016 of our copy is 1026."""
    assert other_cells("VI") == {(1, "5", 11): ((1016, 662), (1026, 662))}
    assert values(VI[2, 5], 11)[0] == 1016


def test_table_8():
    """Table VIII: the sum of VI and VII; all cells but one fit, 194 of our copy is 195."""
    others = {(1, "Kawasaki et al. I", 4): ((194, 174), (195, 174))}
    assert other_cells("VIII") == others
    for kind, k in ((1, 1), (1, 2), (2, 1), (2, 2)):
        assert less(VIII[kind, str(k)], VI[kind, k]) == tuple(map(str, VII[kind]))


def test_our_methods():
    """Ours: our methods beside Tables VI and VII, counted by running them."""
    more = {
        (1, 1): ("0", "0"),
        (1, 2): ("2n-2", "0"),
        (1, 3): ("0", "0"),
        (1, 4): ("-10n+18", "-6n+6"),
        (1, 5): ("2", "0"),
        (2, 1): ("-4", "-4"),
        (2, 2): ("2n-9", "-3"),
        (2, 3): ("1", "0"),
        (2, 4): ("-10n+17", "-6n+5"),
        (2, 5): ("-4", "-6"),
    }
    for n in (5, 6, 8):
        for (kind, k), rest in more.items():
            found = counted(kind, f"lin-fang-{k}", n)
            excess = np.array([found.mul, found.add]) - values(VI[kind, k], n)
            assert list(excess) == values(rest, n), (kind, k)
        for kind in (1, 2):
            found = counted(kind, "lin-fang-1-minimal", n, "folded", "composites")
            doubled = n - 2  # 2 S beta A5 of (52), which Table VII charges as two products
            assert [found.mul + found.double + doubled, found.add] == values(VII[kind], n)


def best(kind: int, n: int) -> int:
    """The formulation of fewest operations, multiplications and additions, by Table VI."""
    return min(range(1, 6), key=lambda k: sum(values(VI[kind, k], n)))


def test_best_formulations():
    """Section 2: 1 is best for n = 5 to 11 (type 2: 9 to 11), 2 for fewer joints; not beyond 11."""
    for kind, fewest, first in ((1, 2, 5), (2, 4, 9)):
        found = [best(kind, n) for n in range(fewest, 13)]
        assert found == [2] * (first - fewest) + [1] * (12 - first) + [4]


def test_2_against_3_and_1_against_5():
    """Section 2: 2 always takes less than 3, and 1 less than 5, by multiplications and in all."""
    for n in range(3, 100):
        for kind in (1, 2):
            one, two, three, _, five = (values(VI[kind, k], n) for k in range(1, 6))
            assert two[0] < three[0] and sum(two) < sum(three)
            assert one[0] < five[0] and sum(one) < sum(five)


def test_differences_of_formulations():
    """Section 2: 3 takes n(n-1)M more than 2, of type 2 n(n-3)+5; 5 about 4n A more than 1."""
    assert less(VI[1, 3], VI[1, 2]) == ("n^2-n", "0")
    assert less(VI[2, 3], VI[2, 2]) == ("n^2-3n+5", "-1")
    assert less(VI[1, 5], VI[1, 1]) == ("4", "4n-2")
    assert less(VI[2, 5], VI[2, 1]) == ("4", "4n-7")


def test_saved_by_a_translational_joint():
    """Section 2: of type 2 Formulation 2 takes (13n-44)M (11n-36)A less, Formulation 1 10M 4A."""
    assert less(VI[1, 2], VI[2, 2]) == ("13n-44", "11n-36")
    assert less(VI[1, 1], VI[2, 1]) == ("10", "4")


def test_formulation_4():
    """Section 2: 4 takes more than 1 and 5 for n <= 11; by M + A it holds to n = 10."""
    for n in range(3, 12):
        for kind in (1, 2):
            one, four, five = (sum(values(VI[kind, k], n)) for k in (1, 4, 5))
            assert four > one and (four > five) == (n <= 10)
    assert values(VI[1, 4], 11)[0] < values(VI[1, 1], 11)[0]  # by multiplications alone


def test_against_kawasaki():
    """Section 4: 1 takes less than Kawasaki et al.; 2 does for n < 8, by multiplications."""
    for n in range(3, 50):
        theirs = [values(VIII[1, f"Kawasaki et al. {k}"], n) for k in ("I", "II")]
        one, two = values(VIII[1, "1"], n), values(VIII[1, "2"], n)
        assert sum(one) < min(map(sum, theirs))
        assert (two[0] < min(mul for mul, _ in theirs)) == (n < 8)
    assert sum(values(VIII[1, "2"], 7)) == sum(values(VIII[1, "Kawasaki et al. II"], 7)) == 1014
