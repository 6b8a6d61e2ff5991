"""Simulations over dask workers, and in shards: bit for bit as in one process, whoever dies."""

import dataclasses
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn import ArmdynError, SimulationError, controllers, trajectories
from armdyn.simulation.cluster import simulate_to
from armdyn.simulation.results import Result, Violation

ROBOT = armdyn.load("two_link")
BATCH = (5, 7)
RNG = np.random.default_rng(0)
STARTS, TARGETS = RNG.uniform(-1, 1, (2, *BATCH, 2))
MOTION = ("t", "q", "qd", "qdd", "tau")


def limited():
    """The arm with limits that some of the states pass."""
    joints = ROBOT.chain.joints
    joints = (dataclasses.replace(joints[0], lower=-0.9, upper=0.9, velocity=1.0), *joints[1:])
    return armdyn.Robot(dataclasses.replace(ROBOT.chain, joints=joints))


def weaving(t):
    """A motion for each state, by a user's function."""
    q = TARGETS + 0.1 * np.sin(t)
    return q, np.full_like(q, 0.1 * np.cos(t)), np.full_like(q, -0.1 * np.sin(t))


SHORT = {"t": 0.02, "dt": 2e-3}
CASES = {  # arguments of simulate after the robot
    "free fall": {"q0": STARTS},
    "float32": {"q0": STARTS.astype(np.float32), "integrator": "rk4"},
    "rows of torques": {"q0": STARTS, "tau": RNG.uniform(-1, 1, (*BATCH, 10, 2))},
    "one row for all": {"q0": STARTS, "tau": RNG.uniform(-1, 1, (10, 2))},
    "a target for each": {"q0": STARTS, "tau": controllers.pd_gravity(TARGETS, 30, 5)},
    "a way for each": {
        "q0": STARTS,
        "tau": controllers.computed_torque(trajectories.quintic(STARTS, TARGETS, 0.02), 100, 20),
    },
    "a function's way": {"q0": STARTS, "tau": controllers.pd(weaving, 30, 5, rate=250)},
    "a function": {"q0": STARTS, "tau": lambda t, q, qd: -0.3 * qd, "integrator": "midpoint"},
    "parameters": {
        "q0": [0.4, -0.2],
        "parameters": RNG.uniform(0.8, 1.2, (*BATCH, 1)) * ROBOT.chain.parameters,
        "gravity": [0, -3.7, 0],
        "tau": controllers.pd([0.1, 0.2], 30, 5),
    },
}


def assert_same(found, expected):
    """Every number, bit for bit, and what was seen on the way."""
    for name in MOTION:
        one, two = getattr(found, name), getattr(expected, name)
        assert one.dtype == two.dtype
        np.testing.assert_array_equal(one, two)
    assert list(found.given) == list(expected.given)
    for name, array in expected.given.items():
        np.testing.assert_array_equal(found.given[name], array)
    assert (found.violations, found.stopped) == (expected.violations, expected.stopped)
    assert found.steps == expected.steps


# The same -----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_workers_make_the_run_that_one_process_makes(client, case):
    here = armdyn.simulate(ROBOT, **CASES[case], **SHORT)
    assert here.q.shape[:2] == BATCH
    assert_same(armdyn.simulate(ROBOT, **CASES[case], **SHORT, client=client), here)


def test_states_that_stop_early_and_violations_come_in_order(client):
    options = {"t": 0.2, "dt": 2e-3, "limits": "stop", "every": 10}
    here = armdyn.simulate(limited(), STARTS, **options)
    assert 0 < len(here.stopped) < STARTS[..., 0].size
    assert {violation.kind for violation in here.violations} == {"position", "speed"}
    assert_same(armdyn.simulate(limited(), STARTS, **options, client=client), here)


def test_one_state_alone_and_none(client):
    for start in (STARTS[0, 0], STARTS[:0, 0]):
        options = SHORT | {"gravity": [0, -3.7, 0]}
        here = armdyn.simulate(ROBOT, start, **options)
        assert_same(armdyn.simulate(ROBOT, start, **options, client=client), here)


@pytest.mark.sweep
def test_a_million_states_have_the_bits_of_the_serial_run(client):
    starts = np.random.default_rng(1).uniform(-2, 2, (1_000_000, 2))
    hold = controllers.pd_gravity([0.2, 0.4], 30, 5)
    options = {"tau": hold, "t": 0.01, "dt": 2e-3, "integrator": "rk4", "every": 5}
    here = armdyn.simulate(ROBOT, starts, **options)
    there = armdyn.simulate(ROBOT, starts, **options, client=client)
    assert_same(there, here)


def test_the_example_of_the_documentation_runs(tmp_path):
    """As a file of its own, since its processes read it."""
    pytest.importorskip("distributed", reason="clusters need armdyn[cluster]")
    page = (Path(__file__).parents[1] / "docs" / "cluster.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```py\n(# monte_carlo.py.*?)^```$", page, re.M | re.S)
    script = tmp_path / "monte_carlo.py"
    script.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "20000 loads, off by 0." in done.stdout
    assert "the same bits in one process: True" in done.stdout


# Workers ------------------------------------------------------------------------------------


def test_a_worker_that_dies_is_survived(client, tmp_path):
    """The first to be asked for the torque at a late time is killed in the midst of its block."""
    marker = str(tmp_path / "killed")

    def deadly(t, q, qd, marker=marker):
        if t > 0.01:
            try:
                os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return -0.3 * qd

    before = set(client.run(os.getpid).values())
    there = armdyn.simulate(ROBOT, STARTS, tau=deadly, **SHORT, client=client)
    assert os.path.exists(marker)
    assert set(client.run(os.getpid).values()) != before
    assert_same(there, armdyn.simulate(ROBOT, STARTS, tau=lambda t, q, qd: -0.3 * qd, **SHORT))


def test_progress_is_told_the_states(client):
    told = []
    armdyn.simulate(ROBOT, STARTS, **SHORT, client=client, progress=lambda *x: told.append(x))
    assert told[-1] == (35, 35) and [done for done, _ in told] == sorted({d for d, _ in told})


def test_a_motion_that_diverges_is_called_by_its_number_among_all_states(client):
    starts = np.zeros((40, 2))
    push = np.zeros((40, 10, 2))
    push[33] = 1e300
    with pytest.raises(SimulationError, match=r"diverged .* of state 33 ") as caught:
        armdyn.simulate(ROBOT, starts, tau=push, **SHORT, client=client)
    assert isinstance(caught.value.result, Result)


def test_what_is_wrong_is_said_before_anything_is_sent(client):
    with pytest.raises(armdyn.ShapeError, match=r"tau has shape \(3, 10, 2\)"):
        armdyn.simulate(ROBOT, STARTS, tau=np.zeros((3, 10, 2)), **SHORT, client=client)
    with pytest.raises(SimulationError, match=r"expected a distributed.Client, or None"):
        armdyn.simulate(ROBOT, STARTS, **SHORT, client="tcp://host:8786")


def test_without_dask_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SimulationError, match=r"pip install 'armdyn\[cluster\]'"):
        armdyn.simulate(ROBOT, STARTS, **SHORT, client=object())


# Shards -------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["float32", "a target for each", "parameters"])
def test_shards_written_here_make_up_the_run(case, tmp_path):
    paths = simulate_to(tmp_path / "new", ROBOT, **CASES[case], **SHORT, suffix=".npz", states=8)
    assert [os.path.basename(path) for path in paths] == [f"{k:06d}.npz" for k in range(5)]
    assert sorted(os.listdir(tmp_path / "new")) == [os.path.basename(path) for path in paths]
    here = armdyn.simulate(ROBOT, **CASES[case], **SHORT)
    found = Result.load(paths)
    flat = {name: getattr(here, name).reshape(-1, 11, 2) for name in MOTION[1:]}
    given = {name: array.reshape(35, -1) for name, array in here.given.items()}
    assert_same(found, dataclasses.replace(here, **flat, given=given))


@pytest.mark.parametrize("suffix, package", [(".parquet", "pyarrow"), (".zarr", "zarr")])
def test_workers_write_shards(client, tmp_path, suffix, package):
    pytest.importorskip(package, reason=f"{suffix} needs its package")
    starts, told = STARTS.reshape(-1, 2), []
    options = {"client": client, "suffix": suffix, "states": 10, "progress": told.append}
    options["progress"] = lambda done, states: told.append((done, states))
    paths = simulate_to(tmp_path, limited(), starts, t=0.4, dt=2e-3, **options)
    assert len(paths) == len(list(tmp_path.iterdir())) == 4 and told[-1] == (35, 35)
    assert_same(Result.load(paths), armdyn.simulate(limited(), starts, t=0.4, dt=2e-3))


def test_a_shard_that_is_there_is_not_made_again(tmp_path, monkeypatch):
    """A worker may die after it has written a shard and before it has said so."""
    from armdyn.simulation.cluster import Work

    work = Work(ROBOT, STARTS[0], 0 * STARTS[0], None, {}, SHORT)
    path = str(tmp_path / "0.npz")
    assert work.done(path, None) == path
    written = os.stat(path).st_mtime_ns
    assert work.done(path, None) == path and os.stat(path).st_mtime_ns == written


def test_folders_and_options_that_cannot_be_are_refused(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(ArmdynError, match="full' holds files; expected a new or empty folder"):
        simulate_to(tmp_path / "full", ROBOT, STARTS)
    with pytest.raises(ArmdynError, match="cannot write to .*file'"):
        simulate_to(tmp_path / "full" / "file", ROBOT, STARTS)
    with pytest.raises(ArmdynError, match=r"'shard.txt'; expected a name in .npz or .csv"):
        simulate_to(tmp_path / "new", ROBOT, STARTS, suffix=".txt")
    with pytest.raises(SimulationError, match="states is 0; expected a whole number"):
        simulate_to(tmp_path / "new", ROBOT, STARTS, states=0)
    for name in ("frictoin", "threads"):
        with pytest.raises(SimulationError, match=f"simulate_to takes no argument {name}"):
            simulate_to(tmp_path / "new", ROBOT, STARTS, **{name: 1})
    assert not (tmp_path / "new").exists()
    with pytest.raises(armdyn.MethodError, match="integrator is 'euler'"):
        simulate_to(tmp_path / "new", ROBOT, STARTS, integrator="euler", suffix=".npz")


def test_violations_of_parts_are_those_of_the_whole():
    """In the order of time, then of kinds, sides, states and joints, as one run lists them."""
    from armdyn.simulation.results import joined

    parts = [armdyn.simulate(limited(), part, t=0.4, dt=2e-3) for part in STARTS]
    whole = armdyn.simulate(limited(), STARTS, t=0.4, dt=2e-3)
    assert len(whole.violations) > 4 and isinstance(whole.violations[0], Violation)
    assert_same(joined(parts, BATCH), whole)
