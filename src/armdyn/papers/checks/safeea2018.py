"""Checks of [safeea2018]: frame injection, the rebuilt algorithm, its counts and claims."""

from __future__ import annotations

from functools import cache

import numpy as np

from armdyn.algorithms import catalogue, gdahj, newton_euler
from armdyn.counting.polynomial import Polynomial
from armdyn.papers import experiment, safeea2018
from armdyn.papers.claims import Part, add_up, revolute
from armdyn.papers.evidence import Evidence, claim, error, formula, rebuilt
from armdyn.papers.samples import REVOLUTE, Array, Sample, along, cross

ONE = np.eye(3)


@cache
def arms() -> list[Sample]:
    """The arms of these checks: revolute joints only, as in the paper."""
    return [Sample(kinds, seed) for seed, kinds in enumerate(REVOLUTE, start=1)]


def total(pair: tuple[str, str]) -> Polynomial:
    """Multiplications and additions together, as printed."""
    return sum(map(Polynomial.parse, pair), Polynomial())


# Section I ---------------------------------------------------------------------------------------


def equations_of_motion() -> Evidence:
    """(1) to (3): the Lagrangian's derivatives, by complex steps, are the inverse dynamics."""

    def wrong(s: Sample) -> float:
        rate = along(s.mass_matrix, s.q, s.qd)
        slopes = [along(s.mass_matrix, s.q, e) for e in np.eye(s.n)]
        kinetic = [s.qd @ slope @ s.qd / 2 for slope in slopes]
        v = s.M @ s.qdd + rate @ s.qd - kinetic + s.gravity
        tau = newton_euler.inverse_dynamics(s.arm, s.q.tolist(), s.qd.tolist(), s.qdd.tolist())
        B: Array = np.array(newton_euler.coriolis_matrix(s.arm, s.q.tolist(), s.qd.tolist()))
        return max(error(v, tau), error(s.M @ s.qdd + B @ s.qd + s.gravity, tau))

    return formula(map(wrong, arms()))


# Section II: frame injection ---------------------------------------------------------------------


def injected(s: Sample, i: int, j: int) -> Array:
    """The acceleration that frame j transfers to the centre of link i: (4) to (11)."""
    k, p = s.at.u, s.at.p[i]
    tangential = cross(s.qdd[j] * k[j], p - s.at.o[j])
    normal = cross(k[j], cross(k[j], p - s.at.o[j])) * s.qd[j] ** 2
    relative = sum(
        (cross(s.qd[m] * k[m], p - s.at.o[m]) for m in range(j + 1, i + 1)), start=np.zeros(3)
    )
    return np.asarray(tangential + normal + 2 * cross(s.qd[j] * k[j], relative))


def injected_accelerations() -> Evidence:
    """(4) to (11): what all frames transfer is the acceleration of the centre of mass."""

    def wrong(s: Sample) -> float:
        found = [sum(injected(s, i, j) for j in range(i + 1)) for i in range(s.n)]
        return error(found, [s.acceleration(s.qd, s.qdd, i) for i in range(s.n)])

    return formula(map(wrong, arms()))


def injected_moments() -> Evidence:
    """(12) to (17): what all frames transfer is Euler's moment."""

    def moment(s: Sample, i: int) -> Array:
        I, w = s.tensors[i], s.qd[:, None] * s.at.u
        L = np.trace(I) * ONE - 2 * I
        mu = np.zeros(3)
        for j in range(i + 1):
            relative = w[j + 1 : i + 1].sum(axis=0)
            mu = mu + I @ (s.qdd[j] * s.at.u[j]) + cross(L @ w[j], w[j]) / 2
            mu = mu + cross(L @ w[j], relative)
        return mu

    def wrong(s: Sample) -> float:
        worst = []
        for i in range(s.n):
            I, w = s.tensors[i], s.spin(s.q, s.qd, i)
            truth = I @ s.angular_acceleration(s.qd, s.qdd, i) + cross(w, I @ w)
            worst.append(error(moment(s, i), truth))
        return max(worst)

    return formula(map(wrong, arms()))


# Section III -------------------------------------------------------------------------------------


def lost_page() -> Evidence:
    """(18) to (31), Algorithm 1: lost; rebuilt from the terms that the next page names."""

    def wrong(s: Sample) -> float:
        A = np.zeros((s.n, s.n))
        for i in range(s.n):
            k, o = s.at.u, s.at.o
            b = s.m[i:] @ (s.at.p[i:] - o[i])
            D = sum(
                s.tensors[l] - s.m[l] * skewed(s.at.p[l] - o[i]) @ skewed(s.at.p[l])
                for l in range(i, s.n)
            )
            d, y = D.T @ k[i], cross(b, k[i])
            for j in range(i + 1):
                A[i, j] = A[j, i] = k[j] @ d + cross(k[j], o[j]) @ y
        own = gdahj.mass_matrix(s.arm, s.q.tolist())
        return max(error(A, s.M), error(own, s.M))

    return rebuilt(map(wrong, arms()), "as rebuilt it")


def skewed(a: Array) -> Array:
    """[a]x."""
    return np.cross(ONE, a).T


def metric() -> Evidence:
    """(32), on matrices whose error is known."""
    A, B = [[1.0, 2.0], [2.0, 4.0]], [[1.5, 2.0], [2.0, 5.0]]
    sums = np.abs(np.array(A) - B).sum() / np.abs((np.array(A) + B) / 2).max()
    return formula([abs(experiment.relative_error(A, B) - sums), experiment.relative_error(A, A)])


# Claims ------------------------------------------------------------------------------------------


def nested_loop() -> Evidence:
    """Claim: the nested loop, two products and a sum a pair, takes (3n^2+3n) m, (2.5n^2+2.5n) a."""
    pairs = {n: n * (n + 1) // 2 for n in range(2, 9)}
    mul = Polynomial.through({n: 6 * pairs[n] for n in pairs})
    add = Polynomial.through({n: (2 + 2 + 1) * pairs[n] for n in pairs})
    same = (str(mul), str(add)) == ("3n^2+3n", "2.5n^2+2.5n")
    return claim(same, f"counted {mul} M, {add} A")


def quadratic_part() -> Evidence:
    """Claim: 16 n^2 of CRBA become 5.5 n^2."""
    crba, ours = (total(pair).coefficients[2] for pair in (safeea2018.CRBA, safeea2018.GDAHJ))
    return claim((float(crba), float(ours)) == (16, 5.5), f"{float(crba):g} and {float(ours):g}")


def crossover() -> Evidence:
    """Claim: better for more than 13 joints."""
    found = safeea2018.crossover(total(safeea2018.GDAHJ), total(safeea2018.CRBA))
    return claim(found == safeea2018.CROSSOVER, f"by its own counts from n = {found} on")


def best_ratio() -> Evidence:
    """Claim: CRBA / GDAHJ reaches 2.2 in time; by its counts that takes about 95 joints."""
    ratio = {
        n: float(total(safeea2018.CRBA)(n) / total(safeea2018.GDAHJ)(n)) for n in (50, 95, 100)
    }
    reached = round(ratio[95], 1) == 2.2 and ratio[100] < 16 / 5.5
    found = ", ".join(f"{value:.1f} at n = {n}" for n, value in ratio.items())
    return Evidence("presumed" if reached else "refuted", f"ratio of the printed counts: {found}")


def least_quadratic_part() -> Evidence:
    """Claim: 5.5 n^2 is the least possible; no proof is given, and no method here takes less."""
    least = {}
    for method in ("gdahj", "hybrid", "fijany-bejczy", "crba", "lin1991", "lin-fang-4", "renaud"):
        counts = [sum(add_up((Part(method),), revolute, n).values()) for n in (8, 12, 16)]
        least[method] = (counts[2] - 2 * counts[1] + counts[0]) / 32
    smallest = min(least.values())
    found = f"the least n^2 part of our methods is {smallest:g}, that of GDAHJ and the hybrid"
    return Evidence("presumed" if smallest == least["gdahj"] == 5.5 else "refuted", found)


def most_efficient() -> Evidence:
    """Claim: the most efficient method ever for many joints: of the published ones here, at 40."""
    ours = {"hybrid", "hybrid-minimal", "momentum", "crba-minimal", "gdahj-one-sum"}
    rows = [method.name for method in catalogue.methods("mass_matrix")]
    counts = {
        name: catalogue.operations("mass_matrix", name, 40) for name in rows if name not in ours
    }
    known = {name: value for name, value in counts.items() if value is not None}
    best = min(known, key=lambda name: known[name])
    return Evidence(
        "presumed" if best == "gdahj" else "refuted",
        f"of the published methods here {best} takes fewest operations at n = 40",
    )


def column_a_call() -> Evidence:
    """Claim, note under Table I: n calls of RNEA take 93n^2 - x m, 81n^2 - y a."""
    rnea = next(line for line in safeea2018.TABLE_I if line.name == "RNEA").published or ("", "")
    calls = [{n: n * int(Polynomial.parse(text)(n)) for n in range(2, 8)} for text in rnea]
    mul, add = map(Polynomial.through, calls)
    leading = (mul.coefficients[2], add.coefficients[2])
    return claim(leading == (93, 81), f"n calls: {mul} M, {add} A")


def rounding() -> Evidence:
    """Claim: the two methods differ by rounding alone."""
    worst = max(experiment.trial(n).apart / n**2 for n in (5, 10, 20))
    return claim(worst < 1e-15, "below 1e-15 n^2 for n = 5, 10, 20")
