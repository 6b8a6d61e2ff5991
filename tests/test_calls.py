"""The call path: any arrays in, the same bits out, by the C extension and by Python alone."""

import gc
import inspect
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

from armdyn import blocks, calls
from armdyn.errors import ShapeError
from tests.kernels import SPIN, Polynomials

N = 3
FRONTS = {
    "c": pytest.param(
        calls.front_in_c,
        id="c",
        marks=pytest.mark.skipif(not calls.EXTENSION, reason="the C extension is not built"),
    ),
    "python": pytest.param(calls.front_in_python, id="python"),
}


@pytest.fixture(params=FRONTS.values())
def front(request):
    return request.param


def function(front, polynomials, otherwise=None):
    names = ("q", "qd", "qdd", "tau")[: polynomials.arguments]
    path = calls.CarefulPath(
        "fused", names, polynomials.n, polynomials.shapes, polynomials, otherwise
    )
    return front(path)


@pytest.fixture
def f(front):
    """Two arguments of three numbers; results (3, 3) and ()."""
    return function(front, Polynomials())


@pytest.fixture
def g(front):
    """One argument of three numbers, one result (3, 3)."""
    return function(front, Polynomials(1, N, ((N, N),)))


def states(*batch, arguments=2, dtype=np.float64, seed=0):
    return list(np.random.default_rng(seed).normal(size=(arguments, *batch, N)).astype(dtype))


def assert_same_bits(found, expected):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()


# Results --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("batch", [(), (1,), (5,), (2, 3), (1, 4, 1), (2500,)], ids=str)
@pytest.mark.parametrize("arguments", [1, 2, 3, 4])
@pytest.mark.parametrize("shapes", [((3, 3),), ((),), ((3,), (), (2, 3))], ids=str)
def test_results_are_those_of_the_formula(front, dtype, batch, arguments, shapes):
    polynomials = Polynomials(arguments, N, shapes)
    h = function(front, polynomials)
    values = states(*batch, arguments=arguments, dtype=dtype)
    expected = polynomials.expected(*values)
    for _ in range(2):  # the first call compiles, the second need not
        results = h(*values)
        assert isinstance(results, tuple) == (len(shapes) > 1)
        for found, right in zip(
            *(x if isinstance(x, tuple) else (x,) for x in (results, expected)), strict=True
        ):
            assert_same_bits(found, right)
            assert isinstance(found, np.ndarray if found.shape else dtype)
    out = tuple(np.full(batch + shape, np.nan, dtype) for shape in shapes)
    out = out if len(out) > 1 else out[0]
    assert h(*values, out=out) is out
    for found, right in zip(
        *(x if isinstance(x, tuple) else (x,) for x in (out, expected)), strict=True
    ):
        assert_same_bits(found, right)


def misaligned(x):
    raw = np.empty(x.nbytes + 1, np.uint8)[1:]
    copy = raw.view(x.dtype).reshape(x.shape)
    copy[...] = x
    assert not (copy.size and copy.flags.aligned)
    return copy


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


class Exporter:
    """What other libraries' arrays look like."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


LAYOUTS = {
    "list": lambda x: x.tolist(),
    "tuple": lambda x: tuple(x.tolist()),
    "Fortran": np.asfortranarray,
    "strided": lambda x: np.stack([x, x], axis=-1)[..., 0],
    "backwards": lambda x: np.flip(np.flip(x).copy()),
    "misaligned": misaligned,
    "byte-swapped": lambda x: x.astype(x.dtype.newbyteorder()),
    "read-only": read_only,
    "subclass": lambda x: x.view(type("Sub", (np.ndarray,), {})),
    "masked": np.ma.asarray,
    "another library's": Exporter,
    "memory": lambda x: memoryview(x),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("batch", [(), (7,), (3, 1100)], ids=str)
def test_any_layout_gives_the_same_bits(f, layout, dtype, batch):
    values = states(*batch, dtype=dtype)
    dressed = [LAYOUTS[layout](x) for x in values]
    if layout in ("list", "tuple"):
        values = [x.astype(np.float64) for x in values]
    for threads in (None, 3):
        for found, right in zip(f(*dressed, threads=threads), f(*values), strict=True):
            assert_same_bits(found, right)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int64", "uint64", "float16", ">i4", ">f2"])
def test_other_numbers_count_as_float64(f, kind):
    for batch in (), (4,), (2000,):
        values = [np.arange(N * int(np.prod(batch))).reshape(*batch, N) % 50] * 2
        expected = f(*(x.astype(float) for x in values))
        narrow = [x.astype(kind) for x in values]
        mixed = [values[0].astype(np.float32), values[1].astype(kind)]
        for given in narrow, mixed:
            for found, right in zip(f(*given), expected, strict=True):
                assert_same_bits(found, right)


@pytest.mark.parametrize(
    "shapes",
    [((), (5,)), ((4, 1), (6,)), ((2, 1, 3), (1, 700, 1)), ((1,), (2, 2)), ((1300,), ())],
    ids=str,
)
@pytest.mark.parametrize("threads", [None, 1, 2, 5])
def test_batch_axes_broadcast(f, shapes, threads):
    rng = np.random.default_rng(1)
    q, qd = (rng.normal(size=(*shape, N)) for shape in shapes)
    whole = [np.ascontiguousarray(x) for x in np.broadcast_arrays(q, qd)]
    for found, right in zip(f(q, qd, threads=threads), f(*whole), strict=True):
        assert_same_bits(found, right)


@pytest.mark.parametrize("batch", [(0,), (2, 0), (0, 3), (1500, 0, 2)], ids=str)
def test_empty_batches(f, batch):
    for values in states(*batch), [np.zeros((*batch, N)), np.zeros(N)]:
        M, e = f(*values)
        assert M.shape == (*batch, N, N) and e.shape == batch
    out = np.empty((*batch, N, N)), np.empty(batch)
    assert f(*states(*batch), out=out) is out
    assert f(*states(*batch), threads=4)[0].shape == (*batch, N, N)


def test_arguments_by_name(f):
    q, qd = states(4)
    expected = f(q, qd)
    for found in f(q, qd=qd), f(qd=qd, q=q), f(**{"q": q, "qd": qd, "threads": 2}):
        assert_same_bits(found[0], expected[0])


@pytest.mark.parametrize("limit", [1, 2, 5, 6, 7, 1000])
@pytest.mark.parametrize("batch", [(1,), (6,), (2, 3), (3, 1, 4), (5, 2, 3), (1, 1)], ids=str)
def test_boxes_tile_a_batch_in_order(batch, limit):
    states = np.arange(np.prod(batch)).reshape(batch)
    order = []
    for first, count, index in blocks.boxes(batch, limit):
        box = states[index].ravel()
        assert box[0] == first and len(box) == count <= limit
        order += box.tolist()
    assert order == list(range(states.size))


# What is refused ------------------------------------------------------------------------------

Q = np.zeros(N)
LOCKED = read_only(np.zeros((N, N)))
SQUARE = np.zeros((2, N, N))
REFUSED = {
    "one joint too many": ((np.zeros(4),), {}, r"q has shape \(4,\); expected \(\.\.\., 3\)"),
    "a single number": ((0.5,), {}, r"q has shape \(\)"),
    "transposed batch": ((np.zeros((N, 2)),), {}, r"q has shape \(3, 2\)"),
    "complex": ((np.zeros(N, complex),), {}, "q has dtype complex128"),
    "strings": ((["a"] * N,), {}, "q has dtype <U1"),
    "objects": (([None] * N,), {}, "q has dtype object"),
    "booleans": ((np.zeros(N, bool),), {}, "q has dtype bool"),
    "dates": ((np.zeros(N, "M8[s]"),), {}, "q has dtype datetime64"),
    "long doubles": ((np.zeros(N, np.clongdouble),), {}, "q has dtype c"),
    "ragged": (([[0.0], [0.0, 1.0]],), {}, "q is ragged"),
    "nothing": ((None,), {}, "q has dtype object"),
    "out of another shape": (
        (Q,),
        {"out": np.empty(N)},
        r"out is float64 \(3,\); expected a float64 array of shape \(3, 3\)",
    ),
    "out without the batch": ((np.zeros((2, N)),), {"out": np.empty((N, N))}, r"\(2, 3, 3\)"),
    "out of another dtype": ((Q,), {"out": np.empty((N, N), np.float32)}, "out is float32"),
    "out byte-swapped": ((Q,), {"out": np.empty((N, N), ">f8")}, "out is >f8"),
    "out is a list": ((Q,), {"out": [0.0]}, r"out is \[0\.0\]"),
    "out is a tuple": ((Q,), {"out": (np.empty((N, N)),)}, r"out is \(array"),
    "out is read-only": ((Q,), {"out": LOCKED}, "out is read-only"),
    "out is an input": ((SQUARE[0, 0],), {"out": SQUARE[0]}, "out overlaps q"),
    "out overlaps in a batch": ((SQUARE[:, 1],), {"out": SQUARE}, "out overlaps q"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_arrays_are_refused_by_name(g, case):
    values, keywords, message = REFUSED[case]
    g(Q)
    with pytest.raises(ShapeError, match=message):
        g(*values, **keywords)


def test_batches_that_clash_are_refused_with_their_shapes(f):
    with pytest.raises(ShapeError, match=r"do not broadcast: q \(2, 3\), qd \(5, 3\)"):
        f(np.zeros((2, N)), np.zeros((5, N)))
    with pytest.raises(ShapeError, match=r"qd has shape \(2,\)"):
        f(np.zeros(N), np.zeros(2))


@pytest.mark.skipif(np.longdouble(0).itemsize == 8, reason="long doubles are doubles here")
def test_long_doubles_are_refused(g):
    with pytest.raises(ShapeError, match="q has dtype (longdouble|float128)"):
        g(np.zeros(N, np.longdouble))


@pytest.mark.parametrize("batch", [(), (4,)])
def test_out_for_several_results(f, batch):
    values = states(*batch)
    M, e = np.empty((*batch, N, N)), np.empty(batch)
    with pytest.raises(ShapeError, match="expected a tuple of 2 arrays"):
        f(*values, out=M)
    with pytest.raises(ShapeError, match="expected a tuple of 2 arrays"):
        f(*values, out=(M, e, e))
    with pytest.raises(ShapeError, match=r"out\[1\] is None"):
        f(*values, out=(M, None))
    memory = np.empty(200)
    first, second = memory[: M.size].reshape(M.shape), memory[M.size : M.size + e.size]
    touching = memory[M.size - 1 : M.size - 1 + e.size].reshape(e.shape)
    with pytest.raises(ShapeError, match=r"out\[1\] overlaps out\[0\]"):
        f(*values, out=(first, touching))
    f(*values, out=(first, second.reshape(e.shape)))  # neighbours are no overlap
    assert_same_bits(first, f(*values)[0])


OUT_LAYOUTS = {
    "transposed": lambda shape: np.empty(shape[::-1]).T,
    "strided": lambda shape: np.empty((*shape[:-1], 2 * shape[-1]))[..., ::2],
    "misaligned": lambda shape: misaligned(np.empty(shape)),
    "subclass": lambda shape: np.empty(shape).view(type("Sub", (np.ndarray,), {})),
}


@pytest.mark.parametrize("layout", OUT_LAYOUTS)
@pytest.mark.parametrize("batch", [(), (3,), (2, 1500)], ids=str)
def test_out_of_any_layout_receives_the_result(g, layout, batch):
    (q,) = states(*batch, arguments=1)
    out = OUT_LAYOUTS[layout]((*batch, N, N))
    for threads in (None, 3):
        out[...] = np.nan
        assert g(q, out=out, threads=threads) is out
        np.testing.assert_array_equal(out, g(q))


def test_a_matrix_is_a_batch_and_may_receive_one():
    h = function(calls.front_in_python, Polynomials(1, N, ((N,),)))
    with pytest.warns(PendingDeprecationWarning):
        q, out = np.matrix(states(4, arguments=1)[0]), np.matrix(np.zeros((4, N)))
    assert h(q, out=out) is out
    assert type(h(q)) is np.ndarray
    assert_same_bits(np.asarray(out), h(np.asarray(q)))


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True, np.float64(2)])
def test_threads_must_be_a_whole_number(f, threads):
    for batch in (), (4,):
        with pytest.raises(ValueError, match=r"threads is .*; expected a whole number"):
            f(*states(*batch), threads=threads)
    assert f(*states(4), threads=np.int8(2))[1].shape == (4,)


def test_calls_of_another_form(front):
    f = function(front, Polynomials())
    q, qd = states()
    for call in (
        lambda: f(q),
        lambda: f(q, qd, qd),
        lambda: f(q, qd, method="lin"),
        lambda: f(q, q=q),
        lambda: f(),
    ):
        with pytest.raises(TypeError, match=r"fused\(.*\); expected fused\(q, qd, out=None"):
            call()


def test_otherwise_takes_the_calls_of_another_form(front):
    def method(q, qd, *, method=None, out=None):
        """What it is."""
        return q, qd, method, out

    f = function(front, Polynomials(), method)
    q, qd = states()
    assert f(q, qd, method="lin") == (q, qd, "lin", None)
    assert f(q, qd=qd, out=3) == (q, qd, None, 3)
    assert f.__doc__ == "What it is." and f.__name__ == "method"
    assert str(inspect.signature(f)) == "(q, qd, *, method=None, out=None)"
    assert_same_bits(f(q, qd)[0], Polynomials().expected(q, qd)[0])
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'qd'"):
        f(q)


def test_what_a_function_says_of_itself(f):
    assert (f.name, f.arguments, f.n, f.shapes) == ("fused", ("q", "qd"), 3, ((3, 3), ()))
    assert "fused(q, qd" in f.__doc__
    with pytest.raises(AttributeError):
        f.colour  # noqa: B018


@pytest.mark.parametrize("arguments, results", [(0, 1), (5, 1), (1, 0), (1, 33)])
def test_too_many_arguments_or_results(arguments, results):
    with pytest.raises(ValueError, match="expected 1 to 4 and 1 to 32"):
        calls.Function("f", ("q",) * arguments, N, ((),) * results, Polynomials())


# The two fronts -------------------------------------------------------------------------------


@pytest.mark.skipif(not calls.EXTENSION, reason="the C extension is not built")
def test_c_answers_plain_calls_itself():
    """Function by function: the path behind is never asked once the kernels are compiled."""
    polynomials = Polynomials()
    path = calls.CarefulPath("f", ("q", "qd"), N, polynomials.shapes, polynomials, None)
    for dtype in calls.FLOAT64, calls.FLOAT32:
        path.address("single", dtype), path.address("batch", dtype)

    def refuse(*values, **keywords):
        raise AssertionError("handed on")

    f = calls._call.Function(refuse, path.table, 2, N, polynomials.shapes, 100)
    for dtype in np.float64, np.float32:
        for batch in (), (0,), (100,), (2, 3):
            values = states(*batch, dtype=dtype)
            out = np.empty((*batch, N, N), dtype), np.empty(batch, dtype)
            f(*values)
            f(*values, out=out)
            f(*values, out=None, threads=None)
            f(*map(read_only, values), out=out, threads=1)
            for found, right in zip(out, polynomials.expected(*values), strict=True):
                assert_same_bits(found, right)
        f(*states(101, dtype=dtype), threads=1)
        with pytest.raises(AssertionError, match="handed on"):
            f(*states(101, dtype=dtype))
    with pytest.raises(AssertionError, match="handed on"):
        f(*states(), threads=2**70)


@pytest.mark.skipif(not calls.EXTENSION, reason="the C extension is not built")
@pytest.mark.parametrize(
    "arguments",
    [(), (0, b"", 1, 3, ((),), 1), (0, bytearray(32), 1, 3, [()], 1)]
    + [(0, bytearray(31), 1, 3, ((),), 1), (0, bytearray(32), 5, 3, ((),), 1)]
    + [(0, bytearray(32), 1, 3, ((),) * 33, 1), (0, bytearray(32), 1, 3, ((1,) * 5,), 1)]
    + [(0, bytearray(32), 1, 3, (("a",),), 1), (0, bytearray(32), 1, 3, (3,), 1)],
)
def test_c_refuses_to_be_built_wrong(arguments):
    with pytest.raises((TypeError, ValueError, BufferError)):
        calls._call.Function(*arguments)


def outcome(f, values, keywords):
    """Everything a caller can see of a call."""
    try:
        results = f(*values, **keywords)
    except Exception as error:
        return type(error), str(error)
    results = results if isinstance(results, tuple) else (results,)
    return [(type(r), r.dtype.str, r.shape, np.asarray(r).tobytes()) for r in results]


@pytest.mark.skipif(not calls.EXTENSION, reason="the C extension is not built")
@pytest.mark.parametrize("seed", range(4))
def test_both_fronts_answer_any_call_alike(seed):
    rng = random.Random(seed)
    polynomials = Polynomials(*rng.choice([(1, 3, ((3,),)), (2, 3, ((3, 3), ())), (3, 3, ((),))]))
    fronts = [function(f, polynomials) for f in (calls.front_in_c, calls.front_in_python)]
    memory = np.random.default_rng(seed).normal(size=4000)

    def value(batch, dtype):
        strange = rng.random() < 0.1
        shape = rng.choice([(), (4,), (N, 2), (2, N, N), (5, N)]) if strange else (*batch, N)
        size = int(np.prod(shape))
        start = rng.choice([0, 0, 7, 1000])
        array = memory[start : start + size].reshape(shape)
        if rng.random() < 0.8:
            array = array.astype(dtype)
        if array.ndim and rng.random() < 0.3:
            array = LAYOUTS[rng.choice(list(LAYOUTS))](array)
        return rng.choice([None, "ab", 1j, [1, [2]]]) if rng.random() < 0.02 else array

    def target(batch, dtype):
        arrays = []
        for shape in polynomials.shapes:
            whole = (*batch, *shape)
            size = int(np.prod(whole))
            fresh = [np.zeros(whole, dtype), np.zeros(whole, dtype), np.zeros(whole)]
            arrays.append(rng.choice([*fresh, memory[100 : 100 + size].reshape(whole).copy()]))
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
        by_c, by_python = (outcome(f, values, keywords) for f in fronts)
        assert by_c == by_python
        answered += isinstance(by_c, list)
    assert 500 < answered < 1400


# Compiling, threads, processes, memory ----------------------------------------------------------


def test_kernels_are_compiled_at_first_need_and_once(front):
    polynomials = Polynomials()
    f = function(front, polynomials)
    assert polynomials.asked == []
    f(*states())
    f([0, 0, 0], [1, 1, 1])
    assert polynomials.asked == [("single", "float64")]
    f(*states(2))
    f(*states(2, dtype=np.float32))
    f(*states(dtype=np.float32))
    f(*states(3))
    assert len(polynomials.asked) == len(set(polynomials.asked)) == 4


def test_concurrent_first_calls_compile_once(front):
    polynomials = Polynomials()
    barrier = threading.Barrier(8)

    def slow(kind, dtype):
        time.sleep(0.05)
        return polynomials(kind, dtype)

    f = front(calls.CarefulPath("f", ("q", "qd"), N, polynomials.shapes, slow, None))

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

    f = front(calls.CarefulPath("f", ("q", "qd"), N, polynomials.shapes, once, None))
    with pytest.raises(OSError, match="disk full"):
        f(*states())
    assert_same_bits(f(*states())[0], polynomials.expected(*states())[0])


@pytest.mark.parametrize("threads", [1, 2, 3, 7, 100])
def test_same_bits_on_any_number_of_threads(f, threads):
    for count in 1, 2, 5, 4097:
        values = states(count)
        for found, right in zip(f(*values, threads=threads), f(*values), strict=True):
            assert_same_bits(found, right)


def test_large_batches_use_the_threads_they_are_given(g, monkeypatch):
    used = []
    spread = blocks._in_parallel
    monkeypatch.setattr(
        blocks, "_in_parallel", lambda part, k: (used.append(k), spread(part, k))[1]
    )
    monkeypatch.setattr(blocks, "cores", lambda: 3)
    large = np.ones((g.few + 1, N))
    g(large)
    g(np.ones((1, 1, N)))
    monkeypatch.setenv("ARMDYN_NUM_THREADS", " 2 ")
    g(large)
    g(large, threads=5)
    g(np.ones((4, N), int), threads=9)
    assert [k for k in used if k > 1] == [3, 2, 5, 4]
    for wrong in "0", "-1", "many", "1.5":
        monkeypatch.setenv("ARMDYN_NUM_THREADS", wrong)
        with pytest.raises(ValueError, match=f"ARMDYN_NUM_THREADS is '?{wrong}'?; expected"):
            g(large)


def test_a_batch_releases_the_interpreter(front):
    """The kernel spins until another thread writes, which needs the interpreter."""
    f = function(front, Polynomials(1, 1, ((1,),), SPIN))
    q = np.zeros((1, 1))
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(f, q)
        time.sleep(0.05)
        q[0] = 1.0
        assert result.result()[0, 0] == 1.0


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

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
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


def test_calls_leave_nothing_behind(front):
    f = function(front, Polynomials())
    q, qd = states()
    many, manyd = states(4)
    out = np.empty((N, N)), np.empty(())
    watched = [q, qd, many, *out, f, f.shapes, np.float64, np.dtype(float), None, ShapeError]

    def round_of_calls():
        f(q, qd)
        f(q, qd, out=out)
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
        gc.collect()
        end, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert end - start < 600 * sys.getsizeof(())  # no object a round
    after = [sys.getrefcount(x) for x in watched]
    assert max(b - a for a, b in zip(before, after, strict=True)) < 20


def test_a_function_in_a_cycle_is_collected(front):
    class Owner:
        def method(self, q, qd):
            return self

    owner = Owner()
    owner.f = function(front, Polynomials(), owner.method)
    owner.f(*states())
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
    with calls._Compiling.lock:  # as if another thread were compiling
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
from armdyn import calls
from tests.kernels import Polynomials
p = Polynomials()
f = calls.Function("f", ("q", "qd"), 3, p.shapes, p)
q = np.ones((50, 3))
atexit.register(lambda: print(f(q, q, threads=4)[0].sum()))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split() == ["900.0"], done.stderr
