"""Table I of [safeea2018] and its crossover; its experiment is in ``experiment``."""

from __future__ import annotations

from armdyn.counting.polynomial import Polynomial
from armdyn.papers import experiment
from armdyn.papers.claims import Claim, Line, Part, Table, Verdict, fit, judge

CITATION = (
    "M. Safeea, P. Neto, R. Bearee, Reducing the computational complexity of mass-matrix "
    "calculation for high DOF robots, 2018"
)
GDAHJ = ("3n^2+88n-3", "2.5n^2+95.5n-18")
CRBA = ("10n^2+22n-32", "6n^2+37n-43")
CROSSOVER = 14  # "performs better ... more than 13 DOF"

TABLE_I = (
    Claim(
        "GDAHJ",
        GDAHJ,
        parts=(Part("gdahj", stage="dynamics"),),
        shared=(Part("gdahj", "shared", "dynamics"),),
        why="with J and F of D_i = J_i + F_i summed apart, and zeros of s and b charged at i = n: "
        "the terms in n^2 and n leave no choice on the lost page, the constants were fitted",
    ),
    Claim(
        "GDAHJ, D_i as one sum",
        None,
        parts=(Part("gdahj-one-sum", stage="dynamics"),),
        shared=(Part("gdahj-one-sum", "shared", "dynamics"),),
        why="the same recursions with no zero charged and the tensors added to D_i directly",
    ),
    Claim(
        "CRBA",
        CRBA,
        parts=(Part("crba"),),
        doubling="A",
        shared=(Part("crba", "shared"),),
        difference=("0", "-2n+2"),
        why="the break-down is that of its reference 23; with a doubling taken for an addition, it "
        "has an addition more for each of the two screws a joint",
        known="not described",
    ),
    Claim(
        "Hybrid",
        None,
        parts=(Part("hybrid", stage="dynamics"),),
        shared=(Part("hybrid", "shared", "dynamics"),),
        why="composites in link frames as in CRBA, columns in the base as in GDAHJ: what the "
        "paper leaves to future work",
    ),
    Claim(
        "Symbolic-numeric",
        ("1.5n^3+17.5n^2+9n-16", "7/6n^3+11.5n^2+64/3n-28"),
        why="mass matrix and Coriolis terms, reference 24",
    ),
    Claim(
        "RNEA",
        ("93n-108", "81n-100"),
        parts=(Part("newton-euler", quantity="inverse_dynamics"),),
        shared=(Part("newton-euler", "shared", quantity="inverse_dynamics"),),
        difference=("n+29", "n+26"),
        why="inverse dynamics, reference 22; ours moves the first link like the others",
        known="not described",
    ),
    Claim(
        "RNEA, a column a call",
        None,
        parts=(Part("newton-euler"),),
        why="links before the accelerated joint stand still: less than half of the 93n^2 and "
        "81n^2 of the note under the table",
    ),
)


def cost(parts: tuple[Part, ...]) -> Polynomial:
    """All operations together."""
    return sum(fit(parts).values(), Polynomial())


def crossover(method: Polynomial, other: Polynomial, largest: int = 1000) -> int:
    """The number of joints from which a method costs less than the other."""
    return 1 + max(n for n in range(1, largest) if method(n) >= other(n))


def crossovers() -> dict[str, int]:
    """From how many joints GDAHJ and hybrid cost less than CRBA, by name."""
    gdahj, printed = (sum(map(Polynomial.parse, pair), Polynomial()) for pair in (GDAHJ, CRBA))
    crba = cost((Part("crba"),))
    found = {"GDAHJ, printed counts": crossover(gdahj, printed)}
    for name, method in (("GDAHJ", "gdahj"), ("Hybrid", "hybrid")):
        found[f"{name}, counted"] = crossover(cost((Part(method, stage="dynamics"),)), crba)
        found[f"{name}, with its kinematics"] = crossover(cost((Part(method),)), crba)
    return found


def table_i() -> Table:
    """Table I."""
    return Table(
        "Table I. The mass matrix, n revolute joints",
        tuple(map(judge, TABLE_I)),
        "Counted literally, without direct kinematics: R_i and p_i on hand for GDAHJ and hybrid.",
    )


def crossover_table() -> Table:
    """The printed crossover, and the others."""
    lines = []
    for name, found in crossovers().items():
        if name.endswith("printed counts"):
            less = f"by its own counts GDAHJ takes less from n = {found} on"
            verdict = Verdict("exact") if found == CROSSOVER else Verdict("refuted", less)
            difference = {"": found - CROSSOVER}
            lines.append(Line(name, {"": CROSSOVER}, {"": found}, difference, {"": verdict}))
        else:
            lines.append(Line(name, {}, {"": found}, {}, {"": Verdict("ours")}))
    return Table(
        "Text. The number of joints from which a method costs less than CRBA",
        tuple(lines),
        'The text has "more than 13 DOF", which is from 14 on. The kinematics of GDAHJ and hybrid '
        "are the poses of all links, 30M18A a joint.",
    )


TABLES = (table_i, crossover_table, experiment.table)
