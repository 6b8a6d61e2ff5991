"""Simulations of torch's tensors, JAX's arrays and those with DLPack: NumPy's bits, in kind."""

import sys
from types import ModuleType

import numpy as np
import pytest

import armdyn
from armdyn import ShapeError, SimulationError, arrays, controllers
from armdyn.engine import calls
from tests.test_arrays import Array
from tests.test_simulation_limits import MOTION, slider

ROBOT = armdyn.load("two_link")
Q, QD = np.random.default_rng(0).uniform(-1, 1, (2, 3, 2))
TORQUES = np.random.default_rng(1).uniform(-1, 1, (3, 5, 2))
SHORT = {"t": 5e-3, "dt": 1e-3, "integrator": "rk4"}


def same(found, expected, read):
    for name in MOTION:
        one, two = read(getattr(found, name)), getattr(expected, name)
        assert one.dtype == two.dtype
        np.testing.assert_array_equal(one, two, err_msg=name)
    assert found.violations == expected.violations


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_tensors_in_tensors_out(dtype, tmp_path):
    torch = pytest.importorskip("torch", reason="needs torch")
    state = [x.astype(dtype) for x in (Q, QD, TORQUES)]
    found = armdyn.simulate(ROBOT, *map(torch.tensor, state), **SHORT)
    expected = armdyn.simulate(ROBOT, *state, **SHORT)
    same(found, expected, lambda x: x.numpy())
    assert isinstance(found.energy.total, torch.Tensor)
    assert str(found).partition(" in ")[0] == str(expected).partition(" in ")[0]
    found.save(tmp_path / "run.npz")
    again = armdyn.simulation.results.Result.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(again.tau, expected.tau)


def test_lists_beside_tensors_are_constants():
    torch = pytest.importorskip("torch", reason="needs torch")
    q = torch.tensor(Q, dtype=torch.float32)
    found = armdyn.simulate(ROBOT, q, tau=[0.1, 0.2], gravity=(0, 0, -1.0), **SHORT)
    narrow = {"tau": np.float32([0.1, 0.2]), "gravity": np.float32([0, 0, -1])}
    same(found, armdyn.simulate(ROBOT, np.float32(Q), **narrow, **SHORT), lambda x: x.numpy())
    assert found.given["gravity"].dtype == torch.float32
    target = controllers.pd(torch.tensor([0.1, 0.2], dtype=torch.float64), kp=3, kd=1)
    expected = controllers.pd([0.1, 0.2], kp=3, kd=1)
    expected = armdyn.simulate(ROBOT, np.float32(Q), tau=expected, **SHORT)
    same(armdyn.simulate(ROBOT, q, tau=target, **SHORT), expected, lambda x: x.numpy())


def test_a_gradient_is_not_lost_silently():
    torch = pytest.importorskip("torch", reason="needs torch")
    q = torch.tensor(Q, requires_grad=True)
    with pytest.raises(SimulationError, match="q0 requires its gradient, and simulate follows"):
        armdyn.simulate(ROBOT, q, **SHORT)
    with torch.no_grad():
        assert armdyn.simulate(ROBOT, q, **SHORT).q.shape == (3, 6, 2)
    with pytest.raises(SimulationError, match="q0 is traced, by torch, and simulate follows num"):
        torch.func.vmap(lambda qd: armdyn.simulate(ROBOT, q.detach()[0], qd, **SHORT).q)(
            torch.tensor(QD)
        )
    with pytest.raises(ShapeError, match=r"q0 is a torch\.Tensor, qd0 is a numpy\.ndarray; exp"):
        armdyn.simulate(ROBOT, q.detach(), QD, **SHORT)


def test_what_was_computed_before_an_error_is_in_kind_too():
    torch = pytest.importorskip("torch", reason="needs torch")
    wild = controllers.pd([0.0], 0, 2000)
    with pytest.raises(SimulationError, match="diverged") as found:
        armdyn.simulate(slider(), torch.zeros(1), torch.ones(1), wild, t=4.0, dt=0.01)
    assert isinstance(found.value.result.q, torch.Tensor)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_jax_in_jax_out(dtype):
    jax = pytest.importorskip("jax", reason="needs JAX")
    state = [x.astype(dtype) for x in (Q, QD, TORQUES)]
    with jax.enable_x64(True):
        found = armdyn.simulate(ROBOT, *map(jax.numpy.asarray, state), **SHORT)
        assert isinstance(found.q, jax.Array)
        same(found, armdyn.simulate(ROBOT, *state, **SHORT), np.asarray)
        assert isinstance(found.energy.total, jax.Array)
        with pytest.raises(SimulationError, match="q0 is traced, by jax, and simulate follows num"):
            jax.jit(lambda q: armdyn.simulate(ROBOT, q, **SHORT).q)(state[0])


def test_any_other_library_that_has_dlpack(monkeypatch):
    module = ModuleType("dlpacked")
    module.from_dlpack = lambda memory: Array(np.from_dlpack(memory))
    monkeypatch.setitem(sys.modules, "dlpacked", module)
    monkeypatch.setattr(Array, "__module__", "dlpacked.core")
    monkeypatch.setattr(arrays, "_known", {})
    try:
        found = armdyn.simulate(ROBOT, Array(Q), Array(QD), **SHORT)
        with pytest.raises(ShapeError, match=r"on the device \(2, 0\) of DLPack; expected the CPU"):
            armdyn.simulate(ROBOT, Array(Q, (2, 0)), **SHORT)
    finally:
        calls.libraries.pop(Array, None)
    assert type(found.q) is Array
    same(found, armdyn.simulate(ROBOT, Q, QD, **SHORT), lambda x: x.memory)
