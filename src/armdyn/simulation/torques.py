"""Where the torque of a simulation comes from: given, from a controller, or from a function.

Arrays have the axes (rows or 1, states or 1, n).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from armdyn.chain import Chain
from armdyn.engine.calls import numbers
from armdyn.errors import ShapeError, SimulationError
from armdyn.simulation.controllers import Controller
from armdyn.simulation.marching import routine
from armdyn.simulation.step import Step

ALL = slice(None)


class Torque(ABC):
    """A torque, known by what it answers.

    Attributes:
        law: the law of LAWS that makes it from the state, by which a compiled step can make it;
            None: there is no such law.
        period: over how many steps it is held; None: it changes within a step.
    """

    law: str | None = None
    period: int | None = None

    def starts(self, first: int, last: int) -> range:
        """Those steps from first to last, less the last, at which it may jump; 0 is one."""
        if self.period is None:
            return range(first, min(last, 1))
        return range(-(-first // self.period) * self.period, last, self.period)

    @abstractmethod
    def at(
        self, times: np.ndarray, q: np.ndarray, qd: np.ndarray, states: slice = ALL
    ) -> np.ndarray:
        """The torque at some times, for some of the states, which are q, qd (times, states, n).

        Where it is held and there is no law, the state does not matter.
        """

    def signals(self, times: np.ndarray) -> list[np.ndarray]:
        """What its law follows at some times, in the law's order."""
        return []


class GivenTorque(Torque):
    """Torques given beforehand, constant or one a step; after the last one it stays."""

    def __init__(self, values: np.ndarray, steps: int, dt: float) -> None:
        self.values, self.dt = values, dt
        self.period = 1 if len(values) > 1 else steps

    def at(
        self, times: np.ndarray, q: np.ndarray, qd: np.ndarray, states: slice = ALL
    ) -> np.ndarray:
        """The rows of the steps that begin at these times."""
        steps = np.rint(times / self.dt).astype(int)
        return _of_states(self.values[np.minimum(steps, len(self.values) - 1)], states)


class ControllerTorque(Torque):
    """The torque of a ready controller: continuous, or sampled and held for a period of steps."""

    def __init__(
        self, chain: Chain, controller: Controller, period: int | None, dtype: np.dtype
    ) -> None:
        self.law, self.period = controller.law, period
        self._controller, self._n, self._dtype = controller, chain.n, dtype
        self._control = routine(chain, Step("control", controller.law), dtype.name)

    def at(
        self, times: np.ndarray, q: np.ndarray, qd: np.ndarray, states: slice = ALL
    ) -> np.ndarray:
        """The law's torque at these states."""
        followed = [_of_states(signal, states) for signal in self.signals(times)]
        inputs = [np.broadcast_to(array, q.shape) for array in (q, qd, *followed)]
        flat = [np.ascontiguousarray(x, self._dtype).reshape(1, -1, self._n) for x in inputs]
        tau = np.empty_like(flat[0])
        self._control.march(1, flat, [tau])
        return tau.reshape(q.shape)

    def signals(self, times: np.ndarray) -> list[np.ndarray]:
        """What the controller follows, and its gains."""
        return self._controller.signals(times, self._n)


class FunctionTorque(Torque):
    """A user's function tau(t, q, qd), of states (*batch, n)."""

    def __init__(
        self, function: Callable[..., Any], batch: tuple[int, ...], joints: Sequence[str]
    ) -> None:
        self.function, self.batch, self.joints = function, batch, joints

    def at(
        self, times: np.ndarray, q: np.ndarray, qd: np.ndarray, states: slice = ALL
    ) -> np.ndarray:
        """The function's answers, time by time; one state alone comes without batch axes.

        Where no state is finite any more the function is not asked.
        """
        tau = np.empty_like(q)
        shape = (*self.batch, q.shape[-1]) if states == ALL else q.shape[-1:]
        for row, t in enumerate(times):
            moving = (np.isfinite(q[row]) & np.isfinite(qd[row])).all(axis=-1)
            if not moving.any():
                tau[row] = np.nan
                continue
            state = q[row].reshape(shape).copy(), qd[row].reshape(shape).copy()
            answer = numbers("tau(t, q, qd)", self.function(float(t), *state))
            try:
                tau[row] = np.broadcast_to(answer, shape).reshape(tau[row].shape)
            except ValueError:
                raise ShapeError(
                    f"tau(t, q, qd) answers an array {answer.shape}; expected {shape}"
                ) from None
            if not np.isfinite(tau[row]).all():
                self._refuse(float(t), tau[row], moving, states.start or 0)
        return tau

    def _refuse(self, t: float, tau: np.ndarray, moving: np.ndarray, first: int) -> None:
        """Raises an error that names the torque which is not finite, if its state is."""
        bad = np.argwhere(~np.isfinite(tau) & moving[:, None])
        if len(bad):
            state, joint = bad[0].tolist()
            where = f" of state {first + state}" if self.batch else ""
            raise TorqueNotFinite(
                f"tau(t, q, qd) answered {tau[state, joint]} at t = {t:.6g} s, and the simulation "
                f"diverged at once in joint {self.joints[joint]!r}{where}; expected finite torques"
            )


class TorqueNotFinite(SimulationError):
    """A function answered a torque that is not a finite number."""


def _of_states(array: np.ndarray, states: slice) -> np.ndarray:
    """The part of some states, of an array that may be the same for all."""
    return array if array.shape[1] == 1 else array[:, states]
