"""Whose arrays? Libraries are found by the types of their arrays, and none is imported.

A library of the tests' own stands for all that have DLPack, another one for CuPy. torch, JAX and
dask have files of their own.
"""

import os
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest

from armdyn import ArmdynError, Chain, Robot, ShapeError, arrays
from armdyn.engine import calls
from armdyn.engine.differentiated import differentiated
from armdyn.program import record
from tests import fake_cupy, fake_gpu
from tests.fake_cupy import Cupy

CHAIN = Chain.random(2, "RP", seed=3)
RNG = np.random.default_rng(0)
Q, QD, QDD = RNG.normal(size=(3, 5, 2))
SNAPSHOT = """
import sys, numpy, armdyn
robot, q = armdyn.load("two_link"), numpy.zeros(2)
robot.mass_matrix(q), robot.mass_matrix([0, 0]), robot.bias(q, q.tolist(), gravity=[0, 0, -1])
roots = {name.partition(".")[0] for name in sys.modules}
print(sorted(roots & {"torch", "jax", "cupy", "dask"}), "armdyn.arrays" in sys.modules)
"""


class Array:
    """An array of a library that has nothing but DLPack."""

    def __init__(self, memory, device=(1, 0)):
        self.memory, self.device = memory, device

    def __dlpack__(self, **options):
        return self.memory.__dlpack__()

    def __dlpack_device__(self):
        return self.device


class Other(Array):
    """An array of a library that cannot take any."""


@pytest.fixture
def robot(interpreted):
    return Robot(CHAIN)


@pytest.fixture(autouse=True)
def no_library_is_known(monkeypatch):
    monkeypatch.setattr(arrays, "_known", {})
    yield
    for kind in (Array, Other, Cupy):
        calls.libraries.pop(kind, None)


@pytest.fixture
def library(monkeypatch):
    """A library with the array above."""
    module = ModuleType("dlpacked")
    module.from_dlpack = lambda memory: Array(np.from_dlpack(memory))
    monkeypatch.setitem(sys.modules, "dlpacked", module)
    monkeypatch.setattr(Array, "__module__", "dlpacked.core")
    return module


def test_nothing_is_imported_for_numpy():
    done = subprocess.run(
        [sys.executable, "-c", SNAPSHOT],
        env=os.environ | {"ARMDYN_CACHE_DIR": os.environ["ARMDYN_CACHE_DIR"]},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.split("\n")[0] == "[] False"


# Anything with DLPack -----------------------------------------------------------------------------


def test_dlpack_in_and_out(robot, library):
    q = Array(Q)
    found = robot.mass_matrix(q)
    assert type(found) is Array
    assert np.array_equal(found.memory, robot.mass_matrix(Q))
    kinetic, potential = robot.energy(q, Array(QD))
    assert np.array_equal([kinetic.memory, potential.memory], robot.energy(Q, QD))
    for one in robot.energy(Array(Q[0]), Array(QD[0])):
        assert type(one) is Array and one.memory.shape == ()


def test_the_memory_is_shared(library):
    assert np.shares_memory(arrays.on_host(Array(Q)), Q)


def test_lists_and_numbers_beside_arrays_are_constants(robot, library):
    found = robot.bias(Array(Q), [0.5, 1], gravity=(0, 0, -1.0))
    assert np.array_equal(found.memory, robot.bias(Q, [0.5, 1], gravity=(0, 0, -1.0)))


def test_float32_stays_float32_beside_a_list(robot, library):
    found = robot.bias(Array(Q.astype(np.float32)), [0.5, 1])
    assert found.memory.dtype == np.float32


def test_options_and_payloads_go_with_them(robot, library):
    payload = np.array([1.0, 0.1, 0, 0, 0.2, 0, 0.2, 0, 0, 0.2])
    found = robot.gravity(Array(Q), payload=Array(payload), method="newton-euler")
    assert np.array_equal(found.memory, robot.gravity(Q, payload=payload, method="newton-euler"))
    with pytest.raises(ArmdynError, match="payload: mass -1"):
        robot.gravity(Array(Q), payload=Array(-payload))


def test_a_library_that_takes_no_dlpack_is_read_as_numpy_reads_it(robot):
    with pytest.raises(ShapeError, match="q has dtype object; expected real numbers"):
        robot.mass_matrix(Other(Q))
    Other.__array__ = lambda self, dtype=None, copy=None: self.memory
    try:
        assert type(robot.mass_matrix(Other(Q))) is np.ndarray
    finally:
        del Other.__array__


# What does not go together ------------------------------------------------------------------------


def test_two_libraries_in_one_call_are_named(robot, library):
    with pytest.raises(ShapeError) as error:
        robot.bias(Array(Q), QD)
    assert str(error.value) == (
        "q is a dlpacked.Array, qd is a numpy.ndarray; expected arrays of one library"
    )
    with pytest.raises(ShapeError, match=r"q is a dlpacked\.Array, payload is a numpy\.ndarray"):
        robot.gravity(Array(Q), payload=np.eye(10)[0] + 0)


def test_two_devices_in_one_call_are_named(robot, library):
    with pytest.raises(ShapeError) as error:
        robot.bias(Array(Q), Array(QD, (2, 1)))
    assert str(error.value) == ("q is on (1, 0), qd is on (2, 1); expected arrays on one device")
    with pytest.raises(ShapeError, match=r"on the device \(2, 1\) of DLPack; expected the CPU"):
        robot.gravity(Array(Q, (2, 1)))


def test_out_is_refused_where_it_cannot_be_filled(robot, library):
    with pytest.raises(ShapeError, match="out is .* expected none with arrays of a dlpacked.Array"):
        robot.mass_matrix(Array(Q), out=np.empty((5, 2, 2)))


def test_wrong_shapes_are_named_as_numpys_are(robot, library):
    with pytest.raises(ShapeError, match=r"q has shape \(5, 1\); expected \(\.\.\., 2\)"):
        robot.mass_matrix(Array(Q[:, :1]))


# CuPy, on a GPU that is none ----------------------------------------------------------------------


@pytest.fixture
def cupy(monkeypatch):
    """A module that is called as CuPy is."""
    yield fake_cupy.install(monkeypatch)
    sys.modules.pop("armdyn.arrays.cupy", None)


def test_cupy_launches_on_its_device_and_stream(robot, cupy, monkeypatch):
    launches = fake_gpu.install(monkeypatch)
    q, qd = cupy.asarray(Q), cupy.asarray(QD)
    found = robot.bias(q, qd[0], gravity=[0, 0, -1.0])
    assert type(found) is Cupy
    np.testing.assert_allclose(found, robot.bias(Q, QD[0], gravity=[0, 0, -1.0]), rtol=1e-12)
    assert launches == [(5, "float64", 1, 17, [2, 0, 0])]
    out = cupy.empty((5, 2, 2), np.float32)
    assert robot.mass_matrix(q.astype(np.float32), out=out) is out
    np.testing.assert_allclose(out, robot.mass_matrix(Q), rtol=1e-5)
    assert launches[1][:2] == (5, "float32")
    with pytest.raises(ShapeError, match=r"out is float32 \(5, 2, 2\); expected float64"):
        robot.mass_matrix(q, out=out)
    with pytest.raises(ShapeError, match="q has dtype complex128; expected real numbers"):
        robot.mass_matrix(q.astype(complex))


def test_cupy_writes_on_the_device_of_its_arrays_and_ends_copies(robot, cupy, monkeypatch):
    told = []

    def put(self, *given):
        told.append("put")
        np.ndarray.__setitem__(self, *given)

    stream, device = cupy.cuda.get_current_stream(), fake_cupy.Device
    monkeypatch.setattr(stream, "synchronize", lambda: told.append("wait"))
    monkeypatch.setattr(device, "__enter__", lambda self: told.append("in"))
    monkeypatch.setattr(device, "__exit__", lambda self, *_: told.append("out"))
    monkeypatch.setattr(Cupy, "__setitem__", put, raising=False)
    fake_gpu.install(monkeypatch)
    q, out = cupy.asarray(Q), cupy.empty((5, 2), float)
    robot.bias(q, [0.5, 1], out=out)
    assert told == ["in", "wait", "out", "in", "put", "out"]


def test_cupy_of_no_states_launches_nothing(robot, cupy, monkeypatch):
    launches = fake_gpu.install(monkeypatch)
    assert robot.mass_matrix(cupy.empty((0, 2), float)).shape == (0, 2, 2)
    assert launches == []


# Derivatives of any function ----------------------------------------------------------------------


def test_derivatives_of_derivatives_are_functions_too():
    """Of f(x) = x0^3 x1: the gradient, and the gradient of a weighted sum of that."""

    def cubic(x):
        return [x[0] * x[0] * x[0] * x[1]]

    from armdyn.engine.recorded import compile

    path = compile(record(cubic, {"x": 2})).path
    x, one = np.array([2.0, 5.0]), np.ones(1)
    gradient = differentiated(path, "vjp")
    assert np.array_equal(gradient(x, one), [60, 8])
    assert gradient is differentiated(path, "vjp")
    assert np.array_equal(differentiated(path, "jvp")(x, np.array([1.0, 2.0])), [76])
    hessian = differentiated(gradient, "vjp")
    row, weight = hessian(x, one, np.array([1.0, 0.0]))
    assert np.array_equal(row, [60, 12])  # d2f/dx0 dx
    assert np.array_equal(weight, [60])


def test_a_function_without_a_program_has_no_derivative():
    path = calls.CarefulPath("f", {"x": calls.Argument((2,))}, ((),), lambda kind, dtype: 0)
    with pytest.raises(ArmdynError, match="f has no program that could be differentiated"):
        differentiated(path, "vjp")
