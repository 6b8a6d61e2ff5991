"""Where the tables of a program lie while a kernel runs, and how numbers get there and away.

The areas of all tables begin the scratch array. A value that a table needs waits there, at the
place of the operand, from the time it is made; one that others need too does not where the table
writes over its operands, as a solution does. Results that are a run of a table's numbers are
copied when the table is finished. In the kernel for one state a table that is a whole result is
made there; so are two that share one at its diagonal, when the operands of both are known.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

from armdyn.program import rows
from armdyn.program.loops import Layout, Loops, layout, loop
from armdyn.program.program import TABLES, Op, Program
from armdyn.program.sincos import Format
from armdyn.program.tables import Products, Run, Shared, runs, shared
from armdyn.program.text import Text

LEAST = 16  # numbers of a result that are copied together


class Areas:
    """The areas of a program's tables.

    Attributes:
        size: of all areas together, in numbers of the scratch array.
    """

    def __init__(self, program: Program, form: Format, lanes: int, width: int) -> None:
        self.program, self.form, self.lanes, self.width = program, form, lanes, width
        self.type = form.scalar if lanes == 1 else f"<{lanes} x {form.scalar}>"
        self.results: dict[int, list[Run]] = {}
        self.inside: dict[int, int] = {}  # tables that are made in a result
        self.shared: dict[int, Shared] = {}  # results that two tables share
        self.begun: set[int] = set()  # tables whose operands are in their areas
        first = 0
        for result, size in enumerate(map(math.prod, program.shapes)):
            outputs = program.outputs[first : first + size]
            self.results[result] = list(runs(program, outputs, LEAST))
            found = shared(program, outputs) if lanes == 1 else None
            if found:
                self.shared[result], self.results[result] = found, []
            for run in self.results[result]:
                table = self._table(run.table)
                if lanes == 1 and run.length == size == table.n**2 and run.first == 0:
                    self.inside.setdefault(run.table, result)
            first += size
        self.places: dict[int, int] = {}  # where the area of a table begins
        self.layouts: dict[int, Layout] = {}
        self.size = 0
        for k, (op, _, _) in enumerate(program.instructions):
            if op in TABLES:
                self.layouts[k] = layout(self._table(k), width if lanes == 1 else 1)
                self.places[k] = self.size
                self.size += self.layouts[k].size

    def _table(self, k: int) -> Any:
        return self.program.instructions[k].value

    def made_by(self, k: int) -> int:
        """The instruction that computes the value at a place: of a part, the table."""
        op, args, _ = self.program.instructions[k]
        return args[0] if op is Op.PART else k

    def copied(self, result: int) -> set[int]:
        """Which numbers of a result come from the areas of tables without further ado."""
        if result in self.shared:
            return set(range(math.prod(self.program.shapes[result])))
        return {run.start + i for run in self.results[result] for i in range(run.length)}

    def slots(self, work: Collection[int]) -> dict[int, int]:
        """Where the values that tables need wait, if they are among those made by ``work``.

        A solution writes over what it is given: a value that something else needs too does not
        wait there.
        """
        found: dict[int, int] = {}
        uses = Counter(self.program.outputs)
        for _, args, _ in self.program.instructions:
            uses.update(args)
        for k, begin in self.places.items():
            op, args, _ = self.program.instructions[k]
            for arg, place in zip(args, self.layouts[k].operands, strict=True):
                lasts = op is not Op.SOLUTION or uses[arg] == 1
                if arg in work and place >= 0 and lasts:
                    found.setdefault(arg, begin + place)
        return found

    def missing(self, k: int, slots: dict[int, int]) -> Iterator[tuple[int, int]]:
        """The places in a table's area that no value was put in yet, and what belongs there."""
        args = self.program.instructions[k].args
        for arg, place in zip(args, self.layouts[k].operands, strict=True):
            there = self.places[k] + place
            if place >= 0 and slots.get(arg) != there and not self._is_part(arg):
                yield there, arg

    def _is_part(self, k: int) -> bool:
        return self.program.instructions[k].op is Op.PART

    def address(self, text: Text, place: int) -> str:
        """Of a number of the scratch array."""
        return text.emit(f"getelementptr {self.type}, ptr %scratch, i64 {place}")

    def part(self, text: Text, k: int) -> str:
        """The address of a part."""
        (table,), index = self.program.instructions[k].args, self._table(k)
        return self._result(text, table, index)

    def _result(self, text: Text, table: int, index: int) -> str:
        """The address of a table's result."""
        if table in self.inside:
            return rows.at(text.emit, f"%r{self.inside[table]}", index, self.form)
        return self.address(text, self.places[table] + self.layouts[table].results + index)

    def write(self, text: Text, k: int) -> None:
        """The loops of table k; what they need of other tables is copied before."""
        args, operands, begin = (
            self.program.instructions[k].args,
            self.layouts[k].operands,
            self.places[k],
        )
        for start, table, index, length in self._pieces(args, operands):
            to = self.address(text, begin + operands[start])
            self._copy(text, to, self._result(text, table, index), length)
        self.begun.add(k)
        for result, both in self.shared.items():
            if k in both:
                if self.begun.issuperset(both):
                    self._write_shared(text, result, both)
                return
        if isinstance(self._table(k), Products):
            self._loops(text, k).products(self._table(k), self._result(text, k, 0))
        else:
            self._loops(text, k).solution(self._table(k))
        for result, found in self.results.items():
            for run in found:
                if run.table == k and self.inside.get(k) != result:
                    self._copy_to_result(text, result, run)

    def _loops(self, text: Text, k: int) -> Loops:
        """What writes loops on the area of table k."""
        area = self.address(text, self.places[k])
        return Loops(text, self.form, self.lanes, self.width, area)

    def _write_shared(self, text: Text, result: int, both: Shared) -> None:
        """The loops of two tables, into the result that they share."""
        lower, upper = (self._loops(text, k) for k in both)
        tables = map(self._table, both)
        lower.triangles(next(tables), upper, next(tables), f"%r{result}")

    def _pieces(self, args: tuple[int, ...], operands: Any) -> Iterator[Run]:
        """Runs of operands that lie side by side in the area as well."""
        for start, table, index, length in runs(self.program, args):
            at = 0
            for i in range(1, length + 1):
                if i == length or operands[start + i] != operands[start + i - 1] + 1:
                    yield Run(start + at, table, index + at, i - at)
                    at = i

    def _copy(self, text: Text, to: str, source: str, length: int) -> None:
        size = length * self.lanes * self.form.bits // 8
        text.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {source}, i64 {size}, i1 0)")

    def _copy_to_result(self, text: Text, result: int, run: Run) -> None:
        """Copy a run to its place in the result of every state."""
        to = rows.at(text.emit, f"%r{result}", run.start, self.form)
        source = self._result(text, run.table, run.first)
        if self.lanes == 1:
            self._copy(text, to, source, run.length)
            return
        size = math.prod(self.program.shapes[result])
        text.do(f"call void @turned(ptr {source}, ptr {to}, i64 {size}, i64 {run.length})")

    def functions(self) -> list[str]:
        """``turned(from, to, size, length)``: vectors with a state a lane to rows of results."""
        if self.lanes == 1 or not any(self.results.values()):
            return []
        text, lanes, form = Text(), self.lanes, self.form
        text.label = "entry"

        def states(c: str) -> list[str]:
            """Where number c goes, of each state."""
            places = [text.emit(f"getelementptr {form.scalar}, ptr %to, i64 {c}")]
            for _ in range(lanes - 1):
                step = f"getelementptr {form.scalar}, ptr {places[-1]}, i64 %size"
                places.append(text.emit(step))
            return places

        def vector(c: str, i: int = 0) -> str:
            place = text.emit(f"getelementptr {self.type}, ptr %from, i64 {c}")
            if i:
                place = text.emit(f"getelementptr {self.type}, ptr {place}, i64 {i}")
            return text.emit(f"load {self.type}, ptr {place}")

        align = form.bits // 8
        whole = text.emit(f"sub i64 %length, {lanes - 1}")
        with loop(text, "0", whole, lanes) as squares:
            square = [vector(squares.index, i) for i in range(lanes)]
            turned = rows.turn(text.emit, square, form)
            for row, place in zip(turned, states(squares.index), strict=True):
                text.do(f"store {self.type} {row}, ptr {place}, align {align}")
        with loop(text, squares.index, "%length") as rest:
            value = vector(rest.index)
            for lane, place in enumerate(states(rest.index)):
                number = text.emit(f"extractelement {self.type} {value}, i32 {lane}")
                text.do(f"store {form.scalar} {number}, ptr {place}, align {align}")
        text.do("ret void")
        head = "define internal void @turned(ptr %from, ptr %to, i64 %size, i64 %length) noinline {"
        return ["\n".join([head, *text.lines, "}"])]
