"""What all integrators work on, and what they have in common.

The states of all steps stand in a ``Window`` of rows (rows, states, n). ``advance(first, last,
start)`` makes the steps from one row to another; the torque is smooth between ``start`` and
``last``, and a held torque already stands in its rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from armdyn.chain import Chain
from armdyn.simulation.controllers import LAWS, Controller
from armdyn.simulation.marching import as_rows
from armdyn.simulation.step import Step
from armdyn.simulation.torques import ALL, Continuous, Flowing, Sampled, Torque

PAST = 3  # steps before the present one that AB4 looks at


class BrokenOff(Exception):
    """The step from this row on cannot be made."""

    def __init__(self, step: int, reason: str) -> None:
        super().__init__(reason)
        self.step, self.reason = step, reason


class Window:
    """Rows of q, qd, qdd and tau, from step ``start`` on and PAST steps before it."""

    def __init__(self, steps: int, states: int, n: int) -> None:
        self.q, self.qd, self.qdd, self.tau = np.empty((4, PAST + steps, states, n))
        self.start = 0

    def row(self, step: int) -> int:
        """The row of a step."""
        return step - self.start + PAST

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

    @property
    def controller(self) -> Controller | None:
        """The ready controller, if the torque is from one."""
        torque = self.torque.source if isinstance(self.torque, Sampled) else self.torque
        return torque.controller if isinstance(torque, Continuous) else None

    def rate(
        self, held: np.ndarray, t: float, q: np.ndarray, qd: np.ndarray, states: slice = ALL
    ) -> tuple[np.ndarray, np.ndarray]:
        """(qdd, tau) of some states, (states, n), under the held torque or the flowing one."""
        if isinstance(self.torque, Flowing):
            tau = self.torque.at(np.array([t]), q[None], qd[None], states)[0]
        else:
            tau = held[states]
        return self.forward_dynamics(q, qd, tau), tau


class Stepper(ABC):
    """Makes steps in a window."""

    smooth = False  # whether it must not step across a jump of the torque
    late = False  # whether it leaves nothing but q and qd behind
    samples = False  # whether it makes a controller's held torques by itself

    def __init__(self, problem: Problem, window: Window) -> None:
        self.problem, self.window = problem, window

    @abstractmethod
    def advance(self, first: int, last: int, start: int) -> None:
        """Makes the steps from first to last."""

    def complete(self, first: int, last: int) -> None:
        """Fills in qdd, and tau unless it is held, of all these rows but the last."""
        w, torque = self.window, self.problem.torque
        rows = slice(w.row(first), w.row(last))
        if isinstance(torque, Flowing):
            times = np.arange(first, last) * self.problem.dt
            w.tau[rows] = torque.at(times, w.q[rows], w.qd[rows])
        w.qdd[rows] = self.problem.forward_dynamics(w.q[rows], w.qd[rows], w.tau[rows])


def constant(value: float, states: int) -> np.ndarray:
    """The same number for every state and step."""
    return still(np.full((states, 1), value))


def still(row: np.ndarray) -> np.ndarray:
    """The same row for every step."""
    return np.broadcast_to(row, (2, *row.shape))


def torque_rows(
    problem: Problem, step: Step, window: Window, first: int, count: int
) -> list[np.ndarray]:
    """The rows that a step makes its torque of: held torques, or the signals of its law."""
    controller = problem.controller
    if controller is None or step.law is None:
        return [window.tau[window.row(first) :]]
    parts = 2 if 1 / 2 in step.nodes else 1  # of a step, at which signals are needed
    times = (first + np.arange(parts * count + 1) / parts) * problem.dt
    signals = controller.signals(times, problem.chain.n)
    rows = {
        name: as_rows(signal, len(times), problem.states)
        for name, signal in zip(LAWS[step.law].signals, signals, strict=True)
    }
    return [rows[name][int(parts * (c or 0)) :: parts] for name, c in step.torque]
