"""Two threads against one: `python -m benchmarks.threads`.

What it costs to hand work over to another thread of the pool, from how many states on that pays,
and what it gains. On a machine that others use too the least of many calls is what tells: both
cores must have been free for as long as one call, so a long call may never be seen undisturbed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import numpy as np

import armdyn
from armdyn.engine import workers

SECONDS = 3.0  # for each row
SIZES = (250, 500, 750, 1000, 1500, 2000, 4000, 20_000, 100_000)
PAUSE = 1e-3  # [s] until workers are asleep


def main() -> None:
    """Prints all figures."""
    name = armdyn.info()["cpu"]
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    print(f"{name}, {workers.cores()} cores, load {load:.1f}; least of many, microseconds")
    robot = armdyn.load("panda")
    print("\nPanda, M(q), out= given; workers awake (asleep)")
    print(f"{'states':>8} {'1 thread':>10} {'2 threads':>20} {'gain':>14} {'hand-over':>16}")
    for states in SIZES:
        q = np.random.default_rng(0).uniform(-1, 1, (states, robot.n))
        out = np.empty((states, robot.n, robot.n))

        def call(threads: int, q: np.ndarray = q, out: np.ndarray = out) -> object:
            return robot.mass_matrix(q, out=out, threads=threads)

        show(states, least(call))
    print("\nPanda, 100 steps of rk4 with nothing kept between; workers awake (asleep)")
    for states in (16, 64, 256, 1024, 4096):
        q = np.random.default_rng(0).uniform(-1, 1, (states, robot.n))

        def simulate(threads: int, q: np.ndarray = q) -> object:
            return armdyn.simulate(
                robot, q, t=0.1, integrator="rk4", every=100, limits="ignore", threads=threads
            )

        show(states, least(simulate))


def least(call: Callable[[int], object]) -> dict[tuple[int, bool], float]:
    """Seconds a call on so many threads, whose workers are awake or not: the least of many."""
    found = {(threads, awake): float("inf") for threads in (1, 2) for awake in (True, False)}
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        for threads in 1, 2:
            time.sleep(PAUSE)
            for awake in False, True, True, True:
                begun = time.perf_counter()
                call(threads)
                taken = time.perf_counter() - begun
                found[threads, awake] = min(found[threads, awake], taken)
    return found


def show(states: int, seconds: dict[tuple[int, bool], float]) -> None:
    """One row. The hand-over is what two threads take beyond half of the time of one."""
    one = seconds[1, True]
    two, gain, hand_over = [], [], []
    for awake in True, False:
        taken = seconds[2, awake]
        two.append(1e6 * taken)
        gain.append(seconds[1, awake] / taken)
        hand_over.append(1e6 * (taken - seconds[1, awake] / 2))
    print(
        f"{states:8d} {1e6 * one:10.1f} {two[0]:10.1f} ({two[1]:7.1f}) {gain[0]:6.2f} "
        f"({gain[1]:5.2f}) {hand_over[0]:7.1f} ({hand_over[1]:6.1f})"
    )


if __name__ == "__main__":
    main()
