"""Tables of products, triangular solutions, and the same many times as loops, in LLVM's language.

In the kernel for one state the columns of a table fill the lanes of a vector; in the kernel for
many each lane is a state, and a step of a loop is one number. The operations and their rounding are
those of ``tables``; loops only choose which numbers come first.

Operands and results lie in the scratch array. Those of a solution have an area of their own, which
it writes over, and on a GPU those of all tables: a ``Layout`` says where in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from armdyn.program import rows
from armdyn.program.program import Op
from armdyn.program.sincos import Format, literal
from armdyn.program.tables import Each, Loop, Products, Solution
from armdyn.program.text import OPS, Text

GROUP = 4  # rows of a triangular matrix that are worked on together


@dataclass(frozen=True)
class Layout:
    """Where in its area a table keeps each operand (-1: nowhere) and its results; its size."""

    operands: Sequence[int]
    results: int
    size: int


def layout(table: Loop, step: int) -> Layout:
    """The area of a table whose loops go by so many numbers."""
    n = table.n
    if not isinstance(table, Solution):
        return Layout(range(table.operands), table.operands, table.operands + table.results)
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

    def columns(self, table: Products | Each) -> list[str]:
        """Where the columns of a table's operands begin that lie side by side in the area."""
        return [self.at(i * table.n) for i in range(table.columns)]

    def each(
        self, table: Each, columns: Sequence[str], shared: Sequence[str], results: str
    ) -> None:
        """The function of item after item; the last items of a vector may be computed twice."""
        n, emit = table.n, self.text.emit
        with loop(self.text, "0", str(n), self.step) as items:
            i = items.index
            if self.step > 1:
                inside = emit(f"icmp slt i64 {i}, {n - self.step}")
                i = emit(f"select i1 {inside}, i64 {i}, i64 {n - self.step}")

            def given(k: int) -> str:
                if k < table.columns:
                    return self.load(self.at(i, base=columns[k]))
                return shared[k - table.columns]

            for r, value in table.element(self.do, given):
                self.store(value, self.at(r * n, i, base=results))

    def products(
        self, table: Products, columns: Sequence[str], results: str, whole: bool = True
    ) -> None:
        """T_rc = a_c . b_r for c <= r and, if it is wanted whole, a_r . b_c beyond; row by row."""
        if self.lanes == 1:  # what is beyond the diagonal is computed again: rows are stored whole
            self.triangles(table, columns, table, columns, results)
            return
        n = table.n
        a, b = columns[: table.length], columns[table.length :]
        with loop(self.text, "0", str(n)) as joints:
            r = joints.index
            T_r = self.at(self.times(r, n), base=results)
            b_r = [self.spread(self.at(r, base=column)) for column in b]
            with loop(self.text, "0", self.text.emit(f"add i64 {r}, 1")) as row:
                c = row.index
                value = table.element(self.do, self.column(a, c), b_r)
                self.store(value, self.at(c, base=T_r))
                if whole:
                    self.store(value, self.at(self.times(c, n), r, base=results))

    def triangles(
        self,
        lower: Products,
        columns: Sequence[str],
        upper: Products,
        beyond: Sequence[str],
        results: str,
    ) -> None:
        """A table up to the diagonal, beyond it another, of other columns; row after row."""
        n = lower.n
        a, b = columns[: lower.length], columns[lower.length :]
        a_beyond, b_beyond = beyond[: upper.length], beyond[upper.length :]
        with loop(self.text, "0", str(n)) as joints:
            r = joints.index
            T_r = self.at(self.times(r, n), base=results)
            a_r = [self.spread(self.at(r, base=column)) for column in a_beyond]
            self._beyond(upper, a_r, b_beyond, r, T_r)
            b_r = [self.spread(self.at(r, base=column)) for column in b]
            self._before(lower, a, b_r, self.text.emit(f"add i64 {r}, 1"), T_r)

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
        self, table: Products, a: Sequence[str], b_r: Sequence[str], end: str, T_r: str
    ) -> None:
        """T_rc for the columns c before the end, and no others."""
        emit, last = self.text.emit, table.n - self.step  # where the last vector begins
        with loop(self.text, "0", emit(f"sub i64 {end}, {self.step - 1}"), self.step) as columns:
            c = columns.index
            value = table.element(self.do, self.column(a, c), b_r)
            self.store(value, self.at(c, base=T_r))
        inside = emit(f"icmp slt i64 {columns.index}, {last}")
        c = emit(f"select i1 {inside}, i64 {columns.index}, i64 {last}")
        place = self.at(c, base=T_r)
        new, old = table.element(self.do, self.column(a, c), b_r), self.load(place)
        mask = self._first_lanes(emit(f"sub i64 {end}, {c}"))
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
        """M = L^T D L from the last rows on, GROUP of them at a time, then x from the first."""
        n, rest = table.n, table.n % GROUP  # so that whole groups remain
        if rest:
            self._eliminate(table, str(n - 1), rest)
        with loop(self.text, str(n - 1 - rest), "-1", -GROUP) as groups:
            self._eliminate(table, groups.index, GROUP)
        with loop(self.text, "0", str(n - rest), GROUP) as groups:
            self._substitute(table, groups.index, GROUP)
        if rest:
            self._substitute(table, str(n - rest), rest)

    def _eliminate(self, table: Solution, last: str, count: int) -> None:
        """Finish the rows k from ``last`` down, so many, and take them off those before."""
        text, stride, less = self.text, table.n + self.step, partial(table.less_product, self.do)
        Lt, y, x = (self.at(row * stride) for row in _rows(table.n, self.step))
        k = self._from(last, count, -1)
        A = [self.at(self.times(row, stride)) for row in k]
        one = f"splat ({self.form.scalar} {literal(1.0, self.form)})"
        D: list[str] = []  # 1 / D_k
        L: dict[tuple[int, int], str] = {}  # of the rows among themselves
        B = [[self.spread(self.at(k[q], base=A[p])) for q in range(p, count)] for p in range(count)]
        y_k = [self.spread(self.at(row, base=y)) for row in k]
        for p in range(count):
            for r in range(p):
                B[p] = [less(b, L[r, p], B[r][p - r + q]) for q, b in enumerate(B[p])]
                y_k[p] = less(y_k[p], L[r, p], y_k[r])
            D.append(self.do(Op.DIV, one, B[p][0]))
            L |= {(p, p + q): self.do(Op.MUL, D[p], b) for q, b in enumerate(B[p]) if q}
            self._store_one(self.do(Op.MUL, D[p], y_k[p]), self.at(k[p], base=x))
        with loop(text, "0", k[-1], self.step) as columns:
            j = columns.index
            A_j = [self.load(self.at(j, base=A_k)) for A_k in A]
            y_j = self.load(self.at(j, base=y))
            for p in range(count):
                for r in range(p):
                    A_j[p] = less(A_j[p], L[r, p], A_j[r])
                if p:
                    self.store(A_j[p], self.at(j, base=A[p]))
            L_j = [self.do(Op.MUL, d, row) for d, row in zip(D, A_j, strict=True)]
            for L_kj, value in zip(L_j, y_k, strict=True):
                y_j = less(y_j, L_kj, value)
            self.store(y_j, self.at(j, base=y))
            self._scatter(L_j[::-1], self.at(self.times(j, stride), k[-1], base=Lt), stride)
        for (p, q), value in L.items():  # now: the last vectors above reached this far
            self._store_one(value, self.at(self.times(k[q], stride), k[p], base=Lt))
        with loop(text, "0", k[-1], GROUP) as before:
            self._take_off(table, before.index, k, A)

    def _take_off(self, table: Solution, first: str, k: Sequence[str], A: Sequence[str]) -> None:
        """What rows k take off GROUP of the rows before, those from ``first`` on."""
        stride = table.n + self.step
        Lt = self.at(_rows(table.n, self.step)[0] * stride)
        i = self._from(first, GROUP, 1)
        A_i = [self.at(self.times(row, stride)) for row in i]
        Lt_i = [self.at(self.times(row, stride), base=Lt) for row in i]
        L_i = [[self.spread(self.at(row, base=place)) for row in k] for place in Lt_i]
        end = self.text.emit(f"add i64 {first}, {GROUP}")
        with loop(self.text, "0", end, self.step) as columns:
            j = columns.index
            A_j = [self.load(self.at(j, base=A_k)) for A_k in A]
            for row, factors in zip(A_i, L_i, strict=True):
                place = self.at(j, base=row)
                value = self.load(place)
                for factor, A_kj in zip(factors, A_j, strict=True):
                    value = table.less_product(self.do, value, factor, A_kj)
                self.store(value, place)

    def _substitute(self, table: Solution, first: str, count: int) -> None:
        """Finish x_i from ``first`` on, so many, and take them off those after."""
        n, stride, less = table.n, table.n + self.step, partial(table.less_product, self.do)
        Lt, _, x = (self.at(row * stride) for row in _rows(n, self.step))
        i = self._from(first, count, 1)
        Lt_i = [self.at(self.times(row, stride), base=Lt) for row in i]
        x_i = [self.spread(self.at(row, base=x)) for row in i]
        for p in range(1, count):
            for q in range(p):
                x_i[p] = less(x_i[p], self.spread(self.at(i[p], base=Lt_i[q])), x_i[q])
            self._store_one(x_i[p], self.at(i[p], base=x))
        start = self.text.emit(f"add i64 {first}, {count}")
        with loop(self.text, start, str(n), self.step) as columns:
            place = self.at(columns.index, base=x)
            value = self.load(place)
            for row, factor in zip(Lt_i, x_i, strict=True):
                value = less(value, self.load(self.at(columns.index, base=row)), factor)
            self.store(value, place)

    def _from(self, first: str, count: int, step: int) -> list[str]:
        """So many indices, one after the other."""
        more = range(step, count * step, step)
        return [first, *(self.text.emit(f"add i64 {first}, {distance}") for distance in more)]

    def _store_one(self, value: str, place: str) -> None:
        """Store the first number of a vector whose numbers are equal."""
        if self.lanes == 1:
            value = self.text.emit(f"extractelement {self.vector} {value}, i32 0")
        self.text.do(f"store {self.number} {value}, ptr {place}")

    def _scatter(self, columns: Sequence[str], place: str, stride: int) -> None:
        """Store vectors as neighbouring columns, the first of them below a place."""
        if self.lanes > 1:
            for c, column in enumerate(columns):
                self.store(column, self.at(c, base=place))
        elif len(columns) == self.width:
            for r, row in enumerate(rows.turn(self.text.emit, columns, self.form)):
                self.store(row, self.at(r * stride, base=place))
        else:
            for c, column in enumerate(columns):
                for r in range(self.width):
                    number = self.text.emit(f"extractelement {self.vector} {column}, i32 {r}")
                    self.text.do(
                        f"store {self.number} {number}, ptr {self.at(r * stride + c, base=place)}"
                    )
