"""Every exact method of every quantity equals Newton-Euler, on arms of every kind."""

import dataclasses
import functools
import math

import numpy as np
import pytest

import armdyn
from armdyn import Chain
from armdyn.algorithms import newton_euler
from armdyn.algorithms.catalogue import CATALOGUE
from armdyn.chain.pose import IDENTITY
from armdyn.chain.random import STRUCTURES
from armdyn.quantities import QUANTITIES

MIXES = [
    "R",
    "P",
    "RR",
    "PR",
    "RP",
    "PP",
    "RRR",
    "PRR",
    "RPR",
    "RRP",
    "PPR",
    "PRP",
    "RPP",
    "PPP",
    "RRPRRR",
    "RRRRRR",
    "PRPRRP",
    "RPRPRPR",
    "RRRRRRR",
    "PPRRPRR",
    "RRRRRRRRRR",
    "PPPPP",
]
SPECIAL = [structure for structure in STRUCTURES if structure != "generic"]
GROUPS = {name: [armdyn.load(name).chain] for name in armdyn.robots()}
GROUPS["generic"] = [Chain.random(len(mix), mix, seed=3) for mix in MIXES]
GROUPS |= {
    structure: [
        Chain.random(len(mix), mix, seed=5, structure=structure)
        for mix in ("RRR", "RRRRRR", "RPRRPR", "PRRPRR", "RPPRRR", "PRPRPR")
    ]
    for structure in SPECIAL
}
ARMS = [chain for group in GROUPS.values() for chain in group]


def gravities(chain):
    """The arm as drawn, with gravity along joint 1, across it, and without."""
    upright = dataclasses.replace(chain, base=IDENTITY)
    return [chain, upright, upright.with_gravity((9.81, 0, 0)), chain.with_gravity((0, 0, 0))]


def relative_error(found, truth):
    found, truth = np.array(found, float), np.array(truth, float)
    return np.abs(found - truth).max() / max(np.abs(truth).max(), 1e-3)


@functools.cache
def mounted(group, quantity):
    """(chain, place, state, what Newton-Euler gives) of each arm of a group, on every mount."""
    rng = np.random.default_rng([1, len(group)])
    found = []
    for place, chain in (pair for arm in GROUPS[group] for pair in enumerate(gravities(arm))):
        size = len(QUANTITIES[quantity].arguments), chain.n
        state = rng.uniform(-math.pi, math.pi, size).tolist()
        expected = getattr(newton_euler, quantity)(chain.on(float), *state)
        found.append((chain, place, state, expected))
    return found


EXACT = [
    pytest.param(quantity, method, id=f"{quantity}-{method.name}")
    for quantity in ("mass_matrix", "bias", "gravity", "inverse_dynamics")
    for method in CATALOGUE[quantity]
    if method.exact
]


@pytest.mark.parametrize("quantity, method", EXACT)
@pytest.mark.parametrize("arm", GROUPS)
def test_equals_newton_euler(arm, quantity, method):
    """To 1e-11 relative, on every arm, mount and state.

    Of a mass matrix, gravity matters to the minimal parameters alone.
    """
    for chain, place, state, expected in mounted(arm, quantity):
        if place and quantity == "mass_matrix" and method.view == "natural":
            continue
        if not method.refuses(chain.on(float)):
            found = method.function(chain.on(float, method.view), *state)
            error = relative_error(found, expected)
            assert error < 1e-11, f"{quantity} by {method.name} on {chain.name}: {error:.1e}"


@pytest.mark.parametrize("com", [(0.3, 0.4, 0), (0.3, 0, 0.4), (0, 0.3, 0.4)])
@pytest.mark.parametrize("method", [method.name for method in CATALOGUE["mass_matrix"]])
def test_a_point_mass_is_a_body_wherever_it_stands(com, method):
    """M = m r^2; all of its tensor's trace may lie on one axis and half of it on another."""
    chain = Chain.from_mdh(b=0, beta=0, d=0, theta=0, joints="R", mass=2, com=[com])
    expected = 2 * (com[0] ** 2 + com[1] ** 2)
    assert armdyn.Robot(chain).mass_matrix([0.7], method=method) == pytest.approx(expected)
