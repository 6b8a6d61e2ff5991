"""Further methods of the papers, each against the energies of samples."""

import numpy as np

from armdyn import Robot
from tests.papers.samples import along, draw, skew


def close(found, truth):
    """To rounding."""
    assert np.abs(np.asarray(found) - truth).max() <= 1e-10 * max(1.0, np.abs(truth).max())


def test_lilly_orin():
    """lin1999 (12) to (17): K and X of six dimensions carry f-tilde inward to D_ji."""
    for s in draw():
        found = Robot(s.chain).mass_matrix(s.q, method="Lilly-Orin")
        close(found, s.M)
        for i in range(s.n):
            r = s.at.p[i:] - s.at.o[i]
            c, R = s.m[i:] @ r, s.at.R[i]
            bodies = zip(s.m[i:], r, s.tensors[i:], strict=True)
            J = sum(tensor - m * skew(x) @ skew(x) for m, x, tensor in bodies)
            C = skew(R.T @ c)
            K = np.block([[R.T @ J @ R, C], [C.T, s.m[i:].sum() * np.eye(3)]])
            f = K[:, 2] if s.Ks[i] else K[:, 5]
            for j in reversed(range(i)):
                R = s.turn(j + 1, s.q)
                X = np.block([[R, skew(s.step(j + 1, s.q)) @ R], [np.zeros((3, 3)), R]])
                f = X @ f
                close(found[j, i], f[2] if s.Ks[j] else f[5])


def test_lagrange():
    """zomaya1988 (2): F_i is the sum of P_ij qdd_j, of P_ijk qd_j qd_k, and P_i."""
    for s in draw():
        found = Robot(s.chain).inverse_dynamics(s.q, s.qd, s.qdd, method="lagrange")
        close(found, s.M @ s.qdd + s.Gamma @ s.qd @ s.qd + s.gravity)


def test_zomaya_morris():
    """zomaya1988 (7), (8), (13), (16): P_ijk by traces, exact for j <= k, and F_i with them."""
    for s in draw():

        def H(q, sample=s):
            links = sample.place(q)
            rows = np.concatenate([links.R, links.o[:, :, None]], axis=2)
            return np.concatenate([rows, np.full((sample.n, 1, 4), [0, 0, 0, 1])], axis=1)

        Delta = [np.linalg.inv(H(s.q)) @ along(H, s.q, e) for e in np.eye(s.n)]
        P = np.zeros((s.n, s.n, s.n))
        for m, c, I_c, D in zip(s.m, s.c, s.I, zip(*Delta, strict=True), strict=True):
            second = np.trace(I_c) / 2 * np.eye(3) - I_c + m * np.outer(c, c)
            J = np.block([[second, m * c[:, None]], [m * c, m]])
            for i, j, k in np.ndindex(P.shape):
                P[i, j, k] += np.trace(D[j] @ D[k] @ J @ D[i].T)
        robot = Robot(s.chain)
        close(robot.christoffel(s.q, method="zomaya-morris"), P)
        ordered = np.triu(np.ones((s.n, s.n)))
        close(P * ordered, s.Gamma * ordered)
        found = robot.inverse_dynamics(s.q, s.qd, s.qdd, method="zomaya-morris")
        close(found, s.M @ s.qdd + P @ s.qd @ s.qd + s.gravity)
