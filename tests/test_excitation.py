"""Exciting motions: within limits at all times, at rest at both ends, and telling."""

import csv
from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.identification.blas import one_thread
from armdyn.identification.descent import descend
from armdyn.identification.excitation import FINE
from armdyn.identification.fourier import DENSITY, Limits, Series, motion, pulled_back
from armdyn.identification.information import Information, gram

FINER = 100  # than the times at which limits are looked at


@pytest.fixture(scope="module")
def panda():
    return armdyn.excite(armdyn.load("panda"))


@pytest.fixture(scope="module")
def stanford():
    """With a prismatic joint, and no limits of speed."""
    return armdyn.excite(armdyn.load("stanford"), 6.0, harmonics=5)


@pytest.fixture(scope="module")
def small():
    return armdyn.excite(armdyn.load("two_link"), 4.0, harmonics=4, acceleration=[3, 5])


@pytest.fixture(params=["panda", "stanford", "small"])
def excitation(request):
    return request.getfixturevalue(request.param)


def drawn(excitation, count, seed):
    """Random series within the same limits, each joint's as large as they allow, as motions."""
    series, rng = excitation.series, np.random.default_rng(seed)
    linear = series.at(FINE)
    centre = np.stack([series.limits.centre, *np.zeros((2, excitation.robot.n))])[:, None]
    return [motion(linear, series.drawn(rng, 1.0)) + centre for _ in range(count)]


def minimal_columns(robot, states):
    Y = robot.regressor(*np.ascontiguousarray(states))
    W = Y @ np.linalg.pinv(robot.minimal_parameters().coefficients)
    return W.reshape(-1, W.shape[-1])


# Limits ------------------------------------------------------------------------------------------


def test_limits_hold_between_the_times_at_which_they_are_looked_at(excitation):
    times = FINER * DENSITY * excitation.series.harmonics
    q, qd, qdd = excitation(np.linspace(0, excitation.duration, times + 1))
    lower, upper = excitation.limits.position.T
    assert (q >= lower).all() and (q <= upper).all()
    assert (np.abs(qd) <= excitation.limits.speed).all()
    assert (np.abs(qdd) <= excitation.limits.acceleration).all()
    sizes = np.abs([q - excitation.limits.centre, qd, qdd]).max(axis=1)
    used = (sizes / excitation.limits.sizes).T
    assert (used <= excitation.used).all()
    assert (used > 0.994 * excitation.used).all()
    assert excitation.used.max() <= 1


@pytest.mark.parametrize("harmonics, times", [(3, 12), (5, 40), (8, DENSITY * 8)])
def test_a_series_is_nowhere_larger_than_the_bound_says_and_one_is_as_large(harmonics, times):
    """M. Riesz: about its greatest value a series of degree N falls no faster than cos N t."""
    limits = Limits(np.array([[-1.0, 1.0]]), np.ones(1), np.ones(1))
    series = Series(limits, harmonics, 2 * np.pi)
    coarse = 2 * np.pi * np.arange(times) / times
    fine = np.linspace(0, 2 * np.pi, 5001)
    factor = np.cos(harmonics * np.pi / times)
    coefficients = np.random.default_rng(0).standard_normal((2 * harmonics + 1, 200))
    at, between = (np.abs(series.basis(t)[0] @ coefficients).max(axis=0) for t in (coarse, fine))
    assert (between <= at / factor * (1 + 1e-12)).all()
    worst = np.cos(harmonics * (coarse - np.pi / times))
    assert np.abs(worst).max() == pytest.approx(factor, rel=1e-12)


def test_limits_are_used(panda):
    """The best motion is one that no limit leaves room for: joints go as fast as they may."""
    assert (panda.used.max(axis=1) > 0.9).all()


def test_limits_given_are_kept():
    robot = armdyn.load("two_link")
    limits = [[0.2, 0.9], [-1.5, -1.0]]
    found = armdyn.excite(robot, 5, limits=limits, speed=0.7, acceleration=2, harmonics=4)
    q, qd, qdd = found(np.linspace(0, 5, 10_001))
    assert (q >= [0.2, -1.5]).all() and (q <= [0.9, -1.0]).all()
    assert np.abs(qd).max() <= 0.7 and np.abs(qdd).max() <= 2
    assert found.limits.position.tolist() == limits


def test_what_is_not_known_is_taken_and_noted(small, stanford):
    assert small.limits.position.tolist() == [[-np.pi, np.pi]] * 2
    assert small.limits.speed.tolist() == [np.pi / 2] * 2
    assert small.limits.acceleration.tolist() == [3, 5]
    assert any("'shoulder': limits -inf and inf rad narrowed" in note for note in small.notes)
    assert stanford.limits.speed[2] == 0.5  # m/s
    assert stanford.limits.acceleration[2] == 1.0  # m/s^2
    assert any("no limit of speed: 0.5 m/s taken for joint3" in note for note in stanford.notes)


@pytest.mark.parametrize(
    "given, used",
    [((1.0, np.inf), (1.0, 1 + 2 * np.pi)), ((-20.0, 20.0), (-np.pi, np.pi)), ((7, 8), (7, 8))],
)
def test_a_range_of_more_than_a_turn_is_narrowed(given, used):
    robot = armdyn.load("two_link")
    found = armdyn.excite(robot, 5, limits=[given, (-1, 1)], harmonics=3)
    assert found.limits.position[0] == pytest.approx(used)


# The motion --------------------------------------------------------------------------------------


def test_begins_and_ends_at_rest_and_stays_there(excitation):
    end = excitation.duration
    q, qd, qdd = excitation([0.0, end])
    assert q[0] == pytest.approx(q[1], abs=1e-12)
    assert np.abs(qd).max() < 1e-12 and np.abs(qdd).max() < 1e-11
    for t in (-1.0, end + 1.0):
        there, speed, acceleration = excitation(t)
        assert there == pytest.approx(q[0], abs=1e-12)
        assert not speed.any() and not acceleration.any()


def test_speed_and_acceleration_are_the_rates(excitation):
    """By Fourier's own rule, on samples of one period: the series has no other frequencies."""
    period, times = excitation.series.period, 64 * excitation.series.harmonics
    q, qd, qdd = excitation(np.arange(times) * period / times)
    rates = 2j * np.pi * np.fft.rfftfreq(times, period / times)[:, None]
    for value, rate in ((q, qd), (qd, qdd)):
        found = np.fft.irfft(rates * np.fft.rfft(value, axis=0), n=times, axis=0)
        np.testing.assert_allclose(found, rate, atol=1e-10)


def test_times_of_any_shape(small):
    q, qd, qdd = small(np.ones((2, 3)))
    assert q.shape == qd.shape == qdd.shape == (2, 3, 2)
    one = small(1.0)
    for many, alone in zip((q, qd, qdd), one, strict=True):
        assert many[1, 2] == pytest.approx(alone, abs=1e-13)
    assert np.isnan(small(np.nan)[0]).all()


def test_periods_repeat_and_end_at_rest():
    found = armdyn.excite(armdyn.load("two_link"), 12.0, frequency=0.25, harmonics=3)
    assert found.frequency == 0.25
    q, qd, _ = found(np.array([0.7, 4.7, 8.7, 12.0]))
    assert q[0] == pytest.approx(q[1], abs=1e-12) and q[0] == pytest.approx(q[2], abs=1e-12)
    assert np.abs(qd[3]).max() < 1e-12


def test_the_same_seed_gives_the_same_motion():
    robot = armdyn.load("two_link")
    one, two, other = (armdyn.excite(robot, 4, harmonics=3, seed=seed) for seed in (1, 1, 2))
    assert (one.coefficients == two.coefficients).all()
    assert (one.coefficients != other.coefficients).any()


def test_an_arm_follows_it(small):
    robot = small.robot
    q0, qd0, _ = small(0.0)
    follow = armdyn.controllers.computed_torque(small, 100, 20)
    run = armdyn.simulate(robot, q0, qd0, follow, small.duration, 1e-3, "rk4")
    assert run.q == pytest.approx(small(run.t)[0], abs=1e-6)


# What it tells -----------------------------------------------------------------------------------


@pytest.mark.sweep
@one_thread()
def test_better_conditioned_than_the_best_of_a_hundred_random_series(panda):
    """In unit columns; of the minimal parameters alone, in SI units and in unit columns."""
    states = np.stack(panda(panda.series.period * np.arange(FINE) / FINE))
    random = drawn(panda, 100, seed=7)
    assert panda.condition < min(map(panda.information.condition, random))
    bare = [minimal_columns(panda.robot, states)]
    bare += [minimal_columns(panda.robot, each) for each in random]
    for scale in (lambda G: np.ones(len(G)), lambda G: np.sqrt(G.diagonal())):
        conditions = [np.linalg.cond(G / np.outer(scale(G), scale(G))) for G in map(gram, bare)]
        assert conditions[0] < min(conditions[1:])  # the square of the columns' own


def test_without_balance_all_parameters_are_surer_than_by_the_best_of_a_hundred(small):
    """-log det is the volume of the ellipsoid of errors: twice the sum of the logs of its axes."""
    found = armdyn.excite(small.robot, 4.0, harmonics=4, acceleration=[3, 5], balance=0.0)
    states = np.stack(found(found.series.period * np.arange(FINE) / FINE))
    random = drawn(found, 100, seed=7)
    shortages = [found.information.shortage(each, 0.0)[0] for each in (states, *random)]
    assert shortages[0] < min(shortages[1:])
    assert shortages[0] < found.information.shortage(np.stack(small(found.sample(250).t)), 0.0)[0]


@pytest.mark.parametrize("name", ["small", "stanford", "panda"])
def test_parameters_are_recovered_along_it(name, request):
    """tau = Y(q, qd, qdd) theta has one solution there."""
    found = request.getfixturevalue(name)
    robot = found.robot
    states = np.stack(found(np.linspace(0, found.duration, 200)))
    W = minimal_columns(robot, states)
    tau = (robot.regressor(*states) @ robot.chain.parameters).ravel()
    theta, *_ = np.linalg.lstsq(W, tau, rcond=None)
    np.testing.assert_allclose(theta, robot.minimal_parameters().values, atol=1e-10)


def test_rotors_that_no_motion_tells_from_inertia_are_left_out(panda):
    """Where the column of U33 is the acceleration itself, as at the Panda's first two joints."""
    names = panda.parameters
    assert [f"rotor_{i}" for i in range(1, 8) if f"rotor_{i}" not in names] == [
        "rotor_1",
        "rotor_2",
    ]
    assert len(names) == 43 + 5 + 7 + 7 + 7


def test_columns_that_are_asked_for():
    robot = armdyn.load("two_link")
    found = armdyn.excite(robot, 4, harmonics=4, friction=False, rotors=False, offsets=False)
    assert list(found.parameters) == robot.minimal_parameters().names
    found = armdyn.excite(robot, 4, harmonics=4, rotors=False, offsets=False)
    drives = ["viscous_1", "viscous_2", "coulomb_1", "coulomb_2"]
    assert list(found.parameters) == [*robot.minimal_parameters().names, *drives]


def test_an_arm_without_gravity():
    """Its minimal parameters are more than motion tells apart; those that it does are enough."""
    robot = armdyn.Robot(armdyn.load("stanford").chain.with_gravity((0, 0, 0)))
    found = armdyn.excite(robot, 6, harmonics=5, friction=False, rotors=False, offsets=False)
    states = np.random.default_rng(5).uniform(-1, 1, (3, 500, robot.n))
    rank = np.linalg.matrix_rank(minimal_columns(robot, states), rtol=1e-9)
    assert len(found.parameters) == rank < len(robot.minimal_parameters())
    assert found.condition < 100


def test_the_condition_is_that_of_unit_columns(small):
    states = np.stack(small(small.series.period * np.arange(FINE) / FINE))
    W = small.information._all(states, np.zeros(2))[..., small.information.kept].reshape(-1, 13)
    assert small.condition == pytest.approx(np.linalg.cond(W / np.linalg.norm(W, axis=0)), rel=1e-9)


def test_too_few_harmonics_are_said_so(monkeypatch):
    """Where no random series tells all parameters, there is nothing to start from."""
    monkeypatch.setattr(Information, "shortage", lambda *_: (np.inf, np.zeros(0)))
    with pytest.raises(armdyn.IdentificationError, match="no motion of 2 harmonics tells all 13"):
        armdyn.excite(armdyn.load("two_link"), harmonics=2)


@pytest.mark.parametrize("name", ["panda", "stanford"])
def test_the_slope_is_that_of_the_criterion(name):
    """Against central differences, whose own error is about 1e-8 of the value."""
    robot = armdyn.load(name)
    information = Information(
        robot,
        ("rotor", "viscous", "coulomb", "offset"),
        np.arange(1.0, robot.n + 1),
        np.ones(robot.n),
    )
    rng = np.random.default_rng(3)
    states = rng.uniform(-1, 1, (3, 60, robot.n))
    _, V = information.shortage(states, 0.4)
    slope = information.slope(states, V)
    for way in rng.standard_normal((4, *states.shape)):
        h = 1e-5
        up, down = (information.shortage(states + s * h * way, 0.4)[0] for s in (1, -1))
        assert (slope * way).sum() == pytest.approx((up - down) / (2 * h), rel=1e-6, abs=1e-6)


def test_pulling_back_is_the_transpose():
    series = Series(Limits(np.array([[-1.0, 2.0], [0.0, 1.0]]), np.ones(2), np.ones(2)), 3, 2.0)
    rng, linear = np.random.default_rng(0), series.at(11)
    x, slope = rng.standard_normal(series.shape), rng.standard_normal((3, 11, 2))
    there, back = (motion(linear, x) * slope).sum(), (x * pulled_back(linear, slope)).sum()
    assert there == pytest.approx(back, rel=1e-12)


def test_descent_finds_the_lowest_place_inside_the_walls():
    """Of (x - a)^2 / 2 - w log(1 - x^2) in each direction: a cubic's middle root."""
    a, w = np.array([0.3, 2.0, -5.0]), 0.1

    def value(x):
        slope = x - a + w * 2 * x / (1 - x**2)
        return float(((x - a) ** 2 / 2 - w * np.log1p(-(x**2))).sum()), slope

    def room(x, way):
        return float((np.where(way > 0, 1 - x, 1 + x) / np.abs(way)).min())

    found = descend(value, np.zeros(3), room, 200)
    for place, wanted in zip(found, a, strict=True):
        roots = np.roots([-1, wanted, 1 + 2 * w, -wanted])  # (x - a)(1 - x^2) + 2 w x
        assert place == pytest.approx(min(roots.real, key=abs), abs=2e-2)


# Out of the program ------------------------------------------------------------------------------


def test_samples_reach_both_ends(small):
    samples = small.sample(250)
    assert samples.t[0] == 0 and samples.t[-1] == small.duration and len(samples.t) == 1001
    assert (samples.qd == small(samples.t)[1]).all()


@pytest.mark.parametrize("name", ["ref.csv", "ref.npz"])
def test_saved_and_read_again(small, tmp_path, name):
    small.save(tmp_path / name, rate=100)
    if name.endswith("npz"):
        with np.load(tmp_path / name) as file:
            found = [file[key] for key in ("t", "q", "qd", "qdd")]
            assert file["joints"].tolist() == list(small.robot.joint_names)
    else:
        with open(tmp_path / name, newline="") as lines:
            heading, *rows = csv.reader(lines)
        assert heading == ["t", "q1", "q2", "qd1", "qd2", "qdd1", "qdd2"]
        table = np.array(rows, float)
        found = [table[:, 0], table[:, 1:3], table[:, 3:5], table[:, 5:7]]
    for one, other in zip(found, small.sample(100), strict=True):
        assert (one == other).all()


def test_plot_and_text(small, tmp_path):
    pytest.importorskip("matplotlib")
    figure = small.plot(tmp_path / "motion.png")
    assert len(figure.axes) == 3 and (tmp_path / "motion.png").stat().st_size > 1000
    assert f"condition {small.condition:.4g} of 13 parameters" in repr(small)
    assert "<td" in small._repr_html_() and "shoulder" in small._repr_html_()


def test_progress_is_told():
    told = []
    armdyn.excite(armdyn.load("two_link"), 4, harmonics=2, progress=lambda *news: told.append(news))
    done = [step for step, _ in told]
    assert done == sorted(done) and told[-1][0] == told[-1][1]


# Bad input ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, message",
    [
        ({"duration": 0}, "duration is 0; expected a positive number of seconds"),
        ({"duration": np.inf}, "duration is inf"),
        ({"duration": "long"}, "duration is 'long'"),
        ({"harmonics": 1}, "harmonics is 1; expected a whole number of at least 2"),
        ({"harmonics": 1000}, "harmonics is 1000; expected at most 100"),
        ({"frequency": 0.13}, "10 s are 1.3 periods; expected a whole number of periods"),
        ({"frequency": 0.0}, "frequency is 0.0; expected a positive frequency"),
        ({"limits": [0, 1]}, "limits is .*expected .lower, upper. of each of 2 joints"),
        ({"limits": [[0, 1], [np.nan, 1]]}, "expected .lower, upper. of each of 2 joints"),
        ({"limits": [[0, 1], [1, 1]]}, "joint 'elbow' cannot move: its limits are 1 and 1 rad"),
        ({"limits": [[2, 1], [0, 1]]}, "joint 'shoulder' cannot move"),
        ({"speed": 0}, "speed is 0; expected a positive number, or 2, one a joint"),
        ({"speed": [1, 2, 3]}, "speed is .*one a joint"),
        ({"acceleration": np.inf}, "acceleration is inf; expected a positive number"),
        ({"noise": -1}, "noise is -1"),
        ({"balance": 1}, "balance is 1; expected 0 <= balance < 1"),
        ({"seed": -1}, "seed is -1"),
        ({"friction": "yes"}, "friction is 'yes'; expected True or False"),
        ({"progress": 3}, "progress is 3"),
    ],
)
def test_bad_input_is_named(options, message):
    with pytest.raises(armdyn.IdentificationError, match=message):
        armdyn.excite(armdyn.load("two_link"), **options)


def test_no_robot_is_named():
    with pytest.raises(armdyn.IdentificationError, match="expected a Robot, as armdyn.load gives"):
        armdyn.excite("panda")


def test_a_joint_that_may_not_move_is_named():
    chain = armdyn.load("scara").chain
    joints = (chain.joints[0], replace(chain.joints[1], velocity=0.0), *chain.joints[2:])
    still = armdyn.Robot(replace(chain, joints=joints))
    with pytest.raises(armdyn.IdentificationError, match="'elbow' cannot move: its speed limit"):
        armdyn.excite(still)


def test_a_file_that_cannot_be_is_refused(small, tmp_path):
    with pytest.raises(armdyn.IdentificationError, match="expected a name in .csv or .npz"):
        small.save(tmp_path / "ref.txt")
    with pytest.raises(armdyn.IdentificationError, match="rate is 0; expected a positive number"):
        small.sample(0)
