"""Forks while other threads compile: what a fork waits for, and what its child renews.

A child has one thread. What the parent's other threads were doing is never finished there: LLVM
stays as it was in the middle of that, and a lock stays held. So a fork waits until no other thread
is inside LLVM, or importing it or an algorithm; and locks that guard nothing but one computation
are made anew in the child.
"""

from __future__ import annotations

import os
import sys
import threading
from functools import cached_property
from typing import Any, TypeVar

from armdyn.algorithms import late
from armdyn.engine import jit

L = TypeVar("L")  # Lock or RLock

_held: list[Any] = []  # llvmlite's lock, for each fork under way


def free_in_children(lock: L) -> L:
    """The lock, which is made anew in a child: a thread that is not there may hold it for ever."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lock._at_fork_reinit)  # type: ignore[attr-defined]
    return lock


def hold() -> None:
    """Wait for other threads to leave LLVM and importing, and keep them out.

    Our locks always come before llvmlite's and in this order, and the thread that has them may
    take them again: so no two threads wait for each other, nor the forking thread for itself.
    """
    late.LOCK.acquire()
    jit.LOCK.acquire()
    ffi = sys.modules.get("llvmlite.binding.ffi")
    lock = None if ffi is None else getattr(ffi.lib, "_lock", None)
    if lock is not None:
        lock.__enter__()
    _held.append(lock)


def let_go() -> None:
    """Let other threads compile again."""
    lock = _held.pop()
    if lock is not None:
        lock.__exit__(None, None, None)
    jit.LOCK.release()
    late.LOCK.release()


def renew_properties() -> None:
    """Give armdyn's cached properties new locks: Python 3.11 computes them under one a class."""
    modules = [module for name, module in sys.modules.items() if name.startswith("armdyn.")]
    classes = [x for module in modules for x in vars(module).values() if isinstance(x, type)]
    for attribute in (attribute for cls in classes for attribute in vars(cls).values()):
        if isinstance(attribute, cached_property):
            attribute.lock = threading.RLock()  # type: ignore[attr-defined]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=hold, after_in_parent=let_go, after_in_child=let_go)
    if sys.version_info < (3, 12):
        os.register_at_fork(after_in_child=renew_properties)
