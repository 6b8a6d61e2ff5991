"""Steps of many arms in one call: the bits of ``simulate``, laws, limits, and arms that differ."""

import pickle

import numpy as np
import pytest

import armdyn
from armdyn import MethodError, ModelError, Robot, ShapeError, SimulationError, controllers
from tests.test_simulation_limits import slider

GAINS = {"kp": 40.0, "kd": 9.0}
LAWS = {
    "pd": controllers.pd,
    "pd-gravity": controllers.pd_gravity,
    "computed-torque": controllers.computed_torque,
}


@pytest.fixture(scope="module")
def robot():
    return armdyn.load("two_link")


def drawn(robot, count, dtype=float):
    """Positions, speeds and actions of so many arms."""
    return np.random.default_rng(0).uniform(-2, 2, (3, count, robot.n)).astype(dtype)


def simulated(robot, q, qd, torque, **options):
    """The state at the end of a simulation."""
    run = armdyn.simulate(robot, q, qd, torque, integrator="rk4", limits="ignore", **options)
    return run.q[..., -1, :], run.qd[..., -1, :]


def assert_bits(found, expected):
    for one, two in zip(found, expected, strict=True):
        assert one.dtype == two.dtype
        np.testing.assert_array_equal(one, two)


# The bits of simulate -----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_torque_steps_as_it_simulates(robot, dtype):
    q, qd, tau = drawn(robot, 5, dtype)
    found = robot.stepper(2e-3).step(q, qd, tau)
    assert_bits(found, simulated(robot, q, qd, tau[:, None], t=2e-3, dt=2e-3))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("action", LAWS)
def test_a_law_steps_as_it_simulates(robot, action, dtype):
    q, qd, target = drawn(robot, 5, dtype)
    found = robot.stepper(2e-3, action, **GAINS).step(q, qd, target)
    law = LAWS[action](target.astype(float), **GAINS)
    assert_bits(found, simulated(robot, q, qd, law, t=2e-3, dt=2e-3))


@pytest.mark.parametrize("name, action", [("stanford", "pd"), ("panda", "pd-gravity")])
@pytest.mark.sweep
def test_larger_arms_step_as_they_simulate_with_friction(name, action):
    robot = armdyn.load(name)
    robot = Robot(robot.chain.with_friction(0.4, 0.3))
    q, qd, target = drawn(robot, 37)
    found = robot.stepper(1e-3, action, **GAINS, friction=True).step(q, qd, target)
    law = LAWS[action](target, **GAINS)
    assert_bits(found, simulated(robot, q, qd, law, t=1e-3, dt=1e-3, friction=True))


@pytest.mark.parametrize("substeps", [2, 3, 5])
def test_substeps_are_steps_of_simulate(robot, substeps):
    q, qd, target = drawn(robot, 4)
    found = robot.stepper(0.01, "pd", **GAINS, substeps=substeps).step(q, qd, target)
    law = controllers.pd(target, **GAINS)
    assert_bits(found, simulated(robot, q, qd, law, t=0.01, dt=0.01 / substeps))


def test_a_state_has_the_same_bits_alone_in_any_batch_and_on_threads(robot):
    stepper = robot.stepper(1e-3, "pd", kp=np.array([30.0, 20.0]), kd=3)
    q, qd, target = drawn(robot, 1000)
    whole = stepper.step(q, qd, target, threads=2)
    assert_bits(whole, stepper.step(q, qd, target, threads=1))
    assert_bits(stepper.step(q[7], qd[7], target[7]), [x[7] for x in whole])
    out = np.empty_like(q), np.empty_like(q)
    answer = stepper.step(q, qd, target, out=out)
    assert answer[0] is out[0] and answer[1] is out[1]
    assert_bits(out, whole)


def test_one_target_and_gains_for_each_arm(robot):
    q, qd, _ = drawn(robot, 3)
    kp = np.array([[10.0, 5.0], [20.0, 10.0], [40.0, 20.0]])
    found = robot.stepper(1e-3, "pd", kp=kp, kd=1.0).step(q, qd, [0.1, 0.2])
    each = [robot.stepper(1e-3, "pd", kp=k, kd=1.0) for k in kp]
    alone = [one.step(x, v, [0.1, 0.2]) for one, x, v in zip(each, q, qd, strict=True)]
    assert_bits(found, np.swapaxes(alone, 0, 1))


def test_nan_stays_with_its_arm(robot):
    q, qd, tau = drawn(robot, 9)
    good = robot.stepper(1e-3).step(q, qd, tau)
    q[4, 1] = np.nan
    bad = robot.stepper(1e-3, limits="clamp").step(q, qd, tau)
    assert np.isnan(bad[0][4]).any() and np.isnan(bad[1][4]).all()
    assert np.isfinite(np.delete(bad, 4, axis=1)).all() and np.isfinite(good).all()


def test_a_pickled_stepper_makes_the_same_steps(robot):
    stepper = robot.stepper(1e-3, "pd", **GAINS, limits="clamp", substeps=2)
    again = pickle.loads(pickle.dumps(stepper))
    assert repr(again) == repr(stepper) == "Stepper('two_link', 0.001 s, 'pd')"
    assert_bits(again.step(*drawn(robot, 3)), stepper.step(*drawn(robot, 3)))


# Laws ---------------------------------------------------------------------------------------


def test_energy_of_free_fall_drifts_by_the_fifth_power_of_the_step(robot):
    """Runge-Kutta of fourth order loses energy in a step by O(dt^5), so in a time by O(dt^4)."""
    start, rest = np.array([0.5, 0.3]), np.zeros(2)
    drift = []
    for steps in (100, 200, 400):
        stepper, (q, qd) = robot.stepper(1 / steps), (start, rest)
        for _ in range(steps):
            q, qd = stepper.step(q, qd, rest)
        drift.append(abs(sum(robot.energy(q, qd)) - sum(robot.energy(start, rest))))
    assert drift[-1] < 1e-5
    assert (np.log2(np.divide(drift[:-1], drift[1:])) > 3.7).all()


def test_pd_with_gravity_reaches_its_target_and_pd_alone_sags(robot):
    target = np.array([[0.4, -0.2], [-1.0, 0.8]])
    for action in ("pd-gravity", "pd"):
        stepper = robot.stepper(5e-3, action, kp=60, kd=20, substeps=2)
        q, qd = np.zeros((2, 2)), np.zeros((2, 2))
        for _ in range(2000):
            q, qd = stepper.step(q, qd, target)
        held = robot.gravity(q) if action == "pd" else 0.0  # kp (target - q) = g(q) at rest
        np.testing.assert_allclose(60 * (target - q), held, atol=1e-9)
        np.testing.assert_allclose(qd, 0, atol=1e-9)
    assert np.abs(q - target).max() > 0.01


@pytest.mark.sweep
def test_pandas_step_as_mujoco_rolls_them_out():
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    from benchmarks.arms import arm
    from benchmarks.steps import by_armdyn, by_mujoco

    chain = arm("panda")
    for one, two in zip(by_armdyn(chain, float)(), by_mujoco(chain)(), strict=True):
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-12)


def test_friction_slows_only_where_it_is_asked_for():
    """On 2 kg with 4 N s/m the speed decays as exp(-2 t)."""
    robot = slider(viscous=4.0)
    assert robot.stepper(0.01).step([0.0], [1.0], [0.0])[1][0] == 1.0
    _, qd = robot.stepper(0.01, friction=True).step([0.0], [1.0], [0.0])
    assert qd[0] == pytest.approx(np.exp(-0.02), rel=1e-10)


# Limits -------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", [1, -1])
def test_effort_is_clamped_and_the_force_moves_as_newton_says(sign):
    """Of 100 N the joint gives 3 N, on 2 kg: q = 3/4 t^2."""
    stepper = slider(effort=3.0).stepper(0.1, limits="clamp")
    q, qd = stepper.step([0.0], [0.0], [100.0 * sign])
    np.testing.assert_allclose([q[0], qd[0]], sign * np.array([0.0075, 0.15]), rtol=1e-14)
    inside = slider(effort=3.0).stepper(0.1, limits="clamp").step([0.0], [0.0], [2.9 * sign])
    assert_bits(inside, slider(effort=3.0).stepper(0.1).step([0.0], [0.0], [2.9 * sign]))
    free = slider(effort=3.0).stepper(0.1).step([0.0], [0.0], [100.0 * sign])
    assert abs(free[1][0]) == pytest.approx(5.0)


def test_effort_holds_a_law_within_each_stage():
    """A stiff law beyond its effort is a constant force, at all four stages."""
    stepper = slider(effort=3.0).stepper(0.1, "pd", kp=1e4, kd=0, limits="clamp")
    q, qd = stepper.step([0.0], [0.0], [1.0])
    np.testing.assert_allclose([q[0], qd[0]], [0.0075, 0.15], rtol=1e-14)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_joint_stays_at_its_limit_until_it_is_pulled_back(sign):
    stepper = slider(lower=-0.5, upper=0.5).stepper(0.1, limits="clamp")
    q, qd = stepper.step([0.45 * sign], [1.0 * sign], [0.0])
    assert q[0] == 0.5 * sign and qd[0] == 0
    q, qd = stepper.step(q, qd, [4.0 * sign])
    assert q[0] == 0.5 * sign and qd[0] == 0
    q, qd = stepper.step(q, qd, [-4.0 * sign])
    np.testing.assert_allclose([q[0], qd[0]], sign * np.array([0.49, -0.2]), rtol=1e-13)


@pytest.mark.parametrize("sign", [1, -1])
def test_speed_is_clamped_after_the_step(sign):
    q, qd = slider(velocity=0.3).stepper(0.1, limits="clamp").step([0.0], [0.0], [10.0 * sign])
    assert qd[0] == 0.3 * sign
    assert q[0] == pytest.approx(0.025 * sign)


# What each arm is given ---------------------------------------------------------------------


def test_parameters_of_each_arm_are_those_of_arms_built_with_them(robot):
    q, qd, target = drawn(robot, 4)
    scale = np.array([0.7, 1.0, 1.3, 2.0])
    parameters = scale[:, None] * robot.chain.parameters
    found = robot.stepper(1e-3, "pd-gravity", **GAINS).step(q, qd, target, parameters=parameters)
    for i, row in enumerate(parameters):
        built = Robot(robot.chain.with_parameters(row)).stepper(1e-3, "pd-gravity", **GAINS)
        expected = built.step(q[i], qd[i], target[i])
        np.testing.assert_allclose([x[i] for x in found], expected, rtol=1e-12, atol=1e-14)


def test_payload_and_gravity_of_each_arm(robot):
    q, qd, tau = drawn(robot, 2)
    mass, com = np.array([0.0, 1.5]), np.array([0.1, 0.0, 0.0])
    payload = np.zeros((2, 10))
    payload[:, 0], payload[:, 1:4] = mass, mass[:, None] * com
    payload[:, 4:] = mass[:, None] * [0, 0, com[0] ** 2, 0, 0, com[0] ** 2]
    gravity = np.array([[0, 0, 0.0], [0, -3.7, 0]])
    found = robot.stepper(1e-3).step(q, qd, tau, payload=payload, gravity=gravity)
    for i in range(2):
        built = robot.chain.with_payload(mass[i], com).with_gravity(gravity[i])
        expected = Robot(built).stepper(1e-3).step(q[i], qd[i], tau[i])
        np.testing.assert_allclose([x[i] for x in found], expected, rtol=1e-12, atol=1e-14)


def test_a_payload_that_no_body_has_is_refused(robot):
    stepper = robot.stepper(1e-3)
    impossible = [-1.0, 0, 0, 0, 1, 0, 1, 0, 0, 1]
    with pytest.raises(ModelError, match="payload: "):
        stepper.step(*drawn(robot, 2), payload=impossible)
    assert np.isfinite(stepper.step(*drawn(robot, 2), payload=impossible, check=None)).all()


# What is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"dt": 0.0}, SimulationError, "dt is 0.0; expected a positive number"),
        ({"action": "pdd"}, MethodError, "action is 'pdd'; did you mean 'pd'\\?.*torque, pd"),
        ({"action": "zero"}, MethodError, "action is 'zero'; .*expected one of torque, pd"),
        ({"action": "pd"}, MethodError, "kp is None with the action 'pd', which needs one"),
        ({"kd": 3.0}, MethodError, "kd is 3.0 with the action 'torque', which takes none"),
        ({"action": "pd", "kp": [1.0] * 3, "kd": 1}, ShapeError, r"kp .*\(3,\); .*\(\.\.\., 2\)"),
        ({"action": "pd", "kp": np.nan, "kd": 1}, SimulationError, "kp is nan; expected finite"),
        ({"integrator": "ab4"}, MethodError, "integrator is 'ab4'; expected one of rk4"),
        ({"limits": "stop"}, MethodError, "limits is 'stop'; expected one of ignore, clamp"),
        ({"friction": 1}, MethodError, "friction is 1; expected True or False"),
        ({"substeps": 0}, SimulationError, "substeps is 0; expected a whole number of at least 1"),
        ({"payload_frame": "tool"}, ModelError, "tool"),
    ],
)
def test_what_is_refused_is_named_and_shown(robot, options, error, message):
    with pytest.raises(error, match=message):
        robot.stepper(**{"dt": 1e-3} | options)


def test_a_wrong_action_is_named(robot):
    with pytest.raises(ShapeError, match=r"action has shape \(3,\); .*2\), a torque for each"):
        robot.stepper(1e-3).step([0, 0], [0, 0], [1, 2, 3])
    with pytest.raises(ShapeError, match=r"parameters has shape \(7,\); expected \(\.\.\., 20\)"):
        robot.stepper(1e-3).step([0, 0], [0, 0], [1, 2], parameters=np.ones(7))
