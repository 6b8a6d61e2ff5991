"""Robot: shapes, kinds of arrays, frames, friction, and what is refused."""

import copy
import pickle
import re
import sys

import numpy as np
import pytest

import armdyn
from armdyn import ArmdynError, Chain, MethodError, ModelError, Robot, ShapeError, engine
from armdyn.chain import Frame
from armdyn.chain.pose import Pose
from armdyn.engine import traced
from armdyn.program import tape
from armdyn.quantities import tasks
from armdyn.robot import fixed
from tests.arms import with_rotors

N = 4
ROBOT = Robot(with_rotors(Chain.random(N, "RPRR", seed=1)))
SHAPES = {
    "mass_matrix": ("q", (N, N)),
    "bias": ("q qd", (N,)),
    "gravity": ("q", (N,)),
    "christoffel": ("q", (N, N, N)),
    "coriolis_matrix": ("q qd", (N, N)),
    "inverse_dynamics": ("q qd qdd", (N,)),
    "forward_dynamics": ("q qd tau", (N,)),
    "pose": ("q", (4, 4)),
    "jacobian": ("q", (6, N)),
    "regressor": ("q qd qdd", (N, 10 * N)),
    "minimal_regressor": ("q qd qdd", (N, len(ROBOT.minimal_parameters()))),
}


def states(quantity, *batch, seed=0):
    arguments = SHAPES[quantity][0].split()
    return list(np.random.default_rng(seed).uniform(-1, 1, (len(arguments), *batch, N)))


@pytest.mark.parametrize("quantity", SHAPES)
def test_batch_axes_lead_and_each_state_stands_alone(quantity):
    function, shape = getattr(ROBOT, quantity), SHAPES[quantity][1]
    batch = states(quantity, 2, 3)
    result = function(*batch)
    assert result.shape == (2, 3, *shape) and result.dtype == np.float64
    alone = function(*(x[1, 2] for x in batch))
    np.testing.assert_array_equal(result[1, 2], alone)
    assert function(*(x[:, :0] for x in batch)).shape == (2, 0, *shape)


@pytest.mark.parametrize("quantity", SHAPES)
def test_lists_integers_float32_and_out_are_accepted(quantity):
    function, shape = getattr(ROBOT, quantity), SHAPES[quantity][1]
    batch = states(quantity, 5)
    expected = function(*batch)
    np.testing.assert_array_equal(function(*(x.tolist() for x in batch)), expected)
    whole = [np.ones(N, int)] * len(batch)
    np.testing.assert_array_equal(function(*whole), function(*(x.astype(float) for x in whole)))
    narrow = function(*(x.astype(np.float32) for x in batch))
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(narrow, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
    out = np.empty((5, *shape))
    assert function(*batch, out=out) is out
    np.testing.assert_array_equal(out, expected)


def test_arguments_broadcast():
    q, qd = np.zeros((3, 1, N)), np.ones((2, N))
    assert ROBOT.bias(q, qd).shape == (3, 2, N)
    np.testing.assert_array_equal(ROBOT.bias(q, qd)[2, 1], ROBOT.bias(np.zeros(N), np.ones(N)))


@pytest.mark.parametrize("quantity", SHAPES)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_stays_in_its_own_state(quantity, bad):
    batch = states(quantity, 3)
    clean = getattr(ROBOT, quantity)(*batch)
    batch[0][1, 2] = bad
    result = getattr(ROBOT, quantity)(*batch)
    np.testing.assert_array_equal(result[[0, 2]], clean[[0, 2]])
    assert np.isnan(result[1]).any()


REFUSED = {
    "one joint too many": (lambda: ROBOT.mass_matrix(np.zeros(5)), r"q has shape \(5,\).*4"),
    "a single number": (lambda: ROBOT.gravity(0.5), r"q has shape \(\)"),
    "transposed batch": (lambda: ROBOT.gravity(np.zeros((N, 3))), r"q has shape \(4, 3\)"),
    "qd too short": (lambda: ROBOT.bias(np.zeros(N), np.zeros(3)), r"qd has shape \(3,\)"),
    "batches that clash": (
        lambda: ROBOT.bias(np.zeros((2, N)), np.zeros((3, N))),
        r"q \(2, 4\), qd \(3, 4\)",
    ),
    "complex": (lambda: ROBOT.gravity(np.zeros(N, complex)), "q has dtype complex128"),
    "strings": (lambda: ROBOT.gravity(["a"] * N), "q has dtype <U1"),
    "objects": (lambda: ROBOT.gravity([None] * N), "q has dtype object"),
    "booleans": (lambda: ROBOT.gravity([True] * N), "q has dtype bool"),
    "ragged": (lambda: ROBOT.gravity([[0.0], [0.0, 1.0]]), "q is ragged"),
    "out of another shape": (
        lambda: ROBOT.gravity(np.zeros(N), out=np.empty(3)),
        r"out is float64 \(3,\); expected a float64 array of shape \(4,\)",
    ),
    "out of another dtype": (
        lambda: ROBOT.gravity(np.zeros(N), out=np.empty(N, np.float32)),
        "out is float32",
    ),
    "out is a list": (lambda: ROBOT.gravity(np.zeros(N), out=[0.0] * N), "out is \\[0.0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_arrays_are_refused_by_name(case):
    call, message = REFUSED[case]
    with pytest.raises(ShapeError, match=message):
        call()


def test_out_must_not_overlap_an_input_or_be_read_only():
    q = np.zeros(N)
    with pytest.raises(ShapeError, match="out overlaps q"):
        ROBOT.gravity(q, out=q)
    locked = np.zeros(N)
    locked.flags.writeable = False
    with pytest.raises(ShapeError, match="read-only"):
        ROBOT.gravity(q, out=locked)


def test_unknown_names_are_refused_with_the_known_ones():
    with pytest.raises(MethodError, match="no method 'magic'.*newton-euler"):
        ROBOT.mass_matrix(np.zeros(N), method="magic")
    with pytest.raises(MethodError, match="no quantity 'mass'"):
        ROBOT.methods("mass")
    with pytest.raises(ModelError, match="no link or frame named 'gripper'.*link1"):
        ROBOT.pose(np.zeros(N), "gripper")
    with pytest.raises(TypeError, match="takes a Chain"):
        Robot("puma560")


WRONG_OPTIONS = {
    "a method that is an array": (dict(method=np.zeros(3)), r"names, not method=array\(\[0\."),
    "a method that is a list": (dict(method=["crba"]), r"names, not method=\['crba'\]"),
    "a method that is a number": (dict(method=3), "names, not method=3"),
    "friction that is an array": (
        dict(friction=np.ones(N)),
        r"friction is array\(\[1.*True or False",
    ),
    "friction that is a word": (dict(friction="no"), "friction is 'no'; expected True or False"),
    "a large array": (dict(method=np.zeros((500, 500))), "names, not method=array"),
}


@pytest.mark.parametrize("case", WRONG_OPTIONS)
def test_options_of_another_kind_are_refused(case):
    options, message = WRONG_OPTIONS[case]
    q = np.zeros(N)
    for call in ROBOT.inverse_dynamics, lambda *a, **k: Robot.inverse_dynamics(ROBOT, *a, **k):
        with pytest.raises(MethodError, match=message) as caught:
            call(q, q, q, **options)
        assert len(str(caught.value)) < 600


@pytest.mark.parametrize("frame", [np.zeros(N), ["link1"], 3, np.array(["link1"])], ids=repr)
def test_a_frame_is_a_name(frame):
    q = np.zeros(N)
    for call in (
        lambda: ROBOT.pose(q, frame),
        lambda: ROBOT.pose(q, frame=frame),
        lambda: ROBOT.influence(q, frame),
        lambda: Robot.jacobian(ROBOT, q, frame),
    ):
        with pytest.raises(MethodError, match=r"method and frame are names, not frame="):
            call()


def test_options_may_be_numpys():
    q = np.ones(N)
    name, yes = np.array(["link2"])[0], np.array([True])[0]
    np.testing.assert_array_equal(ROBOT.pose(q, name), ROBOT.pose(q, "link2"))
    np.testing.assert_array_equal(
        ROBOT.inverse_dynamics(q, q, q, friction=yes),
        ROBOT.inverse_dynamics(q, q, q, friction=True),
    )


def test_wrong_names_leave_nothing_behind():
    robot, q = Robot(ROBOT.chain), np.zeros(N)
    robot.pose(q), robot.mass_matrix(q)
    before = len(robot._functions)
    for k in range(20):
        with pytest.raises(ModelError):
            robot.pose(q, f"gripper{k}")
        with pytest.raises(MethodError):
            robot.mass_matrix(q, method=f"magic{k}")
    assert len(robot._functions) == before
    assert not any(robot.pose.chosen.values()) and not any(robot.mass_matrix.chosen.values())


def test_a_misspelt_quantity_is_guessed():
    with pytest.raises(MethodError, match="no quantity 'mas_matrix'; did you mean 'mass_matrix'"):
        ROBOT.function("mas_matrix")


def test_limits_of_speed_and_effort():
    """As the Panda's maker prints them, in rad/s and N m; a random arm has none."""
    panda = armdyn.load("panda")
    assert panda.effort_limits.tolist() == [87, 87, 87, 87, 12, 12, 12]
    assert panda.velocity_limits.tolist() == [2.175] * 4 + [2.61] * 3
    assert ROBOT.velocity_limits.tolist() == ROBOT.effort_limits.tolist() == [np.inf] * N
    assert ROBOT.velocity_limits.dtype == ROBOT.effort_limits.dtype == float


def test_energy_and_influence_take_out_and_threads():
    q, qd = states("bias", 5)
    for function, given in ((ROBOT.energy, (q, qd)), (ROBOT.influence, (q,))):
        results = function(*given)
        out = tuple(np.full_like(result, np.nan) for result in results)
        assert function(*given, out=out, threads=2) is out
        for one, other in zip(out, results, strict=True):
            np.testing.assert_array_equal(one, other)
    kinetic, potential = ROBOT.energy(q[0], qd[0])
    assert isinstance(kinetic, float) and isinstance(potential, float)


def test_a_quantity_has_its_options_whoever_asked_first():
    robot, q = Robot(ROBOT.chain), np.ones(N)
    robot.function("pose")(q)
    np.testing.assert_array_equal(robot.pose(q, "link2"), ROBOT.pose(q, "link2"))
    Robot.jacobian(robot, q)
    np.testing.assert_array_equal(robot.jacobian(q, "link2"), ROBOT.jacobian(q, "link2"))


def test_friction_only_where_asked():
    q, qd, qdd = states("inverse_dynamics", 6)
    qd[0, 1] = 0.0
    viscous, (negative, positive) = 0.5, (-0.3 - np.arange(N), 0.4 + np.arange(N))
    friction = viscous * qd + np.select([qd > 0, qd < 0], [positive, negative], 0.0)
    tau = ROBOT.inverse_dynamics(q, qd, qdd, friction=True)
    np.testing.assert_allclose(tau - ROBOT.inverse_dynamics(q, qd, qdd), friction, atol=1e-12)
    back = ROBOT.forward_dynamics(q, qd, tau, friction=True)
    np.testing.assert_allclose(back, qdd, atol=1e-9)


def test_frames_and_links_by_name():
    chain = Chain.random(3, seed=4)
    tool = Frame("tool", 2, chain.tip @ Pose.mdh(0.1, 0.2, 0.3, 0.4))
    robot = Robot(
        Chain(
            chain.name,
            chain.joints,
            chain.links,
            chain.base,
            frames=(tool, Frame("plate", -1, Pose.mdh(0, 0, 1, 2))),
        )
    )
    q = np.array([0.1, 0.2, 0.3])
    np.testing.assert_allclose(robot.pose(q, "tool"), robot.pose(q, "link3") @ tool.pose.matrix)
    np.testing.assert_array_equal(robot.pose(q, "plate"), Pose.mdh(0, 0, 1, 2).matrix)
    assert not robot.jacobian(q, "plate").any()
    assert not robot.jacobian(q, "link2")[:, 2].any()
    assert robot.jacobian(q, "link2")[:, 1].any()


def test_robots_pickle_compare_and_print():
    again = pickle.loads(pickle.dumps(ROBOT))
    assert again == ROBOT and hash(again) == hash(ROBOT)
    np.testing.assert_array_equal(again.gravity(np.ones(N)), ROBOT.gravity(np.ones(N)))
    mass = ROBOT.chain.parameters_in("pinocchio")[:, 0].sum()
    assert repr(ROBOT) == f"Robot('generic-RPRR-1', RPRR, {mass:.3g} kg)"
    assert ROBOT.n == 4 and ROBOT.joint_names == ("joint1", "joint2", "joint3", "joint4")
    assert ROBOT.position_limits.shape == (4, 2) and ROBOT.locked == {} and ROBOT.notes == ()
    assert issubclass(ShapeError, ArmdynError) and issubclass(ShapeError, ValueError)


@pytest.mark.parametrize("quantity", ["mass_matrix", "bias", "gravity", "forward_dynamics"])
def test_no_program_is_traced_twice(quantity, monkeypatch):
    """Neither to choose the cheapest method nor to compile it, for one state and for many."""
    traced = []

    def record(function, inputs, name):
        traced.append(tape.record(function, inputs, name))
        return traced[-1]

    monkeypatch.setattr(tasks, "record", record)
    robot = Robot(Chain.random(3, "RPR", seed=len(quantity)))
    function = getattr(robot, quantity)
    function(*np.zeros((len(function.arguments), 3)))
    function(*np.zeros((len(function.arguments), 2, 3)))
    texts = [str(program) for program in traced]
    assert len(texts) == len(set(texts)) > 1


# Compiled before it is needed ---------------------------------------------------------------------


@pytest.fixture
def compiled(monkeypatch):
    """The kernels that are compiled or loaded while a test runs."""
    found, make = [], engine.Code.__call__
    monkeypatch.setattr(
        engine.Code, "__call__", lambda *given: found.append(given[1:]) or make(*given)
    )
    return found


@pytest.mark.parametrize(
    "quantity, options",
    [
        ("inverse_dynamics", {}),
        ("inverse_dynamics", {"friction": True, "payload": [1.0] + [0.0] * 9}),
        ("jacobian", {"frame": "link2", "axes": "frame"}),
        ("mass_matrix", {"method": "crba"}),
        ("energy", {"gravity": [0.0, 0.0, -1.62]}),
    ],
)
def test_after_a_warm_up_no_call_compiles(quantity, options, compiled):
    robot = Robot(ROBOT.chain)  # which has compiled nothing yet
    assert robot.warm_up(quantity, batch=True, **options) is None
    assert set(compiled) == {("single", "float64"), ("batch", "float64")}
    count, state = len(compiled), states(quantity) if quantity in SHAPES else states("bias")
    for batch in ((), (1,), (2,), (3,), (100,)):
        getattr(robot, quantity)(*(np.broadcast_to(x, (*batch, N)) for x in state), **options)
    assert len(compiled) == count


def test_a_warm_up_compiles_what_it_is_asked_for(compiled):
    robot = Robot(ROBOT.chain)
    robot.warm_up("gravity", "bias")
    assert compiled == [("single", "float64")] * 2
    robot.gravity(np.zeros((3, N)))
    assert compiled[2:] == [("batch", "float64")]
    robot.warm_up("mass_matrix", batch=200_000)
    assert [kind for kind, _ in compiled[3:]] in (["single", "stream"], ["single", "batch"])


@pytest.mark.parametrize(
    "given, options, said",
    [
        ((), {}, "warm_up.. takes the names of quantities, at least one"),
        (("gravty",), {}, "no quantity 'gravty'; did you mean 'gravity'"),
        (("gravity",), {"batch": -1}, "batch is -1; expected a whole number"),
        (("gravity",), {"batch": np.zeros(0)}, "batch is array.*; expected a whole number"),
        (("gravity",), {"method": "x"}, "no method 'x'"),
    ],
)
def test_a_warm_up_of_nothing_is_refused(given, options, said):
    with pytest.raises(MethodError, match=said):
        ROBOT.warm_up(*given, **options)


# What does not change -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, instead",
    [
        ("tool", "with_frame"),
        ("gravity_vector", "with_gravity"),
        ("gravity", "gravity= at the call"),
        ("payload", "payload= at the call"),
        ("rotor_inertia", "with_rotors"),
        ("chain", "with_payload, with_frame, with_friction, with_rotors and with_gravity"),
    ],
)
def test_no_attribute_can_be_set(name, instead):
    robot = armdyn.load("two_link")
    with pytest.raises(AttributeError, match=f"{name!r} cannot be set.*{instead}"):
        setattr(robot, name, np.eye(4))
    with pytest.raises(AttributeError, match=f"{name!r} cannot be deleted"):
        delattr(robot, name)
    assert robot == armdyn.load("two_link")


def test_copies_of_a_robot_are_robots():
    robot = armdyn.load("two_link")
    robot.gravity([0.1, 0.2])  # which has a compiled function by now
    for twin in (pickle.loads(pickle.dumps(robot)), copy.copy(robot), copy.deepcopy(robot)):
        assert twin == robot
        np.testing.assert_array_equal(twin.gravity([0.1, 0.2]), robot.gravity([0.1, 0.2]))


@pytest.mark.parametrize("name", ["position_limits", "velocity_limits", "effort_limits"])
def test_limits_are_read_only(name):
    with pytest.raises(ValueError, match="read-only"):
        getattr(ROBOT, name)[0] = 5


@pytest.mark.parametrize(
    "name, instead",
    [
        ("rnea", r"robot.inverse_dynamics\(q, qd, qdd\)"),
        ("fkine", r"robot.pose\(q\)"),
        ("linearize", r"armdyn.linearize\(robot, ...\)"),
        ("inertia_matrix", r"robot.mass_matrix\(q\)"),
        ("forwardKinematics", r"robot.pose\(q\)"),
        ("computeJointTorquesRegressor", r"robot.regressor\(q, qd, qdd\)"),
        ("link_names", "robot.chain.frame_names"),
        ("collision", "does not look for collisions"),
        ("speed_limits", "robot.velocity_limits"),
        ("limits", "robot.position_limits"),
        ("operational_inertia", r"robot.operational_space_inertia\(q\)"),
        ("parameters", "robot.chain.parameters"),
        ("frame_names", "robot.chain.frame_names"),
        ("mass_matrx", "did you mean 'mass_matrix'"),
        ("qqqqqqqq", "no attribute 'qqqqqqqq'$"),
        ("_rnea", "no attribute '_rnea'$"),
    ],
)
def test_the_error_for_a_foreign_name_states_the_call(name, instead):
    with pytest.raises(AttributeError, match=instead):
        getattr(ROBOT, name)


@pytest.mark.parametrize(
    "name, instead",
    [
        ("ik", "use robot.pose and"),
        ("from_urdf", r"use armdyn.load\(path\)"),
        ("lod", "mean 'load'"),
    ],
)
def test_the_error_for_a_foreign_name_of_the_module_states_the_call(name, instead):
    with pytest.raises(AttributeError, match=instead):
        getattr(armdyn, name)


def test_a_table_with_the_joints_in_another_order_is_refused():
    pandas = pytest.importorskip("pandas")
    names = list(ROBOT.joint_names)
    q = np.random.default_rng(0).uniform(-1, 1, (3, N))
    table = pandas.DataFrame(q, columns=names)
    np.testing.assert_array_equal(ROBOT.gravity(table), ROBOT.gravity(q))
    for call in (ROBOT.gravity, lambda qd: ROBOT.bias(q, qd=qd)):
        with pytest.raises(ShapeError, match="has the columns .*expected the joints' order"):
            call(table[names[::-1]])


def test_a_shipped_arms_name_may_have_any_case():
    assert armdyn.load("UR5") == armdyn.load("ur5")


def test_the_error_for_an_argument_of_a_quantity_without_any_says_so():
    with pytest.raises(MethodError, match="'point' of jacobian: there is none besides the state"):
        ROBOT.function("jacobian", arguments="point")


def test_every_call_that_such_an_error_states_exists():
    for text in {*fixed.OF_ARMDYN.values(), *fixed.CHANGES.values()}:
        for owner, name in re.findall(r"(robot|armdyn)\.(\w+)", text):
            assert hasattr({"robot": ROBOT, "armdyn": armdyn}[owner], name), text


def test_variations_of_the_chain_are_variations_of_the_robot():
    chain = ROBOT.chain
    for name, values in {
        "with_payload": (2.0, [0, 0, 0.1]),
        "with_frame": ("tool", None, np.eye(4)),
        "with_friction": (0.5,),
        "with_rotors": (1e-4, 100),
        "with_gravity": ((0, 0, -1.62),),
    }.items():
        varied = getattr(ROBOT, name)(*values)
        assert isinstance(varied, Robot)
        assert varied.chain == getattr(chain, name)(*values)


def test_python_finds_a_compiled_function_without_asking_again(monkeypatch):
    """Where nothing of torch.compile is about, a robot has the function under its own name."""
    monkeypatch.delitem(sys.modules, "torch._dynamo", raising=False)
    robot = Robot(ROBOT.chain)
    assert not traced.is_tracing()
    assert vars(robot).get("gravity") is None
    assert robot.gravity is vars(robot)["gravity"]
