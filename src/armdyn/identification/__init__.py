"""Identification: from logs of a real arm to a model that is physically possible."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armdyn.errors import IdentificationError, cut, shorten, warn
from armdyn.identification.blas import one_thread
from armdyn.identification.choices import Tell, choose_cutoff, silent
from armdyn.identification.columns import Columns, UserColumn
from armdyn.identification.estimates import fit, quick_fit
from armdyn.identification.fit import at_rest, least_squares
from armdyn.identification.logs import Log as Log
from armdyn.identification.moments import Moments as Moments
from armdyn.identification.moments import moments, named
from armdyn.identification.results import Identification as Identification
from armdyn.identification.rows import motions_of
from armdyn.identification.signals import frequency
from armdyn.identification.units import doubts
from armdyn.output.progress import told
from armdyn.robot import Robot

SLOW = 0.05  # of a joint's fastest speed: it is at rest
WINDOW = 0.1  # s, over which a speed is measured where the log has none
PASSES = 2  # over the logs, at most, after the first
ROUNDING = 1e-10  # of the parameters, that moments may cost: more, and the logs are read again

Logs = Log | str | os.PathLike[str] | Iterable[Log | str | os.PathLike[str]]


@one_thread()
def identify(
    robot: Robot,
    logs: Logs,
    *,
    friction: bool = True,
    rotors: bool = True,
    offsets: bool = True,
    cutoff: float | str | None = "auto",
    prior: Any = "robot",
    weight: float | str = "auto",
    payload: bool = False,
    instruments: Logs | None = None,
    columns: Mapping[str, UserColumn] | Iterable[UserColumn] = (),
    rest: ArrayLike | str = "auto",
    method: str = "wls",
    progress: bool | Tell | None = True,
) -> Identification:
    """The parameters of an arm from logs of its motion.

    Args:
        robot: the arm: its geometry, and what is known of it before.
        logs: measured motions, one or several; a path is read by ``Log.read``.
        friction: whether each joint has viscous and Coulomb friction; else the torque has none.
        rotors: whether each joint's rotor is sought; else it is the robot's.
        offsets: whether each joint's torque has an offset.
        cutoff: of the low-pass [Hz]; None: the logs' own speeds and accelerations, nothing is
            filtered; "auto": None where all logs have them, else by cross-validation.
        prior: what the parameters stay near to, and within what bodies can have: "robot"; another
            Robot or Chain; None: least squares alone.
        weight: of the prior, for each row; "auto": by cross-validation.
        payload: whether a body at the tip is all that is sought, and the robot is right else.
        instruments: a reference motion for each log, such as the commanded one, where noise of
            the encoders would spoil the estimate.
        columns: the user's own columns, functions (q, qd, qdd) -> (..., n) by their names.
        rest: the speed below which a joint's rows are left out, for there friction is not what it
            is in motion [rad/s or m/s], a number or (n,); "auto": 5 % of its fastest, where
            friction is sought.
        method: how the joints' errors count, "ols", "wls" or "irls": see ``Moments.fit``.
        progress: True shows a bar on stderr if that is a terminal; a function is called with the
            current step in words, the steps done, and all steps; None is silent.

    Raises:
        IdentificationError: if the logs do not suit the arm, or say too little.
    """
    if not isinstance(robot, Robot):
        raise TypeError(f"identify takes a Robot, not {type(robot).__name__}; see armdyn.load")
    if isinstance(cutoff, str) and cutoff != "auto":
        raise IdentificationError(
            f"cutoff is {shorten(cutoff)}; expected a frequency [Hz], None or 'auto'"
        )
    if cutoff is not None and not isinstance(cutoff, str):
        cutoff = frequency(cutoff)
    if not isinstance(payload, bool | np.bool_):
        raise IdentificationError(f"payload is {shorten(payload)}; expected True or False")
    if isinstance(rest, str) and rest != "auto":
        raise IdentificationError(f"rest is {shorten(rest)}; expected a speed or 'auto'")
    user = named(columns)
    known = Columns.of(robot.chain, friction, rotors, offsets, user).given
    news = "the current step in words, the steps done, and all steps"
    with told(progress, "identifying", news, IdentificationError) as tell:
        tell = tell or silent
        given = [log.for_joints(robot.joint_names) for log in _logs("logs", logs, tell)]
        behind = None if instruments is None else _logs("instruments", instruments, tell)
        rows, sought = sum(len(log.t) for log in given), 10 if payload else len(known)
        if rows < sought:
            raise IdentificationError(
                f"{rows} rows for {sought} parameters; expected more rows than parameters"
            )
        if isinstance(rest, str):
            rest = SLOW * np.max([fastest(log) for log in given], axis=0) if friction else 0.0
        asked: dict[str, Any] = {"friction": friction, "rotors": rotors, "offsets": offsets}
        asked |= {"columns": user, "instruments": behind, "rest": rest}
        at = lru_cache(maxsize=16)(lambda cutoff: moments(robot, given, cutoff=cutoff, **asked))
        options: dict[str, Any] = {"method": method, "prior": prior, "weight": weight}
        if isinstance(cutoff, str):
            moving = all(log.qd is not None and log.qdd is not None for log in given)
            cutoff = None if moving else choose_cutoff(at, partial(quick_fit, **options), tell)
        found = at(cutoff)
        if not payload:
            found = _refined(
                found,
                known,
                lambda origin: moments(robot, given, cutoff=cutoff, origin=origin, **asked),
            )
        result = fit(found, **options, payload=payload, tell=tell)
    doubtful = [doubt for log in given for doubt in doubts(robot, motions_of(log, cutoff))]
    for doubt in doubtful:
        warn("%s: %s", robot.name, doubt)
    return replace(result, logs=tuple(given), notes=(*result.notes, *doubtful))


def fastest(log: Log) -> np.ndarray:
    """About the fastest speed of each joint, (n,), of which noise tells little."""
    if log.qd is not None:
        speeds = np.abs(log.qd)
    else:
        step = float(np.nanmedian(np.diff(log.t))) if len(log.t) > 1 else 1.0
        k = min(max(1, round(WINDOW / step)), len(log.t) - 1)
        speeds = np.abs(log.q[k:] - log.q[:-k]) / (log.t[k:] - log.t[:-k])[:, None]
    finite = speeds[np.isfinite(speeds).all(axis=1)]
    return np.percentile(finite, 99, axis=0) if len(finite) else np.zeros(log.q.shape[1])


def _refined(found: Moments, known: np.ndarray, again: Any) -> Moments:
    """The moments, about parameters so near that rounding does not matter.

    Moments square the condition of the data, and errors below 1e-8 of the torque are lost in them.
    """
    for _ in range(PASSES):
        plain = least_squares(found.without(at_rest(found)), known)
        size = found.rms(np.zeros_like(known))
        small = plain.sigma < 1e-6 * size
        if plain.condition**2 * np.finfo(float).eps < ROUNDING and not small.any():
            break
        if found.origin.any() and np.allclose(plain.theta, found.origin, rtol=1e-10, atol=1e-12):
            break
        found = again(plain.theta)
    return found


def _logs(what: str, given: Any, tell: Tell) -> list[Log]:
    """The logs of an argument: Logs, or paths of files to read."""
    alone = isinstance(given, Log | str | os.PathLike) or hasattr(given, "columns")
    try:
        found = [given] if alone else list(given)
    except TypeError:
        found = [given]
    if not found:
        raise IdentificationError("there is no log; expected one or more")
    for log in found:
        if not isinstance(log, Log | str | os.PathLike):
            raise IdentificationError(
                f"{what}: expected a Log, the path of one, or a list of these, not {shorten(log)}; "
                "armdyn.Log.read reads a file, and armdyn.Log(t=df.t, q=df[[...]], tau=df[[...]]) "
                "takes arrays or columns of a table"
            )
    read = []
    for k, log in enumerate(found):
        if not isinstance(log, Log):
            tell(f"reading {cut(Path(log).name)}", k, len(found))
            log = Log.read(log)
        read.append(log)
    return read
