"""Arrays on a GPU: torch's, CuPy's and JAX's, in and out, where they and it are there."""

import numpy as np
import pytest

import armdyn
from armdyn import Chain, Robot, ShapeError, controllers
from armdyn.engine import gpu
from tests.test_simulation_limits import MOTION

RNG = np.random.default_rng(0)
CHAIN = Chain.random(7, seed=1)
ROBOT = Robot(CHAIN)
Q, QD, QDD = RNG.uniform(-3, 3, (3, 1000, 7))
types = pytest.mark.parametrize("dtype", ["float64", "float32"])


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch", reason="needs torch")
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU that torch can use")
    return torch


@pytest.fixture
def cupy():
    cupy = pytest.importorskip("cupy", reason="needs CuPy")
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        pytest.skip("needs a GPU that CuPy can use")
    return cupy


@pytest.fixture
def jax():
    jax = pytest.importorskip("jax", reason="needs JAX")
    if jax.default_backend() != "gpu":
        pytest.skip("needs a GPU that JAX can use")
    with jax.enable_x64(True):
        yield jax


# torch --------------------------------------------------------------------------------------------


@types
def test_torch_has_the_bits_of_the_cpu(torch, dtype):
    state = [x.astype(dtype) for x in (Q, QD, QDD)]
    given = [torch.tensor(x, device="cuda") for x in state]
    found = ROBOT.inverse_dynamics(*given)
    assert found.device == given[0].device
    assert np.array_equal(found.cpu(), ROBOT.inverse_dynamics(*state))
    found = ROBOT.bias(given[0].T.contiguous().T, given[1][0], gravity=[0, 0, -1.0])
    down = np.array([0, 0, -1.0], dtype)  # NumPy takes a list for float64
    assert np.array_equal(found.cpu(), ROBOT.bias(state[0], state[1][0], gravity=down))
    for tensor, array in zip(ROBOT.energy(*given[:2]), ROBOT.energy(*state[:2]), strict=True):
        assert np.array_equal(tensor.cpu(), array)
    assert ROBOT.mass_matrix(given[0][0]).shape == (7, 7)


def test_torch_on_a_stream_of_its_own(torch):
    q = torch.tensor(Q, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(10_000_000)
        moved = q + 1
        found = ROBOT.gravity(moved)
    stream.synchronize()
    assert np.array_equal(found.cpu(), ROBOT.gravity(Q + 1))


def test_torch_needs_python_for_the_first_launch_alone(torch, monkeypatch):
    q, qd = (torch.tensor(x, device="cuda") for x in (Q, QD))
    robot = Robot(CHAIN)
    robot.energy(q, qd)
    monkeypatch.setattr(gpu.Kernel, "launch", None)
    for count in (1000, 1, 33):
        found = robot.energy(q[:count], qd[:count])
        for tensor, array in zip(found, robot.energy(Q[:count], QD[:count]), strict=True):
            assert np.array_equal(tensor.cpu(), array)


def test_torch_goes_backward(torch):
    q, qd = (torch.tensor(x[:3], device="cuda", requires_grad=True) for x in (Q, QD))
    assert torch.autograd.gradcheck(ROBOT.bias, (q, qd), nondet_tol=0.0)
    (ROBOT.gravity(q) ** 2).sum().backward()
    expected = ROBOT.vjp("gravity")(Q[:3], 2 * ROBOT.gravity(Q[:3]))
    np.testing.assert_allclose(q.grad.cpu(), expected, rtol=1e-12)
    compiled = torch.compile(lambda x: ROBOT.gravity(x).sum(), fullgraph=True, backend="aot_eager")
    assert torch.allclose(compiled(q), ROBOT.gravity(q).sum())


def test_torch_on_two_devices_is_an_error(torch):
    q = torch.tensor(Q)
    with pytest.raises(ShapeError, match="q is on cuda:0, qd is on cpu; expected arrays on one"):
        ROBOT.bias(q.cuda(), q)


# CuPy ---------------------------------------------------------------------------------------------


@types
def test_cupy_has_the_bits_of_the_cpu(cupy, dtype):
    q, qd = Q.astype(dtype), QD.astype(dtype)
    found = ROBOT.bias(cupy.asarray(q), cupy.asarray(qd))
    assert isinstance(found, cupy.ndarray) and np.array_equal(
        cupy.asnumpy(found), ROBOT.bias(q, qd)
    )
    found = ROBOT.bias(cupy.asarray(q)[::-1], cupy.asarray(qd[0]))
    assert np.array_equal(cupy.asnumpy(found), ROBOT.bias(q[::-1], qd[0]))


# JAX ----------------------------------------------------------------------------------------------


@types
def test_jax_has_the_bits_of_the_cpu(jax, dtype):
    q, qd = Q.astype(dtype), QD.astype(dtype)
    found = jax.jit(ROBOT.bias)(jax.numpy.asarray(q), jax.numpy.asarray(qd))
    assert np.array_equal(found, ROBOT.bias(q, qd))
    found = jax.vmap(ROBOT.mass_matrix)(jax.numpy.asarray(q))
    assert np.array_equal(found, ROBOT.mass_matrix(q))


def test_jax_needs_python_for_the_first_launch_alone(jax, monkeypatch):
    q, qd = (jax.numpy.asarray(x) for x in (Q, QD))
    robot = Robot(Chain.random(7, seed=2))
    function = jax.jit(robot.bias)
    jax.block_until_ready(function(q, qd))
    monkeypatch.setattr(gpu.Kernel, "launch", None)
    for count in (1000, 1, 33):
        assert np.array_equal(function(q[:count], qd[:count]), robot.bias(Q[:count], QD[:count]))


def test_jax_goes_backward(jax):
    found = jax.jit(jax.grad(lambda q: (ROBOT.gravity(q) ** 2).sum()))(jax.numpy.asarray(Q))
    expected = ROBOT.vjp("gravity")(Q, 2 * ROBOT.gravity(Q))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


# Simulations --------------------------------------------------------------------------------------

HOLD = controllers.pd_gravity(np.zeros(7), kp=20, kd=2)
ROLLOUTS = pytest.mark.parametrize(
    "options",
    [
        {},
        {"tau": HOLD, "friction": True},
        {"tau": HOLD, "integrator": "rk4", "every": 20, "limits": "ignore"},
        {"tau": controllers.computed_torque(np.zeros(7), 30, 9, rate=100), "every": 20},
    ],
    ids=str,
)


def rolled(like, read, dtype, **options):
    """Whether a rollout of other arrays has the bits of NumPy's; of none there is none."""
    q, qd = Q.astype(dtype), QD.astype(dtype)
    found = armdyn.simulate(ROBOT, like(q), like(qd), t=0.1, **options)
    expected = armdyn.simulate(ROBOT, q, qd, t=0.1, **options)
    assert type(found.q) is type(like(q)) and found.violations == expected.violations
    for name in MOTION:
        np.testing.assert_array_equal(read(getattr(found, name)), getattr(expected, name))
    assert armdyn.simulate(ROBOT, like(q[:0]), t=0.1, **options).q.shape[0] == 0


@types
@ROLLOUTS
def test_torch_rolls_out_with_the_bits_of_the_cpu(torch, dtype, options):
    rolled(lambda x: torch.tensor(x, device="cuda"), lambda x: x.cpu().numpy(), dtype, **options)


@types
def test_torch_rolls_out_torques_of_its_own(torch, dtype):
    q, tau = Q[:50].astype(dtype), RNG.uniform(-1, 1, (50, 30, 7)).astype(dtype)
    with torch.cuda.stream(torch.cuda.Stream()):
        given = [torch.tensor(x, device="cuda") for x in (q, tau)]
        found = armdyn.simulate(ROBOT, given[0], tau=given[1], t=0.03)
        assert torch.isfinite(found.energy.total).all()
        assert np.array_equal(found.q.cpu(), armdyn.simulate(ROBOT, q, tau=tau, t=0.03).q)


@types
@ROLLOUTS
def test_cupy_rolls_out_with_the_bits_of_the_cpu(cupy, dtype, options):
    rolled(cupy.asarray, cupy.asnumpy, dtype, **options)


@types
@ROLLOUTS
def test_jax_rolls_out_with_the_bits_of_the_cpu(jax, dtype, options):
    rolled(jax.numpy.asarray, np.asarray, dtype, **options)


def test_a_diverging_rollout_is_told(torch):
    wild = controllers.pd(np.zeros(7), 0, 1e5)
    for options in ({}, {"every": 50, "limits": "ignore", "integrator": "rk4"}):
        with pytest.raises(armdyn.SimulationError) as expected:
            armdyn.simulate(ROBOT, Q, QD, wild, **options)
        state = torch.tensor(Q, device="cuda"), torch.tensor(QD, device="cuda")
        with pytest.raises(armdyn.SimulationError) as found:
            armdyn.simulate(ROBOT, *state, wild, **options)
        assert str(found.value) == str(expected.value)
