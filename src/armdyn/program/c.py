"""C99 text of a program: a function on plain arrays that needs libm and nothing else.

The function allocates nothing and keeps nothing between calls, so any number of threads may be in
it. In double and without contraction it executes the interpreter's operations in their order.

A long program is cut into parts, each a static function, because the time to compile one function
grows faster than its length; values that cross a cut wait in a scratch array on the stack, and so
do the tables of large arms, which are loops.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from armdyn.errors import ExportError
from armdyn.program import c_loops
from armdyn.program.passes import drop_unused
from armdyn.program.program import TABLES, Op, Program, input_names
from armdyn.program.rounding import rounded
from armdyn.program.tables import Solution, runs

Dtype = Literal["double", "float"]

PART = 2000  # instructions a function
RUN = 16  # numbers from which on a result is copied from a table by a loop

C = {  # of operands {0}, {1}, ...; libm's functions of float end in {f}
    Op.ADD: "{0} + {1}",
    Op.SUB: "{0} - {1}",
    Op.MUL: "{0} * {1}",
    Op.DIV: "{0} / {1}",
    Op.NEG: "-{0}",
    Op.FMA: "fma{f}({0}, {1}, {2})",
    Op.SIN: "sin{f}({0})",
    Op.COS: "cos{f}({0})",
    Op.SQRT: "sqrt{f}({0})",
    Op.SELECT_LT: "{0} < {1} ? {2} : {3}",
}
SUFFIX: dict[Dtype, str] = {"double": "", "float": "f"}


def literal(value: float, dtype: Dtype) -> str:
    """A constant in hexadecimal, rounded to its type here: exact, whatever the compiler."""
    number = rounded(value, dtype)
    if math.isinf(number) and not math.isinf(value):
        raise ExportError(f"the constant {value!r} is beyond the range of {dtype}")
    if math.isfinite(number):
        text = re.sub(r"\.?0*p", "p", abs(number).hex()) + SUFFIX[dtype]
    else:
        text = "NAN" if math.isnan(number) else "INFINITY"
    return text if math.copysign(1, number) > 0 else f"(-{text})"


@dataclass(frozen=True)
class Function:
    """A program as a C function: an array an argument, then an array a result.

    Attributes:
        program: what it computes; what no result needs is left out.
        name: of the function.
        results: the names of the arrays it writes, one a result of the program.
        dtype: of all numbers.
        part: how many instructions a part has, at most.
    """

    program: Program
    name: str
    results: Sequence[str]
    dtype: Dtype
    part: int = PART

    @property
    def prototype(self) -> str:
        """The declaration, good for C++ too."""
        return f"void {self.name}({', '.join(self._arrays())});"

    @property
    def definition(self) -> str:
        """The function, after its parts."""
        text = _Text(self)
        arrays, names = self._arrays("restrict "), [*self.program.inputs, *self.results]
        head = f"void {self.name}({', '.join(arrays)})"
        if len(text.parts) == 1 and not text.areas:
            return _define(head, names, text.lines(0))
        arrays.append(f"{self.dtype} w[restrict {text.scratch}]")
        parts = [
            _define(f"static void {self.name}_part{i}({', '.join(arrays)})", [*names, "w"], lines)
            for i, lines in enumerate(map(text.lines, range(len(text.parts))))
        ]
        calls = [f"{self.name}_part{i}({', '.join(names)}, w);" for i in range(len(parts))]
        whole = _define(head, names, [f"{self.dtype} w[{text.scratch}];", *calls])
        return "\n\n".join([*parts, whole])

    def _arrays(self, qualifier: str = "") -> list[str]:
        arguments = self.program.inputs.items()
        results = zip(self.results, map(math.prod, self.program.shapes), strict=True)
        given = [f"const {self.dtype} {name}[{qualifier}{size}]" for name, size in arguments]
        return given + [f"{self.dtype} {name}[{qualifier}{size}]" for name, size in results]


def _define(head: str, arrays: Sequence[str], lines: Sequence[str]) -> str:
    """A function; an array that its lines do not speak of is said to be unused on purpose."""
    spoken_of = set(re.findall(r"\b[A-Za-z]\w*", " ".join(lines)))
    unused = [f"(void){name};" for name in arrays if name not in spoken_of]
    return "\n".join([head, "{", *(f"    {line}" for line in [*unused, *lines]), "}"])


class _Text:
    """The statements of a function, dealt out to its parts.

    Attributes:
        parts: the places of the instructions of each part.
        areas: where in the scratch array that of each table begins.
        scratch: how many numbers wait at the same time for a later part, and those of tables.
    """

    def __init__(self, function: Function) -> None:
        program, length = drop_unused(function.program), function.part
        self.code, self.dtype, self.program = program.instructions, function.dtype, program
        self.inputs = input_names(program.inputs)
        self.parts = self._cut(length)
        self.home = {k: i for i, part in enumerate(self.parts) for k in part}
        self.slots, self.scratch = self._wait()
        self.areas: dict[int, int] = {}
        for k, (op, _, table) in enumerate(self.code):
            if op in TABLES:
                self.areas[k] = self.scratch
                self.scratch += c_loops.size(table)
        self.stores: dict[int, list[str]] = {}  # the elements of results that a place goes to
        self.copies: dict[int, list[str]] = {}  # statements after a table
        first = 0
        for name, size in zip(function.results, map(math.prod, program.shapes), strict=True):
            self._deal_out(name, program.outputs[first : first + size])
            first += size

    def _cut(self, length: int) -> list[list[int]]:
        """The instructions that do something, in parts; a table is a part of its own."""
        parts: list[list[int]] = [[]]
        for k, (op, _, _) in enumerate(self.code):
            if op in (Op.INPUT, Op.CONSTANT, Op.PART):
                continue
            last = parts[-1]
            if len(last) == length or (last and (op in TABLES or self.code[last[0]].op in TABLES)):
                parts.append([])
            parts[-1].append(k)
        return parts

    def _deal_out(self, name: str, outputs: Sequence[int]) -> None:
        """Say when each number of a result is stored."""
        copied: set[int] = set()
        for start, table, index, length in runs(self.program, outputs, RUN):
            lines = self.copies.setdefault(table, [])
            lines.append(c_loops.copy(f"({name} + {start})", self._result(table, index), length))
            copied.update(range(start, start + length))
        for i, k in enumerate(outputs):
            if i not in copied:
                self.stores.setdefault(k, []).append(f"{name}[{i}]")

    def _result(self, table: int, index: int) -> int:
        """Where in the scratch array a result of a table is."""
        value = self.code[table].value
        return self.areas[table] + c_loops.results(value) + index

    def _wait(self) -> tuple[dict[int, int], int]:
        """Where each value waits that a later part needs, and how many numbers wait at most.

        A slot that is read in a part is written again in a later one only.
        """
        last = {arg: part for k, part in self.home.items() for arg in self.code[k].args}
        slots: dict[int, int] = {}
        free: list[int] = []
        size = 0
        for i, part in enumerate(self.parts):
            free += [slot for k, slot in slots.items() if last[k] == i - 1]
            for k in part:
                if last.get(k, i) > i:
                    if not free:
                        free.append(size)
                        size += 1
                    slots[k] = free.pop()
        return slots, max(size, 1)  # C has no empty arrays

    def lines(self, i: int) -> list[str]:
        """The statements of part i: each value, then where it goes."""
        known = [k for k in self.stores if k not in self.home and not self._is_part(k)]
        lines = self._given(known, i) if i == 0 else []
        for k in self.parts[i]:
            op, args, _ = self.code[k]
            if op in TABLES:
                lines += self._table(k, i)
                continue
            operands = (self._use(arg, i) for arg in args)
            value = C[op].format(*operands, f=SUFFIX[self.dtype])
            lines.append(f"const {self.dtype} v{k} = {value};")
            lines += [f"{element} = v{k};" for element in self.stores.get(k, ())]
            if k in self.slots:
                lines.append(f"w[{self.slots[k]}] = v{k};")
        return lines

    def _given(self, places: Sequence[int], i: int) -> list[str]:
        """Store values that no statement computes."""
        return [f"{element} = {self._use(k, i)};" for k in places for element in self.stores[k]]

    def _is_part(self, k: int) -> bool:
        return self.code[k].op is Op.PART

    def _table(self, k: int, i: int) -> list[str]:
        """The loops of a table: its operands to their places, itself, its results to theirs."""
        _, args, table = self.code[k]
        begin, lines = self.areas[k], []
        for start, other, index, length in runs(self.program, args):
            lines.append(c_loops.copy(f"(w + {begin + start})", self._result(other, index), length))
        values = enumerate(args[:-1] if isinstance(table, Solution) else args)
        given = [(begin + j, arg) for j, arg in values if not self._is_part(arg)]
        lines += [f"w[{place}] = {self._use(arg, i)};" for place, arg in given]

        def operation(op: Op, *operands: str) -> str:
            return C[op].format(*operands, f=SUFFIX[self.dtype])

        lines += c_loops.lines(table, begin, self.dtype, operation)
        parts = [p for p in self.stores if self._is_part(p) and self.code[p].args[0] == k]
        return lines + self.copies.get(k, []) + self._given(parts, i)

    def _use(self, k: int, part: int) -> str:
        """A value as an operand in a part."""
        op, _, value = self.code[k]
        if op is Op.INPUT:
            return self.inputs[k]
        if isinstance(value, float):
            return literal(value, self.dtype)
        if op is Op.PART:
            return f"w[{self._result(self.code[k].args[0], value)}]"
        return f"v{k}" if self.home[k] == part else f"w[{self.slots[k]}]"
