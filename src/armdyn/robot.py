"""Robot: the quantities of one chain as fast functions of NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import getattr_static
from types import MethodType
from typing import Any, Literal, NamedTuple, TypedDict, TypeVar, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike

from armdyn.algorithms import catalogue
from armdyn.chain import Chain
from armdyn.chain.minimal import MinimalParameters
from armdyn.engine import calls
from armdyn.engine import function as compiled_function
from armdyn.engine.payloads import Check, Payloads
from armdyn.errors import MethodError, as_names, listed, shorten, unknown, warn
from armdyn.quantities import AXES, find, given_to
from armdyn.quantities.registered import refusal
from armdyn.quantities.tasks import Task, cheapest, check_places, program_cost

Names = str | Sequence[str] | None
Axes = Literal["base", "frame"]
Out = np.ndarray | None
Outs = tuple[np.ndarray, ...] | None  # for several results
F = TypeVar("F", bound=Callable[..., Any])


class Options(TypedDict, total=False):
    """Of which formulation, frame and axes, with friction, arguments: see ``Robot.derivative``."""

    method: str | None
    frame: str | None
    axes: Axes
    friction: bool
    arguments: str | Sequence[str]
    payload_frame: str | None
    wrench_frame: str | None


class MethodRow(NamedTuple):
    """A method of a quantity, on one arm: ``operations`` of its program there, division as 8."""

    name: str
    paper: str
    exact: bool
    operations: int
    chosen: bool


class Compiled:
    """A quantity of Robot: at first use the robot gets a compiled function of the same name.

    The method written in the class lends its signature and documentation, and never runs: a call
    by way of the class, as in ``Robot.pose(robot, q)``, goes to the robot's function too.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        self.__doc__ = method.__doc__

        @wraps(method)
        def of_class(robot: Robot, *given: Any, **named: Any) -> Any:
            return self.__get__(robot, type(robot))(*given, **named)

        self.of_class = of_class

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, robot: Robot | None, owner: type) -> Callable[..., Any]:
        if robot is None:
            return self.of_class
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
            choose=lambda **options: robot._asked(self.name, **options),
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

    Some of the arm's constants may be given at the call, batched like q, without compiling again:
    ``payload=`` (..., 10), the parameters m, m cx, m cy, m cz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of a
    load about the tip's origin and in its axes, or those of ``payload_frame=``; ``gravity=``
    (..., 3) in the base frame; ``parameters=`` (..., 10 n) in the order of ``chain.parameters``. A
    payload that no body has is an error; with ``check="warn"`` it is logged, with ``check=None``
    nobody looks.
    """

    def __init__(self, chain: Chain) -> None:
        if not isinstance(chain, Chain):
            raise TypeError(f"Robot takes a Chain, not {type(chain).__name__}; see armdyn.load")
        self.chain = chain
        self._functions: dict[tuple[Any, ...], Callable[..., Any]] = {}  # by what they compute
        self._payloads = Payloads(chain)

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
        payload: ArrayLike | None = None,
        payload_frame: str | None = None,
        parameters: ArrayLike | None = None,
        check: Check = "error",
        out: Out = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """The inertia matrix M(q) with rotors, (..., n) -> (..., n, n)."""
        raise NotImplementedError

    @compiled
    def bias(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        *,
        method: str | None = None,
        payload: ArrayLike | None = None,
        payload_frame: str | None = None,
        gravity: ArrayLike | None = None,
        parameters: ArrayLike | None = None,
        check: Check = "error",
        out: Out = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """The torque of a motion without acceleration, C(q, qd) qd + g(q) -> (..., n)."""
        raise NotImplementedError

    @compiled
    def gravity(
        self,
        q: ArrayLike,
        *,
        method: str | None = None,
        payload: ArrayLike | None = None,
        payload_frame: str | None = None,
        gravity: ArrayLike | None = None,
        parameters: ArrayLike | None = None,
        check: Check = "error",
        out: Out = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """The torque g(q) that holds the arm still -> (..., n)."""
        raise NotImplementedError

    @compiled
    def christoffel(
        self,
        q: ArrayLike,
        *,
        method: str | None = None,
        payload: ArrayLike | None = None,
        payload_frame: str | None = None,
        parameters: ArrayLike | None = None,
        check: Check = "error",
        out: Out = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Gamma[i, j, k] = 1/2 (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) -> (..., n, n, n)."""
        raise NotImplementedError

    @compiled
    def coriolis_matrix(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        *,
        method: str | None = None,
        payload: ArrayLike | None = None,
        payload_frame: str | None = None,
        parameters: ArrayLike | None = None,
        check: Check = "error",
        out: Out = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """C[i, j] = sum over k of Gamma[i, j, k] qd_k, so Mdot - 2 C is skew -> (..., n, n)."""
        raise NotImplementedError

    @compiled
    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        method: str | None = None,
        friction: bool = False,
        payload: ArrayLike | None = None,
        payload_frame: str | None = None,
        gravity: ArrayLike | None = None,
        parameters: ArrayLike | None = None,
        check: Check = "error",
        wrench: ArrayLike | None = None,
        wrench_frame: str | None = None,
        out: Out = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """The torque tau of a motion -> (..., n).

        ``friction=True`` adds viscous qd + coulomb(sign qd).

        ``wrench`` (..., 6) acts on the arm at the tip, or at ``wrench_frame``: force at its origin,
        then moment, in base axes. Its part J^T w of the torque is spared.
        """
        raise NotImplementedError

    @compiled
    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        *,
        method: str | None = None,
        friction: bool = False,
        payload: ArrayLike | None = None,
        payload_frame: str | None = None,
        gravity: ArrayLike | None = None,
        parameters: ArrayLike | None = None,
        check: Check = "error",
        wrench: ArrayLike | None = None,
        wrench_frame: str | None = None,
        out: Out = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """The accelerations qdd that torques tau bring about -> (..., n).

        ``friction=True`` takes viscous qd + coulomb(sign qd) off the torques.

        ``wrench`` (..., 6) acts on the arm at the tip, or at ``wrench_frame``: force at its origin,
        then moment, in base axes.
        """
        raise NotImplementedError

    # Derivatives of the dynamics ------------------------------------------------------------

    @compiled
    def mass_matrix_derivative(
        self,
        q: ArrayLike,
        *,
        method: str | None = None,
        payload: ArrayLike | None = None,
        payload_frame: str | None = None,
        parameters: ArrayLike | None = None,
        check: Check = "error",
        out: Out = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """dM[i, j] / dq[k] at [i, j, k] -> (..., n, n, n)."""
        raise NotImplementedError

    @compiled
    def inverse_dynamics_derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        method: str | None = None,
        friction: bool = False,
        payload: ArrayLike | None = None,
        payload_frame: str | None = None,
        gravity: ArrayLike | None = None,
        parameters: ArrayLike | None = None,
        check: Check = "error",
        out: Outs = None,
        threads: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(dtau/dq, dtau/dqd, dtau/dqdd) of inverse dynamics, (..., n, n) each; a row a torque.

        The last one is the inertia matrix. ``friction=True`` adds viscous friction to the diagonal
        of dtau/dqd; Coulomb's has the derivative 0, at rest, where it jumps, too.
        """
        raise NotImplementedError

    @compiled
    def forward_dynamics_derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        *,
        method: str | None = None,
        friction: bool = False,
        payload: ArrayLike | None = None,
        payload_frame: str | None = None,
        gravity: ArrayLike | None = None,
        parameters: ArrayLike | None = None,
        check: Check = "error",
        out: Outs = None,
        threads: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(dqdd/dq, dqdd/dqd, dqdd/dtau) of forward dynamics, (..., n, n) each; a row a joint.

        The last one is the inverse of the inertia matrix. ``friction=True`` takes friction off the
        torques; Coulomb's has the derivative 0, at rest, where it jumps, too.
        """
        raise NotImplementedError

    @compiled
    def inverse_dynamics_second_derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        method: str | None = None,
        payload: ArrayLike | None = None,
        payload_frame: str | None = None,
        gravity: ArrayLike | None = None,
        parameters: ArrayLike | None = None,
        check: Check = "error",
        out: Outs = None,
        threads: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Second derivatives of inverse dynamics, (..., n, n, n) each, friction or not.

        At [i, j, k] stands that of tau[i] by (q[j], q[k]), by (q[j], qd[k]), by (qd[j], qd[k]), by
        (q[j], qdd[k]); those by (qd, qdd) and by (qdd, qdd) are zero.
        """
        raise NotImplementedError

    # Kinematics, energy, parameters ---------------------------------------------------------

    @compiled
    def pose(
        self, q: ArrayLike, frame: str | None = None, *, out: Out = None, threads: int | None = None
    ) -> np.ndarray:
        """The tip, or a named link or frame, in the base frame -> (..., 4, 4)."""
        raise NotImplementedError

    @compiled
    def jacobian(
        self,
        q: ArrayLike,
        frame: str | None = None,
        *,
        axes: Axes = "base",
        out: Out = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Rows vx vy vz wx wy wz of the tip's or a named frame's origin -> (..., 6, n).

        ``axes="frame"``: in the axes of that frame, in place of the base's.
        """
        raise NotImplementedError

    @compiled
    def jacobian_derivative(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        frame: str | None = None,
        *,
        axes: Axes = "base",
        out: Out = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """The rate in time of the Jacobian, in the same axes, dJ/dt -> (..., 6, n)."""
        raise NotImplementedError

    @compiled
    def acceleration_bias(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        frame: str | None = None,
        *,
        axes: Axes = "base",
        out: Out = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """The part dJ/dt qd of a frame's acceleration, which is J qdd + dJ/dt qd -> (..., 6).

        In base axes that is the acceleration of its origin, then its angular acceleration, at
        constant joint speeds. With ``axes="frame"`` it belongs to the Jacobian in those axes.
        """
        raise NotImplementedError

    @compiled
    def operational_inertia(
        self,
        q: ArrayLike,
        frame: str | None = None,
        *,
        axes: Axes = "base",
        payload: ArrayLike | None = None,
        payload_frame: str | None = None,
        parameters: ArrayLike | None = None,
        check: Check = "error",
        out: Out = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """The inertia that the tip or a named frame shows, (J M^-1 J^T)^-1 with rotors (..., 6, 6).

        In a posture where J is singular every number is infinite or NaN. A frame that cannot move
        in six directions has none: a MethodError.
        """
        raise NotImplementedError

    @compiled
    def operational_inertia_inverse(
        self,
        q: ArrayLike,
        frame: str | None = None,
        *,
        axes: Axes = "base",
        payload: ArrayLike | None = None,
        payload_frame: str | None = None,
        parameters: ArrayLike | None = None,
        check: Check = "error",
        out: Out = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """J M^-1 J^T with rotors, for the tip or a named frame, in any posture -> (..., 6, 6)."""
        raise NotImplementedError

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
        raise NotImplementedError

    @compiled
    def energy(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        *,
        payload: ArrayLike | None = None,
        payload_frame: str | None = None,
        gravity: ArrayLike | None = None,
        parameters: ArrayLike | None = None,
        check: Check = "error",
        out: Outs = None,
        threads: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """(kinetic with rotors, potential) [J], (...,) each; potential zero at the base origin."""
        raise NotImplementedError

    @compiled
    def regressor(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        gravity: ArrayLike | None = None,
        out: Out = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Y with tau = Y @ robot.chain.parameters, rotors and friction apart -> (..., n, 10 n)."""
        raise NotImplementedError

    @compiled
    def minimal_regressor(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        out: Out = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Ymin with tau = Ymin @ robot.minimal_parameters().values, rotors and friction apart.

        Shape (..., n, p), a column for each of the p minimal parameters.
        """
        raise NotImplementedError

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

    def function(
        self,
        *quantities: str,
        arguments: str | Sequence[str] = (),
        payload_frame: str | None = None,
        wrench_frame: str | None = None,
    ) -> Callable[..., Any]:
        """One function for several quantities, which share what they have in common.

        It takes the arguments that any of them takes, in the order q, qd, qdd, tau, and returns a
        tuple of their results (of one quantity: its result); ``out=`` takes such a tuple.

        ``arguments`` names what it takes besides, in the order payload, gravity, parameters,
        wrench: each goes to those of the quantities that depend on it. No payload is checked here.
        """
        if not quantities:
            raise MethodError("function() takes the names of quantities, at least one")
        names = as_names("arguments", arguments)
        taken = dict.fromkeys(name for quantity in quantities for name in find(quantity).at_call)
        for name in names:
            if name not in taken:
                raise MethodError(unknown("argument", name, taken, f" of {listed(quantities)}"))
        check_places(names, payload_frame, wrench_frame)
        tasks = (Task.with_given(x, names, payload_frame, wrench_frame) for x in quantities)
        return self._do(*tasks)

    def _asked(
        self,
        quantity: str,
        *,
        payload: ArrayLike | None = None,
        gravity: ArrayLike | None = None,
        parameters: ArrayLike | None = None,
        wrench: ArrayLike | None = None,
        check: Check = "error",
        **options: Any,
    ) -> Callable[..., Any]:
        """The function of the state that answers a call with these options."""
        arrays = {"payload": payload, "gravity": gravity, "parameters": parameters}
        arrays["wrench"] = wrench
        names = tuple(name for name, value in arrays.items() if value is not None)
        task = Task(quantity, given=names, **options)
        function = self._functions.get((task,)) if not options else None
        if function is None:
            function = self._do(task)
        if not names:
            return function
        if payload is not None:
            self._payloads.check(payload, check)
        given = [arrays[name] for name in names]
        return lambda *state, **rest: function(*state, *given, **rest)

    # Derivatives of any quantity ------------------------------------------------------------

    def derivative(
        self, quantity: str, wrt: Names = None, **options: Unpack[Options]
    ) -> Callable[..., Any]:
        """The function that gives all derivatives of a quantity: ``f(q, ...)``.

        It takes the quantity's arguments. The derivative of a result of shape S with respect to an
        argument x of n numbers has the shape (..., *S, n): the last index is that of x. There is
        one for each result and each argument of ``wrt``, those of the first result first, in the
        order of ``wrt``; where there are several they come as a tuple.

        Args:
            quantity: its name.
            wrt: with respect to which arguments, one name or several; to all if not given.
            options: ``method=`` names a formulation in place of the cheapest, ``frame=`` the frame
                of a quantity that has one, ``axes=`` the axes. With ``friction=True`` viscous
                friction counts; that of Coulomb jumps at standstill, and its derivative is 0
                everywhere. ``arguments=`` names what the function takes besides the state, as in
                ``function``, at ``payload_frame=`` and ``wrench_frame=``.

        Raises:
            MethodError: for an unknown name, or an option that the quantity does not have.
        """
        return self._derive("derivative", quantity, wrt, options)

    def jvp(
        self, quantity: str, wrt: Names = None, **options: Unpack[Options]
    ) -> Callable[..., Any]:
        """The function that gives a quantity's derivative along a direction.

        ``f(q, ..., q_tangent, ...)`` takes the quantity's arguments, then for each argument of
        ``wrt`` its tangent, of the same shape. It gives a tangent for each of the quantity's
        results: Jacobian times vector, without the Jacobian. Options as of ``derivative``.
        """
        return self._derive("jvp", quantity, wrt, options)

    def vjp(
        self, quantity: str, wrt: Names = None, **options: Unpack[Options]
    ) -> Callable[..., Any]:
        """The function that gives the gradient of a weighted sum of a quantity's numbers.

        ``f(q, ..., tau_cotangent)`` takes the quantity's arguments, then for each of its results
        the weights, of the same shape. It gives a gradient for each argument of ``wrt``, of that
        argument's shape: vector times Jacobian, without the Jacobian, for little more than twice
        what the quantity costs. Options as of ``derivative``.
        """
        return self._derive("vjp", quantity, wrt, options)

    def hvp(
        self, quantity: str, wrt: Names = None, **options: Unpack[Options]
    ) -> Callable[..., Any]:
        """The function that gives Hessian-vector products of a weighted sum of a quantity.

        ``f(q, ..., tau_cotangent, q_tangent, ...)`` takes the quantity's arguments, the weights of
        its results and a direction of the arguments of ``wrt``. It gives, for each argument of
        ``wrt``, how the gradient that ``vjp`` gives changes along the direction. Options as of
        ``derivative``.
        """
        return self._derive("hvp", quantity, wrt, options)

    def _derive(
        self, kind: str, quantity: str, wrt: Names, options: Mapping[str, Any]
    ) -> Callable[..., Any]:
        """The compiled function of a derivative."""
        from armdyn.engine import derived  # most robots never need it

        task = _with_options(quantity, options)
        asked = derived.Derived(kind, task, derived.with_respect_to(task, wrt))
        function = self._functions.get(asked)
        if function is None:
            self.chain.find_frame(asked.task.frame)
            asked.task.check_given(self.chain)
            _warn_if_approximate(asked.task, "a derivative of ")
            if asked.task.method is not None:
                asked = asked._replace(task=asked.task.settled(self.chain))
            function = self._functions.setdefault(asked, derived.function(self.chain, asked))
        return function

    def _do(self, *tasks: Task) -> Callable[..., Any]:
        """The compiled function of some tasks together."""
        tasks = tuple(map(_checked, tasks))
        function = self._functions.get(tasks)
        if function is None:
            for task in tasks:
                self.chain.find_frame(task.frame)
                task.check_given(self.chain)
                _warn_if_approximate(task)
            settled = tuple(
                task if task.method is None else task.settled(self.chain) for task in tasks
            )
            function = compiled_function(self.chain, settled)
            function = self._functions.setdefault(tasks, function)
        return function


def _checked(task: Task) -> Task:
    """The task in plain names, if methods, frames and axes are names, friction True or False."""
    if not isinstance(task.friction, bool | np.bool_):
        raise MethodError(f"friction is {shorten(task.friction)}; expected True or False")
    for option in ("method", "frame", "payload_frame", "wrench_frame"):
        value = getattr(task, option)
        if value is not None and not isinstance(value, str):
            raise MethodError(f"method and frame are names, not {option}={shorten(value)}")
    if not isinstance(task.axes, str) or task.axes not in AXES:
        expected = " or ".join(map(repr, AXES))
        raise MethodError(f"axes is {shorten(task.axes)}; expected {expected}")
    return task._replace(
        method=task.method and str(task.method),
        frame=task.frame and str(task.frame),
        friction=bool(task.friction),
        axes=str(task.axes),
        payload_frame=task.payload_frame and str(task.payload_frame),
        wrench_frame=task.wrench_frame and str(task.wrench_frame),
    )


def _with_options(quantity: str, options: Mapping[str, Any]) -> Task:
    """The task of a quantity with options, if it has them."""
    asked = find(quantity)
    has = {
        "method": not asked.function,
        "frame": asked.framed,
        "axes": asked.axes,
        "friction": bool(asked.friction),
        "arguments": bool(asked.at_call),
        "payload_frame": "payload" in asked.at_call,
        "wrench_frame": "wrench" in asked.at_call,
    }
    for option in options:
        if not has.get(option):
            raise MethodError(unknown(f"option of {quantity}", option, [x for x in has if has[x]]))
    rest = dict(options)
    names = as_names("arguments", rest.pop("arguments", ()))
    for name in names:
        if name not in asked.at_call:
            raise MethodError(unknown("argument", name, asked.at_call, f" of {quantity}"))
    return _checked(Task(quantity, given=given_to(quantity, names), **rest))


_warned: set[str] = set()


def _warn_if_approximate(task: Task, what: str = "") -> None:
    """Say once that a method asked for by name, or a derivative of it, is an approximation."""
    if task.method is not None and not catalogue.find(task.quantity, task.method).exact:
        if what + task.method not in _warned:
            warn("%s%s by %s is an approximation", what, task.quantity, task.method)
            _warned.add(what + task.method)
