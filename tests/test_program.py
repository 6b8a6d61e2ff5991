"""Tape, program, passes and interpreter: what is recorded is what was computed, bit for bit."""

import dataclasses
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armdyn import Chain
from armdyn.algorithms import newton_euler
from armdyn.errors import ShapeError, TraceError
from armdyn.program.fma import place_fma
from armdyn.program.interpreter import evaluate
from armdyn.program.passes import cost, drop_unused
from armdyn.program.program import Instruction, Op, Program
from armdyn.program.tape import Tape, record, sqrt
from armdyn.quantities.tasks import Task, program
from armdyn.spatial import select_lt, sincos
from tests.arms import with_rotors


def operations(program):
    """How often each operation but input and constant occurs."""
    found = {}
    for instruction in program.instructions:
        if instruction.op not in (Op.INPUT, Op.CONSTANT):
            found[instruction.op.value] = found.get(instruction.op.value, 0) + 1
    return found


def of(function, length=3):
    """The operations recorded for a function of x[0], x[1], ..."""
    return operations(record(lambda x: function(*x), {"x": length}))


# Recording ---------------------------------------------------------------------------------------


def test_equal_instructions_are_merged():
    assert of(lambda a, b, c: [a * b + c, c + b * a, a * b]) == {"mul": 1, "add": 1}
    assert of(lambda a, b, c: [*sincos(a), *sincos(a)]) == {"sin": 1, "cos": 1}


def test_signs_are_normalised():
    assert of(lambda a, b, c: [a - b, b - a, a + (-b), -(b - a)]) == {"sub": 1, "neg": 1}
    assert of(lambda a, b, c: [(-a) * b, a * (-b), (-a) * (-b)]) == {"mul": 1, "neg": 1}
    assert of(lambda a, b, c: [-a - b, a + b]) == {"add": 1, "neg": 1}
    assert of(lambda a, b, c: [a * 3.0, a * -3.0, a - 2.0, 2.0 - a]) == {
        "mul": 1,
        "sub": 1,
        "neg": 2,
    }
    assert of(lambda a, b, c: [a / b, -a / b, a / -b]) == {"div": 1, "neg": 1}
    assert of(lambda a, b, c: [*sincos(-a), *sincos(a)]) == {"sin": 1, "cos": 1, "neg": 1}


@pytest.mark.parametrize("zero, one", [(0, 1), (0.0, 1.0), (-0.0, True)])
def test_zero_and_one_fold(zero, one):
    assert of(lambda a, b, c: [a + zero, zero + a, a - zero, a * one, one * a, a / one]) == {}
    assert of(lambda a, b, c: [a * zero, zero * a, zero / a, a - a]) == {}
    assert of(lambda a, b, c: [zero - a, a * -one, a / -one]) == {"neg": 1}


def test_constants_fold():
    assert of(lambda a, b, c: [a * (2.0 * 3.0 + 1.0)]) == {"mul": 1}
    program = record(lambda x: [x[0] * 7.0, 7.0, -7.0, 0], {"x": 1})
    constants = [ins.value for ins in program.instructions if ins.op is Op.CONSTANT]
    assert sorted(constants) == [-7.0, 0.0, 7.0]


def test_division_by_a_power_of_two_is_a_multiplication():
    assert of(lambda a, b, c: [a / 4, a / -0.5, a / 3]) == {"mul": 2, "div": 1, "neg": 1}


def test_powers_of_two_are_taken_together():
    """They are exact factors, so that no rounding is left out."""

    def needed(function):
        return operations(drop_unused(record(lambda x: function(*x), {"x": 2})))

    assert needed(lambda a, b: [3.1 * (2 * a), (b + b) * 0.7]) == {"mul": 2}
    assert needed(lambda a, b: [(4 * a) * -0.25, a - 2 * a, 2 * b - b]) == {"neg": 1}
    assert needed(lambda a, b: [4 * a + a, b - 0.5 * b]) == {"mul": 2}
    assert needed(lambda a, b: [2.0**30 * a + a]) == {"mul": 1, "add": 1}  # 2**30 + 1: no float32
    assert needed(lambda a, b: [1e308 * (4 * a)]) == {"mul": 2}  # 4e308 is no number
    assert needed(lambda a, b: [0.7 * (3.1 * a), b - 3.1 * b]) == {"mul": 3, "sub": 1}


@given(
    x=st.floats(1e-30, 1e30),
    k=st.integers(-12, 12),
    other=st.floats(-1e3, -1e-3) | st.floats(0.1, 1e3),
)
def test_multiples_by_powers_of_two_are_rounded_as_they_are_written(x, k, other):
    def multiples(x):
        scaled = 2.0**k * x
        return [scaled + x, x - scaled, scaled * other, other * (x + x), scaled - (x + x)]

    traced = record(lambda q: multiples(q[0]), {"q": 1})
    assert evaluate(traced, {"q": [x]}) == multiples(x)


def test_results_keep_their_shapes():
    program = record(lambda q: ([[q[0], 1], [0, q[1]]], [q[0]], q[1]), {"q": 2})
    assert program.shapes == ((2, 2), (1,), ())
    assert evaluate(program, {"q": [3.0, 4.0]}) == ([[3.0, 1.0], [0.0, 4.0]], [3.0], 4.0)
    with pytest.raises(TraceError, match="ragged"):
        record(lambda q: [[q[0]], [q[0], q[1]]], {"q": 2})


@pytest.mark.parametrize(
    "branch",
    [
        lambda a: 1 if a else 2,
        lambda a: a > 0,
        lambda a: a <= 1,
        lambda a: a == 0,
        lambda a: a != a,
        lambda a: a in (1.0, 2.0),
        lambda a: max(a, 0.0),
        lambda a: not a,
    ],
)
def test_a_branch_on_a_value_is_an_error(branch):
    with pytest.raises(TraceError, match="branch on the arm's structure"):
        record(lambda x: branch(x[0]), {"x": 1})


@pytest.mark.parametrize("convert", [float, int, complex, math.sin, math.sqrt, round, range])
def test_asking_for_a_value_is_an_error(convert):
    with pytest.raises((TraceError, TypeError)):
        record(lambda x: convert(x[0]), {"x": 1})


def test_arithmetic_with_a_stranger_is_refused():
    for operation in (
        lambda a: a + "1",
        lambda a: a - None,
        lambda a: a * {},
        lambda a: a / {},
        lambda a: {} / a,
    ):
        with pytest.raises(TypeError):
            record(lambda x, operation=operation: operation(x[0]), {"x": 1})


# The program -------------------------------------------------------------------------------------

NORM = record(
    lambda x, s: [s[0] * sqrt(x[0] * x[0] + x[1] * x[1]), -x[1]], {"x": 2, "s": 1}, "norm"
)


def test_a_program_prints():
    assert str(NORM).splitlines() == [
        "norm(x[2], s[1]):",
        "  %0 = input 'x[0]'",
        "  %1 = input 'x[1]'",
        "  %2 = input 's[0]'",
        "  %3 = mul %0 %0",
        "  %4 = mul %1 %1",
        "  %5 = add %3 %4",
        "  %6 = sqrt %5",
        "  %7 = mul %2 %6",
        "  %8 = neg %1",
        "  return [2] %7 %8",
    ]


def changed(place, instruction):
    """NORM with one instruction replaced."""
    instructions = list(NORM.instructions)
    instructions[place] = instruction
    return dataclasses.replace(NORM, instructions=tuple(instructions))


@pytest.mark.parametrize(
    "wrong, finding",
    [
        (changed(5, Instruction(Op.ADD, (3,))), "%5 = add %3: expected 2 arguments, not 1"),
        (changed(4, Instruction(Op.MUL, (1, 4))), "%4 = mul %1 %4: refers to something"),
        (changed(4, Instruction(Op.MUL, (-1, 1))), "refers to something"),
        (changed(3, Instruction(Op.CONSTANT, (), 2)), "a constant's value is a float, not 2"),
        (changed(3, Instruction(Op.MUL, (0, 0), 1.0)), "only an input and a constant"),
        (changed(3, Instruction(Op.INPUT, (), "y[0]")), "inputs come first"),
        (changed(1, Instruction(Op.INPUT, (), "y[0]")), "where its inputs are"),
        (dataclasses.replace(NORM, outputs=(7, 9)), "output %9 does not exist; the last is %8"),
        (dataclasses.replace(NORM, shapes=((3,),)), "hold 3 numbers, not 2"),
        (dataclasses.replace(NORM, inputs={"x": 2, "s": 2}), "where its inputs are"),
    ],
)
def test_a_wrong_program_is_shown(wrong, finding):
    assert isinstance(NORM.check(), Program)
    with pytest.raises(TraceError) as error:
        wrong.check()
    assert finding in str(error.value)


# The interpreter ---------------------------------------------------------------------------------


def test_every_operation_has_its_meaning():
    def everything(x):
        a, b = x
        sine, cosine = sincos(a)
        return [a + b, a - b, a * b, a / b, -a, sine, cosine, sqrt(b), select_lt(a, b, a, 9.0)]

    a, b = 0.3, 2.0
    expected = [a + b, a - b, a * b, a / b, -a, math.sin(a), math.cos(a), math.sqrt(b), a]
    program = record(everything, {"x": 2})
    assert evaluate(program, {"x": [a, b]}) == expected
    assert evaluate(program, {"x": [b, a]})[-1] == 9.0
    fma = Program("fma", {"x": 3}, (*record(list, {"x": 3}).instructions, FMA), (3,), ((),)).check()
    once = 2.0**-104  # (1 + 2^-52)^2 - (1 + 2^-51): lost if the product were rounded
    assert evaluate(fma, {"x": [1 + 2.0**-52, 1 + 2.0**-52, -(1 + 2.0**-51)]}) == once


FMA = Instruction(Op.FMA, (0, 1, 2))


@pytest.mark.parametrize(
    "a, b", [(1.0, 0.0), (-1.0, 0.0), (1.0, -0.0), (0.0, 0.0), (math.inf, 0.0)]
)
def test_division_by_zero_is_that_of_ieee_754(a, b):
    with np.errstate(all="ignore"):
        expected = float(np.float64(a) / np.float64(b))
    found = evaluate(record(lambda x: x[0] / x[1], {"x": 2}), {"x": [a, b]})
    np.testing.assert_equal(found, expected)


def test_roots_and_sines_of_nonsense_are_not_numbers():
    program = record(lambda x: [sqrt(x[0]), *sincos(x[1])], {"x": 2})
    assert all(map(math.isnan, evaluate(program, {"x": [-1.0, math.inf]})))
    assert all(map(math.isnan, evaluate(program, {"x": [math.nan, math.nan]})))


def test_a_wrong_input_is_named():
    with pytest.raises(ShapeError, match="norm: x has 2 numbers, not 3"):
        evaluate(NORM, {"x": [1.0, 2.0, 3.0], "s": [1.0]})
    with pytest.raises(ShapeError, match="norm: s has 1 numbers, not nothing"):
        evaluate(NORM, {"x": [1.0, 2.0]})


def test_other_numbers_run_through_the_interpreter():
    batch = np.array([[3.0, 5.0], [4.0, 12.0]])
    np.testing.assert_array_equal(evaluate(NORM, {"x": batch, "s": [np.ones(2)]})[0], [5.0, 13.0])
    with mpmath.workdps(50):
        exact = evaluate(NORM, {"x": [mpmath.mpf(1), mpmath.mpf(1)], "s": [1.0]})[0]
        assert abs(exact - mpmath.sqrt(2)) < mpmath.mpf("1e-49")


MAGIC = 1.5 * 2.0**52


def bits(numbers):
    return np.array(numbers, float).view("u8").tolist()


@pytest.mark.parametrize("shape", [(7,), (2, 3), (0,), (1,)])
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
def test_arrays_have_the_values_of_their_elements(quantity, shape):
    """With friction, which chooses by values; and with constants among the results."""
    chain = with_rotors(Chain.random(3, "RPP", seed=3))
    task = Task(quantity, friction=quantity != "mass_matrix").settled(chain)
    made = place_fma(program(chain, [task]))
    rng = np.random.default_rng(5)
    inputs = {name: rng.uniform(-1, 1, (length, *shape)) for name, length in made.inputs.items()}
    if "qd" in inputs:
        inputs["qd"][0] = 0.0  # at rest friction is zero
    found = np.array(evaluate(made, inputs))
    assert found.shape == made.shapes[0] + shape and found.dtype == float
    for at in np.ndindex(shape):
        one = {name: x[(..., *at)].tolist() for name, x in inputs.items()}
        assert bits(found[(..., *at)]) == bits(evaluate(made, one))


def test_arrays_of_nonsense_have_the_values_of_their_elements():
    """Every operation, of infinite, undefined, huge and tiny numbers; nothing warns."""

    def everything(x):
        a, b, c = x
        picked = select_lt(a, b, c, 1.0)
        return [a + b * c, a * b - c, a / b, 3 / a, *sincos(c), sqrt(b), -(a * c), picked]

    numbers = [0.0, -0.0, 1.0, -2.5, 1e-310, 1e300, -1e300, math.inf, -math.inf, math.nan]
    for made in (record(everything, {"x": 3}), place_fma(record(everything, {"x": 3}))):
        grid = np.stack(np.meshgrid(numbers, numbers, numbers)).reshape(3, -1)
        found = np.array(evaluate(made, {"x": grid}))
        for column, state in zip(found.T, grid.T, strict=True):
            np.testing.assert_array_equal(column, evaluate(made, {"x": state.tolist()}))


def test_a_number_among_arrays_is_the_same_for_all_elements():
    made = record(lambda x, s: [x[0] * sincos(s[0])[0], s[0], sqrt(s[0])], {"x": 1, "s": 1})
    found = evaluate(made, {"x": [np.arange(3.0)], "s": [0.5]})
    expected = [[i * math.sin(0.5), 0.5, math.sqrt(0.5)] for i in range(3)]
    np.testing.assert_array_equal(np.array(found).T, expected)


# Algorithms, and expressions of any form ---------------------------------------------------------

ARMS = [
    Chain.random(6, seed=2),
    Chain.random(5, "PRRPR", seed=4),
    Chain.random(6, seed=1, structure="orthogonal"),
]


@pytest.mark.parametrize("chain", ARMS, ids=lambda chain: chain.name)
def test_traced_newton_euler_equals_that_on_floats(chain):
    """Exactly: the same operations on the same numbers, up to the order of what commutes."""
    arm, n = chain.on(float), chain.n
    program = record(
        lambda *state: newton_euler.inverse_dynamics(arm, *state), {"q": n, "qd": n, "qdd": n}
    )
    for seed in range(5):
        state = np.random.default_rng(seed).uniform(-3, 3, (3, n)).tolist()
        inputs = dict(zip(("q", "qd", "qdd"), state, strict=True))
        assert evaluate(program, inputs) == newton_euler.inverse_dynamics(arm, *state)


def test_every_program_that_a_test_records_is_checked():
    """By conftest.py, for users' programs are not: a tape makes no wrong ones."""
    tape = Tape({"x": 1})
    tape.instructions.append(Instruction(Op.ADD, (0, 2)))
    with pytest.raises(TraceError, match="%1 = add %0 %2: refers to something"):
        tape.finish("f", tape.arguments()[0])


@pytest.mark.parametrize("chain", ARMS, ids=lambda chain: chain.name)
def test_dropping_what_is_unused_changes_nothing(chain):
    program = record(lambda q: newton_euler.mass_matrix(chain.on(float), q), {"q": chain.n})
    lean = drop_unused(program).check()
    q = {"q": np.random.default_rng(0).uniform(-3, 3, chain.n).tolist()}
    assert evaluate(lean, q) == evaluate(program, q)
    assert len(lean.instructions) < len(program.instructions)
    assert drop_unused(lean) is lean
    assert cost(program) == cost(lean) < sum(operations(program).values())
    used = {arg for ins in lean.instructions for arg in ins.args} | set(lean.outputs)
    unused = set(range(len(lean.instructions))) - used
    assert unused == {0} - used  # M does not depend on q[0], which stays an input


@pytest.mark.parametrize(
    "function, left",
    [
        (lambda a, b, c: [a * b + c], {"fma": 1}),
        (lambda a, b, c: [a * b + c, a * b + a], {"fma": 2}),  # two sums: both take it in
        (lambda a, b, c: [a * b + x for x in (a, b, c, a * b + a)], {"fma": 4}),  # or four
        (lambda a, b, c: [a * b + c, a * b], {"mul": 1, "add": 1}),  # a result: computed anyway
        (lambda a, b, c: [a * b + c, a * b * c], {"mul": 2, "add": 1}),  # a factor: likewise
        (lambda a, b, c: [a * b + c, sincos(a * b)[0]], {"mul": 1, "add": 1, "sin": 1}),
        (lambda a, b, c: [a * b + b * c, b * c + a], {"mul": 1, "fma": 2}),
        (lambda a, b, c: [a * b + b * c, b * c], {"mul": 1, "fma": 1}),
        (lambda a, b, c: [(a * b + b * c) + c], {"fma": 2}),  # a sum of products waits for another
        (lambda a, b, c: [(a * b - b * c) - (a * a - c * c)], {"mul": 1, "neg": 2, "fma": 3}),
        (lambda a, b, c: [c - (a * b - (b * c - a * a))], {"neg": 1, "fma": 3}),
        (lambda a, b, c: [(a * b + b * c) + a * b], {"mul": 1, "fma": 2}),  # the same one twice
        (lambda a, b, c: [x * x + a for x in [a * b + b * c]], {"mul": 1, "fma": 2}),  # a factor
        (
            lambda a, b, c: [x + c for x in [a * b + b * c]] + [a * b + b * c],
            {"mul": 1, "fma": 1, "add": 1},
        ),
    ],
)
def test_an_fma_takes_in_no_product_that_is_computed_anyway(function, left):
    made = record(lambda x: function(*x), {"x": 3})
    fused = place_fma(made)
    assert operations(fused) == left
    assert len(fused.instructions) <= len(made.instructions)
    numbers = [3.0, 5.0, 7.0]  # whole: no rounding
    if "sin" not in left:
        assert evaluate(fused, {"x": numbers}) == function(*numbers)


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b, c: [(a * b + MAGIC) - MAGIC],  # a b, rounded to a whole number
        lambda a, b, c: [((a + b) - a) - b],  # what their sum has lost
        lambda a, b, c: [(((a + b) - a) - b) + c * c],
    ],
)
def test_what_is_no_product_is_added_in_the_order_of_recording(function):
    """So that what is there for the sake of rounding stays, in a function that a user records."""
    numbers = [1e9 / 3, 1 / 7, 1e-4]
    fused = place_fma(record(lambda x: function(*x), {"x": 3}))
    (found,), (plain,) = evaluate(fused, {"x": numbers}), function(*numbers)
    assert plain and found == pytest.approx(plain, rel=1e-12, abs=0)


SUMS_OF_PRODUCTS = st.recursive(
    st.tuples(st.just("*"), st.integers(0, 3), st.integers(0, 3)) | st.integers(0, 3),
    lambda terms: st.tuples(st.sampled_from("+-"), terms, terms),
    max_leaves=12,
)


@given(
    trees=st.lists(SUMS_OF_PRODUCTS, min_size=1, max_size=4), x=st.tuples(*[st.integers(-9, 9)] * 4)
)
def test_sums_of_products_have_their_values_with_fma(trees, x):
    """Of small whole numbers, of which nothing is rounded."""
    x = [float(number) for number in x]
    fused = place_fma(record(lambda x: [value(tree, x) for tree in trees], {"x": 4})).check()
    assert evaluate(fused, {"x": x}) == [value(tree, x) for tree in trees]


def test_newton_euler_cost_grows_by_the_same_amount_per_link():
    def products(n):
        arm = Chain.random(n).on(float)
        program = record(
            lambda *state: newton_euler.inverse_dynamics(arm, *state), {"q": n, "qd": n, "qdd": n}
        )
        return operations(drop_unused(program))["mul"]

    costs = [products(n) for n in (4, 5, 6, 7)]
    assert len(set(np.diff(costs))) == 1


LEAVES = st.one_of(
    st.integers(0, 3),  # an input
    st.sampled_from([0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0]),
    st.floats(-10, 10).filter(lambda c: c == 0 or abs(c) > 1e-3),
)
TREES = st.recursive(
    LEAVES,
    lambda branches: st.one_of(
        st.tuples(st.sampled_from("+-*"), branches, branches),
        st.tuples(st.sampled_from(["neg", "sin", "cos"]), branches),
    ),
    max_leaves=40,
)


def value(tree, x):
    """A tree on any scalars."""
    if isinstance(tree, int):
        return x[tree]
    if isinstance(tree, float):
        return tree
    operator, *branches = tree
    a, *rest = (value(branch, x) for branch in branches)
    if operator == "+":
        return a + rest[0]
    if operator == "-":
        return a - rest[0]
    if operator == "*":
        return a * rest[0]
    return {"neg": -a, "sin": sincos(a)[0], "cos": sincos(a)[1]}[operator]


@given(
    trees=st.lists(TREES, min_size=1, max_size=4),
    x=st.lists(st.floats(-10, 10), min_size=4, max_size=4),
)
def test_any_expression_is_replayed_exactly(trees, x):
    """Rounding is symmetric and commutes, so not one bit may differ (but the sign of a zero)."""
    direct = [float(value(tree, x)) for tree in trees]
    program = record(lambda x: [value(tree, x) for tree in trees], {"x": 4})
    assert evaluate(program, {"x": x}) == direct
    assert evaluate(drop_unused(program).check(), {"x": x}) == direct


def test_marks_stay_with_what_is_recorded_first():
    tape = Tape({"x": 2})
    ((a, b),) = tape.arguments()
    with tape.mark("outer"):
        a * b
        with tape.mark("inner"):
            a + b
            a * b
    a - b
    assert tape.marks == [(), (), ("outer",), ("outer", "inner"), ()]
    assert tape.names == {"outer", "inner"}


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("first", [True, False])
def test_an_fma_keeps_signs_and_costs_a_product_and_a_sum(first, sign):
    def function(x):
        a, b, c = x
        product, other = a * b, a + c  # recorded in this order
        return [product + sign * other if first else other + sign * product]

    fused = place_fma(record(function, {"x": 3}))
    assert operations(fused)["fma"] == 1 and cost(fused) == 3
    numbers = [3.0, 5.0, 7.0]
    assert evaluate(fused, {"x": numbers}) == function(numbers)
