"""What a check finds, and the verdict that its numbers bear out.

A check evaluates what a paper prints, and where that is wrong what it should have printed, against
a truth. The verdict is made of the numbers here, not by the check: it can come out otherwise than
the paper's list has it, and then ``armdyn verify`` says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Word = Literal["right", "misprinted", "refuted", "presumed", "not described", "unclear"]

HOLDS = 1e-10  # relative error below which a formula holds; rounding leaves a thousandth of that
FAILS = 1e-3  # and above which it fails


@dataclass(frozen=True)
class Evidence:
    """What a check found.

    Attributes:
        verdict: what its numbers bear out.
        found: the numbers in words, rounded so that they are the same on all machines.
        printed: the relative error of the formula as printed; None where it is no formula.
        corrected: that of the formula as corrected.
    """

    verdict: Word
    found: str
    printed: float | None = None
    corrected: float | None = None


def error(found: Any, truth: Any) -> float:
    """The largest difference, relative to the largest element of the truth."""
    truth = np.asarray(truth)
    largest = float(np.abs(truth).max(initial=0.0))
    apart = float(np.abs(np.asarray(found) - truth).max(initial=0.0))
    if not math.isfinite(apart):
        return math.inf  # what is no number is as wrong as can be, and no maximum passes over it
    return apart / largest if largest else apart


def worst(errors: Iterable[float]) -> float:
    """The largest of all errors; one that is no number counts as infinite."""
    return max(math.inf if math.isnan(each) else each for each in errors)


def formula(
    printed: Iterable[float], corrected: Iterable[float] | None = None, slip: bool = True
) -> Evidence:
    """The errors of a formula as printed and as corrected, over all arms.

    A formula that fails is misprinted where it was a slip of the pen, else refuted.
    """
    wrong = worst(printed)
    if corrected is None:
        word: Word = "right" if wrong < HOLDS else "refuted" if wrong > FAILS else "unclear"
        return Evidence(word, told(wrong), wrong)
    mended = worst(corrected)
    words = f"printed {told(wrong)}; corrected {told(mended)}"
    if mended > HOLDS or HOLDS < wrong < FAILS:
        return Evidence("unclear", words, wrong, mended)
    fails: Word = "misprinted" if slip else "refuted"
    return Evidence("right" if wrong < HOLDS else fails, words, wrong, mended)


def rebuilt(errors: Iterable[float], what: str) -> Evidence:
    """What is lost in print, as we rebuilt it: it holds, but the print may have been another."""
    most = worst(errors)
    return Evidence("presumed" if most < HOLDS else "refuted", f"{what} {told(most)}", most)


def claim(holds: bool, found: str) -> Evidence:
    """A claim that holds or does not."""
    return Evidence("right" if holds else "refuted", found)


def told(error: float) -> str:
    """An error in words that are the same on all machines."""
    if error < HOLDS:
        return "holds to 1e-10"
    return f"fails by {error:.1g}" if error < 10 else f"fails by {error:.0f}"
