"""Checks of [lin1991]: its formulas for H and b, written out in base axes as printed.

``Body`` has the composite bodies of (2) to (15); all distances are from the origin of the base
frame. Where a formula is about components, it is taken in the link frames that it names.
"""

from __future__ import annotations

from functools import cache, cached_property, partial

import numpy as np

from armdyn.algorithms import lin1991, newton_euler
from armdyn.papers.evidence import Evidence, error, formula, rebuilt
from armdyn.papers.samples import Array, Sample, along, cross, draw, skew

ONE = np.eye(3)


class Body(Sample):
    """An arm with the composite bodies of the paper."""

    @cached_property
    def mh(self) -> Array:
        """(2)."""
        return np.cumsum(self.m[::-1])[::-1]

    @cached_property
    def r(self) -> Array:
        """(3)."""
        return np.array([self.m[j:] @ self.at.p[j:] / self.mh[j] for j in range(self.n)])

    @cached_property
    def J(self) -> Array:
        """(4), first line: about the composite's centre of mass."""
        return np.array([self.tensor(j, self.r[j]) for j in range(self.n)])

    @cached_property
    def Jh(self) -> Array:
        """(13): about the origin of the base frame."""
        return np.array([self.tensor(j, np.zeros(3)) for j in range(self.n)])

    def tensor(self, j: int, point: Array) -> Array:
        """The tensor of links j..n about a point."""
        links = zip(self.tensors[j:], self.m[j:], self.at.p[j:] - point, strict=True)
        return np.asarray(sum(I - m * skew(p) @ skew(p) for I, m, p in links))

    @cached_property
    def ph(self) -> Array:
        """(14)."""
        return self.mh[:, None] * self.r

    @cached_property
    def sh(self) -> Array:
        """(15)."""
        return np.cross(self.at.u, self.at.o)

    @cached_property
    def Jb(self) -> Array:
        """(22)."""
        tilde = [half_traced(I) for I in self.tensors]
        own = [t - m * np.outer(p, p) for t, m, p in zip(tilde, self.m, self.at.p, strict=True)]
        return np.array([sum(own[j:]) for j in range(self.n)])

    @cached_property
    def e(self) -> Array:
        """(63)."""
        return np.cross(self.at.u, self.ph - self.mh[:, None] * self.at.o)

    @cached_property
    def zeta(self) -> Array:
        """(55)."""
        turned = (self.Ks * self.qd)[:, None] * self.at.u
        return 2 * (np.cumsum(turned, axis=0) - turned) + turned

    def local(self, v: Array, j: int) -> Array:
        """A vector of the base's axes in those of E_j."""
        return np.asarray(self.at.R[j].T @ v)


def half_traced(J: Array) -> Array:
    """J - 1/2 tr[J] E: (19)."""
    return np.asarray(J - np.trace(J) / 2 * ONE)


@cache
def bodies() -> list[Body]:
    """The arms of these checks."""
    return [Body(s.chain.kinds, k) for k, s in enumerate(draw(), start=1)]


def pairs(s: Body, *, strict: bool = False) -> list[tuple[int, int]]:
    """(m, j) with m <= j, or m < j."""
    return [(m, j) for j in range(s.n) for m in range(j + (not strict))]


def upper(s: Body) -> Array:
    """H_mj for m <= j, as one row."""
    return np.array([s.M[m, j] for m, j in pairs(s)])


# The inertia matrix ------------------------------------------------------------------------------


def equation_of_motion() -> Evidence:
    """(1): H qdd + b is what Newton and Euler's recursion needs."""

    def wrong(s: Body) -> float:
        q, qd, qdd = s.q.tolist(), s.qd.tolist(), s.qdd.tolist()
        H, b = lin1991.mass_matrix_and_bias(s.arm, q, qd)
        tau = newton_euler.inverse_dynamics(s.arm, q, qd, qdd)
        return error(np.array(H) @ s.qdd + b, tau)

    return formula(map(wrong, bodies()))


def composite_bodies() -> Evidence:
    """(2) to (4): the two lines of (4) are one tensor."""

    def wrong(s: Body) -> float:
        second = [s.Jh[j] + s.mh[j] * skew(s.r[j]) @ skew(s.r[j]) for j in range(s.n)]
        return error(second, s.J)

    return formula(map(wrong, bodies()))


def accelerations() -> Evidence:
    """(5) to (7): from rest, with joint j alone, accelerations are derivatives by q_j."""

    def wrong(s: Body) -> float:
        def centre(j: int, q: Array) -> Array:
            return np.asarray(s.m[j:] @ s.place(q).p[j:] / s.mh[j])

        def rotation(j: int, q: Array) -> Array:
            return np.asarray(s.place(q).R[j])

        worst = []
        for j in range(s.n):
            u, o = s.at.u[j], s.at.o[j]
            printed = s.Ks[j] * cross(u, s.r[j] - o) + s.K[j] * u
            worst.append(error(printed, along(partial(centre, j), s.q, np.eye(s.n)[j])))
            spin = along(partial(rotation, j), s.q, np.eye(s.n)[j]) @ s.at.R[j].T
            worst.append(error(skew(s.Ks[j] * u), spin))
        return max(worst)

    return formula(map(wrong, bodies()))


def wrenches(s: Body) -> list[tuple[Array, Array]]:
    """f_Ej and t_Ej of a unit acceleration: (5), (6), (8), (9)."""
    found = []
    for j in range(s.n):
        u, r = s.at.u[j], s.r[j]
        a = s.Ks[j] * cross(u, r - s.at.o[j]) + s.K[j] * u
        found.append((-s.mh[j] * a, -s.J[j] @ (s.Ks[j] * u) - s.mh[j] * cross(r, a)))
    return found


def actuator_forces() -> Evidence:
    """(8) to (11): the actuator forces of a unit acceleration are a column of H."""

    def wrong(s: Body) -> float:
        tau = []
        for m, j in pairs(s):
            f, t = wrenches(s)[j]
            arm = s.Ks[m] * (t - cross(s.at.o[m], f)) + s.K[m] * f
            tau.append(-s.at.u[m] @ arm)
        return error(tau, upper(s))

    return formula(map(wrong, bodies()))


def inertia_matrix() -> Evidence:
    """(12), with (13) to (15)."""

    def element(s: Body, m: int, j: int) -> float:
        u, K, Ks, ph, mh = s.at.u, s.K, s.Ks, s.ph[j], s.mh[j]
        lever = cross(u[j], ph - mh * s.at.o[j])
        turning = u[m] @ (s.Jh[j] @ u[j] + cross(s.sh[j], ph)) - s.sh[m] @ lever
        value = Ks[m] * Ks[j] * turning
        value += K[m] * Ks[j] * u[m] @ lever
        value += Ks[m] * K[j] * u[j] @ (cross(u[m], ph) - mh * s.sh[m])
        return float(value + K[m] * K[j] * mh * u[m] @ u[j])

    return formula(error([element(s, m, j) for m, j in pairs(s)], upper(s)) for s in bodies())


def transformations() -> Evidence:
    """(16) to (18): vectors and tensors from E_{j+1} to E_j."""

    def wrong(s: Body) -> float:
        worst = []
        for j in range(s.n - 1):
            turn, here, there = s.turn(j + 1, s.q), s.at.R[j], s.at.R[j + 1]
            worst.append(error(turn @ (there.T @ s.ph[j + 1]), here.T @ s.ph[j + 1]))
            J = s.Jh[j + 1]
            worst.append(error(turn @ (there.T @ J @ there) @ turn.T, here.T @ J @ here))
        return max(worst)

    return formula(map(wrong, bodies()))


def half_traces() -> Evidence:
    """(19) to (23): the tensors with half their trace taken off, and back."""

    def wrong(s: Body) -> float:
        a, b = s.at.p[0], s.at.p[-1]
        outer = np.outer(b, a)
        worst = [error(outer - np.trace(outer) * ONE, skew(a) @ skew(b))]
        for j in range(s.n):
            tilde = half_traced(s.tensors[j])
            worst.append(error(tilde - np.trace(tilde) * ONE, s.tensors[j]))
            worst.append(error(s.Jb[j] - np.trace(s.Jb[j]) * ONE, s.Jh[j]))
        return max(worst)

    return formula(map(wrong, bodies()))


def recursions() -> Evidence:
    """(24) to (30), in link frames, forward and backward."""

    def wrong(s: Body) -> float:
        R, worst = s.at.R, []
        for j in range(1, s.n):
            down = s.turn(j, s.q).T
            o, before = s.at.o, R[j - 1]
            worst.append(error(down @ (before.T @ s.at.u[0]), R[j].T @ s.at.u[0]))
            worst.append(error(down @ (before.T @ o[j - 1] + s.step(j, s.q)), R[j].T @ o[j]))
            worst.append(error(R[j].T @ o[j] + s.c[j], R[j].T @ s.at.p[j]))
            worst.append(error(down @ (before.T @ s.sh[0]), R[j].T @ s.sh[0]))
        for j in range(s.n - 1):
            up, p, k = s.turn(j + 1, s.q), R[j].T @ s.at.p[j], j + 1
            worst.append(error(s.m[j] + s.mh[k], s.mh[j]))
            worst.append(error(s.m[j] * p + up @ (R[k].T @ s.ph[k]), R[j].T @ s.ph[j]))
            own = half_traced(s.I[j]) - s.m[j] * np.outer(p, p)
            Jb = own + up @ (R[k].T @ s.Jb[k] @ R[k]) @ up.T
            worst.append(error(Jb, R[j].T @ s.Jb[j] @ R[j]))
        return max(worst)

    return formula(map(wrong, bodies()))


def first_frame() -> Evidence:
    """(59) to (61), measured from the origin of E_1."""

    def wrong(s: Body) -> float:
        links, (b, d) = s.at, (s.chain.joints[1].b, s.chain.joints[1].d + s.K[1] * s.q[1])
        theta = s.chain.joints[1].theta + s.Ks[1] * s.q[1]
        s_2 = links.R[1].T @ (links.o[1] - links.o[0])
        printed = [b * np.cos(theta), -b * np.sin(theta), d]
        p_1 = links.R[0].T @ (links.p[0] - links.o[0])
        s_1 = links.o[0] - links.o[0]
        return max(error(printed, s_2), error(s.c[0], p_1), error(cross(links.u[0], s_1), ONE * 0))

    return formula(map(wrong, bodies()))


# (62) to (67) and Fig. 3 -------------------------------------------------------------------------


def brief(s: Body, j: int) -> tuple[Array, Array, Array]:
    """a_j, e_j and B_j by (62) to (64), in E_j, the first by its components."""
    R, Jb = s.at.R[j], s.at.R[j].T @ s.Jb[j] @ s.at.R[j]
    ph, sh, u = R.T @ s.ph[j], R.T @ s.sh[j], np.array([0.0, 0, 1])
    a = np.array([Jb[0, 2], Jb[1, 2], -Jb[0, 0] - Jb[1, 1]]) + cross(sh, ph)
    B = -Jb @ skew(u) + skew(sh) @ skew(ph)
    return a, cross(u, ph) - s.mh[j] * sh, B


def bias_vector(s: Body, m: int, j: int) -> Array:
    """d_mj by (46)."""
    u, K, Ks, ph, mh = s.at.u, s.K, s.Ks, s.ph[j], s.mh[j]
    turning = -s.Jb[j] @ cross(u[j], u[m]) + cross(s.sh[j], cross(ph, u[m]))
    d = Ks[m] * Ks[j] * (turning + cross(s.sh[m], s.e[j]))
    d = d - K[m] * Ks[j] * cross(u[m], s.e[j])
    d = d + Ks[m] * K[j] * cross(u[j], cross(u[m], ph) - mh * s.sh[m])
    return np.asarray(d - K[m] * K[j] * mh * cross(u[m], u[j]))


def brief_forms() -> Evidence:
    """(62) to (64), (66): a_j, e_j and B_j are the parts of (12) and (46)."""

    def wrong(s: Body) -> float:
        worst = []
        for m, j in pairs(s, strict=True):
            a, e, B = brief(s, j)
            R, u = s.at.R[j], s.at.u[j]
            worst.append(error(R @ a, s.Jh[j] @ u + cross(s.sh[j], s.ph[j])))
            worst.append(error(R @ e, s.e[j]))
            um, sm, ph, mh = R.T @ s.at.u[m], R.T @ s.sh[m], R.T @ s.ph[j], s.mh[j]
            w = cross(um, ph) - mh * sm
            d = s.Ks[m] * s.Ks[j] * (B @ um + cross(sm, e)) + s.K[m] * s.Ks[j] * cross(e, um)
            d = d + s.Ks[m] * s.K[j] * np.array([-w[1], w[0], 0])
            d = d + s.K[m] * s.K[j] * mh * np.array([-um[1], um[0], 0])
            worst.append(error(d, R.T @ bias_vector(s, m, j)))
        return max(worst)

    return formula(map(wrong, bodies()))


def eq_65() -> Evidence:
    """(65): without braces the last term of K*_m K_j is charged to every pair."""

    def rows(s: Body, braced: bool) -> list[float]:
        found = []
        for m, j in pairs(s):
            a, e, _ = brief(s, j)
            u, sh = s.local(s.at.u[m], j), s.local(s.sh[m], j)
            lever, weight = cross(u, s.local(s.ph[j], j))[2], s.mh[j] * sh[2]
            value = s.Ks[m] * s.Ks[j] * (a @ u - sh @ e) + s.K[m] * s.Ks[j] * e @ u
            mixed = s.Ks[m] * s.K[j]
            value += mixed * (lever - weight) if braced else mixed * lever - weight
            found.append(float(value + s.K[m] * s.K[j] * s.mh[j] * u[2]))
        return found

    printed, corrected = (
        [error(rows(s, braced), upper(s)) for s in bodies()] for braced in (False, True)
    )
    return formula(printed, corrected)


def weights(s: Body, other: bool) -> list[float]:
    """eta_m by (67): with K of a joint j that it does not have, say the last, or with K_m."""
    found = []
    for m in range(s.n):
        g, K = s.local(s.g, m), s.K[-1] if other else s.K[m]
        e = s.local(s.e[m], m)
        found.append(float(-s.Ks[m] * e @ g - K * s.mh[m] * g[2]))
    return found


def eq_67() -> Evidence:
    """(67): its second factor is K_m."""
    printed, corrected = (
        [error(weights(s, other), s.gravity) for s in bodies()] for other in (True, False)
    )
    return formula(printed, corrected)


def gravity() -> Evidence:
    """(58)."""

    def wrong(s: Body) -> float:
        u, weight = s.at.u, s.mh[:, None] * s.g
        turning = np.einsum("ij,ij->i", u, np.cross(s.r - s.at.o, weight))
        sliding = np.einsum("ij,ij->i", u, weight)
        return error(-s.Ks * turning - s.K * sliding, s.gravity)

    return formula(map(wrong, bodies()))


def fig_3_gravity() -> Evidence:
    """Fig. 3, initialization: eta_j = + m-hat_j (g)_x of the joints before the first revolute."""

    def wrong(s: Body, sign: float, component: int) -> float:
        slides = int(np.argmax(s.Ks)) if s.Ks.any() else s.n
        eta = [sign * s.mh[j] * s.local(s.g, j)[component] for j in range(slides)]
        return error(eta, s.gravity[:slides])

    arms = [s for s in bodies() if s.K[0]]
    return formula((wrong(s, 1, 0) for s in arms), (wrong(s, -1, 2) for s in arms))


def fig_3() -> Evidence:
    """Fig. 3 with its lost block rebuilt: H and b."""

    def wrong(s: Body) -> float:
        H, b = lin1991.mass_matrix_and_bias(s.arm, s.q.tolist(), s.qd.tolist())
        return max(error(H, s.M), error(b, s.bias))

    return rebuilt(map(wrong, bodies()), "with the lost lines rebuilt it")
