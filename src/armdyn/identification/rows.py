"""Rows of [tau_i | W_i], joint by joint, from motions; low-passed where a cutoff is given.

Torque and its columns pass the same low-pass: what holds between them at each instant then holds
between what is left of them, whatever the columns look like; sign(qd), say, has jumps that no
torque sensor shows. Positions are filtered less, for their speeds and accelerations alone: noise
that is left in them passes the second filter, which they enter almost linearly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from armdyn.chain.limits import HUGE
from armdyn.errors import IdentificationError, cut, shorten
from armdyn.identification.columns import Columns, UserColumn
from armdyn.identification.logs import Log
from armdyn.identification.signals import Motion, Motions, kept, motions

CHUNK = 2048  # rows at a time: their blocks fill a few megabytes
WIDER = 5.0  # times the cutoff: where positions are low-passed before they are differentiated
PERIODS = 1.0  # of the cutoff that the second filter reaches to either side
KEPT = 16.0  # of its rows for each period of the cutoff


class Segment(NamedTuple):
    """A contiguous piece of a log and, with instruments, of its reference motion."""

    motions: tuple[Motion, ...]
    lowpass: LowPass | None
    t: np.ndarray  # of the motions' rows [s]

    @property
    def rows(self) -> int:
        """How many it gives."""
        count = len(self.motions[0].q)
        return count if self.lowpass is None else self.lowpass.outputs(count)

    @property
    def times(self) -> np.ndarray:
        """Of the rows it gives [s]."""
        if self.lowpass is None:
            return self.t
        reach, stride = len(self.lowpass.taps) // 2, self.lowpass.stride
        return self.t[reach : reach + self.rows * stride : stride]


class LowPass(NamedTuple):
    """A symmetric filter of 2 reach + 1 taps, of whose rows one in ``stride`` is kept."""

    taps: np.ndarray
    stride: int

    @classmethod
    def at(cls, cutoff: float, step: float) -> LowPass:
        """A sinc at the cutoff [Hz] in a Hamming window, for rows at a step [s]."""
        reach = max(1, math.ceil(PERIODS / (cutoff * step)))
        k = np.arange(-reach, reach + 1)
        taps = np.sinc(2 * cutoff * step * k) * np.hamming(2 * reach + 1)
        return cls(taps / taps.sum(), max(1, math.floor(1 / (KEPT * cutoff * step) * (1 + 1e-9))))

    def outputs(self, count: int) -> int:
        """How many rows are left of so many; none where the filter is longer."""
        return max(0, (count - len(self.taps)) // self.stride + 1)

    def inputs(self, rows: slice) -> slice:
        """The rows that some rows of the result are made of."""
        return slice(rows.start * self.stride, (rows.stop - 1) * self.stride + len(self.taps))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The filtered rows of ``x``."""
        count = self.outputs(len(x))
        found = np.zeros((count, *x.shape[1:]))
        for k, tap in enumerate(self.taps.tolist()):
            found += tap * x[k : k + (count - 1) * self.stride + 1 : self.stride]
        return found


def motions_of(log: Log, cutoff: float | None) -> Motions:
    """The motions whose rows are then low-passed at the cutoff."""
    return motions(log, cutoff, WIDER)


def segments(
    log: Log, reference: Log | None, cutoff: float | None
) -> tuple[list[Segment], tuple[str, ...]]:
    """The contiguous pieces of a log, and what is to be said of them."""
    found = [motions_of(each, cutoff) for each in (log, reference) if each is not None]
    counts = [[len(motion.q) for motion in each.segments] for each in found]
    if counts[0] != counts[-1]:
        raise IdentificationError(
            f"{cut(log.name)}: its instruments have other rows; expected the same times"
        )
    together = zip(
        zip(*(each.segments for each in found), strict=True), found[0].times, strict=True
    )
    if cutoff is None:
        return [Segment(motions, None, t) for motions, t in together], found[0].notes
    pieces = [
        Segment(motions, LowPass.at(cutoff, float(t[1] - t[0]) if len(t) > 1 else 1.0), t)
        for motions, t in together
    ]
    long = [piece for piece in pieces if piece.rows]
    short = len(pieces) - len(long)
    said = f"{cut(log.name)}: {short} of {len(pieces)} segments are shorter than the low-pass at "
    said += f"{cutoff:g} Hz"
    if not long:
        raise IdentificationError(f"{said}; expected a longer record, or a higher cutoff")
    notes = [*found[0].notes, *([f"{said}; left out"] if short else [])]
    stride = long[0].lowpass.stride if long[0].lowpass else 1
    step = stride * float(long[0].t[1] - long[0].t[0])
    if (every := round(step / float(np.nanmedian(np.diff(log.t))))) > 1:
        notes.append(kept(cut(log.name), cutoff, every, step))
    return long, tuple(notes)


class Block(NamedTuple):
    """Some rows: [tau_i | W_i] of each joint, of the log and of its reference; and speeds."""

    joints: list[list[np.ndarray]]  # of the log, of the reference
    qd: np.ndarray


class RowsOf:
    """Computes the rows of segments, chunk by chunk."""

    def __init__(self, columns: Columns, user: Mapping[str, UserColumn]) -> None:
        self.columns, self.user = columns, user
        self.buffers = [np.empty((0, int(columns.bounds[-1]))) for _ in range(2)]

    def __call__(self, segment: Segment, start: int, stop: int) -> Iterator[Block]:
        """The rows from start to stop, less the last."""
        lowpass = segment.lowpass
        each = CHUNK if lowpass is None else max(1, CHUNK // lowpass.stride)
        for first in range(start, stop, each):
            rows = slice(first, min(first + each, stop))
            source = rows if lowpass is None else lowpass.inputs(rows)
            parts = [Motion(*(x[source] for x in motion)) for motion in segment.motions]
            joints = [self._joints(part, k, lowpass) for k, part in enumerate(parts)]
            qd = parts[0].qd
            yield Block(joints, qd if lowpass is None else lowpass(qd))

    def _joints(self, motion: Motion, k: int, lowpass: LowPass | None) -> list[np.ndarray]:
        """[tau_i | W_i] of each joint."""
        count, bounds = len(motion.q), self.columns.bounds
        if len(self.buffers[k]) < count:
            self.buffers[k] = np.empty((count, int(bounds[-1])))
        rows = self.buffers[k][:count]
        self.columns.blocks(*(np.ascontiguousarray(x, float) for x in motion), out=rows)
        extra = [_evaluated(name, function, motion) for name, function in self.user.items()]
        if lowpass is not None:
            rows, extra = lowpass(rows), [lowpass(x) for x in extra]
        blocks = [rows[:, a:b] for a, b in zip(bounds[:-1], bounds[1:], strict=True)]
        if not extra:
            return blocks
        user = np.stack(extra, axis=2)
        return [np.concatenate([X, user[:, i]], axis=1) for i, X in enumerate(blocks)]


def _evaluated(name: str, function: Callable[..., Any], motion: Motion) -> np.ndarray:
    """A user's column of some rows, (rows, n)."""
    found = np.asarray(function(motion.q, motion.qd, motion.qdd))
    if found.shape != motion.q.shape or found.dtype.kind not in "iufb":
        raise IdentificationError(
            f"column {shorten(name)} gives {found.dtype} {found.shape}; expected real numbers "
            f"{motion.q.shape}, the torque on each joint"
        )
    if not (np.abs(found) <= HUGE).all():  # nan is not
        raise IdentificationError(
            f"column {shorten(name)} gives numbers that are not finite, or above {HUGE:.0e} in size"
        )
    return found.astype(float)
