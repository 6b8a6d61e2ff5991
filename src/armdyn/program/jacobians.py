"""Jacobians of programs: by tangents a column at a time, or by adjoints a row at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from armdyn.errors import MethodError, unknown
from armdyn.program.adjoints import adjoints
from armdyn.program.passes import cost
from armdyn.program.program import Program
from armdyn.program.replay import Replay, chosen
from armdyn.program.tangents import tangents
from armdyn.spatial import Row

LOPSIDED = 4  # so many times more sweeps than the other way takes, and a way is not tried


def jacobian(
    program: Program, wrt: str | Sequence[str] | None = None, mode: str = "cheaper"
) -> Program:
    """All derivatives of a program's results with respect to some of its arguments.

    The new program takes the same arguments. Of a result of shape S and an argument of n numbers
    the derivative has the shape ``(*S, n)``. It has one result for each result of the program and
    each argument of ``wrt``: first those of the first result, in the order of ``wrt``, then those
    of the second.

    Args:
        program: what is differentiated, made by ``record`` or by another derivative.
        wrt: the arguments, one name or several; all if not given.
        mode: "forward" goes through the program once for each number of the arguments, "reverse"
            once for each number of the results; "cheaper" is the one whose program costs less.

    Raises:
        MethodError: for a name that is no argument of the program, or no mode.
    """
    names = chosen(program, wrt)
    if not isinstance(mode, str) or mode not in (*MODES, "cheaper"):
        raise MethodError(unknown("mode", mode, (*MODES, "cheaper")))
    if mode != "cheaper":
        return _made(program, names, mode)
    numbers, results = sum(program.inputs[name] for name in names), len(program.outputs)
    modes = [
        mode
        for mode, own, other in (("forward", numbers, results), ("reverse", results, numbers))
        if own <= LOPSIDED * other
    ]
    return min((_made(program, names, mode) for mode in modes), key=cost)


def _made(program: Program, names: Sequence[str], mode: str) -> Program:
    """The Jacobian in one mode."""
    replay = Replay(program)
    rows = MODES[mode](replay, names)
    numbers, shapes, first = [], [], 0
    for shape in program.shapes:
        size, start = math.prod(shape), 0
        for name in names:
            end = start + program.inputs[name]
            numbers += [x for row in rows[first : first + size] for x in row[start:end]]
            shapes.append((*shape, program.inputs[name]))
            start = end
        first += size
    return replay.finish(f"{program.name}_jacobian", numbers, shapes)


def _forward(on: Replay, names: Sequence[str]) -> list[Row]:
    """A row for each result, a column for each number of the arguments; by columns."""
    columns = [
        tangents(on, {name: _unit(size, i)})
        for name, size in ((name, on.program.inputs[name]) for name in names)
        for i in range(size)
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def _reverse(on: Replay, names: Sequence[str]) -> list[Row]:
    """A row for each result, a column for each number of the arguments; by rows."""
    size = len(on.program.outputs)
    found = (adjoints(on, _unit(size, i)) for i in range(size))
    return [[x for name in names for x in row[name]] for row in found]


def _unit(size: int, i: int) -> Row:
    return [int(k == i) for k in range(size)]


MODES: dict[str, Callable[[Replay, Sequence[str]], list[Row]]] = {
    "forward": _forward,
    "reverse": _reverse,
}
