"""dask: arrays in, lazy arrays out, a task for each block of the batch axes.

A block is computed by NumPy's call, on one thread: dask has threads or workers of its own. The
function travels to them as what it computes, a few kilobytes, and is compiled there once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import dask.array as da
import numpy as np
from dask.base import tokenize

from armdyn.arrays import key
from armdyn.engine.blocks import Shape
from armdyn.engine.calls import Argument, CarefulPath, Compile, Function, real_array
from armdyn.errors import ShapeError, shorten

MOST_KEPT = 64  # functions that a worker has compiled


class Block:
    """Computes all results for a block of states, one after the other along the last axis."""

    def __init__(self, function: Callable[..., Any], threads: int | None) -> None:
        self.function, self.threads = function, threads
        self.path: CarefulPath = function.path  # type: ignore[attr-defined]

    def __call__(self, *arrays: np.ndarray) -> np.ndarray:
        """The results of a block."""
        found = self.function(*arrays, threads=self.threads or 1)
        if len(self.path.shapes) == 1:
            return np.asarray(found)
        batch = np.shape(found[0])[: np.ndim(found[0]) - len(self.path.shapes[0])]
        pairs = zip(found, self.path.shapes, strict=True)
        rows = [np.reshape(each, (*batch, math.prod(shape))) for each, shape in pairs]
        return np.concatenate(rows, axis=-1)

    @property
    def key(self) -> str:
        """What it computes, in a word that is the same in every process."""
        return key(self.path)

    def __dask_tokenize__(self) -> str:
        return self.key

    def __reduce__(self) -> tuple[Any, ...]:
        path = self.path
        takes = dict(zip(path.arguments, path.takes, strict=True))
        return again, (self.key, path.name, takes, path.shapes, path.compile, self.threads)


_functions: dict[str, Callable[..., Any]] = {}  # of blocks that came from other processes


def again(
    key: str,
    name: str,
    takes: dict[str, Shape],
    shapes: tuple[Shape, ...],
    code: Compile,
    threads: int | None,
) -> Block:
    """A block in another process, which compiles what it computes only once."""
    if key not in _functions:
        if len(_functions) >= MOST_KEPT:
            _functions.pop(next(iter(_functions)), None)
        arguments = {name: Argument(shape) for name, shape in takes.items()}
        _functions[key] = Function(name, arguments, shapes, code)
    return Block(_functions[key], threads)


def call(path: CarefulPath, values: Sequence[Any], out: Any, threads: int | None) -> Any:
    """The results of a call, to be computed when they are asked for."""
    if out is not None:
        raise ShapeError(f"out is {shorten(out)}; expected none with dask's arrays, which are lazy")
    for name, value in zip(path.arguments, values, strict=True):
        real_array(name, value._meta)
    narrow = all(value.dtype == np.float32 for value in values)
    dtype = np.dtype(np.float32 if narrow else np.float64)
    batch = path.batch([value.shape for value in values])
    leading = [f"batch {i}" for i in range(len(batch))]
    given: list[Any] = []
    for k, (value, shape) in enumerate(zip(values, path.takes, strict=True)):
        state = [f"argument {k} {i}" for i in range(len(shape))]
        before = value.ndim - len(shape)
        whole = value.rechunk({before + i: -1 for i in range(len(shape))})
        given += [whole, [*leading[len(batch) - before :], *state]]
    block, sizes = Block(path.quickest, threads), [math.prod(shape) for shape in path.shapes]
    row = path.shapes[0] if len(sizes) == 1 else (sum(sizes),)
    axes = [f"result {i}" for i in range(len(row))]
    token = tokenize(block, *values)
    together = da.blockwise(
        block,
        [*leading, *axes],
        *given,
        name=f"armdyn-{path.name.replace(' ', '-')}-{token}",
        new_axes=dict(zip(axes, row, strict=True)),
        concatenate=True,
        dtype=dtype,
        meta=np.empty((0,) * (len(batch) + len(row)), dtype),
    )
    if len(sizes) == 1:
        return together
    ends = np.cumsum(sizes)
    return tuple(
        together[..., end - size : end].reshape((*batch, *shape))
        if shape
        else together[..., end - 1]
        for end, size, shape in zip(ends, sizes, path.shapes, strict=True)
    )


def like(value: Any, example: Any) -> Any:
    """A list or number as an array of the same kind as another."""
    return da.from_array(np.asarray(value, np.result_type(example.dtype, np.float32)), chunks=-1)


def on_host(value: Any) -> None:
    """Nothing: an array's numbers are not known before they are computed."""
    return None
