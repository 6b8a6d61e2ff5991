"""Newton-Euler's shorter ways: angles of parallel joints summed, bodies flat across their axes."""

from fractions import Fraction

import numpy as np
import pytest

import armdyn
from armdyn import Chain
from armdyn.algorithms import (
    newton_euler,
    newton_euler_angles,
    newton_euler_flat,
    newton_euler_sums,
)
from armdyn.algorithms.catalogue import operations
from armdyn.quantities.tasks import cheapest, program_cost
from tests.test_minimal import special_arm

SEEDS = range(120)
QUARTER = np.pi / 2


def torques(algorithm, arm, state):
    return np.array(algorithm.inverse_dynamics(arm, *state), float)


@pytest.mark.parametrize("seed", SEEDS)
def test_arms_of_odd_structure(seed):
    """Parallel, antiparallel and sliding joints in any order: the same torque as joint by joint."""
    chain = special_arm(seed)
    state = np.random.default_rng(seed).uniform(-3, 3, (3, chain.n)).tolist()
    truth = torques(newton_euler, chain.on(float), state)
    found = {
        "sums": torques(newton_euler_sums, chain.on(float), state),
        "angles": torques(newton_euler_angles, chain.on(float), state),
        "sums, minimal": torques(newton_euler_sums, chain.on(float, "minimal"), state),
        "flat bodies like any others": torques(newton_euler, chain.on(float, "flat"), state),
        "flat": torques(newton_euler_flat, chain.on(float, "flat"), state),
    }
    for name, tau in found.items():
        error = np.abs(tau - truth).max()
        assert error <= 1e-12 * np.abs(truth).max(), f"{name}: {error:.1e}"


# Sums of angles ----------------------------------------------------------------------------------


def bent(joints, beta):
    """An arm of quarter and half turns, on which rational numbers stay rational."""
    n, rng = len(joints), np.random.default_rng(4)
    return Chain.from_mdh(
        b=rng.integers(1, 9, n) / 16,
        beta=np.array(beta) * QUARTER,
        d=rng.integers(1, 9, n) / 16,
        theta=rng.integers(0, 4, n) * QUARTER,
        joints=joints,
        mass=rng.integers(8, 40, n) / 8,
        com=rng.integers(-8, 8, (n, 3)) / 64,
        inertia=rng.integers(8, 12, (n, 3)) / 64,
    )


@pytest.mark.parametrize(
    ("joints", "beta"),
    [
        ("RRRR", [0, 1, 0, 0]),
        ("RRRRR", [0, 1, 2, 0, 1]),
        ("RRRRR", [0, -1, 2, 2, 2]),
        ("RRPRR", [0, 1, 0, 2, 0]),
        ("RPRRR", [0, 1, 0, 0, 1]),
        ("PRPRR", [0, 1, 1, 0, 2]),
        ("RRRRRR", [0, 0, 1, 2, -1, 0]),
    ],
)
def test_sums_are_exact(joints, beta):
    """On fractions, with (cos, sin) in place of the angles: no digit of the torque differs."""
    arm, n = bent(joints, beta).on(Fraction), len(joints)
    rng = np.random.default_rng(n)
    turns = [Fraction(int(t), 7) for t in rng.integers(1, 9, n)]
    pairs = [((1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)) for t in turns]
    q = [pair if kind == "R" else t for pair, t, kind in zip(pairs, turns, joints, strict=True)]
    qd, qdd = ([Fraction(int(x)) for x in v] for v in rng.integers(-5, 5, (2, n)))
    found = newton_euler_sums.inverse_dynamics(arm, q, qd, qdd)
    assert found == newton_euler.inverse_dynamics(arm, q, qd, qdd)
    assert all(isinstance(tau, Fraction) for tau in found)


@pytest.mark.parametrize(("arm", "bias"), [("ur5", 214), ("puma560", 271), ("kinova", 312)])
def test_sums_pay_behind_the_first_joint(arm, bias):
    """Joints 2 and 3 of these arms are parallel, of the Kinova antiparallel; no sine is added."""
    robot = armdyn.load(arm)
    summed, stepped = (
        armdyn.count(robot, "bias", f"newton-euler-{name}", "program")
        for name in ("sums", "minimal")
    )
    assert cheapest(robot.chain, "bias") == "newton-euler-sums"
    assert summed.cost == bias < stepped.cost
    assert summed.trig == stepped.trig


@pytest.mark.parametrize(
    ("arm", "bias", "inverse_dynamics", "sines"),
    [("ur5", 204, 249, 4), ("puma560", 266, 309, 2), ("kinova", 307, 344, 2)],
)
def test_sines_of_sums_save_operations_and_are_left_alone(arm, bias, inverse_dynamics, sines):
    robot = armdyn.load(arm)
    for quantity, expected in (("bias", bias), ("inverse_dynamics", inverse_dynamics)):
        by_sines, by_theorem = (
            armdyn.count(robot, quantity, f"newton-euler-{name}", "program")
            for name in ("angles", "sums")
        )
        assert by_sines.cost == expected < by_theorem.cost
        assert by_sines.trig == by_theorem.trig + sines
        assert cheapest(robot.chain, quantity) != "newton-euler-angles"


def test_where_no_joints_are_parallel_sums_change_nothing():
    for chain in (armdyn.load("panda").chain, Chain.random(5)):
        for quantity in ("bias", "inverse_dynamics"):
            costs = [
                program_cost(chain, quantity, f"newton-euler-{m}") for m in ("sums", "minimal")
            ]
            assert costs[0] == costs[1]


# Flat bodies -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_flat_bodies_have_no_extent_along_their_axes(seed):
    """E_zz = (XX + YY - ZZ) / 2 = 0, and what slides has no tensor."""
    arm = special_arm(seed).on(float, "flat")
    for revolute, J in zip(arm.revolute, arm.inertia, strict=True):
        assert J.xx + J.yy == J.zz
        assert revolute or not any(J)


def test_a_flat_body_saves_a_product_and_a_sum():
    """Of a link on a generic arm, in bias and inverse dynamics."""
    for quantity in ("bias", "inverse_dynamics"):
        minimal, flat = (
            operations(quantity, name, 9) - operations(quantity, name, 8)
            for name in ("newton-euler-minimal", "newton-euler-flat")
        )
        assert minimal - flat == 2


@pytest.mark.parametrize("arm", ["panda", "xarm7"])
def test_flat_bodies_are_chosen_where_tensors_are_full(arm):
    chain = armdyn.load(arm).chain
    for quantity in ("bias", "inverse_dynamics"):
        assert cheapest(chain, quantity) == "newton-euler-flat"
