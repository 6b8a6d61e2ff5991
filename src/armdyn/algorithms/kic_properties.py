"""The properties (P1) to (P10) of [I*] and [P*], [kang] section 3, in our copy and as they hold.

Indices count from 0 and run over all joints; a rule says for which of them it holds. P1, P2, P3 are
the three terms of [P*] = [P1*] + [P2*] + [P3*]. ``our_copy`` is our copy of the paper, which is
machine-read: where it does not hold, the copy may be at fault.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

HOLDS = 1e-12  # a property that is off by less, relative to the largest element, holds


class Model(NamedTuple):
    """[I*], shape (n, n), and the terms of [P*], shape (n, n, n) each, in one posture."""

    I: np.ndarray
    P1: np.ndarray
    P2: np.ndarray
    P3: np.ndarray


class Rule(NamedTuple):
    """A property in words, and the array, of any shape, which is zero by it."""

    text: str
    zero: Callable[[Model], np.ndarray]


class Property(NamedTuple):
    """A property of Section 3 in one posture of one arm.

    Attributes:
        name: as the paper numbers it, "P1" to "P10".
        our_copy: as our copy has it.
        our_copy_off: by how much that fails, relative to the largest element.
        reading: as it holds; the same text where that of our copy holds.
        reading_off: by how much that fails.
    """

    name: str
    our_copy: str
    our_copy_off: float
    reading: str
    reading_off: float

    @property
    def our_copy_holds(self) -> bool:
        """Whether the property of our copy holds here."""
        return self.our_copy_off < HOLDS

    @property
    def holds(self) -> bool:
        """Whether the property as we read it holds here."""
        return self.reading_off < HOLDS


def properties(model: Model) -> list[Property]:
    """All ten, for a model in one posture."""
    found = []
    for name, (our_copy, reading) in RULES.items():
        arrays = (model.I,) if name in ("P1", "P2") else model[1:]
        largest = max(float(np.abs(array).max()) for array in arrays) or 1.0
        offs = [_off(rule, model, largest) for rule in (our_copy, reading)]
        found.append(Property(name, our_copy.text, offs[0], reading.text, offs[1]))
    return found


def _off(rule: Rule, model: Model, largest: float) -> float:
    return float(np.abs(rule.zero(model)).max(initial=0.0)) / largest


def _where(condition: Callable[..., np.ndarray], array: np.ndarray) -> np.ndarray:
    """The elements of an array (n, n, n) for whose i, j, k a condition holds."""
    return array[condition(*np.indices(array.shape))]


def _negative(model: Model) -> np.ndarray:
    """What keeps [I*] from being positive definite: its eigenvalues that are not positive."""
    values = np.linalg.eigvalsh(model.I)
    return np.where(values > 0, 0.0, values - 1.0)


def _both(rule: Rule) -> tuple[Rule, Rule]:
    """The property of our copy, which holds."""
    return rule, rule


RULES: dict[str, tuple[Rule, Rule]] = {  # in our copy, as they hold
    "P1": _both(Rule("[I*] is positive definite", _negative)),
    "P2": _both(Rule("I_jk = I_kj", lambda m: m.I - m.I.T)),
    "P3": _both(Rule("P1_ijk = P1_ikj", lambda m: m.P1 - m.P1.transpose(0, 2, 1))),
    "P4": (
        Rule(
            "P1_ijk = -P1_jki for j <= k < i",
            lambda m: _where(
                lambda i, j, k: (j <= k) & (k < i),
                m.P1 + np.einsum("jki->ijk", m.P1),
            ),
        ),
        Rule(
            "P1_ijk = -P1_kji for j <= min(i, k)",
            lambda m: _where(lambda i, j, k: j <= np.minimum(i, k), m.P1 + m.P1.transpose(2, 1, 0)),
        ),
    ),
    "P5": _both(
        Rule(
            "P1_ijk = 0 for i = k >= j or i = j >= k",
            lambda m: _where(lambda i, j, k: i == np.maximum(j, k), m.P1),
        )
    ),
    "P6": (
        Rule("P2_ijk = 0 for j <= k", lambda m: _where(lambda i, j, k: j <= k, m.P2)),
        Rule("P2_ijk = 0 for j >= k", lambda m: _where(lambda i, j, k: j >= k, m.P2)),
    ),
    "P7": _both(Rule("P3_ijk = -P3_jik", lambda m: m.P3 + m.P3.transpose(1, 0, 2))),
    "P8": _both(
        Rule("P3_ijk = 0 for i = j", lambda m: _where(lambda i, j, k: i == j, m.P3)),
    ),
    "P9": (
        Rule(
            "P3_ijk = -P2_kij for k < j and i < j",
            lambda m: _where(lambda i, j, k: (k < j) & (i < j), m.P3 + np.einsum("kij->ijk", m.P2)),
        ),
        Rule(
            "P3_ijk = +P2_kij for i < j",
            lambda m: _where(lambda i, j, k: i < j, m.P3 - np.einsum("kij->ijk", m.P2)),
        ),
    ),
    "P10": (
        Rule(
            "P3_jik = -P2_kij for j < k < i",
            lambda m: _where(
                lambda i, j, k: (j < k) & (k < i),
                np.einsum("jik->ijk", m.P3) + np.einsum("kij->ijk", m.P2),
            ),
        ),
        Rule(
            "P3_jik = -P2_kij for i < j",
            lambda m: _where(
                lambda i, j, k: i < j,
                np.einsum("jik->ijk", m.P3) + np.einsum("kij->ijk", m.P2),
            ),
        ),
    ),
}
