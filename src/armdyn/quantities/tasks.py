"""Tasks: a quantity of a robot, by some method, as a formula and as a program.

Here an algorithm of the catalogue becomes a quantity of a robot: rotor inertia and friction, which
no paper counts, are added to what the algorithm computes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from armdyn.algorithms import catalogue
from armdyn.algorithms.catalogue import Method
from armdyn.chain import Chain
from armdyn.errors import MethodError, TraceError, listed, shorten
from armdyn.program.passes import cost, drop_unused
from armdyn.program.program import Program
from armdyn.program.tape import record
from armdyn.quantities import (
    ARGUMENTS,
    QUANTITIES,
    SEVERAL,
    Formula,
    Shape,
    choice,
    find,
    given_to,
    sizes,
)
from armdyn.spatial import Scalar


class Task(NamedTuple):
    """One quantity to compute: by which method, of which frame, with friction or without.

    ``method`` None means the cheapest exact one, ``frame`` and ``wrench_frame`` None the tip;
    ``axes`` is one of AXES. ``given`` names the arguments that a call gives besides the state.
    """

    quantity: str
    method: str | None = None
    frame: str | None = None
    friction: bool = False
    axes: str = "base"
    given: tuple[str, ...] = ()
    wrench_frame: str | None = None

    @property
    def arguments(self) -> tuple[str, ...]:
        """What its formula takes, in order."""
        return find(self.quantity).arguments + self.given

    @classmethod
    def with_given(cls, quantity: str, names: Iterable[str], wrench_frame: str | None) -> Task:
        """A quantity with those of some arguments that it takes at the call."""
        given = given_to(quantity, names)
        return cls(quantity, given=given, wrench_frame=wrench_frame if "wrench" in given else None)

    def by(self, method: str | None) -> Task:
        """The same task by that method."""
        return self._replace(method=method)

    def settled(self, chain: Chain) -> Task:
        """This task with its method named, and everything in it checked against the chain."""
        asked = find(self.quantity)
        if asked.framed:
            chain.find_frame(self.frame)
        self.check_given(chain)
        if asked.refuses and (reason := asked.refuses(chain.on(float), self.frame)):
            raise MethodError(f"{shorten(chain.name)} has no {self.quantity}: {reason}")
        if asked.function:
            return self
        name = cheapest(chain, self.quantity) if self.method is None else self.method
        method = catalogue.find(self.quantity, name)
        reason = method.refuses(chain.on(float))
        if reason:
            raise MethodError(f"{name} does not apply to {shorten(chain.name)}: {reason}")
        return self.by(method.name)

    def check_given(self, chain: Chain) -> None:
        """Refuse what this quantity does not take at the call, and frames that are not there."""
        asked = find(self.quantity)
        for name in self.given:
            if name not in asked.at_call:
                known = f"it takes {listed(asked.at_call)}" if asked.at_call else "it takes none"
                raise MethodError(
                    f"{self.quantity} does not take {shorten(name)} at the call; {known}"
                )
        if "wrench" in self.given:
            chain.find_frame(self.wrench_frame)
        elif self.wrench_frame is not None:
            raise MethodError(f"wrench_frame={shorten(self.wrench_frame)} without a wrench")


def formula(chain: Chain, number: Callable[[float], Scalar], task: Task) -> Formula:
    """A settled task as a function of lists of scalars, in the order of its arguments.

    ``number`` makes a scalar of a constant of the arm.
    """
    asked, natural = find(task.quantity), chain.on(number)
    if asked.function:
        options = {"frame": asked.framed, "axes": asked.axes}
        given = {option: getattr(task, option) for option, there in options.items() if there}
        parts = [_part(chain, number, name, cheapest(chain, name)) for name in asked.of]
        function = asked.function(*parts) if parts else asked.function
        plain: Formula = partial(function, natural, **given)
    else:
        plain = _by(chain, number, catalogue.find(task.quantity, task.method or ""))
    rotors = asked.rotors
    geared = plain if rotors is None else lambda *state: rotors(natural, plain(*state), *state)
    rubbed = asked.friction(natural, geared) if task.friction and asked.friction else geared
    if asked.wrench and "wrench" in task.given:
        return asked.wrench(natural, rubbed, task.wrench_frame)
    return rubbed


def _by(chain: Chain, number: Callable[[float], Scalar], method: Method) -> Formula:
    """A method as a function of the state; what it is made of by the methods that suit the arm."""
    if method.join is None:
        return partial(method.function, chain.on(number, method.view))

    def part(quantity: str) -> Formula:
        ours = [m.name for m in catalogue.methods(quantity) if not m.registered]
        best = method.name if method.name in ours else cheapest(chain, quantity)
        return _part(chain, number, quantity, best)

    return partial(method.join(*map(part, method.of)), chain.on(number))


def _part(chain: Chain, number: Callable[[float], Scalar], quantity: str, method: str) -> Formula:
    """What another algorithm is made of: a function of an arm, which is this arm, and the state."""
    compute = _by(chain, number, catalogue.find(quantity, method))
    return lambda arm, *state: compute(*state)


def program(chain: Chain, tasks: Sequence[Task]) -> Program:
    """The program of settled tasks together, on the arguments that any of them takes."""
    kept = _Cheapest.found
    if kept is not None and kept[:2] == (chain, tuple(tasks)):
        return kept[2]
    inputs = sizes(chain.n, arguments(tasks))
    formulas = [formula(chain, float, task) for task in tasks]

    def together(*state: list[Scalar]) -> tuple[Any, ...]:
        given = dict(zip(inputs, state, strict=True))
        results: list[Any] = []
        for task, function in zip(tasks, formulas, strict=True):
            result = function(*(given[argument] for argument in task.arguments))
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
    taken = {argument for task in tasks for argument in task.arguments}
    return tuple(argument for argument in ARGUMENTS if argument in taken)


def shapes(chain: Chain, tasks: Sequence[Task]) -> tuple[Shape, ...]:
    """The shapes of the results of some tasks together, on that arm."""
    return tuple(result.shape(chain) for task in tasks for result in find(task.quantity).results)


def quantities_of(chain: Chain) -> list[str]:
    """The quantities that this arm has, at its tip where they are those of a frame."""
    arm = chain.on(float)
    return [
        name for name, each in QUANTITIES.items() if not (each.refuses and each.refuses(arm, None))
    ]


# What a method costs on an arm -------------------------------------------------------------------


@lru_cache(maxsize=256)
def cheapest(chain: Chain, quantity: str) -> str:
    """The name of the method that ``choice.choose`` takes on this arm, of what programs cost."""
    if find(quantity).function:
        raise MethodError(f"{quantity} has one method only; several have: {listed(SEVERAL)}")

    def price(method: Method) -> int:
        return program_cost(chain, quantity, method.name)

    def compute(method: str) -> Formula:
        return formula(chain, float, Task(quantity, method))

    return choice.choose(chain, quantity, price, compute).name


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


def forget_costs() -> None:
    """Forget what was chosen and what it costs, for there is a new method."""
    cheapest.cache_clear()
    program_cost.cache_clear()
    _Cheapest.found = None
