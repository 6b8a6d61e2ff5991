"""Checks of [lin1991], Appendix: Renaud's formulation, and Fijany and Bejczy's."""

from __future__ import annotations

from functools import cache, cached_property

import numpy as np

from armdyn.algorithms import fijany_bejczy, renaud
from armdyn.papers.checks.lin1991 import Body, pairs, upper
from armdyn.papers.evidence import Evidence, error, formula
from armdyn.papers.samples import Array, cross, draw, skew


class Generalized(Body):
    """An arm with the composite bodies about the origins of their own frames, (A2) and (A3)."""

    @cached_property
    def ch(self) -> Array:
        """(A2)."""
        return np.array([self.m[j:] @ (self.at.p[j:] - self.at.o[j]) for j in range(self.n)])

    @cached_property
    def Jc(self) -> Array:
        """(A3)."""
        return np.array([self.tensor(j, self.at.o[j]) for j in range(self.n)])

    def lever(self, m: int, j: int) -> Array:
        """(A4): u_m x s, s from the origin of E_m to that of E_j."""
        return cross(self.at.u[m], self.at.o[j] - self.at.o[m])


@cache
def arms() -> list[Generalized]:
    """The arms of these checks."""
    return [Generalized(s.chain.kinds, k) for k, s in enumerate(draw(), start=1)]


def element(s: Generalized, m: int, j: int, slip: str = "") -> float:
    """H_mj by (A1), in E_j and by e_j as Fig. A1 has it; a slip takes the print of Fig. A1."""
    u, sh, c = (s.local(v, j) for v in (s.at.u[m], s.lever(m, j), s.ch[j]))
    if slip == "e":
        c = s.local(s.ph[j], j)
    e, z = np.array([-c[1], c[0], 0]), 0 if slip == "z" else 2
    a = (s.at.R[j].T @ s.Jc[j] @ s.at.R[j])[:, 2]
    value = s.Ks[m] * s.Ks[j] * (a @ u + sh @ e) + s.K[m] * s.Ks[j] * e @ u
    value += s.Ks[m] * s.K[j] * (s.mh[j] * sh[z] - e @ u)
    return float(value + s.K[m] * s.K[j] * s.mh[j] * u[z])


def wrong(s: Generalized, slip: str = "") -> float:
    """The error of all elements."""
    return error([element(s, m, j, slip) for m, j in pairs(s)], upper(s))


def renauds_formulation() -> Evidence:
    """(A1), with (A2) to (A4)."""

    def printed(s: Generalized) -> float:
        found = []
        for m, j in pairs(s):
            u, sh, c = s.at.u, s.lever(m, j), s.ch[j]
            value = s.Ks[m] * s.Ks[j] * (u[m] @ s.Jc[j] @ u[j] + sh @ cross(u[j], c))
            value += s.K[m] * s.Ks[j] * u[m] @ cross(u[j], c)
            value += s.Ks[m] * s.K[j] * (s.mh[j] * sh @ u[j] + u[m] @ cross(c, u[j]))
            found.append(value + s.K[m] * s.K[j] * s.mh[j] * u[m] @ u[j])
        return error(found, upper(s))

    return formula(map(printed, arms()))


def fig_a1() -> Evidence:
    """Fig. A1 as our code has it, its slips put right."""
    return formula(error(renaud.mass_matrix(s.arm, s.q.tolist()), s.M) for s in arms())


def fig_a1_e() -> Evidence:
    """Fig. A1: e_j is made of c-hat_j, not of p-hat_j."""
    return formula((wrong(s, "e") for s in arms()), (wrong(s) for s in arms()))


def fig_a1_z() -> Evidence:
    """Fig. A1: the components of m-hat s-hat and m-hat u are those along z."""
    return formula((wrong(s, "z") for s in arms()), (wrong(s) for s in arms()))


def constants() -> Evidence:
    """(A5) to (A8): bodies from the next one, with what is constant apart."""

    def printed(s: Generalized) -> float:
        worst = []
        for j in range(s.n - 1):
            k, step, up = j + 1, s.step(j + 1, s.q), s.turn(j + 1, s.q)
            c_bar = s.m[j] * s.c[j] + s.Ks[k] * s.mh[k] * step
            J_bar = s.I[j] - s.m[j] * skew(s.c[j]) @ skew(s.c[j])
            J_bar = J_bar - s.Ks[k] * s.mh[k] * skew(step) @ skew(step)
            c = up @ s.local(s.ch[k], k)
            worst.append(error(c_bar + c + s.K[k] * s.mh[k] * step, s.local(s.ch[j], j)))
            R = s.at.R
            J = J_bar + up @ (R[k].T @ s.Jc[k] @ R[k]) @ up.T
            J = J - skew(step) @ skew(c) - skew(c) @ skew(step)
            J = J - s.K[k] * s.mh[k] * skew(step) @ skew(step)
            worst.append(error(J, R[j].T @ s.Jc[j] @ R[j]))
        return max(worst)

    return formula(map(printed, arms()))


def fig_a1_polar() -> Evidence:
    """Fig. A1: the (3, 3) of a prismatic joint's shift is m-hat (s_x^2 + s_y^2)."""

    def printed(s: Generalized, squares: tuple[int, int]) -> float:
        worst = []
        for j in range(s.n - 1):
            k, step, up, R = j + 1, s.step(j + 1, s.q), s.turn(j + 1, s.q), s.at.R
            if s.K[k]:
                c = up @ s.local(s.ch[k], k)
                own = s.I[j] - s.m[j] * skew(s.c[j]) @ skew(s.c[j])
                value = own[2, 2] + (up @ (R[k].T @ s.Jc[k] @ R[k]) @ up.T)[2, 2]
                value += 2 * (step[0] * c[0] + step[1] * c[1])
                value += s.mh[k] * sum(step[i] ** 2 for i in squares)
                worst.append(error(value, (R[j].T @ s.Jc[j] @ R[j])[2, 2]))
        return max(worst)

    slides = [s for s in arms() if s.K[1:].any()]
    return formula((printed(s, (2, 1)) for s in slides), (printed(s, (0, 1)) for s in slides))


def levers() -> Evidence:
    """(A9): s-hat from frame to frame."""

    def printed(s: Generalized) -> float:
        worst = [0.0]
        for m, j in pairs(s, strict=True):
            inner = s.local(s.lever(m, j - 1), j - 1)
            step = cross(s.local(s.at.u[m], j - 1), s.step(j, s.q))
            found = s.turn(j, s.q).T @ (inner + step)
            worst.append(error(found, s.local(s.lever(m, j), j)))
        return max(worst)

    return formula(map(printed, arms()))


def wrench(s: Generalized, j: int, sliding: float = 1) -> tuple[Array, Array]:
    """-f_Ej and -t_Ej of a unit acceleration by (A10), (A11)."""
    u, c = s.at.u[j], s.ch[j]
    f = sliding * s.K[j] * s.mh[j] * u + s.Ks[j] * cross(u, c)
    return f, sliding * s.K[j] * cross(c, u) + s.Ks[j] * s.Jc[j] @ u


def carried(s: Generalized, rotated: bool = True, sliding: float = 1) -> float:
    """(A10) to (A15) in the axes of E_n; the print of (A14) leaves vectors in those of E_j."""
    last, found = s.at.R[-1], []
    for m, j in pairs(s):
        f, t = (s.local(v, j) for v in wrench(s, j, sliding))
        if rotated:
            turn = last.T @ s.at.R[j]
            f, t = turn @ f, turn @ t
        for i in reversed(range(m, j)):
            t = t + cross(last.T @ (s.at.o[i + 1] - s.at.o[i]), f)
        u = last.T @ s.at.u[m] if rotated or m < j else s.local(s.at.u[m], m)
        found.append(s.K[m] * u @ f + s.Ks[m] * u @ t)
    return error(found, upper(s))


def forces() -> Evidence:
    """(A10) to (A13), (A15): Fijany and Bejczy's forces, all in one frame."""
    return formula(map(carried, arms()))


def eq_a14() -> Evidence:
    """(A14) and the note under (A15): f and t are both rotated from E_j, with one sign."""
    several = [s for s in arms() if s.n > 1]
    return formula((carried(s, rotated=False) for s in several), (carried(s) for s in several))


def ignored_terms() -> Evidence:
    """Claim: (A10) and (A11) need their first terms, which reference 12 ignored."""
    slides = [s for s in arms() if s.K.any()]
    found = min(carried(s, sliding=0) for s in slides)
    kept = max(carried(s) for s in slides)
    own = max(error(fijany_bejczy.mass_matrix(s.arm, s.q.tolist()), s.M) for s in slides)
    holds = found > 0.1 and max(kept, own) < 1e-10
    return Evidence(
        "right" if holds else "refuted", f"without them H fails by {found:.1g} or more", None, kept
    )


def varying_constants() -> Evidence:
    """Claim: for a prismatic joint j + 1 (A5) with 1 in place of K* is no constant."""

    def moved(s: Generalized) -> float:
        k = int(np.argmax(s.K[1:])) + 1
        further = s.q + np.eye(s.n)[k]
        return error(s.mh[k] * s.step(k, further), s.mh[k] * s.step(k, s.q))

    least = min(moved(s) for s in arms() if s.K[1:].any())
    return Evidence("right" if least > 0.1 else "refuted", f"it changes by {least:.1g} or more")


def mistaken_distance() -> Evidence:
    """Claim: [b_i, 0, d_i], as in reference 10, is not the distance between two frames."""

    def apart(s: Generalized) -> float:
        b, d = s.chain.joints[1].b, s.chain.joints[1].d + s.K[1] * s.q[1]
        truth = s.at.R[0].T @ (s.at.o[1] - s.at.o[0])
        return error([b, 0, d], truth)

    least = min(map(apart, arms()))
    return Evidence("right" if least > 1e-3 else "refuted", f"it is off by {least:.1g} or more")
