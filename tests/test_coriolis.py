"""The Coriolis matrix, by every method: what makes it one."""

import numpy as np
import pytest

import armdyn
from armdyn.algorithms import lagrange, newton_euler
from armdyn.algorithms.catalogue import CATALOGUE, COSTS
from armdyn.quantities.tasks import cheapest
from tests.test_methods import GROUPS, relative_error

METHODS = CATALOGUE["coriolis_matrix"]


def test_there_is_one_from_every_christoffel_method():
    names = [method.name for method in METHODS]
    assert {method.name for method in CATALOGUE["christoffel"] if method.exact} <= set(names)
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


@pytest.mark.parametrize("method", [m for m in METHODS if not m.of], ids=lambda method: method.name)
@pytest.mark.parametrize("arm", GROUPS)
def test_is_the_sum_of_christoffel_symbols(arm, method):
    """C_ij = sum over k of Gamma_ijk qd_k, element by element, of a method that forms no Gamma."""
    rng = np.random.default_rng([3, len(arm)])
    for chain in GROUPS[arm]:
        natural = chain.on(float)
        if method.refuses(natural):
            continue
        q, qd = rng.uniform(-3, 3, (2, chain.n))
        C = method.function(chain.on(float, method.view), q.tolist(), qd.tolist())
        truth = np.array(lagrange.christoffel(natural, q.tolist()), float) @ qd
        assert relative_error(C, truth) < 1e-12, chain.name


def test_some_take_only_n_squared_steps():
    """Their cost on generic arms is of the second degree; symbols take n^3."""
    degrees = {name: len(counted[1]) - 1 for name, counted in COSTS["coriolis_matrix"].items()}
    quadratic = {
        *("newton-euler", "echeandia-wensing-flat"),
        *("momentum", "momentum-tip", "momentum-flat", "momentum-tip-flat"),
    }
    assert {name for name, degree in degrees.items() if degree == 2} == quadratic


@pytest.mark.parametrize(
    ("arm", "name"),
    [
        ("ur5", "momentum-flat"),
        ("kinova", "momentum-tip-flat"),
        ("xarm7", "momentum-flat"),
        ("panda", "echeandia-wensing-flat"),
        ("puma560", "echeandia-wensing-flat"),
        ("stanford", "echeandia-wensing-flat"),
    ],
)
def test_those_are_chosen_from_six_joints_on(arm, name):
    assert cheapest(armdyn.load(arm).chain, "coriolis_matrix") == name
