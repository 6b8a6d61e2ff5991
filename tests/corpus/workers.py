"""Processes that do jobs; one that takes too long is killed, and another takes its place."""

from __future__ import annotations

import multiprocessing
import os
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

LIMIT = 10.0  # [s] for one step of a job; only a hang takes so long
START = 60.0  # [s] for the first, which imports


def results(
    function: Callable[..., Any], jobs: Sequence[Any], limit: float = LIMIT
) -> Iterator[tuple[Any, Any]]:
    """Each job with ``function(job, step)``, or with "hang", "crash" or a traceback.

    The function calls ``step()`` before each action that may take ``limit`` seconds.
    """
    count = min(len(jobs), os.cpu_count() or 1)
    free: SimpleQueue[Worker] = SimpleQueue()
    for _ in range(count):
        free.put(Worker(function))

    def answer(job: Any) -> Any:
        worker = free.get()
        found = worker.answer(job, limit)
        if found in ("hang", "crash"):
            worker.stop()
            worker = Worker(function)
        free.put(worker)
        return found

    with ThreadPoolExecutor(max(count, 1)) as threads:
        yield from zip(jobs, threads.map(answer, jobs), strict=True)
    for _ in range(count):
        free.get().stop()


class Worker:
    """A process that does one job after the other."""

    def __init__(self, function: Callable[..., Any]) -> None:
        context = multiprocessing.get_context("spawn")
        self.link, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(function, other), daemon=True)
        self.process.start()
        other.close()

    def answer(self, job: Any, limit: float) -> Any:
        """The result of a job, "hang" or "crash"."""
        patience = START
        try:
            self.link.send(job)
            while self.link.poll(patience):
                done, answer = self.link.recv()
                if done:
                    return answer
                patience = limit
        except (EOFError, OSError):
            return "crash"
        return "hang"

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()
        self.link.close()


def _serve(function: Callable[..., Any], link: Connection) -> None:
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)  # parsers print warnings there
    os.dup2(silent, 2)
    while True:
        job = link.recv()
        try:
            link.send((True, function(job, lambda: link.send((False, None)))))
        except Exception:
            link.send((True, f"crash: {traceback.format_exc(limit=-3)}"))
