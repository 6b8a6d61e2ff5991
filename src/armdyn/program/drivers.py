"""Whole LLVM modules: a kernel's parts, and the function that is called from outside.

``single(in, out)`` works on one state, ``batch(in, out, count)`` on many: blocks of as many states
as a vector has lanes go straight from array to array; the states that are left over go through a
block of their own, filled up with zeros. (Stores that bypass the caches were tried for batches
larger than them: they are slower.)

Processors tell loads and stores in flight apart by the last bits of their addresses. Constants lie
from the start of a page on, so ``batch`` makes its stack begin with one: what the parts set aside
then lies at the end of another. A stack wherever it happened to be cost up to half the speed.
"""

from __future__ import annotations

from armdyn.program.far import far, far_angle, table
from armdyn.program.llvm import Kernel, Text
from armdyn.program.program import Program
from armdyn.program.sincos import FORMATS

PAGE = 4096  # bytes that the last bits of an address tell apart

COMMON = """
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
!0 = !{!"branch_weights", i32 1, i32 1048576}
"""

BATCH = """
define void @batch(ptr %in, ptr %out, i64 %count) {{
entry:
{pointers}
{buffers}
  %whole = and i64 %count, -{width}
  %left = sub i64 %count, %whole
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %block ]
  %next = add i64 %i, {width}
  %more = icmp ult i64 %i, %whole
  br i1 %more, label %block, label %rest
block:
{places}
{call_here}
  br label %loop
rest:
  %none = icmp eq i64 %left, 0
  br i1 %none, label %done, label %copy
copy:
{copy_in}
{call_buffered}
{copy_out}
  br label %done
done:
  ret void
}}
"""


def single(program: Program, dtype: str, width: int) -> str:
    """The module of the kernel for one state, ``single(in, out)``."""
    kernel = Kernel(program, FORMATS[dtype], 1, width)
    text = Text()
    text.lines += pointers(kernel)
    whole = len(kernel.parts) == 1
    if whole:
        kernel.part(0, text)
    else:
        text.lines += calls(kernel, kernel.names)
    text.do("ret void")
    driver = define("void @single(ptr %in, ptr %out)", text)
    return "\n".join([*declarations(kernel), COMMON, *([] if whole else parts(kernel)), driver])


def batch(program: Program, dtype: str, width: int) -> str:
    """The module of the kernel for many states, ``batch(in, out, count)``."""
    kernel = Kernel(program, FORMATS[dtype], width, width)
    scalar, number = kernel.form.scalar, kernel.form.bits // 8
    inputs = kernel.names[: len(program.inputs)]
    outputs = kernel.names[len(program.inputs) :]
    size = dict(zip(kernel.names, [*program.inputs.values(), *kernel.sizes], strict=True))

    def each(line: str, names: list[str]) -> str:
        return "\n".join(
            line.format(x=x, size=size[x], row=size[x] * number, block=width * size[x] * number)
            for x in names
        )

    driver = BATCH.format(
        width=width,
        pointers="\n".join(pointers(kernel)),
        buffers=each(
            f"  {{x}}.buffer = alloca [{width} x [{{size}} x {scalar}]], align 64", [*size]
        )
        + f"\n  %frame = alloca i8, align {PAGE}",
        places=each(
            "  {x}.offset = mul i64 %i, {row}\n"
            "  {x}.here = getelementptr i8, ptr {x}, i64 {x}.offset",
            kernel.names,
        ),
        call_here="\n".join(calls(kernel, [f"{x}.here" for x in kernel.names])),
        copy_in=each(
            "  {x}.skip = mul i64 %whole, {row}\n"
            "  {x}.last = getelementptr i8, ptr {x}, i64 {x}.skip\n"
            "  {x}.bytes = mul i64 %left, {row}",
            kernel.names,
        )
        + "\n"
        + each(
            "  call void @llvm.memset.p0.i64(ptr {x}.buffer, i8 0, i64 {block}, i1 0)\n"
            "  call void @llvm.memcpy.p0.p0.i64(ptr {x}.buffer, ptr {x}.last, i64 {x}.bytes, i1 0)",
            inputs,
        ),
        call_buffered="\n".join(calls(kernel, [f"{x}.buffer" for x in kernel.names])),
        copy_out=each(
            "  call void @llvm.memcpy.p0.p0.i64(ptr {x}.last, ptr {x}.buffer, i64 {x}.bytes, i1 0)",
            outputs,
        ),
    )
    return "\n".join([*declarations(kernel), COMMON, *parts(kernel), driver])


def pointers(kernel: Kernel) -> list[str]:
    """Take the pointers out of the arrays %in and %out, and make room for the scratch."""
    lines = []
    for k, name in enumerate(kernel.names):
        inputs = len(kernel.program.inputs)
        array, place = ("%in", k) if k < inputs else ("%out", k - inputs)
        lines.append(f"  {name}.cell = getelementptr ptr, ptr {array}, i64 {place}")
        lines.append(f"  {name} = load ptr, ptr {name}.cell")
    if kernel.slots:
        lines.append(f"  %scratch = alloca [{len(kernel.slots)} x {kernel.type}], align 64")
    return lines


def calls(kernel: Kernel, names: list[str]) -> list[str]:
    """Call part after part."""
    scratch = "%scratch" if kernel.slots else "null"
    arguments = ", ".join(f"ptr {name}" for name in [*names, scratch])
    return [f"  call void @part{i}({arguments})" for i in range(len(kernel.parts))]


def parts(kernel: Kernel) -> list[str]:
    """The parts as functions of the pointers and the scratch array."""
    found = []
    parameters = ", ".join(f"ptr {name}" for name in [*kernel.names, "%scratch"])
    for i in range(len(kernel.parts)):
        text = Text()
        kernel.part(i, text)
        text.do("ret void")
        found.append(define(f"internal void @part{i}({parameters}) noinline", text))
    return found


def declarations(kernel: Kernel) -> list[str]:
    """The intrinsics that a kernel uses, and the function ``far``."""
    form = kernel.form
    found = [table(), far_angle(), far(form, kernel.width)]
    found.append("declare double @llvm.fma.f64(double, double, double)")  # of far_angle
    for lanes in (1, kernel.width):
        real = form.scalar if lanes == 1 else f"<{lanes} x {form.scalar}>"
        suffix = f"f{form.bits}" if lanes == 1 else f"v{lanes}f{form.bits}"
        found.append(f"declare {real} @llvm.fma.{suffix}({real}, {real}, {real})")
        found += [f"declare {real} @llvm.{f}.{suffix}({real})" for f in ("sqrt", "fabs")]
    return list(dict.fromkeys(found))


def define(head: str, text: Text) -> str:
    """A function's definition."""
    return "\n".join([f"define {head} {{", *text.lines, "}"])
