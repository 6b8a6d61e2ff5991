"""The call path: any arrays in, the same bits out, by the C extension and by Python."""

import inspect

import numpy as np
import pytest

from armdyn.engine import blocks, calls
from armdyn.errors import ShapeError
from tests.kernels import (
    FRONTS,
    LAYOUTS,
    OUT_LAYOUTS,
    N,
    Polynomials,
    assert_same_bits,
    function,
    read_only,
    states,
)


@pytest.fixture(params=FRONTS)
def front(request):
    return request.param


@pytest.fixture
def f(front):
    """Two arguments of three numbers; results (3, 3) and ()."""
    return function(front, Polynomials())


@pytest.fixture
def g(front):
    """One argument of three numbers, one result (3, 3)."""
    return function(front, Polynomials(1, N, ((N, N),)))


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
    "ragged": (([[0.0], [0.0, 1.0]],), {}, "q is ragged"),
    "nothing": ((None,), {}, "q has dtype object"),
    "masked": ((np.ma.masked_invalid([0.0, np.nan, 1.0]),), {}, "q is a masked array"),
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
    f(*values)
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


@pytest.mark.parametrize("layout", OUT_LAYOUTS)
@pytest.mark.parametrize("batch", [(), (3,), (2, 1500)], ids=str)
def test_out_of_any_layout_receives_the_result(g, layout, batch):
    (q,) = states(*batch, arguments=1)
    out = OUT_LAYOUTS[layout]((*batch, N, N))
    for threads in (None, 3):
        out[...] = np.nan
        assert g(q, out=out, threads=threads) is out
        np.testing.assert_array_equal(out, g(q))


def test_a_matrix_is_a_batch_and_may_receive_one(front):
    h = function(front, Polynomials(1, N, ((N,),)))
    with pytest.warns(PendingDeprecationWarning):
        q, out = np.matrix(states(4, arguments=1)[0]), np.matrix(np.zeros((4, N)))
    assert h(q, out=out) is out
    assert type(h(q)) is np.ndarray
    assert_same_bits(np.asarray(out), h(np.asarray(q)))


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True, np.float64(2)])
def test_threads_must_be_a_whole_number(f, threads):
    for batch in (), (4,):
        with pytest.raises(ShapeError, match=r"threads is .*; expected a whole number"):
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


def test_options_choose_the_function_that_answers(front):
    """``by="b"``: the polynomials of another function, whoever looks and however it is asked."""

    def method(q, qd, by=None, *, wide=False, out=None, threads=None):
        """What it is."""

    chosen = []

    def choose(**options):
        chosen.append(options)
        return f if options.get("by") is None else other

    theirs = Polynomials(shapes=((N,), (N, N)))
    other = function(front, theirs)
    f = function(front, Polynomials(), calls.Options(method, choose))
    q, qd = states()
    for _ in range(3):
        for found in (
            f(q, qd, "b"),
            f(q, qd, by="b"),
            f(q, by="b", qd=qd),
            f(q, qd, "b", wide=True, threads=1),
            f(q.tolist(), qd, by="b"),
        ):
            assert_same_bits(found[0], theirs.expected(q, qd)[0])
        for found in f(q, qd), f(q, qd=qd), f(q, qd, None), f(q, qd, wide=False):
            assert_same_bits(found[0], Polynomials().expected(q, qd)[0])
    assert {"by": "b"} in chosen and {"by": "b", "wide": True} in chosen
    out = np.empty(N), np.empty((N, N))
    assert f(q, qd, "b", out=out) is out
    assert_same_bits(out[1], theirs.expected(q, qd)[1])
    assert f.__doc__ == "What it is." and f.__name__ == "method"
    form = "(q, qd, by=None, *, wide=False, out=None, threads=None)"
    assert str(inspect.signature(f)) == form


def test_calls_of_another_form_are_told_the_options(front):
    def method(q: list, qd: list, *, method: str | None = None, out=None, threads=None) -> None:
        """What it is."""

    f = function(front, Polynomials(), calls.Options(method, lambda **options: f))
    q, qd = states()
    form = r"; expected fused\(q, qd, method=None, out=None, threads=None\)"
    for call, found in (
        (lambda: f(q), r"fused\(\.\.\.\) \(missing qd\)"),
        (lambda: f(q, qd, "lin"), r"fused\(\.\.\., \.\.\., \.\.\.\) \(too many positional"),
        (lambda: f(q, qd, nonsense=3), r"nonsense=\.\.\.\) \(no argument nonsense\)"),
        (lambda: f(q, qd, q=q), r"q=\.\.\.\) \(q given twice\)"),
        (lambda: f(**{"q": q, "x" * 5000: qd}), r"\(no argument x{50} \.\.\. x{25}\)"),
    ):
        with pytest.raises(TypeError, match=f"{found}.*{form}"):
            call()


def test_what_a_function_says_of_itself(f):
    assert (f.name, f.arguments, f.shapes) == ("fused", ("q", "qd"), ((3, 3), ()))
    assert f.takes == ((3,), (3,))
    assert "fused(q, qd" in f.__doc__
    with pytest.raises(AttributeError):
        f.colour  # noqa: B018


@pytest.mark.parametrize("arguments, results", [(0, 1), (17, 1), (1, 0), (1, 33)])
def test_too_many_arguments_or_results(arguments, results):
    with pytest.raises(ValueError, match="expected 1 to 16 and 1 to 32"):
        taken = {f"x{k}": calls.Argument((N,)) for k in range(arguments)}
        calls.Function("f", taken, ((),) * results, Polynomials())
