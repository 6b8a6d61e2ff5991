"""Launches by a stand-in driver: the whole way from a Program to numbers, and its errors."""

import itertools
import os
import signal
import threading
from types import SimpleNamespace

import numpy as np
import pytest

import armdyn
from armdyn import Chain, DeviceError
from armdyn.arrays import cuda as arrays_cuda
from armdyn.engine import Compilation, cuda, gpu, ptx
from armdyn.engine.recorded import Recorded
from armdyn.program.fma import place_fma
from armdyn.program.tape import record
from armdyn.quantities.tasks import Task
from armdyn.simulation.step import Step, StepKernels
from benchmarks import gpu as benchmark
from benchmarks import soak
from tests.fake_cuda import FakeCuda
from tests.on_simulator import compiled, computed, same_bits, states
from tests.test_ptx import long_and_narrow

DTYPES = ("float32", "float64")


@pytest.fixture
def fake(monkeypatch):
    found = FakeCuda(devices=2)
    found.install(monkeypatch)
    return found


def kernel(code):
    program = code.program
    takes = tuple((length,) for length in program.inputs.values())
    return gpu.Kernel(code, takes, program.shapes)


def doubling():
    """A kernel that is quick to make."""
    return kernel(Recorded(record(lambda q: [x + x for x in q], {"q": 3})))


def launched(fake, made, inputs, dtype, device=0, stream=0):
    """The results of a launch on arrays that are copied to the device."""
    inputs = [fake.array(x, device) for x in inputs]
    count = len(inputs[0])
    outputs = [fake.array(np.zeros((count, *shape), dtype), device) for shape in made.shapes]
    given = [(x.ctypes.data, x.shape[1]) for x in inputs]
    places = [y.ctypes.data for y in outputs]
    made.launch(given, places, count, dtype, device, stream)
    return outputs


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_launch_computes_what_the_processor_does(fake, dtype):
    code = Compilation(Chain.random(3, "RPR"), [Task("inverse_dynamics"), Task("mass_matrix")])
    inputs = states(code.program, dtype, 70)
    found = launched(fake, kernel(code), inputs, dtype)
    same_bits(found, computed(code.program, dtype, inputs))
    assert fake.fault is None


def test_a_launch_goes_to_its_device_and_stream(fake):
    made = doubling()
    q = np.arange(15.0).reshape(5, 3)
    for device in (1, 0, 1):
        (found,) = launched(fake, made, [q], "float64", device, stream=40 + device)
        np.testing.assert_array_equal(found, 2 * q)
    assert [(x.device, x.stream) for x in fake.launches] == [(1, 41), (0, 40), (1, 41)]
    assert len(fake.modules) == 2  # one a device, kept


@pytest.mark.parametrize(
    ("count", "blocks"), [(40, 1), (128, 2), (129, 2), (1024, 2), (1025, 3), (1600, 4)]
)
def test_threads_go_on_to_further_states_where_there_are_many(fake, monkeypatch, count, blocks):
    """Two blocks are few here, and a thread takes eight states at most."""
    monkeypatch.setattr(cuda, "FEW", 2)
    made = kernel(Recorded(place_fma(record(long_and_narrow, {"q": 3, "r": 2}))))
    inputs = states(made.code.program, "float32", count)
    found = launched(fake, made, inputs, "float32")
    assert fake.launches[-1].grid == blocks
    same_bits(found, computed(made.code.program, "float32", inputs))


def test_memory_of_another_device_is_not_touched(fake):
    made, q = doubling(), np.ones((5, 3))
    outside, out = fake.array(q, device=0), fake.array(q, device=1)
    with pytest.raises(DeviceError, match="CUDA_ERROR_ILLEGAL_ADDRESS: the GPU no longer answers"):
        made.launch([(outside.ctypes.data, 3)], [out.ctypes.data], 5, "float64", 1, 0)


def test_no_states_are_no_launch(fake):
    doubling().launch([(0, 3)], [0], 0, "float32", 0, 0)
    assert fake.launches == []


def test_a_row_may_serve_all_states(fake):
    row, out = fake.array(np.array([[1.0, 2.0, 3.0]])), fake.array(np.zeros((40, 3)))
    doubling().launch([(row.ctypes.data, 0)], [out.ctypes.data], 40, "float64", 0, 0)
    np.testing.assert_array_equal(out, np.broadcast_to(2 * row, (40, 3)))


def test_kernels_with_much_shared_memory_ask_for_it(fake):
    made = kernel(Recorded(record(lambda q: [q[0] + k for k in range(400)], {"q": 1})))
    (found,) = launched(fake, made, [np.zeros((33, 1), "float32")], "float32")
    np.testing.assert_array_equal(found, np.broadcast_to(np.arange(400), (33, 400)))
    assert fake.launches[0].shared == 400 * 32 * 4 > cuda.FREELY


def test_a_card_with_little_shared_memory_gets_pages(monkeypatch):
    fake = FakeCuda(shared=48 * 1024)
    fake.install(monkeypatch)
    made = kernel(Recorded(record(lambda q: [q[0] + k for k in range(400)], {"q": 1})))
    (found,) = launched(fake, made, [np.zeros((33, 1), "float32")], "float32")
    np.testing.assert_array_equal(found, np.broadcast_to(np.arange(400), (33, 400)))
    assert fake.launches[0].shared <= 48 * 1024


@pytest.mark.parametrize(
    ("available", "limit"), [(0, 48), (48, 48), (100, 99), (164, 163), (227, 227), (999, 227)]
)
def test_kernels_are_made_for_what_a_card_has(available, limit):
    assert ptx.limit(available * 1024) == limit * 1024


# Contexts, threads, processes -------------------------------------------------------------------


def in_thread(work):
    """What some work returns in a thread of its own."""
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]


def test_a_thread_without_a_context_gets_the_primary_one(fake):
    made, q = doubling(), np.ones((5, 3))
    launched(fake, made, [q], "float64")

    def work():
        assert not hasattr(fake.local, "context")
        (found,) = launched(fake, made, [q], "float64")
        return found, fake.local.context

    found, context = in_thread(work)
    np.testing.assert_array_equal(found, 2 * q)
    assert context == cuda.driver().context(0)


def test_the_context_that_a_thread_has_is_left_as_it_was(fake):
    made, q = doubling(), np.ones((5, 3))
    launched(fake, made, [q], "float64", device=1)
    cuda.driver().enter(0)
    launched(fake, made, [q], "float64", device=1)
    launched(fake, made, [q], "float32", device=1)  # which is loaded now
    assert fake.local.context == cuda.driver().context(0)


def test_threads_launch_side_by_side(fake):
    made = doubling()
    rows = [np.full((40, 3), float(k)) for k in range(8)]
    wrong = []

    def work(q):
        for _ in range(5):
            (found,) = launched(fake, made, [q], "float64", int(q[0, 0]) % 2)
            wrong.append((found != 2 * q).sum())

    threads = [threading.Thread(target=work, args=(q,)) for q in rows]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [0] * 40
    assert len(fake.modules) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_says_that_it_cannot_use_the_gpu(fake):
    made, q = doubling(), np.ones((5, 3))
    launched(fake, made, [q], "float64")

    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(60)
            with pytest.raises(DeviceError, match="forked from one that uses the GPU; start it by"):
                launched(fake, made, [q], "float64")
            with pytest.raises(DeviceError, match="forked from one"):  # before a library is asked
                arrays_cuda.ready(SimpleNamespace(others={"cuda": made}))
            status = 1 if gpu.available() else 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    launched(fake, made, [q], "float64")


def test_what_was_made_is_found_on_the_disk(fake, monkeypatch):
    q = np.ones((5, 3))
    launched(fake, doubling(), [q], "float64")
    monkeypatch.setattr(ptx, "compile", None)
    fake.install(monkeypatch)
    (found,) = launched(fake, doubling(), [q], "float64")
    np.testing.assert_array_equal(found, 2 * q)


# Errors -----------------------------------------------------------------------------------------


def test_no_driver_is_one_clear_line(monkeypatch):
    def missing():
        raise OSError("libcuda.so.1: cannot open shared object file")

    monkeypatch.setattr(cuda, "open_library", missing)
    monkeypatch.setattr(cuda, "_drivers", [])
    assert not gpu.available()
    with pytest.raises(DeviceError, match="^no CUDA driver on this machine: libcuda.so.1: cannot"):
        doubling().launch([(0, 3)], [0], 1, "float32", 0, 0)


def test_a_driver_without_a_gpu_is_said(monkeypatch):
    FakeCuda(devices=0).install(monkeypatch)
    with pytest.raises(DeviceError, match="has the driver, but no GPU that it can use"):
        cuda.driver()


def test_a_device_that_is_not_there_is_named(fake):
    with pytest.raises(DeviceError, match="no GPU 2; this machine has 2, counted from 0"):
        doubling().launch([(0, 3)], [0], 1, "float32", 2, 0)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (719, "CUDA_ERROR_LAUNCH_FAILED: the GPU no longer answers this process"),
        (201, "CUDA_ERROR_INVALID_CONTEXT: the GPU's context is gone"),
        (1, "CUDA_ERROR_INVALID_VALUE: the GPU did not do as it was asked"),
    ],
)
def test_a_lost_device_is_said(fake, code, message):
    made, q = doubling(), np.ones((5, 3))
    launched(fake, made, [q], "float64")
    fake.lose(code)
    with pytest.raises(DeviceError, match=message):
        launched(fake, made, [q], "float64")


def test_what_the_driver_says_of_a_kernel_is_told(fake, monkeypatch):
    monkeypatch.setattr(ptx, "compile", lambda *given: b"// shared 0\nnot PTX")
    monkeypatch.setenv("ARMDYN_CACHE_DIR", "")
    with pytest.raises(DeviceError, match="CUDA_ERROR_INVALID_VALUE"):
        doubling().launch([(0, 3)], [0], 1, "float32", 0, 0)


@pytest.mark.parametrize("sizes", [((4,), (3,)), ((3,), (4,))], ids=["arguments", "results"])
def test_a_program_of_other_sizes_is_refused(fake, sizes, monkeypatch):
    monkeypatch.setenv("ARMDYN_CACHE_DIR", "")  # nor is it found there
    takes, gives = sizes
    code = Recorded(record(lambda q: [x + x for x in q], {"q": 3}))
    with pytest.raises(AssertionError, match="takes {'q': 3}"):
        gpu.Kernel(code, (takes,), (gives,)).launch([(0, 3)], [0], 1, "float32", 0, 0)


def test_a_name_that_the_driver_does_not_tell(fake):
    driver = cuda.driver()
    assert driver.name(1) == "fake 1"
    fake.cuDeviceGetName = lambda *given: 1
    with pytest.raises(DeviceError, match="CUDA_ERROR_INVALID_VALUE"):
        driver.name(1)


# Steps in registers -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_steps_in_registers_are_those_of_one_call_after_the_other(fake, dtype):
    code = StepKernels(armdyn.load("two_link").chain, Step("rk4", law="pd-gravity"))
    program, states, steps, every = code.program, 33, 6, 2
    takes = tuple((length,) for length in program.inputs.values())
    march = gpu.March(code, takes, program.shapes, ((0, 0), (1, 1)))
    rng = np.random.default_rng(0)
    rows = [rng.uniform(-1, 1, (steps, states, *shape)).astype(dtype) for shape in takes]
    rows[2][:] = 1e-2  # h
    given = [fake.array(x) for x in rows]
    outputs = [fake.array(np.zeros((steps // every, states, *s), dtype)) for s in program.shapes]
    inputs = [(x.ctypes.data, x[0, 0].size, x[0].size) for x in given]
    places = [y.ctypes.data for y in outputs[:-1]]
    march.launch(inputs, [*places, 0], states, steps, every, dtype, 0, 0)
    assert fake.fault is None
    state, expected, here = [x[0] for x in rows[:2]], [], compiled(program, dtype)
    for step in range(steps):
        results = computed(program, dtype, [*state, *(x[step] for x in rows[2:])], here)
        state = results[:2]
        expected.append(results)
    for k in range(len(outputs) - 1):
        same_bits([outputs[k]], [np.array([row[k] for row in expected[every - 1 :: every]])])
    assert not outputs[-1].any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_stages_of_a_step_are_the_step_bit_for_bit(fake, dtype):
    chain, count, steps = armdyn.load("two_link").chain, 40, 3
    whole = StepKernels(chain, Step("rk4")).program
    code = StepKernels(chain, Step("rk4-stage"))
    takes = tuple((length,) for length in code.program.inputs.values())
    march = gpu.March(code, takes, code.program.shapes, [(k, k) for k in range(7)], still=(7, 8, 9))
    q, qd, h, tau = states(whole, dtype, count)
    h[:] = 1e-2
    nothing, zero = np.full((count, 2), -0.0, dtype), np.full((count, 1), -0.0, dtype)
    given = [q, qd, q, qd, nothing, nothing, np.zeros((count, 1), dtype), h, zero, tau]
    given = [fake.array(x) for x in given]
    outputs = [fake.array(np.empty((steps, count, 2), dtype)) for _ in range(2)]
    inputs = [(x.ctypes.data, x.shape[1], 0) for x in given]
    places = [y.ctypes.data for y in outputs] + [0] * 5
    march.launch(inputs, places, count, 4 * steps, 4, dtype, 0, 0)
    assert fake.fault is None
    here = compiled(whole, dtype)
    for step in range(steps):
        q, qd, _ = computed(whole, dtype, [q, qd, h, tau], here)
        same_bits([outputs[0][step], outputs[1][step]], [q, qd])


def test_the_benchmark_measures_and_compares(fake, monkeypatch):
    small = {"ARM": "two_link", "MAIN": ("mass_matrix",), "BLOCK": 32, "PIECE": 32, "MARGIN": 0}
    for name, value in small.items():
        monkeypatch.setattr(benchmark, name, value)
    monkeypatch.setattr(benchmark, "QUANTITIES", ("energy",))
    card = benchmark.Card(1)
    a_state, seconds = 8 * (2 + 4), 1e-4  # bytes; what the fake's clock says of a launch
    (row,) = benchmark.speeds(card, 70, copying=70 * a_state / seconds)
    assert row["float32"]["states"] == 70
    assert (row["float32"]["% of copying"], row["float64"]["% of copying"]) == (50, 100)
    steps = benchmark.simulated(card, 33, 2)
    assert steps["float32 finite"] == steps["float64 finite"] == 1
    assert benchmark.bits(card, 70) == {"states": 70, "energy float32": 0, "energy float64": 0}
    assert fake.fault is None
    assert not fake.allocated
    with card.memory(56) as (place,):
        card.send(np.arange(7.0), place)
        np.testing.assert_array_equal(card.fetch(place, np.empty(7)), np.arange(7.0))


@pytest.fixture
def small_soak(fake, monkeypatch):
    for module in (benchmark, soak):
        monkeypatch.setattr(module, "ARM", "two_link")
    for name, value in {"STATES": 3, "INPUTS": 2, "ROUND": 3}.items():
        monkeypatch.setattr(soak, name, value)
    return lambda calls: soak.Soak("driver", 2, 1, calls, 60.0).run()


def test_the_soak_compares_every_call(fake, small_soak):
    report = small_soak(11)
    assert (report["calls"], report["numbers with other bits"], report["leak"]) == (12, 0, False)
    assert report["asked"] == ["gravity float32", "bias float64"]
    assert len(fake.launches) == 2 * 6 + 12  # those before the gate, and the counted ones
    assert {launch.stream for launch in fake.launches} == {*fake.streams} and len(fake.streams) == 2
    assert fake.fault is None and not fake.allocated


def test_the_soak_notices_a_launch_that_was_none(fake, small_soak, monkeypatch):
    launch, numbers = gpu.Kernel.launch, itertools.count()

    def forgetful(self, *given):
        if next(numbers) != 14:
            launch(self, *given)

    monkeypatch.setattr(gpu.Kernel, "launch", forgetful)
    assert small_soak(12)["numbers with other bits"] == 6


def test_the_soak_says_what_the_driver_says(fake, small_soak):
    fake.lose()
    with pytest.raises(DeviceError, match="the GPU no longer answers"):
        small_soak(12)
