"""Frames in motion: Jacobians in two kinds of axes, their rates, inertia at a frame."""

import dataclasses
from decimal import Decimal, localcontext
from importlib import resources

import numpy as np
import pytest

import armdyn
from armdyn import Chain, MethodError, ModelError, Robot, export
from armdyn.algorithms import kinematics, operational
from armdyn.chain import Frame
from armdyn.chain.pose import Pose
from armdyn.chain.random import STRUCTURES, _rotation
from armdyn.loaders import urdf
from armdyn.quantities import AXES
from armdyn.quantities.tasks import Task, formula
from tests.arms import with_rotors
from tests.sweeping import few
from tests.urdf_writer import write

MODELS = resources.files("armdyn") / "models"
SHIPPED = sorted(entry.name for entry in MODELS.iterdir() if entry.name.endswith(".urdf"))
KINDS = (
    "RRRRRR",
    "PRRRRR",
    "RPRRRR",
    "RRPRRR",
    "RRRPRR",
    "RRRRPR",
    "RRRRRP",
    "RRPPRRR",
    "PRPRRPRR",
)


def drawn(kinds, seed=3):
    """A random arm with rotors, a frame on each link, turned and shifted, and one on the base."""
    chain = Chain.random(len(kinds), kinds, seed, STRUCTURES[seed % len(STRUCTURES)])
    rng = np.random.default_rng(seed)
    frames = [
        Frame(f"f{link}", link, Pose.of(_rotation(rng.normal(size=(3, 3))), rng.normal(size=3)))
        for link in range(-1, chain.n)
    ]
    return with_rotors(dataclasses.replace(chain, frames=tuple(frames)))


def in_floats(chain, quantity, frame, axes, *state):
    function = formula(chain, float, Task(quantity, frame=frame, axes=axes))
    return np.array(function(*(x.tolist() for x in state)), float)


# Another library ---------------------------------------------------------------------------------


def check_against_pinocchio(text, chain, seed):
    """Every frame of an arm that Pinocchio knows too, the base's own among them."""
    pinocchio = pytest.importorskip("pinocchio")
    from tests.test_pinocchio import configuration, reduced

    model = reduced(text, chain.locked)
    data = model.createData()
    q, qd = np.random.default_rng(seed).uniform(-3, 3, (2, chain.n))
    full, rest = configuration(model, q), np.zeros(chain.n)
    pinocchio.computeJointJacobiansTimeVariation(model, data, full, qd)
    pinocchio.forwardKinematics(model, data, full, qd, rest)
    pinocchio.updateFramePlacements(model, data)
    seen = {"base": pinocchio.LOCAL_WORLD_ALIGNED, "frame": pinocchio.LOCAL}
    variation = pinocchio.getFrameJacobianTimeVariation
    for frame in chain.frame_names:
        number = model.getFrameId(frame)
        for axes, kind in seen.items():
            of_velocity = pinocchio.getFrameAcceleration  # of the components in turning axes
            classical = pinocchio.getFrameClassicalAcceleration
            bias = (classical if axes == "base" else of_velocity)(model, data, number, kind)
            truth = {
                "jacobian": pinocchio.getFrameJacobian(model, data, number, kind),
                "jacobian_derivative": variation(model, data, number, kind),
                "acceleration_bias": bias.vector,
            }
            for quantity, expected in truth.items():
                state = (q, qd) if quantity != "jacobian" else (q,)
                found = in_floats(chain, quantity, frame, axes, *state)
                scale = max(1.0, np.abs(expected).max())
                expected = expected.reshape(found.shape)
                np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * scale)
    return len(chain.frame_names)


@pytest.mark.parametrize("file", SHIPPED)
def test_frames_of_shipped_arms_against_pinocchio(file):
    text = (MODELS / file).read_text()
    chain = urdf.load(text, snap=0)
    assert check_against_pinocchio(text, chain, 1) >= chain.n


@pytest.mark.parametrize("kinds", KINDS)
def test_frames_of_random_arms_against_pinocchio(kinds):
    text = write(Chain.random(len(kinds), kinds, seed=8), seed=2)
    chain = urdf.load(text, tip="tip", snap=0)
    assert {"base", "mount", "tip"} <= set(chain.frame_names)  # on the base, and beyond the last
    check_against_pinocchio(text, chain, 2)


# Laws --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kinds", KINDS)
def test_axes_of_the_frame_are_those_of_its_pose(kinds):
    chain = drawn(kinds)
    q = np.random.default_rng(0).uniform(-3, 3, chain.n)
    for frame in chain.frame_names:
        R = in_floats_pose(chain, frame, q)[:3, :3]
        J, local = (in_floats(chain, "jacobian", frame, axes, q) for axes in AXES)
        np.testing.assert_allclose(R @ local[:3], J[:3], rtol=0, atol=1e-14 * chain.n)
        np.testing.assert_allclose(R @ local[3:], J[3:], rtol=0, atol=1e-14 * chain.n)


def in_floats_pose(chain, frame, q):
    return np.array(kinematics.pose(chain.on(float), q.tolist(), frame), float)


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("kinds", KINDS)
def test_the_derivative_is_the_slope_of_the_jacobian(kinds, axes):
    """By differences in fifty digits, for every frame; and dJ/dt qd is the acceleration bias."""
    chain = drawn(kinds)
    q, qd = np.random.default_rng(1).uniform(-2, 2, (2, chain.n))
    for frame in ("f-1", "f0", f"f{chain.n - 2}", f"f{chain.n - 1}", None):
        Jd = in_floats(chain, "jacobian_derivative", frame, axes, q, qd)
        with localcontext(prec=50):
            step = Decimal("1e-18")
            arm = chain.on(Decimal)
            ahead, behind = (
                kinematics.jacobian(
                    arm,
                    [Decimal(x) + side * step * Decimal(v) for x, v in zip(q, qd, strict=True)],
                    frame,
                    axes,
                )
                for side in (1, -1)
            )
            slope = [
                [float((Decimal(a) - Decimal(b)) / (2 * step)) for a, b in zip(*rows, strict=True)]
                for rows in zip(ahead, behind, strict=True)
            ]
        scale = max(1.0, np.abs(slope).max())
        np.testing.assert_allclose(Jd, slope, rtol=0, atol=1e-14 * chain.n * scale)
        bias = in_floats(chain, "acceleration_bias", frame, axes, q, qd)
        np.testing.assert_allclose(bias, Jd @ qd, rtol=0, atol=1e-13 * chain.n * scale)


def test_the_acceleration_bias_of_two_links_is_centripetal():
    """In closed form: both links straight, turning at speeds 1 and 2 about the same direction."""
    chain = armdyn.load("two_link").chain
    at = Pose(translation=(0.7, 0.0, 0.0))
    chain = dataclasses.replace(chain, frames=(*chain.frames, Frame("point", 1, at)))
    length = chain.joints[1].b
    bias = Robot(chain).acceleration_bias([0.0, 0.0], [1.0, 2.0], "point")
    inward = -(length * 1.0**2 + 0.7 * 3.0**2)
    J = Robot(chain).jacobian([0.0, 0.0], "point")
    along = np.array(Robot(chain).pose([0.0, 0.0], "point")[:3, 0])  # the direction of the links
    np.testing.assert_allclose(bias[:3], inward * along, rtol=0, atol=1e-14)
    assert not bias[3:].any() and J[3:].any()


# Inertia at a frame ------------------------------------------------------------------------------


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("kinds", few(KINDS, 0, 3))
def test_the_inverse_is_the_jacobian_through_the_mass_matrix(kinds, axes):
    """J M^-1 J^T with rotors, on every frame; Lambda is its inverse where it has one."""
    chain = drawn(kinds)
    robot = Robot(chain)
    q = np.random.default_rng(2).uniform(-2, 2, (3, chain.n))
    M = robot.mass_matrix(q)
    for frame in ("f-1", f"f{chain.n - 3}", f"f{chain.n - 1}", None):
        J = robot.jacobian(q, frame, axes=axes)
        expected = J @ np.linalg.solve(M, J.mT)
        A = robot.operational_space_inertia_inverse(q, frame, axes=axes)
        scale = max(1e-300, np.abs(expected).max())
        np.testing.assert_allclose(A, expected, rtol=0, atol=1e-12 * scale)
        np.testing.assert_array_equal(A, A.mT)
    Lambda = robot.operational_space_inertia(q, axes=axes)
    size = np.linalg.norm(Lambda, axis=(1, 2)) * np.linalg.norm(A, axis=(1, 2))
    assert (np.abs(Lambda @ A - np.eye(6)).max(axis=(1, 2)) < 1e-14 * size).all()
    np.testing.assert_array_equal(Lambda, Lambda.mT)


def test_a_wrench_accelerates_the_frame_by_the_inverse():
    """By forward dynamics alone: at rest, without gravity, torques J^T w bring about J qdd."""
    chain = drawn("RRPRRRR").with_gravity((0, 0, 0))
    robot, rng = Robot(chain), np.random.default_rng(3)
    q, w = rng.uniform(-2, 2, chain.n), rng.normal(size=6)
    J = robot.jacobian(q, "f5")
    qdd = robot.forward_dynamics(q, np.zeros(chain.n), J.T @ w, method="articulated-body")
    np.testing.assert_allclose(
        robot.operational_space_inertia_inverse(q, "f5") @ w, J @ qdd, rtol=1e-10, atol=1e-12
    )


def test_the_inertia_of_a_free_body_on_six_joints_is_its_own():
    """A gantry of massless slides with a massless wrist carries one body: Lambda is its inertia."""
    mass, moments = 3.0, np.array([0.3, 0.4, 0.5])
    turn = np.pi / 2
    chain = Chain.from_mdh(
        b=np.zeros(6),
        beta=[0, turn, turn, turn, turn, turn],
        d=np.zeros(6),
        theta=[0, turn, turn, 0, turn, 0],
        joints="PPPRRR",
        mass=[0, 0, 0, 0, 0, mass],
        inertia=[np.zeros(3)] * 5 + [moments],
        check="warn",
    )
    robot = Robot(chain)
    q = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    Lambda = robot.operational_space_inertia(q, axes="frame")
    np.testing.assert_allclose(Lambda, np.diag([mass] * 3 + [*moments]), rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", ["panda", "ur5", "puma560", "kinova", "stanford", "xarm7"])
def test_singular_postures_have_no_finite_inertia(name):
    """Stretched out, or folded at right angles: no number passes for an inertia."""
    robot = armdyn.load(name)
    rng = np.random.default_rng(4)
    quarters = rng.integers(-2, 3, (200, robot.n)) * (np.pi / 2)
    least = np.linalg.svd(robot.jacobian(quarters), compute_uv=False)[:, 5]
    singular = least < 1e-13
    assert singular.any()
    Lambda = robot.operational_space_inertia(quarters)
    assert not np.isfinite(Lambda[singular]).any()
    assert np.isfinite(Lambda[least > 1e-3]).all()
    assert np.isfinite(robot.operational_space_inertia_inverse(quarters)).all()
    regular = rng.uniform(-2, 2, (200, robot.n))
    assert np.isfinite(robot.operational_space_inertia(regular)).all()


@pytest.mark.parametrize(
    "chain, frame, message",
    [
        (Chain.random(5), None, "5 of its joints move the frame, and six directions take six"),
        (Chain.random(7), "link4", "4 of its joints move the frame"),
        (Chain.random(7, structure="parallel"), None, "its joints move the frame in fewer than"),
        (Chain.random(6, "PPPPPP"), None, "its joints move the frame in fewer than six direct"),
    ],
    ids=["five joints", "link 4", "parallel", "slides"],
)
def test_where_there_is_no_inertia_at_a_frame_is_said(chain, frame, message):
    robot, q = Robot(chain), np.zeros(chain.n)
    with pytest.raises(
        MethodError, match=f"{chain.name}' has no operational_space_inertia: {message}"
    ):
        robot.operational_space_inertia(q, frame)
    assert np.isfinite(robot.operational_space_inertia_inverse(q, frame)).all()
    if frame is None:
        with pytest.raises(MethodError, match=message):
            export.c_files(chain, ["operational_space_inertia"])


def test_refusals_do_not_depend_on_the_unit_of_length():
    """An arm a thousand times smaller moves in six directions, too."""
    small = Chain.random(6)
    joints = [dataclasses.replace(j, b=1e-6 * j.b, d=1e-6 * j.d) for j in small.joints]
    tip = Pose(small.tip.rotation, tuple(1e-6 * np.array(small.tip.translation)))
    small = dataclasses.replace(small, joints=tuple(joints), tip=tip)
    assert operational.refuses(small.on(float), None) is None


@pytest.mark.parametrize("n", [operational.MANY, operational.MANY + 1])
def test_large_arms_have_it_too(n, interpreted):
    """By the mass matrix, and by articulated bodies; with rotors."""
    robot = Robot(with_rotors(Chain.random(n, ("RRRPRRR" * n)[:n], seed=2)))
    q = np.random.default_rng(5).uniform(-2, 2, n)
    J = robot.jacobian(q)
    A = J @ np.linalg.solve(robot.mass_matrix(q), J.T)
    found = robot.operational_space_inertia_inverse(q)
    np.testing.assert_allclose(found, A, rtol=0, atol=1e-11 * np.abs(A).max())


# How they are asked for --------------------------------------------------------------------------


@pytest.mark.parametrize("axes", ["local", "Base", "", None, 3, True, ["frame"], np.array("frame")])
def test_other_axes_are_refused(axes):
    robot = Robot(Chain.random(3))
    with pytest.raises(MethodError, match="axes is .*; expected 'base' or 'frame'"):
        robot.jacobian(np.zeros(3), axes=axes)
    with pytest.raises(MethodError, match="axes is .*; expected 'base' or 'frame'"):
        Robot.jacobian(robot, np.zeros(3), axes=axes)


@pytest.mark.parametrize("axes", ["world", "local"])
def test_foreign_axes_are_explained(axes):
    options = "LOCAL_WORLD_ALIGNED.*LOCAL.*WORLD is not offered"
    with pytest.raises(MethodError, match=options):
        Robot(Chain.random(3)).jacobian(np.zeros(3), axes=axes)
    with pytest.raises(MethodError, match=options):
        Robot(Chain.random(3)).function("bias", "jacobian", axes=axes)


@pytest.mark.parametrize("axes", AXES)
def test_a_function_of_several_quantities_takes_a_frame(axes):
    robot = armdyn.load("panda")
    q, qd = np.random.default_rng(0).uniform(-1, 1, (2, 5, 7))
    where = {"frame": "panda_hand", "axes": axes}
    names = "bias", "operational_space_inertia", "pose", "acceleration_bias"
    found = robot.function(*names, **where)(q, qd)
    expected = (
        robot.bias(q, qd),
        robot.operational_space_inertia(q, **where),
        robot.pose(q, "panda_hand"),
        robot.acceleration_bias(q, qd, **where),
    )
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "quantities, options, said",
    [
        (
            ("bias", "gravity"),
            {"frame": "tool"},
            "frame='tool' has no effect: none of bias, gravity",
        ),
        (("bias", "gravity"), {"frame": "tool"}, "; pose, jacobian, .*influence do$"),
        (("bias", "pose"), {"axes": "frame"}, "axes='frame' has no effect: none of bias, pose"),
        (("bias", "pose"), {"frame": "tool"}, "no link or frame named 'tool'"),
        (("bias", "pose"), {"frame": 3}, "method and frame are names, not frame=3"),
        (("bias", "mass"), {"frame": "tool"}, "no quantity 'mass'"),
    ],
)
def test_a_frame_that_a_function_does_not_take(quantities, options, said):
    with pytest.raises(armdyn.ArmdynError, match=said):
        Robot(Chain.random(3)).function(*quantities, **options)


def test_frames_that_do_not_exist_are_refused():
    robot = Robot(Chain.random(6))
    with pytest.raises(ModelError, match="no link or frame named 'link7'; did you mean 'link"):
        robot.acceleration_bias(np.zeros(6), np.zeros(6), "link7", axes="frame")
    with pytest.raises(ModelError, match="no link or frame named 'tool'"):
        robot.operational_space_inertia(np.zeros(6), frame="tool")


def test_axes_are_base_unless_asked_and_frames_may_be_given_by_place():
    chain = drawn("RRPRRR")
    robot = Robot(chain)
    q, qd = np.random.default_rng(6).uniform(-2, 2, (2, 4, 6))
    for name in ("jacobian", "operational_space_inertia", "operational_space_inertia_inverse"):
        function = getattr(robot, name)
        np.testing.assert_array_equal(function(q, "f5"), function(q, frame="f5", axes="base"))
        assert np.abs(function(q, "f5") - function(q, "f5", axes="frame")).max() > 1e-3
    for name in ("jacobian_derivative", "acceleration_bias"):
        function = getattr(robot, name)
        np.testing.assert_array_equal(function(q, qd, "f5"), function(q, qd, "f5", axes="base"))
        one = function(q[1], qd[1], "f5", axes="frame")
        np.testing.assert_array_equal(function(q, qd, "f5", axes="frame")[1], one)


def test_they_share_one_function_and_are_counted():
    robot = armdyn.load("panda")
    names = (
        "jacobian",
        "jacobian_derivative",
        "acceleration_bias",
        "operational_space_inertia_inverse",
    )
    q, qd = np.random.default_rng(7).uniform(-2, 2, (2, 5, 7))
    J, Jd, bias, A = robot.function(*names)(q, qd)
    np.testing.assert_allclose(J, robot.jacobian(q), rtol=0, atol=1e-14)
    np.testing.assert_allclose(Jd, robot.jacobian_derivative(q, qd), rtol=0, atol=1e-13)
    np.testing.assert_allclose(bias, robot.acceleration_bias(q, qd), rtol=0, atol=1e-13)
    np.testing.assert_allclose(
        A, robot.operational_space_inertia_inverse(q), rtol=1e-11, atol=1e-12
    )
    for kind in ("literal", "folded", "shared", "program"):
        costs = {name: armdyn.count(robot, name, kind=kind).cost for name in names}
        product = 6 * (2 * robot.n - 1)
        assert costs["acceleration_bias"] < costs["jacobian_derivative"] + product
        assert costs["jacobian"] < costs["jacobian_derivative"] < costs[names[3]]
    with pytest.raises(MethodError, match="jacobian has one method only; it cannot be 'crba'"):
        armdyn.count(robot, "jacobian", "crba")
    with pytest.raises(
        MethodError, match="two_link' has no operational_space_inertia: 2 of its joints"
    ):
        armdyn.count(armdyn.load("two_link"), "operational_space_inertia")
