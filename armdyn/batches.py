"""Arrays in, arrays out: the checks, the broadcasting and the loop over states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armdyn.errors import ShapeError


def states(n: int, **arguments: ArrayLike) -> tuple[list[np.ndarray], type]:
    """The arguments as float64 arrays (..., n) of one common shape, and the dtype of a result.

    The result is float32 where every argument is, else float64.
    """
    arrays = [_numbers(name, value) for name, value in arguments.items()]
    for name, array in zip(arguments, arrays, strict=True):
        if array.ndim == 0 or array.shape[-1] != n:
            raise ShapeError(
                f"{name} has shape {array.shape}; expected (..., {n}), one number for each of "
                f"{n} joints"
            )
    narrow = all(array.dtype == np.float32 for array in arrays)
    try:
        together = np.broadcast_arrays(*(array.astype(np.float64) for array in arrays))
    except ValueError:
        shapes = ", ".join(
            f"{name} {array.shape}" for name, array in zip(arguments, arrays, strict=True)
        )
        raise ShapeError(f"batch axes do not broadcast: {shapes}") from None
    return list(together), np.float32 if narrow else np.float64


def _numbers(name: str, value: ArrayLike) -> np.ndarray:
    try:
        array = np.asarray(value)
    except ValueError:
        raise ShapeError(f"{name} is ragged: {value!r}; expected an array (..., n)") from None
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise ShapeError(
            f"{name} has dtype {array.dtype}; expected real numbers (float64, float32 or integers)"
        )
    return array


def evaluate(
    function: Callable[..., Any],
    n: int,
    shape: tuple[int, ...],
    out: np.ndarray | None = None,
    **arguments: ArrayLike,
) -> np.ndarray:
    """``function`` of each state in turn, as an array (..., *shape).

    Args:
        function: takes one list of n floats an argument; returns nested lists of floats.
        n: the number of joints.
        shape: of one result.
        out: receives the result, if given.
        **arguments: arrays (..., n), by name, in the order ``function`` takes them.
    """
    arrays, dtype = states(n, **arguments)
    batch = arrays[0].shape[:-1]
    result = target(out, (*batch, *shape), dtype, arguments)
    for index in np.ndindex(batch):
        result[index] = function(*(array[index].tolist() for array in arrays))
    return result


def target(
    out: np.ndarray | None, shape: tuple[int, ...], dtype: type, arguments: dict[str, Any]
) -> np.ndarray:
    """The array a result goes to: ``out`` if it fits, else a new one."""
    if out is None:
        return np.empty(shape, dtype)
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype:
        found = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else repr(out)
        raise ShapeError(f"out is {found}; expected a {np.dtype(dtype)} array of shape {shape}")
    if not out.flags.writeable:
        raise ShapeError("out is read-only; expected an array that can be written to")
    for name, value in arguments.items():
        if isinstance(value, np.ndarray) and np.may_share_memory(out, value):
            raise ShapeError(f"out overlaps {name}; expected memory of its own")
    return out
