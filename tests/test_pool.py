"""The pool of threads in C: what it does with batches, at forks, at the end, and within itself.

Some kernels here are functions in Python, so that they can tell on which thread they run.
"""

import ctypes
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from armdyn.engine import blocks, calls, workers
from armdyn.errors import ShapeError
from tests.kernels import N, Polynomials, assert_same_bits, function, states

pytestmark = pytest.mark.skipif(not calls.EXTENSION, reason="the C extension is not built")
POINTERS = ctypes.POINTER(ctypes.POINTER(ctypes.c_double))
KERNEL = ctypes.CFUNCTYPE(None, POINTERS, POINTERS, ctypes.c_int64)


class Kernel:
    """A kernel of q (..., 1) -> (..., 1) that is a function in Python, and calls of it."""

    def __init__(self, work):
        self.work = KERNEL(lambda read, written, count: work(read[0], written[0], count))
        self.f = calls.Function(  # which keeps the kernel
            "f", {"q": calls.Argument((1,))}, ((1,),), self.compile
        )
        self.f(np.ones((3, 1)), threads=1)  # from now on the C front knows the kernel

    def compile(self, kind, dtype):
        assert kind == "batch"  # which batches of up to two states do not use
        return ctypes.cast(self.work, ctypes.c_void_p).value


class Gathering:
    """A kernel that copies, and does not return before so many threads have come to it."""

    def __init__(self):
        self.change = threading.Condition()
        self.seen, self.expected = set(), 1

    def __call__(self, read, written, count):
        with self.change:
            self.seen.add(threading.get_ident())
            self.change.notify_all()
            self.change.wait_for(lambda: len(self.seen) >= self.expected, timeout=20)
        for k in range(count):
            written[k] = read[k]

    def threads(self, expected, f, *values, **keywords):
        """How many threads took part in a call of f."""
        self.seen, self.expected = set(), expected
        found = f(*values, **keywords)
        assert_same_bits(found, values[0])
        return len(self.seen)


@pytest.fixture
def gathering():
    return Gathering()


def test_a_batch_has_the_threads_it_is_given(gathering, monkeypatch):
    f = Kernel(gathering).f
    many = np.arange(50_000.0)[:, None]
    count = lambda expected, **given: gathering.threads(expected, f, many, **given)  # noqa: E731
    assert count(1, threads=1) == 1
    assert count(2, threads=2) == 2
    assert count(7, threads=7) == 7
    monkeypatch.setattr(workers, "cores", lambda: 3)
    monkeypatch.delenv("ARMDYN_NUM_THREADS", raising=False)
    assert count(3) == 3
    monkeypatch.setenv("ARMDYN_NUM_THREADS", " 2 ")
    assert count(2) == 2
    monkeypatch.setenv("ARMDYN_NUM_THREADS", "1")
    assert count(1) == 1
    assert count(4, threads=4) == 4
    assert count(1, threads=None) == 1
    with workers.by_default(2):
        assert count(2) == 2
    assert count(1) == 1
    monkeypatch.setenv("ARMDYN_NUM_THREADS", "4")
    assert gathering.threads(1, f, many[:100]) == 1  # would not pay
    assert gathering.threads(4, f, many[:64], threads=9) == 4  # four blocks of the widest vector
    for wrong in "0", "-1", "many", "1.5":
        monkeypatch.setenv("ARMDYN_NUM_THREADS", wrong)
        with pytest.raises(ShapeError, match=f"ARMDYN_NUM_THREADS is '?{wrong}'?; expected"):
            f(many)
    for wrong in (0, -3, True, 1.5, "2"):
        with pytest.raises(ShapeError, match="threads is .*; expected a whole number"):
            f(many, threads=wrong)


def test_a_batch_of_any_shape_has_the_threads_it_is_given(gathering, monkeypatch):
    f = Kernel(gathering).f
    monkeypatch.setattr(workers, "cores", lambda: 3)
    monkeypatch.delenv("ARMDYN_NUM_THREADS", raising=False)
    monkeypatch.setattr(blocks, "side_by_side", None)  # Python's own threads are not asked
    numbers = np.arange(100_000.0)
    shapes = {
        "strided": numbers[::2, None],
        "backwards": numbers[::-1, None],
        "integers": numbers.astype(int)[:, None],
        "not aligned": np.frombuffer(b"x" + numbers.tobytes(), np.uint8)[1:].view(float)[:, None],
        "grid": numbers.reshape(100, 10, 100).transpose(1, 2, 0)[..., None],
    }
    for name, many in shapes.items():
        right = np.ascontiguousarray(many, float)
        for threads in 2, 4, None:
            gathering.seen, gathering.expected = set(), threads or 3
            assert_same_bits(f(many, threads=threads), right)
            assert len(gathering.seen) == gathering.expected, name
        wide = np.zeros((*many.shape[:-1], 2))
        f(many, out=wide[..., 1:], threads=2)
        assert_same_bits(wide[..., 1:], right)
        assert not wide[..., 0].any()
    assert gathering.threads(1, f, np.arange(100.0)[::-1, None]) == 1  # would not pay


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_state_is_done_once_whatever_the_split(dtype):
    polynomials = Polynomials()
    f = function(calls.front_in_c, polynomials)
    f(*states(1, dtype=dtype))
    for count in (*range(70), 127, 128, 129, 1000, 4097, 20_011):
        values = states(count, dtype=dtype)
        right = polynomials.expected(*values)
        for threads in 2, 3, 5, 100, 2**62:
            out = np.full((count, N, N), 7, dtype), np.full(count, 7, dtype)
            f(*values, out=out, threads=threads)
            for found, new, one in zip(out, f(*values, threads=threads), right, strict=True):
                assert_same_bits(found, one)
                assert_same_bits(new, one)


def test_a_batch_within_a_part_of_a_batch(gathering):
    inner = Kernel(gathering).f
    depths = []

    def work(read, written, count):
        q = np.ctypeslib.as_array(read, (count,))
        np.ctypeslib.as_array(written, (count,))[:] = inner(q[:, None], threads=4)[:, 0]
        depths.append(count)

    outer = Kernel(work).f
    many = np.arange(3000.0)[:, None]
    depths.clear()
    for threads in 2, 5:
        assert_same_bits(outer(many, threads=threads), many)
    assert sum(depths) == 6000


def test_many_python_threads_share_the_pool():
    polynomials = Polynomials()
    f = function(calls.front_in_c, polynomials)
    f(*states(1))
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for k in range(300):
            values = list(rng.normal(size=(2, int(rng.integers(1, 3000)), N)))
            found = f(*values, threads=2 + k % 5)
            for one, right in zip(found, polynomials.expected(*values), strict=True):
                if one.tobytes() != right.tobytes():
                    wrong.append((seed, k))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# The process: forks, its end, its signals --------------------------------------------------------

BUSY = """
import os, signal, sys, threading, time
import numpy as np
from armdyn.engine import calls
from tests.kernels import Polynomials, function, states

polynomials = Polynomials()
f = function(calls.front_in_c, polynomials)
values = states(3000)
right = polynomials.expected(*values)[0].tobytes()
f(*values)
running = True

def right_on(threads):
    return f(*values, threads=threads)[0].tobytes() == right

def keep_on(threads):
    while running:
        assert right_on(threads)
"""
FORKS = """
others = [threading.Thread(target=keep_on, args=(2 + k,)) for k in range(3)]
for other in others:
    other.start()
for k in range(int(sys.argv[1])):
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        good = all(right_on(2 + (k + i) % 3) for i in range(20))
        grandchild = os.fork()
        if grandchild == 0:
            os._exit(0 if good and right_on(4) else 1)
        os._exit(os.waitpid(grandchild, 0)[1] != 0)
    assert os.waitpid(child, 0)[1] == 0, k
running = False
for other in others:
    other.join()
print(right_on(4))
"""
END = """
for k in range(3):
    threading.Thread(target=keep_on, args=(2 + k,), daemon=True).start()
time.sleep(float(sys.argv[1]))
print(right_on(4))
"""
ALARMS = """
caught = []
signal.signal(signal.SIGALRM, lambda *_: caught.append(threading.get_ident()))
assert right_on(4)
signal.setitimer(signal.ITIMER_REAL, 1e-3, 1e-3)
while len(caught) < 100:
    time.sleep(1e-4)
    assert right_on(4)
signal.setitimer(signal.ITIMER_REAL, 0)
blocked = []
for task in os.listdir("/proc/self/task"):
    status = open(f"/proc/self/task/{task}/status").read()
    mask = int(status.split("SigBlk:")[1].split()[0], 16)
    blocked.append(bool(mask >> signal.SIGALRM - 1 & 1))
print(sum(blocked) == 3 and len(blocked) >= 4)
"""


def run(program, *arguments):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BUSY + program, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("True\n", "", 0), done


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("forks", [15, pytest.param(200, marks=pytest.mark.sweep)])
def test_a_child_forked_in_the_middle_of_batches_has_a_pool_of_its_own(forks):
    run(FORKS, forks)


@pytest.mark.parametrize("seconds", [0, 0.01, 0.1])
def test_the_interpreter_ends_in_the_middle_of_batches(seconds):
    run(END, seconds)


@pytest.mark.skipif(sys.platform != "linux", reason="reads signal masks from /proc")
def test_the_threads_of_the_pool_take_no_signals():
    run(ALARMS)


# Steps of simulations ---------------------------------------------------------------------------


def test_march_refuses_what_does_not_fit():
    march = calls._call.march
    pointers, strides = np.zeros((3, 2), np.int64), np.zeros(2, np.int64)
    turn = (0, 1, pointers, strides)
    march(b"", (turn,), 0, 5, 1024, 2)
    march(b"\0\0\0", (turn,), 0, 0, 1024, 2)
    for plan, turns, first in (
        (bytes(4), (turn,), 0),
        (bytes(1), (turn,), 3),
        (b"\1", (turn,), 0),
        (b"\0", (), 0),
        (b"\0", ((0, 3, pointers, strides),), 0),
        (b"", (turn,) * 9, 0),
        (b"", ((0, 1, pointers, np.zeros(65, np.int64)),), 0),
    ):
        with pytest.raises(ValueError, match="pointers|turn"):
            march(plan, turns, first, 5, 1024, 2)
