"""A quantity's methods in order, and in sentences: which one Robot chooses, why, what to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from armdyn.comparison.exactness import Reference

EPS = 2.0**-52  # the spacing of doubles at 1
LARGEST = 40_000  # a method of more operations on generic arms runs only where it is asked for
LOST = 1e-11  # an error of a right method from which digits are missed
SAME = 0.05  # times that differ by less are equal, as far as a stopwatch can tell

Verdict = Literal["right", "wrong", "approximate", "not run"]


@dataclass(frozen=True)
class Measured:
    """A method on the arm, and what was measured of it.

    Attributes:
        method, paper, where, exact: as in the catalogue.
        chosen: whether Robot uses it where no method is named.
        operations_generic: counted literally, on a generic arm with joints of the same kinds; None
            if unknown.
        operations: of its program on this arm, a division as 8; None if not run, like all below.
        call_ns: the time of a call with one state, from Python.
        batch_ns: the time of a state in a batch, on one thread.
        error: the largest, see ``exactness.Reference``.
        verdict: "wrong" is an error that rounding cannot explain.
        depth: the longest chain of operations in its program; see ``armdyn.counting``.
        code_bytes: the instructions of its kernel for one state; None if there is no kernel.
        operations_printed: multiplications and additions that a paper prints for such joints, by
            the paper's own rule; None if none does.
        printed_by: the key of that paper.
    """

    method: str
    paper: str
    where: str
    exact: bool
    chosen: bool
    operations_generic: int | None
    operations: int | None = None
    call_ns: float | None = None
    batch_ns: float | None = None
    error: float | None = None
    verdict: Verdict = "not run"
    depth: int | None = None
    code_bytes: int | None = None
    operations_printed: int | None = None
    printed_by: str | None = None

    @property
    def error_eps(self) -> float | None:
        """The error in units of the rounding of a double, 2^-52."""
        return None if self.error is None else self.error / EPS


@dataclass(frozen=True)
class Ranking:
    """The methods of a quantity, those with the fewest operations on this arm first.

    Attributes:
        quantity: what is computed.
        rows: a method each.
        chosen: the method that Robot uses.
        reason: why, in a sentence.
        remarks: sentences on what a reader should know besides.
    """

    quantity: str
    rows: tuple[Measured, ...]
    chosen: str
    reason: str
    remarks: tuple[str, ...]

    @property
    def runner_up(self) -> Measured | None:
        """The right method with the fewest operations besides the chosen one."""
        return next((row for row in self.rows if row.verdict == "right" and not row.chosen), None)

    @property
    def wrong(self) -> list[Measured]:
        """The methods whose result is wrong."""
        return [row for row in self.rows if row.verdict == "wrong"]


def ranked(
    quantity: str,
    rows: list[Measured],
    chosen: str,
    cost: int,
    reference: Reference,
    refused: Mapping[str, str],
) -> Ranking:
    """The rows in order, and what is to be said of them.

    Args:
        quantity: what is computed.
        rows: in the order of the catalogue.
        chosen: the method that Robot uses, a row or not.
        cost: its operations on this arm.
        reference: by what the rows were judged.
        refused: methods that do not apply to this arm, and why.
    """
    rows = sorted(rows, key=lambda row: (row.operations is None, row.operations or 0))
    right = [row for row in rows if row.verdict == "right"]
    remarks = [
        *_on_time(chosen, right),
        *_on_digits(chosen, right),
        *_on_wrong(reference, rows),
        *(
            f"{row.method} is an approximation by its paper, which Robot never chooses by itself."
            for row in rows
            if row.verdict == "approximate"
        ),
        *(f"{name} does not apply to this arm: {reason}." for name, reason in refused.items()),
    ]
    left_out = ", ".join(row.method for row in rows if row.verdict == "not run")
    if left_out:
        remarks.append(
            f"Not run, for more than {LARGEST} operations on an arm of this size, unless asked "
            f"for by name: {left_out}."
        )
    reason = _reason(chosen, cost, rows, right)
    return Ranking(quantity, tuple(rows), chosen, reason, tuple(remarks))


def _reason(name: str, cost: int, rows: list[Measured], right: list[Measured]) -> str:
    """Why Robot chooses what it chooses."""
    begin = f"Robot chooses {name}"
    found = next((row for row in rows if row.chosen), None)
    if found is None:
        return f"{begin}, {cost} operations on this arm, which is not among these."
    if found.verdict == "wrong":
        instead = f"; the cheapest right one is {right[0].method}" if right else ""
        return f"{begin} for its {cost} operations, but its result is WRONG{instead}."
    others = [row for row in right if not row.chosen]
    if not others:
        return f"{begin}: {cost} operations on this arm; there is no other exact method here."
    best = others[0]
    if (best.operations or 0) < cost:
        return (
            f"{begin}: the fewest operations, {cost}, of those that it tries, which are those that "
            "have few on generic arms and no sines beyond the joints' own; "
            f"{best.method} would take {best.operations}."
        )
    if best.operations == cost:
        return f"{begin}: {cost} operations on this arm, as few as {best.method}, and named first."
    more = f"{(best.operations or 0) / cost - 1:.0%} more" if cost else "where this takes none"
    return (
        f"{begin}: with {cost} the fewest operations on this arm of all exact methods here; "
        f"{best.method} comes next with {best.operations}, {more}.{_shape(found, best)}"
    )


def _shape(found: Measured, best: Measured) -> str:
    """How the chosen program differs from the next one besides: its longest chain, its size."""
    if found.depth is None or best.depth is None:
        return ""
    said = f" Its longest chain of operations is {found.depth}, that of {best.method} {best.depth}"
    if found.code_bytes and best.code_bytes:
        said += f"; its code takes {found.code_bytes} bytes, that of {best.method} "
        said += f"{best.code_bytes}"
    return f"{said}."


def _on_time(name: str, right: list[Measured]) -> list[str]:
    """Whether the stopwatch agrees with the count."""
    chosen = next((row for row in right if row.method == name), None)
    if chosen is None or len(right) == 1:
        return []
    found = []
    for where, field in (("a call", "call_ns"), ("a state in a batch", "batch_ns")):
        quickest = min(right, key=lambda row: getattr(row, field))
        ours, best = getattr(chosen, field), getattr(quickest, field)
        if best < (1 - SAME) * ours:
            less = f"{1 - best / ours:.0%} less"
            found.append(f"{where} takes {less} time by {quickest.method} than by {name}")
    if not found:
        return [f"The stopwatch agrees: none is quicker by more than {SAME:.0%}."]
    return [f"The stopwatch disagrees with the count: {'; '.join(found)}."]


def _on_digits(name: str, right: list[Measured]) -> list[str]:
    """Whether the chosen method loses digits that others keep."""
    chosen = next((row for row in right if row.method == name), None)
    if chosen is None or chosen.error is None or chosen.error < LOST:
        return []
    best = min(right, key=lambda row: row.error or 0.0)
    if (best.error or 0.0) > chosen.error / 100:
        return []
    return [
        f"{name} loses digits on this arm, whose frames lie far off: its error is "
        f"{chosen.error:.0e}, that of {best.method} {best.error:.0e}."
    ]


def _on_wrong(reference: Reference, rows: list[Measured]) -> list[str]:
    """What is wrong, and by what it was judged."""
    wrong = [row for row in rows if row.verdict == "wrong"]
    remarks = [
        f"{row.method} is WRONG on this arm: an error of {row.error:.1e}, where rounding explains "
        f"{reference.tolerance:.0e} at most."
        for row in wrong
    ]
    judged = [row for row in rows if row.verdict in ("right", "wrong")]
    if len(wrong) > 1 and len(wrong) > len(judged) / 2:
        remarks.append(
            f"Most methods disagree with {reference.method}, by which all are judged: it may be "
            "the one that is wrong."
        )
    return remarks
