"""The C extension: what it answers by itself, and what it hands on."""

import gc
import sys

import numpy as np
import pytest

from armdyn.engine import calls
from tests.kernels import (
    LAYOUTS,
    OUT_LAYOUTS,
    N,
    Polynomials,
    arguments_of,
    assert_same_bits,
    function,
    read_only,
    states,
)

pytestmark = pytest.mark.skipif(not calls.EXTENSION, reason="the C extension is not built")


MANY = (10**9, 10**9)  # states whose results outgrow the caches
HANDED_ON = {"byte-swapped", "subclass", "masked", "another library's", "memory"}


def refuse(*values, **keywords):
    raise AssertionError("handed on")


@pytest.fixture
def f():
    """Two arguments, results (3, 3) and (); only what C answers by itself is answered."""
    polynomials = Polynomials()
    path = calls.CarefulPath("f", arguments_of(polynomials), polynomials.shapes, polynomials, None)
    for dtype in calls.FLOAT64, calls.FLOAT32:
        path.address("single", dtype), path.address("batch", dtype)
    yield calls._call.Function(
        refuse, path.table, path.takes, polynomials.shapes, 100, path.many, {}
    )
    del polynomials  # and the kernels, which nobody else holds


def test_c_answers_plain_calls(f):
    for dtype in np.float64, np.float32:
        for batch in (), (0,), (1,), (2,), (100,), (2, 3):
            values = states(*batch, dtype=dtype)
            out = np.empty((*batch, N, N), dtype), np.empty(batch, dtype)
            f(*values)
            f(*values, out=out)
            f(*values, out=None, threads=None)
            f(*map(read_only, values), out=out, threads=1)
            for found, right in zip(out, Polynomials().expected(*values), strict=True):
                assert_same_bits(found, right)
        for threads in 1, 2, 1000, None:
            f(*states(101, dtype=dtype), threads=threads)
    for threads in 2**70, 0, -1, True, 2.0:
        with pytest.raises(AssertionError, match="handed on"):
            f(*states(101), threads=threads)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_c_answers_calls_of_any_layout_but_these(f, layout):
    for batch in (), (1,), (2, 5), (801,):  # the last one on several threads
        q, qd = states(*batch)
        if layout in HANDED_ON:
            with pytest.raises(AssertionError, match="handed on"):
                f(q, LAYOUTS[layout](qd))
        else:
            assert_same_bits(f(q, LAYOUTS[layout](qd))[0], f(q, qd)[0])


@pytest.mark.parametrize("layout", OUT_LAYOUTS)
def test_c_fills_any_array_but_a_subclass(f, layout):
    for batch in (), (2, 5):
        values = states(*batch)
        out = OUT_LAYOUTS[layout]((*batch, N, N)), OUT_LAYOUTS[layout](batch)
        if layout == "subclass":
            with pytest.raises(AssertionError, match="handed on"):
                f(*values, out=out)
        else:
            assert f(*values, out=out) is out
            for found, right in zip(out, f(*values), strict=True):
                np.testing.assert_array_equal(found, right)


def like(q, qd, by=None, *, odd=None, out=None, threads=None):
    """A function with options."""


def test_c_finds_what_an_option_chose_before():
    ours, theirs = Polynomials(), Polynomials(shapes=((N,), (N, N)))
    other = function(calls.front_in_c, theirs)
    more = function(calls.front_in_c, Polynomials(arguments=3))
    asked = []

    def choose(**options):
        asked.append(options)
        return lambda *values, **keywords: None

    f = function(calls.front_in_c, ours, calls.Options(like, choose))
    kept = {"b": other, True: other, None: other, "more": more, "none": None, "python": theirs}
    f.chosen["by"].update(kept)
    f.chosen["odd"] = 1
    q, qd = states()
    many = states(4)
    other(q, qd), other(*many)  # compiles
    out = np.empty(N), np.empty((N, N))
    for found in (
        f(q, qd, by="b"),
        f(q, qd, by="".join("b")),
        f(q, qd, by=True),
        f(q, qd, by=None),
        f(q, qd, None),
        f(q, qd, "b"),
        f(q, qd, "b", out=out),
        f(q, qd, out=out, by="b", threads=1),
        f(q, qd.tolist(), by="b"),
    ):
        for one, right in zip(found, theirs.expected(q, qd), strict=True):
            assert_same_bits(one, right)
    for one, right in zip(f(*many, by="b"), theirs.expected(*many), strict=True):
        assert_same_bits(one, right)
    assert asked == []
    name = type("Name", (str,), {"__hash__": None})("b")
    values = ("c", False, 1, 1.0, name, [], "none", "more", "python")
    for value in values:
        f(q, qd, by=value)
        f(q, qd, value)
    assert asked == [{"by": value} for value in values for _ in range(2)]
    assert set(f.chosen["by"]) == {*kept, "c", False}
    asked.clear()
    f(q, memoryview(qd), by="b"), f(q, qd=qd, by="b"), f(q, qd, "b", odd=[]), f(q, by="b", qd=qd)
    assert asked == [{"by": "b"}, {"by": "b"}, {"by": "b", "odd": []}, {"by": "b"}]
    for wrong in (
        lambda: f(q, qd, to="b"),
        lambda: f(q, qd, "b", by="b"),
        lambda: f(q, qd, "b", "b"),
        lambda: f(q, by="b"),
        lambda: f(q, qd, by="b", of="b"),
    ):
        with pytest.raises(TypeError, match=r"expected fused\(q, qd, by=None, odd=None, out=None"):
            wrong()


@pytest.mark.parametrize(
    "arguments",
    [(), (0, b"", ((3,),), ((),), 1, MANY, {}), (0, bytearray(48), ((3,),), [()], 1, MANY, {})]
    + [
        (0, bytearray(47), ((3,),), ((),), 1, MANY, {}),
        (0, bytearray(48), ((3,),) * 17, ((),), 1, MANY, {}),
    ]
    + [(0, bytearray(48), (), ((),), 1, MANY, {}), (0, bytearray(48), ((3,),), (), 1, MANY, {})]
    + [
        (0, bytearray(48), (3,), ((),), 1, MANY, {}),
        (0, bytearray(48), ((1,) * 5,), ((),), 1, MANY, {}),
    ]
    + [(0, bytearray(48), ((3,),), ((),) * 33, 1, MANY, {})]
    + [(0, bytearray(48), ((3,),), ((1,) * 5,), 1, MANY, {})]
    + [
        (0, bytearray(48), ((3,),), (("a",),), 1, MANY, {}),
        (0, bytearray(48), ((3,),), (3,), 1, MANY, {}),
    ]
    + [
        (0, bytearray(48), ((3,),), ((),), 1, MANY, []),
        (0, bytearray(48), ((3,),), ((),), 1, MANY),
    ],
)
def test_c_refuses_to_be_built_wrong(arguments):
    with pytest.raises((TypeError, ValueError, BufferError)):
        calls._call.Function(*arguments)


def test_what_was_chosen_is_let_go():
    chosen = {"by": {}}
    before = sys.getrefcount(chosen)
    for _ in range(10):
        calls._call.Function(0, bytearray(48), ((3,),), ((),), 1, MANY, chosen)
    gc.collect()
    assert sys.getrefcount(chosen) == before
