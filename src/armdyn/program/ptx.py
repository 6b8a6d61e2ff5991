"""LLVM text of a program for NVIDIA's GPUs: a thread a state, a block is one warp or two.

A thread reads its rows of the arguments where they lie, and computes on scalars what a lane of the
kernel for the processor computes: the same operations, rounded alike, in the order of recording,
in which the fewest registers are in use. So a state has the same bits on either. Rows of results
leave as ``pages`` says.

The kernel takes, for each argument, the address of the first row and how many numbers lie between
the row of a state and that of the next (0: one row for all); then the addresses of the results,
whose rows lie one after the other; then the number of states.
"""

from __future__ import annotations

from typing import NamedTuple

from armdyn.program import pages
from armdyn.program.far import far_angle, table
from armdyn.program.llvm import TRIG, units
from armdyn.program.loops import Layout, Loops, layout
from armdyn.program.program import TABLES, Op, Program
from armdyn.program.ptx_rows import Rows
from armdyn.program.sincos import FORMATS, Format, Lanes, literal
from armdyn.program.tables import Products
from armdyn.program.text import OPS, Text

EARLY = 16  # numbers of an argument up to which they are loaded before anything else
SMALL = 12 * 1024  # bytes of shared memory of a block, up to which many warps run side by side,
REGISTERS = 128  # and then a thread has so many registers at most
AHEAD = 16  # blocks of a multiprocessor by which arguments are brought near before they are loaded

HEAD = """
target triple = "nvptx64-nvidia-cuda"
@shared = external addrspace(3) global [0 x i8], align 16
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
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
BEGIN = """
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %block.far = zext i32 %block to i64
  %threads.far = zext i32 %threads to i64
  %first = mul i64 %block.far, %threads.far
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
FETCH = "prefetch.global.L2 [$0];"


class Module(NamedTuple):
    """LLVM text with the function ``kernel``, and the shared memory that a block of it needs."""

    text: str
    shared: int


class Arithmetic:
    """Writes what a thread computes, on scalars.

    ``values`` are the names of what is known by its place in the program. In haste, reciprocals
    are right only of usual numbers, neither huge nor tiny nor zero. Then ``usual`` is the name of a
    flag, whether all were; it is empty before the first of them.
    """

    def __init__(self, program: Program, form: Format) -> None:
        self.program, self.form = program, form
        self.length = sum(map(len, units(program)))  # instructions
        self.hasty, self.usual = False, ""
        self.values: dict[int, str] = {}
        self.rows = [f"%a{i}.row" for i in range(len(program.inputs))]  # of this thread's state
        self.areas: dict[int, tuple[int, Layout]] = {}  # of tables: begin and layout
        self.scratch = 0  # numbers of all areas
        for k, (op, _, value) in enumerate(self.program.instructions):
            if op in TABLES:
                self.areas[k] = self.scratch, layout(value, 1)
                self.scratch += self.areas[k][1].size

    def begin(self, text: Text) -> None:
        """Set aside the scratch array, and find this thread's rows of the arguments."""
        if self.scratch:
            text.do(f"%scratch = alloca [{self.scratch} x {self.form.scalar}], align 16")
        for i in range(len(self.program.inputs)):
            self.move(text, self.rows[i], f"%a{i}", "%state", f"%a{i}.stride")

    def move(self, text: Text, to: str, start: str, times: str, stride: str) -> None:
        """The address ``to`` lies so many times a stride of numbers behind ``start``."""
        text.do(f"{to}.offset = mul i64 {times}, {stride}")
        there = f"ptr addrspace(1) {start}, i64 {to}.offset"
        text.do(f"{to} = getelementptr {self.form.scalar}, {there}")

    def load_early(self, text: Text) -> None:
        """Load the arguments that are short, of which no number waits for long."""
        used = set(self.program.outputs)
        for _, args, _ in self.program.instructions:
            used.update(args)
        k = 0
        for length in self.program.inputs.values():
            if length <= EARLY:
                for place in used.intersection(range(k, k + length)):
                    self.use(text, place)
            k += length

    def unit(self, text: Text, unit: list[int]) -> None:
        """Append one instruction, or sines and cosines of one depth."""
        k = unit[0]
        op, args, value = self.program.instructions[k]
        if op in TRIG:
            self._trig(text, unit)
        elif op in TABLES:
            self._table(text, k)
        else:
            operands = [self.use(text, arg) for arg in args]
            if op is Op.DIV and self.hasty and operands[0] == literal(1.0, self.form):
                self.values[k] = self._reciprocal(text, operands[1])
            else:
                self.values[k] = self._operation(text, op, operands)

    def use(self, text: Text, k: int) -> str:
        """The name of a value: a constant, made before, an input, or part of a table."""
        op, args, value = self.program.instructions[k]
        if op is Op.CONSTANT:
            return literal(float(value or 0.0), self.form)
        if k not in self.values:
            self.values[k] = self._input(text, k) if op is Op.INPUT else self._part(text, k)
        return self.values[k]

    def _input(self, text: Text, k: int) -> str:
        argument, scalar = 0, self.form.scalar
        for length in self.program.inputs.values():
            if k < length:
                break
            argument, k = argument + 1, k - length
        row = self.rows[argument]
        place = text.emit(f"getelementptr {scalar}, ptr addrspace(1) {row}, i64 {k}")
        return text.emit(f"load {scalar}, ptr addrspace(1) {place}")

    def _operation(self, text: Text, op: Op, operands: list[str]) -> str:
        real = self.form.scalar
        if op is Op.SELECT_LT:
            a, b, x, y = operands
            test = text.emit(f"fcmp olt {real} {a}, {b}")
            return text.emit(f"select i1 {test}, {real} {x}, {real} {y}")
        return text.emit(OPS[op].format(*operands, t=real, s=f"f{self.form.bits}"))

    def _reciprocal(self, text: Text, x: str) -> str:
        """1 / x by one of Newton's steps, which a card's own reciprocal makes the nearest number.

        It flushes what is subnormal to zero: then the error that is left is 1, infinite or NaN.
        """
        rough = text.emit(f"call float @llvm.nvvm.rcp.approx.ftz.f(float {x})")
        less = text.emit(f"fneg float {x}")
        fma, one = "call float @llvm.fma.f32(float", literal(1.0, self.form)
        error = text.emit(f"{fma} {less}, float {rough}, float {one})")
        size = text.emit(f"call float @llvm.fabs.f32(float {error})")
        small = text.emit(f"fcmp olt float {size}, {literal(0.5, self.form)}")
        self.usual = text.emit(f"and i1 {self.usual}, {small}") if self.usual else small
        return text.emit(f"{fma} {rough}, float {error}, float {rough})")

    def leave(self, text: Text, label: str, taken: list[str]) -> None:
        """Go there, but first do all again if a reciprocal was not of a usual number.

        The results have been stored before: if they waited, so would most of what makes them, in
        more registers.
        """
        if not self.usual:
            text.do(f"br label %{label}")
            return
        text.do(f"br i1 {self.usual}, label %{label}, label %again, !prof !1")
        text.lines.append("again:")
        text.do(f"call void @careful({', '.join(taken)})")
        text.do(f"br label %{label}")

    def fetch(self, text: Text, ahead: int) -> None:
        """Bring rows near that will be loaded so many blocks of each multiprocessor later."""
        text.lines += LATER.format(states=ahead * pages.WARP).splitlines()
        for i, length in enumerate(self.program.inputs.values()):
            self.move(text, f"%a{i}.later", self.rows[i], "%ahead.far", f"%a{i}.stride")
            for start in range(0, length * self.form.bits // 8, pages.SECTOR):
                place = text.emit(f"getelementptr i8, ptr addrspace(1) %a{i}.later, i64 {start}")
                text.do(f'call void asm sideeffect "{FETCH}", "l"(ptr addrspace(1) {place})')
        text.do("br label %fetched")
        text.lines.append("fetched:")
        text.label = "fetched"

    def _trig(self, text: Text, group: list[int]) -> None:
        code = self.program.instructions
        angles = list(dict.fromkeys(code[k].args[0] for k in group))
        pairs = sincos(text, [self.use(text, angle) for angle in angles], self.form)
        for k in group:
            op, (angle,), _ = code[k]
            self.values[k] = pairs[angles.index(angle)][op is Op.COS]

    # Tables lie in the scratch array ------------------------------------------------------------

    def _place(self, text: Text, place: int) -> str:
        return text.emit(f"getelementptr {self.form.scalar}, ptr %scratch, i64 {place}")

    def _table(self, text: Text, k: int) -> None:
        """Store what a table needs in its area, and write its loops."""
        begin, found = self.areas[k]
        _, args, value = self.program.instructions[k]
        for arg, place in zip(args, found.operands, strict=True):
            if place >= 0:
                name = self.use(text, arg)
                there = self._place(text, begin + place)
                text.do(f"store {self.form.scalar} {name}, ptr {there}")
        loops = Loops(text, self.form, 1, 1, self._place(text, begin))
        if isinstance(value, Products):
            loops.products(value, self._place(text, begin + found.results))
        else:
            loops.solution(value)

    def _part(self, text: Text, k: int) -> str:
        _, (made,), index = self.program.instructions[k]
        begin, found = self.areas[made]
        place = self._place(text, begin + found.results + index)
        return text.emit(f"load {self.form.scalar}, ptr {place}")


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


def module(program: Program, dtype: str, limit: int) -> Module:
    """The module of a program's kernel, for a card that gives a block ``limit`` bytes."""
    form, taken = FORMATS[dtype], parameters(program)
    work = Arithmetic(program, form)
    rows = Rows(work, limit)
    work.hasty = can_hurry(form) and not rows.pages
    shared = pages.shared_bytes(rows.pages, form)
    texts = [_body(work, rows, taken, AHEAD if waits(work, shared) else 0)]
    if work.usual:
        careful = Arithmetic(program, form)
        texts.append(_body(careful, Rows(careful, limit), taken, 0))
    return Module(whole(texts, taken, capped(form, shared)), shared)


def _body(work: Arithmetic, rows: Rows, taken: list[str], ahead: int) -> Text:
    """All that a thread does."""
    text = Text()
    text.lines += BEGIN.splitlines()
    work.begin(text)
    if work.form.bits == 64 or not rows.pages:  # else registers are scarcer than time to wait
        work.load_early(text)
    if ahead:
        work.fetch(text, ahead)
    rows.open(text)
    for unit in rows.ordered(units(work.program)):
        work.unit(text, unit)
        rows.made(text, unit)
    rows.finish(text, taken)
    text.do("ret void")
    return text


def parameters(program: Program) -> list[str]:
    """What the kernel takes."""
    taken = [f"ptr addrspace(1) %a{i}, i64 %a{i}.stride" for i in range(len(program.inputs))]
    given = [f"ptr addrspace(1) %r{i}" for i in range(len(program.shapes))]
    return [*taken, *given, "i64 %count"]


def can_hurry(form: Format) -> bool:
    """Whether a card has a short way to almost all reciprocals."""
    return form.bits == 32


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


def whole(texts: list[Text], parameters: list[str], registers: int | None) -> str:
    """The module of the kernel's text, and of that of ``careful`` if there is one."""
    lines, taken = [HEAD, table(), far_angle()], ", ".join(parameters)
    names = f"ptx_kernel void @kernel({taken})", f"internal void @careful({taken}) noinline"
    for name, text in reversed(list(zip(names, texts, strict=False))):
        lines += [f"define {name} {{", *text.lines, "}"]
    if registers is not None:
        lines.append("!nvvm.annotations = !{!2}")
        lines.append(f'!2 = !{{ptr @kernel, !"maxnreg", i32 {registers}}}')
    return "\n".join(lines)
