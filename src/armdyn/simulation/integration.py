"""Integration: what all integrators work on, and what they have in common.

The states of all steps stand in a ``Window`` of rows (rows, states, n).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from armdyn.chain import Chain
from armdyn.engine import function
from armdyn.quantities.tasks import Task
from armdyn.simulation.controllers import LAWS
from armdyn.simulation.marching import as_rows
from armdyn.simulation.step import Step
from armdyn.simulation.torques import ALL, Torque

PAST = 3  # steps before the present one that AB4 looks at


class BrokenOff(Exception):
    """The step from this row on cannot be made."""

    def __init__(self, step: int, reason: str) -> None:
        super().__init__(reason)
        self.step, self.reason = step, reason


class Window:
    """Rows of q, qd, qdd and tau, from step ``start`` on and PAST steps before it."""

    def __init__(self, steps: int, states: int, n: int, dtype: np.dtype) -> None:
        self.q, self.qd, self.qdd, self.tau = np.empty((4, PAST + steps, states, n), dtype)
        self.start = 0

    def row(self, step: int) -> int:
        """The row of a step."""
        return step - self.start + PAST

    def rows(self, first: int, last: int) -> slice:
        """The rows of the steps from first to last, less the last."""
        return slice(self.row(first), self.row(last))

    def move(self, start: int) -> None:
        """Lets the window begin at a later step."""
        rows = slice(self.row(start) - PAST, self.row(start) + 1)
        for array in (self.q, self.qd, self.qdd, self.tau):
            array[: PAST + 1] = array[rows].copy()
        self.start = start


@dataclass(frozen=True)
class Problem:
    """What is to be integrated."""

    chain: Chain
    states: int
    dt: float
    steps: int
    friction: bool
    torque: Torque
    forward_dynamics: Callable[..., np.ndarray]
    tolerances: dict[str, float]  # of adaptive integrators
    dtype: np.dtype  # that steps are computed in
    given: Mapping[str, np.ndarray]  # in place of the arm's own constants, (states, size) each
    payload_frame: str | None

    def step(self, method: str, law: str | None = None, **more: Any) -> Step:
        """A step on this problem's arm."""
        given = tuple(self.given)
        frame = self.payload_frame
        return Step(method, law, self.friction, given=given, payload_frame=frame, **more)

    def rate(
        self, held: np.ndarray, t: float, q: np.ndarray, qd: np.ndarray, states: slice = ALL
    ) -> tuple[np.ndarray, np.ndarray]:
        """(qdd, tau) of some states, (states, n), under the torque that is held or changes."""
        if self.torque.period is None:
            tau = self.torque.at(np.array([t]), q[None], qd[None], states)[0]
        else:
            tau = held[states]
        given = (array[states] for array in self.given.values())
        return self.forward_dynamics(q, qd, tau, *given), tau


class Integration(ABC):
    """Makes steps in a window.

    Attributes:
        step: the step under way; what stands in the rows before it is whole.
        stride: the most steps that are worth making without a look at them.
    """

    stride = 2**20

    def __init__(self, problem: Problem, window: Window) -> None:
        self.problem, self.window = problem, window
        self.step = 0

    @abstractmethod
    def advance(self, first: int, last: int) -> None:
        """Makes the steps from first to last: q and qd of the next row, qdd and tau of its own."""

    def complete(self, first: int, last: int) -> None:  # noqa: B027, most leave nothing out
        """Fills in what ``advance`` left out of all these rows but the last."""

    # What the methods share ---------------------------------------------------------------------

    def hold(self, first: int, last: int) -> None:
        """Lets a held torque stand in its rows; one that a law makes, within one period."""
        torque, w, rows = self.problem.torque, self.window, self.window.rows(first, last)
        if torque.period is None:
            return
        if torque.law is None:
            times = np.arange(first, last) * self.problem.dt
            w.tau[rows] = torque.at(times, w.q[rows], w.qd[rows])
        elif self.latest_start(first) == first:
            now, time = slice(rows.start, rows.start + 1), np.array([first * self.problem.dt])
            w.tau[rows] = torque.at(time, w.q[now], w.qd[now])
        else:
            w.tau[rows] = w.tau[rows.start - 1]

    def legs(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """The parts of a segment from one jump of the torque to the next."""
        yield from pairwise([first, *self.problem.torque.starts(first + 1, last), last])

    def latest_start(self, step: int) -> int:
        """The last step up to this one at which the torque may have jumped."""
        return self.problem.torque.starts(0, step + 1)[-1]


@lru_cache(maxsize=64)
def forward_dynamics(
    chain: Chain, friction: bool, given: tuple[str, ...], payload_frame: str | None
) -> Callable[..., np.ndarray]:
    """The accelerations as a function of q, qd, tau and what is given."""
    task = Task.with_given("forward_dynamics", given, payload_frame)
    return function(chain, [task._replace(friction=friction)])


def complete_rows(problem: Problem, window: Window, first: int, last: int) -> None:
    """Fills in qdd, and tau unless it is held, of all these rows but the last."""
    w, torque, rows = window, problem.torque, window.rows(first, last)
    if torque.period is None:
        times = np.arange(first, last) * problem.dt
        w.tau[rows] = torque.at(times, w.q[rows], w.qd[rows])
    state = w.q[rows], w.qd[rows], w.tau[rows]
    w.qdd[rows] = problem.forward_dynamics(*state, *problem.given.values())


def constant(value: float, problem: Problem) -> np.ndarray:
    """The same number for every state and step."""
    return still(np.full((problem.states, 1), value, problem.dtype))


def still(row: np.ndarray) -> np.ndarray:
    """The same row for every step."""
    return np.broadcast_to(row, (2, *row.shape))


def given_rows(problem: Problem) -> list[np.ndarray]:
    """The rows of what is given in place of the arm's own constants."""
    return [still(array) for array in problem.given.values()]


def torque_rows(
    problem: Problem, step: Step, window: Window, first: int, count: int
) -> list[np.ndarray]:
    """The rows that a step makes its torque of: held torques, or the signals of its law."""
    if step.law is None:
        return [window.tau[window.row(first) :]]
    parts = 2 if 1 / 2 in step.nodes else 1  # of a step, at which signals are needed
    times = (first + np.arange(parts * count + 1) / parts) * problem.dt
    rows = {
        name: as_rows(signal, len(times), problem.states, problem.dtype)
        for name, signal in zip(LAWS[step.law].signals, problem.torque.signals(times), strict=True)
    }
    return [rows[name][int(parts * (c or 0)) :: parts] for name, c in step.torque]
