"""Steps of a simulation on a GPU, as LLVM text: a thread repeats a program, its state in registers.

Some results of the program are arguments of its next round: the state. All other arguments are read
in each round, from rows that may move on from round to round. Every so many rounds the results are
stored. A round has the operations of the program, rounded alike: the bits are those of the program
called again and again.

The kernel takes, for each argument, an address, how many numbers lie from a state's row to the
next, and from a round's to the next; then the addresses of the results, 0 for those that nobody
wants; then the number of states, of rounds, and of rounds from one that is stored to the next.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from armdyn.program.llvm import units
from armdyn.program.loops import loop
from armdyn.program.program import Op, Program
from armdyn.program.ptx import BEGIN
from armdyn.program.ptx_arithmetic import Arithmetic, can_hurry
from armdyn.program.ptx_module import Module, whole
from armdyn.program.sincos import FORMATS
from armdyn.program.text import Text

MANY = 8  # choices by one test for which a round goes two ways
States = Sequence[tuple[int, int]]  # arguments, and the results that they are in the next round


def module(program: Program, dtype: str, states: States, still: Sequence[int] = ()) -> Module:
    """The module of a kernel that repeats a program; ``still`` arguments have one row a state."""
    form, taken = FORMATS[dtype], _parameters(program)
    work = Arithmetic(program, form)
    work.hasty = can_hurry(form)
    texts = [(_body(work, states, still, taken), taken)]
    if work.usual:
        texts.append((_body(Arithmetic(program, form), states, still, taken), taken))
    return Module(whole(texts, None), 0)


def _body(work: Arithmetic, states: States, still: Sequence[int], taken: list[str]) -> Text:
    """All that a thread does."""
    program, form, text = work.program, work.form, Text()
    text.lines += BEGIN.splitlines()
    work.begin(text)
    begins = _begins([*program.inputs.values()])
    ends = _begins([math.prod(shape) for shape in program.shapes])
    sizes = [*program.inputs.values()]
    carried = [begins[argument] + i for argument, _ in states for i in range(sizes[argument])]
    following = [
        program.outputs[ends[result] + i]
        for argument, result in states
        for i in range(sizes[argument])
    ]
    kinds = [(form.scalar, work.use(text, k)) for k in carried]
    more = [("i64", "%every"), ("i64", "0")]  # rounds until the next that is stored; stored before
    more.append(("i1", "true"))  # whether all reciprocals were of usual numbers
    with loop(text, "0", "%rounds", 1, [*kinds, *more]) as rounds:
        *state, left, row, usual = rounds.values
        work.usual = usual
        work.values = dict(zip(carried, state, strict=True))
        for i in set(range(len(sizes))) - {argument for argument, _ in states} - set(still):
            work.rows[i] = f"%a{i}.now"
            work.move(text, work.rows[i], f"%a{i}.row", rounds.index, f"%a{i}.step")
        _round(text, work)
        left, row = _store(text, work, ends, left, row)
        rounds.next = [*(work.use(text, k) for k in following), left, row, work.usual]
    work.usual = usual if work.usual != usual else ""
    work.leave(text, "done", taken)
    text.lines.append("done:")
    text.do("ret void")
    return text


def _round(text: Text, work: Arithmetic) -> None:
    """All operations of a round; what most choices depend on decides between two ways.

    What a way needs is then computed on that way alone, and what is chosen costs nothing.
    """
    chosen, before, after = _split(work.program)
    for unit in before:
        work.unit(text, unit)
    if not after:
        return
    a, b, *_ = work.program.instructions[next(iter(chosen))].args
    names = work.use(text, a), work.use(text, b)
    test = text.emit(f"fcmp olt {work.form.scalar} {', '.join(names)}")
    fork = len(text.lines)
    text.do("")
    known, usual = dict(work.values), work.usual
    ways = []
    for side in (2, 3):
        work.values, work.usual, label = dict(known), usual, text.block()
        for unit in after:
            for k in chosen.intersection(unit):
                place = work.program.instructions[k].args[side]
                work.values[k] = work.use(text, place)
            if not chosen.intersection(unit):
                work.unit(text, unit)
        results = [work.use(text, k) for k in work.program.outputs]
        ways.append((label, text.label, len(text.lines), [*results, work.usual]))
        text.do("")
    join = text.block()
    text.lines[fork] = f"  br i1 {test}, label %{ways[0][0]}, label %{ways[1][0]}"
    for _, _, last, _ in ways:
        text.lines[last] = f"  br label %{join}"
    kinds = [*[work.form.scalar] * len(work.program.outputs), "i1"]
    joined = []
    for kind, first, second in zip(kinds, ways[0][3], ways[1][3], strict=True):
        same = f"phi {kind} [ {first}, %{ways[0][1]} ], [ {second}, %{ways[1][1]} ]"
        joined.append(text.emit(same) if first != second else first)
    work.values = known | dict(zip(work.program.outputs, joined[:-1], strict=True))
    work.usual = joined[-1]


def _split(program: Program) -> tuple[set[int], list[list[int]], list[list[int]]]:
    """The choices by the most frequent test; what does not depend on them, and what does."""
    tests: dict[tuple[int, ...], set[int]] = {}
    for k, (op, args, _) in enumerate(program.instructions):
        if op is Op.SELECT_LT:
            tests.setdefault(args[:2], set()).add(k)
    chosen = max(tests.values(), key=len, default=set())
    todo = units(program)
    if len(chosen) < MANY:
        return set(), todo, []
    late: set[int] = set()
    parts: tuple[list[list[int]], list[list[int]]] = [], []
    for unit in todo:
        needs = {_maker(program, arg) for k in unit for arg in program.instructions[k].args}
        is_late = bool(chosen.intersection(unit) or late & needs)
        late.update(unit if is_late else ())
        parts[is_late].append(unit)
    return chosen, *parts


def _maker(program: Program, k: int) -> int:
    """The instruction that makes a value: of a part, that of its table."""
    op, args, _ = program.instructions[k]
    return args[0] if op is Op.PART else k


def _begins(sizes: Sequence[int]) -> list[int]:
    """Where each of several rows begins in all of them."""
    return [sum(sizes[:i]) for i in range(len(sizes))]


def _parameters(program: Program) -> list[str]:
    taken = [
        f"ptr addrspace(1) %a{i}, i64 %a{i}.stride, i64 %a{i}.step"
        for i in range(len(program.inputs))
    ]
    given = [f"ptr addrspace(1) %r{i}" for i in range(len(program.shapes))]
    return [*taken, *given, "i64 %count", "i64 %rounds", "i64 %every"]


def _store(
    text: Text, work: Arithmetic, ends: Sequence[int], left: str, row: str
) -> tuple[str, str]:
    """Store the results if their round is due; the rounds then left, and the rows then stored."""
    program, scalar = work.program, work.form.scalar
    names = [work.use(text, k) for k in program.outputs]
    fewer = text.emit(f"sub i64 {left}, 1")
    due = text.emit(f"icmp eq i64 {fewer}, 0")
    wanted = text.emit(f"and i1 {due}, %is.state")
    text.do(f"br i1 {wanted}, label %store, label %stored")
    text.lines.append("store:")
    rows = text.emit(f"mul i64 {row}, %count")
    place = text.emit(f"add i64 {rows}, %state")
    for result, shape in enumerate(program.shapes):
        none = text.emit(f"icmp eq ptr addrspace(1) %r{result}, null")
        text.do(f"br i1 {none}, label %after{result}, label %result{result}")
        text.lines.append(f"result{result}:")
        first = text.emit(f"mul i64 {place}, {math.prod(shape)}")
        begin = text.emit(f"getelementptr {scalar}, ptr addrspace(1) %r{result}, i64 {first}")
        for i in range(math.prod(shape)):
            there = text.emit(f"getelementptr {scalar}, ptr addrspace(1) {begin}, i64 {i}")
            text.do(f"store {scalar} {names[ends[result] + i]}, ptr addrspace(1) {there}")
        text.do(f"br label %after{result}")
        text.lines.append(f"after{result}:")
    text.do("br label %stored")
    text.lines.append("stored:")
    text.label = "stored"
    again = text.emit(f"select i1 {due}, i64 %every, i64 {fewer}")
    one = text.emit(f"zext i1 {due} to i64")
    return again, text.emit(f"add i64 {row}, {one}")
