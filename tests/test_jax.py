"""JAX's arrays in, arrays out: every quantity, eagerly and inside jit, vmap, grad and jvp."""

import os

import numpy as np
import pytest

os.environ.setdefault("JAX_PLATFORMS", "cpu")
jax = pytest.importorskip("jax", reason="needs JAX (CPU: 90 MB to fetch, 380 MB on disk)")

from jax import numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

from armdyn import Chain, ModelError, Robot, ShapeError  # noqa: E402
from armdyn.arrays import jax as room  # noqa: E402
from armdyn.arrays import xla  # noqa: E402
from armdyn.engine import calls  # noqa: E402
from armdyn.quantities import QUANTITIES  # noqa: E402
from armdyn.quantities.tasks import quantities_of  # noqa: E402
from tests import fake_gpu  # noqa: E402
from tests.arms import with_rotors  # noqa: E402

ROBOT = Robot(with_rotors(Chain.random(2, "RP", seed=3)))
RNG = np.random.default_rng(0)
STATE = dict(zip(("q", "qd", "qdd", "tau"), RNG.normal(size=(4, 3, 2)), strict=True))
LOAD = [1.0, 0.1, 0, 0, 0.2, 0, 0.2, 0, 0, 0.2]
quantities = pytest.mark.parametrize("quantity", quantities_of(ROBOT.chain))


@pytest.fixture(autouse=True)
def doubles():
    """JAX has float64 where it is told to; not for other tests of the process."""
    with jax.enable_x64(True):
        yield


def arrays_of(quantity):
    return [STATE[name] for name in QUANTITIES[quantity].arguments]


def several(results):
    return results if isinstance(results, tuple) else (results,)


# Answers ------------------------------------------------------------------------------------------


@quantities
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_quantity_has_numpys_bits(quantity, dtype):
    function = getattr(ROBOT, quantity)
    for rows in (slice(None), 0):
        given = [x[rows].astype(dtype) for x in arrays_of(quantity)]
        found, expected = function(*map(jnp.asarray, given)), function(*given)
        assert isinstance(found, tuple) == isinstance(expected, tuple)
        for array, wanted in zip(several(found), several(expected), strict=True):
            assert isinstance(array, jax.Array) and array.dtype == dtype
            assert np.array_equal(array, wanted) and array.shape == np.shape(wanted)


def test_without_float64_it_is_float32():
    with jax.enable_x64(False):
        found = ROBOT.bias(jnp.asarray(STATE["q"]), jnp.arange(2))
        assert found.dtype == np.float32
    expected = ROBOT.bias(STATE["q"].astype("f4"), np.arange(2, dtype="f4"))
    assert np.array_equal(found, expected)


def test_many_states_and_none():
    q = RNG.normal(size=(50_000, 2))
    assert np.array_equal(ROBOT.mass_matrix(jnp.asarray(q)), ROBOT.mass_matrix(q))
    q = RNG.normal(size=(600_000, 2))  # more than caches hold
    assert np.array_equal(ROBOT.mass_matrix(jnp.asarray(q)), ROBOT.mass_matrix(q))
    assert ROBOT.mass_matrix(jnp.zeros((0, 2))).shape == (0, 2, 2)


def test_functions_derivatives_and_arguments_at_the_call():
    q, qd = (jnp.asarray(STATE[name]) for name in ("q", "qd"))
    state = STATE["q"], STATE["qd"]
    fused = ROBOT.function("mass_matrix", "bias")
    for array, wanted in zip(jax.jit(fused)(q, qd), fused(*state), strict=True):
        assert np.array_equal(array, wanted)
    assert np.array_equal(ROBOT.derivative("gravity")(q), ROBOT.derivative("gravity")(state[0]))
    found = ROBOT.bias(q, qd, payload=jnp.asarray(LOAD), gravity=[0, 0, 1], threads=2)
    assert np.array_equal(found, ROBOT.bias(*state, payload=LOAD, gravity=[0, 0, 1]))
    assert np.array_equal(ROBOT.pose(q, "link1"), ROBOT.pose(state[0], "link1"))
    with pytest.raises(ModelError, match="payload: mass -1"):
        ROBOT.bias(q, qd, payload=-jnp.asarray(LOAD))


def test_what_does_not_go_together_is_named():
    q = jnp.asarray(STATE["q"])
    with pytest.raises(ShapeError, match=r"q is a jaxlib\.ArrayImpl, qd is a numpy\.ndarray; exp"):
        ROBOT.bias(q, STATE["qd"])
    with pytest.raises(ShapeError, match="out is given; JAX's arrays cannot be written to"):
        ROBOT.mass_matrix(q, out=np.empty((3, 2, 2)))
    with pytest.raises(ShapeError, match="q has dtype complex128; expected real numbers"):
        ROBOT.gravity(q + 1j)
    with pytest.raises(ShapeError, match=r"q has shape \(3, 1\); expected \(\.\.\., 2\)"):
        ROBOT.gravity(q[:, :1])


# Transformations ----------------------------------------------------------------------------------


@quantities
def test_every_quantity_passes_check_grads(quantity):
    """Forward and reverse, against finite differences."""
    given = [jnp.asarray(x) for x in arrays_of(quantity)]
    check_grads(getattr(ROBOT, quantity), given, order=1, modes=("fwd", "rev"))


def test_inverse_dynamics_has_second_derivatives():
    given = [jnp.asarray(x[0]) for x in arrays_of("inverse_dynamics")]
    check_grads(ROBOT.inverse_dynamics, given, order=2, modes=("fwd", "rev"))


def test_vmap_is_the_batch():
    q, qd = (jnp.asarray(STATE[name]) for name in ("q", "qd"))
    assert np.array_equal(jax.vmap(ROBOT.mass_matrix)(q), ROBOT.mass_matrix(q))
    assert np.array_equal(jax.vmap(ROBOT.mass_matrix, 1)(q.T), ROBOT.mass_matrix(q))
    found = jax.jit(jax.vmap(jax.vmap(ROBOT.bias, (None, 0)), (0, None)))(q, qd)
    assert np.array_equal(found, ROBOT.bias(q[:, None], qd))


def test_jacobians_and_hessians():
    q, qd = jnp.asarray(STATE["q"][0]), jnp.asarray(STATE["qd"][0])
    expected = ROBOT.derivative("bias")(STATE["q"][0], STATE["qd"][0])
    for transform in (jax.jacrev, jax.jacfwd):
        for found, wanted in zip(transform(ROBOT.bias, (0, 1))(q, qd), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)
    M = jax.hessian(lambda v: ROBOT.energy(q, v)[0])(qd)  # kinetic = qd^T M qd / 2
    np.testing.assert_allclose(M, ROBOT.mass_matrix(STATE["q"][0]), rtol=1e-12, atol=1e-14)


def test_gradients_by_what_is_given_at_the_call():
    q, load = jnp.asarray(STATE["q"]), jnp.asarray(LOAD)
    check_grads(lambda p: ROBOT.gravity(q, payload=jnp.asarray(p)), (load,), order=1)
    slopes = jax.jit(jax.vmap(jax.grad(lambda x: ROBOT.gravity(x, payload=load).sum())))(q)
    vjp = ROBOT.vjp("gravity", "q", arguments="payload")
    np.testing.assert_allclose(slopes, vjp(STATE["q"], LOAD, np.ones((3, 2))), rtol=1e-12)


def test_scans_and_loops_run_it():
    def step(q, _):
        return q - 1e-3 * ROBOT.gravity(q), None

    last, _ = jax.jit(lambda q: jax.lax.scan(step, q, length=10))(jnp.asarray(STATE["q"]))
    q = STATE["q"]
    for _ in range(10):
        q = q - 1e-3 * ROBOT.gravity(q)
    np.testing.assert_allclose(last, q, rtol=1e-14)


def test_a_number_of_states_that_is_not_known_yet_is_lowered():
    robot = Robot(Chain.random(2, "RR", seed=8))
    (count,) = jax.export.symbolic_shape("count")
    given = jax.ShapeDtypeStruct((count, 2), jnp.float64)
    traced = jax.jit(robot.mass_matrix).trace(given)
    assert "armdyn_" in traced.lower().as_text()


def test_the_primitive_runs_without_jit():
    q = jnp.asarray(STATE["q"])
    (found,) = room.call_p.bind(q, function=ROBOT.gravity.path, along=False)
    assert np.array_equal(found, ROBOT.gravity(STATE["q"]))


# A GPU that is none -------------------------------------------------------------------------------


def all_but_the_stream(ask):
    """There is none on the CPU, and XLA says so."""

    def answer(frame, place):
        if place != xla.GET_STREAM:
            return ask(frame, place)
        with pytest.raises(RuntimeError, match="XLA does not answer question 10"):
            ask(frame, place)
        return 17

    return answer


def test_the_handler_for_gpus_reads_xlas_frames(monkeypatch):
    launches = fake_gpu.install(monkeypatch)
    monkeypatch.setitem(room.HANDLERS, "cpu", room.HANDLERS["CUDA"])
    monkeypatch.setattr(room, "_made", {})
    monkeypatch.setattr(xla, "ask", all_but_the_stream(xla.ask))
    robot = Robot(Chain.random(2, "RR", seed=8))  # whose handlers XLA does not know yet
    q, qd = (jnp.asarray(STATE[name]) for name in ("q", "qd"))
    found = robot.bias(q, qd[0])
    np.testing.assert_allclose(found, robot.bias(STATE["q"], STATE["qd"][0]), rtol=1e-12)
    assert launches == [(3, "float64", 0, 17, [2, 2])]
    kept = room._made  # for XLA may still call them
    assert len(kept) == 1
    test_the_handler_for_gpus_reads_xlas_frames.kept = kept


def test_an_error_in_the_handler_for_gpus_is_raised_where_the_user_waits(monkeypatch):
    fake_gpu.install(monkeypatch)
    monkeypatch.setitem(room.HANDLERS, "cpu", room.HANDLERS["CUDA"])
    made = {}
    monkeypatch.setattr(room, "_made", made)
    test_an_error_in_the_handler_for_gpus_is_raised_where_the_user_waits.kept = made

    def lost(*given):
        raise RuntimeError("the GPU does not answer")

    monkeypatch.setattr(fake_gpu.Kernel, "launch", lost)
    monkeypatch.setattr(xla, "ask", lambda frame, place: place)
    robot = Robot(Chain.random(2, "RR", seed=9))
    with pytest.raises(Exception, match="RuntimeError: the GPU does not answer"):
        jax.block_until_ready(robot.gravity(jnp.asarray(STATE["q"])))


def test_the_front_in_python_answers_jaxs_arrays_too(monkeypatch):
    monkeypatch.setattr(calls, "EXTENSION", False)
    robot = Robot(ROBOT.chain)
    for _ in range(2):  # the second time there is memory for a state
        assert isinstance(robot.gravity(jnp.asarray(STATE["q"][0])), jax.Array)
        assert isinstance(robot.gravity(STATE["q"][0]), np.ndarray)
