"""Tasks: a quantity of a robot, by some method, as a formula and as a program.

Here an algorithm of the catalogue becomes a quantity of a robot: rotor inertia and friction, which
no paper counts, are added to what the algorithm computes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from armdyn.algorithms import catalogue
from armdyn.algorithms.method import Method, without_centres
from armdyn.chain import Chain
from armdyn.chain.at_call import NOTHING, AtCall, loaded_link
from armdyn.errors import MethodError, ModelError, TraceError, cut, listed, shorten, unknown
from armdyn.program.passes import costs, drop_unused
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
    needs_inertia,
    sizes,
)
from armdyn.spatial import Scalar


class Task(NamedTuple):
    """One quantity to compute: by which method, of which frame, with friction or without.

    ``method`` None means the cheapest exact one, and None for a frame the tip; ``axes`` is one of
    AXES. ``given`` names the arguments that a call gives besides the state.
    """

    quantity: str
    method: str | None = None
    frame: str | None = None
    friction: bool = False
    axes: str = "base"
    given: tuple[str, ...] = ()
    payload_frame: str | None = None
    wrench_frame: str | None = None

    @property
    def arguments(self) -> tuple[str, ...]:
        """What its formula takes, in order."""
        return find(self.quantity).arguments + self.given

    @classmethod
    def with_given(
        cls,
        quantity: str,
        names: Iterable[str],
        payload_frame: str | None = None,
        wrench_frame: str | None = None,
        frame: str | None = None,
        axes: str = "base",
    ) -> Task:
        """A quantity with those of some arguments and options that it takes."""
        asked, given = find(quantity), given_to(quantity, names)
        return cls(
            quantity,
            frame=frame if asked.framed else None,
            axes=axes if asked.axes else "base",
            given=given,
            payload_frame=payload_frame if "payload" in given else None,
            wrench_frame=wrench_frame if "wrench" in given else None,
        )

    def by(self, method: str | None) -> Task:
        """The same task by that method."""
        return self._replace(method=method)

    def part(self, quantity: str) -> Task:
        """A quantity that this one is made of, on the same arm; a wrench comes in at the end."""
        names = [name for name in self.given if name != "wrench"]
        return Task.with_given(quantity, names, self.payload_frame)

    def settled(self, chain: Chain) -> Task:
        """This task with its method named, and everything in it checked against the chain."""
        asked = find(self.quantity)
        check_inertia(chain, self.quantity, self.given)
        if asked.framed:
            chain.find_frame(self.frame)
        self.check_given(chain)
        if asked.refuses and (reason := asked.refuses(chain.on(float), self.frame)):
            raise MethodError(f"{shorten(chain.name)} has no {self.quantity}: {reason}")
        if asked.function:
            return self
        name = self.method
        if name is None:
            alone = self.part(self.quantity)
            name = cheapest(chain, self.quantity, alone.given, self.payload_frame)
        method = catalogue.find(self.quantity, name)
        reason = why_not(chain, method, self)
        if reason:
            raise MethodError(f"{name} does not apply to {shorten(chain.name)}: {reason}")
        return self.by(method.name)

    def check_given(self, chain: Chain) -> None:
        """Refuse what this quantity does not take at the call, and frames that cannot be."""
        asked = find(self.quantity)
        for name in self.given:
            if name not in asked.at_call:
                known = f"it takes {listed(asked.at_call)}" if asked.at_call else "it takes none"
                raise MethodError(
                    f"{self.quantity} does not take {shorten(name)} at the call; {known}"
                )
        check_places(self.given, self.payload_frame, self.wrench_frame)
        if "payload" in self.given:
            loaded_link(chain, self.payload_frame)
        chain.find_frame(self.wrench_frame)


def check_inertia(chain: Chain, quantity: str, given: Sequence[str] = ()) -> None:
    """Refuse what depends on the links' inertia where no link has any, and none is given."""
    if chain.kinematic_only and needs_inertia(quantity) and "parameters" not in given:
        bare = listed(shorten(link.name) for link in chain.links)
        able = listed(name for name in QUANTITIES if not needs_inertia(name))
        raise ModelError(
            f"{cut(chain.name)} has no {quantity}: links {bare} have no mass and no inertia; "
            f"without them an arm has {able}"
        )


def check_arguments(
    quantities: Sequence[str],
    names: Sequence[str],
    payload_frame: object = None,
    wrench_frame: object = None,
) -> None:
    """Refuse what none of the quantities takes at the call, and the frame of what is not given."""
    taken = dict.fromkeys(name for quantity in quantities for name in find(quantity).at_call)
    for name in names:
        if not taken:
            raise MethodError(
                f"no argument {shorten(name)} of {listed(quantities)}: there is none besides "
                "the state"
            )
        if name not in taken:
            raise MethodError(unknown("argument", name, taken, f" of {listed(quantities)}"))
    check_places(names, payload_frame, wrench_frame)


def check_frame(quantities: Sequence[str], frame: object, axes: object = "base") -> None:
    """Refuse a frame, or axes, that none of the quantities depends on."""
    framed = [name for name in QUANTITIES if QUANTITIES[name].framed]
    turned = [name for name in QUANTITIES if QUANTITIES[name].axes]
    for name, value, plain, able in (
        ("frame", frame, frame is None, framed),
        ("axes", axes, isinstance(axes, str) and axes == "base", turned),
    ):
        if not plain and not {*able} & {*quantities}:
            raise MethodError(
                f"{name}={shorten(value)} has no effect: none of {listed(quantities)} depends on "
                f"it; {listed(able)} do"
            )


def check_places(given: Sequence[str], payload_frame: object, wrench_frame: object) -> None:
    """Refuse the frame of what is not given."""
    for name, frame in (("payload", payload_frame), ("wrench", wrench_frame)):
        if frame is not None and name not in given:
            raise MethodError(f"{name}_frame={shorten(frame)} without a {name}")


def why_not(chain: Chain, method: Method, task: Task) -> str | None:
    """Why a method does not apply to an arm, with what the task is given; None if it does.

    A centre of mass is a first moment divided by a mass: that must surely not be zero.
    """
    reason = method.refuses(chain.on(float))
    if reason is None and method.refuses is without_centres:
        if "parameters" in task.given:
            return "parameters given at the call may be those of a link without a centre of mass"
        if "payload" in task.given:
            link = chain.links[loaded_link(chain, task.payload_frame)]
            if link.inertia.mass == 0:
                return f"link {shorten(link.name)} has no mass without its payload"
    return reason


def formula(chain: Chain, number: Callable[[float], Scalar], task: Task) -> Formula:
    """A settled task as a function of lists of scalars, in the order of its arguments.

    ``number`` makes a scalar of a constant of the arm.
    """
    if not task.given:
        return _formula(chain, number, task, NOTHING)
    state = len(find(task.quantity).arguments)

    def at_call(*lists: Sequence[Scalar]) -> Any:
        given = dict(zip(task.given, lists[state:], strict=True))
        wrench = [given.pop("wrench")] if "wrench" in given else []
        point = {"point": given.pop("point")} if "point" in given else {}
        call = AtCall(payload_frame=task.payload_frame, **given)
        return _formula(chain, number, task, call)(*lists[:state], *wrench, **point)

    return at_call


def _formula(chain: Chain, number: Callable[[float], Scalar], task: Task, call: AtCall) -> Formula:
    """A task as a function of the state, and of a wrench, on an arm with what the call gives."""
    asked, natural = find(task.quantity), chain.on(number, call=call)
    if asked.function:
        options = {"frame": asked.framed, "axes": asked.axes}
        given = {option: getattr(task, option) for option, there in options.items() if there}
        parts = [_part(chain, number, task.part(name), call) for name in asked.of]
        function = asked.function(*parts) if parts else asked.function
        plain: Formula = partial(function, natural, **given)
    else:
        plain = _by(chain, number, task, call)
    rotors = asked.rotors
    geared = plain if rotors is None else lambda *state: rotors(natural, plain(*state), *state)
    rubbed = asked.friction(natural, geared) if task.friction and asked.friction else geared
    if asked.wrench and "wrench" in task.given:
        return asked.wrench(natural, rubbed, task.wrench_frame)
    return rubbed


def _by(chain: Chain, number: Callable[[float], Scalar], task: Task, call: AtCall) -> Formula:
    """A method as a function of the state; what it is made of by the methods that suit the arm."""
    method = catalogue.find(task.quantity, task.method or "")
    if method.join is None:
        return partial(method.function, chain.on(number, method.view, call))

    parts = [_part(chain, number, part, call) for part in _parts(chain, task, method)]
    return partial(method.join(*parts), chain.on(number, call=call))


def _parts(chain: Chain, task: Task, method: Method) -> list[Task]:
    """What a method is made of: by the method of the same name, or what costs least.

    Parameters given at the call are regrouped there, and what several parts regroup alike is
    shared. So the part that costs most is chosen by itself, and others by what they add to it.
    """
    found = []
    for quantity in method.of:
        ours = [each.name for each in catalogue.methods(quantity) if not each.registered]
        found.append(task.part(quantity).by(method.name if method.name in ours else None))
    if "parameters" not in task.given or len(found) == 1:
        return found
    dearest = max((part.settled(chain) for part in found), key=lambda part: _costs(chain, (part,)))
    chosen = {dearest.quantity: dearest}
    for part in (part for part in found if part.quantity not in chosen):
        asked = part.quantity, part.given, part.payload_frame
        name = part.method or cheapest(chain, *asked, beside=tuple(chosen.values()))
        chosen[part.quantity] = part.by(name)
    return [chosen[quantity] for quantity in method.of]


def _part(chain: Chain, number: Callable[[float], Scalar], part: Task, call: AtCall) -> Formula:
    """What another algorithm is made of: a function of an arm, which is this arm, and the state."""
    method = part.method or cheapest(chain, part.quantity, part.given, part.payload_frame)
    compute = _by(chain, number, part.by(method), call)
    return lambda arm, *state: compute(*state)


def program(chain: Chain, tasks: Sequence[Task]) -> Program:
    """The program of settled tasks together, on the arguments that any of them takes."""
    return drop_unused(_recorded(chain, tasks))


def _recorded(chain: Chain, tasks: Sequence[Task]) -> Program:
    """The same program as it was recorded, with instructions that no result needs."""
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
    found = record(together, inputs, names)
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
        name
        for name, each in QUANTITIES.items()
        if not (each.refuses and each.refuses(arm, None))
        and not (chain.kinematic_only and needs_inertia(name))
    ]


# What a method costs on an arm -------------------------------------------------------------------

LESS = 0.25  # of an operation is what it takes less in a loop, whose code is short and at hand


@lru_cache(maxsize=256)
def cheapest(
    chain: Chain,
    quantity: str,
    given: tuple[str, ...] = (),
    payload_frame: str | None = None,
    beside: tuple[Task, ...] = (),
) -> str:
    """The name of the method that ``choice.choose`` takes on this arm, of what programs cost.

    With settled tasks ``beside`` it the program computes them too, and shares what it can.
    """
    if find(quantity).function:
        raise MethodError(f"{quantity} has one method only; several have: {listed(SEVERAL)}")
    check_inertia(chain, quantity, given)
    task = Task(quantity, given=given, payload_frame=payload_frame)

    def price(method: Method) -> float:
        return _costs(chain, (*beside, task.by(method.name)))[1]

    def compute(method: str) -> Formula:
        return formula(chain, float, Task(quantity, method))

    def refuses(method: Method) -> str | None:
        return why_not(chain, method, task)

    methods = choice.able(chain, quantity, refuses)
    return choice.remembered(
        f"{chain.key} {(task, *beside)}",
        [method.name for method in methods],
        lambda: choice.choose(chain, quantity, methods, price, compute).name,
    )


def program_cost(
    chain: Chain,
    quantity: str,
    method: str,
    given: tuple[str, ...] = (),
    payload_frame: str | None = None,
) -> int:
    """What a method's program costs on this arm, with these arguments given at the call."""
    return _costs(chain, (Task(quantity, method, given=given, payload_frame=payload_frame),))[0]


@lru_cache(maxsize=1024)
def _costs(chain: Chain, tasks: tuple[Task, ...]) -> tuple[int, float]:
    """What the program of some tasks together costs, and the price by which one is chosen."""
    traced = _recorded(chain, tasks)
    plain, loops = costs(traced)
    price = plain + (1 - LESS) * loops
    if len(tasks) == 1 and catalogue.find(tasks[0].quantity, tasks[0].method or "").exact:
        _Cheapest.offer(chain, tasks[0], traced, price)
    return plain + loops, price


class _Cheapest:
    """The cheapest program traced of the quantity priced last: it is likely to be compiled next.

    That is one program and no more, for those of large arms fill much memory.
    """

    found: tuple[Chain, tuple[Task, ...], Program, float] | None = None

    @classmethod
    def offer(cls, chain: Chain, task: Task, traced: Program, price: float) -> None:
        """Keeps a program, unless that of the same quantity here is as cheap."""
        kept = cls.found
        same = kept is not None and kept[0] == chain and kept[1][0].by(None) == task.by(None)
        if kept is None or not same or price < kept[3]:
            cls.found = chain, (task,), traced, price


def forget_costs() -> None:
    """Forget what was chosen and what it costs, for there is a new method."""
    cheapest.cache_clear()
    _costs.cache_clear()
    _Cheapest.found = None
