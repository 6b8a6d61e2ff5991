"""What a user gave: floats, names and choices, or a ModelError that says what was expected.

Nothing that is given may end in another error, whatever it is: an array where a name belongs, an
object whose conversion fails, an integer too large for a double.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import cache
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armdyn.chain.limits import MOST_JOINTS
from armdyn.errors import ModelError, shorten, whole

Triple = tuple[float, float, float]

# Numbers ------------------------------------------------------------------------------------


def numbers(name: str, value: ArrayLike, expected: str = "numbers") -> np.ndarray:
    """What was given as ``name``, as new floats of whatever shape it has."""
    if is_masked(value):
        raise ModelError(f"{name} is a masked array, some of it masked; expected no mask")
    try:
        found = np.asarray(value)
        if found.dtype == float:
            return found.astype(float)
        if found.dtype.kind in "biuf" or (found.dtype.kind == "O" and _all_real(found)):
            with np.errstate(all="ignore"):  # what a double cannot hold becomes infinite
                return found.astype(float)
    except Exception:  # ragged, too large an integer, or whatever its own conversion raises
        pass
    raise ModelError(f"{name} must be {expected}, not {shorten(value)}")


def is_masked(value: object) -> bool:
    """Whether a mask hides some numbers of an array."""
    return (
        isinstance(value, np.ndarray) and type(value) is not np.ndarray and np.ma.is_masked(value)
    )


def _all_real(found: np.ndarray) -> bool:
    return all(isinstance(entry, Real | Decimal | np.bool_) for entry in found.flat)


def exactly(name: str, value: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    """What was given as ``name``, as new floats of that shape: nothing is broadcast."""
    found = numbers(name, value, _form(shape))
    if found.shape != shape:
        raise ModelError(f"{name} must be {_form(shape)}, not {shorten(value)}")
    return found


@cache
def _form(shape: tuple[int, ...]) -> str:
    return f"numbers of shape {shape}" if shape else "a number"


def number(name: str, value: ArrayLike) -> float:
    """One number."""
    return float(exactly(name, value, ()))


def finite(name: str, value: ArrayLike) -> float:
    """One finite number."""
    found = numbers(name, value, "a finite number")
    if found.shape != () or not np.isfinite(found) or isinstance(value, bool | np.bool_):
        raise ModelError(f"{name} must be a finite number, not {shorten(value)}")
    return float(found)


def natural(name: str, value: int) -> int:
    """A whole number that is not negative."""
    found = whole(value)
    if found is None or found < 0:
        raise ModelError(f"{name} must be a whole number of at least 0, not {shorten(value)}")
    return found


def vector(name: str, value: ArrayLike) -> Triple:
    """Three numbers, and nothing that could be made three."""
    return triple(exactly(name, value, (3,)))


def triple(values: Sequence[float] | np.ndarray) -> Triple:
    """Three floats, from anything that holds three."""
    x, y, z = (float(v) for v in values)
    return x, y, z


def column(name: str, value: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    """A column of a table as floats; one number stands for all joints."""
    expected = f"numbers of shape {shape}"
    found = numbers(name, value, expected)
    try:
        return np.array(np.broadcast_to(found, shape))
    except ValueError:
        raise ModelError(f"{name} must be {expected}, not {shorten(value)}") from None


def coulomb(value: ArrayLike, n: int) -> np.ndarray:
    """(at negative, at positive speed) of each joint, from that or from magnitudes, (n, 2)."""
    if numbers("coulomb", value).ndim == 2:
        return column("coulomb", value, (n, 2))
    sizes = np.abs(column("coulomb", value, (n,)))
    return np.column_stack([0.0 - sizes, sizes])


@np.errstate(over="ignore", invalid="ignore")
def is_symmetric(J: np.ndarray) -> bool:
    """Whether a tensor (3, 3) is symmetric to the digits it is printed with."""
    return not np.isfinite(J).all() or np.allclose(J, J.T, rtol=1e-9, atol=0)


def check_symmetric(name: str, J: np.ndarray) -> None:
    """Refuse a tensor (3, 3) that is not symmetric."""
    if not is_symmetric(J):
        raise ModelError(f"{name} is not symmetric: {shorten(J.tolist())}")


def snap_angle(value: float) -> float:
    """How near to a quarter turn an angle becomes it [rad]."""
    expected = "an angle of 0 <= snap < pi/4 [rad]"
    found = numbers("snap", value, expected)
    if found.shape != () or not 0 <= found < math.pi / 4:
        raise ModelError(f"snap must be {expected}, not {shorten(value)}")
    return float(found)


# Words --------------------------------------------------------------------------------------


def choice(name: str, value: str, options: Sequence[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in options:
        raise ModelError(f"{name} is {' or '.join(map(repr, options))}, not {shorten(value)}")
    return value


def flag(name: str, value: bool) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ModelError(f"{name} is True or False, not {shorten(value)}")
    return bool(value)


def check_name(what: str, name: str) -> None:
    """Refuse a name that is no string."""
    if not isinstance(name, str):
        raise ModelError(f"the name of a {what} must be a string, not {shorten(name)}")


def names(what: str, given: Sequence[str] | None, stem: str, n: int) -> list[str]:
    """The names given, or the stem with a number."""
    if given is None:
        return [f"{stem}{i + 1}" for i in range(n)]
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise ModelError(f"{what} must be a list of {n} names, not {shorten(given)}")
    if len(given) != n:
        raise ModelError(f"{what} must have {n} names, not {len(given)}")
    return list(given)


# Many of them -------------------------------------------------------------------------------


def tuple_of(what: str, given: Any, *kinds: type) -> tuple[Any, ...]:
    """A tuple of things of one of those kinds, from anything that holds them."""
    items = None
    if isinstance(given, Iterable) and not isinstance(given, str):
        try:
            items = tuple(given)
        except Exception:  # an array without axes, or whatever its own iteration raises
            pass
    if items is None or not all(isinstance(item, kinds) for item in items):
        raise ModelError(f"{what} must be a tuple of {kinds[0].__name__}, not {shorten(given)}")
    return items


def check_count(n: int) -> None:
    """Refuse an arm without joints, and one of more than MOST_JOINTS."""
    if not 1 <= n <= MOST_JOINTS:
        raise ModelError(f"expected at least one joint and at most {MOST_JOINTS}, not {shorten(n)}")


def summed_up(problems: Sequence[str], most: int = 10) -> str:
    """Some problems as one message: not more of them than a person reads."""
    more = [f"and {len(problems) - most} more"] if len(problems) > most else []
    return "; ".join([*problems[:most], *more])
