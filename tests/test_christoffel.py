"""Christoffel symbols by every method: the derivative of M, and what follows from it."""

import math

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
    "method", CATALOGUE["christoffel"], ids=lambda method: method.name
)
STEP = 1e-30  # a complex step has no cancellation, so it may be as small as one likes


def derivative_of_mass_matrix(chain, q):
    """dM_ij/dq_k, shape (n, n, n), to rounding."""
    arm, slopes = chain.on(complex), []
    for k in range(chain.n):
        shifted = [complex(x, STEP * (i == k)) for i, x in enumerate(q)]
        slopes.append(np.array(newton_euler.mass_matrix(arm, shifted), complex).imag / STEP)
    return np.stack(slopes, axis=-1)


def states(count):
    """The arms, each with ``count`` random vectors of n numbers, the first of them q."""
    rng = np.random.default_rng(2)
    for chain in ARMS:
        yield chain, *rng.uniform(-math.pi, math.pi, (count, chain.n))


def symbols(method, chain, q):
    """Gamma (n, n, n) by a method; None if it refuses the arm."""
    arm = chain.on(float, method.view)
    if method.refuses(chain.on(float)):
        return None
    return np.array(method.function(arm, q.tolist()), float)


@EVERY_METHOD
def test_is_the_derivative_of_the_mass_matrix(method):
    """Gamma_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2, to 1e-11 relative."""
    for chain, q in states(1):
        found = symbols(method, chain, q)
        if found is not None:
            dM = derivative_of_mass_matrix(chain, q)
            truth = (dM + dM.transpose(0, 2, 1) - dM.transpose(2, 0, 1)) / 2
            np.testing.assert_allclose(
                found,
                truth,
                rtol=0,
                atol=1e-11 * max(np.abs(truth).max(), 1e-3),
                err_msg=chain.name,
            )


@EVERY_METHOD
def test_makes_the_rate_of_the_mass_matrix_minus_2C_skew(method):
    """C_ij = sum_k Gamma_ijk qd_k."""
    for chain, q, qd in states(2):
        found = symbols(method, chain, q)
        if found is not None:
            S = derivative_of_mass_matrix(chain, q) @ qd - 2 * (found @ qd)
            np.testing.assert_allclose(
                S + S.T, 0, atol=1e-11 * max(np.abs(S).max(), 1e-3), err_msg=chain.name
            )


@EVERY_METHOD
def test_gives_the_velocity_torque(method):
    """Sum over j, k of Gamma_ijk qd_j qd_k is the bias of the arm without gravity."""
    for chain, q, qd in states(2):
        found = symbols(method, chain, q)
        if found is not None:
            still = chain.on(float).without_gravity()
            truth = np.array(newton_euler.bias(still, q.tolist(), qd.tolist()), float)
            np.testing.assert_allclose(
                found @ qd @ qd,
                truth,
                rtol=0,
                atol=1e-11 * max(np.abs(truth).max(), 1e-3),
                err_msg=chain.name,
            )
