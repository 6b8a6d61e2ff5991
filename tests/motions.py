"""Motions that excite an arm, and logs of them."""

import dataclasses

import numpy as np

from armdyn import Log, Robot
from armdyn.chain.inertia import Inertia
from armdyn.chain.parts import Link


def fourier(n, rows, seed=0, step=2e-3, base=0.1, waves=5):
    """Times, q, qd and qdd of a sum of sines with random amplitudes."""
    t = np.arange(rows) * step
    w = 2 * np.pi * base * np.arange(1, waves + 1)
    a, b = 0.6 * np.random.default_rng(seed).normal(size=(2, waves, n)) / w[:, None] * w[0]
    s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    W = w[:, None]
    return t, s @ a + c @ b, c @ (W * a) - s @ (W * b), -s @ (W**2 * a) - c @ (W**2 * b)


def recorded(robot, rows=4000, seed=0, noise=0.0, friction=True, **options):
    """A log with speeds and accelerations, and slow (AR 0.95) noise of so much of the torque."""
    t, q, qd, qdd = fourier(robot.n, rows, seed, **options)
    tau = robot.inverse_dynamics(q, qd, qdd, friction=friction)
    if noise:
        tau = tau + noise * np.sqrt((tau**2).mean(axis=0)) * slow(rows, robot.n, seed)
    return Log(t, q, tau, qd, qdd)


def slow(rows, n, seed, rho=0.95):
    """Noise of unit variance that remembers."""
    from scipy.signal import lfilter

    white = np.random.default_rng([seed, 1]).normal(size=(rows + 500, n))
    return lfilter([np.sqrt(1 - rho**2)], [1, -rho], white, axis=0)[500:]


def shaken(chain, size=0.1, seed=0):
    """The same arm with each link's mass and inertia off by up to so much."""
    rng = np.random.default_rng(seed)
    links = [
        Link(link.name, Inertia.from_parameters(link.inertia.parameters() * (1 + size * x)))
        for link, x in zip(chain.links, rng.uniform(-1, 1, chain.n), strict=True)
    ]
    return Robot(dataclasses.replace(chain, links=tuple(links)))
