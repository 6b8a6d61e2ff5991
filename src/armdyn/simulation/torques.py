"""Where the torque of a simulation comes from: given, from a controller, or from a function.

Arrays have the axes (rows or 1, states or 1, n).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from armdyn.chain import Chain
from armdyn.engine.calls import real_array
from armdyn.errors import ShapeError, SimulationError, shorten
from armdyn.simulation.arguments import as_whole, finite
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
        self,
        chain: Chain,
        controller: Controller,
        period: int | None,
        dtype: np.dtype,
        given: Mapping[str, np.ndarray] = MappingProxyType({}),
        payload_frame: str | None = None,
    ) -> None:
        self.law, self.period = controller.law, period
        self._controller, self._n, self._dtype, self._given = controller, chain.n, dtype, given
        step = Step("control", controller.law, given=tuple(given), payload_frame=payload_frame)
        self._control = routine(chain, step, dtype.name)

    def at(
        self, times: np.ndarray, q: np.ndarray, qd: np.ndarray, states: slice = ALL
    ) -> np.ndarray:
        """The law's torque at these states."""
        followed = [_of_states(signal, states) for signal in self.signals(times)]
        given = [array[states] for array in self._given.values()]
        inputs = [
            np.broadcast_to(array, (*q.shape[:-1], array.shape[-1]))
            for array in (q, qd, *followed, *given)
        ]
        flat = [np.ascontiguousarray(x, self._dtype).reshape(1, -1, x.shape[-1]) for x in inputs]
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
            answer = real_array("tau(t, q, qd)", self.function(float(t), *state))
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
                f"diverged at once in joint {shorten(self.joints[joint])}{where}; expected finite "
                "torques"
            )


class TorqueNotFinite(SimulationError):
    """A function answered a torque that is not a finite number."""


def _of_states(array: np.ndarray, states: slice) -> np.ndarray:
    """The part of some states, of an array that may be the same for all."""
    return array if array.shape[1] == 1 else array[:, states]


# What users may give -------------------------------------------------------------------------


def make_torque(
    chain: Chain,
    tau: Any,
    batch: tuple[int, ...],
    steps: int,
    dt: float,
    dtype: np.dtype,
    given: Mapping[str, np.ndarray] = MappingProxyType({}),
    payload_frame: str | None = None,
) -> Torque:
    """The torque that was asked for, in whichever form, of an arm with what is given."""
    if isinstance(tau, Controller):
        _check_motions(tau, batch, chain.n)
        period = _period(tau.rate, dt)
        return ControllerTorque(chain, tau, period, dtype, given, payload_frame)
    if callable(tau):
        return FunctionTorque(tau, batch, [joint.name for joint in chain.joints])
    values = np.zeros(chain.n) if tau is None else finite("tau", tau)
    return GivenTorque(_rows(values, batch, steps, chain.n), steps, dt)


def _rows(values: np.ndarray, batch: tuple[int, ...], steps: int, n: int) -> np.ndarray:
    """A given torque with the axes (steps or 1, states or 1, n)."""
    check_shape(values.shape, batch, steps, n)
    if values.ndim <= 2:
        return values.reshape(-1, 1, n)
    return np.ascontiguousarray(np.moveaxis(values.reshape(-1, *values.shape[-2:]), 0, 1))


def check_shape(shape: tuple[int, ...], batch: tuple[int, ...], steps: int, n: int) -> None:
    """Refuses a given torque that is neither constant nor a row a step, for all or each state."""
    known = {(n,), *((*axes, rows, n) for axes in ((), batch) for rows in (1, steps))}
    if shape in known:
        return
    leading = "".join(f"{length}, " for length in batch)
    whole = f", ({leading}1, {n}), ({leading}{steps}, {n})" if batch else ""
    raise ShapeError(
        f"tau has shape {shape}; expected a constant ({n},) or a row a step ({steps}, {n}){whole}"
    )


def _check_motions(controller: Controller, batch: tuple[int, ...], n: int) -> None:
    """Refuses a controller that follows neither one motion nor one for each state."""
    states = int(np.prod(batch))
    for signal in controller.signals(np.zeros(1), n):
        if signal.shape[1] not in (1, states):
            raise ShapeError(
                f"{controller} follows {signal.shape[1]} motions; expected 1, or {states} as there "
                "are initial states"
            )


def _period(rate: float | None, dt: float) -> int | None:
    """The steps between two samples; None: the controller does not sample."""
    if rate is None:
        return None
    period = as_whole(1 / (rate * dt)) if rate * dt > 0 else None
    if period is None:
        raise SimulationError(
            f"rate is {rate:g} Hz; expected 1/dt = {1 / dt:g} Hz or a whole part of it"
        )
    return period
