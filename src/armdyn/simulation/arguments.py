"""What users may give to a simulation: checked, and made into arrays."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armdyn.chain import Chain
from armdyn.errors import MethodError, ShapeError, SimulationError, shorten
from armdyn.output.report import progress_bar
from armdyn.simulation.controllers import Controller, finite
from armdyn.simulation.torques import ControllerTorque, FunctionTorque, GivenTorque, Torque

Progress = Callable[[int, int], object]  # is told the steps done, and all steps

MOST_STEPS = 10**15  # beyond, the times of two steps would round to one
WHOLE = 1e-9  # how near to a whole number a quotient of times must be, relative


def choice(name: str, value: Any, known: Sequence[str]) -> None:
    """Refuses what is not one of some names."""
    if value not in known:
        raise MethodError(f"{name} is {shorten(value)}; expected one of {', '.join(known)}")


def positive(name: str, value: Any) -> float:
    """A positive, finite number."""
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        if 0 < value <= sys.float_info.max:
            return float(value)
    raise SimulationError(f"{name} is {shorten(value)}; expected a positive number")


def whole_steps(t: float, dt: float, every: int, row: int) -> int:
    """The number of steps, of which every so many leaves a row of so many bytes."""
    quotient = positive("t", t) / positive("dt", dt)
    if not isinstance(every, (int, np.integer)) or isinstance(every, bool) or every < 1:
        raise SimulationError(f"every is {shorten(every)}; expected a positive whole number")
    size, most = (quotient / min(every, MOST_STEPS) + 1) * row, memory()
    if quotient > MOST_STEPS or size > most:
        raise SimulationError(
            f"{t:g} s in steps of {dt:g} s are {quotient:.7g} steps, and to keep "
            f"{'all' if every == 1 else f'one of {every}'} takes {_amount(size)} of memory; "
            f"expected at most {MOST_STEPS:.0g} steps and {_amount(most)}, by a larger dt or every"
        )
    steps = _whole(quotient)
    if steps is None:
        raise SimulationError(f"t is {t:g} s; expected a whole number of steps dt = {dt:g} s")
    if steps % every:
        raise SimulationError(f"every is {every}; expected a divisor of {steps} steps")
    return steps


def memory() -> int:
    """The bytes of memory that the machine has."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # a system that does not tell
        return 2**36


def _amount(size: float) -> str:
    """Bytes as a person reads them."""
    units = ["bytes", "kB", "MB", "GB", "TB"]
    while size >= 1000 and len(units) > 1:
        size, units = size / 1000, units[1:]
    return f"{size:.3g} {units[0]}"


def _whole(quotient: float) -> int | None:
    if not quotient < math.inf:
        return None
    nearest = round(quotient)
    return nearest if nearest and abs(quotient - nearest) <= WHOLE * nearest else None


def precision(q0: Any, qd0: Any, tau: Any) -> np.dtype:
    """float32 if all numbers that were given are; a function or a controller has no say."""
    given = [q0, qd0] if callable(tau) or isinstance(tau, Controller) else [q0, qd0, tau]
    narrow = all(getattr(x, "dtype", None) == np.float32 for x in given if x is not None)
    return np.dtype(np.float32 if narrow else np.float64)


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


def torque(
    chain: Chain, tau: Any, batch: tuple[int, ...], steps: int, dt: float, dtype: np.dtype
) -> Torque:
    """The torque that was asked for, in whichever form."""
    if isinstance(tau, Controller):
        _check_motions(tau, batch, chain.n)
        return ControllerTorque(chain, tau, _period(tau.rate, dt), dtype)
    if callable(tau):
        return FunctionTorque(tau, batch, [joint.name for joint in chain.joints])
    values = np.zeros(chain.n) if tau is None else finite("tau", tau)
    return GivenTorque(_rows(values, batch, steps, chain.n), steps, dt)


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
    period = _whole(1 / (rate * dt)) if rate * dt > 0 else None
    if period is None:
        raise SimulationError(
            f"rate is {rate:g} Hz; expected 1/dt = {1 / dt:g} Hz or a whole part of it"
        )
    return period


def solvable(chain: Chain, integrator: str, friction: bool) -> None:
    """Refuses what has no solution."""
    dry = [joint.name for joint in chain.joints if any(joint.coulomb)]
    if integrator == "midpoint" and friction and dry:
        raise SimulationError(
            f"midpoint cannot follow the Coulomb friction of joint {dry[0]!r}, whose jump leaves "
            "its equation without a solution; expected ab4, rk4 or an adaptive integrator"
        )


@contextmanager
def reporter(progress: Any, robot: str) -> Iterator[Progress | None]:
    """Whom to tell how far the simulation is: nobody, a bar on stderr, or a function."""
    if progress is True:
        with progress_bar(f"simulating {robot}") as bar:
            yield bar
    elif progress is None or progress is False or callable(progress):
        yield progress or None
    else:
        raise SimulationError(
            f"progress is {shorten(progress)}; expected True, or a function of the steps done and "
            "all steps"
        )
