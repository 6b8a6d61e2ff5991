"""JavaScript text of a program: a function on arrays of numbers that needs nothing else.

Numbers of JavaScript are doubles and nothing contracts them, so a function executes the
interpreter's operations in their order; ``Math.sin`` and ``Math.cos`` may differ from libm's in the
last bit.

A long program is cut into parts, each a function, because browsers compile a long function late or
never; values that cross a cut wait in a scratch array. Tables of products and triangular solutions
are written out operation by operation.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from armdyn.errors import ExportError
from armdyn.program.passes import drop_unused, unroll
from armdyn.program.program import Op, Program, input_names

PART = 1000  # instructions a function

JAVASCRIPT = {  # of operands {0}, {1}, ...
    Op.ADD: "{0} + {1}",
    Op.SUB: "{0} - {1}",
    Op.MUL: "{0} * {1}",
    Op.DIV: "{0} / {1}",
    Op.NEG: "-{0}",
    Op.SIN: "Math.sin({0})",
    Op.COS: "Math.cos({0})",
    Op.SQRT: "Math.sqrt({0})",
    Op.SELECT_LT: "{0} < {1} ? {2} : {3}",
}


def literal(value: float) -> str:
    """A constant in the fewest digits that give it back: JavaScript reads them as Python does."""
    if math.isnan(value):
        return "NaN"
    text = repr(abs(value)) if math.isfinite(value) else "Infinity"
    return text if math.copysign(1, value) > 0 else f"(-{text})"


def string(text: str) -> str:
    """A text as a literal that can end neither a line, nor a comment, nor a page's script."""
    return json.dumps(text).replace("<", "\\u003c").replace(">", "\\u003e").replace("/", "\\/")


@dataclass(frozen=True)
class Function:
    """A program as a JavaScript function: an array an argument, then an array a result.

    A result that is not given is made: a Float64Array. The function returns its result, or an array
    of several.

    Attributes:
        program: what it computes; what no result needs is left out.
        name: of the function.
        results: the names of the arrays it writes, one a result of the program.
        part: how many instructions a part has, at most.
    """

    program: Program
    name: str
    results: Sequence[str]
    part: int = PART

    @property
    def definition(self) -> str:
        """The function, and below it its parts: JavaScript finds those wherever they stand."""
        text, names = _Text(self), [*self.program.inputs, *self.results]
        sizes = map(math.prod, self.program.shapes)
        made = [
            f"{name} = new Float64Array({size})"
            for name, size in zip(self.results, sizes, strict=True)
        ]
        head = f"function {self.name}({', '.join([*self.program.inputs, *made])})"
        several = f"[{', '.join(self.results)}]"
        answer = f"return {self.results[0] if len(self.results) == 1 else several};"
        if len(text.parts) == 1:
            return _define(head, [*text.parts[0], answer])
        given = ", ".join([*names, "w"])
        functions = [
            _define(f"function {self.name}_part{i}({given})", part)
            for i, part in enumerate(text.parts)
        ]
        calls = [f"{self.name}_part{i}({given});" for i in range(len(text.parts))]
        scratch = f"const w = new Float64Array({text.scratch});"
        return "\n\n".join([_define(head, [scratch, *calls, answer]), *functions])


def _define(head: str, lines: Sequence[str]) -> str:
    return "\n".join([f"{head} {{", *(f"  {line}" for line in lines), "}"])


class _Statement(NamedTuple):
    """``target = op(operands)``; without an op, an element of a result is set to its operand."""

    target: str
    op: Op | None
    operands: tuple[str, ...]


class _Text:
    """The statements of a function, dealt out to its parts.

    Attributes:
        parts: the lines of each part.
        scratch: how many values wait for a later part.
    """

    def __init__(self, function: Function) -> None:
        self.program = drop_unused(unroll(function.program))
        self.statements: list[_Statement] = []
        self._write(function.results)
        length = function.part
        count = max(1, math.ceil(len(self.statements) / length))
        parts = [self.statements[i * length : (i + 1) * length] for i in range(count)]
        home = {s.target: i for i, part in enumerate(parts) for s in part}
        waiting = dict.fromkeys(
            operand
            for i, part in enumerate(parts)
            for statement in part
            for operand in statement.operands
            if home.get(operand, i) != i
        )
        slots = {value: f"w[{i}]" for i, value in enumerate(waiting)}
        self.scratch = len(slots)
        self.parts = [list(_lines(part, i, home, slots)) for i, part in enumerate(parts)]

    def _write(self, results: Sequence[str]) -> None:
        """All statements: those of operations, then those that set the results."""
        values = input_names(self.program.inputs)
        for op, args, value in self.program.instructions[len(values) :]:
            operands = [values[arg] for arg in args]
            values.append(literal(value) if op is Op.CONSTANT else self._do(op, *operands))
        elements = [
            f"{name}[{i}]"
            for name, shape in zip(results, self.program.shapes, strict=True)
            for i in range(math.prod(shape))
        ]
        for element, k in zip(elements, self.program.outputs, strict=True):
            self.statements.append(_Statement(element, None, (values[k],)))

    def _do(self, op: Op, *operands: str) -> str:
        """Write the statement of one operation; the name of what it gives."""
        if op not in JAVASCRIPT:
            raise ExportError(f"JavaScript has no {op.value}; write the program as recorded")
        name = f"v{len(self.statements)}"
        self.statements.append(_Statement(name, op, operands))
        return name


def _lines(
    part: Sequence[_Statement], i: int, home: Mapping[str, int], slots: Mapping[str, str]
) -> Iterator[str]:
    """The lines of part i; ``home`` says in which part a value is made."""
    for target, op, given in part:
        operands = [x if home.get(x, i) == i else slots[x] for x in given]
        if op is None:
            yield f"{target} = {operands[0]};"
            continue
        yield f"const {target} = {JAVASCRIPT[op].format(*operands)};"
        if target in slots:
            yield f"{slots[target]} = {target};"
