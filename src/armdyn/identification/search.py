"""The search for the series that tells most: from the best of some random ones, downhill."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from armdyn.errors import IdentificationError
from armdyn.identification.descent import descend
from armdyn.identification.fourier import Series, motion, pulled_back
from armdyn.identification.information import Information

TIMES = 16  # a period at which the information is taken, for each harmonic
DRAWN = 20  # random series, of which the best is the start
STARTING = 0.9  # of what is allowed, that they reach
BARRIERS = (1e-1, 1e-3)  # weights of the barrier, one after the other
STEPS = 200  # of BFGS at most, with each
TINY = 1e-300  # above zero

Tell = Callable[[int, int], object]  # is told the steps done, and all steps


@dataclass(frozen=True, eq=False)
class Search:
    """Among which series, for information of what; ``balance`` is excite's."""

    series: Series
    information: Information
    balance: float

    @cached_property
    def linear(self) -> np.ndarray:
        """The map of the series' free numbers x to the motion about its centre."""
        return self.series.at(TIMES * self.series.harmonics)

    def states(self, x: np.ndarray) -> np.ndarray:
        """q, qd, qdd at the times at which the information is taken, (3, times, n)."""
        found = motion(self.linear, x)
        found[0] += self.series.limits.centre
        return found

    def shortage(self, x: np.ndarray) -> float:
        """What is to be small."""
        return self.information.shortage(self.states(x), self.balance)[0]

    def barred(self, barrier: float, x: np.ndarray) -> tuple[float, np.ndarray]:
        """The shortage with the barrier -log(1 - u^2), u the parts of limits, and its slope."""
        u, states = motion(self.series.checks, x), self.states(x)
        value, V = self.information.shortage(states, self.balance)
        if not np.isfinite(value) or np.abs(u).max() >= 1:
            return np.inf, np.zeros_like(x)
        slope = pulled_back(self.linear, self.information.slope(states, V))
        slope += pulled_back(self.series.checks, barrier * 2 * u / (1 - u**2))
        return value - barrier * float(np.log1p(-(u**2)).sum()), slope

    def room(self, x: np.ndarray, way: np.ndarray) -> float:
        """How many steps of this way reach a limit: the least a with |u + a du| = 1."""
        u, du = motion(self.series.checks, x), motion(self.series.checks, way)
        left = np.where(du > 0, 1 - u, 1 + u)
        return float((left / np.maximum(np.abs(du), TINY)).min())

    def best(self, rng: np.random.Generator, tell: Tell | None) -> np.ndarray:
        """The free numbers of the series that tells most."""
        x = min((self.series.drawn(rng, STARTING) for _ in range(DRAWN)), key=self.shortage)
        if not np.isfinite(self.shortage(x)):
            raise IdentificationError(
                f"no motion of {self.series.harmonics} harmonics tells all "
                f"{len(self.information.names)} parameters; expected more harmonics, wider limits, "
                "or fewer columns"
            )
        said = tell or (lambda done, total: None)
        total = STEPS * len(BARRIERS)
        for k, barrier in enumerate(BARRIERS):
            count = partial(_counted, said, k * STEPS, total)
            x = descend(partial(self.barred, barrier), x, self.room, STEPS, count)
        said(total, total)
        return x


def _counted(tell: Tell, before: int, total: int, step: int) -> None:
    tell(before + step, total)
