"""Whose arrays? What comes in decides where a call runs, and what comes out.

NumPy's arrays and lists never come here: armdyn/engine answers them. A call on arrays of another
library is answered with arrays of that library, on the same device. No library is imported for it:
the type of an array tells whose it is, and then that library is there already.

One file a library: torch, jax, cupy, dask, and dlpack for all others that have ``__dlpack__``. Each
has ``call``, which answers a call of a compiled function; ``like``, which makes an array of a list
or number that stands beside arrays; and ``on_host``, the numbers of an array where they are known.
For what is more than a call all but dask have ``device``, where an array lies; ``memory``, how to
work there if that is a GPU; ``of_numpy``, which makes an array of NumPy's one of the library's;
and ``has_numbers``, which says of one that is traced that it has none.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from armdyn.engine import Code, cache
from armdyn.engine.calls import CarefulPath, libraries
from armdyn.errors import ShapeError, listed
from armdyn.forks import importing

TYPES = (  # of arrays: the file here, the module that has the type, and its name there
    ("torch", "torch", "Tensor"),
    ("jax", "jax", "Array"),
    ("jax", "jax.core", "Tracer"),
    ("cupy", "cupy", "ndarray"),
    ("dask", "dask.array", "Array"),
)
NOBODYS = (list, tuple, int, float, np.generic)  # taken for constants beside arrays

_known: dict[type, ModuleType | None] = {}


def answer(path: CarefulPath, values: Sequence[Any], out: Any, threads: Any) -> Any:
    """What a call on arrays of some library gives; NotImplemented if there is none among them."""
    refuse_mixed(path, values)
    found = together(dict(zip(path.arguments, values, strict=True)))
    if found is None:
        return NotImplemented
    mine, alike = found
    return mine.call(path, tuple(alike.values()), out, threads)


def refuse_mixed(path: CarefulPath, values: Sequence[Any]) -> None:
    """Refuse tables whose columns are the joints' names in another order: they go by position."""
    chain = getattr(path.compile, "chain", None)
    for name, value in zip(path.arguments, values, strict=True):
        columns = getattr(value, "columns", None)
        if chain is None or not isinstance(columns, Iterable):
            continue
        found, order = [*map(str, columns)], [joint.name for joint in chain.joints]
        if found != order and sorted(found) == sorted(order):
            raise ShapeError(
                f"{name} has the columns {listed(found)}; expected the joints' order, "
                "as in df[list(robot.joint_names)]"
            )


def together(values: Mapping[str, Any]) -> tuple[ModuleType, dict[str, Any]] | None:
    """The library of some values, by their names, and all of them as its arrays.

    None if all are NumPy's or nobody's.
    """
    rooms = {name: library(type(value)) for name, value in values.items()}
    first = next((name for name, found in rooms.items() if found), None)
    if first is None:
        return None
    mine, example = rooms[first], values[first]
    assert mine is not None
    alike = {}
    for name, value in values.items():
        if rooms[name] is None and isinstance(value, NOBODYS):
            value = mine.like(value, example)
        elif rooms[name] is not mine:
            raise ShapeError(
                f"{first} is {called(example)}, {name} is {called(value)}; "
                "expected arrays of one library"
            )
        alike[name] = value
    return mine, alike


def library(kind: type) -> ModuleType | None:
    """The file here for arrays of that type; None where they are NumPy's or nobody's."""
    if kind not in _known:
        found = _known[kind] = _find(kind)
        if found is not None:
            libraries[kind] = found.call  # next time the front in C comes there by itself
    return _known[kind]


def _find(kind: type) -> ModuleType | None:
    for name, module, array in TYPES:
        there = getattr(sys.modules.get(module), array, None)
        if isinstance(there, type) and issubclass(kind, there):
            with importing:
                return import_module(f"armdyn.arrays.{name}")
    if issubclass(kind, np.ndarray | np.generic):
        return None
    if hasattr(kind, "__dlpack__") and hasattr(kind, "__dlpack_device__"):
        with importing:
            return import_module("armdyn.arrays.dlpack")
    return None


def on_host(value: Any) -> Any:
    """An argument as NumPy reads it; None where nobody knows its numbers yet."""
    found = library(type(value))
    return value if found is None else found.on_host(value)


def key(path: CarefulPath, *more: str) -> str:
    """What a function computes, as a word: the same in every process."""
    code = path.compile
    asked = code.question() if isinstance(code, Code) else (str(id(path)),)
    return cache.key(path.name, *asked, *more)


def called(value: object) -> str:
    """What a value is, in a message: "a torch.Tensor"."""
    kind = type(value)
    root = kind.__module__.partition(".")[0]
    return f"a {kind.__qualname__}" if root == "builtins" else f"a {root}.{kind.__qualname__}"


def check_devices(names: Sequence[str], devices: Sequence[object]) -> None:
    """Refuse arrays of these names that lie on several devices."""
    for name, device in zip(names, devices, strict=True):
        if device != devices[0]:
            raise ShapeError(
                f"{names[0]} is on {devices[0]}, {name} is on {device}; "
                "expected arrays on one device"
            )
