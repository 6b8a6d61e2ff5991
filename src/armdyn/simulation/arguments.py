"""What users may give to a simulation: checked, and made into arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armdyn.chain import Chain
from armdyn.errors import MethodError, ShapeError, SimulationError
from armdyn.simulation.controllers import Controller, finite
from armdyn.simulation.torques import Called, Continuous, Given, Sampled, Torque

WHOLE = 1e-9  # how near to a whole number a quotient of times must be, relative


def choice(name: str, value: Any, known: Sequence[str]) -> None:
    """Refuses what is not one of some names."""
    if value not in known:
        raise MethodError(f"{name} is {value!r}; expected one of {', '.join(known)}")


def positive(name: str, value: Any) -> float:
    """A positive, finite number."""
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        if 0 < value < np.inf:
            return float(value)
    raise SimulationError(f"{name} is {value!r}; expected a positive number")


def whole_steps(t: float, dt: float, every: int) -> int:
    """The number of steps, of which every so many is kept."""
    steps = _whole(positive("t", t) / positive("dt", dt))
    if steps is None:
        raise SimulationError(f"t is {t:g} s; expected a whole number of steps dt = {dt:g} s")
    if not isinstance(every, (int, np.integer)) or every < 1 or steps % every:
        raise SimulationError(f"every is {every!r}; expected a divisor of {steps} steps")
    return steps


def _whole(quotient: float) -> int | None:
    nearest = round(quotient)
    return nearest if nearest and abs(quotient - nearest) <= WHOLE * nearest else None


def initial(n: int, q0: ArrayLike, qd0: ArrayLike | None) -> tuple[np.ndarray, np.ndarray]:
    """Initial positions and speeds, of one shape (..., n)."""
    q = finite("q0", q0)
    qd = np.zeros(n) if qd0 is None else finite("qd0", qd0)
    for name, array in (("q0", q), ("qd0", qd)):
        if array.ndim == 0 or array.shape[-1] != n:
            raise ShapeError(f"{name} has shape {array.shape}; expected (..., {n})")
    try:
        q, qd = np.broadcast_arrays(q, qd)
    except ValueError:
        raise ShapeError(f"batch axes do not broadcast: q0 {q.shape}, qd0 {qd.shape}") from None
    return q, qd


def torque(chain: Chain, tau: Any, batch: tuple[int, ...], steps: int, dt: float) -> Torque:
    """The torque that was asked for, in whichever form."""
    if isinstance(tau, Controller):
        return _controlled(chain, tau, batch, dt)
    if callable(tau):
        return Called(tau, batch)
    values = np.zeros(chain.n) if tau is None else finite("tau", tau)
    return Given(_rows(values, batch, steps, chain.n))


def _rows(values: np.ndarray, batch: tuple[int, ...], steps: int, n: int) -> np.ndarray:
    """A given torque with the axes (steps or 1, states or 1, n)."""
    if values.shape == (n,):
        return values[None, None]
    if values.ndim >= 2 and values.shape[-1] == n and values.shape[-2] in (1, steps):
        if values.ndim == 2:
            return values[:, None]
        if values.shape[:-2] == batch:
            return np.ascontiguousarray(np.moveaxis(values.reshape(-1, *values.shape[-2:]), 0, 1))
    leading = "".join(f"{length}, " for length in batch)
    whole = f", ({leading}1, {n}), ({leading}{steps}, {n})" if batch else ""
    raise ShapeError(
        f"tau has shape {values.shape}; expected a constant ({n},) or a row a step ({steps}, {n})"
        f"{whole}"
    )


def _controlled(chain: Chain, controller: Controller, batch: tuple[int, ...], dt: float) -> Torque:
    for signal in controller.signals(np.zeros(1), chain.n):
        states = int(np.prod(batch))
        if signal.shape[1] not in (1, states):
            raise ShapeError(
                f"{controller} follows {signal.shape[1]} motions; expected 1, or {states} as there "
                "are initial states"
            )
    source = Continuous(chain, controller)
    if controller.rate is None:
        return source
    period = _whole(1 / (controller.rate * dt))
    if period is None:
        raise SimulationError(
            f"rate is {controller.rate:g} Hz; expected 1/dt = {1 / dt:g} Hz or a whole part of it"
        )
    return Sampled(source, period)


def solvable(chain: Chain, integrator: str, friction: bool) -> None:
    """Refuses what has no solution."""
    dry = [joint.name for joint in chain.joints if any(joint.coulomb)]
    if integrator == "midpoint" and friction and dry:
        raise SimulationError(
            f"midpoint cannot follow the Coulomb friction of joint {dry[0]!r}, whose jump leaves "
            "its equation without a solution; expected ab4, rk4 or an adaptive integrator"
        )
