"""Tangents, adjoints and Jacobians of programs, of whatever they compute."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from armdyn import Chain, MethodError, TraceError, load, robots
from armdyn.program import tape
from armdyn.program.adjoints import vjp
from armdyn.program.fma import place_fma
from armdyn.program.interpreter import evaluate
from armdyn.program.jacobians import jacobian
from armdyn.program.passes import cost, unroll
from armdyn.program.program import TABLES, Instruction, Op, Program
from armdyn.program.tables import Products
from armdyn.program.tangents import jvp
from armdyn.program.tape import record
from armdyn.quantities.tasks import Task, program, quantities_of
from armdyn.spatial import Vector, select_lt, sincos
from armdyn.spatial.matrices import products, solve
from tests.arms import with_rotors

EPS = np.finfo(float).eps
STEP = 1e-30  # a complex step has no cancellation, so it may be as small as one likes


def flat(results):
    """All numbers of nested results, one after the other."""
    if isinstance(results, (tuple, list)):
        return [x for each in results for x in flat(each)]
    return [results]


def given(program, seed=0, low=-1.0, high=1.0):
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(low, high, n).tolist() for name, n in program.inputs.items()}


def moved(program, state, along, step):
    """The results at the state, moved by a step."""
    there = {
        name: [x + step * t for x, t in zip(state[name], along.get(name, [0] * n), strict=True)]
        for name, n in program.inputs.items()
    }
    return flat(evaluate(program, there))


def difference(program, state, along):
    """The derivative along a direction by differences in fifty digits."""
    with mpmath.workdps(50):
        exact = {name: list(map(mpmath.mpf, x)) for name, x in state.items()}
        h = mpmath.mpf(10) ** -17
        ahead, behind = (moved(program, exact, along, s) for s in (h, -h))
        return [float((a - b) / (2 * h)) for a, b in zip(ahead, behind, strict=True)]


def complex_step(program, state, along):
    return [complex(x).imag / STEP for x in moved(program, state, along, 1j * STEP)]


def in_fifty_digits(program, inputs):
    """The results as floats, computed in so many digits: no rounding hides or feigns an error."""
    with mpmath.workdps(50):
        exact = {name: list(map(mpmath.mpf, x)) for name, x in inputs.items()}
        return list(map(float, flat(evaluate(program, exact))))


def tangents(program, state, along):
    """The derivative along a direction by ``jvp``."""
    moving = {f"{name}_tangent": t for name, t in along.items()}
    return in_fifty_digits(jvp(program, list(along)).check(), state | moving)


def gradients(program, state, weights, wrt=None):
    """The gradients by ``vjp`` of the results, all in one list, times weights."""
    made, first = vjp(program, wrt).check(), 0
    cotangents = {}
    for name, n in list(made.inputs.items())[len(program.inputs) :]:
        cotangents[name] = weights[first : first + n]
        first += n
    return in_fifty_digits(made, state | cotangents)


def truth_of(program):
    """How the true derivative of a program is found: complex numbers cannot be compared."""
    chooses = any(op is Op.SELECT_LT for op, _, _ in program.instructions)
    return difference if chooses else complex_step


def assert_close(found, expected, times=200):
    size = max(1e-300, *(abs(x) for x in expected))
    assert np.isfinite(expected).all()
    np.testing.assert_allclose(found, expected, rtol=0, atol=times * EPS * size)


def assert_derivatives_agree(program, state, truth, seed=5):
    """Tangents, adjoints and both Jacobians against a true derivative along random directions."""
    rng = np.random.default_rng(seed)
    along = {name: rng.normal(size=n).tolist() for name, n in program.inputs.items()}
    expected = truth(program, state, along)
    assert_close(tangents(program, state, along), expected)
    weights = rng.normal(size=len(program.outputs)).tolist()
    gradient = gradients(program, state, weights)
    scale = sum(abs(a * b) for a, b in zip(flat(list(along.values())), gradient, strict=True))
    one, other = np.dot(weights, expected), np.dot(flat(list(along.values())), gradient)
    assert abs(one - other) <= 200 * EPS * max(scale, np.abs(np.multiply(weights, expected)).sum())


# Every operation ---------------------------------------------------------------------------------


def one_of_each(x, y):
    """Every operation at least once, and results of several shapes."""
    (s0, c0), (s1, c1) = sincos(x[0]), sincos(x[1] * y[0])
    u, v = c0 * x[2] - s0 * y[1], s0 * x[2] + c0 * y[1]
    root = tape.sqrt(2 + u * u + v * x[2]) if isinstance(u, tape.Traced) else None
    ratio = (s1 - 3) / (2 + c1 * x[2])
    chosen = select_lt(x[0], y[0], root * u, select_lt(u, 3, v / root, -u))
    return [[u * ratio, -root], [chosen, 1 / (5 + v)]], ratio + chosen * s1, [c1, 2.0, x[0]]


RECORDED = record(one_of_each, {"x": 3, "y": 2}, "each")
FUSED = place_fma(RECORDED)


def test_the_programs_have_every_operation():
    loops = {*TABLES, Op.PART}
    found = {op for each in (RECORDED, FUSED) for op, _, _ in each.instructions}
    assert found == set(Op) - loops


@pytest.mark.parametrize("made", [RECORDED, FUSED], ids=["recorded", "fused"])
@pytest.mark.parametrize("seed", range(8))
def test_every_operation_against_differences_in_fifty_digits(made, seed):
    assert_derivatives_agree(made, given(made, seed), difference)


@pytest.mark.parametrize("made", [RECORDED, FUSED], ids=["recorded", "fused"])
@pytest.mark.parametrize("mode", ["forward", "reverse", "cheaper"])
def test_a_jacobian_has_a_column_for_each_number(made, mode):
    state = given(made, 3)
    found = evaluate(jacobian(made, mode=mode).check(), state)
    assert [np.shape(x) for x in found] == [
        *((2, 2, 3), (2, 2, 2), (3,), (2,)),
        *((3, 3), (3, 2)),
    ]
    for name, place in (("x", 0), ("y", 1)):
        for i in range(made.inputs[name]):
            unit = {name: np.eye(made.inputs[name])[i].tolist()}
            column = [np.ravel(part[..., i]) for part in map(np.array, found[place::2])]
            assert_close(np.concatenate(column), difference(made, state, unit))


def test_a_jacobian_with_respect_to_some_in_their_order():
    state = given(RECORDED)
    every = evaluate(jacobian(RECORDED), state)
    swapped = evaluate(jacobian(RECORDED, ["y", "x"]), state)
    for k in range(3):
        np.testing.assert_allclose(swapped[2 * k], every[2 * k + 1], rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(swapped[2 * k + 1], every[2 * k], rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(evaluate(jacobian(RECORDED, "y"), state)[0], every[1], rtol=1e-13)


CLOSED = {  # a function of one number, and its derivative
    "constant": (lambda x: 0 * x + 3, lambda x: 0),
    "square": (lambda x: x * x, lambda x: 2 * x),
    "cube": (lambda x: x * x * x, lambda x: 3 * x * x),
    "reciprocal": (lambda x: 1 / x, lambda x: -1 / x**2),
    "quotient": (lambda x: (x + 1) / (x - 2), lambda x: -3 / (x - 2) ** 2),
    "halved": (lambda x: x / 3, lambda x: 1 / 3),
    "sine": (lambda x: sincos(x)[0], math.cos),
    "cosine of -2x": (lambda x: sincos(-2 * x)[1], lambda x: -2 * math.sin(2 * x)),
    "root": (tape.sqrt, lambda x: 0.5 / math.sqrt(x)),
    "modulus": (lambda x: select_lt(x, 0, -x, x), lambda x: math.copysign(1, x)),
    "sign": (lambda x: select_lt(x, 0, -1, 1), lambda x: 0),
    "chosen by a constant": (
        lambda x: x.tape.select(0, x, x * x, -x),
        lambda x: 2 * x if x > 0 else -1,
    ),
}


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("way", ["jvp", "vjp", "forward", "reverse"])
def test_closed_forms(name, way):
    function, derivative = CLOSED[name]
    made = record(lambda x: function(x[0]), {"x": 1})
    for x in (0.7, 1.9) if name == "root" else (0.7, -1.3, 1.9):
        if way == "jvp":
            found = evaluate(jvp(made), {"x": [x], "x_tangent": [2.0]}) / 2
        elif way == "vjp":
            (found,) = evaluate(vjp(made), {"x": [x], "cotangent": [2.0]})
            found = found / 2
        else:
            (found,) = evaluate(jacobian(made, mode=way), {"x": [x]})
        assert found == pytest.approx(derivative(x), rel=1e-14)


def test_what_is_not_chosen_makes_no_nan():
    """Where x < 0 the root is not a number, and tangents do not look at its derivative.

    Adjoints multiply it by zero; so there the root's argument is chosen, as ``vjp`` says.
    """

    def chosen_late(x):
        return select_lt(x[0], 0, 2 * x[0], tape.sqrt(x[0]))

    def chosen_early(x):
        return select_lt(x[0], 0, 2 * x[0], tape.sqrt(select_lt(x[0], 0, 1, x[0])))

    for x, slope in ((-4.0, 2.0), (4.0, 0.25)):
        for function in (chosen_late, chosen_early):
            made = record(function, {"x": 1})
            assert evaluate(jvp(made), {"x": [x], "x_tangent": [1.0]}) == slope
            assert evaluate(jacobian(made, mode="forward"), {"x": [x]}) == [slope]
        assert evaluate(vjp(made), {"x": [x], "cotangent": [1.0]}) == [slope]
        assert evaluate(jacobian(made, mode="reverse"), {"x": [x]}) == [slope]


# Names and errors --------------------------------------------------------------------------------


def test_inputs_and_results_of_the_new_programs():
    both = {"x": 3, "y": 2}
    assert jvp(RECORDED).inputs == both | {"x_tangent": 3, "y_tangent": 2}
    assert jvp(RECORDED, "y").inputs == both | {"y_tangent": 2}
    assert jvp(RECORDED).shapes == RECORDED.shapes
    assert vjp(RECORDED).inputs == both | {"cotangent1": 4, "cotangent2": 1, "cotangent3": 3}
    assert vjp(RECORDED, "y", ["a", "b", "x"]).inputs == both | {"a": 4, "b": 1, "x2": 3}
    assert vjp(RECORDED).shapes == ((3,), (2,)) and vjp(RECORDED, ["y"]).shapes == ((2,),)
    twice = jvp(jvp(RECORDED, "x"), "x")
    assert list(twice.inputs) == ["x", "y", "x_tangent", "x_tangent2"]
    assert jacobian(RECORDED).inputs == both


@pytest.mark.parametrize("derive", [jvp, vjp, jacobian])
def test_unknown_names_are_refused(derive):
    angle = record(lambda angle: angle, {"angle": 2}, "f")
    with pytest.raises(MethodError, match=r"no argument of f 'angel'; did you mean 'angle'\?"):
        derive(angle, "angel")
    for wrt in ([], ["angle", "angle"], 3, [3]):
        with pytest.raises(MethodError, match="wrt"):
            derive(angle, wrt)


def test_unknown_modes_are_refused():
    for mode in ("revers", None, 3):
        with pytest.raises(MethodError, match="no mode"):
            jacobian(RECORDED, mode=mode)
    with pytest.raises(TraceError, match="each has 3 results, not 2"):
        vjp(RECORDED, cotangents=["a", "b"])


# Higher orders -----------------------------------------------------------------------------------


def rosenbrock(x):
    return sum(
        100 * (x[i + 1] - x[i] * x[i]) * (x[i + 1] - x[i] * x[i]) + (1 - x[i]) * (1 - x[i])
        for i in range(len(x) - 1)
    )


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_the_hessian_of_rosenbrocks_function(mode):
    """In integers, exactly: printed by hand from its definition."""
    made = record(rosenbrock, {"x": 3})
    x = [3, -2, 5]
    gradient = [400 * 3 * (9 + 2) + 2 * 2, 200 * (-2 - 9) + 800 * (5 - 4) - 6, 200 * (5 - 4)]
    hessian = [
        [1200 * 9 - 400 * -2 + 2, -1200, 0],
        [-1200, 200 + 1200 * 4 - 400 * 5 + 2, 800],
        [0, 800, 200],
    ]
    weighted = {"x": list(map(Fraction, x)), "cotangent": [Fraction(1)]}
    assert evaluate(vjp(made), weighted) == gradient
    assert evaluate(jacobian(jacobian(made, mode=mode), mode=mode), weighted) == hessian
    assert evaluate(jacobian(vjp(made), "x", mode=mode), weighted) == hessian
    along = weighted | {"x_tangent": [1, 10, 100]}
    assert evaluate(jvp(vjp(made), "x"), along) == [a + 10 * b + 100 * c for a, b, c in hessian]
    assert evaluate(vjp(jvp(made), "x"), along) == evaluate(jvp(vjp(made), "x"), along)


def test_third_derivatives_by_derivatives_of_derivatives():
    made = record(lambda x: sincos(2 * x[0])[0] / x[0], {"x": 1})
    third = jvp(jacobian(vjp(made), "x"), "x")
    with mpmath.workdps(40):
        truth = mpmath.diff(lambda x: mpmath.sin(2 * x) / x, mpmath.mpf(0.7), 3)
    found = evaluate(third, {"x": [0.7], "cotangent": [1.0], "x_tangent": [1.0]})
    assert found[0][0] == pytest.approx(float(truth), rel=1e-12)


# Tables of products and triangular solutions -----------------------------------------------------


def tables(n):
    """Products, and the solution of the matrix they make, from rows of 6 numbers and a vector."""

    def function(x, y):
        rows = [[Vector(*x[k : k + 3]), Vector(*x[k + 3 : k + 6])] for k in range(0, 6 * n, 6)]
        scaled = [[y[i] * v for v in row] for i, row in enumerate(rows)]
        T = products(rows, scaled)
        M = [[T[i][j] + (20 + y[0] * y[0] if i == j else 0) for j in range(n)] for i in range(n)]
        return solve(M, [y[k] * x[k] for k in range(n)]), [row[::2] for row in T]

    return record(function, {"x": 6 * n, "y": n}, "tables")


@pytest.fixture
def looped(monkeypatch):
    monkeypatch.setattr(tape, "LOOPED", 0)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_tables_against_differences_in_fifty_digits(looped, n):
    made = tables(n)
    assert {Op.PRODUCTS, Op.SOLUTION} <= {op for op, _, _ in made.instructions}
    for each in (made, place_fma(made), unroll(made)):
        assert_derivatives_agree(each, given(made, n), difference)


def test_large_tables_stay_tables():
    made = tables(tape.SCATTERED * tape.LOOPED)
    state = given(made, 1)
    assert_derivatives_agree(made, state, complex_step)
    for derived, products_there, solutions_there in ((jvp(made), 2, 2), (vjp(made), 1, 2)):
        found = [op for op, _, _ in derived.instructions]
        assert found.count(Op.PRODUCTS) == products_there
        assert found.count(Op.SOLUTION) == solutions_there


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_jacobians_of_tables(looped, mode):
    made = tables(3)
    state = given(made, 2)
    looped_ones = evaluate(jacobian(made, mode=mode), state)
    plain_ones = evaluate(jacobian(unroll(made), mode=mode), state)
    for found, right in zip(looped_ones, plain_ones, strict=True):
        np.testing.assert_allclose(found, right, rtol=0, atol=1e-13 * np.abs(right).max())


def test_the_solution_of_what_does_not_move(looped):
    """M and y constant along a direction: the tangent is zero, and no table is made."""
    made = record(lambda x, z: [solve([[x[0], 1], [1, x[1]]], x), z], {"x": 2, "z": 2})
    assert Op.SOLUTION in {op for op, _, _ in made.instructions}
    for derived in (jvp(made, "z"), vjp(made, "z"), jacobian(made, "z")):
        assert Op.SOLUTION not in {op for op, _, _ in derived.instructions}
        assert cost(derived) == 0


def test_products_with_nothing():
    """What moves is multiplied by zeros: there is no table of tangents."""
    own = tape.Tape({"x": 2})
    ((x, y),) = own.arguments()
    place = own.table(Products(2, groups=(1,)), [x, y, 0, 0])
    made = own.finish("nothing", [own.part(place, 2)])
    assert evaluate(jvp(made), {"x": [1.0, 2.0], "x_tangent": [3.0, 4.0]}) == [0]
    for mode in ("forward", "reverse"):
        assert evaluate(jacobian(made, mode=mode), {"x": [1.0, 2.0]}) == [[0, 0]]


def test_part_of_a_program_by_hand():
    """Programs that no tape made: a select by a constant, a constant result, equal operands."""
    code = (
        Instruction(Op.INPUT, (), "x[0]"),
        Instruction(Op.CONSTANT, (), 2.0),
        Instruction(Op.SELECT_LT, (1, 0, 0, 1)),
        Instruction(Op.MUL, (2, 2)),
        Instruction(Op.SIN, (1,)),
        Instruction(Op.DIV, (3, 4)),
        Instruction(Op.SUB, (3, 3)),
    )
    made = Program("made", {"x": 1}, code, (5, 1, 6), ((3,),)).check()
    for x, slope in ((3.0, 6 / math.sin(2)), (1.0, 0.0)):
        for mode in ("forward", "reverse"):
            found = evaluate(jacobian(made, mode=mode), {"x": [x]})
            assert found == [[pytest.approx(slope, rel=1e-15)], [0], [0]]


def test_what_divides_by_zero_has_an_infinite_slope():
    code = (
        Instruction(Op.INPUT, (), "x[0]"),
        Instruction(Op.CONSTANT, (), 0.0),
        Instruction(Op.DIV, (0, 1)),
    )
    made = Program("made", {"x": 1}, code, (2,), ((),)).check()
    for mode in ("forward", "reverse"):
        assert evaluate(jacobian(made, mode=mode), {"x": [3.0]}) == [math.inf]


# Quantities of arms ------------------------------------------------------------------------------

ARMS = {name: load(name).chain for name in robots()}
RANDOM = {
    kinds: with_rotors(Chain.random(len(kinds), kinds, seed=7)) for kinds in ("R", "PR", "RPRP")
}


def all_of(*names):
    """The quantities that each of these arms has; third derivatives of torques are left out."""
    return [
        (quantity, name)
        for name in names
        for quantity in quantities_of((ARMS | RANDOM)[name])
        if quantity != "inverse_dynamics_second_derivatives"
    ]


@pytest.mark.parametrize(("quantity", "arm"), all_of(*RANDOM, "two_link"))
def test_quantities_against_true_derivatives(quantity, arm):
    chain = (ARMS | RANDOM)[arm]
    made = program(chain, [Task(quantity).settled(chain)])
    assert_derivatives_agree(made, given(made, 4, -2, 2), truth_of(made))


@pytest.mark.sweep
@pytest.mark.parametrize(("quantity", "arm"), all_of("scara", "stanford"))
def test_quantities_of_shipped_arms_against_true_derivatives(quantity, arm):
    made = program(ARMS[arm], [Task(quantity).settled(ARMS[arm])])
    assert_derivatives_agree(made, given(made, 4, -2, 2), truth_of(made))


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics"])
@pytest.mark.parametrize("arm", RANDOM)
def test_friction_against_differences_in_fifty_digits(quantity, arm):
    """Viscous friction has its slope, and Coulomb's is 0 on both sides of 0."""
    chain = RANDOM[arm]
    with_it, without = (
        program(chain, [Task(quantity, friction=friction).settled(chain)])
        for friction in (True, False)
    )
    state = given(with_it, 4, -2, 2)
    assert_derivatives_agree(with_it, state, difference)
    if quantity == "inverse_dynamics":
        dqd, plain = (
            np.array(evaluate(jacobian(made, "qd"), state)) for made in (with_it, without)
        )
        viscous = np.diag([joint.viscous for joint in chain.joints])
        np.testing.assert_allclose(dqd - plain, viscous, atol=1e-12 * np.abs(plain).max())


@pytest.mark.parametrize("arm", ["panda", "ur5", "puma560", "RPRP"])
def test_a_hessian_of_inverse_dynamics_is_symmetric(arm):
    chain = (ARMS | RANDOM)[arm]
    weighted = vjp(program(chain, [Task("inverse_dynamics").settled(chain)]), ["q", "qd"])
    state = given(weighted, 2, -2, 2)
    blocks = list(map(np.array, evaluate(jacobian(weighted, ["q", "qd"]), state)))
    H = np.block([blocks[:2], blocks[2:]])
    np.testing.assert_allclose(H, H.T, rtol=0, atol=1e-13 * np.abs(H).max())
    direction = np.random.default_rng(1).normal(size=2 * chain.n)
    moving = dict(zip(("q_tangent", "qd_tangent"), direction.reshape(2, -1).tolist(), strict=True))
    found = flat(evaluate(jvp(weighted, ["q", "qd"]), state | moving))
    np.testing.assert_allclose(found, H @ direction, rtol=0, atol=1e-13 * np.abs(H).max() * chain.n)


# How exact they are --------------------------------------------------------------------------


@pytest.mark.parametrize("arm", ["ur5", "puma560", "stanford"])
def test_derivatives_are_exact_to_rounding(arm):
    """Of inverse dynamics within 10 eps of the largest element, against fifty digits."""
    chain = ARMS[arm]
    made = program(chain, [Task("inverse_dynamics").settled(chain)])
    state = given(made, 6, -2, 2)
    for name in ("q", "qd"):
        units = np.eye(chain.n).tolist()
        truth = np.array([difference(made, state, {name: unit}) for unit in units]).T
        for mode in ("forward", "reverse"):
            found = np.array(evaluate(jacobian(made, name, mode), state))
            assert np.abs(found - truth).max() <= 10 * EPS * np.abs(truth).max()


def _by_reciprocals(q):
    r, other = 1 / q[0], 1 / q[1]
    s, c = sincos(r)
    return [r * q[1] + r * r, other * r * 3.0, s * q[1] + c * q[1] * q[1] + c * q[1], s * r + c * r]


def _by_a_part(q):
    """The second result of a table, divided: no reciprocal, though its index is 1."""
    M = [[20.0 * q[0] if i == j else 0.1 for j in range(16)] for i in range(16)]
    y = solve(M, [q[1] + i for i in range(16)])
    return [y[1] / q[2] * q[0], y[2] / q[2] * q[0]]


@pytest.mark.parametrize("function", [_by_reciprocals, _by_a_part])
def test_products_with_reciprocals_hand_back_what_is_right(function):
    """By rows as by columns."""
    made = record(function, {"q": 3})
    state = {"q": [0.7, 1.3, -0.4]}
    rows, columns = (
        np.array(evaluate(jacobian(made, "q", mode), state)) for mode in ("reverse", "forward")
    )
    np.testing.assert_allclose(rows, columns, rtol=1e-12, atol=1e-12 * np.abs(columns).max())


# What they cost ----------------------------------------------------------------------------------


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics", "bias"])
def test_adjoints_cost_at_most_two_and_a_half_times_the_function(quantity, arm):
    made = program(ARMS[arm], [Task(quantity).settled(ARMS[arm])])
    assert cost(vjp(made)) <= 2.5 * cost(made)


def test_what_a_rotation_gives_back_is_on_the_tape():
    """Turning a vector costs 4 + 2; its gradient by the angle 2 + 1 more, its own 4 + 2."""

    def turned(angle, x):
        s, c = sincos(angle[0])
        return [c * x[0] - s * x[1], s * x[0] + c * x[1]]

    made = record(turned, {"angle": 1, "x": 2})
    assert cost(made) == 6
    assert cost(vjp(made)) == 6 + 3 + 6
    assert cost(jvp(made)) == 6 + 6 + 4
    assert cost(vjp(made, "angle")) == 6 + 3
    assert cost(jacobian(made, "angle")) == 6


def test_the_cheaper_mode_is_chosen():
    """Few results of many arguments: by rows. Many results of few arguments: by columns."""

    def sines(x):
        s, c = sincos(x[0])
        return [s * c * k + (s * s + c * x[1]) * (x[1] + k) for k in range(12)]

    few, many = record(math.prod, {"x": 12}), record(sines, {"x": 2})
    both = program(ARMS["panda"], [Task("inverse_dynamics").settled(ARMS["panda"])])
    for made, best in ((few, "reverse"), (many, "forward"), (both, "reverse")):
        costs = {mode: cost(jacobian(made, mode=mode)) for mode in ("forward", "reverse")}
        assert cost(jacobian(made)) == costs[best] == min(costs.values()) < max(costs.values())
