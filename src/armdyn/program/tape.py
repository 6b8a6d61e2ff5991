"""Traced scalars: an algorithm that runs on them leaves a program on their tape."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from armdyn.errors import TraceError
from armdyn.forks import importing
from armdyn.program.program import Instruction, Op, Program, input_names, packed
from armdyn.program.tables import Loop, Products, Solution
from armdyn.spatial import Row, Scalar, select_lt, sincos
from armdyn.spatial.each import Function, Item, repeated
from armdyn.spatial.matrices import Vectors, solution, table_of_products

LOOPED = 8  # items, or rows that loops made, from which on one instruction does all of them;
SCATTERED = 2  # times LOOPED are the rows of numbers made one by one from which on it does
LARGE = 2.0**100  # a factor that stays below it, and above 1 / LARGE, is one in either type
POWERS = {2.0**k for k in range(-10, 11)}  # of two, near enough for sums exact in either type

CONSTANT, ADD, SUB, MUL, DIV, NEG = Op.CONSTANT, Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.NEG
SIN, COS, SQRT, SELECT_LT, PART = Op.SIN, Op.COS, Op.SQRT, Op.SELECT_LT, Op.PART


class Valueless:
    """A scalar that has no value yet, so that no algorithm can branch on it."""

    __slots__ = ()
    __array_ufunc__ = None  # numpy numbers leave the arithmetic to us
    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise TraceError(
            "an algorithm branched on a traced number. It is recorded once and replayed for every "
            "q, so branch on the arm's structure instead, or use select_lt(a, b, x, y)"
        )

    def _compare(self, other: object) -> bool:
        return bool(self)

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compare

    def _convert(self) -> NoReturn:
        raise TraceError(
            "an algorithm asked a traced number for its value, as float(x) and math.sin(x) do. It "
            "has none until the program runs: use plain arithmetic and armdyn.spatial.sincos"
        )

    __float__ = __int__ = __complex__ = __index__ = _convert


class Traced(Valueless):
    """A number on a tape: what is done to it is recorded there.

    Constants are Python's own ints and floats. They fold by themselves, and what meets 0, 1 or -1
    folds here.
    """

    __slots__ = ("ref", "tape")

    def __init__(self, tape: Tape, ref: int) -> None:
        self.tape, self.ref = tape, ref

    def __repr__(self) -> str:
        return f"%{self.ref}" if self.ref >= 0 else f"-%{~self.ref}"

    def on(self, tape: Tape) -> int:
        """The reference on its tape, which has to be this one."""
        if tape is self.tape:
            return self.ref
        raise TraceError(
            "a number of one recording met one of another: what a recorded function uses are its "
            "arguments, and constants"
        )

    def __neg__(self) -> Traced:
        return Traced(self.tape, ~self.ref)

    def __pos__(self) -> Traced:
        return self

    def __add__(self, other: Scalar) -> Scalar:
        if isinstance(other, Traced):
            return self.tape.add(self.ref, other.on(self.tape))
        if not isinstance(other, (int, float)):
            return NotImplemented
        return self.tape.add(self.ref, self.tape.constant(other)) if other else self

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Scalar:
        if isinstance(other, Traced):
            return self.tape.add(self.ref, ~other.on(self.tape))
        if not isinstance(other, (int, float)):
            return NotImplemented
        return self.tape.add(self.ref, ~self.tape.constant(other)) if other else self

    def __rsub__(self, other: Scalar) -> Scalar:
        return (-self).__add__(other)

    def __mul__(self, other: Scalar) -> Scalar:
        if isinstance(other, Traced):
            return self.tape.mul(self.ref, other.on(self.tape))
        if not isinstance(other, (int, float)):
            return NotImplemented
        if other == 0:
            return 0
        if other == 1:
            return self
        return -self if other == -1 else self.tape.scaled(self.ref, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Scalar:
        if isinstance(other, Traced):
            return self.tape.div(self.ref, other.on(self.tape))
        if not isinstance(other, (int, float)):
            return NotImplemented
        if abs(math.frexp(other)[0]) == 0.5:  # a power of two: multiplying is as exact
            return self * (1 / other)
        return self.tape.div(self.ref, self.tape.constant(other))

    def __rtruediv__(self, other: Scalar) -> Scalar:
        if not isinstance(other, (int, float)):
            return NotImplemented
        return self.tape.div(self.tape.constant(other), self.ref) if other else 0


@sincos.register
def _(angle: Traced) -> tuple[Scalar, Scalar]:
    tape, ref = angle.tape, angle.ref
    if ref < 0:
        return Traced(tape, ~tape.place(SIN, ~ref)), Traced(tape, tape.place(COS, ~ref))
    return Traced(tape, tape.place(SIN, ref)), Traced(tape, tape.place(COS, ref))


def sqrt(x: Scalar) -> Scalar:
    """The square root, of a number on a tape or any other."""
    if isinstance(x, Traced):
        return Traced(x.tape, x.tape.place(SQRT, x.tape.plain(x)))
    with importing:
        from armdyn.program.interpreter import sqrt as root  # which a tape alone does not need

    return root(x)


@select_lt.register
def _(a: Traced, b: Scalar, x: Scalar, y: Scalar) -> Scalar:
    return a.tape.select(a, b, x, y)


@table_of_products.register
def _(kind: Traced, a: Sequence[Vectors], b: Sequence[Vectors]) -> list[Row]:
    n = len(a)
    if not _pays(kind.tape, n, (x for row in (*a, *b) for v in row for x in v)):
        return table_of_products.dispatch(object)(kind, a, b)
    groups, columns_a, columns_b = [], [], []
    for vectors in zip(zip(*a, strict=True), zip(*b, strict=True), strict=True):
        # The numbers x, y, z of one vector of all rows; a number that is always 0 is left out.
        left, right = (zip(*rows, strict=True) for rows in vectors)
        kept = [pair for pair in zip(left, right, strict=True) if not any(map(_is_zero, pair))]
        columns_a += [column for column, _ in kept]
        columns_b += [column for _, column in kept]
        groups += [len(kept)] if kept else []
    if not groups:
        return [[0] * n for _ in a]
    table = Products(n, groups=tuple(groups))
    place = kind.tape.table(table, [x for column in columns_a + columns_b for x in column])
    T: list[Row] = [[0] * n for _ in a]
    for i in range(n):
        for j in range(i + 1):
            T[i][j] = T[j][i] = kind.tape.part(place, i * n + j)
    return T


def _pays(tape: Tape, rows: int, numbers: Iterable[Scalar]) -> bool:
    """Whether a loop over so many rows, which consist of these numbers, is faster than none."""
    if not LOOPED <= rows < SCATTERED * LOOPED:
        return rows >= LOOPED
    return any(isinstance(x, Traced) and tape.is_part(x) for x in numbers)


def _is_zero(column: Sequence[Scalar]) -> bool:
    return all(not isinstance(x, Traced) and x == 0 for x in column)


@solution.register
def _(kind: Traced, M: Sequence[Sequence[Scalar]], y: Sequence[Scalar]) -> Row:
    if len(M) < SCATTERED * LOOPED:
        return solution.dispatch(object)(kind, M, y)
    triangle = [x for i, row in enumerate(M) for x in row[: i + 1]]
    place = kind.tape.table(Solution(len(M)), [*triangle, *y, 1])
    return [kind.tape.part(place, i) for i in range(len(M))]


@repeated.register
def _(kind: Traced, function: Function, items: Sequence[Item]) -> list[Any]:
    if len(items) < LOOPED:
        return repeated.dispatch(object)(kind, function, items)
    with importing:
        from armdyn.program.items import recorded  # here, for it imports this module

    return recorded(kind.tape, function, items)


class Tape:
    """Instructions as they are recorded, each only once.

    A number on the tape is a signed reference: k for %k and ~k for its negative. So negation
    records nothing, a - b and b - a are one instruction, and so are a b and (-a) b; operands that
    commute are ordered. Rounding is symmetric: none of this changes a value.

    Attributes:
        inputs: how many numbers each argument has.
        instructions: what is recorded so far.
        marks: for each instruction the marks that were set when it was first recorded.
        names: all marks that were ever set.
    """

    def __init__(self, inputs: Mapping[str, int]) -> None:
        self.inputs = dict(inputs)
        self.instructions = [Instruction(Op.INPUT, (), name) for name in input_names(inputs)]
        self.marks: list[tuple[str, ...]] = [()] * len(self.instructions)
        self.names: set[str] = set()
        self._set: tuple[str, ...] = ()
        self._places: dict[tuple[object, ...], int] = {}
        self._powers: dict[int, float] = {}  # of two, by the places of these constants

    def arguments(self) -> list[list[Traced]]:
        """The inputs as traced numbers, a list an argument."""
        numbers = (Traced(self, k) for k in range(len(self.instructions)))
        return [[next(numbers) for _ in range(length)] for length in self.inputs.values()]

    @contextmanager
    def mark(self, name: str) -> Iterator[None]:
        """While it lasts, whatever is new on the tape is marked ``name``."""
        before = self._set
        self._set = (*before, name)
        self.names.add(name)
        try:
            yield
        finally:
            self._set = before

    def place(self, op: Op, *args: int) -> int:
        """Where the instruction stands, recorded now if it is new."""
        key = (op, *args)
        k = self._places.get(key)
        if k is None:
            k = self._places[key] = self._append(packed((op, args, None)))
        return k

    def constant(self, value: float) -> int:
        """The signed reference of a constant; c and -c are one instruction."""
        if value < 0:
            return ~self._constant(-float(value))
        return self._constant(float(value))

    def _constant(self, value: float) -> int:
        k = self._places.get((CONSTANT, value))
        if k is None:
            k = self._append(Instruction(CONSTANT, (), value + 0.0))  # -0 is recorded as 0
            self._places[CONSTANT, value] = k
            if value in POWERS:
                self._powers[k] = value
        return k

    def _append(self, instruction: Instruction) -> int:
        self.instructions.append(instruction)
        self.marks.append(self._set)
        return len(self.instructions) - 1

    def add(self, a: int, b: int) -> Scalar:
        """A + b of signed references; 0 where they cancel."""
        if a < 0 and b < 0:
            return -self.add(~a, ~b)
        if a < 0:
            a, b = b, a
        together = self._together(a, b)
        if together is not None:
            return together
        if b >= 0:
            return Traced(self, self.place(ADD, a, b) if a <= b else self.place(ADD, b, a))
        b = ~b
        if a == b:
            return 0
        return Traced(self, self.place(SUB, a, b) if a < b else ~self.place(SUB, b, a))

    def scaled(self, a: int, factor: float) -> Traced:
        """A signed reference times a number, taken together with a power of two that is in it."""
        k, power = self._multiple(~a if a < 0 else a)
        if not 1 / LARGE < abs(factor * power) < LARGE:
            return self.mul(a, self.constant(factor))
        factor *= power
        if abs(factor) == 1:
            return Traced(self, ~k if (a < 0) != (factor < 0) else k)
        return self.mul(~k if a < 0 else k, self.constant(factor))

    def _together(self, a: int, b: int) -> Scalar | None:
        """A + b if they are different multiples of one value, as 2 x and -x are; or None."""
        (x, p), (y, r) = self._multiple(a), self._multiple(~b if b < 0 else b)
        if x != y or p == r:
            return None
        return (p - r if b < 0 else p + r) * Traced(self, x)

    def _multiple(self, k: int) -> tuple[int, float]:
        """Where x stands, and a power of two, if the value k is their product; else k and 1.

        Such a product is exact, and so is the sum of two such powers: no rounding is left out.
        """
        op, args, _ = self.instructions[k]
        if op is MUL:
            x, y = args
            if y in self._powers:
                return x, self._powers[y]
            if x in self._powers:
                return y, self._powers[x]
        elif op is ADD and args[0] == args[1]:
            return args[0], 2.0
        return k, 1.0

    def mul(self, a: int, b: int) -> Traced:
        """A b of signed references."""
        negative = (a < 0) != (b < 0)
        a, b = (~a if a < 0 else a), (~b if b < 0 else b)
        k = self.place(MUL, a, b) if a <= b else self.place(MUL, b, a)
        return Traced(self, ~k if negative else k)

    def product(self, x: Scalar, y: Scalar) -> Traced | None:
        """The product of two numbers if it is on the tape already."""
        if not (isinstance(x, Traced) and isinstance(y, Traced)):
            return None
        a, b = sorted(ref if ref >= 0 else ~ref for ref in (x.ref, y.ref))
        return self.mul(x.ref, y.ref) if (MUL, a, b) in self._places else None

    def div(self, a: int, b: int) -> Traced:
        """A / b of signed references."""
        k = self.place(DIV, ~a if a < 0 else a, ~b if b < 0 else b)
        return Traced(self, ~k if (a < 0) != (b < 0) else k)

    def select(self, a: Scalar, b: Scalar, x: Scalar, y: Scalar) -> Scalar:
        """What ``select_lt`` selects; x itself where y is the same."""
        both = self.plain(x), self.plain(y)
        if both[0] == both[1]:
            return x
        return Traced(self, self.place(SELECT_LT, self.plain(a), self.plain(b), *both))

    def plain(self, x: Scalar) -> int:
        """The place that holds x itself, sign and all."""
        if not isinstance(x, Traced):
            return self._constant(float(x))
        return x.ref if x.ref >= 0 else self.place(NEG, ~x.ref)

    def table(self, table: Loop, operands: Sequence[Scalar]) -> int:
        """Where an instruction with many results stands."""
        args = tuple(map(self.plain, operands))
        k = self._places.get((table, args))
        if k is None:
            k = self._places[table, args] = self._append(Instruction(table.op, args, table))
        return k

    def part(self, table: int, index: int) -> Traced:
        """One of the results of an instruction with many."""
        k = self._places.get((PART, table, index))
        if k is None:
            k = self._append(Instruction(PART, (table,), index))
            self._places[PART, table, index] = k
        return Traced(self, k)

    def is_part(self, x: Traced) -> bool:
        """Whether a number is a result of an instruction with many, or the negative of one."""
        return self.instructions[x.ref if x.ref >= 0 else ~x.ref].op is PART

    def finish(self, name: str, results: Any) -> Program:
        """The program whose results are these: nested lists, or a tuple of them for several."""
        flat: list[Scalar] = []
        several = results if isinstance(results, tuple) else (results,)
        shapes = tuple(_flatten(result, flat) for result in several)
        outputs = tuple(map(self.plain, flat))
        return Program(name, self.inputs, tuple(self.instructions), outputs, shapes)


def record(function: Callable[..., Any], inputs: Mapping[str, int], name: str = "f") -> Program:
    """The program that a function leaves when it is called with traced arguments.

    Args:
        function: takes a list of scalars an argument; returns nested lists, or a tuple of them.
        inputs: the arguments in order, by name, and the length of each.
        name: of the program.
    """
    tape = Tape(inputs)
    try:
        return tape.finish(name, function(*tape.arguments()))
    except ZeroDivisionError:
        raise TraceError(f"{name} divides by zero, whatever its arguments are") from None


def _flatten(result: Any, into: list[Scalar]) -> tuple[int, ...]:
    """Append the numbers of nested lists; return their shape."""
    if not isinstance(result, Sequence):
        into.append(result)
        return ()
    shapes = {_flatten(row, into) for row in result}
    if len(shapes) > 1:
        raise TraceError(f"a result is ragged: it has rows of the shapes {sorted(shapes)}")
    return (len(result), *(shapes.pop() if shapes else ()))
