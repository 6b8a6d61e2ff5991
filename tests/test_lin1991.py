"""The composite body methods of [lin1991]: its printed counts, line by line, and its pair H, b.

That every method is right for every mix of joints is tested in test_methods.py and
test_christoffel.py.
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

# Table I as printed: M and A for n = 2 to 8 revolute joints.
PRESENT = [34, 125, 237, 370, 524, 699, 895], [32, 101, 182, 275, 380, 497, 626]
RENAUD = [31, 121, 238, 382, 553, 751, 976], [24, 95, 184, 291, 416, 559, 720]
FIJANY_BEJCZY = [74, 212, 359, 515, 680, 854, 1037], [58, 166, 282, 406, 538, 678, 826]
WALKER_ORIN = [76, 184, 314, 466, 640, 836, 1054], [74, 166, 274, 398, 538, 694, 866]

# Table II as printed: what b takes beyond H.
PRESENT_BIAS = [64, 132, 225, 343, 486, 654, 847], [38, 84, 148, 230, 330, 448, 584]


def cells_of(table):
    """A test for each n, given the printed M and A."""
    cells = zip(SIZES, *table, strict=True)
    return pytest.mark.parametrize("n, M, A", [pytest.param(*c, id=f"n = {c[0]}") for c in cells])


def counted(method, n, quantity="mass_matrix", stage=None):
    """(M, A, D) of a method on n revolute joints, line by line."""
    found = count(Chain.random(n), quantity, method, kind="literal", stage=stage)
    assert found.div == 0
    return found.mul, found.add, found.double


@cells_of(PRESENT)
def test_the_inertia_matrix_takes_what_table_I_prints(n, M, A):
    assert counted("lin1991", n) == (M, A, 0)


@cells_of(RENAUD)
def test_renaud_takes_what_table_I_prints(n, M, A):
    """The paper doubles by adding: of its additions 3n - 6 are doublings."""
    doublings = 3 * n - 6
    assert counted("renaud", n) == (M, A - doublings, doublings)


@cells_of(PRESENT_BIAS)
def test_the_bias_takes_what_table_II_prints_but_for_what_is_known(n, M, A):
    """The boxed terms of Fig. 3; the one doubling is that of qd_1.

    The paper charges 4n M for the entries of the R_i, which are free here, and has 3M3A in lines
    that are lost.
    """
    assert counted("lin1991", n, ("mass_matrix", "bias"), "b") == (M - 4 * n - 3, A - 3, 1)


@cells_of(FIJANY_BEJCZY)
def test_fijany_bejczy_takes_less_than_table_I_prints(n, M, A):
    """In E_n: at most 4.5n^2+95.5n-180 M, 4n^2+65n-122 A, 3n-6 D, which is below the print."""
    mul, add, double = counted("fijany-bejczy", n)
    assert mul <= 4.5 * n**2 + 95.5 * n - 180 < M
    assert add <= 4 * n**2 + 65 * n - 122 < A
    assert double == 3 * n - 6


@pytest.mark.parametrize("n", [n for n in SIZES if n > 3], ids="n = {}".format)
def test_fijany_bejczy_in_the_second_frame_takes_less_than_in_the_last(n):
    """Note d of Table I: "the other one", k = n, "is somewhat less efficient".

    At most 4.5n^2+93.5n-212 M, 4n^2+64n-137 A, 3n-6 D, which an independent count has.
    """
    mul, add, double = counted("fijany-bejczy-2", n)
    last = counted("fijany-bejczy", n)
    assert mul <= 4.5 * n**2 + 93.5 * n - 212 and mul < last[0]
    assert add <= 4 * n**2 + 64 * n - 137 and add < last[1]
    assert double == last[2] == 3 * n - 6


@pytest.mark.parametrize("n", SIZES, ids="n = {}".format)
def test_walker_orin_takes_at_most_what_its_lines_give(n):
    """11n^2+50n-55 M, 7n^2+42n-45 A, R v taken as 8M4A; no line of it is printed."""
    mul, add, double = counted("walker-orin", n)
    assert mul <= 11 * n**2 + 50 * n - 55
    assert add <= 7 * n**2 + 42 * n - 45
    assert double == 0


def test_the_squares_of_table_I():
    """M grows with n^2 as printed, by every method; Walker-Orin's A by n^2 less, R v at 8M4A."""
    for method, (M, A), spared in (
        ("fijany-bejczy", FIJANY_BEJCZY, 0),
        ("walker-orin", WALKER_ORIN, 1),
    ):
        mul, add, _ = zip(*(counted(method, n) for n in SIZES if n > 2), strict=True)
        np.testing.assert_array_equal(np.diff(mul, 2), np.diff(M[1:], 2))
        np.testing.assert_array_equal(np.diff(add, 2), np.diff(A[1:], 2) - 2 * spared)


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
