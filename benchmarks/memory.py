"""What a batch takes beyond its inputs and outputs: the process's high-water mark around a call."""

from __future__ import annotations

import os
import re
import tracemalloc
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.arms import QUANTITIES, arm, states
from benchmarks.peers import Armdyn

STATES = 100_000


@dataclass(frozen=True)
class Memory:
    """Bytes beyond inputs and outputs, during one batch."""

    quantity: str
    form: str  # of the inputs
    threads: int
    resident: int  # rise of the resident memory's high-water mark
    allocated: int  # rise of what Python and NumPy had allocated at a time


def memory(name: str = "panda", count: int = STATES) -> list[Memory]:
    """All quantities, on one thread and on all, with inputs plain and awkward."""
    found = []
    chain = arm(name)
    library = Armdyn(chain, Path())
    for threads in sorted({1, len(os.sched_getaffinity(0))}):
        for quantity, arguments in QUANTITIES.items():
            numbers = states(chain, count)
            plain = [numbers[argument] for argument in arguments]
            forms = {
                "plain": plain,
                "float32": [array.astype(np.float32) for array in plain],
                "columns": [np.asfortranarray(array) for array in plain],
                "one for all": [plain[0], *(array[:1] for array in plain[1:])],
            }
            for form, inputs in forms.items():
                found.append(_measure(library, quantity, form, inputs, threads))
    return found


def _measure(
    library: Armdyn, quantity: str, form: str, inputs: list[np.ndarray], threads: int
) -> Memory:
    call = library.batch(quantity, *inputs, threads=threads)
    few = library.batch(quantity, *(array[:4096] for array in inputs), threads=threads)
    call.keywords["out"].fill(1.0)  # so that its pages are there
    few()  # compiles, and starts the threads
    _reset_high_water()
    before = _status("VmRSS")
    call()
    resident = max(0, _status("VmHWM") - before)
    tracemalloc.start()
    call()
    allocated = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return Memory(quantity, form, threads, resident, allocated)


def _reset_high_water() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _status(field: str) -> int:
    """A field of this process's status [bytes]."""
    (kilobytes,) = re.findall(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(kilobytes) * 1024
