"""A tape on which one stage of a method stands alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from armdyn.program.tape import Tape


class StageTape(Tape):
    """A tape that records a stage as if nothing but its arguments had been computed before.

    A term that an earlier stage has computed too, and has not handed over, is recorded again.
    What is on the tape when ``put_on_hand`` is called is found in the stage as well.
    """

    def __init__(self, inputs: Mapping[str, int], stage: str) -> None:
        super().__init__(inputs)
        self._stage = stage
        self._inside = self._places  # what the stage finds

    def put_on_hand(self) -> None:
        """Let the stage find all that has been recorded so far."""
        self._inside = dict(self._places)

    @contextmanager
    def mark(self, name: str) -> Iterator[None]:
        """While it lasts, whatever is new on the tape is marked ``name``."""
        with super().mark(name):
            if name != self._stage or self._places is self._inside:
                yield
                return
            outside, self._places = self._places, self._inside
            try:
                yield
            finally:
                self._places = self._inside | outside
