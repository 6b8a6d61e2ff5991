"""Forward dynamics in the frame of a shoulder, on arms whose first axes meet in a point."""

from fractions import Fraction

import numpy as np
import pytest

import armdyn
from armdyn import Chain
from armdyn.algorithms import newton_euler, shoulder
from armdyn.errors import MethodError
from armdyn.quantities.tasks import cheapest, program_cost
from tests.arms import with_rotors, with_shoulder
from tests.test_newton_euler import bent

SHOULDERS = [
    pytest.param(with_shoulder(Chain.random(3), 2), id="two axes of three"),
    pytest.param(with_shoulder(Chain.random(6), 2), id="two axes of six"),
    pytest.param(with_shoulder(Chain.random(7), 3), id="three axes of seven"),
    pytest.param(with_rotors(with_shoulder(Chain.random(7), 3, -0.2)), id="three, with rotors"),
    pytest.param(with_shoulder(Chain.random(5), 4), id="four axes of five"),
    pytest.param(with_rotors(armdyn.load("panda").chain), id="panda with rotors"),
]


@pytest.mark.parametrize(("joints", "axes"), [(3, 2), (6, 3), (7, 3), (5, 4)])
def test_it_gives_back_the_motion_exactly(joints, axes):
    """On fractions, with (cos, sin) in place of the angles, not a digit is lost."""
    chain = with_shoulder(bent("R" * joints, [0, *[1, -1] * 4][:joints]), axes)
    rng = np.random.default_rng(joints)
    turns = [Fraction(int(t), 7) for t in rng.integers(1, 9, joints)]
    q = [((1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)) for t in turns]
    qd, qdd = ([Fraction(int(x)) for x in v] for v in rng.integers(-5, 5, (2, joints)))
    tau = newton_euler.inverse_dynamics(chain.on(Fraction), q, qd, qdd)
    assert shoulder.forward_dynamics(chain.on(Fraction, "flat"), q, qd, tau) == qdd


@pytest.mark.parametrize("chain", SHOULDERS)
def test_it_is_the_solution_of_the_equations_of_motion(chain):
    robot = armdyn.Robot(chain)
    q, qd, tau = np.random.default_rng(1).uniform(-2, 2, (3, 20, chain.n))
    found = robot.forward_dynamics(q, qd, tau, method="ldl-shoulder")
    back = robot.inverse_dynamics(q, qd, found)
    scale = np.abs(robot.mass_matrix(q)).max() * np.abs(found).max()
    np.testing.assert_allclose(back, tau, rtol=0, atol=1e-11 * scale)


@pytest.mark.parametrize("given", [(), ("payload",), ("gravity",)])
def test_a_panda_takes_fewer_operations_by_it(given):
    chain = armdyn.load("panda").chain
    assert cheapest(chain, "forward_dynamics", given) == "ldl-shoulder"
    assert program_cost(chain, "forward_dynamics", "ldl-shoulder", given) < program_cost(
        chain, "forward_dynamics", "ldl", given
    )


@pytest.mark.parametrize(
    ("chain", "reason"),
    [
        (Chain.random(4, "RRRR"), "do not meet in one point"),
        (armdyn.load("ur5").chain, "do not meet in one point, away from the frame of the last"),
        (with_shoulder(Chain.random(16), 2), "it has 16 joints"),
        (armdyn.load("stanford").chain, "it has a prismatic joint"),
    ],
)
def test_other_arms_are_told_why_not(chain, reason):
    q = np.zeros(chain.n)
    with pytest.raises(MethodError, match=reason):
        armdyn.Robot(chain).forward_dynamics(q, q, q, method="ldl-shoulder")
