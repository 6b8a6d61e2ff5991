"""Checks of [kang]: influence coefficients, the model [I*], [P*], its properties, augmented bodies.

``Model`` has the coefficients of Appendix 1 in base axes, by joint type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, cached_property, partial
from itertools import product

import numpy as np

from armdyn.algorithms import kic, kic_augmented
from armdyn.papers.checks.lin1991 import Body
from armdyn.papers.evidence import Evidence, claim, error, formula
from armdyn.papers.samples import Array, along, cross, draw

ONE = np.eye(3)


class Model(Body):
    """An arm with its influence coefficients and the terms of [P*]."""

    def first(self, point: Array, last: int) -> tuple[Array, Array]:
        """Coefficients gT and gR of a point of link ``last``, shape (n, 3) each."""
        return self.velocities(self.at, point, last).T, self.spins(self.at, last).T

    def second(self, gT: Array, gR: Array) -> tuple[Array, Array]:
        """Coefficients hT and hR, shape (n, n, 3) each."""
        n = self.n
        hT, hR = np.zeros((n, n, 3)), np.zeros((n, n, 3))
        for j, k in product(range(n), repeat=2):
            hT[j, k] = cross(gR[min(j, k)], gT[max(j, k)])
            hR[j, k] = cross(gR[j], gR[k]) if j < k else 0
        return hT, hR

    @cached_property
    def links(self) -> list[tuple[Array, Array, Array, Array]]:
        """gT, gR, hT, hR of the centre of mass of each link."""
        first = [self.first(self.at.p[l], l) for l in range(self.n)]
        return [(gT, gR, *self.second(gT, gR)) for gT, gR in first]

    @cached_property
    def P(self) -> tuple[Array, Array, Array]:
        """[P1*], [P2*], [P3*] by (10)."""
        P1, P2, P3 = np.zeros((3, self.n, self.n, self.n))
        for (gT, gR, hT, hR), m, II in zip(self.links, self.m, self.tensors, strict=True):
            P1 += m * np.einsum("ia,jka->ijk", gT, hT)
            P2 += np.einsum("ia,ab,jkb->ijk", gR, II, hR)
            P3 += np.einsum("ija,ab,kb->ijk", np.cross(gR[:, None], gR[None]), II, gR)
        return P1, P2, P3


@cache
def arms() -> list[Model]:
    """The arms of these checks."""
    return [Model(s.chain.kinds, k) for k, s in enumerate(draw(), start=1)]


@cache
def turning() -> list[Model]:
    """Those with revolute joints only, as section 4 has them."""
    return [s for s in arms() if s.Ks.all()]


# Section 2 ---------------------------------------------------------------------------------------


def coefficients() -> Evidence:
    """(1) to (4), Appendix 1: velocities and accelerations of points and links."""

    def wrong(s: Model) -> float:
        def centre(l: int, q: Array) -> Array:
            return np.asarray(s.place(q).p[l])

        worst = []
        for l, (gT, gR, hT, hR) in enumerate(s.links):
            swept = np.einsum("j,jka,k->a", s.qd, hT, s.qd)
            worst.append(error(gT.T @ s.qdd + swept, s.acceleration(s.qd, s.qdd, l)))
            turned = np.einsum("j,jka,k->a", s.qd, hR, s.qd)
            worst.append(error(gR.T @ s.qd, s.spin(s.q, s.qd, l)))
            worst.append(error(gR.T @ s.qdd + turned, s.angular_acceleration(s.qd, s.qdd, l)))
            velocity = along(partial(centre, l), s.q, s.qd)
            worst.append(error(gT.T @ s.qd, velocity))
        return max(worst)

    return formula(map(wrong, arms()))


def second_order_table() -> Evidence:
    """Appendix 1: by its fifth line hT_jk is zero, by its third S_j x S_k, for one case."""

    def wrong(s: Model, slip: bool) -> float:
        links, l = s.links, s.n - 1
        gT, gR, hT, _ = links[l]
        h = hT.copy()
        for j, k in product(range(s.n), repeat=2):
            if slip and s.Ks[min(j, k)] and s.K[max(j, k)]:
                h[j, k] = 0
        found = gT.T @ s.qdd + np.einsum("j,jka,k->a", s.qd, h, s.qd)
        return error(found, s.acceleration(s.qd, s.qdd, l))

    slides = [s for s in arms() if s.K.any() and s.Ks[0]]
    return formula((wrong(s, True) for s in slides), (wrong(s, False) for s in slides))


def inertia_loads() -> Evidence:
    """(5) to (10): virtual work of the inertia loads, and the model that it makes."""

    def wrong(s: Model) -> float:
        T, I = np.zeros(s.n), np.zeros((s.n, s.n))
        for l, (gT, gR, _, _) in enumerate(s.links):
            II, w = s.tensors[l], s.spin(s.q, s.qd, l)
            f = s.m[l] * s.acceleration(s.qd, s.qdd, l)
            moment = II @ s.angular_acceleration(s.qd, s.qdd, l) + cross(w, II @ w)
            T = T + gT @ f + gR @ moment
            I = I + s.m[l] * gT @ gT.T + gR @ II @ gR.T
        truth = s.M @ s.qdd + s.Gamma @ s.qd @ s.qd
        model = I @ s.qdd + np.einsum("j,ijk,k->i", s.qd, sum(s.P), s.qd)
        return max(error(T, truth), error(model, truth), error(I, s.M))

    return formula(map(wrong, arms()))


# Section 3: properties ---------------------------------------------------------------------------

Index = tuple[int, int, int]


def triples(s: Model) -> Iterator[Index]:
    """All i, j, k."""
    yield from product(range(s.n), range(s.n), range(s.n))


def residue(s: Model, term: int, rule: Callable[[Index], float | None]) -> float:
    """By how much a rule misses the elements of a term; it is None where it says nothing."""
    P = s.P[term]
    largest = max(float(np.abs(each).max()) for each in s.P)
    apart = [abs(P[index] - rule(index)) for index in triples(s) if rule(index) is not None]
    return max(apart, default=0.0) / (largest or 1.0)


def definite() -> Evidence:
    """(P1), (P2): [I*] is symmetric and positive definite."""

    def wrong(s: Model) -> float:
        I: Array = np.array(kic.mass_matrix(s.arm, s.q.tolist()))
        return error(I, I.T) + float(np.linalg.eigvalsh(I)[0] <= 0)

    return formula(map(wrong, arms()))


def p3() -> Evidence:
    """(P3): [P1*] is symmetric in each plane."""

    def rule(s: Model, x: Index) -> float:
        return float(s.P[0][x[0], x[2], x[1]])

    return formula(residue(s, 0, partial(rule, s)) for s in arms())


def p4() -> Evidence:
    """(P4)."""

    def printed(s: Model) -> Callable[[Index], float | None]:
        P = s.P[0]
        return lambda x: -P[x[1], x[2], x[0]] if x[1] <= x[2] < x[0] else None

    def corrected(s: Model) -> Callable[[Index], float | None]:
        P = s.P[0]
        return lambda x: -P[x[2], x[1], x[0]] if x[1] <= min(x[0], x[2]) else None

    return formula(
        (residue(s, 0, printed(s)) for s in arms()), (residue(s, 0, corrected(s)) for s in arms())
    )


def p5() -> Evidence:
    """(P5): zeros of [P1*]."""

    def rule(x: Index) -> float | None:
        i, j, k = x
        return 0.0 if (i == k and j <= i) or (i == j and k <= i) else None

    return formula(residue(s, 0, rule) for s in arms())


def p6() -> Evidence:
    """(P6): [P2*] is zero for j >= k, not for j <= k."""
    return formula(
        (residue(s, 1, lambda x: 0.0 if x[1] <= x[2] else None) for s in arms()),
        (residue(s, 1, lambda x: 0.0 if x[1] >= x[2] else None) for s in arms()),
    )


def p7() -> Evidence:
    """(P7), (P8): [P3*] is skew in i and j."""

    def rule(s: Model, x: Index) -> float:
        return -float(s.P[2][x[1], x[0], x[2]])

    return formula(residue(s, 2, partial(rule, s)) for s in arms())


def p9() -> Evidence:
    """(P9): the sign."""

    def rule(s: Model, sign: int) -> Callable[[Index], float | None]:
        P = s.P[1]
        return lambda x: sign * P[x[2], x[0], x[1]] if x[0] < x[1] else None

    return formula(
        (residue(s, 2, rule(s, -1)) for s in arms()), (residue(s, 2, rule(s, 1)) for s in arms())
    )


def p10() -> Evidence:
    """(P10): it holds for i < j, not for j < k < i."""

    def rule(s: Model, printed: bool) -> Callable[[Index], float | None]:
        P = s.P[1]

        def value(x: Index) -> float | None:
            j, i, k = x  # of the element P3_jik
            there = j < k < i if printed else i < j
            return -P[k, i, j] if there else None

        return value

    return formula(
        (residue(s, 2, rule(s, True)) for s in arms()),
        (residue(s, 2, rule(s, False)) for s in arms()),
    )


def identical() -> Evidence:
    """Claim: [P*] of the modified algorithm is identical; only its symmetric part is."""

    def apart(s: Model) -> tuple[float, float]:
        old: Array = s.P[0] + s.P[1] + s.P[2]
        new: Array = np.array(kic_augmented.model(s.arm, s.q.tolist())[1])
        even = [(P + P.transpose(0, 2, 1)) / 2 for P in (old, new)]
        return error(new, old), max(error(even[0], s.Gamma), error(even[1], even[0]))

    element, symmetric = (max(pair) for pair in zip(*map(apart, turning()), strict=True))
    assert symmetric < 1e-10
    return claim(
        element < 1e-10,
        f"element by element they differ by {element:.1g}, symmetrised they are the same",
    )
