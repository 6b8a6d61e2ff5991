"""Millions of calls on a GPU from several threads and streams: `python -m benchmarks.soak`.

Every result is compared with the processor's, bit for bit, and the memory that the process and the
card have in use is compared before and after. Calls go to the driver alone, or are those of torch
or JAX; each thread has a quantity, a type and a stream of its own (JAX has one stream a card). In
the end, processes that cannot use the card (any more) tell what they say.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from ctypes import byref, c_size_t, c_ubyte, c_uint, c_uint64, c_void_p
from pathlib import Path
from typing import Any

import numpy as np

import armdyn
from armdyn.errors import ArmdynError
from armdyn.quantities import QUANTITIES
from benchmarks.gpu import ARM, Card, Question, drawn

ASKED = (  # by the threads, in turn
    ("gravity", "float32"),
    ("bias", "float64"),
    ("mass_matrix", "float32"),
    ("energy", "float64"),
)
STATES = 32  # of a call
INPUTS = 7  # sets of arguments, which take turns, so that memory with an earlier result is noticed
ROUND = 250  # calls, after which their results are compared
GROWTH = 40 * 2**20  # bytes that are no leak; one of 8 bytes a call is 80 MB after 10^7
NON_BLOCKING = 1  # of a stream: it does not wait for the driver's own


class Work:
    """What a thread asks for: the sets of arguments, and the results that are right."""

    def __init__(self, thread: int, device: int) -> None:
        self.quantity, self.dtype = ASKED[thread % len(ASKED)]
        self.device, robot = device, armdyn.load(ARM)
        self.function = getattr(robot, self.quantity)
        takes = [robot.n] * len(QUANTITIES[self.quantity].arguments)
        seeds = range(INPUTS * thread, INPUTS * (thread + 1))
        self.sets = [drawn(takes, self.dtype, STATES, strange=False, seed=k) for k in seeds]
        results = [several(self.function(*each)) for each in self.sets]
        self.bits = f"i{np.dtype(self.dtype).itemsize}"
        self.known = [np.stack(each).view(self.bits) for each in zip(*results, strict=True)]

    def order(self, number: int) -> np.ndarray:
        """Which sets the calls of a round take: others than in the round before."""
        return (np.arange(ROUND) + number) % INPUTS


def several(found: Any) -> tuple[Any, ...]:
    """The results of a call, always as a tuple."""
    return found if isinstance(found, tuple) else (found,)


# Rounds of calls: of each, how many numbers are wrong ---------------------------------------------

Round = Callable[[int], int]


@contextmanager
def by_driver(work: Work) -> Iterator[Round]:
    """Launches, each to a place of its own."""
    card, asked, stream = Card(work.device), Question(work.quantity), c_void_p()
    card.check(card.library.cuStreamCreate(byref(stream), c_uint(NON_BLOCKING)))
    given = [np.stack(each) for each in zip(*work.sets, strict=True)]
    found = [np.empty((ROUND, *each.shape[1:]), work.bits) for each in work.known]
    with card.memory(*(x.nbytes for x in (*given, *found))) as places:
        for array, place in zip(given, places, strict=False):
            card.send(array, place)
        steps = [(place, x[0].nbytes, x.shape[2]) for place, x in zip(places, given, strict=False)]
        outputs = places[len(given) :]
        device, to = work.device, stream.value or 0

        def go(number: int) -> int:
            for place, array in zip(outputs, found, strict=True):
                whole = c_uint64(place), c_ubyte(0xFF), c_size_t(array.nbytes)
                card.check(card.library.cuMemsetD8Async(*whole, stream))
            for k, which in enumerate(work.order(number).tolist()):
                inputs = [(place + which * size, row) for place, size, row in steps]
                into = [place + k * x[0].nbytes for place, x in zip(outputs, found, strict=True)]
                asked.kernel.launch(inputs, into, STATES, work.dtype, device, to)
            card.check(card.library.cuStreamSynchronize(stream))
            for place, array in zip(outputs, found, strict=True):
                card.fetch(place, array)
            return differing(work, number, found)

        yield go
    card.check(card.library.cuStreamDestroy_v2(stream))


def differing(work: Work, number: int, found: list[np.ndarray]) -> int:
    """How many numbers of a round's results have other bits than are known."""
    pairs = zip(found, work.known, strict=True)
    return int(sum((x != known[work.order(number)]).sum() for x, known in pairs))


@contextmanager
def by_torch(work: Work) -> Iterator[Round]:
    """Calls on tensors, compared where they are."""
    import torch

    where = torch.device("cuda", work.device)
    given = [[torch.tensor(x, device=where) for x in each] for each in work.sets]
    known = [torch.tensor(x, device=where) for x in work.known]
    orders = [torch.tensor(work.order(number), device=where) for number in range(INPUTS)]

    def go(number: int) -> int:
        calls = [several(work.function(*given[k])) for k in work.order(number).tolist()]
        wrong, order = 0, orders[number % INPUTS]
        for results, right in zip(zip(*calls, strict=True), known, strict=True):
            wrong += int((torch.stack(results).view(right.dtype) != right[order]).sum())
        return wrong

    stream = torch.cuda.Stream(where)
    torch.cuda.synchronize(where)
    with torch.cuda.stream(stream):
        yield go


@contextmanager
def by_jax(work: Work) -> Iterator[Round]:
    """Calls on arrays of JAX, compared on the processor."""
    import jax

    jax.config.update("jax_enable_x64", True)
    where, function = jax.devices()[work.device], jax.jit(work.function)
    given = [[jax.device_put(x, where) for x in each] for each in work.sets]

    def go(number: int) -> int:
        calls = [several(function(*given[k])) for k in work.order(number).tolist()]
        found = [np.stack(each) for each in zip(*jax.device_get(calls), strict=True)]
        return differing(work, number, [each.view(work.bits) for each in found])

    yield go


LIBRARIES: dict[str, Callable[[Work], AbstractContextManager[Round]]] = {
    "driver": by_driver,
    "torch": by_torch,
    "jax": by_jax,
}


# All threads --------------------------------------------------------------------------------------


class Soak:
    """Threads that make calls, all at once, until there are enough or it is late."""

    def __init__(self, library: str, threads: int, device: int, calls: int, seconds: float) -> None:
        self.work = [Work(k, device) for k in range(threads)]
        self.library, self.device = library, device
        self.rounds = -(-calls // (threads * ROUND))
        self.seconds, self.late = seconds, float("inf")
        self.gate = threading.Barrier(threads + 1)
        self.made = [0] * threads
        self.wrong = [0] * threads
        self.trouble: list[BaseException] = []

    def thread(self, number: int) -> None:
        """What a thread does. Calls before the gate are not counted, but compared."""
        try:
            with LIBRARIES[self.library](self.work[number]) as go:
                self.wrong[number] += sum(map(go, range(INPUTS)))
                self.gate.wait()  # all is made now, and memory is looked at
                self.gate.wait()
                for k in range(self.rounds):
                    self.wrong[number] += go(k)
                    self.made[number] += ROUND
                    if time.monotonic() > self.late:
                        break
                self.gate.wait()
                self.gate.wait()
        except BaseException as trouble:
            if not isinstance(trouble, threading.BrokenBarrierError):
                self.trouble.append(trouble)
            self.gate.abort()

    def run(self) -> dict[str, Any]:
        """All calls, and what became of memory."""
        threads = [
            threading.Thread(target=self.thread, args=(k,), daemon=True)
            for k in range(len(self.work))
        ]
        for thread in threads:
            thread.start()
        try:
            self.gate.wait()
            before, begun = memory(self.device), time.monotonic()
            self.late = begun + self.seconds
            self.gate.wait()
            self.gate.wait()
            after, seconds = memory(self.device), time.monotonic() - begun
            self.gate.wait()
        except threading.BrokenBarrierError:
            raise self.trouble[0] from None
        for thread in threads:
            thread.join()
        grown = {name: after[name] - before[name] for name in after}
        return {
            "library": self.library,
            "threads": len(self.work),
            "asked": [f"{each.quantity} {each.dtype}" for each in self.work],
            "states a call": STATES,
            "calls": sum(self.made),
            "seconds": round(seconds, 1),
            "us a call": round(1e6 * seconds / sum(self.made), 3),
            "numbers with other bits": sum(self.wrong),
            "memory before": before,
            "memory grown": grown,
            "leak": max(grown.values()) > GROWTH,
        }


def memory(device: int) -> dict[str, int]:
    """Bytes in use: of the card, and of this process."""
    card, free, total = Card(device), c_size_t(), c_size_t()
    card.wait()
    card.check(card.library.cuMemGetInfo_v2(byref(free), byref(total)))
    pages = Path("/proc/self/statm")
    process = (
        int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if pages.exists() else 0
    )
    return {"card": total.value - free.value, "process": process}


# Processes ----------------------------------------------------------------------------------------

DRIVER = """
import os, subprocess, sys
from armdyn import DeviceError
from benchmarks.gpu import Card, Question
card, asked = Card(0), Question("gravity")
def call():
    with card.memory(896, 896) as (given, taken):
        asked.kernel.launch([(given, 7)], [taken], 32, "float32", 0, 0)
        card.wait()
"""
TORCH = """
import os, subprocess, sys
import armdyn, torch
from armdyn import DeviceError
from benchmarks.gpu import Card, Question
card, asked, robot = Card(0), Question("gravity"), armdyn.load("panda")
q = torch.zeros(32, 7, device="cuda")
def call():
    robot.gravity(q)
"""
FORKED = """
call()
if os.fork() == 0:
    try:
        call()
    except DeviceError as trouble:
        print(trouble, flush=True)
    os._exit(0)
os.wait()
"""
LOST = """
call()
try:
    for _ in range(3):
        asked.kernel.launch([(64, 7)], [64], 32, "float32", 0, 0)
        try:
            card.wait()
        except DeviceError:
            call()
except DeviceError as trouble:
    print(trouble)
"""
SPAWNED = """
call()
child = "from benchmarks.soak import DRIVER; exec(DRIVER); call(); print('a spawned one answers')"
subprocess.run([sys.executable, "-c", child], check=True)
"""
PROCESSES = {  # a name: the text, and what is said
    "forked": (DRIVER + FORKED, "was forked from one that"),
    "lost": (DRIVER + LOST, "the GPU no longer answers"),
    "spawned": (DRIVER + SPAWNED, "a spawned one answers"),
    "forked, torch": (TORCH + FORKED, "was forked from one that"),
    "lost, torch": (TORCH + LOST, "the GPU no longer answers"),
}


def said(name: str) -> str:
    """What a process says that uses the card in such a way; its errors if it says nothing."""
    code = PROCESSES[name][0]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    return (done.stdout or done.stderr).strip()


def main() -> int:
    """Call, compare, print, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", choices=LIBRARIES, default="driver", help="whose calls")
    parser.add_argument("--calls", type=int, default=10**7, help="of all threads together")
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument("--device", type=int, default=0, help="number of the GPU")
    parser.add_argument("--processes", action="store_true", help="forked, spawned, lost ones too")
    parser.add_argument("--json", default="soak.json", help="where the figures go")
    asked = parser.parse_args()
    if asked.library == "jax":  # which else takes the most of the card's memory at once
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    try:
        soak = Soak(asked.library, asked.threads, asked.device, asked.calls, asked.seconds)
        report = soak.run()
    except ArmdynError as trouble:
        print(trouble, file=sys.stderr)
        return 1
    fine = not report["numbers with other bits"] and not report["leak"]
    if asked.processes:
        report["processes"] = {
            name: said(name)
            for name in PROCESSES
            if asked.library == "torch" or "torch" not in name
        }
        fine = fine and all(PROCESSES[k][1] in text for k, text in report["processes"].items())
    report["fine"] = fine
    print(json.dumps(report, indent=1))
    Path(asked.json).write_text(json.dumps(report, indent=1), encoding="utf-8")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
