"""Checks of [kang], section 4: momenta of the generalized augmented bodies, (11) to (29)."""

from __future__ import annotations

import numpy as np

from armdyn.papers.checks.kang import ONE, Model, turning
from armdyn.papers.evidence import Evidence, error, formula
from armdyn.papers.samples import Array, along, cross


def dyad(r: Array) -> Array:
    """r^T r 1 - r r^T."""
    return np.asarray(r @ r * ONE - np.outer(r, r))


def gathered(s: Model, k: int) -> tuple[Array, Array]:
    """Coefficients gT and gR at C*_k of body k, shape (n, 3) each."""
    return s.first(s.r[k], k)


def momentum() -> Evidence:
    """(11) to (16): the linear momentum, link by link and body by body."""

    def wrong(s: Model) -> float:
        links = sum(m * gT.T @ s.qd for m, (gT, *_) in zip(s.m, s.links, strict=True))
        columns = [
            sum(s.m[j] * s.links[j][0][k] for j in range(k, s.n)) * s.qd[k] for k in range(s.n)
        ]
        whole = [s.mh[k] * gathered(s, k)[0][k] * s.qd[k] for k in range(s.n)]
        return max(error(sum(columns), links), error(whole, columns), error(sum(whole), links))

    return formula(map(wrong, turning()))


def spun(s: Model, k: int) -> Array:
    """L^k: angular momentum of body k about C*_k while joint k alone moves, truly."""
    gT, gR = gathered(s, k)
    total = np.zeros(3)
    for j in range(k, s.n):
        v = s.links[j][0][k] - gT[k]
        total = total + s.m[j] * cross(s.at.p[j] - s.r[k], v) + s.tensors[j] @ gR[k]
    return total * s.qd[k]


def angular_momentum() -> Evidence:
    """(17): L^k = [III^k] g_k."""
    return formula(
        error([s.J[k] @ s.at.u[k] * s.qd[k] for k in range(s.n)], [spun(s, k) for k in range(s.n)])
        for s in turning()
    )


def eq_18() -> Evidence:
    """(18): the masses of its sum are m_j."""

    def wrong(s: Model, own: bool) -> float:
        III = []
        for k in range(s.n):
            links = range(k, s.n)
            masses = [s.m[j] if own else s.m[k] for j in links]
            shifted = [m * dyad(s.at.p[j] - s.r[k]) for j, m in zip(links, masses, strict=True)]
            III.append(s.tensors[k:].sum(axis=0) + sum(shifted))
        return error(III, s.J)

    return formula((wrong(s, False) for s in turning()), (wrong(s, True) for s in turning()))


def frozen(s: Model, k: int) -> Array:
    """Speeds while the joints outside body k's own are at rest."""
    return s.qd * (np.arange(s.n) <= k)


def eq_19() -> Evidence:
    """(19): the rate of P^k while the joints inside body k are fixed."""

    def wrong(s: Model, k: int) -> float:
        qd = frozen(s, k)

        def P(q: Array) -> Array:
            links = s.place(q)
            centre = s.m[k:] @ links.p[k:] / s.mh[k]
            return np.asarray(s.mh[k] * cross(links.u[k], centre - links.o[k]) * s.qd[k])

        g, w = s.mh[k] * gathered(s, k)[0][k], s.spin(s.q, qd, k)
        rate = along(P, s.q, qd) + g * s.qdd[k]
        return error(g * s.qdd[k] + cross(w, g) * s.qd[k], rate)

    return formula(wrong(s, k) for s in turning() for k in range(s.n))


def eq_20() -> Evidence:
    """(20): the rate of L^k has no term [III](w x g); it is in the change of [III] already."""

    def wrong(s: Model, k: int, extra: float) -> float:
        qd = frozen(s, k)

        def L(q: Array) -> Array:
            links = s.place(q)
            turned = links.R[k] @ s.at.R[k].T
            return np.asarray(turned @ s.J[k] @ turned.T @ links.u[k] * s.qd[k])

        u, w, III = s.at.u[k], s.spin(s.q, qd, k), s.J[k]
        rate = along(L, s.q, qd) + III @ u * s.qdd[k]
        printed = III @ u * s.qdd[k] + cross(w, III @ u) * s.qd[k]
        return error(printed + extra * III @ cross(w, u) * s.qd[k], rate)

    pairs = [(s, k) for s in turning() for k in range(s.n)]
    printed, corrected = ([wrong(*pair, extra) for pair in pairs] for extra in (1, 0))
    return formula(printed, corrected, slip=False)


def loads(s: Model, k: int, slip: bool) -> tuple[Array, Array]:
    """T_k by (21) and by (22), joints 1 to k; with the slip of (22), [G^k] for [G^c*]."""
    (gT, gR), III, w = gathered(s, k), s.J[k], s.spin(s.q, frozen(s, k), k)
    u, M, qd = s.at.u[k], s.mh[k], s.qd[k]
    inertia = (M * gT @ gT[k] + gR @ III @ u) * s.qdd[k]
    swept = M * gT @ cross(w, gT[k]) + gR @ III @ cross(w, u) + gR @ cross(w, III @ u)
    hT, hR = s.second(gT, gR)
    v, outer = frozen(s, k), gR if slip else gT
    quadratic = M * np.einsum("ia,ja,j->i", outer, hT[:, k], v)
    quadratic = quadratic + np.einsum("ia,ab,jb,j->i", gR, III, hR[:, k], v)
    products = np.cross(gR[:, None], gR[None])
    quadratic = quadratic + np.einsum("ija,a,j->i", products, III @ u, v)
    return inertia + swept * qd, inertia + quadratic * qd


def eq_22() -> Evidence:
    """(22): its second term is made of [G^c*], as that of (21)."""
    pairs = [(s, k) for s in turning() for k in range(s.n)]
    printed, corrected = (
        [error(*reversed(loads(s, k, slip))) for s, k in pairs] for slip in (True, False)
    )
    return formula(printed, corrected)


def eq_21() -> Evidence:
    """(21): in its third term [G]^T stands before [III], and g_k, not g_k^c*, in the bracket."""

    def wrong(s: Model, k: int, slip: bool) -> float:
        (gT, gR), III, w = gathered(s, k), s.J[k], s.spin(s.q, frozen(s, k), k)
        term = gR @ III @ cross(w, gT[k] if slip else s.at.u[k])
        truth = gR @ III @ np.einsum("ja,j->a", s.second(gT, gR)[1][:, k], frozen(s, k))
        return error(term, truth)

    pairs = [(s, k) for s in turning() for k in range(1, s.n)]
    return formula((wrong(*pair, True) for pair in pairs), (wrong(*pair, False) for pair in pairs))


def columns(s: Model, translation: str, rotation: str) -> float:
    """[I*] by (23) and (24); each takes the index i, or the one that is printed."""
    found, truth = [], []
    for k in range(s.n):
        gT, gR = gathered(s, k)
        for i in range(k + 1):
            outer = gT[i] if translation == "i" else gT[k]
            turned = gR[i] if rotation == "i" else gR[0]  # j stands for nothing: say the first
            found.append(s.mh[k] * outer @ gT[k] + turned @ s.J[k] @ gR[k])
            truth.append(s.M[i, k])
    return error(found, truth)


def eq_23() -> Evidence:
    """(23): its first factor is g_i^c*."""
    return formula(
        (columns(s, "k", "i") for s in turning()), (columns(s, "i", "i") for s in turning())
    )


def eq_24() -> Evidence:
    """(24): its first factor is g_i; there is no j."""
    return formula(
        (columns(s, "i", "j") for s in turning()), (columns(s, "i", "i") for s in turning())
    )


def independent_elements() -> Evidence:
    """(25) to (27), and the properties as corrected: the torque is right."""

    def wrong(s: Model) -> float:
        n = s.n
        P1, P2, P3 = np.zeros((3, n, n, n))
        for k in range(n):
            gT, gR = gathered(s, k)
            hT, hR = s.second(gT, gR)
            skewed = hR - hR.transpose(1, 0, 2)
            for i in range(k + 1):
                for j in range(k + 1):
                    P1[i, j, k] = P1[i, k, j] = s.mh[k] * gT[i] @ hT[j, k]
                    P2[i, j, k] = gR[i] @ s.J[k] @ hR[j, k]
                    P3[i, j, k] = skewed[i, j] @ s.J[k] @ gR[k]
        fill_in(P1, P2, P3)
        P = P1 + P2 + P3
        return error((P + P.transpose(0, 2, 1)) / 2, s.Gamma)

    return formula(map(wrong, turning()))


def fill_in(P1: Array, P2: Array, P3: Array) -> None:
    """The rest of the model from its independent elements, by (P3) to (P10) as corrected."""
    n = len(P1)
    for i in range(n):
        for k in range(i):
            for j in range(k + 1):
                P1[i, j, k] = P1[i, k, j] = -P1[k, j, i]
    for i in range(n):
        for k in range(n):
            for j in range(k):
                if i > k:
                    P2[i, j, k] = P3[j, k, i]
    for i in range(n):
        for j in range(i + 1, n):
            for k in range(n):
                if k < j:
                    P3[i, j, k] = P2[k, i, j]
                P3[j, i, k] = -P3[i, j, k]


def eq_28() -> Evidence:
    """(28): the two centres are weighed by their masses."""

    def wrong(s: Model, weighed: bool) -> float:
        worst = []
        for k in range(s.n - 1):
            own, Q = s.at.p[k] - s.at.o[k], s.at.o[k + 1] - s.at.o[k]
            outer = s.r[k + 1] - s.at.o[k + 1] + Q
            m, M = (s.m[k], s.mh[k + 1]) if weighed else (1.0, 1.0)
            worst.append(error((m * own + M * outer) / s.mh[k], s.r[k] - s.at.o[k]))
        return max(worst)

    return formula((wrong(s, False) for s in turning()), (wrong(s, True) for s in turning()))


def eq_29() -> Evidence:
    """(29), in common axes."""

    def wrong(s: Model) -> float:
        worst = []
        for k in range(s.n - 1):
            own, outer = s.r[k] - s.at.p[k], s.r[k] - s.r[k + 1]
            III = s.tensors[k] + s.m[k] * dyad(own) + s.J[k + 1] + s.mh[k + 1] * dyad(outer)
            worst.append(error(III, s.J[k]))
        return max(worst)

    return formula(map(wrong, turning()))
