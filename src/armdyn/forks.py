"""Forks: the locks that a fork waits for, and those that its child renews.

A child has one thread. The work of its parent's other threads is never finished there: a module
stays half imported, LLVM stays in the middle of its work, a lock stays held. So a fork waits for
the locks in ``LOCKS``, and every import within a function of armdyn is done ``with importing``.
A lock that guards nothing but one computation is made anew in the child.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from functools import cached_property
from itertools import islice
from operator import methodcaller
from types import FrameType
from typing import Any, TypeVar

L = TypeVar("L")  # Lock or RLock


class Importing:
    """One thread at a time imports within a call, and does nothing else meanwhile.

    KeyboardInterrupt in the middle of an import can leave Python's own import lock held for ever.
    So here, on the main thread, Ctrl-C takes effect after the import.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.handler: Any = None  # of Ctrl-C at other times
        self.is_interrupted = False

    def __enter__(self) -> None:
        if self._may_be_interrupted():
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler) and handler != self._handle:
                self.handler = handler
                with suppress(ValueError):  # in a subinterpreter, which gets no signals
                    signal.signal(signal.SIGINT, self._handle)
        self.lock.acquire()

    def __exit__(self, *error: object) -> None:
        self.lock.release()
        if self._may_be_interrupted() and signal.getsignal(signal.SIGINT) == self._handle:
            signal.signal(signal.SIGINT, self.handler)
            if self.is_interrupted:
                self.is_interrupted = False
                self.handler(signal.SIGINT, sys._getframe())

    def _may_be_interrupted(self) -> bool:
        """Whether this is the main thread, outside of imports."""
        is_main = threading.get_ident() == threading.main_thread().ident
        return is_main and not self.lock._is_owned()  # type: ignore[attr-defined]

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._may_be_interrupted():
            signal.signal(signal.SIGINT, self.handler)
            self.handler(number, frame)
        else:
            self.is_interrupted = True


importing = Importing()

LOCKS: list[Any] = [importing.lock]  # in the order in which every thread takes them

LEAVING: deque[int] = deque(maxlen=16)  # the system's numbers of threads that last had a lock
LEAVING_TAKES = 0.1  # [s] at most

_acquire, _release = methodcaller("acquire"), methodcaller("release")


class _Fork(threading.local):
    """What the fork of a thread has taken so far, and whether Ctrl-C came meanwhile."""

    def __init__(self) -> None:
        self.held: list[Any] = []
        self.interrupted = False


_fork = _Fork()


def hold() -> None:
    """Wait for other threads to leave imports and LLVM, and keep them out.

    A signal's handler may raise here between any two steps. So one step both takes a lock and notes
    it: C acquires it and appends it to a list. A second call takes the locks that are missing.
    """
    raised, is_held = None, False
    while not is_held:
        try:
            _fork.held.extend(filter(_acquire, islice(LOCKS, len(_fork.held), None)))
            _wait_for_leaving()
            is_held = True
        except KeyboardInterrupt:
            _fork.interrupted = True
        except BaseException as error:
            raised = error
    if raised is not None:
        raise raised  # Python prints it


def _wait_for_leaving() -> None:
    """Wait for threads that are done to end: Python 3.12 warns if a process with threads forks."""
    end = time.monotonic() + LEAVING_TAKES
    while any(os.path.exists(f"/proc/self/task/{thread}") for thread in LEAVING):
        if time.monotonic() > end:
            break
        time.sleep(1e-5)


def let_go() -> None:
    """Release the locks that ``hold`` took, in one step."""
    try:
        any(map(_release, iter(_fork.held.pop, None)))
    except IndexError:
        pass  # none is left


def interrupt() -> None:
    """Send the Ctrl-C that came while the fork waited again: in a hook Python ignores it."""
    if _fork.interrupted:
        _fork.interrupted = False
        threading.Thread(target=_interrupt, args=(threading.get_ident(),)).start()


def forget_interrupt() -> None:
    """Leave the Ctrl-C to the parent."""
    _fork.interrupted = False


def _interrupt(thread: int) -> None:
    while _is_in_a_hook(sys._current_frames().get(thread)):
        time.sleep(0.001)
    signal.pthread_kill(thread, signal.SIGINT)


def _is_in_a_hook(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code.co_filename != __file__:
        frame = frame.f_back
    return frame is not None


def free_in_children(lock: L) -> L:
    """The lock, which is made anew in a child: a thread that is not there may hold it for ever."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lock._at_fork_reinit)  # type: ignore[attr-defined]
    return lock


def renew_properties() -> None:
    """Give armdyn's cached properties new locks: Python 3.11 computes them under one a class."""
    modules = [module for name, module in sys.modules.items() if name.startswith("armdyn.")]
    classes = [x for module in modules for x in vars(module).values() if isinstance(x, type)]
    for attribute in (attribute for cls in classes for attribute in vars(cls).values()):
        if isinstance(attribute, cached_property):
            attribute.lock = threading.RLock()  # type: ignore[attr-defined]


if hasattr(os, "register_at_fork"):
    for _ in range(2):  # a signal that came just before may end one of them at its first step
        os.register_at_fork(before=hold, after_in_parent=let_go, after_in_child=let_go)
    os.register_at_fork(after_in_parent=interrupt, after_in_child=forget_interrupt)
    if sys.version_info < (3, 12):
        os.register_at_fork(after_in_child=renew_properties)
