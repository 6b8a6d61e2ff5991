"""Robot's derivatives: laws of mechanics that tie them to quantities, shapes, calls, errors."""

import logging
from functools import cache

import numpy as np
import pytest

from armdyn import Chain, MethodError, ModelError, Robot, ShapeError, load
from armdyn.chain.minimal import seen_from_matrix
from armdyn.program.tape import LOOPED, SCATTERED
from armdyn.quantities import QUANTITIES
from armdyn.robot import options
from tests.arms import with_rotors

SMALL = "RPRP"
ARMS = ["ur5", "stanford", SMALL]


@cache
def arm(name):
    if name != SMALL:
        return load(name)
    return Robot(with_rotors(Chain.random(len(SMALL), SMALL, seed=3)))


def drawn(*shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-2, 2, shape) for shape in shapes]


def assert_close(found, expected, times=1e-12):
    expected = np.asarray(expected)
    assert found.shape == expected.shape
    scale = max(np.abs(expected).max(), 1e-300)
    np.testing.assert_allclose(found, expected, rtol=0, atol=times * scale)


# Laws --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ARMS)
def test_derivatives_of_inverse_and_forward_dynamics_are_the_mass_matrix_and_its_inverse(name):
    it = arm(name)
    q, qd, qdd = drawn(*[(5, it.n)] * 3)
    M = it.mass_matrix(q)
    assert_close(it.derivative("inverse_dynamics", "qdd")(q, qd, qdd), M)
    inverse = it.derivative("forward_dynamics", "tau")(q, qd, qdd)
    assert_close(inverse @ M, np.broadcast_to(np.eye(it.n), M.shape), 1e-9)


@pytest.mark.parametrize("name", ARMS)
def test_forward_dynamics_undoes_inverse_dynamics_to_first_order(name):
    """Qdd(q, qd, tau(q, qd, qdd)) = qdd: dqdd/dq = -M^-1 dtau/dq, likewise for qd."""
    it = arm(name)
    q, qd, qdd = drawn(*[(it.n,)] * 3)
    inverse = it.derivative("inverse_dynamics")(q, qd, qdd)
    forward = it.derivative("forward_dynamics")(q, qd, it.inverse_dynamics(q, qd, qdd))
    for k in range(2):
        assert_close(forward[k], -np.linalg.solve(it.mass_matrix(q), inverse[k]), 1e-9)


@pytest.mark.parametrize("name", ARMS)
def test_the_mass_matrix_changes_as_the_christoffel_symbols_say(name):
    """DM_ij/dq_k = Gamma_ijk + Gamma_jik."""
    it = arm(name)
    (q,) = drawn((4, it.n))
    gamma = it.christoffel(q)
    assert_close(it.derivative("mass_matrix", "q")(q), gamma + np.swapaxes(gamma, -3, -2))


@pytest.mark.parametrize("name", ARMS)
def test_gradients_of_the_energy_are_momentum_and_gravity(name):
    it = arm(name)
    q, qd = drawn((6, it.n), (6, it.n))
    dT_dq, dT_dqd, dV_dq, dV_dqd = it.derivative("energy")(q, qd)
    assert_close(dT_dqd, np.einsum("...ij,...j", it.mass_matrix(q), qd))
    assert_close(dV_dq, it.gravity(q))
    assert not dV_dqd.any()
    # Lagrange: d/dt (dT/dqd) - dT/dq + dV/dq = tau; with qdd = 0 the first term is dM/dt qd.
    dM_dt = it.jvp("mass_matrix")(q, qd)
    torque = np.einsum("...ij,...j", dM_dt, qd) - dT_dq + dV_dq
    assert_close(torque, it.bias(q, qd))


@pytest.mark.parametrize("name", ARMS)
def test_a_pose_moves_as_the_jacobian_says(name):
    it = arm(name)
    q, qd = drawn((3, it.n), (3, it.n))
    J = it.jacobian(q)
    dT = it.derivative("pose", "q")(q)
    assert dT.shape == (3, 4, 4, it.n)
    assert_close(dT[:, :3, 3, :], J[:, :3])
    turned = np.einsum("bijk,blj->bilk", dT[:, :3, :3, :], it.pose(q)[:, :3, :3])  # dR R^T: [w x]
    assert_close(np.stack([turned[:, 2, 1], turned[:, 0, 2], turned[:, 1, 0]], axis=1), J[:, 3:])
    rate = it.jvp("pose")(q, qd)
    assert_close(rate[:, :3, 3], np.einsum("bij,bj->bi", J[:, :3], qd))
    named = it.chain.links[1].name
    framed = it.derivative("pose", frame=named)(q)
    assert_close(framed[:, :3, 3], it.jacobian(q, named)[:, :3])


@pytest.mark.parametrize("name", ARMS)
def test_torque_is_quadratic_in_speed(name):
    """The Hessian of lambda . tau with respect to qd is 2 lambda . Gamma."""
    it = arm(name)
    q, qd, qdd, weights, along = drawn(*[(4, it.n)] * 5)
    found = it.hvp("inverse_dynamics", "qd")(q, qd, qdd, weights, along)
    expected = 2 * np.einsum("bi,bijk,bk->bj", weights, it.christoffel(q), along)
    assert_close(found, expected)


LARGE = (
    "christoffel",
    "regressor",
    "mass_matrix_derivative",
    "inverse_dynamics_second_derivatives",
    "forward_dynamics_derivatives",
    "inverse_dynamics_derivatives",
)


@pytest.mark.parametrize(
    "quantity, name",
    [
        pytest.param(quantity, SMALL, marks=pytest.mark.sweep if quantity in LARGE else ())
        for quantity in QUANTITIES
        if not QUANTITIES[quantity].refuses
    ]
    + [
        pytest.param(quantity, "puma560", marks=pytest.mark.sweep)
        for quantity in QUANTITIES
        if quantity not in LARGE
    ],
)
def test_all_kinds_agree(quantity, name):
    """Jacobian, Jacobian times vector, vector times Jacobian; Hessians are symmetric."""
    it = arm(name)
    taken = QUANTITIES[quantity].arguments
    state = drawn(*[(3, it.n)] * len(taken))
    along, other = (drawn(*[(3, it.n)] * len(taken), seed=k) for k in (1, 2))
    results = [(3, *result.shape(it.chain)) for result in QUANTITIES[quantity].results]
    weights = drawn(*results, seed=3)
    J = tupled(it.derivative(quantity)(*state))
    assert [x.shape for x in J] == [(*shape, it.n) for shape in results for _ in taken]
    J = [J[k : k + len(taken)] for k in range(0, len(J), len(taken))]
    found = tupled(it.jvp(quantity)(*state, *along))
    for each, row in zip(found, J, strict=True):
        columns = (np.einsum("b...k,bk->b...", x, t) for x, t in zip(row, along, strict=True))
        assert_close(each, sum(columns), 1e-10)
    found = tupled(it.vjp(quantity)(*state, *weights))
    for k, each in enumerate(found):
        rows = (
            np.einsum("bi,bik->bk", w.reshape(3, -1), row[k].reshape(3, -1, it.n))
            for w, row in zip(weights, J, strict=True)
        )
        assert_close(each, sum(rows), 1e-10)
    one, two = (tupled(it.hvp(quantity)(*state, *weights, *t)) for t in (along, other))
    left = sum((x * y).sum(-1) for x, y in zip(one, other, strict=True))
    right = sum((x * y).sum(-1) for x, y in zip(two, along, strict=True))
    scale = sum(np.abs(x * y).sum(-1) for x, y in zip(one, other, strict=True))
    assert (np.abs(left - right) <= 1e-10 * scale).all()


def tupled(results):
    return results if isinstance(results, tuple) else (results,)


@pytest.mark.parametrize("name", [SMALL, "puma560"])
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics"])
def test_coulomb_friction_has_no_derivative(quantity, name):
    it = arm(name)
    q, qd, third = drawn(*[(3, it.n)] * 3)
    qd[0] = 0
    with_it = it.derivative(quantity, "qd", friction=True)(q, qd, third)
    without = it.derivative(quantity, "qd")(q, qd, third)
    viscous = np.diag([joint.viscous for joint in it.chain.joints])
    if quantity == "forward_dynamics":
        viscous = -np.linalg.solve(it.mass_matrix(q), np.broadcast_to(viscous, without.shape))
    assert_close(with_it, without + viscous, 1e-10)


@pytest.mark.sweep
def test_derivatives_of_a_large_arm_run_as_loops():
    n = LOOPED * SCATTERED
    it = Robot(Chain.random(n, seed=1))
    q, qd, tau, weights, along = drawn(*[(3, n)] * 5)
    q = q / 4
    forward = it.jvp("forward_dynamics", "q")(q, qd, tau, along)
    back = it.vjp("forward_dynamics", "q")(q, qd, tau, weights)
    np.testing.assert_allclose((forward * weights).sum(-1), (back * along).sum(-1), rtol=1e-8)
    h = 1e-6
    ahead, behind = (it.forward_dynamics(q + s * along, qd, tau) for s in (h, -h))
    assert_close(forward, (ahead - behind) / (2 * h), 1e-6)


# Calls -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["derivative", "jvp", "vjp", "hvp"])
def test_calls_are_like_those_of_any_function(kind):
    it = arm(SMALL)
    f = getattr(it, kind)("inverse_dynamics")
    assert f is getattr(it, kind)("inverse_dynamics") and f.name == f"inverse_dynamics_{kind}"
    single = drawn(*f.takes)
    plain = f(*single)
    out = tuple(np.empty(shape) for shape in f.shapes)
    assert (f(*single, out=out) if len(out) > 1 else (f(*single, out=out[0]),))[0] is out[0]
    many = [np.broadcast_to(x, (2, 50, *x.shape)) for x in single]
    for threads in (None, 1, 3):
        found = f(*many, threads=threads)
        for one, all_ in zip(tupled(plain), tupled(found), strict=True):
            assert (all_ == one).all() and all_.shape == (2, 50, *one.shape)  # the same bits
    narrow = f(*(x.astype(np.float32) for x in single))
    for one, rough in zip(tupled(plain), tupled(narrow), strict=True):
        assert rough.dtype == np.float32
        assert_close(rough.astype(float), one, 1e-4)
    named = dict(zip(f.arguments, single, strict=True))
    assert all((a == b).all() for a, b in zip(tupled(f(**named)), tupled(plain), strict=True))


def test_names_and_shapes_of_the_arguments():
    it = arm(SMALL)
    assert it.vjp("mass_matrix").arguments == ("q", "M_cotangent")
    assert it.vjp("mass_matrix").takes == ((4,), (4, 4))
    energy = it.hvp("energy", "qd")
    assert energy.arguments == (
        *("q", "qd", "kinetic_cotangent", "potential_cotangent"),
        "qd_tangent",
    )
    assert energy.takes == ((4,), (4,), (), (), (4,)) and energy.shapes == ((4,),)
    assert it.jvp("bias", ["qd", "q"]).arguments == ("q", "qd", "qd_tangent", "q_tangent")
    assert it.derivative("bias", ["qd", "q"]).shapes == ((4, 4), (4, 4))
    q, qd = drawn((4,), (4,))
    dqd, dq = it.derivative("bias", ["qd", "q"])(q, qd)
    assert_close(dq, it.derivative("bias", "q")(q, qd))
    assert_close(dqd, it.derivative("bias", "qd")(q, qd))
    weighted = energy(q, qd, 2.0, [1.0, 1.0, 1.0], qd)  # numbers broadcast as states do
    assert weighted.shape == (3, 4)
    assert_close(weighted[0], 2 * it.mass_matrix(q) @ qd)


def test_wrong_shapes_are_told_the_right_ones():
    it = arm(SMALL)
    q = np.zeros(4)
    with pytest.raises(
        ShapeError, match=r"M_cotangent has shape \(4,\); expected \(..., 4, 4\), a"
    ):
        it.vjp("mass_matrix")(q, q)
    with pytest.raises(
        ShapeError, match=r"qd_tangent has shape \(3,\); expected \(..., 4\), as qd"
    ):
        it.jvp("bias", "qd")(q, q, q[:3])


# What is given at the call ------------------------------------------------------------------------


def test_derivatives_by_parameters_are_the_regressor():
    """That of inverse dynamics by a payload is the last link's part, seen from the tip."""
    it = arm(SMALL)
    q, qd, qdd = drawn(*[(5, it.n)] * 3)
    Y = it.regressor(q, qd, qdd)
    by_parameters = it.derivative("inverse_dynamics", "parameters", arguments="parameters")
    assert by_parameters.arguments == ("q", "qd", "qdd", "parameters")
    assert_close(by_parameters(q, qd, qdd, it.chain.parameters), Y)
    by_payload = it.derivative("inverse_dynamics", "payload", arguments=["payload"])
    expected = Y[..., -10:] @ seen_from_matrix(it.chain.tip)
    assert_close(by_payload(q, qd, qdd, np.zeros(10)), expected)


def test_derivatives_by_gravity_and_wrench():
    """Torque is linear in both."""
    it = arm(SMALL)
    q, qd, qdd, tau = drawn(*[(5, it.n)] * 4)
    g, w = drawn((5, 3), (5, 6), seed=1)
    both = {"arguments": ("gravity", "wrench"), "wrench_frame": it.chain.links[2].name}
    by_gravity, by_wrench = it.derivative("inverse_dynamics", ["gravity", "wrench"], **both)(
        q, qd, qdd, g, w
    )
    weight = it.inverse_dynamics(q, qd, qdd, gravity=g) - it.inverse_dynamics(
        q, qd, qdd, gravity=np.zeros(3)
    )
    assert_close(np.einsum("bij,bj->bi", by_gravity, g), weight)
    J = it.jacobian(q, it.chain.links[2].name)
    assert_close(by_wrench, -np.swapaxes(J, -1, -2))
    along = it.jvp("forward_dynamics", "wrench", **both)(q, qd, tau, g, w, w)
    pushed = np.einsum("bji,bj->bi", J, w)
    assert_close(along, np.linalg.solve(it.mass_matrix(q), pushed[..., None])[..., 0], 1e-10)


def test_gradients_by_payload_and_parameters_against_the_jacobian():
    """Of forward dynamics, with a payload at a frame that is not the tip."""
    it = arm(SMALL)
    q, qd, tau, weights = drawn(*[(it.n,)] * 4)
    given = {"arguments": "payload,parameters".split(","), "payload_frame": it.chain.links[1].name}
    wrt = ["payload", "parameters"]
    state = q, qd, tau, [1, 0.1, 0, 0, 0.1, 0, 0.1, 0, 0, 0.1], it.chain.parameters
    J = it.derivative("forward_dynamics", wrt, **given)(*state)
    gradient = it.vjp("forward_dynamics", wrt, **given)(*state, weights)
    for found, matrix in zip(gradient, J, strict=True):
        assert_close(found, weights @ matrix, 1e-9)


# Names -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["derivative", "jvp", "vjp", "hvp"])
def test_unknown_names_are_refused(kind):
    it = arm(SMALL)
    derive = getattr(it, kind)
    for ask, message in (
        (lambda: derive("mass_matrx", "q"), "no quantity 'mass_matrx'; did you mean 'mass_matrix'"),
        (lambda: derive("bias", "qdd"), "no argument of bias 'qdd'; did you mean 'qd'"),
        (lambda: derive("bias", "time"), "no argument of bias 'time'; known: q, qd$"),
        (lambda: derive("bias", []), r"wrt is \[\]; expected arguments of bias, each once"),
        (lambda: derive("bias", ["q", "q"]), "each once"),
        (lambda: derive("bias", 3), "wrt are names, not 3"),
        (
            lambda: derive("bias", method="lin1990"),
            "no method 'lin1990' for bias; did you mean 'lin1991'",
        ),
        (lambda: derive("bias", method=3), "method and frame are names, not method=3"),
        (lambda: derive("bias", frame="tool"), "no option of bias 'frame'; known: method"),
        (lambda: derive("pose", method="kic"), "no option of pose 'method'; known: frame"),
        (lambda: derive("bias", friction=True), "no option of bias 'friction'"),
        (lambda: derive("forward_dynamics", fricton=True), "did you mean 'friction'"),
        (
            lambda: derive("bias", "payload"),
            "no argument of bias 'payload'; known: q, qd; arguments='payload' makes it one$",
        ),
        (lambda: derive("bias", arguments="wrench"), "no argument 'wrench' of bias; known: payl"),
        (lambda: derive("pose", arguments="payload"), "no option of pose 'arguments'"),
        (lambda: derive("bias", arguments=3), "arguments are names, not 3"),
        (lambda: derive("bias", payload_frame="f"), "payload_frame='f' without a payload"),
        (lambda: derive("forward_dynamics", friction=1), "friction is 1; expected True or False"),
    ):
        with pytest.raises(MethodError, match=message):
            ask()
    with pytest.raises(ModelError, match="'tool9'"):
        derive("pose", frame="tool9")


def test_a_derivative_of_an_approximation_says_so_once(caplog, monkeypatch):
    monkeypatch.setattr(options, "_warned", set())
    it = arm(SMALL)
    with caplog.at_level(logging.WARNING, logger="armdyn"):
        for _ in range(2):
            for kind in ("vjp", "jvp"):
                getattr(it, kind)("bias", method="zomaya-morris")
    assert [record.getMessage() for record in caplog.records] == [
        "a derivative of bias by zomaya-morris is an approximation"
    ]


def test_a_method_by_name_is_differentiated():
    it = arm(SMALL)
    q, qd = drawn((4,), (4,))
    right = it.derivative("bias", "q")(q, qd)
    for method in ("lin1991", "newton-euler", "lagrange"):
        assert_close(it.derivative("bias", "q", method=method)(q, qd), right, 1e-11)
