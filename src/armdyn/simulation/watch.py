"""Watching a motion: joint limits passed, and numbers that are none."""

from __future__ import annotations

import numpy as np

from armdyn.robot import Robot
from armdyn.simulation.results import Violation

NEVER = np.iinfo(np.int64).max


class Watch:
    """Looks at positions, segment after segment, and keeps what went beyond the joints' limits.

    Attributes:
        stops: the step at which each state must stop; NEVER unless limits do stop it.
    """

    def __init__(self, robot: Robot, mode: str, batch: tuple[int, ...]) -> None:
        self.names, self.mode, self.alone = robot.joint_names, mode, not batch
        self.limits = robot.limits.T  # lower, upper
        shape = (2, int(np.prod(batch)), robot.n)
        self.since = np.full(shape, NEVER)  # the first step beyond
        self.worst = np.zeros(shape)
        self.stops = np.full(shape[1], NEVER)

    def look(self, step: int, q: np.ndarray) -> None:
        """Takes in the positions (rows, states, n) from this step on."""
        if self.mode == "ignore" or not q.size:
            return
        for side, furthest in enumerate((q.min(axis=0), q.max(axis=0))):
            beyond = _beyond(side, furthest, self.limits)
            if not beyond.any():
                continue
            row = _beyond(side, q, self.limits).argmax(axis=0)
            new = beyond & (self.since[side] == NEVER)
            self.since[side][new] = step + row[new]
            if self.mode == "stop":
                worse, furthest = new, np.take_along_axis(q, row[None], axis=0)[0]
            else:
                worse = new | beyond & _beyond(side, furthest, self.worst)
            self.worst[side][worse] = furthest[worse]
        if self.mode == "stop":
            self.stops = self.since.min(axis=(0, 2))

    @property
    def last_stop(self) -> int:
        """The step at which no state moves any more."""
        return int(self.stops.max()) if len(self.stops) else NEVER

    def violations(self, dt: float) -> tuple[Violation, ...]:
        """What was seen, until a state had to stop, in the order of time."""
        found = []
        seen = (self.since < NEVER) & (self.since <= self.stops[:, None])
        for side, state, joint in np.argwhere(seen).tolist():
            at = side, state, joint
            found.append(
                Violation(
                    self.names[joint],
                    ("lower", "upper")[side],
                    float(self.limits[side, joint]),
                    int(self.since[at]) * dt,
                    float(self.worst[at]),
                    None if self.alone else state,
                )
            )
        return tuple(sorted(found, key=lambda violation: violation.t))


def _beyond(side: int, q: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Where q lies beyond the lower (side 0) or upper (side 1) of two limits."""
    return q < limits[0] if side == 0 else q > limits[1]


def first_bad_row(*arrays: np.ndarray) -> int | None:
    """The first row with a number that is not finite; such a state never becomes finite again."""
    if all(np.isfinite(array[-1]).all() for array in arrays):
        return None
    bad = [~np.isfinite(array).all(axis=(1, 2)) for array in arrays]
    return int(np.argmax(np.any(bad, axis=0)))
