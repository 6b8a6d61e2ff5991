"""Where the torque of a simulation comes from: given, from a controller, or from a function.

Arrays have the axes (rows or 1, states or 1, n). A torque is either *held*, constant over each
step and known when the step begins, or *flowing*, a function of time and state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from armdyn.chain import Chain
from armdyn.engine.calls import real_array
from armdyn.errors import ShapeError
from armdyn.simulation.controllers import Controller
from armdyn.simulation.marching import routine
from armdyn.simulation.step import Step

ALL = slice(None)


class Held(ABC):
    """A torque that is constant over each step."""

    @abstractmethod
    def starts(self, steps: int) -> np.ndarray:
        """The steps, 0 first, at which the torque may jump."""

    @abstractmethod
    def rows(
        self, first: int, last: int, state: tuple[float, np.ndarray, np.ndarray], before: np.ndarray
    ) -> np.ndarray:
        """The torque of the steps from first to last, less the last.

        At the first the state is t, q, qd; ``before`` it was held that torque.
        """


class Given(Held):
    """Torques given beforehand, constant or one a step; after the last one it stays."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def starts(self, steps: int) -> np.ndarray:
        """Every step, unless the torque is constant."""
        return np.arange(steps if len(self.values) > 1 else 1)

    def rows(
        self, first: int, last: int, state: tuple[float, np.ndarray, np.ndarray], before: np.ndarray
    ) -> np.ndarray:
        """The rows of the array."""
        return self.values[min(first, len(self.values) - 1) : last]


class Flowing(ABC):
    """A torque that is a smooth function of time and state."""

    @abstractmethod
    def at(
        self, times: np.ndarray, q: np.ndarray, qd: np.ndarray, states: slice = ALL
    ) -> np.ndarray:
        """The torque of some of the states, (times, states, n), at q, qd of that shape."""


class Continuous(Flowing):
    """The torque of a ready controller on an arm."""

    def __init__(self, chain: Chain, controller: Controller) -> None:
        self.controller, self.n = controller, chain.n
        self._control = routine(chain, Step("control", controller.law))

    def at(
        self, times: np.ndarray, q: np.ndarray, qd: np.ndarray, states: slice = ALL
    ) -> np.ndarray:
        """The law's torque."""
        inputs = [q, qd]
        for signal in self.controller.signals(times, self.n):
            chosen = signal if signal.shape[1] == 1 else signal[:, states]
            inputs.append(np.broadcast_to(chosen, q.shape))
        flat = [np.ascontiguousarray(x).reshape(1, -1, self.n) for x in inputs]
        tau = np.empty_like(flat[0])
        self._control.march(1, flat, [tau])
        return tau.reshape(q.shape)


class Sampled(Held):
    """The torque of a controller that samples every so many steps and holds it in between."""

    def __init__(self, source: Continuous, period: int) -> None:
        self.source, self.period = source, period

    def starts(self, steps: int) -> np.ndarray:
        """The steps at which the controller samples."""
        return np.arange(0, steps, self.period)

    def rows(
        self, first: int, last: int, state: tuple[float, np.ndarray, np.ndarray], before: np.ndarray
    ) -> np.ndarray:
        """A new torque if a period begins."""
        if first % self.period:
            return before
        t, q, qd = state
        return self.source.at(np.array([t]), q[None], qd[None])


class Called(Flowing):
    """A user's function tau(t, q, qd), of states (*batch, n)."""

    def __init__(self, function: Callable[..., Any], batch: tuple[int, ...]) -> None:
        self.function, self.batch = function, batch

    def at(
        self, times: np.ndarray, q: np.ndarray, qd: np.ndarray, states: slice = ALL
    ) -> np.ndarray:
        """The function's answers, time by time; one state alone comes without batch axes.

        Where no state is finite any more the function is not asked.
        """
        tau = np.empty(q.shape)
        shape = (*self.batch, q.shape[-1]) if states == ALL else q.shape[-1:]
        for row, t in enumerate(times):
            if not (np.isfinite(q[row]) & np.isfinite(qd[row])).all(axis=-1).any():
                tau[row] = np.nan
                continue
            state = q[row].reshape(shape).copy(), qd[row].reshape(shape).copy()
            answer = real_array("tau(t, q, qd)", self.function(float(t), *state))
            try:
                tau[row] = np.broadcast_to(answer, shape).reshape(tau[row].shape)
            except ValueError:
                raise ShapeError(
                    f"tau(t, q, qd) answers an array {answer.shape}; expected {shape}"
                ) from None
        return tau


Torque = Held | Flowing
