"""A batch of states, block by block and thread by thread, through a kernel.

A kernel wants plain rows of numbers, state after state. Memory that lies so is used in place.
Memory that does not (broadcast, strided, of another type) goes through a buffer, a block of
states at a time, so that a batch of any size needs no more than a block for each thread.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from ctypes import Array, c_void_p
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from armdyn.engine.workers import side_by_side

Shape = tuple[int, ...]
Kernel = Callable[[Any, Any, int], None]  # pointers to arguments, pointers to results, count

BLOCK = 1024  # states in a block, fewer where they would fill more bytes than
BLOCK_BYTES = 2**19


class Box(NamedTuple):
    """A part of a batch whose states lie one after another, in C order."""

    first: int  # state
    states: int
    where: tuple[int | slice, ...]  # it is in the batch axes


class Rows:
    """An argument or result of a batch: an array (*batch, *shape) seen as rows of numbers."""

    def __init__(self, array: np.ndarray, batch: Shape, shape: Shape, dtype: np.dtype) -> None:
        whole = (*batch, *shape)
        flags = array.flags
        self.in_place = (
            array.shape == whole and array.dtype == dtype and flags.c_contiguous and flags.aligned
        )
        plain = np.asarray(array)
        self.array = plain if plain.shape == whole else np.broadcast_to(plain, whole)
        self.address = plain.ctypes.data
        self.shape = shape
        self.dtype = dtype
        self.bytes = math.prod(shape) * dtype.itemsize  # of one state


class Window:
    """One thread's way to some rows: in place, or through a buffer for a block of them."""

    def __init__(self, rows: Rows, limit: int) -> None:
        self.rows = rows
        self.buffer = np.empty((0 if rows.in_place else limit, *rows.shape), rows.dtype)
        self.address = self.buffer.ctypes.data

    def at(self, first: int) -> int:
        """Where the kernel finds the rows of the box that begins with this state."""
        rows = self.rows
        return rows.address + first * rows.bytes if rows.in_place else self.address

    def load(self, box: Box) -> None:
        """Brings the rows of a box into the buffer."""
        if not self.rows.in_place:
            source = self.rows.array[box.where]
            self.buffer[: box.states].reshape(source.shape)[...] = source

    def store(self, box: Box) -> None:
        """Takes the rows of a box out of the buffer."""
        if not self.rows.in_place:
            target = self.rows.array[box.where]
            target[...] = self.buffer[: box.states].reshape(target.shape)


def run(
    kernel: Kernel, inputs: list[Rows], outputs: list[Rows], batch: Shape, threads: int
) -> None:
    """Runs the kernel over a batch that is not empty, on up to so many threads."""
    count = math.prod(batch)
    threads = min(threads, count)
    buffered = sum(rows.bytes for rows in (*inputs, *outputs) if not rows.in_place)
    limit = min(-(-count // threads), BLOCK, BLOCK_BYTES // buffered or 1) if buffered else 0

    def part(start: int, stop: int) -> Callable[[], None]:
        if buffered:
            return lambda: _through_buffers(kernel, inputs, outputs, batch, limit, start, stop)
        return lambda: _in_place(kernel, inputs, outputs, start, stop)

    bounds = [count * k // threads for k in range(threads + 1)]
    side_by_side([part(start, stop) for start, stop in pairwise(bounds)])


def _in_place(
    kernel: Kernel, inputs: list[Rows], outputs: list[Rows], start: int, stop: int
) -> None:
    """Runs the kernel over a range of states."""
    read = _pointers([rows.address + start * rows.bytes for rows in inputs])
    written = _pointers([rows.address + start * rows.bytes for rows in outputs])
    kernel(read, written, stop - start)


def _through_buffers(
    kernel: Kernel,
    inputs: list[Rows],
    outputs: list[Rows],
    batch: Shape,
    limit: int,
    start: int,
    stop: int,
) -> None:
    """Runs the kernel over the boxes of a batch that begin in this range of states."""
    sources = [Window(rows, limit) for rows in inputs]
    targets = [Window(rows, limit) for rows in outputs]
    for box in boxes(batch, limit):
        if start <= box.first < stop:
            for window in sources:
                window.load(box)
            read = _pointers([window.at(box.first) for window in sources])
            written = _pointers([window.at(box.first) for window in targets])
            kernel(read, written, box.states)
            for window in targets:
                window.store(box)


def _pointers(addresses: list[int]) -> Array[c_void_p]:
    return (c_void_p * len(addresses))(*addresses)


def boxes(batch: Shape, limit: int) -> Iterator[Box]:
    """Tiles a batch, in C order, with boxes of up to ``limit`` states."""
    axis, inner = len(batch) - 1, 1  # the axis that is cut; those after it stay whole
    while axis > 0 and inner * batch[axis] <= limit:
        inner *= batch[axis]
        axis -= 1
    step, first = max(1, limit // inner), 0
    for outer in np.ndindex(*batch[:axis]):
        for start in range(0, batch[axis], step):
            stop = min(start + step, batch[axis])
            count = (stop - start) * inner
            yield Box(first, count, (*outer, slice(start, stop)))
            first += count
