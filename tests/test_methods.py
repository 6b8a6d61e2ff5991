"""Every exact method of every quantity equals Newton-Euler, on arms of every kind."""

import dataclasses
import math
from functools import cache

import numpy as np
import pytest

import armdyn
from armdyn import Chain
from armdyn.algorithms import newton_euler
from armdyn.algorithms.catalogue import CATALOGUE, STATE
from armdyn.chain.pose import IDENTITY

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


EVERY_ARM = pytest.mark.parametrize("chain", ARMS, ids=lambda chain: chain.name)
EVERY_METHOD = pytest.mark.parametrize(
    "quantity, method",
    [
        pytest.param(quantity, method, id=f"{quantity}-{method.name}")
        for quantity in ("mass_matrix", "bias", "gravity", "inverse_dynamics")
        for method in CATALOGUE[quantity]
        if method.exact
    ],
)


def gravities(chain):
    """The arm as drawn, with gravity along joint 1, across it, and without."""
    upright = dataclasses.replace(chain, base=IDENTITY)
    return [chain, upright, upright.with_gravity((9.81, 0, 0)), chain.with_gravity((0, 0, 0))]


@cache
def states_and_truths(quantity, chain):
    """The arm under each gravity, a random state, and the quantity there by Newton-Euler."""
    rng = np.random.default_rng(chain.n)
    cases = []
    for mounted in gravities(chain):
        state = rng.uniform(-math.pi, math.pi, (len(STATE[quantity]), chain.n)).tolist()
        truth = getattr(newton_euler, quantity)(mounted.on(float), *state)
        cases.append((mounted, state, np.array(truth, float)))
    return cases


@EVERY_ARM
@EVERY_METHOD
def test_equals_newton_euler(quantity, method, chain):
    """To 1e-11 relative, on every arm, mount and state.

    Of a mass matrix, gravity matters to the minimal parameters alone.
    """
    assert method.refuses(chain.on(float)) is None
    cases = states_and_truths(quantity, chain)
    if quantity == "mass_matrix" and method.view == "natural":
        cases = cases[:1]
    for mounted, state, truth in cases:
        found = np.array(method.function(mounted.on(float, method.view), *state), float)
        np.testing.assert_allclose(
            found, truth, rtol=0, atol=1e-11 * max(np.abs(truth).max(), 1e-3)
        )
