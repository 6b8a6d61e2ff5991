"""Rows of results on their way out of a GPU's thread, as LLVM text: by shared memory, in pages.

A thread has a whole row of a result, and the rows of a warp lie side by side in memory. Stored
number by number they would reach memory in pieces of a few bytes. So each thread lays its row in
shared memory, and then the warp copies all rows together, 16 bytes a thread at once. Narrow rows of
float32 may go straight to memory, see ``widest_straight``.

Where all rows of a warp are more than a block may have, they go page by page: some results, or some
columns of one, at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from armdyn.program.sincos import Format
from armdyn.program.text import Text

WARP = 32  # threads, which are a block where memory is shared
CHUNK = 16  # bytes that a thread copies at once
SECTOR = 32  # bytes that memory moves at once
TINY, NARROW = 2, 8  # numbers of a float32 row that always go straight to memory, and at most
SHORT, LONG = 200, 700  # instructions, between which narrow rows go by shared memory; beyond
# the latter, instructions are what a kernel is short of
AT_ONCE = 2, 3  # blocks to have side by side: with one page, and with several
IN_HAND = 8  # chunks that a thread loads before it stores them, where it copies without a loop


class Piece(NamedTuple):
    """Columns of a result, and where in shared memory their rows begin [bytes]."""

    result: int
    start: int
    end: int
    offset: int


Page = list[Piece]


def widest_straight(instructions: int, form: Format) -> int:
    """The most numbers of a row that goes straight to memory, in a program of so many instructions.

    Blocks that share memory are one warp, of which fewer run side by side than a short program
    needs. A long one has no registers left to lay its results down one by one.
    """
    if form.bits == 64:
        return 0
    return TINY if SHORT <= instructions <= LONG else NARROW


def pages(sizes: Sequence[int], straight: int, form: Format, limit: int) -> list[Page]:
    """The pages of results that have so many numbers each, in ``limit`` bytes of shared memory.

    Those with up to ``straight`` numbers are not among them.
    """
    number = WARP * form.bits // 8  # bytes that one column takes
    staged = {result: size for result, size in enumerate(sizes) if size > straight}
    one, several = (limit // blocks for blocks in AT_ONCE)
    room = one if sum(staged.values()) * number <= one else several
    found: list[Page] = []
    end = room
    for result, size in staged.items():
        for start, stop in _columns(size, max(room // number, 1), form):
            length = (stop - start) * number
            if end + length > room:
                found.append([])
                end = 0
            found[-1].append(Piece(result, start, stop, end))
            end += length
    return found


def _columns(size: int, most: int, form: Format) -> list[tuple[int, int]]:
    """A row in pieces of at most ``most`` numbers, about equal and, if they can be, in sectors."""
    sector = SECTOR * 8 // form.bits
    count = -(-size // most)
    step = -(-size // count)
    step = min(-(-step // sector) * sector, most // sector * sector or most) if count > 1 else size
    return [(start, min(start + step, size)) for start in range(0, size, step)]


def shared_bytes(found: Sequence[Page], form: Format) -> int:
    """The shared memory that a block needs for its pages."""
    number = WARP * form.bits // 8
    return max((p.offset + (p.end - p.start) * number for page in found for p in page), default=0)


def side_by_side(piece: Piece, form: Format) -> int:
    """How many numbers of a row are stored together: all rows must begin at multiples of them."""
    width = CHUNK * 8 // form.bits
    while (piece.end - piece.start) % width:
        width //= 2
    return width


COPY = """
  %{p}.address = ptrtoint ptr addrspace(1) {to} to i64
  %{p}.near = ptrtoint ptr addrspace(3) {source} to i64
  %{p}.both = or i64 %{p}.address, %{p}.near
  %{p}.off = and i64 %{p}.both, 15
  %{p}.even = icmp eq i64 %{p}.off, 0
  %{p}.all = lshr i32 {numbers}, {shift}
  %{p}.chunks = select i1 %{p}.even, i32 %{p}.all, i32 0
  %{p}.wide = shl i32 %{p}.chunks, {shift}
  br label %{p}.four
{p}.four:
  %{p}.i = phi i32 [ %tid, %{before} ], [ %{p}.next, %{p}.four.body ]
  %{p}.fourth = add i32 %{p}.i, 96
  %{p}.more = icmp slt i32 %{p}.fourth, %{p}.chunks
  br i1 %{p}.more, label %{p}.four.body, label %{p}.one
{p}.four.body:
  %{p}.offset = shl i32 %{p}.i, 4
  %{p}.from = getelementptr i8, ptr addrspace(3) {source}, i32 %{p}.offset
  %{p}.offset.far = zext i32 %{p}.offset to i64
  %{p}.to = getelementptr i8, ptr addrspace(1) {to}, i64 %{p}.offset.far
{four}
  %{p}.next = add i32 %{p}.i, 128
  br label %{p}.four
{p}.one:
  %{p}.j = phi i32 [ %{p}.i, %{p}.four ], [ %{p}.after, %{p}.one.body ]
  %{p}.some = icmp slt i32 %{p}.j, %{p}.chunks
  br i1 %{p}.some, label %{p}.one.body, label %{p}.rest
{p}.one.body:
  %{p}.place = shl i32 %{p}.j, 4
  %{p}.at = getelementptr i8, ptr addrspace(3) {source}, i32 %{p}.place
  %{p}.chunk = load {vector}, ptr addrspace(3) %{p}.at, align 16
  %{p}.place.far = zext i32 %{p}.place to i64
  %{p}.there = getelementptr i8, ptr addrspace(1) {to}, i64 %{p}.place.far
  store {vector} %{p}.chunk, ptr addrspace(1) %{p}.there, align 16
  %{p}.after = add i32 %{p}.j, 32
  br label %{p}.one
{p}.rest:
  %{p}.first = add i32 %{p}.wide, %tid
  br label %{p}.numbers
{p}.numbers:
  %{p}.k = phi i32 [ %{p}.first, %{p}.rest ], [ %{p}.follows, %{p}.number ]
  %{p}.any = icmp slt i32 %{p}.k, {numbers}
  br i1 %{p}.any, label %{p}.number, label %{p}.done
{p}.number:
  %{p}.source = getelementptr {scalar}, ptr addrspace(3) {source}, i32 %{p}.k
  %{p}.value = load {scalar}, ptr addrspace(3) %{p}.source
  %{p}.k.far = zext i32 %{p}.k to i64
  %{p}.target = getelementptr {scalar}, ptr addrspace(1) {to}, i64 %{p}.k.far
  store {scalar} %{p}.value, ptr addrspace(1) %{p}.target
  %{p}.follows = add i32 %{p}.k, 32
  br label %{p}.numbers
{p}.done:"""
LOAD = """
  %{p}.from.{i} = getelementptr i8, ptr addrspace(3) %{p}.from, i32 {bytes}
  %{p}.chunk.{i} = load {vector}, ptr addrspace(3) %{p}.from.{i}, align 16"""
STORE = """
  %{p}.to.{i} = getelementptr i8, ptr addrspace(1) %{p}.to, i64 {bytes}
  store {vector} %{p}.chunk.{i}, ptr addrspace(1) %{p}.to.{i}, align 16"""


def copy(text: Text, to: str, source: str, numbers: str, form: Format) -> None:
    """All threads of the warp copy so many numbers from shared to global memory.

    They go by 16 bytes, where source and target lie at multiples of them; what is left, one by one.
    """
    p = f"copy{len(text.lines)}"
    per = CHUNK * 8 // form.bits
    words = {"p": p, "vector": f"<{per} x {form.scalar}>"}
    four = [
        line.format(i=i, bytes=i * WARP * CHUNK, **words)
        for line in (LOAD, STORE)
        for i in range(4)
    ]
    text.lines += COPY.format(
        to=to,
        source=source,
        numbers=numbers,
        before=text.label,
        shift=per.bit_length() - 1,
        scalar=form.scalar,
        four="".join(four),
        **words,
    ).splitlines()
    text.label = f"{p}.done"


def copy_known(text: Text, to: str, source: str, numbers: int, form: Format) -> None:
    """All threads of the warp copy so many numbers, between multiples of 16 bytes."""
    per = CHUNK * 8 // form.bits
    chunks, single = divmod(numbers, per)
    rounds, some = divmod(chunks, WARP)
    wide = Run(text, f"<{per} x {form.scalar}>", CHUNK, to, source)
    for first in range(0, rounds, IN_HAND):
        wide.copy([step * WARP * CHUNK for step in range(first, min(first + IN_HAND, rounds))])
    if some:
        with only(text, some):
            wide.copy([rounds * WARP * CHUNK])
    if single:
        with only(text, single):
            Run(text, form.scalar, form.bits // 8, to, source).copy([chunks * CHUNK])


class Run:
    """The place of each thread in a run of values, one after the other, of ``size`` bytes each."""

    def __init__(self, text: Text, kind: str, size: int, to: str, source: str) -> None:
        self.text, self.kind, self.size = text, kind, size
        at = text.emit(f"mul i32 %tid, {size}")
        far = text.emit(f"zext i32 {at} to i64")
        self.source = text.emit(f"getelementptr i8, ptr addrspace(3) {source}, i32 {at}")
        self.to = text.emit(f"getelementptr i8, ptr addrspace(1) {to}, i64 {far}")

    def copy(self, steps: Sequence[int]) -> None:
        """Copy what lies so many bytes behind: load all, then store all."""
        emit, values = self.text.emit, []
        for step in steps:
            here = emit(f"getelementptr i8, ptr addrspace(3) {self.source}, i32 {step}")
            what = f"{self.kind}, ptr addrspace(3) {here}, align {self.size}"
            values.append(emit(f"load {what}"))
        for step, value in zip(steps, values, strict=True):
            there = emit(f"getelementptr i8, ptr addrspace(1) {self.to}, i64 {step}")
            where = f"ptr addrspace(1) {there}, align {self.size}"
            self.text.do(f"store {self.kind} {value}, {where}")


@contextmanager
def only(text: Text, threads: int) -> Iterator[None]:
    """What is written in it is done by so many threads."""
    p = f"only{len(text.lines)}"
    flag = text.emit(f"icmp ult i32 %tid, {threads}")
    text.do(f"br i1 {flag}, label %{p}, label %{p}.done")
    text.lines.append(f"{p}:")
    yield
    text.do(f"br label %{p}.done")
    text.lines.append(f"{p}.done:")
    text.label = f"{p}.done"


def copy_either(text: Text, to: str, source: str, numbers: str, most: int, form: Format) -> None:
    """Copy so many numbers, at most ``most``: if it is all of these, and even, without loops."""
    p = f"either{len(text.lines)}"
    address = text.emit(f"ptrtoint ptr addrspace(1) {to} to i64")
    near = text.emit(f"ptrtoint ptr addrspace(3) {source} to i64")
    joint = text.emit(f"or i64 {address}, {near}")
    off = text.emit(f"and i64 {joint}, {CHUNK - 1}")
    even = text.emit(f"icmp eq i64 {off}, 0")
    full = text.emit(f"icmp eq i32 {numbers}, {most}")
    both = text.emit(f"and i1 {even}, {full}")
    text.do(f"br i1 {both}, label %{p}.known, label %{p}.loops")
    text.lines.append(f"{p}.known:")
    text.label = f"{p}.known"
    copy_known(text, to, source, most, form)
    text.do(f"br label %{p}.done")
    text.lines.append(f"{p}.loops:")
    text.label = f"{p}.loops"
    copy(text, to, source, numbers, form)
    text.do(f"br label %{p}.done")
    text.lines.append(f"{p}.done:")
    text.label = f"{p}.done"


def copy_out(text: Text, page: Page, sizes: Sequence[int], form: Format) -> None:
    """Copy a page to its results, for the states of this block that there are.

    The text has ``%tid``, ``%first`` (state of the block), ``%states`` (of the block that there
    are) and the results ``%r0``, ``%r1`` and so on.
    """
    for result, start, end, offset in page:
        source = text.emit(f"getelementptr i8, ptr addrspace(3) @shared, i32 {offset}")
        size, length = sizes[result], end - start
        before = text.emit(f"mul i64 %first, {size}")
        target = text.emit(
            f"getelementptr {form.scalar}, ptr addrspace(1) %r{result}, i64 {before}"
        )
        if length == size:
            numbers = text.emit(f"mul i32 %states, {size}")
            copy_either(text, target, source, numbers, WARP * size, form)
            continue
        begin, head = text.label, f"rows{len(text.lines)}"
        text.do(f"br label %{head}")
        text.lines.append(f"{head}:")
        text.label = head
        at = len(text.lines)
        row = text.emit("")
        more = text.emit(f"icmp slt i32 {row}, %states")
        text.do(f"br i1 {more}, label %{head}.row, label %{head}.done")
        text.lines.append(f"{head}.row:")
        text.label = f"{head}.row"
        skipped = text.emit(f"mul i32 {row}, {length * form.bits // 8}")
        here = text.emit(f"getelementptr i8, ptr addrspace(3) {source}, i32 {skipped}")
        far = text.emit(f"zext i32 {row} to i64")
        passed = text.emit(f"mul i64 {far}, {size}")
        column = text.emit(f"add i64 {passed}, {start}")
        there = text.emit(f"getelementptr {form.scalar}, ptr addrspace(1) {target}, i64 {column}")
        copy_either(text, there, here, str(length), length, form)
        following = text.emit(f"add i32 {row}, 1")
        text.lines[at] = f"  {row} = phi i32 [ 0, %{begin} ], [ {following}, %{text.label} ]"
        text.do(f"br label %{head}")
        text.lines.append(f"{head}.done:")
        text.label = f"{head}.done"
