"""Dual numbers: scalars with their derivatives, so that an algorithm gives those of its result.

Forward mode ([wengert1964]). A dual number has a value and its slopes, the partial derivatives that
are not zero by structure. Traced, what is zero vanishes and what is equal is shared, so that the
sparsity of a derivative is found by itself. Dual numbers of dual numbers give second derivatives:
``level`` tells which derivative a slope belongs to.
"""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.spatial import Row, Scalar, Symmetric, Vector, is_structural_zero, sincos

Slopes = dict[int, Scalar]  # by the variable


class Dual:
    """A value and its slopes."""

    __slots__ = ("value", "slopes", "level")
    __array_ufunc__ = None

    def __init__(self, value: Scalar, slopes: Slopes, level: int) -> None:
        self.value, self.slopes, self.level = value, slopes, level

    def __repr__(self) -> str:
        return f"Dual({self.value}, {self.slopes})"

    def __add__(self, other: Scalar) -> Scalar:
        value = self._constant(other)
        if value is NotImplemented:
            return value
        if value is not None:
            return self._made(self.value + value, self.slopes)
        return self._made(self.value + other.value, _added(self.slopes, other.slopes))

    __radd__ = __add__

    def __neg__(self) -> Dual:
        return Dual(-self.value, _scaled(-1, self.slopes), self.level)

    def __sub__(self, other: Scalar) -> Scalar:
        return self + (-other)

    def __rsub__(self, other: Scalar) -> Scalar:
        return -self + other

    def __mul__(self, other: Scalar) -> Scalar:
        value = self._constant(other)
        if value is NotImplemented:
            return value
        if value is not None:
            return self._made(self.value * value, _scaled(value, self.slopes))
        slopes = _added(_scaled(other.value, self.slopes), _scaled(self.value, other.slopes))
        return self._made(self.value * other.value, slopes)

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Scalar:
        value = self._constant(other)
        if value is NotImplemented:
            return value
        if value is not None:
            return self._made(self.value / value, {k: s / value for k, s in self.slopes.items()})
        return other._under(self.value, self.slopes)

    def __rtruediv__(self, other: Scalar) -> Scalar:
        return self._under(other, {})

    def _under(self, above: Scalar, slopes: Slopes) -> Scalar:
        """A value with its slopes over this number: (a/b)' = (a' - (a/b) b') / b."""
        inverse, ratio = 1 / self.value, above / self.value
        slopes = _added(slopes, _scaled(-ratio, self.slopes))
        return self._made(ratio, _scaled(inverse, slopes))

    def _constant(self, other: Scalar) -> Scalar:
        """The other operand if this derivative does not know it; None for one of the same level."""
        if isinstance(other, Vector | Symmetric):  # they know how to be scaled
            return NotImplemented
        if not isinstance(other, Dual) or other.level < self.level:
            return other
        return None if other.level == self.level else NotImplemented

    def _made(self, value: Scalar, slopes: Slopes) -> Scalar:
        return Dual(value, slopes, self.level) if slopes else value


def _added(a: Slopes, b: Slopes) -> Slopes:
    total = dict(a)
    for k, slope in b.items():
        total[k] = total[k] + slope if k in total else slope
    return {k: slope for k, slope in total.items() if not is_structural_zero(slope)}


def _scaled(factor: Scalar, slopes: Slopes) -> Slopes:
    if is_structural_zero(factor):
        return {}
    return {k: factor * slope for k, slope in slopes.items()}


@sincos.register
def _(angle: Dual) -> tuple[Scalar, Scalar]:
    S, C = sincos(angle.value)
    slopes = angle.slopes
    return (
        Dual(S, _scaled(C, slopes), angle.level),
        Dual(C, _scaled(-S, slopes), angle.level),
    )


# Into dual numbers and out of them ---------------------------------------------------------------


def variables(*arguments: Sequence[Scalar]) -> list[list[Dual]]:
    """Arguments as dual numbers: the k-th number of all has the slope 1 by variable k."""
    level = 1 + max((x.level for row in arguments for x in row if isinstance(x, Dual)), default=0)
    found, k = [], 0
    for row in arguments:
        found.append([Dual(x, {k + i: 1}, level) for i, x in enumerate(row)])
        k += len(row)
    return found


def slopes(x: Scalar, given: Sequence[Sequence[Dual]], first: int, count: int) -> Row:
    """The derivatives of a result by so many of the given variables, from ``first`` on."""
    level = given[0][0].level
    known = x.slopes if isinstance(x, Dual) and x.level == level else {}
    return [known.get(k, 0) for k in range(first, first + count)]
