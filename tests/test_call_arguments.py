"""Calls whose arguments have shapes of their own: vectors, matrices and single numbers."""

import numpy as np
import pytest

from armdyn.engine import calls
from armdyn.errors import ShapeError
from tests.kernels import FRONTS, Polynomials, assert_same_bits, function

TAKES = ((3,), (2, 2), (), (10,), (2, 3, 2), (1,))
BATCHES = ((), (1,), (2,), (7,), (2, 3), (2500,))


def polynomials(takes=TAKES):
    return Polynomials(takes=takes, shapes=((3, 3), (), (5,)))


def given(batch=(), takes=TAKES, dtype=np.float64):
    rng = np.random.default_rng(0)
    return [np.asarray(rng.normal(size=batch + shape), dtype) for shape in takes]


@pytest.fixture(params=FRONTS)
def front(request):
    return request.param


def assert_right(found, polynomials, values):
    for one, right in zip(found, polynomials.expected(*values), strict=True):
        assert_same_bits(one, right)


@pytest.mark.parametrize("takes", [TAKES, TAKES[::-1], TAKES[1:], TAKES[2:], ((),), ((2, 2),)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_each_argument_has_its_shape(front, takes, dtype):
    kernels = polynomials(takes)
    f = function(front, kernels)
    for batch in BATCHES * 2:  # the first call of each kind compiles, by the careful path
        values = given(batch, takes, dtype)
        assert_right(f(*values), kernels, values)
        out = tuple(np.empty(batch + shape, dtype) for shape in kernels.shapes)
        assert f(*values, out=out) is out
        assert_right(out, kernels, values)
        assert_right(f(*values, threads=3), kernels, values)


def test_arguments_broadcast_whatever_their_shapes(front):
    kernels = polynomials()
    f = function(front, kernels)
    for _ in range(2):
        for batches in (
            [(4, 1), (5,), (), (4, 5), (1, 1), (4, 1)],
            [(), (), (3,), (), (), ()],
            [(2500,), (), (1,), (2500,), (), ()],
        ):
            values = [
                np.random.default_rng(k).normal(size=batch + shape)
                for k, (batch, shape) in enumerate(zip(batches, TAKES, strict=True))
            ]
            assert_right(f(*values), kernels, values)
            strided = [np.asfortranarray(value) for value in values]
            assert_right(f(*strided), kernels, values)
            if np.broadcast_shapes(*batches) != (2500,):
                assert_right(f(*(value.tolist() for value in values)), kernels, values)


def test_a_wrong_shape_is_told_the_right_one():
    taken = {"q": calls.Argument((3,), "one number for each of 3 joints")}
    taken |= {"M": calls.Argument((2, 2)), "t": calls.Argument(())}
    kernels = polynomials(tuple(argument.shape for argument in taken.values()))
    path = calls.CarefulPath("f", taken, kernels.shapes, kernels)
    q, M, t = given((), kernels.takes)
    for values, message in (
        ((M, M, t), r"q has shape \(2, 2\); expected \(\.\.\., 3\), one number for each of 3 joi"),
        ((t, M, t), r"q has shape \(\); expected \(\.\.\., 3\), one"),
        ((q, q, t), r"M has shape \(3,\); expected \(\.\.\., 2, 2\)$"),
        ((q, M[0], t), r"M has shape \(2,\); expected \(\.\.\., 2, 2\)$"),
        ((q, M[None, :, :1], t), r"M has shape \(1, 2, 1\); expected \(\.\.\., 2, 2\)$"),
        ((q[None], M, np.zeros(4)), None),
        ((np.zeros((5, 3)), M, np.zeros(4)), r"do not broadcast: q \(5, 3\), M \(2, 2\), t \(4,\)"),
    ):
        if message is None:
            path(*values)
            continue
        with pytest.raises(ShapeError, match=message):
            path(*values)


@pytest.mark.skipif(not calls.EXTENSION, reason="the C extension is not built")
def test_c_answers_by_itself_where_shapes_differ():
    kernels = polynomials()
    path = function(lambda path: path, kernels)
    for kind in "single", "batch":
        path.address(kind, calls.FLOAT64)

    def refuse(*values, **keywords):
        raise AssertionError("handed on")

    f = calls._call.Function(refuse, path.table, path.takes, path.shapes, 100, path.many, {})
    for batch in BATCHES:
        values = given(batch)
        assert_right(f(*values), kernels, values)
        out = tuple(np.empty(batch + shape) for shape in path.shapes)
        assert_right(f(*values, out=out, threads=2), kernels, values)
    square = np.zeros((3, 3))
    for wrong in (
        [*given()[:1], np.zeros((2, 3)), *given()[2:]],
        [*given((7,))[:5], np.zeros((6, 1))],
        [square[0], *given()[1:]],
    ):
        with pytest.raises(AssertionError, match="handed on"):
            f(*wrong, out=(square, np.zeros(()), np.zeros(5)))
