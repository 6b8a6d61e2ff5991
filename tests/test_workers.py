"""The workers: who does the parts of a call, what their errors become, and what Ctrl-C does."""

import gc
import signal
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

from armdyn.engine import workers
from armdyn.engine.workers import side_by_side
from tests.kernels import FRONTS


def in_worker(work):
    """Parts of which the second is done by a worker: the caller waits in the first until then."""
    begun = threading.Event()

    def second():
        begun.set()
        work()

    return [lambda: begun.wait(20), second]


@pytest.mark.parametrize("count", [1, 2, 3, 20])
def test_every_part_is_done_once(count):
    done = []
    side_by_side([lambda k=k: done.append(k) for k in range(count)])
    assert sorted(done) == list(range(count))


def test_workers_are_other_threads():
    names = []
    side_by_side(in_worker(lambda: names.append(threading.get_ident())))
    assert names and names != [threading.get_ident()]


def fail(error):
    raise error


@pytest.mark.parametrize("error", [ValueError("no"), KeyError("k"), SystemExit(3)], ids=repr)
def test_an_error_of_a_worker_is_the_callers(error):
    for _ in range(20):  # more than there are workers, which go on
        with pytest.raises(type(error)) as caught:
            side_by_side(in_worker(lambda: fail(error)))
        assert caught.value is error


def test_an_error_of_the_caller_waits_for_the_workers():
    begun, done = threading.Event(), []

    def first():
        assert begun.wait(20)
        raise ValueError("the first")

    def second():
        begun.set()
        threading.Event().wait(0.05)
        done.append("second")

    with pytest.raises(ValueError, match="the first"):
        side_by_side([first, second])
    assert done == ["second"]


def test_parts_may_have_parts():
    done = []

    def inner():
        side_by_side([lambda k=k: done.append(k) for k in range(4)])

    side_by_side([inner] * 8)
    side_by_side(in_worker(inner))
    assert sorted(done) == sorted([*range(4)] * 9)


def test_no_thread_can_be_started(monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(workers, "start_new_thread", refuse)
    monkeypatch.setattr(workers._Workers, "shared", workers._Workers())
    done = []
    side_by_side([lambda k=k: done.append(k) for k in range(5)])
    assert done == [0, 1, 2, 3, 4]
    assert workers._Workers.shared.parts.empty()


def test_workers_let_go_of_what_they_worked_on():
    array = np.zeros(3)
    gone = weakref.ref(array)
    side_by_side(in_worker(lambda array=array: array.sum()))
    side_by_side(in_worker(lambda: None))  # that worker has left the first part
    del array
    gc.collect()
    assert gone() is None


# Interrupts ---------------------------------------------------------------------------------------

needs_timers = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
PROGRAM = """
import random, signal, sys
import numpy as np
from armdyn.engine import calls
from tests.kernels import Polynomials, function, states

front, rounds, again = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
polynomials = Polynomials()
f = function(getattr(calls, front), polynomials)
count = 400
plain = states(count)
batches = [plain, [plain[0], plain[1][:1]], [x.astype(np.float32) for x in plain]]
expected = [polynomials.expected(*values) for values in batches]
for values in batches:
    f(*values, threads=4)  # compiles; llvmlite does not bear interrupts that come every 30 us
out = np.empty((count, 3, 3)), np.empty(count)
armed, caught = False, 0

def interrupt(*_):
    if armed:
        raise KeyboardInterrupt

random.seed(rounds)
signal.signal(signal.SIGALRM, interrupt)
for k in range(rounds):
    values, right = batches[k % 3], expected[k % 3]
    given = {"out": out} if k % 3 < 2 else {}
    try:
        armed = True
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, 4e-4), again)
        while True:
            f(*values, threads=2 + k % 3, **given)
    except KeyboardInterrupt:
        armed = False
    signal.setitimer(signal.ITIMER_REAL, 0)
    caught += 1
    if not again:  # a worker that were still at it would write now
        for part in out:
            part.fill(np.nan)
        f(*plain, threads=1)
        assert all(np.isnan(part).all() for part in out), k
    for found, one in zip(f(*values, threads=4), right, strict=True):
        assert found.tobytes() == one.tobytes(), k
print(caught, "interrupts")
"""


def interrupt(front, rounds, again=0.0):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, front.__name__, str(rounds), str(again)],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.stdout == f"{rounds} interrupts\n" and done.returncode == 0, done.stderr


@needs_timers
@pytest.mark.parametrize("front", FRONTS)
def test_a_call_after_an_interrupt_works(front):
    interrupt(front, 300)


@needs_timers
@pytest.mark.sweep
@needs_timers
@pytest.mark.parametrize("front", FRONTS)
def test_a_call_after_any_of_thousands_of_interrupts_works(front):
    interrupt(front, 5000)


@needs_timers
@pytest.mark.sweep
@pytest.mark.parametrize("front", FRONTS)
def test_interrupts_that_interrupt_each_other(front):
    interrupt(front, 2000, again=3e-5)
