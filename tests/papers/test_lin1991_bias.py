"""Lin 1991: the bias vector, (31) to (57) and (66). Joints count from 0 here."""

import numpy as np

from armdyn.algorithms import lin1991
from tests.papers.bodies import bodies
from tests.papers.samples import E, along, cross, fails, holds, skew


def test_quadratic_form():
    """(31), (35) and (43): b as a sum over all pairs, and over k < j doubled, k = j once."""
    for s in bodies():
        D, qd, n = s.Gamma, s.qd, range(s.n)
        full = [sum(D[m, k, j] * qd[k] * qd[j] for j in n for k in n) for m in n]
        pairs = [
            sum(2 * D[m, k, j] * qd[k] * qd[j] for j in n for k in range(j))
            + sum(D[m, j, j] * qd[j] ** 2 for j in n)
            for m in n
        ]
        b = lin1991.bias(s.arm, s.q.tolist(), qd.tolist())
        holds(full + s.gravity, b)
        holds(pairs + s.gravity, b)


def test_symmetries():
    """(32) to (34): D_mjk = D_mkj; D_jkj = D_jjk = 0 for j >= k; D_jkm = -D_mkj for m, j >= k."""
    for s in bodies():
        D = s.Gamma
        holds(D.transpose(0, 2, 1), D)
        for k in range(s.n):
            for j in range(k, s.n):
                zeros = [D[j, k, j], D[j, j, k], *(D[j, k, m] + D[m, k, j] for m in range(k, s.n))]
                assert np.abs(zeros).max() <= 1e-10 * np.abs(D).max()


def two_speeds(s, k, j):
    """The joint velocities where only joints k and j move."""
    return s.qd * np.isin(np.arange(s.n), (k, j))


def test_angular_motion():
    """(36), (37), (41): spin of body j, its rate, and that of link i < j, while k < j move."""
    for s in bodies():
        for k, j in s.inner:
            qd, rest = two_speeds(s, k, j), np.zeros(s.n)
            turn_k, turn_j = s.Ks[k] * s.at.u[k] * qd[k], s.Ks[j] * s.at.u[j] * qd[j]
            holds(turn_k + turn_j, s.spin(s.q, qd, j))
            holds(cross(turn_k, turn_j), s.angular_acceleration(qd, rest, j))
            for i in range(j):
                holds(np.zeros(3), s.angular_acceleration(qd, rest, i))


def test_linear_motion():
    """(39), (40), (42): the accelerations of o_j, r_j and p_i for i < j, while k < j move."""
    for s in bodies():
        for k, j in s.inner:
            qd, (u_k, u_j) = two_speeds(s, k, j), s.at.u[[k, j]]
            K_k, K_j, arm, a, b = s.Ks[k], s.Ks[j], s.r[j] - s.at.o[j], qd[k], qd[j]
            s_j = K_k * cross(u_k, cross(u_k, s.at.o[j] - s.at.o[k])) * a * a
            s_j = s_j + 2 * K_k * s.K[j] * cross(u_k, u_j) * a * b
            own = K_k * cross(u_k, cross(u_k, arm)) * a * a
            own = own + K_j * cross(u_j, cross(u_j, arm)) * b * b
            mixed = cross(u_k, cross(u_j, arm)) + cross(u_j, cross(u_k, arm))
            r_j = s_j + own + K_k * K_j * (mixed + cross(cross(u_k, u_j), arm)) * a * b

            def speed(q, composite, s=s, j=j, qd=qd):
                links = s.place(q)
                point = s.m[j:] @ links.p[j:] / s.mh[j] if composite else links.o[j]
                return s.velocities(links, point, j) @ qd

            holds(s_j, along(lambda q, f=speed: f(q, False), s.q, qd))
            holds(r_j, along(lambda q, f=speed: f(q, True), s.q, qd))
            for i in range(j):
                circle = K_k * cross(u_k, cross(u_k, s.at.p[i] - s.at.o[k])) * a * a
                holds(circle if i >= k else 0 * circle, s.acceleration(qd, np.zeros(s.n), i))


def test_acceleration_of_a_point():
    """(38): a_0 + w x (w x r) + alpha x r + 2 w x v_0, v_0 read as the point's speed in the frame.

    The frame is that of link j - 1, the point is the origin of E_j, so v_0 = K_j u_j qd_j, as in
    (39). In our copy v_0 is the velocity of the frame's origin.
    """
    for s in bodies():
        for j in range(1, s.n):
            i, qd, rest = j - 1, s.qd, np.zeros(s.n)

            def speed(q, k, s=s, i=i):
                links = s.place(q)
                return s.velocities(links, links.o[k], k) @ s.qd

            w, alpha = s.spin(s.q, qd, i), s.angular_acceleration(qd, rest, i)
            a_0, a_p = (along(lambda q, k=k, f=speed: f(q, k), s.q, qd) for k in (i, j))
            r, v_0 = s.at.o[j] - s.at.o[i], s.K[j] * s.at.u[j] * qd[j]
            turned = a_0 + cross(w, cross(w, r)) + cross(alpha, r)
            holds(turned + 2 * cross(w, v_0), a_p)
            if i > s.first:  # the frame turns, and its origin moves
                fails(turned + 2 * cross(w, speed(s.q, i)), a_p)


def test_inertia_torque():
    """(44): t_Tj = -J_j alpha_j - w_j x (J_j w_j), with the sign x, is its second and third line.

    In our copy the first line has no x. The truth is the rate of angular momentum.
    """
    for s in bodies():
        for k, j in s.inner:
            J, u_k, u_j = s.J[j], s.Ks[k] * s.at.u[k], s.Ks[j] * s.at.u[j]
            a, b = s.qd[k], s.qd[j]
            w, alpha = u_k * a + u_j * b, cross(u_k, u_j) * a * b
            mixed = -J @ cross(u_k, u_j) - cross(u_k, J @ u_j) - cross(u_j, J @ u_k)
            lines = mixed * a * b - cross(u_k, J @ u_k) * a**2 - cross(u_j, J @ u_j) * b**2

            qd = two_speeds(s, k, j)

            def momentum(q, s=s, j=j, qd=qd):
                links, I = s.place(q), s.I[j:]
                apart = links.p[j:] - s.m[j:] @ links.p[j:] / s.mh[j]
                J = sum(R @ own @ R.T for R, own in zip(links.R[j:], I, strict=True))
                J = J + sum(
                    m * (p @ p * E - np.outer(p, p)) for m, p in zip(s.m[j:], apart, strict=True)
                )
                return J @ s.spins(links, j) @ qd

            truth = -along(momentum, s.q, qd)
            holds(-J @ alpha - cross(w, J @ w), truth)
            holds(lines, truth)


def test_bias_coefficients():
    """(45) to (47): D_mkj = K*_k u_k . d_mj for m < j, k <= j, and -K*_k u_k . d_jm for m > j.

    (47) holds for m > j > k, its range in our copy, and for k = j too. (66) is (46) in E_j.
    """
    for s in bodies():
        for m, j in s.inner:
            u, ph, mh = s.at.u, s.ph[j], s.mh[j]
            lever = cross(u[j], ph - mh * s.at.o[j])
            turning = cross(s.sh[j], cross(ph, u[m])) - s.Jb[j] @ cross(u[j], u[m])
            d_mj = (
                s.Ks[m] * s.Ks[j] * (turning + cross(s.sh[m], lever))
                - s.K[m] * s.Ks[j] * cross(u[m], lever)
                + s.Ks[m] * s.K[j] * cross(u[j], cross(u[m], ph) - mh * s.sh[m])
                - s.K[m] * s.K[j] * mh * cross(u[m], u[j])
            )
            D, scale = s.Ks * (u @ d_mj), 1e-10 * np.abs(s.Gamma).max()
            assert np.abs(D[: j + 1] - s.Gamma[m, : j + 1, j]).max() <= scale
            assert np.abs(-D[: m + 1] - s.Gamma[j, : m + 1, m]).max() <= scale
            u_m, sh, ph, own, lever = s.within(j, u[m], s.sh[m], ph, s.sh[j], lever)
            B = -s.tensor_within(j, s.Jb[j]) @ skew(E[2]) + skew(own) @ skew(ph)
            w = cross(u_m, ph)
            brief = (
                s.Ks[m] * s.Ks[j] * (B @ u_m + cross(sh, lever))
                + s.K[m] * s.Ks[j] * cross(lever, u_m)
                + s.Ks[m] * s.K[j] * np.array([-w[1] + mh * sh[1], w[0] - mh * sh[0], 0])
                + s.K[m] * s.K[j] * mh * np.array([-u_m[1], u_m[0], 0])
            )
            holds(brief, *s.within(j, d_mj))


def test_identities():
    """(48) to (50), (52), (53), of any axes, vector and symmetric tensor."""
    for s in bodies():
        a, b, r, J = s.at.u[0], s.at.u[1], s.r[1], s.J[1]
        half = J - np.trace(J) / 2 * E
        triple = cross(a, cross(b, r)) + cross(b, cross(a, r)) + cross(cross(a, b), r)
        holds(triple, 2 * cross(a, cross(b, r)))
        turned = J @ cross(a, b) + cross(a, J @ b) + cross(b, J @ a)
        holds(turned, 2 * cross(b, half @ a))
        holds(cross(cross(a, r), cross(b, r)), -np.outer(r, r) @ skew(b) @ a)
        holds(cross(b, half @ b), cross(b, J @ b))
        product = skew(a) @ skew(r)
        holds(product - 1 / 2 * np.trace(product) * E, np.outer(r, a))


def test_tensor_about_the_centre():
    """(51), the sign read as +: J_j - tr[J_j] E / 2 = J-bar_j + m-hat_j r_j r_j^T."""
    for s in bodies():
        for j in range(s.n):
            truth, dyad = s.J[j] - np.trace(s.J[j]) / 2 * E, s.mh[j] * np.outer(s.r[j], s.r[j])
            holds(s.Jb[j] + dyad, truth)
            fails(s.Jb[j] - dyad, truth)


def test_sums_over_zeta():
    """(54) to (57): b from zeta_j; d_mj of a j before the first revolute joint are not needed."""
    for s in bodies():
        qd, u, R = s.qd, s.at.u, s.arm.rotations(s.q.tolist())
        body = lin1991.composite_bodies(s.arm, R, s.q.tolist())  # d has no j before that joint
        d = lin1991.bias_coefficients(s.arm, body)
        d = {(m, j): s.at.R[j] @ list(v) for (m, j), v in d.items()}
        zeta = [
            sum(2 * s.Ks[k] * u[k] * qd[k] for k in range(j)) + s.Ks[j] * u[j] * qd[j]
            for j in range(s.n)
        ]
        b = [
            sum((zeta[j] * qd[j]) @ d[m, j] for j in range(m + 1, s.n) if (m, j) in d)
            - sum((zeta[j] * qd[j]) @ d[j, m] for j in range(m) if (j, m) in d)
            for m in range(s.n)
        ]
        assert np.abs(b - (s.bias - s.gravity)).max() < 1e-10 * np.abs(s.bias).max()
        for j in range(s.n - 1):
            turn, rates = s.turn(j + 1, s.q).T, s.Ks * qd
            carried = turn @ (s.within(j, zeta[j])[0] + E[2] * rates[j]) + E[2] * rates[j + 1]
            holds(carried, *s.within(j + 1, zeta[j + 1]))
            holds(turn @ (s.within(j, zeta[0])[0] * qd[0]), *s.within(j + 1, zeta[0] * qd[0]))
