"""Printed lines: a paper's algorithm line by line, each with the operations printed beside it.

They are evidence for our rules of counting that owes nothing to any total: a line is run on
counting scalars by itself, with what it is handed on hand, and compared with what the paper prints
beside it. Where both differ, ``why`` says what the paper does otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from armdyn.algorithms.stages import stage
from armdyn.chain import Chain
from armdyn.chain.arm import Arm
from armdyn.counting import Count, count_stage
from armdyn.papers.claims import Line, Table, Verdict
from armdyn.spatial import Scalar, Symmetric, Vector

STAGE = "line"


class OnHand:
    """What a line is handed, on counting scalars: frames and constants of an arm of four joints.

    Attributes:
        arm, R, d: the arm, R_i and d_i; joints count from 0, and i = 2 stands for a general one.
        x: a number known at run time; ``v`` a vector of such, ``xy`` one with a zero last, ``J`` a
            symmetric tensor, ``rows`` a matrix by its rows.
        s: s_2^<2>, formed at run time; ``step`` s_3^<2>, constant unless joint 3 slides.
        u: u_2^<3>, the third row of R_3.
    """

    def __init__(self, arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar]) -> None:
        self.arm, self.R, self.d = arm, arm.rotations(q), arm.extensions(q)
        self.x = x = qd[0]
        self.v, self.xy, self.J = Vector(x, x, x), Vector(x, x, 0), Symmetric(x, x, x, x, x, x)
        self.rows = self.v, self.v, self.v
        self.s = Vector(arm.b[1] * self.R[1].C, -arm.b[1] * self.R[1].S, self.d[1])
        self.step = arm.shifts(q)[2]
        self.u = self.R[1].rows()[2]


@dataclass(frozen=True)
class PrintedLine:
    """A line of an algorithm.

    Attributes:
        text: what it computes, in the paper's letters.
        printed: multiplications and additions that the paper prints beside it.
        compute: the same on counting scalars.
        slides: whether joint 3, the general one, is prismatic.
        difference: counted minus printed, which ``why`` accounts for.
        why: the reason.
    """

    text: str
    printed: tuple[int, int]
    compute: Callable[[OnHand], Any]
    slides: bool = False
    difference: tuple[int, int] = (0, 0)
    why: str = ""


def count_line(line: PrintedLine, literal: bool) -> Count:
    """What a line takes, literally or with its constants folded."""
    compute = stage(STAGE)(line.compute)

    def function(arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
        compute(OnHand(arm, q, qd))
        return []

    chain = Chain.random(4, "RRPR" if line.slides else "RRRR")
    return count_stage(chain, function, STAGE, literal)


def judge(line: PrintedLine, literal: bool, doubling: Literal["M", "A"]) -> Line:
    """A line beside its count, a doubling taken for what the paper takes it for."""
    counted = count_line(line, literal)
    found = {"M": counted.mul, "A": counted.add}
    found[doubling] += counted.double
    printed = dict(zip("MA", line.printed, strict=True))
    difference = {op: found[op] - printed[op] for op in printed}
    stated = dict(zip("MA", line.difference, strict=True))
    verdicts = {op: _verdict(line, difference[op], stated[op]) for op in printed}
    return Line(line.text, printed, found, difference, verdicts)


def _verdict(line: PrintedLine, difference: int, stated: int) -> Verdict:
    if difference != stated:
        return Verdict("unexplained", f"a difference of {stated} was expected")
    return Verdict("explained", line.why) if difference else Verdict("exact")


def table(
    title: str,
    lines: Sequence[PrintedLine],
    literal: bool = True,
    doubling: Literal["M", "A"] = "A",
) -> Table:
    """The lines of a figure or table."""
    how = "literally" if literal else "with all constants folded"
    note = (
        f"Each line counted by itself, {how}, with what it is handed on hand; a doubling is "
        f"{'an addition' if doubling == 'A' else 'a multiplication'} (D = 1{doubling})."
    )
    return Table(title, tuple(judge(line, literal, doubling) for line in lines), note)
