"""Two threads against one: `python -m benchmarks.threads`.

What it costs to hand work over to another thread of the pool, from how many states on that pays,
and what it gains. All rows take turns, and the least of many calls is what tells: on a machine
that others use too, both cores must have been free for as long as one call takes.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Mapping

import numpy as np

import armdyn
from armdyn.engine import workers

SIZES = (250, 500, 1000, 2000, 4000, 20_000, 100_000)
SIMULATED = (16, 64, 256, 1024)
PAUSE = 2e-3  # [s], after which all threads are asleep
AWAKE, ASLEEP = True, False

Call = Callable[[int], object]  # on so many threads
Least = dict[tuple[int, bool], float]  # threads, whether they were awake before: seconds


def main() -> None:
    """Prints all figures."""
    parser = argparse.ArgumentParser(description="Two threads against one.")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each of two tables")
    seconds = parser.parse_args().seconds
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"{armdyn.info()['cpu']}, {workers.cores()} cores{load}")
    robot = armdyn.load("panda")
    show("M(q) of the Panda", least({n: mass_matrix(robot, n) for n in SIZES}, seconds))
    steps = {n: simulation(robot, n) for n in SIMULATED}
    show("100 steps of the Panda by rk4", least(steps, seconds))


def mass_matrix(robot: armdyn.Robot, states: int) -> Call:
    """M of so many states, into memory that is there."""
    q, out = positions(robot, states), np.empty((states, robot.n, robot.n))
    return lambda threads: robot.mass_matrix(q, out=out, threads=threads)


def simulation(robot: armdyn.Robot, states: int) -> Call:
    """Some steps of so many states, of which the last one is kept."""
    q = positions(robot, states)
    given = {"t": 0.1, "integrator": "rk4", "every": 100, "limits": "ignore"}
    return lambda threads: armdyn.simulate(robot, q, threads=threads, **given)


def positions(robot: armdyn.Robot, states: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(-1, 1, (states, robot.n))


def least(calls: Mapping[int, Call], seconds: float) -> dict[int, Least]:
    """The least time of each call, on one thread and on two, after a pause and without."""
    found = {n: {(k, awake): np.inf for k in (1, 2) for awake in (AWAKE, ASLEEP)} for n in calls}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for n, call in calls.items():
            for threads in 1, 2:
                time.sleep(PAUSE)
                for awake in ASLEEP, AWAKE, AWAKE:
                    begun = time.perf_counter()
                    call(threads)
                    taken = time.perf_counter() - begun
                    found[n][threads, awake] = min(found[n][threads, awake], taken)
    return found


def show(what: str, found: Mapping[int, Least]) -> None:
    """A table. What the hand-over takes is the time of two threads beyond half of one's."""
    print(f"\n{what}, least of many, us; after a pause in brackets")
    heads = zip(("one thread", "two threads", "gain", "hand-over"), (21, 21, 15, 19), strict=True)
    print(f"{'states':>8} {' '.join(f'{head:>{width}}' for head, width in heads)}")
    for n, seconds in found.items():
        rows = []
        for awake in AWAKE, ASLEEP:
            one, two = (1e6 * seconds[threads, awake] for threads in (1, 2))
            rows.append((one, two, one / two, two - one / 2))
        pairs = zip(*rows, strict=True)
        digits = ("9.1f", "9.1f", "6.2f", "8.1f")
        cells = [f"{a:{d}} ({b:{d}})" for (a, b), d in zip(pairs, digits, strict=True)]
        print(f"{n:8d} {' '.join(cells)}")


if __name__ == "__main__":
    main()
