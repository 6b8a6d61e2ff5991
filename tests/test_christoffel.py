"""Christoffel symbols by every method: the derivative of M, and what follows from it."""

import math
from functools import cache

import numpy as np
import pytest

from armdyn import Chain
from armdyn.algorithms import newton_euler
from armdyn.algorithms.catalogue import CATALOGUE

MIXES = ["R", "P", "RR", "PR", "RP", "PPP", "RRR", "PRP", "RPR", "PPRRPR", "RRPRRR", "RRRRRRR"]
ARMS = [Chain.random(len(mix), mix, seed=11) for mix in MIXES] + [
    Chain.random(len(mix), mix, seed=12, structure=structure)
    for structure in ("parallel", "antiparallel-start", "orthogonal", "intersecting", "coincident")
    for mix in ("RRRRR", "PRRPR", "RPRRP")
]
EVERY_METHOD = pytest.mark.parametrize(
    "method", [m for m in CATALOGUE["christoffel"] if m.exact], ids=lambda method: method.name
)
EVERY_ARM = pytest.mark.parametrize("chain", ARMS, ids=lambda chain: chain.name)
STEP = 1e-30  # a complex step has no cancellation, so it may be as small as one likes


def derivative_of_mass_matrix(chain, q):
    """dM_ij/dq_k, shape (n, n, n), to rounding."""
    arm, slopes = chain.on(complex), []
    for k in range(chain.n):
        shifted = [complex(x, STEP * (i == k)) for i, x in enumerate(q)]
        slopes.append(np.array(newton_euler.mass_matrix(arm, shifted), complex).imag / STEP)
    return np.stack(slopes, axis=-1)


@cache
def state(chain):
    """Random q and qd, and dM/dq there."""
    q, qd = np.random.default_rng([2, chain.n]).uniform(-math.pi, math.pi, (2, chain.n))
    return q, qd, derivative_of_mass_matrix(chain, q)


def symbols(method, chain):
    """Gamma (n, n, n) by a method, at the arm's state."""
    assert method.refuses(chain.on(float)) is None
    q, _, _ = state(chain)
    return np.array(method.function(chain.on(float, method.view), q.tolist()), float)


def assert_close(found, truth):
    """To 1e-11 relative to the largest."""
    np.testing.assert_allclose(found, truth, rtol=0, atol=1e-11 * max(np.abs(truth).max(), 1e-3))


@EVERY_ARM
@EVERY_METHOD
def test_is_the_derivative_of_the_mass_matrix(method, chain):
    """Gamma_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2."""
    _, _, dM = state(chain)
    truth = (dM + dM.transpose(0, 2, 1) - dM.transpose(2, 0, 1)) / 2
    assert_close(symbols(method, chain), truth)


@EVERY_ARM
@EVERY_METHOD
def test_makes_the_rate_of_the_mass_matrix_minus_2C_skew(method, chain):
    """C_ij = sum_k Gamma_ijk qd_k."""
    _, qd, dM = state(chain)
    S = dM @ qd - 2 * (symbols(method, chain) @ qd)
    assert_close(S, -S.T)


@EVERY_ARM
@EVERY_METHOD
def test_gives_the_velocity_torque(method, chain):
    """Sum over j, k of Gamma_ijk qd_j qd_k is the bias of the arm without gravity."""
    q, qd, _ = state(chain)
    still = chain.on(float).without_gravity()
    truth = np.array(newton_euler.bias(still, q.tolist(), qd.tolist()), float)
    assert_close(symbols(method, chain) @ qd @ qd, truth)
