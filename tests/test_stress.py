"""Under load: many threads, several robots, a cache that is filled and damaged meanwhile."""

import gc
import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn import Chain, Robot

THREADS, CALLS = 8, 1_000_000


def resident_bytes():
    """The memory of this process that is in use, where the system tells."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def questions():
    """(call, answer): single and batch, compiled, fused and by method, on several robots."""
    rng = np.random.default_rng(0)
    found = []
    for name in ("panda", "puma560", "stanford", "two_link"):
        robot = armdyn.load(name)
        for batch in ((), (3,), (17,)):
            q, qd, qdd = rng.uniform(-2, 2, (3, *batch, robot.n))
            both = robot.function("mass_matrix", "bias")
            calls = [
                (robot.mass_matrix, (q,), {}),
                (robot.mass_matrix, (q,), {"method": "crba"}),
                (robot.inverse_dynamics, (q, qd, qdd), {}),
                (robot.forward_dynamics, (q, qd, qdd), {}),
                (robot.gravity, (q.astype(np.float32),), {}),
                (both, (q, qd), {}),
            ]
            found += [(call, call[0](*call[1], **call[2])) for call in calls]
    return found


def same(a, b):
    if isinstance(a, tuple):
        return all(map(same, a, b))
    return a.tobytes() == b.tobytes()


@pytest.mark.sweep
@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory in use from /proc")
def test_a_million_calls_on_eight_threads(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMDYN_CACHE_DIR", str(tmp_path / "cache"))
    asked = questions()
    wrong, done = [], threading.Event()

    def ask(seed, calls):
        pick = random.Random(seed)
        for _ in range(calls):
            (function, args, named), answer = pick.choice(asked)
            if not same(function(*args, **named), answer):
                wrong.append(function)

    def compile_and_damage():
        pick, seed = random.Random(0), 0
        while not done.is_set():
            seed = (seed + 1) % 5
            chain = Chain.random(2, seed=seed)
            M = Robot(chain).mass_matrix(np.zeros(2))
            if not same(M, Robot(chain).mass_matrix(np.zeros((1, 2)))[0]):
                wrong.append(chain)
            for path in (tmp_path / "cache").rglob("*"):
                if path.is_file() and pick.random() < 0.5:
                    damage(path, pick)

    def ask_on_all_threads(calls):
        asking = [threading.Thread(target=ask, args=(i, calls // THREADS)) for i in range(THREADS)]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
        gc.collect()
        return resident_bytes()

    vandal = threading.Thread(target=compile_and_damage)
    vandal.start()
    try:
        early = ask_on_all_threads(CALLS // 10)
        late = ask_on_all_threads(CALLS)
    finally:
        done.set()
        vandal.join()
    assert not wrong
    assert late - early < 32 * 2**20


def damage(path, pick):
    try:
        data = bytearray(path.read_bytes())
        if data:
            data[pick.randrange(len(data))] ^= 0xFF
            path.write_bytes(data[: pick.randrange(1, len(data) + 1)])
    except OSError:
        pass  # gone already


LINEAR = """
import gc, random
from pathlib import Path
from armdyn.engine import jit
from armdyn.program.tape import record

draw = random.Random(0)


def resident():
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def compile_and_drop(count):
    for _ in range(count):
        factors = [draw.random() for _ in range(100)]
        program = record(lambda x: [sum(factor * x[0] for factor in factors)], {"x": 1}, "linear")
        jit.LoadedCode(jit.compile(program, "batch", "float64"), "batch")


compile_and_drop(50)
growth = []
for _ in range(3):  # what stays behind does so each time; an arena that the heap takes, once
    before = resident()
    compile_and_drop(50)
    growth.append((resident() - before) / 50)
print(min(growth))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory in use from /proc")
def test_code_that_is_gone_leaves_no_memory_behind():
    """Not even its constants, which are other ones each time."""
    done = subprocess.run([sys.executable, "-c", LINEAR], check=True, capture_output=True)
    assert float(done.stdout) < 1000  # bytes


ROBOTS = """
import gc
from pathlib import Path
import numpy as np
from armdyn import Chain, Robot


def resident():
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def come_and_go(first, last):
    for seed in range(first, last):
        robot = Robot(Chain.random(2, seed=seed))
        robot.gravity(np.zeros(2))
        robot.gravity(np.zeros((3, 2)))


come_and_go(0, 600)  # fills what is kept of the last few hundred arms
before = resident()
come_and_go(600, 1000)
print(resident() - before)
"""


@pytest.mark.sweep
@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory in use from /proc")
def test_hundreds_of_robots_that_are_gone_leave_no_memory_behind():
    environment = os.environ | {"ARMDYN_CACHE_DIR": ""}
    done = subprocess.run(
        [sys.executable, "-c", ROBOTS], check=True, capture_output=True, env=environment
    )
    assert int(done.stdout) < 500_000  # bytes: less than a page a robot


@pytest.mark.sweep
@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory in use from /proc")
def test_a_robot_that_is_gone_leaves_no_memory_behind(monkeypatch):
    monkeypatch.setenv("ARMDYN_CACHE_DIR", "")

    def come_and_go(count):
        for seed in range(count):
            robot = Robot(Chain.random(3, seed=seed % 3))
            robot.mass_matrix(np.zeros(3))
            robot.bias(np.zeros((2, 3)), np.zeros(3))
        del robot
        gc.collect()

    come_and_go(20)
    before = resident_bytes()
    come_and_go(40)
    assert resident_bytes() - before < 8 * 2**20


CALLS_OF_ONE = """
import gc
from contextlib import suppress
from pathlib import Path
import numpy as np
import armdyn

robot = armdyn.load("panda")
q, many = np.full(7, 0.3), np.full((40, 9), 0.3)[::2, 1:8]
load = [1.0, 0, 0, 0.1, 0.01, 0, 0.01, 0, 0, 0]


def calls(count):
    for _ in range(count):
        robot.gravity(q)
        robot.inverse_dynamics(q, q, q)
    for _ in range(count // 20):
        robot.mass_matrix(many)
        robot.gravity(many.tolist(), payload=load)
        with suppress(ValueError):
            robot.gravity(q[:3])
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


calls(20_000)
print(-calls(20_000) + calls(500_000))
"""


@pytest.mark.sweep
@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory in use from /proc")
def test_a_million_calls_leave_no_memory_behind():
    done = subprocess.run([sys.executable, "-c", CALLS_OF_ONE], check=True, capture_output=True)
    assert int(done.stdout) < 2**20  # bytes; a leak of one byte per call is as large
