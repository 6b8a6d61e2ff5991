"""What kernels for many states ask of the caches before they need it, as LLVM text.

Rows of arguments, in kernels of one part with a wide one: those of a later block, while this one is
computed, and nothing behind the last. (To find out that there is no memory takes long.)

Lines of wide results of the next block, in kernels of one part, where the processor waits for a
line to store in: it stores in order, so one that is far away holds up all others. (On an Intel with
AVX-512, results that outgrow the second cache took up to twice as long without, and those that are
in it up to 4 % less.)

And the code of that part and of the loop around it. It runs from the innermost cache, so the cache
behind, through which all rows pass, does not see it used and gives its lines away to rows. Where
the cache behind holds all that the innermost one holds, as AMD's does, that loses them too, and
some lines of code come from far away in every block, while the processor has nothing to do. So each
block asks for some lines of code as if they were data, in turn, all of them before rows have filled
a part of that cache. (On Zen 5, arguments and results that fill it take up to a third longer
without.)

No result depends on any of this, and no test can hold what it gains: ``benchmarks/arguments.py``
does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from armdyn.program.program import Program

LINE = 64  # bytes of a line of the cache
WIDE = 256  # bytes a state, from which on arguments are fetched before they are loaded
BROAD = 128  # the same of results, whose lines are asked for before they are stored in
BRIEF = 900  # instructions up to which a block takes no longer than memory: rows are asked for two
# blocks before, narrow ones too. In longer ones the processor brings narrow ones near in time. (One
# block before where results are asked for: lines of two of theirs were slower to come)
A_LINE_OF_TEXT = 10  # bytes of code that LLVM makes of it, about, and of a fetch
AROUND = 1024  # bytes of code around the parts: the loop, and what keeps code near
KEPT = 39000  # bytes of code, reckoned so, up to which it is kept near: the innermost cache holds
# 32 KiB. The reckoning is high, and code that only just outgrows that cache gains as much
PASSING = 1 << 18  # bytes of rows, while which all code is asked for: a quarter of a cache, or less

FETCH = """\
  {name} = getelementptr i8, ptr {start}, i64 {offset}
  call void @llvm.prefetch.p0(ptr {name}, i32 {stores}, i32 3, i32 1)"""
STAYS = '\n  call void asm sideeffect "", ""()'  # nothing; but LLVM moves no prefetch past it
NEAR = """
declare i64 @llvm.umax.i64(i64, i64)
define internal void @near(ptr %here) noinline {{
  %bytes = sub i64 ptrtoint (ptr @behind to i64), ptrtoint (ptr @part0 to i64)
  %whole = udiv i64 %bytes, {line}
  %lower = call i64 @llvm.umin.i64(i64 %whole, i64 {most})
  %lines = call i64 @llvm.umax.i64(i64 %lower, i64 {count})
  %last = sub i64 %lines, {count}
  %above = add i64 %last, {above}
  %turns = udiv i64 %above, {count}
  %address = ptrtoint ptr %here to i64
  %block = udiv i64 %address, {block}
  %turn = urem i64 %block, %turns
  %reached = mul i64 %turn, {count}
  %first = call i64 @llvm.umin.i64(i64 %reached, i64 %last)
  %offset = mul i64 %first, {line}
  %code = getelementptr i8, ptr @part0, i64 %offset
{fetches}
  ret void
}}
"""

BEHIND = """
define internal void @behind() noinline {
  ret void
}
"""


class Near(NamedTuple):
    """The function ``near``, which keeps code near, and how a block calls it.

    Attributes:
        text: the function in LLVM's language; empty where there is none.
        end: what comes behind all code that is kept near.
        place: by which of a block's pointers it knows how far rows have come.
    """

    text: str = ""
    end: str = ""
    place: int = 0

    def call(self, names: Sequence[str]) -> list[str]:
        """The call in a block whose arguments and results are there."""
        return [f"  call void @near(ptr {names[self.place]})"] if self.text else []


class Coming(NamedTuple):
    """Whose rows are asked for, by the names of their pointers, and how many blocks before."""

    names: Sequence[str]
    blocks: int


NOTHING = Coming((), 0)


def coming(program: Program, rows: Mapping[str, int], stored: Mapping[str, int]) -> Coming:
    """What a kernel of one part asks for.

    Args:
        program: what is computed.
        rows: the bytes a state of all arguments, by their pointers' names.
        stored: the same of the results whose lines it asks for.
    """
    wide = [x for x, row in rows.items() if row >= WIDE]
    if wide and len(program.instructions) <= BRIEF:
        arguments = [x for x, row in rows.items() if row]
        return Coming([*arguments, *stored], 1 if stored else 2)
    return Coming([*wide, *stored], 1)


def rows_to_come(program: Program, rows: Mapping[str, int], ahead: Coming, lanes: int) -> list[str]:
    """What brings a later block's rows of arguments near, line by line, from ``.later`` on.

    Only what is used of them. Each stays where it is put: LLVM would gather all at the end, where
    they hold up each other.

    Args:
        program: what is computed.
        rows: the bytes a state of all arguments, by their pointers' names.
        ahead: which arguments.
        lanes: the states of a block.
    """
    found, first = [], 0
    used = {k for _, args, _ in program.instructions for k in args}.union(program.outputs)
    for (x, row), numbers in zip(rows.items(), program.inputs.values(), strict=True):
        places = [i for i in range(numbers) if first + i in used]
        first += numbers
        if x not in ahead.names:
            continue
        size = row // numbers
        needed = {(state * row + i * size) // LINE for state in range(lanes) for i in places}
        for line in sorted(needed):
            found.append(_asked(x, line))
    return found


def lines_to_store(stored: Mapping[str, int], lanes: int) -> list[str]:
    """What brings the lines of a later block's results near, to be stored in; as above.

    Args:
        stored: the bytes a state of these results, by their pointers' names.
        lanes: the states of a block.
    """
    counts = {x: -(-lanes * row // LINE) for x, row in stored.items()}
    return [_asked(x, line, stores=1) for x, count in counts.items() for line in range(count)]


def _asked(x: str, line: int, stores: int = 0) -> str:
    """Ask for a line of a later block's rows, to load from it or to store in it."""
    name, start, offset = f"{x}.line{line}", f"{x}.later", line * LINE
    return FETCH.format(name=name, start=start, offset=offset, stores=stores) + STAYS


def near(parts: Sequence[str], rows: Sequence[int], lanes: int) -> Near:
    """What keeps the code of a kernel near: from ``part0`` up to ``behind``, and nothing beyond.

    Code that the innermost cache does not hold is left alone: the one behind sees it used. How far
    rows have come is told by an address, since the calls of several threads go on from each other.

    Args:
        parts: the functions of the kernel, in LLVM's language.
        rows: the bytes a state of each argument and result.
        lanes: the states of a block.
    """
    size = sum(part.count("\n") for part in parts) * A_LINE_OF_TEXT + AROUND
    fetches = sum(part.count(STAYS) for part in parts)  # three lines of text each
    if size - 2 * fetches * A_LINE_OF_TEXT > KEPT or not any(rows):
        return Near()
    most = 1 + size // LINE
    count = min(-(-most * lanes * sum(rows) // PASSING), 1 + most // 4)
    place, row = next((i, row) for i, row in enumerate(rows) if row)
    asked = [
        FETCH.format(name=f"%code{k}", start="%code", offset=k * LINE, stores=0)
        for k in range(count)
    ]
    text = NEAR.format(
        line=LINE,
        most=most,
        count=count,
        above=2 * count - 1,
        block=lanes * row,
        fetches="\n".join(asked),
    )
    return Near(text, BEHIND, place)
