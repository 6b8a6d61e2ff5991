"""Simulated motions against what must be: orders, conserved quantities, closed forms."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given

import armdyn
from armdyn import Chain, Robot, controllers, trajectories
from armdyn.algorithms.hamilton import momentum_and_slope
from armdyn.simulation.integrators import AdamsBashforth, RungeKutta
from tests.arms import moving, with_rotors


def lively(name):
    """An arm and a fast initial state."""
    robot = armdyn.load(name)
    rng = np.random.default_rng(1)
    return robot, rng.uniform(-1, 1, robot.n), rng.uniform(-8, 8, robot.n)


def state_at_end(result):
    return np.concatenate([result.q[-1], result.qd[-1]])


# Integrators --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def exact():
    """The state after 0.5 s, by DOP853 at the tightest tolerance."""
    tight = {"integrator": "DOP853", "rtol": 1e-13, "atol": 1e-14, "limits": "ignore"}
    return {
        name: state_at_end(armdyn.simulate(*lively(name), t=0.5, dt=0.5, **tight))
        for name in ("puma560", "stanford")
    }


@pytest.mark.parametrize("name", ["puma560", "stanford"])
@pytest.mark.parametrize("integrator, order", [("ab4", 3.8), ("rk4", 3.8), ("midpoint", 1.9)])
def test_orders_of_convergence(exact, name, integrator, order):
    steps = 2.0 ** -np.arange(8, 13)
    errors = []
    for dt in steps:
        run = armdyn.simulate(*lively(name), t=0.5, dt=dt, integrator=integrator, limits="ignore")
        errors.append(np.abs(state_at_end(run) - exact[name]).max())
    seen = np.array(errors) > 1e-11  # below, it is rounding
    assert seen.sum() >= 3
    slope = np.polyfit(np.log(steps[seen]), np.log(np.array(errors)[seen]), 1)[0]
    assert slope >= order


def test_a_wrong_table_is_refused():
    with pytest.raises(ValueError, match="not a method of order 2"):
        AdamsBashforth(2, (1.5, -0.4))
    with pytest.raises(ValueError, match="not a method of order 2"):
        RungeKutta(2, (0, 1 / 2), ((), (1 / 2,)), (0.1, 0.9))
    with pytest.raises(ValueError, match="not a method of order 1"):
        RungeKutta(1, (0, 1), ((), (1 / 2,)), (1, 0))


def drifts(error):
    """Whether the largest error of the last tenth is more than twice that of the first."""
    tenth = len(error) // 10
    return np.abs(error[-tenth:]).max() > 2 * np.abs(error[:tenth]).max()


def test_energy_of_the_midpoint_does_not_drift_in_free_fall():
    robot = armdyn.load("puma560")
    rng = np.random.default_rng(0)
    q0, qd0 = rng.uniform(-1, 1, (2, robot.n))
    run = armdyn.simulate(robot, q0, qd0, t=100, dt=1e-3, integrator="midpoint", limits="ignore")
    assert run.steps == 100_000
    total = run.energy.total
    assert not drifts(total - total[0])
    assert np.abs(total - total[0]).max() < 1e-6 * np.ptp(run.energy.kinetic)


def test_energy_of_the_midpoint_does_not_drift_on_springs():
    """Without damping PD is a spring at each joint, and floating it has no other potential."""
    robot = armdyn.load("stanford")
    rng = np.random.default_rng(0)
    target, kp = np.array([0.1, 0.8, 0.5, 0.0, 0.3, 0.0]), np.array([60, 60, 90, 3, 3, 1.0])
    springs = controllers.pd_gravity(target, kp=kp, kd=0)
    start = target + rng.uniform(-0.4, 0.4, robot.n)
    run = armdyn.simulate(
        robot, start, None, springs, t=100, dt=1e-3, integrator="midpoint", limits="ignore"
    )
    total = run.energy.kinetic + (kp * (run.q - target) ** 2).sum(axis=-1) / 2
    assert not drifts(total - total[0])
    assert np.abs(total - total[0]).max() < 1e-3 * total[0]


@given(moving(vectors=2, max_joints=5))
def test_momentum_and_slope_of_the_kinetic_energy(case):
    """Momentum is M qd, and d/dt (dT/dqd) - dT/dq = C qd means that dT/dq = C^T qd."""
    chain, q, qd = case
    bare = dataclasses.replace(
        chain, joints=tuple(dataclasses.replace(j, rotor_inertia=0.0) for j in chain.joints)
    )
    p, slope = momentum_and_slope(bare.on(float), q, qd)
    arm = bare.on(float)
    M = armdyn.algorithms.crba.mass_matrix(arm, q)
    C = armdyn.algorithms.newton_euler.coriolis_matrix(arm, q, qd)
    expected = np.array(M, dtype=float) @ qd
    np.testing.assert_allclose(np.array(p, dtype=float), expected, atol=1e-9)
    np.testing.assert_allclose(
        np.array(slope, dtype=float), np.array(C, dtype=float).T @ qd, atol=1e-9
    )


# Closed forms -------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ["ab4", "rk4", "midpoint", "DOP853", "LSODA"])
def test_a_pendulum_returns_after_its_period(integrator):
    """A point mass on one joint, released at 2 rad: the period is 4 K(sin 1) sqrt(l / g)."""
    from scipy.special import ellipk

    length, g = 0.7, 9.81
    chain = Chain.from_mdh(
        b=[0.0],
        beta=[np.pi / 2],
        d=[0.0],
        theta=[0.0],
        joints="R",
        mass=[1.3],
        com=[[0, -length, 0]],
    )
    period = 4 * ellipk(np.sin(1.0) ** 2) * np.sqrt(length / g)
    run = armdyn.simulate(
        Robot(chain), [2.0], t=period, dt=period / 4000, integrator=integrator, limits="ignore"
    )
    half = run.q[2000, 0]
    tolerance = 1e-5 if integrator == "midpoint" else 1e-7
    assert run.q[-1, 0] == pytest.approx(2.0, abs=tolerance)
    assert half == pytest.approx(-2.0, abs=tolerance)
    lowest = run.qd[1000, 0]  # all energy is kinetic there
    assert abs(lowest) == pytest.approx(np.sqrt(2 * g / length * (1 - np.cos(2.0))), abs=1e-5)


@pytest.mark.parametrize("integrator", ["ab4", "rk4"])
@pytest.mark.parametrize("kp, kd", [(100.0, 20.0), (64.0, 4.0)])
def test_computed_torque_decays_as_the_second_order_system(integrator, kp, kd):
    """Started 0.1 rad off, e obeys edd + kd ed + kp e = 0 in every joint."""
    robot = armdyn.load("puma560")
    start, end = np.array([0, -0.5, 0.3, 0.1, 0.2, 0]), np.array([1, 0.5, -0.3, 0.6, -0.7, 1.0])
    way = trajectories.quintic(start, end, 0.8)
    run = armdyn.simulate(
        robot, start + 0.1, None, controllers.computed_torque(way, kp, kd), 1.0, 1e-3, integrator
    )
    a = kd / 2
    w = np.sqrt(complex(kp - a**2)) or 1e-12
    e = 0.1 * np.exp(-a * run.t) * (np.cos(w * run.t) + a / w * np.sin(w * run.t)).real
    error = run.q - way(run.t)[0]
    np.testing.assert_allclose(error, np.repeat(e[:, None], robot.n, axis=1), rtol=0, atol=1e-6)


def test_gravity_compensation_lets_the_arm_float():
    robot = Robot(with_rotors(Chain.random(3, "RPR", seed=2)))
    q0 = np.array([0.3, 0.1, -0.7])
    run = armdyn.simulate(robot, q0, tau=controllers.gravity_compensation(), limits="ignore")
    np.testing.assert_allclose(run.q, np.broadcast_to(q0, run.q.shape), rtol=0, atol=1e-12)
    moved = armdyn.simulate(robot, q0, [1.0, -0.5, 2.0], controllers.gravity_compensation())
    kinetic = moved.energy.kinetic
    np.testing.assert_allclose(kinetic, kinetic[0], rtol=1e-9)


def test_gyroscopic_terms_conserve_angular_momentum_about_a_free_vertical_axis():
    """No torque, no gravity about z: the momentum of the first joint stays, rotor included."""
    chain = with_rotors(Chain.random(4, "RRPR", seed=5)).with_gravity((0, 0, 0))
    robot = Robot(chain)
    run = armdyn.simulate(robot, [0.1, 0.2, 0.3, 0.4], [1, -2, 0.3, 4], t=0.5, integrator="rk4")
    momentum = (robot.mass_matrix(run.q) @ run.qd[..., None])[:, 0, 0]
    np.testing.assert_allclose(momentum, momentum[0], rtol=1e-9)


# Friction and the balance of energy ---------------------------------------------------------


def viscous_only(chain):
    joints = (dataclasses.replace(joint, coulomb=(0.0, 0.0)) for joint in chain.joints)
    return dataclasses.replace(chain, joints=tuple(joints))


@pytest.mark.parametrize("integrator", ["ab4", "rk4", "midpoint", "LSODA"])
def test_friction_takes_energy_and_no_more_than_its_work(integrator):
    robot = Robot(viscous_only(with_rotors(Chain.random(3, "RPR", seed=2))))
    state = [0.3, 0.1, -0.7], [1.0, -0.5, 2.0]
    run = armdyn.simulate(*(robot, *state), t=0.5, integrator=integrator, friction=True)
    total = run.energy.total
    assert np.all(np.diff(total) < 0)
    lost = total[0] - total[-1]
    assert lost > 0.1
    second_order = integrator == "midpoint"
    assert abs(run.drift) < (1e-4 if second_order else 1e-7) * lost
    free = armdyn.simulate(*(robot, *state), t=0.5, integrator=integrator)
    assert abs(free.energy.total[-1] - total[0]) < 1e-4 * lost


def test_coulomb_friction_brings_a_floating_arm_to_rest():
    robot = Robot(with_rotors(Chain.random(3, "RPR", seed=2)))
    run = armdyn.simulate(
        *(robot, [0.3, 0.1, -0.7], [0.5, -0.2, 0.5], controllers.gravity_compensation()),
        friction=True,
        t=4,
        integrator="rk4",
        limits="ignore",
    )
    assert np.abs(run.qd[-1]).max() < 0.02 < np.abs(run.qd[0]).max()
    assert run.energy.kinetic[-1] < 1e-3 * run.energy.kinetic[0]


BALANCED = {
    "nothing": None,
    "a constant": np.array([0.5, -1.0, 0.3]),
    "a function": lambda t, q, qd: np.sin(3 * t) - 0.5 * q - 0.1 * qd,
    "springs and dampers": controllers.pd_gravity([0.2, 0.0, 0.5], kp=5.0, kd=0.5),
    "sampled": controllers.pd_gravity([0.2, 0.0, 0.5], kp=5.0, kd=0.5, rate=250),
    "computed torque": controllers.computed_torque([0.2, 0.0, 0.5], kp=30.0, kd=5),
}


@pytest.mark.parametrize("torque", BALANCED)
def test_energy_gained_is_the_work_of_the_torques(torque):
    robot = Robot(with_rotors(Chain.random(3, "RPR", seed=2)))
    run = armdyn.simulate(
        *(robot, [0.3, 0.1, -0.7], [1.0, -0.5, 2.0], BALANCED[torque]), t=0.2, integrator="rk4"
    )
    assert abs(run.drift) < 1e-8 * np.ptp(run.energy.kinetic)
