"""How much a comparison may take: refused before anything is allocated or waited for."""

from __future__ import annotations

import math
from collections.abc import Sequence

from armdyn.errors import MethodError, shorten
from armdyn.quantities import ORDER, Task, shapes

MOST_BYTES = 4e9  # of memory, for a batch or for states in fifty digits
MOST_SECONDS = 3600.0  # for the stopwatch of a quantity, or for its fifty digits
EXACT_SECONDS = 2e-4  # times n^2: what a state in fifty digits takes, about,
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
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise MethodError(f"{name} is {shorten(value)}; expected 1 or more, a whole number")
    given = len(ORDER) * n
    largest = max(sum(map(math.prod, shapes(n, [Task(name)]))) for name in quantities)
    _check("batch", batch, 8 * (given + largest) / 1e9, "GB of memory", MOST_BYTES / 1e9)
    exact = (8 * given + EXACT_BYTES * largest) / 1e9
    _check("states", states, exact, "GB of memory", MOST_BYTES / 1e9)
    _check("states", states, EXACT_SECONDS * n**2 / 60, "minutes", MOST_SECONDS / 60)
    try:
        fits = 0 <= seconds <= MOST_SECONDS  # nan does not
    except TypeError:
        fits = False
    if not fits:
        raise MethodError(
            f"seconds is {shorten(seconds)}, which each quantity takes twice; expected 0 to "
            f"{MOST_SECONDS:g}"
        )


def _check(name: str, value: int, each: float, unit: str, most: float) -> None:
    """Refuse more than ``most`` of a unit, at so much for each."""
    if value > most / each:
        taken = f"{value * each:.3g}" if value < 1e300 else "beyond counting"
        raise MethodError(
            f"{name} is {shorten(value)}, which takes {taken} {unit}; expected at most "
            f"{int(most / each)}"
        )
