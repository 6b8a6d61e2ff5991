"""Results of a thread on their way to its rows, as LLVM text: laid down as they are computed.

The numbers of a page are laid in shared memory as soon as they are known, and the page is copied
out when the last of them is; see ``pages``. Those of rows that go straight to memory wait for the
end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from armdyn.program import pages
from armdyn.program.program import Op
from armdyn.program.text import Text

if TYPE_CHECKING:
    from armdyn.program.ptx_arithmetic import Arithmetic

BARRIER = "call void @llvm.nvvm.bar.warp.sync(i32 -1)"


class Group(NamedTuple):
    """Neighbouring numbers of a row that are laid in shared memory together."""

    page: int
    piece: int
    column: int  # of the piece
    places: tuple[int, ...]


class Rows:
    """Brings results out: by shared memory page after page, or straight to memory at the end."""

    def __init__(self, work: Arithmetic, limit: int) -> None:
        self.work, self.form, program = work, work.form, work.program
        self.sizes = [math.prod(shape) for shape in program.shapes]
        straight = pages.widest_straight(work.length, self.form)
        self.pages = pages.pages(self.sizes, straight, self.form, limit)
        starts = [sum(self.sizes[:result]) for result in range(len(self.sizes))]
        self.straight = [
            (result, i, program.outputs[starts[result] + i])
            for result, size in enumerate(self.sizes)
            if size <= straight
            for i in range(size)
        ]
        self.current = 0
        self.left = [0] * len(self.pages)  # groups that are not laid there yet
        self.ready: list[list[Group]] = [[] for _ in self.pages]
        self.missing: dict[Group, int] = {}
        self.waiting: dict[int, list[Group]] = {}  # by the instruction that they wait for
        for number, page in enumerate(self.pages):
            for at, piece in enumerate(page):
                width = pages.side_by_side(piece, self.form)
                first = starts[piece.result] + piece.start
                for column in range(0, piece.end - piece.start, width):
                    there = first + column
                    places = program.outputs[there : there + width]
                    self._expect(Group(number, at, column, places))

    def _expect(self, group: Group) -> None:
        self.left[group.page] += 1
        makers = {self._maker(k) for k in group.places} - {-1}
        self.missing[group] = len(makers)
        for k in makers:
            self.waiting.setdefault(k, []).append(group)
        if not makers:
            self.ready[group.page].append(group)

    def _maker(self, k: int) -> int:
        """The instruction that makes a value; -1 of what is there from the beginning."""
        op, args, _ = self.work.program.instructions[k]
        if op in (Op.INPUT, Op.CONSTANT):
            return -1
        return args[0] if op is Op.PART else k

    def ordered(self, todo: list[list[int]]) -> list[list[int]]:
        """The units in an order in which no page's numbers wait for another page.

        Those that a page needs come before those that only later ones do.
        """
        code = self.work.program.instructions
        first = [len(self.pages)] * len(code)  # the first page that needs an instruction

        def need(k: int, page: int) -> None:
            first[k] = min(first[k], page)
            if code[k].op is Op.PART:
                need(code[k].args[0], page)

        for group in self.missing:
            for k in group.places:
                need(k, group.page)
        for unit in reversed(todo):
            page = min(first[k] for k in unit)
            for k in unit:
                first[k] = page
                for arg in code[k].args:
                    need(arg, page)
        return sorted(todo, key=lambda unit: first[unit[0]])

    def open(self, text: Text) -> None:
        """Begin the current page, with all that waited for it; copy out those that are full."""
        while self.current < len(self.pages):
            for at, piece in enumerate(self.pages[self.current]):
                row = (piece.end - piece.start) * self.form.bits // 8
                text.do(f"%skip.{self.current}.{at} = mul i32 %tid, {row}")
                text.do(
                    f"%page.{self.current}.{at} = getelementptr i8, ptr addrspace(3) "
                    f"getelementptr (i8, ptr addrspace(3) @shared, i32 {piece.offset}), "
                    f"i32 %skip.{self.current}.{at}"
                )
            for group in self.ready[self.current]:
                self._lay(text, group)
            if self.left[self.current]:
                return
            self._close(text)

    def made(self, text: Text, unit: Iterable[int]) -> None:
        """Lay down what is complete with these instructions."""
        for k in unit:
            for group in self.waiting.get(k, ()):
                self.missing[group] -= 1
                if self.missing[group]:
                    continue
                if group.page > self.current:
                    self.ready[group.page].append(group)
                    continue
                self._lay(text, group)
                if not self.left[self.current]:
                    self._close(text)
                    self.open(text)

    def _lay(self, text: Text, group: Group) -> None:
        """Store numbers in this thread's row of the page."""
        scalar, width = self.form.scalar, len(group.places)
        names = [self.work.use(text, k) for k in group.places]
        there = text.emit(
            f"getelementptr {scalar}, ptr addrspace(3) %page.{group.page}.{group.piece}, "
            f"i32 {group.column}"
        )
        kind, value = scalar, names[0]
        if width > 1:
            kind, value = f"<{width} x {scalar}>", "poison"
            for i, name in enumerate(names):
                value = text.emit(f"insertelement {kind} {value}, {scalar} {name}, i32 {i}")
        align = width * self.form.bits // 8
        text.do(f"store {kind} {value}, ptr addrspace(3) {there}, align {align}")
        self.left[group.page] -= 1

    def _close(self, text: Text) -> None:
        """Copy the current page out, when all threads have laid their rows; then go on."""
        text.do(BARRIER)
        pages.copy_out(text, self.pages[self.current], self.sizes, self.form)
        self.current += 1
        if self.current < len(self.pages):
            text.do(BARRIER)  # before it is written over

    def finish(self, text: Text, taken: list[str]) -> None:
        """Store narrow rows, of the states that there are; the kernel has ``taken`` these."""
        if not self.straight:
            return
        names = [self.work.use(text, k) for _, _, k in self.straight]
        scalar = self.form.scalar
        text.do("br i1 %is.state, label %straight, label %done")
        text.lines.append("straight:")
        for (result, i, _), name in zip(self.straight, names, strict=True):
            row = text.emit(f"mul i64 %state, {self.sizes[result]}")
            place = text.emit(f"add i64 {row}, {i}")
            there = text.emit(f"getelementptr {scalar}, ptr addrspace(1) %r{result}, i64 {place}")
            text.do(f"store {scalar} {name}, ptr addrspace(1) {there}")
        self.work.leave(text, "done", taken)
        text.lines.append("done:")
        text.label = "done"
