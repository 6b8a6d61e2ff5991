"""Kang's modified model: influence coefficients of generalized augmented bodies, in seven steps.

[kang], section 4, in its letters. The augmented body k is links k..n taken as one: its mass M_k,
its centre of mass C*_k and its inertia tensor III_k about that point. Only the momenta that joint
k gives to body k are needed, so each body takes one column of [I*] and one plane of [P*]; the rest
of [P*] follows from its properties. All vectors are in the axes of E_1, from its origin; joints
count from 0. ``gT[i, k]`` is gT_i of the point C*_k; keys of P1, P2, P3 are (i, j, k).

Our copy is read so: (18) with m_j; (28) with both points weighed by their masses; (P4) P1_ijk =
- P1_kji for j <= min(i, k); (P6) P2_ijk = 0 for j >= k; (P9) P3_ijk = P2_kij for i < j. Differs
from the paper: (29) is one dyad in place of two, and C*_k is measured from the origin of E_1, not
from O_k. The symmetric part of [P*] is the same as in ``kic``; single elements differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from armdyn.algorithms.kic import added, quadratic, symmetric_part, zeros
from armdyn.algorithms.kinematics import Placed, frames_in_first
from armdyn.algorithms.stages import stage
from armdyn.chain.arm import Arm
from armdyn.spatial import ZERO, Row, Scalar, Symmetric, Vector, steiner

Cube = list[list[Row]]
Vectors = list[Vector]
Pairs = dict[tuple[int, int], Vector]
Elements = dict[tuple[int, int, int], Scalar]


class Bodies(NamedTuple):
    """The generalized augmented bodies: mass, centre of mass, inertia tensor about it."""

    M: Row
    C: Vectors
    III: list[Symmetric]


@stage("step 1")
def placements(arm: Arm, q: Sequence[Scalar]) -> tuple[list[Placed], Vectors]:
    """R_k and O_k of each joint, and C_k, the centre of mass of each link."""
    R = frames_in_first(arm, q)
    return R, [E.o + E.out(c) for E, c in zip(R, arm.com, strict=True)]


@stage("step 2")
def augmented_bodies(arm: Arm, R: list[Placed], c: Vectors) -> Bodies:
    """(28) and (29), from the tip inward.

    Two bodies about their common centre of mass are a dyad of the vector d between their own.
    """
    II = [J.turned(E.rows) for J, E in zip(arm.inertia_dyads, R, strict=True)]
    M = list(accumulate(reversed(arm.mass)))[::-1]
    C, III = [c[-1]], [II[-1]]
    for k in reversed(range(arm.n - 1)):
        share = arm.mass_share[k]  # m_k / M_k
        d = c[k] - C[-1]
        III.append(II[k] + III[-1] + steiner(share * M[k + 1] * d, d))
        C.append(C[-1] + share * d)
    return Bodies(M, C[::-1], III[::-1])


@stage("step 3")
def first_order(arm: Arm, R: list[Placed], C: Vectors) -> tuple[Pairs, Vectors]:
    """gT_i of C*_k, i <= k, and gR_i: Appendix 1."""
    gT = {
        (i, k): E.z.cross(C[k] - E.o) if arm.revolute[i] else E.z
        for i, E in enumerate(R)
        for k in range(i, arm.n)
    }
    return gT, [E.z if revolute else ZERO for E, revolute in zip(R, arm.revolute, strict=True)]


@stage("step 4")
def inertia_matrix(bodies: Bodies, gT: Pairs, gR: Vectors) -> tuple[list[Row], Vectors, Vectors]:
    """[I*] by (23), (24); and the momenta that joint k gives to body k, (14), (17)."""
    n = len(gR)
    P = [bodies.M[k] * gT[k, k] for k in range(n)]
    L = [bodies.III[k] @ gR[k] for k in range(n)]
    I: list[Row] = [[0] * n for _ in range(n)]
    for k in range(n):
        for i in range(k + 1):
            I[i][k] = I[k][i] = gT[i, k] @ P[k] + gR[i] @ L[k]
    return I, P, L


@stage("step 5")
def second_order(P: Vectors, gR: Vectors) -> tuple[Pairs, Pairs]:
    """M_k hT_jk of C*_k, j <= k, and hR_jk, j < k: Appendix 1, hT weighed by P_k = M_k gT_k."""
    n = len(gR)
    MhT = {(j, k): gR[j].cross(P[k]) for k in range(n) for j in range(k + 1)}
    hR = {(j, k): gR[j].cross(gR[k]) for k in range(n) for j in range(k)}
    return MhT, hR


@stage("step 6")
def independent_elements(
    III: list[Symmetric], gT: Pairs, gR: Vectors, L: Vectors, MhT: Pairs, hR: Pairs
) -> tuple[Elements, Elements, Elements]:
    """(25) to (27): P1_ijk for i < k, j <= k; P3_ijk for i < j <= k; P2_ijk for j < k, i <= k."""
    P1: Elements = {(i, j, k): gT[i, k] @ h for (j, k), h in MhT.items() for i in range(k)}
    P3: Elements = {(i, j, k): h @ L[k] for (i, j), h in hR.items() for k in range(j, len(gR))}
    P2: Elements = {}
    for (j, k), h in hR.items():
        IIIh = III[k] @ h
        for i in range(k):
            P2[i, j, k] = gR[i] @ IIIh
        P2[k, j, k] = P3[j, k, k]
    return P1, P2, P3


@stage("step 7")
def inertial_power(n: int, P1: Elements, P2: Elements, P3: Elements) -> Cube:
    """[P*] from its independent elements, by the properties (P3) to (P10)."""
    return added(*filled_in(n, P1, P2, P3))


def filled_in(n: int, P1: Elements, P2: Elements, P3: Elements) -> tuple[Cube, Cube, Cube]:
    """The three terms of [P*] in full, shape (n, n, n) each."""
    full1, full2, full3 = (zeros(n) for _ in range(3))
    for i in range(n):
        for k in range(n):
            for j in range(k + 1):  # (P3): symmetric; (P5): zero for i = k; (P4)
                if i != k:
                    element = P1[i, j, k] if i < k else -P1[k, j, i]
                    full1[i][j][k] = full1[i][k][j] = element
            for j in range(k):  # (P6): zero for j >= k; (P9)
                full2[i][j][k] = P2[i, j, k] if i <= k else P3[j, k, i]
        for j in range(i + 1, n):  # (P7), (P8): skew in i and j; (P9)
            for k in range(n):
                full3[i][j][k] = P3[i, j, k] if k >= j else P2[k, i, j]
                full3[j][i][k] = -full3[i][j][k]
    return full1, full2, full3


def model(arm: Arm, q: Sequence[Scalar]) -> tuple[list[Row], Cube, Vectors]:
    """[I*] and [P*] by the seven steps, and the momenta P_k = M_k gT_k."""
    I, P, elements = six_steps(arm, q)
    return I, inertial_power(arm.n, *elements), P


def inertial_power_terms(arm: Arm, q: Sequence[Scalar]) -> tuple[Cube, Cube, Cube]:
    """The three terms of [P*] in full, shape (n, n, n) each."""
    return filled_in(arm.n, *six_steps(arm, q)[2])


def six_steps(
    arm: Arm, q: Sequence[Scalar]
) -> tuple[list[Row], Vectors, tuple[Elements, Elements, Elements]]:
    """[I*], the momenta P_k = M_k gT_k, and the independent elements of the terms of [P*]."""
    R, c = placements(arm, q)
    bodies = augmented_bodies(arm, R, c)
    gT, gR = first_order(arm, R, bodies.C)
    I, P, L = inertia_matrix(bodies, gT, gR)
    MhT, hR = second_order(P, gR)
    return I, P, independent_elements(bodies.III, gT, gR, L, MhT, hR)


def mass_matrix(arm: Arm, q: Sequence[Scalar]) -> list[Row]:
    """[I*](q), shape (n, n): steps 1 to 4."""
    R, c = placements(arm, q)
    bodies = augmented_bodies(arm, R, c)
    return inertia_matrix(bodies, *first_order(arm, R, bodies.C))[0]


def bias(arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Row:
    """qd^T [P*] qd of eq. (8), less the virtual work of the bodies' weights, shape (n,)."""
    _, power, P = model(arm, q)
    g = arm.rotations(q)[0].down(arm.gravity)
    return [t - g @ P_k for t, P_k in zip(quadratic(power, qd), P, strict=True)]


def christoffel(arm: Arm, q: Sequence[Scalar]) -> Cube:
    """Gamma(q), shape (n, n, n): steps 1 to 7, and the symmetric part of [P*]."""
    return symmetric_part(model(arm, q)[1])
