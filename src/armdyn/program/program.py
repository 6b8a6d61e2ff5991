"""Program: straight-line code on a closed set of operations. Define, check, print.

Three operations have many results, which loops compute on large arms: a table of products, the
solution of a triangular system, and the same function of each of many items. PART reads one of
them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

from armdyn.errors import TraceError


class Op(Enum):
    """The operations there are; the value is how an instruction prints."""

    INPUT = "input"
    CONSTANT = "constant"
    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    NEG = "neg"
    FMA = "fma"  # fma(a, b, c) = a b + c, rounded once
    SIN = "sin"
    COS = "cos"
    SQRT = "sqrt"
    SELECT_LT = "select_lt"  # select_lt(a, b, x, y) = x if a < b else y
    PRODUCTS = "products"  # many results: tables.Products says which
    SOLUTION = "solution"  # many results: tables.Solution says which
    EACH = "each"  # many results: tables.Each says which
    PART = "part"  # one of the many results of another instruction

    __hash__ = object.__hash__  # members are looked up for every operation recorded


ARITY = {
    Op.INPUT: 0,
    Op.CONSTANT: 0,
    Op.ADD: 2,
    Op.SUB: 2,
    Op.MUL: 2,
    Op.DIV: 2,
    Op.NEG: 1,
    Op.FMA: 3,
    Op.SIN: 1,
    Op.COS: 1,
    Op.SQRT: 1,
    Op.SELECT_LT: 4,
    Op.PART: 1,
}
TABLES = (Op.PRODUCTS, Op.SOLUTION, Op.EACH)
TRIG = (Op.SIN, Op.COS)

Value = Any  # a constant's float, an input's name, a table's Loop, a part's index


class Instruction(NamedTuple):
    """``%k = op(%args...)``, where k is the instruction's place in its program."""

    op: Op
    args: tuple[int, ...] = ()
    value: Value = None

    def __str__(self) -> str:
        shown = [] if self.value is None else [repr(self.value)]
        return " ".join([self.op.value, *shown, *(f"%{k}" for k in self.args)])


# Makes an instruction of (op, args, value) in half the time that Instruction takes.
packed: Callable[[tuple[Op, tuple[int, ...], Value]], Instruction] = partial(
    tuple.__new__, Instruction
)


@dataclass(frozen=True)
class Program:
    """Instructions in an order in which they can be executed, and what comes in and goes out.

    Attributes:
        name: of the function.
        inputs: how many numbers each argument has, in the order of the call. The first
            instructions are these inputs, in this order, used or not.
        instructions: each refers to earlier ones only.
        outputs: the places of all results, flattened one after the other.
        shapes: the shape of each result; () for a single number.
    """

    name: str
    inputs: Mapping[str, int]
    instructions: tuple[Instruction, ...]
    outputs: tuple[int, ...]
    shapes: tuple[tuple[int, ...], ...]

    def __str__(self) -> str:
        arguments = ", ".join(f"{name}[{length}]" for name, length in self.inputs.items())
        lines = [f"{self.name}({arguments}):"]
        lines += [f"  %{k} = {instruction}" for k, instruction in enumerate(self.instructions)]
        start = 0
        for shape in self.shapes:
            end = start + math.prod(shape)
            places = " ".join(f"%{k}" for k in self.outputs[start:end])
            lines.append(f"  return {list(shape)} {places}")
            start = end
        return "\n".join(lines)

    def check(self) -> Program:
        """This program, if it is well formed; else a TraceError that shows what is not."""
        names = input_names(self.inputs)
        found = [instruction.value for instruction in self.instructions[: len(names)]]
        if found != names:
            raise TraceError(f"{self.name} begins with {found}, where its inputs are {names}")
        for k, instruction in enumerate(self.instructions):
            finding = self._finding(k, *instruction, k < len(names))
            if finding:
                raise TraceError(f"{self.name}: %{k} = {instruction}: {finding}")
        last = len(self.instructions) - 1
        for k in self.outputs:
            if not 0 <= k <= last:
                raise TraceError(f"{self.name}: output %{k} does not exist; the last is %{last}")
            if self.instructions[k].op in TABLES:
                raise TraceError(f"{self.name}: output %{k} has many results, not one")
        size = sum(map(math.prod, self.shapes))
        if len(self.outputs) != size:
            raise TraceError(
                f"{self.name}: shapes {self.shapes} hold {size} numbers, not {len(self.outputs)}"
            )
        return self

    def _finding(
        self, k: int, op: Op, args: tuple[int, ...], value: Value, is_input: bool
    ) -> str | None:
        """What is wrong with an instruction at place k, if anything."""
        if op in TABLES and getattr(value, "op", None) is not op:
            return "its value says what it computes, and is of its kind"
        expected = ARITY[op] if op in ARITY else value.operands
        if len(args) != expected:
            return f"expected {expected} arguments, not {len(args)}"
        if args and not (0 <= min(args) and max(args) < k):
            return "refers to something that is not computed before it"
        if (op is Op.INPUT) != is_input:
            return "inputs come first, all of them and nothing else"
        if op is Op.CONSTANT and not isinstance(value, float):
            return f"a constant's value is a float, not {value!r}"
        if op is Op.PART:
            table = self.instructions[args[0]].value
            if self.instructions[args[0]].op not in TABLES or not table.has(value):
                return "is part of nothing"
        elif any(self.instructions[arg].op in TABLES for arg in args):
            return "only a part can be taken of an instruction with many results"
        elif value is not None and args and op not in TABLES:
            return "only an input and a constant have a value"
        return None


def input_names(inputs: Mapping[str, int]) -> list[str]:
    """The name of every single input: q[0], q[1], ..."""
    return [f"{name}[{i}]" for name, length in inputs.items() for i in range(length)]
