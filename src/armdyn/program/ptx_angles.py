"""Sines and cosines of a GPU's thread as LLVM text: the polynomials of ``sincos``, on scalars.

Angles beyond their limit are reduced by ``far``, behind a branch that all of them share.
"""

from __future__ import annotations

from armdyn.program.sincos import Format, Lanes
from armdyn.program.text import Text


def sincos(text: Text, angles: list[str], form: Format) -> list[tuple[str, str]]:
    """(sin, cos) of some angles; on the way, those beyond the limit are reduced apart."""
    lanes = Lanes(text.emit, form, 1)
    real, whole, limit = lanes.real, lanes.whole, lanes.number(form.limit)
    reduced = lanes.reduced(angles)
    sizes = [text.emit(f"call {real} @llvm.fabs.f{form.bits}({real} {x})") for x in angles]
    flags = [text.emit(f"fcmp ogt {real} {size}, {limit}") for size in sizes]
    any_far = flags[0]
    for flag in flags[1:]:
        any_far = text.emit(f"or i1 {any_far}, {flag}")
    fork, before = len(text.lines), text.label
    text.do("")  # the branch, written when its labels are known
    away = text.block()
    anew = [
        _far(text, x, flag, r, k, form)
        for x, flag, (r, k) in zip(angles, flags, reduced, strict=True)
    ]
    last = len(text.lines)
    text.do("")
    join = text.block()
    text.lines[fork] = f"  br i1 {any_far}, label %{away}, label %{join}, !prof !0"
    text.lines[last] = f"  br label %{join}"
    joined = [
        (
            text.emit(f"phi {real} [ {r}, %{before} ], [ {far_r}, %{away} ]"),
            text.emit(f"phi {whole} [ {k}, %{before} ], [ {far_k}, %{away} ]"),
        )
        for (r, k), (far_r, far_k) in zip(reduced, anew, strict=True)
    ]
    return [pair for one in joined for pair in lanes.sincos([one])]


def _far(text: Text, x: str, flag: str, r: str, k: str, form: Format) -> tuple[str, str]:
    """The reduced angle and quarter turns, those given unless the flag says that x is far."""
    narrow = form.bits == 32
    double = text.emit(f"fpext float {x} to double") if narrow else x
    pair = text.emit(f"call {{ double, i64 }} @far_angle(double {double})")
    far_r, far_k = (text.emit(f"extractvalue {{ double, i64 }} {pair}, {i}") for i in (0, 1))
    if narrow:
        far_r = text.emit(f"fptrunc double {far_r} to float")
        far_k = text.emit(f"trunc i64 {far_k} to i32")
    real, whole = form.scalar, f"i{form.bits}"
    return (
        text.emit(f"select i1 {flag}, {real} {far_r}, {real} {r}"),
        text.emit(f"select i1 {flag}, {whole} {far_k}, {whole} {k}"),
    )
