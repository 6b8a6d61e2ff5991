"""Checks of [lin1999], section 2 and Appendices A and B: the five formulations, in link frames."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from armdyn.algorithms import lin_fang
from armdyn.papers.checks.lin1991 import pairs, upper
from armdyn.papers.checks.lin1991_appendix import Generalized
from armdyn.papers.evidence import Evidence, claim, error, formula
from armdyn.papers.samples import Array, cross, draw, skew

U = np.array([0.0, 0, 1])


class Composite(Generalized):
    """An arm with the composite bodies of (3) to (5), each in its own frame."""

    def co(self, i: int) -> Array:
        """c-hat_i^<i>."""
        return self.local(self.ch[i], i)

    def Jo(self, i: int) -> Array:
        """J-hat_i^<i>."""
        return np.asarray(self.at.R[i].T @ self.Jc[i] @ self.at.R[i])

    def turned(self, i: int, j: int) -> Array:
        """The rotation from E_i to E_j."""
        return np.asarray(self.at.R[j].T @ self.at.R[i])

    def far(self, j: int, i: int) -> Array:
        """The distance s from the origin of E_j to that of E_i, in E_j."""
        return self.local(self.at.o[i] - self.at.o[j], j)


@cache
def arms() -> list[Composite]:
    """The arms of these checks."""
    return [Composite(s.chain.kinds, k) for k, s in enumerate(draw(), start=1)]


def elements(s: Composite, element: Callable[[Composite, int, int], Any]) -> float:
    """The error of D_ji, j <= i, by a formula of one element."""
    return error([element(s, j, i) for j, i in pairs(s)], upper(s))


def frames() -> Evidence:
    """(1), (2): distance and rotation between neighbours."""

    def wrong(s: Composite) -> float:
        worst = []
        for i in range(1, s.n):
            joint, R = s.chain.joints[i], s.turned(i, i - 1)
            theta, d = joint.theta + s.Ks[i] * s.q[i], joint.d + s.K[i] * s.q[i]
            C, S, Cb, Sb = np.cos(theta), np.sin(theta), np.cos(joint.beta), np.sin(joint.beta)
            worst.append(error([joint.b, -d * Sb, d * Cb], s.far(i - 1, i)))
            worst.append(error([joint.b * C, -joint.b * S, d], R.T @ s.far(i - 1, i)))
            printed = [[C, -S, 0], [Cb * S, Cb * C, -Sb], [Sb * S, Sb * C, Cb]]
            worst.append(error(printed, R))
        return max(worst)

    return formula(map(wrong, arms()))


def bodies() -> Evidence:
    """(3), (4), (6)."""

    def wrong(s: Composite) -> float:
        worst = []
        for i in range(s.n):
            own = [s.turned(j, i) @ s.c[j] for j in range(i, s.n)]
            found = sum(s.m[j] * (s.far(i, j) + c) for j, c in zip(range(i, s.n), own, strict=True))
            worst += [error(found, s.co(i)), error(s.m[i:].sum(), s.mh[i])]
        return max(worst)

    return formula(map(wrong, arms()))


def eq_5() -> Evidence:
    """(5): the rotated tensor is I_j^<j>; I_j^<i> would be rotated twice."""

    def wrong(s: Composite, twice: bool) -> float:
        worst = []
        for i in range(s.n):
            J = np.zeros((3, 3))
            for j in range(i, s.n):
                R = s.turned(j, i)
                p = s.far(i, j) + R @ s.c[j]
                I = R @ s.I[j] @ R.T if twice else s.I[j]
                J = J + R @ I @ R.T - s.m[j] * skew(p) @ skew(p)
            worst.append(error(J, s.Jo(i)))
        return max(worst)

    return formula((wrong(s, True) for s in arms()), (wrong(s, False) for s in arms()))


def wrench(s: Composite, i: int) -> tuple[Array, Array]:
    """f_ii and t_ii by (7), (8)."""
    f = s.Ks[i] * cross(U, s.co(i)) + s.K[i] * s.mh[i] * U
    return f, s.Ks[i] * s.Jo(i) @ U + s.K[i] * cross(s.co(i), U)


def inward(s: Composite, i: int, j: int) -> tuple[Array, Array]:
    """f_ji and t_ji by (9), (10)."""
    f, t = wrench(s, i)
    for k in reversed(range(j, i)):
        f = s.turn(k + 1, s.q) @ f
        t = s.turn(k + 1, s.q) @ t + cross(s.far(k, k + 1), f)
    return f, t


def formulation_1() -> Evidence:
    """(7) to (11)."""

    def element(s: Composite, j: int, i: int) -> float:
        f, t = inward(s, i, j)
        return float(U @ (s.Ks[j] * t + s.K[j] * f))

    return formula(elements(s, element) for s in arms())


def spatial() -> Evidence:
    """(12) to (17): the same in six dimensions, as Lilly and Orin have it."""

    def element(s: Composite, j: int, i: int) -> float:
        C = skew(s.co(i))
        K = np.block([[s.Jo(i), C], [C.T, s.mh[i] * np.eye(3)]])
        f = K @ np.concatenate([s.Ks[i] * U, s.K[i] * U])
        for k in reversed(range(j, i)):
            R = s.turn(k + 1, s.q)
            f = np.block([[R, skew(s.far(k, k + 1)) @ R], [np.zeros((3, 3)), R]]) @ f
        return float(np.concatenate([s.Ks[j] * U, s.K[j] * U]) @ f)

    return formula(elements(s, element) for s in arms())


def eq_18() -> Evidence:
    """(18): the shift along z before the rotation, that along x after it."""

    def wrong(s: Composite) -> float:
        f, k, R = s.g, s.n - 1, s.turn(s.n - 1, s.q)
        joint = s.chain.joints[k]
        d = np.array([0, 0, joint.d + s.K[k] * s.q[k]])
        printed = R @ cross(d, f) + cross(np.array([joint.b, 0, 0]), R @ f)
        return error(printed, cross(s.far(k - 1, k), R @ f))

    return formula(map(wrong, arms()))


def eq_19() -> Evidence:
    """(19): all vectors are in E_j, so the tensor must be J-hat_i^<j>."""

    def element(s: Composite, j: int, i: int, own: bool) -> float:
        R = s.turned(i, j)
        u, c, far, m = R @ U, R @ s.co(i), s.far(j, i), s.mh[i]
        J = s.Jo(i) if own else R @ s.Jo(i) @ R.T
        turning = J @ u + cross(far, cross(u, c))
        value = s.Ks[j] * s.Ks[i] * U @ turning + s.K[j] * s.Ks[i] * U @ cross(u, c)
        value += s.Ks[j] * s.K[i] * U @ (m * cross(far, u) + cross(c, u))
        return float(value + s.K[j] * s.K[i] * m * U @ u)

    printed, corrected = (
        [elements(s, partial(element, own=own)) for s in arms()] for own in (True, False)
    )
    return formula(printed, corrected)


def formulation_2() -> Evidence:
    """(20)."""

    def element(s: Composite, j: int, i: int) -> float:
        R, J, c, m = s.turned(j, i), s.Jo(i), s.co(i), s.mh[i]
        u, far = R @ U, R @ s.far(j, i)
        shifted = [-c[0] * far[2], -c[1] * far[2], c[0] * far[0] + c[1] * far[1]]
        value = s.Ks[j] * s.Ks[i] * u @ (J[:, 2] + shifted) + s.K[j] * s.Ks[i] * u @ cross(U, c)
        sliding = np.array([m * far[1] + c[1], -m * far[0] - c[0], 0])
        return float(value + s.Ks[j] * s.K[i] * u @ sliding + s.K[j] * s.K[i] * m * u[2])

    return formula(elements(s, element) for s in arms())


def renaud_element(s: Composite, j: int, i: int, sign: int = -1) -> float:
    """D_ji by Table III; the sign of its K*_j K_i term is a plus in print."""
    R, J, c, m = s.turned(j, i), s.Jo(i), s.co(i), s.mh[i]
    u, e = R @ U, np.array([-c[1], c[0], 0])
    sh = cross(u, R @ s.far(j, i))
    value = s.Ks[j] * s.Ks[i] * (u @ J[:, 2] + e @ sh) + s.K[j] * s.Ks[i] * u @ e
    return float(value + s.Ks[j] * s.K[i] * (m * sh[2] + sign * u @ e) + s.K[j] * s.K[i] * m * u[2])


def formulation_3() -> Evidence:
    """(21)."""

    def element(s: Composite, j: int, i: int) -> float:
        R, c, m = s.turned(j, i), s.co(i), s.mh[i]
        u, sh = R @ U, cross(R @ U, R @ s.far(j, i))
        value = s.Ks[j] * s.Ks[i] * (u @ s.Jo(i) @ U + sh @ cross(U, c))
        value += s.K[j] * s.Ks[i] * u @ cross(U, c)
        value += s.Ks[j] * s.K[i] * (m * U @ sh + u @ cross(c, U))
        return float(value + s.K[j] * s.K[i] * m * u @ U)

    return formula(elements(s, element) for s in arms())


# Tables I to V -----------------------------------------------------------------------------------


def run(method: Callable[..., Any]) -> list[float]:
    """The errors of a formulation of our code."""
    return [error(method(s.arm, s.q.tolist()), s.M) for s in arms()]


def table_1() -> Evidence:
    """Table I: f_{i-1,i} is rotated where K*_i = 1; the print has K*_{i-1}."""

    def wrong(s: Composite) -> float:
        worst = []
        for i in range(2, s.n):
            f, _ = wrench(s, i)
            truth = s.turn(i, s.q) @ f
            sliding = s.K[i] * s.mh[i] * (s.turn(i, s.q) @ U)
            worst.append(error(s.Ks[i - 1] * truth + sliding, truth))
        return max(worst)

    return formula((wrong(s) for s in arms() if s.n > 2), run(lin_fang.formulation_1))


def table_2() -> Evidence:
    """Table II."""
    return formula(run(lin_fang.formulation_2))


def table_3() -> Evidence:
    """Table III: the sign in its K*_j K_i term."""
    plus = [elements(s, lambda s, j, i: renaud_element(s, j, i, 1)) for s in arms()]
    return formula(plus, run(lin_fang.formulation_3))


def table_4() -> Evidence:
    """Table IV."""
    return formula(run(lin_fang.formulation_4))


def kawasaki(s: Composite, slip: str = "") -> Array:
    """D by (B5) to (B11); slips "t" and "K" take the print of Table V and of (B11)."""
    D = np.zeros((s.n, s.n))
    for i in range(s.n):
        D[i, i] = s.Ks[i] * s.Jo(i)[2, 2] + s.K[i] * s.mh[i]
        if i == 0:
            continue
        R, far = s.turn(i, s.q), s.far(i - 1, i)
        h, u = R @ s.co(i) + s.mh[i] * far, R @ U
        f = -s.Ks[i] * cross(h - s.mh[i] * far, u) + s.K[i] * s.mh[i] * u
        K = 1 if slip == "t" else s.Ks[i]
        t = s.Ks[i] * R @ s.Jo(i) @ U - K * cross(f, far) + s.K[i] * cross(h, u)
        for j in reversed(range(i)):
            if j < i - 1:
                f = s.turn(j + 1, s.q) @ f
                t = s.turn(j + 1, s.q) @ t + cross(s.far(j, j + 1), f)
            k = i if slip == "K" else j
            D[j, i] = D[i, j] = s.Ks[k] * t[2] + s.K[k] * f[2]
    return D


def formulation_5() -> Evidence:
    """(B5) to (B10)."""
    return formula(error(kawasaki(s), s.M) for s in arms())


def table_5() -> Evidence:
    """Table V: in t_{i-1,i} the product -f x s belongs to K*_i, as in (B8)."""
    return formula((error(kawasaki(s, "t"), s.M) for s in arms()), run(lin_fang.formulation_5))


def eq_b11() -> Evidence:
    """(B11), and the last line of Table V: the factors are those of joint j."""
    return formula(
        (error(kawasaki(s, "K"), s.M) for s in arms()), (error(kawasaki(s), s.M) for s in arms())
    )


def kawasakis_bodies() -> Evidence:
    """(B1) to (B4): h and L are first moment and tensor of the composite body."""

    def wrong(s: Composite) -> float:
        worst = []
        for i in range(1, s.n):
            R = s.turned(i, i - 1)
            own = [s.turned(k, i) @ s.c[k] for k in range(i, s.n)]
            far = [R.T @ s.far(i - 1, k) for k in range(i, s.n)]
            terms = zip(s.m[i:], own, far, strict=True)
            h = R @ sum(m * (c + distance) for m, c, distance in terms)
            worst.append(error(h, R @ s.co(i) + s.mh[i] * s.far(i - 1, i)))
        worst += [error(kawasakis_tensor(s, i), s.Jo(i)) for i in range(s.n)]
        return max(worst)

    return formula(map(wrong, arms()))


def kawasakis_tensor(s: Composite, i: int) -> Array:
    """L_i by (B2)."""
    L = np.zeros((3, 3))
    for k in range(i, s.n):
        com = s.c[k]
        J = s.I[k] - s.m[k] * skew(com) @ skew(com)
        if k + 1 < s.n:
            far = s.far(k, k + 1)
            h = s.turn(k + 1, s.q) @ s.co(k + 1) + s.mh[k + 1] * far
            J = J - skew(far) @ skew(h) - skew(h) @ skew(far)
            J = J + s.mh[k + 1] * skew(far) @ skew(far)
        L = L + s.turned(k, i) @ J @ s.turned(k, i).T
    return L


def eq_b12() -> Evidence:
    """(B12), its right-hand side: D_ji of a prismatic joint i."""

    def wrong(s: Composite) -> float:
        found, truth = [0.0], [0.0]
        for j, i in pairs(s):
            if s.K[i] and j < i:
                u = s.turned(i, j) @ U
                h = s.turned(i, j) @ s.co(i) + s.mh[i] * s.far(j, i)
                found.append(U @ (s.Ks[j] * cross(h, u) + s.K[j] * s.mh[i] * u))
                truth.append(s.M[j, i])
        return error(found, truth)

    return formula(wrong(s) for s in arms() if s.K[1:].any())


def massless() -> Evidence:
    """Claim: with revolute joints only, m-hat may be zero in (B5) to (B11)."""

    def wrong(s: Composite) -> float:
        other = copy.copy(s)
        other.mh = 0 * s.mh
        return error(kawasaki(other), s.M)

    worst = max(wrong(s) for s in arms() if s.Ks.all())
    return claim(worst < 1e-10, "D is the same with m-hat = 0, to 1e-10")


# Appendix A --------------------------------------------------------------------------------------


def derivation() -> Evidence:
    """(A1) to (A3), (A5) to (A10): from Newton and Euler to the inertia matrix."""

    def element(s: Composite, j: int, i: int) -> float:
        a = s.Ks[i] * cross(U, s.co(i) / s.mh[i]) + s.K[i] * U
        f_T = -s.mh[i] * a
        t_T = -(central(s, i, 1) @ (s.Ks[i] * U))
        f, t = -f_T, -t_T - cross(s.co(i), f_T) / s.mh[i]
        R = s.turned(i, j)
        f, t = R @ f, R @ t
        return float(U @ (s.Ks[j] * (t + cross(s.far(j, i), f)) + s.K[j] * f))

    return formula(elements(s, element) for s in arms())


def central(s: Composite, i: int, sign: int) -> Array:
    """I-hat_i by (A4), with the sign of its last term."""
    C = skew(s.co(i))
    return np.asarray(s.Jo(i) + sign / s.mh[i] * C @ C)


def eq_a4() -> Evidence:
    """(A4): the sign of its last term."""

    def wrong(s: Composite, sign: int) -> float:
        centres: Sequence[Array] = [s.at.R[i].T @ s.J[i] @ s.at.R[i] for i in range(s.n)]
        return error([central(s, i, sign) for i in range(s.n)], centres)

    return formula((wrong(s, -1) for s in arms()), (wrong(s, 1) for s in arms()))
