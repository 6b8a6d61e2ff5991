"""Robot: the quantities of one chain as fast functions of NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike

from armdyn.algorithms import catalogue
from armdyn.chain import Chain
from armdyn.chain.checks import CUT
from armdyn.chain.minimal import MinimalParameters
from armdyn.engine import function as compiled_function
from armdyn.engine.calls import SINGLY
from armdyn.engine.payloads import Check, Payloads
from armdyn.errors import MethodError, as_names, whole_number
from armdyn.forks import importing
from armdyn.quantities import find
from armdyn.quantities.tasks import Task, cheapest, check_arguments, check_frame, program_cost
from armdyn.quantities.users import refusal
from armdyn.robot.compiled import Axes, check_finite, numbers
from armdyn.robot.derivatives import Derivatives
from armdyn.robot.dynamics import Dynamics
from armdyn.robot.fixed import Fixed
from armdyn.robot.influences import Influences
from armdyn.robot.kinematics import Kinematics
from armdyn.robot.options import Options, checked, warn_if_approximate, with_options
from armdyn.robot.variations import Variations

if TYPE_CHECKING:
    from pathlib import Path

    from armdyn.simulation.stepper import Stepper
    from armdyn.view import Page


class MethodRow(NamedTuple):
    """A method of a quantity, on one arm: ``operations`` of its program there, division as 8."""

    name: str
    paper: str
    exact: bool
    operations: int
    chosen: bool


class Robot(Dynamics, Kinematics, Influences, Derivatives, Variations, Fixed):
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
    payload that no body has is an error, and so is a result that ``parameters=`` make infinite or
    nan. ``check="warn"`` logs either instead, and ``check=None`` looks at nothing.

    A Robot does not change: ``with_payload``, ``with_frame``, ``with_friction``, ``with_rotors``
    and ``with_gravity`` return another one.
    """

    _payloads: Payloads

    def __init__(self, chain: Chain) -> None:
        if not isinstance(chain, Chain):
            raise TypeError(f"Robot takes a Chain, not {type(chain).__name__}; see armdyn.load")
        functions: dict[Any, Callable[..., Any]] = {}  # by what they compute
        self.__dict__.update(chain=chain, _functions=functions, _payloads=Payloads(chain))

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
    def position_limits(self) -> np.ndarray:
        """(lower, upper) of each joint, shape (n, 2) [rad or m]; infinite where there is none."""
        return _read_only((joint.lower, joint.upper) for joint in self.chain.joints)

    @property
    def velocity_limits(self) -> np.ndarray:
        """The greatest speed of each joint, shape (n,) [rad/s or m/s]; infinite where none is."""
        return _read_only(joint.velocity for joint in self.chain.joints)

    @property
    def effort_limits(self) -> np.ndarray:
        """The greatest torque of each joint, shape (n,) [N m, or N]; infinite where none is."""
        return _read_only(joint.effort for joint in self.chain.joints)

    @property
    def locked(self) -> dict[str, float]:
        """Joints of the description that do not move, and where they were locked [rad or m]."""
        return dict(self.chain.locked)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know, such as what was snapped, moved, or found without mass."""
        return self.chain.notes

    def __repr__(self) -> str:
        end = f", tip {self.chain.tip_name!r}" if self.chain.tip_name else ""
        cuts = [f"; {note}" for note in self.chain.notes if note.startswith(CUT)]
        said = f"{self.name!r}, {self.chain.kinds}, {self.chain.mass:.3g} kg{end}"
        return f"Robot({said}{''.join(cuts)})"

    def _repr_html_(self) -> str:
        with importing:
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

    def view(self) -> Page:
        """A page with this arm in three dimensions, to be moved, dragged and simulated.

        A notebook shows it; elsewhere ``.save("arm.html")`` writes it, whole in one file.
        """
        with importing:
            from armdyn.view import view  # most robots are never looked at

        return view(self)

    # How it is computed ---------------------------------------------------------------------

    def methods(self, quantity: str) -> list[MethodRow]:
        """The catalogue's methods that apply to this arm, with what their programs cost on it.

        The chosen one is the cheapest exact method of those that take no sines beyond the joints'
        own: least multiplications + additions + 8 divisions, the catalogue's first of equals.
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
        frame: str | None = None,
        axes: Axes = "base",
        arguments: str | Sequence[str] = (),
        payload_frame: str | None = None,
        wrench_frame: str | None = None,
    ) -> Callable[..., Any]:
        """One function for several quantities, which share what they have in common.

        It takes the arguments that any of them takes, in the order q, qd, qdd, tau, and returns a
        tuple of their results (of one quantity: its result); ``out=`` takes such a tuple.

        ``frame`` and ``axes`` are those of all of the quantities that depend on a frame.

        ``arguments`` names what it takes besides, in the order payload, gravity, parameters,
        wrench, point: each goes to those of the quantities that depend on it. No payload is checked
        here.
        """
        if not quantities:
            raise MethodError("function() takes the names of quantities, at least one")
        names = as_names("arguments", arguments)
        check_arguments(quantities, names, payload_frame, wrench_frame)
        check_frame(quantities, frame, axes)
        options = names, payload_frame, wrench_frame, frame, axes
        return self._do(*(Task.with_given(quantity, *options) for quantity in quantities))

    def warm_up(self, *quantities: str, batch: bool | int = False, **options: Any) -> None:
        """Compile quantities now, so that later calls in a control loop do not.

        Each function is called once, for one float64 state at zero. The code comes from the disk
        cache if it is there.

        Args:
            quantities: names, for example ``"inverse_dynamics"``.
            batch: whether to compile the kernel for batches, too: True, or the number of states,
                where results of that many do not fit into the caches.
            options: those of the later calls, such as ``frame="tool0"``, ``friction=True`` or
                ``payload=load``. Other options need another ``warm_up``.

        Raises:
            MethodError: for an unknown quantity.
            TypeError: for an option that the quantity does not have.
        """
        if not quantities:
            raise MethodError("warm_up() takes the names of quantities, at least one")
        states: list[tuple[int, ...]] = [()]
        if batch is not False:
            least = SINGLY + 1
            states += [(least if batch is True else whole_number("batch", batch, MethodError),)]
        for quantity in quantities:
            for size in states:
                zeros = [np.zeros((*size, self.n)) for _ in find(quantity).arguments]
                getattr(self, quantity)(*zeros, **options)

    def _asked(
        self,
        quantity: str,
        *,
        payload: ArrayLike | None = None,
        gravity: ArrayLike | None = None,
        parameters: ArrayLike | None = None,
        wrench: ArrayLike | None = None,
        point: ArrayLike | None = None,
        check: Check = "error",
        **options: Any,
    ) -> Callable[..., Any]:
        """The function of the state that answers a call with these options."""
        arrays = {
            "payload": payload,
            "gravity": gravity,
            "parameters": parameters,
            "wrench": wrench,
            "point": point,
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
        if parameters is None:
            return lambda *state, **rest: function(*state, *given, **rest)

        def checked(*state: Any, **rest: Any) -> Any:
            results = function(*state, *given, **rest)
            check_finite(quantity, (*state, *given), results, check)
            return results

        return checked

    # In time --------------------------------------------------------------------------------

    def stepper(
        self,
        dt: float,
        action: str = "torque",
        *,
        kp: ArrayLike | None = None,
        kd: ArrayLike | None = None,
        integrator: str = "rk4",
        friction: bool = False,
        limits: str = "ignore",
        substeps: int = 1,
        payload_frame: str | None = None,
    ) -> Stepper:
        """What makes steps in time, of one arm or of thousands together: ``step(q, qd, action)``.

        Action, dynamics and a step of Runge-Kutta are one compiled program, whose states have the
        same bits as in ``simulate``. The first step compiles it.

        Args:
            dt: the time that a call of ``step`` moves the arms by [s].
            action: what an action is, (..., n) and held over the call: ``torque``; or the
                position that a controller goes to, by the law ``pd``, kp (action - q) - kd qd,
                ``pd-gravity``, which adds g(q), or ``computed-torque``,
                M(q) (kp (action - q) - kd qd) + b(q, qd).
            kp: the law's gain for the position, a number or (..., n).
            kd: its gain for the speed.
            integrator: ``rk4``; ``ab4`` needs steps before this one, and ``midpoint`` as many
                iterations as it takes: ``simulate`` has them.
            friction: whether the joints have their friction.
            limits: of the joints: ``clamp`` holds torques within those of effort, and after each
                step speeds within theirs and positions within theirs, where a joint goes no
                further; ``ignore`` does not look.
            substeps: so many steps of the integrator make a call.
            payload_frame: where payloads are given to ``step``; None: at the tip.

        Raises:
            MethodError, SimulationError: something cannot be as asked.
        """
        with importing:
            from armdyn.simulation.stepper import Stepper

        return Stepper(
            self,
            dt,
            action,
            kp=kp,
            kd=kd,
            integrator=integrator,
            friction=friction,
            limits=limits,
            substeps=substeps,
            payload_frame=payload_frame,
        )

    # To be looked at ------------------------------------------------------------------------

    def plot(self, q: ArrayLike | None = None, path: str | Path | None = None) -> Any:
        """A figure of the arm: links, joint axes, frames and centres of mass at a posture.

        Needs matplotlib (``armdyn[plot]``).

        Args:
            q: positions (n,) [rad or m]; zero, or the nearest within the limits, if not given.
            path: where to save it, if anywhere; the suffix chooses the format.
        """
        with importing:
            from armdyn.view.figure import draw

        return draw(self.chain, q, path)

    # In other libraries -------------------------------------------------------------------------

    def casadi(self, quantity: str, **options: Unpack[Options]) -> Any:
        """A quantity as a ``casadi.Function``, for optimisation; CasADi differentiates it itself.

        Its arguments and results have the names and the order that armdyn gives them, of one
        state: columns of n numbers in; columns, matrices or single numbers out. A result of three
        indices comes as a matrix (n, n n), the last index running fastest. Needs CasADi
        (``armdyn[casadi]``).

        Args:
            quantity: its name.
            options: those of ``derivative``: ``method=``, ``frame=``, ``axes=``, ``friction=``,
                and ``arguments=`` for what the function takes besides the state.
        """
        with importing:
            from armdyn.export.casadi import function

        return function(self.chain, with_options(quantity, options))

    def symbolic(
        self,
        quantity: str,
        *,
        parameters: bool = False,
        names: Sequence[str] | None = None,
        frame: str | None = None,
        axes: Axes = "base",
    ) -> Any:
        """The closed form of a quantity in SymPy, without friction, which prints any language.

        A matrix, or a column of n; a result of three indices is an array, one of none an
        expression; several come as a tuple. Speeds, accelerations and torques are qdot1, qddot1,
        tau1 and so on. Needs SymPy (``armdyn[symbolic]``).

        Args:
            quantity: its name; those that are derivatives SymPy makes of the others.
            parameters: whether masses, centres of mass, inertias, lengths, rotors and gravity get
                names in place of numbers: m1, cx1, Ixx1, b2, d2, Im1, g; what is zero stays zero.
                ``armdyn.export.symbolic.values(robot)`` has their numbers.
            names: of the joints' variables; q1, q2, ... if not given.
            frame: of a quantity that has one; the tip if not given.
            axes: "base" or "frame", as ``jacobian`` has it.
        """
        with importing:
            from armdyn.export.symbolic import closed_form

        return closed_form(
            self.chain, quantity, parameters=parameters, names=names, frame=frame, axes=axes
        )

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


def _read_only(numbers: Iterable[Any]) -> np.ndarray:
    """These numbers as an array that refuses changes, because nothing would follow from one."""
    found = np.array(list(numbers))
    found.flags.writeable = False
    return found
