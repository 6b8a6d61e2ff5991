"""A batch of states, block by block and thread by thread, through a kernel.

A kernel wants plain rows of numbers, state after state. Memory that lies so is used in place.
Memory that does not (broadcast, strided, of another type) goes through a buffer, a block of
states at a time, so that a batch of any size needs no more than a block for each thread.
"""

from __future__ import annotations

import functools
import math
import operator
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from ctypes import c_void_p
from typing import Any

import numpy as np

Shape = tuple[int, ...]
Kernel = Callable[[Any, Any, int], None]  # pointers to arguments, pointers to results, count
Box = tuple[int, int, tuple[int | slice, ...]]  # first state, number of states, index

BLOCK = 1024  # states in a block, fewer where they would fill more bytes than
BLOCK_BYTES = 2**19


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
        self.shape = shape
        self.dtype = dtype
        self.bytes = math.prod(shape) * dtype.itemsize  # of one state


class Window:
    """One thread's way to some rows: in place, or through a buffer for a block of them."""

    def __init__(self, rows: Rows, limit: int) -> None:
        self.rows = rows
        self.buffer = (
            rows.array if rows.in_place else np.empty((limit, *rows.shape), dtype=rows.dtype)
        )
        self.address = self.buffer.ctypes.data

    def at(self, first: int) -> int:
        """Where the kernel finds the row of a box's first state."""
        return self.address + first * self.rows.bytes if self.rows.in_place else self.address

    def load(self, box: Box) -> None:
        """Brings the rows of a box into the buffer."""
        if not self.rows.in_place:
            _, count, index = box
            source = self.rows.array[index]
            self.buffer[:count].reshape(source.shape)[...] = source

    def store(self, box: Box) -> None:
        """Takes the rows of a box out of the buffer."""
        if not self.rows.in_place:
            _, count, index = box
            target = self.rows.array[index]
            target[...] = self.buffer[:count].reshape(target.shape)


def run(
    kernel: Kernel, inputs: list[Rows], outputs: list[Rows], batch: Shape, threads: int
) -> None:
    """Runs the kernel over a batch that is not empty, on up to so many threads."""
    count = math.prod(batch)
    threads = min(threads, count)
    limit = -(-count // threads)
    buffered = sum(rows.bytes for rows in (*inputs, *outputs) if not rows.in_place)
    if buffered:
        limit = min(limit, BLOCK, max(1, BLOCK_BYTES // buffered))
    else:
        batch = (count,)

    def part(k: int) -> None:
        start, stop = count * k // threads, count * (k + 1) // threads
        sources = [Window(rows, limit) for rows in inputs]
        targets = [Window(rows, limit) for rows in outputs]
        read, written = (c_void_p * len(inputs))(), (c_void_p * len(outputs))()
        for box in boxes(batch, limit):
            first, size, _ = box
            if start <= first < stop:
                for window in sources:
                    window.load(box)
                read[:] = [window.at(first) for window in sources]
                written[:] = [window.at(first) for window in targets]
                kernel(read, written, size)
                for window in targets:
                    window.store(box)

    _in_parallel(part, threads)


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
            yield first, count, (*outer, slice(start, stop))
            first += count


# Threads ------------------------------------------------------------------------------------


def cores() -> int:
    """The number of cores this process may use."""
    if hasattr(os, "process_cpu_count"):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def default_threads() -> int:
    """ARMDYN_NUM_THREADS where it is set, else one for each core."""
    asked = os.environ.get("ARMDYN_NUM_THREADS", "").strip()
    if not asked:
        return cores()
    return positive("ARMDYN_NUM_THREADS", int(asked) if asked.isdecimal() else asked)


def positive(name: str, value: Any) -> int:
    """The value, if it is a whole number of at least 1."""
    try:
        number = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise ValueError(f"{name} is {value!r}; expected a whole number of at least 1")
    return number


@functools.cache
def _pool() -> ThreadPoolExecutor:
    """The threads that all calls share; none starts before there is work for it."""
    return ThreadPoolExecutor(cores(), "armdyn")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a child has none of its parent's


def _submit(part: Callable[[int], None], k: int) -> Future[None] | None:
    """Starts a part; None where no thread can be started, as at the interpreter's end."""
    try:
        return _pool().submit(part, k)
    except RuntimeError:
        return None


def _in_parallel(part: Callable[[int], None], threads: int) -> None:
    """Runs part(0), ..., part(threads - 1): the first here, the others on the pool."""
    if threads == 1:
        part(0)
        return
    started = [_submit(part, k) for k in range(1, threads)]
    try:
        part(0)
        for k, future in enumerate(started, 1):
            if future is None:
                part(k)
    finally:
        running = [future for future in started if future is not None]
        wait(running)
    for future in running:
        future.result()
