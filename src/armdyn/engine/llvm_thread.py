"""LLVM's work on a thread of its own: Ctrl-C ends the wait for it, never the work.

Python raises KeyboardInterrupt on the main thread alone, between any two steps. Some of llvmlite's
steps belong together: an interrupt between them leaves its lock held for ever, or frees LLVM's
memory in the wrong order. So LLVM's objects are made and closed on threads that this file starts.
Each thread lasts as long as one piece of work, so a fork finds none that waits.
"""

from __future__ import annotations

import atexit
import threading
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from functools import cache, wraps
from types import ModuleType
from typing import Any, ParamSpec, TypeVar
from weakref import ref

from armdyn import forks
from armdyn.errors import ArmdynError
from armdyn.forks import importing

P = ParamSpec("P")
R = TypeVar("R")

LOOK = 0.1  # [s] between looks for Ctrl-C; on Windows it does not end the wait for a lock
PATIENCE = 5.0  # [s] the interpreter's end waits for work under way

LOCK = threading.RLock()  # held by the thread that is inside LLVM, which imports nothing then
forks.LOCKS.append(LOCK)
atexit.register(LOCK.acquire, timeout=PATIENCE)

_kept: dict[ref[Any], tuple[Any, ...]] = {}  # LLVM's objects, by their owner
_unneeded: list[ref[Any]] = []  # owners that are gone


@cache
def binding() -> ModuleType:
    """The module ``llvmlite.binding``, imported at first use."""
    with importing:
        try:
            import llvmlite.binding as found
        except (ImportError, OSError) as trouble:
            raise ArmdynError(
                f"armdyn compiles by llvmlite, which cannot be imported here: {trouble}. Expected "
                "what 'pip install llvmlite' installs, or conda where pip has none for this machine"
            ) from trouble
        found.initialize_native_target()
        found.initialize_native_asmprinter()
        own = getattr(getattr(found.ffi.lib, "_lock", None), "_lock", None)
        if own is not None:  # others use llvmlite, too
            forks.LOCKS.append(own)
    return found


def on_llvm_thread(work: Callable[P, R]) -> Callable[P, R]:
    """Let a function work on a thread of its own, while its caller waits."""

    @wraps(work)
    def wait(*given: P.args, **named: P.kwargs) -> R:
        if LOCK._is_owned():  # type: ignore[attr-defined]  # this is the thread
            return work(*given, **named)
        done, results, errors = allocate_lock(), list[R](), list[BaseException]()
        done.acquire()

        def run() -> None:
            try:
                binding()
                with LOCK:
                    forks.LEAVING.append(threading.get_native_id())
                    _close_unneeded()
                    results.append(work(*given, **named))
            except BaseException as error:
                errors.append(error)
            finally:
                done.release()

        try:
            start_new_thread(run, ())
        except RuntimeError:  # at the interpreter's end, or where the system has no thread left
            run()
        while not done.acquire(timeout=LOOK):
            pass
        if errors:
            raise errors.pop()
        return results.pop()

    return wait


def keep(owner: object, *objects: Any) -> None:
    """Keep LLVM's objects while their owner lives; the work after that closes them, in order."""
    _kept[ref(owner, _unneeded.append)] = objects


def _close_unneeded() -> None:
    while _unneeded:
        for each in _kept.pop(_unneeded.pop()):
            each.close()
