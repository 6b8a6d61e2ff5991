"""Identification on simulated arms: what is known comes back, and what cannot be is named."""

import dataclasses
import logging

import numpy as np
import pytest

import armdyn
from armdyn import IdentificationError, Log, ShapeError
from armdyn.errors import cut
from armdyn.identification.blas import one_thread
from armdyn.identification.columns import Columns
from armdyn.identification.fit import at_rest, equations, least_squares, undetermined
from armdyn.identification.moments import moments
from tests.arms import with_rotors
from tests.motions import fourier, recorded, shaken, slow

LINK2 = armdyn.load("two_link")


@pytest.fixture(autouse=True)
def quiet():
    logging.getLogger("armdyn").setLevel(logging.ERROR)
    with one_thread():
        yield
    logging.getLogger("armdyn").setLevel(logging.NOTSET)


def theta(robot, found):
    return Columns(robot.chain, found.moments.columns.drives).given


def told(found):
    return np.isfinite([parameter.deviation for parameter in found.parameters])


# What is known comes back -------------------------------------------------------------------------


@pytest.mark.parametrize("prior", ["robot", None], ids=["consistent", "least-squares"])
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in ("two_link", "scara", "ur5") else pytest.mark.sweep)
        for name in armdyn.robots()
    ],
)
def test_shipped_arms_are_recovered_without_noise(name, prior):
    """From links that are off by ten per cent; what is not determined makes no torque either."""
    robot = armdyn.load(name, **({"snap": 1e-5} if name == "xarm7" else {}))  # it prints 1.5708
    found = armdyn.identify(shaken(robot.chain), recorded(robot), prior=prior)
    known, felt = theta(robot, found), told(found)
    scale = np.abs(known).max()
    assert np.abs(found.theta - known)[felt].max() < 1e-8 * scale
    q, qd, qdd = np.random.default_rng(5).uniform(-1, 1, (3, 50, robot.n))
    wanted = robot.inverse_dynamics(q, qd, qdd, friction=True)
    torque = found.robot.inverse_dynamics(q, qd, qdd, friction=True)
    assert np.abs(torque - wanted).max() < 1e-8 * np.abs(wanted).max()


def test_rotors_and_friction_are_recovered():
    robot = armdyn.Robot(with_rotors(armdyn.Chain.random(4, "RRPR", seed=2)))
    found = armdyn.identify(shaken(robot.chain), recorded(robot))
    known, felt = theta(robot, found), told(found)
    np.testing.assert_allclose(found.theta[felt], known[felt], rtol=0, atol=1e-7)
    new, old = found.robot.chain.joints, robot.chain.joints
    for i in range(4):
        assert new[i].viscous == pytest.approx(old[i].viscous, abs=1e-7)
        if felt[found.moments.columns.place("offset")][i]:
            assert new[i].coulomb == pytest.approx(old[i].coulomb, abs=1e-7)


def test_rank_is_that_of_the_minimal_parameters_and_drives():
    """Rotors 1 and 2 cannot be told from U33_1 and U33_2 on a Puma, nor on these."""
    for name in ("panda", "ur5", "puma560"):
        robot = armdyn.load(name)
        record = moments(robot, recorded(robot, rows=5000))
        solved = equations(record, np.ones(robot.n))
        assert len(solved.R) == record.columns.count - 2
        found = least_squares(record, record.columns.given)
        infinite = np.isinf(found.covariance.diagonal())
        names = [n for n, x in zip(record.columns.names, infinite, strict=True) if x]
        assert names == ["U33_1", "U33_2", "rotor_1", "rotor_2"]


def test_a_second_pass_over_the_logs_restores_what_moments_lose():
    """Gram matrices square the condition of a short record, 3e4: seven digits are lost."""
    robot = armdyn.Robot(with_rotors(LINK2.chain))
    log = recorded(robot, 400)
    once = least_squares(moments(robot, log), 0.9 * moments(robot, log).columns.given)
    found = armdyn.identify(shaken(robot.chain), log, prior=None, rest=0)
    known, felt = theta(robot, found), told(found)
    assert found.condition > 1e4
    assert np.abs(once.theta - known)[felt].max() > 1e-9
    assert np.abs(found.theta - known)[felt].max() < 1e-11


def test_what_data_tell_of_natural_parameters():
    """By hand: a pendulum about a level axis."""
    chain = armdyn.Chain.from_mdh(
        b=[0], beta=[0], d=[0], theta=[0], mass=[2.0], com=[(0.3, 0.1, 0.2)], inertia=[np.eye(3)],
        gravity=(0, -9.81, 0),
    )  # fmt: skip
    robot = armdyn.Robot(chain)
    record = moments(robot, recorded(robot, rows=500))
    found = undetermined(equations(record, np.ones(1)))
    assert found.zero == ("M1", "MZ1", "XX1", "XY1", "YY1", "XZ1", "YZ1")
    assert found.combined == ("ZZ1", "rotor_1")
    assert found.determined == ("MX1", "MY1", "viscous_1", "coulomb_1", "offset_1")
    assert "zero: M1, MZ1" in str(found)


def test_a_joint_that_does_not_move_keeps_its_prior():
    robot = armdyn.Robot(with_rotors(armdyn.Chain.random(3, seed=4)))
    t, q, qd, qdd = fourier(3, 3000)
    q[:, 1], qd[:, 1], qdd[:, 1] = 0.3, 0.0, 0.0
    tau = robot.inverse_dynamics(q, qd, qdd, friction=True)
    found = armdyn.identify(robot, Log(t, q, tau, qd, qdd))
    assert {"rotor_2", "viscous_2", "coulomb_2"} <= set(found.undetermined.zero)
    assert any("viscous_2" in note for note in found.notes)
    joint = found.robot.chain.joints[1]
    assert joint.viscous == robot.chain.joints[1].viscous
    assert joint.rotor_inertia == robot.chain.joints[1].rotor_inertia
    np.testing.assert_allclose(found.rms, 0, atol=1e-6)


# Noise --------------------------------------------------------------------------------------------


@pytest.mark.sweep
def test_intervals_cover_the_truth_under_slow_noise():
    """95 % of them, nearly: noise that remembers, 200 records, all determined parameters."""
    robot = armdyn.Robot(with_rotors(LINK2.chain))
    covered = []
    log = recorded(robot, 6400)
    size = 0.02 * np.sqrt((log.tau**2).mean(axis=0))
    for seed in range(200):
        noisy = dataclasses.replace(log, tau=log.tau + size * slow(len(log), robot.n, seed))
        found = armdyn.identify(robot, noisy, prior=None)
        felt = told(found)
        sd = np.array([parameter.deviation for parameter in found.parameters])
        off = np.abs(found.theta - theta(robot, found))
        covered.append((off < 1.96 * sd)[felt])
    assert 0.90 < np.mean(covered) < 0.97


def test_weighted_least_squares_counts_a_noisy_joint_less():
    """Wrong in one joint alone, least squares spreads the error; weighted, it does not."""
    robot = armdyn.load("ur5")
    log = recorded(robot, 3000)
    noise = np.zeros(log.tau.shape)
    noise[:, 0] = 5 * np.random.default_rng(0).normal(size=len(log))
    record = moments(robot, dataclasses.replace(log, tau=log.tau + noise))
    known = record.columns.given
    outer = [k for k in record.columns.felt[3] if "_4" in record.columns.names[k]]
    off = {
        method: np.abs(least_squares(record, known, method).theta - known)[outer].max()
        for method in ("ols", "wls", "irls")
    }
    assert off["wls"] < 0.1 * off["ols"]
    assert off["irls"] < 0.1 * off["ols"]
    sigma = least_squares(record, known, "irls").sigma
    assert sigma[0] == pytest.approx(5, rel=0.05) and (sigma[1:] < 0.1).all()


def test_instruments_take_off_the_bias_of_noisy_encoders():
    """With noise in qd and qdd inertias come out too small; not with the true motion's help."""
    robot = armdyn.Robot(with_rotors(LINK2.chain))
    log = recorded(robot, 20_000)
    rng = np.random.default_rng(0)
    qd, qdd = (x + 0.3 * x.std(axis=0) * rng.normal(size=x.shape) for x in (log.qd, log.qdd))
    measured = dataclasses.replace(log, qd=qd, qdd=qdd)
    plain = armdyn.identify(robot, measured, prior=None, rest=0)
    helped = armdyn.identify(robot, measured, prior=None, rest=0, instruments=log)
    known, felt = theta(robot, plain), told(plain)
    rotor = plain.moments.columns.place("rotor").start + 1
    assert felt[rotor]
    bias, left = (abs(found.theta - known)[rotor] / known[rotor] for found in (plain, helped))
    assert bias > 0.05 and left < 0.3 * bias


def test_the_consistent_fit_is_one_that_can_be():
    """Little data and much noise: least squares gives what no body has, the fit does not."""
    robot = armdyn.load("ur5")
    log = recorded(robot, 600, noise=0.5)
    alone = armdyn.identify(robot, log, prior=None)
    found = armdyn.identify(robot, log)
    assert any(link.inertia.findings() for link in alone.robot.chain.links)
    assert not any(link.inertia.findings() for link in found.robot.chain.links)
    assert all(joint.viscous >= 0 for joint in found.robot.chain.joints)
    other = recorded(robot, 2000, seed=9)
    assert (found.validate(other).rms < alone.validate(other).rms).all()


def test_a_prior_that_no_body_has_is_moved_and_noted():
    chain = armdyn.load("ur5").chain
    bad = dataclasses.replace(chain.links[2].inertia, tensor=(1.0, 0.0, 0.0, 0.1, 0.0, 0.1))
    links = list(chain.links)
    links[2] = dataclasses.replace(links[2], inertia=bad)
    broken = armdyn.Robot(dataclasses.replace(chain, links=tuple(links), check="warn"))
    found = armdyn.identify(broken, recorded(armdyn.Robot(chain)))
    assert any("prior moved" in note and links[2].name in note for note in found.notes)
    assert found.rms.max() < 1e-6


def test_the_cutoff_is_chosen_where_encoders_are_noisy():
    """Noise of positions, differentiated twice, spoils what a high cutoff lets through."""
    robot = armdyn.Robot(with_rotors(LINK2.chain))
    log, rng = recorded(robot, 20_000, step=1e-3), np.random.default_rng(0)
    noisy = Log(log.t, log.q + 1e-3 * rng.normal(size=log.q.shape), log.tau)
    found, high = (armdyn.identify(robot, noisy, cutoff=cutoff) for cutoff in ("auto", 40.0))
    assert found.cutoff < 20
    q, qd, qdd = log.q, log.qd, log.qdd
    off, worse = (
        np.abs(each.robot.inverse_dynamics(q, qd, qdd, friction=True) - log.tau).mean()
        for each in (found, high)
    )
    assert off < 0.5 * worse


# A payload ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", ["robot", None], ids=["consistent", "least-squares"])
def test_a_payload_alone_is_found(prior):
    robot = armdyn.Robot(with_rotors(armdyn.load("ur5").chain))
    inertia = np.diag([0.02, 0.03, 0.025])
    loaded = armdyn.Robot(robot.chain.with_payload(2.5, (0.02, -0.05, 0.11), inertia))
    found = armdyn.identify(robot, recorded(loaded), payload=True, prior=prior)
    ten = [parameter.value for parameter in found.parameters]
    c = np.array([0.02, -0.05, 0.11])
    about = inertia + 2.5 * (c @ c * np.eye(3) - np.outer(c, c))
    wanted = [
        2.5,
        *(2.5 * c),
        *(about[i] for i in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))),
    ]
    np.testing.assert_allclose(ten, wanted, atol=1e-7)
    assert [p.name for p in found.parameters][:2] == ["payload m", "payload mcx"]
    q = np.random.default_rng(1).uniform(-1, 1, (3, 6))
    np.testing.assert_allclose(
        found.robot.inverse_dynamics(*q), loaded.inverse_dynamics(*q), atol=1e-5
    )


def test_what_a_planar_arm_cannot_tell_of_a_payload_is_named():
    """Turning about level axes alone, it feels a mass in its plane and its turning, and no more."""
    loaded = armdyn.Robot(LINK2.chain.with_payload(0.7, (0.1, 0.05, 0.0), 0.01 * np.eye(3)))
    found = armdyn.identify(LINK2, recorded(loaded), payload=True, rest=0)
    names = {"m", "mcx", "mcy", "Izz"}  # the axes are z
    assert {*found.undetermined.determined} == {f"payload {name}" for name in names}
    assert len(found.undetermined.zero) == 6 and not found.undetermined.combined
    assert 1 < found.condition < 1e4
    values = {p.name: p for p in found.parameters}
    assert values["payload m"].value == pytest.approx(0.7, abs=1e-6)
    assert values["payload mcx"].value == pytest.approx(0.07, abs=1e-6)
    assert np.isinf(values["payload mcz"].deviation)
    (why,) = [note for note in found.notes if note.startswith("not identifiable from these logs")]
    assert "+- inf): payload mcz" in why and why.endswith("(no effect on the torque)")
    assert str(found).endswith(why)


# What is said of it -------------------------------------------------------------------------------


def test_infinite_deviations_are_explained():
    """Link and rotor about one axis: only their sum acts, unless another joint tilts it."""
    found = armdyn.identify(armdyn.load("ur5"), recorded(armdyn.load("ur5")))
    (why,) = [note for note in found.notes if "+- inf" in note]
    assert why.startswith(
        "not identifiable from these logs (+- inf): U33_1 with rotor_1, U33_2 with"
    )
    assert "link and rotor inertia about one axis" in why
    named = {name for name in why.replace(",", "").split() if "_" in name}
    infinite = {each.name for each in found.parameters if np.isinf(each.deviation)}
    assert named == infinite and str(found).endswith(why)


def test_a_joint_that_stands_still_is_named_in_the_explanation():
    log = recorded(LINK2, 500)
    q, qd, qdd = (x * [1, 0] for x in (log.q, log.qd, log.qdd))
    tau = LINK2.inverse_dynamics(q, qd, qdd)
    found = armdyn.identify(LINK2, Log(log.t, q, tau, qd, qdd), rest=0)
    (why,) = [note for note in found.notes if "+- inf" in note]
    groups = why.partition(": ")[2]
    assert "viscous_2, coulomb_2" in groups.replace(" (no effect on the torque)", "")
    infinite = [each.name for each in found.parameters if np.isinf(each.deviation)]
    assert all(name in groups for name in infinite)


@pytest.mark.parametrize("bias, warned", [(0.0, False), (5.0, True)])
def test_offsets_are_noted_beyond_their_noise_alone(bias, warned):
    """The arm has no friction, so that any offset exceeds it."""
    smooth = LINK2.with_friction(0.0, 0.0)
    for seed in range(3):
        log = recorded(smooth, 2000, seed, noise=0.02)
        log = dataclasses.replace(log, tau=log.tau + [bias, 0.0])
        notes = [note for note in armdyn.identify(smooth, log).notes if "sensor bias" in note]
        assert [LINK2.joint_names[0] in note for note in notes] == [True] * warned


def test_within_a_bar_of_the_users_own_it_runs_without_one(monkeypatch):
    """As rich before 14.1 has it, where only one may be shown."""
    from rich.errors import LiveError
    from rich.progress import Progress

    def start(bar):
        raise LiveError("Only one live display may be active at once")

    monkeypatch.setattr(Progress, "start", start)
    armdyn.identify(LINK2, recorded(LINK2, 500))


def test_progress_is_told_to_a_function_and_shown_on_terminals_alone(capsys):
    news = []
    log = dataclasses.replace(recorded(LINK2, 3000), qd=None, qdd=None)
    armdyn.identify(LINK2, log, progress=lambda *given: news.append(given))
    assert [said for said, *_ in news[:3]] == ["cutoff 3 Hz", "cutoff 5 Hz", "cutoff 10 Hz"]
    assert all(0 <= done < total for _, done, total in news)
    assert ("weight of the prior", 0, 45) in news
    armdyn.identify(LINK2, log, cutoff=10.0, weight=1.0)
    assert capsys.readouterr() == ("", "")
    with pytest.raises(IdentificationError, match="progress is 3; expected True, or a function"):
        armdyn.identify(LINK2, log, progress=3)


# What is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"cutoff": "high"}, "cutoff is 'high'"),
        ({"cutoff": []}, r"cutoff is \[\]; expected a frequency above 0"),
        ({"cutoff": 10**400}, "cutoff is 1000"),
        ({"weight": -(10**400)}, "weight is -1000"),
        ({"rest": 10**400}, "rest is 1000"),
        ({"columns": 5}, "columns are functions .*, not 5"),
        ({"columns": [lambda q, qd, qdd: q + 1e200]}, "gives numbers that are not finite, or abo"),
        ({"payload": np.eye(3)}, "payload is array.*; expected True or False"),
        ({"weight": -1.0}, "weight is -1.0; expected a number above 0"),
        ({"weight": "light"}, "weight is 'light'"),
        ({"prior": "panda"}, "prior is 'panda'"),
        ({"prior": armdyn.load("ur5")}, "the prior's joints are RRRRRR, the robot's RR"),
        ({"method": "lms"}, "no method 'lms'.*known: ols, wls, irls"),
        ({"rest": "slow"}, "rest is 'slow'"),
        ({"instruments": [recorded(LINK2, 100)] * 2}, "2 instruments for 1 logs"),
        ({"instruments": 3}, "instruments: expected a Log"),
    ],
    ids=lambda value: cut(value) if isinstance(value, str) else next(iter(value)),
)
def test_options_that_are_none(changes, said):
    with pytest.raises(IdentificationError, match=said):
        armdyn.identify(LINK2, recorded(LINK2, 200), **changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"weight": value}, "weight is") for value in (None, 0, -1, np.nan, [1, 2], "light")]
    + [({"method": value}, "no method") for value in (None, "lms", ["wls"])],
)
def test_options_are_looked_at_before_a_cutoff_is_chosen(changes, said):
    log = dataclasses.replace(recorded(LINK2, 200), qd=None, qdd=None)
    with pytest.raises(IdentificationError, match=said):
        armdyn.identify(LINK2, log, **changes)


def test_a_table_is_no_log_and_the_error_says_how_to_make_one():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"t": np.arange(9.0), "q1": 0.0, "tau1": 1.0})
    for logs in (table, [table]):
        with pytest.raises(IdentificationError, match=r"armdyn.Log\(t=df.t, q=.*, tau=.*\)"):
            armdyn.identify(LINK2, logs)


def test_too_few_rows():
    with pytest.raises(IdentificationError, match="10 rows for 14 parameters"):
        armdyn.identify(LINK2, recorded(LINK2, 10))
    with pytest.raises(IdentificationError, match="there is no log"):
        armdyn.identify(LINK2, [])
    with pytest.raises(IdentificationError, match="logs: expected a Log, the path.*not 3; .*read"):
        armdyn.identify(LINK2, [3])
    with pytest.raises(TypeError, match="identify takes a Robot"):
        armdyn.identify(LINK2.chain, recorded(LINK2, 100))
    with pytest.raises(IdentificationError, match="validate takes a Log"):
        armdyn.identify(LINK2, recorded(LINK2, 500)).validate(3)


def test_a_path_stands_for_the_log_in_it(tmp_path):
    log, path = recorded(LINK2, 300), tmp_path / "log.npz"
    np.savez(path, t=log.t, q=log.q, tau=log.tau)
    options = {"cutoff": 10.0, "weight": 1.0}
    found = armdyn.identify(LINK2, Log.read(path), **options)
    for given in (path, str(path), [path], [str(path)]):
        np.testing.assert_array_equal(armdyn.identify(LINK2, given, **options).theta, found.theta)
    np.testing.assert_array_equal(found.validate(path).rms, found.validate(Log.read(path)).rms)
    with pytest.raises(IdentificationError, match="cannot read 'log.csv'"):
        armdyn.identify(LINK2, "log.csv")


@pytest.mark.parametrize("friction", [1, np.eye(3)], ids=["number", "array"])
def test_flags_are_true_or_false(friction):
    with pytest.raises(ShapeError, match="friction is .*; expected True or False"):
        armdyn.identify(LINK2, recorded(LINK2, 100), friction=friction)


# What is found can be seen ------------------------------------------------------------------------


def test_a_result_says_what_it_is():
    robot = armdyn.Robot(with_rotors(LINK2.chain))
    found = armdyn.identify(robot, recorded(robot, 2000, noise=0.01))
    first = found.parameters[0]
    assert str(found).splitlines()[0] == str(first)
    assert (first.name, first.unit) == ("U33_1", "kg m^2") and np.isinf(first.deviation)
    assert len(found.covariance) == len(found.parameters) == 14
    assert repr(found).startswith("Identification('two_link', 14 parameters, rms [")
    check = found.validate(recorded(robot, 1000, seed=3))
    assert check.rms.shape == (2,) and check.measured[0].shape == (1000, 2)
    np.testing.assert_allclose(
        check.measured[0] - check.predicted[0], 0, atol=check.torque.max() / 5
    )


def test_a_picture_shows_the_prior_and_counts_the_rows_that_the_fit_counts():
    pytest.importorskip("matplotlib")
    robot = armdyn.Robot(with_rotors(LINK2.chain))
    found = armdyn.identify(shaken(robot.chain), recorded(robot, 2000, noise=0.05), rest=0.2)
    other = recorded(robot, 1000, seed=3, noise=0.5)
    figure = found.plot(log=other)
    rms = found.validate(other).rms
    everywhere = np.sqrt(np.mean((other.tau - found.validate(other).predicted[0]) ** 2, axis=0))
    assert f"{rms[0]:.3g}" != f"{everywhere[0]:.3g}"
    assert f"rms of the difference {rms[0]:.3g} N m" in figure.axes[0].get_title("left")
    given = shaken(robot.chain)
    np.testing.assert_array_equal(found.before, theta(given, found))
    drawn = [line for line in figure.axes[2].get_lines() if line.get_label() == "before"]
    assert drawn and drawn[0].get_ydata()[0] == found.before[0]


def test_notes_name_the_cutoff_that_was_asked_for():
    log = recorded(LINK2, 5000, step=1e-3)
    found = armdyn.identify(LINK2, Log(log.t, log.q, log.tau), cutoff=5.0)
    (said,) = [note for note in found.notes if "filtered" in note]
    assert said == "log: filtered at 5 Hz; one row in 10 kept, 100 a second"
    assert len(found.validate(log).times[0]) == pytest.approx(500, abs=60)


@pytest.mark.parametrize("cutoff", [None, 10.0])
def test_torques_of_another_sign_or_side_are_noted(cutoff, caplog):
    logging.getLogger("armdyn").setLevel(logging.WARNING)
    log = recorded(LINK2, 5000)
    for factors, said in (((1, -1), "sign the other way"), ((0.01, 1), "at the motor")):
        wrong = dataclasses.replace(log, tau=log.tau * factors)
        caplog.clear()
        found = armdyn.identify(LINK2, wrong, cutoff=cutoff)
        joint = LINK2.joint_names[factors.index(1) ^ 1]
        assert any(said in note and joint in note for note in found.notes)
        assert said in caplog.text
    assert not any("times what" in note for note in armdyn.identify(LINK2, log).notes)


def test_moments_fit_as_logs_do(tmp_path):
    """What ``identify`` does is ``moments`` and ``fit``, also through a file."""
    robot = armdyn.Robot(with_rotors(LINK2.chain))
    log = recorded(robot, 3000, noise=0.02)
    record = moments(robot, log, rest=0.05)
    record.save(tmp_path / "m.npz")
    again = armdyn.Moments.load(tmp_path / "m.npz").fit()
    np.testing.assert_array_equal(again.theta, record.fit().theta)
    np.testing.assert_allclose(armdyn.identify(robot, log, rest=0.05).theta, again.theta, rtol=1e-6)


# A joint that hardly moves ------------------------------------------------------------------------


@pytest.mark.parametrize("friction", [True, False])
@pytest.mark.parametrize("held", [(0, 1), (1,)], ids=["all joints", "one joint"])
def test_a_drive_that_does_not_move_keeps_the_prior_values(held, friction):
    """Filters leave rounding in its columns, of which no number may be made."""
    arm = LINK2.with_rotors(0.01).with_friction(0.3, 0.2)
    log = recorded(arm, rows=2000)
    q, tau = log.q.copy(), log.tau + 0.5
    q[:, held] = 0.1
    found = armdyn.identify(arm, Log(t=log.t, q=q, tau=tau), friction=friction, cutoff=20)
    for i in held:
        given, joint = arm.chain.joints[i], found.robot.chain.joints[i]
        assert (joint.rotor_inertia, joint.viscous) == (given.rotor_inertia, given.viscous)
        assert f"rotor_{i + 1}" in found.notes[-1] and "prior values kept" in found.notes[-1]
    none = armdyn.identify(LINK2, Log(t=log.t, q=q, tau=tau), friction=friction, cutoff=20)
    assert [none.robot.chain.joints[i].rotor_inertia for i in held] == [0.0] * len(held)


def test_noise_of_the_encoder_is_no_motion_and_a_drive_that_moves_is_fitted():
    robot = armdyn.load("ur5")
    log = recorded(robot, rows=3000)
    record = moments(robot, log)
    assert not at_rest(record).any()  # nothing is held: the fit is that of all columns
    q = log.q.copy()
    q[:, 5] = 0.3 + 1e-6 * np.random.default_rng(2).normal(size=len(q))
    found = armdyn.identify(robot, Log(t=log.t, q=q, tau=log.tau), cutoff=10)
    names = {
        name
        for name, here in zip(record.columns.names, at_rest(found.moments), strict=True)
        if here
    }
    assert names == {"rotor_6", "viscous_6", "coulomb_6"}
    assert found.robot.chain.joints[5].rotor_inertia == robot.chain.joints[5].rotor_inertia
