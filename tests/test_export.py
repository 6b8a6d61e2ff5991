"""Exported C: it compiles without a warning, and its numbers are the interpreter's."""

import ctypes
import dataclasses
import math
import re

import mpmath
import numpy as np
import pytest

import armdyn
from armdyn import Chain, export
from armdyn.errors import ExportError
from armdyn.program import rounding
from armdyn.program.c import PART, Function, literal
from armdyn.program.fma import place_fma
from armdyn.program.interpreter import evaluate
from armdyn.program.program import Instruction, Op, Program
from armdyn.program.tape import record
from armdyn.quantities import QUANTITIES
from armdyn.quantities.tasks import Task, program, quantities_of
from tests.c_compiler import STRICT, gcc, needs_compiler

CORE = ("mass_matrix", "bias", "forward_dynamics")


def library(path, text, optimise="-O2"):
    """A C text as a library in memory."""
    source = path / "source.c"
    source.write_text(text)
    gcc(*STRICT, optimise, "-shared", "-fPIC", source, "-o", path / "source.so", "-lm")
    return ctypes.CDLL(str(path / "source.so"))


def call(compiled, function, state):
    """All numbers that a compiled function writes, one after the other."""
    kind = {"double": ctypes.c_double, "float": ctypes.c_float}[function.dtype]
    given = [(kind * len(state[name]))(*state[name]) for name in function.program.inputs]
    found = [(kind * math.prod(shape))() for shape in function.program.shapes]
    getattr(compiled, function.name)(*given, *found)
    return [x for array in found for x in array]


def interpreted(program, state):
    """The same numbers by the interpreter."""
    flat = dataclasses.replace(program, shapes=((len(program.outputs),),))
    return evaluate(flat, state)


def states(program, count, dtype="double", size=3.0):
    rng = np.random.default_rng(1)
    return [
        {
            name: [rounding.rounded(x, dtype) for x in rng.uniform(-size, size, n).tolist()]
            for name, n in program.inputs.items()
        }
        for _ in range(count)
    ]


def bits(numbers):
    """Numbers as integers, so that 0 and -0 differ; what is not a number is one and the same."""
    return [None if math.isnan(x) else int(np.float64(x).view(np.int64)) for x in numbers]


def function_of(chain, quantity, dtype="double", method=None, **options):
    task = Task(quantity, method).settled(chain)
    return Function(program(chain, [task]), quantity, export.result_names(task), dtype, **options)


def joined(functions):
    """The text of a file that has all these functions."""
    texts = [text for f in functions for text in (f.prototype, f.definition)]
    return "\n".join(["#include <math.h>", *texts, ""])


# Bit for bit -------------------------------------------------------------------------------------

FIRST_SLIDES = Chain.random(3, "PRP", seed=5)
ONE_JOINT = Chain.random(1, "P")  # its M depends on nothing: the argument is not used
CASES = {
    "puma560": (armdyn.load("puma560").chain, tuple(QUANTITIES)),
    "panda": (armdyn.load("panda").chain, CORE),
    "stanford": (armdyn.load("stanford").chain, CORE),
    "first slides": (FIRST_SLIDES, quantities_of(FIRST_SLIDES)),
    "one joint": (ONE_JOINT, quantities_of(ONE_JOINT)),
}


@needs_compiler
@pytest.mark.parametrize("case", CASES)
def test_double_equals_the_interpreter_bit_for_bit(case, tmp_path):
    chain, quantities = CASES[case]
    functions = [function_of(chain, quantity) for quantity in quantities]
    compiled = library(tmp_path, joined(functions))
    for function in functions:
        near, far = states(function.program, 20), states(function.program, 5, size=1e6)
        for state in near + far:
            found, expected = call(compiled, function, state), interpreted(function.program, state)
            assert bits(found) == bits(expected), function.name


@needs_compiler
@pytest.mark.parametrize("part", [PART, 50])
def test_fma_and_every_other_operation_equal_the_interpreter(part, tmp_path):
    inputs = record(list, {"x": 4}).instructions
    constants = [2.0, -3.5, 0.1, -0.0, math.inf, -math.inf, math.nan, 5e-324, 1.7e308]
    code = [*inputs, *(Instruction(Op.CONSTANT, (), value) for value in constants)]
    for a in (0, 1, 4, 5, 7, 8):
        code += [Instruction(op, (a,)) for op in (Op.NEG, Op.SIN, Op.COS, Op.SQRT)]
        for b in (1, 5, 6, 7, 9):
            code += [Instruction(op, (a, b)) for op in (Op.ADD, Op.SUB, Op.MUL, Op.DIV)]
            code += [Instruction(Op.FMA, (a, b, 2)), Instruction(Op.SELECT_LT, (a, b, 2, 3))]
    outputs = tuple(range(len(code)))
    everything = Program("f", {"x": 4}, tuple(code), outputs, ((len(code),),)).check()
    function = Function(everything, "everything", ["y"], "double", part)
    compiled = library(tmp_path, joined([function]))
    for x in ([0.3, 2.0, -1.5, 7.0], [-0.0, 0.0, 1.0, 1e300], [math.nan, -1e-310, 2.0, -3.0]):
        found = call(compiled, function, {"x": x})
        assert bits(found) == bits(interpreted(everything, {"x": x}))


@needs_compiler
def test_a_program_with_fma_placed_equals_the_interpreter(tmp_path):
    plain = function_of(CASES["puma560"][0], "bias")
    fused = dataclasses.replace(plain, program=place_fma(plain.program))
    assert "fma(" in fused.definition and "fma(" not in plain.definition
    compiled = library(tmp_path, joined([fused]))
    for state in states(fused.program, 5):
        assert bits(call(compiled, fused, state)) == bits(interpreted(fused.program, state))


@needs_compiler
@pytest.mark.parametrize("part", [1, 7, 100])
def test_where_a_program_is_cut_changes_nothing(part, tmp_path):
    function = function_of(FIRST_SLIDES, "forward_dynamics", part=part)
    text = function.definition
    parts = text.count("static void")
    assert parts == math.ceil(sum(bool(i.args) for i in function.program.instructions) / part)
    (scratch,) = (int(size) for size in re.findall(r"double w\[(\d+)\];", text))
    assert scratch < len(function.program.instructions) / 2  # slots are used again
    compiled = library(tmp_path, joined([function]), "-O1")
    for state in states(function.program, 3):
        assert bits(call(compiled, function, state)) == bits(interpreted(function.program, state))


@pytest.mark.parametrize("value", [0.1, -0.1, 1.0, -0.0, 5e-324, 1.7976931348623157e308, 2.0**70])
def test_constants_go_out_exactly(value):
    text = literal(value, "double").strip("()")
    assert bits([float.fromhex(text)]) == bits([value])
    if abs(value) < 1e38:
        text = literal(value, "float").strip("()")
        assert text.endswith("f") and float.fromhex(text[:-1]) == float(np.float32(value))


def test_a_constant_beyond_the_type_is_an_error():
    with pytest.raises(ExportError, match=r"the constant -1e\+39 is beyond the range of float"):
        literal(-1e39, "float")


# Rounding ----------------------------------------------------------------------------------------


def test_the_bound_of_a_rounding_is_that_of_ieee_754():
    """One rounding in each precision is at most half an ulp: u |a b|, and u |a b c| twice."""
    unit = 2.0**-24 + 2.0**-53
    product = record(lambda x: [x[0] * x[1], x[0] * x[1] * x[2], -x[0]], {"x": 3})
    found = rounding.bounds(product, {"x": [3.0, -5.0, 7.0]}, "float")
    np.testing.assert_allclose(found, [15 * unit, 2 * 105 * unit, 0], rtol=1e-12)
    cancelling = record(lambda x: [x[0] * x[1] - 15.0], {"x": 2})
    exact = rounding.bounds(cancelling, {"x": [3.0, 5.0]}, "float")
    np.testing.assert_allclose(exact, [15 * unit], rtol=1e-12)  # of the product; the sum is 0


@needs_compiler
@pytest.mark.parametrize("case", ["puma560", "panda", "stanford"])
def test_float_is_within_the_bound_of_exact_arithmetic_and_the_bound_is_tight(case, tmp_path):
    """Against 50 digits; and the bound is no excuse: 50 eps of what is summed, at most."""
    chain, _ = CASES[case]
    functions = [function_of(chain, quantity, "float") for quantity in CORE]
    compiled = library(tmp_path, joined(functions))
    for state in states(functions[-1].program, 3, "float"):
        with mpmath.workdps(50):
            numbers = {name: list(map(mpmath.mpf, x)) for name, x in state.items()}
            exact = {
                f.name: np.array(interpreted(f.program, numbers), dtype=float) for f in functions
            }
        for function in functions:
            error = np.abs(np.array(call(compiled, function, state)) - exact[function.name])
            bound = rounding.bounds(function.program, state, "float")
            assert np.all(error <= bound * (1 + 1e-6))
            assert bound.max() <= 50 * 2.0**-23 * scale(function.name, exact, state["tau"])


def scale(quantity, exact, tau):
    """How large the numbers are whose rounding a quantity suffers from."""
    if quantity != "forward_dynamics":
        return np.abs(exact[quantity]).max()
    M, b, qdd = (np.abs(exact[name]) for name in CORE)
    n = len(b)
    inverse = np.abs(np.linalg.inv(exact["mass_matrix"].reshape(n, n)))
    return (inverse @ (M.reshape(n, n) @ qdd + b + np.abs(tau))).max()
