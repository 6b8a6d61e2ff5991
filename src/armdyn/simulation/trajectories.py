"""Motions between two postures, at rest at both ends, as functions t -> (q, qd, qdd).

All joints share one profile, the fraction s(t) of the way from start to end, so that they leave
and arrive together and the way is a straight line in the space of joints.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from armdyn.engine.calls import real_array
from armdyn.errors import ShapeError, SimulationError, shorten
from armdyn.forks import importing
from armdyn.simulation.arguments import finite, positive

if TYPE_CHECKING:
    from armdyn.robot import Robot

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]
Profile = Callable[[np.ndarray], Arrays]  # t / duration in [0, 1] -> s and its two derivatives


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A motion from start to end within ``duration`` [s] from t = 0, at rest before and after.

    Called with a time, it answers with q, qd and qdd, shape (..., n) as start and end are; an
    array of times leads these axes with its own.
    """

    name: str
    start: np.ndarray
    end: np.ndarray
    duration: float
    profile: Profile

    def __call__(self, t: ArrayLike) -> Arrays:
        """Position, speed and acceleration of each joint at the time t [s]."""
        time = real_array("t", t) / self.duration
        moving = (time >= 0) & (time <= 1)
        s, sd, sdd = self.profile(np.clip(time, 0, 1))
        way = self.end - self.start

        def along(fraction: np.ndarray) -> np.ndarray:
            return fraction.reshape(time.shape + (1,) * way.ndim) * way

        speed = along(np.where(moving, sd / self.duration, 0.0))
        return self.start + along(s), speed, along(np.where(moving, sdd / self.duration**2, 0.0))

    def plot(self, path: str | Path | None = None, robot: Robot | None = None) -> Any:
        """A figure of positions, speeds and accelerations over time.

        Needs matplotlib (``armdyn[plot]``).

        Args:
            path: where to save it, if anywhere; the suffix chooses the format.
            robot: the arm, for joint names, units, and limits as dashed lines.
        """
        with importing:
            from armdyn.simulation.motion_figure import draw_trajectory

        return draw_trajectory(self, path, robot)

    def __repr__(self) -> str:
        return f"Trajectory({self.name!r}, {self.start.shape[-1]} joints, {self.duration:.4g} s)"


def quintic(start: ArrayLike, end: ArrayLike, duration: float) -> Trajectory:
    """By a polynomial of degree five: the acceleration too is zero at both ends.

    The largest speed is 15/8 of the mean.
    """

    def profile(x: np.ndarray) -> Arrays:
        s = x**3 * (10 - 15 * x + 6 * x**2)
        return s, 30 * (x * (1 - x)) ** 2, 60 * x * (1 - x) * (1 - 2 * x)

    return Trajectory("quintic", *_ends(start, end), _duration(duration), profile)


def cycloidal(start: ArrayLike, end: ArrayLike, duration: float) -> Trajectory:
    """With an acceleration that is one period of a sine; the largest speed is twice the mean."""

    def profile(x: np.ndarray) -> Arrays:
        turn = 2 * np.pi * x
        return x - np.sin(turn) / (2 * np.pi), 1 - np.cos(turn), 2 * np.pi * np.sin(turn)

    return Trajectory("cycloidal", *_ends(start, end), _duration(duration), profile)


def trapezoidal(
    start: ArrayLike, end: ArrayLike, speed: ArrayLike, acceleration: ArrayLike
) -> Trajectory:
    """The quickest within the joints' limits of speed and acceleration, numbers or (n,).

    Constant acceleration, constant speed, constant deceleration; the second is missing where the
    way is too short to reach the speed. The joint that needs longest sets the pace.
    """
    first, last = _ends(start, end)
    way = np.abs(last - first)
    bounds = [
        _limit(name, value, way.shape)
        for name, value in (("speed", speed), ("acceleration", acceleration))
    ]
    if not way.any():
        raise SimulationError("start and end are the same; expected a way to go")
    top, push = (float((bound[way > 0] / way[way > 0]).min()) for bound in bounds)
    top = min(top, push**0.5)  # of s, as far as the way allows
    ramp, duration = top / push, 1 / top + top / push

    def profile(x: np.ndarray) -> Arrays:
        t, rest = x * duration, (1 - x) * duration
        rising, falling = t < ramp, rest < ramp
        cruise = top * (t - ramp / 2)
        s = np.select([rising, falling], [push * t**2 / 2, 1 - push * rest**2 / 2], cruise)
        sd = np.select([rising, falling], [push * t, push * rest], top)
        sdd = np.select([rising, falling], [push, -push], 0.0)
        return s, sd * duration, sdd * duration**2

    return Trajectory("trapezoidal", first, last, duration, profile)


def _ends(start: ArrayLike, end: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    first, last = finite("start", start), finite("end", end)
    if first.ndim == 0 or first.shape != last.shape:
        raise ShapeError(
            f"start has shape {first.shape} and end {last.shape}; expected (..., n) of both"
        )
    return first, last


def _limit(name: str, value: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    bound = real_array(name, value).astype(float)
    bounded = name == "speed" or np.isfinite(bound).all()  # a joint may have no limit of speed
    if not (bounded and (bound > 0).all()):
        raise SimulationError(f"{name} is {shorten(value)}; expected positive numbers")
    try:
        return np.broadcast_to(bound, shape)
    except ValueError:
        raise ShapeError(
            f"{name} has shape {bound.shape}; expected a number or ({shape[-1]},)"
        ) from None


def _duration(value: float) -> float:
    return positive("duration", value, "a positive number of seconds")
