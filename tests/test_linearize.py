"""The linear system of a step: against differences of the step itself, and in a controller."""

import dataclasses

import numpy as np
import pytest

import armdyn
from armdyn import Chain, MethodError, ModelError, Robot, ShapeError, SimulationError
from armdyn.errors import ArmdynError
from tests.sweeping import few

DT = 5e-3


def damped(chain):
    joints = tuple(
        dataclasses.replace(joint, viscous=0.3 + 0.1 * i, rotor_inertia=0.2)
        for i, joint in enumerate(chain.joints)
    )
    return dataclasses.replace(chain, joints=joints)


ROBOTS = {
    "puma560": armdyn.load("puma560"),
    "two_link": armdyn.load("two_link"),
    "slides": Robot(damped(Chain.random(3, "RPR", seed=2))),
    "first slides": Robot(damped(Chain.random(3, "PRP", seed=4))),
}


def stepped(robot, x, tau, integrator, friction):
    """The state after one step of ``simulate``."""
    n = robot.n
    run = armdyn.simulate(
        *(robot, x[..., :n], x[..., n:], tau[..., None, :], DT, DT, integrator),
        friction=friction,
        limits="ignore",
    )
    return np.concatenate([run.q[..., -1, :], run.qd[..., -1, :]], axis=-1)


def differences(function, x, step=1e-4):
    """The Jacobian of a function of (..., m), by Richardson's central differences."""

    def central(h):
        moves = h * np.eye(x.shape[-1])
        return np.stack([(function(x + d) - function(x - d)) / (2 * h) for d in moves], axis=-1)

    return (4 * central(step / 2) - central(step)) / 3


@pytest.mark.parametrize("friction", [False, True], ids=["smooth", "damped"])
@pytest.mark.parametrize("integrator", ["ab4", "rk4", "midpoint"])
@pytest.mark.parametrize("name", few(list(ROBOTS), 2))
def test_a_linearisation_is_that_of_the_step(name, integrator, friction):
    """To 1e-6 of the largest, in a batch; and next is where ``simulate`` gets."""
    robot = ROBOTS[name]
    if integrator == "midpoint" and friction and any(any(j.coulomb) for j in robot.chain.joints):
        pytest.skip("the midpoint rule refuses Coulomb's friction")
    rng = np.random.default_rng(1)
    x, tau = rng.uniform(-1, 1, (2, 2 * robot.n)), rng.uniform(-5, 5, (2, robot.n))
    q, qd = np.split(x, 2, axis=-1)
    after, A, B = armdyn.linearize(robot, q, qd, tau, DT, integrator, friction=friction)
    np.testing.assert_allclose(
        after, stepped(robot, x, tau, integrator, friction), rtol=0, atol=1e-12
    )
    by_x = differences(lambda y: stepped(robot, y, tau, integrator, friction), x)
    by_tau = differences(lambda u: stepped(robot, x, u, integrator, friction), tau, 1e-2)
    np.testing.assert_allclose(A, by_x, rtol=0, atol=1e-6 * np.abs(by_x).max())
    np.testing.assert_allclose(B, by_tau, rtol=0, atol=1e-6 * np.abs(by_tau).max())


def test_batches_broadcast_and_states_alone_are_the_same():
    robot = ROBOTS["two_link"]
    q, tau = np.random.default_rng(0).uniform(-1, 1, (2, 3, 1, 2))
    qd = np.random.default_rng(1).uniform(-1, 1, (4, 2))
    for integrator in ("rk4", "midpoint"):
        after, A, B = armdyn.linearize(robot, q, qd, tau, DT, integrator)
        assert after.shape == (3, 4, 4) and A.shape == (3, 4, 4, 4) and B.shape == (3, 4, 4, 2)
        alone = armdyn.linearize(robot, q[2, 0], qd[1], tau[2, 0], DT, integrator)
        for batch, one in zip((after, A, B), alone, strict=True):
            np.testing.assert_allclose(batch[2, 1], one, rtol=0, atol=1e-14)


def test_a_pendulum_at_rest_is_linearised_as_printed():
    """m l^2 qdd = tau - m g l sin(q), at the bottom: an oscillation, to fourth order in dt."""
    chain = Chain.from_mdh(
        b=[0], beta=[np.pi / 2], d=[0], theta=[-np.pi / 2], mass=[2], com=[[0.5, 0, 0]]
    )
    after, A, B = armdyn.linearize(Robot(chain), [0.0], [0.0], [0.0], DT)
    w = np.sqrt(9.81 / 0.5)
    C, S = np.cos(w * DT), np.sin(w * DT)
    np.testing.assert_allclose(after, 0, atol=1e-15)
    np.testing.assert_allclose(A, [[C, S / w], [-w * S, C]], rtol=0, atol=1e-8)
    np.testing.assert_allclose(B[:, 0] * 0.5, [(1 - C) / w**2, S / w], rtol=0, atol=1e-10)


def test_a_pendulum_in_continuous_time_is_linearised_as_printed():
    """m l^2 qdd = tau - m g l sin(q) - d qd, at any angle."""
    chain = Chain.from_mdh(
        b=[0], beta=[np.pi / 2], d=[0], theta=[-np.pi / 2], mass=[2], com=[[0.5, 0, 0]]
    )
    robot, inertia, torque = Robot(chain).with_friction(0.3), 2 * 0.5**2, 2 * 9.81 * 0.5
    for angle in (0.0, 0.7, np.pi):
        rate, A, B = armdyn.linearize(robot, [angle], [0.2], [1.0], friction=True)
        qdd = (1.0 - torque * np.sin(angle) - 0.3 * 0.2) / inertia
        np.testing.assert_allclose(rate, [0.2, qdd], rtol=1e-13)
        by_q = -torque * np.cos(angle) / inertia
        np.testing.assert_allclose(A, [[0, 1], [by_q, -0.3 / inertia]], rtol=1e-13)
        np.testing.assert_allclose(B, [[0], [1 / inertia]], rtol=1e-13)


@pytest.mark.parametrize("name", few(list(ROBOTS), 2))
def test_a_step_tends_to_continuous_time(name):
    """(next - x) / dt, (A - 1) / dt and B / dt, of which Richardson takes the first order."""
    robot, rng, h = ROBOTS[name], np.random.default_rng(1), 1e-5
    q, qd, tau = rng.uniform(-1, 1, (3, 2, robot.n))
    load = np.array([[0.2] + [0.0] * 9, [1.0] + [0.0] * 9])
    options = {"friction": True, "payload": load, "gravity": [0.0, 3.0, -9.0]}
    x, one = np.concatenate([q, qd], axis=-1), np.eye(2 * robot.n)

    def slopes(h):
        after, A, B = armdyn.linearize(robot, q, qd, tau, h, **options)
        return (after - x) / h, (A - one) / h, B / h

    for found, once, twice in zip(
        armdyn.linearize(robot, q, qd, tau, None, **options), slopes(h), slopes(2 * h), strict=True
    ):
        assert found.shape == once.shape
        np.testing.assert_allclose(found, 2 * once - twice, rtol=0, atol=1e-6 * np.abs(found).max())


def test_an_lqr_holds_puma_upright():
    """Upright it falls; with the gain that Riccati's equation gives for A and B it comes back."""
    linalg = pytest.importorskip("scipy.linalg")
    robot, n = ROBOTS["puma560"], 6
    upright = np.array([0.0, np.pi / 2, np.pi / 2, 0.0, 0.0, 0.0])
    heights = robot.energy(np.stack([upright, upright + 0.3]), np.zeros(n))[1]
    assert heights[0] > heights[1]
    hold, rest = robot.gravity(upright), np.zeros(n)
    after, A, B = armdyn.linearize(robot, upright, rest, hold, DT)
    np.testing.assert_allclose(after, [*upright, *rest], atol=1e-12)
    assert np.abs(np.linalg.eigvals(A)).max() > 1.01
    Q, R = np.diag([100.0] * n + [1.0] * n), 0.01 * np.eye(n)
    P = linalg.solve_discrete_are(A, B, Q, R)
    gain = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
    assert np.abs(np.linalg.eigvals(A - B @ gain)).max() < 1

    def torque(t, q, qd):
        return hold - np.concatenate([q - upright, qd], axis=-1) @ gain.T

    start = upright + [0.1, -0.1, 0.1, -0.1, 0.1, -0.1]
    options = {"t": 3.0, "dt": DT, "integrator": "rk4", "limits": "ignore"}
    held = armdyn.simulate(robot, start, tau=torque, **options)
    assert np.abs(held.q[-1] - upright).max() < 1e-3 and np.abs(held.qd[-1]).max() < 1e-3
    fallen = armdyn.simulate(robot, start, tau=hold, **options)
    assert np.abs(fallen.q[-1] - upright).max() > 0.5


@pytest.mark.parametrize(
    "given, kind, message",
    [
        ({"integrator": "LSODA"}, SimulationError, "LSODA chooses its own steps.*expected ab4"),
        ({"integrator": "rk5"}, MethodError, "integrator is 'rk5'; did you mean 'rk4'"),
        ({"dt": None, "integrator": "rk4"}, SimulationError, "integrator is 'rk4', but dt is None"),
        ({"dt": 0}, SimulationError, "dt is 0; expected a positive number"),
        ({"dt": "fast"}, SimulationError, "dt is 'fast'; expected a positive number"),
        ({"q": [0.0, 1.0, 2.0]}, ShapeError, r"q has shape \(3,\); expected \(..., 2\)"),
        ({"tau": [0.0, np.nan]}, SimulationError, "tau is .*expected finite numbers"),
        ({"qd": np.zeros((3, 2)), "tau": np.zeros((4, 2))}, ShapeError, "do not broadcast: q, qd"),
        ({"friction": "yes"}, MethodError, "friction is 'yes'; expected True or False"),
    ],
)
def test_what_cannot_be_linearised_is_said(given, kind, message):
    plain = {"q": [0.0, 0.0], "qd": [0.0, 0.0], "tau": [0.0, 0.0], "dt": DT}
    with pytest.raises(kind, match=message) as found:
        armdyn.linearize(ROBOTS["two_link"], **(plain | given))
    assert isinstance(found.value, ArmdynError)


@pytest.mark.parametrize("options", [{}, {"dt": DT}])
def test_parameters_that_leave_no_inverse(options):
    """No row of what comes back has a meaning, so none comes back."""
    robot, zero, nothing = ROBOTS["two_link"], [0.0, 0.0], {"parameters": np.zeros(20)}
    with pytest.raises(ModelError, match="linearize is .*the mass matrix has no inverse"):
        armdyn.linearize(robot, zero, zero, zero, **options, **nothing)
    lost = armdyn.linearize(robot, zero, zero, zero, **options, **nothing, check=None)
    assert np.isnan(lost[0]).any()


def test_it_takes_a_robot():
    with pytest.raises(TypeError, match="linearize takes a Robot, not Chain"):
        armdyn.linearize(ROBOTS["two_link"].chain, [0], [0], [0], DT)
