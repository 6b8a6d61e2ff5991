"""One step of a simulation as a program: controller, dynamics and integrator traced together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from armdyn.algorithms.drives import friction
from armdyn.algorithms.forward_dynamics import solve
from armdyn.algorithms.hamilton import momentum_and_slope
from armdyn.chain import Chain
from armdyn.chain.at_call import AtCall
from armdyn.engine import Kernels
from armdyn.program.passes import drop_unused
from armdyn.program.program import Program
from armdyn.program.tape import record
from armdyn.quantities import sizes
from armdyn.quantities.tasks import Task, formula
from armdyn.simulation.controllers import LAWS
from armdyn.simulation.integrators import AB4, RK4, midpoint_iterated, midpoint_step
from armdyn.simulation.stages import CARRIED, RATES, first_results, joined
from armdyn.spatial import Scalar, select_lt

Vector = np.ndarray  # of n traced scalars
Vectors = tuple[Vector, ...]
TorqueAt = Callable[[float, Vector, Vector], Vector]  # at a fraction of the step

NODES: dict[str, tuple[float, ...]] = {  # fractions of a step at which the torque is needed
    "control": (0,),
    "ab4": (0,),
    "ab4-round": (0,),
    "rk4": (0, 1 / 2, 1),
    "rk4-stage": (0,),
    "rk4-stage-rates": (0,),
    "midpoint": (1 / 2,),
    "momentum": (),
}
STATE = {  # what a step takes besides the torque
    "control": ("q", "qd"),
    "ab4": ("q", "qd", "qd1", "qd2", "qd3", "qdd1", "qdd2", "qdd3", "h"),
    "ab4-round": ("q", "qd", "qd1", "qd2", "qd3", "qdd1", "qdd2", "qdd3", "h"),
    "rk4": ("q", "qd", "h"),
    **dict.fromkeys(("rk4-stage", "rk4-stage-rates"), (*CARRIED, "h", "zero")),
    "midpoint": ("q", "qd", "p", "v", "change", "going", "h"),
    "momentum": ("q", "qd"),
}
OF_STAGES = ("rk4", "rk4-stage")  # made of rk4-stage-rates
NUMBERS = ("h", "change", "going", "number", "zero")  # all others have n elements
GAINS = ("kp", "kd")


@dataclass(frozen=True)
class Step:
    """What one call computes.

    Attributes:
        method: ``ab4``, ``rk4``, ``midpoint``: a step; ``ab4-round``: one with all that the next
            one takes among its results; ``rk4-stage``: a quarter of one, see
            ``RungeKutta.stage``; ``rk4-stage-rates``: the same with qdd and tau, of which both
            are made; ``control``: the torque of a law alone; ``momentum``: p = M(q) qd.
        law: a name of LAWS, computed within the step; None: the torque is an argument.
        friction: whether the joints have their friction.
        sampled: whether a law's torque is that of the step's beginning throughout; what is given
            and what is made is then among the results, for the next step to hold it.
        given: what a call gives in place of the arm's own constants, of quantities.ALL.
        payload_frame: where a payload is given; None: at the tip.
        alone: whether the step is made by itself, not in a march: a law follows one position, at
            rest, and the results are the next q and qd.
        clamped: whether the joints' limits hold the torque, and q and qd after the step.
        iterations: of the midpoint method within one call.
        close, exact: its change of v by an iteration, relative to the largest, from which on it
            may stall, and that ends the iterations; what is right depends on the precision.
    """

    method: str
    law: str | None = None
    friction: bool = False
    sampled: bool = False
    given: tuple[str, ...] = ()
    payload_frame: str | None = None
    alone: bool = False
    clamped: bool = False
    iterations: int = 1
    close: float = 1e-9
    exact: float = 2.0**-50

    @property
    def nodes(self) -> tuple[float, ...]:
        """The fractions of the step at which the torque is made."""
        return (0,) if self.sampled else NODES[self.method]

    @property
    def torque(self) -> list[tuple[str, float | None]]:
        """The arguments that make the torque, each with its fraction of the step or None."""
        if self.law is None:
            return [("tau", None)] if self.nodes else []
        signals = LAWS[self.law].signals
        if self.alone:
            return [(name, None) for name in signals if name not in RATES]
        moving = [(name, c) for name in signals if name not in GAINS for c in self.nodes]
        return [*moving, *((name, None) for name in signals if name in GAINS)]


class StepKernels(Kernels):
    """The kernels of a step."""

    def __init__(self, chain: Chain, step: Step) -> None:
        super().__init__(chain, step)
        self.step = step

    @property
    def name(self) -> str:
        """What the program is called."""
        return f"{self.step.method} {self.step.law or 'tau'}"

    @property
    def inputs(self) -> dict[str, int]:
        """How many numbers each argument of the program has."""
        step, n = self.step, self.chain.n
        lengths = {name: 1 if name in NUMBERS else n for name in STATE[step.method]}
        return lengths | {f"{name}@{c}": n for name, c in step.torque} | sizes(n, step.given)

    @property
    def program(self) -> Program:
        """The final program, traced at first need."""
        if self._program is None and self.step.method in OF_STAGES:
            self._program = self._of(self._stage().program)
        return super().program

    def _stage(self) -> StepKernels:
        """What stages are made of, and steps that consist of them."""
        stage = replace(self.step, method="rk4-stage-rates", alone=False)
        return StepKernels(self.chain, stage)

    def _of(self, stage: Program) -> Program:
        """The step's program, of that of its stage."""
        if self.step.method == "rk4-stage":
            assert not self.step.clamped, "each stage would be clamped, not the step alone"
            return first_results(stage, self.name, len(CARRIED))
        step = joined(stage, self.name, self.inputs, RK4.nodes)
        return first_results(step, self.name, 2) if self.step.alone else step

    def trace(self) -> Program:
        """The step's program without unused instructions, before any other pass."""
        if self.step.method in OF_STAGES:
            return self._of(self._stage().trace())
        step = self.step

        def text(*values: list[Scalar]) -> tuple[list[Scalar], ...]:
            vectors = iter([np.array(value, dtype=object) for value in values])
            state = [next(vectors) for _ in STATE[step.method]]
            signals = {at: next(vectors) for at in step.torque}
            given = dict(zip(step.given, vectors, strict=True))
            model = Model(self.chain, step.friction, given, step.payload_frame)

            def wanted(c: float, q: Vector, qd: Vector) -> Vector:
                if step.law is None:
                    return signals["tau", None]
                if step.sampled:
                    c, q, qd = 0, *state[:2]
                law = LAWS[step.law]
                taken = [signals[s, c if (s, c) in signals else None] for s in law.signals]
                return law.torque(model, q, qd, *taken)

            def torque(c: float, q: Vector, qd: Vector) -> Vector:
                tau = wanted(c, q, qd)
                return model.clamped_torque(tau) if step.clamped else tau

            results = TEXTS[step.method](model, torque, step, *state)
            return tuple(result.tolist() for result in results)

        return drop_unused(record(text, self.inputs, self.name))


class Model:
    """The quantities of an arm on vectors of scalars: ``model("bias", q, qd)``.

    ``given`` are vectors that stand in place of its own constants, by name.
    """

    def __init__(
        self,
        chain: Chain,
        friction: bool,
        given: Mapping[str, Vector] = MappingProxyType({}),
        payload_frame: str | None = None,
    ) -> None:
        self.chain, self.friction, self.payload_frame = chain, friction, payload_frame
        self.given = {name: list(vector) for name, vector in given.items()}
        self.arm = chain.on(float, call=AtCall(payload_frame=payload_frame, **self.given))

    def __call__(self, quantity: str, *state: Vector, friction: bool = False) -> np.ndarray:
        """A quantity by its cheapest method; of several results of one shape all, in a row."""
        task = Task.with_given(quantity, self.given, self.payload_frame)
        task = task._replace(friction=friction).settled(self.chain)
        given = [self.given[name] for name in task.given]
        function = formula(self.chain, float, task)
        return np.array(function(*map(list, state), *given), dtype=object)

    def rate(self, torque: TorqueAt, c: float, q: Vector, qd: Vector) -> tuple[Vector, Vector]:
        """(qdd, tau) as integrators ask for it, at a fraction c of the step."""
        tau = torque(c, q, qd)
        return self("forward_dynamics", q, qd, tau, friction=self.friction), tau

    def force(self, torque: TorqueAt, q: Vector, qd: Vector) -> Vector:
        """The rate of the momentum at the midpoint, dT/dq - g(q) + tau, less friction."""
        tau = torque(1 / 2, q, qd)
        _, slope = momentum_and_slope(self.arm, list(q), list(qd))
        if self.friction:
            tau = tau - np.array(friction(self.arm, list(qd)), dtype=object)
        return np.array(slope, dtype=object) - self("gravity", q) + tau

    def speed(self, q: Vector, p: Vector) -> Vector:
        """The speeds that have the momentum p, M(q)^-1 p."""
        return np.array(solve(self("mass_matrix", q).tolist(), list(p)), dtype=object)

    def clamped_torque(self, tau: Vector) -> Vector:
        """The torque as far as the joints' limits of effort let it."""
        efforts = [joint.effort for joint in self.chain.joints]
        return np.array([clamped(x, -e, e) for x, e in zip(tau, efforts, strict=True)])

    def clamped_state(self, q: Vector, qd: Vector) -> Vectors:
        """A state within the joints' limits; at one of position a joint goes no further."""
        found = []
        for x, v, joint in zip(q, qd, self.chain.joints, strict=True):
            v = clamped(v, -joint.velocity, joint.velocity)
            if joint.lower > -np.inf:
                v = select_lt(x, joint.lower, select_lt(v, 0, 0, v), v)
            if joint.upper < np.inf:
                v = select_lt(-x, -joint.upper, select_lt(-v, 0, 0, v), v)
            found.append((clamped(x, joint.lower, joint.upper), v))
        return tuple(np.array(found, dtype=object).T)


def clamped(x: Scalar, lower: float, upper: float) -> Scalar:
    """x, or the bound that it is beyond; a bound may be infinite, and NaN stays."""
    if lower > -np.inf:
        x = select_lt(x, lower, lower, x)
    if upper < np.inf:
        x = select_lt(-x, -upper, upper, x)
    return x


# The texts: vectors in, in the order of STATE, vectors out ---------------------------------------


def _control(model: Model, torque: TorqueAt, step: Step, q: Vector, qd: Vector) -> Vectors:
    return (torque(0, q, qd),)


def _momentum(model: Model, torque: TorqueAt, step: Step, q: Vector, qd: Vector) -> Vectors:
    p, _ = momentum_and_slope(model.arm, list(q), list(qd))
    return (np.array(p, dtype=object) + np.array(model.arm.rotor_inertia) * qd,)


def _ab4(model: Model, torque: TorqueAt, step: Step, q: Vector, *rest: Vector) -> Vectors:
    rate = partial(model.rate, torque)
    return _without_given_torque(step, AB4.step(rate, rest[7], q, rest[:4], rest[4:7]))


def _ab4_round(model: Model, torque: TorqueAt, step: Step, q: Vector, *rest: Vector) -> Vectors:
    qd, qd1, qd2, _, qdd1, qdd2, *_ = rest
    next_q, next_qd, qdd, *tau = _ab4(model, torque, step, q, *rest)
    return next_q, next_qd, qd, qd1, qd2, qdd, qdd1, qdd2, *tau


def _rk4_stage(model: Model, torque: TorqueAt, step: Step, *given: Vector) -> Vectors:
    *state, h, zero = given
    results = RK4.stage(partial(model.rate, torque), h, zero, tuple(state))
    if step.clamped:
        results = (*model.clamped_state(*results[:2]), *results[2:])
    return _without_given_torque(step, results)


def _without_given_torque(step: Step, results: Vectors) -> Vectors:
    """The results less the torque where that was given and is not to be handed on."""
    return results if step.law or step.sampled else results[:-1]


SLOW = 1e-6  # [rad/s], the least that changes are relative to


def _midpoint(
    model: Model,
    torque: TorqueAt,
    step: Step,
    q: Vector,
    qd: Vector,
    p: Vector,
    v: Vector,
    change: Vector,
    going: Vector,
    h: Vector,
) -> Vectors:
    """Iterations on the speed v at the midpoint, and the step that it makes.

    A state goes on as long as the change of v by an iteration is large or grows smaller, which
    ends at the level of rounding ([hairer2006], VIII.6); then its v stays. So no state depends on
    others in its batch. ``going`` is 1 or 0, ``change`` the last change over the largest of v.
    """
    force = partial(model.force, torque)
    (last,), (active,) = change, going
    for _ in range(step.iterations):
        better = midpoint_iterated(force, model.speed, h, q, p, v)
        size = largest([*better, *v])
        now = largest(better - v) / select_lt(size, SLOW, SLOW, size)
        stalled = select_lt(now, step.close, 0, active)  # unless it grows smaller:
        taken = select_lt(now, last, active, stalled)
        v = np.array([select_lt(taken, 0.5, a, b) for a, b in zip(v, better, strict=True)])
        last = select_lt(taken, 0.5, last, now)
        active = select_lt(-now, -step.exact, taken, 0)
    q, p = midpoint_step(force, h, q, p, v)
    next_qd = model.speed(q, p)
    guess = next_qd + (next_qd - qd) / 2
    return q, next_qd, p, guess, v, np.array([last]), np.array([active])


def largest(numbers: Any) -> Scalar:
    """The largest absolute value."""
    most: Scalar = 0
    for x in numbers:
        size = select_lt(x, 0, -x, x)
        most = select_lt(size, most, most, size)
    return most


TEXTS: dict[str, Callable[..., Vectors]] = {
    "control": _control,
    "momentum": _momentum,
    "ab4": _ab4,
    "ab4-round": _ab4_round,
    "rk4-stage-rates": _rk4_stage,
    "midpoint": _midpoint,
}
