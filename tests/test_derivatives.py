"""Derivatives of the dynamics: against complex steps, fifty digits, and what they must obey."""

import dataclasses
from decimal import Decimal, localcontext

import numpy as np
import pytest

import armdyn
from armdyn import Chain, Robot
from armdyn.algorithms import newton_euler
from armdyn.algorithms.catalogue import CATALOGUE
from armdyn.chain.random import STRUCTURES
from armdyn.comparison.exactness import DIGITS, leaves, random_states
from armdyn.program.program import Op
from armdyn.quantities import QUANTITIES
from armdyn.quantities.tasks import Task, formula, program
from tests.arms import with_rotors
from tests.interpreting import LEAST
from tests.sweeping import few

FIRST, FORWARD = "inverse_dynamics_derivatives", "forward_dynamics_derivatives"
SECOND, SLOPES = "inverse_dynamics_second_derivatives", "mass_matrix_derivative"
STEP = 1e-30  # of the complex step, whose error is its square
EPS = np.finfo(float).eps

MIXES = ("R", "P", "RR", "PR", "RP", "PP", "PRR", "RPR", "RRP", "RRPRRR", "PRPRRP", "RPRPRPR")
ARMS = [Chain.random(len(mix), mix, seed=3) for mix in MIXES]
ARMS += [
    with_rotors(Chain.random(5, mix, seed=5, structure=structure))
    for structure in STRUCTURES
    for mix in ("RRRRR", "RPRRP")
]
METHODS = {
    quantity: [method.name for method in CATALOGUE[quantity]]
    for quantity in (FIRST, FORWARD, SECOND, SLOPES)
}
CASES = [(quantity, name) for quantity, row in METHODS.items() for name in row]


def slopes(function, state, k):
    """The derivatives of a function by its k-th argument, its last index, by complex step."""
    columns = []
    for unit in np.eye(len(state[k])):
        moved = [list(map(complex, argument)) for argument in state]
        moved[k] = (np.array(state[k]) + 1j * STEP * unit).tolist()
        columns.append(np.array(function(*moved), complex).imag / STEP)
    return np.stack(columns, axis=-1)


def expected(chain, quantity, state):
    """What a quantity of derivatives is, by complex steps of what it is derived from."""

    def plain(name, method):
        return formula(chain, complex, Task(name, method))

    if quantity == SLOPES:
        return (slopes(plain("mass_matrix", "newton-euler"), state, 0),)
    if quantity == FORWARD:
        function = plain("forward_dynamics", "articulated-body")
        return tuple(slopes(function, state, k) for k in range(3))
    if quantity == FIRST:
        function = plain("inverse_dynamics", "newton-euler")
        return tuple(slopes(function, state, k) for k in range(3))
    first = plain(FIRST, "newton-euler")
    by_q, by_qd, by_qdd = (slopes(lambda *s: first(*s)[0], state, k) for k in range(3))
    return by_q, by_qd, slopes(lambda *s: first(*s)[1], state, 1), by_qdd


def close(found, truth, tolerance):
    """Each result to a tolerance of its own largest number."""
    for result, right in zip(found, truth, strict=True):
        size = max(np.abs(right).max(), 1e-3)
        np.testing.assert_allclose(result, right, rtol=0, atol=tolerance * size)


def several(results):
    return results if isinstance(results, tuple) else (results,)


@pytest.mark.parametrize("quantity, method", CASES)
def test_every_method_is_the_derivative(quantity, method):
    """On every mix of joints and structure; rotors are in dtau/dqdd and in its inverse."""
    rng = np.random.default_rng(2)
    for chain in ARMS if quantity in (FIRST, SLOPES) else ARMS[::4]:
        found = next(m for m in CATALOGUE[quantity] if m.name == method)
        if found.refuses(chain.on(float)):
            continue
        state = rng.uniform(-2, 2, (len(QUANTITIES[quantity].arguments), chain.n)).tolist()
        results = several(formula(chain, float, Task(quantity, method))(*state))
        close([np.array(x, float) for x in results], expected(chain, quantity, state), 1e-10)


LARGE = {
    kinds + structure: Chain.random(len(kinds), kinds, seed=7, structure=structure)
    for kinds, structure in [
        ("RRRRRRRRRRRR", "generic"),
        ("RPRRPRRRP", "generic"),
        ("PPRPPRPPPRPPP", "orthogonal"),
        ("RRRRRRRRRRRRRRRR", "spherical-wrist"),
        ("RRRRRRRR", "parallel"),
    ]
}
LARGE["one turns, others slide"] = Chain.from_mdh(  # the first table recorded waits for sines
    b=[0.1, 0.1, 0, 0.1, 0.1, 0.1, 0, 0.1, 0.1, 0, 0.1, 0, 0.1, 0],
    beta=[30, 30, 90, 90, 0, 0, 90, 30, -90, 0, 90, 30, 90, -90],
    d=[0, 0.2] * 7,
    theta=[90, 90, 20, 20, 20, 20, 0, 20, 20, 90, 90, 20, 20, 0],
    joints="R" + "P" * 13,
    degrees=True,
    mass=range(1, 15),
    com=[(0.1, 0.2, 0.3)] * 14,
    inertia=[np.eye(3)] * 14,
    check="warn",
)


@pytest.mark.parametrize("name", few(LARGE, 0, 1, 5))
def test_loops_over_joints_are_the_derivative(name):
    """Compiled, one state and many; what is solved with M is as far off as that is singular."""
    chain = LARGE[name]
    robot, state = Robot(chain), np.random.default_rng(8).uniform(-1, 1, (3, 9, chain.n))
    assert any(
        ins.op is Op.EACH for ins in program(chain, [Task(FIRST, "singh-base")]).instructions
    )
    for quantity, tolerance in ((FIRST, 1e-11), (FORWARD, 1e-6)):
        method = {"method": "singh-base"} if quantity == FIRST else {}
        many = getattr(robot, quantity)(*state, **method)
        one = getattr(robot, quantity)(*state[:, 4], **method)
        other = formula(chain, float, Task(quantity, METHODS[quantity][-1 if method == {} else 0]))
        close(one, [np.array(x, float) for x in other(*state[:, 4].tolist())], tolerance)
        for alone, found in zip(one, many, strict=True):
            np.testing.assert_array_equal(found[4], alone)


# Shipped arms, compiled --------------------------------------------------------------------------


def in_fifty_digits(chain, quantity, states):
    """A quantity by its reference, rounded once; states are (count, n) each."""
    method = QUANTITIES[quantity].references[0]
    with localcontext(prec=DIGITS):
        function = formula(chain, Decimal, Task(quantity, method))
        rows = [
            list(leaves(function(*([Decimal(x) for x in argument] for argument in state))))
            for state in zip(*(array.tolist() for array in states), strict=True)
        ]
    flat = np.array(rows, float)
    shapes = [result.shape(chain) for result in QUANTITIES[quantity].results]
    ends = np.cumsum([np.prod(shape, dtype=int) for shape in shapes])[:-1]
    parts = np.split(flat, ends, axis=1)
    return [part.reshape(-1, *shape) for part, shape in zip(parts, shapes, strict=True)]


SHIPPED = [  # most take long to compile
    pytest.param(arm, marks=() if arm in ("scara", "stanford", "ur5") else pytest.mark.sweep)
    for arm in armdyn.robots()
]


@pytest.mark.parametrize("arm", SHIPPED)
def test_inverse_dynamics_loses_at_most_ten_roundings(arm):
    """Of the largest element that each matrix has in any of the states."""
    robot = armdyn.load(arm)
    states = random_states(robot.chain, 10)
    given = [states[name] for name in ("q", "qd", "qdd")]
    found = robot.inverse_dynamics_derivatives(*given)
    for result, truth in zip(found, in_fifty_digits(robot.chain, FIRST, given), strict=True):
        assert np.abs(result - truth).max() <= 10 * EPS * np.abs(truth).max()


@pytest.mark.parametrize("arm", SHIPPED)
def test_forward_dynamics_loses_no_more_than_the_condition_of_m_explains(arm):
    """At most fifty roundings times it, of the largest element of each matrix."""
    robot = armdyn.load(arm)
    states = random_states(robot.chain, 10)
    given = [states[name] for name in ("q", "qd", "tau")]
    condition = np.linalg.cond(robot.mass_matrix(states["q"]))
    found = robot.forward_dynamics_derivatives(*given)
    for result, truth in zip(found, in_fifty_digits(robot.chain, FORWARD, given), strict=True):
        size = np.abs(truth).max(axis=(1, 2))
        assert (np.abs(result - truth).max(axis=(1, 2)) <= 50 * EPS * condition * size).all()


@pytest.mark.parametrize("arm", ["two_link", "scara", "stanford"])
def test_second_derivatives_are_right_to_fifty_digits(arm):
    robot = armdyn.load(arm)
    states = random_states(robot.chain, 3)
    given = [states[name] for name in ("q", "qd", "qdd")]
    found = robot.inverse_dynamics_second_derivatives(*given)
    close(found, in_fifty_digits(robot.chain, SECOND, given), 1e-13)


@pytest.mark.sweep
@pytest.mark.parametrize("arm", ["ur5", "panda"])
def test_second_derivatives_of_large_arms_are_right_to_fifty_digits(arm):
    test_second_derivatives_are_right_to_fifty_digits(arm)


# What they must obey -----------------------------------------------------------------------------


def damped():
    return Robot(with_rotors(Chain.random(4, "RPRR", seed=7)))


def differences(function, x, h=1e-4):
    """The Jacobian of a function of a vector, by Richardson's central differences."""

    def central(h):
        moves = h * np.eye(len(x))
        return np.stack([(function(x + d) - function(x - d)) / (2 * h) for d in moves], axis=-1)

    return (4 * central(h / 2) - central(h)) / 3


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics"])
def test_friction_adds_its_slope(quantity):
    """Viscous and Coulomb's, in motion: against differences of the function with friction."""
    robot = damped()
    state = list(np.random.default_rng(3).uniform(0.5, 1.5, (3, 4)) * [1, -1, 1, -1])
    found = getattr(robot, f"{quantity}_derivatives")(*state, friction=True)

    def moved(k):
        function = getattr(robot, quantity)
        return lambda x: function(*state[:k], x, *state[k + 1 :], friction=True)

    close(found, [differences(moved(k), state[k]) for k in range(3)], 1e-9)
    frictionless = getattr(robot, f"{quantity}_derivatives")(*state)
    assert not np.allclose(found[1], frictionless[1])


def test_dry_friction_has_no_slope_at_rest():
    robot = damped()
    q, rest = np.linspace(-1, 1, 4), np.zeros(4)
    found = robot.inverse_dynamics_derivatives(q, rest, rest, friction=True)
    plain = robot.inverse_dynamics_derivatives(q, rest, rest)
    np.testing.assert_allclose(found[1] - plain[1], 0.5 * np.eye(4), atol=1e-15)
    np.testing.assert_array_equal(found[0], plain[0])


def test_the_derivatives_of_forward_and_inverse_dynamics_fit_each_other():
    """qdd(q, qd, tau(q, qd, qdd)) = qdd: its derivative by each argument."""
    robot = damped()
    q, qd, qdd = np.random.default_rng(4).uniform(-1, 1, (3, 4))
    dq, dqd, M = robot.inverse_dynamics_derivatives(q, qd, qdd)
    fq, fqd, inverse = robot.forward_dynamics_derivatives(q, qd, robot.inverse_dynamics(q, qd, qdd))
    np.testing.assert_allclose(inverse @ M, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(fq + inverse @ dq, 0, atol=1e-10)
    np.testing.assert_allclose(fqd + inverse @ dqd, 0, atol=1e-10)


def test_the_speed_torque_is_twice_coriolis_and_second_derivatives_are_christoffel_symbols():
    """C qd + g = b, so db/dqd = 2 C; and b is a quadratic form of the symbols in qd."""
    robot = damped()
    q, qd, qdd = np.random.default_rng(5).uniform(-1, 1, (3, 4))
    _, dqd, _ = robot.inverse_dynamics_derivatives(q, qd, qdd)
    np.testing.assert_allclose(dqd, 2 * robot.coriolis_matrix(q, qd), atol=1e-12)
    qq, q_qd, qd_qd, q_qdd = robot.inverse_dynamics_second_derivatives(q, qd, qdd)
    np.testing.assert_allclose(qd_qd, 2 * robot.christoffel(q), atol=1e-12)
    np.testing.assert_allclose(qq, qq.swapaxes(1, 2), atol=1e-12)
    np.testing.assert_allclose(q_qdd, robot.mass_matrix_derivative(q).swapaxes(1, 2), atol=1e-12)
    np.testing.assert_allclose(
        np.einsum("ijk,k->ij", q_qd, qd),
        2
        * np.array(slopes(formula(robot.chain, complex, Task("bias", "newton-euler")), [q, qd], 0))
        - 2
        * np.array(slopes(formula(robot.chain, complex, Task("gravity", "newton-euler")), [q], 0)),
        atol=1e-11,
    )


def test_mass_matrix_derivative_is_the_sum_of_two_symbols():
    robot = damped()
    q = np.linspace(-1, 1, 4)
    Gamma = robot.christoffel(q)
    np.testing.assert_allclose(
        robot.mass_matrix_derivative(q), Gamma + Gamma.swapaxes(0, 1), atol=1e-13
    )


@pytest.mark.parametrize("quantity, method", [(FIRST, "singh-base"), (FORWARD, "ldl")])
def test_long_arms_have_tables_of_products(quantity, method):
    """As loops, compiled, what the formula gives on floats, below the diagonals and above them."""
    chain = with_rotors(Chain.random(16, "RRRRPRRRRRRRRRRR", seed=3))
    state = np.random.default_rng(2).uniform(-1, 1, (3, 16))
    task = Task(quantity, method).settled(chain)
    assert any(each.op is Op.PRODUCTS for each in program(chain, [task]).instructions)
    truth = formula(chain, float, task)(*state.tolist())
    found = getattr(Robot(chain), quantity)(*state, method=method)
    close(found, [np.array(x, float) for x in truth], 1e-9 if quantity == FORWARD else 1e-12)


# Quantities of several results are quantities like others ----------------------------------------


def test_a_comparison_judges_all_results(interpreted, own_catalogue):
    """Every method is right; one that is wrong in its last result alone is called wrong."""
    robot = Robot(Chain.random(3, "RPR", seed=1))

    def halved(arm, q, qd, qdd):
        dq, dqd, M = newton_euler_derivatives(arm, q, qd, qdd)
        return dq, dqd, [[m / 2 for m in row] for row in M]

    newton_euler_derivatives = CATALOGUE[FIRST][0].function
    armdyn.register(FIRST, "halved", halved)
    (ranking,) = armdyn.compare(robot, [FIRST], **LEAST).rankings
    verdicts = {row.method: row.verdict for row in ranking.rows}
    assert verdicts.pop("halved") == "wrong"
    assert set(verdicts.values()) == {"right"} and len(verdicts) == len(METHODS[FIRST])


def test_a_registered_method_of_several_results_must_prove_right(own_catalogue, caplog):
    """A free one is passed over where it is wrong, and chosen where it is right."""
    chain = Chain.random(3, "PPP", seed=8).with_gravity((0, 0, 0))

    def constant(arm, q, qd, qdd):
        nothing = [[0] * arm.n for _ in range(arm.n)]
        return nothing, nothing, newton_euler.mass_matrix(arm, q)

    armdyn.register(FIRST, "constant", constant)
    chosen = next(row.name for row in Robot(chain).methods(FIRST) if row.chosen)
    costs = {row.name: row.operations for row in Robot(chain).methods(FIRST)}
    assert costs["constant"] == 0 and chosen in [n for n, cost in costs.items() if cost == 0]
    turning = dataclasses.replace(Chain.random(3, "RRR", seed=8), name="turning")
    assert next(row.name for row in Robot(turning).methods(FIRST) if row.chosen) != "constant"
    assert "is not computed by constant: it is off" in caplog.text


def test_results_are_written_in_place_and_shared_with_other_quantities():
    robot = damped()
    state = np.random.default_rng(6).uniform(-1, 1, (3, 5, 4))
    out = tuple(np.empty((5, 4, 4)) for _ in range(3))
    found = robot.inverse_dynamics_derivatives(*state, out=out)
    assert all(a is b for a, b in zip(found, out, strict=True))
    tau, *again = robot.function("inverse_dynamics", FIRST)(*state)
    np.testing.assert_allclose(tau, robot.inverse_dynamics(*state), atol=1e-12)
    close(again, found, 1e-13)
