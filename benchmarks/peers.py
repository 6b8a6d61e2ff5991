"""armdyn and its peers: the same four quantities of the same arm."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import armdyn
from armdyn.chain import Chain
from armdyn.engine import calls
from benchmarks.arms import QUANTITIES, urdf
from benchmarks.generated import CasADi, CasADiLanes
from benchmarks.peer import Peer
from benchmarks.timing import Call, quickest


class Armdyn(Peer):
    """armdyn as a user calls it, through the C extension where it is built."""

    name = "armdyn"
    distributions = ("armdyn", "llvmlite")

    def __init__(self, chain: Chain, build: Path) -> None:
        super().__init__(chain, build)
        robot = armdyn.Robot(chain)
        self.functions = {quantity: getattr(robot, quantity) for quantity in QUANTITIES}

    def single(self, quantity: str, *state: np.ndarray) -> Call:
        return Call(self.functions[quantity], state)

    def in_place(self, quantity: str, *state: np.ndarray) -> Call:
        return Call(self.functions[quantity], state, {"out": self.room(quantity, *state)})

    def batch(self, quantity: str, *state: np.ndarray, threads: int) -> Call:
        keywords = {"out": self.room(quantity, *state), "threads": 1 if threads == 1 else None}
        return Call(self.functions[quantity], state, keywords, len(state[0]))


class ArmdynPure(Armdyn):
    """armdyn where the C extension is not built."""

    name = "armdyn without extension"

    def __init__(self, chain: Chain, build: Path) -> None:
        with mock.patch.object(calls, "EXTENSION", False):
            super().__init__(chain, build)


class Pinocchio(Peer):
    """Pinocchio: a Python call a state, and its parallel batches."""

    name = "pinocchio"
    needs = ("pinocchio",)
    distributions = ("pin",)

    def __init__(self, chain: Chain, build: Path) -> None:
        super().__init__(chain, build)
        import pinocchio

        self.pin = pinocchio
        self.model = pinocchio.buildModelFromXML(urdf(chain))
        self.model.gravity.linear = np.array(chain.gravity)
        self.data = self.model.createData()
        self._pools: dict[int, Any] = {}

    def single(self, quantity: str, *state: np.ndarray) -> Call:
        pin = self.pin
        function = {
            "mass_matrix": pin.crba,
            "bias": pin.nonLinearEffects,
            "inverse_dynamics": pin.rnea,
            "forward_dynamics": pin.aba,
        }[quantity]
        call = Call(function, (self.model, self.data, *state))
        if quantity not in ("mass_matrix", "forward_dynamics") or not hasattr(pin, "Convention"):
            return call
        in_world = Call(function, (*call.arguments, pin.Convention.WORLD))
        return quickest([call, in_world])

    def batch(self, quantity: str, *state: np.ndarray, threads: int) -> Call | None:
        pin = self.pin
        if quantity == "mass_matrix" or not hasattr(pin, "rneaInParallel"):
            return None
        function = pin.rneaInParallel
        if quantity == "forward_dynamics":
            function = pin.abaInParallel
        elif quantity == "bias":
            state = (*state, np.zeros_like(state[0]))
        pool = self._pools.setdefault(threads, pin.ModelPool(self.model, threads))
        result = np.zeros_like(state[0])
        columns = [array.T for array in (*state, result)]  # it takes a state a column

        def run() -> np.ndarray:
            function(threads, pool, *columns)
            return result

        return Call(run, states=len(result))


class MuJoCo(Peer):
    """MuJoCo: of the ways to ask for a quantity, those with the least work."""

    name = "mujoco"
    needs = ("mujoco",)
    distributions = ("mujoco",)

    def __init__(self, chain: Chain, build: Path) -> None:
        super().__init__(chain, build)
        import mujoco

        model = mujoco.MjModel.from_xml_string(urdf(chain))
        model.opt.gravity[:] = chain.gravity
        off = mujoco.mjtDisableBit
        model.opt.disableflags |= int(off.mjDSBL_CONSTRAINT) | int(off.mjDSBL_CONTACT)
        self.functions = _mujoco_functions(mujoco, model, mujoco.MjData(model))

    def single(self, quantity: str, *state: np.ndarray) -> Call:
        return Call(self.functions[quantity], state)


def _mujoco_functions(mujoco: Any, m: Any, d: Any) -> dict[str, Callable[..., np.ndarray]]:
    kinematics, com, composite, full, velocity, newton_euler, forward = (
        getattr(mujoco, f"mj_{step}")
        for step in ("kinematics", "comPos", "makeM", "fullM", "comVel", "rne", "forward")
    )
    qpos, qvel, qacc, applied, n = d.qpos, d.qvel, d.qacc, d.qfrc_applied, m.nv

    def mass_matrix(q: np.ndarray) -> np.ndarray:
        qpos[...] = q
        kinematics(m, d)
        com(m, d)
        composite(m, d)
        M = np.empty((n, n))
        full(m, d, M)
        return M

    def bias(q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        qpos[...] = q
        qvel[...] = qd
        kinematics(m, d)
        com(m, d)
        velocity(m, d)
        tau = np.empty(n)
        newton_euler(m, d, 0, tau)
        return tau

    def inverse_dynamics(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        qpos[...] = q
        qvel[...] = qd
        qacc[...] = qdd
        kinematics(m, d)
        com(m, d)
        velocity(m, d)
        tau = np.empty(n)
        newton_euler(m, d, 1, tau)
        return tau

    def forward_dynamics(q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        qpos[...] = q
        qvel[...] = qd
        applied[...] = tau
        forward(m, d)
        return qacc.copy()

    functions = (mass_matrix, bias, inverse_dynamics, forward_dynamics)
    return dict(zip(QUANTITIES, functions, strict=True))


class RoboticsToolbox(Peer):
    """The Robotics Toolbox: its Newton-Euler in C, and what it builds on that."""

    name = "roboticstoolbox"
    needs = ("roboticstoolbox",)
    distributions = ("roboticstoolbox-python",)

    def __init__(self, chain: Chain, build: Path) -> None:
        super().__init__(chain, build)
        from roboticstoolbox import DHRobot, PrismaticMDH, RevoluteMDH

        links = []
        for joint, link in zip(chain.joints, chain.links, strict=True):
            body = link.inertia
            rest = {"a": joint.b, "alpha": joint.beta, "m": body.mass, "r": body.com}
            rest |= {"I": body.about_com, "Jm": 0, "G": 1, "B": 0, "Tc": [0, 0]}
            if joint.kind == "R":
                links.append(RevoluteMDH(d=joint.d, offset=joint.theta, **rest))
            else:
                links.append(PrismaticMDH(theta=joint.theta, offset=joint.d, **rest))
        gravity = np.array(chain.base.rotation).T @ chain.gravity  # in E_0, where its base stands
        self.robot = DHRobot(links, gravity=gravity)

    def single(self, quantity: str, *state: np.ndarray) -> Call:
        robot = self.robot
        if quantity == "bias":
            return Call(robot.rne, (*state, np.zeros(self.n)))
        functions = {
            "mass_matrix": robot.inertia,
            "inverse_dynamics": robot.rne,
            "forward_dynamics": robot.accel,
        }
        return Call(functions[quantity], state)


PEERS: tuple[type[Peer], ...] = (Pinocchio, MuJoCo, CasADi, CasADiLanes, RoboticsToolbox)
