"""From a log to motions: low-passed, differentiated."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from armdyn.identification.logs import Log


class Motion(NamedTuple):
    """One contiguous segment, (M, n) each."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray


class Motions(NamedTuple):
    """The segments of a log."""

    segments: list[Motion]
    notes: tuple[str, ...]


def motions(log: Log, cutoff: float | None) -> Motions:
    """A log, low-passed and differentiated."""
    if cutoff is None:
        if log.qd is None or log.qdd is None:
            raise ValueError("the log has no qd, qdd")
        return Motions([Motion(log.q, log.qd, log.qdd, log.tau)], ())
    dt = float(np.median(np.diff(log.t)))
    q, tau = low_pass(log.q, cutoff, dt), low_pass(log.tau, cutoff, dt)
    qd = np.gradient(q, dt, axis=0)
    qdd = np.gradient(qd, dt, axis=0)
    edge = slice(20, -20)
    return Motions([Motion(*(x[edge] for x in (q, qd, qdd, tau)))], ())


def low_pass(x: np.ndarray, cutoff: float, dt: float) -> Any:
    """Butterworth 4, zero phase."""
    from scipy.signal import butter, sosfiltfilt

    return sosfiltfilt(butter(4, cutoff, fs=1 / dt, output="sos"), x, axis=0)
