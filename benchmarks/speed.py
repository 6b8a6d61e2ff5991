"""Time a state of the same four quantities by every library: single calls and batches."""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.arms import QUANTITIES, arm, states
from benchmarks.peer import Peer
from benchmarks.peers import PEERS, Armdyn, ArmdynPure, Pinocchio
from benchmarks.timing import Call, interleaved

BATCHES = (4096, 100_000)
MANY = 1000  # states at which libraries must agree


class Label(NamedTuple):
    """What was timed."""

    library: str
    form: str  # "new array", "in place"
    dtype: str = "float64"


@dataclass(frozen=True)
class Row:
    """Seconds a state of one way to compute one quantity of one arm."""

    arm: str
    quantity: str
    library: str
    form: str
    dtype: str
    batch: int  # the size of the batches that it took turns with; 1: single calls
    states: int  # in one call
    cores: int
    least: float
    median: float


@dataclass(frozen=True)
class Agreement:
    """The largest difference of a library from armdyn, relative to the state's result."""

    arm: str
    quantity: str
    library: str
    form: str
    states: int
    difference: float


@dataclass(frozen=True)
class Plan:
    """What to measure: which arms with which libraries, how thoroughly."""

    arms: tuple[str, ...]
    peers: tuple[str, ...]
    build: Path  # for compiled peers
    rounds: int
    batches: tuple[int, ...] = BATCHES

    def libraries(self, name: str) -> list[Peer]:
        """The peers that are installed, after armdyn itself, on one arm."""
        kinds: list[type[Peer]] = [Armdyn, ArmdynPure]
        kinds += [peer for peer in PEERS if peer.name in self.peers and not peer.missing()]
        chain = arm(name)
        return [kind(chain, self.build) for kind in kinds]


def agreement(plan: Plan) -> list[Agreement]:
    """How far each library is from armdyn, for one state and for many."""
    return [
        Agreement(name, quantity, *label[:2], count, difference)
        for count in (1, MANY)
        for name in plan.arms
        for quantity, calls in _calls(plan, name, count)
        for label, difference in _differences(calls, count)
    ]


def single(plan: Plan) -> list[Row]:
    """One state a call."""
    return [
        row
        for name in plan.arms
        for quantity, calls in _calls(plan, name, 1)
        for row in _timed(plan, name, quantity, calls, 1)
    ]


def batch(plan: Plan) -> list[Row]:
    """Many states a call, beside float32 and Pinocchio's single call."""
    return [
        row
        for name in plan.arms
        for count in plan.batches
        for quantity, calls in _calls(plan, name, count, aside=True)
        for row in _timed(plan, name, quantity, calls, count)
    ]


def together(rows: Iterable[Row]) -> list[Row]:
    """One row of those that several passes found of the same: the least, the median of medians."""
    found: dict[Row, list[Row]] = {}
    for row in rows:
        found.setdefault(replace(row, least=0.0, median=0.0), []).append(row)
    return [
        replace(
            what,
            least=min(row.least for row in passes),
            median=statistics.median(row.median for row in passes),
        )
        for what, passes in found.items()
    ]


def _calls(
    plan: Plan, name: str, count: int, aside: bool = False
) -> Iterator[tuple[str, dict[Label, Call]]]:
    """The calls of all libraries, quantity by quantity; ``aside``, what batches are compared to."""
    cores = len(os.sched_getaffinity(0))
    libraries = plan.libraries(name)
    numbers = states(libraries[0].chain, count)
    for quantity, arguments in QUANTITIES.items():
        many = [numbers[argument] for argument in arguments]
        one = [array[0].copy() for array in many]
        narrow = [array.astype(np.float32) for array in many]
        calls: dict[Label, Call | None] = {}
        for library in libraries:
            new, in_place = Label(library.name, "new array"), Label(library.name, "in place")
            if count == 1:
                calls[new] = library.single(quantity, *one)
                calls[in_place] = library.in_place(quantity, *one)
            elif not isinstance(library, ArmdynPure):
                calls[in_place] = library.batch(quantity, *many, threads=cores)
                if aside and isinstance(library, Armdyn):
                    call = library.batch(quantity, *narrow, threads=cores)
                    calls[in_place._replace(dtype="float32")] = call
                if aside and isinstance(library, Pinocchio):
                    calls[new] = library.single(quantity, *one)
        yield quantity, {label: call for label, call in calls.items() if call}


def _differences(calls: dict[Label, Call], count: int) -> Iterator[tuple[Label, float]]:
    """How far each result is from the first, relative to the largest number of its state."""
    results = {label: np.array(call()).reshape(count, -1) for label, call in calls.items()}
    reference = next(iter(results.values()))
    size = np.abs(reference).max(axis=1)
    for label, result in results.items():
        yield label, float((np.abs(result - reference).max(axis=1) / size).max())


def _timed(plan: Plan, name: str, quantity: str, calls: dict[Label, Call], batch: int) -> list[Row]:
    cores = len(os.sched_getaffinity(0))
    return [
        Row(name, quantity, *label, batch, calls[label].states, cores, *time)
        for label, time in interleaved(calls, plan.rounds).items()
    ]
