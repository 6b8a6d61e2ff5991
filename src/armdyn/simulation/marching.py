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
from armdyn.simulation.step import STATE, Step, StepKernels

SINGLE = PYFUNCTYPE(None, c_void_p, c_void_p)  # keeps the GIL, which costs less
BATCH = CFUNCTYPE(None, c_void_p, c_void_p, c_int64)
TILE = 1024  # states that take all steps of a march together, in the cache


class Routine:
    """A compiled step on a chain; ``routine`` keeps them."""

    def __init__(self, chain: Chain, step: Step, dtype: str) -> None:
        self.step, self._dtype = step, dtype
        self._kernels = StepKernels(chain, step)
        self._outputs_at = 8 * (len(STATE[step.method]) + len(step.torque))
        self._addresses: dict[str, int] = {}

    def kernel(self, states: int) -> Callable[[int], None]:
        """A function that does one step of so many states; compiled if it is the first.

        It is called with the address of a row of a ``Pointers``.
        """
        kind, outputs_at = "single" if states == 1 else "batch", self._outputs_at
        if kind not in self._addresses:
            self._addresses[kind] = self._kernels(kind, self._dtype)
        if states == 1:
            single = SINGLE(self._addresses[kind])
            return lambda row: single(row, row + outputs_at)
        batch = BATCH(self._addresses[kind])
        return lambda row: batch(row, row + outputs_at, states)

    def march(
        self, steps: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]
    ) -> None:
        """So many steps: the k-th reads row k of every input and writes row k of every output."""
        table = Pointers(steps, [*inputs, *outputs])
        for first in range(0, table.states, TILE):
            kernel = self.kernel(min(TILE, table.states - first))
            for row in table.rows:
                kernel(row)
            table.shift(TILE)


def march_in_turns(
    plan: Sequence[int], routines: Sequence[Routine], tables: Sequence[Pointers]
) -> None:
    """One step after another: the k-th by the routine that the plan says, row k of its pointers."""
    states = tables[0].states
    for first in range(0, states, TILE):
        kernels = [routine.kernel(min(TILE, states - first)) for routine in routines]
        for k, turn in enumerate(plan):
            kernels[turn](tables[turn].rows[k])
        for table in tables:
            table.shift(TILE)


@lru_cache(maxsize=64)
def routine(chain: Chain, step: Step, dtype: str) -> Routine:
    """A step on a chain, compiled for "float64" or "float32"; kept for the next simulation."""
    return Routine(chain, step, dtype)


class Pointers:
    """Pointers to the rows of arrays; ``rows`` are the addresses of its own rows."""

    def __init__(self, steps: int, arrays: Sequence[np.ndarray]) -> None:
        self.arrays, self.states = arrays, arrays[-1].shape[1]  # the arrays stay in memory
        starts = np.array([array.ctypes.data for array in arrays])
        strides = np.array([array.strides[0] for array in arrays])
        self.pointers = starts + np.arange(steps)[:, None] * strides
        begin = self.pointers.ctypes.data
        self.rows = range(begin, begin + self.pointers.nbytes, self.pointers.strides[0])

    def shift(self, states: int) -> None:
        """Lets all pointers begin so many states later."""
        self.pointers += states * np.array([array.strides[1] for array in self.arrays])


def as_rows(array: np.ndarray, count: int, states: int, dtype: np.dtype) -> np.ndarray:
    """The array, each of its first two axes 1 or of full length, as rows for a kernel."""
    length, _, numbers = array.shape
    whole = np.ascontiguousarray(np.broadcast_to(array, (length, states, numbers)), dtype)
    return np.broadcast_to(whole, (count, states, numbers)) if length == 1 else whole
