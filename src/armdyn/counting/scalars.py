"""Counting scalars: numbers without a value that tally what is done to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from armdyn.program.tape import Valueless
from armdyn.spatial import select_lt, sincos


class Tally:
    """How often each operation was executed.

    Attributes:
        counters: by the stage in which it was executed; "" is all of it.
    """

    def __init__(self) -> None:
        self.counters: dict[str, Counter[str]] = {"": Counter()}
        self._open = [""]

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """While it lasts, operations count for the stage ``name`` too."""
        self.counters.setdefault(name, Counter())
        self._open.append(name)
        try:
            yield
        finally:
            self._open.pop()

    def note(self, operation: str) -> None:
        """One more of it, in every stage that is open."""
        for name in set(self._open):  # a stage that calls itself counts once
            self.counters[name][operation] += 1


class Counted(Valueless):
    """A run-time number. Constants are Python's own ints and floats, and fold by themselves.

    Free are: what is done with 0, 1 and -1, and negation. Doubling is an operation of its own,
    and dividing by a constant is multiplying by another.
    """

    __slots__ = ("tally",)

    def __init__(self, tally: Tally) -> None:
        self.tally = tally

    def __repr__(self) -> str:
        return type(self).__name__

    def _after(self, operation: str) -> Counted:
        self.tally.note(operation)
        return Counted(self.tally)

    def __neg__(self) -> Counted:
        return self

    def __add__(self, other: Any) -> Any:
        if isinstance(other, (Counted, int, float)):
            return self if is_constant(other, 0) else self._after("add")
        return NotImplemented

    __radd__ = __sub__ = __rsub__ = __add__

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Counted):
            return self._after("mul")
        if isinstance(other, (int, float)):
            if other == 0:
                return 0
            if abs(other) == 1:
                return self
            return self._after("double" if abs(other) == 2 else "mul")
        return NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Counted):
            return self._after("div")
        if isinstance(other, (int, float)):
            return self * (1 / other)
        return NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        if isinstance(other, (int, float)):
            return 0 if other == 0 else self._after("div")
        return NotImplemented


def is_constant(x: Any, value: int) -> bool:
    """Whether x is a constant, and that one."""
    return not isinstance(x, Counted) and bool(x == value)


class Position(Counted):
    """A joint's q_i. theta_i = theta_i' + q_i and d_i = d_i' + q_i are on hand: free.

    ``twist`` is (cos, sin) of the joint's beta.
    """

    __slots__ = ("twist",)

    def __init__(self, tally: Tally, twist: tuple[Any, Any]) -> None:
        super().__init__(tally)
        self.twist = twist

    def __add__(self, other: Any) -> Any:
        return self if isinstance(other, (int, float)) else super().__add__(other)

    __radd__ = __add__


class Turn(Counted):
    """cos or sin of theta_i or beta_i; times one of the other pair it is an entry of R_i: free."""

    __slots__ = ("others",)

    def __init__(self, tally: Tally, others: tuple[Any, Any]) -> None:
        super().__init__(tally)
        self.others = others

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Counted):
            free = any(other is entry for entry in self.others)
        else:  # by value, up to the sign: 1 * Sb is Sb
            free = isinstance(other, float) and abs(other) in self._constants()
        return Counted(self.tally) if free else super().__mul__(other)

    def _constants(self) -> list[float]:
        return [abs(entry) for entry in self.others if isinstance(entry, float)]

    __rmul__ = __mul__


@sincos.register
def _(angle: Position) -> tuple[Turn, Turn]:
    return Turn(angle.tally, angle.twist), Turn(angle.tally, angle.twist)


@select_lt.register
def _(a: Counted, b: Any, x: Any, y: Any) -> Counted:
    """A choice between numbers is no operation."""
    return Counted(a.tally)
