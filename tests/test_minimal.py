"""Minimal parameters: as many as the regressor's rank, and enough for all torques."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest

from armdyn import Chain, Robot
from armdyn.algorithms import newton_euler
from armdyn.algorithms.regressor import regressor
from armdyn.chain.minimal import MinimalParameters
from armdyn.chain.pose import Pose
from armdyn.loaders import load

QUARTER = math.pi / 2
DOWN = (0.0, 0.0, -9.81)


def planar(gravity=(0.0, -9.81, 0.0), length=0.5, twist=0.0):
    """Two links of a double pendulum, the second joint ``length`` [m] along x of the first."""
    return Chain.from_mdh(
        b=[0, length],
        beta=[0, twist],
        d=[0, 0],
        theta=[0, 0],
        mass=[1, 2],
        com=[[0.2, 0.1, 0.3], [0.3, 0.2, 0.1]],
        inertia=np.full((2, 3), 0.1),
        gravity=gravity,
    )


def special_arm(seed):
    """A random arm whose axes are often parallel, antiparallel, meeting or the same.

    Any mix of joints, tables full of zeros and quarter turns, prismatic joints that leave the
    axes on both sides of them parallel, gravity along an axis, askew, or none.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    joints = "".join(rng.choice(["R", "P"], n, p=[0.6, 0.4]))
    beta = rng.choice([0, 0, math.pi, QUARTER, -QUARTER, math.nan], n)
    beta = np.where(np.isnan(beta), rng.uniform(-3, 3, n), beta)
    theta = np.where(rng.random(n) < 0.7, rng.integers(0, 4, n) * QUARTER, rng.uniform(-3, 3, n))
    for i in range(1, n - 1):
        if joints[i] == "P" and rng.random() < 0.5:
            theta[i], beta[i + 1] = 0.0, rng.choice([0, math.pi]) - beta[i]
    b, d = np.where(rng.random((2, n)) < 0.5, 0.0, rng.choice([0.3, -0.2, 0.45], (2, n)))
    gravity = [DOWN, (9.81, 0.0, 0.0), tuple(rng.uniform(-9, 9, 3)), (0.0, 0.0, 0.0)]
    return Chain.from_mdh(
        b=b,
        beta=beta,
        d=d,
        theta=theta,
        joints=joints,
        mass=rng.uniform(0.5, 5, n),
        com=rng.uniform(-0.2, 0.2, (n, 3)),
        inertia=rng.uniform(0.02, 0.03, (n, 3)),
        gravity=gravity[int(rng.integers(0, 4))],
        check="warn",
    )


def stacked_regressor(chain, states=15):
    """Y of many random states, one above the other."""
    rng = np.random.default_rng(7)
    arm = chain.on(float)
    every = rng.uniform(-3, 3, (states, 3, chain.n)).tolist()
    return np.concatenate([np.array(regressor(arm, *state), float) for state in every])


def rank(matrix):
    """Singular values: everything else lies below 1e-13, or above 1e-7 of the largest."""
    singular = np.linalg.svd(matrix, compute_uv=False)
    found = int((singular > 1e-10 * singular[0]).sum())
    assert found == int((singular > 1e-8 * singular[0]).sum())
    return found


@pytest.mark.parametrize("start", range(0, 300, 50))
def test_count_is_the_regressors_rank_and_row_spaces_are_equal(start):
    """Theorem 1, on 300 arms; without gravity only that the set is sufficient."""
    for seed in range(start, start + 50):
        chain = special_arm(seed)
        found = MinimalParameters(chain)
        Y = stacked_regressor(chain)
        Y /= np.abs(Y).max()
        assert rank(np.vstack([Y, found.coefficients])) == len(found), seed
        assert found.minimal == (rank(Y) == len(found)), seed


@pytest.mark.parametrize("n", [1, 2, 3, 6, 7])
def test_known_counts_of_revolute_arms(n):
    """7 n - 4 in general position; 7 n - 6 with joint 1 along gravity."""
    chain = Chain.random(n, seed=1)
    assert len(MinimalParameters(chain)) == 7 * n - 4
    assert len(MinimalParameters(dataclasses.replace(chain, base=Pose()))) == 7 * n - 6


@pytest.mark.parametrize(
    ("name", "number"), [("puma560", 36), ("ur5", 36), ("stanford", 33), ("panda", 43)]
)
def test_known_counts_of_upright_arms(name, number):
    """Seven a revolute joint and four a prismatic one, less six: joint 1 along gravity."""
    assert len(load(name).minimal_parameters()) == number


@pytest.mark.parametrize(
    ("joints", "structure", "names"),
    [
        ("PPP", "generic", "mh_1 mh_2 mh_3"),
        ("PR", "generic", "mh_1 U33_2 kx_2 ky_2"),
        ("RRR", "parallel", "U33_1 kx_1 ky_1 U33_2 kx_2 ky_2 U33_3 kx_3 ky_3"),
        ("RRR", "antiparallel", "U33_1 kx_1 ky_1 U33_2 kx_2 ky_2 U33_3 kx_3 ky_3"),
        ("RP", "generic", "U33_1 kx_1 ky_1 mh_2 kappa1_2 kappa2_2"),
        ("RP", "parallel", "U33_1 kx_1 ky_1 mh_2"),
        ("RPR", "parallel", "U33_1 kx_1 ky_1 mh_2 U33_3 kx_3 ky_3"),
    ],
)
def test_members_of_the_set(joints, structure, names):
    chain = Chain.random(len(joints), joints, seed=1, structure=structure)
    assert MinimalParameters(chain).names == names.split()


def test_double_pendulum_has_the_textbooks_six():
    """The second link counts as a point mass at the elbow for the first."""
    formulas = {row.name: row.formula for row in Robot(planar()).minimal_parameters()}
    assert formulas == {
        "U33_1": {"ZZ1": 1, "M2": 0.25},
        "kx_1": {"MX1": 1, "M2": 0.5},
        "ky_1": {"MY1": 1},
        "U33_2": {"ZZ2": 1},
        "kx_2": {"MX2": 1},
        "ky_2": {"MY2": 1},
    }
    assert str(MinimalParameters(planar())[1]) == "kx_1 = MX1 + 0.5 M2 = 1.2"


def test_on_one_axis_along_gravity_only_its_inertia_counts():
    """Both joints turn about the same vertical line: nothing swings."""
    chain = planar(gravity=DOWN, length=0.0)
    assert MinimalParameters(chain).names == ["U33_1", "U33_2"]
    assert MinimalParameters(planar(gravity=DOWN)).names == ["U33_1", "U33_2", "kx_2", "ky_2"]


@pytest.mark.parametrize(
    "chain",
    [planar((9.81e-4, 0.0, -9.81), length=0.0), planar(DOWN, length=1e-4)],
    ids=["gravity", "axes"],
)
def test_a_little_off_one_line_is_off_it(chain):
    """Gravity 1e-4 rad, or a second axis 1e-4 m, off the first axis: it is felt, and counted."""
    natural, minimal = (chain.on(float, view) for view in ("natural", "minimal"))
    state = [0.3, -0.7], [1.0, 2.0], [3.0, -4.0]
    for name, given in (("gravity", state[:1]), ("inverse_dynamics", state)):
        expected = np.array(getattr(newton_euler, name)(natural, *given), float)
        found = np.array(getattr(newton_euler, name)(minimal, *given), float)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)


def test_without_gravity_sufficient_but_not_minimal():
    """Two meeting axes, no gravity: eight parameters, of which motion tells six apart."""
    chain = Chain.random(2, seed=1, structure="intersecting").with_gravity((0, 0, 0))
    found = MinimalParameters(chain)
    assert (len(found), rank(stacked_regressor(chain))) == (8, 6)
    assert not found.minimal
    assert MinimalParameters(Chain.random(2, seed=1).with_gravity((0, 0, 0))).minimal


def exact_rank(chain, states=10):
    """Of Y in rational numbers: q by rational points of the circle, no rounding anywhere."""
    rng = np.random.default_rng(1)
    arm, rows = chain.on(Fraction), []
    for _ in range(states):
        turns = [Fraction(int(t), 7) for t in rng.integers(1, 9, chain.n)]
        q = [((1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)) for t in turns]
        qd, qdd = ([Fraction(int(x)) for x in v] for v in rng.integers(-5, 5, (2, chain.n)))
        rows += [[Fraction(x) for x in row] for row in regressor(arm, q, qd, qdd)]
    found = 0
    for column in range(10 * chain.n):
        pivot = next((row for row in rows if row[column]), None)
        if pivot is not None:
            rows.remove(pivot)
            factors = [row[column] / pivot[column] for row in rows]
            rows = [
                [x - f * y for x, y in zip(row, pivot, strict=True)]
                for row, f in zip(rows, factors, strict=True)
            ]
            found += 1
    return found


@pytest.mark.parametrize(("apart", "number"), [(0.0, 6), (1e-8, 8), (1e-6, 8), (1e-3, 8)])
def test_without_gravity_axes_that_nearly_meet_do_not_meet(apart, number):
    """A hundredth of a micrometre decides: what it lets motion tell apart is small, not zero."""
    chain = planar(gravity=(0, 0, 0), length=apart, twist=QUARTER)
    found = MinimalParameters(chain)
    assert (len(found), exact_rank(chain)) == (8, number)
    assert found.minimal == (number == 8)


def test_short_representation():
    assert repr(MinimalParameters(planar())) == "MinimalParameters(6 of 20: U33_1, kx_1, ky_1, ...)"
    alone = Chain.random(1, "P")
    assert repr(MinimalParameters(alone)) == "MinimalParameters(1 of 10: mh_1)"


@pytest.mark.parametrize("seed", range(40))
def test_the_view_sees_nothing_else(seed):
    """Arms that agree in their minimal parameters have the same view, and the same torques."""
    chain = special_arm(seed)
    found = MinimalParameters(chain)
    rng = np.random.default_rng(seed)
    hidden = np.eye(10 * chain.n) - np.linalg.pinv(found.coefficients) @ found.coefficients
    twin = chain.with_parameters(chain.parameters + hidden @ rng.uniform(-1, 1, 10 * chain.n))
    np.testing.assert_allclose(MinimalParameters(twin).values, found.values, atol=1e-13)
    for one, other in zip(found.bodies(), MinimalParameters(twin).bodies(), strict=True):
        np.testing.assert_allclose(one.parameters(), other.parameters(), atol=1e-12)
    state = rng.uniform(-3, 3, (3, chain.n)).tolist()
    torque = np.array(newton_euler.inverse_dynamics(chain.on(float), *state), float)
    for view in ("natural", "minimal", "flat"):
        seen = newton_euler.inverse_dynamics(twin.on(float, view), *state)
        np.testing.assert_allclose(seen, torque, rtol=0, atol=1e-12 * np.abs(torque).max())


def test_what_is_not_in_the_set_is_a_structural_zero():
    """The view holds as many numbers as there are parameters; all else is the integer 0."""
    chain = Chain.random(6, "RRPRRR", seed=1)
    arm = chain.on(float, "minimal")
    held = [
        x
        for m, h, J in zip(arm.mass, arm.first_moment, arm.inertia, strict=True)
        for x in (m, *h, *J)
    ]
    assert sum(isinstance(x, float) for x in held) == len(MinimalParameters(chain))
    assert all(x == 0 for x in held if not isinstance(x, float))
