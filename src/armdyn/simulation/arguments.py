"""What users may give to a simulation: checked, and made into arrays."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armdyn.chain import Chain
from armdyn.chain.at_call import loaded_link
from armdyn.engine.calls import real_array
from armdyn.engine.payloads import Check, Payloads
from armdyn.errors import (
    MethodError,
    ShapeError,
    SimulationError,
    listed,
    meant,
    shorten,
    whole,
)
from armdyn.quantities import ARGUMENTS, sizes
from armdyn.quantities.tasks import check_places
from armdyn.robot.compiled import numbers

Progress = Callable[[int, int], object]  # is told the steps done, and all steps

MOST_STEPS = 10**15  # beyond, float64 hardly tells the times of two steps apart
WHOLE = 1e-9  # how near to a whole number a quotient of times must be, relative


def check_choice(name: str, value: Any, known: Sequence[str]) -> None:
    """Refuses what is not one of some names."""
    if not isinstance(value, str) or value not in known:
        hint = f"{meant(value, known)}expected one of {listed(known)}"
        raise MethodError(f"{name} is {shorten(value)}; {hint}")


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise MethodError(f"{name} is {shorten(value)}; expected True or False")
    return bool(value)


def positive(name: str, value: Any, what: str = "a positive number") -> float:
    """A positive, finite number."""
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if 0 < number < math.inf:
            return number
    raise SimulationError(f"{name} is {shorten(value)}; expected {what}")


def finite(name: str, value: ArrayLike) -> np.ndarray:
    """The value, whosever array it is, as an array of finite float64 numbers."""
    known = numbers(value)
    array = real_array(name, value if known is None else known).astype(float)
    if not np.isfinite(array).all():
        raise SimulationError(f"{name} is {shorten(value)}; expected finite numbers")
    return array


def whole_steps(t: float, dt: float, every: int, row: int, most: int | None = None) -> int:
    """The number of steps, of which every so many leaves a row of so many bytes.

    All rows may take ``most`` bytes of memory; None: what the machine has.
    """
    quotient = positive("t", t) / positive("dt", dt)
    if (whole(every) or 0) < 1:
        raise SimulationError(f"every is {shorten(every)}; expected a positive whole number")
    size, most = (quotient / min(every, MOST_STEPS) + 1) * row, most or memory()
    if quotient > MOST_STEPS or size > most:
        raise SimulationError(
            f"{t:g} s in steps of {dt:g} s are {quotient:.7g} steps, and to keep "
            f"{'all' if every == 1 else f'one of {every}'} takes {_amount(size)} of memory; "
            f"expected at most {MOST_STEPS:.0g} steps and {_amount(most)}, by a larger dt or every"
        )
    steps = as_whole(quotient)
    if steps is None:
        raise SimulationError(f"t is {t:g} s; expected a whole number of steps dt = {dt:g} s")
    if steps % every:
        raise SimulationError(f"every is {shorten(every)}; expected a divisor of {steps} steps")
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


def as_whole(quotient: float) -> int | None:
    """The whole number that a quotient of times is, but for rounding; None: it is not."""
    if not quotient < math.inf:
        return None
    nearest = round(quotient)
    return nearest if nearest and abs(quotient - nearest) <= WHOLE * nearest else None


def given(
    chain: Chain,
    arrays: Mapping[str, ArrayLike | None],
    payload_frame: str | None,
    check: Check,
) -> dict[str, np.ndarray]:
    """What is given in place of the arm's own constants, shape (..., size) each."""
    check_places([name for name, x in arrays.items() if x is not None], payload_frame, None)
    chain.find_frame(payload_frame)
    found = {name: finite(name, x) for name, x in arrays.items() if x is not None}
    if "payload" in found:
        loaded_link(chain, payload_frame)
    for name, size in sizes(chain.n, found).items():
        if found[name].ndim == 0 or found[name].shape[-1] != size:
            meaning = ARGUMENTS[name].meaning.format(n=chain.n)
            shape = found[name].shape
            raise ShapeError(f"{name} has shape {shape}; expected (..., {size}), {meaning}")
    load = arrays.get("payload")
    if load is not None:
        _payloads(chain).check(load, check)
    return found


@lru_cache(maxsize=64)
def _payloads(chain: Chain) -> Payloads:
    return Payloads(chain)


def initial_state(
    n: int,
    q0: Any,
    qd0: Any,
    given: Mapping[str, np.ndarray] = MappingProxyType({}),
) -> tuple[np.ndarray, np.ndarray]:
    """Initial positions and speeds, of one shape (..., n), with the batch axes of all."""
    q = finite("q0", q0)
    qd = np.zeros(n) if qd0 is None else finite("qd0", qd0)
    batch = batch_of(n, {"q0": q, "qd0": qd}, given)
    return np.broadcast_to(q, (*batch, n)), np.broadcast_to(qd, (*batch, n))


def batch_of(n: int, state: Mapping[str, Any], given: Mapping[str, np.ndarray]) -> tuple[int, ...]:
    """The batch axes of an initial state and of what is given, arrays of whichever library."""
    for name, array in state.items():
        if array.ndim == 0 or array.shape[-1] != n:
            raise ShapeError(f"{name} has shape {tuple(array.shape)}; expected (..., {n})")
    shapes = {name: tuple(array.shape) for name, array in {**state, **given}.items()}
    try:
        return np.broadcast_shapes(*(shape[:-1] for shape in shapes.values()))
    except ValueError:
        told = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ShapeError(f"batch axes do not broadcast: {told}") from None


def flat(array: np.ndarray, batch: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array (..., size) as rows of plain memory, one for each state of a batch."""
    size = array.shape[-1]
    whole = np.ascontiguousarray(np.broadcast_to(array, (*batch, size)), dtype)
    return whole.reshape(math.prod(batch), size)


def check_solvable(chain: Chain, integrator: str, friction: bool) -> None:
    """Refuses what has no solution."""
    dry = [joint.name for joint in chain.joints if any(joint.coulomb)]
    if integrator == "midpoint" and friction and dry:
        raise SimulationError(
            f"midpoint cannot follow the Coulomb friction of joint {shorten(dry[0])}, whose jump "
            "leaves its equation without a solution; expected ab4, rk4 or an adaptive integrator"
        )
