"""Every exact method of every quantity equals Newton-Euler, on arms of every kind."""

import dataclasses
import math

import numpy as np
import pytest

import armdyn
from armdyn import Chain
from armdyn.algorithms import newton_euler
from armdyn.algorithms.catalogue import CATALOGUE
from armdyn.chain.pose import IDENTITY
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
ARMS = [armdyn.load(name).chain for name in armdyn.robots()]
ARMS += [Chain.random(len(mix), mix, seed=3) for mix in MIXES]
ARMS += [
    Chain.random(len(mix), mix, seed=5, structure=structure)
    for structure in (
        "parallel",
        "antiparallel",
        "parallel-start",
        "antiparallel-start",
        "orthogonal",
        "intersecting",
        "coincident",
        "spherical-wrist",
    )
    for mix in ("RRR", "RRRRRR", "RPRRPR", "PRRPRR", "RPPRRR", "PRPRPR")
]


def gravities(chain):
    """The arm as drawn, with gravity along joint 1, across it, and without."""
    upright = dataclasses.replace(chain, base=IDENTITY)
    return [chain, upright, upright.with_gravity((9.81, 0, 0)), chain.with_gravity((0, 0, 0))]


def relative_error(found, truth):
    found, truth = np.array(found, float), np.array(truth, float)
    return np.abs(found - truth).max() / max(np.abs(truth).max(), 1e-3)


@pytest.mark.parametrize("quantity", ["mass_matrix", "bias", "gravity", "inverse_dynamics"])
def test_equals_newton_euler(quantity):
    """To 1e-11 relative, on every arm, mount and state.

    Of a mass matrix, gravity matters to the minimal parameters alone.
    """
    rng = np.random.default_rng(1)
    truth = getattr(newton_euler, quantity)
    for place, chain in (pair for arm in ARMS for pair in enumerate(gravities(arm))):
        state = [
            row.tolist()
            for row in rng.uniform(
                -math.pi, math.pi, (len(QUANTITIES[quantity].arguments), chain.n)
            )
        ]
        expected = truth(chain.on(float), *state)
        for method in CATALOGUE[quantity]:
            if place and quantity == "mass_matrix" and method.view == "natural":
                continue
            if method.exact and not method.refuses(chain.on(float)):
                found = method.function(chain.on(float, method.view), *state)
                error = relative_error(found, expected)
                assert error < 1e-11, f"{quantity} by {method.name} on {chain.name}: {error:.1e}"
