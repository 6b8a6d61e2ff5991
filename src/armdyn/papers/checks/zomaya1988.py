"""Checks of [zomaya1988]: the Lagrangian by differential transformations, its simplification."""

from __future__ import annotations

from functools import cache, cached_property
from itertools import product

import numpy as np

from armdyn.algorithms import lagrange, zomaya_morris
from armdyn.counting import count
from armdyn.counting.polynomial import Polynomial
from armdyn.loaders import load
from armdyn.papers import zomaya1988
from armdyn.papers.claims import Part, add_up, revolute
from armdyn.papers.evidence import Evidence, claim, error, formula, rebuilt
from armdyn.papers.samples import Array, Sample, along, draw, skew


class Transformed(Sample):
    """An arm with the 4x4 matrices of the paper; link frames are E_l."""

    def H(self, q: Array) -> Array:
        """H_l of each link, shape (n, 4, 4)."""
        links = self.place(q)
        matrices = np.zeros((self.n, 4, 4), dtype=np.result_type(links.R, links.o))
        matrices[:, :3, :3], matrices[:, :3, 3], matrices[:, 3, 3] = links.R, links.o, 1
        return matrices

    @cached_property
    def slopes(self) -> Array:
        """dH_l/dq_i by [i, l], truly."""
        return np.array([along(self.H, self.q, e) for e in np.eye(self.n)])

    @cached_property
    def Delta(self) -> Array:
        """^l Delta_i of (7), by [l, i]; zero for i > l."""
        D = np.zeros((self.n, self.n, 4, 4))
        for l, i in product(range(self.n), repeat=2):
            if i <= l:
                R, far = self.at.R[l], self.at.o[l] - self.at.o[i]
                u = self.at.u[i]
                delta = self.Ks[i] * R.T @ u
                d = R.T @ (self.Ks[i] * np.cross(u, far) + self.K[i] * u)
                D[l, i, :3, :3], D[l, i, :3, 3] = skew(delta), d
        return D

    def J(self, element: str = "xz") -> Array:
        """J_l of (8), shape (n, 4, 4); its (3, 1) is I_zy in print."""
        matrices = np.zeros((self.n, 4, 4))
        for l in range(self.n):
            C, m = skew(self.c[l]), self.m[l]
            I = self.I[l] - m * C @ C
            second = np.trace(I) / 2 * np.eye(3) - I  # integrals of the products of x, y, z
            matrices[l, :3, :3], matrices[l, 3, 3] = second, m
            matrices[l, :3, 3] = matrices[l, 3, :3] = m * self.c[l]
            if element == "zy":
                matrices[l, 2, 0] = second[2, 1]
        return matrices


@cache
def arms() -> list[Transformed]:
    """The arms of these checks."""
    return [Transformed(s.chain.kinds, k) for k, s in enumerate(draw(), start=1)]


def traces(s: Transformed, A: Array, J: Array, B: Array) -> float:
    """The sum over all links of Tr(A_l J_l B_l^T)."""
    return float(np.einsum("lab,lbc,lac->", A, J, B))


def coefficients(s: Transformed, ordered: bool, J: Array | None = None) -> Array:
    """P_ijk by (16): with Delta_j Delta_k as printed, or in the order of the joints."""
    J, D, n = s.J() if J is None else J, s.Delta, s.n
    P = np.zeros((n, n, n))
    for j, k in product(range(n), repeat=2):
        a, b = (min(j, k), max(j, k)) if ordered else (j, k)
        both = D[:, a] @ D[:, b]
        for i in range(n):
            P[i, j, k] = traces(s, both, J, D[:, i])
    return P


# (1) to (11) -------------------------------------------------------------------------------------


def inertia(s: Transformed, own: bool) -> Array:
    """The torques of accelerations by (1): its second factor is by v_i in print, or by v_j."""
    J = s.J()
    return np.array(
        [
            sum(traces(s, s.slopes[i], J, s.slopes[j if own else i]) * s.qdd[j] for j in range(s.n))
            for i in range(s.n)
        ]
    )


def eq_1() -> Evidence:
    """(1): the second factor of its first sum is the derivative by v_j."""
    return formula(
        (error(inertia(s, False), s.M @ s.qdd) for s in arms()),
        (error(inertia(s, True), s.M @ s.qdd) for s in arms()),
    )


def lagrangian() -> Evidence:
    """(2) to (5): inertia, velocity and gravity terms from the derivatives of H_l."""

    def wrong(s: Transformed) -> float:
        J, n = s.J(), s.n
        P = [[traces(s, s.slopes[j], J, s.slopes[i]) for j in range(n)] for i in range(n)]
        second = [[twice(s, j, k) for k in range(n)] for j in range(n)]
        cube = [
            [[traces(s, second[j][k], J, s.slopes[i]) for k in range(n)] for j in range(n)]
            for i in range(n)
        ]
        g, r = np.append(s.g, 0), np.column_stack([s.c, np.ones(n)])
        weight = [-sum(s.m[l] * g @ s.slopes[i, l] @ r[l] for l in range(n)) for i in range(n)]
        return max(error(P, s.M), error(cube, s.Gamma), error(weight, s.gravity))

    return formula(map(wrong, arms()))


def twice(s: Transformed, j: int, k: int) -> Array:
    """d2 H_l / dq_j dq_k, by a complex step on the first derivative, which is written out."""
    e = np.eye(s.n)

    def first(q: Array) -> Array:
        links, matrices = s.place(q), np.zeros((s.n, 4, 4), dtype=complex)
        for l in range(k, s.n):
            u, far = links.u[k], links.o[l] - links.o[k]
            matrices[l, :3, :3] = s.Ks[k] * skew(u) @ links.R[l]
            matrices[l, :3, 3] = s.Ks[k] * (skew(u) @ far) + s.K[k] * u
        return matrices

    return along(first, s.q, e[j])


def differentials() -> Evidence:
    """(6), (7), (11): dH_l/dq_i = H_l Delta_i."""
    return formula(error(np.einsum("lab,libc->ilac", s.H(s.q), s.Delta), s.slopes) for s in arms())


def eq_8() -> Evidence:
    """(8): its element (3, 1) is I_xz."""

    def wrong(s: Transformed, element: str) -> float:
        return error(mass_matrix(s, s.J(element)), s.M)

    return formula((wrong(s, "zy") for s in arms()), (wrong(s, "xz") for s in arms()))


def mass_matrix(s: Transformed, J: Array) -> Array:
    """P_ij by (9)."""
    pairs = product(range(s.n), repeat=2)
    return np.array([traces(s, s.Delta[:, j], J, s.Delta[:, i]) for i, j in pairs]).reshape(s.n, -1)


def eq_9() -> Evidence:
    """(9), and the claim P_ij = P_ji."""

    def wrong(s: Transformed) -> float:
        P = mass_matrix(s, s.J())
        return max(error(P, s.M), error(P, P.T))

    return formula(map(wrong, arms()))


def eq_10() -> Evidence:
    """(10): what stands for g is lost; as in its reference 1 the sum over links gives gravity."""

    def wrong(s: Transformed) -> float:
        found = []
        for i in range(s.n):
            x, y, z = s.at.R[i].T @ s.g
            row = s.Ks[i] * np.array([-y, x, 0, 0]) + s.K[i] * np.array([0, 0, 0, -z])
            links = s.at.R[i].T @ (s.m[i:] @ (s.at.p[i:] - s.at.o[i]))
            found.append(float(row @ np.append(links, s.m[i:].sum())))
        return error(found, s.gravity)

    return rebuilt(map(wrong, arms()), "with the lost row of g rebuilt it")


# The simplification ------------------------------------------------------------------------------


def eq_12() -> Evidence:
    """(12): the product rule."""

    def wrong(s: Transformed) -> float:
        worst, H = [], s.H(s.q)
        for j, k in product(range(s.n), repeat=2):
            slope = neglected(s, j, k)
            found = s.slopes[j] @ s.Delta[:, k] + H @ slope
            worst.append(error(found, twice(s, j, k)))
        return max(worst)

    return formula(map(wrong, arms()))


def neglected(s: Transformed, j: int, k: int) -> Array:
    """The slope d Delta_k / dq_j: Delta_k Delta_j - Delta_j Delta_k for j > k, else zero."""
    if j <= k:
        return np.zeros((s.n, 4, 4))
    return np.asarray(s.Delta[:, k] @ s.Delta[:, j] - s.Delta[:, j] @ s.Delta[:, k])


def second_slopes(s: Transformed, ordered: bool) -> float:
    """The error of H_l Delta_j Delta_k, as printed or in the order of the joints."""
    worst, H = [], s.H(s.q)
    for j, k in product(range(s.n), repeat=2):
        a, b = (min(j, k), max(j, k)) if ordered else (j, k)
        worst.append(error(H @ s.Delta[:, a] @ s.Delta[:, b], twice(s, j, k)))
    return max(worst)


def eq_14() -> Evidence:
    """(13), (14): H_l Delta_j Delta_k is the second derivative for j <= k only."""
    several = [s for s in arms() if s.Ks[:-1].any()]
    return formula(
        (second_slopes(s, False) for s in several),
        (second_slopes(s, True) for s in several),
        slip=False,
    )


def eq_15() -> Evidence:
    """(15), (16): the trace does not see H_l, for the last row of the product is zero."""

    def wrong(s: Transformed) -> float:
        H, D, J, found, truth = s.H(s.q), s.Delta, s.J(), [], []
        for i, j, k in product(range(s.n), repeat=3):
            M = D[:, j] @ D[:, k] @ J @ D[:, i].transpose(0, 2, 1)
            around = H @ M @ H.transpose(0, 2, 1)
            found.append(np.trace(around, axis1=1, axis2=2))
            truth.append(np.trace(M, axis1=1, axis2=2))
        return error(found, truth)

    return formula(map(wrong, arms()))


def eq_16() -> Evidence:
    """(16), with Tr: as printed it is no Christoffel symbol, in the order of the joints it is."""
    several = [s for s in arms() if s.Ks[:-1].any()]
    return formula(
        (error(coefficients(s, False), s.Gamma) for s in several),
        (error(coefficients(s, True), s.Gamma) for s in several),
        slip=False,
    )


def quarters(s: Transformed, l: int, i: int, j: int, k: int, sign: int) -> float:
    """m_11 + m_22 + m_33 by Q1 to Q9 of (17); the sign is that of Q5 and Q7."""
    D, m = s.Delta[l], s.m[l]
    x, y, z = s.c[l]
    Jx, Jy, Jz = np.diag(s.J()[l])[:3]
    (ix, iy, iz), (jx, jy, jz), (kx, ky, kz) = (
        (D[a, 2, 1], D[a, 0, 2], D[a, 1, 0]) for a in (i, j, k)
    )
    dix, diy, diz = D[i, :3, 3]
    dkx, dky, dkz = D[k, :3, 3]
    first, second, third = -jz * dky + jy * dkz, jz * dkx - jx * dkz, -jy * dkx + jx * dky
    Q1 = -iz * (jy * kx * Jy + first * m * y)
    Q2 = iy * (jz * kx * Jz + first * m * z)
    Q3 = ((-jz * kz - jy * ky) * x + jy * kx * y + jz * kx * z + first) * m * dix
    Q4 = iz * (ky * jx * Jx + second * m * x)
    Q5 = sign * ix * (jz * ky * Jz + second * m * z)
    Q6 = (jx * ky * x + (-jz * kz - jx * kx) * y + jz * ky * z + second) * m * diy
    Q7 = sign * iy * (kz * jx * Jx + third * m * x)
    Q8 = ix * (kz * jy * Jy + third * m * y)
    Q9 = (jx * kz * x + jy * kz * y + (-jy * ky - jx * kx) * z + third) * m * diz
    return float(Q1 + Q2 + Q3 + Q4 + Q5 + Q6 + Q7 + Q8 + Q9)


def eq_17() -> Evidence:
    """(17): of links without products of inertia; Q5 and Q7 carry a minus sign."""

    def wrong(s: Transformed, sign: int) -> float:
        l, J = s.n - 1, np.diag(np.diag(s.J()[-1]))
        J[:3, 3] = J[3, :3] = s.m[l] * s.c[l]
        found, truth = [], []
        for i, j, k in product(range(s.n), repeat=3):
            found.append(quarters(s, l, i, j, k, sign))
            D = s.Delta[l]
            truth.append(np.trace(D[j] @ D[k] @ J @ D[i].T))
        return error(found, truth)

    turning = [s for s in arms() if s.Ks.all()]
    return formula((wrong(s, 1) for s in turning), (wrong(s, -1) for s in turning))


# Claims ------------------------------------------------------------------------------------------


def small_significance() -> Evidence:
    """Claim: the neglected term matters little: velocity torques of the Stanford arm at 0.3."""
    arm = load("stanford").chain.on(float).without_gravity()
    q, qd = [zomaya1988.POSTURE] * 6, [1.0] * 6
    exact = np.array(lagrange.bias(arm, q, qd))
    off = (np.array(zomaya_morris.bias(arm, q, qd)) - exact) / exact
    percents = " ".join(f"{100 * x:+.0f}" for x in off)
    return claim(
        bool(np.abs(off).max() < 0.05), f"torques of joints 1 to 6 are off by {percents} %"
    )


def own_centripetal() -> Evidence:
    """Claim: P_iji = 0 always; of the exact coefficients only for j <= i."""
    found = max(
        abs(s.Gamma[i, j, i]) / np.abs(s.Gamma).max()
        for s in arms()
        for i in range(s.n)
        for j in range(i + 1, s.n)
        if s.Gamma.any()
    )
    return claim(found < 1e-10, f"for j > i it is up to {found:.1g} of the largest")


def zero_for_inner() -> Evidence:
    """Claim: P_ijk = 0 for i = k, k > j."""
    worst = max(
        abs(s.Gamma[k, j, k]) / (np.abs(s.Gamma).max() or 1.0)
        for s in arms()
        for k in range(s.n)
        for j in range(k)
    )
    return formula([worst])


def lower_complexity() -> Evidence:
    """Claim: reduced complexity; the exact terms in order take fewer operations."""
    chain = load("stanford").chain
    simple, exact = (count(chain, "bias", name).cost for name in ("zomaya-morris", "lagrange"))
    found = f"on the Stanford arm {simple:.0f} operations as printed, {exact:.0f} exact and ordered"
    return claim(simple < exact, found)


def tables() -> Evidence:
    """Tables 1 to 4: torques of an arm at w are g + M w + b w^2; the printed ones are not."""
    no_parabola = [
        f"{row}.{joint}"
        for row in zomaya1988.ROWS
        for joint in zomaya1988.JOINTS
        if not zomaya1988.is_quadratic(zomaya1988.column(row, joint))
    ]
    return claim(not no_parabola, f"no parabola through {', '.join(no_parabola)}")


def high_speeds() -> Evidence:
    """Claim: Coriolis and centripetal forces grow with speed: by its square."""

    def wrong(s: Transformed) -> float:
        q, still = s.q.tolist(), s.arm.without_gravity()
        slow, fast = (np.array(lagrange.bias(still, q, (w * s.qd).tolist())) for w in (1, 10))
        return error(fast, 100 * slow)

    return formula(map(wrong, arms()))


@cache
def order(method: str) -> int:
    """The degree in n of what a method's bias takes on revolute arms."""
    parts = (Part(method, quantity="bias"),)
    counts = {n: sum(add_up(parts, revolute, n).values()) for n in range(3, 9)}
    return len(Polynomial.through(counts).coefficients) - 1


def orders() -> Evidence:
    """Claim: the Lagrangian is of order n^4, Newton and Euler's recursion of order n."""
    found = order("lagrange"), order("newton-euler")
    return claim(found == (4, 1), f"counted n^{found[0]} and n^{found[1]}")


def lower_order() -> Evidence:
    """Claim: the simplified form is of lower order."""
    found = order("zomaya-morris")
    return claim(found < order("lagrange"), f"counted n^{found}, as the exact one")
