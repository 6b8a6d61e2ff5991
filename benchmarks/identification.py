"""Moments of a long record of a Panda, against others' ways.

``python -m benchmarks.identification``. Rows of q, qd, qdd and tau come one log after the other, as
from a disk. Armdyn computes the moments: the Gram matrices of each joint's torque, links, rotor,
friction and offset, in 64 parts. The same Gram matrices are summed up around Pinocchio's regressor,
row by row in Python; FIGAROH, where it is installed, builds its regressor and solves by QR, which
is what it offers. All take turns in one process, on one core, each on as many rows as its time
allows. The memory is that of a process of its own that computes the moments of all rows, by code
that is compiled already.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "ARMDYN_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402  after the number of threads is said

import armdyn  # noqa: E402
from armdyn.identification.moments import moments  # noqa: E402
from benchmarks.arms import arm, states, urdf  # noqa: E402
from benchmarks.memory import _status  # noqa: E402

ROWS = 10**7
LOG = 20_000  # rows of each log
PEER_ROWS = {"pinocchio": 20_000, "figaroh": 100_000}  # FIGAROH holds all of them in memory
GOALS = {"pinocchio": 8, "figaroh": 100}  # how many times as fast
MEGABYTES = 150


def logs(chain: armdyn.Chain, rows: int) -> Iterator[armdyn.Log]:
    """Logs of so many rows in all; the numbers are the same in each, which none knows."""
    given = states(chain, min(LOG, rows))
    for first in range(0, rows, LOG):
        part = slice(0, min(LOG, rows - first))
        q, qd, qdd, tau = (given[name][part] for name in ("q", "qd", "qdd", "tau"))
        yield armdyn.Log(1e-3 * (first + np.arange(len(q))), q, tau, qd, qdd)


def around_pinocchio(chain: armdyn.Chain, rows: int) -> list[np.ndarray]:
    """Each joint's Gram matrix of [tau | columns of links from it outward, rotor, friction, 1]."""
    import pinocchio

    model = pinocchio.buildModelFromXML(urdf(chain))
    data, regressor = model.createData(), pinocchio.computeJointTorqueRegressor
    n = chain.n
    grams = [np.zeros((5 + 10 * (n - i), 5 + 10 * (n - i))) for i in range(n)]
    for log in logs(chain, rows):
        Y = np.empty((len(log), n, 10 * n))
        for k in range(len(log)):
            Y[k] = regressor(model, data, log.q[k], log.qd[k], log.qdd[k])
        for i in range(n):
            drive = [log.qdd[:, i], log.qd[:, i], np.sign(log.qd[:, i]), np.ones(len(log))]
            X = np.column_stack([log.tau[:, i], Y[:, i, 10 * i :], *drive])
            grams[i] += X.T @ X
    return grams


def by_figaroh(chain: armdyn.Chain, rows: int) -> Any:
    """FIGAROH's regressor and its base parameters by QR."""
    import pinocchio
    from figaroh.tools import qrdecomposition, regressor

    class Arm:
        model = pinocchio.buildModelFromXML(urdf(chain))
        data = model.createData()

    parts = list(logs(chain, rows))
    q, qd, qdd, tau = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("q", "qd", "qdd", "tau")
    )
    asked = {"has_friction": True, "has_actuator_inertia": True, "has_joint_offset": True}
    W = regressor.build_regressor_basic(Arm(), q, qd, qdd, {**asked, "act_idxv": range(chain.n)})
    names = {f"p{k}": 0.0 for k in range(W.shape[1])}
    unfelt, kept = regressor.get_index_eliminate(W, names)
    W = regressor.build_regressor_reduced(W, unfelt)
    return qrdecomposition.QRDecomposer().double_decomposition(tau.T.ravel(), W, kept)


def timed(function: Callable[[], Any]) -> float:
    """Seconds of processor time."""
    begun = time.process_time()
    function()
    return time.process_time() - begun


def measure(rows: int, rounds: int) -> dict[str, float]:
    """The least processor time for each row [us], in turns."""
    chain = arm("panda")
    robot = armdyn.Robot(chain)
    sizes = {"armdyn": rows, **PEER_ROWS}
    ways: dict[str, Callable[[], Any]] = {
        "armdyn": lambda: moments(robot, logs(chain, rows)),
        "pinocchio": lambda: around_pinocchio(chain, sizes["pinocchio"]),
    }
    try:
        by_figaroh(chain, 500)
        ways["figaroh"] = lambda: by_figaroh(chain, sizes["figaroh"])
    except ImportError as missing:
        print(f"FIGAROH was not seen: {missing}", file=sys.stderr)
    moments(robot, logs(chain, LOG))  # compiles
    times = {name: np.inf for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            times[name] = min(times[name], timed(way) / sizes[name])
    return {name: 1e6 * seconds for name, seconds in times.items()}


def memory(rows: int) -> float:
    """The most memory that a process has while it computes the moments of so many rows [MB]."""
    command = [sys.executable, "-m", "benchmarks.identification", "--alone", str(rows)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--rows", type=int, default=ROWS, help="of the record")
    parser.add_argument("--rounds", type=int, default=3, help="of all in turns")
    parser.add_argument("--alone", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.alone:
        chain = arm("panda")
        moments(armdyn.Robot(chain), logs(chain, arguments.alone))
        print(_status("VmHWM") / 1e6)  # ru_maxrss would tell of the parent process too
        return
    times = measure(min(arguments.rows, 10**6), arguments.rounds)
    found = {"microseconds_a_row": times, "megabytes": memory(arguments.rows)}
    if arguments.json:
        print(json.dumps({"rows": arguments.rows, **found}, indent=2))
        return
    print(f"Moments of {arguments.rows} rows of a Panda, one core")
    for name, each in times.items():
        ratio = each / times["armdyn"]
        goal = GOALS.get(name)
        met = "" if goal is None else f"; goal {goal}: {'met' if ratio >= goal else 'MISSED'}"
        print(f"  {name:10}{each:9.3f} us a row{ratio:9.1f} times armdyn's{met}")
    met = "met" if found["megabytes"] <= MEGABYTES else "MISSED"
    print(f"  memory of the whole process {found['megabytes']:.0f} MB; goal {MEGABYTES}: {met}")


if __name__ == "__main__":
    main()
