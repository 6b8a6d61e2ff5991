"""Results given out again: never while anybody holds them, in whatever way."""

import gc
import pickle
import random
import sys
import sysconfig
import threading
import weakref
from ctypes import c_double

import numpy as np
import pytest

import armdyn
from armdyn.engine import calls

pytestmark = [
    pytest.mark.skipif(not calls.EXTENSION, reason="the C extension is not built"),
    pytest.mark.skipif(
        bool(sysconfig.get_config_var("Py_GIL_DISABLED")), reason="needs the interpreter's lock"
    ),
]

ROBOT = armdyn.load("two_link")
Q = np.array([0.3, -0.7])
OTHER = np.array([-1.1, 0.4])
HOLDERS = {
    "the array": lambda M: M,
    "a view": lambda M: M[0],
    "a transpose": lambda M: M.T,
    "a reshaped view": lambda M: M.reshape(4),
    "a subclass's view": lambda M: M.view(np.matrix),
    "a memoryview": memoryview,
    "a slice of a memoryview": lambda M: memoryview(M)[1:],
    "an iterator": lambda M: M.flat,
    "a list": lambda M: [M],
    "a closure": lambda M: lambda: M,
    "a bound method": lambda M: M.sum,
    "an array of objects": lambda M: np.array([M, None], dtype=object),
    "a buffer for ctypes": lambda M: (c_double * 4).from_buffer(M),
    "ndarray.ctypes": lambda M: M.ctypes,
    "DLPack": lambda M: np.from_dlpack(M),
    "frombuffer": lambda M: np.frombuffer(M),
    "as_strided": lambda M: np.lib.stride_tricks.as_strided(M, (2,), (8,)),
    "broadcast_to": lambda M: np.broadcast_to(M, (3, 2, 2)),
}


@pytest.fixture
def f():
    """A function of its own, warm, all of whose spares are free."""
    function = armdyn.Robot(ROBOT.chain).function("mass_matrix")
    for _ in range(4):
        function(Q)
    return function


def numbers_of(holder):
    """The four numbers that a holder shows, whatever it is."""
    if isinstance(holder, memoryview | list):
        return np.array(holder, float).ravel().tolist()
    if callable(holder):
        found = holder()
        return np.array(found, float).ravel().tolist()
    if hasattr(holder, "data_as"):
        return list((c_double * 4).from_address(holder.data))
    if isinstance(holder, np.ndarray) and holder.dtype == object:
        return holder[0].ravel().tolist()
    return np.array(holder, float).ravel().tolist()


@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
def test_a_result_that_is_held_is_never_touched(f, hold):
    holder = hold(f(Q))
    before = numbers_of(holder)
    for _ in range(10):
        f(OTHER)
    assert numbers_of(holder) == before


def test_a_result_that_nobody_holds_is_given_out_again(f):
    places = {f(Q).ctypes.data for _ in range(20)}
    assert len(places) == 1
    kept, places = f(Q), set()
    for _ in range(20):
        kept = f(Q)
        places.add(kept.ctypes.data)
    assert len(places) == 2


def test_one_that_is_weakly_referenced_is_not(f):
    gone = []
    seen = weakref.ref(f(Q), gone.append)
    for _ in range(3):
        assert seen() is None or seen().tolist() == ROBOT.mass_matrix(Q).tolist()
        f(OTHER)
    assert seen() is None and gone == [seen]


def test_a_callback_of_a_weak_reference_may_call_the_function(f):
    found = []
    watched = [weakref.finalize(f(Q), lambda: found.append(f(OTHER))) for _ in range(5)]
    for _ in range(5):
        assert f(Q).tolist() == ROBOT.mass_matrix(Q).tolist()
    assert found and all(M.tolist() == ROBOT.mass_matrix(OTHER).tolist() for M in found)
    del watched


CHANGES = {
    "read-only": lambda M: M.setflags(write=False),
    "another shape": lambda M: setattr(M, "shape", (4,)),
    "another dtype": lambda M: setattr(M, "dtype", np.int64),
    "another byte order": lambda M: setattr(M, "dtype", M.dtype.newbyteorder()),
}


@pytest.mark.filterwarnings("ignore:Setting the")
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_one_that_was_changed_is_not(f, change):
    for _ in range(3):
        change(f(Q))
    for _ in range(3):
        M = f(OTHER)
        assert M.flags.writeable and M.shape == (2, 2) and M.dtype is np.dtype(np.float64)
        assert M.tolist() == ROBOT.mass_matrix(OTHER).tolist()


def test_numbers_written_into_a_result_do_not_come_back(f):
    for _ in range(4):
        f(Q)[...] = np.nan
    assert f(Q).tolist() == ROBOT.mass_matrix(Q).tolist()


def test_float32_several_results_and_pickles(f):
    both = armdyn.Robot(ROBOT.chain).function("mass_matrix", "gravity")
    kept = [both(q) for q in (Q, OTHER, Q.astype(np.float32), OTHER.astype(np.float32))]
    copies = pickle.loads(pickle.dumps(kept))
    for _ in range(5):
        both(Q + 1), both((Q + 1).astype(np.float32))
    for results, copy in zip(kept, copies, strict=True):
        for result, right in zip(results, copy, strict=True):
            assert result.dtype == right.dtype and result.tolist() == right.tolist()


def test_threads_never_share_a_result(f):
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(2000):
            q = rng.uniform(-3, 3, 2)
            M = f(q)
            if M[0, 1] != M[1, 0] or M.tolist() != ROBOT.mass_matrix(q).tolist():
                wrong.append(q)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def random_calls(f, count, seed):
    """Keep, drop, view and weakly reference results at random; look at all that is held."""
    rng = random.Random(seed)
    held, watched = [], []
    for k in range(count):
        q = np.array([rng.uniform(-3, 3), rng.uniform(-3, 3)])
        if rng.random() < 0.3:
            q = q.astype(np.float32)
        M = f(q)
        expected = M.tobytes()
        what = rng.random()
        if what < 0.4:
            held.append((rng.choice([M, M[:], M.T.T, memoryview(M)]), expected))
        elif what < 0.5:
            watched.append((weakref.ref(M), expected))
        if len(held) > 5:
            held.pop(rng.randrange(len(held)))
        if len(watched) > 5:
            watched.pop(rng.randrange(len(watched)))
        del M
        if k % 7 == 0:
            for holder, right in held:
                assert holder.tobytes() == right
            for reference, right in watched:
                M = reference()
                assert M is None or M.tobytes() == right
                del M


def test_random_calls(f):
    random_calls(f, 20_000, seed=0)


@pytest.mark.sweep
def test_a_million_random_calls(f):
    random_calls(f, 1_000_000, seed=1)


def test_spares_are_all_that_stays_behind(f):
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(50_000):
        f(Q)
    gc.collect()
    assert sys.getallocatedblocks() - before < 50
