"""One step of a simulation as a program: controller, dynamics and integrator traced together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from armdyn.algorithms.drives import friction
from armdyn.algorithms.forward_dynamics import solve
from armdyn.algorithms.hamilton import momentum_and_slope
from armdyn.chain import Chain
from armdyn.engine import Kernels
from armdyn.program.passes import drop_unused
from armdyn.program.program import Program
from armdyn.program.tape import record
from armdyn.quantities.tasks import Task, formula
from armdyn.simulation.controllers import LAWS
from armdyn.simulation.integrators import AB4, RK4, midpoint_iterated, midpoint_step
from armdyn.spatial import Scalar, select_lt

Vector = np.ndarray  # of n traced scalars
Vectors = tuple[Vector, ...]
TorqueAt = Callable[[float, Vector, Vector], Vector]  # at a fraction of the step

NODES: dict[str, tuple[float, ...]] = {  # fractions of a step at which the torque is needed
    "control": (0,),
    "ab4": (0,),
    "rk4": (0, 1 / 2, 1),
    "rk4-stage": (0,),
    "midpoint": (1 / 2,),
    "momentum": (),
}
STATE = {  # what a step takes besides the torque
    "control": ("q", "qd"),
    "ab4": ("q", "qd", "qd1", "qd2", "qd3", "qdd1", "qdd2", "qdd3", "h"),
    "rk4": ("q", "qd", "h"),
    "rk4-stage": ("q", "qd", "x", "v", "moves", "kicks", "number", "h", "zero"),
    "midpoint": ("q", "qd", "p", "v", "change", "going", "h"),
    "momentum": ("q", "qd"),
}
NUMBERS = ("h", "change", "going", "number", "zero")  # all others have n elements
GAINS = ("kp", "kd")


@dataclass(frozen=True)
class Step:
    """What one call computes.

    Attributes:
        method: ``ab4``, ``rk4``, ``midpoint``: a step; ``rk4-stage``: a quarter of one, see
            ``RungeKutta.stage``; ``control``: the torque of a law alone; ``momentum``: p = M(q) qd.
        law: a name of LAWS, computed within the step; None: the torque is an argument.
        friction: whether the joints have their friction.
        sampled: whether a law's torque is that of the step's beginning throughout; what is given
            and what is made is then among the results, for the next step to hold it.
        iterations: of the midpoint method within one call.
        close, exact: its change of v by an iteration, relative to the largest, from which on it
            may stall, and that ends the iterations; what is right depends on the precision.
    """

    method: str
    law: str | None = None
    friction: bool = False
    sampled: bool = False
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
        moving = [(name, c) for name in signals if name not in GAINS for c in self.nodes]
        return [*moving, *((name, None) for name in signals if name in GAINS)]


class StepKernels(Kernels):
    """The kernels of a step."""

    def __init__(self, chain: Chain, step: Step) -> None:
        super().__init__(chain, step)
        self.step = step

    def trace(self) -> Program:
        """The step's program."""
        step, n = self.step, self.chain.n
        state = STATE[step.method]
        lengths = {name: 1 if name in NUMBERS else n for name in state}
        inputs = lengths | {f"{name}@{c}": n for name, c in step.torque}
        model = Model(self.chain, step.friction)

        def text(*values: list[Scalar]) -> tuple[list[Scalar], ...]:
            vectors = [np.array(value, dtype=object) for value in values]
            signals = dict(zip(step.torque, vectors[len(state) :], strict=True))

            def torque(c: float, q: Vector, qd: Vector) -> Vector:
                if step.law is None:
                    return signals["tau", None]
                if step.sampled:
                    c, q, qd = 0, *vectors[:2]
                law = LAWS[step.law]
                taken = [signals[s, None if s in GAINS else c] for s in law.signals]
                return law.torque(model, q, qd, *taken)

            results = TEXTS[step.method](model, torque, step, *vectors[: len(state)])
            return tuple(result.tolist() for result in results)

        return drop_unused(record(text, inputs, f"{step.method} {step.law or 'tau'}"))


class Model:
    """The quantities of an arm on vectors of scalars: ``model("bias", q, qd)``."""

    def __init__(self, chain: Chain, friction: bool) -> None:
        self.chain, self.friction = chain, friction
        self.arm = chain.on(float)

    def __call__(self, quantity: str, *state: Vector) -> np.ndarray:
        """A quantity by its cheapest method."""
        return self.done(Task(quantity), *state)

    def rate(self, torque: TorqueAt, c: float, q: Vector, qd: Vector) -> tuple[Vector, Vector]:
        """(qdd, tau) as integrators ask for it, at a fraction c of the step."""
        tau = torque(c, q, qd)
        task = Task("forward_dynamics", friction=self.friction)
        return self.done(task, q, qd, tau), tau

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

    def done(self, task: Task, *state: Vector) -> np.ndarray:
        """A task's result; of several results of one shape all, one after the other."""
        function = formula(self.chain, float, task.settled(self.chain))
        return np.array(function(*map(list, state)), dtype=object)


# The texts: vectors in, in the order of STATE, vectors out ---------------------------------------


def _control(model: Model, torque: TorqueAt, step: Step, q: Vector, qd: Vector) -> Vectors:
    return (torque(0, q, qd),)


def _momentum(model: Model, torque: TorqueAt, step: Step, q: Vector, qd: Vector) -> Vectors:
    p, _ = momentum_and_slope(model.arm, list(q), list(qd))
    return (np.array(p, dtype=object) + np.array(model.arm.rotor_inertia) * qd,)


def _ab4(model: Model, torque: TorqueAt, step: Step, q: Vector, *rest: Vector) -> Vectors:
    rate = partial(model.rate, torque)
    return _without_given_torque(step, AB4.step(rate, rest[7], q, rest[:4], rest[4:7]))


def _rk4(model: Model, torque: TorqueAt, step: Step, q: Vector, qd: Vector, h: Vector) -> Vectors:
    return _without_given_torque(step, RK4.step(partial(model.rate, torque), h, q, qd))


def _rk4_stage(model: Model, torque: TorqueAt, step: Step, *given: Vector) -> Vectors:
    *state, h, zero = given
    return RK4.stage(partial(model.rate, torque), h, zero, tuple(state))


def _without_given_torque(step: Step, results: Vectors) -> Vectors:
    """The results less the torque where that was given and is not to be handed on."""
    return results if step.law or step.sampled else results[:3]


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
    "rk4": _rk4,
    "rk4-stage": _rk4_stage,
    "midpoint": _midpoint,
}
