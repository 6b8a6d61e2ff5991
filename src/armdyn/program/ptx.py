"""LLVM text of a program for NVIDIA's GPUs: a thread a state, a block is one warp or two.

A thread reads its rows of the arguments where they lie, and computes what a lane of the kernel for
the processor computes (``ptx_arithmetic``). So a state has the same bits on either. Rows of results
leave as ``pages`` says. In long programs whose rows go straight to memory, a thread takes several
states (``ptx_several``).

The kernel takes, for each argument, the address of the first row and how many numbers lie between
the row of a state and that of the next (0: one row for all); then the addresses of the results,
whose rows lie one after the other; then the number of states.
"""

from __future__ import annotations

from armdyn.program import pages, ptx_several
from armdyn.program.llvm import units
from armdyn.program.passes import unroll_brief
from armdyn.program.program import Program
from armdyn.program.ptx_arithmetic import Arithmetic, can_hurry
from armdyn.program.ptx_module import THREAD, Module, parameters, whole
from armdyn.program.ptx_rows import Rows
from armdyn.program.sincos import FORMATS, Format
from armdyn.program.text import Text

SMALL = 12 * 1024  # bytes of shared memory of a block, up to which many warps run side by side,
REGISTERS = 128  # and then a thread has so many registers at most
AHEAD = 16  # blocks of a multiprocessor by which arguments are brought near before they are loaded

BEGIN = f"""{THREAD}
  %left = sub i64 %count, %first
  %here = call i64 @llvm.umin.i64(i64 %left, i64 %threads.far)
  %states = trunc i64 %here to i32
  %is.state = icmp slt i32 %tid, %states
  %last = sub i32 %states, 1
  %own = select i1 %is.state, i32 %tid, i32 %last
  %own.far = zext i32 %own to i64
  %state = add i64 %first, %own.far"""

LATER = """
  %processors = call i32 @llvm.nvvm.read.ptx.sreg.nsmid()
  %ahead = mul i32 %processors, {states}
  %ahead.far = zext i32 %ahead to i64
  %later = add i64 %state, %ahead.far
  %is.later = icmp ult i64 %later, %count
  br i1 %is.later, label %fetch, label %fetched
fetch:"""


def module(program: Program, dtype: str, limit: int) -> Module:
    """The module of a program's kernel, for a card that gives a block ``limit`` bytes."""
    program = unroll_brief(program)
    form, taken = FORMATS[dtype], parameters(program)
    work = Arithmetic(program, form)
    rows = Rows(work, limit)
    if not rows.pages and work.length > pages.LONG and any(rows.sizes):
        return ptx_several.module(program, dtype)
    work.hasty = can_hurry(form) and not rows.pages
    shared = pages.shared_bytes(rows.pages, form)
    texts = [(_body(work, rows, taken, AHEAD if waits(work, shared) else 0), taken)]
    if work.usual:
        careful = Arithmetic(program, form)
        texts.append((_body(careful, Rows(careful, limit), taken, 0), taken))
    return Module(whole(texts, capped(form, shared)), shared)


def _body(work: Arithmetic, rows: Rows, taken: list[str], ahead: int) -> Text:
    """All that a thread does."""
    text = Text()
    text.lines += BEGIN.splitlines()
    work.begin(text)
    if work.form.bits == 64 or not rows.pages:  # else registers are scarcer than time to wait
        work.load_early(text)
    if ahead:
        _fetch(text, work, ahead)
    rows.open(text)
    for unit in rows.ordered(units(work.program)):
        work.unit(text, unit)
        rows.made(text, unit)
    rows.finish(text, taken)
    text.do("ret void")
    return text


def _fetch(text: Text, work: Arithmetic, ahead: int) -> None:
    """Bring rows near that will be loaded so many blocks of each multiprocessor later."""
    text.lines += LATER.format(states=ahead * pages.WARP).splitlines()
    for i in range(len(work.program.inputs)):
        work.move(text, f"%a{i}.later", work.rows[i], "%ahead.far", f"%a{i}.stride")
    work.fetch(text, "later")


def waits(work: Arithmetic, shared: int) -> bool:
    """Whether a thread would wait for its arguments, if they were not brought near before.

    Where programs are short, or pages large, memory is busy all the time anyhow. (In double
    precision too; why, we do not know.)
    """
    return work.form.bits == 32 and work.length >= pages.SHORT and shared <= SMALL


def capped(form: Format, shared: int) -> int | None:
    """The most registers that a thread may have, where that gains speed.

    A kernel without shared memory needs none: told a limit, the driver uses more than it would.
    """
    return REGISTERS if form.bits == 32 and 0 < shared <= SMALL else None
