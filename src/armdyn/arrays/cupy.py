"""CuPy: arrays on a GPU in, arrays on that GPU out, on its current stream."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import cupy
import numpy as np

from armdyn.arrays import check_devices, cuda
from armdyn.engine.calls import CarefulPath
from armdyn.errors import ShapeError, shorten


def call(path: CarefulPath, values: Sequence[Any], out: Any, threads: int | None) -> Any:
    """The results of a call on CuPy's arrays."""
    check_devices(path.arguments, [value.device for value in values])
    for name, value in zip(path.arguments, values, strict=True):
        if value.dtype.kind not in "iuf":
            raise ShapeError(
                f"{name} has dtype {value.dtype}; expected real numbers (float64, float32 or "
                "integers)"
            )
    narrow = all(value.dtype == np.float32 for value in values)
    dtype = np.dtype(np.float32 if narrow else np.float64)
    batch = path.batch([value.shape for value in values])
    cuda.ready(path)
    with values[0].device:
        found = launch(path, values, batch, dtype)
        if out is not None:
            return into(out, found)
    return found if len(found) > 1 else found[0]


def launch(
    path: CarefulPath, values: Sequence[Any], batch: tuple[int, ...], dtype: np.dtype
) -> tuple[Any, ...]:
    """The results of a call on the current device."""
    results = tuple(cupy.empty((*batch, *shape), dtype) for shape in path.shapes)
    count, rows = math.prod(batch), []
    for value, shape in zip(values, path.takes, strict=True):
        if value.size == math.prod(shape):  # one row for all
            rows.append((cupy.ascontiguousarray(value, dtype), 0))
        else:
            whole = cupy.broadcast_to(value, (*batch, *shape))
            rows.append((cupy.ascontiguousarray(whole, dtype), math.prod(shape)))
    if count:
        cuda.kernel(path).launch(
            [(array.data.ptr, step) for array, step in rows],
            [result.data.ptr for result in results],
            count,
            dtype.name,
            values[0].device.id,
            cupy.cuda.get_current_stream().ptr,
        )
    return results


def into(out: Any, found: tuple[Any, ...]) -> Any:
    """The results, in arrays that were given for them."""
    targets = out if isinstance(out, tuple) else (out,)
    if len(targets) != len(found):
        raise ShapeError(f"out is {shorten(out)}; expected a tuple of {len(found)} arrays")
    for target, result in zip(targets, found, strict=True):
        if not isinstance(target, cupy.ndarray):
            raise ShapeError(f"out is {shorten(target)}; expected a CuPy array")
        if target.shape != result.shape or target.dtype != result.dtype:
            raise ShapeError(
                f"out is {target.dtype} {target.shape}; expected {result.dtype} {result.shape}"
            )
        target[...] = result
    return out


def like(value: Any, example: Any) -> Any:
    """A list or number as an array of the same kind as another."""
    with example.device:
        found = cupy.asarray(value, dtype=np.result_type(example.dtype, np.float32))
        cupy.cuda.get_current_stream().synchronize()  # for it may be kept, and used on others
    return found


def on_host(value: Any) -> np.ndarray:
    """An array's numbers."""
    return cupy.asnumpy(value)


def has_numbers(value: Any) -> bool:
    """Yes: nothing is traced here."""
    return True


def of_numpy(array: np.ndarray, example: Any) -> Any:
    """A copy of NumPy's array where another one lies."""
    with example.device:
        return cupy.asarray(array)


def device(value: Any) -> Any:
    """Where an array lies."""
    return value.device


class Memory(cuda.Memory):
    """The memory of a GPU that CuPy hands out, on its current stream."""

    names = cupy

    def __init__(self, device: Any) -> None:
        self.device, self.number = device, device.id

    @property
    def stream(self) -> int:
        """That is current now."""
        return cupy.cuda.get_current_stream().ptr

    def empty(self, shape: Sequence[int], dtype: str) -> Any:
        """A new array."""
        return cupy.empty(tuple(shape), dtype)

    def rows(self, value: Any, shape: Sequence[int], dtype: str) -> Any:
        """An array, broadcast to a shape, as plain memory in C order."""
        return cupy.ascontiguousarray(cupy.broadcast_to(value, tuple(shape)), dtype)

    def send(self, array: np.ndarray) -> Any:
        """A copy of NumPy's array."""
        return cupy.asarray(array)

    def address(self, array: Any) -> int:
        """Where an array begins."""
        return array.data.ptr

    def entered(self) -> AbstractContextManager[Any]:
        """While this lasts, the GPU is the one that CuPy works on."""
        return self.device


def memory(value: Any) -> Memory:
    """How to work where an array lies."""
    return Memory(value.device)
