"""The seven steps of [kang], their totals, and its numbers of independent elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product

from armdyn.counting.polynomial import Polynomial
from armdyn.papers.claims import (
    SIZES,
    Claim,
    Grid,
    Line,
    Part,
    Table,
    Verdict,
    add_up,
    because,
    judge,
    revolute,
)

CITATION = "H.-J. Kang, Computationally efficient KIC-based dynamic modeling of robot manipulators"

# Step: printed M, A; counted minus printed; what ours does otherwise.
STEPS = {
    1: (
        ("51n-87", "39n-66"),
        ("-12n+17", "-12n+18"),
        "ours turns R_k by two plane rotations a joint, 39M27A with O_k and C_k",
    ),
    2: (
        ("84n-84", "70n-70"),
        ("-44n+42", "-28n+26"),
        "ours takes (29) as one dyad, of the vector between the two centres of mass, and turns a "
        "tensor as a sum of dyads",
    ),
    3: (
        ("3n^2-3n", "2n^2+4n"),
        ("-2n+2", "n^2-9n+2"),
        "ours charges all differences C*_k - O_i, for which the printed additions suffice up to "
        "n = 8, and uses that the first axis is [0, 0, 1]",
    ),
    4: (
        ("3.5n^2+12.5n", "2.5n^2+8.5n"),
        *because(
            ("-0.5n^2+2.5n", "0", "9M6A a body and 7M5A an element, but M_k once a body"),
            ("-4n-10", "-3n-6", "the first axis is [0, 0, 1]"),
            ("-n-2", "-n-2", "the second axis has a zero"),
        ),
    ),
    5: (
        ("6n^2-12n", "3n^2-3n-2"),
        ("-4n+12", "-7n+11"),
        "ours uses the first axis in all products with it",
    ),
    6: (
        ("3n^3-1.5n^2-3.5n", "2n^3-3n"),
        ("-0.5n^3+n^2-2.5n+2", "-1/3n^3-n^2-5/3n+2"),
        "ours evaluates no element that (P5), (P8) or (P9) gives, and uses the first axis",
    ),
    7: (("0", "11/6n^3-n^2+2/3n"), ("0", "-1/3n^3-n^2-1/6n"), "ours adds no zero"),
}
DESCRIBED = (4,)  # steps whose printed polynomials say what they are made of
MATRIX = ("6.5n^2+144.5n-171", "4.5n^2+121.5n-136")  # steps 1 to 4, as printed
TOTAL = ("3n^3+11n^2+129n-171", "23/6n^3+6.5n^2+691/6n-138")  # steps 1 to 7, as printed
CELL = (1647, 1715)  # of the total, n = 6
TOTAL_IN_TEXT = {"abstract": 3362, "conclusion": 3363}
QUOTED = {"previous algorithm, after Hernandez 1989": 5995, "Li 1989": 2528}  # n = 6, M and A

BOTH = ("mass_matrix", "christoffel")
MOMENTUM = (  # both, with the bodies that they have in common once
    *(Part("momentum", quantity=quantity) for quantity in BOTH),
    Part("momentum", stage="bodies", times=-1),
)
OURS = Claim(
    "Momentum",
    None,
    parts=MOMENTUM,
    why="the mass matrix, and Christoffel symbols from one vector a pair of joints",
)


def part(step: int) -> Part:
    """What a step of the modified algorithm takes."""
    return Part("kic-augmented", stage=f"step {step}", quantity="christoffel")


ALL_STEPS = tuple(map(part, STEPS))


def claims() -> Iterator[Claim]:
    """The seven steps and their two printed sums."""
    for step, (published, difference, why) in STEPS.items():
        yield Claim(
            f"Step {step}",
            published,
            parts=(part(step),),
            difference=difference,
            why=why,
            known="explained" if step in DESCRIBED else "not described",
        )
    sums = "the sum of the steps"
    yield Claim(
        "Steps 1 to 4",
        MATRIX,
        parts=ALL_STEPS[:4],
        shared=(Part("kic-augmented", "shared"),),
        difference=("-0.5n^2-60.5n+49", "n^2-53n+38"),
        why=sums,
        known="not described",
    )
    yield Claim(
        "Steps 1 to 7",
        TOTAL,
        {6: CELL},
        ALL_STEPS,
        difference=("-0.5n^3+0.5n^2-67n+63", "-2/3n^3-n^2-365/6n+51"),
        why=sums,
        known="not described",
    )


def steps() -> Table:
    """Section 4.2."""
    return Table(
        "Section 4.2. The modified algorithm, n revolute joints",
        (*map(judge, claims()), sum_of_steps(), judge(OURS)),
        "Counted literally. Steps 1 to 4 give [I*], all seven [I*] and [P*].",
    )


def sum_of_steps() -> Line:
    """The printed total against the printed steps."""
    printed = {op: Polynomial.parse(text) for op, text in zip("MA", TOTAL, strict=True)}
    added = {op: _printed_sum(k) for k, op in enumerate("MA")}
    difference = {op: added[op] - printed[op] for op in printed}
    wrong = Verdict("refuted", f"its own steps add up to {added['A']} additions")
    verdicts = {op: wrong if difference[op] != Polynomial() else Verdict("exact") for op in printed}
    return Line("Its own sum", printed, added, difference, verdicts)


def _printed_sum(k: int) -> Polynomial:
    return sum((Polynomial.parse(step[0][k]) for step in STEPS.values()), Polynomial())


def six_joints() -> Grid:
    """The totals for n = 6: printed, counted, and quoted by the paper."""
    ours, momentum = (add_up(parts, revolute, 6) for parts in (ALL_STEPS, MOMENTUM))
    numbers = {
        "printed": CELL,
        "by the printed polynomials": tuple(int(Polynomial.parse(text)(6)) for text in TOTAL),
        "by the printed steps": tuple(int(_printed_sum(k)(6)) for k in (0, 1)),
        "counted": (ours["M"], ours["A"]),
        "momentum, counted": (momentum["M"], momentum["A"]),
    }
    rows = [(name, str(mul), str(add), str(mul + add)) for name, (mul, add) in numbers.items()]
    rows += [(f"{name}, as quoted", "", "", str(total)) for name, total in QUOTED.items()]
    texts = ", ".join(f"{total} in the {place}" for place, total in TOTAL_IN_TEXT.items())
    return Grid("Totals for n = 6", ("", "M", "A", "M + A"), tuple(rows), f"The paper has {texts}.")


# Independent elements ----------------------------------------------------------------------------

Index = tuple[int, ...]
Ties = Callable[..., Iterable[Index]]  # an element's index -> those that equal it but for the sign


def classes(n: int, order: int, ties: Ties) -> set[Index]:
    """One element of each class that the ties leave, of an array of this order."""
    everything = list(product(range(n), repeat=order))
    leader = {index: index for index in everything}

    def find(index: Index) -> Index:
        while leader[index] != index:
            index = leader[index]
        return index

    for index in everything:
        for other in ties(*index):
            leader[find(index)] = find(other)
    return {find(index) for index in everything}


def ties_of_P1(i: int, j: int, k: int) -> Iterator[Index]:
    """(P3), and (P4) in its corrected form."""
    yield (i, k, j)
    if j <= min(i, k):
        yield (k, j, i)


def elements() -> Table:
    """Section 3: how many elements are independent, by counting classes."""
    symmetric = {n: len(classes(n, 2, lambda i, j: [(j, i)])) for n in SIZES}
    first = {n: classes(n, 3, ties_of_P1) for n in SIZES}
    nonzero = {n: sum(i != max(j, k) for i, j, k in first[n]) for n in SIZES}  # (P5)
    planes = {n: sum(max(i, j) <= k for i, j, k in product(range(n), repeat=3)) for n in SIZES}
    every = {n: len(first[n]) for n in SIZES}
    lines = (
        ("[I*]", "0.5n^2+0.5n", symmetric),
        ("[P1*] without zeros", "1/3n^3-1/3n", nonzero),
        ("[P1*]", "1/3n^3+0.5n^2+1/6n", every),
        ("[P2*] and [P3*], each", "1/3n^3+0.5n^2+1/6n", planes),
    )
    note = (
        "Counted for n = 6 to 11: classes of elements that (P2), or (P3) and the corrected (P4), "
        "tie together; of [P2*] and [P3*] the elements with i, j <= k, from which (P6) to (P10) "
        "give the rest."
    )
    rows = tuple(_elements(name, text, numbers) for name, text, numbers in lines)
    return Table("Section 3. Independent elements", rows, note)


def _elements(name: str, text: str, numbers: dict[int, int]) -> Line:
    published, found = Polynomial.parse(text), Polynomial.through(numbers)
    same = Verdict("exact") if published == found else Verdict("refuted", f"there are {found}")
    return Line(name, {"": published}, {"": found}, {"": found - published}, {"": same})


TABLES = (steps, six_joints, elements)
