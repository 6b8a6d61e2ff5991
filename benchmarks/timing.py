"""Timing on a machine that others use too: short slices, interleaved, and the least of many.

All calls of a set take turns, slice by slice, so that what disturbs the machine disturbs all of
them; the least time of a call is what it takes undisturbed. Some disturbances last for a minute, so
all sets take turns too, pass by pass.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from timeit import Timer
from typing import Any, NamedTuple, TypeVar

import numpy as np

Label = TypeVar("Label")

SLICE = 2e-3  # [s]; a call that takes longer is a slice by itself
ROUNDS = 20
PASSES = 3


class Time(NamedTuple):
    """Seconds a state: the least and the median of all slices."""

    least: float
    median: float


@dataclass(frozen=True)
class Call:
    """``function(*arguments, **keywords)``, which computes so many states.

    ``leaves`` is the array where a function that returns nothing leaves its result.
    """

    function: Callable[..., Any]
    arguments: Sequence[Any] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)
    states: int = 1
    leaves: np.ndarray | None = None

    def __call__(self) -> np.ndarray:
        """The result of one call."""
        returned = self.function(*self.arguments, **self.keywords)
        return returned if self.leaves is None else self.leaves

    def timer(self) -> Timer:
        """A loop over the call, with all names local to it."""
        names = [f"a{k}" for k in range(len(self.arguments))]
        given = {"f": self.function, **dict(zip(names, self.arguments, strict=True))}
        local = "; ".join(f"{name} = given[{name!r}]" for name in (*given, *self.keywords))
        text = f"f({', '.join([*names, *(f'{name}={name}' for name in self.keywords)])})"
        return Timer(text, local, globals={"given": {**given, **self.keywords}})


def interleaved(
    calls: Mapping[Label, Call], rounds: int, slice_s: float = SLICE
) -> dict[Label, Time]:
    """The time a state of each call, all taking turns; each is called before the clock starts."""
    timers = {label: call.timer() for label, call in calls.items()}
    numbers = {label: _repeats(timer, slice_s) for label, timer in timers.items()}
    slices: dict[Label, list[float]] = {label: [] for label in calls}
    gc.collect()
    for _ in range(rounds):
        for label, timer in timers.items():
            slices[label].append(timer.timeit(numbers[label]) / numbers[label])
    return {
        label: Time(min(seen) / calls[label].states, statistics.median(seen) / calls[label].states)
        for label, seen in slices.items()
    }


def quickest(calls: Sequence[Call]) -> Call:
    """The call that takes least time."""
    times = interleaved(dict(enumerate(calls)), rounds=10)
    return calls[min(times, key=lambda k: times[k].least)]


def _repeats(timer: Timer, slice_s: float) -> int:
    """How many calls make a slice."""
    timer.timeit(1)
    number = 1
    while (taken := min(timer.repeat(3, number))) < slice_s / 4:  # one may be disturbed
        number *= 4
    return max(1, round(number * slice_s / taken))
