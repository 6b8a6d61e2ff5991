"""Forces on the arm at a frame, given at the call: what the joints feel of them."""

import numpy as np
import pytest

from armdyn import Chain, MethodError, ModelError, Robot, ShapeError
from armdyn.algorithms import kinematics, wrenches
from armdyn.loaders import urdf
from armdyn.program.c import Function
from armdyn.quantities.tasks import Task, program
from tests.c_compiler import needs_compiler
from tests.test_export import bits, call, interpreted, joined, library, states
from tests.test_frames import KINDS, drawn

CHAIN = drawn("RPRRRR")
ROBOT = Robot(CHAIN)
RNG = np.random.default_rng(0)
Q, QD, QDD, TAU = RNG.uniform(-2, 2, (4, 5, 6))
WRENCH = RNG.normal(size=(5, 6))


@pytest.mark.parametrize("kinds", KINDS)
def test_the_power_of_a_wrench_is_that_of_the_torques_it_causes(kinds):
    """(J qd) . w = qd . felt, for any qd, at every frame: on the base it does no work."""
    chain = drawn(kinds)
    robot = Robot(chain)
    rng = np.random.default_rng(1)
    (q,), w = rng.uniform(-2, 2, (1, chain.n)), rng.normal(size=6)
    for frame in (*chain.frame_names, None):
        felt = np.array(wrenches.felt(chain.on(float), q.tolist(), w.tolist(), frame), float)
        power = w @ np.array(robot.jacobian(q, frame))  # of a unit speed of each joint
        np.testing.assert_allclose(felt, power, rtol=0, atol=1e-13 * chain.n)
        assert frame != "f-1" or not felt.any()


@pytest.mark.parametrize("frame", ["f-1", "f0", "f3", "f5", None])
@pytest.mark.parametrize("friction", [False, True])
def test_inverse_dynamics_is_spared_what_the_wrench_does(frame, friction):
    free = ROBOT.inverse_dynamics(Q, QD, QDD, friction=friction)
    found = ROBOT.inverse_dynamics(Q, QD, QDD, friction=friction, wrench=WRENCH, wrench_frame=frame)
    expected = free - np.einsum("kij,ki->kj", ROBOT.jacobian(Q, frame), WRENCH)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(free).max())


@pytest.mark.parametrize("method", ["ldl", "articulated-body"])
@pytest.mark.parametrize("friction", [False, True])
def test_forward_dynamics_undoes_inverse_dynamics_with_the_same_wrench(method, friction):
    push = {"wrench": WRENCH, "wrench_frame": "f4", "friction": friction}
    tau = ROBOT.inverse_dynamics(Q, QD, QDD, **push)
    qdd = ROBOT.forward_dynamics(Q, QD, tau, method=method, **push)
    np.testing.assert_allclose(qdd, QDD, rtol=0, atol=1e-9)


def test_a_weight_at_the_tip_is_a_wrench():
    """Another truth: the arm that carries a point mass, held still."""
    mass = 2.0
    still = np.zeros_like(Q)
    loaded = Robot(CHAIN.with_payload(mass, frame="f5"))
    weight = np.array([*(mass * np.array(CHAIN.gravity)), 0, 0, 0])
    found = ROBOT.inverse_dynamics(Q, still, still, wrench=weight, wrench_frame="f5")
    np.testing.assert_allclose(found, loaded.gravity(Q), rtol=0, atol=1e-11)


def test_against_pinocchio():
    """Its external forces are those on links: in the axes of the joint that moves them."""
    pinocchio = pytest.importorskip("pinocchio")
    from importlib import resources

    text = (resources.files("armdyn") / "models" / "ur5.urdf").read_text()
    robot = Robot(urdf.load(text, snap=0))
    model = pinocchio.buildModelFromXML(text)
    data, w = model.createData(), WRENCH[0]
    frame = robot.chain.frame_names[robot.n - 1]
    q, qd, qdd = RNG.uniform(-2, 2, (3, robot.n))
    pinocchio.framesForwardKinematics(model, data, q)
    placed, number = data.oMf[model.getFrameId(frame)], model.getFrameId(frame)
    at_origin = pinocchio.SE3(np.eye(3), placed.translation)
    force = at_origin.act(pinocchio.Force(w))  # about the base's origin
    forces = [pinocchio.Force.Zero() for _ in range(model.njoints)]
    joint = model.frames[number].parentJoint
    forces[joint] = data.oMi[joint].actInv(force)
    expected = pinocchio.rnea(model, data, q, qd, qdd, forces)
    found = robot.inverse_dynamics(q, qd, qdd, wrench=w, wrench_frame=frame)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)


# How it is given ---------------------------------------------------------------------------------


def test_wrenches_are_batched_and_broadcast_and_narrow():
    one = ROBOT.inverse_dynamics(Q[2], QD[2], QDD[2], wrench=WRENCH[2])
    many = ROBOT.inverse_dynamics(Q, QD, QDD, wrench=WRENCH)
    np.testing.assert_array_equal(many[2], one)
    spread = ROBOT.forward_dynamics(Q[0], QD[0], TAU[0], wrench=WRENCH[:, None])
    assert spread.shape == (5, 1, 6)
    alone = ROBOT.forward_dynamics(Q[0], QD[0], TAU[0], wrench=WRENCH[3])
    np.testing.assert_array_equal(spread[3, 0], alone)
    out = np.empty((5, 6))
    assert ROBOT.inverse_dynamics(Q, QD, QDD, wrench=WRENCH.tolist(), out=out) is out
    np.testing.assert_array_equal(out, many)
    narrow = [array.astype(np.float32) for array in (Q, QD, QDD)]
    assert ROBOT.inverse_dynamics(*narrow, wrench=WRENCH.astype(np.float32)).dtype == np.float32
    np.testing.assert_array_equal(Robot.inverse_dynamics(ROBOT, Q, QD, QDD, wrench=WRENCH), many)
    none = ROBOT.inverse_dynamics(Q, QD, QDD, wrench=None, wrench_frame=None)
    np.testing.assert_array_equal(none, ROBOT.inverse_dynamics(Q, QD, QDD))


def test_a_wrench_of_several_quantities_in_one_function():
    names = ("mass_matrix", "inverse_dynamics", "forward_dynamics")
    both = ROBOT.function(*names, arguments="wrench", wrench_frame="f4")
    M, tau, qdd = both(Q, QD, QDD, TAU, WRENCH)
    push = {"wrench": WRENCH, "wrench_frame": "f4"}
    np.testing.assert_allclose(M, ROBOT.mass_matrix(Q), rtol=1e-12)
    np.testing.assert_allclose(tau, ROBOT.inverse_dynamics(Q, QD, QDD, **push), atol=1e-11)
    np.testing.assert_allclose(qdd, ROBOT.forward_dynamics(Q, QD, TAU, **push), rtol=1e-8)


@pytest.mark.parametrize(
    "error, message, ask",
    [
        (
            ShapeError,
            r"wrench has shape \(3,\); expected \(..., 6\), fx, fy, fz, mx, my, mz in base axes",
            lambda: ROBOT.inverse_dynamics(Q, QD, QDD, wrench=np.zeros(3)),
        ),
        (
            ShapeError,
            "batch axes do not broadcast: q .*wrench",
            lambda: ROBOT.inverse_dynamics(Q, QD, QDD, wrench=np.zeros((2, 6))),
        ),
        (
            ShapeError,
            "wrench",
            lambda: ROBOT.forward_dynamics(Q, QD, TAU, wrench=1j * np.ones(6)),
        ),
        (
            ModelError,
            "no link or frame named 'f9'; known: link1",
            lambda: ROBOT.inverse_dynamics(Q, QD, QDD, wrench=WRENCH, wrench_frame="f9"),
        ),
        (
            MethodError,
            "method and frame are names, not wrench_frame=3",
            lambda: ROBOT.inverse_dynamics(Q, QD, QDD, wrench=WRENCH, wrench_frame=3),
        ),
        (
            MethodError,
            "wrench_frame='f5' without a wrench",
            lambda: ROBOT.forward_dynamics(Q, QD, TAU, wrench_frame="f5"),
        ),
        (
            MethodError,
            "wrench_frame='f5' without a wrench",
            lambda: ROBOT.function("inverse_dynamics", wrench_frame="f5"),
        ),
        (
            MethodError,
            "no argument 'wrensh' of inverse_dynamics; did you mean 'wrench'",
            lambda: ROBOT.function("inverse_dynamics", arguments=["wrensh"]),
        ),
        (
            MethodError,
            "no argument 'wrench' of bias",
            lambda: ROBOT.function("bias", arguments="wrench"),
        ),
        (
            MethodError,
            "bias does not take 'wrench' at the call; it takes payload, gravity, parameters",
            lambda: Task("bias", given=("wrench",)).settled(CHAIN),
        ),
        (TypeError, "no argument wrench", lambda: ROBOT.bias(Q, QD, wrench=WRENCH)),
    ],
)
def test_wrenches_that_cannot_be(error, message, ask):
    with pytest.raises(error, match=message):
        ask()


@needs_compiler
def test_c_equals_the_interpreter_bit_for_bit(tmp_path):
    for quantity in ("inverse_dynamics", "forward_dynamics"):
        task = Task(quantity, given=("wrench",), wrench_frame="f4").settled(CHAIN)
        function = Function(program(CHAIN, [task]), quantity, ["found"], "double")
        (tmp_path / quantity).mkdir()
        compiled = library(tmp_path / quantity, joined([function]))
        for state in states(function.program, 4):
            found = call(compiled, function, state)
            assert bits(found) == bits(interpreted(function.program, state))


def test_nothing_is_compiled_again_for_another_wrench(monkeypatch):
    robot = Robot(Chain.random(3))
    q = np.zeros(3)
    robot.inverse_dynamics(q, q, q, wrench=np.ones(6))
    monkeypatch.setattr("armdyn.engine.jit.compile", None)
    monkeypatch.setattr("armdyn.engine.cache.get", None)
    twice = robot.inverse_dynamics(q, q, q, wrench=2 * np.ones(6))
    np.testing.assert_allclose(
        twice - robot.inverse_dynamics(q, q, q, wrench=np.ones(6)),
        -np.ones(6) @ np.array(kinematics.jacobian(robot.chain.on(float), [0.0] * 3)),
        atol=1e-12,
    )
