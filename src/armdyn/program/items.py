"""The same function of each of many items, recorded once: one instruction for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from armdyn.program.passes import drop_unused
from armdyn.program.program import Instruction, Op, Program, input_names
from armdyn.program.tables import Each
from armdyn.program.tape import Tape, Traced
from armdyn.spatial import Row, Scalar, is_structural_zero
from armdyn.spatial.each import Function, Item, like, scalars

IN_LOOPS = {Op.INPUT, Op.CONSTANT, Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.NEG, Op.SQRT}
SPREAD = 12  # items from which on a loop pays that has to spread numbers which all items share
Column = Sequence[Scalar]  # the same number of each item


def recorded(tape: Tape, function: Function, items: Sequence[Item]) -> list[Any]:
    """The function of each item, by one instruction for all that are alike.

    A number that is zero by structure in most items is so in all that are alike. Other items, and
    all of them where the function does what loops do not, are recorded one by one; so is, where
    numbers are spread, an item that has more such zeros: it is cheap by itself.
    """
    rows = [list(scalars(item)) for item in items]
    columns = list(zip(*rows, strict=True))
    zero = [2 * sum(map(is_structural_zero, column)) > len(items) for column in columns]
    spread = any(_is_one(column) and isinstance(column[0], Traced) for column in columns)
    alike = [i for i, row in enumerate(rows) if _is_alike(row, zero, spread)]
    inner = Tape({"item": zero.count(False)})
    given = iter(inner.arguments()[0])
    result = function(*like(items[0], iter([0 if is_zero else next(given) for is_zero in zero])))
    program = inner.finish("each", [x for x in scalars(result) if isinstance(x, Traced)])
    program = drop_unused(program)
    fits = {instruction.op for instruction in program.instructions} <= IN_LOOPS
    if not fits or len(alike) < (SPREAD if spread else 1):
        return [function(*item) for item in items]
    kept = [column for column, is_zero in zip(columns, zero, strict=True) if not is_zero]
    numbers = _numbers(tape, program, [[column[i] for i in alike] for column in kept])
    found = [None if i in alike else function(*item) for i, item in enumerate(items)]
    for i, row in zip(alike, numbers, strict=True):
        parts = iter(row)
        every = (next(parts) if isinstance(x, Traced) else x for x in scalars(result))
        found[i] = like(result, every)
    return found


def _is_alike(row: Row, zero: Sequence[bool], exactly: bool) -> bool:
    """Whether numbers are zero by structure where they should be; exactly: nowhere else."""
    pairs = [(is_structural_zero(x), is_zero) for x, is_zero in zip(row, zero, strict=True)]
    return all(is_so == is_zero if exactly else is_so or not is_zero for is_so, is_zero in pairs)


def _is_one(column: Column) -> bool:
    """Whether all items have the same number there."""
    return len({x.ref if isinstance(x, Traced) else repr(x) for x in column}) == 1


def _numbers(tape: Tape, program: Program, columns: Sequence[Column]) -> list[Row]:
    """What a program gives for each row of the columns of its arguments."""
    code, n = program.instructions, len(columns[0])
    wanted = {*program.outputs, *(arg for instruction in code for arg in instruction.args)}
    used = [k for k in range(len(columns)) if k in wanted]
    own = [k for k in used if not _is_one(columns[k])]
    shared = [k for k in used if _is_one(columns[k])]
    constants = [k for k, instruction in enumerate(code) if instruction.op is Op.CONSTANT]
    place = {k: i for i, k in enumerate(own + shared + constants)}
    names = input_names({"item": len(own), "shared": len(shared) + len(constants)})
    body = [Instruction(Op.INPUT, (), name) for name in names]
    for k, (op, args, _) in enumerate(code):
        if op not in (Op.INPUT, Op.CONSTANT):
            place[k] = len(body)
            body.append(Instruction(op, tuple(place[arg] for arg in args)))
    outputs = tuple(dict.fromkeys(place[k] for k in program.outputs))
    table = Each(
        n,
        columns=len(own),
        shared=len(names) - len(own),
        body=tuple(body),
        outputs=outputs,
    )
    operands = [x for k in own for x in columns[k]]
    operands += [columns[k][0] for k in shared] + [code[k].value for k in constants]
    there = tape.table(table, operands)
    results = [n * outputs.index(place[k]) for k in program.outputs]
    return [[tape.part(there, first + i) for first in results] for i in range(n)]
