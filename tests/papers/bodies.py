"""Composite bodies of [lin1991] by their definitions, in base axes and from the base origin.

Tests write out the formulas of the paper; this module has no formula that they state. A tensor is
the sum of m (|p|^2 E - p p^T) over points, not a product of skew matrices.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any

import numpy as np

from tests.papers.samples import Array, Sample, draw

E = np.eye(3)


class Body(Sample):
    """An arm with its composite bodies j = links j to n."""

    @cached_property
    def mh(self) -> Array:
        """Masses."""
        return np.array([sum(self.m[j:]) for j in range(self.n)])

    @cached_property
    def ph(self) -> Array:
        """First moments from the base origin."""
        return np.array([self.m[j:] @ self.at.p[j:] for j in range(self.n)])

    @property
    def r(self) -> Array:
        """Centres of mass."""
        return self.ph / self.mh[:, None]

    def tensor(self, j: int, point: Array) -> Array:
        """The inertia tensor of body j about a point."""
        links = zip(self.tensors[j:], self.m[j:], self.at.p[j:] - point, strict=True)
        return np.asarray(sum(I + m * (p @ p * E - np.outer(p, p)) for I, m, p in links))

    @cached_property
    def J(self) -> Array:
        """Tensors about the centres of mass."""
        return np.array([self.tensor(j, self.r[j]) for j in range(self.n)])

    @cached_property
    def Jh(self) -> Array:
        """Tensors about the base origin."""
        return np.array([self.tensor(j, np.zeros(3)) for j in range(self.n)])

    @property
    def Jb(self) -> Array:
        """Minus the integrals of p p^T over the bodies."""
        return np.array([J - np.trace(J) / 2 * E for J in self.Jh])

    @cached_property
    def sh(self) -> Array:
        """Moments of the axes about the base origin."""
        return np.cross(self.at.u, self.at.o)

    def within(self, j: int, *vectors: Array) -> list[Array]:
        """Vectors in base axes, in the axes of E_j."""
        return [self.at.R[j].T @ v for v in vectors]

    def tensor_within(self, j: int, tensor: Array) -> Array:
        """A tensor in base axes, in the axes of E_j."""
        return np.asarray(self.at.R[j].T @ tensor @ self.at.R[j])

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """(m, j) with m <= j."""
        return [(m, j) for j in range(self.n) for m in range(j + 1)]

    @property
    def first(self) -> int:
        """N_JR - 1: the first revolute joint, counted from 0; n if there is none."""
        return int(np.argmax(self.Ks)) if self.Ks.any() else self.n


@cache
def bodies() -> list[Body]:
    """An arm of each kind of the samples."""
    return [Body(s.chain.kinds, seed) for seed, s in enumerate(draw(), start=1)]


def error(found: Any, truth: Any) -> float:
    """The largest difference, relative to the largest element of the truth."""
    found, truth = np.asarray(found, dtype=float), np.asarray(truth, dtype=float)
    assert found.shape == truth.shape, f"{found.shape} against {truth.shape}"
    apart = float(np.abs(found - truth).max(initial=0.0))
    return apart / (float(np.abs(truth).max(initial=0.0)) or 1.0)


def holds(found: Any, truth: Any) -> None:
    """Assert that both are the same to 1e-10."""
    assert error(found, truth) < 1e-10


def fails(found: Any, truth: Any) -> None:
    """Assert that they differ by more than a thousandth."""
    assert error(found, truth) > 1e-3
