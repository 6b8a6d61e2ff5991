"""Simulations and linearisations of arms that are given at the call: as of arms built so."""

from itertools import product

import numpy as np
import pytest

import armdyn
from armdyn import ModelError, Robot, ShapeError, controllers

ROBOT = armdyn.load("two_link")
SCALE = np.repeat([[1.0, 1.0], [1.3, 0.8], [0.9, 1.6]], 10, axis=1)  # of either link
PARAMETERS = SCALE * ROBOT.chain.parameters
MASS, COM = 0.7, np.array([0.1, 0.0, 0.0])
PAYLOAD = np.array([MASS, *MASS * COM, 0, 0, MASS * 0.01, 0, 0, MASS * 0.01])
MARS = np.array([0.0, -3.7, 0.0])
START = np.array([0.4, -0.6])
TORQUES = {
    "none": None,
    "pd-gravity": controllers.pd_gravity([0.1, 0.3], 30, 6),
    "sampled": controllers.computed_torque([0.1, 0.3], 30, 6, rate=250),
    "function": lambda t, q, qd: -0.5 * qd,
}


def built(parameters):
    """The arm that is given, built."""
    chain = ROBOT.chain.with_parameters(parameters).with_payload(MASS, COM).with_gravity(MARS)
    return Robot(chain)


SHORT = [("none", "ab4"), ("pd-gravity", "rk4"), ("none", "midpoint")]
CASES = [
    pytest.param(*case, marks=() if case in SHORT else pytest.mark.sweep)
    for case in product(TORQUES, ("ab4", "rk4", "midpoint", "DOP853"))
]


@pytest.mark.parametrize("torque, integrator", CASES)
def test_a_motion_is_that_of_arms_built_so(torque, integrator):
    options = {"t": 0.04, "dt": 2e-3, "integrator": integrator, "tau": TORQUES[torque]}
    options |= {"rtol": 1e-12, "atol": 1e-13}
    given = {"payload": PAYLOAD, "gravity": MARS, "parameters": PARAMETERS}
    run = armdyn.simulate(ROBOT, START, **options, **given)
    assert run.q.shape == (3, 21, 2)
    for i, row in enumerate(PARAMETERS):
        expected = armdyn.simulate(built(row), START, **options)
        for name in ("q", "qd", "qdd", "tau"):
            one, two = getattr(run, name)[i], getattr(expected, name)
            np.testing.assert_allclose(one, two, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(run.energy.total[i], expected.energy.total, rtol=1e-9)


def test_energy_is_conserved_by_what_is_given_not_by_the_arm_itself():
    run = armdyn.simulate(ROBOT, START, t=0.5, parameters=PARAMETERS)
    assert (np.abs(run.drift) < 1e-5).all()
    kinetic, potential = ROBOT.energy(run.q[2], run.qd[2])
    assert np.ptp(kinetic + potential) > 0.1


def test_a_state_has_the_same_bits_alone_and_in_a_step():
    hold = controllers.pd_gravity([0.1, 0.3], 30, 6)
    options = {"tau": hold, "t": 2e-3, "dt": 2e-3, "integrator": "rk4"}
    together = armdyn.simulate(ROBOT, START, parameters=PARAMETERS, **options)
    alone = armdyn.simulate(ROBOT, START, parameters=PARAMETERS[2], **options)
    np.testing.assert_array_equal(together.q[2], alone.q)
    stepper = ROBOT.stepper(2e-3, "pd-gravity", kp=30, kd=6)
    q, qd = stepper.step(START, [0, 0], [0.1, 0.3], parameters=PARAMETERS)
    np.testing.assert_array_equal(together.q[:, -1], q)
    np.testing.assert_array_equal(together.qd[:, -1], qd)


def test_float32_stays_float32_only_if_all_is():
    start, parameters = START.astype(np.float32), PARAMETERS.astype(np.float32)
    assert armdyn.simulate(ROBOT, start, parameters=parameters, t=2e-3).q.dtype == np.float32
    assert armdyn.simulate(ROBOT, start, parameters=PARAMETERS, t=2e-3).q.dtype == np.float64


@pytest.mark.parametrize("integrator", [pytest.param("rk4", marks=pytest.mark.sweep), "midpoint"])
def test_a_linear_system_is_that_of_arms_built_so(integrator):
    given = {"payload": PAYLOAD, "gravity": MARS, "parameters": PARAMETERS}
    state = START, [0.5, -0.2], [1.0, 0.3]
    found = armdyn.linearize(ROBOT, *state, 2e-3, integrator, **given)
    for i, row in enumerate(PARAMETERS):
        expected = armdyn.linearize(built(row), *state, 2e-3, integrator)
        for one, two in zip(found, expected, strict=True):
            np.testing.assert_allclose(one[i], two, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "given, error, message",
    [
        (
            {"payload": np.ones(9)},
            ShapeError,
            r"payload has shape \(9,\); expected \(..., 10\), m,",
        ),
        ({"gravity": -9.81}, ShapeError, r"gravity has shape \(\); expected \(..., 3\)"),
        ({"parameters": np.ones((3, 7))}, ShapeError, r"parameters .*\(3, 7\); .*\(..., 20\)"),
        ({"gravity": [0, np.nan, 0]}, armdyn.SimulationError, "gravity is .*nan.*; .*finite"),
        ({"payload": [-1.0, *[0] * 9]}, ModelError, "payload: "),
        ({"payload_frame": "tip"}, armdyn.MethodError, "payload_frame='tip' without a payload"),
        ({"payload": PAYLOAD, "payload_frame": "to"}, ModelError, "'to'"),
    ],
)
def test_what_cannot_be_given_is_named(given, error, message):
    for ask in (
        lambda: armdyn.simulate(ROBOT, START, **given),
        lambda: armdyn.linearize(ROBOT, START, START, START, 1e-3, **given),
    ):
        with pytest.raises(error, match=message):
            ask()


def test_batch_axes_that_do_not_broadcast_are_named():
    with pytest.raises(ShapeError, match=r"q0 \(2, 2\), qd0 \(2,\), parameters \(3, 20\)"):
        armdyn.simulate(ROBOT, [START, START], parameters=PARAMETERS)
