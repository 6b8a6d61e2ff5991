"""Matrices of any scalars: tables of products, solutions, inverses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import singledispatch

from armdyn.spatial import Row, Scalar, Vector, is_structural_zero

Vectors = Sequence[Vector]  # a row of a table: several vectors, as (k, v) of a twist


def linear(
    coefficients: Iterable[Iterable[float]],
    numbers: Sequence[Scalar],
    number: Callable[[float], Scalar] = float,
) -> Row:
    """A constant matrix times a column of scalars; an element without a term is the integer 0.

    A term is left out where its coefficient is zero, or its scalar the integer 0. ``number`` makes
    scalars of the coefficients.
    """
    found: Row = []
    for row in coefficients:
        pairs = zip(row, numbers, strict=True)
        terms = [number(float(c)) * x for c, x in pairs if c and not is_structural_zero(x)]
        found.append(sum(terms[1:], terms[0]) if terms else 0)
    return found


def products(a: Sequence[Vectors], b: Sequence[Vectors]) -> list[Row]:
    """The symmetric table T_ij = T_ji = a_j . b_i for j <= i, a row of vectors each.

    A kind of scalar that has a shorter way joins by ``table_of_products.register``.
    """
    return table_of_products(kind(x for row in (*a, *b) for v in row for x in v), a, b)


@singledispatch
def table_of_products(kind: Scalar, a: Sequence[Vectors], b: Sequence[Vectors]) -> list[Row]:
    """Products on scalars of a kind."""
    T: list[Row] = [[0] * len(a) for _ in a]
    for i, b_i in enumerate(b):
        for j in range(i + 1):
            first, *others = (v @ w for v, w in zip(a[j], b_i, strict=True))
            T[i][j] = T[j][i] = sum(others, first)
    return T


def solve(M: Sequence[Sequence[Scalar]], y: Sequence[Scalar]) -> Row:
    """The x with M x = y, M symmetric positive definite: M = L^T D L, L unit lower triangular.

    [Lin1991] recommends the L D L^T decomposition; this is that of the joints counted from the
    tip. The outermost joint is eliminated first, since M is simplest there (M_nn of a last
    revolute joint is constant). No pivoting and no square root; one division a joint. A kind of
    scalar that has a shorter way joins by ``solution.register``.
    """
    return solution(kind(x for row in (*M, y) for x in row), M, y)


@singledispatch
def solution(kind: Scalar, M: Sequence[Sequence[Scalar]], y: Sequence[Scalar]) -> Row:
    """``solve`` on scalars of a kind."""
    L, pivots = factors(M)
    x = freed(y, L)
    for k in range(len(x)):
        x[k] = pivots[k] * x[k]
        for i in range(k):
            x[k] = x[k] - L[k][i] * x[i]
    return x


def inverse_between(J: Sequence[Sequence[Scalar]], M: Sequence[Sequence[Scalar]]) -> list[Row]:
    """J M^-1 J^T, symmetric, of rows J as long as M.

    With M = L^T D L it is X D^-1 X^T, where a row of X is L^-T times one of J: half the work of
    solving for each row.
    """
    L, pivots = factors(M)
    X = [freed(row, L) for row in J]
    return symmetric_product(X, [[p * x for p, x in zip(pivots, row, strict=True)] for row in X])


def inverse(M: Sequence[Sequence[Scalar]]) -> list[Row]:
    """M^-1 of a symmetric positive definite M."""
    n = len(M)
    return inverse_between([[1 if i == j else 0 for j in range(n)] for i in range(n)], M)


def factors(M: Sequence[Sequence[Scalar]]) -> tuple[list[Row], Row]:
    """L, rows of what is below its diagonal, and 1 / D of M = L^T D L: see ``solve``."""
    A = [list(row) for row in M]
    L: list[Row] = [[] for _ in A]
    pivots: Row = [0] * len(A)
    for k in reversed(range(len(A))):
        pivots[k] = 1 / A[k][k]
        L[k] = [pivots[k] * A[k][i] for i in range(k)]
        for i in range(k):
            for j in range(i + 1):
                A[i][j] = A[i][j] - L[k][i] * A[k][j]
    return L, pivots


def freed(y: Sequence[Scalar], L: Sequence[Row]) -> Row:
    """L^-T y: what of y is left at each joint when those outboard of it move freely."""
    x = list(y)
    for k in reversed(range(len(x))):
        for i in range(k):
            x[i] = x[i] - L[k][i] * x[k]
    return x


def symmetric_product(a: Sequence[Sequence[Scalar]], b: Sequence[Sequence[Scalar]]) -> list[Row]:
    """The table of a_i . b_j, of rows for which it is known to be symmetric."""
    T: list[Row] = [[0] * len(a) for _ in a]
    for i, a_i in enumerate(a):
        for j in range(i + 1):
            T[i][j] = T[j][i] = sum(x * y for x, y in zip(a_i, b[j], strict=True))
    return T


def joined(lower: Sequence[Row], upper: Sequence[Row]) -> list[Row]:
    """The first table below the diagonal and on it, the second above."""
    return [
        [*below[: i + 1], *above[i + 1 :]]
        for i, (below, above) in enumerate(zip(lower, upper, strict=True))
    ]


def kind(numbers: Iterable[Scalar]) -> Scalar:
    """A scalar that says of which kind these are: the first that is no plain number, if any.

    Among scalars made of others, as dual numbers are, it is one of the highest ``level``.
    """
    found = (x for x in numbers if not isinstance(x, (int, float)))
    return max(found, key=lambda x: getattr(x, "level", 0), default=0)
