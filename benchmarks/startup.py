"""What a fresh process pays beyond ``import numpy``: from ``import armdyn`` to the first result."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from statistics import median

import armdyn
from armdyn.quantities import QUANTITIES
from armdyn.quantities.tasks import quantities_of

TORQUE = "inverse_dynamics"  # is measured REPEATS times as often as the others
REPEATS = 6
FIRST_USE = """
import sys, time, numpy
quantity, name, arguments = sys.argv[1:]
start = time.perf_counter(), time.process_time()
import armdyn
robot = armdyn.load(name)
getattr(robot, quantity)(*[numpy.full(robot.n, 0.1)] * int(arguments))
print(time.perf_counter() - start[0], time.process_time() - start[1])
"""


@dataclass(frozen=True)
class Startup:
    """Seconds from ``import armdyn`` to the first result in a fresh process, of some runs."""

    what: str  # "cold": compiled; "cached": from the disk
    quantity: str
    arm: str
    seconds: float  # the least
    processor: float  # the least of processor time, which others on the machine do not lengthen
    median: float


def startup(arms: tuple[str, ...], repeats: int) -> list[Startup]:
    """Import, loading and first use together, with the disk cache empty and from it."""
    found = []
    for name in arms:
        for quantity in quantities_of(armdyn.load(name).chain):
            cold, cached = [], []
            for _ in range(repeats * (REPEATS if quantity == TORQUE else 1)):
                with tempfile.TemporaryDirectory() as directory:
                    cold.append(_run(quantity, name, directory))
                    cached.append(_run(quantity, name, directory))
            found.append(_summed_up("cold", quantity, name, cold))
            found.append(_summed_up("cached", quantity, name, cached))
    return found


def _summed_up(what: str, quantity: str, arm: str, runs: list[list[float]]) -> Startup:
    seconds, processor = zip(*runs, strict=True)
    return Startup(what, quantity, arm, min(seconds), min(processor), median(seconds))


def _run(quantity: str, arm: str, cache: str) -> list[float]:
    """The numbers that a fresh interpreter prints; it may keep byte code, as installing does."""
    arguments = str(len(QUANTITIES[quantity].arguments))
    done = subprocess.run(
        [sys.executable, "-c", FIRST_USE, quantity, arm, arguments],
        env={**os.environ, "ARMDYN_CACHE_DIR": cache, "PYTHONDONTWRITEBYTECODE": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(number) for number in done.stdout.split()]
