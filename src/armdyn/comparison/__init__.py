"""Every method of a quantity on one arm: operations, time, error, and which one Robot chooses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armdyn import engine
from armdyn.algorithms import catalogue
from armdyn.algorithms.catalogue import Method
from armdyn.chain import Chain
from armdyn.comparison import stopwatch
from armdyn.comparison.exactness import DIGITS, Reference, random_states
from armdyn.comparison.ranking import LARGEST, Ranking, Row, Verdict, ranked
from armdyn.comparison.stopwatch import Call
from armdyn.counting import count
from armdyn.errors import MethodError
from armdyn.papers import published
from armdyn.quantities import ARGUMENTS, SHAPES, Task, cheapest, program_cost, shapes
from armdyn.robot import Robot

QUANTITIES = tuple(quantity for quantity in catalogue.CATALOGUE if quantity in SHAPES)
DEFAULT = ("mass_matrix", "bias")
BATCH = 4096
STATES = 50  # at which errors are measured; fewer on long arms, whose fifty digits take long

Progress = Callable[[str, int, int], None]  # what is being done, steps done, steps in all


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
        from armdyn.comparison import report

        return report.text(self)

    def _repr_html_(self) -> str:
        from armdyn.comparison import report

        return report.html(self)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, with units in the names."""
        from armdyn.comparison import report

        return report.data(self)

    def to_csv(self) -> str:
        """A line a method."""
        from armdyn.comparison import report

        return report.csv_text(self)

    def plot(self, path: str) -> None:
        """Bars of operations and times; the suffix, .png or .svg, chooses the format."""
        from armdyn.comparison import plot

        plot.draw(self, path)


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
    largest = math.inf if methods else LARGEST
    rankings = []
    for quantity, (able, refused) in plan.items():
        bench = _Bench(robot.chain, quantity, batch, states, seconds, meter)
        rows = bench.rows([m for m in able if m.operations(robot.n) <= largest])
        left_out = [m for m in able if m.operations(robot.n) > largest]
        rows += [bench.described(method) for method in left_out]
        cost = program_cost(robot.chain, quantity, bench.chosen)
        rankings.append(ranked(quantity, rows, bench.chosen, cost, bench.reference, refused))
    info = engine.info()
    return Comparison(
        robot.name,
        robot.chain.kinds,
        tuple(rankings),
        batch,
        states,
        DIGITS,
        str(info["back_end"]),
        str(info["cpu"]),
    )


def _able(
    chain: Chain, quantity: str, names: Sequence[str] | None
) -> tuple[list[Method], dict[str, str]]:
    """The methods that apply to the arm, and why the others do not."""
    if quantity not in QUANTITIES:
        known = ", ".join(QUANTITIES)
        raise MethodError(f"no methods to compare for quantity {quantity!r}; known: {known}")
    asked = catalogue.methods(quantity)
    if names is not None:
        asked = tuple(method for method in asked if any(name in names for name in method.names))
        if not asked:
            known = ", ".join(method.name for method in catalogue.methods(quantity))
            found = ", ".join(names) or "none"
            raise MethodError(f"{quantity} has no such method: {found}; known: {known}")
    natural = chain.on(float)
    reasons = {method.name: method.refuses(natural) for method in asked}
    refused = {name: reason for name, reason in reasons.items() if reason}
    return [method for method in asked if method.name not in refused], refused


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
    """One quantity of one arm, and what all its methods are measured with."""

    def __init__(
        self,
        chain: Chain,
        quantity: str,
        batch: int,
        states: int,
        seconds: float,
        meter: _Meter,
    ) -> None:
        self.chain, self.quantity, self.batch, self.seconds = chain, quantity, batch, seconds
        self.meter = meter
        meter.step(f"{quantity} in {DIGITS} digits")
        few, many = random_states(chain, states), random_states(chain, batch, seed=1)
        self.reference = Reference(chain, quantity, few)
        self.few, self.many = (
            [numbers[argument] for argument in ARGUMENTS[quantity]] for numbers in (few, many)
        )
        self.chosen = cheapest(chain, quantity)

    def rows(self, methods: list[Method]) -> list[Row]:
        """Methods that are run: first checked one by one, then timed in turns."""
        rows, functions = {}, {}
        for method in methods:
            self.meter.step(f"{self.quantity} by {method.name}")
            function = engine.function(self.chain, [Task(self.quantity, method.name)])
            values = function(*self.few)
            values[0] = function(*(array[0] for array in self.few))  # by the code for one state
            rows[method.name], functions[method.name] = self._checked(method, values), function
        self.meter.step(f"{self.quantity}: the stopwatch")
        (shape,) = shapes(self.chain.n, [Task(self.quantity)])
        in_place = {"out": np.empty((self.batch, *shape)), "threads": 1}
        one = [array[0].copy() for array in self.many]
        calls = {name: Call(function, one) for name, function in functions.items()}
        batches = {name: Call(f, self.many, in_place) for name, f in functions.items()}
        call_s = stopwatch.least(calls, self.seconds)
        batch_s = stopwatch.least(batches, self.seconds)
        return [
            replace(row, call_ns=1e9 * call_s[name], batch_ns=1e9 * batch_s[name] / self.batch)
            for name, row in rows.items()
        ]

    def described(self, method: Method) -> Row:
        """A method as known without running it."""
        kinds = self.chain.kinds
        generic = published.operations(self.quantity, method.name, kinds)
        printed = generic is not None
        if not printed and method.generic and "P" not in kinds:
            generic = int(method.operations(self.chain.n))
        known = method.name, method.paper, method.where, method.exact
        return Row(*known, method.name == self.chosen, generic, printed)

    def _checked(self, method: Method, values: np.ndarray) -> Row:
        """A method with its operations and the error of its results."""
        row = self.described(method)
        if not row.published:
            counted = count(self.chain, self.quantity, method.name).cost
            row = replace(row, operations_generic=counted)
        error = self.reference.error(values)
        verdict: Verdict = "wrong" if error > self.reference.tolerance else "right"
        return replace(
            row,
            operations=program_cost(self.chain, self.quantity, method.name),
            error=error,
            verdict=verdict if method.exact else "approximate",
        )
