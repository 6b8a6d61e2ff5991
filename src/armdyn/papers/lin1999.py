"""Tables VI, VII and VIII of [lin1999]. Type 1 is n revolute joints, type 2 has a slide third.

``lin1999_lines`` has Tables I to V and VII line by line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from armdyn.papers import lin1999_lines
from armdyn.papers.claims import Claim, Joints, Part, Table, because, count_part, judge, revolute

CITATION = (
    "S.-K. Lin and C.-J. Fang, Efficient formulations for the manipulator inertia matrix in terms "
    "of minimal linear combinations of inertia parameters, 1999"
)


def stanford(n: int) -> str:
    """The kinds of joints of type 2: like the Stanford arm's."""
    return "RRP" + "R" * (n - 3)


TYPES: dict[int, Joints] = {1: revolute, 2: stanford}
Cells = Mapping[int, tuple[int, int]]


AXES = ("-8n+16", "-4n+8", "u_i^<n>, a column of a matrix on hand, is charged 8M4A")
ZERO_OF_R = ("0", "-4", "the zero of R_n is used in the products, not in the additions")
OWN_AXIS = ("2", "0", "the two products of s_1^<2>, charged in Table I, are not charged here")
ZERO_OF_F23 = ("-2", "-2", "the zero of f_23 is not used in t_13")


def formulation(
    number: int,
    kind: int,
    published: tuple[str, str],
    cells: Cells,
    difference: tuple[str, str] = ("0", "0"),
    why: str = "",
) -> Claim:
    """A line of Table VI: a formulation's own part, with the composite bodies on hand."""
    method = f"lin-fang-{number}"
    return Claim(
        f"Formulation {number}",
        published,
        cells,
        (Part(method, stage="matrix"),),
        TYPES[kind],
        shared=(Part(method, "shared", "matrix"),),
        difference=difference,
        why=why,
    )


TABLE_VI = {
    1: (
        formulation(
            1,
            1,
            ("10n^2-18n+10", "6n^2-10n+4"),
            {4: (98, 60), 6: (262, 160), 11: (1022, 620)},
        ),
        formulation(
            2,
            1,
            ("11.5n^2-27.5n+16", "8n^2-18n+10"),
            {4: (90, 66), 6: (265, 190), 11: (1105, 780)},
            *because(("2n-2", "0", "the two products of s_j^<j+1> are never charged")),
        ),
        formulation(
            3,
            1,
            ("12.5n^2-28.5n+16", "8n^2-18n+10"),
            {4: (102, 66), 6: (295, 190), 11: (1215, 780)},
        ),
        formulation(
            4,
            1,
            ("4.5n^2+48.5n-108", "4n^2+24n-56"),
            {4: (158, 104), 6: (345, 232), 11: (970, 692)},
            *because(AXES, ("-2n+2", "-2n+2", "the zero of f_nn is not used"), ZERO_OF_R),
        ),
        formulation(
            5,
            1,
            ("10n^2-18n+14", "6n^2-6n+2"),
            {4: (102, 74), 6: (266, 182), 11: (1016, 662)},
            *because(OWN_AXIS),
        ),
    ),
    2: (
        formulation(
            1,
            2,
            ("10n^2-18n", "6n^2-10n"),
            {6: (252, 156), 8: (496, 304), 9: (648, 396)},
            *because(("-2", "-2", "the zero of t_33 is not used in t_23"), ZERO_OF_F23),
        ),
        formulation(
            2,
            2,
            ("11.5n^2-40.5n+60", "8n^2-29n+46"),
            {6: (231, 160), 8: (472, 326), 9: (627, 433)},
            *because(
                ("-3", "-3", "its own lines add up to 57 and 43, not to 60 and 46"),
                ("2n-6", "0", "the two products of n-3 of the s_j^<j+1> are never charged"),
            ),
        ),
        formulation(
            3,
            2,
            ("12.5n^2-43.5n+65", "8n^2-29n+45"),
            {6: (254, 159), 8: (517, 325), 9: (686, 432)},
            *because(("1", "0", "the product d_3 S beta_3, which changes with the slide")),
        ),
        formulation(
            4,
            2,
            ("4.5n^2+48.5n-114", "4n^2+24n-62"),
            {6: (339, 226), 8: (562, 386), 9: (687, 478)},
            *because(AXES, ("-2n+1", "-2n+1", "the zero of f_nn is not used"), ZERO_OF_R),
        ),
        formulation(
            5,
            2,
            ("10n^2-18n+4", "6n^2-6n-7"),
            {6: (256, 173), 8: (500, 329), 9: (652, 425)},
            *because(
                (
                    "-4",
                    "-4",
                    "t_23 = h x u takes 4M1A: the 8M5A are for a term not in (B8)",
                ),
                ZERO_OF_F23,
                OWN_AXIS,
            ),
        ),
    ),
}

BODIES = Part("lin-fang-1-minimal", "folded", "composites")

TABLE_VII = tuple(
    Claim(
        f"Type {kind}",
        published,
        parts=(BODIES,),
        joints=TYPES[kind],
        doubling="M",
        shared=(Part("lin-fang-1-minimal", "shared", "composites"),),
        difference=("-n+2", "0"),
        why="2 S beta A5 of (52) is charged as two products, n-2 times: else (41) to (54) would "
        "take 17M, not the 18M printed",
    )
    for kind, published in ((1, ("32n-47", "33n-57")), (2, ("32n-45", "33n-59")))
)


def total(
    number: int,
    kind: int,
    published: tuple[str, str],
    cells: Cells,
    difference: tuple[str, str],
) -> Claim:
    """A line of Table VIII: a formulation's line of Table VI and that of Table VII."""
    return Claim(
        f"Formulation {number}",
        published,
        cells,
        (Part(f"lin-fang-{number}", stage="matrix"), BODIES),
        TYPES[kind],
        doubling="M",
        shared=(Part(f"lin-fang-{number}-minimal", "shared"),),
        difference=difference,
        why="the sum of Tables VI and VII, and of their differences",
    )


TABLE_VIII = {
    1: (
        total(
            1,
            1,
            ("10n^2+14n-37", "6n^2+23n-53"),
            {4: (179, 135), 6: (407, 301), 8: (715, 515)},
            ("-n+2", "0"),
        ),
        total(
            2,
            1,
            ("11.5n^2+4.5n-31", "8n^2+15n-47"),
            {4: (171, 141), 6: (410, 331), 8: (741, 585)},
            ("n", "0"),
        ),
        Claim(
            "Kawasaki et al. I",
            ("11n^2+15n-41", "7n^2+32n-66"),
            {4: (194, 174), 6: (445, 378), 8: (783, 638)},
        ),
        Claim(
            "Kawasaki et al. II",
            ("11n^2+9n-35", "7n^2+23n-57"),
            {4: (177, 147), 6: (415, 333), 8: (741, 575)},
        ),
    ),
    2: (
        total(
            1,
            2,
            ("10n^2+14n-45", "6n^2+23n-59"),
            {4: (171, 129), 6: (399, 295), 8: (707, 509)},
            ("-n-2", "-4"),
        ),
        total(
            2,
            2,
            ("11.5n^2-8.5n+15", "8n^2+4n-13"),
            {4: (165, 131), 6: (378, 299), 8: (683, 531)},
            ("n-7", "-3"),
        ),
    ),
}

KINDS = {1: "n revolute joints", 2: "n joints, the third prismatic"}


def table_vi(kind: int) -> Table:
    """Table VI, a type of arm."""
    return Table(
        f"Table VI, type {kind}. The inertia matrix from c-hat and J-hat, {KINDS[kind]}",
        tuple(map(judge, TABLE_VI[kind])),
        "Counted literally; all counts with c-hat, J-hat and R_i on hand and nothing else.",
    )


def table_vii() -> Table:
    """Table VII."""
    return Table(
        "Table VII. First moments and inertia tensors from minimal parameters",
        tuple(map(judge, TABLE_VII)),
        "All constants folded; a doubling is a multiplication (D = 1M).",
    )


def table_viii(kind: int) -> Table:
    """Table VIII, a type of arm."""
    return Table(
        f"Table VIII, type {kind}. The inertia matrix from minimal parameters, {KINDS[kind]}",
        tuple(map(judge, TABLE_VIII[kind])),
        f"Table VI, counted literally, and Table VII, with all constants folded (D = 1M). "
        f"{_best(kind)}",
    )


def _best(kind: int) -> str:
    """What the best line of Table VIII needs when equal terms are shared, for n = 6."""
    claim = TABLE_VIII[kind][0]
    found, (mul, add) = count_part(claim.shared[0], claim.joints, 6), claim.cells[6]
    return (
        f"With equal terms shared, formulation 1 takes {found.mul} M, {found.add} A and "
        f"{found.double} D for n = 6, where {mul} M and {add} A are published."
    )


TABLES: tuple[Callable[[], Table], ...] = (
    partial(table_vi, 1),
    partial(table_vi, 2),
    table_vii,
    partial(table_viii, 1),
    partial(table_viii, 2),
    *lin1999_lines.TABLES,
)
