"""Adjoints: how a weighted sum of a program's results depends on every value in it, last to first.

The weights are the cotangents of the results. The cotangent of any other value is the sum of what
its users hand back to it, each its own cotangent times its slope by that value.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from armdyn.errors import TraceError
from armdyn.program.program import TABLES, TRIG, Op, Program
from armdyn.program.replay import Replay, chosen, fresh
from armdyn.program.slopes import Term, is_zero, slopes, total
from armdyn.program.tables import Products, Solution
from armdyn.spatial import Row, Scalar


def vjp(
    program: Program,
    wrt: str | Sequence[str] | None = None,
    cotangents: Sequence[str] | None = None,
) -> Program:
    """Vector times Jacobian, without the Jacobian: the gradient of a weighted sum of the results.

    The new program takes the program's arguments, then for each result its weights, an argument of
    as many numbers: ``cotangent``, or ``cotangent1``, ``cotangent2``, ... where there are several
    results, unless names are given. Its results are the gradients with respect to the arguments of
    ``wrt``, a vector each. It costs little more than twice what the program costs, however many
    arguments there are. The ``jvp`` of it is a Hessian-vector product.

    What ``select_lt`` does not choose has the cotangent 0, and 0 times a slope that is infinite or
    not a number is not a number: choose an operation's argument so that its slope is finite.

    Args:
        program: what is differentiated, made by ``record`` or by another derivative.
        wrt: the arguments whose gradients are wanted, one name or several; all if not given.
        cotangents: the names of the weights, one a result; with a number after it where it is
            taken.

    Raises:
        MethodError: for a name that is no argument of the program.
    """
    names = chosen(program, wrt)
    more: dict[str, int] = {}
    for name, shape in zip(_names(program, cotangents), program.shapes, strict=True):
        more[fresh(name, {*program.inputs, *more})] = math.prod(shape)
    replay = Replay(program, more)
    weights = [x for name in more for x in replay.given[name]]
    gradients = adjoints(replay, weights)
    numbers = [x for name in names for x in gradients[name]]
    shapes = [(program.inputs[name],) for name in names]
    return replay.finish(f"{program.name}_vjp", numbers, shapes)


def _names(program: Program, given: Sequence[str] | None) -> list[str]:
    """What the weights of the results are called."""
    results = len(program.shapes)
    if given is None:
        return [f"cotangent{k + 1}" for k in range(results)] if results > 1 else ["cotangent"]
    if len(given) != results:
        raise TraceError(f"{program.name} has {results} results, not {len(given)}")
    return list(given)


def adjoints(on: Replay, weights: Row) -> dict[str, Row]:
    """The cotangents of all arguments, given those of the results, one number after the other."""
    found = iter(_Adjoints(on, weights).inputs())
    return {name: [next(found) for _ in range(size)] for name, size in on.program.inputs.items()}


class _Adjoints:
    """The terms that are handed back to each value, as the instructions are gone through."""

    def __init__(self, on: Replay, weights: Row) -> None:
        self.on = on
        self.terms: defaultdict[int, list[Term]] = defaultdict(list)
        self.shares: defaultdict[int, list[Term]] = defaultdict(list)  # of reciprocals, times them
        self.tables: defaultdict[int, dict[int, Scalar]] = defaultdict(dict)  # of their results
        for k, weight in zip(on.program.outputs, weights, strict=True):
            self._give(k, weight)
        for k in reversed(range(sum(on.program.inputs.values()), len(on.program.instructions))):
            if k in self.terms or k in self.shares or k in self.tables:
                self._hand_back(k)

    def inputs(self) -> Row:
        """The cotangents of the program's inputs."""
        return [total(self.terms[k]) for k in range(sum(self.on.program.inputs.values()))]

    def _give(self, k: int, cotangent: Scalar, slope: Scalar = 1) -> None:
        if not is_zero(cotangent) and not is_zero(slope):
            self.terms[k].append((cotangent, slope))

    def _hand_back(self, k: int) -> None:
        """Give the operands of instruction k their terms."""
        on, (op, args, value) = self.on, self.on.program.instructions[k]
        if op in TABLES:
            rule = _products if op is Op.PRODUCTS else _solution
            for arg, cotangent in zip(args, rule(on, value, k, self.tables[k]), strict=True):
                self._give(arg, cotangent)
            return
        own, share = total(self.terms.pop(k, ())), total(self.shares.pop(k, ()))
        if (is_zero(own) and is_zero(share)) or op is Op.CONSTANT:
            return
        if op is Op.PART:
            self.tables[args[0]][value] = own
        elif op is Op.DIV:
            share = own * on.do(Op.DIV, 1, on.values[args[1]]) + share
            self._give(args[0], share)
            self._give(args[1], -share, on.values[k])
        elif op is Op.SELECT_LT:
            condition = on.at(args[:2])
            self._give(args[2], on.do(op, *condition, own, 0))
            self._give(args[3], on.do(op, *condition, 0, own))
        else:
            for arg, slope in slopes(on, k):
                if op is Op.MUL and self._is_reciprocal(arg) and not self._has_sines(args):
                    self.shares[arg].append((own, on.values[k]))
                else:
                    self._give(arg, own, slope)

    def _is_reciprocal(self, k: int) -> bool:
        """Whether a value is r = 1 / x: by a product r a, with cotangent c, x takes -c (r a) r."""
        code = self.on.program.instructions
        op, args, _ = code[k]
        return op is Op.DIV and code[args[0]].op is Op.CONSTANT and code[args[0]].value == 1

    def _has_sines(self, args: Sequence[int]) -> bool:
        """Whether there is a sine among values: then slopes may be by its angle."""
        return any(self.on.program.instructions[k].op in TRIG for k in args)


def _products(on: Replay, table: Products, k: int, own: dict[int, Scalar]) -> Row:
    """Of T_ij = a_j . b_i, with w its cotangent: sum_i w_ij b_i for a_j, sum_j w_ij a_j for b_i."""
    n, middle = table.n, table.n * table.length
    x = on.at(on.program.instructions[k].args)
    terms: list[list[Term]] = [[] for _ in x]
    for index, weight in own.items():
        i, j = divmod(index, n)
        for a in range(0, middle, n):
            terms[a + j].append((weight, x[middle + a + i]))
            terms[middle + a + i].append((weight, x[a + j]))
    return list(map(total, terms))


def _solution(on: Replay, table: Solution, k: int, own: dict[int, Scalar]) -> Row:
    """Of M x = y: the z with M z = x' for y, and -z x^T, on both sides of the diagonal, for M."""
    n, size = table.n, table.triangle
    M = on.at(on.program.instructions[k].args[:size])
    x = [on.tape.part(on.values[k], i) for i in range(n)]
    place = on.tape.table(Solution(n), [*M, *(own.get(i, 0) for i in range(n)), 1])
    z = [on.tape.part(place, i) for i in range(n)]
    triangle = [
        -(z[i] * x[j] + z[j] * x[i]) if i > j else -(z[i] * x[i])
        for i in range(n)
        for j in range(i + 1)
    ]
    return [*triangle, *z, 0]
