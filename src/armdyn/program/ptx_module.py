"""Modules for GPUs, as LLVM text: what stands around the text of a kernel."""

from __future__ import annotations

from typing import NamedTuple

from armdyn.program.far import far_angle, table
from armdyn.program.program import Program
from armdyn.program.text import Text

HEAD = """
target triple = "nvptx64-nvidia-cuda"
@shared = external addrspace(3) global [0 x i8], align 16
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nsmid()
declare void @llvm.nvvm.bar.warp.sync(i32)
declare i64 @llvm.umin.i64(i64, i64)
declare float @llvm.fma.f32(float, float, float)
declare double @llvm.fma.f64(double, double, double)
declare <1 x float> @llvm.fma.v1f32(<1 x float>, <1 x float>, <1 x float>)
declare <1 x double> @llvm.fma.v1f64(<1 x double>, <1 x double>, <1 x double>)
declare float @llvm.nvvm.rcp.approx.ftz.f(float)
declare float @llvm.sqrt.f32(float)
declare double @llvm.sqrt.f64(double)
declare float @llvm.fabs.f32(float)
declare double @llvm.fabs.f64(double)
!0 = !{!"branch_weights", i32 1, i32 1048576}
!1 = !{!"branch_weights", i32 1048576, i32 1}
"""


THREAD = """
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %block.far = zext i32 %block to i64
  %threads.far = zext i32 %threads to i64
  %first = mul i64 %block.far, %threads.far"""  # state of the block


class Module(NamedTuple):
    """LLVM text with the function ``kernel``.

    Attributes:
        text: the module.
        shared: the bytes of shared memory that a block needs.
        several: whether a thread goes on to further states, where there are more than threads.
    """

    text: str
    shared: int
    several: bool = False


def parameters(program: Program) -> list[str]:
    """What the kernel takes."""
    taken = [f"ptr addrspace(1) %a{i}, i64 %a{i}.stride" for i in range(len(program.inputs))]
    given = [f"ptr addrspace(1) %r{i}" for i in range(len(program.shapes))]
    return [*taken, *given, "i64 %count"]


def whole(texts: list[tuple[Text, list[str]]], registers: int | None) -> str:
    """The module of the kernel's text, and of that of ``careful`` if there is one."""
    lines = [HEAD, table(), far_angle()]
    names = "ptx_kernel void @kernel({})", "internal void @careful({}) noinline"
    for name, (text, taken) in reversed(list(zip(names, texts, strict=False))):
        lines += [f"define {name.format(', '.join(taken))} {{", *text.lines, "}"]
    if registers is not None:
        lines.append("!nvvm.annotations = !{!2}")
        lines.append(f'!2 = !{{ptr @kernel, !"maxnreg", i32 {registers}}}')
    return "\n".join(lines)
