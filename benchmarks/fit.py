"""A whole identification: ten seconds of a simulated Panda at 500 Hz, from a log to parameters.

``python -m benchmarks.fit``. The log has positions and torques with noise and friction, as a
controller records them. Each way runs in turn, in this process, after one run that compiles;
wall-clock and processor time are the least of all rounds. BLAS has as many threads as it takes by
itself: processor time far beyond wall-clock time is threads that wait for each other.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import armdyn

ROWS, STEP = 5000, 2e-3  # rows, [s]
WAYS: dict[str, dict[str, Any]] = {
    "default": {},
    "cutoff=20": {"cutoff": 20.0},
    "payload": {"payload": True},
    "payload, cutoff=20": {"payload": True, "cutoff": 20.0},
}


def log(robot: armdyn.Robot, seed: int = 0) -> armdyn.Log:
    """A log of sums of sines, with noise of 2 % of each joint's torque and of 1e-5 rad."""
    rng, t = np.random.default_rng(seed), STEP * np.arange(ROWS)
    w = 0.2 * np.pi * np.arange(1, 6)
    a, b = 0.6 * rng.normal(size=(2, 5, robot.n)) / np.arange(1, 6)[:, None]
    s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    q, w = s @ a + c @ b, w[:, None]
    qd, qdd = c @ (w * a) - s @ (w * b), -s @ (w**2 * a) - c @ (w**2 * b)
    tau = robot.inverse_dynamics(q, qd, qdd, friction=True)
    tau = tau + 0.02 * np.sqrt((tau**2).mean(axis=0)) * rng.normal(size=q.shape)
    return armdyn.Log(t, q + 1e-5 * rng.normal(size=q.shape), tau)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    robot = armdyn.load("panda").with_friction(viscous=2.0, coulomb=1.0)
    given = log(robot)
    best = {name: np.array([np.inf, np.inf]) for name in WAYS}
    armdyn.identify(robot, given)
    for _ in range(rounds):
        for name, options in WAYS.items():
            begun = time.perf_counter(), time.process_time()
            found = armdyn.identify(robot, given, **options)
            spent = time.perf_counter() - begun[0], time.process_time() - begun[1]
            best[name] = np.minimum(best[name], spent)
            print(f"{name}: cutoff {found.cutoff} Hz, weight {found.weight:g}", flush=True)
    print(f"{'':20} {'wall [s]':>9} {'CPU [s]':>9}")
    for name, (wall, processor) in best.items():
        print(f"{name:20} {wall:9.2f} {processor:9.2f}")


if __name__ == "__main__":
    main()
