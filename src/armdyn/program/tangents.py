"""Tangents: the derivative of a program along a direction, computed beside it, from first to last.

What is zero folds on the tape, and what is there already is not computed again: so the sparsity of
a derivative is found by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from armdyn.program.program import Op, Program
from armdyn.program.replay import Replay, chosen, fresh
from armdyn.program.slopes import Term, is_zero, slopes, together, total
from armdyn.program.tables import Products, Solution
from armdyn.spatial import Row, Scalar

SUMS = (Op.ADD, Op.SUB, Op.NEG)


def jvp(program: Program, wrt: str | Sequence[str] | None = None) -> Program:
    """The derivative of a program along a direction: Jacobian times vector, without the Jacobian.

    The new program takes the program's arguments, then for each argument x of ``wrt`` its tangent,
    an argument ``x_tangent`` of as many numbers (``x_tangent2`` where that name is taken). Its
    results are the tangents of the program's results, in the same shapes.

    Args:
        program: what is differentiated, made by ``record`` or by another derivative.
        wrt: the arguments that move, one name or several; all if not given.

    Raises:
        MethodError: for a name that is no argument of the program.
    """
    names = {name: fresh(f"{name}_tangent", program.inputs) for name in chosen(program, wrt)}
    replay = Replay(program, {new: program.inputs[name] for name, new in names.items()})
    found = tangents(replay, {name: replay.given[new] for name, new in names.items()})
    return replay.finish(f"{program.name}_jvp", found, program.shapes)


def tangents(on: Replay, moving: Mapping[str, Row]) -> Row:
    """The tangents of all results, given those of the arguments that move."""
    inputs = on.program.inputs.items()
    given = [x for name, size in inputs for x in moving.get(name, [0] * size)]
    return _Tangents(on, given).results()


class _Tangents:
    """The tangents of all values: terms apart where one sum alone needs them, else summed up."""

    def __init__(self, on: Replay, given: Row) -> None:
        self.on = on
        self.terms: list[list[Term]] = [[] if is_zero(x) else [(x, 1)] for x in given]
        self.tables: dict[int, Sequence[Scalar]] = {}  # of a table's results
        apart = _needed_by_one_sum(on.program)
        for k in range(len(given), len(on.program.instructions)):
            self.terms.append(self._terms(k))
            if k not in apart:
                self._at(k)

    def results(self) -> Row:
        """The tangents of the program's results."""
        return list(map(self._at, self.on.program.outputs))

    def _at(self, k: int) -> Scalar:
        """The tangent of the value at a place, from now on summed up."""
        found = total(self.terms[k])
        self.terms[k] = [] if is_zero(found) else [(found, 1)]
        return found

    def _terms(self, k: int) -> list[Term]:
        """The tangent of instruction k."""
        on, (op, args, value) = self.on, self.on.program.instructions[k]
        if op is Op.PART:
            return [(self.tables[args[0]][value], 1)] if args[0] in self.tables else []
        if not any(self.terms[arg] for arg in args):
            return []
        if op is Op.PRODUCTS or op is Op.SOLUTION:
            rule = _products if op is Op.PRODUCTS else _solution
            self.tables[k] = rule(on, value, k, list(map(self._at, args)))
            return []
        if op is Op.DIV:
            a, b = map(self._at, args)
            return [(a - on.values[k] * b, on.do(Op.DIV, 1, on.values[args[1]]))]
        if op is Op.SELECT_LT:
            condition = on.at(args[:2])
            return [(on.do(op, *condition, *map(self._at, args[2:])), 1)]
        if op in SUMS:
            return together((t, w * s) for arg, s in slopes(on, k) for t, w in self.terms[arg])
        return together((self._at(arg), s) for arg, s in slopes(on, k))


def _needed_by_one_sum(program: Program) -> set[int]:
    """The places of values that a sum needs and nothing else does."""
    uses = Counter(program.outputs)
    summed: set[int] = set()
    for op, args, _ in program.instructions:
        uses.update(args)
        summed.update(args if op in SUMS else ())
    return {k for k in summed if uses[k] == 1}


def _products(on: Replay, table: Products, k: int, t: Row) -> list[Any]:
    """da_j . b_i + a_j . db_i, again a table of products, by index."""
    n, middle = table.n, table.n * table.length
    x = on.at(on.program.instructions[k].args)
    left, right = [*t[:middle], *x[:middle]], [*x[middle:], *t[middle:]]
    columns = [(left[c : c + n], right[c : c + n]) for c in range(0, 2 * middle, n)]
    kept = [pair for pair in columns if not any(all(map(is_zero, side)) for side in pair)]
    if not kept:
        return [0] * n**2
    made = Products(n, groups=(len(kept),))
    place = on.tape.table(made, [x for side in (0, 1) for pair in kept for x in pair[side]])
    return [on.tape.part(place, i) if made.has(i) else None for i in range(n**2)]


def _solution(on: Replay, table: Solution, k: int, t: Row) -> Row:
    """The x' with M x' = y' - M' x, by index."""
    n, size = table.n, table.triangle
    M = on.at(on.program.instructions[k].args[:size])
    x = [on.tape.part(on.values[k], i) for i in range(n)]
    rest = [t[size + i] - total((t[table.place(i, j)], x[j]) for j in range(n)) for i in range(n)]
    there = on.tape.table(Solution(n), [*M, *rest, 1])
    return [on.tape.part(there, i) for i in range(n)]
