"""Vectors, rotations, symmetric tensors, on any scalar; ``matrices`` has larger tables.

The contract of a scalar: it adds, subtracts, multiplies, divides and negates, with its own kind and
with Python's ints, and it has a sine and a cosine (``sincos``). A float is one, and so is a complex
number, an mpmath or SymPy number, a fraction, a decimal, a counting or a traced number. Nothing
here looks at a scalar's value; ``select_lt`` is the one way to choose by it. The integers 0 and 1
stand for what is zero or one by structure, so that scalars which know about constants (counting,
tracing) drop the terms that vanish.

Costs are given as multiplications M, additions A and doublings D, as the papers count them: 8M4A
is eight multiplications and four additions.
"""

from __future__ import annotations

import cmath
import math
import sys
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import singledispatch
from typing import Any

Scalar = Any  # whatever adds, subtracts and multiplies
Row = list[Scalar]  # of a matrix, or a vector of n joints


@singledispatch
def sincos(angle: Scalar) -> tuple[Scalar, Scalar]:
    """(sin, cos) of an angle [rad]; a new kind of scalar joins by ``sincos.register``.

    A scalar whose home package has ``sin`` and ``cos`` (mpmath, sympy, numpy) needs no
    registration.
    """
    home = sys.modules[type(angle).__module__.partition(".")[0]]
    if not hasattr(home, "sin"):
        kind = type(angle).__name__
        raise TypeError(f"no sine of a {kind}: register one with armdyn.spatial.sincos.register")
    return home.sin(angle), home.cos(angle)


@sincos.register(float)
@sincos.register(int)
def _(angle: float) -> tuple[float, float]:
    if math.isinf(angle):
        return math.nan, math.nan
    return math.sin(angle), math.cos(angle)


@sincos.register
def _(angle: complex) -> tuple[complex, complex]:
    return cmath.sin(angle), cmath.cos(angle)


@sincos.register
def _(angle: Fraction) -> tuple[Fraction, Fraction]:
    """The fractions that the doubles sin and cos are: no rational angle has rational ones."""
    return Fraction(math.sin(angle)), Fraction(math.cos(angle))


@sincos.register
def _(angle: Decimal) -> tuple[Decimal, Decimal]:
    """Of a fraction of the angle by Taylor's series, then doubled, with digits to spare."""
    halvings = 4 * max(angle.adjusted() + 1, 0)
    with localcontext() as context:
        context.prec += 3 + 2 * halvings
        x = angle / 2**halvings
        S, C = _series(x, x, 1), _series(x, Decimal(1), 0)
        for _ in range(halvings):
            S, C = 2 * S * C, 1 - 2 * S * S
    return +S, +C


def _series(x: Decimal, term: Decimal, k: int) -> Decimal:
    """Taylor's series from the term of x^k on, to the digits of the context."""
    total, before = term, None
    while total != before:
        before, k = total, k + 2
        term = -term * x * x / (k * (k - 1))
        total += term
    return total


@sincos.register
def _(angle: tuple) -> tuple[Scalar, Scalar]:
    """A pair (cos, sin) given in place of the angle, so that rational arms stay rational."""
    cos, sin = angle
    return sin, cos


@singledispatch
def select_lt(a: Scalar, b: Scalar, x: Scalar, y: Scalar) -> Scalar:
    """The one way to choose by a value: x where a < b, else y."""
    return x if a < b else y


def is_structural_zero(x: Scalar) -> bool:
    """Whether this is the integer 0, which stands for what is zero by structure."""
    return isinstance(x, int) and x == 0


class Vector:
    """A 3-vector: ``+``, ``-``, ``scalar * v``, ``v @ w`` (dot product) and ``v.cross(w)``."""

    __slots__ = ("x", "y", "z")
    __array_ufunc__ = None  # lets `numpy_scalar * vector` reach __rmul__

    def __init__(self, x: Scalar, y: Scalar, z: Scalar) -> None:
        self.x, self.y, self.z = x, y, z

    def __iter__(self) -> Iterator[Scalar]:
        return iter((self.x, self.y, self.z))

    def __repr__(self) -> str:
        return f"Vector({self.x}, {self.y}, {self.z})"

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Vector) -> Vector:
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self) -> Vector:
        return Vector(-self.x, -self.y, -self.z)

    def __rmul__(self, scale: Scalar) -> Vector:
        return Vector(scale * self.x, scale * self.y, scale * self.z)

    def __matmul__(self, other: Vector) -> Scalar:
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other: Vector) -> Vector:
        """The vector product, 6M3A."""
        return Vector(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )


ZERO = Vector(0, 0, 0)
Z_AXIS = Vector(0, 0, 1)  # the axis of every joint, in its own frame


class Symmetric:
    """A symmetric tensor by its six elements: ``+``, ``-``, ``scalar * J`` and ``J @ v`` (9M6A)."""

    __slots__ = ("xx", "xy", "xz", "yy", "yz", "zz")
    __array_ufunc__ = None

    def __init__(
        self, xx: Scalar, xy: Scalar, xz: Scalar, yy: Scalar, yz: Scalar, zz: Scalar
    ) -> None:
        self.xx, self.xy, self.xz, self.yy, self.yz, self.zz = xx, xy, xz, yy, yz, zz

    def __iter__(self) -> Iterator[Scalar]:
        return iter((self.xx, self.xy, self.xz, self.yy, self.yz, self.zz))

    def __repr__(self) -> str:
        return f"Symmetric({', '.join(map(str, self))})"

    def rows(self) -> tuple[Vector, Vector, Vector]:
        """All nine elements, row by row."""
        return (
            Vector(self.xx, self.xy, self.xz),
            Vector(self.xy, self.yy, self.yz),
            Vector(self.xz, self.yz, self.zz),
        )

    def __add__(self, other: Symmetric) -> Symmetric:
        return Symmetric(*(a + b for a, b in zip(self, other, strict=True)))

    def __sub__(self, other: Symmetric) -> Symmetric:
        return Symmetric(*(a - b for a, b in zip(self, other, strict=True)))

    def __rmul__(self, scale: Scalar) -> Symmetric:
        return Symmetric(*(scale * a for a in self))

    def turned(self, rows: tuple[Vector, Vector, Vector]) -> Symmetric:
        """R J R^T with R by its rows, 42M29A; turning keeps the trace, which gives zz."""
        x, y, z = rows
        Jx, Jy = self @ x, self @ y
        xx, yy = x @ Jx, y @ Jy
        return Symmetric(xx, y @ Jx, z @ Jx, yy, z @ Jy, self.xx + self.yy + self.zz - xx - yy)

    def less_half_trace(self) -> Symmetric:
        """J - tr(J)/2 1, which is - E of the same body, E = integral of r r^T dm."""
        half = (self.xx + self.yy + self.zz) / 2
        return self - Symmetric(half, 0, 0, half, 0, half)

    def __matmul__(self, v: Vector) -> Vector:
        return Vector(
            self.xx * v.x + self.xy * v.y + self.xz * v.z,
            self.xy * v.x + self.yy * v.y + self.yz * v.z,
            self.xz * v.x + self.yz * v.y + self.zz * v.z,
        )


class Dyads:
    """A symmetric tensor as lam 1 + u u^T + v v^T, the cheapest form to turn; ``trace`` is its own.

    Any symmetric tensor has it: lam is its smallest eigenvalue, u and v lie along the others' axes.
    """

    __slots__ = ("lam", "u", "v", "trace")

    def __init__(self, lam: Scalar, u: Vector, v: Vector, trace: Scalar) -> None:
        self.lam, self.u, self.v, self.trace = lam, u, v, trace

    def less_half_trace(self) -> Dyads:
        """J - tr(J)/2 1, which is - E of the same body, E = integral of r r^T dm."""
        half = self.trace / 2
        return Dyads(self.lam - half, self.u, self.v, -half)

    def turned(self, rows: tuple[Vector, Vector, Vector]) -> Symmetric:
        """R J R^T with R by its rows, 28M21A; turning keeps the trace, which gives zz."""
        ux, uy, uz = (row @ self.u for row in rows)
        vx, vy, vz = (row @ self.v for row in rows)
        xx = ux * ux + vx * vx + self.lam
        yy = uy * uy + vy * vy + self.lam
        return Symmetric(
            xx, ux * uy + vx * vy, ux * uz + vx * vz, yy, uy * uz + vy * vz, self.trace - xx - yy
        )


def double_cross(a: Vector, b: Vector) -> tuple[Vector, Vector, Vector]:
    """The matrix of a x (b x ...), which is b a^T - (a.b) 1, by its rows, 9M3A."""
    xx, yy, zz = a.x * b.x, a.y * b.y, a.z * b.z
    return (
        Vector(-(yy + zz), b.x * a.y, b.x * a.z),
        Vector(b.y * a.x, -(xx + zz), b.y * a.z),
        Vector(b.z * a.x, b.z * a.y, -(xx + yy)),
    )


def steiner(first_moment: Vector, centre: Vector) -> Symmetric:
    """What a point mass at c adds to an inertia tensor: m (c.c 1 - c c^T), from m c and c, 6M3A."""
    xx, yy, zz = (h * c for h, c in zip(first_moment, centre, strict=True))
    h, c = first_moment, centre
    return Symmetric(yy + zz, -(h.x * c.y), -(h.x * c.z), xx + zz, -(h.y * c.z), xx + yy)


class Rotation:
    """R = Rx(beta) Rz(theta), which takes frame E_i to E_{i-1}, as its two plane rotations.

    ``C, S`` are cos and sin of theta, ``Cb, Sb`` of beta. Applied one plane after the other a
    vector costs 8M4A where the nine entries would cost 8M5A.
    """

    __slots__ = ("C", "S", "Cb", "Sb")

    def __init__(self, C: Scalar, S: Scalar, Cb: Scalar, Sb: Scalar) -> None:
        self.C, self.S, self.Cb, self.Sb = C, S, Cb, Sb

    def up(self, v: Vector) -> Vector:
        """R v: a vector of E_i seen in E_{i-1}, 8M4A."""
        t = self.S * v.x + self.C * v.y
        return Vector(
            self.C * v.x - self.S * v.y,
            self.Cb * t - self.Sb * v.z,
            self.Sb * t + self.Cb * v.z,
        )

    def down(self, v: Vector) -> Vector:
        """R^T v: a vector of E_{i-1} seen in E_i, 8M4A."""
        t = self.Cb * v.y + self.Sb * v.z
        return Vector(
            self.C * v.x + self.S * t,
            self.C * t - self.S * v.x,
            self.Cb * v.z - self.Sb * v.y,
        )

    def rows(self) -> tuple[Vector, Vector, Vector]:
        """The entries of R, row by row, 4M."""
        return (
            Vector(self.C, -self.S, 0),
            Vector(self.Cb * self.S, self.Cb * self.C, -self.Sb),
            Vector(self.Sb * self.S, self.Sb * self.C, self.Cb),
        )

    def similarity(self, J: Symmetric) -> Symmetric:
        """R J R^T: a tensor of E_i seen in E_{i-1}, 16M14A2D."""
        return about_x(self.Cb, self.Sb, about_z(self.C, self.S, J))


def about_z(C: Scalar, S: Scalar, J: Symmetric) -> Symmetric:
    """Rz J Rz^T, 8M7A1D."""
    w = S * (J.xx - J.yy) + C * (2 * J.xy)
    return Symmetric(
        J.xx - S * w,
        C * w - J.xy,
        C * J.xz - S * J.yz,
        J.yy + S * w,
        S * J.xz + C * J.yz,
        J.zz,
    )


def about_x(C: Scalar, S: Scalar, J: Symmetric) -> Symmetric:
    """Rx J Rx^T, 8M7A1D."""
    w = S * (J.yy - J.zz) + C * (2 * J.yz)
    return Symmetric(
        J.xx,
        C * J.xy - S * J.xz,
        S * J.xy + C * J.xz,
        J.yy - S * w,
        C * w - J.yz,
        J.zz + S * w,
    )
