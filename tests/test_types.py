"""What a type checker sees of Robot: every quantity with its own arguments, options and results."""

import inspect
import pydoc
import re
import subprocess
import sys

import numpy as np
import pytest

from armdyn import Robot
from armdyn.quantities.tasks import quantities_of
from armdyn.robot.compiled import Compiled
from tests.test_robot import ROBOT

QUANTITIES = [
    name
    for room in Robot.__mro__
    for name, value in vars(room).items()
    if isinstance(value, Compiled)
]

RIGHT = """
from typing import Any
import numpy as np
from armdyn.robot import Robot
from armdyn.simulation import simulate

def use(robot: Robot, q: np.ndarray, out: np.ndarray) -> None:
    robot.mass_matrix(q, method="crba", out=out, threads=2)
    robot.mass_matrix([0.0, 1.0], method=None, out=None, threads=None)
    robot.inverse_dynamics(q, q, q, friction=True)
    robot.forward_dynamics(q, q, tau=q, friction=False, method="ldl")
    robot.inverse_dynamics(q, q, q, payload=[1.0] * 10, payload_frame="tool0", check=None)
    robot.bias(q, q, gravity=(0, 0, 1), parameters=q)
    robot.function("bias", arguments=("payload", "gravity"))
    robot.pose(q, "tool0")
    robot.jacobian(q, frame="tool0", axes="frame", out=out)
    robot.energy(q, q, out=(out, out))
    robot.with_payload(2.0, com=[0, 0, 0.1]).with_rotors(1e-4, gear=100).with_gravity(q).n + 1
    Robot.pose(robot, q, "tool0")
    reveal_type(robot.mass_matrix(q))
    reveal_type(robot.energy(q, q))
    reveal_type(robot.pose(q, "tool0"))
    reveal_type(robot.velocity_limits)
    reveal_type(robot.mass_matrix([0.0, 1.0]))
    reveal_type(robot.bias([0, 1], q, gravity=[0.0, 0, 1]))

class Tensor:
    shape: tuple[int, ...]
    dtype: str
    def __array__(self) -> np.ndarray: return np.zeros(2)

def use_tensors(robot: Robot, t: Tensor) -> None:
    robot.mass_matrix(t, method="crba", out=t, threads=2)
    reveal_type(robot.mass_matrix(t))
    reveal_type(robot.bias(t, [0, 1.0], gravity=t))
    reveal_type(robot.energy(t, t))
    reveal_type(simulate(robot, t, tau=[0, 1.0]).q)
    reveal_type(simulate(robot, [0, 1.0]).q)

class Own(Robot):
    def pose(
        self,
        q: object,
        frame: str | None = None,
        *,
        out: Any = None,
        threads: int | None = None,
    ) -> Any:
        return super().pose(np.zeros(self.n), frame, out=out, threads=threads)
"""
REVEALED = [
    r"numpy\.ndarray\[.*\]",
    r"tuple\[numpy\.ndarray\[.*\], numpy\.ndarray\[.*\]\]",
    r"numpy\.ndarray\[.*\]",
    r"numpy\.ndarray\[.*\]",
    r"numpy\.ndarray\[.*\]",
    r"numpy\.ndarray\[.*\]",
    r"right\.Tensor",
    r"right\.Tensor",
    r"tuple\[right\.Tensor, right\.Tensor\]",
    r"right\.Tensor",
    r"numpy\.ndarray\[.*\]",
]
HEAD = """import armdyn, numpy as np
from armdyn.robot import Robot
def use(robot: Robot, q: np.ndarray) -> None:
"""
WRONG = {
    "robot.mass_matrix(q, nonsense=3)": 'Unexpected keyword argument "nonsense" for "mass_matrix"',
    "robot.mass_matrix()": 'Missing positional argument "q" in call to "mass_matrix"',
    "robot.mass_matrix(q, 'crba')": 'Too many positional arguments for "mass_matrix"',
    "robot.mass_matrix(q, method=3)": 'Argument "method" to "mass_matrix" of "Dynamics" has',
    "robot.mass_matrix(q, threads='2')": 'Argument "threads" to "mass_matrix" of "Dynamics" has',
    "robot.mass_matrix(q, out=[1.0])": 'Argument "out" to "mass_matrix" of "Dynamics" has',
    "robot.bias(q)": 'Missing positional argument "qd" in call to "bias"',
    "robot.bias(q, q, frame='tool0')": 'Unexpected keyword argument "frame" for "bias"',
    "robot.jacobian(q, axes='local')": 'Argument "axes" to "jacobian" of "Kinematics" has inc',
    "robot.pose(q, 3)": 'Argument 2 to "pose" of "Kinematics" has incompatible type "int"',
    "robot.gravity(q, friction=True)": 'Unexpected keyword argument "friction" for "gravity"',
    "robot.inverse_dynamics(q, q, q, friction='no')": 'Argument "friction" to "inverse_dynamics"',
    "robot.mass_matrix(q, gravity=q)": 'Unexpected keyword argument "gravity" for "mass_matrix"',
    "robot.gravity(q, payload=q, check='no')": 'Argument "check" to "gravity" of "Dynamics" has',
    "armdyn.lod('panda')": 'Module has no attribute "lod"',
    "robot.tool = q": '"Robot" has no attribute "tool"',
    "robot.with_payload(mass='2')": 'Argument "mass" ',
    "robot.energy(q, q, out=q)": 'Argument "out" to "energy" of "Dynamics" has',
}


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What mypy says: line by line of the right program, then of the wrong one."""
    pytest.importorskip("mypy")
    folder = tmp_path_factory.mktemp("types")
    (folder / "right.py").write_text(RIGHT)
    (folder / "wrong.py").write_text(HEAD + "".join(f"    {call}\n" for call in WRONG))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", "--hide-error-codes"]
        + ["--config-file=", "--ignore-missing-imports", "right.py", "wrong.py"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert not done.stderr, done.stderr
    return done.stdout.splitlines()


def test_results_have_types(told):
    lines = [line for line in told if line.startswith("right.py")]
    assert len(lines) == len(REVEALED), lines
    for line, revealed in zip(lines, REVEALED, strict=True):
        assert re.search(f'note: Revealed type is "{revealed}"$', line), line


def test_wrong_calls_are_errors(told):
    lines = [line for line in told if line.startswith("wrong.py") and ": error: " in line]
    for number, (call, error) in enumerate(WRONG.items(), 4):
        assert any(line.startswith(f"wrong.py:{number}: error: {error}") for line in lines), call


def test_signatures_are_those_of_the_class():
    assert len(QUANTITIES) >= 12
    for name in QUANTITIES:
        method, bound = getattr(Robot, name), getattr(ROBOT, name)
        _, *parameters = inspect.signature(method).parameters.values()
        assert [*inspect.signature(bound).parameters.values()] == parameters
        assert bound.__doc__ == method.__doc__ and bound.__name__ == name
        told = pydoc.render_doc(bound)
        assert method.__doc__.splitlines()[0] in told
    told = pydoc.plain(pydoc.render_doc(ROBOT.pose))
    assert re.search(r"pose\(q.*, frame.*= ?None.*, out.*= ?None, threads.*= ?None\)", told)


def test_a_call_by_way_of_the_class_is_the_same_call():
    state = np.linspace(-1, 1, ROBOT.n)
    for name in quantities_of(ROBOT.chain):
        arrays = [state] * len(getattr(ROBOT, name).arguments)
        by_class, by_robot = getattr(Robot, name)(ROBOT, *arrays), getattr(ROBOT, name)(*arrays)
        np.testing.assert_equal(by_class, by_robot)
    by_class = Robot.inverse_dynamics(ROBOT, state, state, state, friction=True)
    assert np.array_equal(by_class, ROBOT.inverse_dynamics(state, state, state, friction=True))
    assert np.array_equal(Robot.pose(ROBOT, state, "link2"), ROBOT.pose(state, "link2"))
