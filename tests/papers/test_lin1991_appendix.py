"""Lin 1991, Appendix: Renaud's formulation, and Fijany and Bejczy's. Joints count from 0 here."""

import numpy as np

from armdyn.algorithms import renaud
from tests.papers.bodies import bodies, fails, holds
from tests.papers.samples import cross, skew


def first_moment(s, j):
    """c-hat_j: the first moment of body j from the origin of E_j."""
    return s.ph[j] - s.mh[j] * s.at.o[j]


def test_renauds_formulation():
    """(A1), with (A2) to (A4): H_mj for m <= j, bodies about the origins of their own frames."""
    for s in bodies():
        H = np.zeros((s.n, s.n))
        for m, j in s.pairs:
            u, apart, outside = s.at.u, s.at.p - s.at.o[j], range(j, s.n)
            c = sum(s.m[i] * apart[i] for i in outside)
            J = sum(s.tensors[i] - s.m[i] * skew(apart[i]) @ skew(apart[i]) for i in outside)
            sh = cross(u[m], s.at.o[j] - s.at.o[m])
            H[m, j] = (
                s.Ks[m] * s.Ks[j] * (u[m] @ J @ u[j] + sh @ cross(u[j], c))
                + s.K[m] * s.Ks[j] * u[m] @ cross(u[j], c)
                + s.Ks[m] * s.K[j] * (s.mh[j] * sh @ u[j] + u[m] @ cross(c, u[j]))
                + s.K[m] * s.K[j] * s.mh[j] * u[m] @ u[j]
            )
        holds(H, np.triu(s.M))
        holds(renaud.mass_matrix(s.arm, s.q.tolist()), s.M)


def test_constants():
    """(A5) to (A8): c-hat_j and J-hat_j from body j + 1, with their constant parts apart."""
    for s in bodies():
        for j in range(s.n - 1):
            k, x, R = j + 1, skew(s.step(j + 1, s.q)), s.turn(j + 1, s.q)
            step, own = s.step(k, s.q), skew(s.c[j])
            c_bar = s.m[j] * s.c[j] + s.Ks[k] * s.mh[k] * step
            J_bar = s.I[j] - s.m[j] * own @ own - s.Ks[k] * s.mh[k] * x @ x
            c = R @ s.within(k, first_moment(s, k))[0]
            J = R @ s.tensor_within(k, s.tensor(k, s.at.o[k])) @ R.T
            holds(c_bar + c + s.K[k] * s.mh[k] * step, *s.within(j, first_moment(s, j)))
            J = J_bar + J - x @ skew(c) - skew(c) @ x - s.K[k] * s.mh[k] * x @ x
            holds(J, s.tensor_within(j, s.tensor(j, s.at.o[j])))


def test_constants_vary_beyond_a_prismatic_joint():
    """After (A9): with 1 in place of K*_{j+1}, (A5) and (A6) vary with a prismatic joint j + 1."""
    for s in bodies():
        for k in range(1, s.n):
            for K in (s.Ks[k], 1):
                near, far = (K * s.mh[k] * s.step(k, s.q + x * np.eye(s.n)[k]) for x in (0, 1))
                assert np.allclose(near, far) == (K == s.Ks[k])
                x, y = (K * s.mh[k] * skew(v) @ skew(v) for v in (near, far))
                assert np.allclose(x, y) == (K == s.Ks[k])


def test_levers():
    """(A9): the moment of u_m about the origin of E_j, from E_{j-1} to E_j, m < j."""
    for s in bodies():
        for m, j in [(m, j) for m, j in s.pairs if m < j]:
            here, there = (cross(s.at.u[m], s.at.o[i] - s.at.o[m]) for i in (j - 1, j))
            sh, u = s.within(j - 1, here, s.at.u[m])
            holds(s.turn(j, s.q).T @ (sh + cross(u, s.step(j, s.q))), *s.within(j, there))


def column(s, m, j):
    """In the axes of E_j: u_m, s-hat, c-hat_j and the third column of J-hat_j."""
    sh = cross(s.at.u[m], s.at.o[j] - s.at.o[m])
    a = s.tensor_within(j, s.tensor(j, s.at.o[j]))[:, 2]
    return *s.within(j, s.at.u[m], sh, first_moment(s, j)), a


def test_lever_of_figure_a1():
    """Fig. A1: e_j read as [-(c-hat_j)_y (c-hat_j)_x 0]; our copy has p-hat_j."""
    for s in bodies():
        read, copy = np.zeros((2, s.n, s.n))
        for m, j in s.pairs:
            u, sh, c, a = column(s, m, j)
            for found, v in ((read, c), (copy, s.within(j, s.ph[j])[0])):
                e = np.array([-v[1], v[0], 0])
                found[m, j] = s.Ks[m] * s.Ks[j] * (a @ u + sh @ e) + s.K[m] * s.Ks[j] * e @ u
        revolute = np.outer(np.ones(s.n), s.Ks)  # the terms in K*_j
        holds(read, np.triu(s.M) * revolute)
        if s.Ks[1:].any():
            fails(copy, np.triu(s.M) * revolute)


def test_components_of_figure_a1():
    """Fig. A1, joint j prismatic: H_mj read with (s-hat)_z and (u_m)_z; our copy has x."""
    for s in [s for s in bodies() if s.K.any()]:
        read, copy = np.zeros((2, s.n, s.n))
        for m, j in s.pairs:
            u, sh, c, _ = column(s, m, j)
            e = np.array([-c[1], c[0], 0])
            for found, z in ((read, 2), (copy, 0)):
                found[m, j] = s.Ks[m] * s.K[j] * (s.mh[j] * sh[z] - e @ u)
                found[m, j] += s.K[m] * s.K[j] * s.mh[j] * u[z]
        holds(read, np.triu(s.M) * s.K)
        fails(copy, np.triu(s.M) * s.K)


def test_polar_moment_of_figure_a1():
    """Fig. A1, i = N_JR, i + 1 prismatic: read as m-hat (s_x^2 + s_y^2); our copy has z, y."""
    for s in bodies():
        for i in [i for i in range(s.n - 1) if s.K[i + 1]]:
            k, R, step = i + 1, s.turn(i + 1, s.q), s.step(i + 1, s.q)
            c = R @ s.within(k, first_moment(s, k))[0]
            own = s.I[i] - s.m[i] * skew(s.c[i]) @ skew(s.c[i])
            value = (own + R @ s.tensor_within(k, s.tensor(k, s.at.o[k])) @ R.T)[2, 2]
            value += 2 * (step[0] * c[0] + c[1] * step[1])
            truth = s.tensor_within(i, s.tensor(i, s.at.o[i]))[2, 2]
            holds(value + s.mh[k] * (step[0] ** 2 + step[1] ** 2), truth)
            fails(value + s.mh[k] * (step[2] ** 2 + step[1] ** 2), truth)


def forces(s, j):
    """f_jj and t_jj by (A10) and (A11) for a unit acceleration, in base axes."""
    u, c, J = s.at.u[j], first_moment(s, j), s.tensor(j, s.at.o[j])
    return s.K[j] * s.mh[j] * u + s.Ks[j] * cross(u, c), s.K[j] * cross(c, u) + s.Ks[j] * J @ u


def test_forces():
    """(A10) to (A13), (A15): the force and couple of body j, carried inward to joint m."""
    for s in bodies():
        for m, j in s.pairs:
            u, c = s.at.u[j], first_moment(s, j)
            f = s.K[j] * s.mh[j] * u + s.Ks[j] * cross(u, c)
            t = s.K[j] * cross(c, u) + s.Ks[j] * s.tensor(j, s.at.o[j]) @ u
            scale = 1e-10 * np.abs(s.M).max()
            if m == j:
                H_jj = s.K[j] * s.mh[j] + s.Ks[j] * u @ t
                assert abs(H_jj - s.M[j, j]) < scale
            for i in reversed(range(m, j)):
                t = t + cross(s.at.o[i + 1] - s.at.o[i], f)
            H_mj = s.K[m] * s.at.u[m] @ f + s.Ks[m] * s.at.u[m] @ t
            assert abs(H_mj - s.M[m, j]) < scale


def test_first_terms():
    """After (A11): without the first terms of (A10) and (A11), H fails where a joint slides."""
    for s in [s for s in bodies() if s.K.any()]:
        H = {0: np.zeros((s.n, s.n)), 1: np.zeros((s.n, s.n))}
        for kept, found in H.items():
            for m, j in s.pairs:
                u, c, J = s.at.u, first_moment(s, j), s.tensor(j, s.at.o[j])
                f = kept * s.K[j] * s.mh[j] * u[j] + s.Ks[j] * cross(u[j], c)
                t = kept * s.K[j] * cross(c, u[j]) + s.Ks[j] * J @ u[j]
                t = t + cross(s.at.o[j] - s.at.o[m], f)
                found[m, j] = s.K[m] * u[m] @ f + s.Ks[m] * u[m] @ t
        holds(H[1], np.triu(s.M))
        fails(H[0], np.triu(s.M))


def test_forces_in_one_frame():
    """(A14), read as f^<k> = -R f_Ej^<j>, and t_jj^<k> = -R t_Ej^<j>, R from E_j to E_k.

    Our copy has f_Ej^<k> on the right, and t_jj = t_Ej without the sign of f. Here k = n.
    """
    for s in [s for s in bodies() if s.n > 2 and s.first < s.n - 1]:
        H = [np.zeros((s.n, s.n)) for _ in range(3)]
        for m, j in s.pairs:
            R = s.at.R[-1].T @ s.at.R[j]
            f_E, t_E = (-v for v in s.within(j, *forces(s, j)))
            (u, step) = s.within(s.n - 1, s.at.u[m], s.at.o[j] - s.at.o[m])
            for found, f, t in (
                (H[0], -R @ f_E, -R @ t_E),
                (H[1], -R @ (R @ f_E), -R @ t_E),  # (A14) of our copy
                (H[2], -R @ f_E, R @ t_E),  # the note below (A15) of our copy
            ):
                found[m, j] = s.K[m] * u @ f + s.Ks[m] * u @ (t + cross(step, f))
        holds(H[0], np.triu(s.M))
        fails(H[1], np.triu(s.M))
        fails(H[2], np.triu(s.M))


def test_distance_of_two_frames():
    """Fig. 2: s_i = [b, -d sin beta, d cos beta] in E_{i-1}; [b, 0, d] is another vector."""
    for s in bodies():
        for i in range(1, s.n):
            joint = s.chain.joints[i]
            d, beta = joint.d + s.K[i] * s.q[i], joint.beta
            (truth,) = s.within(i - 1, s.at.o[i] - s.at.o[i - 1])
            holds([joint.b, -d * np.sin(beta), d * np.cos(beta)], truth)
            fails([joint.b, 0, d], truth)
