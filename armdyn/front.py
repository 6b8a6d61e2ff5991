"""The fast call path where the C extension is not built: what that does, compiled by LLVM.

A function made here answers calls on a single state in plain float64 arrays, with a new result or
with one in ``out=``, as armdyn/_call.c does, and hands on all others. It is a built-in function of
Python's kind: machine code, the same for all of them, and a tuple that tells and owns what is
special to one. The code calls Python and NumPy by their public C interfaces and reads the public
fields of arrays. Where these do not lie as expected (in a debug or a free-threaded Python, say)
there is no such function, and the path by ctypes serves.
"""

from __future__ import annotations

import functools
import importlib
import math
import sys
from collections.abc import Callable, Iterator
from ctypes import (
    PYFUNCTYPE,
    Array,
    Structure,
    addressof,
    c_char_p,
    c_int,
    c_int32,
    c_size_t,
    c_uint8,
    c_uint32,
    c_void_p,
    cast,
    py_object,
    pythonapi,
)
from typing import Any

import numpy as np

from armdyn import cache
from armdyn.program import front as module
from armdyn.program import jit

PYTHON = (
    *("PyTuple_GetItem", "PyTuple_New", "PyTuple_SetItem", "PyTuple_Size"),
    *("PyBytes_AsString", "PyObject_Vectorcall", "Py_DecRef", "Py_IncRef"),
)
NUMPY = {"PyArray_New": 93, "PyArray_Return": 76}  # places in its table of addresses,
NDARRAY, VERSION = 2, 0  # and those of its type and of a function that gives the ABI's version
VERSIONS = (0x01000009, 0x02000000)  # of NumPy 1 and 2
FASTCALL = 0x80 | 0x2  # with keywords
OUT = sys.intern("out")


class Method(Structure):
    """PyMethodDef."""

    _fields_ = (("name", c_char_p), ("code", c_void_p), ("flags", c_int), ("doc", c_char_p))


class Code:
    """The machine code, and the way to make functions of it."""

    def __init__(self) -> None:
        text = module.text()
        key = cache.key("front", text, *map(str, jit.machine()))
        code = cache.get(key)
        if code is None:
            code = jit.assemble(text)
            cache.put(key, code)
        self._kernel = jit.Kernel(code, "front", symbols())
        self._method = Method(b"armdyn", self._kernel.address, FASTCALL, None)
        self._new = PYFUNCTYPE(py_object, c_void_p, py_object, c_void_p)(
            ("PyCFunction_NewEx", pythonapi)
        )

    def function(
        self,
        path: Callable[..., Any],
        table: Array[c_size_t],
        inputs: int,
        n: int,
        shapes: tuple[tuple[int, ...], ...],
    ) -> Callable[..., Any]:
        """Stands before a path; the table's first entry is the kernel, 0 until compiled."""
        results = np.zeros((len(shapes), module.RESULT + module.MOST_AXES), np.int64)
        for result, shape in zip(results, shapes, strict=True):
            result[: module.RESULT] = len(shape), 8 * math.prod(shape)
            result[module.RESULT :][: len(shape)] = shape
        head = np.array([inputs, n, len(shapes), addressof(table)], np.int64)
        plan = head.tobytes() + results.tobytes()
        return self._new(addressof(self._method), (plan, path, table, self), None)


@functools.cache
def code() -> Code | None:
    """The code, made at first need; None where it cannot work."""
    try:
        return Code() if jit.available() and as_expected() else None
    except (ImportError, AttributeError, OSError, RuntimeError):
        return None


def as_expected() -> bool:
    """Whether objects, arrays and NumPy's table are laid out as in the code."""
    if (
        sys.implementation.name != "cpython"
        or object.__basicsize__ != module.HEADER
        or np.ndarray.__basicsize__ < module.FIELDS["flags"] + 4
    ):
        return False
    if numpy_table()[NDARRAY] != id(np.ndarray):
        return False
    if PYFUNCTYPE(c_uint32)(numpy_table()[VERSION])() not in VERSIONS:
        return False
    rows = np.zeros((5, 3))
    arrays = [rows, rows[1:, :2], rows.T, rows[0].astype(np.float32), rows.astype(">f8")]
    return all(found == right for array in arrays for found, right in fields(array))


def fields(array: np.ndarray) -> Iterator[tuple[int, int]]:
    """What the code would find in the fields of an array, and what is right.

    The pointer to the lengths comes last: it is followed once all else was found right.
    """

    def at(kind: Any, owner: object, name: str) -> int:
        return kind.from_address(id(owner) + module.FIELDS[name]).value

    yield at(c_size_t, array, "type"), id(np.ndarray)
    yield at(c_size_t, array, "data"), array.ctypes.data
    yield at(c_int32, array, "nd"), array.ndim
    yield at(c_size_t, array, "descr"), id(array.dtype)
    yield at(c_int32, array, "flags"), array.flags.num
    yield at(c_int32, array.dtype, "type_num"), array.dtype.num
    yield at(c_uint8, array.dtype, "byteorder"), ord(array.dtype.byteorder)
    lengths = (c_size_t * array.ndim).from_address(at(c_size_t, array, "dimensions"))
    yield from zip(lengths, array.shape, strict=True)


def symbols() -> dict[str, int]:
    """The addresses of what the code names."""
    found = {name: cast(getattr(pythonapi, name), c_void_p).value or 0 for name in PYTHON}
    found |= {name: numpy_table()[place] for name, place in NUMPY.items()}
    return found | {"ndarray": id(np.ndarray), "none": id(None), "out": id(OUT)}


@functools.cache
def numpy_table() -> Array[c_size_t]:
    """The addresses of NumPy's C interface."""
    try:
        core = importlib.import_module("numpy._core._multiarray_umath")
    except ImportError:
        core = importlib.import_module("numpy.core._multiarray_umath")
    pointer = PYFUNCTYPE(c_size_t, py_object, c_char_p)(("PyCapsule_GetPointer", pythonapi))
    length = 1 + max(NUMPY.values())
    return (c_size_t * length).from_address(pointer(core._ARRAY_API, None))
