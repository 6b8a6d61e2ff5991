"""Tables of products and triangular solutions as loops, in LLVM's language.

In the kernel for one state the columns of a table fill the lanes of a vector; in the kernel for
many each lane is a state, and a step of a loop is one number. The operations and their rounding are
those of ``tables``; loops only choose which numbers come first.

All operands and results of a table lie in an area of the scratch array: a ``Layout`` says where.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from armdyn.program.program import Op
from armdyn.program.sincos import Format, literal
from armdyn.program.tables import Products, Solution
from armdyn.program.text import OPS, Text

BLOCK = 4  # vectors of a row that are eliminated together


@dataclass(frozen=True)
class Layout:
    """Where in its area a table keeps each operand (-1: nowhere) and its results; its size."""

    operands: Sequence[int]
    results: int
    size: int


def layout(table: Products | Solution, step: int) -> Layout:
    """The area of a table whose loops go by so many numbers."""
    n = table.n
    if isinstance(table, Products):
        return Layout(range(table.operands), table.operands, table.operands + n * n)
    stride = n + step  # vectors reach beyond the end of a row
    triangle = [i * stride + j for i in range(n) for j in range(i + 1)]
    _, y, x = _rows(n, step)
    rest = [y * stride + i for i in range(n)]
    return Layout([*triangle, *rest, -1], x * stride, (x + 1) * stride)


def _rows(n: int, step: int) -> tuple[int, int, int]:
    """In which rows L^T, y and x begin, after those of M; vectors reach below L^T."""
    return n, 2 * n + step, 2 * n + step + 1


@dataclass
class Cycle:
    """A loop while its body is written: the index, what it carries, and what that is next."""

    index: str
    values: list[str]
    next: list[str] = field(default_factory=list)


@contextmanager
def loop(
    text: Text, start: str, end: str, step: int = 1, carried: Sequence[tuple[str, str]] = ()
) -> Iterator[Cycle]:
    """Repeat what is written in it for indices from ``start`` on, below ``end`` (above, if step<0).

    ``carried`` are the types and first values of what one round hands to the next; afterwards the
    values are those after the last round.
    """
    before = text.label
    text.do(f"br label %b{len(text.lines) + 1}")
    head = text.block()
    first = len(text.lines)
    index = text.emit("")
    values = [text.emit("") for _ in carried]
    more = text.emit(f"icmp {'slt' if step > 0 else 'sgt'} i64 {index}, {end}")
    fork = len(text.lines)
    text.do("")
    body = text.block()
    cycle = Cycle(index, values)
    yield cycle
    following = text.emit(f"add i64 {index}, {step}")
    last = text.label
    text.do(f"br label %{head}")
    after = text.block()
    text.lines[fork] = f"  br i1 {more}, label %{body}, label %{after}"
    phis = [(index, "i64", start, following)]
    phis += [(v, t, x, y) for v, (t, x), y in zip(values, carried, cycle.next, strict=True)]
    for i, (name, kind, begin, then) in enumerate(phis):
        text.lines[first + i] = f"  {name} = phi {kind} [ {begin}, %{before} ], [ {then}, %{last} ]"


class Loops:
    """Writes the loops of a table on an area that begins at the pointer ``area``.

    ``lanes`` is the number of states, ``width`` of the lanes of the machine's vectors.
    """

    def __init__(self, text: Text, form: Format, lanes: int, width: int, area: str) -> None:
        self.text, self.area, self.form, self.lanes = text, area, form, lanes
        self.step = width if lanes == 1 else 1
        self.vector = f"<{width} x {form.scalar}>"  # what an operation works on
        self.number = form.scalar if lanes == 1 else self.vector  # what the area consists of
        self.suffix = f"v{width}f{form.bits}"
        self.width = width

    def do(self, op: Op, *operands: str) -> str:
        """One operation on vectors."""
        return self.text.emit(OPS[op].format(*operands, t=self.vector, s=self.suffix))

    def at(self, *terms: str | int, base: str | None = None) -> str:
        """The address of the area's number at the sum of these terms."""
        place = base or self.area
        for term in terms:
            if term != 0:
                place = self.text.emit(f"getelementptr {self.number}, ptr {place}, i64 {term}")
        return place

    def times(self, index: str, factor: int) -> str:
        """An index times a constant."""
        return self.text.emit(f"mul i64 {index}, {factor}")

    def load(self, place: str) -> str:
        """The vector that begins at a place."""
        return self.text.emit(f"load {self.vector}, ptr {place}, align {self.align}")

    def store(self, value: str, place: str) -> None:
        """Store a vector from a place on."""
        self.text.do(f"store {self.vector} {value}, ptr {place}, align {self.align}")

    @property
    def align(self) -> int:
        """Of vectors: numbers lie anywhere, those of many states side by side."""
        return self.form.bits // 8 * self.lanes

    def spread(self, place: str) -> str:
        """The number at a place, for all of a vector."""
        value = self.text.emit(f"load {self.number}, ptr {place}")
        if self.lanes > 1:
            return value
        one = self.text.emit(f"insertelement {self.vector} poison, {self.number} {value}, i32 0")
        mask = f"<{self.width} x i32> zeroinitializer"
        return self.text.emit(f"shufflevector {self.vector} {one}, {self.vector} poison, {mask}")

    def products(self, table: Products, results: str) -> None:
        """T_rc = a_c . b_r for c <= r, a_r . b_c beyond; a row of T after the other."""
        n, length = table.n, table.length
        a = [self.at(i * n) for i in range(length)]
        b = [self.at((length + i) * n) for i in range(length)]
        with loop(self.text, "0", str(n)) as joints:
            r = joints.index
            T_r = self.at(self.times(r, n), base=results)
            b_r = [self.spread(self.at(r, base=column)) for column in b]
            if self.lanes > 1:  # what is beyond the diagonal is a copy
                with loop(self.text, "0", self.text.emit(f"add i64 {r}, 1")) as columns:
                    c = columns.index
                    value = table.element(self.do, self.column(a, c), b_r)
                    self.store(value, self.at(c, base=T_r))
                    self.store(value, self.at(self.times(c, n), r, base=results))
            else:  # there it is computed again, as a row is stored at once
                a_r = [self.spread(self.at(r, base=column)) for column in a]
                self._beyond(table, a_r, b, r, T_r)
                self._before(table, a, b_r, r, T_r)

    def column(self, rows: Sequence[str], c: str) -> list[str]:
        """The numbers of column c, and in a vector those that follow."""
        return [self.load(self.at(c, base=row)) for row in rows]

    def _beyond(
        self, table: Products, a_r: Sequence[str], b: Sequence[str], r: str, T_r: str
    ) -> None:
        """T_rc for the columns c from r on; some before it are overwritten."""
        end = str(table.n - self.step)  # where the last vector begins

        def store(c: str) -> None:
            self.store(table.element(self.do, a_r, self.column(b, c)), self.at(c, base=T_r))

        with loop(self.text, r, end, self.step) as columns:
            store(columns.index)
        store(end)

    def _before(
        self, table: Products, a: Sequence[str], b_r: Sequence[str], r: str, T_r: str
    ) -> None:
        """T_rc for the columns c before r, and no others."""
        emit, end = self.text.emit, table.n - self.step
        with loop(self.text, "0", emit(f"sub i64 {r}, {self.step - 1}"), self.step) as columns:
            c = columns.index
            value = table.element(self.do, self.column(a, c), b_r)
            self.store(value, self.at(c, base=T_r))
        inside = emit(f"icmp slt i64 {columns.index}, {end}")
        c = emit(f"select i1 {inside}, i64 {columns.index}, i64 {end}")
        place = self.at(c, base=T_r)
        new, old = table.element(self.do, self.column(a, c), b_r), self.load(place)
        mask = self._first_lanes(emit(f"sub i64 {r}, {c}"))
        both = f"select <{self.width} x i1> {mask}, {self.vector} {new}, {self.vector} {old}"
        self.store(emit(both), place)

    def _first_lanes(self, count: str) -> str:
        """Which lanes are the first so many."""
        emit, kind = self.text.emit, f"<{self.width} x i64>"
        counts = emit(f"insertelement {kind} poison, i64 {count}, i32 0")
        zeros = f"<{self.width} x i32> zeroinitializer"
        counts = emit(f"shufflevector {kind} {counts}, {kind} poison, {zeros}")
        lanes = ", ".join(f"i64 {i}" for i in range(self.width))
        return emit(f"icmp slt {kind} <{lanes}>, {counts}")

    def solution(self, table: Solution) -> None:
        """Row by row from the last: all that was eliminated before is taken off at once."""
        n, text, step = table.n, self.text, self.step
        stride = n + step
        Lt, y, x = (self.at(row * stride) for row in _rows(n, step))

        def eliminated(k: str, A_k: str, Lt_k: str, j: str, count: int) -> None:
            """A_kj of ``count`` vectors of columns from j on."""
            places = [self.at(j, i * step, base=A_k) for i in range(count)]
            start = [(self.vector, self.load(place)) for place in places]
            with loop(text, str(n - 1), k, -1, start) as outer:
                m = outer.index
                l_m = self.spread(self.at(m, base=Lt_k))
                A_m = self.at(self.times(m, stride), j)
                outer.next = [
                    table.less_product(self.do, value, l_m, self.load(self.at(i * step, base=A_m)))
                    for i, value in enumerate(outer.values)
                ]
            for value, place in zip(outer.values, places, strict=True):
                self.store(value, place)

        with loop(text, str(n - 1), "-1", -1) as joints:
            k = joints.index
            row = self.times(k, stride)
            A_k, Lt_k = self.at(row), self.at(row, base=Lt)
            some = text.emit(f"sub i64 {k}, {(BLOCK - 1) * step - 1}")
            with loop(text, "0", some, BLOCK * step) as blocks:
                eliminated(k, A_k, Lt_k, blocks.index, BLOCK)
            beyond = text.emit(f"add i64 {k}, 1")
            with loop(text, blocks.index, beyond, step) as columns:
                eliminated(k, A_k, Lt_k, columns.index, 1)
            one = f"splat ({self.form.scalar} {literal(1.0, self.form)})"
            pivot = self.do(Op.DIV, one, self.spread(self.at(k, base=A_k)))
            y_k = self.spread(self.at(k, base=y))
            with loop(text, "0", k, step) as inner:
                i = inner.index
                L_ki = self.do(Op.MUL, pivot, self.load(self.at(i, base=A_k)))
                self._scatter(L_ki, self.at(self.times(i, stride), k, base=Lt), stride)
                place = self.at(i, base=y)
                self.store(table.less_product(self.do, self.load(place), L_ki, y_k), place)
            self._store_one(self.do(Op.MUL, pivot, y_k), self.at(k, base=x))
        with loop(text, "0", str(n)) as joints:
            i = joints.index
            x_i = self.spread(self.at(i, base=x))
            Lt_i = self.at(self.times(i, stride), base=Lt)
            with loop(text, text.emit(f"add i64 {i}, 1"), str(n), step) as inner:
                place = self.at(inner.index, base=x)
                L_ki = self.load(self.at(inner.index, base=Lt_i))
                self.store(table.less_product(self.do, self.load(place), L_ki, x_i), place)

    def _store_one(self, value: str, place: str) -> None:
        """Store the first number of a vector whose numbers are equal."""
        if self.lanes == 1:
            value = self.text.emit(f"extractelement {self.vector} {value}, i32 0")
        self.text.do(f"store {self.number} {value}, ptr {place}")

    def _scatter(self, value: str, place: str, stride: int) -> None:
        """Store the numbers of a vector one below the other."""
        if self.lanes > 1:
            return self.store(value, place)
        for i in range(self.width):
            number = self.text.emit(f"extractelement {self.vector} {value}, i32 {i}")
            self.text.do(f"store {self.number} {number}, ptr {self.at(i * stride, base=place)}")
