"""LLVM text of a program: kernels for one state, and for many with a state in each lane.

A kernel is straight-line code. Sines and cosines are gathered by the depth at which they occur:
the angles that need none come first, all of them in one go, then the arithmetic on theirs, and so
on. In the kernel for one state the angles fill the lanes of a vector; in the kernel for many each
lane is a state, and the C-order rows of inputs and outputs are transposed in registers. Both
execute the same operations, rounded alike, so that a state has the same bits in either.

A long program is cut into parts, each a function of its own, because the time to compile one
function grows faster than its length; values that cross a cut wait in a scratch array.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from armdyn.program import rows
from armdyn.program.areas import Areas
from armdyn.program.far import sincos
from armdyn.program.order import (
    fewest_waiting,
    longest_chain_first,
    reciprocals_first,
    sines_first,
)
from armdyn.program.passes import unroll, unroll_brief
from armdyn.program.program import TABLES, TRIG, Op, Program
from armdyn.program.sincos import Format, literal
from armdyn.program.text import OPS, Text

WHOLE = 4500  # instructions and stores up to which a program stays one function
SHORT = 750  # instructions up to which a kernel for many states loads arguments when they are
# first used, and lets few values wait: beyond, more wait than there are registers in any order, and
# it keeps the order of recording, but for matrices
SHORT_AND_WIDE = 450  # the same with more than NARROW results; it begins with long chains then
NARROW = 16  # numbers of an argument up to which a longer kernel loads it before anything else. One
# with a wider argument keeps the order of recording, which uses its numbers soon after one another
CHAINS_ALONE = 1800  # up to which the kernel for one state begins with long chains: beyond, values
# that wait meanwhile make its code longer by a fifth, and the cache of instructions holds some 2000
PART = 250  # instructions, stores and loads a function, beyond
GROUP = 64  # sines and cosines that are computed together at most, for all wait on the stack
RUN = 64  # neighbouring constants from which on they are copied from a table

NO_WORK = (Op.INPUT, Op.CONSTANT, Op.PART)  # these are taken from where they lie


Arrange = Callable[[Program, list[int]], list[int]]  # the same places in another order


def units(program: Program, arrange: Arrange | None = None) -> list[list[int]]:
    """All instructions but inputs, constants and parts in an order of execution.

    A unit is one instruction, or the sines and cosines of one depth, up to GROUP of them: those
    whose angles need as many other sines and cosines, one inside the other.
    """
    depth: list[int] = []
    plain: list[list[int]] = [[]]  # arithmetic of each depth
    trig: list[list[int]] = [[]]  # sines and cosines of its results
    for k, (op, args, _) in enumerate(program.instructions):
        at = max([depth[arg] for arg in args], default=0)
        depth.append(at + (op in TRIG))
        if depth[-1] == len(plain):
            plain.append([])
            trig.append([])
        if op in TRIG:
            trig[at].append(k)
        elif op not in NO_WORK:
            plain[at].append(k)
    found: list[list[int]] = []
    for arithmetic, group in zip(plain, trig, strict=True):
        found.extend([k] for k in (arrange(program, arithmetic) if arrange else arithmetic))
        found.extend(group[i : i + GROUP] for i in range(0, len(group), GROUP))
    return found


class Store(NamedTuple):
    """Neighbouring numbers of a result, stored together as soon as all of them are known."""

    result: int
    start: int
    places: tuple[int, ...]


def joined(stores: list[Store]) -> list[Store]:
    """The same numbers, in order, in as few stores as possible."""
    found: list[tuple[int, int, list[int]]] = []
    for result, start, places in stores:
        end = found[-1][1] + len(found[-1][2]) if found else 0
        if found and found[-1][0] == result and start <= end:
            found[-1][2].extend(places[end - start :])
        else:
            found.append((result, start, list(places)))
    return [Store(result, start, tuple(places)) for result, start, places in found]


class Writer:
    """Writes the parts of a kernel.

    It computes a program on numbers of one format, for ``lanes`` states at once (1: scalars).
    ``width`` is the number of lanes of the machine's vectors, which in the scalar kernel hold the
    angles.
    """

    def __init__(self, program: Program, form: Format, lanes: int, width: int) -> None:
        # For one state a vector of rows must fit.
        program = unroll(program, below=width) if lanes == 1 else unroll_brief(program)
        self.program, self.form, self.lanes, self.width = program, form, lanes, width
        self.type = form.scalar if lanes == 1 else f"<{lanes} x {form.scalar}>"
        self.suffix = f"f{form.bits}" if lanes == 1 else f"v{lanes}f{form.bits}"
        words = {op: text.replace("{t}", self.type) for op, text in OPS.items()}
        self.words = {op: text.replace("{s}", self.suffix) for op, text in words.items()}
        self.sizes = [math.prod(shape) for shape in program.shapes]
        self.arguments = [f"%a{i}" for i in range(len(program.inputs))]  # their pointers' names
        self.results = [f"%r{i}" for i in range(len(self.sizes))]
        self.names = self.arguments + self.results
        few = len(program.outputs) <= NARROW
        self.short = len(program.instructions) <= (SHORT if few else SHORT_AND_WIDE)
        self.parts = cut(program, self._arrangement(few))
        order = [k for part in self.parts for unit in part for k in unit]
        self.areas = Areas(program, order, form, lanes, width)
        self.constant_stores: list[Store] = []  # of constants alone, dealt out to all parts
        self.stores = self._stores()
        # Long rows of constants are copied from tables.
        self.tables = [run for run in joined(self.constant_stores) if len(run.places) >= RUN]
        copied = {(t.result, t.start + i) for t in self.tables for i in range(len(t.places))}
        self.constant_stores = [s for s in self.constant_stores if s[:2] not in copied]
        self.slots = self._slots()
        self.scratch = max([self.areas.size, *(slot + 1 for slot in self.slots.values())])

    def _arrangement(self, few: bool) -> Arrange | None:
        """The order of a program with few results or many; None is that of recording."""
        if self.lanes == 1:
            alone = len(self.program.instructions) <= CHAINS_ALONE
            return longest_chain_first if alone else None
        if not self.short or max(self.program.inputs.values(), default=0) > NARROW:
            return reciprocals_first
        return fewest_waiting if few else longest_chain_first

    def _stores(self) -> dict[int, list[Store]]:
        """What is stored after each instruction; after -1, inputs that are results."""
        when = {k: t for t, k in enumerate(k for part in self.parts for u in part for k in u)}
        found: dict[int, list[Store]] = {}
        first = 0
        for result, size in enumerate(self.sizes):
            copied = self.areas.copied(result)
            for start in rows.store_starts(size, self.lanes) if not copied else range(size):
                if start in copied:
                    continue
                end = start + 1 if copied else min(start + self.lanes, size)
                places = self.program.outputs[first + start : first + end]
                store = Store(result, start, places)
                if all(self.program.instructions[k].op is Op.CONSTANT for k in places):
                    self.constant_stores.append(store)
                    continue
                made = [self.areas.made_by(k) for k in places]
                last = max(made, key=lambda k: when.get(k, -1))
                found.setdefault(last if last in when else -1, []).append(store)
            first += size
        return found

    def _slots(self) -> dict[int, int]:
        """Where in the scratch array a value waits that is used beyond the part it is made in."""
        inputs = sum(self.program.inputs.values())
        cut = len(self.parts) > 1  # then inputs wait too: not all of them fit on the stack
        home = {k: -cut for k in range(inputs)} if self.lanes > 1 else {}
        work = {k for part in self.parts for unit in part for k in unit}
        slots = self.areas.slots(work | home.keys() if cut else work)
        end = self.areas.size
        for i, part in enumerate(self.parts):
            here = [k for unit in part for k in unit]
            home.update(dict.fromkeys(here, i))
            for k in here:
                used = self.program.instructions[k].args
                for store in self.stores.get(k, ()):
                    used += store.places
                for arg in used:
                    if home.get(arg, i) != i and arg not in slots:
                        arg = self._positive(arg)
                    if home.get(arg, i) != i and arg not in slots:
                        slots[arg] = end
                        end += 1
        return slots

    def part(self, i: int, text: Text, between: Sequence[str] = ()) -> None:
        """Append the instructions of part i, with others dealt out evenly between them."""
        values: dict[int, str] = {}
        if self.lanes > 1 and i == 0:
            self._load_early(text, values)
        for store in self.stores.get(-1, ()) if i == 0 else ():
            self._store(text, values, store)
        if len(self.parts) > 1:
            values.clear()
        for store in self.constant_stores[i :: len(self.parts)]:
            self._store(text, values, store)
        for k in range(i, len(self.tables), len(self.parts)):
            self._copy(text, k)
        for at, unit in enumerate(self.parts[i]):
            if between:
                text.lines += dealt(between, at, len(self.parts[i]) + 1)
            op, args, _ = self.program.instructions[unit[0]]
            if op in TRIG:
                self._trig(text, values, unit)
            elif op in TABLES:
                self._table(text, values, unit[0])
            else:
                operands = [values.get(arg) or self._use(text, values, arg) for arg in args]
                values[unit[0]] = self._operation(text, op, operands)
            self._set_aside(text, values, unit)
            for k in unit:
                for store in self.stores.get(k, ()):
                    self._store(text, values, store)
        text.lines += dealt(between, len(self.parts[i]), len(self.parts[i]) + 1)

    def _table(self, text: Text, values: dict[int, str], k: int) -> None:
        """The loops of a table, after what its area lacks and before what goes to results."""
        for place, arg in self.areas.missing(k, self.slots):
            value = self._use(text, values, arg)
            text.do(f"store {self.type} {value}, ptr {self.areas.address(text, place)}")
        self.areas.write(text, k)

    def _set_aside(self, text: Text, values: dict[int, str], made: Iterable[int]) -> None:
        """Store in the scratch what other parts use of the values made."""
        for k in made:
            if k in self.slots:
                text.do(f"store {self.type} {values[k]}, ptr {self._slot(text, k)}")

    def _operation(self, text: Text, op: Op, operands: list[str]) -> str:
        if op is Op.SELECT_LT:
            a, b, x, y = operands
            flag = "i1" if self.lanes == 1 else f"<{self.lanes} x i1>"
            test = text.emit(f"fcmp olt {self.type} {a}, {b}")
            return text.emit(f"select {flag} {test}, {self.type} {x}, {self.type} {y}")
        return text.emit(self.words[op].format(*operands))

    def _use(self, text: Text, values: dict[int, str], k: int) -> str:
        """The name of a value: a constant, made here, an input, or waiting in the scratch."""
        op, _, value = self.program.instructions[k]
        if op is Op.CONSTANT:
            number = literal(float(value), self.form)
            return number if self.lanes == 1 else f"splat ({self.form.scalar} {number})"
        if k not in values:
            if op is Op.INPUT and self.lanes == 1:
                argument, place = self._argument(k)
                address = rows.at(text.emit, f"%a{argument}", place, self.form)
            elif op is Op.INPUT and len(self.parts) == 1:
                self._load(text, values, k)
                return values[k]
            elif op is Op.PART:
                address = self.areas.part(text, k)
            elif op is Op.NEG and k not in self.slots:
                values[k] = self._operation(text, op, [self._use(text, values, self._positive(k))])
                return values[k]
            else:
                address = self._slot(text, k)
            values[k] = text.emit(f"load {self.type}, ptr {address}")
        return values[k]

    def _positive(self, k: int) -> int:
        """What a negative is the negative of: made again where it is used, it costs nothing."""
        op, args, _ = self.program.instructions[k]
        return args[0] if op is Op.NEG else k

    def _argument(self, k: int) -> tuple[int, int]:
        for argument, length in enumerate(self.program.inputs.values()):
            if k < length:
                return argument, k
            k -= length
        raise AssertionError("an input beyond the last argument")

    def _slot(self, text: Text, k: int) -> str:
        return text.emit(f"getelementptr {self.type}, ptr %scratch, i64 {self.slots[k]}")

    def _load_early(self, text: Text, values: dict[int, str]) -> None:
        """All arguments where they wait in the scratch array; else narrow ones of long kernels."""
        first, narrow = 0, 0 if self.short else NARROW
        for length in self.program.inputs.values():
            for k in range(first, first + length):
                if k not in values and (length <= narrow or len(self.parts) > 1):
                    before = set(values)
                    self._load(text, values, k)
                    self._set_aside(text, values, [j for j in values if j not in before])
            first += length

    def _load(self, text: Text, values: dict[int, str], k: int) -> None:
        """An input, a vector over the states, and those that are loaded together with it."""
        argument, place = self._argument(k)
        width = [*self.program.inputs.values()][argument]
        start = max(s for s in rows.load_starts(width, self.form, self.lanes) if s <= place)
        names = rows.load(text.emit, f"%a{argument}", width, start, self.form, self.lanes)
        for i, name in enumerate(names):
            values.setdefault(k - place + start + i, name)

    def _store(self, text: Text, values: dict[int, str], store: Store) -> None:
        names = [self._use(text, values, k) for k in store.places]
        pointer, size = f"%r{store.result}", self.sizes[store.result]
        if self.lanes == 1:
            address = rows.at(text.emit, pointer, store.start, self.form)
            text.do(f"store {self.type} {names[0]}, ptr {address}")
        else:
            rows.store(text.emit, text.do, pointer, size, store.start, names, self.form, self.lanes)

    def _copy(self, text: Text, k: int) -> None:
        """Copy a table of constants to its place in the result of every state."""
        result, start, places = self.tables[k]
        size = len(places) * self.form.bits // 8
        for state in range(self.lanes):
            place = state * self.sizes[result] + start
            address = rows.at(text.emit, f"%r{result}", place, self.form)
            text.do(
                f"call void @llvm.memcpy.p0.p0.i64(ptr {address}, ptr @table{k}, i64 {size}, i1 0)"
            )

    def tables_text(self) -> list[str]:
        """The tables of constants."""
        scalar, found = self.form.scalar, []
        for k, (_, _, places) in enumerate(self.tables):
            values = [float(self.program.instructions[p].value) for p in places]
            numbers = ", ".join(f"{scalar} {literal(value, self.form)}" for value in values)
            content = "zeroinitializer" if {*map(str, values)} == {"0.0"} else f"[ {numbers} ]"
            kind = f"[{len(places)} x {scalar}]"
            found.append(f"@table{k} = internal constant {kind} {content}, align 64")
        return found

    def _trig(self, text: Text, values: dict[int, str], group: list[int]) -> None:
        """Sines and cosines of one depth, all at once."""
        angles = list(dict.fromkeys(self.program.instructions[k].args[0] for k in group))
        names = [self._use(text, values, angle) for angle in angles]
        real = f"<{self.width} x {self.form.scalar}>"
        packs = self._packed(text, names, real) if self.lanes == 1 else names
        pairs = sincos(text, packs, self.form, self.width)
        for k in group:
            op, (angle,), _ = self.program.instructions[k]
            at = angles.index(angle)
            if self.lanes == 1:
                pack = pairs[at // self.width][op is Op.COS]
                values[k] = text.emit(f"extractelement {real} {pack}, i32 {at % self.width}")
            else:
                values[k] = pairs[at][op is Op.COS]

    def _packed(self, text: Text, names: list[str], real: str) -> list[str]:
        packs = []
        for start in range(0, len(names), self.width):
            pack = "zeroinitializer"
            for lane, name in enumerate(names[start : start + self.width]):
                pack = text.emit(
                    f"insertelement {real} {pack}, {self.form.scalar} {name}, i32 {lane}"
                )
            packs.append(pack)
        return packs


def dealt(things: Sequence[str], turn: int, turns: int) -> Sequence[str]:
    """Those of a turn where they are dealt out evenly."""
    return things[len(things) * turn // turns : len(things) * (turn + 1) // turns]


def cut(program: Program, arrange: Arrange | None = None) -> list[list[list[int]]]:
    """The program's units dealt out to parts of about PART instructions, if they exceed WHOLE.

    Instructions are here also the stores of results, and the loads of operands that wait from an
    earlier part. A program that stays whole may be arranged; parts keep the order of recording,
    in which fewer values wait from one to the next. A table is a part of its own.
    """
    todo, code = units(program), program.instructions
    stores = Counter(k for k in program.outputs if program.instructions[k].op is not Op.PART)
    tables = [unit for unit in todo if program.instructions[unit[0]].op in TABLES]
    whole = sum(map(len, todo)) + stores.total() <= WHOLE
    if whole and not tables:
        return [sines_first(program, units(program, arrange))]
    parts: list[list[list[int]]] = [[]]
    near: set[int] = set()  # made or loaded in this part
    room = length = math.inf if whole else PART
    for unit in todo:
        if room <= 0 or unit in tables:
            parts.append([])
            near.clear()
            room = length
        parts[-1].append(unit)
        for at in unit:
            loads = [k for k in code[at].args if k not in near and code[k].op is not Op.CONSTANT]
            near.update(loads)
            room -= 1 + len(set(loads)) + stores.get(at, 0)
        near.update(unit)
        if unit in tables:
            room = 0
    return [part for part in parts if part] or [[]]
