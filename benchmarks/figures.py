"""The figures that armdyn must show, as data, and what a run says to each."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from benchmarks.accuracy import Accuracy
from benchmarks.arms import QUANTITIES
from benchmarks.bounds import Bound
from benchmarks.growth import Growth, is_cubic
from benchmarks.memory import Memory
from benchmarks.speed import Agreement, Row
from benchmarks.startup import TORQUE, Startup

ARM = "panda"  # of the figures of speed, where no other is named
CASADI = 4.0  # times faster than generated C, a new array each
SMALL, MANY_STATES = 4096, 100_000


class Wanted(NamedTuple):
    """What is asked of machines of one instruction set: times faster than a Pinocchio call."""

    single: dict[str, float]  # of every quantity, by arm
    batch: dict[str, float]  # of SMALL states, by quantity
    pure: float  # without the extension. Most of that call is Python's work, which wider vectors
    # leave alone; Pinocchio's call is nearly twice as fast on the machines that have them.


BY_VECTOR_BYTES = {  # other machines are measured, and not judged
    64: Wanted(
        {"panda": 10.0, "ur5": 12.0, "puma560": 12.0},
        dict(zip(QUANTITIES, (45.0, 60.0, 60.0, 60.0), strict=True)),
        0.9,
    ),
    32: Wanted({"panda": 8.0}, dict(zip(QUANTITIES, (42.0, 50.0, 50.0, 48.0), strict=True)), 2.0),
}
BOUND = 1.4  # times what the machine could do at best, for SMALL states
STORED = 1.5  # times what storing the mass matrices of MANY_STATES takes, or computing them
KEPT = 0.75  # of the small batch's speed, at 100 000 states
NARROW = 0.6  # of the time, in float32
AGREE = 1e-9  # relative difference between libraries
COLD, CACHED = 0.35, 0.060  # [s] from import to the first torque, beyond importing numpy
A_THREAD = 1.0  # [MiB] beyond inputs and outputs
ERROR = 50.0  # eps of the terms
STEP = 3.0  # of the time an instruction, from one size to the next
EXPONENT = 1.15  # of compile time over instructions: linear, within what timing tells
MANY = 2000  # instructions from which compile time is that of the instructions
SPAN = 4  # the largest program by the smallest, for a slope to mean something
LARGE, USABLE = 60, 5.0  # joints; [s] to the first mass matrix


@dataclass
class Results:
    """What a run measured; parts that were not asked for are empty."""

    machine: dict[str, str] = field(default_factory=dict)
    speed: list[Row] = field(default_factory=list)
    agreement: list[Agreement] = field(default_factory=list)
    bounds: list[Bound] = field(default_factory=list)
    vector_bytes: int = 0
    growth: list[Growth] = field(default_factory=list)
    accuracy: list[Accuracy] = field(default_factory=list)
    memory: list[Memory] = field(default_factory=list)
    startup: list[Startup] = field(default_factory=list)

    def time(self, quantity: str, library: str, **wanted: Any) -> float | None:
        """The least seconds a state of one row on one core; None if it was not measured."""
        wanted = {"arm": ARM, "dtype": "float64", "cores": 1, **wanted}
        for row in self.speed:
            if (row.quantity, row.library) == (quantity, library) and all(
                getattr(row, key) == value for key, value in wanted.items()
            ):
                return row.least
        return None


class Figure(NamedTuple):
    """One number that must be at least, or at most, so much; ``value`` None: not measured."""

    part: str
    what: str
    value: float | None
    limit: float
    at_least: bool = False
    unit: str = ""

    @property
    def verdict(self) -> str:
        """Whether the figure is reached."""
        if self.value is None:
            return "not measured"
        reached = self.value >= self.limit if self.at_least else self.value <= self.limit
        return "pass" if reached else "short"


def figures(results: Results) -> list[Figure]:
    """All figures, part by part."""
    return [
        *_agreement(results),
        *_single(results),
        *_batch(results),
        *_startup(results),
        *_memory(results),
        *_accuracy(results),
        *_growth(results),
    ]


def _ratio(slow: float | None, fast: float | None) -> float | None:
    return None if slow is None or fast is None else slow / fast


def _worst(part: str, what: str, found: dict[str, float], limit: float, unit: str = "") -> Figure:
    """The largest of some numbers, with the name of what it was found on."""
    if not found:
        return Figure(part, what, None, limit, unit=unit)
    where = max(found, key=lambda name: (math.isnan(found[name]), found[name]))
    return Figure(part, f"{what} ({where})" if where else what, found[where], limit, unit=unit)


def _agreement(results: Results) -> Iterator[Figure]:
    apart = {
        f"{row.library} {row.form}, {row.arm}, {row.quantity}, {row.states}": row.difference
        for row in results.agreement
    }
    yield _worst("agreement", "relative difference from armdyn", apart, AGREE)


def _single(results: Results) -> Iterator[Figure]:
    one = {"batch": 1, "form": "new array"}
    wanted = BY_VECTOR_BYTES.get(results.vector_bytes)
    for arm, limit in wanted.single.items() if wanted else ():
        for quantity in QUANTITIES:
            ours = results.time(quantity, "armdyn", arm=arm, **one)
            ratio = _ratio(results.time(quantity, "pinocchio", arm=arm, **one), ours)
            what = f"{arm}: {quantity} against pinocchio"
            yield Figure("single", what, ratio, limit, True, "x")
    for quantity in QUANTITIES:
        ours = results.time(quantity, "armdyn", **one)
        ratio = _ratio(results.time(quantity, "casadi", **one), ours)
        yield Figure("single", f"{quantity} against casadi", ratio, CASADI, True, "x")
    for quantity in QUANTITIES if wanted else ():
        ours = results.time(quantity, "armdyn without extension", **one)
        ratio = _ratio(results.time(quantity, "pinocchio", **one), ours)
        what = f"{quantity} without the extension against pinocchio"
        yield Figure("single", what, ratio, wanted.pure, True, "x")


def _batch(results: Results) -> Iterator[Figure]:
    def ours(quantity: str, count: int, dtype: str = "float64") -> float | None:
        return results.time(quantity, "armdyn", states=count, form="in place", dtype=dtype)

    def bound(quantity: str, count: int) -> Bound | None:
        key = ARM, quantity, "float64", count
        found = [b for b in results.bounds if (b.arm, b.quantity, b.dtype, b.states) == key]
        return found[0] if found else None

    wanted = BY_VECTOR_BYTES.get(results.vector_bytes)
    for quantity, limit in wanted.batch.items() if wanted else ():
        call = results.time(quantity, "pinocchio", batch=SMALL, form="new array")
        what = f"{quantity}, {SMALL} states, against a pinocchio call"
        yield Figure("batch", what, _ratio(call, ours(quantity, SMALL)), limit, True, "x")
    for quantity in QUANTITIES:
        best = bound(quantity, SMALL)
        ratio = _ratio(ours(quantity, SMALL), best.seconds if best else None)
        what = f"{quantity}, {SMALL} states, time beside the machine's bound"
        yield Figure("batch", what, ratio, BOUND, unit="x")
    best = bound("mass_matrix", MANY_STATES)
    ratio = _ratio(ours("mass_matrix", MANY_STATES), best.seconds if best else None)
    what = f"mass_matrix, {MANY_STATES} states, beside the slower of computing and storing"
    yield Figure("batch", what, ratio, STORED, unit="x")
    for quantity in (name for name in QUANTITIES if name != "mass_matrix"):
        kept = _ratio(ours(quantity, SMALL), ours(quantity, MANY_STATES))
        what = f"{quantity}, {MANY_STATES} states, speed kept from {SMALL}"
        yield Figure("batch", what, kept, KEPT, True)
    for quantity in QUANTITIES:
        ratio = _ratio(ours(quantity, SMALL, "float32"), ours(quantity, SMALL))
        what = f"{quantity}, {SMALL} states, float32's time beside float64's"
        yield Figure("batch", what, ratio, NARROW)


def _startup(results: Results) -> Iterator[Figure]:
    for what, limit in (("cold", COLD), ("cached", CACHED)):
        wanted = (what, ARM, TORQUE)
        rows = [row for row in results.startup if (row.what, row.arm, row.quantity) == wanted]
        seconds = rows[0].seconds if rows else None
        yield Figure("startup", f"import to first torque, {what}", seconds, limit, unit="s")


def _memory(results: Results) -> Iterator[Figure]:
    for kind in ("resident", "allocated"):
        a_thread = {
            f"{row.quantity}, {row.form}, {row.threads} threads": getattr(row, kind)
            / row.threads
            / 2**20
            for row in results.memory
        }
        what = f"batch, {kind} beyond arrays, a thread"
        yield _worst("memory", what, a_thread, A_THREAD, "MiB")


def _accuracy(results: Results) -> Iterator[Figure]:
    rows = [row for row in results.accuracy if row.dtype == "float64"]
    for quantity in dict.fromkeys(row.quantity for row in rows) or ("every quantity",):
        errors = {row.arm: row.error for row in rows if row.quantity == quantity}
        yield _worst("accuracy", quantity, errors, ERROR, "eps")


def _growth(results: Results) -> Iterator[Figure]:
    by_quantity = {
        quantity: list(rows) for quantity, rows in groupby(results.growth, lambda row: row.quantity)
    }
    steps = {
        f"{quantity} at {after.n} joints": after.instruction / before.instruction
        for quantity, rows in by_quantity.items()
        for before, after in pairwise(rows)
    }
    yield _worst("growth", "largest step of the time an instruction", steps, STEP, "x")
    slopes = {quantity: exponent(rows) for quantity, rows in by_quantity.items()}
    known = {quantity: slope for quantity, slope in slopes.items() if slope is not None}
    yield _worst("growth", "compile time ~ instructions to the power", known, EXPONENT)
    reached = [rows[-1].n for name, rows in by_quantity.items() if not is_cubic(name)]
    least = min(reached) if LARGE in reached else None
    what = "joints reached by every quantity of less than n^3 numbers, in 30 s"
    yield Figure("growth", what, least, LARGE, True)
    matrix = [row for row in by_quantity.get("mass_matrix", []) if row.n == LARGE]
    used = matrix[0].first_use if matrix else None
    yield Figure("growth", f"first mass matrix of {LARGE} joints", used, USABLE, unit="s")


def exponent(rows: list[Growth]) -> float | None:
    """The slope of log compile time over log instructions, where there are many of these.

    None where the largest program is not at least SPAN times the smallest: over less, the noise of
    two timings is a slope of its own.
    """
    points = [
        (math.log(row.instructions), math.log(row.compile))
        for row in rows
        if row.instructions >= MANY
    ]
    if len(points) < 3 or points[-1][0] - points[0][0] < math.log(SPAN):
        return None
    x, y = (sum(column) / len(points) for column in zip(*points, strict=True))
    spread = sum((a - x) ** 2 for a, _ in points)
    return sum((a - x) * (b - y) for a, b in points) / spread
