"""A log as motions: contiguous pieces, low-passed, with speeds and accelerations.

The low-pass is Butterworth's of fourth order, run forwards and backwards, so that it shifts nothing
in time; positions and torques pass the same one. Speeds and accelerations that the log does not
have are central differences of what was filtered (five points: exact to the fourth order of the
step). At each end of a piece the filter runs on mirrored values, and what it still feels of that
after two periods of the cutoff, three thousandths of the amplitude, is less than a log is good
for; the two periods are left out. After the filter nothing faster than twice the cutoff is left
(less than 1/256 of it), so that four rows a period of the cutoff carry all that there is to know:
every k-th row is kept. A fit lets more pass here, and takes the low-pass at its cutoff afterwards,
of torques and of what explains them alike: ``rows.LowPass``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from armdyn.errors import IdentificationError, cut, shorten
from armdyn.forks import importing
from armdyn.identification.logs import Log
from armdyn.identification.units import check_speeds

GAP = 3.0  # median steps: a longer one parts segments
REGULAR = 0.01  # of a step: times nearer to evenly spaced ones are those
ORDER = 4  # of the filter
SETTLING = 2.0  # periods of the cutoff that are mirrored, and left out, at each end
HIGHEST = 0.4  # of the sampling rate: what is let pass of more than the cutoff ends there
KEPT = 4.0  # rows a period of the cutoff, at least
FIRST = np.array([1, -8, 0, 8, -1]) / 12  # differences over five points
SECOND = np.array([-1, 16, -30, 16, -1]) / 12


class Motion(NamedTuple):
    """A contiguous piece of a motion, shape (M, n) each."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray


@dataclass(frozen=True, eq=False)
class Motions:
    """What a log yields.

    Attributes:
        segments: its contiguous pieces.
        times: of each segment's rows [s], shape (M,) each.
        notes: what was left out, split, resampled, and how many rows were kept.
    """

    segments: list[Motion]
    times: list[np.ndarray]
    notes: tuple[str, ...]


class Piece(NamedTuple):
    """Rows without a gap, as they were recorded."""

    t: np.ndarray
    signals: dict[str, np.ndarray]  # those of q, tau, qd, qdd that the log has


def motions(log: Log, cutoff: float | None, wider: float = 1.0) -> Motions:
    """The motions of a log, low-passed at ``cutoff`` [Hz].

    Args:
        log: what was measured. Rows with numbers that are not finite are left out; it is split
            where more than three median steps are missing, and each segment is filtered by
            itself. Irregular steps are resampled to the median.
        cutoff: of the low-pass [Hz]; None takes the log's own qd and qdd, and filters nothing.
        wider: how many times the cutoff the filter lets pass, for those who filter again.

    Raises:
        IdentificationError: if the log and the cutoff do not fit together, or nothing is left.
    """
    notes: list[str] = []
    pieces = _pieces(log, notes)
    if log.qd is not None:
        check_speeds(log, [piece.t for piece in pieces], [piece.signals for piece in pieces])
    if cutoff is None:
        return Motions(_as_recorded(log, pieces), [piece.t for piece in pieces], tuple(notes))
    found = _low_passed(pieces, frequency(cutoff), wider, cut(log.name), notes)
    return Motions([motion for _, motion in found], [t for t, _ in found], tuple(notes))


def _as_recorded(log: Log, pieces: list[Piece]) -> list[Motion]:
    for key in ("qd", "qdd"):
        if getattr(log, key) is None:
            raise IdentificationError(
                f"{cut(log.name)} has no {key}, and cutoff=None takes the log's own; expected a "
                "cutoff [Hz], of which they are derived"
            )
    return [Motion(**piece.signals) for piece in pieces]


def _low_passed(
    pieces: list[Piece], cutoff: float, wider: float, name: str, notes: list[str]
) -> list[tuple[np.ndarray, Motion]]:
    """Times and motion of each piece that is long enough."""
    median = float(np.median(np.concatenate([np.diff(piece.t) for piece in pieces])))
    even = [_evenly(piece, median, name, notes) for piece in pieces]
    notes[:] = dict.fromkeys(notes)  # what is said of several pieces, once
    passed = max(cutoff, min(wider * cutoff, HIGHEST / median))
    filtered = [_filtered(piece, step, passed, name) for piece, step in even]
    found = [both for both in filtered if both is not None]
    if short := len(pieces) - len(found):
        said = (
            f"{name}: {short} of {len(pieces)} segments shorter than the filter at {cutoff:g} Hz, "
            f"which needs {_least_rows(median, passed)} rows"
        )
        if not found:
            longest = max(len(piece.t) for piece in pieces)
            raise IdentificationError(
                f"{said}; the longest has {longest}: expected a longer record, or a higher cutoff"
            )
        notes.append(f"{said}; left out")
    if wider == 1.0 and (every := _stride(median, cutoff)) > 1:
        notes.append(kept(name, cutoff, every, every * median))
    return found


def kept(name: str, cutoff: float, every: int, step: float) -> str:
    """What is said where a filter leaves one row in so many, a step [s] apart."""
    return f"{name}: filtered at {cutoff:g} Hz; one row in {every} kept, {1 / step:.4g} a second"


# Pieces -------------------------------------------------------------------------------------


def _pieces(log: Log, notes: list[str]) -> list[Piece]:
    """The rows that are numbers, split at gaps."""
    name = cut(log.name)
    found = {key: getattr(log, key) for key in ("q", "qd", "qdd", "tau")}
    signals = {key: value for key, value in found.items() if value is not None}
    good = np.isfinite(log.t)
    for value in signals.values():
        with np.errstate(over="ignore", invalid="ignore"):
            finite = np.isfinite(value.sum())  # which one that is not would spoil
        if not finite:
            good &= np.isfinite(value).all(axis=1)
    bad = len(log) - int(good.sum())
    if bad == len(log):
        raise IdentificationError(f"{name}: none of its {bad} rows has finite numbers throughout")
    t = log.t
    if bad:
        notes.append(f"{name}: {bad} of {len(log)} rows are left out: not finite numbers")
        t, signals = t[good], {key: value[good] for key, value in signals.items()}
    if len(t) < 2:
        raise IdentificationError(f"{name}: one row alone is no motion; expected more")
    steps = np.diff(t)
    longest = GAP * float(np.median(steps))
    cuts = np.flatnonzero(steps > longest) + 1
    if cuts.size:
        notes.append(
            f"{name}: split into {len(cuts) + 1} segments, at gaps longer than {longest:.4g} s (3 "
            "median steps)"
        )
    edges = [0, *cuts.tolist(), len(t)]
    return [
        Piece(t[a:b], {key: value[a:b] for key, value in signals.items()})
        for a, b in zip(edges[:-1], edges[1:], strict=True)
    ]


def _evenly(piece: Piece, median: float, name: str, notes: list[str]) -> tuple[Piece, float]:
    """The piece at even steps, its own or resampled, and the step [s]."""
    t, rows = piece.t, len(piece.t)
    if rows < 3:
        return piece, median
    step = float(t[-1] - t[0]) / (rows - 1)
    if abs(t - (t[0] + step * np.arange(rows))).max() <= REGULAR * step:
        return piece, step
    steps = np.diff(t)
    notes.append(
        f"{name}: irregular steps, from {steps.min():.4g} to {steps.max():.4g} s; resampled to the "
        f"median, {median:.4g} s"
    )
    even = t[0] + median * np.arange(1 + math.floor((t[-1] - t[0]) / median))
    spline = _scipy("interpolate").CubicSpline
    signals = {key: spline(t, value, axis=0)(even) for key, value in piece.signals.items()}
    return Piece(even, signals), median


# The filter ---------------------------------------------------------------------------------


def frequency(cutoff: Any) -> float:
    """A cutoff [Hz], if it is one."""
    try:
        found = math.nan if isinstance(cutoff, bool) else float(cutoff)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not 0 < found < math.inf:
        raise IdentificationError(
            f"cutoff is {shorten(cutoff)}; expected a frequency above 0 [Hz], or None"
        )
    return found


def _settling(step: float, cutoff: float) -> int:
    """The rows that the filter takes to settle."""
    return max(len(FIRST) // 2, math.ceil(SETTLING / (cutoff * step)))


def _least_rows(step: float, cutoff: float) -> int:
    """The fewest rows worth filtering: both ends, and a period between them."""
    return 2 * _settling(step, cutoff) + max(2, math.ceil(1 / (cutoff * step)))


def _stride(step: float, cutoff: float) -> int:
    return max(1, math.floor(1 / (KEPT * cutoff * step) * (1 + 1e-9)))


def _filtered(
    piece: Piece, step: float, cutoff: float, name: str
) -> tuple[np.ndarray, Motion] | None:
    """Times and motion of an evenly sampled piece, filtered; None if it is too short."""
    if cutoff * step >= 0.5:
        raise IdentificationError(
            f"{name}: cutoff {cutoff:g} Hz is not below half its {1 / step:.4g} rows a second; "
            f"expected less than {0.5 / step:.4g} Hz"
        )
    rows, settling = len(piece.t), _settling(step, cutoff)
    if rows < _least_rows(step, cutoff):
        return None
    signal = _scipy("signal")
    sections = signal.butter(ORDER, cutoff, fs=1 / step, output="sos")
    smooth = {
        key: signal.sosfiltfilt(sections, value, axis=0, padlen=settling)
        for key, value in piece.signals.items()
    }
    inner = np.arange(settling, rows - settling, _stride(step, cutoff))
    q, qd, qdd = smooth["q"], smooth.get("qd"), smooth.get("qdd")
    return piece.t[inner], Motion(
        q[inner],
        _difference(FIRST, q, inner) / step if qd is None else qd[inner],
        _acceleration(q, qd, inner, step) if qdd is None else qdd[inner],
        smooth["tau"][inner],
    )


def _acceleration(
    q: np.ndarray, qd: np.ndarray | None, rows: np.ndarray, step: float
) -> np.ndarray:
    if qd is not None:
        return _difference(FIRST, qd, rows) / step
    return _difference(SECOND, q, rows) / step**2


def _difference(weights: np.ndarray, x: np.ndarray, rows: np.ndarray) -> np.ndarray:
    places = range(-(len(weights) // 2), len(weights) // 2 + 1)
    return sum(w * x[rows + k] for w, k in zip(weights.tolist(), places, strict=True) if w)


def _scipy(part: str) -> Any:
    try:
        with importing:
            return import_module(f"scipy.{part}")
    except ImportError:
        raise IdentificationError(
            "low-pass filters are SciPy's: pip install 'armdyn[identify]'; without it, record qd "
            "and qdd, and say cutoff=None"
        ) from None
