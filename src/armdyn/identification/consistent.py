"""The physically consistent fit: parameters that bodies can have, near those of a prior.

A body is possible where its pseudo-inertia P, [[tr(I)/2 1 - I, m c], [m c', m]] (4, 4), is positive
definite [wensing2018]. With P0 that of the prior, minimise

    |R (theta - origin) - rho|^2 / 2 + w sum over links (tr(P0^-1 P) - log det(P0^-1 P) - 4)

The second term, the entropic divergence [lee2020], is zero at the prior and infinite where P is
singular: it is the prior and the cone's barrier at once, smooth and convex. Rotors and friction
have x/x0 - log(x/x0) - 1, with SMALLER of the weight; offsets and users' columns are free. In
coordinates Q, P = S Q S' with P0 = S S', a step of Newton's method is a linear least-squares
problem, exact Hessian and all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

SMALLER = 1e-3
STEPS = 1000  # of Newton's method, at one weight
CONVERGED = 1e-10  # of the objective: a step that promises less is not made,
ROUGHLY = 1e-6  # and where the errors of fits are compared
LIGHTER = 3.0  # times, from one weight to the next on the way from the prior
NEARER = 0.95  # of the way to the edge of the cone that a step may go
INSIDE = 1e-3  # of the largest eigenvalue: the least of a prior that is moved inside the cone
EDGE = 1e-7  # one below it is moved
FREE = 1e-9  # of its column: what holds a free parameter that is not determined


def pseudo_inertia(ten: np.ndarray) -> np.ndarray:
    """P (..., 4, 4) of ten parameters m, mc, Ixx, Ixy, Iyy, Ixz, Iyz, Izz (..., 10)."""
    m, x, y, z, xx, xy, yy, xz, yz, zz = np.moveaxis(ten, -1, 0)
    half = (xx + yy + zz) / 2
    rows = [
        [half - xx, -xy, -xz, x],
        [-xy, half - yy, -yz, y],
        [-xz, -yz, half - zz, z],
        [x, y, z, m],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def ten_of(P: np.ndarray) -> np.ndarray:
    """The ten parameters (..., 10) of P (..., 4, 4)."""
    xx, yy, zz = P[..., 0, 0], P[..., 1, 1], P[..., 2, 2]
    return np.stack(
        [
            *(P[..., 3, 3], P[..., 0, 3], P[..., 1, 3], P[..., 2, 3]),
            *(yy + zz, -P[..., 0, 1], xx + zz, -P[..., 0, 2], -P[..., 1, 2], xx + yy),
        ],
        axis=-1,
    )


UPPER = np.triu_indices(4)
BASIS = np.zeros((10, 4, 4))  # of symmetric matrices
BASIS[range(10), UPPER[0], UPPER[1]] = BASIS[range(10), UPPER[1], UPPER[0]] = 1.0
IDENTITY = np.eye(4)[UPPER]


def moved_inside(P: np.ndarray, mass: float, length: float) -> tuple[np.ndarray, bool]:
    """A positive definite P near this one, and whether it had to be moved.

    Args:
        P: of a link of the prior.
        mass: of a link of that arm [kg], typically; the least is INSIDE of it.
        length: of a link [m], typically.
    """
    scale = np.array([length, length, length, 1.0])
    values, V = np.linalg.eigh(P / np.outer(scale, scale))
    if values[0] > EDGE * max(values[-1], INSIDE * mass):
        return P, False
    least = INSIDE * max(values[-1], INSIDE * mass)
    return (V * np.maximum(values, least)) @ V.T * np.outer(scale, scale), True


@dataclass(frozen=True)
class Bodies:
    """Where theta comes from: theta = constant + matrix z.

    z has ten numbers a body, the upper triangle of its Q, then the positive parameters over their
    scales x0, then those that are free.
    """

    matrix: np.ndarray  # (count, z)
    constant: np.ndarray  # (count,)
    bodies: int
    positive: int
    to_ten: np.ndarray  # (bodies, 10, 10): ten parameters of a body from its part of z

    @property
    def start(self) -> np.ndarray:
        """The prior's z."""
        free = self.matrix.shape[1] - 10 * self.bodies - self.positive
        return np.concatenate(
            [np.tile(IDENTITY, self.bodies), np.ones(self.positive), np.zeros(free)]
        )

    def theta(self, z: np.ndarray) -> np.ndarray:
        """The parameters of a fit."""
        return self.constant + self.matrix @ z

    def ten(self, z: np.ndarray) -> np.ndarray:
        """The ten parameters of each body, (bodies, 10)."""
        return np.einsum("bij,bj->bi", self.to_ten, z[: 10 * self.bodies].reshape(-1, 10))


def in_units_of(P0: np.ndarray) -> np.ndarray:
    """The matrices (bodies, 10, 10) from the upper triangle of Q to ten parameters."""
    S = np.linalg.cholesky(P0)
    P = np.einsum("bij,kjl,bml->bkim", S, BASIS, S)
    return np.moveaxis(ten_of(P), 1, 2)


class Solution(NamedTuple):
    """Of one weight: z, theta, the objective, the square root of its Hessian, (rows, z).

    ``slope`` is what a further step would promise, of the objective; a minimum has next to none.
    """

    z: np.ndarray
    theta: np.ndarray
    objective: float
    root: np.ndarray
    slope: float


class Problem:
    """The objective of one set of data; its minima are found to ``converged``, of the objective."""

    def __init__(
        self,
        R: np.ndarray,
        rho: np.ndarray,
        origin: np.ndarray,
        bodies: Bodies,
        converged: float = CONVERGED,
    ) -> None:
        self.bodies, self.converged = bodies, converged
        self.RM = R @ bodies.matrix
        self.target = rho - R @ (bodies.constant - origin)
        norms = np.linalg.norm(self.RM, axis=0)
        free = np.arange(len(norms)) >= 10 * bodies.bodies + bodies.positive
        hold = np.where(free, FREE * np.where(norms > 0, norms, 1.0), 0.0)
        self.hold = np.diag(hold)[free]

    def solve(self, weight: float, z: np.ndarray) -> Solution:
        """The minimum for one weight, from a z inside the cone."""
        value, L = self._value(weight, z)
        for _ in range(STEPS):
            step, gain = _least_squares(*self._linear(weight, z, L))
            if gain <= self.converged * max(abs(value), weight):
                break
            room = NEARER * self._room(z, L, step)
            tried = {length: self._value(weight, z + length * step) for length in [min(1.0, room)]}
            length = best = min(1.0, room)
            while tried[length][0] > value - 1e-4 * length * gain and length > 1e-12:
                length = best = length / 2
                tried[length] = self._value(weight, z + length * step)
            while 2 * length <= room and length >= 1:  # far from the edge curvature falls
                length *= 2
                tried[length] = self._value(weight, z + length * step)
                if tried[length][0] >= tried[best][0]:
                    break
                best = length
            if tried[best][0] >= value:
                break  # as near as rounding lets it come
            z, (value, L) = z + best * step, tried[best]
        A, b = self._linear(weight, z, L)
        slope = _least_squares(A, b)[1] / max(abs(value), weight)
        return Solution(z, self.bodies.theta(z), value, A, slope)

    def approach(self, weight: float) -> np.ndarray:
        """A z not far from the minimum of a weight, by way of heavier ones from the prior on.

        The heaviest counts as much as the data's error there: steps from the prior to a much
        lighter one would end at the edge of the cone.
        """
        z = self.bodies.start
        error = self.RM @ z - self.target
        heavier = float(error @ error) / 2
        while heavier > LIGHTER * weight:
            z = self.solve(heavier, z).z
            heavier /= LIGHTER
        return z

    def path(self, weights: np.ndarray) -> list[Solution]:
        """The minima of falling weights, each from the one before; the first from the prior."""
        found, z = [], self.approach(weights[0])
        for weight in weights:
            found.append(self.solve(weight, z))
            z = found[-1].z
        return found

    def _parts(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        first = 10 * self.bodies.bodies
        Q = np.einsum("bk,kij->bij", z[:first].reshape(-1, 10), BASIS)
        return Q, z[first : first + self.bodies.positive]

    def _value(self, weight: float, z: np.ndarray) -> tuple[float, np.ndarray]:
        """The objective, infinite outside the cone, and the Cholesky factors of Q."""
        Q, x = self._parts(z)
        if (x <= 0).any():
            return np.inf, Q
        try:
            L = np.linalg.cholesky(Q)
        except np.linalg.LinAlgError:
            return np.inf, Q
        diagonal = np.diagonal(L, axis1=1, axis2=2)
        entropy = np.trace(Q, axis1=1, axis2=2).sum() - 2 * np.log(diagonal).sum() - 4 * len(Q)
        entropy += SMALLER * (x - np.log(x) - 1).sum()
        error = self.RM @ z - self.target
        held = self.hold @ z
        return float(error @ error / 2 + held @ held / 2 + weight * entropy), L

    def _room(self, z: np.ndarray, L: np.ndarray, step: np.ndarray) -> float:
        """How many such steps lead to the edge of the cone; infinitely many if none does."""
        D, x = self._parts(step)
        inverse = np.linalg.inv(L)
        least = np.linalg.eigvalsh(inverse @ D @ np.swapaxes(inverse, 1, 2)).min(initial=0.0)
        least = min(least, (x / self._parts(z)[1]).min(initial=0.0))
        return -1 / least if least < 0 else np.inf

    def _linear(self, weight: float, z: np.ndarray, L: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A and b: a Newton step minimises |A step - b|^2, and A'A is the Hessian.

        With Q = L L' the slope of tr Q - log det Q along E is that of <L^-1 E L^-T, L'L - 1>, and
        its curvature |L^-1 E L^-T|^2.
        """
        bodies, (_, x) = self.bodies, self._parts(z)
        first, last = 10 * bodies.bodies, 10 * bodies.bodies + bodies.positive
        inverse = np.linalg.inv(L)
        curved = np.einsum("bij,kjl,bml->bimk", inverse, BASIS, inverse).reshape(-1, 16, 10)
        A = np.zeros((16 * bodies.bodies + bodies.positive, len(z)))
        for k, block in enumerate(curved):
            A[16 * k : 16 * (k + 1), 10 * k : 10 * (k + 1)] = block
        away = np.eye(4) - np.swapaxes(L, 1, 2) @ L
        root = np.full(len(A), np.sqrt(weight))
        root[16 * bodies.bodies :] *= np.sqrt(SMALLER)
        A[16 * bodies.bodies :, first:last] = np.diag(1 / x)
        b = np.concatenate([away.ravel(), 1 - x])
        return (
            np.concatenate([self.RM, self.hold, root[:, None] * A]),
            np.concatenate([self.target - self.RM @ z, -self.hold @ z, root * b]),
        )


def triangle(A: np.ndarray) -> np.ndarray:
    """R of A = Q R."""
    return np.asarray(np.linalg.qr(A, mode="r"))


def _least_squares(A: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, float]:
    """The step that minimises |A step - b|^2, and its slope times -1, the square of A step."""
    R = triangle(np.column_stack([A, b]))
    k = A.shape[1]
    step = np.linalg.solve(R[:k, :k], R[:k, k])
    return step, float(R[:k, k] @ R[:k, k])
