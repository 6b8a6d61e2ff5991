"""The interpreter: what a program means. Slow, plain, and the truth for every back end."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from armdyn.errors import ShapeError
from armdyn.program.program import ARITY, Op, Program
from armdyn.program.tables import Loop
from armdyn.spatial import Scalar, select_lt, sincos


def evaluate(program: Program, inputs: Mapping[str, Sequence[Scalar]]) -> Any:
    """The results of a program: nested lists in its shapes, a tuple where there are several.

    Args:
        program: to execute, instruction by instruction.
        inputs: a sequence of numbers an argument: floats, mpmath numbers, or numpy arrays of
            one shape, for which every result is such an array, of the same values that the
            elements have one by one.
    """
    values = step_by_step(program, inputs)
    numbers = (values[k] for k in program.outputs)
    results = tuple(nested(numbers, shape) for shape in program.shapes)
    return results[0] if len(results) == 1 else results


def step_by_step(program: Program, inputs: Mapping[str, Sequence[Scalar]]) -> list[Scalar]:
    """The value of every instruction of a program; of a table, a list."""
    given: list[Scalar] = []
    for name, length in program.inputs.items():
        if name not in inputs or len(inputs[name]) != length:
            found = f"{len(inputs[name])}" if name in inputs else "nothing"
            raise ShapeError(f"{program.name}: {name} has {length} numbers, not {found}")
        given.extend(inputs[name])
    shape = np.broadcast_shapes(*(x.shape for x in given if isinstance(x, np.ndarray)))
    if shape:
        given = [np.array(np.broadcast_to(x, shape)) for x in given]
    rules = ARRAY_RULES if shape else RULES
    with np.errstate(all="ignore"):  # infinite and undefined numbers are numbers too
        return executed(program, given, partial(np.full, shape) if shape else float, rules)


def executed(
    program: Program,
    given: Sequence[Scalar],
    constant: Callable[[float], Scalar],
    rules: Mapping[Op, Callable[..., Scalar]],
) -> list[Scalar]:
    """The value of every instruction, of all that is given, by a rule for each operation."""
    values: list[Scalar] = []
    for k, (op, args, value) in enumerate(program.instructions):
        if op is Op.INPUT:
            values.append(given[k])
        elif op is Op.CONSTANT:
            values.append(constant(value))
        elif isinstance(value, Loop):
            operands = [values[arg] for arg in args]
            values.append(value.unrolled(operands, lambda op, *x: rules[op](*x)))
        elif op is Op.PART:
            values.append(values[args[0]][value])
        else:
            values.append(rules[op](*(values[arg] for arg in args)))
    return values


def nested(numbers: Iterator[Scalar], shape: tuple[int, ...]) -> Any:
    """The next numbers as nested lists of a shape."""
    if not shape:
        return next(numbers)
    return [nested(numbers, shape[1:]) for _ in range(shape[0])]


def divide(a: Scalar, b: Scalar) -> Scalar:
    """A / b; by zero as IEEE 754 has it."""
    if isinstance(b, float) and b == 0:
        return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1, b)
    return a / b


def fma(a: Scalar, b: Scalar, c: Scalar) -> Scalar:
    """A b + c; of floats, rounded once."""
    if not all(isinstance(x, float) and math.isfinite(x) for x in (a, b, c)):
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return float(exact) if exact else a * b + c
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def sqrt(x: Scalar) -> Scalar:
    """The square root; of a negative float, not a number."""
    if isinstance(x, (int, float)):
        return math.sqrt(x) if x >= 0 else math.nan
    return sys.modules[type(x).__module__.partition(".")[0]].sqrt(x)


RULES: dict[Op, Callable[..., Scalar]] = {
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
    Op.DIV: divide,
    Op.NEG: lambda a: -a,
    Op.FMA: fma,
    Op.SIN: lambda a: sincos(a)[0],
    Op.COS: lambda a: sincos(a)[1],
    Op.SQRT: sqrt,
    Op.SELECT_LT: select_lt,
}


def _elementwise(op: Op) -> Callable[..., Scalar]:
    """The rule of an operation on arrays: that on each of their elements, as a Python number."""
    each = np.frompyfunc(RULES[op], ARITY[op], 1)
    return lambda *arrays: each(*arrays).astype(np.result_type(float, *arrays))


ARRAY_RULES = {op: _elementwise(op) for op in RULES} | {
    op: RULES[op] for op in (Op.ADD, Op.SUB, Op.MUL, Op.NEG)
}
