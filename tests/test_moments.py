"""Moments: right, additive, saved and loaded, and refused where they do not match."""

import dataclasses

import numpy as np
import pytest

import armdyn
from armdyn import IdentificationError, Log, Moments
from armdyn.identification.columns import Columns
from armdyn.identification.moments import GROUPS, moments
from armdyn.identification.rows import LowPass
from tests.arms import with_rotors

ROBOT = armdyn.Robot(with_rotors(armdyn.Chain.random(4, "RPRR", seed=1)))


def log(rows=700, seed=0, **changes):
    q, qd, qdd, tau = np.random.default_rng(seed).uniform(-1, 1, (4, rows, ROBOT.n))
    given = {"t": 0.01 * np.arange(rows), "q": q, "tau": tau, "qd": qd, "qdd": qdd}
    return Log(**{**given, **changes})


def spring(q, qd, qdd):
    return np.sin(q)


def whole(found):
    """Each joint's Gram matrix of all parts together."""
    return [gram.sum(axis=0) for gram in found.grams]


def test_moments_are_those_of_torque_and_columns():
    """Of Y as ``minimal_regressor`` gives it, and what a drive is known to do."""
    record = log()
    found = moments(ROBOT, record, columns=[spring])
    Y = ROBOT.minimal_regressor(record.q, record.qd, record.qdd)
    p = Y.shape[2]
    for i in range(ROBOT.n):
        drive = [record.qdd[:, i], record.qd[:, i], np.sign(record.qd[:, i]), np.ones(len(Y))]
        columns = {name: Y[:, i, k] for k, name in enumerate(found.columns.names[:p])}
        columns |= {
            f"{name}_{i + 1}": x for name, x in zip(found.columns.drives, drive, strict=True)
        }
        columns["spring"] = np.sin(record.q[:, i])
        names = [found.columns.names[k] for k in found.columns.felt[i]]
        unfelt = [name for name in columns if name not in names]
        assert all(not columns[name].any() for name in unfelt)  # links before the joint
        X = np.column_stack([record.tau[:, i], *(columns[name] for name in names)])
        np.testing.assert_allclose(whole(found)[i], X.T @ X, rtol=0, atol=1e-11 * len(X))


def test_the_arms_own_parameters_leave_no_error():
    record = log()
    tau = ROBOT.inverse_dynamics(record.q, record.qd, record.qdd, friction=True)
    found = moments(ROBOT, dataclasses.replace(record, tau=tau))
    size = found.rms(np.zeros(found.columns.count))
    np.testing.assert_allclose(size, np.sqrt((tau**2).mean(axis=0)), rtol=1e-12)
    assert (found.rms(found.columns.given) < 1e-7 * size).all()
    near = moments(ROBOT, dataclasses.replace(record, tau=tau), origin=found.columns.given)
    assert (near.rms(found.columns.given) < 1e-13 * size).all()


def test_a_rotor_that_is_not_sought_is_the_arms_own():
    record = log()
    tau = ROBOT.inverse_dynamics(record.q, record.qd, record.qdd)
    found = moments(
        ROBOT, dataclasses.replace(record, tau=tau), friction=False, rotors=False, offsets=False
    )
    assert found.columns.drives == ()
    assert found.rms(found.columns.given).max() < 1e-6


def test_moments_of_two_logs_add_up():
    one, two = log(seed=1), log(seed=2)
    together = moments(ROBOT, [one, two])
    added = moments(ROBOT, one) + moments(ROBOT, two)
    for a, b in zip(together.grams, added.grams, strict=True):
        np.testing.assert_array_equal(a, b)
    assert (together.rows.sum(axis=0) == 1400).all()
    streamed = moments(ROBOT, (each for each in (one, two)))
    np.testing.assert_array_equal(streamed.rows, together.rows)


def test_parts_are_contiguous_and_not_too_many():
    record = log(rows=20_000)
    found = moments(ROBOT, record)
    assert found.groups == GROUPS and found.rows[:, 0].sum() == 20_000
    twice = found + found
    assert twice.groups == GROUPS and twice.rows[:, 0].sum() == 40_000
    assert twice.rows[:, 0].max() <= 2 * twice.rows[:, 0].min() + 2
    for a, b in zip(whole(twice), whole(found), strict=True):
        np.testing.assert_allclose(a, 2 * b, rtol=1e-12, atol=1e-9)
    assert moments(ROBOT, log(rows=350)).groups == 3


def test_moments_about_another_origin():
    found = moments(ROBOT, log())
    origin = found.columns.given
    moved = found.about(origin)
    direct = moments(ROBOT, log(), origin=origin)
    for a, b in zip(whole(moved), whole(direct), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-10 * np.abs(a).max())
    np.testing.assert_allclose(moved.rms(origin), found.rms(origin), rtol=1e-9)


def test_saved_moments_are_the_same(tmp_path):
    found = moments(ROBOT, log(), columns={"spring": spring}, rest=0.1)
    found.save(tmp_path / "record.npz")
    again = Moments.load(tmp_path / "record.npz")
    for a, b in zip(found.grams, again.grams, strict=True):
        np.testing.assert_array_equal(a, b)
    assert again.columns.names == found.columns.names and again.rest == found.rest
    assert again.cutoff is None and again.crosses == ()
    assert (found + again).rows[:, 0].sum() == 2 * found.rows[:, 0].sum()


def test_a_file_that_holds_no_moments(tmp_path):
    (tmp_path / "no.npz").write_text("nothing")
    with pytest.raises(IdentificationError, match="cannot read moments from .*no.npz"):
        Moments.load(tmp_path / "no.npz")
    with pytest.raises(IdentificationError, match="cannot read moments from"):
        Moments.load(tmp_path / "missing.npz")
    with pytest.raises(IdentificationError, match="saved as .npz"):
        moments(ROBOT, log()).save(tmp_path / "record.txt")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rotors": False}, "different columns cannot be added: only one has rotor_1"),
        ({"columns": [spring]}, "only one has spring"),
        ({"rest": 0.1}, "different rest"),
        ({"cutoff": 20.0}, "different cutoff"),
        ({"instruments": log()}, "different instruments"),
    ],
    ids=["rotors", "columns", "rest", "cutoff", "instruments"],
)
def test_what_does_not_match_is_not_added(change, said):
    with pytest.raises(IdentificationError, match=said):
        moments(ROBOT, log()) + moments(ROBOT, log(), **change)


def test_moments_of_another_arm_are_not_added():
    other = armdyn.Robot(armdyn.Chain.random(4, "RPRR", seed=2))
    with pytest.raises(IdentificationError, match="different robot"):
        moments(ROBOT, log()) + moments(other, log())


def test_rows_at_rest_are_left_out_joint_by_joint():
    record = log()
    found = moments(ROBOT, record, rest=[0.5, 0.0, 0.2, 2.0])
    moving = (np.abs(record.qd) >= [0.5, 0.0, 0.2, 2.0]).sum(axis=0)
    np.testing.assert_array_equal(found.rows.sum(axis=0), moving)
    kept = np.abs(record.qd[:, 0]) >= 0.5
    assert whole(found)[0][0, 0] == pytest.approx((record.tau[kept, 0] ** 2).sum())
    assert moving[3] == 0 and not whole(found)[3].any()


@pytest.mark.parametrize("rest", [-1.0, [1, 2], "slow", np.nan])
def test_no_speed_to_rest_at(rest):
    with pytest.raises(IdentificationError, match="rest is .*expected a speed"):
        moments(ROBOT, log(), rest=rest)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (
            [lambda q, qd, qdd: q[:, 0]],
            r"column '<lambda>' gives float64 \(100,\); expected real numbers \(100, 4\)",
        ),
        ({"": spring}, "columns are functions"),
        ({"a": 3}, "columns are functions"),
        ([("a", spring), ("a", spring)], "two columns have one name"),
        ([lambda q, qd, qdd: q * np.nan], "not finite"),
        (np.array("a"), "columns are functions"),
    ],
    ids=["shape", "nameless", "number", "twice", "nan", "array"],
)
def test_columns_that_are_none(columns, said):
    with pytest.raises(IdentificationError, match=said):
        moments(ROBOT, log(), columns=columns)


def test_rows_that_are_not_finite_are_left_out():
    q = log().q.copy()
    q[[3, 400]] = np.nan
    found = moments(ROBOT, log(q=q))
    assert (found.rows.sum(axis=0) == 698).all()
    assert any("2 of 700 rows are left out" in note for note in found.notes)


# The second low-pass ------------------------------------------------------------------------------


def test_the_low_pass_keeps_what_is_slow_and_not_what_is_fast():
    t = np.arange(2000) * 1e-3
    low = LowPass.at(10.0, 1e-3)
    for frequency, kept in ((0.5, 1.0), (2.0, 1.0), (10.0, 0.5), (30.0, 0.0), (100.0, 0.0)):
        out = low(np.sin(2 * np.pi * frequency * t)[:, None])
        assert np.abs(out).max() == pytest.approx(kept, abs=0.02), frequency
    assert low(np.ones((500, 1))) == pytest.approx(1.0)


def test_chunks_do_not_show(monkeypatch):
    """Rows that are filtered in pieces are those that are filtered at once."""
    record = Log(0.002 * np.arange(3000), log(3000).q, log(3000).tau)
    whole_at_once = moments(ROBOT, record, cutoff=10.0, columns=[spring])
    monkeypatch.setattr("armdyn.identification.rows.CHUNK", 37)
    in_chunks = moments(ROBOT, record, cutoff=10.0, columns=[spring])
    for a, b in zip(whole_at_once.grams, in_chunks.grams, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-10 * np.abs(a).max())
    np.testing.assert_array_equal(whole_at_once.rows, in_chunks.rows)


def test_torque_and_columns_pass_the_same_filter():
    """So Coulomb friction, whose column jumps, is found exactly through a low-pass."""
    robot = armdyn.Robot(with_rotors(armdyn.Chain.random(1, seed=3)))
    t = np.arange(20_000) * 1e-3
    q = np.sin(2 * np.pi * 0.5 * t) + 0.3 * np.sin(2 * np.pi * 0.9 * t)
    qd = np.pi * np.cos(np.pi * t) + 0.54 * np.pi * np.cos(1.8 * np.pi * t)
    qdd = -(np.pi**2) * np.sin(np.pi * t) - 0.972 * np.pi**2 * np.sin(1.8 * np.pi * t)
    tau = robot.inverse_dynamics(q[:, None], qd[:, None], qdd[:, None], friction=True)
    found = moments(robot, Log(t, q[:, None], tau), cutoff=5.0)
    assert (found.rms(found.columns.given) < 0.01 * np.sqrt((tau**2).mean())).all()


def test_a_record_shorter_than_the_filter():
    with pytest.raises(IdentificationError, match="shorter than the"):
        moments(ROBOT, log(rows=30), cutoff=1.0)


def test_columns_know_the_arm():
    columns = Columns.of(ROBOT.chain, True, True, False, {})
    assert columns.names[-12:] == tuple(
        f"{drive}_{i}" for drive in ("rotor", "viscous", "coulomb") for i in range(1, 5)
    )
    assert columns.units[-12:-8] == ("kg m^2", "kg", "kg m^2", "kg m^2")
    joints = ROBOT.chain.joints
    np.testing.assert_allclose(
        columns.given[columns.place("coulomb")],
        [(joint.coulomb[1] - joint.coulomb[0]) / 2 for joint in joints],
    )
