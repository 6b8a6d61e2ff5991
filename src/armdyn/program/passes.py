"""Passes, each ``Program -> Program``: they change no value.

Equal terms are shared, and constants folded, before any pass: while the tape records them.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

from armdyn.program.program import TABLES, Instruction, Op, Program, Value, packed
from armdyn.program.tables import Loop


class Rewriter:
    """A program as it is copied into a new one; equal instructions stay one.

    ``place[k]`` is where the value of the old instruction k stands in the new program.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.place = [0] * len(program.instructions)
        self.instructions: list[Instruction] = []
        self._known: dict[object, int] = {}

    def append(self, op: Op, *args: int, value: Value = None) -> int:
        """Where the instruction stands, appended now if it is new."""
        key = (op, repr(value)) if op is Op.CONSTANT else (op, args, value)  # 0 and -0 are two
        k = self._known.get(key)
        if k is None:
            k = self._known[key] = len(self.instructions)
            self.instructions.append(packed((op, args, value)))
        return k

    def copy(self, k: int) -> None:
        """Carry the old instruction k over as it is."""
        op, args, value = self.program.instructions[k]
        self.place[k] = self.append(op, *[self.place[arg] for arg in args], value=value)

    def finish(self) -> Program:
        """The new program."""
        outputs = tuple(self.place[k] for k in self.program.outputs)
        return replace(self.program, instructions=tuple(self.instructions), outputs=outputs)


def needed(program: Program) -> set[int]:
    """The places that some output depends on."""
    found = set(program.outputs)
    for k in reversed(range(len(program.instructions))):
        if k in found:
            found.update(program.instructions[k].args)
    return found


def drop_unused(program: Program) -> Program:
    """Keep what some output needs, and every input: the inputs are the signature."""
    kept = needed(program).union(range(sum(program.inputs.values())))
    if len(kept) == len(program.instructions):
        return program
    place = [0] * len(program.instructions)
    instructions: list[Instruction] = []
    for k, (op, args, value) in enumerate(program.instructions):
        if k in kept:
            place[k] = len(instructions)
            instructions.append(packed((op, tuple([place[arg] for arg in args]), value)))
    outputs = tuple(place[k] for k in program.outputs)
    return replace(program, instructions=tuple(instructions), outputs=outputs)


def unroll(program: Program, kinds: Collection[Op] = TABLES, below: float = math.inf) -> Program:
    """The same operations without loops: tables of some kinds and fewer than ``below`` rows."""
    chosen = {
        k
        for k, (op, _, value) in enumerate(program.instructions)
        if op in kinds and value.n < below
    }
    if not chosen:
        return program
    plain = Rewriter(program)
    results: dict[int, list[int]] = {}  # where all those of a table stand
    for k, (op, args, value) in enumerate(program.instructions):
        if k in chosen:
            results[k] = value.unrolled([plain.place[arg] for arg in args], plain.append)
        elif op is Op.PART and args[0] in results:
            plain.place[k] = results[args[0]][value]
        else:
            plain.copy(k)
    return plain.finish()


BRIEF = 4500  # instructions up to which a kernel for many states unrolls loops
ROUNDS = 16  # of fewer rounds than these


def unroll_brief(program: Program) -> Program:
    """A program for many states, of which each loop is run by all: without those that gain little.

    For one state they gain more: there its vectors hold several rows.
    """
    _, loops = costs(program)
    brief = len(program.instructions) + loops // 2 <= BRIEF
    return unroll(program, below=ROUNDS) if brief else program


WEIGHTS = {Op.ADD: 1, Op.SUB: 1, Op.MUL: 1, Op.FMA: 2, Op.DIV: 8, Op.SQRT: 8}


def cost(program: Program) -> int:
    """What a program costs: its multiplications, additions and subtractions, and 8 a division."""
    return sum(costs(program))


def costs(program: Program) -> tuple[int, int]:
    """The cost of a program outside its loops, and in them; unused instructions cost nothing."""
    plain = loops = 0
    for k in needed(program):
        op, _, value = program.instructions[k]
        plain += WEIGHTS.get(op, 0)
        if isinstance(value, Loop):
            loops += sum(WEIGHTS[op] * n for op, n in value.operations().items())
    return plain, loops
