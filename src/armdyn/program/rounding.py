"""How far rounding may carry a program's outputs, by their derivatives by every value in it.

Every operation is taken to be wrong by the most that rounding allows, with the worst of signs, and
what it does to an output is taken to first order. Fusing a product into a sum rounds less often and
stays within the bound.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from armdyn.program.interpreter import RULES
from armdyn.program.passes import unroll
from armdyn.program.program import Op, Program

UNIT = {"double": 2.0**-53, "float": 2.0**-24}  # the largest relative error of one rounding
LEAST = {"double": 2.0**-1022, "float": 2.0**-126}  # what is smaller may be flushed to zero
LIBM = 4  # roundings that a sine or cosine is worth, at 2 ulp; other operations are worth one

Numbers = Sequence[float]

DERIVATIVES: dict[Op, Callable[[Numbers, float], Numbers]] = {  # of y = op(x) by each operand
    Op.ADD: lambda x, y: (1, 1),
    Op.SUB: lambda x, y: (1, -1),
    Op.MUL: lambda x, y: (x[1], x[0]),
    Op.DIV: lambda x, y: (1 / x[1], -y / x[1]),
    Op.NEG: lambda x, y: (-1,),
    Op.FMA: lambda x, y: (x[1], x[0], 1),
    Op.SIN: lambda x, y: (math.cos(x[0]),),
    Op.COS: lambda x, y: (-math.sin(x[0]),),
    Op.SQRT: lambda x, y: (0.5 / y,),
    Op.SELECT_LT: lambda x, y: (0, 0, x[0] < x[1], x[0] >= x[1]),
}
ROUNDINGS = {Op.INPUT: 0, Op.NEG: 0, Op.SELECT_LT: 0, Op.SIN: LIBM, Op.COS: LIBM}


def rounded(value: float, dtype: str) -> float:
    """The nearest number of a type, "double" or "float"; infinite beyond its range."""
    if dtype == "double":
        return value
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def bounds(program: Program, inputs: Mapping[str, Numbers], dtype: str) -> np.ndarray:
    """How far each output, computed in a type, may be from the interpreter's in double.

    Args:
        program: what is computed.
        inputs: the numbers of each argument, exact in the type.
        dtype: "double" or "float".
    """
    program = unroll(program)
    values, own = _values_and_errors(program, inputs, dtype)
    found = np.zeros(len(program.outputs))
    slopes: dict[int, np.ndarray] = {}  # of all outputs, by the value at a place
    for i, k in enumerate(program.outputs):
        slopes.setdefault(k, np.zeros(len(found)))[i] = 1
    for k in reversed(range(len(values))):
        slope = slopes.pop(k, None)
        op, args, _ = program.instructions[k]
        if slope is None:
            continue
        found += own[k] * abs(slope)
        if args:
            by_each = DERIVATIVES[op]([values[arg] for arg in args], values[k])
            for arg, derivative in zip(args, by_each, strict=True):
                slopes[arg] = slopes.get(arg, 0) + derivative * slope
    return found


def _values_and_errors(
    program: Program, inputs: Mapping[str, Numbers], dtype: str
) -> tuple[list[float], list[float]]:
    """The value at each place, and the most by which rounding it alone makes it wrong."""
    unit, least = UNIT[dtype] + UNIT["double"], LEAST[dtype] + LEAST["double"]
    values = [x for name in program.inputs for x in inputs[name]]
    errors = [0.0] * len(values)
    for op, args, value in program.instructions[len(values) :]:
        if isinstance(value, float):
            values.append(value)
            errors.append(abs(rounded(value, dtype) - value))
        else:
            values.append(RULES[op](*(values[arg] for arg in args)))
            errors.append(ROUNDINGS.get(op, 1) * (unit * abs(values[-1]) + least))
    return values, errors
