"""How simulations are run: forms of torque, batches, limits, divergence, what is refused."""

import dataclasses
import sys

import numpy as np
import pytest

import armdyn
from armdyn import (
    ArmdynError,
    Chain,
    MethodError,
    Robot,
    ShapeError,
    SimulationError,
    controllers,
    trajectories,
)
from tests.arms import with_rotors
from tests.interpreting import interpret

N = 3
CHAIN = with_rotors(Chain.random(N, "RPR", seed=2))
ROBOT = Robot(CHAIN)
Q0, QD0 = np.array([0.3, 0.1, -0.7]), np.array([1.0, -0.5, 2.0])
TARGET, KP, KD = np.array([0.2, 0.0, 0.5]), np.array([20.0, 30.0, 10.0]), 2.0
WAY = trajectories.quintic(Q0, TARGET, 0.05)
T, DT, STEPS = 0.06, 1e-3, 60
MOTION = ("q", "qd", "qdd", "tau")


def simulate(tau=None, q0=Q0, qd0=QD0, **options):
    return armdyn.simulate(ROBOT, q0, qd0, tau, **{"t": T, "dt": DT, **options})


def pd(t, q, qd):
    """What controllers.pd_gravity does, by hand."""
    return KP * (TARGET - q) - KD * qd + ROBOT.gravity(q)


TORQUES = {
    "none": None,
    "constant": np.array([1.0, 2.0, -1.0]),
    "array": np.random.default_rng(0).uniform(-2, 2, (STEPS, N)),
    "function": pd,
    "pd": controllers.pd_gravity(TARGET, KP, KD),
    "along a trajectory": controllers.computed_torque(WAY, KP, KD),
    "sampled": controllers.computed_torque(WAY, KP, KD, rate=200),
}
INTEGRATORS = ("ab4", "rk4", "midpoint", "DOP853")


def states(*batch):
    rng = np.random.default_rng(3)
    return Q0 + rng.uniform(-0.3, 0.3, (*batch, N)), QD0 + rng.uniform(-1, 1, (*batch, N))


# One and many -------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("torque", TORQUES)
def test_each_state_of_a_batch_has_the_bits_of_itself_alone(torque, integrator):
    tau, options = TORQUES[torque], {"integrator": integrator, "limits": "ignore"}
    q0, qd0 = states(5) if integrator != "DOP853" else states(2)
    many = simulate(tau, q0, qd0, **options)
    assert many.q.shape == (len(q0), STEPS + 1, N)
    for i in (0, len(q0) - 1):
        alone = simulate(tau, q0[i], qd0[i], **options)
        for name in MOTION:
            np.testing.assert_array_equal(getattr(many, name)[i], getattr(alone, name), name)
        np.testing.assert_array_equal(many.energy.total[i], alone.energy.total)


def test_a_state_that_is_done_keeps_its_torque_while_others_iterate():
    """To ask the function again for it would change its last bit."""
    robot, starts = armdyn.load("two_link"), np.random.default_rng(0).uniform(-1, 1, (35, 2))

    def run(q0):
        damped = lambda t, q, qd: -0.3 * qd  # noqa: E731
        return armdyn.simulate(robot, q0, None, damped, 0.02, 2e-3, "midpoint").qd

    np.testing.assert_array_equal(run(starts), np.concatenate([run(starts[:7]), run(starts[7:])]))


def test_batches_larger_than_a_tile_and_of_any_shape():
    q0, qd0 = states(2, 600)
    many = simulate(TORQUES["pd"], q0, qd0, t=0.02)
    assert many.q.shape == (2, 600, 21, N)
    alone = simulate(TORQUES["pd"], q0[1, 599], qd0[1, 599], t=0.02)
    np.testing.assert_array_equal(many.q[1, 599], alone.q)
    assert simulate(q0=np.zeros((0, N)), qd0=None).q.shape == (0, STEPS + 1, N)


def test_a_torque_and_a_target_for_each_state():
    q0, qd0 = states(4)
    targets = TARGET + np.arange(4)[:, None] / 10
    many = simulate(controllers.pd_gravity(targets, KP, KD), q0, qd0)
    alone = simulate(controllers.pd_gravity(targets[2], KP, KD), q0[2], qd0[2])
    np.testing.assert_array_equal(many.q[2], alone.q)
    rows = np.random.default_rng(1).uniform(-1, 1, (4, STEPS, N))
    for given in (rows, rows[:, :1]):
        many = simulate(given, q0, qd0, integrator="rk4")
        alone = simulate(given[2], q0[2], qd0[2], integrator="rk4")
        np.testing.assert_array_equal(many.q[2], alone.q)


@pytest.mark.parametrize("integrator", ["ab4", "rk4", "midpoint", "LSODA"])
@pytest.mark.parametrize("torque", ["pd", "sampled", "array"])
def test_keeping_one_row_of_some_changes_no_bit(monkeypatch, torque, integrator):
    whole = simulate(TORQUES[torque], integrator=integrator)
    monkeypatch.setattr("armdyn.simulation.run.SEGMENT", 16)  # several windows
    few = simulate(TORQUES[torque], integrator=integrator, every=6)
    np.testing.assert_array_equal(few.t, whole.t[::6])
    for name in MOTION:
        np.testing.assert_array_equal(getattr(few, name), getattr(whole, name)[::6], name)


# Forms of torque ----------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", [*INTEGRATORS, "LSODA"])
def test_a_traced_controller_is_the_same_as_its_function(integrator):
    """The program of controller, dynamics and integrator against the integrator's own text."""
    traced = simulate(TORQUES["pd"], integrator=integrator)
    called = simulate(pd, integrator=integrator)
    for name, size in (("q", 1e-12), ("qd", 1e-11), ("qdd", 1e-9), ("tau", 1e-10)):
        np.testing.assert_allclose(getattr(traced, name), getattr(called, name), rtol=0, atol=size)


@pytest.mark.parametrize("integrator", ["ab4", "rk4", "midpoint"])
def test_a_constant_is_an_array_of_equal_rows_and_a_function(integrator):
    tau = TORQUES["constant"]
    runs = [
        simulate(form, integrator=integrator)
        for form in (tau, np.tile(tau, (STEPS, 1)), lambda t, q, qd: tau)
    ]
    for other in runs[1:]:
        np.testing.assert_allclose(other.q, runs[0].q, rtol=0, atol=1e-8)
        np.testing.assert_array_equal(other.tau, runs[0].tau)


@pytest.mark.parametrize("integrator", ["ab4", "rk4", "midpoint", "LSODA"])
@pytest.mark.parametrize("period", [1, 2, 5, 12])
def test_a_sampled_controller_holds_what_it_computed(integrator, period):
    rate = 1 / (period * DT)
    run = simulate(controllers.pd_gravity(TARGET, KP, KD, rate), integrator=integrator, rtol=1e-11)
    samples = np.arange(0, STEPS + 1, period)
    expected = pd(0, run.q[samples], run.qd[samples])
    np.testing.assert_allclose(run.tau[samples], expected, rtol=0, atol=1e-12)
    held = run.tau[np.arange(STEPS + 1) // period * period]
    np.testing.assert_array_equal(run.tau, held)
    again = simulate(run.tau[:-1], integrator="rk4")
    size = 1e-5 if integrator == "midpoint" else 1e-9
    np.testing.assert_allclose(run.q, again.q, rtol=0, atol=size)


def test_torques_held_over_each_step_are_integrated_as_such():
    """Against DOP853, which starts anew at each jump: fourth order, in spite of the jumps."""
    tau = TORQUES["array"]
    exact = simulate(tau, integrator="DOP853", rtol=1e-12)
    for integrator in ("ab4", "rk4"):
        run = simulate(tau, integrator=integrator)
        np.testing.assert_allclose(run.q, exact.q, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(exact.tau, np.vstack([tau, tau[-1]]))


def test_accelerations_and_torques_belong_to_their_rows():
    for torque in ("pd", "array", "along a trajectory", "function"):
        for integrator in INTEGRATORS:
            run = simulate(TORQUES[torque], integrator=integrator)
            qdd = ROBOT.forward_dynamics(run.q, run.qd, run.tau)
            np.testing.assert_allclose(run.qdd, qdd, rtol=1e-12, atol=1e-10)


def test_a_trajectory_may_be_any_function():
    def way(t):
        return WAY(t)

    ready = simulate(controllers.computed_torque(WAY, KP, KD), integrator="rk4")
    own = simulate(controllers.computed_torque(way, KP, KD), integrator="rk4")
    np.testing.assert_array_equal(own.q, ready.q)


# Limits -------------------------------------------------------------------------------------


def limited(*limits):
    joints = (
        dataclasses.replace(joint, lower=lower, upper=upper)
        for joint, (lower, upper) in zip(CHAIN.joints, limits, strict=True)
    )
    return Robot(dataclasses.replace(CHAIN, joints=tuple(joints)))


NARROW = limited((-np.inf, 0.31), (-5, 5), (-0.8, -0.65))


@pytest.mark.parametrize("integrator", ["ab4", "midpoint"])
def test_violations_are_reported_with_time_and_extent(integrator):
    run = armdyn.simulate(NARROW, Q0, QD0, t=T, integrator=integrator)
    assert len(run.t) == STEPS + 1 and not run.stopped
    for joint, limit in ((0, 0.31), (2, -0.65)):
        (seen,) = [v for v in run.violations if v.joint == NARROW.joint_names[joint]]
        beyond = run.q[:, joint] > limit
        assert seen.side == "upper" and seen.limit == limit and seen.state is None
        assert seen.t == run.t[np.argmax(beyond)]
        assert seen.worst == run.q[:, joint].max()
        assert f"passes its upper limit {limit} at t = " in str(seen)
    assert run.violations == tuple(sorted(run.violations, key=lambda v: v.t))
    ignored = armdyn.simulate(NARROW, Q0, QD0, t=T, integrator=integrator, limits="ignore")
    assert not ignored.violations
    np.testing.assert_array_equal(ignored.q, run.q)


def test_stop_ends_the_run_at_the_limit_with_the_reason():
    whole = armdyn.simulate(NARROW, Q0, QD0, t=T, limits="ignore")
    run = armdyn.simulate(NARROW, Q0, QD0, t=T, limits="stop")
    last = len(run.t) - 1
    assert run.q[last, 0] > 0.31 or run.q[last, 2] > -0.65
    assert np.all(run.q[:last, 0] <= 0.31) and np.all(run.q[:last, 2] <= -0.65)
    for name in MOTION:
        np.testing.assert_array_equal(getattr(run, name), getattr(whole, name)[: last + 1])
    assert run.steps == last and "stopped: joint 'joint1' passes its upper limit" in repr(run)
    outside = armdyn.simulate(NARROW, [1.0, 0, -0.7], t=T, limits="stop")
    assert outside.t.tolist() == [0.0] and outside.violations[0].t == 0.0


def test_stop_in_a_batch_ends_each_state_by_itself():
    q0, qd0 = np.stack([Q0, Q0 - 0.05, Q0 - 5]), np.stack([QD0, QD0, 0 * QD0])
    robot = limited((-np.inf, 0.31), (-np.inf, 5), (-np.inf, 10))
    many = armdyn.simulate(robot, q0, qd0, t=T, limits="stop")
    assert many.q.shape == (3, STEPS + 1, N)
    for i in range(3):
        alone = armdyn.simulate(robot, q0[i], qd0[i], t=T, limits="stop")
        rows = len(alone.t)
        assert (rows == STEPS + 1) == (i == 2)
        for name in MOTION:
            np.testing.assert_array_equal(getattr(many, name)[i, :rows], getattr(alone, name))
        assert np.isnan(many.q[i, rows:]).all()
    assert [v.state for v in many.violations] == [0, 1] and "stopped: 2" in repr(many)


# What breaks off ----------------------------------------------------------------------------

STIFF = controllers.pd_gravity(TARGET, kp=1e6, kd=1e4)


@pytest.mark.parametrize("integrator", ["ab4", "rk4"])
@pytest.mark.parametrize("every", [1, 10])
def test_divergence_says_when_and_which_joint_and_keeps_the_rest(integrator, every):
    with pytest.raises(SimulationError, match=r"diverged at t = \S+ s: joint 'joint\d'") as caught:
        simulate(STIFF, t=2, integrator=integrator, every=every)
    kept = caught.value.result
    assert 0 < kept.steps < 2000 and len(kept.t) == kept.steps // every + 1
    assert np.isfinite(kept.q).all() and np.isfinite(kept.qd).all()
    assert f"t = {(kept.steps + 1) * DT:.6g} s" in str(caught.value)
    assert isinstance(caught.value, ArmdynError)


@pytest.mark.parametrize("integrator", ["ab4", "midpoint", "DOP853"])
def test_divergence_in_a_batch_names_the_state(integrator):
    def torque(t, q, qd):
        return np.where(np.abs(q) > 50, np.inf, 0.0)

    q0, qd0 = np.stack([Q0, Q0, Q0]), np.stack([QD0, 5000 * QD0, QD0])
    with pytest.raises(SimulationError, match=r"diverged at .* of state 1") as caught:
        simulate(torque, q0, qd0, integrator=integrator, limits="ignore")
    assert caught.value.result.q.shape[0] == 3


def test_the_midpoint_says_when_its_equation_is_not_solved():
    def dry(t, q, qd):
        return ROBOT.gravity(q) - 30 * np.sign(qd)

    with pytest.raises(SimulationError, match="at t = 0 s the implicit midpoint is not found"):
        simulate(dry, qd0=QD0 / 1000, integrator="midpoint")


def test_a_function_that_fails_fails_as_itself():
    def broken(t, q, qd):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        simulate(broken)


# What is refused ----------------------------------------------------------------------------

REFUSED = {
    "no robot": (lambda: armdyn.simulate("puma560", Q0), TypeError, "takes a Robot, not str"),
    "q0 too short": (lambda: simulate(q0=[1, 2]), ShapeError, r"q0 has shape \(2,\).*\(..., 3\)"),
    "qd0 of another batch": (
        lambda: simulate(q0=np.zeros((2, N)), qd0=np.zeros((4, N))),
        ShapeError,
        r"q0 \(2, 3\), qd0 \(4, 3\)",
    ),
    "nan": (lambda: simulate(q0=[0, np.nan, 0]), SimulationError, "q0 is .*nan.*finite"),
    "no time": (lambda: simulate(t=0), SimulationError, "t is 0; expected a positive"),
    "negative step": (lambda: simulate(dt=-1), SimulationError, "dt is -1; expected a positive"),
    "a part of a step": (
        lambda: simulate(t=0.0105),
        SimulationError,
        "t is 0.0105 s; expected a whole number of steps dt = 0.001 s",
    ),
    "every": (lambda: simulate(every=7), SimulationError, "every is 7; expected a divisor of 60"),
    "integrator": (lambda: simulate(integrator="euler"), MethodError, "'euler'; expected.*ab4"),
    "limits": (lambda: simulate(limits="bounce"), MethodError, "'bounce'; expected one of report"),
    "integrator meant": (
        lambda: simulate(integrator="rk5"),
        MethodError,
        "did you mean 'rk4'",
    ),
    "tolerance": (lambda: simulate(rtol=0), SimulationError, "rtol is 0; expected a positive"),
    "torque of another arm": (
        lambda: simulate(np.zeros(5)),
        ShapeError,
        r"tau has shape \(5,\); expected a constant \(3,\) or a row a step \(60, 3\)",
    ),
    "too many rows": (lambda: simulate(np.zeros((61, N))), ShapeError, r"tau has shape \(61, 3\)"),
    "function of another arm": (
        lambda: simulate(lambda t, q, qd: np.zeros(2)),
        ShapeError,
        r"tau\(t, q, qd\) answers an array \(2,\); expected \(3,\)",
    ),
    "gains of another arm": (
        lambda: simulate(controllers.pd_gravity(TARGET, [1, 2], 1)),
        ShapeError,
        r"kp has shape \(2,\); expected a number or \(3,\)",
    ),
    "target of another arm": (
        lambda: simulate(controllers.pd_gravity([0.0, 0.0], 1, 1)),
        ShapeError,
        r"q_ref has shape \(2,\); expected \(..., 3\)",
    ),
    "a single target": (
        lambda: controllers.pd_gravity(1.0, 1, 1),
        ShapeError,
        "target is a number",
    ),
    "targets of other states": (
        lambda: simulate(controllers.pd_gravity(np.zeros((2, N)), 1, 1)),
        ShapeError,
        "follows 2 motions; expected 1",
    ),
    "trajectory that is none": (
        lambda: simulate(controllers.pd_gravity(lambda t: TARGET, 1, 1)),
        ShapeError,
        r"answers array.* at t = 0 s; expected \(q, qd, qdd\)",
    ),
    "rate": (
        lambda: simulate(controllers.gravity_compensation(rate=300)),
        SimulationError,
        "rate is 300 Hz; expected 1/dt = 1000 Hz or a whole part",
    ),
    "no rate": (
        lambda: controllers.gravity_compensation(rate=0),
        SimulationError,
        "rate is 0; expected a positive",
    ),
    "midpoint of dry friction": (
        lambda: simulate(integrator="midpoint", friction=True),
        SimulationError,
        "Coulomb friction of joint 'joint1'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_named_and_shown(case):
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        call()


def test_without_scipy_its_integrators_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(
        SimulationError, match=r"LSODA is SciPy's: pip install 'armdyn\[simulate\]'"
    ):
        simulate(integrator="LSODA")


@pytest.mark.parametrize("integrator", ["ab4", "midpoint"])
def test_interpreted_it_is_slow_and_the_same(monkeypatch, integrator):
    def run(robot):
        way = controllers.pd_gravity([0.1, 0.2], 5, 1)
        return armdyn.simulate(robot, np.zeros((2, 2)), None, way, t=0.006, integrator=integrator)

    fast = run(Robot(Chain.random(2, seed=11)))
    interpret(monkeypatch)
    for kept in (
        "armdyn.simulation.marching.routine",
        "armdyn.simulation.integration.forward_dynamics",
    ):
        module, _, name = kept.rpartition(".")
        getattr(sys.modules[module], name).cache_clear()
    slow = run(Robot(Chain.random(2, seed=11)))
    for kept in (
        "armdyn.simulation.marching.routine",
        "armdyn.simulation.integration.forward_dynamics",
    ):
        module, _, name = kept.rpartition(".")
        getattr(sys.modules[module], name).cache_clear()
    for name in MOTION:
        np.testing.assert_allclose(getattr(slow, name), getattr(fast, name), rtol=0, atol=1e-11)


def test_progress_is_told():
    seen = []
    simulate(progress=lambda done, steps: seen.append((done, steps)))
    assert seen == [(STEPS, STEPS)]
