"""Any other library whose arrays have ``__dlpack__``: the memory is shared, by way of NumPy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from armdyn.arrays import called, check_devices
from armdyn.engine.calls import CarefulPath
from armdyn.errors import ShapeError, shorten

CPU = 1  # kDLCPU, of dlpack.h


def call(path: CarefulPath, values: Sequence[Any], out: Any, threads: int | None) -> Any:
    """The results of a call, handed to the library by its ``from_dlpack``, if it has that."""
    back = from_dlpack(type(values[0]))
    if back is None:
        return NotImplemented
    kinds = [type(value) for value in values]
    if len(set(kinds)) > 1:
        first, other = values[0], next(x for x in values if type(x) is not kinds[0])
        raise ShapeError(
            f"{called(first)} and {called(other)} in one call; expected arrays of one library"
        )
    if out is not None:
        raise ShapeError(f"out is {shorten(out)}; expected none with arrays of {called(values[0])}")
    check_devices(path.arguments, [value.__dlpack_device__() for value in values])
    found = path.quickest(*map(on_host, values), threads=threads)
    return tuple(map(back, found)) if isinstance(found, tuple) else back(found)


def from_dlpack(kind: type) -> Callable[[Any], Any] | None:
    """What makes an array of that type of a NumPy array; None if its library has none."""
    names = kind.__module__.split(".")
    for count in range(len(names), 0, -1):
        found = getattr(sys.modules.get(".".join(names[:count])), "from_dlpack", None)
        if found is not None:
            return lambda array: found(np.asarray(array))
    return None


def like(value: Any, example: Any) -> Any:
    """A list or number as an array of the same kind as another."""
    back = from_dlpack(type(example))
    return value if back is None else back(np.asarray(value, dtype=on_host(example).dtype))


def has_numbers(value: Any) -> bool:
    """Yes: nothing is traced here."""
    return True


def of_numpy(array: np.ndarray, example: Any) -> Any:
    """NumPy's array as one of another's library, or as it is if that takes none."""
    back = from_dlpack(type(example))
    return array if back is None else back(array)


def device(value: Any) -> tuple[int, int]:
    """Where an array lies, in the words of dlpack.h."""
    return tuple(value.__dlpack_device__())


def memory(value: Any) -> None:
    """None: on a GPU there is no way to work with arrays of which this is all that is known."""
    on_host(value)


def on_host(value: Any) -> np.ndarray:
    """An array's memory, as NumPy's."""
    device = tuple(value.__dlpack_device__())
    if device[0] != CPU:
        raise ShapeError(
            f"{called(value)} on the device {device} of DLPack; expected the CPU, or an array of "
            "torch, JAX or CuPy"
        )
    return np.from_dlpack(value)
