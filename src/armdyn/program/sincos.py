"""Sine and cosine as LLVM text: no branch, no table, no call, any number of lanes.

The angle is reduced to r in (-pi/4, pi/4) by k quarter turns, pi/2 being given in three parts
(Cody and Waite); with fma each step is exact while k pi/2 and x agree, so that r has the full
precision of the type. Minimax polynomials (fdlibm's in double, Cephes' in single) then give sin r
and cos r, which k swaps and negates. Within 2 ulp to the format's limit of |x|; what lies beyond
goes to libm. Infinity and NaN give NaN.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

SIDE_BY_SIDE = 8  # vectors of angles computed step by step together

Emit = Callable[[str], str]  # appends an instruction, returns the name of its value


@dataclass(frozen=True)
class Format:
    """What a floating-point type needs: names, quarter turn, rounding trick, polynomials."""

    scalar: str  # the LLVM type
    bits: int
    limit: float  # largest |angle| reduced here [rad]
    magic: float  # adding it rounds to an integer, which then stands in the low bits
    quarter: tuple[float, float, float]  # pi/2 in three parts
    sin: tuple[float, ...]  # of r + r^3 (s_0 + s_1 r^2 + ...), highest first
    cos: tuple[float, ...]  # of 1 - r^2/2 + r^4 (c_0 + c_1 r^2 + ...), highest first


DOUBLE = Format(
    scalar="double",
    bits=64,
    limit=1e12,
    magic=1.5 * 2**52,
    quarter=(1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33),
    sin=(
        1.58969099521155010221e-10,
        -2.50507602534068634195e-08,
        2.75573137070700676789e-06,
        -1.98412698298579493134e-04,
        8.33333333332248946124e-03,
        -1.66666666666666324348e-01,
    ),
    cos=(
        -1.13596475577881948265e-11,
        2.08757232129817482790e-09,
        -2.75573143513906633035e-07,
        2.48015872894767294178e-05,
        -1.38888888888741095749e-03,
        4.16666666666666019037e-02,
    ),
)
FLOAT = Format(
    scalar="float",
    bits=32,
    limit=1e6,
    magic=1.5 * 2**23,
    quarter=(1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
    sin=(-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1),
    cos=(2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2),
)
FORMATS = {"float64": DOUBLE, "float32": FLOAT}


def literal(value: float, form: Format) -> str:
    """A constant as LLVM writes it: the bits of a double, rounded to float where it is one."""
    if form is FLOAT:
        (value,) = struct.unpack("<f", struct.pack("<f", value))
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def sincos(emit: Emit, angles: list[str], form: Format, lanes: int) -> list[tuple[str, str]]:
    """Emit (sin, cos) of vectors of so many lanes, in groups of SIDE_BY_SIDE."""
    groups = [angles[i : i + SIDE_BY_SIDE] for i in range(0, len(angles), SIDE_BY_SIDE)]
    return [pair for group in groups for pair in _side_by_side(emit, group, form, lanes)]


def _side_by_side(emit: Emit, x: list[str], form: Format, lanes: int) -> list[tuple[str, str]]:
    """Emit (sin, cos) of a group: each step for all of it, so that constants are fetched once."""
    real, whole = f"<{lanes} x {form.scalar}>", f"<{lanes} x i{form.bits}>"

    def number(value: float) -> list[str]:
        return [f"splat ({form.scalar} {literal(value, form)})"] * len(x)

    def integer(value: int) -> list[str]:
        return [f"splat (i{form.bits} {value})"] * len(x)

    def each(instruction: str, *operands: list[str]) -> list[str]:
        return [emit(instruction.format(*row)) for row in zip(*operands, strict=True)]

    def fma(a: list[str], b: list[str], c: list[str]) -> list[str]:
        name = f"@llvm.fma.v{lanes}f{form.bits}"
        return each(f"call {real} {name}({real} {{}}, {real} {{}}, {real} {{}})", a, b, c)

    def polynomial(coefficients: tuple[float, ...], z: list[str]) -> list[str]:
        value = number(coefficients[0])
        for coefficient in coefficients[1:]:
            value = fma(value, z, number(coefficient))
        return value

    def signed(value: list[str], sign: list[str]) -> list[str]:
        """Value, negated where the sign bit is set."""
        plain = each(f"bitcast {real} {{}} to {whole}", value)
        return each(f"bitcast {whole} {{}} to {real}", each(f"xor {whole} {{}}, {{}}", plain, sign))

    rounded = fma(x, number(0.6366197723675814), number(form.magic))
    turns = each(f"bitcast {real} {{}} to {whole}", rounded)
    k = each(f"fsub {real} {{}}, {{}}", rounded, number(form.magic))
    r = x
    for part in form.quarter:
        r = fma(k, number(-part), r)
    z = each(f"fmul {real} {{}}, {{}}", r, r)
    s = fma(each(f"fmul {real} {{}}, {{}}", r, z), polynomial(form.sin, z), r)
    c = fma(z, fma(z, polynomial(form.cos, z), number(-0.5)), number(1.0))
    top = each(f"shl {whole} {{}}, {{}}", turns, integer(form.bits - 1))
    swap = each(f"icmp slt {whole} {{}}, {{}}", top, integer(0))
    choice = f"select <{lanes} x i1> {{}}, {real} {{}}, {real} {{}}"
    sine, cosine = each(choice, swap, c, s), each(choice, swap, s, c)
    second = each(f"and {whole} {{}}, {{}}", turns, integer(2))  # a half turn, or none
    half = each(f"shl {whole} {{}}, {{}}", second, integer(form.bits - 2))
    opposite = each(f"xor {whole} {{}}, {{}}", half, top)
    return list(zip(signed(sine, half), signed(cosine, opposite), strict=True))
