"""Steps of 4096 Pandas together, against MuJoCo's rollout of the same arms with contacts off.

A position controller, kp (target - q) - kd qd, and Runge-Kutta of fourth order at 1 kHz in both:
`python -m benchmarks.steps`. Rounds are interleaved, each of both on one core; what is printed is
the median of rounds, and the ratio is that of the same round. armdyn makes a call a step, as
learning does; MuJoCo makes STEPS steps in a call, which spares it calls.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable

import numpy as np

import armdyn
from armdyn.chain import Chain
from benchmarks.arms import arm, urdf

ARMS, STEPS, DT = 4096, 5, 1e-3
HOME = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.7])
KP = np.array([100.0, 100.0, 50.0, 50.0, 3.0, 3.0, 0.5])
KD = np.array([10.0, 10.0, 5.0, 5.0, 0.3, 0.3, 0.05])
GOAL = 50  # times as fast as MuJoCo
Pair = tuple[np.ndarray, np.ndarray]
Run = Callable[[], Pair]


def drawn() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, speeds and targets of all arms."""
    rng = np.random.default_rng(0)
    q, qd, way = rng.uniform(-0.2, 0.2, (3, ARMS, len(HOME)))
    return HOME + q, qd, HOME + way


def by_armdyn(chain: Chain, dtype: type, threads: int | None = 1) -> Run:
    """STEPS calls, each of which steps all arms."""
    stepper = armdyn.Robot(chain).stepper(DT, "pd", kp=KP, kd=KD)
    start, speeds, target = (array.astype(dtype) for array in drawn())
    rooms = [(np.empty_like(start), np.empty_like(start)) for _ in range(2)]

    def run() -> Pair:
        q, qd = start, speeds
        for k in range(STEPS):
            q, qd = stepper.step(q, qd, target, out=rooms[k % 2], threads=threads)
        return q, qd

    return run


def by_mujoco(chain: Chain) -> Run:
    """One rollout of all arms, on one thread."""
    import mujoco
    from mujoco import rollout

    spec = mujoco.MjSpec.from_string(urdf(chain))
    for joint, kp, kd in zip(chain.joints, KP, KD, strict=True):
        spec.add_actuator(
            name=joint.name,
            target=joint.name,
            trntype=mujoco.mjtTrn.mjTRN_JOINT,
            gaintype=mujoco.mjtGain.mjGAIN_FIXED,
            gainprm=[kp, *[0.0] * 9],
            biastype=mujoco.mjtBias.mjBIAS_AFFINE,
            biasprm=[0.0, -kp, -kd, *[0.0] * 7],
        )
    model = spec.compile()
    off = mujoco.mjtDisableBit
    model.opt.disableflags |= int(off.mjDSBL_CONSTRAINT) | int(off.mjDSBL_CONTACT)
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.timestep, model.opt.gravity[:] = DT, chain.gravity
    data = mujoco.MjData(model)
    q, qd, target = drawn()
    state = np.column_stack([np.zeros(ARMS), q, qd])
    control = np.repeat(target[:, None], STEPS, axis=1)
    states = np.empty((ARMS, STEPS, state.shape[1]))

    def run() -> Pair:
        rollout.rollout(model, data, state, control, nstep=STEPS, state=states)
        last = states[:, -1]
        return last[:, 1 : 1 + chain.n], last[:, 1 + chain.n :]

    return run


def measure(runs: dict[str, Run], rounds: int) -> dict[str, list[float]]:
    """Seconds a step of all arms, in each round of each."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            begun = time.process_time()
            run()
            times[name].append((time.process_time() - begun) / STEPS)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--rounds", type=int, default=7, help="of each library")
    arguments = parser.parse_args()
    os.environ["ARMDYN_NUM_THREADS"] = "1"
    chain = arm("panda")
    runs = {
        "mujoco": by_mujoco(chain),
        "armdyn float64": by_armdyn(chain, np.float64),
        "armdyn float32": by_armdyn(chain, np.float32),
    }
    ends = {name: run() for name, run in runs.items()}  # which compiles
    apart = {
        name: float(np.abs(np.subtract(end, ends["mujoco"])).max()) for name, end in ends.items()
    }
    times = measure(runs, arguments.rounds)
    rows = {
        name: {
            "ms": float(np.median(found)) * 1e3,
            "ratio": float(np.median(np.divide(times["mujoco"], found))),
            "apart": apart[name],
        }
        for name, found in times.items()
    }
    if arguments.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"{ARMS} Pandas, a step of {DT * 1e3:g} ms by Runge-Kutta under PD, one core")
    for name, row in rows.items():
        print(
            f"  {name:16}{row['ms']:9.3f} ms{row['ratio']:8.1f} times as fast as MuJoCo; "
            f"after {STEPS} steps {row['apart']:.1g} apart"
        )
    best = rows["armdyn float64"]["ratio"]
    print(f"  goal: {GOAL} times as fast: {'met' if best >= GOAL else 'MISSED'}")


if __name__ == "__main__":
    main()
