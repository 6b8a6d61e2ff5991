"""What a fresh process pays: importing armdyn, and the first use of a quantity."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from armdyn.quantities import QUANTITIES

IMPORT = """
import time, numpy
start = time.perf_counter(), time.process_time()
import armdyn
print(time.perf_counter() - start[0], time.process_time() - start[1])
"""
FIRST_USE = """
import sys, time, numpy, llvmlite.binding, armdyn
from armdyn.quantities import QUANTITIES
quantity, name = sys.argv[1:]
robot = armdyn.load(name)
state = [numpy.full(robot.n, 0.1)] * len(QUANTITIES[quantity].arguments)
start = time.perf_counter(), time.process_time()
getattr(robot, quantity)(*state)
print(time.perf_counter() - start[0], time.process_time() - start[1])
"""


@dataclass(frozen=True)
class Startup:
    """Seconds that something takes in a fresh process, the least of some runs."""

    what: str  # "import", "cold", "cached"
    quantity: str
    arm: str
    seconds: float
    processor: float  # seconds of processor time, which others on the machine do not lengthen


def startup(arms: tuple[str, ...], repeats: int) -> list[Startup]:
    """Importing beyond numpy; first use with the disk cache empty, and from it."""
    found = [_least("import", "", "", [_run(IMPORT) for _ in range(repeats)])]
    for name in arms:
        for quantity in QUANTITIES:
            cold, cached = [], []
            for _ in range(repeats):
                with tempfile.TemporaryDirectory() as directory:
                    cold.append(_run(FIRST_USE, quantity, name, cache=directory))
                    cached.append(_run(FIRST_USE, quantity, name, cache=directory))
            found.append(_least("cold", quantity, name, cold))
            found.append(_least("cached", quantity, name, cached))
    return found


def _least(what: str, quantity: str, arm: str, runs: list[list[float]]) -> Startup:
    seconds, processor = (min(column) for column in zip(*runs, strict=True))
    return Startup(what, quantity, arm, seconds, processor)


def _run(code: str, *arguments: str, cache: str = "") -> list[float]:
    """The numbers that a fresh interpreter prints; it may keep byte code, as installing does."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "ARMDYN_CACHE_DIR": cache, "PYTHONDONTWRITEBYTECODE": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(number) for number in done.stdout.split()]
