"""What is given at the call: payload, gravity and parameters in place of an arm's constants."""

import dataclasses
import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import armdyn
from armdyn import Chain, MethodError, ModelError, Robot, ShapeError
from armdyn.algorithms import catalogue
from armdyn.chain.at_call import AtCall
from armdyn.chain.inertia import Inertia
from armdyn.chain.parts import Frame
from armdyn.chain.pose import Pose
from armdyn.chain.random import _rotation
from armdyn.program.passes import cost
from armdyn.quantities import QUANTITIES, given_to
from armdyn.quantities.tasks import (
    Task,
    cheapest,
    formula,
    program,
    program_cost,
    quantities_of,
    why_not,
)
from armdyn.spatial import Symmetric, Vector
from armdyn.spatial.matrices import linear
from tests.arms import moving, with_rotors

DYNAMICS = [name for name, quantity in QUANTITIES.items() if "payload" in quantity.at_call]
FALLING = [name for name, quantity in QUANTITIES.items() if "gravity" in quantity.at_call]


SWEEP, SHORT = pytest.mark.sweep, ("scara", "stanford")


def of_arms(names):
    """These quantities of a few arms; what takes long to compile is a sweep, on the smallest."""
    return [
        pytest.param(arm, name, marks=() if arm in SHORT and "derivative" not in name else SWEEP)
        for arm in (*SHORT, "panda")
        for name in quantities_of(armdyn.load(arm).chain)
        if name in names and (arm == "scara" or "derivative" not in name)
    ]


DYNAMICS_OF_ANY = [name for name in DYNAMICS if not QUANTITIES[name].refuses]
CONDITIONED = (
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "operational_space_inertia_inverse",
)
PANDA = armdyn.load("panda")


def bodies(rng, *batch):
    """Random bodies as with_payload takes them, mass, com and inertia, and their ten parameters."""
    mass = rng.uniform(0.1, 3, batch)
    com = rng.uniform(-0.2, 0.2, (*batch, 3))
    A = rng.uniform(-0.1, 0.1, (*batch, 3, 5))
    E = A @ np.swapaxes(A, -1, -2)  # the second moment of five points
    inertia = np.trace(E, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - E
    tens = np.empty((*batch, 10))
    for at in np.ndindex(*batch):
        tens[at] = Inertia.from_com(mass[at], com[at], inertia[at]).parameters()
    return mass, com, inertia, tens


def states(rng, robot, name, *batch):
    return rng.uniform(-2, 2, (len(QUANTITIES[name].arguments), *batch, robot.n))


def assert_equal(found, expected, eps=1e-12):
    """To rounding, of the largest number of each result."""
    pairs = zip(
        *(x if isinstance(x, tuple) else (x,) for x in (found, expected)),
        strict=True,
    )
    for one, other in pairs:
        size = max(np.abs(other).max(), 1e-3)
        np.testing.assert_allclose(one, other, rtol=0, atol=eps * size)


def computed(chain, name, state, **given):
    """What a robot's method would answer, on Python's floats."""
    task = Task(name, given=tuple(given)).settled(chain)
    lists = [np.asarray(x, float).tolist() for x in (*state, *given.values())]
    found = formula(chain, float, task)(*lists)
    return tuple(map(np.array, found)) if isinstance(found, tuple) else np.array(found, float)


def different_arm(chain, seed=0):
    """An arm of the same joints, with other links, and another gravity."""
    rng = np.random.default_rng(seed)
    _, _, _, tens = bodies(rng, chain.n)
    return chain.with_parameters(tens).with_gravity(rng.uniform(-9, 9, 3))


# The same arm, built ------------------------------------------------------------------------------


@pytest.mark.parametrize(("arm", "name"), of_arms(DYNAMICS))
def test_a_payload_is_the_arm_with_that_payload(arm, name):
    robot, rng = armdyn.load(arm), np.random.default_rng(1)
    mass, com, inertia, payload = bodies(rng)
    state = states(rng, robot, name)
    loaded = robot.chain.with_payload(mass, com, inertia)
    found = computed(robot.chain, name, state, payload=payload)
    assert_equal(found, computed(loaded, name, state))
    if arm == "scara":  # compiled, it is the same
        assert_equal(getattr(robot, name)(*state, payload=payload), found)


@pytest.mark.parametrize(("arm", "name"), of_arms(FALLING))
def test_gravity_is_the_arm_under_that_gravity(arm, name):
    """Askew, along the first axis, and none; the arm stands askew too."""
    rng = np.random.default_rng(2)
    chain = armdyn.load(arm).chain
    state = states(rng, chain, name)
    for base in (chain.base, Pose.of(_rotation(rng.standard_normal((3, 3))), (0.1, 0.2, 0.3))):
        placed = dataclasses.replace(chain, base=base)
        for gravity in (rng.uniform(-9, 9, 3), np.array([0, 0, 9.81]), np.zeros(3)):
            expected = computed(placed.with_gravity(gravity), name, state)
            assert_equal(computed(placed, name, state, gravity=gravity), expected)
    if arm == "scara":
        found = getattr(Robot(placed), name)(*state, gravity=gravity)
        assert_equal(found, expected)


@pytest.mark.parametrize(("arm", "name"), of_arms(DYNAMICS))
def test_parameters_are_the_arm_with_those_parameters(arm, name):
    robot, rng = armdyn.load(arm), np.random.default_rng(3)
    other = different_arm(robot.chain).with_gravity(robot.chain.gravity)
    state = states(rng, robot, name)
    found = computed(robot.chain, name, state, parameters=other.parameters)
    assert_equal(found, computed(other, name, state))
    if arm == "scara":
        assert_equal(getattr(robot, name)(*state, parameters=other.parameters), found)


@pytest.mark.parametrize("arm", ["panda", "stanford"])
@pytest.mark.parametrize("friction", [False, True])
def test_all_at_once_with_rotors_and_friction(arm, friction):
    """Links of another arm that carries a payload at a frame, under another gravity."""
    rng = np.random.default_rng(4)
    place = Pose.of(_rotation(rng.standard_normal((3, 3))), (0.1, -0.2, 0.3))
    chain = with_rotors(armdyn.load(arm).chain)
    chain = dataclasses.replace(chain, frames=(Frame("hook", 2, place),))
    other = different_arm(chain)
    *_, payload = bodies(rng)
    body = other.links[2].inertia + Inertia.from_parameters(payload).seen_from(place)
    links = list(other.links)
    links[2] = dataclasses.replace(links[2], inertia=body)
    built = Robot(dataclasses.replace(other, links=tuple(links)))
    call = {"payload": payload, "gravity": other.gravity, "parameters": other.parameters}
    for name in ("inverse_dynamics", "forward_dynamics"):
        state = states(rng, built, name)
        found = getattr(Robot(chain), name)(*state, friction=friction, payload_frame="hook", **call)
        assert_equal(found, getattr(built, name)(*state, friction=friction), 1e-11)


@settings(max_examples=40, deadline=None)
@given(moving(max_joints=5), st.sampled_from(DYNAMICS_OF_ANY), st.integers(0, 2**32 - 1))
def test_every_method_on_any_arm(drawn, name, seed):
    """On floats: each method that applies, for each of what can be given, as the built arm has."""
    chain, q, qd, last = drawn
    rng = np.random.default_rng(seed)
    mass, com, inertia, payload = bodies(rng)
    other = different_arm(chain, seed)
    state = [x.tolist() for x in (q, qd, last)[: len(QUANTITIES[name].arguments)]]
    built = {
        "payload": (chain.with_payload(mass, com, inertia), payload),
        "gravity": (chain.with_gravity(other.gravity), np.array(other.gravity)),
        "parameters": (chain.with_parameters(other.parameters), other.parameters),
    }
    for kind in given_to(name, built):
        arm, value = built[kind]
        rows = catalogue.methods(name) if not QUANTITIES[name].function else [None]
        for method in rows:
            task = Task(name, method and method.name, given=(kind,))
            if method and why_not(chain, method, task):
                continue
            judge = Task(name, QUANTITIES[name].references[-1]) if method else Task(name)
            if method and not method.exact:
                judge = Task(name, method.name)
            expected = formula(arm, float, judge)(*state)
            found = formula(chain, float, task)(*state, value.tolist())
            as_arrays = [
                tuple(map(np.array, x)) if isinstance(x, tuple) else np.array(x, float)
                for x in (found, expected)
            ]
            assert_equal(*as_arrays, 1e-7 if name in CONDITIONED else 1e-10)


def test_methods_by_name_and_refusals():
    """Centres of mass: by division where a link surely has mass, refused where it may have none."""
    rng = np.random.default_rng(5)
    mass, com, inertia, payload = bodies(rng)
    loaded = Robot(PANDA.chain.with_payload(mass, com, inertia))
    q = rng.uniform(-1, 1, 7)
    for method in ("gdahj", "lin1991", "crba-minimal"):
        found = PANDA.mass_matrix(q, method=method, payload=payload)
        assert_equal(found, loaded.mass_matrix(q))
    with pytest.raises(MethodError, match="lin1991 does not apply to 'panda': parameters given at"):
        PANDA.mass_matrix(q, method="lin1991", parameters=PANDA.chain.parameters)
    bare = PANDA.chain.with_parameters([*PANDA.chain.parameters[:60], *np.zeros(10)], check="warn")
    with pytest.raises(MethodError, match="has no mass without its payload"):
        Robot(bare).mass_matrix(q, method="gdahj", payload=payload)
    nothing = Robot(bare).inverse_dynamics(q, q, q, payload=np.zeros(10))
    assert_equal(nothing, Robot(bare).inverse_dynamics(q, q, q))


# What it is made of -------------------------------------------------------------------------------


def test_constant_maps_drop_what_vanishes():
    """By a coefficient that is zero, or by structure; what is left is the matrix product."""
    A = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0], [0.0, 4.0, 0.0]])
    assert linear(A, [5.0, 6.0, 7.0]) == (A @ [5.0, 6.0, 7.0]).tolist()
    assert linear(A, [5.0, 6.0, 0]) == [5.0, 0, 24.0]
    assert isinstance(linear(A, [5.0, 6.0, 0])[1], int)


def test_a_tensor_turns_as_its_dyads_do():
    rng = np.random.default_rng(12)
    R, J = _rotation(rng.standard_normal((3, 3))), bodies(rng)[2]
    six = Symmetric(*J[np.triu_indices(3)])
    rows = tuple(Vector(*row) for row in R)
    found = np.array([tuple(row) for row in six.turned(rows).rows()])
    np.testing.assert_allclose(found, R @ J @ R.T, rtol=0, atol=1e-16)
    less = np.array([tuple(row) for row in six.less_half_trace().rows()])
    np.testing.assert_allclose(less, J - np.trace(J) / 2 * np.eye(3), rtol=0, atol=1e-16)


@pytest.mark.parametrize("view", ["minimal", "flat"])
@pytest.mark.parametrize("kinds", ["RRRR", "RPRR", "PRPR"])
def test_regrouping_is_linear_and_keeps_nothing_else(kinds, view):
    """A payload regrouped by itself and added is the loaded arm regrouped, zero for zero."""
    chain = Chain.random(len(kinds), kinds, seed=2)
    mass, com, inertia, payload = bodies(np.random.default_rng(13))
    loaded = chain.with_payload(mass, com, inertia).on(float, view)
    given = chain.on(float, view, AtCall(payload=payload.tolist()))
    for one, other in zip(loaded.first_moment, given.first_moment, strict=True):
        np.testing.assert_allclose(list(one), list(other), rtol=0, atol=1e-14)
    for one, other in zip(loaded.inertia, given.inertia, strict=True):
        np.testing.assert_allclose(list(one), list(other), rtol=0, atol=1e-14)
        assert [x == 0 for x in one] == [x == 0 for x in other]
    np.testing.assert_allclose(loaded.mass, given.mass, rtol=0, atol=1e-14)


# Laws ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arm", ["panda", "puma560", "stanford", "RPRPR", "PPR"])
def test_torque_is_the_regressor_times_any_parameters(arm):
    """Not only those that bodies have: torque is linear in them."""
    robot = armdyn.load(arm) if arm in armdyn.robots() else Robot(Chain.random(len(arm), arm, 1))
    robot = Robot(dataclasses.replace(robot.chain, joints=tuple(map(still, robot.chain.joints))))
    rng = np.random.default_rng(6)
    q, qd, qdd = rng.uniform(-3, 3, (3, 20, robot.n))
    p = rng.uniform(-1, 1, (20, 10 * robot.n))
    Y = robot.regressor(q, qd, qdd)
    found = robot.inverse_dynamics(q, qd, qdd, parameters=p)
    assert_equal(found, np.einsum("bij,bj->bi", Y, p))


def still(joint):
    """The same joint without a rotor, which is in no regressor."""
    return dataclasses.replace(joint, rotor_inertia=0.0)


def test_torque_is_linear_in_payload_and_in_gravity():
    rng = np.random.default_rng(7)
    q, qd, qdd = rng.uniform(-3, 3, (3, 7))
    *_, two = bodies(rng, 2)
    one, other, both, none = (
        PANDA.inverse_dynamics(q, qd, qdd, payload=p) for p in (*two, two.sum(0), np.zeros(10))
    )
    assert_equal(one + other, both + none)
    g = rng.uniform(-9, 9, (2, 3))
    one, other, both = (PANDA.gravity(q, gravity=x) for x in (*g, g.sum(0)))
    assert_equal(one + other, both)


def test_falling_with_the_base_is_standing_still():
    """A base that accelerates upward feels gravity: the energy's slope is the holding torque."""
    rng = np.random.default_rng(8)
    q, gravity, h = rng.uniform(-1, 1, 7), rng.uniform(-9, 9, 3), 1e-6
    *_, payload = bodies(rng)
    call = {"payload": payload, "gravity": gravity}
    ahead, behind = (PANDA.energy(q + s * h * np.eye(7), np.zeros(7), **call)[1] for s in (1, -1))
    np.testing.assert_allclose(PANDA.gravity(q, **call), (ahead - behind) / (2 * h), atol=1e-7)


# Calls --------------------------------------------------------------------------------------------


def test_batches_broadcast_and_a_state_has_the_same_bits_anywhere():
    rng = np.random.default_rng(9)
    q, qd, qdd = rng.uniform(-2, 2, (3, 5, 1, 7))
    *_, payload = bodies(rng, 9)
    gravity = rng.uniform(-9, 9, (5, 9, 3))
    found = PANDA.inverse_dynamics(q, qd, qdd, payload=payload, gravity=gravity)
    assert found.shape == (5, 9, 7)
    for i, j in ((0, 0), (3, 8), (4, 5)):
        alone = PANDA.inverse_dynamics(
            q[i, 0], qd[i, 0], qdd[i, 0], payload=payload[j], gravity=gravity[i, j]
        )
        np.testing.assert_array_equal(found[i, j], alone)
    many = np.tile(payload, (300, 1))
    wide = np.broadcast_to(q[0, 0], (2700, 7))
    runs = [PANDA.mass_matrix(wide, payload=many, threads=threads) for threads in (1, 2, None)]
    np.testing.assert_array_equal(runs[0], runs[1])
    np.testing.assert_array_equal(runs[0], runs[2])
    np.testing.assert_array_equal(runs[0][2699], PANDA.mass_matrix(q[0, 0], payload=payload[8]))


def test_lists_float32_and_out():
    q = [0.1, 0.2, 0.3, -0.4, 0.5, 0.6, 0.7]
    payload = [2, 0, 0, 0.1, 0.01, 0, 0.01, 0, 0, 0.001]
    double = PANDA.gravity(q, payload=payload)
    narrow = PANDA.gravity(np.float32(q), payload=np.float32(payload))
    assert narrow.dtype == np.float32 and double.dtype == np.float64
    np.testing.assert_allclose(narrow, double, atol=2e-5)
    assert PANDA.gravity(np.float32(q), payload=payload).dtype == np.float64
    out = np.empty(7)
    assert PANDA.gravity(q, payload=payload, out=out) is out
    np.testing.assert_array_equal(out, double)
    given = np.array(payload + [0.0] * 7)
    with pytest.raises(ShapeError, match="out overlaps payload; expected memory of its own"):
        PANDA.gravity(q, payload=given[:10], out=given[3:10])


def test_new_values_compile_nothing(monkeypatch):
    robot, q = armdyn.load("ur5"), np.ones(6)
    *_, payload = bodies(np.random.default_rng(0))
    first = robot.gravity(q, payload=payload)
    monkeypatch.setattr(armdyn.engine.jit, "compile", None)
    monkeypatch.setattr(armdyn.engine.jit, "LoadedCode", None)
    assert not np.array_equal(robot.gravity(q, payload=2 * payload), first)


def test_one_function_of_several_quantities():
    """Each argument goes to the quantities that depend on it."""
    rng = np.random.default_rng(10)
    mass, com, inertia, payload = bodies(rng)
    q, qd = rng.uniform(-1, 1, (2, 7))
    gravity = np.array([1.0, 2.0, 3.0])
    both = PANDA.function("mass_matrix", "bias", "pose", arguments=("gravity", "payload"))
    assert both.arguments == ("q", "qd", "payload", "gravity")
    M, b, T = both(q, qd, payload, gravity)
    loaded = Robot(PANDA.chain.with_payload(mass, com, inertia).with_gravity(gravity))
    assert_equal((M, b, T), (loaded.mass_matrix(q), loaded.bias(q, qd), loaded.pose(q)))
    hand = PANDA.chain.frame_names[2]
    lower = PANDA.function("gravity", arguments="payload", payload_frame=hand)
    np.testing.assert_array_equal(
        lower(q, payload), PANDA.gravity(q, payload=payload, payload_frame=hand)
    )


def test_a_call_by_way_of_the_class():
    *_, payload = bodies(np.random.default_rng(0))
    q = np.ones(7)
    expected = PANDA.gravity(q, payload=payload)
    np.testing.assert_array_equal(Robot.gravity(PANDA, q, payload=payload), expected)


# What is wrong ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "call", "error", "message"),
    [
        (
            "gravity",
            {"payload": np.ones(9)},
            ShapeError,
            r"has shape \(9,\); expected \(.*10",
        ),
        (
            "gravity",
            {"gravity": 9.81},
            ShapeError,
            r"gravity has shape \(\); expected \(..., 3\), an",
        ),
        (
            "gravity",
            {"parameters": np.ones(10)},
            ShapeError,
            r"expected \(..., 70\), ten numbers for",
        ),
        (
            "gravity",
            {"payload": np.zeros((2, 10)), "gravity": np.ones((3, 3))},
            ShapeError,
            "do not",
        ),
        ("gravity", {"payload": "heavy"}, ShapeError, "payload has dtype"),
        (
            "gravity",
            {"payload": np.zeros(10), "payload_frame": "hnad"},
            ModelError,
            "no link or fr",
        ),
        (
            "gravity",
            {"payload": np.zeros(10), "payload_frame": 3},
            MethodError,
            "are names, not pay",
        ),
        ("gravity", {"payload_frame": "panda_link3"}, MethodError, "without a payload"),
        ("gravity", {"payload": np.zeros(10), "check": "loud"}, ModelError, "check is 'error' or"),
        ("mass_matrix", {"gravity": np.ones(3)}, TypeError, "no argument gravity"),
        ("pose", {"payload": np.zeros(10)}, TypeError, "no argument payload"),
        ("jacobian", {"parameters": np.zeros(70)}, TypeError, "no argument parameters"),
        ("regressor", {"payload": np.zeros(10)}, TypeError, "no argument payload"),
    ],
)
def test_wrong_arguments_are_named(name, call, error, message):
    state = np.zeros((len(QUANTITIES[name].arguments), 7))
    with pytest.raises(error, match=message):
        getattr(PANDA, name)(*state, **call)


def test_a_payload_on_the_base_is_refused():
    fixed = dataclasses.replace(PANDA.chain, frames=(Frame("floor", -1, Pose()),))
    with pytest.raises(
        ModelError, match="frame 'floor' does not move, so no joint feels a payload"
    ):
        Robot(fixed).gravity(np.zeros(7), payload=np.zeros(10), payload_frame="floor")


def test_wrong_functions():
    with pytest.raises(MethodError, match="no argument 'payloda' of mass_matrix; did you"):
        PANDA.function("mass_matrix", arguments="payloda")
    with pytest.raises(MethodError, match="no argument 'gravity' of mass_matrix, pose"):
        PANDA.function("mass_matrix", "pose", arguments=("gravity",))
    with pytest.raises(MethodError, match="without a payload"):
        PANDA.function("mass_matrix", payload_frame="panda_link3")


def point(mass, place):
    """The ten parameters of a point."""
    return Inertia.from_com(mass, place, np.zeros((3, 3))).parameters()


POINT = point(1.0, (0.1, 0.2, 0.3))
IMPOSSIBLE = {
    "mass -1 kg is negative": -POINT,
    "it has no mass but a first moment": [0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
    "it has no mass but an inertia": [0, 0, 0, 0, 1, 0, 1, 0, 0, 1],
    "one of them negative": POINT - [0, 0, 0, 0, 0.01, 0, 0, 0, 0, 0],
    "triangle inequality": [1, 0, 0, 0, 1, 0, 1, 0, 0, 3],
    "must be finite": [np.nan, 0, 0, 0, 0, 0, 0, 0, 0, 0],
}


@pytest.mark.parametrize("message", IMPOSSIBLE)
def test_a_payload_that_no_body_has(message, caplog):
    payload, q = np.array(IMPOSSIBLE[message], float), np.zeros(7)
    with pytest.raises(ModelError, match=f"payload: .*{message}"):
        PANDA.gravity(q, payload=payload)
    batch = np.stack([np.stack([POINT] * 3), np.stack([POINT, POINT, payload])])
    with pytest.raises(ModelError, match=rf"payload\[1, 2\]: .*{message}"):
        PANDA.gravity(q, payload=batch)
    with caplog.at_level(logging.WARNING, "armdyn"):
        found = PANDA.gravity(q, payload=payload, check="warn")
    assert message in caplog.text
    np.testing.assert_array_equal(found, PANDA.gravity(q, payload=payload, check=None))


def test_parameters_that_leave_no_inverse(caplog):
    """Of a batch, the first state whose arguments are finite and whose results are not is named."""
    q = np.full((3, 7), 0.3)
    parameters = np.stack([PANDA.chain.parameters, 0 * PANDA.chain.parameters])[:, None]
    lost = r"parameters= the mass matrix has no inverse"
    with pytest.raises(ModelError, match=rf"^forward_dynamics is \[nan, .*{lost}"):
        PANDA.forward_dynamics(q[0], q[0], q[0], parameters=parameters[1, 0])
    with pytest.raises(ModelError, match=rf"^forward_dynamics\[1, 0\] is .*{lost}"):
        PANDA.forward_dynamics(q, q, q, parameters=parameters)
    with pytest.raises(ModelError, match=rf"^forward_dynamics_derivatives is .*{lost}"):
        PANDA.forward_dynamics_derivatives(q[0], q[0], q[0], parameters=parameters[1, 0])
    with pytest.raises(ModelError, match=rf"^step\[1, 0\] is .*{lost}"):
        PANDA.stepper(1e-3).step(q, q, q, parameters=parameters)
    with caplog.at_level(logging.WARNING, "armdyn"):
        found = PANDA.forward_dynamics(q, q, q, parameters=parameters, check="warn")
    assert "forward_dynamics[1, 0] is" in caplog.text
    assert_equal(found[0], PANDA.forward_dynamics(q, q, q), 1e-9)
    np.testing.assert_array_equal(found[1], np.nan)
    caplog.clear()
    PANDA.forward_dynamics(q, q, q, parameters=parameters, check=None)
    q[1, 2] = np.nan  # and says so itself
    assert np.isnan(PANDA.forward_dynamics(q, q, q, parameters=parameters[0])[1]).all()
    assert not caplog.text
    with pytest.raises(ModelError, match="check is 'error' or 'warn'"):
        PANDA.mass_matrix(q, parameters=parameters, check="loud")


def test_parameters_that_leave_no_inverse_of_tensors():
    torch = pytest.importorskip("torch")
    state = [torch.full((2, 7), 0.3)] * 3
    with pytest.raises(ModelError, match=r"forward_dynamics\[0\] is \[nan"):
        PANDA.forward_dynamics(*state, parameters=torch.zeros(70))


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_bodies_at_the_edge_are_bodies(kind):
    """A point, a rod, a plate and nothing, wherever they are, to the rounding of their numbers."""
    rng = np.random.default_rng(11)
    q = np.zeros(7, kind)
    for _ in range(300):
        points = rng.uniform(-1, 1, (rng.integers(0, 4), 3)) * rng.uniform(0, 1, 3)
        masses = 10 ** rng.uniform(-3, 2, len(points))
        payload = sum(
            map(point, masses, points),
            np.zeros(10),
        )
        PANDA.gravity(q, payload=payload.astype(kind))


# What it costs ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["mass_matrix", "bias", "gravity", "inverse_dynamics", "forward_dynamics"]
)
@pytest.mark.parametrize("arm", ["panda", "ur5", "puma560", "kinova", "xarm7", "stanford"])
def test_a_payload_costs_at_most_a_quarter_more(arm, name):
    """Than the same payload compiled in."""
    chain, (mass, com, inertia, _) = armdyn.load(arm).chain, bodies(np.random.default_rng(1))
    loaded = chain.with_payload(mass, com, inertia)
    built = program_cost(loaded, name, cheapest(loaded, name))
    given = program_cost(chain, name, cheapest(chain, name, ("payload",)), ("payload",))
    assert given <= 1.25 * built


@pytest.mark.parametrize("arm", ["stanford", "ur5", "puma560", "kinova", "panda"])
def test_parts_share_what_they_regroup(arm):
    """So forward dynamics costs less than M and b by the methods that are cheapest alone."""
    chain, given = armdyn.load(arm).chain, ("parameters",)
    names = {name: cheapest(chain, name, given) for name in ("mass_matrix", "bias")}
    alone = [Task(name, method, given=given) for name, method in names.items()]
    beside = cheapest(chain, "mass_matrix", given, beside=(alone[1],))
    together = [alone[0].by(beside), alone[1]]
    both = cost(program(chain, together))
    solution = program_cost(chain, "forward_dynamics", "ldl", given) - both
    assert both < cost(program(chain, alone))
    assert 0 < solution < 6 * chain.n**2  # nothing is left to do but to solve


def test_a_payload_leaves_the_rest_folded():
    """On an inner link what is beyond stays constant: it costs no more than at the tip."""
    frames = [PANDA.chain.links[i].name for i in (1, 3, 5)]
    costs = [
        program_cost(
            PANDA.chain,
            "inverse_dynamics",
            cheapest(PANDA.chain, "inverse_dynamics", ("payload",), frame),
            ("payload",),
            frame,
        )
        for frame in [*frames, None]
    ]
    assert costs == sorted(costs)
