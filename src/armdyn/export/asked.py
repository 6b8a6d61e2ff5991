"""What an export is asked for: checked, settled and recorded, whatever the language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from armdyn.algorithms import catalogue
from armdyn.chain import Chain
from armdyn.engine.derived import KINDS, Derived, with_respect_to
from armdyn.errors import ExportError, MethodError, as_names, listed, shorten, unknown
from armdyn.program.c import Dtype
from armdyn.program.program import Program
from armdyn.quantities import QUANTITIES, Quantity, find
from armdyn.quantities.tasks import Task, check_arguments, check_frame, program

if TYPE_CHECKING:
    from armdyn.robot import Robot

DEFAULT = ("mass_matrix", "bias", "inverse_dynamics", "forward_dynamics")

DTYPES: Mapping[str, Dtype] = {  # C's names and NumPy's
    "double": "double",
    "float": "float",
    "float64": "double",
    "float32": "float",
}


class Asked(NamedTuple):
    """A function that is to be written.

    Attributes:
        name: what it computes, as Robot calls it.
        program: that computes it.
        results: the names of the arrays that its results are written to.
        sentence: what it is.
        task: that it belongs to.
    """

    name: str
    program: Program
    results: tuple[str, ...]
    sentence: str
    task: Task


class Options(NamedTuple):
    """What concerns some of the quantities: see ``c_files``."""

    frame: str | None
    axes: str
    friction: bool
    arguments: Sequence[str]
    payload_frame: str | None
    wrench_frame: str | None

    def check(self, quantities: Mapping[str, Quantity]) -> None:
        """Refuse what concerns none of the quantities."""
        if not isinstance(self.friction, bool):
            raise MethodError(f"friction is {shorten(self.friction)}; expected True or False")
        every = listed(quantities)
        check_frame([*quantities], self.frame, self.axes)
        if self.friction and not any(q.friction for q in quantities.values()):
            raise MethodError(f"friction, but none of {every} has any")
        check_arguments([*quantities], self.arguments, self.payload_frame, self.wrench_frame)

    def task(self, quantity: str, method: str | None) -> Task:
        """The task of a quantity with what concerns it."""
        asked = find(quantity)
        places = self.payload_frame, self.wrench_frame, self.frame, self.axes
        return Task.with_given(quantity, self.arguments, *places)._replace(
            method=method,
            friction=self.friction and asked.friction is not None,
        )


def arm(robot: Robot | Chain) -> Chain:
    """The arm that is to be exported, checked."""
    chain = getattr(robot, "chain", robot)
    if not isinstance(chain, Chain):
        raise ExportError(f"{shorten(robot)} is no arm; expected a Robot or a Chain")
    return chain


def numbers(dtype: str) -> Dtype:
    """The type of numbers with one of its names."""
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ExportError(unknown("type of numbers", dtype, DTYPES))
    return DTYPES[dtype]


def functions(
    chain: Chain,
    quantities: str | Iterable[str],
    methods: Mapping[str, str] | None,
    options: Options,
    derivatives: str | Iterable[str],
    wrt: str | Sequence[str] | None,
) -> list[Asked]:
    """The functions that are asked for: the quantities', then those of their derivatives."""
    if methods is not None and not isinstance(methods, Mapping):
        raise MethodError(f"methods is {shorten(methods)}; expected a method by quantity")
    asked = _tasks(as_names("quantities", quantities), methods or {}, options)
    tasks = [task.settled(chain) for task in asked]
    derived = _derived(tasks, as_names("derivatives", derivatives), wrt)
    found = [
        Asked(
            task.quantity,
            program(chain, [task]),
            result_names(task),
            find(task.quantity).sentence,
            task,
        )
        for task in tasks
    ]
    return found + [
        Asked(each.name, each.program(chain), (*each.results(chain),), each.sentence, each.task)
        for each in derived
    ]


def result_names(task: Task) -> tuple[str, ...]:
    """The names of the arrays that a task's results are written to."""
    return tuple(result.name for result in find(task.quantity).results)


def _tasks(quantities: Sequence[str], methods: Mapping[str, str], options: Options) -> list[Task]:
    """What is asked for, each quantity once, by methods that exist."""
    if not quantities:
        raise MethodError(f"no quantity to export; known: {listed(QUANTITIES)}")
    asked = {quantity: find(quantity) for quantity in [*quantities, *methods]}
    for quantity, method in methods.items():
        if quantity not in quantities:
            raise MethodError(
                f"a method for {quantity}, {shorten(method)}, but it is not to be exported"
            )
        if asked[quantity].function:
            raise MethodError(f"{quantity} has one method only; it cannot be {shorten(method)}")
        catalogue.find(quantity, method)
    options.check(asked)
    return [options.task(name, methods.get(name)) for name in dict.fromkeys(quantities)]


def _derived(tasks: Sequence[Task], kinds: Sequence[str], wrt: Any) -> list[Derived]:
    """The derivatives of these kinds, each once, of all tasks."""
    for kind in kinds:
        if kind not in KINDS:
            raise MethodError(unknown("derivative", kind, KINDS))
    if wrt is not None and not kinds:
        raise MethodError(f"wrt is {shorten(wrt)}, but no derivative is to be exported")
    return [
        Derived(kind, task, with_respect_to(task, wrt))
        for kind in dict.fromkeys(kinds)
        for task in tasks
    ]
