"""Lin 1991: the inertia matrix, (1) to (30), and the algorithm, (58) to (67).

Joints count from 0 here. Vectors are in base axes where a formula has no superscript.
"""

import numpy as np

from armdyn.algorithms import lin1991
from tests.papers.bodies import bodies
from tests.papers.samples import E, cross, fails, holds, skew


def test_equation_of_motion():
    """(1): H qdd + b = tau, with H and b by Fig. 3; the truth is the power of the inertia forces.

    The block of Fig. 3 that our copy lacks is rebuilt in armdyn.algorithms.lin1991.
    """
    for s in bodies():
        H, b = lin1991.mass_matrix_and_bias(s.arm, s.q.tolist(), s.qd.tolist())
        tau = np.zeros(s.n)
        for i in range(s.n):
            w, alpha = s.spin(s.q, s.qd, i), s.angular_acceleration(s.qd, s.qdd, i)
            I = s.tensors[i]
            force = s.m[i] * (s.acceleration(s.qd, s.qdd, i) - s.g)
            torque = I @ alpha + cross(w, I @ w)
            tau += force @ s.velocities(s.at, s.at.p[i], i) + torque @ s.spins(s.at, i)
        holds(np.array(H) @ s.qdd + np.array(b), tau)


def test_actuator_forces():
    """(8) to (11): the forces that resist a unit acceleration of joint j are a column of H."""
    for s in bodies():
        for m, j in s.pairs:
            u, r = s.at.u, s.r[j]
            a = s.Ks[j] * cross(u[j], r - s.at.o[j]) + s.K[j] * u[j]
            f = -s.mh[j] * a
            t = -s.J[j] @ (s.Ks[j] * u[j]) - s.mh[j] * cross(r, a)
            tau = -u[m] @ (s.Ks[m] * (t - cross(s.at.o[m], f)) + s.K[m] * f)
            assert abs(tau - s.M[m, j]) < 1e-10 * np.abs(s.M).max()


def test_inertia_matrix():
    """(12), with (13) to (15): H_mj for m <= j, for all four pairs of kinds of joints."""
    for s in bodies():
        H = np.zeros((s.n, s.n))
        for m, j in s.pairs:
            u, o, mr = s.at.u, s.at.o, s.mh[j] * s.r[j]
            J = sum(
                s.tensors[i] - s.m[i] * skew(s.at.p[i]) @ skew(s.at.p[i]) for i in range(j, s.n)
            )
            e = cross(u[j], mr - s.mh[j] * o[j])
            turning = u[m] @ (J @ u[j] + cross(cross(u[j], o[j]), mr)) - cross(u[m], o[m]) @ e
            H[m, j] = (
                s.Ks[m] * s.Ks[j] * turning
                + s.K[m] * s.Ks[j] * u[m] @ e
                + s.Ks[m] * s.K[j] * u[j] @ (cross(u[m], mr) - s.mh[j] * cross(u[m], o[m]))
                + s.K[m] * s.K[j] * s.mh[j] * u[m] @ u[j]
            )
        holds(H, np.triu(s.M))


def test_half_traces():
    """(19) to (23): I~ = I - tr[I] E / 2 and back; [a x][b x] = b a^T - tr[b a^T] E; J-bar."""
    for s in bodies():
        a, b = s.at.p[0], s.at.p[1]
        holds(np.outer(b, a) - np.trace(np.outer(b, a)) * E, skew(a) @ skew(b))
        tilde = [I - 1 / 2 * np.trace(I) * E for I in s.tensors]
        holds([I - np.trace(I) * E for I in tilde], s.tensors)
        for j in range(s.n):
            Jb = sum(tilde[i] - s.m[i] * np.outer(s.at.p[i], s.at.p[i]) for i in range(j, s.n))
            holds(Jb, s.Jb[j])
            holds(Jb - np.trace(Jb) * E, s.Jh[j])


def test_gravity():
    """(58): eta_j = -K*_j u_j . ((r_j - s_j) x m-hat_j g) - K_j u_j . m-hat_j g."""
    for s in bodies():
        for j in range(s.n):
            u, weight = s.at.u[j], s.mh[j] * s.g
            eta = -s.Ks[j] * u @ cross(s.r[j] - s.at.o[j], weight) - s.K[j] * u @ weight
            assert abs(eta - s.gravity[j]) < 1e-10 * np.abs(s.gravity).max()


def brief(s, j):
    """a_j and e_j of (62) and (63), in E_j."""
    u, ph, o = s.within(j, s.at.u[j], s.ph[j], s.at.o[j])
    sh = cross(u, o)
    return s.tensor_within(j, s.Jh[j]) @ u + cross(sh, ph), cross(u, ph - s.mh[j] * o), ph


def test_brief_inertia_matrix():
    """(65), its K*_m K_j term read as K*_m K_j {(u_m x p-hat_j)_z - m-hat_j (s-hat_m)_z}.

    In our copy the braces are missing, and the last term then belongs to every pair.
    """
    for s in bodies():
        H, copy = np.zeros((2, s.n, s.n))
        for m, j in s.pairs:
            a, e, ph = brief(s, j)
            u, sh = s.within(j, s.at.u[m], s.sh[m])
            turning = s.Ks[m] * s.Ks[j] * (a @ u - sh @ e) + s.K[m] * s.Ks[j] * e @ u
            sliding = s.K[m] * s.K[j] * s.mh[j] * u[2]
            lever, moved = cross(u, ph)[2], s.mh[j] * sh[2]
            H[m, j] = turning + s.Ks[m] * s.K[j] * (lever - moved) + sliding
            copy[m, j] = turning + s.Ks[m] * s.K[j] * lever - moved + sliding
        holds(H, np.triu(s.M))
        if s.n > 2:  # s-hat of the first joint is zero
            fails(copy, np.triu(s.M))


def test_brief_gravity():
    """(67), its last factor read as K_m: eta_m = -K*_m e_m . g - K_m m-hat_m (g)_z in E_m."""
    for s in bodies():
        for m in range(s.n):
            (g,) = s.within(m, s.g)
            eta = -s.Ks[m] * brief(s, m)[1] @ g - s.K[m] * s.mh[m] * g[2]
            assert abs(eta - s.gravity[m]) < 1e-10 * np.abs(s.gravity).max()


def test_gravity_before_the_first_revolute_joint():
    """Fig. 3, initialization: read as eta_j = -m-hat_j (g^<j>)_z; our copy has m-hat_j (g^<j>)_x.

    For n = 1, where our copy subtracts K_1 eta_1, read as (b)_1 = -K*_1 (m c x g)_z + K_1 eta_1.
    """
    for s in [s for s in bodies() if s.first > 0]:
        g = [s.within(j, s.g)[0] for j in range(s.first)]
        holds([-s.mh[j] * g[j][2] for j in range(s.first)], s.gravity[: s.first])
        fails([s.mh[j] * g[j][0] for j in range(s.first)], s.gravity[: s.first])
    for s in bodies():  # the last link alone, with the first n - 1 joints at rest, is an arm of one
        m = s.n - 1
        g, c = *s.within(m, s.g), s.c[m]
        b = -s.Ks[m] * s.m[m] * cross(c, g)[2] + s.K[m] * (-s.m[m] * g[2])
        assert abs(b - s.gravity[m]) < 1e-10 * np.abs(s.gravity).max()
