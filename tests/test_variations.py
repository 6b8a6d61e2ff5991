"""The same arm with one more frame, a load somewhere, other friction, other rotors."""

import numpy as np
import pytest

from armdyn import Chain, ModelError
from armdyn.algorithms import kinematics
from armdyn.chain.pose import Pose
from armdyn.chain.random import _rotation
from armdyn.loaders import toml
from armdyn.quantities.tasks import Task, formula
from tests.arms import with_rotors

CHAIN = Chain.random(4, "RPRR", seed=3)
RNG = np.random.default_rng(0)
Q, QD, QDD = RNG.uniform(-2, 2, (3, 4))
POSE = Pose.of(_rotation(RNG.normal(size=(3, 3))), RNG.uniform(-1, 1, 3))


def computed(chain, quantity, *state, **options):
    function = formula(chain, float, Task(quantity, "newton-euler", **options))
    return np.array(function(*(row.tolist() for row in state)), float)


# Frames ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("link", [None, "link1", "link4", "eye", "plate"])
def test_a_frame_stands_where_it_was_put(link):
    """In the frame of that name: as its own pose says, then the pose given."""
    chain = CHAIN.with_frame("eye", "link2", POSE).with_frame("plate", -1, POSE)
    found = computed(chain.with_frame("new", link, POSE.matrix), "pose", Q, frame="new")
    np.testing.assert_allclose(found, computed(chain, "pose", Q, frame=link) @ POSE.matrix)


def test_a_frame_on_the_base_stands_still_and_is_written():
    chain = CHAIN.with_frame("plate", np.int64(-1), POSE)
    np.testing.assert_array_equal(computed(chain, "pose", Q, frame="plate"), POSE.matrix)
    assert not computed(chain, "jacobian", Q, frame="plate").any()
    assert toml.load(chain.to_toml()) == chain
    assert chain.frame_names == [*CHAIN.frame_names, "plate"] and CHAIN.frames == ()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("eye", "link5"), "no link or frame named 'link5'; did you mean 'link"),
        (("eye", 1), "no link or frame named 1; known: link1"),
        (("eye", True), "no link or frame named True"),
        (("link1", "link2"), "frame 'link1' bears the name of a link it is not fixed to"),
        (("old", "link2"), "frame name 'old' is used twice"),
        ((3, "link2"), "the name of a frame must be a string, not 3"),
        (("eye", "link2", np.eye(3)), r"pose: the homogeneous matrix of a pose must be numbers of"),
        (("eye", "link2", 2 * np.eye(4)), "pose: not a rigid placement"),
        (("eye", "link2", POSE, "never"), "check is 'error' or 'warn', not 'never'"),
    ],
)
def test_frames_that_cannot_be(arguments, message):
    with pytest.raises(ModelError, match=message):
        CHAIN.with_frame("old", "link1").with_frame(*arguments)


# Loads -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("frame", ["link1", "link2", "eye", "link4", None])
def test_a_load_has_its_own_kinetic_energy_and_weight(frame):
    """What the loaded arm has more: m v.v / 2 + w.I w / 2 of the load, and m g.p."""
    chain = CHAIN.with_frame("eye", "link3", POSE)
    mass, com = 2.0, np.array([0.1, -0.2, 0.3])
    inertia = np.array([[0.3, 0.01, 0.02], [0.01, 0.4, 0.03], [0.02, 0.03, 0.5]])
    loaded = chain.with_payload(mass, com, inertia, frame=frame)
    more = computed(loaded, "energy", Q, QD) - computed(chain, "energy", Q, QD)
    pose = np.array(kinematics.pose(chain.on(float), Q.tolist(), frame), float)
    velocity, w = np.split(computed(chain, "jacobian", Q, frame=frame) @ QD, 2)
    lever = pose[:3, :3] @ com
    v, turned = velocity + np.cross(w, lever), pose[:3, :3].T @ w
    kinetic = (mass * v @ v + turned @ inertia @ turned) / 2
    potential = -mass * np.array(chain.gravity) @ (pose[:3, 3] + lever)
    np.testing.assert_allclose(more, [kinetic, potential], rtol=1e-12)


def test_a_load_where_there_is_no_frame_or_nothing_moves_is_refused():
    chain = CHAIN.with_frame("plate", -1)
    with pytest.raises(ModelError, match="payload: frame 'plate' is fixed to the base, and never"):
        chain.with_payload(1.0, frame="plate")
    with pytest.raises(ModelError, match="no link or frame named 'plat'; did you mean 'plate'"):
        chain.with_payload(1.0, frame="plat")
    assert chain.with_payload(1.0, frame="link4") == chain.with_payload(1.0)  # its tip is E_4


# Friction and rotors -----------------------------------------------------------------------------


def test_friction_is_what_was_given():
    viscous, coulomb = [0.1, 0.2, 0.3, 0.4], [[-1.0, 2.0], [-3.0, 4.0], [-5.0, 6.0], [-7.0, 8.0]]
    chain = CHAIN.with_friction(viscous, coulomb)
    with_it = computed(chain, "inverse_dynamics", Q, QD, QDD, friction=True)
    loss = with_it - computed(CHAIN, "inverse_dynamics", Q, QD, QDD)
    expected = viscous * QD + np.where(QD < 0, *np.array(coulomb).T)
    np.testing.assert_allclose(loss, expected, rtol=0, atol=1e-12 * np.abs(with_it).max())


def test_what_is_not_given_of_friction_stays():
    rough = with_rotors(CHAIN)
    smooth = rough.with_friction(viscous=0.0)
    assert [j.viscous for j in smooth.joints] == [0.0] * 4
    assert [j.coulomb for j in smooth.joints] == [j.coulomb for j in rough.joints]
    even = rough.with_friction(coulomb=2.0)
    assert [j.coulomb for j in even.joints] == [(-2.0, 2.0)] * 4
    assert [j.viscous for j in even.joints] == [j.viscous for j in rough.joints]
    assert even.with_friction(viscous=1, coulomb=1).links == rough.links


def test_rotors_stand_on_the_diagonal():
    rotors = np.array([0.1, 0.2, 0.3, 0.4])
    more = computed(CHAIN.with_rotors(rotors), "mass_matrix", Q) - computed(CHAIN, "mass_matrix", Q)
    np.testing.assert_allclose(more, np.diag(rotors), rtol=0, atol=1e-12)
    assert CHAIN.with_rotors(0.5).with_rotors(rotors) == CHAIN.with_rotors(rotors)


def test_a_gear_reflects_the_motor_by_its_ratio_squared():
    """Kinetic energy of the motor: J (gear qd)^2 / 2."""
    geared = CHAIN.with_rotors([1e-4, 2e-4, 3e-4, 4e-4], gear=[100, -50, 1, 2])
    found = [joint.rotor_inertia for joint in geared.joints]
    np.testing.assert_allclose(found, [1.0, 0.5, 3e-4, 16e-4], rtol=1e-15)
    assert CHAIN.with_rotors(1e-4, 100) == CHAIN.with_rotors(1e-4 * 100.0**2)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: CHAIN.with_rotors(1, gear=[1, 0, 1, 1]), "gear is .*; expected finite ratios"),
        (lambda: CHAIN.with_rotors(1, gear=np.nan), "gear is nan; expected finite ratios"),
        (lambda: CHAIN.with_rotors(1, gear=[1, 2]), r"gear must be numbers of shape \(4,\)"),
        (lambda: CHAIN.with_rotors(1, gear=1e200), "rotor_inertia must be finite, not inf"),
        (lambda: CHAIN.with_friction(), "with_friction takes viscous=, coulomb=, or both"),
        (lambda: CHAIN.with_friction([1, 2]), r"viscous must be numbers of shape \(4,\), not \[1"),
        (lambda: CHAIN.with_friction(-1.0), "joint 'joint1': viscous must not be negative"),
        (lambda: CHAIN.with_friction(coulomb="x"), "coulomb must be numbers, not 'x'"),
        (
            lambda: CHAIN.with_friction(coulomb=[[1, 2]] * 4),
            "joint 'joint1': coulomb friction is .torque at negative speed <= 0",
        ),
        (lambda: CHAIN.with_friction(coulomb=[[0, 1]] * 3), r"coulomb must be numbers of shape"),
        (lambda: CHAIN.with_rotors([1, 2]), r"inertia must be numbers of shape \(4,\)"),
        (lambda: CHAIN.with_rotors(-1), "joint 'joint1': rotor_inertia must not be negative"),
        (lambda: CHAIN.with_rotors(np.nan), "rotor_inertia must be finite, not nan"),
        (lambda: CHAIN.with_rotors(1, check=3), "check is 'error' or 'warn', not 3"),
    ],
)
def test_friction_and_rotors_that_cannot_be(make, message):
    with pytest.raises(ModelError, match=message):
        make()
