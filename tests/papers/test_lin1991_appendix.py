"""Lin 1991, Appendix: Renaud's formulation, and Fijany and Bejczy's. Joints count from 0 here."""

from itertools import product

import numpy as np

from armdyn.algorithms import renaud
from tests.papers.bodies import bodies
from tests.papers.samples import cross, fails, holds, skew


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


def test_columns_of_figure_a1():
    """Fig. A1: e_j read as [-(c-hat_j)_y (c-hat_j)_x 0], and m-hat_j times (s-hat)_z or (u_m)_z.

    Our copy has p-hat_j in e_j, which matters for revolute j, and x for z where j is prismatic.
    """
    for s in bodies():
        read, lever, component = np.zeros((3, s.n, s.n))
        for m, j in s.pairs:
            u, c, ph = s.within(j, s.at.u[m], first_moment(s, j), s.ph[j])
            (sh,) = s.within(j, cross(s.at.u[m], s.at.o[j] - s.at.o[m]))
            a = s.tensor_within(j, s.tensor(j, s.at.o[j]))[:, 2]
            for H, v, z in ((read, c, 2), (lever, ph, 2), (component, c, 0)):
                e = np.array([-v[1], v[0], 0])
                H[m, j] = s.Ks[m] * s.Ks[j] * (a @ u + sh @ e) + s.K[m] * s.Ks[j] * e @ u
                H[m, j] += s.Ks[m] * s.K[j] * (s.mh[j] * sh[z] - e @ u)
                H[m, j] += s.K[m] * s.K[j] * s.mh[j] * u[z]
        holds(read, np.triu(s.M))
        for found, matters in ((lever, s.Ks[1:]), (component, s.K)):
            if matters.any():
                fails(found, np.triu(s.M))


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


def test_forces_in_one_frame():
    """(A10) to (A15) in E_n, (A14) read as f^<k> = -R f_Ej^<j>, and t_jj^<k> as -R t_Ej^<j>.

    Our copy has f_Ej^<k> on the right, and t_jj = t_Ej without the sign of f. After (A11): without
    their first terms, (A10) and (A11) fail where a joint is prismatic.
    """
    for s in bodies():
        readings = "read", "f of our copy", "t of our copy", "no first terms"
        H = {reading: np.zeros((s.n, s.n)) for reading in readings}
        for (m, j), (reading, found) in product(s.pairs, H.items()):
            u, c, kept = s.at.u[j], first_moment(s, j), reading != "no first terms"
            f_E = -kept * s.K[j] * s.mh[j] * u - s.Ks[j] * cross(u, c)
            t_E = -kept * s.K[j] * cross(c, u) - s.Ks[j] * s.tensor(j, s.at.o[j]) @ u
            R, (f_E, t_E) = s.at.R[-1].T @ s.at.R[j], s.within(j, f_E, t_E)
            f = -R @ (R @ f_E) if reading == "f of our copy" and m < j else -R @ f_E
            t = R @ t_E if reading == "t of our copy" else -R @ t_E
            for i in reversed(range(m, j)):
                t = t + cross(*s.within(s.n - 1, s.at.o[i + 1] - s.at.o[i]), f)
            (u,) = s.within(s.n - 1, s.at.u[m])
            found[m, j] = s.K[m] * u @ f + s.Ks[m] * u @ t
        holds(H["read"], np.triu(s.M))
        if s.n > 2 and s.first < s.n - 1:
            fails(H["f of our copy"], np.triu(s.M))
            fails(H["t of our copy"], np.triu(s.M))
        if s.K.any():
            fails(H["no first terms"], np.triu(s.M))


def test_distance_of_two_frames():
    """Fig. 2: s_i = [b, -d sin beta, d cos beta] in E_{i-1}; [b, 0, d] is another vector."""
    for s in bodies():
        for i in range(1, s.n):
            joint = s.chain.joints[i]
            d, beta = joint.d + s.K[i] * s.q[i], joint.beta
            (truth,) = s.within(i - 1, s.at.o[i] - s.at.o[i - 1])
            holds([joint.b, -d * np.sin(beta), d * np.cos(beta)], truth)
            fails([joint.b, 0, d], truth)
