"""Composite bodies by their definitions, in base axes and from the base origin.

Tests write out the formulas of the papers; this module has no formula that they state. A tensor is
the sum of m (|p|^2 E - p p^T) over points, not a product of skew matrices.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from tests.papers.samples import Array, E, Sample, draw


class Body(Sample):
    """An arm with its composite bodies j = links j to n.

    Attributes:
        mh, ph, r: masses, first moments from the base origin, centres of mass.
        J, Jh, Jb: tensors about r, about the base origin, and minus the integrals of p p^T.
        sh: moments of the axes about the base origin.
        pairs, inner: (m, j) with m <= j and with m < j.
        first: N_JR - 1, the first revolute joint; n if there is none.
    """

    def __init__(self, joints: str, seed: int, structure: Any = "generic") -> None:
        super().__init__(joints, seed, structure)
        n = range(self.n)
        self.mh = np.array([sum(self.m[j:]) for j in n])
        self.ph = np.array([self.m[j:] @ self.at.p[j:] for j in n])
        self.r = self.ph / self.mh[:, None]
        self.J = np.array([self.tensor(j, self.r[j]) for j in n])
        self.Jh = np.array([self.tensor(j, np.zeros(3)) for j in n])
        self.Jb = np.array([J - np.trace(J) / 2 * E for J in self.Jh])
        self.sh = np.cross(self.at.u, self.at.o)
        self.pairs = [(m, j) for j in n for m in range(j + 1)]
        self.inner = [(m, j) for m, j in self.pairs if m < j]
        self.first = int(np.argmax(self.Ks)) if self.Ks.any() else self.n

    def tensor(self, j: int, point: Array) -> Array:
        """The inertia tensor of body j about a point."""
        links = zip(self.tensors[j:], self.m[j:], self.at.p[j:] - point, strict=True)
        return np.asarray(sum(I + m * (p @ p * E - np.outer(p, p)) for I, m, p in links))

    def turned(self, i: int, j: int) -> Array:
        """The rotation from E_i to E_j."""
        return np.asarray(self.at.R[j].T @ self.at.R[i])

    def far(self, j: int, i: int) -> Array:
        """The distance from the origin of E_j to that of E_i, in E_j."""
        return np.asarray(self.at.R[j].T @ (self.at.o[i] - self.at.o[j]))

    def within(self, j: int, *vectors: Array) -> list[Array]:
        """Vectors in base axes, in the axes of E_j."""
        return [self.at.R[j].T @ v for v in vectors]

    def tensor_within(self, j: int, tensor: Array) -> Array:
        """A tensor in base axes, in the axes of E_j."""
        return np.asarray(self.at.R[j].T @ tensor @ self.at.R[j])


@cache
def bodies() -> list[Body]:
    """An arm of each kind of the samples."""
    return [Body(s.chain.kinds, seed) for seed, s in enumerate(draw(), start=1)]
