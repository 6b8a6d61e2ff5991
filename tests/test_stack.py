"""The stack: no kernel needs much of it, whatever it computes."""

import subprocess
import sys

import pytest

CODE = """
import sys, threading
import numpy as np
from armdyn import Chain, Robot
from armdyn.quantities import QUANTITIES

quantity, joints, kilobytes = sys.argv[1], sys.argv[2], int(sys.argv[3])
robot = Robot(Chain.random(len(joints), joints))
count = len(QUANTITIES[quantity].arguments)
state = np.random.default_rng(0).uniform(-1, 1, (count, 11, robot.n))
found = []


def work():
    function = getattr(robot, quantity)
    found.append((function(*state, threads=1), function(*(x[0] for x in state))))


work()
threading.stack_size(kilobytes * 1024)
thread = threading.Thread(target=work)
thread.start()
thread.join()
(many, one), (many_there, one_there) = found
assert many_there.tobytes() == many.tobytes() and one_there.tobytes() == one.tobytes()
assert np.isfinite(many).all() and (many[0] == one).all()
"""


@pytest.mark.parametrize("kilobytes", [64, 256])
@pytest.mark.parametrize(
    "quantity, joints",
    [
        ("christoffel", "RP" * 5),
        ("regressor", "R" * 7),
        ("inverse_dynamics", "R" * 40),
        pytest.param("inverse_dynamics", "R" * 200, marks=pytest.mark.sweep),
    ],
    ids=["christoffel-10", "regressor-7", "inverse_dynamics-40", "inverse_dynamics-200"],
)
def test_a_kernel_runs_on_a_thread_with_a_small_stack(quantity, joints, kilobytes):
    command = [sys.executable, "-c", CODE, quantity, joints, str(kilobytes)]
    subprocess.run(command, check=True, timeout=120)


def test_the_christoffel_symbols_of_51_prismatic_joints():
    """They are zero, and there are more of them in a block of states than a stack holds."""
    code = f"{CODE}\nassert many.shape == (11, 51, 51, 51) and not many.any()"
    command = [sys.executable, "-c", code, "christoffel", "P" * 51, "64"]
    subprocess.run(command, check=True, timeout=240)
