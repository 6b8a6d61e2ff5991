"""Logs as motions: against closed forms, and every bad log refused or noted as it should be."""

import math
import re
import sys

import numpy as np
import pytest

import armdyn
from armdyn import IdentificationError, Log
from armdyn.identification.signals import motions
from armdyn.identification.units import doubts
from tests import kr300

pytest.importorskip("scipy", reason="the low-pass filter is SciPy's")

RATE = 500.0  # Hz
W = np.array([2.0, 3.1])  # rad/s


def wave(t):
    """A motion in closed form: q, qd, qdd (N, 2)."""
    phase = np.outer(t, W) + [0.3, 1.1]
    return np.sin(phase), W * np.cos(phase), -(W**2) * np.sin(phase)


def log_of(t, **changes):
    """A log of that motion, with torques that are another wave."""
    arrays = {"t": t, "q": wave(t)[0], "tau": 7 * np.cos(np.outer(t, W)), **changes}
    return Log(**arrays)


def times(seconds=10.0, rate=RATE):
    return np.arange(round(seconds * rate)) / rate


# Filter and differences ---------------------------------------------------------------------


def assert_wave(found, t, atol):
    q, qd, qdd = wave(t)
    for value, truth in ((found.q, q), (found.qd, qd), (found.qdd, qdd)):
        np.testing.assert_allclose(value, truth, rtol=0, atol=atol * np.abs(truth).max())
    np.testing.assert_allclose(found.tau, 7 * np.cos(np.outer(t, W)), rtol=0, atol=7 * atol)


def test_a_slow_motion_passes_unchanged_and_unshifted_and_its_rates_are_exact():
    found = motions(log_of(times()), cutoff=20.0)
    ((t,), (motion,)) = found.times, found.segments
    assert_wave(motion, t, atol=4e-3)  # what the ends are still felt by
    middle = slice(len(t) // 4, -len(t) // 4)
    inner = type(motion)(*(value[middle] for value in motion))
    assert_wave(inner, t[middle], atol=1e-7)


def test_ends_are_trimmed_by_two_periods_of_the_cutoff():
    t = times()
    (kept,) = motions(log_of(t), cutoff=20.0).times
    assert kept[0] == pytest.approx(2 / 20, abs=1 / RATE)
    assert t[-1] - kept[-1] == pytest.approx(2 / 20, abs=0.5 / 20)


@pytest.mark.parametrize("times_cutoff", [0.5, 1.0, 1.5, 2.0])
def test_a_tone_is_weakened_as_butterworth_says(times_cutoff):
    """Fourth order there and back: 1 / (1 + r^8), r by the tangents of the bilinear transform."""
    cutoff, t = 10.0, times(20.0)
    tone = np.sin(2 * math.pi * times_cutoff * cutoff * t)
    log = log_of(t, tau=np.column_stack([tone, tone]))
    (found,) = motions(log, cutoff).segments
    (kept,) = motions(log, cutoff).times
    basis = np.exp(2j * math.pi * times_cutoff * cutoff * kept)
    parts = np.column_stack([basis.real, basis.imag])
    gain = np.linalg.norm(np.linalg.lstsq(parts, found.tau[:, 0], rcond=None)[0])
    r = math.tan(math.pi * times_cutoff * cutoff / RATE) / math.tan(math.pi * cutoff / RATE)
    assert gain == pytest.approx(1 / (1 + r**8), rel=0.01)


@pytest.mark.parametrize("shift", [1, 7, 13])
def test_rows_that_are_kept_tell_what_the_others_tell(shift):
    """The products that identification sums up, whichever rows of the 25 are kept."""
    rng, t = np.random.default_rng(0), times(60.0)
    q = wave(t)[0] + 1e-3 * rng.standard_normal((len(t), 2))
    tau = 7 * np.cos(np.outer(t, W)) + rng.standard_normal((len(t), 2))
    kept = motions(Log(t, q, tau), cutoff=5.0)
    assert kept.notes == ("log: filtered at 5 Hz; one row in 25 kept, 20 a second",)
    others = motions(Log(t[shift:], q[shift:], tau[shift:]), cutoff=5.0)
    for one, two in zip(kept.segments[0], others.segments[0], strict=True):
        sums = [each.T @ each / len(each) for each in (one, two)]
        np.testing.assert_allclose(sums[0], sums[1], rtol=0, atol=0.01 * sums[0].max())


def test_recorded_rates_are_taken_and_filtered():
    t = times()
    q, qd, qdd = wave(t)
    log = log_of(t, qd=1.1 * qd)  # so that one sees whose they are
    ((kept,), (found,)) = (each := motions(log, cutoff=20.0)).times, each.segments
    inner = slice(len(kept) // 4, -len(kept) // 4)
    np.testing.assert_allclose(found.qd[inner], 1.1 * wave(kept[inner])[1], atol=1e-7)
    np.testing.assert_allclose(found.qdd[inner], 1.1 * wave(kept[inner])[2], atol=1e-6)
    found = motions(log_of(t, qd=qd, qdd=1.2 * qdd), cutoff=20.0).segments[0]
    np.testing.assert_allclose(found.qdd[inner], 1.2 * wave(kept[inner])[2], atol=1e-6)


def test_without_a_cutoff_the_log_is_taken_as_it_is():
    t = np.cumsum(np.random.default_rng(0).uniform(0.5, 1.5, 40))
    q, qd, qdd = np.random.default_rng(1).standard_normal((3, 40, 2))
    found = motions(Log(t, q, 5 * q, qd, qdd), cutoff=None)
    assert found.notes == () and len(found.segments) == 1
    for value, truth in zip(found.segments[0], (q, qd, qdd, 5 * q), strict=True):
        np.testing.assert_array_equal(value, truth)


# Gaps, irregular steps, rows that are no numbers --------------------------------------------


def test_a_log_is_split_at_gaps_and_each_segment_filtered_by_itself():
    t = times(6.0)
    first, second = t[:1200], t[1210:]
    whole = log_of(np.concatenate([first, second]))
    found = motions(whole, cutoff=10.0)
    assert "log: split into 2 segments, at gaps longer than 0.006 s (3 median steps)" in found.notes
    alone = [motions(log_of(part), cutoff=10.0).segments[0] for part in (first, second)]
    for one, other in zip(found.segments, alone, strict=True):
        for value, truth in zip(one, other, strict=True):
            np.testing.assert_array_equal(value, truth)


def test_a_gap_of_three_steps_is_none():
    t = np.delete(times(6.0), [1000, 1001])
    found = motions(log_of(t), cutoff=10.0)
    assert len(found.segments) == 1
    assert any("irregular steps, from 0.002 to 0.006 s; resampled" in note for note in found.notes)
    assert len(motions(log_of(np.delete(times(6.0), range(1000, 1003))), 10.0).segments) == 2


def test_irregular_steps_are_resampled_to_the_median():
    rng = np.random.default_rng(0)
    t = np.cumsum(rng.choice([1.6e-3, 2e-3, 2.4e-3], 5000, p=[0.2, 0.6, 0.2]))
    found = motions(log_of(t), cutoff=20.0)
    assert found.notes[0] == (
        "log: irregular steps, from 0.0016 to 0.0024 s; resampled to the median, 0.002 s"
    )
    ((kept,), (motion,)) = found.times, found.segments
    np.testing.assert_allclose(np.diff(kept), 6 * 0.002)
    assert_wave(motion, kept, atol=4e-3)


def test_rounded_times_are_regular_ones():
    """A step of 1/300 s, printed with five digits, is no reason to resample."""
    found = motions(log_of(np.round(times(10.0, 300.0), 5)), cutoff=20.0)
    assert not any("resampled" in note for note in found.notes)


def test_rows_that_are_not_finite_are_left_out_and_counted():
    log = log_of(times())
    log.q[100, 0], log.tau[200, 1], log.t[300], log.q[400, 1] = np.nan, np.inf, np.nan, -np.inf
    found = motions(log, cutoff=20.0)
    assert "log: 4 of 5000 rows are left out: not finite numbers" in found.notes
    assert_wave(found.segments[0], found.times[0], atol=4e-3)


def test_a_log_without_a_finite_row_is_refused():
    with pytest.raises(IdentificationError, match="log: none of its 5 rows has finite numbers"):
        motions(Log(np.arange(5.0), np.full((5, 1), np.nan), np.zeros((5, 1))), 0.1)
    with pytest.raises(IdentificationError, match="one row alone is no motion"):
        motions(Log([0.0], [[1.0]], [[1.0]]), 0.1)


# Cutoff and length --------------------------------------------------------------------------


@pytest.mark.parametrize("cutoff", [250.0, 400.0])
def test_a_cutoff_above_nyquist_is_refused(cutoff):
    message = f"log: cutoff {cutoff:g} Hz is not below half its 500 rows a second; expected less"
    with pytest.raises(IdentificationError, match=re.escape(message)):
        motions(log_of(times()), cutoff)


@pytest.mark.parametrize("cutoff", [0, -1.0, math.nan, math.inf, "fast", True, [1, 2]])
def test_what_is_no_cutoff_is_refused(cutoff):
    with pytest.raises(IdentificationError, match="cutoff is .*; expected a frequency above 0"):
        motions(log_of(times()), cutoff)


def test_a_record_shorter_than_the_filter_is_refused():
    least = 5 * 50  # five periods at 10 Hz
    assert len(motions(log_of(times()[:least]), 10.0).segments) == 1
    with pytest.raises(IdentificationError, match="which needs 250 rows; the longest has 249"):
        motions(log_of(times()[: least - 1]), 10.0)


def test_a_segment_shorter_than_the_filter_is_left_out_and_counted():
    t = np.concatenate([times(3.0), 4 + times(0.2), 5 + times(0.1), 6 + times(3.0)])
    found = motions(log_of(t), 10.0)
    assert len(found.segments) == 2
    said = "log: 2 of 4 segments shorter than the filter at 10 Hz, which needs 250 rows; left out"
    assert said in found.notes


@pytest.mark.parametrize("missing", ["qd", "qdd"])
def test_without_a_cutoff_the_log_needs_its_own_rates(missing):
    q, qd, qdd = wave(times())
    given = {"qd": qd, "qdd": qdd, missing: None}
    with pytest.raises(IdentificationError, match=f"log has no {missing}, and cutoff=None"):
        motions(log_of(times(), **given), None)


def test_without_scipy_the_message_says_what_to_install(monkeypatch):
    log = log_of(times())
    monkeypatch.setitem(sys.modules, "scipy.signal", None)
    with pytest.raises(IdentificationError, match=r"pip install 'armdyn\[identify\]'"):
        motions(log, 10.0)


# Units of speeds ----------------------------------------------------------------------------

DEGREES, MS = 180 / math.pi, 1e3


@pytest.mark.parametrize("cutoff", [None, "some"])
@pytest.mark.parametrize(
    ("q_in", "qd_in", "t_in", "message"),
    [
        (1, DEGREES, 1, "qd of joint 1 is 57.1. times dq/dt, as with qd in degrees; expected rad"),
        (DEGREES, 1, 1, "qd of joint 1 is 0.0174. times dq/dt, as with q in degrees;"),
        (1, 1, MS, "qd of joint 1 is [19].* times dq/dt, as with t in milliseconds;"),
        (1, 1, 1e9, "as with t in nanoseconds"),
        (DEGREES, 1, MS, "as with q in degrees and t in milliseconds"),
        (1, 60 / math.tau, 1, "as with qd in revolutions a minute"),
        (1, -1, 1, "qd of joint 1 is -.* times dq/dt, which has another sign;"),
        (1, 100.0, 1, "qd of joint 1 is 99.7. times dq/dt; expected radians"),
    ],
    ids=["qd-deg", "q-deg", "ms", "ns", "q-deg-ms", "rpm", "sign", "gear"],
)
def test_speeds_in_other_units_are_refused(cutoff, q_in, qd_in, t_in, message):
    """Encoder noise, under which differences from row to row would drown, does not hide it."""
    t = times()
    q, qd, qdd = wave(t)
    noise = 1e-2 * np.random.default_rng(0).standard_normal(q.shape)
    log = log_of(t * t_in, q=(q + noise) * q_in, qd=qd * qd_in, qdd=qdd)
    with pytest.raises(IdentificationError, match=message):
        motions(log, None if cutoff is None else 20.0 / t_in)
    motions(log_of(t, q=q + noise, qd=qd, qdd=qdd), cutoff and 20.0)  # and the right ones pass


def test_a_joint_that_does_not_move_says_nothing_of_units():
    t = times()
    q, qd, _ = wave(t)
    noise = 1e-4 * np.random.default_rng(0).standard_normal((2, len(t)))
    q[:, 0], qd[:, 0] = noise[0], 60 * noise[1]
    motions(log_of(t, q=q, qd=qd), 20.0)
    with pytest.raises(IdentificationError, match="log: qd of joint 'elbow' is 57.3"):
        motions(log_of(t, q=q, qd=DEGREES * qd, joints=("base", "elbow")), 20.0)


# Torques beside the given robot -------------------------------------------------------------


@pytest.fixture(scope="module")
def panda():
    """An arm, and a log of it with friction, offsets and noise; none of it like the model's."""
    robot = armdyn.load("panda")
    rng, t = np.random.default_rng(0), times(10.0, 200.0)
    w, phase = rng.uniform(1, 4, 7), rng.uniform(-3, 3, 7)
    middle = np.array([0, 0, 0, -1.5, 0, 2, 0])
    q = middle + 0.6 * np.sin(np.outer(t, w) + phase)
    qd, qdd = 0.6 * w * np.cos(np.outer(t, w) + phase), -0.6 * w**2 * np.sin(np.outer(t, w) + phase)
    real = armdyn.Robot(robot.chain.with_parameters(1.3 * robot.chain.parameters))
    tau = real.inverse_dynamics(q, qd, qdd) + 0.1 * qd + 0.2 * np.sign(qd) + 0.1 + 0.2 * qdd
    return robot, Log(t, q, tau + 0.05 * rng.standard_normal(tau.shape), qd, qdd)


def changed(log, joint, factor):
    scale = np.ones(log.n)
    scale[joint] = factor
    return Log(log.t, log.q, log.tau * scale, log.qd, log.qdd)


@pytest.mark.parametrize("cutoff", [None, 10.0])
def test_a_right_log_raises_no_doubt(panda, cutoff):
    robot, log = panda
    assert doubts(robot, motions(log, cutoff)) == []


@pytest.mark.parametrize("joint", [1, 3])
def test_a_torque_of_the_wrong_sign_is_named(panda, joint):
    robot, log = panda
    (said,) = doubts(robot, motions(changed(log, joint, -1.0), 10.0))
    pattern = rf"torque of joint '{robot.joint_names[joint]}' is -1\.[234]\d? times what gravity"
    assert re.search(pattern, said) and said.endswith("is its sign the other way?")


def test_a_torque_about_an_upright_axis_is_judged_by_its_motion(panda):
    robot, log = panda
    (said,) = doubts(robot, motions(changed(log, 0, -1.0), 10.0))
    assert re.search(r"'panda_joint1' is -\d.* times what motion makes .* sign the other way", said)


def test_a_torque_at_the_motor_is_named_with_the_gear(panda):
    robot, log = panda
    (said,) = doubts(robot, motions(changed(log, 1, 1 / 130), 10.0))
    gear = float(
        re.search(r"'panda_joint2' .* at the motor, behind a gear of about (\d+)", said)[1]
    )
    assert gear == pytest.approx(130 / 1.3, rel=0.1)
    (said,) = doubts(robot, motions(changed(log, 1, -1 / 130), 10.0))
    assert "at the motor with its sign the other way, behind a gear of about" in said
    (said,) = doubts(robot, motions(changed(log, 3, 100.0), 10.0))
    assert "'panda_joint4'" in said and "multiplied by a gear ratio once too often?" in said


def test_positions_beyond_the_limits_are_named(panda):
    robot, log = panda
    turned = Log(log.t, log.q * DEGREES, log.tau, log.qd * DEGREES, log.qdd * DEGREES)
    said = doubts(robot, motions(turned, None))
    assert any(re.search("joint 'panda_joint4' moves from .* is q in degrees", s) for s in said)


@pytest.fixture(scope="module")
def kuka():
    return armdyn.Robot(kr300.chain())


@pytest.mark.parametrize("name", "ABC")
def test_a_real_log_raises_no_doubt(kuka, name):
    found = motions(kr300.log(name), 10.0)
    assert len(found.segments) == 1 and doubts(kuka, found) == []


@pytest.mark.parametrize("name", "ABC")
def test_of_a_real_log_torques_at_the_motors_are_found_out(kuka, name):
    """No gear is said that is larger than the real one, but for what the guessed masses are off."""
    log = kr300.log(name)
    said = doubts(kuka, motions(Log(log.t, log.q, log.tau / kr300.GEARS), 10.0))
    gears = {
        int(match[1]) - 1: float(match[2])
        for line in said
        if (match := re.search(r"'joint(\d)' .* at the motor, behind .* (\d\S*)\?", line))
    }
    assert len(gears) >= 2 and 0 in gears
    assert all(gear < 1.5 * kr300.GEARS[i] for i, gear in gears.items())
    turned = doubts(kuka, motions(Log(log.t, log.q, -log.tau), 10.0))
    assert sum("is its sign the other way?" in line for line in turned) >= 2
