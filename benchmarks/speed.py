"""Time a state of the same four quantities by every library: single calls and batches."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.arms import QUANTITIES, arm, states
from benchmarks.peer import Peer
from benchmarks.peers import PEERS, Armdyn, ArmdynPure, Pinocchio
from benchmarks.timing import Call, interleaved

AGREE = 1e-9  # of the largest number of the state's result
BATCHES = (4096, 100_000)


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
    """The largest difference of a library from the first one, relative to the state's result."""

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


def single(plan: Plan) -> tuple[list[Row], list[Agreement]]:
    """One state a call."""
    rows: list[Row] = []
    seen: list[Agreement] = []
    for name in plan.arms:
        libraries = plan.libraries(name)
        numbers = states(libraries[0].chain)
        for quantity, arguments in QUANTITIES.items():
            state = [numbers[argument] for argument in arguments]
            calls: dict[Label, Call] = {}
            for library in libraries:
                calls[Label(library.name, "new array")] = library.single(quantity, *state)
                in_place = library.in_place(quantity, *state)
                if in_place:
                    calls[Label(library.name, "in place")] = in_place
            seen += agreement(name, quantity, calls, 1)
            rows += _timed(plan, name, quantity, calls, 1)
    return rows, seen


def batch(plan: Plan) -> tuple[list[Row], list[Agreement]]:
    """Many states a call on all the cores this process may use, beside Pinocchio's single call."""
    cores = len(os.sched_getaffinity(0))
    rows: list[Row] = []
    seen: list[Agreement] = []
    for name in plan.arms:
        libraries = [library for library in plan.libraries(name) if library.name != ArmdynPure.name]
        for count in plan.batches:
            numbers = states(libraries[0].chain, count)
            for quantity, arguments in QUANTITIES.items():
                state = [numbers[argument] for argument in arguments]
                calls: dict[Label, Call] = {}
                for library in libraries:
                    call = library.batch(quantity, *state, threads=cores)
                    if call:
                        calls[Label(library.name, "in place")] = call
                seen += agreement(name, quantity, calls, count)
                first = [array[0].copy() for array in state]
                narrow = [array.astype(np.float32) for array in state]
                for library in libraries:
                    if isinstance(library, Armdyn):
                        call = library.batch(quantity, *narrow, threads=cores)
                        calls[Label(library.name, "in place", "float32")] = call
                    elif isinstance(library, Pinocchio):
                        calls[Label(library.name, "new array")] = library.single(quantity, *first)
                rows += _timed(plan, name, quantity, calls, count)
    return rows, seen


def agreement(name: str, quantity: str, calls: dict[Label, Call], count: int) -> list[Agreement]:
    """How far each result is from the first."""
    results = {label: np.array(call()).reshape(count, -1) for label, call in calls.items()}
    reference = next(iter(results.values()))
    size = np.abs(reference).max(axis=1)
    return [
        Agreement(
            name,
            quantity,
            label.library,
            label.form,
            count,
            float((np.abs(result - reference).max(axis=1) / size).max()),
        )
        for label, result in results.items()
    ]


def _timed(plan: Plan, name: str, quantity: str, calls: dict[Label, Call], batch: int) -> list[Row]:
    cores = len(os.sched_getaffinity(0))
    return [
        Row(name, quantity, *label, batch, calls[label].states, cores, *time)
        for label, time in interleaved(calls, plan.rounds).items()
    ]
