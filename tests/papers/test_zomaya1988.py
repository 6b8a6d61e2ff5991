"""Zomaya and Morris: the Lagrangian by differential transformations, and its simplification.

Joints and links count from 0; link frames are E_l.
"""

from functools import cache, cached_property
from itertools import product

import numpy as np

from armdyn import Robot
from armdyn.algorithms import lagrange, zomaya_morris
from armdyn.counting import count, growth, published
from armdyn.loaders import load
from tests.papers.samples import CLEAR, SMALL, Sample, along, draw, off, skew


class Arm(Sample):
    """An arm with the 4x4 matrices of the paper."""

    def H(self, q):
        """H_l of each link, shape (n, 4, 4)."""
        links = self.place(q)
        H = np.zeros((self.n, 4, 4), dtype=np.result_type(links.R, links.o))
        H[:, :3, :3], H[:, :3, 3], H[:, 3, 3] = links.R, links.o, 1
        return H

    def slope(self, q, k):
        """dH_l/dq_k of each link, from the motion of joint k."""
        links, slope = self.place(q), 0 * self.H(q)
        for l in range(k, self.n):
            u, far = links.u[k], links.o[l] - links.o[k]
            slope[l, :3, :3] = self.Ks[k] * skew(u) @ links.R[l]
            slope[l, :3, 3] = self.Ks[k] * (skew(u) @ far) + self.K[k] * u
        return slope

    def second(self, j, k):
        """d2 H_l / dq_j dq_k of each link, by a complex step."""
        return along(lambda q: self.slope(q, k), self.q, np.eye(self.n)[j])

    @cached_property
    def slopes(self):
        """dH_l/dq_i by [i, l], by complex steps."""
        return np.array([along(self.H, self.q, e) for e in np.eye(self.n)])

    @cached_property
    def Delta(self):
        """^l Delta_i by [i, l], zero for i > l."""
        D = np.zeros((self.n, self.n, 4, 4))
        for l, row in enumerate(lagrange.differentials(self.arm, self.q.tolist())):
            for i, each in enumerate(row):
                D[i, l, :3] = np.array([[*column] for column in each.columns()]).T
        return D

    @cached_property
    def J(self):
        """J_l, shape (n, 4, 4)."""
        J = np.zeros((self.n, 4, 4))
        for l, each in enumerate(lagrange.pseudo_inertias(self.arm)):
            J[l, :3] = np.array([[*column] for column in each.columns]).T
            J[l, 3] = [*each.h, each.m]
        return J


@cache
def arms():
    """An arm of each of the kinds."""
    return [Arm(s.chain.kinds, seed) for seed, s in enumerate(draw(), start=1)]


def several():
    """Those in which an inner joint turns, so that the order of two joints matters."""
    return [s for s in arms() if s.Ks[:-1].any()]


def traces(A, J, B):
    """The sum over all links of Tr(A_l J_l B_l^T)."""
    return np.einsum("lab,lbc,lac->", A, J, B)


def cube(s, element):
    """An array of P_ijk."""
    P = [element(i, j, k) for i, j, k in product(range(s.n), repeat=3)]
    return np.array(P).reshape(s.n, s.n, s.n)


# The Lagrangian ----------------------------------------------------------------------------------


def test_lagrangian():
    """(1) to (5): P_ij, P_ijk and P_i from the derivatives of H_l by q_i, q_j and q_k."""
    for s in arms():
        D, J, n = s.slopes, s.J, s.n
        P = [[traces(D[j], J, D[i]) for j in range(n)] for i in range(n)]
        second = {(j, k): s.second(j, k) for j in range(n) for k in range(n)}
        coriolis = cube(s, lambda i, j, k, d=second, D=D, J=J: traces(d[j, k], J, D[i]))
        r, g = np.column_stack([s.c, np.ones(n)]), np.append(s.g, 0)
        weight = [sum(-s.m[l] * g @ D[i, l] @ r[l] for l in range(n)) for i in range(n)]
        assert off(P, s.M) < SMALL and off(coriolis, s.Gamma) < SMALL
        assert off(weight, s.gravity) < SMALL
        F = P @ s.qdd + coriolis @ s.qd @ s.qd + weight
        assert off(F, s.M @ s.qdd + s.bias) < SMALL
        ours = Robot(s.chain).inverse_dynamics(s.q, s.qd, s.qdd, method="lagrange")
        assert off(ours, F) < SMALL


def test_differentials():
    """(6), (7), (11): dH_l/dq_i is H_l times the matrix of (7)."""
    for s in arms():
        for l, row in enumerate(lagrange.differentials(s.arm, s.q.tolist())):
            for i, ((x, y, z), d) in enumerate(row):
                Delta = [[0, -z, y, d.x], [z, 0, -x, d.y], [-y, x, 0, d.z], [0, 0, 0, 0]]
                assert off(s.H(s.q)[l] @ Delta, s.slopes[i, l]) < SMALL
                assert off(s.Delta[i, l], Delta) < SMALL


def test_pseudo_inertia():
    """(8), (9): J with I_xz for its element (3, 1), I_xy the integral of x y; P_ij is symmetric."""
    for s in arms():
        J = np.zeros((s.n, 4, 4))
        for l, (m, (x, y, z)) in enumerate(zip(s.m, s.c, strict=True)):
            I = s.I[l] - m * skew(s.c[l]) @ skew(s.c[l])  # about the origin of E_l
            (xx, xy, xz), (_, yy, yz), (_, _, zz) = I * (2 * np.eye(3) - 1)
            J[l] = [
                [(-xx + yy + zz) / 2, xy, xz, m * x],
                [xy, (xx - yy + zz) / 2, yz, m * y],
                [xz, yz, (xx + yy - zz) / 2, m * z],
                [m * x, m * y, m * z, m],
            ]
        D = s.Delta
        P = np.array([[traces(D[j], J, D[i]) for j in range(s.n)] for i in range(s.n)])
        assert off(P, s.M) < SMALL and off(s.J, J) < SMALL
        assert max(abs(P[i, j] - P[j, i]) for i in range(s.n) for j in range(s.n)) < SMALL


def test_gravity():
    """(10) with its lost row: (-g_y, g_x, 0, 0) of a revolute joint, else (0, 0, 0, -g_z)."""
    for s in arms():
        P = []
        for i in range(s.n):
            x, y, z = s.at.R[i].T @ s.g
            row = np.array([-y, x, 0, 0] if s.Ks[i] else [0, 0, 0, -z])
            r = (s.at.p - s.at.o[i]) @ s.at.R[i]
            P.append(row @ sum(s.m[l] * np.append(r[l], 1) for l in range(i, s.n)))
        assert off(P, s.gravity) < SMALL
        assert off(lagrange.gravity(s.arm, s.q.tolist()), P) < SMALL


# The simplification ------------------------------------------------------------------------------


def test_second_derivative():
    """(12) to (14): the neglected term is 0 for j <= k, else H (Delta_k Delta_j - Delta_j Delta_k).

    So (14) is exact for j <= k. For j > k the neglected term is as large as the derivative.
    """
    largest = []
    for s in several():
        H, D = s.H(s.q), s.Delta
        for j, k in product(range(s.n), repeat=2):
            second, first = s.second(j, k), s.slopes[j] @ D[k]
            neglected = H @ (D[k] @ D[j] - D[j] @ D[k]) if j > k else 0
            assert off(first + neglected, second) < SMALL
            assert off(H @ D[j] @ D[k], first) < SMALL
            largest.append(off(first, second))
    assert max(largest) > CLEAR


def test_simplified_coefficients():
    """(15), (16) with Tr: P_ijk is the Christoffel symbol for j <= k, not for j > k."""
    misses = []
    for s in several():
        H, D, J = s.H(s.q), s.Delta, s.J
        whole = cube(s, lambda i, j, k, H=H, D=D, J=J: traces(H @ D[j] @ D[k], J, H @ D[i]))
        P = cube(s, lambda i, j, k, D=D, J=J: traces(D[j] @ D[k], J, D[i]))
        apart = np.abs(P - s.Gamma) / np.abs(s.Gamma).max()
        indices = list(product(range(s.n), repeat=3))
        assert off(whole, P) < SMALL
        assert max(apart[i, j, k] for i, j, k in indices if j <= k) < SMALL
        misses.append(max(apart[i, j, k] for i, j, k in indices if j > k))
        q = s.q.tolist()
        ours = zomaya_morris.velocity_coefficients(s.arm, lagrange.differentials(s.arm, q))
        assert off(ours, P) < SMALL and off(lagrange.christoffel(s.arm, q), s.Gamma) < SMALL
        robot, forces = Robot(s.chain), s.M @ s.qdd + P @ s.qd @ s.qd + s.gravity
        assert off(robot.christoffel(s.q, method="zomaya-morris"), P) < SMALL
        found = robot.inverse_dynamics(s.q, s.qd, s.qdd, method="zomaya-morris")
        assert off(found, forces) < SMALL
    assert max(misses) > CLEAR


def test_nine_terms():
    """(17), with a minus sign before Q5 and Q7, for links without products of inertia."""
    s, l = Arm("RRR", 3), 2
    x, y, z = s.c[l]
    m, (Jx, Jy, Jz) = s.m[l], np.diag(s.J[l])[:3]
    J = np.diag(np.diag(s.J[l]))
    J[:3, 3] = J[3, :3] = m * s.c[l]
    for i, j, k in product(range(3), repeat=3):
        (ix, iy, iz), (jx, jy, jz), (kx, ky, kz) = (
            (D[2, 1], D[0, 2], D[1, 0]) for D in s.Delta[[i, j, k], l]
        )
        dix, diy, diz = s.Delta[i, l, :3, 3]
        dkx, dky, dkz = s.Delta[k, l, :3, 3]
        a, b, c = -jz * dky + jy * dkz, jz * dkx - jx * dkz, -jy * dkx + jx * dky
        m11 = -iz * (jy * kx * Jy + a * m * y) + iy * (jz * kx * Jz + a * m * z)
        m11 += ((-jz * kz - jy * ky) * x + jy * kx * y + jz * kx * z + a) * m * dix
        m22 = iz * (ky * jx * Jx + b * m * x) - ix * (jz * ky * Jz + b * m * z)
        m22 += (jx * ky * x + (-jz * kz - jx * kx) * y + jz * ky * z + b) * m * diy
        m33 = -iy * (kz * jx * Jx + c * m * x) + ix * (kz * jy * Jy + c * m * y)
        m33 += (jx * kz * x + jy * kz * y + (-jy * ky - jx * kx) * z + c) * m * diz
        truth = s.Delta[j, l] @ s.Delta[k, l] @ J @ s.Delta[i, l].T
        assert off([m11, m22, m33], np.diag(truth)[:3]) < SMALL


def test_zero_coefficients():
    """Before the conclusion: P_iii = 0, and P_ijk = 0 for i = k > j. P_iji = 0 by (16) alone."""
    misses = []
    for s in several():
        plain = zomaya_morris.velocity_coefficients(
            s.arm, lagrange.differentials(s.arm, s.q.tolist())
        )
        for i, j in product(range(s.n), repeat=2):
            assert abs(plain[i][j][i]) < SMALL
            if i > j or i == j:
                assert abs(s.Gamma[i, j, i]) < SMALL
            else:
                misses.append(abs(s.Gamma[i, j, i]))
    assert max(misses) > CLEAR


# Simulation --------------------------------------------------------------------------------------

PRINTED = published.data()["zomaya1988"]["torques"]
W = PRINTED["w"]  # speeds and accelerations of all joints in Tables 1 to 4
Q = [PRINTED["q"]] * 6  # the posture


def torques(chain, velocity_torque):
    """M w, rotors included, velocity torque and gravity in the four cases, shape (4, n)."""
    arm, still = chain.on(float), chain.on(float).without_gravity()
    M = np.array(lagrange.mass_matrix(arm, Q)) + np.diag(arm.rotor_inertia)
    weight = np.array(lagrange.gravity(arm, Q))
    return np.array([M.sum(1) * w + velocity_torque(still, Q, [w] * 6) + weight for w in W])


def test_significance():
    """At one speed of all joints the Stanford arm's velocity torques are off by -52 to +196 %."""
    arm = load("stanford").chain.on(float).without_gravity()
    exact = np.array(lagrange.bias(arm, Q, [1.0] * 6))
    simplified = np.array(zomaya_morris.bias(arm, Q, [1.0] * 6))
    percents = np.round(100 * (simplified - exact) / exact)
    assert percents.tolist() == [-52, -53, 196, -23, -18, -100]


def test_tables():
    """Tables 1 to 4: any arm's torque is g + M w + b w^2; 7 of the 12 printed rows are not."""
    weights = np.linalg.solve(np.vander(W[:3], increasing=True).T, W[3] ** np.arange(3))
    ours = torques(load("stanford").chain, zomaya_morris.bias)
    assert off(weights @ ours[:3], ours[3]) < SMALL
    none = {}  # rows, and the fourth case by the parabola through the others
    for row, joint in product(("I", "II"), range(6)):
        cells = [case[joint] for case in PRINTED[row]]
        printed = np.array(cells, dtype=float)
        half = [0.5 / 10 ** len(cell.split(".")[1]) for cell in cells]
        slack = np.abs(weights) @ half[:3] + half[3]  # which rounding leaves open
        fourth = weights @ printed[:3]
        if abs(fourth - printed[3]) > slack:
            none[f"{row}, {joint + 1}"] = f"{fourth:.4g}"
    of_row_i = {"I, 2": "6.347", "I, 3": "-52.56"}
    of_row_ii = {"II, 1": "2.129", "II, 2": "7.407", "II, 3": "-53.04", "II, 4": "0.1539"}
    assert none == of_row_i | of_row_ii | {"II, 5": "1.327"}


def test_arm():
    """The torques of the Stanford arm of Paul and Bejczy: joint 6, and joint 3 with gravity up."""
    chain = load("stanford").chain
    down = torques(chain, zomaya_morris.bias)
    exact = torques(chain, lagrange.bias)
    x, y, z = chain.gravity
    up = torques(chain.with_gravity((-x, -y, -z)), lagrange.bias)
    assert " ".join(f"{torque:.4f}" for torque in down[:, 5]) == "0.0104 0.0167 0.0209 0.0313"
    assert " ".join(f"{torque:.4f}" for torque in exact[:, 5]) == "0.0104 0.0165 0.0206 0.0307"
    assert " ".join(f"{torque:.2f}" for torque in up[:, 2]) == "-57.09 -54.87 -53.35 -49.40"
    rest = lagrange.gravity(chain.on(float), Q)[2]
    assert round(rest, 1) == 60.6
    # row I's joint 6 comes out with the two Delta the other way round: found by trying
    arm = chain.on(float)
    P = np.array(zomaya_morris.velocity_coefficients(arm, lagrange.differentials(arm, Q)))
    reverse = [sum(P[5, max(j, k), min(j, k)] for j in range(6) for k in range(6))]
    inertia = np.array(lagrange.mass_matrix(arm, Q))[5].sum() + arm.rotor_inertia[5]
    row = [inertia * w + reverse[0] * w**2 for w in W]
    assert " ".join(f"{torque:.4f}" for torque in row) == "0.0105 0.0168 0.0211 0.0318"


def test_counts():
    """On the Stanford arm (16) takes 6722 operations as it stands, 4990 for j <= k; both n^4."""
    chain = load("stanford").chain
    for method, operations in (("zomaya-morris", 6722), ("lagrange", 4990)):
        found = count(chain, "bias", method)
        assert found.mul + found.add + found.double == operations
    for method, order in (("zomaya-morris", 4), ("lagrange", 4), ("newton-euler", 1)):
        assert len(growth("bias", method)["mul"].coefficients) - 1 == order
