"""Downhill inside a box of linear limits: BFGS on a function with a log barrier."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

FIRST = 0.1  # length of the first step, before anything is known of the curvature
WALL = 0.95  # the part of the way to the nearest limit that a step may take
DECREASE = 1e-4  # of what the slope promises, that a step must bring
SHORTER = 0.4  # the factor of a step that brought too little
SHORTEST = 1e-9
TINY = 1e-300  # above zero
SMALL, PATIENCE = 2e-3, 5  # so many steps in turn that bring less end it


class Point(NamedTuple):
    """A place, the value there and its slope."""

    x: np.ndarray
    value: float
    slope: np.ndarray


def descend(
    value: Callable[[np.ndarray], tuple[float, np.ndarray]],
    x: np.ndarray,
    room: Callable[[np.ndarray, np.ndarray], float],
    steps: int,
    tell: Callable[[int], object] = lambda step: None,
) -> np.ndarray:
    """The lowest place that BFGS finds from x in so many steps; Armijo's rule, and no limit passed.

    Args:
        value: the function and its slope; infinite where it is not defined.
        x: where to start, shape of any kind.
        room: how many steps of this direction, the second argument, reach a limit from the first.
        steps: the most.
        tell: is told the number of each step.
    """
    here = Point(x, *value(x))
    H = np.zeros((0, 0))  # of the inverse curvature, once a step has told some of it
    poor = 0
    for step in range(steps):
        tell(step)
        slope = here.slope.ravel()
        way = -H @ slope if H.size else slope * (-FIRST / max(float(np.linalg.norm(slope)), TINY))
        there = _shortened(value, here, way.reshape(x.shape), room)
        if there is None:
            break
        H = _learned(H, (there.x - here.x).ravel(), (there.slope - here.slope).ravel())
        poor = poor + 1 if here.value - there.value < SMALL else 0
        here = there
        if poor == PATIENCE:
            break
    return here.x


def _shortened(
    value: Callable[[np.ndarray], tuple[float, np.ndarray]],
    here: Point,
    way: np.ndarray,
    room: Callable[[np.ndarray, np.ndarray], float],
) -> Point | None:
    """The place of the first step that brings enough; None if none does."""
    length = min(1.0, WALL * room(here.x, way))
    promised = float((here.slope * way).sum())
    while length > SHORTEST:
        there = Point(here.x + length * way, *value(here.x + length * way))
        if there.value <= here.value + DECREASE * length * promised:
            return there
        length *= SHORTER
    return None


def _learned(H: np.ndarray, s: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The inverse Hessian after a step s along which the slope changed by y: BFGS."""
    sy = float(s @ y)
    if sy <= 1e-12 * float(np.linalg.norm(s) * np.linalg.norm(y)):
        return H  # the function curves the other way there
    if not H.size:
        H = np.eye(len(s)) * (sy / float(y @ y))
    Hy = H @ y
    return H + ((sy + y @ Hy) / sy**2) * np.outer(s, s) - (np.outer(Hy, s) + np.outer(s, Hy)) / sy
