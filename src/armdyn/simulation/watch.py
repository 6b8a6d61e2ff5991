"""Watching a motion: joint limits passed, and numbers that are none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from armdyn.robot import Robot
from armdyn.simulation.results import Violation

NEVER = np.iinfo(np.int64).max
SIDES = ("lower", "upper")


class Watch:
    """Looks at a motion, segment after segment, and keeps what went beyond the joints' limits.

    Attributes:
        stops: the step at which each state must stop, where its position is beyond a limit; NEVER
            unless limits do stop it, and then one for all states.
    """

    def __init__(self, robot: Robot, mode: str, batch: tuple[int, ...]) -> None:
        self.names, self.mode, self.alone = robot.joint_names, mode, not batch
        states = int(np.prod(batch))
        speed, effort = robot.velocity_limits, robot.effort_limits
        self.position = Limit("position", robot.position_limits.T, states)
        self.speed = Limit("speed", np.stack([-speed, speed]), states)
        self.effort = Limit("effort", np.stack([-effort, effort]), states)
        self.stops = np.full(states if mode == "stop" else min(states, 1), NEVER)

    def look(self, step: int, q: np.ndarray, qd: np.ndarray) -> None:
        """Takes in the positions and speeds (rows, states, n) from this step on."""
        if self.mode == "ignore" or not q.size:
            return
        if self.mode == "stop":
            self.stops = np.minimum(self.stops, self.position.first_beyond(step, q))
        self.position.look(step, self._until_stop(step, q))
        self.speed.look(step, self._until_stop(step, qd))

    def look_at_torques(self, step: int, tau: np.ndarray) -> None:
        """Takes in the torques (rows, states, n) from this step on."""
        if self.mode != "ignore" and tau.size:
            self.effort.look(step, self._until_stop(step, tau))

    def _until_stop(self, step: int, values: np.ndarray) -> np.ndarray:
        """The values, NaN where a state should have stopped before."""
        if (self.stops >= step + len(values) - 1).all():
            return values
        steps = step + np.arange(len(values))
        return np.where((steps[:, None] <= self.stops)[..., None], values, np.nan)

    @property
    def last_stop(self) -> int:
        """The step at which no state moves any more."""
        return int(self.stops.max()) if len(self.stops) else NEVER

    def violations(self, dt: float) -> tuple[Violation, ...]:
        """What was seen, in the order of time."""
        kinds = (self.position, self.speed, self.effort)
        found = [each for kind in kinds for each in kind.violations(self.names, dt, self.alone)]
        return tuple(sorted(found, key=lambda violation: violation.t))


class Limit:
    """The limits of one kind, and how far each joint of each state went beyond them."""

    def __init__(self, kind: str, limits: np.ndarray, states: int) -> None:
        self.kind, self.limits = kind, limits  # (2, n): lower, upper
        self.limited = bool(np.isfinite(limits).any())
        self.shape = (2, states, limits.shape[1])
        self.since = self.worst = np.zeros((0, 0, 0))  # until something is beyond

    def look(self, step: int, values: np.ndarray) -> None:
        """Takes in the values (rows, states, n) from this step on; a NaN is passed over."""
        if not self.limited:
            return
        for side, furthest in enumerate(_extremes(values)):
            beyond = _beyond(side, furthest, self.limits)
            if not beyond.any():
                continue
            self.begin()
            new = beyond & (self.since[side] == NEVER)
            if new.any():
                limits = np.broadcast_to(self.limits[:, None], self.since.shape)[:, new]
                rows = _beyond(side, values[:, new], limits)
                self.since[side][new] = step + rows.argmax(axis=0)
            worse = new | beyond & _beyond(side, furthest, self.worst)
            self.worst[side][worse] = furthest[worse]

    def begin(self) -> None:
        """Makes room for what is beyond."""
        if not self.since.size:
            self.since = np.full(self.shape, NEVER)  # the first step beyond
            self.worst = np.zeros(self.shape)

    def first_beyond(self, step: int, values: np.ndarray) -> np.ndarray:
        """The first step at which any joint of a state is beyond a limit, or NEVER."""
        beyond = ((values < self.limits[0]) | (values > self.limits[1])).any(axis=-1)
        return np.where(beyond.any(axis=0), step + beyond.argmax(axis=0), NEVER)

    def violations(self, names: Sequence[str], dt: float, alone: bool) -> list[Violation]:
        """What was seen, by joints."""
        at = np.nonzero(self.since < NEVER)
        columns = *at, self.since[at] * dt, self.worst[at]
        limits = self.limits.tolist()
        return [
            Violation(
                names[joint],
                SIDES[side],
                limits[side][joint],
                t,
                worst,
                None if alone else state,
                self.kind,
            )
            for side, state, joint, t, worst in zip(*(c.tolist() for c in columns), strict=True)
        ]


def _extremes(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest of each column; a NaN is passed over."""
    least, largest = values.min(axis=0), values.max(axis=0)
    if np.isnan(least).any():  # seldom, for this takes longer
        return np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    return least, largest


def _beyond(side: int, values: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Where values lie beyond the lower (side 0) or upper (side 1) of two limits."""
    return values < limits[0] if side == 0 else values > limits[1]


def first_bad_row(*arrays: np.ndarray) -> int | None:
    """The first row with a number that is not finite; such a state never becomes finite again."""
    if all(np.isfinite(array[-1]).all() for array in arrays):
        return None
    bad = [~np.isfinite(array).all(axis=(1, 2)) for array in arrays]
    return int(np.argmax(np.any(bad, axis=0)))
