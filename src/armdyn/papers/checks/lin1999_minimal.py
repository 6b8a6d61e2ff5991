"""Checks of [lin1999], sections 3 and 4 and Appendix C: minimal parameters, Table VII.

``Split`` has the composite bodies as constants and what varies, by the paper's recursions. r is
the first revolute joint, s the first revolute one not parallel to it, n for none.
"""

from __future__ import annotations

from functools import cache, cached_property

import numpy as np
from numpy.random import default_rng

from armdyn.algorithms import lin_fang_minimal
from armdyn.algorithms.regressor import regressor
from armdyn.chain import Chain
from armdyn.chain.minimal import MinimalParameters
from armdyn.papers.checks.lin1999 import Composite, U, wrench
from armdyn.papers.evidence import Evidence, claim, error, formula, rebuilt
from armdyn.papers.samples import MIXED, PARALLEL, REVOLUTE, Array, cross, skew

Z = np.outer(U, U)


class Split(Composite):
    """An arm whose composite bodies are split into constants and what varies."""

    @cached_property
    def start(self) -> tuple[int, int]:
        """Joints r and s."""
        r, s, _ = self.arm.start
        return r, s

    def ur(self, i: int) -> Array:
        """u_r^<i>."""
        return self.local(self.at.u[self.start[0]], i)

    def shift(self, i: int) -> tuple[Array, Array]:
        """b_i^<i-1> and d_i^<i>."""
        joint = self.chain.joints[i]
        return np.array([joint.b, 0, 0]), np.array([0, 0, joint.d + self.K[i] * self.q[i]])

    @cached_property
    def constants(self) -> tuple[list[Array], list[Array]]:
        """k_i and U_i by (C1) to (C3)."""
        n = self.n
        k = [self.m[i] * self.c[i] for i in range(n)]
        Us = [self.I[i] - self.m[i] * skew(self.c[i]) @ skew(self.c[i]) for i in range(n)]
        for i in reversed(range(n - 1)):
            o, m, R = i + 1, self.mh[i + 1], self.turn(i + 1, self.q)
            b, _ = self.shift(o)
            if self.Ks[o]:
                far, rest = self.step(o, self.q), R @ (k[o] * U)
                k[i] = k[i] + m * far + rest
                flat = Us[o][1, 1] * (np.eye(3) - Z)
                Us[i] = Us[i] - m * skew(far) @ skew(far) + R @ flat @ R.T + swept(far, rest)
            else:
                rest = R @ k[o]
                k[i] = k[i] + m * b + rest
                Us[i] = Us[i] + R @ Us[o] @ R.T - m * skew(b) @ skew(b) + swept(b, rest)
        return k, Us

    @cached_property
    def varying(self) -> tuple[list[Array], list[Array]]:
        """l_i and V_i by (24) to (26)."""
        n = self.n
        _, Us = self.constants
        l, V = [np.zeros(3)] * n, [np.zeros((3, 3))] * n
        for i in reversed(range(n - 1)):
            o, R = i + 1, self.turn(i + 1, self.q)
            c, (b, d), m = self.co(o), self.shift(o), self.mh[o]
            if self.Ks[o]:
                l[i] = R @ np.array([c[0], c[1], l[o][2]])
                inner = V[o] + Us[o] - Us[o][1, 1] * (np.eye(3) - Z)
                V[i] = R @ inner @ R.T + swept(self.step(o, self.q), l[i])
            else:
                l[i] = R @ (l[o] + m * d)
                inner = V[o] - m * skew(d) @ skew(d) + swept(d, c)
                V[i] = R @ inner @ R.T + swept(b, l[i])
        return l, V

    def X(self, i: int) -> Array:
        """What (34) or (35) turns by R_{i+1}."""
        (_, Us), (l, V), o = self.constants, self.varying, i + 1
        c, d, m = self.co(o), self.shift(o)[1][2], self.mh[o]
        x = -d * np.array([[0, 0, c[0]], [0, 0, c[1]], [c[0], c[1], 0]])
        if self.Ks[o]:
            own = Us[o] - Us[o][1, 1] * (np.eye(3) - Z)
            return np.asarray(V[o] + own + x + 2 * d * l[o][2] * (np.eye(3) - Z))
        return np.asarray(V[o] + x + d * (m * d + 2 * c[2]) * (np.eye(3) - Z))


def swept(a: Array, c: Array) -> Array:
    """-[a x][c x] - [c x][a x]."""
    return np.asarray(-skew(a) @ skew(c) - skew(c) @ skew(a))


@cache
def arms() -> list[Split]:
    """Arms in general position, and arms whose first axes are parallel or antiparallel."""
    plain = [Split(kinds, k) for k, kinds in enumerate((*REVOLUTE, *MIXED, *PARALLEL), start=1)]
    ordered = [
        Split(kinds, k, f"{word}parallel-start")
        for word in ("", "anti")
        for k, kinds in enumerate(PARALLEL, start=1)
    ]
    return plain + ordered


def before_s(s: Split) -> range:
    """The joints r..s-1."""
    return range(s.start[0], s.start[1])


def split() -> Evidence:
    """(22) to (26), (C1) to (C3): constants and what varies are the whole."""

    def wrong(s: Split) -> float:
        (k, Us), (l, V) = s.constants, s.varying
        worst = []
        for i in range(s.n):
            worst += [error(k[i] + l[i], s.co(i)), error(Us[i] + V[i], s.Jo(i))]
        return max(worst)

    return formula(map(wrong, arms()))


def constant() -> Evidence:
    """(C1) to (C3): k_i and U_i do not change with the posture."""

    def moved(s: Split) -> float:
        other = Split(s.chain.kinds, 1)
        other.chain, other.q = s.chain, s.q + 1.0
        other.m, other.c, other.I = s.m, s.c, s.I
        return max(
            error(there, here)
            for here, there in zip(
                (*s.constants[0], *s.constants[1]),
                (*other.constants[0], *other.constants[1]),
                strict=True,
            )
        )

    return formula(map(moved, arms()))


def torque_along_r(s: Split, i: int) -> float:
    """(t_ii^<r>)_z by (29), with kappa_1 of (27)."""
    (k, _), (l, _), u = s.constants, s.varying, s.ur(i)
    kappa_1 = -u[1] * k[i][0] + u[0] * k[i][1]
    sliding = kappa_1 - u[1] * l[i][0] + u[0] * l[i][1]
    return float(s.Ks[i] * u[2] * s.Jo(i)[2, 2] + s.K[i] * sliding)


def eq_29() -> Evidence:
    """(27), (29): the torque along joint r."""

    def wrong(s: Split) -> float:
        found = [torque_along_r(s, i) for i in before_s(s)]
        return error(found, [s.ur(i) @ wrench(s, i)[1] for i in before_s(s)])

    return formula(wrong(s) for s in arms() if before_s(s))


def rows_before_s(s: Split, own: bool) -> float:
    """D_ji for r <= j < i < s by (29) to (31), (30) rebuilt; (31) as printed, or with j."""
    found, truth, (r, _) = [0.0], [0.0], s.start
    for i in before_s(s):
        f, t = wrench(s, i)[0], torque_along_r(s, i)
        for j in reversed(range(r, i)):
            f = s.turn(j + 1, s.q) @ f
            t = t + float(s.ur(j) @ cross(s.far(j, j + 1), f))
            found.append(s.Ks[j] * s.ur(j if own else i)[2] * t + s.K[j] * f[2])
            truth.append(s.M[j, i])
    return error(found, truth)


def eq_30() -> Evidence:
    """(30), lost: the torque along joint r carried inward."""
    return rebuilt((rows_before_s(s, True) for s in arms()), "as rebuilt it")


def eq_31() -> Evidence:
    """(31): the factor is (u_r^<j>)_z."""
    return formula(
        (rows_before_s(s, False) for s in arms()), (rows_before_s(s, True) for s in arms())
    )


def eq_32() -> Evidence:
    """(32): Formulation 2 for i < s."""

    def wrong(s: Split) -> float:
        found, truth = [0.0], [0.0]
        for i in before_s(s):
            for j in range(i):
                R, c, m = s.turned(j, i), s.co(i), s.mh[i]
                u, far = R @ U, R @ s.far(j, i)
                turning = u[2] * (s.Jo(i)[2, 2] + c[0] * far[0] + c[1] * far[1])
                value = s.Ks[j] * s.Ks[i] * turning + s.K[j] * s.Ks[i] * u @ cross(U, c)
                sliding = u @ np.array([m * far[1], -m * far[0], 0])
                sliding += s.ur(j)[2] * torque_along_r(s, i)
                found.append(value + s.Ks[j] * s.K[i] * sliding + s.K[j] * s.K[i] * m * u[2])
                truth.append(s.M[j, i])
        return error(found, truth)

    return formula(map(wrong, arms()))


# V_i, section 4 ----------------------------------------------------------------------------------


def eq_34() -> Evidence:
    """(33) to (35): V_i expanded."""

    def wrong(s: Split) -> float:
        worst = [0.0]
        l, V = s.varying
        for i in range(s.n - 1):
            R, b = s.turn(i + 1, s.q), s.chain.joints[i + 1].b
            x, y, z = b * l[i]
            expanded = np.array([[0, -y, -z], [-y, 2 * x, 0], [-z, 0, 2 * x]])
            worst.append(error(R @ s.X(i) @ R.T + expanded, V[i]))
        return max(worst)

    return formula(map(wrong, arms()))


def along_r(s: Split, i: int) -> float:
    """(V_i^<r>)_33, truly: (37)."""
    return float(s.ur(i) @ s.varying[1][i] @ s.ur(i))


def ends(s: Split, i: int) -> float:
    """What the shift b_{i+1} brings to (V_i^<r>)_33 in (38) and (40)."""
    (x, y, z), l, b = s.ur(i), s.varying[0][i], s.chain.joints[i + 1].b
    sliding = (1 - x * x) * l[0] - x * y * l[1] - x * z * l[2]
    return float(2 * b * (s.Ks[i] * l[0] + s.K[i] * sliding))


def eq_38() -> Evidence:
    """(36) to (39), (55): across joint s."""

    def wrong(s: Split) -> float:
        i = s.start[1] - 1
        u, R = s.ur(i), s.turn(i + 1, s.q)
        us, X = R.T @ u, s.X(i)
        expanded = us[0] * (us[0] * X[0, 0] + 2 * us[1] * X[0, 1]) + us[1] ** 2 * X[1, 1]
        expanded += 2 * us[2] * (us[0] * X[0, 2] + us[1] * X[1, 2]) + us[2] ** 2 * X[2, 2]
        J = [error(s.ur(k) @ s.Jo(k) @ s.ur(k), s.Jo(k)[2, 2]) for k in before_s(s) if s.Ks[k]]
        return max(error(expanded + ends(s, i), along_r(s, i)), *J)

    return formula(wrong(s) for s in arms() if before_s(s) and s.start[1] < s.n)


def across_slides(s: Split, twice: bool) -> float:
    """The error of (40), as printed or with its factors 2."""
    found, truth = [0.0], [0.0]
    (k, _), (l, V) = s.constants, s.varying
    for i in before_s(s)[:-1]:
        o, u = i + 1, s.ur(i + 1)
        if s.Ks[o]:
            value = s.Jo(o)[2, 2] + ends(s, i)
        else:
            d, m, free = s.shift(o)[1][2], s.mh[o], 1 - u[2] ** 2
            kappa_2 = -u[2] * (u[0] * k[o][0] + u[1] * k[o][1]) + free * k[o][2]
            x, y = u[2] * u[0] * l[o][0], u[2] * u[1] * l[o][1]
            rest = -2 * x - 2 * y if twice else -x + y
            moved = 2 * kappa_2 + free * (m * d + 2 * l[o][2]) + rest
            value = u @ V[o] @ u + d * moved + ends(s, i)
        found.append(value)
        truth.append(along_r(s, i))
    return error(found, truth)


def eq_28() -> Evidence:
    """(28): kappa_2 is what (40) needs of a slide's first moment."""
    return formula(across_slides(s, True) for s in arms() if before_s(s))


def eq_40() -> Evidence:
    """(40) and Table VII: a prismatic joint i + 1 < s."""
    slides = [s for s in arms() if before_s(s)]
    printed, corrected = ([across_slides(s, twice) for s in slides] for twice in (False, True))
    return formula(printed, corrected)


def similarity() -> Evidence:
    """(41) to (54): Y = R X R^T."""

    def wrong(s: Split) -> float:
        R, X = s.turn(s.n - 1, s.q), s.X(s.n - 2)
        (C, S), (Cb, Sb) = (R[0, 0], -R[0, 1]), (R[2, 2], -R[1, 2])
        A1 = C * (X[0, 0] - X[1, 1]) - 2 * S * X[0, 1]
        A2 = C * A1
        A3, A4 = X[0, 0] - A2, S * A1 + X[0, 1]
        A5 = S * X[0, 2] + C * X[1, 2]
        A6 = (A3 - X[2, 2]) * Cb - 2 * Sb * A5
        A7, A8 = Cb * A6, C * X[0, 2] - S * X[1, 2]
        Y12, Y13, Y23 = Cb * A4 - Sb * A8, Sb * A4 + Cb * A8, A5 + Sb * A6
        rows = [[A2 + X[1, 1], Y12, Y13], [Y12, A7 + X[2, 2], Y23], [Y13, Y23, A3 - A7]]
        return error(rows, R @ X @ R.T)

    return formula(map(wrong, arms()))


def table_7() -> Evidence:
    """Table VII, V_13: the print has Y_12 in its place; with Table I it gives D."""

    def wrong(s: Split) -> float:
        worst = [0.0]
        l, V = s.varying
        for i in range(s.n - 1):
            R, b = s.turn(i + 1, s.q), s.chain.joints[i + 1].b
            Y = R @ s.X(i) @ R.T
            worst.append(abs(Y[0, 1] - b * l[i][2] - V[i][0, 2]) / (np.abs(V[i]).max() or 1))
        return max(worst)

    def whole(s: Split) -> float:
        minimal = s.chain.on(float, "minimal")
        return error(lin_fang_minimal.formulation_1(minimal, s.q.tolist()), s.M)

    return formula(map(wrong, arms()), map(whole, arms()))


# Theorem 1 ---------------------------------------------------------------------------------------


def rank(chain: Chain) -> int:
    """Of the regressor, at random states."""
    arm, rng = chain.on(float), default_rng(0)
    states = rng.uniform(-2, 2, (12 * chain.n, 3, chain.n)).tolist()
    Y = np.concatenate([np.array(regressor(arm, *state), float) for state in states])
    return int(np.linalg.matrix_rank(Y, 1e-9 * np.linalg.norm(Y)))


def theorem_1() -> Evidence:
    """Theorem 1: as many parameters as the regressor's rank, and all of it spanned by them."""
    chains = [s.chain for s in arms() if s.n < 5]
    counts = [(len(MinimalParameters(chain)), rank(chain)) for chain in chains]
    generic = len(MinimalParameters(Chain.random(4)))
    holds = all(ours == theirs for ours, theirs in counts) and generic == 7 * 4 - 4
    return claim(holds, f"as many as the rank on {len(counts)} arms; 7n - 4 for revolute joints")


def weightless() -> Evidence:
    """Theorem 1 where g - a_0 = 0: the set suffices, but may not be minimal."""
    chain = Chain.random(2, structure="intersecting").with_gravity((0, 0, 0))
    ours, theirs = len(MinimalParameters(chain)), rank(chain)
    return claim(ours == theirs, f"2R with b_2 = 0: {ours} parameters, rank {theirs}")
