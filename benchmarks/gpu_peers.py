"""Other libraries on the same GPU, where they are installed: states a second in float32.

frax and MJX are programs of JAX, compiled for a batch. MuJoCo Warp is launched as it advises: its
kernels recorded once, and then played as one graph; with its constraints off, as armdyn has none,
and with joints' limits, of which none acts. What a peer computes is compared with
armdyn's before it is timed; one that differs, or cannot be run, is named with the reason.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

import armdyn
from benchmarks.arms import urdf

QUANTITIES = ("mass_matrix", "inverse_dynamics", "forward_dynamics")
BASE = """<link name="base"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1"
iyz="0" izz="1"/></inertial></link>"""  # which does not move, but frax wants its inertia
CLOSE = 2e-2  # of the largest number: float32, and other algorithms
REPEATS = 5
WORLDS = 2**17  # states of MuJoCo Warp, which keeps some kilobytes of each


class Work(NamedTuple):
    """A batch that lies ready: ``do`` computes all of it and waits; then ``found`` has results."""

    do: Callable[[], Any]
    found: Callable[[], np.ndarray]


Functions = Mapping[str, Callable[[list[np.ndarray]], Work]]  # by quantity, of a batch's arguments


def on_jax(function: Callable[..., Any]) -> Callable[[list[np.ndarray]], Work]:
    """A function of one state, as JAX does it on many."""

    def ready(given: list[np.ndarray]) -> Work:
        import jax

        batch = jax.jit(jax.vmap(function))
        arrays = [jax.numpy.asarray(x) for x in given]
        return Work(lambda: batch(*arrays).block_until_ready(), lambda: np.asarray(batch(*arrays)))

    return ready


def frax(path: str, gravity: np.ndarray) -> Functions:
    """By frax."""
    import frax
    import jax.numpy as jnp

    robot = frax.Robot(path)
    up = jnp.array([*-gravity, 0.0, 0.0, 0.0])
    return {
        "mass_matrix": on_jax(robot.crba),
        "inverse_dynamics": on_jax(lambda q, qd, qdd: robot.rnea(q, qd, qdd, up, None)),
        "forward_dynamics": on_jax(lambda q, qd, tau: robot.forward_dynamics(q, qd, tau, None)),
    }


def mujoco_model(path: str, gravity: np.ndarray, limits: bool = False) -> Any:
    """The arm as MuJoCo has it, contacts off; without all other constraints, or with limits."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(path)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    if not limits:
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.opt.gravity = gravity
    return model


def mjx(path: str, gravity: np.ndarray) -> Functions:
    """By MuJoCo's version in JAX."""
    from mujoco import mjx

    on_card = mjx.put_model(mujoco_model(path, gravity))
    empty = mjx.make_data(on_card)

    def mass_matrix(q: Any) -> Any:
        data = mjx.com_pos(on_card, mjx.kinematics(on_card, empty.replace(qpos=q)))
        return mjx.full_m(on_card, mjx.crb(on_card, data))

    def inverse_dynamics(q: Any, qd: Any, qdd: Any) -> Any:
        return mjx.inverse(on_card, empty.replace(qpos=q, qvel=qd, qacc=qdd)).qfrc_inverse

    def forward_dynamics(q: Any, qd: Any, tau: Any) -> Any:
        return mjx.forward(on_card, empty.replace(qpos=q, qvel=qd, qfrc_applied=tau)).qacc

    functions = mass_matrix, inverse_dynamics, forward_dynamics
    return {function.__name__: on_jax(function) for function in functions}


def mujoco_warp(path: str, gravity: np.ndarray, limits: bool = False) -> Functions:
    """By MuJoCo Warp."""
    import mujoco_warp
    import warp

    warp.config.quiet = True
    here = mujoco_model(path, gravity, limits)
    model = mujoco_warp.put_model(here)
    constraints = here.njnt if limits else 0

    def mass_matrix(data: Any) -> None:
        for stage in (mujoco_warp.kinematics, mujoco_warp.com_pos, mujoco_warp.crb):
            stage(model, data)

    def full(data: Any) -> np.ndarray:
        rows, lengths, columns = (
            np.ravel(x.numpy()) for x in (model.M_rowadr, model.M_rownnz, model.M_colind)
        )
        packed = data.M.numpy().reshape(data.nworld, -1)
        found = np.zeros((data.nworld, here.nv, here.nv), packed.dtype)
        for i in range(here.nv):
            for k in range(rows[i], rows[i] + lengths[i]):
                found[:, i, columns[k]] = found[:, columns[k], i] = packed[:, k]
        return found

    def on_warp(names: list[str], stages: Any, result: Any) -> Callable[[list[np.ndarray]], Work]:
        def ready(given: list[np.ndarray]) -> Work:
            data = mujoco_warp.make_data(
                here, nworld=min(len(given[0]), WORLDS), nconmax=0, njmax=constraints
            )
            for name, x in zip(names, given, strict=True):
                getattr(data, name).assign(x[: data.nworld])
            stages(data)  # which compiles
            play = _recorded(warp, lambda: stages(data))
            return Work(play, lambda: result(data))

        return ready

    return {
        "mass_matrix": on_warp(["qpos"], mass_matrix, full),
        "inverse_dynamics": on_warp(
            ["qpos", "qvel", "qacc"],
            lambda data: mujoco_warp.inverse(model, data),
            lambda data: data.qfrc_inverse.numpy(),
        ),
        "forward_dynamics": on_warp(
            ["qpos", "qvel", "qfrc_applied"],
            lambda data: mujoco_warp.forward(model, data),
            lambda data: data.qacc.numpy(),
        ),
    }


def _recorded(warp: Any, work: Callable[[], None]) -> Callable[[], None]:
    """Some work of Warp, waited for: as one graph, on a GPU."""
    graph = None
    if warp.get_device().is_cuda:
        with warp.ScopedCapture() as capture:
            work()
        graph = capture.graph

    def play() -> None:
        warp.capture_launch(graph) if graph else work()
        warp.synchronize()

    return play


PEERS = {
    "mujoco_warp": (("mujoco", "mujoco_warp", "warp"), mujoco_warp),
    "mujoco_warp, with limits": (
        ("mujoco", "mujoco_warp", "warp"),
        partial(mujoco_warp, limits=True),
    ),
    "frax": (("frax", "jax"), frax),
    "mjx": (("mujoco", "mujoco.mjx", "jax"), mjx),
}


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


def _speed(robot: armdyn.Robot, quantity: str, ready: Any, states: int) -> float | str:
    """M states a second of a function; or why there is no such figure."""
    rng = np.random.default_rng(0)
    count = 1 if quantity == "mass_matrix" else 3
    given = list(rng.uniform(-1, 1, (count, states, robot.n)).astype(np.float32))
    try:
        few = [x[:64] for x in given]
        work = ready(few)
        work.do()
        found = work.found()
        truth = robot.function(quantity)(*(x.astype(float) for x in few))
        error = np.abs(found - truth).max() / np.abs(truth).max()
        if not error < CLOSE:
            return f"differs by {error:.2g} of the largest number"
        work = ready(given)
        work.do()
        best = float("inf")
        for _ in range(REPEATS):
            begun = time.perf_counter()
            work.do()
            best = min(best, time.perf_counter() - begun)
        done = len(work.found())
    except Exception as trouble:  # whatever another library raises
        return f"cannot be run: {trouble!r}"[:200]
    return round(done / best / 1e6, 2)
