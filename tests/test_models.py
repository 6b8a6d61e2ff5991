"""The arms that ship: their printed numbers, their closed forms, and that each could exist."""

import logging
import math
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from armdyn import Chain, ModelError
from armdyn.algorithms.newton_euler import (
    bias,
    coriolis_matrix,
    gravity,
    inverse_dynamics,
    mass_matrix,
)
from armdyn.algorithms.regressor import regressor
from armdyn.chain.dh import SNAP
from armdyn.chain.writers import to_toml
from armdyn.loaders import toml, urdf

MODELS = resources.files("armdyn") / "models"
JOINTS = {
    "kinova": "RRRRRR",
    "panda": "RRRRRRR",
    "puma560": "RRRRRR",
    "scara": "RRPR",
    "stanford": "RRPRRR",
    "two_link": "RR",
    "ur10": "RRRRRR",
    "ur3": "RRRRRR",
    "ur5": "RRRRRR",
    "xarm7": "RRRRRRR",
}


def text_of(name):
    for suffix in ("toml", "urdf"):
        file = MODELS / f"{name}.{suffix}"
        if file.is_file():
            return suffix, file.read_text(encoding="utf-8")
    raise FileNotFoundError(name)


def shipped(name, snap=SNAP):
    suffix, text = text_of(name)
    loader = toml.load if suffix == "toml" else urdf.load
    return loader(text, name=name, snap=snap)


def with_rotors(chain, q):
    """M(q) with the motors' inertia on its diagonal."""
    rotors = np.diag([joint.rotor_inertia for joint in chain.joints])
    return np.array(mass_matrix(chain.on(float), list(q)), float) + rotors


# Every arm ----------------------------------------------------------------------------------


def test_no_arm_ships_untested():
    names = (Path(file.name) for file in MODELS.iterdir())
    assert {name.stem for name in names if name.suffix in (".toml", ".urdf")} == set(JOINTS)


@pytest.mark.parametrize("name", JOINTS)
def test_an_arm_could_exist(name, caplog):
    """It passes its checks, and its mass matrix is symmetric and positive definite."""
    with caplog.at_level(logging.WARNING):
        chain = shipped(name)
    assert not caplog.records
    assert chain.name == name
    assert "".join(joint.kind for joint in chain.joints) == JOINTS[name]
    for q in np.random.default_rng(2).uniform(-math.pi, math.pi, (5, chain.n)):
        arm = chain.on(float).without_gravity()
        columns = [inverse_dynamics(arm, q, [0] * chain.n, unit) for unit in np.eye(chain.n)]
        np.testing.assert_allclose(columns, np.transpose(columns), rtol=0, atol=1e-13)
        assert np.linalg.eigvalsh(with_rotors(chain, q))[0] > 0


@pytest.mark.parametrize("snap", [SNAP, 0.0])
@pytest.mark.parametrize("name", JOINTS)
def test_an_arm_is_written_and_read_bit_for_bit(name, snap):
    chain = shipped(name, snap)
    text = to_toml(chain)
    again = toml.load(text)
    assert again == chain
    assert again.notes == chain.notes
    assert to_toml(again) == text


@pytest.mark.parametrize("name", JOINTS)
def test_a_file_says_whose_it_is_and_has_no_meshes(name):
    suffix, text = text_of(name)
    head = text.split("<robot" if suffix == "urdf" else "[[joint]]")[0]
    assert "licence" in head.lower()
    for gone in ("<visual", "<collision", "<mesh", "<transmission", "<gazebo", "package://"):
        assert gone not in text


# Two links in a plane -----------------------------------------------------------------------


def test_two_link_arm_is_its_closed_form():
    """M, C qd and g of the planar two-link arm, as every textbook derives them."""
    m1, l1, lc1, I1 = 3.0, 0.5, 0.2, 0.04
    m2, l2, lc2, I2 = 2.0, 0.4, 0.15, 0.02
    chain = shipped("two_link")
    assert chain.tip.translation == (l2, 0, 0)
    for q, qd in np.random.default_rng(3).uniform(-3, 3, (20, 2, 2)):
        c1, c12 = math.cos(q[0]), math.cos(q[0] + q[1])
        c2, s2 = math.cos(q[1]), math.sin(q[1])
        M12 = I2 + m2 * (lc2**2 + l1 * lc2 * c2)
        M22 = I2 + m2 * lc2**2
        M11 = I1 + I2 + m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * c2)
        h = m2 * l1 * lc2 * s2
        C = np.array([[-h * qd[1], -h * (qd[0] + qd[1])], [h * qd[0], 0]])
        g = 9.81 * np.array([(m1 * lc1 + m2 * l1) * c1 + m2 * lc2 * c12, m2 * lc2 * c12])
        arm = chain.on(float)
        exactly = dict(rtol=0, atol=1e-13)
        np.testing.assert_allclose(mass_matrix(arm, q), [[M11, M12], [M12, M22]], **exactly)
        np.testing.assert_allclose(gravity(arm, q), g, **exactly)
        np.testing.assert_allclose(bias(arm, q, qd), C @ qd + g, **exactly)
        np.testing.assert_allclose(coriolis_matrix(arm, q, qd), C, **exactly)


# SCARA --------------------------------------------------------------------------------------


def test_scara_carries_only_its_quill():
    """Joints with vertical axes feel no weight; the slide points down and holds m3 + m4."""
    chain = shipped("scara")
    weight = (0.8 + 0.4) * 9.81
    for q in np.random.default_rng(4).uniform(-1, 1, (5, 4)):
        np.testing.assert_allclose(
            gravity(chain.on(float), q), [0, 0, -weight, 0], rtol=0, atol=1e-14
        )


# Puma 560 -----------------------------------------------------------------------------------

Q_N = [0, math.pi / 4, math.pi, 0, math.pi / 4, 0]
HALF_A_DIGIT = 0.5e-4  # the tables print four decimals

# Corke and Armstrong-Helouvry 1994, as the Robotics Toolbox for Python prints them in
# models/DH/Puma560.py: inertia (xx, yy, zz) about the centre of mass, in standard DH frames.
PUBLISHED = dict(
    a=[0, 0.4318, 0.0203, 0, 0, 0],
    alpha=[90, 0, -90, 90, -90, 0],
    d=[26.45 * 0.0254, 0, 0.15005, 0.4318, 0, 0],
    theta=0,
    joints="RRRRRR",
    mass=[0, 17.4, 4.8, 0.82, 0.34, 0.09],
    com=[
        [0, 0, 0],
        [-0.3638, 0.006, 0.2275],
        [-0.0203, -0.0141, 0.070],
        [0, 0.019, 0],
        [0, 0, 0],
        [0, 0, 0.032],
    ],
    inertia=[
        [0, 0.35, 0],
        [0.13, 0.524, 0.539],
        [0.066, 0.086, 0.0125],
        [1.8e-3, 1.3e-3, 1.8e-3],
        [0.3e-3, 0.4e-3, 0.3e-3],
        [0.15e-3, 0.15e-3, 0.04e-3],
    ],
    degrees=True,
    name="puma560 as published",
)
MOTORS = [  # G, Jm [kg m^2], B [N m s], (Tc+, Tc-) [N m]
    (-62.6111, 200e-6, 1.48e-3, (0.395, -0.435)),
    (107.815, 200e-6, 0.817e-3, (0.126, -0.071)),
    (-53.7063, 200e-6, 1.38e-3, (0.132, -0.105)),
    (76.0364, 33e-6, 71.2e-6, (11.2e-3, -16.9e-3)),
    (71.923, 33e-6, 82.6e-6, (9.26e-3, -14.5e-3)),
    (76.686, 33e-6, 36.7e-6, (3.96e-3, -10.5e-3)),
]


@pytest.fixture(scope="module")
def puma():
    return shipped("puma560")


def test_puma_mass_matrix_as_printed(puma):
    """M(q_n) with rotors, Robotics Toolbox for Python, test_DHRobot.py, test_inertia."""
    printed = [
        [3.6594, -0.4044, 0.1006, -0.0025, 0.0000, -0.0000],
        [-0.4044, 4.4137, 0.3509, 0.0000, 0.0024, 0.0000],
        [0.1006, 0.3509, 0.9378, 0.0000, 0.0015, 0.0000],
        [-0.0025, 0.0000, 0.0000, 0.1925, 0.0000, 0.0000],
        [0.0000, 0.0024, 0.0015, 0.0000, 0.1713, 0.0000],
        [-0.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.1941],
    ]
    np.testing.assert_allclose(with_rotors(puma, Q_N), printed, rtol=0, atol=HALF_A_DIGIT)


def test_puma_gravity_and_coriolis_matrix_as_printed(puma):
    """The same file, test_gravload and test_coriolis."""
    C = [
        [-0.1735, -2.0494, -0.1178, -0.0002, -0.0045, 0.0001],
        [0.6274, 1.1572, 1.9287, -0.0015, -0.0003, -0.0000],
        [-0.3608, -0.7734, -0.0018, -0.0009, -0.0064, -0.0000],
        [0.0011, 0.0005, -0.0001, 0.0002, 0.0002, -0.0001],
        [-0.0002, 0.0028, 0.0046, -0.0002, -0.0000, -0.0000],
        [0.0001, 0.0000, 0.0000, 0.0000, 0.0000, 0],
    ]
    arm = puma.on(float)
    printed = dict(rtol=0, atol=HALF_A_DIGIT)
    np.testing.assert_allclose(coriolis_matrix(arm, Q_N, [1, 2, 3, 1, 2, 3]), C, **printed)
    np.testing.assert_allclose(gravity(arm, Q_N), [0, 31.6399, 6.0351, 0, 0.0283, 0], **printed)


def test_puma_torque_with_friction_as_printed(puma):
    """The same file, test_rne: all speeds one, no acceleration; six digits."""
    printed = [29.1421, 56.5044, 16.3528, 1.26448, 1.12392, 0.519648]
    friction = [joint.viscous + joint.coulomb[1] for joint in puma.joints]
    found = np.array(bias(puma.on(float), Q_N, [1] * 6)) + friction
    half_a_digit = [5e-5, 5e-5, 5e-5, 5e-6, 5e-6, 5e-7]
    assert (np.abs(found - printed) <= half_a_digit).all()


def test_puma_motors_are_seen_through_their_gears(puma):
    for joint, (G, Jm, B, (ahead, back)) in zip(puma.joints, MOTORS, strict=True):
        assert joint.rotor_inertia == pytest.approx(G**2 * Jm, rel=1e-14)
        assert joint.viscous == pytest.approx(G**2 * B, rel=1e-14)
        assert joint.coulomb == pytest.approx((abs(G) * back, abs(G) * ahead), rel=1e-14)


def test_puma_is_mended_where_no_motion_can_show_it(puma):
    """The published set is refused; the shipped one has the same M, bias and gravity.

    Inverse dynamics is linear in the parameters, so equal torques mean that the change lies in
    the null space of the regressor; for gravity in any direction, not only down.
    """
    with pytest.raises(ModelError, match=r"'link1': it has no mass.*'link3'.*triangle inequality"):
        Chain.from_dh(**PUBLISHED)
    published = Chain.from_dh(**PUBLISHED, check="warn")
    moved = (puma.parameters - published.parameters).reshape(6, 10)
    assert [int(link) for link in np.flatnonzero(np.abs(moved).max(axis=1) > 1e-12)] == [0, 1, 2]
    rng = np.random.default_rng(5)
    exactly = dict(rtol=0, atol=1e-13)
    for down in ((0, 0, -9.81), (9.81, 0, 0), (3.0, -5.0, 7.0)):
        ours = puma.with_gravity(down).on(float)
        theirs = published.with_gravity(down).on(float)
        for q, qd, qdd in rng.uniform(-math.pi, math.pi, (10, 3, 6)):
            np.testing.assert_allclose(mass_matrix(ours, q), mass_matrix(theirs, q), **exactly)
            np.testing.assert_allclose(gravity(ours, q), gravity(theirs, q), **exactly)
            np.testing.assert_allclose(bias(ours, q, qd), bias(theirs, q, qd), **exactly)
            Y = np.array(regressor(ours, q, qd, qdd), float)
            np.testing.assert_allclose(Y @ moved.ravel(), 0, **exactly)


# Stanford arm -------------------------------------------------------------------------------


def test_stanford_joint_3_at_rest():
    """At q = 0.3, the posture of [zomaya1988], +60.6 N hold links 3 to 6 on the inclined slide."""
    held = gravity(shipped("stanford").on(float), [0.3] * 6)[2]
    assert held == pytest.approx((4.25 + 1.08 + 0.63 + 0.51) * 9.81 * math.cos(0.3), rel=1e-14)
    assert round(held, 1) == 60.6


def test_stanford_boom_as_a_pendulum():
    """With the wrist straight (q5 = 0) every centre beyond joint 3 hangs on the boom.

    Link 2's centre and link 4's other offset lie along the horizontal axis of joint 2, so that
    V = g cos(q2) sum of m_i (q3 + c_i), with c_i along the boom.
    """
    chain = shipped("stanford")
    masses, along = np.array([4.25, 1.08, 0.63, 0.51]), np.array([-0.6447, -0.0092, 0.0566, 0.1554])
    for q1, q2, q3, q6 in np.random.default_rng(6).uniform(-1, 1, (10, 4)):
        found = gravity(chain.on(float), [q1, q2, q3, 0, 0, q6])
        moment = 9.81 * masses @ (q3 + along)
        np.testing.assert_allclose(found[0], 0, rtol=0, atol=1e-13)
        np.testing.assert_allclose(found[1], -math.sin(q2) * moment, rtol=0, atol=1e-13)
        np.testing.assert_allclose(found[2], 9.81 * math.cos(q2) * masses.sum(), rtol=0, atol=1e-13)


def test_stanford_slide_carries_its_mass_and_its_actuator():
    chain = shipped("stanford")
    M = with_rotors(chain, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    assert M[2, 2] == pytest.approx(4.25 + 1.08 + 0.63 + 0.51 + 0.782, rel=1e-14)
