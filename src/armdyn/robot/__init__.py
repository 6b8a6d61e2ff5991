"""Robot: the quantities of one chain as fast functions of NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike

from armdyn.algorithms import catalogue
from armdyn.chain import Chain
from armdyn.chain.minimal import MinimalParameters
from armdyn.engine import function as compiled_function
from armdyn.engine.payloads import Check, Payloads
from armdyn.errors import MethodError, as_names
from armdyn.quantities import find
from armdyn.quantities.tasks import Task, cheapest, check_arguments, program_cost
from armdyn.quantities.users import refusal
from armdyn.robot.compiled import numbers
from armdyn.robot.dynamics import Dynamics
from armdyn.robot.kinematics import Kinematics
from armdyn.robot.options import Options, checked, warn_if_approximate, with_options

Names = str | Sequence[str] | None


class MethodRow(NamedTuple):
    """A method of a quantity, on one arm: ``operations`` of its program there, division as 8."""

    name: str
    paper: str
    exact: bool
    operations: int
    chosen: bool


class Robot(Dynamics, Kinematics):
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
        check_arguments(quantities, names, payload_frame, wrench_frame)
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
        arrays = {
            "payload": payload,
            "gravity": gravity,
            "parameters": parameters,
            "wrench": wrench,
        }
        names = tuple(name for name, value in arrays.items() if value is not None)
        task = Task(quantity, given=names, **options)
        function = self._functions.get((task,)) if not options else None
        if function is None:
            function = self._do(task)
        if not names:
            return function
        if payload is not None:
            self._payloads.check(numbers(payload), check)
        given = [arrays[name] for name in names]
        return lambda *state, **rest: function(*state, *given, **rest)

    # Derivatives of any quantity ------------------------------------------------------------

    def derivative(
        self, quantity: str, wrt: Names = None, **options: Unpack[Options]
    ) -> Callable[..., Any]:
        """The function that gives all derivatives of a quantity: ``f(q, ...)``.

        It takes the quantity's arguments. The derivative of a result of shape S with respect to an
        argument x of n numbers has the shape ``(..., *S, n)``: the last index is that of x. There
        is one for each result and each argument of ``wrt``, those of the first result first, in the
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

        task = with_options(quantity, options)
        asked = derived.Derived(kind, task, derived.with_respect_to(task, wrt))
        function = self._functions.get(asked)
        if function is None:
            self.chain.find_frame(asked.task.frame)
            asked.task.check_given(self.chain)
            warn_if_approximate(asked.task, "a derivative of ")
            if asked.task.method is not None:
                asked = asked._replace(task=asked.task.settled(self.chain))
            function = self._functions.setdefault(asked, derived.function(self.chain, asked))
        return function

    def _do(self, *tasks: Task) -> Callable[..., Any]:
        """The compiled function of some tasks together."""
        tasks = tuple(map(checked, tasks))
        function = self._functions.get(tasks)
        if function is None:
            for task in tasks:
                self.chain.find_frame(task.frame)
                task.check_given(self.chain)
                warn_if_approximate(task)
            settled = tuple(
                task if task.method is None else task.settled(self.chain) for task in tasks
            )
            function = compiled_function(self.chain, settled)
            function = self._functions.setdefault(tasks, function)
        return function
