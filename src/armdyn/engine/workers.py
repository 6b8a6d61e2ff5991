"""Workers: the parts of a batch, done side by side.

These are the workers of calls that go through Python: all of them where the C extension is not
built. Where it is, it spreads batches over threads of its own (armdyn/engine/_pool.c), to which
work is handed over in a tenth of the time, and few calls come here: the first one of a function,
which compiles it, and those on subclasses of arrays or bytes in foreign order. How many threads
there are by default is said here for both.

All calls of a process share a few threads, the workers. A call offers its parts to them, then does
by itself every part that no worker has taken, and waits for the others. So a call comes to its end
also where no worker is free, and where none can be started, as at the interpreter's end.

Python may interrupt the main thread between any two steps (Ctrl-C, KeyboardInterrupt). No step
here leaves behind what another one must put right: a part knows who took it and whether it is done,
neither is ever taken back, and a worker is never interrupted. A call that is interrupted waits
until the workers are done with its arrays, and raises then; the workers go on with other calls.
"""

from __future__ import annotations

import os
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from queue import SimpleQueue

from armdyn.errors import ShapeError, whole_number

CALLER, WORKER = "caller", "worker"


if not hasattr(os, "process_cpu_count") and hasattr(os, "sched_getaffinity"):

    def cores() -> int:
        """The number of cores this process may use."""
        return len(os.sched_getaffinity(0))

else:

    def cores() -> int:
        """The number of cores this process may use."""
        return getattr(os, "process_cpu_count", os.cpu_count)() or 1


_default: ContextVar[int | None] = ContextVar("threads", default=None)


@contextmanager
def by_default(threads: int | None) -> Iterator[None]:
    """Within this, large batches have so many threads if they do not ask; None: as without it."""
    before = _default.set(threads)
    try:
        yield
    finally:
        _default.reset(before)


def default_threads() -> int:
    """As ``by_default`` says; else ARMDYN_NUM_THREADS where it is set, else one for each core."""
    given = _default.get()
    if given is not None:
        return given
    asked = os.environ.get("ARMDYN_NUM_THREADS", "").strip()
    if not asked:
        return cores()
    number = int(asked) if asked.isdecimal() else asked
    return whole_number("ARMDYN_NUM_THREADS", number, ShapeError)


class Part:
    """A part of a call: done once, by whoever takes it first, its caller or a worker."""

    def __init__(self, work: Callable[[], None]) -> None:
        self.work = work
        self.takers: list[str] = []  # the first one has it
        self.done = False  # by a worker
        self.error: BaseException | None = None  # that a worker met
        self.until_done = allocate_lock()  # a worker opens it
        self.until_done.acquire()

    def is_taken_by(self, taker: str) -> bool:
        """Takes the part, unless another was first; to take it twice is to take it once."""
        self.takers.append(taker)
        return self.takers[0] is taker

    def do_as_worker(self) -> None:
        """Does the part, unless its caller was first."""
        if self.is_taken_by(WORKER):
            try:
                self.work()
            except BaseException as error:
                self.error = error
            self.done = True
            self.until_done.release()

    def wait_for_worker(self) -> None:
        """Returns when no worker is at this part, nor ever will be."""
        if not self.is_taken_by(CALLER):
            while not self.done:
                self.until_done.acquire()


def side_by_side(works: Sequence[Callable[[], None]]) -> None:
    """Does all that is given, on this thread and on workers; raises what one of them raised."""
    if len(works) == 1:
        return works[0]()
    parts = [Part(work) for work in works]
    try:
        _Workers.shared.offer(parts[1:])
        for part in parts:
            if part.is_taken_by(CALLER):
                part.work()
        for part in parts:
            part.wait_for_worker()
    except BaseException:
        _wait_in_any_case(parts)
        raise
    for part in parts:
        if part.error is not None:
            raise part.error


def _wait_in_any_case(parts: Sequence[Part]) -> None:
    """Waits for the workers that are at these parts, however often it is interrupted."""
    while True:
        try:
            for part in parts:
                part.wait_for_worker()
            return
        except BaseException:  # one more interrupt: the first one is raised in the end
            continue


class _Workers:
    """Threads that do parts, as many as calls have asked for, but not more than cores."""

    shared: _Workers

    def __init__(self) -> None:
        self.count = 0
        self.parts: SimpleQueue[Part] = SimpleQueue()

    def offer(self, parts: Sequence[Part]) -> None:
        """Lets workers do these parts, if there are any."""
        for _ in range(self.count, min(len(parts), cores())):
            try:
                start_new_thread(_work, (self.parts,))
            except RuntimeError:  # no thread can be started any more
                break
            self.count += 1
        if self.count:
            for part in parts:
                self.parts.put(part)


def _work(parts: SimpleQueue[Part]) -> None:
    while True:
        parts.get().do_as_worker()


def _renew() -> None:
    """In a child process, which has none of its parent's threads."""
    _Workers.shared = _Workers()


_renew()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
