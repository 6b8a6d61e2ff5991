"""Checks of [lin1991], formulation of the bias vector: (31) to (57)."""

from __future__ import annotations

import numpy as np

from armdyn.papers.checks.lin1991 import ONE, Body, bias_vector, bodies, half_traced, pairs
from armdyn.papers.evidence import Evidence, error, formula
from armdyn.papers.samples import Array, along, cross, skew

# The bias vector ---------------------------------------------------------------------------------


def symbols(s: Body, closed: bool) -> Array:
    """D_mkj by (45), (47) and (32); (47) for k < j only, or, closed, for k <= j."""
    D = np.zeros((s.n, s.n, s.n))
    for m, j in pairs(s, strict=True):
        d = bias_vector(s, m, j)
        for k in range(j + 1):
            D[m, k, j] = D[m, j, k] = s.Ks[k] * s.at.u[k] @ d
        for k in range(m + closed):
            D[j, k, m] = D[j, m, k] = -s.Ks[k] * s.at.u[k] @ d
    return D


def quadratic_form() -> Evidence:
    """(31) to (35), (43), (54) to (57): the bias from D_mkj, in pairs, and from zeta."""

    def wrong(s: Body) -> float:
        D, qd, n = s.Gamma, s.qd, s.n
        b = [
            sum(2 * D[m, k, j] * qd[k] * qd[j] for j in range(n) for k in range(j))
            + D[m].diagonal() @ qd**2
            for m in range(n)
        ]
        swept = [
            -sum(qd[j] * s.zeta[j] @ bias_vector(s, j, m) for j in range(m))
            + sum(qd[j] * s.zeta[j] @ bias_vector(s, m, j) for j in range(m + 1, n))
            for m in range(n)
        ]
        truth = s.bias - s.gravity
        return max(error(b, truth), error(swept, truth), recursion_of_zeta(s))

    return formula(map(wrong, bodies()))


def recursion_of_zeta(s: Body) -> float:
    """(56), (57): zeta_{j+1} from zeta_j, in link frames."""
    worst = [0.0]
    for j in range(s.n - 1):
        own = np.array([0, 0, s.Ks[j] * s.qd[j]])
        new = np.array([0, 0, s.Ks[j + 1] * s.qd[j + 1]])
        found = s.turn(j + 1, s.q).T @ (s.local(s.zeta[j], j) + own) + new
        worst.append(error(found, s.local(s.zeta[j + 1], j + 1)))
    return max(worst)


def slides_first() -> Evidence:
    """Claim: where the first joints slide, their zeta is zero and their d_mj is not needed."""
    slides = [s for s in bodies() if s.K[0]]
    first = {k: int(np.argmax(s.Ks)) if s.Ks.any() else s.n for k, s in enumerate(slides)}
    return formula(np.abs(s.zeta[: first[k]]).max() for k, s in enumerate(slides))


def symmetries() -> Evidence:
    """(32) to (34), of the true symbols."""

    def wrong(s: Body) -> float:
        D, worst = s.Gamma, [error(s.Gamma, s.Gamma.transpose(0, 2, 1))]
        scale = np.abs(D).max() or 1.0
        for k in range(s.n):
            for j in range(k, s.n):
                worst.append(abs(D[j, k, j]) / scale)
                worst += [abs(D[j, k, m] + D[m, k, j]) / scale for m in range(k, s.n)]
        return max(worst)

    return formula(map(wrong, bodies()))


def bias_coefficients() -> Evidence:
    """(45), (46): D_mkj for m < j, k <= j."""

    def wrong(s: Body) -> float:
        D = symbols(s, True)
        return max(
            error([D[m, k, j] for k in range(j + 1)], s.Gamma[m, : j + 1, j])
            for m, j in pairs(s, strict=True)
        )

    return formula(wrong(s) for s in bodies() if s.Ks.any())


def eq_47() -> Evidence:
    """(47): by its range m > j > k the symbols with k = j < m would stay empty."""
    arms = [s for s in bodies() if s.Ks[:-1].any()]
    printed, corrected = (
        [error(symbols(s, closed), s.Gamma) for s in arms] for closed in (False, True)
    )
    return formula(printed, corrected)


# Joints k and j alone, at constant speeds --------------------------------------------------------


def two_joints(s: Body, k: int, j: int) -> Array:
    """The speeds where only joints k and j move."""
    return s.qd * np.isin(np.arange(s.n), (k, j))


def angular_motion() -> Evidence:
    """(36), (37), (41): angular velocity and acceleration while joints k < j move."""

    def wrong(s: Body) -> float:
        worst = []
        for k, j in pairs(s, strict=True):
            qd, rest = two_joints(s, k, j), np.zeros(s.n)
            uk, uj = s.Ks[k] * qd[k] * s.at.u[k], s.Ks[j] * qd[j] * s.at.u[j]
            worst.append(error(uk + uj, s.spin(s.q, qd, j)))
            worst.append(error(cross(uk, uj), s.angular_acceleration(qd, rest, j)))
            worst += [error(s.angular_acceleration(qd, rest, i), ONE[0] * 0) for i in range(j)]
        return max(worst)

    return formula(map(wrong, bodies()))


def point_accelerations(s: Body, k: int, j: int) -> tuple[Array, Array]:
    """Those of the origin of E_j and of the centre of mass of composite body j, truly."""
    qd = two_joints(s, k, j)

    def velocity(q: Array, composite: bool) -> Array:
        links = s.place(q)
        point = s.m[j:] @ links.p[j:] / s.mh[j] if composite else links.o[j]
        return s.velocities(links, point, j) @ qd

    return (
        along(lambda q: velocity(q, False), s.q, qd),
        along(lambda q: velocity(q, True), s.q, qd),
    )


def linear_motion() -> Evidence:
    """(39), (40), (42): accelerations while joints k < j move."""

    def wrong(s: Body) -> float:
        worst = []
        for k, j in pairs(s, strict=True):
            uk, uj, rest = s.at.u[k], s.at.u[j], s.r[j] - s.at.o[j]
            a, b = s.qd[k], s.qd[j]
            origin = s.Ks[k] * cross(uk, cross(uk, s.at.o[j] - s.at.o[k])) * a * a
            origin = origin + 2 * s.Ks[k] * s.K[j] * cross(uk, uj) * a * b
            swung = s.Ks[k] * cross(uk, cross(uk, rest)) * a * a
            swung = swung + s.Ks[j] * cross(uj, cross(uj, rest)) * b * b
            both = cross(uk, cross(uj, rest)) + cross(uj, cross(uk, rest))
            both = both + cross(cross(uk, uj), rest)
            centre = origin + swung + s.Ks[k] * s.Ks[j] * both * a * b
            true_origin, true_centre = point_accelerations(s, k, j)
            worst += [error(origin, true_origin), error(centre, true_centre)]
            worst += [inner_link(s, i, k, j) for i in range(j)]
        return max(worst)

    return formula(map(wrong, bodies()))


def inner_link(s: Body, i: int, k: int, j: int) -> float:
    """(42), of link i < j."""
    lever = s.at.p[i] - s.at.o[k]
    inner = s.Ks[k] * cross(s.at.u[k], cross(s.at.u[k], lever)) * s.qd[k] ** 2 * (i >= k)
    return error(inner, s.acceleration(two_joints(s, k, j), np.zeros(s.n), i))


def eq_38() -> Evidence:
    """(38): a point fixed in a moving frame has no Coriolis acceleration 2 w x v_0."""

    def wrong(s: Body, term: float) -> float:
        i, rest = s.n - 1, np.zeros(s.n)
        w, alpha = s.spin(s.q, s.qd, i), s.angular_acceleration(s.qd, rest, i)

        def velocity(q: Array) -> Array:
            links = s.place(q)
            return s.velocities(links, links.o[i], i) @ s.qd

        a_0, v_0, r = along(velocity, s.q, s.qd), velocity(s.q), s.at.p[i] - s.at.o[i]
        a = a_0 + cross(w, cross(w, r)) + cross(alpha, r) + term * 2 * cross(w, v_0)
        return error(a, s.acceleration(s.qd, rest, i))

    arms = [s for s in bodies() if s.Ks[:-1].any()]
    return formula((wrong(s, 1) for s in arms), (wrong(s, 0) for s in arms))


def eq_44() -> Evidence:
    """(44): its first line lacks the sign of the vector product; its second is right."""

    def wrong(s: Body, product: bool) -> float:
        worst = []
        for k, j in pairs(s, strict=True):
            J, uk, uj = s.J[j], s.Ks[k] * s.at.u[k], s.Ks[j] * s.at.u[j]
            a, b = s.qd[k], s.qd[j]
            w, alpha = uk * a + uj * b, cross(uk, uj) * a * b
            first = -J @ alpha - (cross(w, J @ w) if product else w * (J @ w))
            both = -J @ cross(uk, uj) - cross(uk, J @ uj) - cross(uj, J @ uk)
            second = both * a * b - cross(uk, J @ uk) * a * a - cross(uj, J @ uj) * b * b
            worst.append(error(first, second))
        return max(worst)

    arms = [s for s in bodies() if s.Ks[:-1].any()]
    return formula((wrong(s, False) for s in arms), (wrong(s, True) for s in arms))


def identities() -> Evidence:
    """(48) to (50), (52), (53), of any axes."""

    def wrong(s: Body) -> float:
        a, b, r, J = s.at.u[0], s.at.u[1], s.r[1], s.J[1]
        lhs = cross(a, cross(b, r)) + cross(b, cross(a, r)) + cross(cross(a, b), r)
        turned = J @ cross(a, b) + cross(a, J @ b) + cross(b, J @ a)
        product = skew(a) @ skew(r)
        return max(
            error(2 * cross(a, cross(b, r)), lhs),
            error(2 * cross(b, half_traced(J) @ a), turned),
            error(-np.outer(r, r) @ skew(b) @ a, cross(cross(a, r), cross(b, r))),
            error(cross(b, half_traced(J) @ b), cross(b, J @ b)),
            error(np.outer(r, a), half_traced(product)),
        )

    return formula(map(wrong, bodies()))


def eq_51() -> Evidence:
    """(51): the sign of its last term."""

    def wrong(s: Body, sign: int) -> float:
        dyad = [m * np.outer(r, r) for m, r in zip(s.mh, s.r, strict=True)]
        return error(s.Jb + sign * np.array(dyad), [half_traced(J) for J in s.J])

    return formula((wrong(s, -1) for s in bodies()), (wrong(s, 1) for s in bodies()))
