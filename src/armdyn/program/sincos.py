"""Sine and cosine as LLVM text: no branch, no table, no call, any number of lanes.

The angle is reduced to r in (-pi/4, pi/4) by k quarter turns, pi/2 being given in three parts
(Cody and Waite); with fma each step is exact while k pi/2 and x agree, so that r has the full
precision of the type. Minimax polynomials (fdlibm's in double, Cephes' in single) then give sin r
and cos r, which k swaps and negates. Within 2 ulp; angles beyond the format's limit are reduced
otherwise, see ``far``. Infinity and NaN give NaN.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

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


class Lanes:
    """Vectors of angles, computed step by step together, so that constants are fetched once.

    Of one lane they are scalars.
    """

    def __init__(self, emit: Emit, form: Format, lanes: int) -> None:
        self.emit, self.form, self.lanes = emit, form, lanes
        kinds = [form.scalar, f"i{form.bits}", "i1"]
        self.real, self.whole, self.flag = (
            kinds if lanes == 1 else [f"<{lanes} x {kind}>" for kind in kinds]
        )

    def reduced(self, angles: list[str]) -> list[tuple[str, str]]:
        """Emit (r, k), x = k pi/2 + r, of angles within the limit; only k's last bits count."""
        found: list[tuple[str, str]] = []
        for x in _groups(angles):
            rounded = self.fma(x, self.number(0.6366197723675814), self.number(self.form.magic))
            turns = self.each("bitcast {real} {} to {whole}", rounded)
            r, k = x, self.each("fsub {real} {}, {}", rounded, self.number(self.form.magic))
            for part in self.form.quarter:
                r = self.fma(k, self.number(-part), r)
            found += zip(r, turns, strict=True)
        return found

    def sincos(self, reduced: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Emit (sin, cos) of reduced angles."""
        return [pair for group in _groups(reduced) for pair in self._polynomials(group)]

    def _polynomials(self, reduced: list[tuple[str, str]]) -> list[tuple[str, str]]:
        r, turns = [r for r, _ in reduced], [k for _, k in reduced]
        z = self.each("fmul {real} {}, {}", r, r)
        cube = self.each("fmul {real} {}, {}", r, z)
        s = self.fma(cube, self.polynomial(self.form.sin, z), r)
        tail = self.fma(z, self.polynomial(self.form.cos, z), self.number(-0.5))
        c = self.fma(z, tail, self.number(1.0))
        return self.turned(s, c, turns)

    def turned(self, s: list[str], c: list[str], turns: list[str]) -> list[tuple[str, str]]:
        """Emit (sin, cos) of what is so many quarter turns further than s and c are of."""
        bits = self.form.bits
        top = self.each("shl {whole} {}, {}", turns, self.integer(bits - 1))
        swap = self.each("icmp slt {whole} {}, {}", top, self.integer(0))
        choice = "select {flag} {}, {real} {}, {real} {}"
        sine, cosine = self.each(choice, swap, c, s), self.each(choice, swap, s, c)
        second = self.each("and {whole} {}, {}", turns, self.integer(2))  # a half turn, or none
        half = self.each("shl {whole} {}, {}", second, self.integer(bits - 2))
        opposite = self.each("xor {whole} {}, {}", half, top)
        return list(zip(self.signed(sine, half), self.signed(cosine, opposite), strict=True))

    def number(self, value: float) -> str:
        """A constant in all lanes."""
        number = literal(value, self.form)
        return number if self.lanes == 1 else f"splat ({self.form.scalar} {number})"

    def integer(self, value: int) -> str:
        """An integer constant in all lanes."""
        return f"{value}" if self.lanes == 1 else f"splat (i{self.form.bits} {value})"

    def each(self, instruction: str, *operands: list[str] | str) -> list[str]:
        """Emit an instruction for every vector of the group; a lone operand serves all of them."""
        count = max(len(operand) for operand in operands if isinstance(operand, list))
        rows = zip(*([o] * count if isinstance(o, str) else o for o in operands), strict=True)
        words = {"real": self.real, "whole": self.whole, "flag": self.flag}
        return [self.emit(instruction.format(*row, **words)) for row in rows]

    def fma(self, a: list[str], b: list[str] | str, c: list[str] | str) -> list[str]:
        """Emit a b + c, rounded once."""
        kind = f"f{self.form.bits}" if self.lanes == 1 else f"v{self.lanes}f{self.form.bits}"
        name = f"@llvm.fma.{kind}"
        return self.each(
            f"call {{real}} {name}({{real}} {{}}, {{real}} {{}}, {{real}} {{}})", a, b, c
        )

    def polynomial(self, coefficients: tuple[float, ...], z: list[str]) -> list[str]:
        """Emit a polynomial in z, its highest coefficient first."""
        value = [self.number(coefficients[0])] * len(z)
        for coefficient in coefficients[1:]:
            value = self.fma(value, z, self.number(coefficient))
        return value

    def signed(self, value: list[str], sign: list[str]) -> list[str]:
        """Emit the value, negated where the sign bit is set."""
        plain = self.each("bitcast {real} {} to {whole}", value)
        turned = self.each("xor {whole} {}, {}", plain, sign)
        return self.each("bitcast {whole} {} to {real}", turned)


def _groups(items: list[Any]) -> Iterator[list[Any]]:
    for i in range(0, len(items), SIDE_BY_SIDE):
        yield items[i : i + SIDE_BY_SIDE]
