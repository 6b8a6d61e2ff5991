"""The Coriolis matrix, by every method: what makes it one."""

import numpy as np
import pytest

from armdyn.algorithms import newton_euler
from armdyn.algorithms.catalogue import CATALOGUE
from tests.test_methods import GROUPS, relative_error

METHODS = CATALOGUE["coriolis_matrix"]


def test_there_is_one_from_every_christoffel_method():
    names = [method.name for method in METHODS]
    assert {method.name for method in CATALOGUE["christoffel"]} <= set(names)
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@pytest.mark.parametrize("arm", GROUPS)
def test_coriolis_matrix(arm, method):
    """C qd + g is the bias, and Mdot = C + C^T (Mdot - 2 C is skew), Mdot by complex step."""
    rng, h = np.random.default_rng([2, len(arm)]), 1e-30
    for chain in GROUPS[arm]:
        natural = chain.on(float)
        if method.refuses(natural):
            continue
        q, qd = rng.uniform(-3, 3, (2, chain.n))
        C = np.array(method.function(chain.on(float, method.view), q.tolist(), qd.tolist()), float)
        bias = newton_euler.bias(natural, q.tolist(), qd.tolist())
        Mdot = np.imag(newton_euler.mass_matrix(chain.on(complex), (q + 1j * h * qd).tolist())) / h
        gravity = newton_euler.gravity(natural, q.tolist())
        assert relative_error(C @ qd + gravity, bias) < 1e-11, chain.name
        assert relative_error(C + C.T, Mdot) < 1e-11, chain.name
