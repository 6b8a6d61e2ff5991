"""The reduction of far angles as LLVM text, without libm, after Payne and Hanek.

x = m 2^e with an integer m of 53 bits. Of x times 2/pi only the part below four quarter turns
matters, so the bits of 2/pi above that are left out: 192 bits from there on, times m, modulo 2^192,
are the quarter turns (two bits) and the fraction of one (190 bits). No double is nearer to a
multiple of pi/2 than 2^-62 of it, so that 75 bits or more of the fraction are right.

Far angles are rare. A vector with one of them is reduced lane by lane, and a lane that is near
keeps what it has: no state depends on its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from armdyn.program.sincos import DOUBLE, Format, Lanes, literal
from armdyn.program.text import Text

WORDS = 20  # of 64 bits: as far as 2^1024 goes
Reduced = tuple[str, str]  # what is left of an angle, and its quarter turns, by their names
LEAD = 64  # zeros before the bits of 2/pi, for angles whose e is negative


def two_over_pi(bits: int) -> int:
    """2/pi times 2^bits, rounded down; pi by Machin's formula."""
    one = 1 << (bits + 32)

    def arctan_of_inverse(n: int) -> int:
        power, total, k = one // n, 0, 0
        while power:
            total += (-1) ** k * (power // (2 * k + 1))
            power //= n * n
            k += 1
        return total

    pi = Fraction(4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239)), one)
    return int(2 / pi * (1 << bits))


def table() -> str:
    """The bits of 2/pi behind LEAD zeros, the highest ones in the first word."""
    bits = two_over_pi(64 * WORDS - LEAD)
    words = [bits >> (64 * (WORDS - 1 - i)) & (2**64 - 1) for i in range(WORDS)]
    listed = ", ".join(f"i64 {word}" for word in words)
    return f"@two_over_pi = internal constant [{WORDS} x i64] [{listed}]"


ONE = """
declare i64 @llvm.fshl.i64(i64, i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
define internal { double, i64 } @far_angle(double %x) noinline {
  %bits = bitcast double %x to i64
  %biased = lshr i64 %bits, 52
  %exponent = and i64 %biased, 2047
  %digits = and i64 %bits, 4503599627370495
  %m = or i64 %digits, 4503599627370496
  %first = add i64 %exponent, OFFSET
  %start = call i64 @llvm.smax.i64(i64 %first, i64 0)
  %word = lshr i64 %start, 6
  %shift = and i64 %start, 63
  %p0 = getelementptr i64, ptr @two_over_pi, i64 %word
  %p1 = getelementptr i64, ptr %p0, i64 1
  %p2 = getelementptr i64, ptr %p0, i64 2
  %p3 = getelementptr i64, ptr %p0, i64 3
  %w0 = load i64, ptr %p0
  %w1 = load i64, ptr %p1
  %w2 = load i64, ptr %p2
  %w3 = load i64, ptr %p3
  %a0 = call i64 @llvm.fshl.i64(i64 %w0, i64 %w1, i64 %shift)
  %a1 = call i64 @llvm.fshl.i64(i64 %w1, i64 %w2, i64 %shift)
  %a2 = call i64 @llvm.fshl.i64(i64 %w2, i64 %w3, i64 %shift)
  %b0 = zext i64 %a0 to i192
  %b1 = zext i64 %a1 to i192
  %b2 = zext i64 %a2 to i192
  %c0 = shl i192 %b0, 128
  %c1 = shl i192 %b1, 64
  %c01 = or i192 %c0, %c1
  %window = or i192 %c01, %b2
  %factor = zext i64 %m to i192
  %turns = mul i192 %window, %factor
  %rounded = add i192 %turns, HALF
  %whole = lshr i192 %rounded, 190
  %k = trunc i192 %whole to i64
  %taken = shl i192 %whole, 190
  %rest = sub i192 %turns, %taken
  %below = icmp slt i192 %rest, 0
  %opposite = sub i192 0, %rest
  %size = select i1 %below, i192 %opposite, i192 %rest
  %size.mid = lshr i192 %size, 64
  %size.high = lshr i192 %size, 128
  %mid = trunc i192 %size.mid to i64
  %high = trunc i192 %size.high to i64
  %top = and i64 %high, -2048
  %low = and i64 %high, 2047
  %t = uitofp i64 %top to double
  %u = uitofp i64 %low to double
  %v = uitofp i64 %mid to double
  %t.f = fmul double %t, 2^-62
  %u.f = fmul double %u, 2^-62
  %v.f = fmul double %v, 2^-126
  %uv = fadd double %u.f, %v.f
  %f = fadd double %t.f, %uv
  %f.over = fsub double %t.f, %f
  %f.rest = fadd double %f.over, %uv
  %r2 = fmul double %f.rest, QUARTER0
  %r1 = call double @llvm.fma.f64(double %f, double QUARTER1, double %r2)
  %r0 = call double @llvm.fma.f64(double %f, double QUARTER0, double %r1)
  %negative = icmp slt i64 %bits, 0
  %down = xor i1 %below, %negative
  %r.less = fneg double %r0
  %r = select i1 %down, double %r.less, double %r0
  %k.less = sub i64 0, %k
  %k.signed = select i1 %negative, i64 %k.less, i64 %k
  %endless = icmp eq i64 %exponent, 2047
  %none = fsub double %x, %x
  %r.or.none = select i1 %endless, double %none, double %r
  %left = insertvalue { double, i64 } poison, double %r.or.none, 0
  %both = insertvalue { double, i64 } %left, i64 %k.signed, 1
  ret { double, i64 } %both
}
"""


def far_angle() -> str:
    """The function ``far_angle``: (r, k) of a double beyond 2^-13, x = k pi/2 + r."""
    values = {
        "OFFSET": str(LEAD - 1075 - 2),
        "HALF": str(1 << 189),
        "2^-62": literal(2.0**-62, DOUBLE),
        "2^-126": literal(2.0**-126, DOUBLE),
        "QUARTER0": literal(DOUBLE.quarter[0], DOUBLE),
        "QUARTER1": literal(DOUBLE.quarter[1], DOUBLE),
    }
    text = ONE
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def far(form: Format, lanes: int) -> str:
    """The function ``far``: the reduced angles r and quarter turns k of a vector x.

    It takes those of the near lanes, and of the others does it anew, in double.
    """
    real, whole = f"<{lanes} x {form.scalar}>", f"<{lanes} x i{form.bits}>"
    both = f"{{ {real}, {whole} }}"
    lines = [f"define internal {both} @far({real} %x, {real} %r0, {whole} %k0) noinline {{"]
    limit = literal(form.limit, form)
    lines.append(f"  %size = call {real} @llvm.fabs.v{lanes}f{form.bits}({real} %x)")
    lines.append(f"  %far = fcmp ogt {real} %size, splat ({form.scalar} {limit})")
    r, k = "%r0", "%k0"
    for i in range(lanes):
        lines.append(f"  %x{i} = extractelement {real} %x, i32 {i}")
        x = f"%x{i}"
        if form.bits == 32:
            lines.append(f"  %d{i} = fpext float %x{i} to double")
            x = f"%d{i}"
        lines.append(f"  %pair{i} = call {{ double, i64 }} @far_angle(double {x})")
        lines.append(f"  %r.{i} = extractvalue {{ double, i64 }} %pair{i}, 0")
        lines.append(f"  %k.{i} = extractvalue {{ double, i64 }} %pair{i}, 1")
        mine = f"%r.{i}", f"%k.{i}"
        if form.bits == 32:
            lines.append(f"  %rn.{i} = fptrunc double %r.{i} to float")
            lines.append(f"  %kn.{i} = trunc i64 %k.{i} to i32")
            mine = f"%rn.{i}", f"%kn.{i}"
        lines.append(f"  %r.at{i} = insertelement {real} {r}, {form.scalar} {mine[0]}, i32 {i}")
        lines.append(f"  %k.at{i} = insertelement {whole} {k}, i{form.bits} {mine[1]}, i32 {i}")
        r, k = f"%r.at{i}", f"%k.at{i}"
    lines += [
        f"  %r = select <{lanes} x i1> %far, {real} {r}, {real} %r0",
        f"  %k = select <{lanes} x i1> %far, {whole} {k}, {whole} %k0",
        f"  %left = insertvalue {both} poison, {real} %r, 0",
        f"  %both = insertvalue {both} %left, {whole} %k, 1",
        f"  ret {both} %both",
        "}",
    ]
    return "\n".join(lines)


def sincos(text: Text, angles: list[str], form: Format, lanes: int) -> list[tuple[str, str]]:
    """(sin, cos) of vectors of angles; on the way, those beyond the limit are reduced apart."""
    vectors = Lanes(text.emit, form, lanes)
    reduced = vectors.reduced(angles)
    real, whole = vectors.real, vectors.whole
    both = f"{{ {real}, {whole} }}"

    def anew(at: int) -> Reduced:
        r, k = reduced[at]
        pair = text.emit(f"call {both} @far({real} {angles[at]}, {real} {r}, {whole} {k})")
        r, k = (text.emit(f"extractvalue {both} {pair}, {i}") for i in (0, 1))
        return r, k

    any_far = _any_beyond(text, vectors, angles)
    return vectors.sincos(with_far_ones(text, any_far, reduced, anew, real, whole))


def with_far_ones(
    text: Text,
    any_far: str,
    reduced: Sequence[Reduced],
    anew: Callable[[int], Reduced],
    real: str,
    whole: str,
) -> list[Reduced]:
    """Reduced angles; where a flag says that any is far, what ``anew`` writes in place of each."""
    fork, before = len(text.lines), text.label
    text.do("")  # the branch, written when its labels are known
    away = text.block()
    far = [anew(at) for at in range(len(reduced))]
    last = len(text.lines)
    text.do("")
    join = text.block()
    text.lines[fork] = f"  br i1 {any_far}, label %{away}, label %{join}, !prof !0"
    text.lines[last] = f"  br label %{join}"
    return [
        (
            text.emit(f"phi {real} [ {r}, %{before} ], [ {far_r}, %{away} ]"),
            text.emit(f"phi {whole} [ {k}, %{before} ], [ {far_k}, %{away} ]"),
        )
        for (r, k), (far_r, far_k) in zip(reduced, far, strict=True)
    ]


def _any_beyond(text: Text, vectors: Lanes, angles: list[str]) -> str:
    """Whether any angle lies beyond the limit."""
    real, lanes, form = vectors.real, vectors.lanes, vectors.form
    largest = "zeroinitializer"
    for x in angles:
        size = text.emit(f"call {real} @llvm.fabs.v{lanes}f{form.bits}({real} {x})")
        above = text.emit(f"fcmp ogt {real} {size}, {largest}")
        largest = text.emit(f"select <{lanes} x i1> {above}, {real} {size}, {real} {largest}")
    far = text.emit(f"fcmp ogt {real} {largest}, {vectors.number(form.limit)}")
    bits = text.emit(f"bitcast <{lanes} x i1> {far} to i{lanes}")
    return text.emit(f"icmp ne i{lanes} {bits}, 0")
