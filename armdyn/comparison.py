"""Every method of a quantity on one arm: operations, time, error, and which one Robot chooses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from timeit import Timer
from typing import Any, Literal

import numpy as np

from armdyn import algorithms, engine
from armdyn.algorithms import Method
from armdyn.chain import Chain
from armdyn.counting import count
from armdyn.errors import MethodError
from armdyn.exactness import DIGITS, Reference, random_states
from armdyn.papers import published
from armdyn.quantities import ARGUMENTS, SHAPES, Task, cheapest, program_cost
from armdyn.robot import Robot

QUANTITIES = tuple(quantity for quantity in algorithms.CATALOGUE if quantity in SHAPES)
DEFAULT = ("mass_matrix", "bias")
BATCH = 4096
STATES = 50  # at which errors are measured; fewer on long arms, whose fifty digits take long
LARGEST = 40_000  # a method of more operations on generic arms runs only where it is asked for
SLICE = 1e-3  # [s] of calls between two looks at the clock
SAME = 0.05  # times that differ by less are equal, as far as a stopwatch can tell

Verdict = Literal["right", "wrong", "approximate", "not run"]
Progress = Callable[[str, int, int], None]  # what is being done, steps done, steps in all


@dataclass(frozen=True)
class Row:
    """A method on the arm.

    Attributes:
        method, paper, where, exact: as in the catalogue.
        chosen: whether Robot uses it where no method is named.
        operations_generic: on a generic arm with joints of the same kinds.
        published: whether that number is the paper's; counted literally otherwise.
        operations: of its program on this arm, a division as 8; None if not run, like all below.
        call_ns: the time of a call with one state, from Python.
        batch_ns: the time of a state in a batch, on one thread.
        error: the largest, see ``exactness.Reference``.
        verdict: "wrong" is an error that rounding cannot explain.
    """

    method: str
    paper: str
    where: str
    exact: bool
    chosen: bool
    operations_generic: int
    published: bool
    operations: int | None = None
    call_ns: float | None = None
    batch_ns: float | None = None
    error: float | None = None
    verdict: Verdict = "not run"


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
    rows: tuple[Row, ...]
    chosen: str
    reason: str
    remarks: tuple[str, ...]

    @property
    def wrong(self) -> list[Row]:
        """The methods whose result is wrong."""
        return [row for row in self.rows if row.verdict == "wrong"]


@dataclass(frozen=True, repr=False)
class Comparison:
    """What ``compare`` found; ``print`` shows its tables, and so does a notebook.

    Attributes:
        robot: the arm's name.
        joints: their kinds, "RRPRRR".
        rankings: a quantity each.
        batch, states, digits: how many states a batch had, at how many states errors were
            measured, and in how many digits.
        back_end, cpu: what ran the programs.
    """

    robot: str
    joints: str
    rankings: tuple[Ranking, ...]
    batch: int
    states: int
    digits: int
    back_end: str
    cpu: str

    def __repr__(self) -> str:
        found = "; ".join(
            f"{ranking.quantity}: {ranking.chosen} of {len(ranking.rows)} methods"
            for ranking in self.rankings
        )
        wrong = sum(len(ranking.wrong) for ranking in self.rankings)
        return f"Comparison({self.robot!r}, {found}{f'; {wrong} WRONG' if wrong else ''})"

    def __str__(self) -> str:
        from armdyn import comparison_report

        return comparison_report.text(self)

    def _repr_html_(self) -> str:
        from armdyn import comparison_report

        return comparison_report.html(self)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, with units in the names."""
        from armdyn import comparison_report

        return comparison_report.data(self)

    def to_csv(self) -> str:
        """A line a method."""
        from armdyn import comparison_report

        return comparison_report.csv_text(self)

    def plot(self, path: str) -> None:
        """Bars of operations and times; the suffix, .png or .svg, chooses the format."""
        from armdyn import comparison_plot

        comparison_plot.draw(self, path)


def compare(
    robot: Robot,
    quantities: Sequence[str] = DEFAULT,
    methods: Sequence[str] | None = None,
    *,
    batch: int = BATCH,
    states: int | None = None,
    seconds: float = 1.0,
    progress: Progress | None = None,
) -> Comparison:
    """Run every method of some quantities on an arm: count, compile, time, check.

    Args:
        robot: the arm.
        quantities: their names.
        methods: only these; all that apply to the arm if not given.
        batch: how many states are computed in one call for the time a state in a batch.
        states: at how many random states errors are measured.
        seconds: how long the stopwatch runs for each quantity, on single calls and on batches.
        progress: is told what is being done, steps done and steps in all.
    """
    for name, value in (("batch", batch), ("states", states)):
        if value is not None and value < 1:
            raise MethodError(f"{name} is {value}; expected 1 or more")
    plan = {quantity: _able(robot.chain, quantity, methods) for quantity in quantities}
    if states is None:
        states = min(STATES, max(3, 4000 // robot.n**2))
    meter = _Meter(progress, sum(len(able) + 2 for able, _ in plan.values()))
    rankings = []
    for quantity, (able, refused) in plan.items():
        bench = _Bench(robot.chain, quantity, batch, states, seconds, meter)
        rows = bench.rows(able, asked=methods is not None)
        rankings.append(_ranking(robot.chain, quantity, rows, refused, bench.reference.method))
    info = engine.info()
    kinds = _kinds(robot.chain)
    back_end, cpu = str(info["back_end"]), str(info["cpu"])
    return Comparison(robot.name, kinds, tuple(rankings), batch, states, DIGITS, back_end, cpu)


def _able(
    chain: Chain, quantity: str, names: Sequence[str] | None
) -> tuple[list[Method], dict[str, str]]:
    """The methods that apply to the arm, and why the others do not."""
    if quantity not in QUANTITIES:
        known = ", ".join(QUANTITIES)
        raise MethodError(f"no methods to compare for quantity {quantity!r}; known: {known}")
    asked = algorithms.methods(quantity)
    if names is not None:
        asked = tuple(method for method in asked if method.name in names)
        if not asked:
            known = ", ".join(method.name for method in algorithms.methods(quantity))
            found = ", ".join(names) or "none"
            raise MethodError(f"{quantity} has no such method: {found}; known: {known}")
    revolute = tuple(joint.kind == "R" for joint in chain.joints)
    reasons = {method.name: method.refuses(revolute) for method in asked}
    refused = {name: reason for name, reason in reasons.items() if reason}
    return [method for method in asked if method.name not in refused], refused


def _kinds(chain: Chain) -> str:
    return "".join(joint.kind for joint in chain.joints)


class _Meter:
    """Counts the steps and tells who wants to know."""

    def __init__(self, tell: Progress | None, total: int) -> None:
        self.tell, self.total, self.done = tell, total, 0

    def step(self, what: str) -> None:
        """A step begins."""
        if self.tell:
            self.tell(what, self.done, self.total)
        self.done += 1


# Measuring ---------------------------------------------------------------------------------------


class _Bench:
    """One quantity of one arm: what all its methods are measured with."""

    def __init__(
        self,
        chain: Chain,
        quantity: str,
        batch: int,
        states: int,
        seconds: float,
        meter: _Meter,
    ) -> None:
        self.chain, self.quantity, self.seconds, self.meter = chain, quantity, seconds, meter
        meter.step(f"{quantity} in {DIGITS} digits")
        numbers = random_states(chain, max(batch, states))
        taken = [numbers[argument] for argument in ARGUMENTS[quantity]]
        self.one = [array[0].copy() for array in taken]
        self.few = [array[:states].copy() for array in taken]
        self.many = [array[:batch].copy() for array in taken]
        few = {name: array[:states] for name, array in numbers.items()}
        self.reference = Reference(chain, quantity, few)

    def rows(self, methods: list[Method], asked: bool) -> list[Row]:
        """All methods, measured in turns."""
        chosen = cheapest(self.chain, self.quantity)
        rows, functions = [], {}
        for method in methods:
            self.meter.step(f"{self.quantity} by {method.name}")
            too_large = not asked and method.operations(self.chain.n) > LARGEST
            if not too_large:
                functions[method.name] = self._compiled(method.name)
            error = None if too_large else self._error(functions[method.name])
            rows.append(self._row(method, method.name == chosen, error))
        self.meter.step(f"{self.quantity}: timing")
        calls = interleaved({k: (f, self.one) for k, f in functions.items()}, self.seconds)
        batches = interleaved({k: (f, self.many) for k, f in functions.items()}, self.seconds)
        ...
        return rows
