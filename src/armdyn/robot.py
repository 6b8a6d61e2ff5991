"""Robot: the quantities of one chain as fast functions of NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from inspect import getattr_static
from types import MethodType
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from armdyn.algorithms import catalogue
from armdyn.chain import Chain
from armdyn.chain.minimal import MinimalParameters
from armdyn.engine import calls
from armdyn.engine import function as compiled_function
from armdyn.errors import MethodError, shorten, warn
from armdyn.quantities import find
from armdyn.quantities.registered import refusal
from armdyn.quantities.tasks import Task, cheapest, program_cost

Out = np.ndarray | None
Outs = tuple[np.ndarray, ...] | None  # for several results
F = TypeVar("F", bound=Callable[..., Any])


class MethodRow(NamedTuple):
    """A method of a quantity, on one arm: ``operations`` of its program there, division as 8."""

    name: str
    paper: str
    exact: bool
    operations: int
    chosen: bool


class Compiled:
    """A quantity of Robot: at first use the robot gets a compiled function of the same name.

    The method written in the class lends its signature and documentation. Its body is what runs
    where it is called by way of the class, as in ``Robot.pose(robot, q)``.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        self.__doc__ = method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, robot: Robot | None, owner: type) -> Callable[..., Any]:
        if robot is None:
            return self.method
        place = self.name  # where Python finds the function next time, before this descriptor
        if getattr_static(type(robot), self.name) is not self:
            place = f"Robot.{self.name}"  # a subclass has its own, which calls this by super()
            if place in robot.__dict__:
                return robot.__dict__[place]
        return robot.__dict__.setdefault(place, self.function(robot))

    def function(self, robot: Robot) -> Callable[..., Any]:
        """The robot's compiled function; an option asks the robot for another one."""
        options = calls.Options(
            like=MethodType(self.method, robot),
            choose=lambda **options: robot._do(Task(self.name, **options)),
        )
        plain = Task(self.name)
        robot._functions[plain,] = compiled_function(robot.chain, [plain], options)
        return robot._functions[plain,]


def compiled(method: F) -> F:
    """Marks a method of Robot as ``Compiled``; to a type checker it stays the method it is."""
    return cast(F, Compiled(method))


class Robot:
    """The dynamics ``M(q) qdd + C(q, qd) qd + g(q) = tau`` of one arm.

    Every function takes joint positions q, speeds qd, accelerations qdd or torques tau as arrays
    of shape (..., n), one number a joint from base to tip, in SI units and radians. Leading axes
    are batch axes and broadcast against each other. Lists, integers and float32 are accepted;
    where all arguments are float32, so is the result. ``out=`` receives the result in place,
    ``threads=`` says on how many threads a batch is spread, and ``method=`` names a formulation of
    the catalogue (see ``methods``) in place of the cheapest. The first call of a function compiles
    it.
    """

    def __init__(self, chain: Chain) -> None:
        if not isinstance(chain, Chain):
            raise TypeError(f"Robot takes a Chain, not {type(chain).__name__}; see armdyn.load")
        self.chain = chain
        self._functions: dict[tuple[Task, ...], Callable[..., Any]] = {}

    # What it is -----------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The arm's name."""
        return self.chain.name

    @property
    def n(self) -> int:
        """The number of joints."""
        return self.chain.n

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints' names, base to tip."""
        return tuple(joint.name for joint in self.chain.joints)

    @property
    def limits(self) -> np.ndarray:
        """(lower, upper) of each joint, shape (n, 2) [rad or m]; infinite where there is none."""
        return np.array([(joint.lower, joint.upper) for joint in self.chain.joints])

    @property
    def speed_limits(self) -> np.ndarray:
        """The greatest speed of each joint, shape (n,) [rad/s or m/s]; infinite where none is."""
        return np.array([joint.velocity for joint in self.chain.joints])

    @property
    def effort_limits(self) -> np.ndarray:
        """The greatest torque of each joint, shape (n,) [N m, or N]; infinite where none is."""
        return np.array([joint.effort for joint in self.chain.joints])

    @property
    def locked(self) -> dict[str, float]:
        """Joints of the description that do not move, and where they were locked [rad or m]."""
        return dict(self.chain.locked)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know, such as what was snapped, moved, or found without mass."""
        return self.chain.notes

    def __repr__(self) -> str:
        return f"Robot({self.name!r}, {self.chain.kinds}, {self.chain.mass:.3g} kg)"

    def _repr_html_(self) -> str:
        from armdyn.chain.description import html

        return html(self.chain, repr(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Robot) and self.chain == other.chain

    def __hash__(self) -> int:
        return hash(self.chain)

    def __reduce__(self) -> tuple[type[Robot], tuple[Chain]]:
        return Robot, (self.chain,)

    # Dynamics -------------------------------------------------------------------------------

    @compiled
    def mass_matrix(
        self,
        q: ArrayLike,
        *,
        method: str | None = None,
        out: Out = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """The inertia matrix M(q) with rotors, (..., n) -> (..., n, n)."""
        return self._do(Task("mass_matrix", method))(q, out=out, threads=threads)

    @compiled
    def bias(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        *,
        method: str | None = None,
        out: Out = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """The torque of a motion without acceleration, C(q, qd) qd + g(q) -> (..., n)."""
        return self._do(Task("bias", method))(q, qd, out=out, threads=threads)

    @compiled
    def gravity(
        self,
        q: ArrayLike,
        *,
        method: str | None = None,
        out: Out = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """The torque g(q) that holds the arm still -> (..., n)."""
        return self._do(Task("gravity", method))(q, out=out, threads=threads)

    @compiled
    def christoffel(
        self,
        q: ArrayLike,
        *,
        method: str | None = None,
        out: Out = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Gamma[i, j, k] = 1/2 (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) -> (..., n, n, n)."""
        return self._do(Task("christoffel", method))(q, out=out, threads=threads)

    @compiled
    def coriolis_matrix(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        *,
        method: str | None = None,
        out: Out = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """C[i, j] = sum over k of Gamma[i, j, k] qd_k, so Mdot - 2 C is skew -> (..., n, n)."""
        return self._do(Task("coriolis_matrix", method))(q, qd, out=out, threads=threads)

    @compiled
    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        method: str | None = None,
        friction: bool = False,
        out: Out = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """The torque tau of a motion -> (..., n).

        ``friction=True`` adds viscous qd + coulomb(sign qd).
        """
        task = Task("inverse_dynamics", method, friction=friction)
        return self._do(task)(q, qd, qdd, out=out, threads=threads)

    @compiled
    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        *,
        method: str | None = None,
        friction: bool = False,
        out: Out = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """The accelerations qdd that torques tau bring about -> (..., n).

        ``friction=True`` takes viscous qd + coulomb(sign qd) off the torques.
        """
        task = Task("forward_dynamics", method, friction=friction)
        return self._do(task)(q, qd, tau, out=out, threads=threads)

    # Derivatives ----------------------------------------------------------------------------

    @compiled
    def mass_matrix_derivative(
        self,
        q: ArrayLike,
        *,
        method: str | None = None,
        out: Out = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """dM[i, j] / dq[k] at [i, j, k] -> (..., n, n, n)."""
        return self._do(Task("mass_matrix_derivative", method))(q, out=out, threads=threads)

    @compiled
    def inverse_dynamics_derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        method: str | None = None,
        friction: bool = False,
        out: Outs = None,
        threads: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(dtau/dq, dtau/dqd, dtau/dqdd) of inverse dynamics, (..., n, n) each; a row a torque.

        The last one is the inertia matrix. ``friction=True`` adds viscous friction to the diagonal
        of dtau/dqd; Coulomb's has the derivative 0, at rest, where it jumps, too.
        """
        task = Task("inverse_dynamics_derivatives", method, friction=friction)
        return self._do(task)(q, qd, qdd, out=out, threads=threads)

    @compiled
    def forward_dynamics_derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        *,
        method: str | None = None,
        friction: bool = False,
        out: Outs = None,
        threads: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(dqdd/dq, dqdd/dqd, dqdd/dtau) of forward dynamics, (..., n, n) each; a row a joint.

        The last one is the inverse of the inertia matrix. ``friction=True`` takes friction off the
        torques; Coulomb's has the derivative 0, at rest, where it jumps, too.
        """
        task = Task("forward_dynamics_derivatives", method, friction=friction)
        return self._do(task)(q, qd, tau, out=out, threads=threads)

    @compiled
    def inverse_dynamics_second_derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        method: str | None = None,
        out: Outs = None,
        threads: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Second derivatives of inverse dynamics, (..., n, n, n) each, friction or not.

        At [i, j, k] stands that of tau[i] by (q[j], q[k]), by (q[j], qd[k]), by (qd[j], qd[k]), by
        (q[j], qdd[k]); those by (qd, qdd) and by (qdd, qdd) are zero.
        """
        task = Task("inverse_dynamics_second_derivatives", method)
        return self._do(task)(q, qd, qdd, out=out, threads=threads)

    # Kinematics, energy, parameters ---------------------------------------------------------

    @compiled
    def pose(
        self, q: ArrayLike, frame: str | None = None, *, out: Out = None, threads: int | None = None
    ) -> np.ndarray:
        """The tip, or a named link or frame, in the base frame -> (..., 4, 4)."""
        return self._do(Task("pose", frame=frame))(q, out=out, threads=threads)

    @compiled
    def jacobian(
        self, q: ArrayLike, frame: str | None = None, *, out: Out = None, threads: int | None = None
    ) -> np.ndarray:
        """Rows vx vy vz wx wy wz of the tip's or a named frame's origin, base axes (..., 6, n)."""
        return self._do(Task("jacobian", frame=frame))(q, out=out, threads=threads)

    @compiled
    def influence(
        self,
        q: ArrayLike,
        frame: str | None = None,
        *,
        out: Outs = None,
        threads: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Kinematic influence coefficients of the tip or a named link or frame, in base axes.

        First order gT, gR, shape (..., 3, n): velocity and angular velocity are gT qd and gR qd;
        second order hT, hR, shape (..., 3, n, n): accelerations are gT qdd + qd^T hT qd, likewise
        gR, hR. [kang], eqs. 1 to 7.
        """
        return self._do(Task("influence", frame=frame))(q, out=out, threads=threads)

    @compiled
    def energy(
        self, q: ArrayLike, qd: ArrayLike, *, out: Outs = None, threads: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """(kinetic with rotors, potential) [J], (...,) each; potential zero at the base origin."""
        return self._do(Task("energy"))(q, qd, out=out, threads=threads)

    @compiled
    def regressor(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        out: Out = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Y with tau = Y @ robot.chain.parameters, rotors and friction apart -> (..., n, 10 n)."""
        return self._do(Task("regressor"))(q, qd, qdd, out=out, threads=threads)

    def minimal_parameters(self) -> MinimalParameters:
        """The fewest combinations of the links' parameters that fix all torques: see the class.

        ``.minimal`` is False where, without gravity, they are sufficient but not the fewest.
        """
        return MinimalParameters(self.chain)

    # How it is computed ---------------------------------------------------------------------

    def methods(self, quantity: str) -> list[MethodRow]:
        """The catalogue's methods that apply to this arm, with what their programs cost on it.

        The chosen one is the cheapest exact method: least multiplications + additions + 8
        divisions, the catalogue's first of equals.
        """
        find(quantity)
        chosen = cheapest(self.chain, quantity)
        return [
            MethodRow(
                method.name,
                method.paper,
                method.exact,
                program_cost(self.chain, quantity, method.name),
                method.name == chosen,
            )
            for method in catalogue.methods(quantity)
            if refusal(self.chain, quantity, method) is None
        ]

    def function(self, *quantities: str) -> Callable[..., Any]:
        """One function for several quantities, which share what they have in common.

        It takes the arguments that any of them takes, in the order q, qd, qdd, tau, and returns a
        tuple of their results (of one quantity: its result); ``out=`` takes such a tuple.
        """
        if not quantities:
            raise MethodError("function() takes the names of quantities, at least one")
        for quantity in quantities:
            find(quantity)
        return self._do(*map(Task, quantities))

    def _do(self, *tasks: Task) -> Callable[..., Any]:
        """The compiled function of some tasks together."""
        tasks = tuple(map(_checked, tasks))
        function = self._functions.get(tasks)
        if function is None:
            for task in tasks:
                self.chain.find_frame(task.frame)
                _warn_if_approximate(task)
            settled = tuple(
                task if task.method is None else task.settled(self.chain) for task in tasks
            )
            function = compiled_function(self.chain, settled)
            function = self._functions.setdefault(tasks, function)
        return function


def _checked(task: Task) -> Task:
    """The task in plain names, if its method and frame are names, and friction True or False."""
    quantity, method, frame, friction = task
    if not isinstance(friction, bool | np.bool_):
        raise MethodError(f"friction is {shorten(friction)}; expected True or False")
    for option, value in (("method", method), ("frame", frame)):
        if value is not None and not isinstance(value, str):
            raise MethodError(f"method and frame are names, not {option}={shorten(value)}")
    return Task(quantity, method and str(method), frame and str(frame), bool(friction))


_warned: set[str] = set()


def _warn_if_approximate(task: Task) -> None:
    """Say once that a method asked for by name is an approximation."""
    if task.method is not None and not catalogue.find(task.quantity, task.method).exact:
        if task.method not in _warned:
            warn("%s by %s is an approximation", task.quantity, task.method)
            _warned.add(task.method)
