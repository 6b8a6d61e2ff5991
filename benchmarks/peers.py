"""armdyn and its peers behind one interface: the same four quantities of the same arm.

``single`` is the call a user of the library would write, state in, result out; ``in_place`` is the
call where the library can leave the result in memory it was given; ``batch`` is what the library
has for many states. Each answers with a Call ready to be timed, or None where there is none.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import numpy as np

import armdyn
from armdyn import calls
from armdyn.chain import Chain
from benchmarks.arms import QUANTITIES, urdf
from benchmarks.timing import Call, quickest


class Peer:
    """A library on one arm."""

    name: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()  # modules
    distributions: ClassVar[tuple[str, ...]]

    def __init__(self, chain: Chain, build: Path) -> None:
        self.chain, self.n = chain, chain.n

    def single(self, quantity: str, *state: np.ndarray) -> Call:
        """One state, a new array."""
        raise NotImplementedError

    def in_place(self, quantity: str, *state: np.ndarray) -> Call | None:
        """One state, without a new array."""
        return None

    def batch(self, quantity: str, *state: np.ndarray, threads: int) -> Call | None:
        """States (N, n) in C order, result in memory that was given; the call returns it."""
        return None

    def room(self, quantity: str, *state: np.ndarray) -> np.ndarray:
        """Memory for the result."""
        last = (self.n, self.n) if quantity == "mass_matrix" else (self.n,)
        return np.zeros((*state[0].shape[:-1], *last), state[0].dtype)

    @classmethod
    def missing(cls) -> str | None:
        """Why this library cannot be measured here; None if it can."""
        try:
            for module in cls.needs:
                import_module(module)
        except Exception as trouble:  # a broken installation must not stop the others
            return f"{type(trouble).__name__}: {trouble}"
        return None

    @classmethod
    def versions(cls) -> str:
        """The versions of what it is made of."""
        return ", ".join(f"{name} {metadata.version(name)}" for name in cls.distributions)


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
        keywords = {"out": self.room(quantity, *state), "threads": threads}
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

        self.mujoco = mujoco
        self.model = mujoco.MjModel.from_xml_string(urdf(chain))
        self.model.opt.gravity[:] = chain.gravity
        off = mujoco.mjtDisableBit
        self.model.opt.disableflags |= int(off.mjDSBL_CONSTRAINT) | int(off.mjDSBL_CONTACT)
        self.data = mujoco.MjData(self.model)

    def single(self, quantity: str, *state: np.ndarray) -> Call:
        return Call(getattr(self, f"_{quantity}")(), state)

    def _position(self) -> Callable[..., None]:
        m, d, (kinematics, com) = self.model, self.data, self._steps("kinematics", "comPos")
        qpos, qvel = d.qpos, d.qvel

        def position(q: np.ndarray, qd: np.ndarray | None = None) -> None:
            qpos[:] = q
            if qd is not None:
                qvel[:] = qd
            kinematics(m, d)
            com(m, d)

        return position

    def _steps(self, *names: str) -> list[Callable[..., None]]:
        return [getattr(self.mujoco, f"mj_{name}") for name in names]

    def _mass_matrix(self) -> Callable[..., np.ndarray]:
        m, d, position = self.model, self.data, self._position()
        composite, full = self._steps("makeM" if hasattr(self.mujoco, "mj_makeM") else "crb", "fullM")

        def mass_matrix(q: np.ndarray) -> np.ndarray:
            position(q)
            composite(m, d)
            M = np.empty((m.nv, m.nv))
            full(m, d, M)
            return M

        return mass_matrix

    def _bias(self) -> Callable[..., np.ndarray]:
        return self._newton_euler(0)

    def _inverse_dynamics(self) -> Callable[..., np.ndarray]:
        torque, qacc = self._newton_euler(1), self.data.qacc

        def inverse_dynamics(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
            qacc[:] = qdd
            return torque(q, qd)

        return inverse_dynamics

    def _newton_euler(self, accelerated: int) -> Callable[..., np.ndarray]:
        m, d, position = self.model, self.data, self._position()
        velocity, newton_euler = self._steps("comVel", "rne")

        def torque(q: np.ndarray, qd: np.ndarray) -> np.ndarray:
            position(q, qd)
            velocity(m, d)
            tau = np.empty(m.nv)
            newton_euler(m, d, accelerated, tau)
            return tau

        return torque

    def _forward_dynamics(self) -> Callable[..., np.ndarray]:
        m, d, (forward,) = self.model, self.data, self._steps("forward")
        qpos, qvel, applied, qacc = d.qpos, d.qvel, d.qfrc_applied, d.qacc

        def forward_dynamics(q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
            qpos[:], qvel[:], applied[:] = q, qd, tau
            forward(m, d)
            return qacc.copy()

        return forward_dynamics


class CasADi(Peer):
    """adam's formulas as C by CasADi's generator, compiled by gcc, called through its buffers.

    adam knows free-floating trees: the base is held by taking the joints' block of M and of the
    bias. It has no accelerations in its Newton-Euler, so inverse dynamics is M qdd + bias, and
    forward dynamics a symbolic L D L^T solution.
    """

    name = "casadi"
    needs = ("casadi", "adam.casadi")
    distributions = ("casadi", "adam-robotics")
    flags = ("-O2", "-O3")

    def __init__(self, chain: Chain, build: Path) -> None:
        super().__init__(chain, build)
        import casadi

        self.casadi = casadi
        self._alive: list[Any] = []
        source = build / f"{chain.name}.c"
        self.libraries = [build / f"{chain.name}{flag}.so" for flag in self.flags]
        for flag, library in zip(self.flags, self.libraries, strict=True):
            if not library.exists():
                if not source.exists():
                    self._generate(source)
                options = [flag, "-march=native", "-shared", "-fPIC"]
                subprocess.run(["gcc", *options, source, "-o", library, "-lm"], check=True)

    def _generate(self, source: Path) -> None:
        from adam.casadi import KinDynComputations

        ca = self.casadi
        names = [joint.name for joint in self.chain.joints]
        gravity = np.array([*self.chain.gravity, 0, 0, 0])
        adam = KinDynComputations(urdf(self.chain), names, gravity=gravity)
        q, qd, last = (ca.SX.sym(name, self.n) for name in ("q", "qd", "last"))
        base, rest = ca.DM.eye(4), ca.DM.zeros(6)
        M = adam.mass_matrix_fun()(base, q)[6:, 6:]
        bias = adam.bias_force_fun()(base, q, rest, qd)[6:]
        results = {
            "mass_matrix": M,
            "bias": bias,
            "inverse_dynamics": M @ last + bias,
            "forward_dynamics": ca.ldl_solve(last - bias, *ca.ldl(M)),
        }
        generator = ca.CodeGenerator(source.name)
        for name, arguments in QUANTITIES.items():
            inputs = [q, qd, last][: len(arguments)]
            generator.add(ca.Function(name, inputs, [ca.densify(results[name])], {"cse": True}))
        generator.generate(f"{source.parent}/")

    def single(self, quantity: str, *state: np.ndarray) -> Call:
        return quickest([self._copied(quantity, f, state) for f in self._compiled(quantity)])

    def in_place(self, quantity: str, *state: np.ndarray) -> Call:
        """The states stand where the compiled code reads them: nothing is copied."""
        return quickest([self._in_place(quantity, f, state) for f in self._compiled(quantity)])

    def batch(self, quantity: str, *state: np.ndarray, threads: int) -> Call:
        count = len(state[0])
        how = (count, "thread", threads) if threads > 1 else (count,)
        return quickest([self._in_place(quantity, f.map(*how), state) for f in self._compiled(quantity)])

    def _compiled(self, quantity: str) -> list[Any]:
        return [self.casadi.external(quantity, str(library)) for library in self.libraries]

    def _buffer(
        self, quantity: str, function: Any, state: tuple[np.ndarray, ...]
    ) -> tuple[Callable[[], None], list[np.ndarray], np.ndarray]:
        """Evaluates from fixed memory to fixed memory: the evaluation, its inputs, its result."""
        buffer, evaluate = function.buffer()
        inputs = [array.copy() for array in state]
        result = self.room(quantity, *state)  # it writes columns, but M is symmetric
        for k, array in enumerate(inputs):
            buffer.set_arg(k, memoryview(array))
        buffer.set_res(0, memoryview(result))
        self._alive.append((function, buffer, inputs))  # the evaluation does not keep them
        return evaluate, inputs, result

    def _in_place(self, quantity: str, function: Any, state: tuple[np.ndarray, ...]) -> Call:
        evaluate, _, result = self._buffer(quantity, function, state)
        return Call(evaluate, states=state[0].size // self.n, leaves=result)

    def _copied(self, quantity: str, function: Any, state: tuple[np.ndarray, ...]) -> Call:
        """Copies a state in and the result out."""
        evaluate, inputs, result = self._buffer(quantity, function, state)
        a, b, c = (*inputs, None, None)[:3]

        def of_one(q: np.ndarray) -> np.ndarray:
            a[:] = q
            evaluate()
            return result.copy()

        def of_two(q: np.ndarray, qd: np.ndarray) -> np.ndarray:
            a[:] = q
            b[:] = qd
            evaluate()
            return result.copy()

        def of_three(q: np.ndarray, qd: np.ndarray, last: np.ndarray) -> np.ndarray:
            a[:] = q
            b[:] = qd
            c[:] = last
            evaluate()
            return result.copy()

        return Call((of_one, of_two, of_three)[len(state) - 1], state)


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


PEERS: tuple[type[Peer], ...] = (Pinocchio, MuJoCo, CasADi, RoboticsToolbox)
