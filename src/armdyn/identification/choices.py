"""What cross-validation chooses: the weight of the prior, the cutoff of the low-pass.

A record is left out a fifth at a time, contiguous parts of it, and predicted from the rest. Rows
drawn at random would not do: each has neighbours that tell almost the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from armdyn.errors import IdentificationError
from armdyn.identification.consistent import Bodies, Problem
from armdyn.identification.fit import deviations, equations, least_squares
from armdyn.identification.moments import Moments

FOLDS = 5
WEIGHTS = 10.0 ** np.arange(2, -7, -1)  # of the prior, for each row of data
WORSE = 1.5  # times the least error: lighter weights are not tried
UNTRIED = 1e-3  # the weight where the record is too short to be parted
CUTOFFS = (1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 40.0)  # Hz


def folds(moments: Moments) -> Iterator[tuple[Moments, Moments]]:
    """(what is kept, what is left out), fifth by fifth."""
    count = min(FOLDS, moments.groups)
    if count < 2:
        return
    fold = np.arange(moments.groups) * count // moments.groups
    for k in range(count):
        yield moments.part(fold != k), moments.part(fold == k)


def rows_of(moments: Moments) -> float:
    """The rows of a record, of which each joint may have left out some."""
    return float(moments.rows.sum() / moments.rows.shape[1])


def choose_weight(moments: Moments, weights: np.ndarray, bodies: Bodies) -> float:
    """The weight of the prior, for each row, that predicts what is left out best.

    Weights are tried from the heaviest on, until they predict clearly worse.
    """
    pairs = list(folds(moments))
    solved = [equations(kept, weights) for kept, _ in pairs]
    problems = [Problem(each.R, each.rho, moments.origin, bodies) for each in solved]
    z = [bodies.start for _ in pairs]
    errors: list[float] = []
    for weight in WEIGHTS if pairs else ():
        error = 0.0
        for k, (kept, left) in enumerate(pairs):
            found = problems[k].solve(weight * rows_of(kept), z[k])
            z[k] = found.z
            error += float((left.squared_errors(found.theta).sum(axis=0) * weights).sum())
        errors.append(error)
        if error > WORSE * min(errors):
            break
    return float(WEIGHTS[int(np.argmin(errors))]) if errors else UNTRIED


def choose_cutoff(moments_at: Callable[[float], Moments], prior: np.ndarray) -> float:
    """The cutoff [Hz] whose parameters predict best what is left out.

    Errors at different cutoffs cannot be compared, for the torque is not the same. So the
    parameters of each cutoff are judged at all cutoffs, each relative to the best there.
    """
    tried: dict[float, list[tuple[Moments, Moments]]] = {}
    trouble: IdentificationError | None = None
    for cutoff in CUTOFFS:
        try:
            pairs = list(folds(moments_at(cutoff)))
            for kept, _ in pairs:
                least_squares(kept, prior, "ols")
        except IdentificationError as error:
            trouble = error  # above Nyquist, or the record is too short for it
            continue
        if pairs:
            tried[cutoff] = pairs
    if not tried:
        raise trouble or IdentificationError("the record is too short to choose a cutoff by")
    thetas = [[least_squares(kept, prior).theta for kept, _ in pairs] for pairs in tried.values()]
    sigmas = [
        [deviations(kept, least_squares(kept, prior, "ols").theta) for kept, _ in pairs]
        for pairs in tried.values()
    ]
    judges = list(zip(tried.values(), sigmas, strict=True))
    errors = np.array([[_error(found, *judge) for judge in judges] for found in thetas])
    relative = np.log(errors / errors.min(axis=0)).mean(axis=1)
    return list(tried)[int(relative.argmin())]


def _error(
    thetas: list[np.ndarray], pairs: list[tuple[Moments, Moments]], sigmas: list[np.ndarray]
) -> float:
    """The error of parameters, a set for each part that is left out, at one cutoff."""
    total, rows = 0.0, 0.0
    for theta, (_, left), sigma in zip(thetas, pairs, sigmas, strict=False):
        total += float((left.squared_errors(theta).sum(axis=0) / sigma**2).sum())
        rows += rows_of(left)
    return float(np.sqrt(total / rows))
