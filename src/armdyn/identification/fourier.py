"""Fourier series of joint motions that begin and end at rest, within limits that hold at all times.

    q_i(t) = o_i + sum_{k=1..N} (s_ik sin k w t + c_ik cos k w t)

One period begins and ends at rest, and without a jump of acceleration, where

    sum_k k s_ik = 0  and  sum_k k^2 c_ik = 0.

Both are linear, so are q, qd and qdd, and a motion is a linear function of free numbers x.

Limits that hold at M > 2 N evenly spaced times hold at all times, but for a factor: a trigonometric
polynomial of degree N whose size is at most r at these times is nowhere larger than
r / cos(N pi / M) [ehlich1964].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

DENSITY = 32  # times a period at which limits are looked at, for each harmonic: cos is 0.995


class Limits(NamedTuple):
    """What a motion must keep to, joint by joint.

    Attributes:
        position: (lower, upper) [rad or m], shape (n, 2).
        speed: the greatest [rad/s or m/s], shape (n,).
        acceleration: the greatest [rad/s^2 or m/s^2], shape (n,).
    """

    position: np.ndarray
    speed: np.ndarray
    acceleration: np.ndarray

    @property
    def centre(self) -> np.ndarray:
        """The middle of each joint's range, shape (n,)."""
        return self.position.mean(axis=1)

    @property
    def sizes(self) -> np.ndarray:
        """Half the range of q, and the greatest qd and qdd, shape (3, n)."""
        return np.stack([np.ptp(self.position, axis=1) / 2, self.speed, self.acceleration])


@dataclass(frozen=True, eq=False)
class Series:
    """All Fourier series of so many harmonics within some limits, by free numbers x (n, 2 N - 1).

    Attributes:
        limits: of the joints.
        harmonics: N, at least 2.
        period: of the slowest harmonic [s].
    """

    limits: Limits
    harmonics: int
    period: float

    @property
    def shape(self) -> tuple[int, int]:
        """Of x."""
        return len(self.limits.speed), 2 * self.harmonics - 1

    @cached_property
    def rates(self) -> np.ndarray:
        """K w of each harmonic [rad/s]."""
        return 2 * np.pi / self.period * np.arange(1, self.harmonics + 1)

    @cached_property
    def free(self) -> np.ndarray:
        """o, s and c of each joint for a unit of each free number, (n, 2 N + 1, 2 N - 1).

        A unit is about what the limits allow, so that all numbers of x are of one size.
        """
        N, w = self.harmonics, self.rates
        found = np.zeros((self.shape[0], 2 * N + 1, 2 * N - 1))
        for joint, (q, qd, qdd) in zip(found, self.limits.sizes.T, strict=True):
            largest = np.minimum(q, np.minimum(qd / w, qdd / w**2))  # amplitude of a harmonic alone
            joint[0, 0] = q
            joint[1 : N + 1, 1:N] = largest[:, None] * _across(w * largest)
            joint[N + 1 :, N:] = largest[:, None] * _across(w**2 * largest)
        return found

    def basis(self, t: np.ndarray) -> np.ndarray:
        """1, sines and cosines at the times t, and their two derivatives, (3, times, 2 N + 1)."""
        w = self.rates
        sin, cos = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
        one = np.ones((len(t), 1))
        return np.stack(
            [
                np.hstack([one, sin, cos]),
                np.hstack([0 * one, w * cos, -w * sin]),
                np.hstack([0 * one, -(w**2) * sin, -(w**2) * cos]),
            ]
        )

    def at(self, times: int) -> np.ndarray:
        """The linear map of x to q - centre, qd, qdd at evenly spaced times of a period.

        Shape (n, 3, times, 2 N - 1); ``motion`` applies it.
        """
        t = np.arange(times) * (self.period / times)
        return np.einsum("dtk,jkl->jdtl", self.basis(t), self.free)

    @cached_property
    def checks(self) -> np.ndarray:
        """The map of x to q - centre, qd, qdd in parts of what is allowed: no more than 1 anywhere.

        Where all are at most 1 in size, so is the motion between these times: see above.
        """
        times = DENSITY * self.harmonics
        allowed = self.limits.sizes * np.cos(self.harmonics * np.pi / times)
        return self.at(times) / allowed.T[:, :, None, None]

    def drawn(self, rng: np.random.Generator, size: float) -> np.ndarray:
        """Random numbers x, each joint's as large as reaches ``size`` of what is allowed."""
        x = rng.standard_normal(self.shape)
        x[:, 0] *= 0.3  # or most of a joint's range would go to its offset
        return x * (size / np.abs(motion(self.checks, x)).max(axis=(0, 1)))[:, None]


def motion(linear: np.ndarray, x: np.ndarray) -> np.ndarray:
    """What a linear map (n, 3, times, 2 N - 1) makes of x, shape (3, times, n)."""
    n, three, times, free = linear.shape
    found = linear.reshape(n, three * times, free) @ x[:, :, None]
    return np.moveaxis(found.reshape(n, three, times), 0, 2)


def pulled_back(linear: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """The slope along x of what has the slope (3, times, n) along the motion: the transpose."""
    n, three, times, free = linear.shape
    flat = np.moveaxis(slope, 2, 0).reshape(n, 1, three * times)
    return (flat @ linear.reshape(n, three * times, free))[:, 0]


def _across(row: np.ndarray) -> np.ndarray:
    """An orthonormal basis of all vectors y with row . y = 0, as columns."""
    return np.linalg.svd(row[None])[2][1:].T
