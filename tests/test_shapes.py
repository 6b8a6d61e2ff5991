"""Calls of every shape, answered in C: the bits, the errors and the memory of the careful path."""

import gc
import itertools
import random
import sys
import threading
import tracemalloc

import numpy as np
import pytest

import armdyn
from armdyn.engine import calls
from armdyn.errors import ShapeError
from tests.kernels import (
    LAYOUTS,
    OUT_LAYOUTS,
    N,
    Polynomials,
    arguments_of,
    assert_same_bits,
    states,
)

pytestmark = pytest.mark.skipif(not calls.EXTENSION, reason="the C extension is not built")

KINDS = ["f8", "f4", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "l", "L", "q", "Q"]
IN_C = {name: LAYOUTS[name] for name in ("list", "Fortran", "strided", "backwards", "misaligned")}
OUT_IN_C = {name: make for name, make in OUT_LAYOUTS.items() if name != "subclass"}
BATCHES = [(), (1,), (2,), (3,), (20,), (2, 5), (1, 4, 1), (3, 1, 2), (300,), (70, 3)]


class Paths:
    """One function by both paths; what C hands on is counted."""

    def __init__(self, polynomials):
        self.polynomials = polynomials
        taken = arguments_of(polynomials)
        self.careful = calls.CarefulPath("f", taken, polynomials.shapes, polynomials)
        for kind, dtype in itertools.product(("single", "batch"), (calls.FLOAT64, calls.FLOAT32)):
            self.careful.address(kind, dtype)
        self.handed_on = 0

        def hand_on(*values, **keywords):
            self.handed_on += 1
            return self.careful(*values, **keywords)

        self.fast = calls._call.Function(
            hand_on,
            self.careful.table,
            polynomials.takes,
            polynomials.shapes,
            100_000,
            (10**9, 10**9),
            {},
        )

    def assert_alike(self, values, keywords=None):
        """Both paths give the same, be it results or an error."""
        found, right = (seen(f, values, keywords or {}) for f in (self.fast, self.careful))
        assert found == right
        return found


def seen(f, values, keywords):
    """Everything a caller can see of a call."""
    try:
        results = f(*values, **keywords)
    except Exception as error:
        return type(error), str(error)
    results = results if isinstance(results, tuple) else (results,)
    return [(type(r), r.dtype.str, r.shape, np.asarray(r).tobytes()) for r in results]


@pytest.fixture(scope="module")
def two():
    """Two arguments; results (3, 3) and ()."""
    return Paths(Polynomials())


def numbers(shape, kind, seed=0):
    """Numbers of a type, of which the largest are not all exact as float64."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(kind)
    if dtype.kind == "f":
        return rng.normal(size=shape).astype(dtype)
    least, most = (int(x) for x in (np.iinfo(dtype).min, np.iinfo(dtype).max))
    return rng.integers(least, most, shape, dtype, endpoint=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", IN_C)
def test_every_layout_and_type(two, layout, kind):
    before = two.handed_on
    for batch in BATCHES:
        q, qd = (numbers((*batch, N), k, seed) for seed, k in enumerate((kind, "f8")))
        if layout == "misaligned" and q.itemsize == 1:
            continue
        dressed = IN_C[layout](q)
        if layout == "list" and q.max(initial=0) > np.iinfo(np.int64).max:
            continue
        for values in (dressed, qd), (qd, dressed), (dressed, dressed):
            two.assert_alike(values)
            narrow = kind == "f4" and values[0] is values[1] and layout != "list"
            plain = [np.asarray(x).astype("f4" if narrow else "f8") for x in values]
            assert_same_bits(two.fast(*values)[0], two.polynomials.expected(*plain)[0])
    assert two.handed_on == before


@pytest.mark.parametrize("layout", OUT_IN_C)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_out(two, layout, dtype):
    before = two.handed_on
    for batch in BATCHES:
        values = states(*batch, dtype=dtype)
        for given in values, [np.asfortranarray(x) for x in values]:
            out = OUT_IN_C[layout]((*batch, N, N), dtype), OUT_IN_C[layout](batch, dtype)
            around = [whole_memory(x).copy() for x in out]
            assert two.fast(*given, out=out) is out
            for found, right in zip(out, two.careful(*values), strict=True):
                np.testing.assert_array_equal(found, right)
            for x, old in zip(out, around, strict=True):
                x[...] = 0
                assert whole_memory(x).tobytes() == old.tobytes()  # nothing else was written
    assert two.handed_on == before


def whole_memory(array):
    """The array at the end of the chain of bases."""
    while array.base is not None:
        array = array.base
    return array


@pytest.mark.parametrize(
    "shapes",
    [((), (5,)), ((1,), ()), ((4, 1), (6,)), ((2, 1, 3), (1, 7, 1)), ((1,), (2, 2)), ((300,), ())]
    + [((2, 1, 2, 1), (3, 1, 2)), ((90, 1), (1, 30)), ((0, 2), (2,)), ((1,) * 20, ())],
    ids=str,
)
def test_broadcasting(two, shapes):
    for kinds in ("f8", "f8"), ("f4", "f4"), ("f4", "i4"):
        q, qd = (
            numbers((*s, N), kind, k) for k, (s, kind) in enumerate(zip(shapes, kinds, strict=True))
        )
        for values in (q, qd), (np.asfortranarray(q), np.broadcast_to(qd, (1, *qd.shape))):
            assert isinstance(two.assert_alike(values), list)


LISTS = [
    [1, 2, 3],
    [1.5, 2, -3],
    (1.0, np.float64(2.5), 3),
    [[1, 2, 3], (4.0, 5, 6)],
    [[[1, 2, 3]], [[4, 5, 6]]],
    [2**63 - 1, -(2**63), 2**53 + 1],
    [float("nan"), float("inf"), -0.0],
    [2**63, 0, 0],
    [2**64, 0, 0],
    [10**400, 0, 0],
    [1e308, 10**300, 0],
    [True, 1, 2],
    [True, False, True],
    [np.float32(0.1)] * 3,
    [np.int8(3)] * 3,
    [np.longdouble(3)] * 3,
    [1, 2],
    [1, 2, 3, 4],
    [1, 2, [3]],
    [[1, 2, 3], [4, 5]],
    [[1, 2, 3], 4],
    [[1, 2, 3], [4, 5, "6"]],
    [np.zeros(3), np.ones(3)],
    (np.arange(6.0)[::2], np.arange(3.0)[::-1], [1, 2, 3]),
    [[1, 2, 3], np.arange(3.0)],
    [[np.arange(3.0)], [(4, 5, 6.5)]],
    [np.arange(3.0), np.arange(3, dtype="f4")],
    [np.arange(3, dtype="f4")] * 2,
    [np.arange(3)] * 2,
    [np.arange(3.0), np.arange(4.0)],
    [np.zeros(4), np.zeros(4)],
    [np.zeros((1, 3)), np.zeros((1, 3))],
    [np.array(1.0)] * 3,
    [np.zeros(0)],
    [np.arange(3.0).astype(">f8")],
    [1, 2, None],
    [1, 2, 3j],
    ["1", "2", "3"],
    "123",
    b"123",
    [],
    [[]],
    [[], []],
    {1, 2, 3},
    range(3),
    {0: 1, 1: 2, 2: 3},
    None,
    1.0,
    [[[[[[[[[1, 2, 3]]]]]]]]],
    [[[[[[[[[[[[[[[1, 2, 3]]]]]]]]]]]]]]],
    type("Floats", (list,), {})([1.0, 2.0, 3.0]),
    type("Pair", (tuple,), {})([1.0, 2.0, 3.0]),
    [type("Mine", (float,), {})(2.5)] * 3,
    [type("Int", (int,), {})(2)] * 3,
]


@pytest.mark.parametrize("value", LISTS, ids=lambda x: f"{type(x).__name__}-{str(x)[:25]}")
def test_lists_mean_what_numpy_takes_them_for(two, value):
    for other in np.arange(3.0), np.arange(3, dtype=np.float32), np.ones((2, 3)), [1, 2, 3]:
        two.assert_alike((value, other))
        two.assert_alike((other, value))


def test_a_list_in_itself(two):
    endless = []
    endless.append(endless)
    before = two.handed_on
    two.assert_alike((np.zeros(3), endless))
    assert two.handed_on == before + 1


@pytest.mark.parametrize("depth", range(5))
@pytest.mark.parametrize("threads", [None, 1])
def test_lists_that_seem_to_hold_more_numbers_than_memory(two, depth, threads):
    """They share their rows, and the last one is of another length."""
    value = [[0.0] * N] * 10**4
    for _ in range(depth):
        value = [value] * 10**4
    values = [value, [1.0]], np.zeros(N)
    f = calls._call.Function(
        lambda *values, **keywords: "handed on",
        two.careful.table,
        ((N,),) * 2,
        ((N, N), ()),
        100,
        (10**9, 10**9),
        {},
    )
    assert f(*values, threads=threads) == "handed on"


MEMORY = np.arange(400.0)
SQUARES = MEMORY[:180].reshape(20, N, N)


def strided(shape, strides, start=0):
    return np.lib.stride_tricks.as_strided(MEMORY[start:], shape, [8 * s for s in strides])


REFUSED = {
    "an argument's rows": (SQUARES[:, 0], SQUARES),
    "between the rows": (strided((5, N), (20, 1), 10), strided((5, N, N), (20, 3, 1))),
    "the last number": (MEMORY[44:47], strided((N, N), (15, 7))),
    "backwards": (MEMORY[:N], MEMORY[2:11][::-1].reshape(N, N)),
}
ALLOWED = {
    "after the last number": (MEMORY[45:48], strided((N, N), (15, 7))),
    "before the first": (MEMORY[:N], MEMORY[3:12][::-1].reshape(N, N)),
}


@pytest.mark.parametrize("case", REFUSED | ALLOWED)
def test_out_may_not_overlap_an_argument(case):
    one = Paths(Polynomials(1, N, ((N, N),)))
    q, out = (REFUSED | ALLOWED)[case]
    MEMORY[...] = np.arange(400.0)
    if case in REFUSED:
        with pytest.raises(ShapeError, match="out overlaps q"):
            one.fast(q, out=out)
        assert (MEMORY == np.arange(400.0)).all()
    else:
        expected = one.careful(q.copy())
        assert one.fast(q, out=out) is out and one.handed_on == 0
        assert (out == expected).all()


def test_results_may_not_overlap_each_other(two):
    q, qd = states(4)
    memory = np.zeros((4, N, N + 1))
    with pytest.raises(ShapeError, match=r"out\[1\] overlaps out\[0\]"):
        two.fast(q, qd, out=(memory[..., :N], memory[:, 1, N]))
    assert not memory.any()
    two.fast(q, qd, out=(memory[:, :, :N], np.zeros((4, 2))[:, 1]))
    np.testing.assert_array_equal(memory[..., :N], two.careful(q, qd)[0])


OVERLAPPING = [(0, 3, 1), (9, 0, 1), (9, 1, 1), (2, 3, 1), (9, 3, 0), (8, 3, 1), (-8, -3, 1)]


@pytest.mark.parametrize("strides", OVERLAPPING, ids=str)
def test_out_may_not_overlap_itself(strides):
    one = Paths(Polynomials(1, N, ((N, N),)))
    (q,) = states(4, arguments=1)
    MEMORY[...] = np.arange(400.0)
    out = strided((4, N, N), strides, 200)
    for given, into in [(q, out)] + [(q[0], out[0])] * (strides[1:] in {(1, 1), (3, 0)}):
        for threads in None, 1, 2:
            with pytest.raises(ShapeError, match="out overlaps itself: its shape is .* strides"):
                one.fast(given, out=into, threads=threads)
    assert (MEMORY == np.arange(400.0)).all()


SPREAD = {
    "rows apart": strided((4, N, N), (20, 6, 2), 200),
    "columns first": strided((4, N, N), (1, 12, 4), 200),
    "backwards": strided((4, N, N), (-20, 6, -2), 300),
    "one state": strided((1, N, N), (0, 3, 1), 200),
    "none": np.empty((0, N, N)),
}


@pytest.mark.parametrize("layout", SPREAD)
@pytest.mark.parametrize("threads", [None, 1, 2])
def test_out_whose_axes_step_over_each_other_receives_the_result(layout, threads):
    one, out = Paths(Polynomials(1, N, ((N, N),))), SPREAD[layout]
    (q,) = states(len(out), arguments=1)
    for f in one.fast, one.careful:
        out[...] = 0
        assert f(q, out=out, threads=threads) is out
        assert (out == one.careful(q)).all()


@pytest.mark.parametrize(
    "out",
    [
        np.zeros((N, N, 4)).T[:, :, :2],
        np.zeros((4, N, N), np.float32)[::-1],
        np.zeros((8, N, N), ">f8")[::2],
        np.zeros((4, N, 2 * N), int)[..., ::2],
        np.broadcast_to(np.zeros((N, N)), (4, N, N)),
        np.ma.zeros((8, N, N))[::2],
        [np.zeros((N, N))] * 4,
        np.zeros((1, 4, N, N)),
    ],
    ids=lambda x: f"{type(x).__name__}-{getattr(x, 'dtype', '')}-{np.shape(x)}",
)
def test_out_that_does_not_fit(out):
    one = Paths(Polynomials(1, N, ((N, N),)))
    (q,) = states(8, arguments=1)
    one.assert_alike((q[::2],), {"out": out})


def random_array(rng, batch, kind):
    """Numbers with some of the batch axes, in a layout drawn by lot."""
    shape = [1 if rng.random() < 0.2 else length for length in batch]
    shape = [*shape[rng.choice([0, 0, 0, len(shape)]) :], N]
    order = rng.sample(range(len(shape)), len(shape))
    steps = [rng.choice([1, 1, 1, 2, -1, -3]) for _ in shape]
    wide = numbers([abs(steps[i]) * shape[i] for i in order], kind, rng.randrange(10**6))
    turned = wide.transpose([order.index(i) for i in range(len(shape))])
    return turned[tuple(slice(None, None, step) for step in steps)]


def random_out(rng, shape, dtype):
    order = rng.sample(range(len(shape)), len(shape))
    steps = [rng.choice([1, 1, 2, -1, -2]) for _ in shape]
    wide = np.zeros([abs(steps[i]) * shape[i] for i in order], dtype)
    turned = wide.transpose([order.index(i) for i in range(len(shape))])
    return turned[(*(slice(None, None, step) for step in steps), ...)]


def compare_random_layouts(seed, count):
    rng = random.Random(seed)
    shapes = rng.choice([((N,),), ((N, N), ()), ((2, 1, N), (N,), ())])
    paths = Paths(Polynomials(rng.choice([1, 2, 3, 4]), N, shapes))
    for _ in range(count):
        batch = tuple(rng.choice([1, 2, 3, 5, 17]) for _ in range(rng.choice([0, 1, 1, 2, 3, 4])))
        narrow = rng.random() < 0.3
        kinds = ["f4"] if narrow else ["f8", "f8", "f4", "i4", "u2", "i8"]
        count = paths.polynomials.arguments
        values = [random_array(rng, batch, rng.choice(kinds)) for _ in range(count)]
        if rng.random() < 0.2:
            values[0] = values[0].tolist()
        results = paths.careful(*values)
        results = results if isinstance(results, tuple) else (results,)
        keywords = {}
        if rng.random() < 0.5:
            out = tuple(random_out(rng, x.shape, x.dtype) for x in results)
            keywords = {"out": out if len(out) > 1 else out[0]}
        assert isinstance(paths.assert_alike(values, keywords), list)
    assert paths.handed_on == 0


@pytest.mark.parametrize("seed", range(6))
def test_random_layouts(seed):
    compare_random_layouts(seed, 200)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(10, 30))
def test_many_random_layouts(seed):
    compare_random_layouts(seed, 3000)


# Robots ---------------------------------------------------------------------------------------


def test_a_robot_gives_the_same_bits_for_every_shape():
    robot = armdyn.load("panda")
    x = np.random.default_rng(0).uniform(-3, 3, (3, 40, 7))
    x[0, 5, 2] = 1e9  # far angles are reduced in another way
    whole = robot.inverse_dynamics(*x)
    for count in range(1, 41):
        part = x[:, :count]
        fortran = map(np.asfortranarray, part)
        for values in part, fortran, part.tolist(), np.repeat(part, 2, axis=1)[:, ::2]:
            assert_same_bits(robot.inverse_dynamics(*values), whole[:count])
        out = np.zeros((7, count)).T
        assert (robot.inverse_dynamics(*part, out=out) == whole[:count]).all()
    for k, (q, qd, qdd) in enumerate(zip(*x, strict=True)):
        assert_same_bits(robot.inverse_dynamics(q.tolist(), tuple(qd), qdd), whole[k])


# Memory ---------------------------------------------------------------------------------------


def calls_of_many_shapes(two):
    q, qd = states(20)
    one, out = q[0].tolist(), (np.zeros((N, N, 20)).T, np.zeros(40)[::2])
    large = np.zeros((N, 3000)).T
    return [
        lambda: two.fast(one, one),
        lambda: two.fast(q.tolist(), qd),
        lambda: two.fast(q[::2], qd[0]),
        lambda: two.fast(q.astype("i4"), qd[:1]),
        lambda: two.fast(q, qd[::-1], out=out),
        lambda: two.fast(large, qd[0]),
        lambda: two.fast([[1, 2, 3], [4, 5, 6]] * 300, qd[0]),
        lambda: seen(two.fast, ([[1, 2, 3], [4, 5]] * 600, qd[0]), {}),
        lambda: seen(two.fast, (q[::2], qd[::4]), {}),
    ]


def test_nothing_stays_behind(two):
    answered, refused = calls_of_many_shapes(two)[:-2], calls_of_many_shapes(two)[-2:]

    def run(count):
        for call in answered:
            for _ in range(count):
                call()
        for call in refused:
            call()
        gc.collect()
        return sys.getallocatedblocks()

    run(20)
    before = run(20)
    assert run(500) - before < 50


def test_references_are_given_back(two):
    q, qd = states(5)
    rows, number = [q[0].tolist()] * 5, 1.25
    rows[0] = [number, 2.5, 3]
    out = np.zeros((N, N, 5)).T, np.zeros(10)[::2]
    held = [q, qd, rows, rows[0], rows[1], number, out, *out]
    view = q[:, ::-1]
    before = [sys.getrefcount(x) for x in held]
    for _ in range(1000):
        two.fast(view, qd, out=out)
        two.fast(rows, qd)
        two.fast(rows, view, out=out)
        seen(two.fast, (rows, qd[:2]), {})
        seen(two.fast, (rows, qd), {"out": (out[0], out[0])})
    assert [sys.getrefcount(x) for x in held] == before


@pytest.mark.sweep
def test_a_hundred_thousand_calls_leave_nothing_behind(two):
    made = calls_of_many_shapes(two)[:5]
    before = None
    for k in range(20_000):
        for call in made:
            call()
        if k == 100:
            before = sys.getallocatedblocks()
    assert sys.getallocatedblocks() - before < 50


def test_many_threads_with_many_shapes(two):
    values = states(64)
    expected = two.careful(*values)[0]
    shapes = [
        [np.asfortranarray(x) for x in values],
        [x.tolist() for x in values],
        [np.repeat(x, 2, axis=0)[::2] for x in values],
        [x[::-1].copy()[::-1] for x in values],
    ]
    wrong = []

    def work(k):
        out = np.zeros((N, N, 64)).T, np.zeros(64)
        for _ in range(300):
            found = two.fast(*shapes[k])[0]
            two.fast(*shapes[k], out=out)
            if found.tobytes() != expected.tobytes() or (out[0] != expected).any():
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_memory_for_long_lists_is_used_again_by_one_call_at_a_time(two):
    sizes = [2800, 4000, 9000, 16000, 30000]  # 67 to 720 kB; the last is too large to be kept
    given = {count: states(count) for count in sizes}
    lists = {count: [x.tolist() for x in values] for count, values in given.items()}
    expected = {count: two.careful(*values)[0].tobytes() for count, values in given.items()}
    wrong, before = [], two.handed_on

    def work(k):
        for turn in range(20):
            count = sizes[(k + turn) % len(sizes)]
            if two.fast(*lists[count])[0].tobytes() != expected[count]:
                wrong.append(count)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert two.handed_on == before


def test_little_memory_is_kept_for_long_lists(two):
    lists = [states(count) for count in (2800, 4000, 9000, 16000, 30000)]
    tracemalloc.start()
    try:
        for _ in range(5):
            for values in lists:
                two.fast(*(x.tolist() for x in values))
        gc.collect()
        found, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found < 4 * 2**19 + 2**17  # four pieces of half a MiB
