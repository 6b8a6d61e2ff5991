"""A step's kernel, called row after row along arrays of states.

Arrays have the axes (rows, states, numbers). The kernel reads and writes the rows where they lie;
an array whose first stride is zero gives the same row to every step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import CFUNCTYPE, PYFUNCTYPE, c_int64, c_void_p
from functools import lru_cache

import numpy as np

from armdyn.chain import Chain
from armdyn.engine import calls
from armdyn.engine.workers import default_threads
from armdyn.simulation.step import STATE, Step, StepKernels

SINGLE = PYFUNCTYPE(None, c_void_p, c_void_p)  # keeps the GIL, which costs less
BATCH = CFUNCTYPE(None, c_void_p, c_void_p, c_int64)
TILE = 1024  # states that take all steps of a march together, in the cache
WORK = {"rk4": 4, "momentum": 1, "control": 1, "ab4": 1}  # evaluations of the dynamics in a step


class Routine:
    """A compiled step on a chain; ``routine`` keeps them."""

    def __init__(self, chain: Chain, step: Step, dtype: str) -> None:
        self.step, self._dtype = step, dtype
        self.inputs = len(STATE[step.method]) + len(step.torque) + len(step.given)
        self.nanoseconds = 5 * chain.n * WORK.get(step.method, step.iterations)  # a state, roughly
        self._kernels = StepKernels(chain, step)
        self._addresses: dict[str, int] = {}

    def address(self, states: int) -> int:
        """Where the kernel for one state or for several begins; compiled if it is the first."""
        kind = "single" if states == 1 else "batch"
        if kind not in self._addresses:
            self._addresses[kind] = self._kernels(kind, self._dtype)
        return self._addresses[kind]

    def march(
        self, steps: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]
    ) -> None:
        """So many steps: the k-th reads row k of every input and writes row k of every output."""
        March([self], [Pointers(steps, [*inputs, *outputs])]).go(bytes(steps))


class March:
    """Steps that are ready to be made: by several routines in turns, each with its table."""

    def __init__(self, routines: Sequence[Routine], tables: Sequence[Pointers]) -> None:
        self.states, self._tables = tables[0].states, tables
        self._turns = tuple(
            (routine.address(self.states), routine.inputs, table.pointers, table.strides)
            for routine, table in zip(routines, tables, strict=True)
        )
        self._nanoseconds = self.states * max(routine.nanoseconds for routine in routines)

    def go(self, plan: bytes, first: int = 0) -> None:
        """One step after another: the k-th by turn plan[k], along row first + k of its table.

        Many states are spread over threads, each with the same bits on any.
        """
        if not calls.EXTENSION:
            return self._go_in_python(plan, first)
        worth = len(plan) * self._nanoseconds > calls.WORTH_THREADS_IN_C
        threads = default_threads() if worth else 1
        calls._call.march(plan, self._turns, first, self.states, TILE, threads)

    def _go_in_python(self, plan: bytes, first: int) -> None:
        """The same on this thread."""
        group = TILE if len(plan) > 1 else self.states
        for begin in range(0, self.states, group):
            count = min(group, self.states - begin)
            kernels = [self._kernel(turn, count) for turn in range(len(self._turns))]
            tables = [table.moved(begin) if begin else table for table in self._tables]
            for row, turn in enumerate(plan, first):
                kernels[turn](tables[turn].rows[row])

    def _kernel(self, turn: int, count: int) -> Callable[[int], None]:
        """A function that does one step of so many states, by the address of a table's row."""
        address, inputs, *_ = self._turns[turn]
        if self.states == 1:
            single = SINGLE(address)
            return lambda row: single(row, row + 8 * inputs)
        batch = BATCH(address)
        return lambda row: batch(row, row + 8 * inputs, count)


@lru_cache(maxsize=64)
def routine(chain: Chain, step: Step, dtype: str) -> Routine:
    """A step on a chain, compiled for "float64" or "float32"; kept for the next simulation."""
    return Routine(chain, step, dtype)


class Pointers:
    """Pointers to the rows of arrays; ``rows`` are the addresses of its own rows."""

    def __init__(self, steps: int, arrays: Sequence[np.ndarray]) -> None:
        self.arrays, self.states = arrays, arrays[-1].shape[1]  # the arrays stay in memory
        starts = np.array([array.ctypes.data for array in arrays])
        rows, states, _ = np.transpose([array.strides for array in arrays])
        self.pointers = starts + np.arange(steps)[:, None] * rows
        self.strides = np.ascontiguousarray(states)
        begin = self.pointers.ctypes.data
        self.rows = range(begin, begin + self.pointers.nbytes, self.pointers.strides[0])

    def moved(self, states: int) -> Pointers:
        """A table of pointers that begin so many states later."""
        return Pointers(len(self.pointers), [array[:, states:] for array in self.arrays])


def as_rows(array: np.ndarray, count: int, states: int, dtype: np.dtype) -> np.ndarray:
    """The array, each of its first two axes 1 or of full length, as rows for a kernel."""
    length, _, numbers = array.shape
    whole = np.ascontiguousarray(np.broadcast_to(array, (length, states, numbers)), dtype)
    return np.broadcast_to(whole, (count, states, numbers)) if length == 1 else whole
