"""The papers' inner quantities, each against its definition on whole bodies in base axes."""

import numpy as np
import pytest

import armdyn
import papers
from armdyn import ArmdynError, Chain
from tests.papers.samples import cross, draw, skew

Z = np.array([0.0, 0.0, 1.0])


def close(found, truth):
    """To rounding."""
    scale = max(1.0, np.abs(truth).max())
    assert np.abs(np.asarray(found) - truth).max() <= 1e-11 * scale, (found, truth)


def composite(s, j, point):
    """Mass, first moment and tensor of links j to n about a point, in base axes."""
    r = s.at.p[j:] - point
    outer = zip(s.m[j:], r, s.tensors[j:], strict=True)
    return s.m[j:].sum(), s.m[j:] @ r, sum(I_i - m * skew(x) @ skew(x) for m, x, I_i in outer)


def test_lin1991():
    """(46), (62), (64), (55): d_mj, a_j, B_j, zeta_j; and d_mj gives Christoffel symbols, (45)."""
    for s in draw():
        found = papers.inner(s.chain, "lin1991", s.q, s.qd)
        first = [*s.K, 0].index(0)  # N_JR
        assert set(found["d"]) == {(m + 1, j + 1) for j in range(first, s.n) for m in range(j)}
        assert set(found["a"]) == {j + 1 for j in range(first + 1, s.n) if s.Ks[j]}
        u, K, Ks, away = s.at.u, s.K, s.Ks, s.at.o - s.at.o[0]
        for (m, j), d in found["d"].items():
            m, j, R = m - 1, j - 1, s.at.R[j - 1]
            mass, ph, J = composite(s, j, s.at.o[0])
            Jb = J - np.trace(J) / 2 * np.eye(3)
            sh_m, sh_j = cross(u[m], away[m]), cross(u[j], away[j])
            e = cross(u[j], ph - mass * away[j])
            d_mj = Ks[m] * Ks[j] * (-Jb @ cross(u[j], u[m]) + cross(sh_j, cross(ph, u[m])))
            d_mj += Ks[m] * Ks[j] * cross(sh_m, e) - K[m] * Ks[j] * cross(u[m], e)
            d_mj += Ks[m] * K[j] * cross(u[j], cross(u[m], ph) - mass * sh_m)
            d_mj -= K[m] * K[j] * mass * cross(u[m], u[j])
            close(R @ d, d_mj)
            for k in range(j + 1):
                close(Ks[k] * u[k] @ R @ d, s.Gamma[m, k, j])
            if j + 1 in found["a"]:
                close(R @ found["a"][j + 1], J @ u[j] + cross(sh_j, ph))
                B = -Jb @ skew(u[j]) + skew(sh_j) @ skew(ph)
                close(R @ found["B"][j + 1] @ R.T, B)
        for j, zeta in found["zeta"].items():
            turning = (Ks * s.qd)[:, None] * u
            close(s.at.R[j - 1] @ zeta, 2 * turning[: j - 1].sum(0) + turning[j - 1])


def test_lin1999():
    """(22), (23), (C1) to (C3): constants k_i, U_i; what varies, l_i, V_i, is the rest."""
    for s in draw():
        found = papers.inner(s.chain, "lin1999", s.q)
        k, U = np.zeros(3), np.zeros((3, 3))
        for i in reversed(range(s.n)):
            if i + 1 < s.n:
                R, mass = s.turn(i + 1, s.q), s.m[i + 1 :].sum()
                b = np.array([s.chain.joints[i + 1].b, 0, 0])
                far = s.step(i + 1, s.q) if s.Ks[i + 1] else b
                kept = U if s.K[i + 1] else U[1, 1] * np.diag([1, 1, 0])
                inward = R @ (k if s.K[i + 1] else k[2] * Z)
                k = mass * far + inward
                U = R @ kept @ R.T - mass * skew(far) @ skew(far)
                U = U - skew(far) @ skew(inward) - skew(inward) @ skew(far)
            k = k + s.m[i] * s.c[i]
            U = U + s.I[i] - s.m[i] * skew(s.c[i]) @ skew(s.c[i])
            close(found["k"][i + 1], k)
            close(found["U"][i + 1], U)
            _, ch, J = composite(s, i, s.at.o[i])
            close(s.at.R[i] @ (found["k"][i + 1] + found["l"][i + 1]), ch)
            close(s.at.R[i] @ (found["U"][i + 1] + found["V"][i + 1]) @ s.at.R[i].T, J)


def test_safeea2018():
    """D_i of links i to n by its sum; b_i, d_i = D_i^T k_i and y_i = b_i x k_i."""
    for s in draw():
        found = papers.inner(armdyn.Robot(s.chain), "safeea2018", s.q)
        B, origin = np.array(s.chain.base.rotation), np.array(s.chain.base.translation)
        o, p = s.at.o @ B.T + origin, s.at.p @ B.T + origin
        for i in range(s.n):
            D, b, axis = np.zeros((3, 3)), np.zeros(3), B @ s.at.u[i]
            for k in range(i, s.n):
                D = D + B @ s.tensors[k] @ B.T - s.m[k] * skew(p[k] - o[i]) @ skew(p[k])
                b = b + s.m[k] * (p[k] - o[i])
            close(found["b"][i + 1], b)
            close(found["D"][i + 1], D)
            d, y = (D.T @ axis, cross(b, axis)) if s.Ks[i] else (None, -s.m[i:].sum() * axis)
            close(found["y"][i + 1], y)
            if s.Ks[i]:
                close(found["d"][i + 1], d)


def test_kang():
    """C*_k is the centre of mass of links k to n, III_k their tensor about it; from O_1, in E_1."""
    for s in draw():
        found = papers.inner(s.chain, "kang", s.q)
        R = s.at.R[0]
        for k in range(s.n):
            mass, moment, _ = composite(s, k, s.at.o[0])
            close(R @ found["C"][k + 1], moment / mass)
            _, _, III = composite(s, k, s.at.o[0] + moment / mass)
            close(R @ found["III"][k + 1] @ R.T, III)


def test_what_is_refused():
    arm = Chain.random(2)
    for given, words in (
        ((arm, "lin91", [0, 0]), "did you mean 'lin1991'"),
        ((arm, 3, [0, 0]), "no paper with inner quantities 3"),
        (("two_link", "kang", [0, 0]), "robot is 'two_link'; expected a Robot"),
        ((arm, "kang", [0]), "q is [0]; expected 2 finite numbers"),
        ((arm, "lin1991", [0, 0], [0, np.nan]), "qd is [0, nan]"),
    ):
        with pytest.raises(ArmdynError) as refusal:
            papers.inner(*given)
        assert words in str(refusal.value)
