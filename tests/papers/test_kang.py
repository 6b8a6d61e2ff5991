"""Kang: influence coefficients, the properties of [P*], augmented bodies.

Joints count from 0. Of [P1*]_{i,j;k} and its like i is the plane, as (25) has it.
"""

from functools import cache, cached_property
from itertools import product

import numpy as np

from armdyn.algorithms import kic, kic_augmented
from armdyn.chain import Chain
from armdyn.counting import count, growth
from armdyn.counting.polynomial import Polynomial
from armdyn.spatial import Vector
from tests.papers.bodies import Body
from tests.papers.samples import CLEAR, MIXED, REVOLUTE, SMALL, E, along, cross, off


class Arm(Body):
    """An arm with its augmented bodies k: links k..n taken as one."""

    def frozen(self, k):
        """Joint speeds while the joints inside body k are fixed."""
        return self.qd * (np.arange(self.n) <= k)

    def coefficients(self, P, last):
        """gT, gR, shape (n, 3), and hT, hR, shape (n, n, 3), of a point P of link ``last``."""
        S, O = ([Vector(*v) for v in vs] for vs in (self.at.u, self.at.o))
        first = kic.first_order(self.arm, S, O, Vector(*P), last)
        one = [np.array(kic.components(each), dtype=float).T for each in first]
        two = [np.array(kic.cube(each), dtype=float) for each in kic.second_order(*first)]
        return [*one, *(np.moveaxis(each, 0, -1) for each in two)]

    @cached_property
    def v(self):
        """The velocities of the links' centres of mass."""
        return along(lambda q: self.place(q).p, self.q, self.qd)

    @cached_property
    def power(self):
        """[P1*], [P2*], [P3*] of the current method, relative to the largest element."""
        P = np.array(kic.inertial_power(kic.links(self.arm, self.q.tolist())), dtype=float)
        return P / (np.abs(P).max() or 1)


@cache
def arms(kinds=(*REVOLUTE, *MIXED)):
    """An arm of each of these kinds."""
    return [Arm(joints, seed) for seed, joints in enumerate(kinds, start=1)]


# Section 2 and Appendix 1 ------------------------------------------------------------------------


def test_influence_coefficients():
    """(1) to (4), Appendix 1: the coefficients, by which links move and accelerate."""
    for s in arms():
        S, O, turns, slides = s.at.u, s.at.o, s.Ks, s.K
        for last, P in enumerate(s.at.p):
            gT, gR, hT, hR = (np.zeros((s.n,) * order + (3,)) for order in (1, 1, 2, 2))
            for k in range(last + 1):
                gT[k] = cross(S[k], P - O[k]) if turns[k] else S[k]
                gR[k] = S[k] if turns[k] else 0
            for j, k in product(range(last + 1), repeat=2):
                if turns[j] and turns[k] and j <= k:
                    hT[j, k] = cross(S[j], cross(S[k], P - O[k]))
                if turns[j] and turns[k] and k <= j:
                    hT[j, k] = cross(S[k], cross(S[j], P - O[j]))
                if slides[k] and turns[j] and j <= k:
                    hT[j, k] = cross(S[j], S[k])
                if turns[k] and slides[j] and k <= j:
                    hT[j, k] = cross(S[k], S[j])
                if turns[j] and turns[k] and j < k:
                    hR[j, k] = cross(S[j], S[k])
            a = gT.T @ s.qdd + np.einsum("j,jka,k->a", s.qd, hT, s.qd)
            alpha = gR.T @ s.qdd + np.einsum("j,jka,k->a", s.qd, hR, s.qd)
            assert off(gT.T @ s.qd, s.v[last]) < SMALL
            assert off(gR.T @ s.qd, s.spin(s.q, s.qd, last)) < SMALL
            assert off(a, s.acceleration(s.qd, s.qdd, last)) < SMALL
            assert off(alpha, s.angular_acceleration(s.qd, s.qdd, last)) < SMALL
            for found, truth in zip(s.coefficients(P, last), (gT, gR, hT, hR), strict=True):
                assert off(found, truth) < SMALL


def test_dynamic_model():
    """(5) to (8), (10): the virtual work of the links' loads, and the model that it makes."""
    for s in arms():
        T, P = np.zeros(s.n), np.zeros((s.n, s.n, s.n))
        for k, (m, II) in enumerate(zip(s.m, s.tensors, strict=True)):
            w = s.spin(s.q, s.qd, k)
            gT, gR, hT, hR = s.coefficients(s.at.p[k], k)
            f = m * s.acceleration(s.qd, s.qdd, k)
            moment = II @ s.angular_acceleration(s.qd, s.qdd, k) + cross(w, II @ w)
            T = T + gT @ f + gR @ moment
            P = P + m * np.einsum("ia,jka->ijk", gT, hT) + np.einsum("ia,jka->ijk", gR @ II, hR)
            P = P + np.einsum("ija,ka->ijk", np.cross(gR[:, None], gR[None]), gR @ II)
        torque = s.M @ s.qdd + s.Gamma @ s.qd @ s.qd
        assert off(T, torque) < SMALL
        assert off(s.M @ s.qdd + np.einsum("j,ijk,k->i", s.qd, P, s.qd), torque) < SMALL
        terms = kic.inertial_power(kic.links(s.arm, s.q.tolist()))
        assert off(np.sum(terms, axis=0), P) < SMALL


def test_effective_inertia():
    """(9), (P1), (P2): [I*], which is symmetric and positive definite."""
    for s in arms():
        I = np.zeros((s.n, s.n))
        for k, (m, II) in enumerate(zip(s.m, s.tensors, strict=True)):
            gT, gR, _, _ = s.coefficients(s.at.p[k], k)
            I = I + (m * gT @ gT.T + gR @ II @ gR.T)
        assert off(I, s.M) < SMALL and off(kic.mass_matrix(s.arm, s.q.tolist()), s.M) < SMALL
        assert max(abs(I[j, k] - I[k, j]) for j in range(s.n) for k in range(s.n)) < SMALL
        assert min(np.linalg.eigvalsh(I)) > 0


# Section 3: properties ---------------------------------------------------------------------------


def indices(n):
    """All i, j, k."""
    return list(product(range(n), repeat=3))


def test_p4():
    """(P4): P1_ijk = -P1_kji for j <= i, k. Our copy's indices hold if the plane stands last."""
    misses = []
    for s in arms():
        P1 = s.power[0]
        for i, j, k in indices(s.n):
            if j <= i and j <= k:
                assert abs(P1[i, j, k] + P1[k, j, i]) < SMALL
            if j <= k < i:
                misses.append(abs(P1[i, j, k] + P1[j, k, i]))  # with the plane first
                assert abs(P1[k, i, j] + P1[i, j, k]) < SMALL  # with the plane last
    assert max(misses) > CLEAR


def test_p3_p5():
    """(P3), (P5): P1_ijk = P1_ikj; it is 0 for i = k and j <= i, and for i = j and k <= i."""
    for s in arms():
        P1 = s.power[0]
        assert max(abs(P1[i, j, k] - P1[i, k, j]) for i, j, k in indices(s.n)) < SMALL
        zeros = [x for x in indices(s.n) if x[0] == x[2] >= x[1] or x[0] == x[1] >= x[2]]
        assert max(abs(P1[x]) for x in zeros) < SMALL
        assert len(zeros) == s.n**2


def test_p6():
    """(P6): [P2*]_ijk = 0 for j >= k; for j <= k, as our copy has it, it is not."""
    largest = 0
    for s in arms():
        P2 = s.power[1]
        assert max(abs(P2[i, j, k]) for i, j, k in indices(s.n) if j >= k) < SMALL
        largest = max(largest, *(abs(P2[i, j, k]) for i, j, k in indices(s.n) if j <= k))
    assert largest > CLEAR


def test_p7_p8():
    """(P7), (P8): [P3*] is skew in i and j, and zero for i = j."""
    for s in arms():
        P3 = s.power[2]
        assert max(abs(P3[i, j, k] + P3[j, i, k]) for i, j, k in indices(s.n)) < SMALL
        assert max(abs(P3[i, i, k]) for i, _, k in indices(s.n)) < SMALL


def test_p9_p10():
    """(P9), (P10): P3_ijk = P2_kij, P3_jik = -P2_kij for i < j; not as in our copy."""
    ninth, tenth = [], []
    for s in arms():
        _, P2, P3 = s.power
        for i, j, k in indices(s.n):
            if i < j:
                assert abs(P3[i, j, k] - P2[k, i, j]) < SMALL
                assert abs(P3[j, i, k] + P2[k, i, j]) < SMALL
            if k < j and i < j:
                ninth.append(abs(P3[i, j, k] + P2[k, i, j]))
            if j < k < i:
                tenth.append(abs(P3[j, i, k] + P2[k, i, j]))
    assert max(ninth) > CLEAR and max(tenth) > CLEAR


def test_independent_elements():
    """Section 3: (n^2+n)/2 elements of [I*], (n^3-n)/3 of [P1*], 21 and 70 for n = 6, and 91."""
    for n in (3, 4, 6):
        s = Arm("R" * n, n)
        P1 = s.power[0]
        # elements that no property ties together differ in size, on a random arm
        of_I = {round(abs(x), 9) for x in (s.M / np.abs(s.M).max()).flat}
        of_P1 = {round(abs(x), 9) for x in P1.flat if abs(x) > SMALL}
        zeros = sum(i == k >= j for i, j, k in indices(n))  # the others by (P3)
        outward = sum(i <= k and j <= k for i, j, k in indices(n))  # of [P2*], [P3*]: (25) to (27)
        assert 2 * len(of_I) == n**2 + n
        assert 3 * len(of_P1) == n**3 - n
        assert 6 * (len(of_P1) + zeros) == 6 * outward == 2 * n**3 + 3 * n**2 + n
    assert (s.M.size, len(of_I)) == (36, 21)
    assert (P1.size, len(of_P1), len(of_P1) + zeros) == (216, 70, 91)


# Section 4.1: the augmented bodies ---------------------------------------------------------------


def test_linear_momentum():
    """(11) to (16): the linear momentum, by links, by columns, by bodies."""
    for s in arms(REVOLUTE):
        truth = s.m @ s.v
        g = [s.coefficients(s.at.p[j], j)[0] for j in range(s.n)]
        columns = [sum(s.m[j] * g[j][k] for j in range(k, s.n)) * s.qd[k] for k in range(s.n)]
        M = [sum(s.m[k:]) for k in range(s.n)]
        r = [s.m[k:] @ (s.at.p[k:] - s.at.o[k]) / M[k] for k in range(s.n)]
        bodies = [M[k] * cross(s.at.u[k], r[k]) * s.qd[k] for k in range(s.n)]
        assert off(sum(s.m[j] * g[j].T @ s.qd for j in range(s.n)), truth) < SMALL
        assert off(bodies, columns) < SMALL and off(sum(bodies), truth) < SMALL


def test_angular_momentum():
    """(17), (18): L^k = [III^k] g_k, with m_j in (18), where our copy has m_k."""
    misses = []
    for s in arms(REVOLUTE):
        for k in range(s.n):
            r = s.at.p - s.r[k]
            dyads = [r_j @ r_j * E - np.outer(r_j, r_j) for r_j in r]
            III = sum(s.tensors[j] + s.m[j] * dyads[j] for j in range(k, s.n))
            copied = sum(s.tensors[j] + s.m[k] * dyads[j] for j in range(k, s.n))
            assert off(III @ s.at.u[k] * s.qd[k], s.J[k] @ s.at.u[k] * s.qd[k]) < SMALL
            misses.append(off(copied, s.J[k]))
    assert max(misses) > CLEAR


def test_rate_of_linear_momentum():
    """(19): the rate of P^k while the joints inside body k are fixed."""
    for s in arms(REVOLUTE):
        for k in range(s.n):

            def P(q, k=k, s=s):
                links = s.place(q)
                C = s.m[k:] @ links.p[k:] / s.mh[k]
                return s.mh[k] * cross(links.u[k], C - links.o[k]) * s.qd[k]

            g, w = cross(s.at.u[k], s.r[k] - s.at.o[k]), s.spin(s.q, s.frozen(k), k)
            found = s.mh[k] * g * s.qdd[k] + cross(w, s.mh[k] * g) * s.qd[k]
            assert off(found, along(P, s.q, s.frozen(k)) + P(s.q) / s.qd[k] * s.qdd[k]) < SMALL


def test_rate_of_angular_momentum():
    """(20): the rate of L^k without its middle term, which counts the turn of g_k twice."""
    misses = []
    for s in arms(REVOLUTE):
        for k in range(s.n):

            def L(q, k=k, s=s):
                R = s.place(q).R[k]
                turn = R @ s.at.R[k].T
                return turn @ s.J[k] @ turn.T @ R[:, 2] * s.qd[k]

            rate = along(L, s.q, s.frozen(k)) + L(s.q) / s.qd[k] * s.qdd[k]
            g, w, III = s.at.u[k], s.spin(s.q, s.frozen(k), k), s.J[k]
            found = III @ g * s.qdd[k] + cross(w, III @ g) * s.qd[k]
            assert off(found, rate) < SMALL
            misses.append(off(found + III @ cross(w, g) * s.qd[k], rate))
    assert max(misses) > CLEAR


def test_load_of_a_body():
    """(21), (22): the virtual work of (19) and (20), by coefficients of second order."""
    misses = []
    for s in arms(REVOLUTE):
        for k in range(s.n):
            gT, gR, hT, hR = s.coefficients(s.r[k], k)
            M, III, w, v = s.mh[k], s.J[k], s.spin(s.q, s.frozen(k), k), s.frozen(k)
            P = M * gT[k] * s.qdd[k] + cross(w, M * gT[k]) * s.qd[k]
            swept = III @ cross(w, gR[k]) + cross(w, III @ gR[k])
            load = gT @ P + gR @ (III @ gR[k] * s.qdd[k] + swept * s.qd[k])
            first = (M * gT @ gT[k] + gR @ III @ gR[k]) * s.qdd[k]
            turns = M * np.einsum("j,ia,ja->i", v, gT, hT[:, k])
            copied = M * np.einsum("j,ia,ja->i", v, gR, hT[:, k])  # [G^k] for [G^c*]
            others = np.einsum("j,ia,ja->i", v, gR @ III, hR[:, k])
            others += np.einsum("j,ija,a->i", v, np.cross(gR[:, None], gR[None]), III @ gR[k])
            assert off(first + (turns + others) * s.qd[k], load) < SMALL
            misses.append(off(first + (copied + others) * s.qd[k], load))
    assert max(misses) > CLEAR


def test_elements_of_augmented_bodies():
    """(23) to (27) with g_i for the first factor; (P3) to (P10) give the rest, and the torque."""
    for s in arms(REVOLUTE):
        I, (P1, P2, P3) = np.zeros((s.n, s.n)), np.zeros((3, s.n, s.n, s.n))
        for k in range(s.n):
            M, III = s.mh[k], s.J[k]
            gT, gR, hT, hR = s.coefficients(s.r[k], k)
            for i in range(k + 1):
                I[i, k] = I[k, i] = M * gT[i] @ gT[k] + gR[i] @ III @ gR[k]
                for j in range(k + 1):
                    P1[i, j, k] = P1[i, k, j] = M * gT[i] @ hT[j, k]
                    P2[i, j, k] = gR[i] @ III @ hR[j, k]
                    P3[i, j, k] = (hR[i, j] - hR[j, i]) @ III @ gR[k]
        for i, j, k in indices(s.n):
            if j <= k < i:
                P1[i, j, k] = P1[i, k, j] = -P1[k, j, i]
            if j < k < i:
                P2[i, j, k] = P3[j, k, i]
        for i, j, k in indices(s.n):
            if i < j and k < j:
                P3[i, j, k], P3[j, i, k] = P2[k, i, j], -P2[k, i, j]
        assert off(I, s.M) < SMALL
        P = P1 + P2 + P3
        assert off((P + P.transpose(0, 2, 1)) / 2, s.Gamma) < SMALL
        ours = kic_augmented.inertial_power_terms(s.arm, s.q.tolist())
        for one, other in zip(ours, (P1, P2, P3), strict=True):
            assert off(one, other) < SMALL


def test_identical_models():
    """Both algorithms have the same [I*]; their [P*] agree in (P_ijk + P_ikj) / 2, not singly."""
    misses = []
    for s in arms(REVOLUTE):
        q = s.q.tolist()
        I, new, _ = kic_augmented.model(s.arm, q)
        old, new = np.sum(kic.inertial_power(kic.links(s.arm, q)), axis=0), np.array(new)
        assert off(I, s.M) < SMALL
        for i, j, k in indices(s.n):
            assert abs(old[i, j, k] + old[i, k, j] - new[i, j, k] - new[i, k, j]) < SMALL
        misses.append(off(new, old))
    assert [round(miss, 2) for miss in misses] == [0, 0.09, 0.25]  # for n = 3, 4, 5


def test_recursion():
    """(28) with both centres weighed by their masses; (29) as it stands."""
    misses = []
    for s in arms(REVOLUTE):
        for k in range(s.n - 1):
            own, Q = s.at.p[k] - s.at.o[k], s.at.o[k + 1] - s.at.o[k]
            outer = s.r[k + 1] - s.at.o[k + 1]
            m, M = s.m[k], s.mh[k + 1]
            r = (m * own + M * (outer + Q)) / (m + M)
            a, b = r - own, r - outer - Q
            III = s.tensors[k] + m * (a @ a * E - np.outer(a, a))
            III = III + s.J[k + 1] + M * (b @ b * E - np.outer(b, b))
            assert off(r, s.r[k] - s.at.o[k]) < SMALL and off(III, s.J[k]) < SMALL
            misses.append(off((own + outer + Q) / (m + M), r))
    assert max(misses) > CLEAR


# Section 4.2: counts -----------------------------------------------------------------------------


def total(polynomials):
    """The sum of polynomials in n."""
    return sum(map(Polynomial.parse, polynomials), Polynomial())


def test_total():
    """The steps add up to the totals, with 697/6 n for 691/6 n; for n = 6 to 1621 A, not 1715."""
    mul = ["51n-87", "84n-84", "3n^2-3n", "7/2n^2+25/2n", "6n^2-12n", "3n^3-3/2n^2-7/2n", "0"]
    add = ["39n-66", "70n-70", "2n^2+4n", "5/2n^2+17/2n", "3n^2-3n-2", "2n^3-3n"]
    add += ["11/6n^3-n^2+2/3n"]
    assert total(mul[:4]) == Polynomial.parse("13/2n^2+289/2n-171")
    assert total(add[:4]) == Polynomial.parse("9/2n^2+243/2n-136")
    assert total(mul) == Polynomial.parse("3n^3+11n^2+129n-171")
    assert total(add) == Polynomial.parse("23/6n^3+13/2n^2+697/6n-138")
    copied = Polynomial.parse("23/6n^3+13/2n^2+691/6n-138")
    assert (total(mul)(6), total(add)(6), copied(6)) == (1647, 1621, 1615)
    assert 1647 + 1715 == 3362
    saved = [100 * (1 - operations / 5995) for operations in (3362, 1647 + total(add)(6))]
    assert [round(float(percent), 1) for percent in saved] == [43.9, 45.5]  # printed, by the steps


def test_steps():
    """Steps 1 to 7 of ours, counted; 9M6A a body and 7M5A an element make the paper's step 4."""
    for step, ours in (
        (1, ("39n-70", "27n-48")),
        (2, ("40n-42", "42n-44")),
        (3, ("3n^2-5n+2", "3n^2-5n+2")),
        (4, ("3n^2+10n-12", "2.5n^2+4.5n-8")),
        (5, ("6n^2-16n+12", "3n^2-10n+9")),
        (6, ("2.5n^3-0.5n^2-6n+2", "5/3n^3-n^2-14/3n+2")),
        (7, ("0", "1.5n^3-2n^2+0.5n")),
    ):
        found = growth("christoffel", "kic-augmented", stage=f"step {step}")
        assert (str(found["mul"]), str(found["add"])) == ours
    bodies, elements = 6, 6 * 7 // 2
    assert 9 * bodies + 7 * elements == Polynomial.parse("7/2n^2+25/2n")(6)
    assert 6 * bodies + 5 * elements == Polynomial.parse("5/2n^2+17/2n")(6)


def test_previous_algorithm():
    """Our counts for n = 6, beside reference 10's 5995: `kic` takes 5659 with terms shared."""
    both = ("mass_matrix", "christoffel")
    for method, quantities, kind, operations in (
        ("kic", "christoffel", "literal", 9630),
        ("kic", "christoffel", "shared", 4894),
        ("kic", both, "shared", 5659),
        ("kic-augmented", both, "shared", 2341),
        ("momentum", both, "shared", 1593),
        ("lin1991", both, "shared", 1435),
    ):
        found = count(Chain.random(6, "RRRRRR"), quantities, method, kind)
        assert found.mul + found.add + found.double == operations
