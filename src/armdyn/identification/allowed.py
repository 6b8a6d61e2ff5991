"""What excite is given: limits and choices, checked, and completed where they are not known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armdyn.errors import IdentificationError, listed, shorten, whole, whole_number
from armdyn.identification.fourier import Limits
from armdyn.robot import Robot

HALF_RANGE = {"R": math.pi, "P": 0.5}  # the widest that is of use [rad or m]
SPEED = {"R": math.pi / 2, "P": 0.5}  # where no limit is known [rad/s or m/s]
SLACK = 1e-6  # how much wider a range may be: files round a turn
RAMP = 0.5  # in which a joint may reach its greatest speed [s]
UNITS = {"R": "rad", "P": "m"}
MOST_HARMONICS = 100
LARGEST = 1e9  # speed, acceleration or noise: no arm has more, and no square overflows
LONGEST, SHORTEST = 1e6, 1e-3  # a period [s]
WHOLE = 1e-9  # how near to a whole number the number of periods must be, relative


def limits(
    robot: Robot,
    position: ArrayLike | None,
    speed: ArrayLike | None,
    acceleration: ArrayLike | None,
) -> tuple[Limits, tuple[str, ...]]:
    """The limits that a motion keeps, and notes of those that were not known."""
    if not isinstance(robot, Robot):
        raise IdentificationError(f"expected a Robot, as armdyn.load gives, not {shorten(robot)}")
    notes: list[str] = []
    ranges = robot.position_limits if position is None else _pairs(position, robot.n)
    joints = list(zip(robot.joint_names, robot.chain.kinds, strict=True))
    found = [
        _range(name, kind, lower, upper, notes)
        for (name, kind), (lower, upper) in zip(joints, ranges, strict=True)
    ]
    top = robot.velocity_limits.copy() if speed is None else each("speed", speed, robot.n)
    if not (top > 0).all():
        name = robot.joint_names[int(np.argmin(top))]
        raise IdentificationError(f"joint {shorten(name)} cannot move: its speed limit is 0")
    for kind in sorted(set(robot.chain.kinds), reverse=True):
        free = [i for i in range(robot.n) if joints[i][1] == kind and not np.isfinite(top[i])]
        if free:
            top[free] = SPEED[kind]
            said = f"{SPEED[kind]:.4g} {UNITS[kind]}/s taken"
            notes.append(f"no limit of speed: {said} for {listed(joints[i][0] for i in free)}")
    if acceleration is None:
        push = top / RAMP
        notes.append(f"no limits of acceleration; the greatest speed within {RAMP:g} s taken")
    else:
        push = each("acceleration", acceleration, robot.n)
    return Limits(np.array(found), top, push), tuple(notes)


def _range(
    name: str, kind: str, lower: float, upper: float, notes: list[str]
) -> tuple[float, float]:
    """A joint's limits, no wider than is of use."""
    half = HALF_RANGE[kind]
    if not lower < upper:
        raise IdentificationError(
            f"joint {shorten(name)} cannot move: its limits are {lower:.6g} and {upper:.6g} "
            f"{UNITS[kind]}; lock it, or give wider limits"
        )
    if upper - lower <= 2 * half * (1 + SLACK):
        return lower, upper
    centre = min(max(0.0, lower + half), upper - half)
    unit = UNITS[kind]
    notes.append(
        f"joint {shorten(name)}: limits {lower:.4g} and {upper:.4g} {unit} narrowed to "
        f"{centre - half:.4g} and {centre + half:.4g} {unit}"
    )
    return centre - half, centre + half


def _pairs(value: ArrayLike, n: int) -> np.ndarray:
    found = _numbers(value)
    if found is None or found.shape != (n, 2) or np.isnan(found).any():
        raise IdentificationError(
            f"limits is {shorten(value)}; expected (lower, upper) of each of {n} joints"
        )
    return found


def each(name: str, value: ArrayLike, n: int) -> np.ndarray:
    """A positive, finite number for each joint."""
    found = _numbers(value)
    if found is not None and found.shape in ((), (n,)):
        if ((found >= 1 / LARGEST) & (found <= LARGEST)).all():
            return np.broadcast_to(found, n).copy()
    raise IdentificationError(
        f"{name} is {shorten(value)}; expected a positive number, or {n}, one a joint, up to "
        f"{LARGEST:g}"
    )


def _numbers(value: Any) -> np.ndarray | None:
    """New floats; None if it is no array of real numbers."""
    try:
        found = np.asarray(value)
        return found.astype(float) if found.dtype.kind in "iuf" else None
    except Exception:  # ragged, or whatever its own conversion raises
        return None


def positive(name: str, value: Any, what: str) -> float:
    """A positive, finite number."""
    found = _numbers(value)
    if found is None or found.shape != () or not 0 < float(found) < math.inf:
        raise IdentificationError(f"{name} is {shorten(value)}; expected {what}")
    return float(found)


def period(duration: Any, frequency: Any) -> tuple[float, float]:
    """The duration, and the period of the slowest harmonic [s]."""
    time = positive("duration", duration, "a positive number of seconds")
    if not SHORTEST <= time <= LONGEST:
        raise IdentificationError(
            f"duration is {shorten(duration)}; expected {SHORTEST:g} to {LONGEST:g} s"
        )
    if frequency is None:
        return time, time
    count = time * positive("frequency", frequency, "a positive frequency [Hz], or None")
    if not 1 <= round(count) <= time / SHORTEST or abs(count - round(count)) > WHOLE * count:
        raise IdentificationError(
            f"frequency is {shorten(frequency)} Hz, of which {time:g} s are {count:.6g} periods; "
            "expected a whole number of periods, so that the motion ends at rest"
        )
    return time, time / round(count)


def harmonics(value: Any) -> int:
    """How many: one alone cannot begin and end at rest."""
    found = whole_number("harmonics", value, IdentificationError, least=2)
    if found > MOST_HARMONICS:
        raise IdentificationError(f"harmonics is {found}; expected at most {MOST_HARMONICS}")
    return found


def balance(value: Any) -> float:
    """From 0 to less than 1."""
    found = _numbers(value)
    if found is None or found.shape != () or not 0 <= float(found) < 1:
        raise IdentificationError(f"balance is {shorten(value)}; expected 0 <= balance < 1")
    return float(found)


def seed(value: Any) -> int:
    """A whole number, not negative."""
    found = whole(value)
    if found is None or found < 0:
        raise IdentificationError(f"seed is {shorten(value)}; expected a whole number, 0 or more")
    return found


def flags(**given: Any) -> dict[str, bool]:
    """Each True or False."""
    for name, value in given.items():
        if not isinstance(value, bool | np.bool_):
            raise IdentificationError(f"{name} is {shorten(value)}; expected True or False")
    return {name: bool(value) for name, value in given.items()}
