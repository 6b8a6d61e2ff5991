"""What only a real GPU can tell; where there is none, these tests are left out."""

import threading

import numpy as np
import pytest

import armdyn
from armdyn import DeviceError
from armdyn.engine import cuda, gpu
from armdyn.program.tape import record
from benchmarks.gpu import Card, Question, differing, simulated
from benchmarks.soak import PROCESSES, said

pytestmark = pytest.mark.skipif(not gpu.available(), reason="no GPU here")

MAIN = ("mass_matrix", "inverse_dynamics", "forward_dynamics", "regressor", "energy")


@pytest.fixture(scope="module")
def card():
    return Card(0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("quantity", MAIN)
def test_a_quantity_has_the_bits_of_the_processor(card, quantity, dtype):
    assert differing(card, quantity, dtype, 100_001) == 0


@pytest.mark.parametrize("limit", [48 * 1024, 99 * 1024])
def test_pages_have_the_bits_of_the_processor(card, monkeypatch, limit):
    monkeypatch.setattr(gpu.ptx, "limit", lambda available: limit)
    for quantity in ("regressor", "christoffel"):
        assert differing(card, quantity, "float64", 1_000) == 0


class Reciprocals:
    """What a kernel needs to be told of: the program 1 / x, newly made."""

    program = record(lambda x: [1 / x[0]], {"x": 1})

    def kept(self, make, *form):
        return make()


@pytest.mark.parametrize("exponent", [0, 1, 2, 127, 252, 253, 254, 255])
def test_reciprocals_of_every_digit_have_the_bits_of_the_processor(card, exponent):
    kernel = gpu.Kernel(Reciprocals(), ((1,),), Reciprocals.program.shapes)
    x = (np.arange(2**23, dtype=np.uint32) | np.uint32(exponent << 23)).view(np.float32)
    with card.memory(x.nbytes, x.nbytes) as (given, taken):
        card.send(x, given)
        kernel.launch([(given, 1)], [taken], len(x), "float32", 0, 0)
        card.wait()
        found = card.fetch(taken, np.empty_like(x))
    with np.errstate(all="ignore"):
        known = 1 / x
    same = found.view(np.uint32) == known.view(np.uint32)
    assert (same | (np.isnan(found) & np.isnan(known))).all()


def test_steps_in_registers_run(card):
    assert all(rate > 0 for rate in simulated(card, 1000, 10).values())


def test_threads_launch_side_by_side(card):
    asked, robot, wrong = Question("gravity"), armdyn.load("panda"), []
    rng = np.random.default_rng(0)

    def work(q):
        own = Card(0)
        with own.memory(q.nbytes, q.nbytes) as (given, taken):
            own.send(q, given)
            for _ in range(200):
                asked.kernel.launch([(given, 7)], [taken], len(q), "float32", 0, 0)
            own.wait()
            found = own.fetch(taken, np.empty_like(q))
        wrong.append((found != robot.gravity(q)).sum())

    rows = [rng.uniform(-3, 3, (1000 + k, 7)).astype("float32") for k in range(8)]
    threads = [threading.Thread(target=work, args=(q,)) for q in rows]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [0] * 8


def test_launches_leave_nothing_behind(card):
    asked = Question("gravity")
    with card.memory(7 * 4 * 32, 7 * 4 * 32) as (given, taken):
        card.send(np.ones((32, 7), "float32"), given)
        asked.kernel.launch([(given, 7)], [taken], 32, "float32", 0, 0)
        card.wait()
        before = card.free()
        for _ in range(100_000):
            asked.kernel.launch([(given, 7)], [taken], 32, "float32", 0, 0)
        card.wait()
        assert card.free() == before


def test_a_device_that_is_not_there_is_named():
    count = cuda.driver().devices
    with pytest.raises(DeviceError, match=f"no GPU {count}; this machine has {count}"):
        Question("gravity").kernel.launch([(0, 7)], [0], 1, "float32", count, 0)


@pytest.mark.parametrize("name", PROCESSES)
def test_processes_that_cannot_go_on_say_so(name):
    if "torch" in name:
        torch = pytest.importorskip("torch", reason="needs torch")
        if not torch.cuda.is_available():
            pytest.skip("needs a GPU that torch can use")
    assert PROCESSES[name][1] in said(name)
