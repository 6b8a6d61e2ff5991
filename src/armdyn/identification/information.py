"""How much a motion tells of an arm's parameters: the information G = W'W / s^2, and its slope.

W are the columns of the regression along the motion: the arm's minimal parameters, and as far as
asked for each joint's rotor, viscous and Coulomb friction and offset; what no motion tells apart
from columns before it is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import default_rng

from armdyn.robot import Robot

DISTINCT = 1e-8  # the part of a unit column across the others, below which it is one of them
SLOW = 0.02  # of the speed limit: below it, dry friction is taken to set in gradually
ROUNDED = 1e-14  # of the largest eigenvalue: rounding leaves as much
PIECE = 2**18  # multiplications that one thread makes sooner than several
HALF, QUARTER = np.pi / 2, np.pi / 4


@dataclass(frozen=True, eq=False)
class Information:
    """The information of a motion (3, times, n), and of which parameters.

    Attributes:
        robot: the arm.
        drives: which of "rotor", "viscous", "coulomb", "offset" each joint has a column of.
        noise: standard deviation of each joint's torque, up to a common factor, shape (n,).
        slow: the speed of each joint up to which its dry friction sets in, shape (n,).
    """

    robot: Robot
    drives: tuple[str, ...]
    noise: np.ndarray
    slow: np.ndarray

    @cached_property
    def solved(self) -> np.ndarray:
        """B with Y B = the minimal regressor, (10 n, minimal parameters)."""
        return np.linalg.pinv(self.robot.minimal_parameters().coefficients)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the columns: "U33_1", ..., "rotor_3", "viscous_1", ..."""
        drives = [f"{name}_{i + 1}" for name in self.drives for i in range(self.robot.n)]
        names = [*self.robot.minimal_parameters().names, *drives]
        return tuple(names[k] for k in self.kept)

    @cached_property
    def kept(self) -> np.ndarray:
        """Which columns are no combination of those before them, whatever the motion."""
        states = default_rng(0).uniform(-2, 2, (3, 40 * self.robot.n, self.robot.n))
        W = self._all(states, self.slow)
        columns = W.reshape(-1, W.shape[-1]).T
        kept, across = [], np.zeros((0, columns.shape[1]))
        for k, column in enumerate(columns):
            size = np.linalg.norm(column)
            rest = column / (size or 1.0)
            for _ in range(2):  # the second time takes off what rounding left
                rest = rest - across.T @ (across @ rest)
            if np.linalg.norm(rest) > DISTINCT:
                kept.append(k)
                across = np.vstack([across, rest / np.linalg.norm(rest)])
        return np.array(kept)

    def condition(self, states: np.ndarray) -> float:
        """Of W along a motion, its columns scaled to unit length."""
        W = self._all(states, np.zeros_like(self.slow))[..., self.kept]
        G = gram(W.reshape(-1, W.shape[-1]))
        sizes = np.sqrt(G.diagonal())
        if not sizes.all():
            return np.inf
        least, *_, largest = np.linalg.eigvalsh(G / np.outer(sizes, sizes))
        return float(np.sqrt(largest / least)) if least > ROUNDED * largest else np.inf

    def _all(self, states: np.ndarray, slow: np.ndarray) -> np.ndarray:
        """Every column along a motion, rows in units of their noise, (times, n, columns)."""
        q, qd, qdd = np.ascontiguousarray(states)
        values = {"rotor": qdd, "viscous": qd, "coulomb": dry(qd, slow), "offset": np.ones_like(q)}
        drives = [values[name][..., None] * np.eye(self.robot.n) for name in self.drives]
        links = self.robot.regressor(q, qd, qdd, threads=1) @ self.solved
        return np.concatenate([links, *drives], axis=-1) / self.noise[:, None]

    # The criterion ------------------------------------------------------------------------------

    def shortage(self, states: np.ndarray, balance: float) -> tuple[float, np.ndarray]:
        """-log det G + balance p log (tr G / p), p the columns, and W times its slope by G.

        G is the mean over the times. The second is V (times, n, columns), which ``slope`` takes.
        """
        W = self._all(states, self.slow)
        seen = W[..., self.kept]
        G = gram(seen.reshape(-1, seen.shape[-1])) / len(W)
        p, trace = len(G), G.trace()
        scale = 1 / np.sqrt(np.maximum(G.diagonal(), np.finfo(float).tiny))
        sign, determinant = np.linalg.slogdet(scale[:, None] * G * scale)
        if sign <= 0:
            return np.inf, W
        value = 2 * np.log(scale).sum() - determinant + balance * p * np.log(trace / p)
        by_G = balance * p / trace * np.eye(p)
        by_G -= scale[:, None] * np.linalg.inv(scale[:, None] * G * scale) * scale
        V = np.zeros_like(W)
        V[..., self.kept] = seen @ by_G * (2 / len(W))
        return float(value), V

    def slope(self, states: np.ndarray, V: np.ndarray) -> np.ndarray:
        """<V, dW> along q, qd and qdd at each time, (3, times, n).

        It is exact, from differences over large steps: in the position of one revolute joint the
        regressor is a trigonometric polynomial of degree two, in that of a prismatic joint a
        polynomial of degree two, and so in a speed; in an acceleration it is linear.
        """
        p, n = self.solved.shape[1], self.robot.n
        q, qd, qdd = np.ascontiguousarray(states)
        V = V / self.noise[:, None]
        links = np.ascontiguousarray(V[..., :p] @ self.solved.T)
        room = np.empty_like(links)
        row, column = links.reshape(len(q), 1, -1), room.reshape(len(q), -1, 1)

        def at(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
            self.robot.regressor(q, qd, qdd, out=room, threads=1)
            return (row @ column)[:, 0, 0]

        found, here = np.empty_like(states), at(q, qd, qdd)
        for j, (kind, e) in enumerate(zip(self.robot.chain.kinds, np.eye(n), strict=True)):
            if kind == "R":
                one = (at(q + HALF * e, qd, qdd) - at(q - HALF * e, qd, qdd)) / 2  # of degree one
                both = at(q + QUARTER * e, qd, qdd) - at(q - QUARTER * e, qd, qdd)
                found[0, :, j] = both + (1 - np.sqrt(2)) * one
            else:
                found[0, :, j] = (at(q + e, qd, qdd) - at(q - e, qd, qdd)) / 2
            found[1, :, j] = (at(q, qd + e, qdd) - at(q, qd - e, qdd)) / 2
            found[2, :, j] = at(q, qd, qdd + e) - here
        for drive, own in self._drives(V[..., p:]):
            if drive == "rotor":
                found[2] += own
            elif drive == "viscous":
                found[1] += own
            elif drive == "coulomb":
                found[1] += own * self.slow**2 / (qd**2 + self.slow**2) ** 1.5
        return found

    def _drives(self, V: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
        """What belongs to each drive's columns in the joints' own rows, (times, n)."""
        n = self.robot.n
        for k, drive in enumerate(self.drives):
            yield drive, np.einsum("tii->ti", V[..., k * n : (k + 1) * n])


def dry(qd: np.ndarray, slow: np.ndarray) -> np.ndarray:
    """The sign of a speed; where it sets in gradually, a smooth one."""
    size = np.sqrt(qd**2 + slow**2)
    return np.divide(qd, size, out=np.zeros_like(qd), where=size > 0)


def gram(W: np.ndarray) -> np.ndarray:
    """W'W, in pieces so small that no BLAS spreads them on threads, which would take longer."""
    rows = max(1, PIECE // W.shape[1] ** 2)
    whole = len(W) - len(W) % rows
    pieces = W[:whole].reshape(-1, rows, W.shape[1])
    return (pieces.transpose(0, 2, 1) @ pieces).sum(axis=0) + W[whole:].T @ W[whole:]
