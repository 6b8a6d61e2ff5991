"""A tape that remembers which line of which file each instruction comes from.

It looks through the frames of every operation, which takes long; whoever only wants a program uses
a plain tape, which does not.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import NamedTuple

from armdyn.program.program import Instruction, Op
from armdyn.program.tables import Loop
from armdyn.program.tape import Tape
from armdyn.spatial import Scalar


class Source(NamedTuple):
    """A line of a file."""

    file: str
    line: int


class LineTape(Tape):
    """A tape on which each instruction has the innermost line of a folder that asked for it first.

    Attributes:
        sources: for each instruction its line; None where no file of the folder asked.
        asked: how often each operation was asked for, on the tape already or not.
    """

    def __init__(self, inputs: Mapping[str, int], folder: str) -> None:
        super().__init__(inputs)
        self.folder = folder
        self.sources: list[Source | None] = [None] * len(self.instructions)
        self.asked: Counter[Op] = Counter()

    def place(self, op: Op, *args: int) -> int:
        """Where the instruction stands, recorded now if it is new."""
        self.asked[op] += 1
        return super().place(op, *args)

    def table(self, table: Loop, operands: Sequence[Scalar]) -> int:
        """Where an instruction with many results stands."""
        self.asked.update(table.operations())
        return super().table(table, operands)

    def _append(self, instruction: Instruction) -> int:
        self.sources.append(self._source())
        return super()._append(instruction)

    def _source(self) -> Source | None:
        """The innermost line of the folder that is being executed."""
        frame: FrameType | None = sys._getframe(2)
        while frame and not frame.f_code.co_filename.startswith(self.folder):
            frame = frame.f_back
        return Source(frame.f_code.co_filename, frame.f_lineno) if frame else None
