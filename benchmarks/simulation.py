"""A closed loop in time, against the same loop written around Pinocchio in Python.

The Panda follows PD with gravity compensation for 10 s at 1 kHz, integrated by Adams-Bashforth of
fourth order: `python -m benchmarks.simulation`. Times are the least of some runs, on one core.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio

import armdyn
from armdyn import controllers
from benchmarks.arms import arm, urdf

TIME, DT = 10.0, 1e-3  # [s]
STATES, KEPT = 4096, 100  # simulated together; one row of so many is kept, which memory demands
START = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.7])
TARGET = START + 0.3
KP = np.array([100.0, 100.0, 50.0, 50.0, 3.0, 3.0, 0.5])
KD = np.array([10.0, 10.0, 5.0, 5.0, 0.3, 0.3, 0.05])
GOALS = {"single": 3, "together": 50}  # how many times as fast as Pinocchio's loop


def pinocchio_loop(model: Any, q0: np.ndarray, steps: int) -> np.ndarray:
    """The positions of all steps."""
    data = model.createData()
    aba, gravity = pinocchio.aba, pinocchio.computeGeneralizedGravity
    h, n = DT, len(q0)
    q, qd, qdd = np.empty((3, steps + 1, n))
    q[0], qd[0] = q0, 0.0

    def rate(x: np.ndarray, v: np.ndarray) -> np.ndarray:
        tau = KP * (TARGET - x) - KD * v + gravity(model, data, x)
        return aba(model, data, x, v, tau)

    for k in range(3):
        x, v = q[k], qd[k]
        a1 = qdd[k] = rate(x, v)
        v2 = v + h / 2 * a1
        a2 = rate(x + h / 2 * v, v2)
        v3 = v + h / 2 * a2
        a3 = rate(x + h / 2 * v2, v3)
        v4 = v + h * a3
        a4 = rate(x + h * v3, v4)
        q[k + 1] = x + h / 6 * (v + 2 * v2 + 2 * v3 + v4)
        qd[k + 1] = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    weights = h / 24 * np.array([-9.0, 37.0, -59.0, 55.0])
    for k in range(3, steps):
        qdd[k] = rate(q[k], qd[k])
        q[k + 1] = q[k] + weights @ qd[k - 3 : k + 1]
        qd[k + 1] = qd[k] + weights @ qdd[k - 3 : k + 1]
    return q


def least(runs: int, function: Callable[[], Any]) -> tuple[float, Any]:
    """The least time of some runs [s], and the last result."""
    times = []
    for _ in range(runs):
        begun = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - begun)
    return min(times), result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--runs", type=int, default=5, help="of each loop")
    parser.add_argument("--seconds", type=float, default=1.0, help="to simulate together")
    arguments = parser.parse_args()
    os.environ["ARMDYN_NUM_THREADS"] = "1"

    chain = arm("panda")
    robot = armdyn.Robot(chain)
    model = pinocchio.buildModelFromXML(urdf(chain))
    controller = controllers.pd_gravity(TARGET, KP, KD)

    def single() -> armdyn.simulation.Result:
        return armdyn.simulate(robot, START, None, controller, TIME, DT)

    starts = START + np.random.default_rng(0).uniform(-0.2, 0.2, (STATES, robot.n))

    def together() -> armdyn.simulation.Result:
        seconds = arguments.seconds
        return armdyn.simulate(robot, starts, None, controller, seconds, DT, every=KEPT)

    steps = round(TIME / DT)
    single()  # compiles
    peer, expected = least(arguments.runs, lambda: pinocchio_loop(model, START, steps))
    alone, result = least(arguments.runs, single)
    apart = float(np.abs(result.q - expected).max())
    many, result = least(max(1, arguments.runs // 2), together)
    each = many / STATES * TIME / arguments.seconds
    rows = {
        "pinocchio_s": peer,
        "single_s": alone,
        "single_ratio": peer / alone,
        "together_s_each": each,
        "together_ratio": peer / each,
        "largest_difference_rad": apart,
    }
    if arguments.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"Panda, {TIME:g} s at {1 / DT:g} Hz, AB4, PD with gravity compensation, one core")
    for label, seconds in (
        ("around Pinocchio in Python", peer),
        ("armdyn.simulate", alone),
        (f"{STATES} together, each", each),
    ):
        print(f"  {label:28}{seconds * 1e3:9.3f} ms{peer / seconds:8.1f} times as fast")
    print(f"  the two differ by at most {apart:.1g} rad")
    for name, ratio in (("single", peer / alone), ("together", peer / each)):
        met = "met" if ratio >= GOALS[name] else "MISSED"
        print(f"  goal, {name}: {GOALS[name]} times as fast: {met}")


if __name__ == "__main__":
    main()
