"""Limits of position, speed and effort, sizes that are refused, interrupts, progress."""

import dataclasses
import io
import math

import numpy as np
import pytest
from rich.console import Console

import armdyn
from armdyn import Chain, Robot, SimulationError, controllers
from armdyn.simulation import arguments

MOTION = ("t", "q", "qd", "qdd", "tau")


def slider(**limits):
    """A mass of 2 kg that slides without gravity: qdd = tau / 2."""
    chain = Chain.from_mdh(
        b=[0.0], beta=[0.0], d=[0.0], theta=[0.0], joints="P", mass=[2.0], gravity=(0, 0, 0)
    )
    joint = dataclasses.replace(chain.joints[0], **limits)
    return Robot(dataclasses.replace(chain, joints=(joint,)))


# Speed and effort ---------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ["ab4", "rk4", "midpoint", "DOP853"])
@pytest.mark.parametrize("sign, side", [(1, "upper"), (-1, "lower")])
def test_speed_is_beyond_its_limit_when_the_constant_force_says(integrator, sign, side):
    """Under 3 N the speed is 1.5 t: beyond 0.302 m/s from t = 0.202 s on."""
    run = armdyn.simulate(
        slider(velocity=0.302), [0.0], tau=[3.0 * sign], t=0.5, integrator=integrator
    )
    (seen,) = run.violations
    assert (seen.joint, seen.kind, seen.side, seen.state) == ("joint1", "speed", side, None)
    assert seen.limit == sign * 0.302 and seen.t == pytest.approx(0.202, abs=1e-12)
    assert seen.worst == pytest.approx(sign * 0.75, abs=1e-12)
    assert "1 joint beyond limits of speed" in run.summary()
    assert str(seen) == (
        f"joint 'joint1' passes its {side} limit of speed {sign * 0.302:g} at t = 0.202 s and "
        f"reaches {sign * 0.75:g}"
    )


@pytest.mark.parametrize("every", [1, 10])
@pytest.mark.parametrize("integrator", ["ab4", "rk4", "midpoint", "DOP853"])
def test_effort_is_the_torque_that_is_applied(integrator, every):
    """A spring of 100 N/m, let go at 0.1 m: its force on 2 kg is -10 cos(sqrt(50) t)."""
    spring = controllers.pd_gravity([0.0], kp=100, kd=0)
    run = armdyn.simulate(
        slider(effort=9.5), [0.1], tau=spring, t=0.5, integrator=integrator, every=every
    )
    below, above = run.violations
    assert (below.kind, below.side, below.t, below.limit) == ("effort", "lower", 0.0, -9.5)
    assert below.worst == pytest.approx(-10, abs=1e-12)
    first = math.ceil((math.pi - math.acos(0.95)) / math.sqrt(50) / 1e-3) * 1e-3
    assert (above.kind, above.side) == ("effort", "upper")
    assert above.t == pytest.approx(first, abs=1e-12) and above.worst == pytest.approx(10, abs=1e-3)
    assert "1 joint beyond limits of effort" in repr(run)
    assert run.violations == tuple(sorted(run.violations, key=lambda v: v.t))


@pytest.mark.parametrize("tau", [[[1.0]] * 99 + [[5.0]], lambda t, q, qd: [1 + 4 * (t > 0.0985)]])
def test_a_torque_beyond_its_limit_in_the_last_step_is_seen(tau):
    (seen,) = armdyn.simulate(slider(effort=4), [0.0], tau=tau, t=0.1).violations
    assert seen.kind == "effort" and seen.t == pytest.approx(0.099) and seen.worst == 5


def test_limits_of_speed_and_effort_stop_nothing():
    free = armdyn.simulate(slider(), [0.0], tau=[3.0], t=0.5)
    options = {"tau": [3.0], "t": 0.5, "limits": "stop"}
    robot = slider(velocity=0.302, effort=2.0)
    run = armdyn.simulate(robot, [0.0], **options)
    assert [v.kind for v in run.violations] == ["effort", "speed"] and not run.stopped
    for name in MOTION:
        np.testing.assert_array_equal(getattr(run, name), getattr(free, name))
    ignored = armdyn.simulate(robot, [0.0], tau=[3.0], t=0.5, limits="ignore")
    assert not ignored.violations


def test_what_would_have_come_after_a_stop_is_not_reported():
    """Stopped at 0.01 m, at a speed of 0.17 m/s: it never gets to 0.3 m/s, nor state 1 to 3 m."""
    robot = slider(velocity=0.3, upper=0.01)
    many = armdyn.simulate(robot, [[0.0], [-3.0]], tau=[3.0], t=0.5, limits="stop")
    assert [(v.kind, v.state) for v in many.violations] == [("position", 0), ("speed", 1)]
    assert many.violations[0].worst == many.q[0, ~np.isnan(many.q[0, :, 0])][-1, 0]
    assert len(many.stopped) == 1 and "stopped: 1" in repr(many)
    (seen,) = armdyn.simulate(robot, [0.0], tau=[3.0], t=0.5, limits="stop").violations
    assert seen.kind == "position"


# Sizes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "states, options, steps, size",
    [
        ((), {"dt": 1e-300}, r"1e\+300 steps", r"3.2e\+289 TB"),
        ((), {"t": 1e9}, r"1e\+12 steps", "32 TB"),
        ((), {"t": 1e300, "dt": 1e-300}, "inf steps", "inf TB"),
        ((), {"t": 1e12, "dt": 1e-4, "every": 10**15}, r"1e\+16 steps", "352 bytes"),
        ((10**6,), {"t": 1e4}, r"1e\+07 steps", "320 TB"),
        ((10**6,), {"t": 1e4, "every": 10}, r"1e\+07 steps", "one of 10 takes 32 TB"),
    ],
)
def test_what_does_not_fit_is_refused_before_memory_is_asked_for(states, options, steps, size):
    message = f"{steps}, and to keep .*{size} of memory; expected at most .* larger dt or every"
    with pytest.raises(SimulationError, match=message):
        armdyn.simulate(slider(), np.zeros((*states, 1)), **options)


def test_keeping_fewer_rows_takes_less_memory(monkeypatch):
    monkeypatch.setattr(arguments, "memory", lambda: 10_000)
    with pytest.raises(SimulationError, match="keep all takes 32 kB .* and 10 kB"):
        armdyn.simulate(slider(), [0.0])
    assert armdyn.simulate(slider(), [0.0], every=10).q.shape == (101, 1)
    narrow = np.zeros(1, np.float32)
    assert armdyn.simulate(slider(), narrow, t=0.6).q.shape == (601, 1)  # 9616 bytes


@pytest.mark.parametrize("name", ["t", "dt", "rtol", "atol", "every"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -1, 0, "1", None, True, [1], 10**400])
def test_a_number_that_is_none_is_named(name, value):
    with pytest.raises(SimulationError, match=f"^{name} is .*; expected") as caught:
        armdyn.simulate(slider(), [0.0], **{name: value})
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("rate", [math.nan, math.inf, -5, "1", True, 10**400])
def test_a_rate_that_is_none_is_named(rate):
    with pytest.raises(SimulationError, match="^rate is .*; expected a positive number"):
        controllers.gravity_compensation(rate=rate)


def test_a_rate_too_slow_for_numbers_is_named():
    with pytest.raises(SimulationError, match="^rate is .* Hz; expected 1/dt = 1000 Hz"):
        armdyn.simulate(slider(), [0.0], tau=controllers.gravity_compensation(rate=1e-322))


# Interrupts and progress --------------------------------------------------------------------


@pytest.mark.parametrize("every", [1, 10])
@pytest.mark.parametrize("integrator", ["ab4", "rk4", "midpoint", "DOP853"])
def test_what_was_computed_before_an_interrupt_is_kept(monkeypatch, integrator, every):
    monkeypatch.setattr("armdyn.simulation.run.SEGMENT", 20)
    options = {"t": 0.2, "integrator": integrator, "every": every}
    robot, start = armdyn.load("two_link"), [0.5, 0.0]
    told = []

    def interrupt(done, steps):
        told.append(done)
        if len(told) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        armdyn.simulate(robot, start, progress=interrupt, **options)
    kept, whole = caught.value.result, armdyn.simulate(robot, start, **options)
    assert told == [20, 40, 60] and kept.steps == 59 and len(kept.t) == 59 // every + 1
    for name in MOTION:
        np.testing.assert_array_equal(getattr(kept, name), getattr(whole, name)[: len(kept.t)])


@pytest.mark.parametrize("integrator", ["ab4", "rk4", "midpoint", "DOP853"])
def test_an_interrupt_in_a_function_keeps_the_steps_before_it(integrator):
    robot, start, calls = armdyn.load("two_link"), [0.5, 0.0], []

    def torque(t, q, qd):
        calls.append(t)
        if t > 0.15:
            raise KeyboardInterrupt
        return -qd

    with pytest.raises(KeyboardInterrupt) as caught:
        armdyn.simulate(robot, start, tau=torque, t=0.2, integrator=integrator)
    kept = caught.value.result
    assert 0.1 < kept.t[-1] <= calls[-1] and len(kept.t) == kept.steps + 1
    whole = armdyn.simulate(robot, start, tau=lambda t, q, qd: -qd, t=0.2, integrator=integrator)
    for name in MOTION:
        np.testing.assert_array_equal(getattr(kept, name), getattr(whole, name)[: len(kept.t)])


def test_progress_may_be_a_bar_on_stderr(monkeypatch, capsys):
    screen = Console(file=io.StringIO(), force_terminal=True, width=80)
    monkeypatch.setattr("armdyn.output.report.Console", lambda **_: screen)
    armdyn.simulate(armdyn.load("two_link"), [0.5, 0.0], progress=True)
    assert "simulating two_link" in screen.file.getvalue() and "100%" in screen.file.getvalue()
    monkeypatch.undo()
    armdyn.simulate(armdyn.load("two_link"), [0.5, 0.0], progress=True)  # nobody looks
    armdyn.simulate(armdyn.load("two_link"), [0.5, 0.0], progress=False)
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.strip() == ""
    with pytest.raises(SimulationError, match="progress is 3; expected True, or a function"):
        armdyn.simulate(armdyn.load("two_link"), [0.5, 0.0], progress=3)
