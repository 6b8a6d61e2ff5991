"""Methods of Robot that are compiled functions: a signature and a docstring stand for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import getattr_static
from types import MethodType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, cast

import numpy as np

from armdyn.chain.given import choice
from armdyn.engine import calls, traced
from armdyn.engine import function as compiled_function
from armdyn.engine.payloads import Check
from armdyn.errors import ModelError, shorten, warn
from armdyn.forks import importing
from armdyn.quantities.tasks import Task

if TYPE_CHECKING:
    from armdyn.robot import Robot


class Array(Protocol):
    """An array of any library, as far as a type checker can tell one."""

    @property
    def shape(self) -> Any:
        """The lengths of its axes."""

    @property
    def dtype(self) -> Any:
        """The type of its numbers."""


if TYPE_CHECKING:
    from typing_extensions import TypeVar  # which type checkers bring along

    A = TypeVar("A", bound=Array, default=np.ndarray)  # what comes in comes out
else:
    from typing import TypeVar

    A = TypeVar("A")

Given: TypeAlias = A | Sequence[Any] | float  # of the latter alone NumPy's arrays come
Axes = Literal["base", "frame"]
Out = Array | None
Outs = tuple[Array, ...] | None  # for several results
F = TypeVar("F", bound=Callable[..., Any])


def elsewhere(path: calls.CarefulPath, values: Sequence[Any], out: Any, threads: Any) -> Any:
    """Answers calls on other libraries' arrays; the room is imported when the first one comes."""
    with importing:
        from armdyn import arrays

    calls.elsewhere = arrays.answer  # from now on
    return arrays.answer(path, values, out, threads)


calls.elsewhere = elsewhere


def numbers(value: Any) -> Any:
    """An argument as NumPy reads it, whosever array it is; None where its numbers are not known."""
    if type(value) in calls.OURS:
        return value
    with importing:
        from armdyn import arrays

    return arrays.on_host(value)


def check_finite(what: str, given: Sequence[Any], results: Any, check: Check) -> None:
    """Refuse results that are not finite where all that was given is; with "warn" log the first.

    Parameters given at a call may be any numbers, and those of no body may leave the mass matrix
    without an inverse. None looks at nothing. Numbers that are not known pass.

    Raises:
        ModelError: it names the first such state of a batch.
    """
    if check is None:
        return
    choice("check", check, ("error", "warn"))
    found = map(numbers, results if isinstance(results, tuple) else (results,))
    lost = [x for x in found if x is not None and not np.isfinite(x).all()]
    if not lost:
        return
    finite = np.array(True)
    for value in filter(lambda value: value is not None, map(numbers, given)):
        finite = finite & np.isfinite(value).all(axis=-1)
    states = np.isfinite(lost[0]).reshape(*finite.shape, -1).all(axis=-1)
    for where in np.argwhere(finite & ~states).tolist()[:1]:
        place = f"[{', '.join(map(str, where))}]" if where else ""
        problem = (
            f"{what}{place} is {shorten(lost[0][tuple(where)].tolist())}, though what was given is "
            "finite: with these parameters= the mass matrix has no inverse, or a number overflows"
        )
        if check == "error":
            raise ModelError(problem)
        warn("%s", problem)


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
        return getattr(robot, self.place(id(robot)))

    @traced.done_while_tracing
    def place(self, number: int) -> str:
        """Where the robot with that id has the function; made if it is not there yet."""
        robot: Robot = traced.living(number)
        place = self.name  # where Python finds the function next time, before this descriptor
        if getattr_static(type(robot), self.name) is not self or traced.is_tracing():
            # A subclass has its own, which calls this by super(). And torch, which has seen that
            # the robot does not have it, insists on that.
            place = f"_{self.name}_of_Robot"
        if place not in robot.__dict__:
            robot.__dict__.setdefault(place, self.function(robot))
        return place

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
