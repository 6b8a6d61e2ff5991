"""Tables I and II of [lin1991], and what its text claims; ``lin1991_lines`` has its figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from armdyn.chain import Chain
from armdyn.counting import count
from armdyn.papers import lin1991_lines
from armdyn.papers.claims import Claim, Grid, Part, Table, judge

CITATION = "S.-K. Lin, A new composite body method for manipulator dynamics, 1991"
SIZES = range(2, 9)  # of the printed cells
JOINTS = 6
RIVALS = {
    "Walker and Orin": "walker-orin",
    "Renaud": "renaud",
    "Fijany and Bejczy": "fijany-bejczy-2",
    "Present": "lin1991",
    "Lagrangian of zomaya1988": "lagrange",
    "GDAHJ of safeea2018": "gdahj",
    "CRBA, minimal": "crba-minimal",
}


def cells(mul: Sequence[int], add: Sequence[int]) -> Mapping[int, tuple[int, int]]:
    """The printed cells, from n = 2 to 8."""
    return dict(zip(SIZES, zip(mul, add, strict=True), strict=True))


TABLE_I = (
    Claim(
        "Walker and Orin",
        ("11n^2+53n-74", "8n^2+52n-62"),
        cells((76, 184, 314, 466, 640, 836, 1054), (74, 166, 274, 398, 538, 694, 866)),
        (Part("walker-orin"),),
        shared=(Part("walker-orin", "shared"),),
        difference=("-3n+13", "-n^2-10n+13"),
        why="ours takes the composite bodies about their centres of mass, with R v at 8M4A; at "
        "8M5A, as in its reference 13, the additions too would grow as printed with n^2",
        known="not described",
    ),
    Claim(
        "Renaud",
        ("13.5n^2+22.5n-68", "9n^2+26n-64"),
        cells((31, 121, 238, 382, 553, 751, 976), (24, 95, 184, 291, 416, 559, 720)),
        (Part("renaud"),),
        doubling="A",
        shared=(Part("renaud", "shared"),),
        why="with a doubling taken for an addition",
    ),
    Claim(
        "Lin, reference 13",
        ("7/6n^3+16.5n^2-107/3n+19", "n^3+13.5n^2-28.5n+14"),
        cells((23, 92, 215, 399, 651, 978, 1387), (19, 77, 180, 334, 545, 819, 1162)),
    ),
    Claim(
        "Fijany and Bejczy",
        ("4.5n^2+115.5n-175", "4n^2+88n-134"),
        cells((74, 212, 359, 515, 680, 854, 1037), (58, 166, 282, 406, 538, 678, 826)),
        (Part("fijany-bejczy-2"),),
        doubling="A",
        shared=(Part("fijany-bejczy-2", "shared"),),
        difference=("-25n-26", "-24n-7"),
        why="not reproducible, for no break-down is printed; ours, in E_2 as theirs, takes a shift "
        "b x + d z for 6M3A and leaves out c-hat_1, which H does not need",
        known="not described",
    ),
    Claim(
        "Fijany and Bejczy, in E_n",
        None,
        parts=(Part("fijany-bejczy"),),
        shared=(Part("fijany-bejczy", "shared"),),
        why="their second paper, of which note d says that it is somewhat less efficient: it is",
    ),
    Claim(
        "Present",
        ("10.5n^2+38.5n-85", "6n^2+39n-70"),
        cells((34, 125, 237, 370, 524, 699, 895), (32, 101, 182, 275, 380, 497, 626)),
        (Part("lin1991"),),
        shared=(Part("lin1991", "shared"),),
    ),
)

BOTH = Part("lin1991", quantity=("mass_matrix", "bias"))
LOST = (
    "the paper's other 3M3A may stand in the lines on zeta that our copy of Fig. 3 lacks; 4M a "
    "joint for the entries of R_i are added to our counts, as Fig. 3 charges them"
)

TEXT = (
    Claim(
        "Present, H and b",
        ("23n^2+44n-82", "15n^2+40n-70"),
        parts=(BOTH,),
        charge=("4n", "0"),
        shared=(Part("lin1991", "shared", quantity=("mass_matrix", "bias")),),
        difference=("-3", "-3"),
        why=LOST,
        known="presumed",
    ),
)

TABLE_II = (
    Claim(
        "Khalil and Kleinfinger",
        ("101n-129", "90n-118"),
        cells((73, 174, 275, 376, 477, 578, 679), (62, 152, 242, 332, 422, 512, 602)),
    ),
    Claim(
        "Balafoutis et al.",
        ("93n-69", "81n-66"),
        cells((117, 210, 303, 396, 489, 582, 675), (96, 177, 258, 339, 420, 501, 582)),
    ),
    Claim(
        "Present",
        ("12.5n^2+5.5n+3", "9n^2+n"),
        cells((64, 132, 225, 343, 486, 654, 847), (38, 84, 148, 230, 330, 448, 584)),
        (Part("lin1991", stage="b", quantity=("mass_matrix", "bias")),),
        charge=("4n", "0"),
        difference=("-3", "-3"),
        why=LOST,
        known="presumed",
    ),
    Claim(
        "Newton-Euler, minimal",
        None,
        parts=(Part("newton-euler-minimal", quantity="bias"),),
        shared=(Part("newton-euler-minimal", "shared", quantity="bias"),),
        why="the recursion of Newton and Euler on the minimal parameters of [lin1995]",
    ),
)


def table_i() -> Table:
    """Table I."""
    return Table(
        "Table I. The inertia matrix, n revolute joints",
        tuple(map(judge, TABLE_I)),
        "Counted literally, with R_i on hand; a doubling is an addition (D = 1A).",
    )


def text() -> Table:
    """What stands in the text before Table I."""
    return Table(
        "Text before Table I. Inertia matrix and bias vector together",
        tuple(map(judge, TEXT)),
        "Counted literally, with 4M a joint for the entries of R_i.",
    )


def table_ii() -> Table:
    """Table II."""
    return Table(
        "Table II. The bias vector, given the inertia matrix",
        tuple(map(judge, TABLE_II)),
        "Counted literally. Of the present method, what H and b together take beyond H, with 4M a "
        "joint for the entries of R_i.",
    )


def parallel() -> Grid:
    """The conclusion: "the parallel computation process can also apply to the present method"."""
    chain = Chain.random(JOINTS)
    rows = []
    for name, method in RIVALS.items():
        operations = count(chain, "mass_matrix", method, kind="program").cost
        depth = count(chain, "mass_matrix", method, kind="depth")
        rows.append((name, str(operations), str(depth), f"{operations / depth:.1f}"))
    return Grid(
        f"Conclusion. Parallel computation of the inertia matrix, n = {JOINTS}",
        ("method", "operations", "longest chain", "in a step"),
        tuple(rows),
        'The text: "The parallel computation process can also apply to the present method." It '
        "can, as to all of them, but of those of Table I that are described here the present "
        "method gains least: with as many processors as one likes it still takes the longest chain "
        "of operations, for it carries every distance outward from the base before it carries the "
        "bodies inward. Programs for a generic arm, sines and cosines on hand; the last column is "
        "how many operations there are for each step of that chain.",
    )


TABLES: tuple[Callable[[], Table | Grid], ...] = (
    table_i,
    text,
    table_ii,
    lin1991_lines.fig_3,
    lin1991_lines.fig_a1,
    parallel,
)
