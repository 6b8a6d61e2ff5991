"""Trajectories: ends, continuity, derivatives, limits, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import armdyn
from armdyn import ArmdynError, ShapeError, trajectories

START, END = np.array([0.3, -1.0, 2.0]), np.array([1.0, 0.5, 2.0])
MADE = {
    "quintic": trajectories.quintic(START, END, 1.7),
    "cycloidal": trajectories.cycloidal(START, END, 1.7),
    "trapezoidal": trajectories.trapezoidal(START, END, speed=[0.6, 1.0, 1.0], acceleration=2.0),
    "triangular": trajectories.trapezoidal(START, END, speed=100.0, acceleration=[2.0, 1.0, 1.0]),
}
SMOOTH = ("quintic", "cycloidal")


@pytest.mark.parametrize("name", MADE)
def test_it_rests_at_start_and_end_and_beyond(name):
    motion = MADE[name]
    for t, place in ((0.0, START), (motion.duration, END)):
        q, qd, qdd = motion(t)
        np.testing.assert_allclose(q, place, rtol=0, atol=1e-15)
        np.testing.assert_allclose(qd, 0, atol=1e-14)
        if name in SMOOTH:
            np.testing.assert_allclose(qdd, 0, atol=1e-13)
    for t, place in ((-0.1, START), (motion.duration + 5, END)):
        q, qd, qdd = motion(t)
        np.testing.assert_allclose(q, place, rtol=0, atol=1e-15)
        assert not qd.any() and not qdd.any()


@pytest.mark.parametrize("name", MADE)
def test_speed_and_acceleration_are_derivatives(name):
    """Central differences; of trapezoidal acceleration away from its jumps."""
    motion, h = MADE[name], 1e-5
    t = np.linspace(0.013, motion.duration - 0.017, 200)
    before, here, after = motion(t - h), motion(t), motion(t + h)
    np.testing.assert_allclose((after[0] - before[0]) / (2 * h), here[1], rtol=0, atol=1e-8)
    calm = np.all(before[2] == after[2], axis=-1) | (name in SMOOTH)
    assert calm.sum() > 150
    slope = (after[1] - before[1]) / (2 * h)
    np.testing.assert_allclose(slope[calm], here[2][calm], rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", MADE)
def test_position_and_speed_are_continuous(name):
    """No step between neighbours is larger than the largest slope allows."""
    motion = MADE[name]
    t = np.linspace(-0.1, motion.duration + 0.1, 20001)
    q, qd, qdd = motion(t)
    for x, slope in ((q, qd), (qd, qdd)):
        bound = np.abs(slope).max() * (t[1] - t[0]) * (1 + 1e-6) + 1e-12
        assert np.abs(np.diff(x, axis=0)).max() <= bound


def test_largest_speeds_are_those_of_the_textbook():
    mean = np.abs(END - START) / 1.7
    for name, factor in (("quintic", 15 / 8), ("cycloidal", 2.0)):
        top = np.abs(MADE[name](1.7 / 2)[1])
        np.testing.assert_allclose(top, factor * mean, rtol=1e-14)


limits = st.floats(0.05, 20)


@given(st.lists(st.floats(-3, 3), min_size=3, max_size=3), limits, limits)
def test_trapezoidal_keeps_its_limits_and_is_the_quickest(way, speed, acceleration):
    way = np.array(way)
    if np.abs(way).max() < 1e-3:
        return
    motion = trajectories.trapezoidal(START, START + way, speed, acceleration)
    _, qd, qdd = motion(np.linspace(0, motion.duration, 1001))
    assert np.abs(qd).max() <= speed * (1 + 1e-12)
    assert np.abs(qdd).max() <= acceleration * (1 + 1e-12)
    longest = np.abs(way).max()  # which alone takes, by hand:
    if longest >= speed**2 / acceleration:
        expected = longest / speed + speed / acceleration
    else:
        expected = 2 * np.sqrt(longest / acceleration)
    assert motion.duration == pytest.approx(expected, rel=1e-12)


def test_arrays_of_times_and_batches_of_ends():
    times = np.linspace(0, 1, 5)
    many = trajectories.quintic(np.stack([START, END]), np.stack([END, START]), 1.0)
    q, qd, qdd = many(times)
    assert q.shape == qd.shape == qdd.shape == (5, 2, 3)
    there = trajectories.quintic(START, END, 1.0)(times)
    np.testing.assert_array_equal(q[:, 0], there[0])
    np.testing.assert_allclose(q[:, 1], there[0][::-1], atol=1e-15)
    assert many(0.5)[0].shape == (2, 3)
    assert repr(many) == "Trajectory('quintic', 3 joints, 1 s)"


REFUSED = {
    "ends of two sizes": (lambda: trajectories.quintic(START, END[:2], 1), r"\(3,\).*\(2,\)"),
    "no duration": (lambda: trajectories.quintic(START, END, 0), "duration is 0; expected"),
    "an endless one": (lambda: trajectories.cycloidal(START, END, np.inf), "duration is inf"),
    "nan": (lambda: trajectories.quintic(START, [0, np.nan, 1], 1), "end is .*nan.*finite"),
    "no way": (lambda: trajectories.trapezoidal(START, START, 1, 1), "start and end are the same"),
    "no speed": (lambda: trajectories.trapezoidal(START, END, 0, 1), "speed is 0"),
    "boundless": (lambda: trajectories.trapezoidal(START, END, 1, np.inf), "acceleration is inf"),
    "limits of two joints": (
        lambda: trajectories.trapezoidal(START, END, [1, 2], 1),
        r"speed has shape \(2,\); expected a number or \(3,\)",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_named_and_shown(case):
    call, message = REFUSED[case]
    with pytest.raises(ArmdynError, match=message):
        call()
    assert issubclass(ShapeError, ArmdynError)


# Drawn ----------------------------------------------------------------------------------------


def test_plot_shows_the_motion_and_the_limits_of_the_arm(tmp_path):
    pytest.importorskip("matplotlib")
    robot = armdyn.load("panda")
    motion = trajectories.quintic(np.full(7, -0.5), np.full(7, -1.0), 2.0)
    figure = motion.plot(tmp_path / "motion.svg", robot)
    assert (tmp_path / "motion.svg").stat().st_size > 10_000
    titles = ["position [rad]", "speed [rad/s]", "acceleration [rad/s^2]"]
    assert [axes.get_title("left") for axes in figure.axes] == titles
    lines = [axes.lines for axes in figure.axes]
    for axes, values in zip(lines, motion(np.linspace(0, 2.0, 1001)), strict=True):
        np.testing.assert_array_equal(axes[3].get_ydata(), values[:, 3])
    assert [len(axes) for axes in lines] == [7 * 3, 7 * 3, 7]
    assert {line.get_ydata()[0] for line in lines[0][7:]} == set(robot.position_limits.flat)
    assert {line.get_ydata()[0] for line in lines[1][7:9]} == {2.175, -2.175}
    assert [text.get_text() for text in figure.legends[0].texts] == list(robot.joint_names)


def test_plot_without_an_arm_and_of_a_batch():
    pytest.importorskip("matplotlib")
    assert [len(axes.lines) for axes in MADE["triangular"].plot().axes] == [3, 3, 3]
    many = trajectories.quintic(np.zeros((5, 2)), np.ones((5, 2)), 1.0).plot()
    assert len(many.axes[0].collections) == 4  # two bands for each joint
    with pytest.raises(ShapeError, match="expected a Robot of 3 joints"):
        MADE["quintic"].plot(robot=armdyn.load("two_link"))
