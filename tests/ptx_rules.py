"""What single instructions of PTX compute, on arrays over the threads: for the simulator."""

import ctypes
from functools import cache

import llvmlite.binding as llvm
import numpy as np

from tests.ptx_text import KINDS

FMA = """
declare {t} @llvm.fma.f{bits}({t}, {t}, {t})
define void @fma{bits}(ptr %a, ptr %b, ptr %c, ptr %to, i64 %count) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %pa = getelementptr {t}, ptr %a, i64 %i
  %pb = getelementptr {t}, ptr %b, i64 %i
  %pc = getelementptr {t}, ptr %c, i64 %i
  %p = getelementptr {t}, ptr %to, i64 %i
  %x = load {t}, ptr %pa
  %y = load {t}, ptr %pb
  %z = load {t}, ptr %pc
  %r = call {t} @llvm.fma.f{bits}({t} %x, {t} %y, {t} %z)
  store {t} %r, ptr %p
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %end
end:
  ret void
}}
"""


@cache
def _fma_engine():
    """a b + c on arrays, by the processor's own instruction or libm: rounded once."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    text = FMA.format(t="float", bits=32) + FMA.format(t="double", bits=64)
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten()
    )
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
    engine.finalize_object()
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64)
    return engine, {b: kind(engine.get_function_address(f"fma{b}")) for b in (32, 64)}


def fma(a, b, c):
    """a b + c, rounded once."""
    a, b, c = (np.ascontiguousarray(x) for x in np.broadcast_arrays(a, b, c))
    result = np.empty_like(a)
    _, functions = _fma_engine()
    places = [x.ctypes.data for x in (a, b, c, result)]
    functions[a.itemsize * 8](*places, a.size)
    return result


def compare(how, a, b):
    """The comparisons of setp; those with a u at the end are true of NaN."""
    unordered = how.endswith("u") and how != "u" and len(how) == 3
    base = how[:2] if unordered else how
    if base in ("nan", "num"):
        strange = np.isnan(a) | np.isnan(b)
        return strange if base == "nan" else ~strange
    rules = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
    rules |= {"eq": np.equal, "ne": np.not_equal, "lo": np.less, "ls": np.less_equal}
    rules |= {"hi": np.greater, "hs": np.greater_equal}
    found = rules[base](a, b)
    if a.dtype.kind == "f":
        strange = np.isnan(a) | np.isnan(b)
        return found | strange if unordered else found & ~strange
    return found


def convert(parts, value):
    """cvt.rounding.to.from."""
    to, source = KINDS[parts[-2]], KINDS[parts[-1]]
    if source.kind == "f" and to.kind != "f":
        raise NotImplementedError(".".join(parts))
    return value.astype(to)


def shift(name, value, by):
    """Shifts; by the width or more, they leave nothing, or the sign."""
    bits = 8 * value.dtype.itemsize
    inside = np.minimum(by, bits - 1).astype(value.dtype)
    if name == "shl":
        return np.where(by < bits, value << inside, np.zeros_like(value))
    rest = value >> inside
    return rest if value.dtype.kind == "i" else np.where(by < bits, rest, np.zeros_like(value))


def high_half(a, b):
    """The high half of a product."""
    bits = 8 * a.dtype.itemsize
    return np.array([int(x) * int(y) >> bits for x, y in zip(a, b, strict=True)], a.dtype)


def funnel_left(low, high, by):
    """shf.l.wrap: the high half of high:low, shifted left."""
    both = high.astype(np.uint64) << np.uint64(32) | low.astype(np.uint64)
    return (both << (by.astype(np.uint64) & np.uint64(31)) >> np.uint64(32)).astype(np.uint32)


def funnel_right(low, high, by):
    """shf.r.wrap: the low half of high:low, shifted right."""
    both = high.astype(np.uint64) << np.uint64(32) | low.astype(np.uint64)
    return (both >> (by.astype(np.uint64) & np.uint64(31))).astype(np.uint32)


def rough_reciprocal(x):
    """rcp.approx.ftz: that nothing subnormal comes in or out is all that may be relied on."""
    least = np.finfo(x.dtype).smallest_normal
    found = np.reciprocal(np.where(np.abs(x) < least, np.copysign(0, x), x).astype(x.dtype))
    return np.where(np.abs(found) < least, np.copysign(0, found), found).astype(x.dtype)


def logical_not(x):
    return ~x


def bitwise(a, b, c, table):
    """Any function of three bits: the table has a bit for each of their eight values."""
    found = np.zeros_like(a)
    for place in range(8):
        chosen = [x if place >> k & 1 else ~x for k, x in enumerate((c, b, a))]
        found |= np.where(table >> place & 1, chosen[0] & chosen[1] & chosen[2], 0)
    return found


RULES = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "mul.lo": np.multiply,
    "mul.hi": high_half,
    "mad.lo": lambda a, b, c: a * b + c,
    "div": np.divide,
    "rcp": np.reciprocal,
    "rcp.approx": rough_reciprocal,
    "sqrt": np.sqrt,
    "fma": fma,
    "neg": np.negative,
    "abs": np.abs,
    "min": lambda a, b: np.fmin(a, b) if a.dtype.kind == "f" else np.minimum(a, b),
    "max": lambda a, b: np.fmax(a, b) if a.dtype.kind == "f" else np.maximum(a, b),
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "not": logical_not,
    "lop3": bitwise,
    "mov": np.copy,
    "shf.l": funnel_left,
    "shf.r": funnel_right,
}
