"""The call path by LLVM: what it answers, what it hands on, and where it stands back."""

import ctypes
import gc
import pickle
import sys
import types
import weakref

import numpy as np
import pytest

import armdyn
from armdyn import calls, front
from armdyn.program import front as module
from armdyn.program import jit
from tests.kernels import (
    LAYOUTS,
    N,
    Polynomials,
    assert_same_bits,
    misaligned,
    read_only,
    states,
)

pytestmark = pytest.mark.skipif(not front.code(), reason="LLVM's code cannot work here")
SHAPES = [((N, N),), ((),), ((N, N), (), (2, 1, 3, 1, 1))]


class HandedOn(Exception):
    """Raised in place of an answer."""


def refuse(*values, **keywords):
    raise HandedOn(values, keywords)


def alone(polynomials, path=refuse):
    """A function of these polynomials, with no careful path behind it."""
    table = (ctypes.c_size_t * 4)(polynomials("single", "float64"))
    return front.code().function(path, table, polynomials.arguments, N, polynomials.shapes)


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("arguments", [1, 2, 3, 4])
def test_plain_calls_are_answered(arguments, shapes):
    polynomials = Polynomials(arguments, N, shapes)
    f = alone(polynomials)
    values = states(arguments=arguments)
    expected = polynomials.expected(*values)
    for given in values, map(read_only, values), pickle.loads(pickle.dumps(values)):
        both = (x if len(shapes) > 1 else (x,) for x in (f(*given), expected))
        for one, right in zip(*both, strict=True):
            assert_same_bits(one, right)
            assert isinstance(one, np.ndarray if one.shape else np.float64)
    if len(shapes) == 1:
        out = np.full(shapes[0], np.nan)
        assert f(*values, out=out) is out
        assert_same_bits(out, expected)
        assert_same_bits(f(*values, out=None), expected)


Q, OUT = np.zeros(N), np.zeros((N, N))
SPACE = np.zeros(4 * N + N * N)
OTHERS = {
    "fewer": ((Q,), {}),
    "more": ((Q, Q, Q), {}),
    "threads": ((Q, Q), {"threads": 1}),
    "method": ((Q, Q), {"method": "lin"}),
    "by name": ((Q,), {"qd": Q}),
    "two keywords": ((Q, Q), {"out": OUT, "threads": None}),
    "batch": ((OUT, OUT), {}),
    "another length": ((Q, np.zeros(N + 1)), {}),
    "no axis": ((Q, np.zeros(())), {}),
    "float32": ((Q, Q.astype(np.float32)), {}),
    "integers": ((Q, Q.astype(np.int64)), {}),
    "nothing": ((None, Q), {}),
    "a type": ((np.ndarray, Q), {}),
    "out of another shape": ((Q, Q), {"out": np.zeros((N, N + 1))}),
    "out of another rank": ((Q, Q), {"out": np.zeros(N * N)}),
    "out is read-only": ((Q, Q), {"out": read_only(OUT)}),
    "out is misaligned": ((Q, Q), {"out": misaligned(OUT)}),
    "out is a tuple": ((Q, Q), {"out": (OUT,)}),
    "out ends in an input": ((Q, SPACE[8:11]), {"out": SPACE[:9].reshape(N, N)}),
    "out begins in an input": ((SPACE[:3], Q), {"out": SPACE[2:11].reshape(N, N)}),
    **{layout: ((Q, LAYOUTS[layout](Q)), {}) for layout in set(LAYOUTS) - {"read-only", "Fortran"}},
}


@pytest.mark.parametrize("case", sorted(OTHERS))
def test_other_calls_are_handed_on_as_they_came(case):
    values, keywords = OTHERS[case]
    with pytest.raises(HandedOn) as caught:
        alone(Polynomials(2, N, ((N, N),)))(*values, **keywords)
    seen, named = caught.value.args
    assert all(a is b for a, b in zip(seen, values, strict=True))
    assert named.keys() == keywords.keys() and all(named[k] is keywords[k] for k in named)


def test_neighbours_are_no_overlap():
    values = [SPACE[:3], SPACE[12:15]]
    out = SPACE[3:12].reshape(N, N)
    assert alone(Polynomials(2, N, ((N, N),)))(*values, out=out) is out


def test_nothing_is_answered_before_there_is_a_kernel():
    f = front.code().function(refuse, (ctypes.c_size_t * 4)(), 1, N, ((N,),))
    with pytest.raises(HandedOn):
        f(Q)


@pytest.mark.parametrize("shapes", [((2**40, 2**10),), ((N,), (2**40, 2**10))], ids=str)
def test_where_memory_ends_an_exception_says_so(shapes):
    table = (ctypes.c_size_t * 4)(1)  # an address that must not be called
    f = front.code().function(refuse, table, 1, N, shapes)
    before = sys.getrefcount(Q)
    for _ in range(100):
        with pytest.raises(MemoryError):
            f(Q)
    assert sys.getrefcount(Q) - before < 20


def test_a_function_owns_what_it_uses():
    polynomials = Polynomials(1, N, ((N,),))

    def path(*values):
        return polynomials

    f = alone(polynomials, path)
    gone = weakref.ref(path)
    del path
    gc.collect()
    assert_same_bits(f(Q), Q)
    assert f() is polynomials
    del f
    assert gone() is None


# Where it stands back ---------------------------------------------------------------------------


@pytest.fixture
def anew():
    """The code is made, or refused, once more, and again after the test."""
    front.code.cache_clear()
    yield
    front.code.cache_clear()


@pytest.mark.parametrize("field", ["type", "data", "nd", "descr", "flags", "type_num", "byteorder"])
def test_a_field_that_lies_elsewhere_is_noticed(field, anew, monkeypatch):
    monkeypatch.setitem(module.FIELDS, field, module.FIELDS[field] + 8)
    assert not front.as_expected()
    assert_serves_by_ctypes(monkeypatch)


@pytest.mark.parametrize(
    "owner, name, value",
    [
        (module, "HEADER", 32),
        (front, "VERSIONS", (3,)),
        (front, "NDARRAY", 3),
        (front, "NUMPY", {"PyArray_New": 93}),
        (front, "PYTHON", ("PyTuple_Unknown",)),
        (module, "FRONT", "define ptr @back() {}"),
        (jit, "available", lambda: False),
        (front, "sys", types.SimpleNamespace(implementation=types.SimpleNamespace(name="pypy"))),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_whatever_is_unexpected_leaves_the_path_by_ctypes(owner, name, value, anew, monkeypatch):
    monkeypatch.setenv("ARMDYN_CACHE_DIR", "")
    monkeypatch.setattr(owner, name, value)
    assert_serves_by_ctypes(monkeypatch)


def assert_serves_by_ctypes(monkeypatch):
    monkeypatch.setattr(calls, "EXTENSION", False)
    assert front.code() is None
    polynomials = Polynomials()
    f = calls.Function("f", ("q", "qd"), N, polynomials.shapes, polynomials)
    assert isinstance(f, types.FunctionType)
    for found, right in zip(f(*states()), polynomials.expected(*states()), strict=True):
        assert_same_bits(found, right)
    assert armdyn.info()["call_path"] == "ctypes (the C extension is not built)"


def test_it_serves_where_the_extension_is_not_built(monkeypatch):
    monkeypatch.setattr(calls, "EXTENSION", False)
    polynomials = Polynomials()
    f = calls.Function("f", ("q", "qd"), N, polynomials.shapes, polynomials)
    assert isinstance(f.func, types.BuiltinFunctionType)
    assert armdyn.info()["call_path"] == "LLVM front (the C extension is not built)"


def test_code_is_kept_on_disk(anew, monkeypatch):
    assert front.code()  # now it is there
    front.code.cache_clear()
    monkeypatch.delattr(jit, "assemble")
    assert front.code()
