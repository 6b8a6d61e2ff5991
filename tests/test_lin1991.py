"""The composite body methods of [lin1991]: shared counts, blocks of Fig. 3, and the pair H, b.

test_methods.py and test_christoffel.py test all methods on all mixes of joints. tests/papers tests
the statements of the paper, its tables included.
"""

import math

import numpy as np
import pytest

from armdyn import Chain
from armdyn.algorithms import newton_euler
from armdyn.algorithms.catalogue import find
from armdyn.algorithms.lin1991 import similarity
from armdyn.counting import count, growth
from armdyn.spatial import Rotation, Symmetric

SIZES = range(2, 9)


def counted(method, n, quantity="mass_matrix", stage=None):
    """(M, A, D) of a method on n revolute joints, line by line."""
    found = count(Chain.random(n), quantity, method, kind="literal", stage=stage)
    assert found.div == 0
    return found.mul, found.add, found.double


@pytest.mark.parametrize(
    "method, mul, add, double",
    [
        pytest.param("lin1991", "10.5n^2+32.5n-76", "6n^2+38n-71", "0", id="lin1991"),
        pytest.param("renaud", "13.5n^2+13.5n-63", "9n^2+22n-62", "3n-6", id="renaud"),
    ],
)
def test_what_the_formulations_need_when_nothing_is_computed_twice(method, mul, add, double):
    found = growth("mass_matrix", method, kind="shared", sizes=range(3, 9))
    assert [str(found[key]) for key in ("mul", "add", "double")] == [mul, add, double]


# Fig. 3, the columns "number of operations" and "times", all joints revolute, n joints.
FIGURE_3 = {
    "positions": lambda n: [(2, 0, 1), (8, 7, n - 2), (0, 3, n - 1)],
    "axes": lambda n: [
        (5, 2, n - 2),
        (8, 4, (n - 2) * (n - 1) // 2),
        (8, 4, (n - 3) * (n - 2) // 2),
    ],
    "composites": lambda n: [
        (3, 0, 1),
        (6, 6, 1),
        (11, 7, n - 2),
        (43, 31, n - 2),
        (0, 3, 1),
        (12, 9, 1),
    ],
}


@pytest.mark.parametrize("stage", FIGURE_3)
@pytest.mark.parametrize("n", SIZES, ids="n = {}".format)
def test_the_blocks_of_figure_3_take_what_it_prints(stage, n):
    lines = FIGURE_3[stage](n)
    M, A = (sum(line[k] * line[2] for line in lines) for k in (0, 1))
    assert counted("lin1991", n, stage=stage) == (M, A, 0)


def test_the_similarity_transformation_of_the_paper_is_one():
    """Its 37M19A give what two plane rotations give."""
    theta, beta, *six = np.random.default_rng(0).uniform(-1, 1, 8).tolist()
    R = Rotation(math.cos(theta), math.sin(theta), math.cos(beta), math.sin(beta))
    J = Symmetric(*six)
    np.testing.assert_allclose(list(similarity(R, J)), list(R.similarity(J)), atol=1e-15)


@pytest.mark.parametrize("mix", ["R", "P", "RR", "PPP", "PRPRRP", "RPRRR", "RRRRRRR"])
def test_the_pair_is_both(mix):
    """H and b from one pass equal Newton-Euler's."""
    chain = Chain.random(len(mix), mix, seed=21)
    q, qd = np.random.default_rng(3).uniform(-3, 3, (2, chain.n)).tolist()
    arm = chain.on(float)
    H, b = find(("mass_matrix", "bias"), "lin1991").function(arm, q, qd)
    for found, truth in (
        (H, newton_euler.mass_matrix(arm, q)),
        (b, newton_euler.bias(arm, q, qd)),
    ):
        np.testing.assert_allclose(found, truth, rtol=0, atol=1e-11 * np.abs(truth).max())
