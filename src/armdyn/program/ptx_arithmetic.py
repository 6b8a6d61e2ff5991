"""What a thread of a GPU computes, as LLVM text on scalars.

It is what a lane of the kernel for the processor computes: the same operations, rounded alike, in
the order of recording or one in which fewer registers are in use.
"""

from __future__ import annotations

from armdyn.program.far import Reduced, with_far_ones
from armdyn.program.llvm import units
from armdyn.program.loops import Layout, Loops, layout
from armdyn.program.pages import LONG, SECTOR
from armdyn.program.program import TABLES, TRIG, Op, Program
from armdyn.program.sincos import Format, Lanes, literal
from armdyn.program.tables import Each, Products
from armdyn.program.text import OPS, Text

FETCH = "prefetch.global.L2 [$0];"
EARLY = 16  # numbers of an argument up to which they are loaded before anything else
# a ^ (b & sign): one instruction, where LLVM would compute what two of them share apart
SIGNED = 'call float asm "lop3.b32 $0, $1, $2, 0x80000000, 0x78;", "=f,f,r"(float {}, i32 {})'


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

    def set_aside(self, text: Text) -> None:
        """Set aside the scratch array."""
        if self.scratch:
            text.do(f"%scratch = alloca [{self.scratch} x {self.form.scalar}], align 16")

    def begin(self, text: Text) -> None:
        """Set aside the scratch array, and find this thread's rows of the arguments."""
        self.set_aside(text)
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
            return literal(float(value), self.form)
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

    def fetch(self, text: Text, rows: str) -> None:
        """Bring rows near: those that begin at ``%a0.rows`` and so on."""
        for i, length in enumerate(self.program.inputs.values()):
            for start in range(0, length * self.form.bits // 8, SECTOR):
                place = text.emit(f"getelementptr i8, ptr addrspace(1) %a{i}.{rows}, i64 {start}")
                text.do(f'call void asm sideeffect "{FETCH}", "l"(ptr addrspace(1) {place})')
        text.do("br label %fetched")
        text.lines.append("fetched:")
        text.label = "fetched"

    def _trig(self, text: Text, group: list[int]) -> None:
        code = self.program.instructions
        angles = list(dict.fromkeys(code[k].args[0] for k in group))
        kind = Brief if self.length > LONG else Lanes
        pairs = sincos(text, [self.use(text, angle) for angle in angles], self.form, kind)
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
        results = self._place(text, begin + found.results)
        if isinstance(value, Products):
            loops.products(value, loops.columns(value), results)
        elif isinstance(value, Each):
            end = value.columns * value.n
            shared = [loops.spread(loops.at(end + i)) for i in range(value.shared)]
            loops.each(value, loops.columns(value), shared, results)
        else:
            loops.solution(value)

    def _part(self, text: Text, k: int) -> str:
        _, (made,), index = self.program.instructions[k]
        begin, found = self.areas[made]
        place = self._place(text, begin + found.results + index)
        return text.emit(f"load {self.form.scalar}, ptr {place}")


class Brief(Lanes):
    """Angles of one thread, turned by as few instructions as a GPU can.

    That is for long programs: short ones, which wait for memory, are slower by it.
    """

    def turned(self, s: list[str], c: list[str], turns: list[str]) -> list[tuple[str, str]]:
        """Emit (sin, cos) of what is so many quarter turns further than s and c are of."""
        odd = self.each("and {whole} {}, 1", turns)
        swap = self.each("icmp ne {whole} {}, 0", odd)
        choice = "select {flag} {}, {real} {}, {real} {}"
        sine = self.each(choice, swap, c, s)
        cosine = self.each(choice, swap, self.each("fneg {real} {}", s), c)
        top = self.each("shl {whole} {}, {}", turns, self.integer(self.form.bits - 2))
        return list(zip(self.signed(sine, top), self.signed(cosine, top), strict=True))

    def signed(self, value: list[str], sign: list[str]) -> list[str]:
        """Emit the value, negated where the sign bit is set, whatever the other bits are."""
        if self.form.bits == 32:
            return self.each(SIGNED, value, sign)
        only = self.each("and {whole} {}, {}", sign, self.integer(1 << self.form.bits - 1))
        return super().signed(value, only)


def sincos(text: Text, angles: list[str], form: Format, kind: type[Lanes]) -> list[tuple[str, str]]:
    """(sin, cos) of some angles; on the way, those beyond the limit are reduced apart."""
    lanes = kind(text.emit, form, 1)
    real, whole, limit = lanes.real, lanes.whole, lanes.number(form.limit)
    reduced = lanes.reduced(angles)
    sizes = [text.emit(f"call {real} @llvm.fabs.f{form.bits}({real} {x})") for x in angles]
    flags = [text.emit(f"fcmp ogt {real} {size}, {limit}") for size in sizes]
    any_far = flags[0]
    for flag in flags[1:]:
        any_far = text.emit(f"or i1 {any_far}, {flag}")

    def anew(at: int) -> Reduced:
        return _far(text, angles[at], flags[at], *reduced[at], form)

    joined = with_far_ones(text, any_far, reduced, anew, real, whole)
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


def can_hurry(form: Format) -> bool:
    """Whether a card has a short way to almost all reciprocals."""
    return form.bits == 32
