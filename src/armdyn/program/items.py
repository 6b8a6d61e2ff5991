"""The same function of each of many items, recorded once: one instruction for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from armdyn.program import tape as tapes
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

    A number that is zero by structure in most items is so in all that are alike. Other items are
    recorded one by one, and so are all of them where few are alike, or where the function does
    what loops do not.
    """
    rows = [list(scalars(item)) for item in items]
    columns = list(zip(*rows, strict=True))
    zero = [2 * sum(map(is_structural_zero, column)) > len(items) for column in columns]
    spread = any(isinstance(column[0], Traced) and _is_one(column) for column in columns)
    alike = [i for i, row in enumerate(rows) if _is_alike(row, zero, spread)]
    if len(alike) < max(1, SPREAD if spread else tapes.LOOPED):
        return [function(*item) for item in items]
    result, program = _once(function, items[0], zero)
    if not {instruction.op for instruction in program.instructions} <= IN_LOOPS:
        return [function(*item) for item in items]
    kept = [column for column, is_zero in zip(columns, zero, strict=True) if not is_zero]
    numbers = _numbers(tape, program, [[column[i] for i in alike] for column in kept], len(alike))
    made = {i: _filled(result, row) for i, row in zip(alike, numbers, strict=True)}
    return [made[i] if i in made else function(*item) for i, item in enumerate(items)]


def _is_alike(row: Row, zero: Sequence[bool], exactly: bool) -> bool:
    """Whether numbers are zero by structure where they should be; exactly: nowhere else.

    An item that has more such zeros costs less by itself, but a column is whole only with it.
    """
    pairs = [(is_structural_zero(x), is_zero) for x, is_zero in zip(row, zero, strict=True)]
    return all(is_so == is_zero if exactly else is_so or not is_zero for is_so, is_zero in pairs)


def _is_one(column: Column) -> bool:
    """Whether all items have the same number there."""
    return len({x.ref if isinstance(x, Traced) else repr(x) for x in column}) == 1


def _once(function: Function, item: Item, zero: Sequence[bool]) -> tuple[Any, Program]:
    """What a function returns for such an item, on a tape of its own, and the program of that."""
    tape = Tape({"item": zero.count(False)})
    given = iter(tape.arguments()[0])
    result = function(*like(item, iter([0 if is_zero else next(given) for is_zero in zero])))
    program = tape.finish("each", [x for x in scalars(result) if isinstance(x, Traced)])
    return result, drop_unused(program)


def _filled(result: Any, numbers: Row) -> Any:
    """What a function returned, with these for its traced numbers."""
    given = iter(numbers)
    every = (next(given) if isinstance(x, Traced) else x for x in scalars(result))
    return like(result, every)


def _numbers(tape: Tape, program: Program, columns: Sequence[Column], n: int) -> list[Row]:
    """What a program gives for each of n rows of the columns of its arguments."""
    if not program.outputs:
        return [[] for _ in range(n)]
    code = program.instructions
    wanted = {*program.outputs, *(arg for instruction in code for arg in instruction.args)}
    used = {k: _is_one(column) for k, column in enumerate(columns) if k in wanted}
    own = [k for k, is_shared in used.items() if not is_shared]
    shared = [k for k, is_shared in used.items() if is_shared]
    constants = [k for k, instruction in enumerate(code) if instruction.op is Op.CONSTANT]
    place = {k: i for i, k in enumerate(own + shared + constants)}
    names = input_names({"item": len(own), "shared": len(shared) + len(constants)})
    body = [Instruction(Op.INPUT, (), name) for name in names]
    for k, (op, args, _) in enumerate(code):
        if op not in (Op.INPUT, Op.CONSTANT):
            place[k] = len(body)
            body.append(Instruction(op, tuple(place[arg] for arg in args)))
    outputs = tuple(dict.fromkeys(place[k] for k in program.outputs))
    table = Each(n, False, len(own), len(names) - len(own), tuple(body), outputs)
    operands = [x for k in own for x in columns[k]]
    operands += [columns[k][0] for k in shared] + [code[k].value for k in constants]
    there = tape.table(table, operands)
    results = [n * outputs.index(place[k]) for k in program.outputs]
    return [[tape.part(there, first + i) for first in results] for i in range(n)]
