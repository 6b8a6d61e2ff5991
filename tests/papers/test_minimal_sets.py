"""lin1999: "There are two different sets of MLC's." Both are built, and span the same space."""

import numpy as np

import armdyn
from armdyn import Chain
from armdyn.algorithms.regressor import regressor
from armdyn.chain.minimal import KHALIL, MinimalParameters
from papers.minimal_sets import khalil, lin_earlier
from tests.test_minimal import special_arm, stacked_regressor

ARMS = [special_arm(seed) for seed in range(150)]


def rank(*matrices):
    """The rank of matrices one above the other, each row scaled to unit length."""
    rows = np.concatenate(matrices)
    size = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.linalg.matrix_rank(rows / np.where(size == 0, 1, size), tol=1e-8)


def place(name):
    """The place of a natural parameter, "XX2", among all."""
    letters = name.rstrip("0123456789")
    return 10 * (int(name[len(letters) :]) - 1) + KHALIL.index(letters)


def test_both_sets_have_as_many_members_and_span_the_same_space():
    """Theorem 1 and section 1: either set fixes all torques, and none is smaller.

    They have 7n - 4 members on revolute joints in general position.
    """
    for chain in ARMS:
        lin = MinimalParameters(chain)
        other = np.array(list(khalil(chain).values())).reshape(-1, 10 * chain.n)
        assert len(other) == len(lin) == rank(lin.coefficients, other), chain
        assert rank(lin.coefficients, lin_earlier(chain)) == len(lin_earlier(chain)) == len(lin)
        if any(chain.gravity):
            assert rank(stacked_regressor(chain), other) == len(other)
    for n in (1, 2, 5):
        assert len(khalil(Chain.random(n))) == 7 * n - 4


def test_torques_are_columns_of_the_regressor_times_the_regrouped_parameters():
    """Khalil's set: the other columns are left out, and no torque changes."""
    for chain in ARMS:
        regrouped = khalil(chain)
        state = np.random.default_rng(2).uniform(-3, 3, (3, chain.n)).tolist()
        Y = np.array(regressor(chain.on(float), *state), float)
        tau = sum(Y[:, place(name)] * (row @ chain.parameters) for name, row in regrouped.items())
        assert np.abs(tau - Y @ chain.parameters).max() < 1e-10 * max(1, np.abs(tau).max())


def different(chain):
    """How many members of Lin's set, and of his earlier one, are no members of Khalil's."""
    others = np.array(list(khalil(chain).values()))
    sets = MinimalParameters(chain).coefficients, lin_earlier(chain)
    return [
        sum(not any(np.allclose(row, other) for other in others) for row in rows) for rows in sets
    ]


def test_where_the_sets_differ():
    """Not on revolute joints, by (C1) to (C3); before a prismatic joint they do.

    In the form of his earlier works, which the Remark describes, Lin's set differs on both.
    """
    for joints, members, found in (("RRRRRR", 38, [0, 13]), ("RRPRRR", 35, [9, 16])):
        chain = Chain.random(6, joints)
        assert len(khalil(chain)) == members
        assert different(chain) == found
    stanford = armdyn.load("stanford").chain
    assert len(khalil(stanford)) == 33 and different(stanford) == [3, 8]
