"""Kernels in which a thread computes state after state, as LLVM text.

Where its rows lie is found once; those of its next state are a step further, by as many states as
there are threads. While a state is computed, the rows of the next one are brought near. Results go
straight to memory.
"""

from __future__ import annotations

import math

from armdyn.program.llvm import units
from armdyn.program.order import terms_soon
from armdyn.program.program import Program
from armdyn.program.ptx_arithmetic import Arithmetic, can_hurry
from armdyn.program.ptx_module import THREAD, Module, parameters, whole
from armdyn.program.sincos import FORMATS
from armdyn.program.text import Text

BEGIN = f"""{THREAD}
  %tid.far = zext i32 %tid to i64
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %own = add i64 %first, %tid.far
  %all.near = mul i32 %blocks, %threads
  %all = zext i32 %all.near to i64
  %some = icmp ult i64 %own, %count
  %others = sub i64 %count, %all"""
REGISTERS = 96  # of a thread at most: so 20 warps find room on a multiprocessor
POINTER = "ptr addrspace(1)"
# A step that LLVM does not see through: it would take several where one is enough.
STEP = f'call {POINTER} asm "add.s64 $0, $1, $2;", "=l,l,l"({POINTER} {{0}}.row, i64 {{0}}.step)'


def module(program: Program, dtype: str) -> Module:
    """The module of a program's kernel."""
    work, text = Arithmetic(program, FORMATS[dtype]), Text()
    work.hasty = can_hurry(work.form)
    arguments = [f"%a{i}" for i in range(len(program.inputs))]
    results = [f"%r{i}" for i in range(len(program.shapes))]
    _begin(text, work, arguments, results)
    work.load_early(text)
    _step(text, arguments)
    text.do("br i1 %more, label %fetch, label %fetched")
    text.lines.append("fetch:")
    work.fetch(text, "next")
    _state(text, work)
    given = [f"{POINTER} {name}.next, i64 {name}.step" for name in arguments]
    given += [f"{POINTER} {name}.row" for name in results]
    work.leave(text, "end", given)
    text.lines.append("end:")
    _step(text, results)
    text.do("br i1 %more, label %state, label %done")
    text.lines.append("done:")
    text.do("ret void")
    texts = [(text, parameters(program))]
    if work.usual:
        texts.append((_again(Arithmetic(program, work.form), arguments), given))
    return Module(whole(texts, REGISTERS), 0, several=True)


def _begin(text: Text, work: Arithmetic, arguments: list[str], results: list[str]) -> None:
    """Find the rows of the first state, and begin a state.

    It is the thread's last one if its widest row lies beyond all but the last states' rows.
    """
    text.lines += BEGIN.splitlines()
    work.set_aside(text)
    strides = [f"{name}.stride" for name in arguments]
    sizes = [math.prod(shape) for shape in work.program.shapes]
    strides += map(str, sizes)
    names = arguments + results
    for name, stride in zip(names, strides, strict=True):
        text.do(f"{name}.bytes = mul i64 {stride}, {work.form.bits // 8}")
        text.do(f"{name}.skip = mul i64 %own, {name}.bytes")
        text.do(f"{name}.first = getelementptr i8, {POINTER} {name}, i64 {name}.skip")
        text.do(f"{name}.step = mul i64 %all, {name}.bytes")
    widest = results[sizes.index(max(sizes))]
    text.do(f"%length = mul i64 %others, {widest}.bytes")
    text.do(f"%end.of.others = getelementptr i8, {POINTER} {widest}, i64 %length")
    text.do("br i1 %some, label %state, label %done")
    text.lines.append("state:")
    text.label = "state"
    for name in names:
        text.do(f"{name}.row = phi {POINTER} [ {name}.first, %entry ], [ {name}.next, %end ]")
    text.do(f"%more = icmp ult {POINTER} {widest}.row, %end.of.others")


def _step(text: Text, names: list[str]) -> None:
    """Find the rows of the next state."""
    for name in names:
        text.do(f"{name}.next = {STEP.format(name)}")


def _state(text: Text, work: Arithmetic) -> None:
    """Compute a state, and store its results."""
    for unit in units(work.program, terms_soon):
        work.unit(text, unit)
    outputs, scalar = iter(work.program.outputs), work.form.scalar
    for i, shape in enumerate(work.program.shapes):
        for k in range(math.prod(shape)):
            name = work.use(text, next(outputs))
            there = text.emit(f"getelementptr {scalar}, {POINTER} %r{i}.row, i64 {k}")
            text.do(f"store {scalar} {name}, {POINTER} {there}")


def _again(work: Arithmetic, arguments: list[str]) -> Text:
    """Compute a state with care; its arguments lie a step before the next ones."""
    text = Text()
    work.set_aside(text)
    for name in arguments:
        text.do(f"{name}.back = sub i64 0, {name}.step")
        text.do(f"{name}.row = getelementptr i8, {POINTER} {name}.next, i64 {name}.back")
    work.load_early(text)
    _state(text, work)
    text.do("ret void")
    return text
