"""The physically consistent fit: its cone, its minimum, and another solver's minimum."""

import numpy as np
import pytest

import armdyn
from armdyn.chain.inertia import Inertia
from armdyn.identification import consistent, priors
from armdyn.identification.choices import rows_of
from armdyn.identification.consistent import Problem, moved_inside, pseudo_inertia, ten_of
from armdyn.identification.fit import least_squares
from armdyn.identification.moments import moments
from tests.arms import with_rotors
from tests.motions import recorded, shaken


def problem(name="ur5", rows=1500, noise=0.1):
    robot = armdyn.Robot(with_rotors(armdyn.load(name).chain))
    record = moments(robot, recorded(robot, rows, noise=noise))
    solved = least_squares(record, record.columns.given).equations
    bodies, _ = priors.links(record, shaken(robot.chain, 0.3).chain)
    return Problem(solved.R, solved.rho, record.origin, bodies), rows_of(record)


def test_the_cone_is_that_of_bodies():
    """Of a cloud of point masses P is the sum of m (r, 1)(r, 1)', which is positive."""
    rng = np.random.default_rng(0)
    for count in (1, 3, 4, 20):
        masses, places = rng.uniform(0.1, 1, count), rng.normal(size=(count, 3))
        body = Inertia()
        for m, r in zip(masses, places, strict=True):
            body = body + Inertia.from_com(m, r, np.zeros((3, 3)))
        u = np.column_stack([places, np.ones(count)])
        P = pseudo_inertia(body.parameters())
        np.testing.assert_allclose(P, (u.T * masses) @ u, atol=1e-12)
        np.testing.assert_allclose(ten_of(P), body.parameters(), atol=1e-12)


def test_what_no_body_has_is_moved_inside():
    ten = np.array([1.0, 0, 0, 0, 1.0, 0, 0.1, 0, 0, 0.1])  # 1 > 0.1 + 0.1
    P, moved = moved_inside(pseudo_inertia(ten), 1.0, 0.3)
    assert moved and np.linalg.eigvalsh(P).min() > 0
    fine = Inertia.from_com(2.0, (0.1, 0, 0), 0.01 * np.eye(3))
    P, moved = moved_inside(pseudo_inertia(fine.parameters()), 1.0, 0.3)
    assert not moved
    np.testing.assert_allclose(ten_of(P), fine.parameters())
    P, moved = moved_inside(np.zeros((4, 4)), 2.0, 0.3)
    assert moved and np.linalg.eigvalsh(P).min() > 0


def test_a_step_is_newtons():
    """Slope and curvature of the objective by differences, at a point that is no minimum."""
    found, rows = problem()
    z = found.solve(0.1 * rows, found.bodies.start).z
    z = z + 0.01 * np.random.default_rng(0).normal(size=len(z)) * np.abs(z)
    weight = 0.01 * rows
    value, L = found._value(weight, z)
    A, b = found._linear(weight, z, L)
    rng = np.random.default_rng(1)
    for _ in range(5):
        d = rng.normal(size=len(z)) * np.maximum(np.abs(z), 0.1)
        h = 1e-4
        ahead, behind = (found._value(weight, z + x * d)[0] for x in (h, -h))
        scale = abs(d @ A.T @ A @ d)
        assert (ahead - behind) / (2 * h) == pytest.approx(-(A @ d) @ b, rel=1e-4, abs=1e-4 * scale)
        assert (ahead - 2 * value + behind) / h**2 == pytest.approx((A @ d) @ (A @ d), rel=1e-3)


def test_the_prior_is_the_minimum_without_data():
    found, _ = problem()
    count = len(found.bodies.constant)
    free = Problem(np.zeros((1, count)), np.zeros(1), np.zeros(count), found.bodies)
    moved = found.bodies.start * 1.3
    np.testing.assert_allclose(free.solve(1.0, moved).z, found.bodies.start, atol=1e-4)


def test_the_minimum_has_no_slope():
    found, rows = problem()
    for weight in (10.0, 0.1, 1e-3):
        solution = found.path(rows * weight * 10.0 ** np.arange(3, -1, -1))[-1]
        _, L = found._value(rows * weight, solution.z)
        A, b = found._linear(rows * weight, solution.z, L)
        step = np.linalg.lstsq(A, b, rcond=None)[0]
        assert (A @ step) @ (A @ step) < 1e-8 * solution.objective


@pytest.mark.parametrize("weight", [1.0, 1e-3])
@pytest.mark.parametrize("name", ["two_link", "ur5"])
def test_another_solver_finds_the_same_minimum(name, weight):
    """Clarabel's interior point method by way of cvxpy, on the objective as it is written."""
    cvxpy = pytest.importorskip("cvxpy", reason="cvxpy and clarabel: pip install cvxpy clarabel")
    pytest.importorskip("clarabel", reason="clarabel: pip install clarabel")
    found, rows = problem(name)
    w = weight * rows
    ours = found.path(w * 10.0 ** np.arange(6, -1, -1))[-1]
    bodies = found.bodies
    z = cvxpy.Variable(len(bodies.start))
    first, last = 10 * bodies.bodies, 10 * bodies.bodies + bodies.positive
    entropy, cone = 0, []
    for k in range(bodies.bodies):
        Q = cvxpy.Variable((4, 4), symmetric=True)
        cone.append(cvxpy.hstack([Q[i, j] for i, j in zip(*consistent.UPPER, strict=True)])
                    == z[10 * k : 10 * k + 10])  # fmt: skip
        entropy += cvxpy.trace(Q) - cvxpy.log_det(Q) - 4
    if bodies.positive:
        x = z[first:last]
        entropy += consistent.SMALLER * cvxpy.sum(x - cvxpy.log(x) - 1)
    error = cvxpy.sum_squares(found.RM @ z - found.target) + cvxpy.sum_squares(found.hold @ z)
    task = cvxpy.Problem(cvxpy.Minimize(error / (2 * w) + entropy), cone)
    task.solve(solver="CLARABEL")
    assert ours.objective / w == pytest.approx(task.value, rel=1e-6)
