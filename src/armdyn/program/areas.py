"""Where the tables of a program lie while a kernel runs, and how numbers get there and away.

The areas of all tables begin the scratch array. A value that a table needs waits there, at the
place of the operand, from the time it is made; one that others need too does not where the table
writes over its operands, as a solution does. A column of operands that another table has too, or
has made, is read where it lies. Results that are a run of a table's numbers are
copied when the table is finished. In the kernel for one state a table that is a whole result is
made there; so are two that share one at its diagonal, when the operands of both are known.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from armdyn.program import rows
from armdyn.program.loops import Loops, layout, loop
from armdyn.program.program import TABLES, Op, Program
from armdyn.program.sincos import Format, literal
from armdyn.program.tables import Each, Products, Run, Shared, Solution, runs, shared
from armdyn.program.text import Text

LEAST = 4, 16  # numbers of a result that are copied together, for one state and for many;
MOST = 0.75  # for many, if so much of the result is


class Areas:
    """The areas of a program's tables.

    Attributes:
        size: of all areas together, in numbers of the scratch array.
    """

    def __init__(
        self, program: Program, order: Sequence[int], form: Format, lanes: int, width: int
    ) -> None:
        self.program, self.form, self.lanes, self.width = program, form, lanes, width
        self.type = form.scalar if lanes == 1 else f"<{lanes} x {form.scalar}>"
        self.results: dict[int, list[Run]] = {}
        self.inside: dict[int, int] = {}  # tables that are made in a result
        self.shared: dict[int, Shared] = {}  # results that two tables share
        self.begun: set[int] = set()  # tables whose operands are in their areas
        first = 0
        for result, size in enumerate(map(math.prod, program.shapes)):
            outputs = program.outputs[first : first + size]
            self.results[result] = list(runs(program, outputs, LEAST[lanes > 1]))
            if lanes > 1 and sum(run.length for run in self.results[result]) < MOST * size:
                self.results[result] = []  # what is left would be stored number by number
            found = shared(program, outputs) if lanes == 1 else None
            if found:
                self.shared[result], self.results[result] = found, []
            for run in self.results[result]:
                table = self._table(run.table)
                whole = not isinstance(table, Solution) and run.length == size == table.results
                if lanes == 1 and whole and run.first == 0:
                    self.inside.setdefault(run.table, result)
            first += size
        self.operands: dict[int, list[int]] = {}  # where those of a table are put, -1: nowhere
        self.columns: dict[int, list[int]] = {}  # where those of a table begin
        self.made: dict[int, int] = {}  # where the results of a table begin
        self.solutions: dict[int, int] = {}  # where the area of a solution begins
        self.size = 0
        self._known: dict[tuple[int, ...], int] = {}  # where a column of some values begins
        for k in order:  # that of execution: who comes first fills a column that others read
            value = program.instructions[k].value
            if isinstance(value, Solution):
                self._lay_out_solution(k, value)
            elif isinstance(value, (Products, Each)):
                self._lay_out_columns(k, value)

    def _lay_out_solution(self, k: int, table: Solution) -> None:
        self.solutions[k] = begin = self.size
        found = layout(table, self.width if self.lanes == 1 else 1)
        self.operands[k] = [begin + place if place >= 0 else -1 for place in found.operands]
        self.made[k] = begin + found.results
        self.size += found.size

    def _lay_out_columns(self, k: int, table: Products | Each) -> None:
        n, args = table.n, self.program.instructions[k].args
        self.operands[k], self.columns[k] = [], []
        end = n * table.columns
        for column in (args[start : start + n] for start in range(0, end, n)):
            there = self._there(column)
            if there < 0:
                self._known[column] = there = self.size
                self.operands[k] += range(self.size, self.size + n)
                self.size += n
            else:
                self.operands[k] += [-1] * n
            self.columns[k].append(there)
        for arg in args[end:]:  # numbers that all share
            self.operands[k].append(-1 if self._is_constant(arg) else self.size)
            self.size += not self._is_constant(arg)
        self.made[k] = self.size
        self.size += table.results

    def _there(self, column: tuple[int, ...]) -> int:
        """Where a column lies that another table has or makes; -1 if none does."""
        if column in self._known:
            return self._known[column]
        found = next(runs(self.program, column), None)
        if found is None or found.length < len(column) or found.table in self.inside:
            return -1
        return self.made[found.table] + found.first

    def _is_constant(self, k: int) -> bool:
        return self.program.instructions[k].op is Op.CONSTANT

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
        if not self.operands:
            return found
        uses = Counter(arg for _, args, _ in self.program.instructions for arg in args)
        uses.update(self.program.outputs)
        for k, places in self.operands.items():
            op, args, _ = self.program.instructions[k]
            for arg, place in zip(args, places, strict=True):
                lasts = op is not Op.SOLUTION or uses[arg] == 1
                if arg in work and place >= 0 and lasts:
                    found.setdefault(arg, place)
        return found

    def missing(self, k: int, slots: dict[int, int]) -> Iterator[tuple[int, int]]:
        """The places in a table's area that no value was put in yet, and what belongs there."""
        args = self.program.instructions[k].args
        for arg, place in zip(args, self.operands[k], strict=True):
            if place >= 0 and slots.get(arg) != place and not self._is_part(arg):
                yield place, arg

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
        return self.address(text, self.made[table] + index)

    def write(self, text: Text, k: int) -> None:
        """The loops of table k; what they need of other tables is copied before."""
        args, operands = self.program.instructions[k].args, self.operands[k]
        for start, table, index, length in self._pieces(args, operands):
            to = self.address(text, operands[start])
            self._copy(text, to, self._result(text, table, index), length)
        self.begun.add(k)
        for result, both in self.shared.items():
            if k in both:
                if self.begun.issuperset(both):
                    self._write_shared(text, result, both)
                return
        loops, value, results = self._loops(text, k), self._table(k), self._result(text, k, 0)
        if isinstance(value, Products):
            loops.products(value, self._columns(text, k), results, self._is_copied(k))
        elif isinstance(value, Each):
            loops.each(value, self._columns(text, k), self._spread(text, loops, k), results)
        else:
            loops.solution(value)
        for result, found in self.results.items():
            for run in found:
                if run.table == k and self.inside.get(k) != result:
                    self._copy_to_result(text, result, run)

    def _is_copied(self, k: int) -> bool:
        """Whether runs of the numbers of table k go to a result or to another table."""
        code = self.program.instructions
        operands = (arg for op, args, _ in code if op in TABLES for arg in args)
        return any(run.table == k for found in self.results.values() for run in found) or any(
            self._is_part(arg) and code[arg].args[0] == k for arg in operands
        )

    def _loops(self, text: Text, k: int) -> Loops:
        """What writes the loops of table k; those of a solution are on an area of its own."""
        area = self.address(text, self.solutions[k]) if k in self.solutions else "%scratch"
        return Loops(text, self.form, self.lanes, self.width, area)

    def _write_shared(self, text: Text, result: int, both: Shared) -> None:
        """The loops of two tables, into the result that they share."""
        lower, upper = map(self._table, both)
        columns, beyond = (self._columns(text, k) for k in both)
        self._loops(text, both.lower).triangles(lower, columns, upper, beyond, f"%r{result}")

    def _columns(self, text: Text, k: int) -> list[str]:
        """The addresses of the columns of table k."""
        return [self.address(text, place) for place in self.columns[k]]

    def _spread(self, text: Text, loops: Loops, k: int) -> list[str]:
        """The numbers that all items share, each a vector."""
        value, (_, args, _) = self._table(k), self.program.instructions[k]
        found = []
        for at in range(value.columns * value.n, value.operands):
            number = self.program.instructions[args[at]].value
            if self._is_constant(args[at]):
                found.append(f"splat ({self.form.scalar} {literal(float(number), self.form)})")
            else:
                found.append(loops.spread(self.address(text, self.operands[k][at])))
        return found

    def _pieces(self, args: tuple[int, ...], operands: Any) -> Iterator[Run]:
        """Runs of operands that lie side by side in the area as well."""
        for start, table, index, length in runs(self.program, args):
            at = 0
            for i in range(1, length + 1):
                before = operands[start + i - 1]
                if i == length or before < 0 or operands[start + i] != before + 1:
                    if before >= 0:
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
