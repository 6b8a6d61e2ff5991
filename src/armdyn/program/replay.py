"""A program run again on a tape, where more is built upon it and equal terms are one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from armdyn.errors import MethodError, as_names, unknown
from armdyn.program import tape as tapes
from armdyn.program.interpreter import RULES, nested
from armdyn.program.passes import drop_unused, unroll
from armdyn.program.program import Op, Program
from armdyn.program.tables import Products, Solution
from armdyn.program.tape import Tape, Traced
from armdyn.spatial import Row, Scalar


class Replay:
    """The instructions of a program on a new tape, which has more inputs if they are given.

    Attributes:
        program: what is run again.
        tape: where.
        given: the numbers of each input of the tape.
        values: of each instruction; of a table, its place on the tape.
    """

    def __init__(self, program: Program, more: Mapping[str, int] | None = None) -> None:
        self.program = program = unroll(program, {Op.EACH})
        self.tape = Tape({**program.inputs, **(more or {})})
        self.given = dict(zip(self.tape.inputs, self.tape.arguments(), strict=True))
        inputs = iter([x for name in program.inputs for x in self.given[name]])
        self.values: list[Any] = []
        for op, args, value in program.instructions:
            if op is Op.INPUT:
                self.values.append(next(inputs))
            elif op is Op.CONSTANT:
                self.values.append(value)
            elif op is Op.PART:
                self.values.append(self.tape.part(self.values[args[0]], value))
            elif isinstance(value, (Products, Solution)):
                operands = self.at(args)
                self.values.append(self.tape.table(replace(value, fused=False), operands))
            else:
                self.values.append(self.do(op, *self.at(args)))

    def at(self, places: Iterable[int]) -> Row:
        """The values at these places."""
        return [self.values[k] for k in places]

    def do(self, op: Op, *operands: Scalar) -> Scalar:
        """An operation on numbers of the tape and constants."""
        if not any(isinstance(x, Traced) for x in operands):
            return RULES[op](*map(float, operands))
        if op is Op.SQRT:
            return tapes.sqrt(operands[0])
        if op is Op.DIV:
            return operands[0] / operands[1]
        return self.tape.select(*operands) if op is Op.SELECT_LT else RULES[op](*operands)

    def finish(
        self, name: str, numbers: Iterable[Scalar], shapes: Sequence[tuple[int, ...]]
    ) -> Program:
        """The program of these numbers, results of these shapes one after the other."""
        flat = iter(numbers)
        results = tuple(nested(flat, shape) for shape in shapes)
        return drop_unused(self.tape.finish(name, results))


def chosen(program: Program, wrt: str | Sequence[str] | None) -> list[str]:
    """The arguments of a program with respect to which it is differentiated; None means all."""
    if wrt is None:
        return list(program.inputs)
    names = as_names("wrt", wrt)
    for name in names:
        if name not in program.inputs:
            raise MethodError(unknown(f"argument of {program.name}", name, program.inputs))
    if not names or len(set(names)) < len(names):
        raise MethodError(f"wrt is {names}; expected arguments of {program.name}, each once")
    return names


def fresh(name: str, taken: Iterable[str]) -> str:
    """A name that is not taken yet: with a number after it, if it is."""
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}{number}"
    return found
