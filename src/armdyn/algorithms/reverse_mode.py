"""Derivatives from the results back to the arguments: algorithms on numbers that remember.

Reverse mode ([linnainmaa1976]). A number remembers which numbers it was made of, and its slope by
each. From a result back, in reverse order, each number hands its own derivative on to those it was
made of. What one result takes is about what its computation took, however many arguments there
are; a matrix of derivatives takes that once a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from armdyn.algorithms import newton_euler
from armdyn.chain.arm import Arm
from armdyn.spatial import Row, Scalar, Symmetric, Vector, sincos

Memory = list["Node"]  # numbers in the order in which they were made


class Node:
    """A value, and the numbers that it was made of with its slope by each."""

    __slots__ = ("value", "slopes", "memory", "place")
    __array_ufunc__ = None

    def __init__(
        self, value: Scalar, memory: Memory, slopes: Sequence[tuple[Node, Scalar]] = ()
    ) -> None:
        self.value, self.slopes, self.memory, self.place = value, slopes, memory, len(memory)
        memory.append(self)

    def __repr__(self) -> str:
        return f"Node({self.value})"

    def __add__(self, other: Scalar) -> Scalar:
        return self._made(other, lambda a, b: a + b, lambda a, b: (1, 1))

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Scalar:
        return self._made(other, lambda a, b: a - b, lambda a, b: (1, -1))

    def __rsub__(self, other: Scalar) -> Scalar:
        return self._made(other, lambda a, b: b - a, lambda a, b: (-1, 1))

    def __mul__(self, other: Scalar) -> Scalar:
        return self._made(other, lambda a, b: a * b, lambda a, b: (b, a))

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Scalar:
        return self._made(other, lambda a, b: a / b, lambda a, b: (1 / b, -a / (b * b)))

    def __rtruediv__(self, other: Scalar) -> Scalar:
        return self._made(other, lambda a, b: b / a, lambda a, b: (-b / (a * a), 1 / a))

    def __neg__(self) -> Node:
        return Node(-self.value, self.memory, [(self, -1)])

    def _made(
        self,
        other: Scalar,
        value: Callable[[Scalar, Scalar], Scalar],
        slopes: Callable[[Scalar, Scalar], tuple[Scalar, Scalar]],
    ) -> Scalar:
        """A number made of this one and another, which need not be one that remembers."""
        if isinstance(other, Vector | Symmetric):  # they know how to be scaled
            return NotImplemented
        b = other.value if isinstance(other, Node) else other
        own, others = slopes(self.value, b)
        found = [(self, own)] + ([(other, others)] if isinstance(other, Node) else [])
        return Node(value(self.value, b), self.memory, found)


@sincos.register
def _(angle: Node) -> tuple[Scalar, Scalar]:
    S, C = sincos(angle.value)
    return Node(S, angle.memory, [(angle, C)]), Node(C, angle.memory, [(angle, -S)])


def gradient(result: Scalar, variables: Sequence[Node]) -> Row:
    """The derivatives of a result by variables."""
    if not isinstance(result, Node):
        return [0] * len(variables)
    own: dict[int, Scalar] = {result.place: 1}
    for node in reversed(result.memory[: result.place + 1]):
        if node.slopes and node.place in own:
            by_node = own.pop(node.place)
            for other, slope in node.slopes:
                term = by_node * slope
                own[other.place] = own[other.place] + term if other.place in own else term
    return [own.get(node.place, 0) for node in variables]


def by_arguments(function: Callable[..., Row]) -> Callable[..., tuple[list[Row], ...]]:
    """Of a function (arm, x, y, ...) -> n numbers, its derivatives by x, by y, ..., (n, n) each."""

    def derivatives(arm: Arm, *state: Sequence[Scalar]) -> tuple[list[Row], ...]:
        """A row a result, a column a joint."""
        memory: Memory = []
        given = [[Node(x, memory) for x in row] for row in state]
        gradients = map(partial(gradient, variables=sum(given, [])), function(arm, *given))
        split = [[row[k : k + arm.n] for k in range(0, len(row), arm.n)] for row in gradients]
        return tuple(list(block) for block in zip(*split, strict=True))

    return derivatives


inverse_dynamics_derivatives = by_arguments(newton_euler.inverse_dynamics)
