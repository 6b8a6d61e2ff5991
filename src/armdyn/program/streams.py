"""Results that go past the caches, as LLVM text: what a batch needs whose results outgrow them.

A kernel stores the rows of several states, a piece here and a piece there, and many pieces lie
across two lines of the cache. Where the lines are not in the cache, the processor waits for each of
them. So here a block's results go to a buffer first, and from there to memory in whole vectors, one
after the other, by stores that fetch nothing and leave nothing in the cache.

Such stores want addresses that are whole vectors apart from zero; those of a result are so many
bytes off. A block is a whole number of vectors, so that each block is as far off as the first: the
bytes that do not fill a vector are carried over in the buffer, in front of the next block. The
first block goes where it belongs, for a vector at its beginning would reach before the array.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

BLOCKS = """
stream:
{begin}
  br label %stream.loop
stream.loop:
  %stream.i = phi i64 [ 0, %stream ], [ %stream.next, %stream.end ]
  %stream.next = add i64 %stream.i, {width}
  %stream.more = icmp ult i64 %stream.i, %whole
  br i1 %stream.more, label %stream.block, label %stream.done
stream.block:
  %later = icmp ne i64 %stream.i, 0
{places}
{call}
  br i1 %later, label %flow, label %carry
carry:
{carry}
  br label %stream.end
flow:
{flow}
  br label %stream.end
stream.end:
  br label %stream.loop
stream.done:
  %nowhere = icmp eq i64 %whole, 0
  br i1 %nowhere, label %rest, label %finish
finish:
{finish}
  fence seq_cst
  br label %rest
"""
BEGIN = """
  {x}.address = ptrtoint ptr {x} to i64
  {x}.off = and i64 {x}.address, {last}
  {x}.back = sub i64 0, {x}.off
  {x}.stage = getelementptr i8, ptr {x}.buffer, i64 {x}.off"""
PLACE = """
  {x}.stream.offset = mul i64 %stream.i, {row}
  {x}.stream.here = getelementptr i8, ptr {x}, i64 {x}.stream.offset"""
TARGET = """
  {x}.to = select i1 %later, ptr {x}.stage, ptr {x}.stream.here"""
CARRY = """
  {x}.first.end = getelementptr i8, ptr {x}, i64 {block}
  {x}.first = getelementptr i8, ptr {x}.first.end, i64 {x}.back
  call void @llvm.memcpy.p0.p0.i64(ptr {x}.buffer, ptr {x}.first, i64 {x}.off, i1 0)"""
FLOW = """
  br label %{x:label}.before
{x:label}.before:
  {x}.lines = getelementptr i8, ptr {x}.stream.here, i64 {x}.back
  br label %{x:label}.flow
{x:label}.flow:
  {x}.j = phi i64 [ 0, %{x:label}.before ], [ {x}.following, %{x:label}.flow ]
  {x}.from = getelementptr i8, ptr {x}.buffer, i64 {x}.j
  {x}.line = load {real}, ptr {x}.from, align {vector}
  {x}.target = getelementptr i8, ptr {x}.lines, i64 {x}.j
  store {real} {x}.line, ptr {x}.target, align {vector}, !nontemporal !1
  {x}.following = add i64 {x}.j, {vector}
  {x}.more = icmp ult i64 {x}.following, {block}
  br i1 {x}.more, label %{x:label}.flow, label %{x:label}.flown
{x:label}.flown:
  {x}.end = getelementptr i8, ptr {x}.buffer, i64 {block}
  {x}.carried = load {real}, ptr {x}.end, align {vector}
  store {real} {x}.carried, ptr {x}.buffer, align {vector}"""
FINISH = """
  {x}.whole = mul i64 %whole, {row}
  {x}.whole.end = getelementptr i8, ptr {x}, i64 {x}.whole
  {x}.tail = getelementptr i8, ptr {x}.whole.end, i64 {x}.back
  call void @llvm.memcpy.p0.p0.i64(ptr {x}.tail, ptr {x}.buffer, i64 {x}.off, i1 0)"""


class Name(str):
    """A pointer's name, which has labels too."""

    def __format__(self, form: str) -> str:
        return self.removeprefix("%") if form == "label" else str(self)


def blocks(
    rows: Mapping[str, int],
    results: Mapping[str, int],
    width: int,
    real: str,
    vector: int,
    call: Callable[[list[str]], list[str]],
) -> str:
    """The blocks of a batch from the label ``stream`` on; then it goes on at ``rest``.

    Args:
        rows: the bytes a state of each argument and result, by its pointer's name.
        results: the same of the results; the buffer of each has room for a block and a vector.
        width: the states of a block.
        real: the type of its vectors.
        vector: their bytes.
        call: the lines that compute a block, given where its arguments and results are.
    """

    def each(lines: str, names: Mapping[str, int]) -> str:
        constants = {"last": vector - 1, "real": real, "vector": vector}
        return "".join(
            lines.format(x=Name(x), row=row, block=width * row, **constants)
            for x, row in names.items()
        )

    places = [f"{x}.to" if x in results else f"{x}.stream.here" for x in rows]
    return BLOCKS.format(
        width=width,
        begin=each(BEGIN, results),
        places=each(PLACE, rows) + each(TARGET, results),
        call="\n".join(call(places)),
        carry=each(CARRY, results),
        flow=each(FLOW, results),
        finish=each(FINISH, results),
    )
