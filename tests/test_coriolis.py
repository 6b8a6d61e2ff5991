"""The Coriolis matrix, by every method: what makes it one."""

import numpy as np
import pytest

from armdyn.algorithms import newton_euler
from armdyn.algorithms.catalogue import CATALOGUE
from tests.test_methods import ARMS, relative_error

METHODS = CATALOGUE["coriolis_matrix"]


def test_there_is_one_from_every_christoffel_method():
    names = [method.name for method in METHODS]
    assert {method.name for method in CATALOGUE["christoffel"]} <= set(names)
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_coriolis_matrix(method):
    """C qd + g is the bias, and Mdot = C + C^T (Mdot - 2 C is skew), Mdot by complex step."""
    rng, h = np.random.default_rng(2), 1e-30
    for chain in ARMS:
        arm = chain.on(float)
        if method.refuses(arm):
            continue
        q, qd = rng.uniform(-3, 3, (2, chain.n))
        C = np.array(method.function(chain.on(float, method.view), q.tolist(), qd.tolist()), float)
        bias = newton_euler.bias(arm, q.tolist(), qd.tolist())
        Mdot = np.imag(newton_euler.mass_matrix(chain.on(complex), (q + 1j * h * qd).tolist())) / h
        assert relative_error(C @ qd + newton_euler.gravity(arm, q.tolist()), bias) < 1e-11
        assert relative_error(C + C.T, Mdot) < 1e-11, chain.name
