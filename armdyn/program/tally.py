"""Counting scalars: numbers without a value that tally what is done to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from armdyn.program.guard import Unbranchable
from armdyn.spatial import sincos


class Tally:
    """How often each operation was executed, in all and within each stage."""

    def __init__(self) -> None:
        self.total: Counter[str] = Counter()
        self.stages: dict[str, Counter[str]] = {}
        self._open = {"": self.total}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """While it lasts, operations count for the stage ``name`` too."""
        if name in self._open:  # a stage that calls itself counts once
            yield
            return
        self._open[name] = self.stages.setdefault(name, Counter())
        try:
            yield
        finally:
            del self._open[name]

    def note(self, operation: str) -> None:
        """One more of it, in every stage that is open."""
        for counter in self._open.values():
            counter[operation] += 1


class Counted(Unbranchable):
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
    """cos or sin of theta_i. With cos or sin of beta_i it makes an entry of R_i: free."""

    __slots__ = ("twist",)

    def __init__(self, tally: Tally, twist: tuple[Any, Any]) -> None:
        super().__init__(tally)
        self.twist = twist

    def __mul__(self, other: Any) -> Any:
        free = not isinstance(other, int) and any(other is entry for entry in self.twist)
        return Counted(self.tally) if free else super().__mul__(other)

    __rmul__ = __mul__


@sincos.register
def _(angle: Position) -> tuple[Turn, Turn]:
    return Turn(angle.tally, angle.twist), Turn(angle.tally, angle.twist)
