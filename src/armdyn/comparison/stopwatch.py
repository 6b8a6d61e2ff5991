"""Times of calls on a machine that others use too: in turns, and the least of many."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from timeit import Timer
from typing import Any, NamedTuple

SLICE = 1e-3  # [s]; a call that takes longer is a slice by itself


class Call(NamedTuple):
    """``function(*arguments, **keywords)``."""

    function: Callable[..., Any]
    arguments: Sequence[Any]
    keywords: Mapping[str, Any] = {}

    def timer(self) -> Timer:
        """A loop over the call, with all names local to it."""
        names = [f"a{k}" for k in range(len(self.arguments))]
        known = dict(zip(names, self.arguments, strict=True)) | dict(self.keywords)
        known["function"] = self.function
        local = "; ".join(f"{name} = known[{name!r}]" for name in known)
        given = ", ".join([*names, *(f"{name}={name}" for name in self.keywords)])
        return Timer(f"function({given})", local, globals={"known": known})


def least(calls: Mapping[str, Call], seconds: float) -> dict[str, float]:
    """Seconds a call of each, the least of all slices.

    The calls take turns, slice by slice, for about so many seconds in all, so that what disturbs
    the machine disturbs all of them; each has one turn at least.
    """
    timers = {name: call.timer() for name, call in calls.items()}
    numbers, best = {}, {}
    for name, timer in timers.items():
        numbers[name], best[name] = _first(timer)
    gc.collect()
    end = perf_counter() + seconds
    while calls and perf_counter() < end:
        for name, timer in timers.items():
            best[name] = min(best[name], timer.timeit(numbers[name]) / numbers[name])
    return best


def _first(timer: Timer) -> tuple[int, float]:
    """How many calls make a slice, and the seconds of one; the very first call is not timed."""
    timer.timeit(1)
    number = 1
    while (taken := timer.timeit(number)) < SLICE / 4:
        number *= 4
    return max(1, round(number * SLICE / taken)), taken / number
