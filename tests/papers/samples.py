"""Random arms in plain NumPy, with truths that no formulation of the papers had a hand in.

Everything is in the axes of E_0 and from its origin, joints count from 0. The mass matrix comes
from the velocities of the links' points; its derivatives and those of the potential energy are
taken by complex steps, which lose no digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import default_rng

from armdyn.chain import Chain

Array = np.ndarray[Any, np.dtype[Any]]

E = np.eye(3)
SMALL, CLEAR = 1e-10, 1e-3  # a statement that holds is off by less, another by more
STEP = 1e-30  # along the imaginary axis: no difference is taken, so no step is too small
REVOLUTE = ("RRR", "RRRR", "RRRRR")
MIXED = ("RRPR", "RPRRP", "PRRR", "PPRPR", "PPR", "RPP", "PPP", "RR")
PARALLEL = ("RRR", "RPRR", "RPPRRR", "PRPRR")


def off(found: Any, truth: Any) -> float:
    """The largest difference, relative to the largest element of the truth."""
    found, truth = np.asarray(found, dtype=float), np.asarray(truth, dtype=float)
    assert found.shape == truth.shape, f"{found.shape} against {truth.shape}"
    apart = float(np.abs(found - truth).max(initial=0.0))
    return apart / (float(np.abs(truth).max(initial=0.0)) or 1.0)


def holds(found: Any, truth: Any) -> None:
    """Assert that both are the same."""
    assert off(found, truth) < SMALL


def fails(found: Any, truth: Any) -> None:
    """Assert that they differ clearly."""
    assert off(found, truth) > CLEAR


def skew(a: Array) -> Array:
    """The matrix of the product a x."""
    return np.array([[0 * a[0], -a[2], a[1]], [a[2], 0 * a[0], -a[0]], [-a[1], a[0], 0 * a[0]]])


def cross(a: Array, b: Array) -> Array:
    """The product a x b."""
    return skew(a) @ b


def along(function: Callable[[Array], Array], q: Array, direction: Array) -> Array:
    """The derivative of a function of q in a direction, by a complex step."""
    return np.asarray(function(q + 1j * STEP * direction)).imag / STEP


@dataclass(frozen=True)
class Placed:
    """The links in one posture, base axes: rotations of E_i, origins, centres of mass."""

    R: Array
    o: Array
    p: Array

    @property
    def u(self) -> Array:
        """The axes of the joints."""
        return self.R[:, :, 2]


class Sample:
    """An arm in a state: kinds of joints, K_i = 1 prismatic, and its truths."""

    def __init__(self, joints: str, seed: int, structure: Any = "generic") -> None:
        self.chain = Chain.random(len(joints), joints, seed=seed, structure=structure)
        self.arm = self.chain.on(float)
        self.n = self.chain.n
        self.K = np.array([kind == "P" for kind in joints], dtype=float)
        self.Ks = 1 - self.K
        rng = default_rng(seed)
        self.q, self.qd, self.qdd = rng.uniform(-1.5, 1.5, (3, self.n))
        self.g = np.array(list(self.arm.gravity))
        self.m = np.array(self.arm.mass)
        self.c = np.array([list(c) for c in self.arm.com])  # in E_i
        self.I = np.array([[list(row) for row in J.rows()] for J in self.arm.inertia_about_com])

    def turn(self, i: int, q: Array) -> Array:
        """R_i, from E_i to E_{i-1}: (2) of LF99."""
        joint = self.chain.joints[i]
        theta = joint.theta + (q[i] if self.Ks[i] else 0)
        C, S, Cb, Sb = np.cos(theta), np.sin(theta), np.cos(joint.beta), np.sin(joint.beta)
        return np.array([[C, -S, 0 * C], [Cb * S, Cb * C, -Sb], [Sb * S, Sb * C, Cb]])

    def step(self, i: int, q: Array) -> Array:
        """s_i, from the origin of E_{i-1} to that of E_i, in E_{i-1}: (1) of LF99."""
        joint = self.chain.joints[i]
        d = joint.d + (q[i] if self.K[i] else 0)
        return np.array([joint.b, -d * np.sin(joint.beta), d * np.cos(joint.beta)])

    def place(self, q: Array) -> Placed:
        """The links in a posture, which may be complex."""
        R, o = np.eye(3), np.zeros(3)
        rotations, origins, centres = [], [], []
        for i in range(self.n):
            o = o + R @ self.step(i, q)
            R = R @ self.turn(i, q)
            rotations.append(R)
            origins.append(o)
            centres.append(o + R @ self.c[i])
        return Placed(np.array(rotations), np.array(origins), np.array(centres))

    @cached_property
    def at(self) -> Placed:
        """The links in the posture q."""
        return self.place(self.q)

    @cached_property
    def tensors(self) -> Array:
        """I_i about the centre of mass of link i, base axes."""
        return np.array([R @ I @ R.T for R, I in zip(self.at.R, self.I, strict=True)])

    def velocities(self, links: Placed, point: Array, last: int) -> Array:
        """What a point of link ``last`` moves by a unit of each joint's speed, shape (3, n)."""
        columns = [
            (cross(links.u[k], point - links.o[k]) if self.Ks[k] else links.u[k])
            if k <= last
            else np.zeros(3)
            for k in range(self.n)
        ]
        return np.array(columns).T

    def spins(self, links: Placed, last: int) -> Array:
        """What link ``last`` turns by a unit of each joint's speed, shape (3, n)."""
        turns = self.Ks * (np.arange(self.n) <= last)
        return (links.u * turns[:, None]).T

    def mass_matrix(self, q: Array) -> Array:
        """M(q), from the velocities of the links."""
        links = self.place(q)
        M = np.zeros((self.n, self.n), dtype=links.R.dtype)
        for i in range(self.n):
            v, w = self.velocities(links, links.p[i], i), self.spins(links, i)
            M = M + self.m[i] * v.T @ v + w.T @ (links.R[i] @ self.I[i] @ links.R[i].T) @ w
        return M

    @cached_property
    def M(self) -> Array:
        """The mass matrix."""
        return self.mass_matrix(self.q)

    @cached_property
    def Gamma(self) -> Array:
        """The Christoffel symbols, Gamma_ijk = 1/2 (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i)."""
        slopes = [along(self.mass_matrix, self.q, e) for e in np.eye(self.n)]
        dM = np.array(slopes).transpose(1, 2, 0)  # by [i, j, k]: dM_ij / dq_k
        return (dM + dM.transpose(0, 2, 1) - dM.transpose(2, 0, 1)) / 2

    @cached_property
    def gravity(self) -> Array:
        """The torque that holds the arm, from its potential energy."""

        def energy(q: Array) -> Array:
            return -self.m @ (self.place(q).p @ self.g)

        return np.array([along(energy, self.q, e) for e in np.eye(self.n)])

    @cached_property
    def bias(self) -> Array:
        """C(q, qd) qd + g(q)."""
        return self.Gamma @ self.qd @ self.qd + self.gravity

    def spin(self, q: Array, qd: Array, i: int) -> Array:
        """The angular velocity of link i."""
        return self.spins(self.place(q), i) @ qd

    def angular_acceleration(self, qd: Array, qdd: Array, i: int) -> Array:
        """That of link i."""
        return along(lambda q: self.spin(q, qd, i), self.q, qd) + self.spins(self.at, i) @ qdd

    def acceleration(self, qd: Array, qdd: Array, i: int) -> Array:
        """That of the centre of mass of link i."""

        def velocity(q: Array) -> Array:
            links = self.place(q)
            return self.velocities(links, links.p[i], i) @ qd

        return along(velocity, self.q, qd) + self.velocities(self.at, self.at.p[i], i) @ qdd


def draw(kinds: tuple[str, ...] = (*REVOLUTE, *MIXED), structure: Any = "generic") -> list[Sample]:
    """An arm of each of these kinds."""
    return [Sample(joints, seed, structure) for seed, joints in enumerate(kinds, start=1)]
