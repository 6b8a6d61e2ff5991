"""Other libraries on the same GPU, where they are installed: states a second in float32.

frax and MJX are programs of JAX, compiled for a batch. What a peer computes is compared with
armdyn's before it is timed; one that differs, or cannot be run, is named with the reason.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np

import armdyn
from benchmarks.arms import urdf

QUANTITIES = ("mass_matrix", "inverse_dynamics", "forward_dynamics")
BASE = """<link name="base"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1"
iyz="0" izz="1"/></inertial></link>"""  # which does not move, but frax wants its inertia
CLOSE = 2e-2  # of the largest number: float32, and other algorithms
REPEATS = 5

Functions = Mapping[str, Callable[..., Any]]  # by quantity, of one state


def frax(path: str, gravity: np.ndarray) -> Functions:
    """By frax."""
    import frax
    import jax.numpy as jnp

    robot = frax.Robot(path)
    up = jnp.array([*-gravity, 0.0, 0.0, 0.0])
    return {
        "mass_matrix": robot.crba,
        "inverse_dynamics": lambda q, qd, qdd: robot.rnea(q, qd, qdd, up, None),
        "forward_dynamics": lambda q, qd, tau: robot.forward_dynamics(q, qd, tau, None),
    }


def mjx(path: str, gravity: np.ndarray) -> Functions:
    """By MuJoCo's version in JAX, contacts off."""
    import mujoco
    from mujoco import mjx

    model = mujoco.MjModel.from_xml_path(path)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.opt.gravity = gravity
    on_card = mjx.put_model(model)
    empty = mjx.make_data(on_card)

    def mass_matrix(q: Any) -> Any:
        data = mjx.com_pos(on_card, mjx.kinematics(on_card, empty.replace(qpos=q)))
        return mjx.full_m(on_card, mjx.crb(on_card, data))

    def inverse_dynamics(q: Any, qd: Any, qdd: Any) -> Any:
        return mjx.inverse(on_card, empty.replace(qpos=q, qvel=qd, qacc=qdd)).qfrc_inverse

    def forward_dynamics(q: Any, qd: Any, tau: Any) -> Any:
        return mjx.forward(on_card, empty.replace(qpos=q, qvel=qd, qfrc_applied=tau)).qacc

    return {
        "mass_matrix": mass_matrix,
        "inverse_dynamics": inverse_dynamics,
        "forward_dynamics": forward_dynamics,
    }


PEERS = {"frax": (("frax", "jax"), frax), "mjx": (("mujoco", "mujoco.mjx", "jax"), mjx)}


def measured(arm: str, states: int) -> dict[str, Any]:
    """M states a second of each peer that is installed; what went wrong, in its place."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # it would take all memory
    robot, found = armdyn.load(arm), {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"{arm}.urdf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(urdf(robot.chain).replace('<link name="base"/>', BASE))
        for name, (modules, make) in PEERS.items():
            if not all(map(is_installed, modules)):
                found[name] = "not installed"
                continue
            try:
                functions = make(path, np.array(robot.chain.gravity))
            except Exception as trouble:  # whatever another library raises
                found[name] = f"cannot be used: {trouble!r}"[:200]
                continue
            found[name] = {q: _speed(robot, q, functions[q], states) for q in QUANTITIES}
    return found


def is_installed(module: str) -> bool:
    """Whether a module can be found."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of the package that it is in
        return False


def _speed(robot: armdyn.Robot, quantity: str, function: Any, states: int) -> float | str:
    """M states a second of a function; or why there is no such figure."""
    import jax

    rng = np.random.default_rng(0)
    count = 1 if quantity == "mass_matrix" else 3
    given = list(rng.uniform(-1, 1, (count, states, robot.n)).astype(np.float32))
    try:
        batch = jax.jit(jax.vmap(function))
        arrays = [jax.numpy.asarray(x) for x in given]
        few = np.asarray(batch(*(x[:64] for x in arrays)))
        truth = robot.function(quantity)(*(x[:64].astype(float) for x in given))
        error = np.abs(few - truth).max() / np.abs(truth).max()
        if not error < CLOSE:
            return f"differs by {error:.2g} of the largest number"
        batch(*arrays).block_until_ready()
        best = float("inf")
        for _ in range(REPEATS):
            begun = time.perf_counter()
            batch(*arrays).block_until_ready()
            best = min(best, time.perf_counter() - begun)
    except Exception as trouble:  # whatever another library raises
        return f"cannot be run: {trouble!r}"[:200]
    return round(states / best / 1e6, 2)
