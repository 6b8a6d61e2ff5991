"""Every method of a quantity on one arm: operations, time, error, and which one Robot chooses."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import armdyn.engine as engine
from armdyn.algorithms import catalogue
from armdyn.algorithms.catalogue import plain
from armdyn.algorithms.method import Method
from armdyn.chain import Chain
from armdyn.comparison import stopwatch
from armdyn.comparison.exactness import DIGITS, Reference, random_states
from armdyn.comparison.limits import check_sizes
from armdyn.comparison.ranking import LARGEST, Measured, Ranking, Verdict, ranked
from armdyn.comparison.stopwatch import Call
from armdyn.counting import count, depth, published
from armdyn.errors import MethodError, as_names, instead, listed, shorten, unknown
from armdyn.forks import importing
from armdyn.loaders import load
from armdyn.output import files
from armdyn.output.progress import told
from armdyn.quantities import SEVERAL, find
from armdyn.quantities.tasks import Task, cheapest, program, program_cost, shapes
from armdyn.quantities.users import refusal
from armdyn.robot import Robot

DEFAULT = ("mass_matrix", "bias")
Progress = Callable[[str, int, int], object]  # is told what is being done, steps done, all steps
BATCH = 4096
STATES = 50  # at which errors are measured; fewer on long arms, whose fifty digits take long


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
        with importing:
            from armdyn.comparison import rendering

        return rendering.text(self)

    def _repr_html_(self) -> str:
        with importing:
            from armdyn.comparison import rendering

        return rendering.html(self)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, with units in the names."""
        with importing:
            from armdyn.comparison import rendering

        return rendering.data(self)

    def to_csv(self) -> str:
        """A line a method."""
        with importing:
            from armdyn.comparison import rendering

        return rendering.csv_text(self)

    def write_html(self, path: str | Path) -> None:
        """Write the tables with bars as one page of HTML, which needs nothing else."""
        with importing:
            from armdyn.comparison import page

        page.write([self], path)

    def plot(self, path: str | Path | None = None) -> Any:
        """Bars of operations and times, a matplotlib figure that a notebook shows.

        With a path it is written, too; the suffix, .png or .svg, chooses the format.
        """
        with importing:
            from armdyn.comparison import bars

        if path is not None:
            files.check_picture(path)
        figure = bars.draw(self)
        if path is not None:
            files.save_picture(figure, path)
        return figure


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in a comparison.

    Attributes:
        partial: the comparison as far as it went, the quantities that were finished.
    """

    def __init__(self, partial: Comparison) -> None:
        super().__init__()
        self.partial = partial


def compare(
    robot: Robot | Chain | str | Path,
    quantities: str | Sequence[str] = DEFAULT,
    methods: Sequence[str] | None = None,
    *,
    batch: int = BATCH,
    states: int | None = None,
    seconds: float = 1.0,
    progress: Progress | bool | None = None,
) -> Comparison:
    """Run every method of some quantities on an arm: count, compile, time, check.

    Args:
        robot: the arm, or what ``armdyn.load`` makes one of.
        quantities: their names.
        methods: only these; all that apply to the arm if not given.
        batch: how many states are computed in one call for the time a state in a batch.
        states: at how many random states errors are measured.
        seconds: how long the stopwatch runs for each quantity, on single calls and on batches.
        progress: is told what is being done, steps done and all steps; True: a bar on stderr.

    Raises:
        MethodError: for what is not known, or would take too long or too much memory.
        Interrupted: a KeyboardInterrupt that has what was finished until then.
    """
    robot = _robot(robot)
    quantities = as_names("quantities", quantities)
    methods = None if methods is None else as_names("methods", methods)
    plan = _plan(robot.chain, quantities, methods)
    if states is None:
        states = min(STATES, max(3, 4000 // robot.n**2))
    check_sizes(robot.chain, quantities, batch, states, seconds)
    batch, states = int(batch), int(states)  # NumPy's are no JSON
    finished: list[Ranking] = []
    try:
        news = "what is being done, steps done and all steps"
        with told(progress, robot.name, news, MethodError) as tell:
            meter = _Meter(tell, sum(len(able) + 2 for able, _ in plan.values()))
            for quantity, (able, refused) in plan.items():
                bench = _Bench(robot.chain, quantity, batch, states, seconds, meter)
                finished.append(bench.ranking(able, refused, math.inf if methods else LARGEST))
    except KeyboardInterrupt:
        raise Interrupted(_whole(robot, finished, batch, states)) from None
    return _whole(robot, finished, batch, states)


def _robot(given: Robot | Chain | str | Path) -> Robot:
    if isinstance(given, Robot):
        return given
    if isinstance(given, Chain):
        return Robot(given)
    if isinstance(given, (str, Path)):
        return load(given)
    raise MethodError(f"{shorten(given)} is no arm; expected a Robot, a Chain or an arm's name")


def _whole(robot: Robot, rankings: Sequence[Ranking], batch: int, states: int) -> Comparison:
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


Able = tuple[list[Method], dict[str, str]]  # methods that apply, and why the others do not


def _plan(chain: Chain, quantities: Sequence[str], names: Sequence[str] | None) -> dict[str, Able]:
    """What is to be compared; every name must be known, and each quantity have one of them."""
    if not quantities:
        raise MethodError(f"no quantity to compare; known: {listed(SEVERAL)}")
    for quantity in quantities:
        if quantity not in SEVERAL:
            raise MethodError(unknown("methods to compare for quantity", quantity, SEVERAL))
    if names is not None:
        rows = {quantity: catalogue.methods(quantity) for quantity in quantities}
        known = {plain(method.name): method.name for row in rows.values() for method in row}
        names = [known.get(plain(name), name) for name in names]
        _check_names(names, rows)
    return {quantity: _able(chain, quantity, names) for quantity in quantities}


def _check_names(names: Sequence[str], rows: Mapping[str, Sequence[Method]]) -> None:
    known = {quantity: [method.name for method in row] for quantity, row in rows.items()}
    everywhere = dict.fromkeys(name for row in known.values() for name in row)
    strangers = [name for name in names if name not in everywhere]
    for quantity, row in known.items():
        if strangers or not set(row) & set(names):
            wrong = listed(strangers or names) or "none"
            hint = instead((strangers or names or [""])[0], row)
            raise MethodError(f"{quantity} has no such method: {wrong}; {hint}")


def _able(chain: Chain, quantity: str, names: Sequence[str] | None) -> Able:
    asked = [m for m in catalogue.methods(quantity) if names is None or m.name in names]
    reasons = {method.name: refusal(chain, quantity, method) for method in asked}
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
            [numbers[argument] for argument in find(quantity).arguments] for numbers in (few, many)
        )
        self.chosen = cheapest(chain, quantity)

    def ranking(self, able: list[Method], refused: dict[str, str], largest: float) -> Ranking:
        """All methods in order; those of more operations than ``largest`` are not run."""
        known = {m.name: catalogue.operations(self.quantity, m.name, self.chain.n) for m in able}
        run = [m for m in able if (known[m.name] or 0) <= largest]
        rows = self.rows(run) + [self.described(m) for m in able if m not in run]
        cost = program_cost(self.chain, self.quantity, self.chosen)
        return ranked(self.quantity, rows, self.chosen, cost, self.reference, refused)

    def rows(self, methods: list[Method]) -> list[Measured]:
        """Methods that are run: first checked one by one, then timed in turns."""
        rows, functions = {}, {}
        for method in methods:
            self.meter.step(f"{self.quantity} by {method.name}")
            tasks = [Task(self.quantity, method.name)]
            code = engine.Compilation(self.chain, tasks)
            function = engine.function(self.chain, tasks, code=code)
            values = _several(function(*self.few))
            alone = _several(function(*(array[0] for array in self.few)))
            for several, one_state in zip(values, alone, strict=True):
                several[0] = one_state  # by the code for one state
            size = code.instructions.get(("single", "float64"))
            rows[method.name] = replace(self._checked(method, values), code_bytes=size)
            functions[method.name] = function
        self.meter.step(f"{self.quantity}: the stopwatch")
        expected = shapes(self.chain, [Task(self.quantity)])
        arrays = tuple(np.empty((self.batch, *shape)) for shape in expected)
        in_place = {"out": arrays if len(arrays) > 1 else arrays[0], "threads": 1}
        one = [array[0].copy() for array in self.many]
        calls = {name: Call(function, one) for name, function in functions.items()}
        batches = {name: Call(f, self.many, in_place) for name, f in functions.items()}
        call_s = stopwatch.least(calls, self.seconds)
        batch_s = stopwatch.least(batches, self.seconds)
        return [
            replace(row, call_ns=1e9 * call_s[name], batch_ns=1e9 * batch_s[name] / self.batch)
            for name, row in rows.items()
        ]

    def described(self, method: Method) -> Measured:
        """A method as known without running it."""
        n, kinds = self.chain.n, self.chain.kinds
        counted = catalogue.operations(self.quantity, method.name, n)
        generic = None if counted is None or "P" in kinds else int(counted)
        known = method.name, method.paper, method.where, method.exact
        row = Measured(*known, method.name == self.chosen, generic)
        line = published.find(self.quantity, method.name, None, kinds)
        if line is None or line.printed is None:
            return row
        printed = int(sum(polynomial(n) for polynomial in line.printed))
        return replace(row, operations_printed=printed, printed_by=line.paper)

    def _checked(self, method: Method, values: Sequence[np.ndarray]) -> Measured:
        """A method with its operations and the error of its results."""
        error = self.reference.error(*values)
        verdict: Verdict = "wrong" if error > self.reference.tolerance else "right"
        return replace(
            self.described(method),
            operations_generic=count(self.chain, self.quantity, method.name).cost,
            operations=program_cost(self.chain, self.quantity, method.name),
            depth=depth(program(self.chain, [Task(self.quantity, method.name)])),
            error=error,
            verdict=verdict if method.exact else "approximate",
        )


def _several(results: Any) -> tuple[np.ndarray, ...]:
    """The results of a function, of one also as a tuple."""
    return results if isinstance(results, tuple) else (results,)
