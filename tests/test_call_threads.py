"""The call path under load: all fronts alike, compiling, threads, forks and memory."""

import gc
import os
import random
import subprocess
import sys
import threading
import time
import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from armdyn.engine import blocks, calls, workers
from armdyn.errors import ShapeError
from tests.kernels import (
    FRONTS,
    LAYOUTS,
    OUT_LAYOUTS,
    SPIN,
    N,
    Polynomials,
    arguments_of,
    assert_same_bits,
    function,
    states,
)


@pytest.fixture(params=FRONTS)
def front(request):
    return request.param


@pytest.fixture
def f(front):
    """Two arguments of three numbers; results (3, 3) and ()."""
    return function(front, Polynomials())


def outcome(f, values, keywords):
    """Everything a caller can see of a call."""
    try:
        results = f(*values, **keywords)
    except Exception as error:
        return type(error), str(error)
    results = results if isinstance(results, tuple) else (results,)
    return [(type(r), r.dtype.str, r.shape, np.asarray(r).tobytes()) for r in results]


@pytest.mark.parametrize("seed", range(4))
def test_all_fronts_answer_any_call_alike(seed):
    rng = random.Random(seed)
    polynomials = Polynomials(*rng.choice([(1, 3, ((3,),)), (2, 3, ((3, 3), ())), (3, 3, ((),))]))
    makers = [calls.front_in_c] if calls.EXTENSION else []
    makers += [calls.front_in_python]
    fronts = [function(maker, polynomials) for maker in makers]
    memory = np.random.default_rng(seed).normal(size=4000)

    def value(batch, dtype):
        strange = rng.random() < 0.1
        shape = rng.choice([(), (4,), (N, 2), (2, N, N), (5, N)]) if strange else (*batch, N)
        size = int(np.prod(shape))
        start = rng.choice([0, 0, 7, 1000])
        array = memory[start : start + size].reshape(shape)
        if rng.random() < 0.8:
            array = array.astype(dtype)
        if 0 not in batch and not strange and rng.random() < 0.2:
            array = array[tuple(rng.choice([0, slice(None), slice(1)]) for _ in batch)]  # broadcast
        if array.ndim and rng.random() < 0.3:
            array = LAYOUTS[rng.choice(list(LAYOUTS))](array)
        return rng.choice([None, "ab", 1j, [1, [2]]]) if rng.random() < 0.02 else array

    def target(batch, dtype):
        arrays = []
        for shape in polynomials.shapes:
            whole = (*batch, *shape)
            size = int(np.prod(whole))
            fresh = [np.zeros(whole, dtype), np.zeros(whole, dtype), np.zeros(whole)]
            views = [make(whole, dtype) for make in OUT_LAYOUTS.values()]
            here = memory[100 : 100 + size].reshape(whole)
            arrays.append(rng.choice([*fresh, *views, here.copy()]))
        if rng.random() < 0.1:
            arrays = arrays * 2
        return tuple(arrays) if len(arrays) > 1 or rng.random() < 0.1 else arrays[0]

    answered = 0
    for _ in range(1500):
        batch = rng.choice([(), (), (4,), (2, 3), (1, 3), (0,), (2, 1)])
        dtype = rng.choice([np.float64, np.float64, np.float32])
        values = [value(batch, dtype) for _ in range(polynomials.arguments)]
        keywords = {}
        if rng.random() < 0.4:
            keywords["out"] = target(batch, dtype)
        if rng.random() < 0.3:
            keywords["threads"] = rng.choice([None, 1, 2, 0, 1.0, np.int64(3)])
        first, *others = (outcome(f, values, keywords) for f in fronts)
        assert all(other == first for other in others)
        answered += isinstance(first, list)
    assert 500 < answered < 1400


# Compiling, threads, processes, memory ----------------------------------------------------------


def test_kernels_are_compiled_at_first_need_and_once(front):
    polynomials = Polynomials()
    f = function(front, polynomials)
    assert polynomials.asked == []
    f(*states())
    f([0, 0, 0], [1, 1, 1])
    assert polynomials.asked == [("single", "float64")]
    f(*states(1)), f(*states(2)), f(*states(1, 2))
    assert polynomials.asked == [("single", "float64")]  # for one or two states of a batch too
    f(*states(4))
    f(*states(4, dtype=np.float32))
    f(*states(dtype=np.float32))
    f(*states(3))
    assert len(polynomials.asked) == len(set(polynomials.asked)) == 4


@pytest.mark.parametrize("storing", ["staged", "asked for"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_results_that_outgrow_the_caches_have_a_kernel_of_their_own(
    front, dtype, storing, monkeypatch
):
    polynomials = Polynomials()  # with ten numbers in the results of a state
    most = 50 if dtype == "float64" else 100
    monkeypatch.setattr(calls, "CACHES", 50 * 10 * 8)
    monkeypatch.setattr(calls.processor, "storing", lambda: storing)
    f = function(front, polynomials)
    f(*states(most, dtype=dtype))
    assert polynomials.asked == [("batch", dtype)]
    values = states(most + 1, dtype=dtype)
    for _ in range(2):
        for found, expected in zip(f(*values), polynomials.expected(*values), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert polynomials.asked == [("batch", dtype), ("stream", dtype)]


def test_where_streams_gain_nothing_there_are_none(front, monkeypatch):
    polynomials = Polynomials()
    monkeypatch.setattr(calls, "CACHES", 8)
    monkeypatch.setattr(calls.processor, "storing", lambda: "plain")
    function(front, polynomials)(*states(1000))
    assert polynomials.asked == [("batch", "float64")]


def test_where_most_memory_is_the_arguments_batches_are_alike(front, monkeypatch):
    polynomials = Polynomials(shapes=((3,),))
    monkeypatch.setattr(calls, "CACHES", 8)
    monkeypatch.setattr(calls.processor, "storing", lambda: "staged")
    function(front, polynomials)(*states(1000))
    assert polynomials.asked == [("batch", "float64")]


def test_concurrent_first_calls_compile_once(front):
    polynomials = Polynomials()
    barrier = threading.Barrier(8)

    def slow(kind, dtype):
        time.sleep(0.05)
        return polynomials(kind, dtype)

    f = front(calls.CarefulPath("f", arguments_of(polynomials), polynomials.shapes, slow, None))

    def first(k):
        barrier.wait()
        return f(*states(*((4,) if k % 2 else ())))[0]

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(first, range(8)))
    assert sorted(polynomials.asked) == [("batch", "float64"), ("single", "float64")]
    for k, found in enumerate(results):
        assert_same_bits(found, polynomials.expected(*states(*((4,) if k % 2 else ())))[0])


def test_a_failed_compilation_is_the_callers_and_may_be_tried_again(front):
    polynomials, failures = Polynomials(), [OSError("disk full")]

    def once(kind, dtype):
        if failures:
            raise failures.pop()
        return polynomials(kind, dtype)

    f = front(calls.CarefulPath("f", arguments_of(polynomials), polynomials.shapes, once, None))
    with pytest.raises(OSError, match="disk full"):
        f(*states())
    assert_same_bits(f(*states())[0], polynomials.expected(*states())[0])


@pytest.mark.parametrize("threads", [1, 2, 3, 7, 100])
def test_same_bits_on_any_number_of_threads(f, threads):
    for count in 1, 2, 5, 4097:
        values = states(count)
        for found, right in zip(f(*values, threads=threads), f(*values), strict=True):
            assert_same_bits(found, right)


def test_large_batches_use_the_threads_they_are_given(front, monkeypatch):
    g = function(front, Polynomials(1, N, ((N, N),)))
    used = []
    spread = blocks.side_by_side
    monkeypatch.setattr(
        blocks, "side_by_side", lambda parts: (used.append(len(parts)), spread(parts))[1]
    )
    monkeypatch.setattr(workers, "cores", lambda: 3)
    swapped = np.dtype(float).newbyteorder()  # by the careful path on any front
    large = np.ones((8 * g.few + 1, N), swapped)
    g(large)
    g(np.ones((1, 1, N)))
    monkeypatch.setenv("ARMDYN_NUM_THREADS", " 2 ")
    g(large)
    g(large, threads=5)
    g(np.ones((4, N), swapped), threads=9)
    assert [k for k in used if k > 1] == [3, 2, 5, 4]
    for wrong in "0", "-1", "many", "1.5":
        monkeypatch.setenv("ARMDYN_NUM_THREADS", wrong)
        with pytest.raises(ShapeError, match=f"ARMDYN_NUM_THREADS is '?{wrong}'?; expected"):
            g(large)


def test_a_batch_releases_the_interpreter(front):
    """The kernel spins until another thread writes, which needs the interpreter."""
    f = function(front, Polynomials(1, 1, ((1,),), SPIN))
    f(np.ones((3, 1)))
    q = np.zeros((3, 1))
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(f, q)
        time.sleep(0.05)
        q[0] = 1.0
        assert result.result()[0, 0] == 1.0


def test_the_memory_of_a_call_is_its_own_until_the_answer_is_copied():
    polynomials = Polynomials()
    path = calls.CarefulPath("f", arguments_of(polynomials), polynomials.shapes, polynomials, None)
    f = calls.front_in_python(path)
    f(*states())
    state = path.states64.pop()
    path.states64.append(state._replace(answer=lambda: (time.sleep(0.05), state.answer())[1]))
    given = [states(seed=1), states(seed=2)]
    with ThreadPoolExecutor(2) as pool:
        for values, found in zip(given, pool.map(lambda x: f(*x), given), strict=True):
            assert_same_bits(found[0], polynomials.expected(*values)[0])


def test_many_threads_at_once(front):
    polynomials = Polynomials()
    f = function(front, polynomials)
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for k in range(400):
            batch = [(), (), (5,), (40, 30)][k % 4]
            values = list(rng.normal(size=(2, *batch, N)))
            found = f(*values, threads=2 if k % 8 == 7 else None)
            for one, right in zip(found, polynomials.expected(*values), strict=True):
                if np.asarray(one).tobytes() != right.tobytes():
                    wrong.append((seed, k))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        workers = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong


def test_a_batch_needs_no_memory_but_its_results_and_a_block(f):
    q, qd = np.ones((50_000, 1, N)), np.ones((2, N), np.float32)
    f(q[:5], qd)
    tracemalloc.start()
    try:
        results = f(q, qd, threads=2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - sum(r.nbytes for r in results) < 2 * 2**20


def numpy_leaks_dtypes() -> bool:
    """NumPy 2.0 and 2.1 forget a reference to the dtype in every ``np.empty``."""
    before = sys.getrefcount(np.dtype(float))
    for _ in range(100):
        np.empty(1)
    return sys.getrefcount(np.dtype(float)) >= before + 100


def test_calls_leave_nothing_behind(front):
    f, g = function(front, Polynomials()), function(front, Polynomials(2, N, ((N, N),)))
    q, qd = states()
    many, manyd = states(4)
    out = np.empty((N, N)), np.empty(())
    watched = [q, qd, many, *out, f, g, f.shapes, np.float64, None, ShapeError]
    if not numpy_leaks_dtypes():
        watched.append(np.dtype(float))

    def round_of_calls():
        f(q, qd)
        f(q, qd, out=out)
        g(q, qd, out=out[0])
        f(many, manyd)
        f(q, manyd)
        f([0, 1, 2], qd)
        for wrong in {"out": q}, {"out": (q, qd)}, {"threads": 0}, {"method": 1}:
            try:
                f(q, qd, **wrong)
            except (ValueError, TypeError):
                pass
        try:
            f(q, None)
        except ShapeError:
            pass

    gc.collect()
    before = [sys.getrefcount(x) for x in watched]
    tracemalloc.start()
    try:
        for _ in range(600):  # Python's and NumPy's own caches fill
            round_of_calls()
        gc.collect()
        start, _ = tracemalloc.get_traced_memory()
        for _ in range(600):
            round_of_calls()
        for _ in range(5000):
            f(q, qd)
            f(q, qd, out=out)
            g(q, qd)
            g(q, qd, out=out[0])
        gc.collect()
        end, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert end - start < 600 * sys.getsizeof(())  # no object a round
    after = [sys.getrefcount(x) for x in watched]
    # Other threads hold None now and then; a leak would be one in each of 600 rounds.
    assert max(b - a for a, b in zip(before, after, strict=True)) < 100


def test_a_function_in_a_cycle_is_collected(front):
    class Owner:
        def method(self, q, qd, by=None):
            return self

        def choose(self, **options):
            return self.f

    owner = Owner()
    owner.f = function(front, Polynomials(), calls.Options(owner.method, owner.choose))
    owner.f(*states())
    owner.f(*states(), "b")  # the function has itself among those it chose
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_has_threads_and_locks_of_its_own(front):
    polynomials = Polynomials()
    f, unused = function(front, polynomials), function(front, polynomials)
    values = states(5000)
    expected = f(*values, threads=4)[0].tobytes()  # the pool's threads run now
    with calls.COMPILING:  # as if another thread were compiling
        child = os.fork()
        if child == 0:
            works = []
            worker = threading.Thread(  # another thread: the lock lets its own owner through
                target=lambda: works.append(unused(*values, threads=4)[0].tobytes() == expected)
            )
            worker.start()
            worker.join(20)
            os._exit(0 if works == [True] else 1)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            break
        time.sleep(0.01)
    else:
        os.kill(child, 9)
        os.waitpid(child, 0)
        pytest.fail("the child hangs")
    assert os.waitstatus_to_exitcode(status) == 0
    assert f(*values, threads=4)[0].tobytes() == expected


def test_a_batch_at_the_interpreters_end():
    """No thread can be started any more: the calling thread does it all."""
    program = """
import atexit, numpy as np
from armdyn.engine import calls
from tests.kernels import Polynomials, arguments_of
p = Polynomials()
f = calls.Function("f", arguments_of(p), p.shapes, p)
q = np.ones((50, 3))
atexit.register(lambda: print(f(q, q, threads=4)[0].sum()))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split() == ["900.0"], done.stderr
