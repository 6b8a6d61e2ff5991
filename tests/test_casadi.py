"""CasADi's functions are ours, and so are the derivatives that it makes of them."""

import sys

import numpy as np
import pytest

import armdyn
from armdyn import Chain, MethodError, Robot
from armdyn.program.interpreter import evaluate
from armdyn.program.jacobians import jacobian
from armdyn.program.tables import Loop
from armdyn.quantities import QUANTITIES
from armdyn.quantities.tasks import Task, program
from tests.arms import with_rotors

casadi = pytest.importorskip("casadi", reason="needs CasADi: pip install 'armdyn[casadi]'")

ARMS = {
    "two_link": armdyn.load("two_link"),
    "RPR": Robot(with_rotors(Chain.random(3, "RPR", seed=3))),
    "RRRRRR": Robot(Chain.random(6, seed=4)),
}


def states(program, count=3):
    rng = np.random.default_rng(0)
    return [{k: rng.uniform(-2, 2, size).tolist() for k, size in program.inputs.items()}
            for _ in range(count)]  # fmt: skip


def agree(found, expected, tolerance):
    """CasADi's matrices against nested lists of any shape."""
    found = found if isinstance(found, tuple) else (found,)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for one, two in zip(found, expected, strict=True):
        two = np.array(two, float)
        one = np.array(one).reshape(two.shape)
        assert np.abs(one - two).max() <= tolerance * max(1.0, np.abs(two).max())


def judge(robot, quantity, slopes=True, **options):
    """The function against the interpreter to 1e-13, its Jacobians against ours to 1e-10."""
    function = robot.casadi(quantity, **options)
    given = options.pop("arguments", ())
    task = Task(quantity, given=tuple(given), **options).settled(robot.chain)
    ours = program(robot.chain, [task])
    assert [function.name_in(i) for i in range(function.n_in())] == list(ours.inputs)
    results = [result.name for result in QUANTITIES[quantity].results]
    assert [function.name_out(i) for i in range(function.n_out())] == results
    slope = jacobian(ours) if slopes else None
    for state in states(ours):
        agree(function(*state.values()), evaluate(ours, state), 1e-13)
        if slope is not None:
            outs = [casadi.DM.zeros(*function.size_out(i)) for i in range(function.n_out())]
            found = function.jacobian()(*state.values(), *outs)
            agree(in_c_order(found, function), evaluate(slope, state), 1e-10)


def in_c_order(found, function):
    """CasADi stacks a matrix column by column; ours run row by row."""
    blocks = []
    for k, block in enumerate(found if isinstance(found, tuple) else (found,)):
        rows, columns = function.size_out(k // function.n_in())
        full = np.array(block).reshape(columns, rows, -1)
        blocks.append(full.transpose(1, 0, 2))
    return tuple(blocks)


@pytest.mark.parametrize("quantity", ["forward_dynamics", "inverse_dynamics", "mass_matrix"])
@pytest.mark.parametrize("name", ARMS)
def test_functions_and_derivatives_are_ours(quantity, name):
    judge(ARMS[name], quantity, slopes=name != "RRRRRR" or quantity == "mass_matrix")


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_every_quantity_is_one(quantity):
    robot = ARMS["RRRRRR" if quantity.startswith("operational") else "two_link"]
    judge(robot, quantity, slopes=False)


def test_options_reach_the_function():
    robot = ARMS["RPR"]
    judge(robot, "inverse_dynamics", friction=True)
    judge(robot, "forward_dynamics", friction=True)
    judge(robot, "pose", frame="link2")
    judge(robot, "jacobian", axes="frame")
    judge(robot, "mass_matrix", method="lin1991")
    judge(robot, "forward_dynamics", arguments=("gravity", "wrench"), slopes=False)


def test_coulomb_friction_at_rest_and_beside_it():
    """Which a product with a step function would make a number out of nothing, or NaN."""
    function = ARMS["RPR"].casadi("inverse_dynamics", friction=True)
    plain = ARMS["RPR"].casadi("inverse_dynamics")
    for speed, sizes in ((0.0, (0, 0, 0)), (1e-9, (0.4, 1.4, 2.4)), (-1e-9, (-0.3, -1.3, -2.3))):
        more = function([0.1] * 3, [speed] * 3, [0] * 3) - plain([0.1] * 3, [speed] * 3, [0] * 3)
        assert np.array(more).ravel() == pytest.approx(np.array(sizes, float), abs=1e-6)


def test_tables_of_large_arms_are_unrolled():
    chain = Chain.random(20, seed=1)
    ours = program(chain, [Task("mass_matrix", "gdahj").settled(chain)])
    assert any(isinstance(instruction.value, Loop) for instruction in ours.instructions)
    function = Robot(chain).casadi("mass_matrix", method="gdahj")
    (state,) = states(ours, 1)
    agree(function(*state.values()), evaluate(ours, state), 1e-13)


def test_what_cannot_be_is_said(monkeypatch):
    robot = ARMS["two_link"]
    with pytest.raises(MethodError, match="did you mean 'bias'"):
        robot.casadi("biass")
    with pytest.raises(MethodError, match="no option of bias 'frame'"):
        robot.casadi("bias", frame="forearm")
    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(MethodError, match=r"pip install 'armdyn\[casadi\]'"):
        robot.casadi("bias")
