"""Lin 1991: its tables and its claims about costs.

Counts are of kind "literal", all joints revolute; R_i are given, and a doubling is an addition.
"""

import numpy as np

from armdyn import Chain
from armdyn.algorithms import fijany_bejczy, lin1991
from armdyn.algorithms.lin_fang import offset
from armdyn.algorithms.stages import stage
from armdyn.counting import count, count_stage, published
from armdyn.counting.polynomial import Polynomial
from armdyn.counting.scalars import Counted, Tally
from armdyn.spatial import ZERO, Rotation, Vector, steiner
from tests.papers.samples import REVOLUTE, draw, holds

SIZES = range(2, 9)
PRINTED = {(x.place, x.name): x.printed for x in published.lines() if x.paper == "lin1991"}
TABLE_I = {name: both for (place, name), both in PRINTED.items() if both and place == "Table I"}
TABLE_II = {name: both for (place, name), both in PRINTED.items() if place == "Table II"}


def values(polynomials, n):
    """The values of two polynomials."""
    return tuple(polynomial(n) for polynomial in polynomials)


def at(n, *texts):
    """The same, of polynomials as text."""
    return values(map(Polynomial.parse, texts), n)


def fewest(table, n):
    """The line with the fewest operations, M and A together."""
    return min(table, key=lambda name: sum(values(table[name], n)))


def taken(counted):
    """(M, A) of a count."""
    return counted.mul, counted.add + counted.double


def on_numbers(function):
    """(M, A) of a function of a number known at run time."""
    tally = Tally()
    function(Counted(tally))
    return tally.counters[""]["mul"], tally.counters[""]["add"]


def by_method(name, n, quantity="mass_matrix"):
    """(M, A) of a method, for n joints."""
    return taken(count(Chain.random(n), quantity, name))


def run(function, n):
    """(M, A) of a function of (arm, q, qd), for n joints."""
    whole = stage("whole")(function)

    def discard(arm, q, qd):
        whole(arm, q, qd)
        return []

    return taken(count_stage(Chain.random(n), discard, "whole"))


def test_table_i_walker_orin():
    """Table I, Walker and Orin: ours takes 11n^2+50n-61 M, 7n^2+42n-49 A, with R v at 8M4A.

    At 8M5A, n(n - 1) rotations take 1A more each; then the terms in n^2 are the printed ones.
    """
    for n in SIZES:
        M, A = by_method("walker-orin", n)
        assert (M, A) == at(n, "11n^2+50n-61", "7n^2+42n-49")
        printed = values(TABLE_I["Walker and Orin"], n)
        assert printed == (M + 3 * n - 13, A + n * (n - 1) + 11 * n - 13)


def test_frames_of_fijany_bejczy():
    """Appendix, frame k of Fijany and Bejczy: by our count k = 3 takes fewest operations.

    k = 2 takes 2M 3A more, k = n (2n+24)M (n+14)A, and only k = 1 takes more than k = n. Each
    takes less than Table I prints, and k = 2 less than our counts of Renaud's and of the present.
    """
    for s in draw():
        for k in range(1, s.n + 1):
            holds(fijany_bejczy.in_frame(s.arm, s.q.tolist(), k), s.M)
    for n in range(6, 9):
        costs = {
            k: run(lambda arm, q, _, k=k: fijany_bejczy.in_frame(arm, q, k), n)
            for k in range(1, n + 1)
        }
        assert costs[2] == at(n, "4.5n^2+90.5n-201", "4n^2+64n-141")
        assert costs[n] == at(n, "4.5n^2+92.5n-179", "4n^2+65n-130")
        assert costs[n] == by_method("fijany-bejczy", n)
        assert max(costs.values()) < values(TABLE_I["Fijany and Bejczy"], n)
        assert sum(costs[2]) < min(sum(by_method(name, n)) for name in ("renaud", "lin1991"))
        ranks = sorted(costs, key=lambda k: sum(costs[k]))
        assert ranks[0] == 3 and ranks[-2:] == [n, 1]
        assert [a - b for a, b in zip(costs[2], costs[3], strict=True)] == [2, 3]
        assert [a - b for a, b in zip(costs[n], costs[3], strict=True)] == [24 + 2 * n, 14 + n]


def test_most_efficient():
    """Abstract: most efficient for five or more joints: fewest M and A together, to n = 14.

    The text before: for four or fewer joints that of reference 13. By Table I's polynomials.
    """
    for n in range(2, 40):
        best = fewest(TABLE_I, n)
        assert (best == "Present") == (5 <= n <= 14)
        assert (best == "Lin, reference 13") == (n <= 4)


def test_two_other_types():
    """Abstract: fewer operations than Walker and Orin's, and from n = 4 on than Renaud's.

    Conclusion: the coefficients of n^2 are reduced, here to 10.5/13.5 of Renaud's at most.
    """
    for n in range(2, 40):
        present, walker, renaud = (
            sum(values(TABLE_I[name], n)) for name in ("Present", "Walker and Orin", "Renaud")
        )
        assert present < walker
        assert (present < renaud) == (n >= 4)
    squares = {name: [p.coefficients[2] for p in both] for name, both in TABLE_I.items()}
    assert squares["Present"] == [10.5, 6]
    assert squares["Walker and Orin"] == [11, 8] and squares["Renaud"] == [13.5, 9]


def test_fijany_bejczy_and_renaud():
    """Introduction: Fijany and Bejczy's is not more efficient than Renaud's; it holds to n = 9."""
    for n in range(2, 40):
        other, renaud = (sum(values(TABLE_I[name], n)) for name in ("Fijany and Bejczy", "Renaud"))
        assert (other >= renaud) == (n <= 9)


def test_bias_of_six_joints():
    """Abstract: fewer operations for b than both Newton-Euler recursions, to six joints."""
    for n in range(2, 40):
        assert (fewest(TABLE_II, n) == "Present") == (n <= 6)


def test_parallel_computation():
    """Conclusion: it can be applied; the longest chain of operations in our programs, n = 6."""
    longest = {"lin1991": 66, "walker-orin": 48, "renaud": 44, "fijany-bejczy": 44}
    for method, operations in longest.items():
        assert count(Chain.random(6), "mass_matrix", method, kind="depth") == operations


def test_rotations():
    """Text: R v takes 8M4A instead of 8M5A, because entries of R have common factors.

    Section Algorithm: frames with z along the joint axis save 45M 28A for Walker and Orin's
    method. That is R J R^T and R v without the factors: composite body 1 is not carried to E_0.
    """

    def plain(x):  # R v, with R_13 = 0
        R = [[x, x, 0], [x, x, x], [x, x, x]]
        return [row[0] * x + row[1] * x + row[2] * x for row in R]

    def similar(x):  # B = R J without B_13, then half of B R^T
        R, J = [[x, x, 0], [x, x, x], [x, x, x]], [[x] * 3] * 3
        for i, k in {*np.ndindex(3, 3)} - {(0, 2)}:
            _ = R[i][0] * J[0][k] + R[i][1] * J[1][k] + R[i][2] * J[2][k]
        for row in (R[0], R[0], R[0], R[1], R[1], R[2]):
            _ = row[0] * x + row[1] * x + row[2] * x

    assert on_numbers(lambda x: Rotation(x, x, x, x).down(Vector(x, x, x))) == (8, 4)
    assert on_numbers(plain) == (8, 5)
    assert on_numbers(lambda x: (plain(x), similar(x))) == (45, 28)


def test_half_traces():
    """After (23): J-bar saves additions, 6M per dyad for 6M3A."""
    assert on_numbers(lambda x: lin1991.dyad(Vector(x, x, x), Vector(x, x, x))) == (6, 0)
    assert on_numbers(lambda x: steiner(Vector(x, x, x), Vector(x, x, x))) == (6, 3)


def about(arm, q, k):
    """H of revolute joints by (65), all distances from the origin of E_k; k counts from 0."""
    R, step, mh = arm.rotations(q), arm.shifts(q), lin1991.composite_masses(arm)
    s = {k: ZERO}
    for i in range(k + 1, arm.n):
        s[i] = offset(arm, R, arm.d, i) if i == k + 1 else R[i].down(s[i - 1] + step[i])
    for i in reversed(range(k)):
        s[i] = -step[i + 1] if i == k - 1 else R[i + 1].up(s[i + 1]) - step[i + 1]
    p = {i: s[i] + arm.com[i] for i in range(arm.n)}
    u, sh = lin1991.axes(arm, R, s)
    mp = lin1991.link_moments(arm, p)
    ph = lin1991.first_moments(R, mp)
    Jb = lin1991.inertia_tensors(arm, R, mp, p)
    e = lin1991.levers(arm, mh, ph, s)
    body = lin1991.Bodies(0, mh, u, sh, p, mp, ph, Jb, e, lin1991.outer_products(arm, sh, ph, Jb))
    H_11 = lin1991.polar_moment(arm, R, body)
    if k:  # (62) and (65) of joint 1, whose s-hat is not zero
        ph_1, across = mp[0] + R[1].up(ph[1]), lin1991.across
        H_11 = H_11 + across(sh[0, 0]) @ ph_1 - sh[0, 0] @ (across(ph_1) - mh[0] * sh[0, 0])
    return lin1991.inertia_matrix(arm, body, H_11)


def test_body_fixed_reference_points():
    """Conclusion: from the origin of E_k in place of E_1, H takes more for k > 3.

    The paper says this of any body-fixed frame and does not describe what it tried. By the rules
    of Fig. 3, E_2 takes 3M 5A less, and E_3 3M more and 3A less.
    """
    for s in draw(REVOLUTE):
        for k in range(s.n):
            holds(about(s.arm, s.q.tolist(), k), s.M)
    for n in range(4, 9):
        M, A = by_method("lin1991", n)
        found = [run(lambda arm, q, _, k=k: about(arm, q, k), n) for k in range(n)]
        later = [(10 * k - 17, 6 * k - 15) for k in range(2, n - 1)]
        more = [(0, 0), (-3, -5), *later, (10 * n - 24, 6 * n - 17)]
        assert [(m - M, a - A) for m, a in found] == more
