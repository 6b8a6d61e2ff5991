"""What a torque answers, and what is said of one that is not a number."""

import sys

import numpy as np
import pytest

import armdyn
from armdyn import Chain, Robot, ShapeError, SimulationError, controllers, trajectories
from armdyn.simulation.torques import Torque, make_torque
from tests.arms import with_rotors

N = 3
CHAIN = with_rotors(Chain.random(N, "RPR", seed=2))
ROBOT = Robot(CHAIN)
Q0, QD0 = np.array([0.3, 0.1, -0.7]), np.array([1.0, -0.5, 2.0])
T, DT, STEPS = 0.06, 1e-3, 60
MOTION = ("q", "qd", "qdd", "tau")
INTEGRATORS = ("ab4", "rk4", "midpoint", "DOP853", "LSODA")


def simulate(tau=None, q0=Q0, qd0=QD0, **options):
    return armdyn.simulate(ROBOT, q0, qd0, tau, **{"t": T, "dt": DT, **options})


def pull(t, q, qd):
    return np.sin(40 * t) - qd


# What a torque answers ----------------------------------------------------------------------

ANSWERS = {  # law, period, the steps from 0 and from 11 to 25 at which it may jump
    "none": (None, None, STEPS, [0], []),
    "constant": (np.ones(N), None, STEPS, [0], []),
    "array": (np.ones((STEPS, N)), None, 1, list(range(25)), list(range(11, 25))),
    "function": (pull, None, None, [0], []),
    "controller": (controllers.gravity_compensation(), "gravity", None, [0], []),
    "sampled": (
        controllers.gravity_compensation(rate=100),
        "gravity",
        10,
        [0, 10, 20],
        [20],
    ),
}


@pytest.mark.parametrize("form", ANSWERS)
def test_a_torque_says_its_law_its_period_and_its_jumps(form):
    tau, law, period, early, late = ANSWERS[form]
    torque = make_torque(CHAIN, tau, (), STEPS, DT, np.dtype(float))
    assert (torque.law, torque.period) == (law, period)
    assert list(torque.starts(0, 25)) == early and list(torque.starts(11, 25)) == late


class Stairs(Torque):
    """A torque of a kind that nobody has met, held for seven steps."""

    period = 7

    def at(self, times, q, qd, states=slice(None)):
        step = np.rint(times / DT).astype(int) // self.period * self.period
        return np.sin(step)[:, None, None] * np.array([1.0, 2.0, -1.0])


@pytest.mark.parametrize("every", [1, 6])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_nobody_asks_what_a_torque_is(monkeypatch, integrator, every):
    rows = Stairs().at(np.arange(STEPS) * DT, None, None)[:, 0]
    expected = simulate(rows, integrator=integrator, every=every)
    monkeypatch.setattr("armdyn.simulation.make_torque", lambda *_: Stairs())
    run = simulate(integrator=integrator, every=every)
    same = integrator in ("rk4", "midpoint")  # the others start anew wherever it may jump
    for name in MOTION:
        found, wanted = getattr(run, name), getattr(expected, name)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=0 if same else 1e-6, err_msg=name)


# What is not a number -----------------------------------------------------------------------


def until(end, value):
    """A torque that is not a number for later times."""
    return lambda t, q, qd: pull(t, q, qd) if t <= end else np.array([0.0, value, 0.0])


@pytest.mark.parametrize("every", [1, 5])
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_a_function_that_answers_nan_is_called_that(integrator, every, value):
    options = {"integrator": integrator, "every": every, "t": 0.4}
    message = rf"tau\(t, q, qd\) answered {value} at t = 0.3\S* s, .* in joint 'joint2'; expected"
    with pytest.raises(SimulationError, match=message) as caught:
        simulate(until(0.3, value), **options)
    assert "smaller dt" not in str(caught.value)
    kept, whole = caught.value.result, simulate(pull, **options)
    rows = len(kept.t)
    assert 250 <= kept.steps <= 300 and rows == kept.steps // every + 1
    for name in ("t", *MOTION):
        np.testing.assert_array_equal(getattr(kept, name), getattr(whole, name)[:rows], name)


def test_a_function_that_answers_nan_at_once_leaves_nothing():
    with pytest.raises(SimulationError, match="answered nan at t = 0 s") as caught:
        simulate(lambda t, q, qd: np.full(N, np.nan))
    assert caught.value.result is None


@pytest.mark.parametrize("integrator", ["ab4", "midpoint", "DOP853"])
def test_the_state_whose_torque_is_nan_is_named(integrator):
    def torque(t, q, qd):
        return np.where(q[..., :1] > 0.35, np.nan, 0 * q)

    q0 = np.stack([Q0 - 0.2, Q0 - 0.2, Q0])
    with pytest.raises(SimulationError, match="answered nan at .* of state 2; expected finite"):
        simulate(torque, q0, np.stack([QD0, QD0, QD0]), integrator=integrator)


@pytest.mark.parametrize(
    "answer, message",
    [
        (None, r"tau\(t, q, qd\) has dtype object"),
        ("abc", r"tau\(t, q, qd\) has dtype <U3; expected real numbers"),
        (np.zeros((2, N)), r"tau\(t, q, qd\) answers an array \(2, 3\); expected \(3,\)"),
    ],
)
def test_an_answer_of_the_wrong_kind_or_shape_is_named(answer, message):
    with pytest.raises(ShapeError, match=message):
        simulate(lambda t, q, qd: answer)


def test_a_trajectory_that_answers_nan_is_called_that():
    def way(t):
        return Q0, 0 * Q0, np.full(N, np.nan if t > 0.01 else 0.0)

    with pytest.raises(SimulationError, match=r"trajectory answered qdd = \[nan.* at t = 0.01"):
        simulate(controllers.computed_torque(way, 1, 1))

    def ragged(t):
        return (Q0, 0 * Q0, 0 * Q0) if t < 0.01 else (Q0[:2], 0 * Q0, 0 * Q0)

    with pytest.raises(ShapeError, match=r"arrays of shapes \(2,\), \(3,\); expected one"):
        simulate(controllers.computed_torque(ragged, 1, 1))


def test_a_state_that_cannot_be_followed_leaves_the_others_whole():
    """Of qdd = 6 q^2 one solution is 1 / (end - t)^2; DOP853 gives up where that is reached."""
    chain = Chain.from_mdh(
        b=[0.0], beta=[0.0], d=[0.0], theta=[0.0], joints="P", mass=[1.0], gravity=(0, 0, 0)
    )
    end = 0.0205
    q0, qd0 = np.array([[end**-2], [1.0]]), np.array([[2 * end**-3], [0.5]])
    options = {"t": 0.05, "integrator": "DOP853", "limits": "ignore"}

    def torque(t, q, qd):
        return 6 * q**2

    with pytest.raises(SimulationError, match=r"at t = 0.02 s DOP853 gave up") as caught:
        armdyn.simulate(Robot(chain), q0, qd0, torque, **options)
    kept = caught.value.result
    alone = armdyn.simulate(Robot(chain), q0[1], qd0[1], torque, **options)
    assert kept.steps == 20
    np.testing.assert_array_equal(kept.q[1], alone.q[:21])
    np.testing.assert_allclose(kept.q[0, :, 0], (end - kept.t) ** -2, rtol=1e-6)


# float32 ------------------------------------------------------------------------------------

NARROW = np.float32
WAY = trajectories.quintic(Q0, [0.2, 0.0, 0.5], 0.05)
TORQUES = {
    "none": None,
    "constant": np.array([1.0, 2.0, -1.0], NARROW),
    "array": np.random.default_rng(0).uniform(-2, 2, (STEPS, N)).astype(NARROW),
    "function": pull,
    "controller": controllers.computed_torque(WAY, 30, 4),
    "sampled": controllers.computed_torque(WAY, 30, 4, rate=100),
}


def widened(tau):
    return tau.astype(float) if isinstance(tau, np.ndarray) else tau


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("torque", TORQUES)
def test_float32_stays_float32_and_near_the_motion_in_float64(torque, integrator):
    tau, q0, qd0 = TORQUES[torque], Q0.astype(NARROW), QD0.astype(NARROW)
    run = simulate(tau, q0, qd0, integrator=integrator)
    wide = simulate(widened(tau), q0.astype(float), qd0.astype(float), integrator=integrator)
    for name, size in (("q", 3e-6), ("qd", 3e-5), ("qdd", 3e-3), ("tau", 1e-3)):
        found, expected = getattr(run, name), getattr(wide, name)
        assert found.dtype == NARROW and expected.dtype == float, name
        np.testing.assert_allclose(found, expected, rtol=0, atol=size, err_msg=name)
    assert run.energy.total.dtype == NARROW and run.t.dtype == float
    exact = integrator in ("DOP853", "LSODA")  # computed in float64, and then rounded
    assert np.array_equal(run.q, wide.q.astype(NARROW)) == exact


@pytest.mark.parametrize("integrator", ["ab4", "rk4", "midpoint"])
@pytest.mark.parametrize("torque", TORQUES)
def test_a_batch_in_float32_has_the_bits_of_each_state_alone(torque, integrator):
    rng = np.random.default_rng(3)
    q0 = (Q0 + rng.uniform(-0.3, 0.3, (5, N))).astype(NARROW)
    many = simulate(TORQUES[torque], q0, None, integrator=integrator, limits="ignore")
    alone = simulate(TORQUES[torque], q0[4], None, integrator=integrator, limits="ignore")
    for name in MOTION:
        np.testing.assert_array_equal(getattr(many, name)[4], getattr(alone, name), name)


def test_a_function_is_asked_in_float32_too():
    seen = set()

    def torque(t, q, qd):
        seen.update((q.dtype.name, qd.dtype.name))
        return np.zeros(N)

    simulate(torque, Q0.astype(NARROW), None)
    assert seen == {"float32"}


def test_one_array_in_float64_makes_it_float64():
    q0, tau = Q0.astype(NARROW), np.ones(N, NARROW)
    assert simulate(tau, q0, None).q.dtype == NARROW
    for other in ((tau, q0, QD0), (np.ones(N), q0, None), (tau, list(q0), None)):
        assert simulate(*other).q.dtype == float


def test_interpreted_float32_is_float32_too(monkeypatch, interpreted):
    monkeypatch.setattr(
        "armdyn.simulation.torques.routine", sys.modules["armdyn.simulation.marching"].Routine
    )
    robot = Robot(Chain.random(2, seed=17))
    run = armdyn.simulate(robot, np.zeros(2, NARROW), t=0.006)
    assert run.q.dtype == NARROW and run.q[-1].any()
