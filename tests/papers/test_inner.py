"""The papers' inner quantities, each against its definition on whole bodies in base axes."""

import numpy as np
import pytest

import armdyn
import papers
from armdyn import ArmdynError, Chain
from tests.papers.bodies import bodies
from tests.papers.samples import E, cross, holds, skew


def test_lin1991():
    """(62), (64), (55): a_j, B_j, zeta_j; u_k . d_mj are Christoffel symbols, (45)."""
    for s in bodies():
        found = papers.inner(s.chain, "lin1991", s.q, s.qd)
        assert set(found["d"]) == {(m + 1, j + 1) for m, j in s.inner if j >= s.first}
        assert set(found["a"]) == {j + 1 for j in range(s.first + 1, s.n) if s.Ks[j]}
        symbols = {
            (m, j): s.Ks[:j] * (s.at.u[:j] @ s.at.R[j - 1] @ d) for (m, j), d in found["d"].items()
        }
        for (m, j), D in symbols.items():
            assert np.abs(D - s.Gamma[m - 1, :j, j - 1]).max() < 1e-10 * np.abs(s.Gamma).max()
        first = s.at.o[0]  # here the reference point is the origin of E_1
        for j, a in found["a"].items():
            u, ph = s.at.u[j - 1], s.ph[j - 1] - s.mh[j - 1] * first
            J, sh = s.tensor(j - 1, first), cross(u, s.at.o[j - 1] - first)
            B = skew(sh) @ skew(ph) - (J - np.trace(J) / 2 * E) @ skew(u)
            holds(a, *s.within(j - 1, J @ u + cross(sh, ph)))
            holds(found["B"][j], s.tensor_within(j - 1, B))
        for j, zeta in found["zeta"].items():
            turns = (s.Ks * s.qd)[:, None] * s.at.u
            holds(zeta, *s.within(j - 1, 2 * turns[: j - 1].sum(0) + turns[j - 1]))


def test_lin1999():
    """(22), (23): k_i + l_i is c-hat_i, U_i + V_i is J-hat_i; k_i and U_i are constants."""
    for s in bodies():
        found = papers.inner(s.chain, "lin1999", s.q)
        other = papers.inner(s.chain, "lin1999", 2 - s.q)
        for i in range(s.n):
            k, l, U, V = (found[letter][i + 1] for letter in "klUV")
            holds(k + l, *s.within(i, s.ph[i] - s.mh[i] * s.at.o[i]))
            holds(U + V, s.tensor_within(i, s.tensor(i, s.at.o[i])))
            holds([*k, *U.flat], [*other["k"][i + 1], *other["U"][i + 1].flat])


def test_safeea2018():
    """D_i of links i to n by its sum; b_i, d_i = D_i^T k_i and y_i = b_i x k_i, in base axes."""
    for s in bodies():
        found = papers.inner(armdyn.Robot(s.chain), "safeea2018", s.q)
        B, origin = np.array(s.chain.base.rotation), np.array(s.chain.base.translation)
        o, p, axes = s.at.o @ B.T + origin, s.at.p @ B.T + origin, s.at.u @ B.T
        for i in range(s.n):
            b = s.m[i:] @ (p[i:] - o[i])
            links = zip(B @ s.tensors[i:] @ B.T, s.m[i:], p[i:], strict=True)
            D = sum(I - m * skew(p_k - o[i]) @ skew(p_k) for I, m, p_k in links)
            holds(found["b"][i + 1], b)
            holds(found["D"][i + 1], D)
            turning = cross(b, axes[i]), D.T @ axes[i]
            y, d = turning if s.Ks[i] else (-s.mh[i] * axes[i], None)
            holds(found["y"][i + 1], y)
            if s.Ks[i]:
                holds(found["d"][i + 1], d)


def test_kang():
    """C*_k is the centre of mass of links k to n, III_k their tensor about it; from O_1, in E_1."""
    for s in bodies():
        found = papers.inner(s.chain, "kang", s.q)
        for k in range(s.n):
            holds(found["C"][k + 1], *s.within(0, s.r[k] - s.at.o[0]))
            holds(found["III"][k + 1], s.tensor_within(0, 1 * s.J[k]))


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
