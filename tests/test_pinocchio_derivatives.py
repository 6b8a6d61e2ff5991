"""Derivatives of the dynamics are Pinocchio's, on shipped arms and on random ones."""

import numpy as np
import pytest

import armdyn
from armdyn.chain.random import STRUCTURES
from armdyn.loaders import urdf
from armdyn.quantities.tasks import Task, formula
from tests.test_pinocchio import MODELS, SHIPPED, configuration, drawn, pinocchio, reduced
from tests.urdf_writer import write

INVERSE, FORWARD = "inverse_dynamics_derivatives", "forward_dynamics_derivatives"


def theirs(model, q, qd, qdd):
    """(dtau/dq, dtau/dqd, M) at qdd, and (dqdd/dq, dqdd/dqd, M^-1) at that torque, by Pinocchio."""
    data, q = model.createData(), configuration(model, q)
    tau = pinocchio.rnea(model, data, q, qd, qdd).copy()
    dq, dqd, M = (x.copy() for x in pinocchio.computeRNEADerivatives(model, data, q, qd, qdd))
    upper = np.triu(M)
    forward = pinocchio.computeABADerivatives(model, data, q, qd, tau)
    inverse = np.triu(forward[2])
    return tau, {
        INVERSE: (dq, dqd, upper + np.triu(upper, 1).T),
        FORWARD: (forward[0].copy(), forward[1].copy(), inverse + np.triu(inverse, 1).T),
    }


def check(found, truth, tolerance, what):
    for result, right in zip(found, truth, strict=True):
        right = right.reshape(np.shape(result))
        size = max(np.abs(right).max(), 1e-3)
        assert np.abs(result - right).max() <= tolerance * size, what


def in_state(text, chain, seed):
    """The state (q, qd, qdd), Pinocchio's torque in it, and its derivatives."""
    state = np.random.default_rng(seed).uniform(-2, 2, (3, chain.n))
    return state, *theirs(reduced(text, chain.locked), *state)


@pytest.mark.parametrize(
    "file",
    [pytest.param(file, marks=() if "ur5" in file else pytest.mark.sweep) for file in SHIPPED],
)
def test_shipped_arms(file):
    """As compiled, to 1e-10 of the largest element, forward dynamics times the condition of M."""
    text = (MODELS / file).read_text()
    robot = armdyn.Robot(urdf.load(text, snap=0))
    for seed in range(3):
        (q, qd, qdd), tau, truth = in_state(text, robot.chain, seed)
        check(robot.inverse_dynamics_derivatives(q, qd, qdd), truth[INVERSE], 1e-10, seed)
        check(robot.forward_dynamics_derivatives(q, qd, tau), truth[FORWARD], 1e-10, seed)


def check_random(numbers, methods):
    for number in numbers:
        n = 1 + number % 9
        text = write(drawn(n, number), number)
        chain = urdf.load(text, tip="tip", snap=0)
        (q, qd, qdd), tau, truth = in_state(text, chain, number)
        for quantity, method in methods:
            last = qdd if quantity == INVERSE else tau
            function = formula(chain, float, Task(quantity, method))
            found = function(q.tolist(), qd.tolist(), last.tolist())
            what = f"{quantity} by {method}: {chain.name}, {STRUCTURES[number % len(STRUCTURES)]}"
            check([np.array(x, float) for x in found], truth[quantity], 1e-10, what)


CLOSED = [(INVERSE, "singh-flat"), (INVERSE, "singh-base")]


def test_random_arms():
    """Of either kind of joint anywhere, by the closed forms."""
    check_random(range(0, 100, 7), CLOSED)


@pytest.mark.sweep
def test_a_hundred_random_arms_by_every_method():
    others = [(INVERSE, "newton-euler"), (INVERSE, "tape-forward")]
    others += [(FORWARD, "ldl"), (FORWARD, "articulated-body")]
    check_random(range(100), [*CLOSED, *others])
