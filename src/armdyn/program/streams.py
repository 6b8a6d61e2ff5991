"""Results that outgrow the caches, as LLVM text.

A kernel stores the rows of several states, a piece here and a piece there, and many pieces lie
across two lines of the cache. Where the lines are not in the cache, the processor waits for each of
them. So here a block's results go to a buffer first, and from there to memory in whole vectors, one
after the other, which waits less. Memory still takes them slowly, so they are dealt out among the
instructions that compute the next block, into another buffer. (Stores that go past the caches
altogether were slower at every size.)

These vectors are stored at addresses that are multiples of their size; a result begins some bytes
after such an address. A block is a whole number of vectors, so that each begins as many bytes after
one: those that do not fill a vector are carried over to the other buffer, in front of the next
block. The first block goes where it belongs, for a vector at its beginning would reach before the
array.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

BLOCKS = """
stream:
{begin}
  %several = icmp ugt i64 %whole, {width}
  br i1 %several, label %stream.first, label %loop
stream.first:
{first}
{carry}
{second}
{hand_over}
  br label %stream.loop
stream.loop:
  %stream.i = phi i64 [ {twice}, %stream.first ], [ %stream.next, %stream.block ]
{turn}
  %stream.next = add i64 %stream.i, {width}
{here}
  %stream.more = icmp ult i64 %stream.i, %whole
  br i1 %stream.more, label %stream.block, label %stream.done
stream.block:
{place}
{compute}
{hand_on}
  br label %stream.loop
stream.done:
{flow}
{finish}
  br label %rest
"""
BEGIN = """
  {x}.address = ptrtoint ptr {x} to i64
  {x}.off = and i64 {x}.address, {last}
  {x}.back = sub i64 0, {x}.off
  {x}.other = getelementptr i8, ptr {x}.buffer, i64 {half}
  {x}.staged = getelementptr i8, ptr {x}.buffer, i64 {x}.off"""
SECOND = """
  {x}.second = getelementptr i8, ptr {x}, i64 {block}"""
CARRY = """
  {x}.tail = getelementptr i8, ptr {x}.second, i64 {x}.back
  call void @llvm.memcpy.p0.p0.i64(ptr {x}.buffer, ptr {x}.tail, i64 {x}.off, i1 0)"""
HAND = """
  {x}.{filled}.end = getelementptr i8, ptr {x}.{filled}, i64 {block}
  {x}.{filled}.rest = load {real}, ptr {x}.{filled}.end, align {vector}
  store {real} {x}.{filled}.rest, ptr {x}.{next}, align {vector}"""
TURN = """
  {x}.full = phi ptr [ {x}.buffer, %stream.first ], [ {x}.free, %stream.block ]
  {x}.free = phi ptr [ {x}.other, %stream.first ], [ {x}.full, %stream.block ]"""
HERE = """
  {x}.stream.offset = mul i64 %stream.i, {row}
  {x}.stream.here = getelementptr i8, ptr {x}, i64 {x}.stream.offset"""
BEFORE = """
  {x}.end = getelementptr i8, ptr {x}.stream.here, i64 {x}.back
  {x}.begin = getelementptr i8, ptr {x}.end, i64 -{block}"""
STAGE = """
  {x}.stage = getelementptr i8, ptr {x}.free, i64 {x}.off"""
FINISH = """
  call void @llvm.memcpy.p0.p0.i64(ptr {x}.end, ptr {x}.free, i64 {x}.off, i1 0)"""
VECTOR = """
  {x}.{k}.from = getelementptr i8, ptr {x}.full, i64 {at}
  {x}.{k}.it = load {real}, ptr {x}.{k}.from, align {vector}
  {x}.{k}.to = getelementptr i8, ptr {x}.begin, i64 {at}
  store {real} {x}.{k}.it, ptr {x}.{k}.to, align {vector}"""
FLOW = """
define internal void @flow(ptr %full, ptr %begin, i64 %bytes) noinline {{
entry:
  br label %one
one:
  %j = phi i64 [ 0, %entry ], [ %next, %one ]
  %from = getelementptr i8, ptr %full, i64 %j
  %it = load {real}, ptr %from, align {vector}
  %to = getelementptr i8, ptr %begin, i64 %j
  store {real} %it, ptr %to, align {vector}
  %next = add i64 %j, {vector}
  %more = icmp ult i64 %next, %bytes
  br i1 %more, label %one, label %done
done:
  ret void
}}
"""


@dataclass(frozen=True)
class Streams:
    """The results of a kernel on their way to memory.

    Each argument and result has a ``.buffer`` of ``room(name)`` bytes.

    Attributes:
        rows: the bytes a state of each argument and result, by its pointer's name.
        results: the same of the results.
        width: the states of a block.
        real: the type of its vectors.
        vector: their bytes.
    """

    rows: Mapping[str, int]
    results: Mapping[str, int]
    width: int
    real: str
    vector: int

    def room(self, name: str) -> int:
        """The bytes of a buffer: of a result two in one, with room for what is carried over."""
        block = self.width * self.rows[name]
        return 2 * (block + self.vector) if name in self.results else block

    def moving(self) -> list[str]:
        """The pointers by which a block's results go to memory."""
        return [f"{x}{end}" for x in self.results for end in (".full", ".begin")]

    def nothing(self) -> list[str]:
        """The same where there is nothing to send: the second buffer is copied onto itself."""
        return [f"{x}.other" for x in self.results for _ in range(2)]

    def vectors(self) -> list[str]:
        """What sends the results of a block to memory, vector by vector.

        They come from the pointers ``.full`` and go to ``.begin``.
        """
        return [
            VECTOR.format(x=x, k=at // self.vector, at=at, real=self.real, vector=self.vector)
            for x, row in self.results.items()
            for at in range(0, self.width * row, self.vector)
        ]

    def flow(self) -> list[str]:
        """The same, by loops."""
        return [
            f"  call void @flow(ptr {x}.full, ptr {x}.begin, i64 {self.width * row})"
            for x, row in self.results.items()
        ]

    def function(self) -> str:
        """What is called by ``flow``."""
        return FLOW.format(real=self.real, vector=self.vector)

    def blocks(
        self, compute: Callable[[list[str]], list[str]], send: Callable[[list[str]], list[str]]
    ) -> str:
        """The blocks of a batch from the label ``stream`` on; then it goes on at ``rest``.

        Where there are fewer than two, it goes to ``loop``.

        Args:
            compute: the lines that compute a block, given where its arguments and results are.
            send: the same, and meanwhile the results of the block before go to memory.
        """

        def each(lines: str, names: Mapping[str, int], **others: str) -> str:
            words = {"last": self.vector - 1, "real": self.real, "vector": self.vector, **others}
            return "".join(
                lines.format(x=x, row=row, block=self.width * row, half=self.room(x) // 2, **words)
                for x, row in names.items()
            )

        def there(result: str, argument: str) -> list[str]:
            return [f"{x}{result if x in self.results else argument}" for x in self.rows]

        return BLOCKS.format(
            width=self.width,
            twice=2 * self.width,
            begin=each(BEGIN, self.results) + each(SECOND, self.rows),
            first="\n".join(compute(there("", ""))),
            carry=each(CARRY, self.results),
            second="\n".join(compute(there(".staged", ".second"))),
            hand_over=each(HAND, self.results, filled="buffer", next="other"),
            turn=each(TURN, self.results),
            here=each(HERE, self.rows) + each(BEFORE, self.results),
            place=each(STAGE, self.results),
            compute="\n".join(send(there(".stage", ".stream.here"))),
            hand_on=each(HAND, self.results, filled="free", next="full"),
            flow="\n".join(self.flow()),
            finish=each(FINISH, self.results),
        )
