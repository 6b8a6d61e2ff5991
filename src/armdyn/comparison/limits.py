"""How much a comparison may take: refused before anything is allocated or waited for."""

from __future__ import annotations

import math
from collections.abc import Sequence

from armdyn.errors import MethodError, shorten, whole
from armdyn.quantities import STATE, sizes
from armdyn.quantities.tasks import Task, shapes

MOST_BYTES = 4 * 10**9  # of memory, for a batch or for states in fifty digits
MOST_SECONDS = 3600  # for the stopwatch of a quantity, or for its fifty digits
EXACT_MICROSECONDS = 200  # times n^2: what a state in fifty digits takes, about,
EXACT_BYTES = 200  # and what a number of it takes


def check_sizes(n: int, quantities: Sequence[str], batch: int, states: int, seconds: float) -> None:
    """Refuse sizes that are none, and those that would take too much memory or time.

    Args:
        n: the number of joints.
        quantities: what is compared.
        batch: states in a batch.
        states: at which errors are measured in fifty digits.
        seconds: on the stopwatch, for a quantity.
    """
    for name, value in (("batch", batch), ("states", states)):
        if (whole(value) or 0) < 1:
            raise MethodError(f"{name} is {shorten(value)}; expected 1 or more, a whole number")
    given = 8 * sum(sizes(n, STATE).values())
    largest = max(sum(map(math.prod, shapes(n, [Task(name)]))) for name in quantities)
    _check("batch", batch, given + 8 * largest, MOST_BYTES, 1e9, "GB of memory")
    _check("states", states, EXACT_MICROSECONDS * n**2, MOST_SECONDS * 10**6, 3600e6, "hours")
    _check("states", states, given + EXACT_BYTES * largest, MOST_BYTES, 1e9, "GB of memory")
    try:
        fits = 0 <= seconds <= MOST_SECONDS  # nan does not
    except (TypeError, ValueError):  # ValueError: of an array
        fits = False
    if not fits:
        raise MethodError(
            f"seconds is {shorten(seconds)}, which each quantity takes twice; expected 0 to "
            f"{MOST_SECONDS}"
        )


def _check(name: str, value: int, each: int, most: int, unit: float, units: str) -> None:
    """Refuse what at so much for each takes more than the most; said in units of so much."""
    if value > most // each:
        taken = f"{value * each / unit:.3g}" if value < 1e300 else "countless"
        raise MethodError(
            f"{name} is {shorten(value)}, which takes {taken} {units}; expected at most "
            f"{most // each}"
        )
