"""One thread for linear algebra: on matrices as small as these, several wait for each other."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.forks import free_in_children

PREFIXES, SUFFIXES = ("scipy_", ""), ("64_", "_64", "")  # of names in builds of OpenBLAS

_lock = free_in_children(threading.Lock())
_held: list[int] = []  # by each user at present, OpenBLAS's threads before the first of them


@cache
def _openblas() -> tuple[Callable[[int], Any], Callable[[], int]] | None:
    """The functions that set and return the threads of NumPy's OpenBLAS; None: it has another."""
    # Linux and macOS look names up in all that an extension module is linked to; Windows does not.
    linked = Path(np.linalg.__file__).parent.glob("_umath_linalg*")
    bundled = (Path(np.__file__).parents[1] / "numpy.libs").glob("*openblas*")
    for file in map(str, (*linked, *bundled)):
        try:
            library = ctypes.CDLL(file)
        except OSError:
            continue
        for prefix, suffix in product(PREFIXES, SUFFIXES):
            name = f"{prefix}openblas_%s_num_threads{suffix}"
            if hasattr(library, name % "set"):
                return getattr(library, name % "set"), getattr(library, name % "get")
    return None


@contextmanager
def one_thread() -> Iterator[None]:
    """Within this, NumPy's linear algebra runs on one thread, where it is OpenBLAS's."""
    found = _openblas()
    if found is None:
        yield
        return
    put, get = found
    with _lock:
        _held.append(_held[0] if _held else get())
        put(1)
    try:
        yield
    finally:
        with _lock:
            before = _held.pop()
            if not _held:  # the last of several threads that fit at the same time
                put(before)
