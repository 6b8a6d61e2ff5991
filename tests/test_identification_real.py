"""Identification on logs of real arms, recorded by others, against what others found."""

import logging

import numpy as np
import pytest

import armdyn
from tests import kr300, tx40


@pytest.fixture(autouse=True)
def quiet():
    logging.getLogger("armdyn").setLevel(logging.ERROR)
    yield
    logging.getLogger("armdyn").setLevel(logging.NOTSET)


@pytest.fixture(scope="module")
def staubli():
    """As the publishers did: positions low-passed at 100 Hz, torque and columns at 20 Hz."""
    return armdyn.identify(
        tx40.robot(), tx40.log(), cutoff=20.0, rest=tx40.REST, columns=tx40.COLUMNS, prior=None
    )


def test_tx40_agrees_with_the_published_parameters(staubli):
    """[TX40_bp_5.csv] By weighted least squares, from the same record."""
    K = tx40.as_published(staubli.moments.columns)
    values, rows = K @ staubli.theta, tx40.published()
    off = np.array([(x - value) / sd for x, (_, value, sd) in zip(values, rows, strict=True)])
    assert len(off) == 60
    assert (np.abs(off) < 1).sum() >= 57
    assert np.abs(off).max() < 2.5
    assert np.median(np.abs(off)) < 0.4


def test_tx40_has_as_many_parameters_as_were_published(staubli):
    """63, of which rotors 1 and 2 and the offset that no one can tell from others are not."""
    unknown = [p.name for p in staubli.parameters if not np.isfinite(p.deviation)]
    assert len(staubli.parameters) == 63
    assert unknown == ["U33_1", "U33_2", "rotor_1", "rotor_2"]


def counterbalance(q, qd, qdd):
    """A hydraulic cylinder at joint 2: the sine of the angle from where the arm stands upright."""
    torque = np.zeros(np.shape(q))
    torque[..., 1] = np.sin(q[..., 1] + np.pi / 2)
    return torque


@pytest.fixture(scope="module")
def kuka():
    """All that is chosen, cutoff, weight and rest, is chosen within A."""
    robot = armdyn.Robot(kr300.chain())
    return {
        prior: armdyn.identify(robot, kr300.log("A"), columns=[counterbalance], prior=prior)
        for prior in ("robot", None)
    }


@pytest.mark.parametrize("name", ["B", "C"])
def test_kr300_predicts_motions_it_has_not_seen(kuka, name):
    log = kr300.log(name)
    check = kuka["robot"].validate(log)
    torque = np.sqrt((log.tau**2).mean(axis=0))
    assert (check.rms / torque)[:3].max() < 0.10
    assert (check.rms / check.torque)[:3].max() < 0.10
    alone = kuka[None].validate(log)
    worse = (alone.rms / torque)[:3].max()  # without a prior
    assert worse > (check.rms / torque)[:3].max()


@pytest.mark.sweep
@pytest.mark.parametrize("learned", ["B", "C"])
def test_kr300_predicts_whichever_motion_it_learned_from(learned):
    """Nothing is made for one pair of logs."""
    found = armdyn.identify(
        armdyn.Robot(kr300.chain()), kr300.log(learned), columns=[counterbalance]
    )
    for name in {*"ABC"} - {learned}:
        log = kr300.log(name)
        torque = np.sqrt((log.tau**2).mean(axis=0))
        assert (found.validate(log).rms / torque)[:3].max() < 0.10


def test_kr300_is_an_arm_that_can_be(kuka):
    found = kuka["robot"].robot.chain
    assert [link.inertia.findings() for link in found.links] == [[]] * 6
    assert all(joint.rotor_inertia > 0 and joint.viscous > 0 for joint in found.joints)
    assert any(link.inertia.findings() for link in kuka[None].robot.chain.links)
