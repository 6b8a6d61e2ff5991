"""Steps of torch's tensors and JAX's arrays: NumPy's bits, and gradients through a step."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import armdyn

ROOT = Path(__file__).parents[1]
ROBOT = armdyn.load("two_link")
STATE = np.random.default_rng(0).uniform(-1, 1, (3, 6, 2))  # q, qd, action
PARAMETERS = np.linspace(0.8, 1.2, 6)[:, None] * ROBOT.chain.parameters


@pytest.fixture(scope="module")
def stepper():
    return ROBOT.stepper(0.01, "pd-gravity", kp=30, kd=5)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("substeps", [1, 5])
def test_tensors_step_as_arrays_do(dtype, substeps):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    stepper = ROBOT.stepper(0.01, "pd", kp=30, kd=5, substeps=substeps)
    state = STATE.astype(dtype)
    found = stepper.step(*map(torch.tensor, state))
    for one, two in zip(found, stepper.step(*state), strict=True):
        assert isinstance(one, torch.Tensor)
        assert one.numpy().dtype == two.dtype
        np.testing.assert_array_equal(one.numpy(), two)


def test_gradients_flow_through_a_step(stepper):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    state = [torch.tensor(x, requires_grad=True) for x in STATE]
    parameters = torch.tensor(PARAMETERS, requires_grad=True)
    assert torch.autograd.gradcheck(lambda *x: stepper.step(*x), state)
    assert torch.autograd.gradcheck(
        lambda x: stepper.step(*(s.detach() for s in state), parameters=x), parameters
    )


def test_jax_steps_differentiates_and_compiles(stepper):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    with jax.enable_x64(True):
        state = [jax.numpy.asarray(x) for x in STATE]
        expected = stepper.step(*STATE)
        for found in (stepper.step(*state), jax.jit(lambda *x: stepper.step(*x))(*state)):
            for one, two in zip(found, expected, strict=True):
                np.testing.assert_array_equal(np.asarray(one), two)
        slope = jax.grad(lambda action: stepper.step(*state[:2], action)[1].sum())(state[2])
    h = 1e-6 * np.array([1.0, 0.0])
    apart = np.subtract(
        stepper.step(*STATE[:2], STATE[2] + h)[1], stepper.step(*STATE[:2], STATE[2] - h)[1]
    )
    np.testing.assert_allclose(slope[:, 0], apart.sum(axis=1) / 2e-6, rtol=1e-7)


def test_constants_are_made_once_for_a_library_and_precision(stepper, monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from armdyn.arrays import torch as room

    made, like = [], room.like
    monkeypatch.setattr(room, "like", lambda *given: made.append(given) or like(*given))
    stepper = ROBOT.stepper(0.01, "pd-gravity", kp=30, kd=5, substeps=3)
    wide, narrow = map(torch.tensor, STATE), map(torch.tensor, STATE.astype("float32"))
    wide, narrow = [*wide], [*narrow]
    with torch.inference_mode():
        stepper.step(*wide)
    for _ in range(3):
        stepper.step(*wide), stepper.step(*narrow)
    assert len(made) == 6  # h, kp and kd, twice
    wide[2].requires_grad_()
    stepper.step(*wide)[0].sum().backward()  # of constants from a mode without gradients
    assert wide[2].grad.abs().min() > 0
    mixed = stepper.step(narrow[0], *wide[1:])
    expected = stepper.step(narrow[0].numpy(), *STATE[1:])
    np.testing.assert_array_equal(mixed[0].detach().numpy(), expected[0])


def test_a_step_can_be_compiled_by_torch(stepper):
    torch = pytest.importorskip("torch", minversion="2.10", reason="needs torch 2.10 or newer")
    state = [torch.tensor(x) for x in STATE]
    expected = stepper.step(*state)
    step = torch.compile(lambda *x: stepper.step(*x), fullgraph=True, backend="aot_eager")
    for one, two in zip(step(*state), expected, strict=True):
        assert torch.equal(one, two)


def test_jax_constants_do_not_leak_from_a_trace():
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    stepper = ROBOT.stepper(0.01, "pd", kp=30, kd=5)
    with jax.enable_x64(True):
        q, qd, action = map(jax.numpy.asarray, STATE)
        jitted = jax.jit(lambda x: stepper.step(q, qd, x))(action)
        for one, two in zip(jitted, stepper.step(q, qd, action), strict=True):
            np.testing.assert_array_equal(one, two)


SHARDED = """
import jax, numpy as np
from jax.sharding import NamedSharding, PartitionSpec
from tests.test_stepper_arrays import ROBOT, STATE

jax.config.update("jax_enable_x64", True)
halves = NamedSharding(jax.make_mesh((2,), ("arms",)), PartitionSpec("arms"))
stepper = ROBOT.stepper(0.01, "pd", kp=30, kd=5)
found = stepper.step(*(jax.device_put(x, halves) for x in STATE))
for one, two in zip(found, stepper.step(*STATE), strict=True):
    np.testing.assert_array_equal(np.asarray(one), two)
"""


def test_jax_arrays_on_several_devices_are_stepped():
    pytest.importorskip("jax", reason="JAX is not installed")
    two = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    run = [sys.executable, "-c", SHARDED]
    subprocess.run(run, cwd=ROOT, env={**os.environ, **two}, check=True)
