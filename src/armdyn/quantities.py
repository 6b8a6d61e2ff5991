"""What can be asked of an arm: each quantity's arguments, results, sentence and formula.

``QUANTITIES`` is the only place that lists them: Robot's methods, the comparison, exported source
and the documentation read it. Adding a quantity is one entry there, one algorithm and one method of
Robot; a test fails where one of them is forgotten.

Here an algorithm of the catalogue becomes a quantity of a robot: rotor inertia and friction, which
no paper counts, are added to what the algorithm computes, and the cheapest method is chosen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from armdyn.algorithms import catalogue
from armdyn.algorithms.catalogue import Method
from armdyn.algorithms.late import Late
from armdyn.chain import Chain
from armdyn.chain.arm import Arm
from armdyn.errors import MethodError, TraceError, cut, listed, shorten, unknown, warn
from armdyn.program.passes import cost, drop_unused
from armdyn.program.program import Program
from armdyn.program.tape import record
from armdyn.spatial import Scalar

Formula = Callable[..., Any]  # lists of n scalars in, nested lists of scalars out
Shape = tuple[int, ...]


class Result(NamedTuple):
    """An array that a quantity gives: its letter, and its sizes, a number or one of these each.

    "n": joints; "10n": inertial parameters; "p": minimal parameters.
    """

    name: str
    sizes: str

    def shape(self, chain: Chain) -> Shape:
        """Its shape on that arm."""
        known = {"n": chain.n, "10n": 10 * chain.n}
        if "p" in self.sizes:
            known["p"] = chain.minimal_count
        return tuple(known.get(size) or int(size) for size in self.sizes.split())


@dataclass(frozen=True)
class Quantity:
    """Something that can be asked of an arm.

    Attributes:
        arguments: what it depends on, names of ORDER.
        results: what it gives, one array or more.
        sentence: what that is, for the documentation and for comments in exported source.
        references: methods that judge the others in fifty digits, the first that applies to an
            arm; none prepares constants in doubles. Empty where there is one method only.
        function: the algorithm, where there is one only; the catalogue has the others.
        framed: whether it is that of a frame, the tip if none is named.
        rotors: adds to a result what rotors contribute, ``rotors(arm, result, *state)``.
        friction: makes a formula with friction of one without, ``friction(arm, formula)``.
    """

    arguments: tuple[str, ...]
    results: tuple[Result, ...]
    sentence: str
    references: tuple[str, ...] = ()
    function: Formula | None = None
    framed: bool = False
    rotors: Formula | None = None
    friction: Callable[[Arm, Formula], Formula] | None = None


# The table ---------------------------------------------------------------------------------------

ORDER = ("q", "qd", "qdd", "tau")  # of the arguments of several quantities together
drives, kinematics, kic, regressor = map(Late, ("drives", "kinematics", "kic", "regressor"))
QUANTITIES: Mapping[str, Quantity] = {
    "mass_matrix": Quantity(
        ("q",),
        (Result("M", "n n"),),
        "The inertia matrix M(q), symmetric, with rotors.",
        references=("newton-euler",),
        rotors=drives.on_diagonal,
    ),
    "bias": Quantity(
        ("q", "qd"),
        (Result("b", "n"),),
        "The torque of a motion without acceleration, b = C(q, qd) qd + g(q).",
        references=("newton-euler",),
    ),
    "gravity": Quantity(
        ("q",),
        (Result("g", "n"),),
        "The torque g(q) that holds the arm still.",
        references=("newton-euler",),
    ),
    "christoffel": Quantity(
        ("q",),
        (Result("Gamma", "n n n"),),
        "Gamma_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2.",
        references=("lin1991", "lagrange"),
    ),
    "coriolis_matrix": Quantity(
        ("q", "qd"),
        (Result("C", "n n"),),
        "C_ij = sum over k of Gamma_ijk qd_k, so dM/dt - 2 C is skew.",
        references=("newton-euler",),
    ),
    "inverse_dynamics": Quantity(
        ("q", "qd", "qdd"),
        (Result("tau", "n"),),
        "The torque of a motion, with rotors.",
        references=("newton-euler",),
        rotors=drives.on_torque,
        friction=drives.overcome,
    ),
    "forward_dynamics": Quantity(
        ("q", "qd", "tau"),
        (Result("qdd", "n"),),
        "The acceleration under torques, with rotors.",
        references=("articulated-body",),
        friction=drives.taken_off,
    ),
    "pose": Quantity(
        ("q",),
        (Result("T", "4 4"),),
        "The homogeneous matrix [m] of the tip in the base frame.",
        function=kinematics.pose,
        framed=True,
    ),
    "jacobian": Quantity(
        ("q",),
        (Result("J", "6 n"),),
        "Rows vx vy vz wx wy wz of the tip's origin, a column for each joint's speed; base axes.",
        function=kinematics.jacobian,
        framed=True,
    ),
    "influence": Quantity(
        ("q",),
        (Result("gT", "3 n"), Result("gR", "3 n"), Result("hT", "3 n n"), Result("hR", "3 n n")),
        "The tip's velocity is gT qd, its acceleration gT qdd + qd^T hT qd; likewise its angular "
        "velocity and acceleration by gR and hR; base axes.",
        function=kic.influence,
        framed=True,
    ),
    "energy": Quantity(
        ("q", "qd"),
        (Result("kinetic", ""), Result("potential", "")),
        "The energy [J], kinetic with rotors; potential zero with all mass at the base origin.",
        function=kinematics.energy,
        rotors=drives.on_kinetic,
    ),
    "regressor": Quantity(
        ("q", "qd", "qdd"),
        (Result("Y", "n 10n"),),
        "tau = Y p without rotors and friction; p has for each link its mass m, m cx, m cy, m cz, "
        "Ixx, Ixy, Iyy, Ixz, Iyz, Izz about its joint frame's origin, in that frame's axes.",
        function=regressor.regressor,
    ),
    "minimal_regressor": Quantity(
        ("q", "qd", "qdd"),
        (Result("Ymin", "n p"),),
        "tau = Ymin pi without rotors and friction; pi are the p minimal parameters.",
        function=regressor.minimal_regressor,
    ),
}


# Those with several methods to choose from.
SEVERAL = tuple(name for name, quantity in QUANTITIES.items() if not quantity.function)


def find(quantity: str) -> Quantity:
    """The quantity of that name."""
    if not isinstance(quantity, str) or quantity not in QUANTITIES:
        raise MethodError(unknown("quantity", quantity, QUANTITIES))
    return QUANTITIES[quantity]


# Tasks and their programs ------------------------------------------------------------------------


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
        asked = find(self.quantity)
        if asked.framed:
            chain.find_frame(self.frame)
        if asked.function:
            return self
        name = cheapest(chain, self.quantity) if self.method is None else self.method
        method = catalogue.find(self.quantity, name)
        reason = method.refuses(chain.on(float))
        if reason:
            raise MethodError(f"{name} does not apply to {shorten(chain.name)}: {reason}")
        return self.by(method.name)


def formula(chain: Chain, number: Callable[[float], Scalar], task: Task) -> Formula:
    """A settled task as a function of lists of scalars, in the order of its arguments.

    ``number`` makes a scalar of a constant of the arm.
    """
    asked, natural = find(task.quantity), chain.on(number)
    if asked.framed and asked.function:
        return partial(asked.function, natural, frame=task.frame)
    if asked.function:
        plain: Formula = partial(asked.function, natural)
    else:
        plain = _by(chain, number, catalogue.find(task.quantity, task.method or ""))
    rotors = asked.rotors
    geared = plain if rotors is None else lambda *state: rotors(natural, plain(*state), *state)
    return asked.friction(natural, geared) if task.friction and asked.friction else geared


def _by(chain: Chain, number: Callable[[float], Scalar], method: Method) -> Formula:
    """A method as a function of the state; what it is made of by the methods that suit the arm."""
    if method.join is None:
        return partial(method.function, chain.on(number, method.view))

    def part(quantity: str) -> Formula:
        """A function of an arm, which is this arm, and the state."""
        ours = [m for m in catalogue.methods(quantity) if not m.registered]
        named = [m for m in ours if m.name == method.name]
        best = named[0] if named else catalogue.find(quantity, cheapest(chain, quantity))
        compute = _by(chain, number, best)
        return lambda arm, *state: compute(*state)

    return partial(method.join(*map(part, method.of)), chain.on(number))


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
            result = function(*(given[argument] for argument in find(task.quantity).arguments))
            results.extend(result if isinstance(result, tuple) else (result,))
        return tuple(results)

    names = "_".join(task.quantity for task in tasks)
    found = drop_unused(record(together, inputs, names))
    if found.shapes != shapes(chain, tasks):  # a kernel would write beyond its results
        by = ", ".join(f"{task.quantity} by {task.method}" for task in tasks)
        expected = shapes(chain, tasks)
        raise TraceError(f"{by} gives the shapes {found.shapes}; expected {expected}")
    return found


def arguments(tasks: Sequence[Task]) -> tuple[str, ...]:
    """The arguments of some tasks together."""
    taken = {argument for task in tasks for argument in find(task.quantity).arguments}
    return tuple(argument for argument in ORDER if argument in taken)


def shapes(chain: Chain, tasks: Sequence[Task]) -> tuple[Shape, ...]:
    """The shapes of the results of some tasks together, on that arm."""
    return tuple(result.shape(chain) for task in tasks for result in find(task.quantity).results)


# The choice of a method --------------------------------------------------------------------------

NEAR = 2.0  # a method is tried if on generic arms it takes at most so often the least operations,
TRIES = 60  # and is one of the best TRIES / n, but of the best two at least;
SMALL = 4  # up to so many joints all are tried


@lru_cache(maxsize=256)
def cheapest(chain: Chain, quantity: str) -> str:
    """The exact method whose program costs least on this arm; the catalogue's first of equals.

    On more than a few joints, methods that are far from the best on generic arms are not tried; one
    whose cost there is unknown is. A registered method is chosen only where it proves right.
    """
    if find(quantity).function:
        raise MethodError(f"{quantity} has one method only; several have: {listed(SEVERAL)}")
    natural = chain.on(float)
    able = [m for m in catalogue.methods(quantity) if m.exact and not m.refuses(natural)]
    if not able:
        reasons = "; ".join(f"{m.name}: {m.refuses(natural)}" for m in catalogue.methods(quantity))
        raise MethodError(f"no method of {quantity} applies to {shorten(chain.name)}: {reasons}")
    tried = able if chain.n <= SMALL else _near_the_best(able, quantity, chain.n)
    costs = {m: _cost(chain, quantity, m) for m in tried}
    for method in sorted(tried, key=lambda m: costs[m]):
        if not method.registered or proves_right(chain, quantity, method.name):
            return method.name
    raise MethodError(f"no registered method of {quantity} proves right on {shorten(chain.name)}")


def _near_the_best(able: Sequence[Method], quantity: str, n: int) -> list[Method]:
    """The methods worth trying on an arm of n joints, in order."""
    counted = {m.name: catalogue.operations(quantity, m.name, n) for m in able}
    known = {name: operations for name, operations in counted.items() if operations is not None}
    best = sorted(known, key=lambda name: known[name])[: max(2, TRIES // n)]
    near = {name for name in best if known[name] <= NEAR * known[best[0]]}
    return [m for m in able if m.name in near or m.name not in known]


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


def _cost(chain: Chain, quantity: str, method: Method) -> float:
    """What a method's program costs on this arm; infinitely much where a registered one fails."""
    try:
        return program_cost(chain, quantity, method.name)
    except Exception as error:
        if not method.registered:
            raise
        _pass_over(chain, quantity, method.name, error)
        return math.inf


# Methods that users bring ------------------------------------------------------------------------

TRIALS = 5  # random states in which a registered method must prove right
ROUNDING = 1e-10  # how much a right one may lose of a joint's largest number;
NEGLIGIBLE = 1e-6  # a joint with less than so much of the largest of all is measured by that


def register(quantity: str, name: str, function: Formula, paper: str | None = None) -> None:
    """Add a method of one's own to a quantity, in this process.

    ``robot.methods``, ``armdyn.compare`` and ``armdyn.count`` treat it like those that ship, and
    ``method=name`` asks for it. Without ``method=`` a robot chooses it where it is the cheapest
    and, in a few random states of that arm, gives what the reference method gives; where it does
    not, a warning is logged. Functions that a robot has compiled already stay as they are.

    Args:
        quantity: its name.
        name: of the method.
        function: takes an ``Arm`` and the quantity's arguments, a list of n scalars each, and
            returns nested lists of scalars, of whatever kind the scalars are.
        paper: where it is from.

    Raises:
        MethodError: for a quantity that has no methods to choose from, a name that is taken, or a
            function that cannot be called that way.
    """
    asked = find(quantity)
    if asked.function:
        raise MethodError(
            f"{quantity} has one method only; a method can be registered for {listed(SEVERAL)}"
        )
    catalogue.add(quantity, name, function, paper, asked.arguments)
    cheapest.cache_clear()
    program_cost.cache_clear()
    _Cheapest.found = None


def refusal(chain: Chain, quantity: str, method: Method) -> str | None:
    """Why a method does not apply to this arm; None if it does. A registered one may be broken."""
    reason = method.refuses(chain.on(float))
    if reason is None and method.registered:
        try:
            program_cost(chain, quantity, method.name)
        except Exception as error:
            return f"it fails with {type(error).__name__}: {cut(str(error))}"
    return reason


def proves_right(chain: Chain, quantity: str, name: str) -> bool:
    """Whether a registered method gives on this arm what the reference gives; logged if not."""
    judge = reference(chain, quantity)
    rng = np.random.default_rng(0)
    states = rng.uniform(-math.pi, math.pi, (TRIALS, len(find(quantity).arguments), chain.n))

    def values(method: str) -> np.ndarray:
        compute = formula(chain, float, Task(quantity, method))
        return np.array([compute(*state) for state in states.tolist()], dtype=float)

    try:
        apart, size = np.abs(values(name) - values(judge)), np.abs(values(judge))
    except Exception as error:
        _pass_over(chain, quantity, name, error)
        return False
    size = size.max(axis=(0, *range(2, size.ndim)), keepdims=True)  # of each joint
    size = np.where(size < NEGLIGIBLE * size.max(), size.max(), size)
    if bool((apart <= ROUNDING * size).all()):
        return True
    _pass_over(chain, quantity, name, f"it is off what {judge} gives by {apart.max():.1e}")
    return False


def _pass_over(chain: Chain, quantity: str, name: str, reason: object) -> None:
    """Say why a registered method is not chosen."""
    arm = shorten(chain.name)
    warn("%s of %s is not computed by %s: %s", quantity, arm, name, reason)


def reference(chain: Chain, quantity: str) -> str:
    """The method by which the others are judged on this arm."""
    natural = chain.on(float)
    return next(
        name
        for name in find(quantity).references
        if not catalogue.find(quantity, name).refuses(natural)
    )
