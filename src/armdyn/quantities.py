"""What can be asked of an arm: each quantity's arguments, shape and formula on any scalar.

Here an algorithm of the catalogue becomes a quantity of a robot: rotor inertia and friction, which
no paper counts, are added to what the algorithm computes, and the cheapest method is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from armdyn.algorithms import catalogue, forward_dynamics, kinematics
from armdyn.algorithms.catalogue import STATE, find, methods
from armdyn.algorithms.kic import influence
from armdyn.algorithms.regressor import regressor
from armdyn.chain import Chain
from armdyn.chain.arm import Arm
from armdyn.errors import MethodError
from armdyn.program.passes import cost, drop_unused
from armdyn.program.program import Program
from armdyn.program.tape import record
from armdyn.spatial import Scalar, select_lt

Formula = Callable[..., Any]  # lists of n scalars in, nested lists of scalars out
Shape = tuple[int, ...]

ORDER = ("q", "qd", "qdd", "tau")  # of the arguments of several quantities together
ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    **{quantity: state for quantity, state in STATE.items() if "+" not in quantity},
    "pose": ("q",),
    "jacobian": ("q",),
    "influence": ("q",),
    "energy": ("q", "qd"),
    "regressor": ("q", "qd", "qdd"),
}
SHAPES: Mapping[str, tuple[str, ...]] = {  # of each result
    "mass_matrix": ("n n",),
    "bias": ("n",),
    "gravity": ("n",),
    "christoffel": ("n n n",),
    "coriolis_matrix": ("n n",),
    "inverse_dynamics": ("n",),
    "forward_dynamics": ("n",),
    "pose": ("4 4",),
    "jacobian": ("6 n",),
    "influence": ("3 n", "3 n", "3 n n", "3 n n"),
    "energy": ("", ""),
    "regressor": ("n 10n",),
}
UNIQUE: Mapping[str, Formula] = {  # quantities that have one method only
    "pose": kinematics.pose,
    "jacobian": kinematics.jacobian,
    "influence": influence,
    "energy": kinematics.energy,
    "regressor": regressor,
}
FRAMED = ("pose", "jacobian", "influence")


class Task(NamedTuple):
    """One quantity to compute: by which method, of which frame, with friction or without.

    ``method`` None means the cheapest exact one, ``frame`` None the tip.
    """

    quantity: str
    method: str | None = None
    frame: str | None = None
    friction: bool = False

    def by(self, method: str | None) -> Task:
        """The same task by that method."""
        return self._replace(method=method)

    def settled(self, chain: Chain) -> Task:
        """This task with its method named, and everything in it checked against the chain."""
        if self.quantity in FRAMED:
            chain.find_frame(self.frame)
        if self.quantity in UNIQUE:
            return self
        name = cheapest(chain, self.quantity) if self.method is None else self.method
        reason = find(self.quantity, name).refuses(chain.on(float))
        if reason:
            raise MethodError(f"{name} does not apply to {chain.name!r}: {reason}")
        return self.by(name)


def formula(chain: Chain, number: Callable[[float], Scalar], task: Task) -> Formula:
    """A settled task as a function of lists of scalars, in the order of ARGUMENTS.

    ``number`` makes a scalar of a constant of the arm.
    """
    natural = chain.on(number)
    if task.quantity in FRAMED:
        return partial(UNIQUE[task.quantity], natural, frame=task.frame)
    if task.method == "ldl":
        plain: Formula = _ldl(chain, number)
    elif task.method:
        method = find(task.quantity, task.method)
        plain = partial(method.function, chain.on(number, method.view))
    else:
        plain = partial(UNIQUE[task.quantity], natural)
    add_rotors = ROTORS.get(task.quantity)
    geared = plain if add_rotors is None else lambda *s: add_rotors(natural, plain(*s), *s)
    return _with_friction(task.quantity, natural, geared) if task.friction else geared


def program(chain: Chain, tasks: Sequence[Task]) -> Program:
    """The program of settled tasks together, on the arguments that any of them takes."""
    kept = _Cheapest.found
    if kept is not None and kept[:2] == (chain, tuple(tasks)):
        return kept[2]
    inputs = dict.fromkeys(arguments(tasks), chain.n)
    formulas = [formula(chain, float, task) for task in tasks]

    def together(*state: list[Scalar]) -> tuple[Any, ...]:
        given = dict(zip(inputs, state, strict=True))
        results: list[Any] = []
        for task, function in zip(tasks, formulas, strict=True):
            result = function(*(given[argument] for argument in ARGUMENTS[task.quantity]))
            results.extend(result if isinstance(result, tuple) else (result,))
        return tuple(results)

    return drop_unused(record(together, inputs, "_".join(task.quantity for task in tasks)))


def arguments(tasks: Sequence[Task]) -> tuple[str, ...]:
    """The arguments of some tasks together."""
    taken = {argument for task in tasks for argument in ARGUMENTS[task.quantity]}
    return tuple(argument for argument in ORDER if argument in taken)


def shapes(n: int, tasks: Sequence[Task]) -> tuple[Shape, ...]:
    """The shapes of the results of some tasks together, on an arm of n joints."""
    sizes = {"n": n, "10n": 10 * n}
    return tuple(
        tuple(sizes.get(size) or int(size) for size in shape.split())
        for task in tasks
        for shape in SHAPES[task.quantity]
    )


# The choice of a method --------------------------------------------------------------------------

NEAR = 2.0  # a method is tried if on generic arms it takes at most so often the least operations,
TRIES = 60  # and is one of the best TRIES / n, but of the best two at least;
SMALL = 4  # up to so many joints all are tried


@lru_cache(maxsize=256)
def cheapest(chain: Chain, quantity: str) -> str:
    """The exact method whose program costs least on this arm; the catalogue's first of equals.

    On more than a few joints, methods that are far from the best on generic arms are not tried.
    """
    natural = chain.on(float)
    able = [m for m in methods(quantity) if m.exact and not m.refuses(natural)]
    if not able:
        reasons = "; ".join(f"{m.name}: {m.refuses(natural)}" for m in methods(quantity))
        raise MethodError(f"no method of {quantity} applies to {chain.name!r}: {reasons}")
    generic = {m.name: max(0.0, m.operations(chain.n)) for m in able}
    if chain.n <= SMALL:
        return min(generic, key=lambda name: program_cost(chain, quantity, name))
    best = sorted(generic, key=lambda name: generic[name])[: max(2, TRIES // chain.n)]
    near = [name for name in generic if name in best and generic[name] <= NEAR * generic[best[0]]]
    return min(near, key=lambda name: program_cost(chain, quantity, name))


@lru_cache(maxsize=1024)
def program_cost(chain: Chain, quantity: str, method: str) -> int:
    """What a method's program costs on this arm."""
    task = Task(quantity, method)
    traced = program(chain, [task])
    operations = cost(traced)
    if catalogue.find(quantity, method).exact:
        _Cheapest.offer(chain, task, traced, operations)
    return operations


class _Cheapest:
    """The cheapest program traced of the quantity priced last: it is likely to be compiled next.

    That is one program and no more, for those of large arms fill much memory.
    """

    found: tuple[Chain, tuple[Task, ...], Program, int] | None = None

    @classmethod
    def offer(cls, chain: Chain, task: Task, traced: Program, operations: int) -> None:
        """Keeps a program, unless that of the same quantity here is as cheap."""
        kept = cls.found
        same = kept is not None and kept[0] == chain and kept[1][0].quantity == task.quantity
        if kept is None or not same or operations < kept[3]:
            cls.found = chain, (task,), traced, operations


# What Robot adds to the algorithms ---------------------------------------------------------------


def _ldl(chain: Chain, number: Callable[[float], Scalar]) -> Formula:
    """Forward dynamics by the cheapest mass matrix and bias, and the L^T D L solution."""
    mass_matrix, bias = (
        formula(chain, number, Task(quantity).settled(chain))
        for quantity in ("mass_matrix", "bias")
    )

    def solved(q: list[Scalar], qd: list[Scalar], tau: list[Scalar]) -> list[Scalar]:
        rest = [t - b for t, b in zip(tau, bias(q, qd), strict=True)]
        return forward_dynamics.solve(mass_matrix(q), rest)

    return solved


def _on_torque(
    arm: Arm, tau: list[Scalar], q: list[Scalar], qd: list[Scalar], qdd: list[Scalar]
) -> list[Scalar]:
    return [t + rotor * a for t, rotor, a in zip(tau, arm.rotor_inertia, qdd, strict=True)]


def _on_kinetic(
    arm: Arm, both: tuple[Scalar, Scalar], q: list[Scalar], qd: list[Scalar]
) -> tuple[Scalar, Scalar]:
    kinetic, potential = both
    doubled = sum(rotor * v * v for rotor, v in zip(arm.rotor_inertia, qd, strict=True))
    return kinetic + doubled / 2, potential


ROTORS: Mapping[str, Formula] = {
    "mass_matrix": lambda arm, M, q: forward_dynamics.with_rotors(M, arm),
    "inverse_dynamics": _on_torque,
    "energy": _on_kinetic,
}


def friction(arm: Arm, qd: Sequence[Scalar]) -> list[Scalar]:
    """What friction takes off the torques: viscous qd + coulomb(sign qd), with sign(0) = 0."""
    return [
        viscous * v + select_lt(v, 0, negative, select_lt(-v, 0, positive, 0))
        for viscous, (negative, positive), v in zip(arm.viscous, arm.coulomb, qd, strict=True)
    ]


def _with_friction(quantity: str, arm: Arm, frictionless: Formula) -> Formula:
    """Friction added to the torque that a motion takes, or taken off the torque that is given."""
    if quantity == "inverse_dynamics":
        return lambda q, qd, qdd: [
            tau + loss
            for tau, loss in zip(frictionless(q, qd, qdd), friction(arm, qd), strict=True)
        ]
    return lambda q, qd, tau: frictionless(
        q, qd, [t - loss for t, loss in zip(tau, friction(arm, qd), strict=True)]
    )
