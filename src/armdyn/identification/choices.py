"""What cross-validation chooses: the weight of the prior, the cutoff of the low-pass.

A record is left out a fifth at a time, contiguous parts of it, and predicted from the rest. Rows
drawn at random would not do: each has neighbours that tell almost the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from armdyn.errors import IdentificationError
from armdyn.identification.consistent import ROUGHLY, Bodies, Problem
from armdyn.identification.fit import deviations, equations
from armdyn.identification.moments import Moments

FOLDS = 5
Tell = Callable[[str, int, int], object]  # takes the current step in words, steps done, all steps
Fold = tuple[Moments, Moments, np.ndarray]  # kept, left out, parameters of what is kept
WEIGHTS = 10.0 ** np.arange(2, -7, -1)  # of the prior, for each row of data
WORSE = 1.5  # times the least error: lighter weights are not tried
UNTRIED = 0.1  # the weight where the record is too short to be parted
CUTOFFS = (3.0, 5.0, 10.0, 20.0, 40.0)  # Hz
EQUAL = 0.1  # relative errors that differ less are about equal


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


def silent(what: str, done: int, total: int) -> None:
    """Tell nobody."""


def choose_weight(
    moments: Moments, weights: np.ndarray, bodies: Bodies, tell: Tell = silent
) -> float:
    """The weight of the prior, for each row, that predicts what is left out best.

    Weights are tried from the heaviest on, until they predict clearly worse. Of those that predict
    as well as the best, within the standard error of the difference, the heaviest is chosen: the
    next motion will differ more from this record than its parts do from each other.
    """
    pairs = list(folds(moments))
    solved = [equations(kept, weights) for kept, _ in pairs]
    problems = [Problem(each.R, each.rho, moments.origin, bodies, ROUGHLY) for each in solved]
    heaviest = [WEIGHTS[0] * rows_of(kept) for kept, _ in pairs]
    z = [each.approach(weight) for each, weight in zip(problems, heaviest, strict=True)]
    errors: list[list[float]] = []
    for weight in WEIGHTS if pairs else ():
        errors.append([])
        for k, (kept, left) in enumerate(pairs):
            done = len(pairs) * (len(errors) - 1) + k
            tell("weight of the prior", done, len(pairs) * len(WEIGHTS))
            found = problems[k].solve(weight * rows_of(kept), z[k])
            z[k] = found.z
            error = (left.squared_errors(found.theta).sum(axis=0) * weights).sum()
            errors[-1].append(float(error))
        if sum(errors[-1]) > WORSE * min(map(sum, errors)):
            break
    if not errors:
        return UNTRIED
    more = np.array(errors) - np.array(min(errors, key=sum))
    doubt = more.std(axis=1, ddof=1) / np.sqrt(len(pairs))
    return float(WEIGHTS[int((more.mean(axis=1) <= doubt).argmax())])


def choose_cutoff(
    moments_at: Callable[[float], Moments],
    fitted: Callable[[Moments], np.ndarray],
    tell: Tell = silent,
) -> float:
    """The cutoff [Hz] whose parameters predict best what is left out; the lowest of about equals.

    Errors at different cutoffs cannot be compared, for the torque is not the same. So the
    parameters of each cutoff are judged at all cutoffs, each relative to the best there.

    Args:
        moments_at: the moments of the logs at a cutoff.
        fitted: the parameters that suit some moments.
        tell: called with each cutoff.
    """
    tried: dict[float, list[Fold]] = {}
    trouble: IdentificationError | None = None
    for k, cutoff in enumerate(CUTOFFS):
        tell(f"cutoff {cutoff:g} Hz", k, len(CUTOFFS))
        try:
            pairs = list(folds(moments_at(cutoff)))
            found = [(kept, left, fitted(kept)) for kept, left in pairs]
        except IdentificationError as error:
            trouble = error  # above Nyquist, or the record is too short for it
            continue
        if found:
            tried[cutoff] = found
    if not tried:
        raise trouble or IdentificationError("the record is too short to choose a cutoff by")
    errors = np.array([[_error(ours, its) for its in tried.values()] for ours in tried.values()])
    relative = np.log(errors / errors.min(axis=0)).mean(axis=1)
    return list(tried)[int((relative <= relative.min() + EQUAL).argmax())]


def _error(ours: list[Fold], theirs: list[Fold]) -> float:
    """The error of the parameters of one cutoff in what is left out at another."""
    total, rows = 0.0, 0.0
    for (*_, theta), (kept, left, own) in zip(ours, theirs, strict=False):
        sigma = deviations(kept, own)
        total += float((left.squared_errors(theta).sum(axis=0) / sigma**2).sum())
        rows += rows_of(left)
    return float(np.sqrt(total / rows))
