"""Kinematic influence coefficients, and the dynamic model [I*], [P*] that is made of them.

[kang], sections 2 and 3 and Appendix 1, in its letters: S_k is the axis of joint k and O_k its
origin, in base axes; P is a point of link l. The velocity of P is the sum of gT_k qd_k, its
acceleration the sum of gT_k qdd_k and of hT_jk qd_j qd_k, and so for the link's rotation with gR
and hR: the influence coefficients of first and second order. Joints count from 0.

Appendix 1 is read so: its last table is of second order, and hT_jk for j <= k is zero where joint j
is prismatic, and only there. The paper leaves gravity to its reference 11; here it is the virtual
work of the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from armdyn.algorithms.kinematics import frames, named_frame
from armdyn.chain.arm import Arm
from armdyn.spatial import ZERO, Row, Scalar, Vector

Cube = list[list[Row]]
Vectors = list[Vector]
Planes = list[list[Vector]]


class Link(NamedTuple):
    """What eqs. (9) and (10) take from link l: its mass, its coefficients, and [II_l] gR_k."""

    m: Scalar
    gT: Vectors  # of its centre of mass
    gR: Vectors
    L: Vectors


def first_order(arm: Arm, S: Vectors, O: Vectors, P: Vector, l: int) -> tuple[Vectors, Vectors]:
    """gT_k and gR_k of the point P of link l, k = 0..n-1: Appendix 1."""
    gT = [S[k].cross(P - O[k]) if arm.revolute[k] else S[k] for k in range(l + 1)]
    gR = [S[k] if arm.revolute[k] else ZERO for k in range(l + 1)]
    beyond = [ZERO] * (arm.n - 1 - l)
    return gT + beyond, gR + beyond


def second_order(gT: Vectors, gR: Vectors) -> tuple[Planes, Planes]:
    """hT_jk and hR_jk from the first order: Appendix 1 as two rules for all joints.

    gR_j is zero for a prismatic joint. hT is symmetric, hT_jk = gR_j x gT_k for j <= k; hR is
    not: hR_jk = gR_j x gR_k is how joint j turns the axis of an outer joint k.
    """
    n = len(gT)
    hT, hR = [[ZERO] * n for _ in range(n)], [[ZERO] * n for _ in range(n)]
    for k in range(n):
        for j in range(k + 1):
            hT[j][k] = hT[k][j] = gR[j].cross(gT[k])
            if j < k:
                hR[j][k] = gR[j].cross(gR[k])
    return hT, hR


def influence(
    arm: Arm,
    q: Sequence[Scalar],
    frame: str | None = None,
    point: Sequence[Scalar] | None = None,
) -> tuple[list[Row], list[Row], Cube, Cube]:
    """gT, gR (3, n) and hT, hR (3, n, n) of a named link or frame (None: the tip), base axes.

    They are those of its origin, or of a point P that is given in its axes. With p that point and
    R the frame's rotation, gT_k = dp/dq_k, hT_jk = d2p/dq_j dq_k, (dR/dq_k) R^T is the matrix of
    the product gR_k x, and hR_jk = d gR_k/dq_j.
    """
    _, *placed = frames(arm, q)
    S, O = [E.z for E in placed], [E.o for E in placed]
    E = named_frame(arm, q, frame)
    P = E.o if point is None else E.o + E.out(Vector(*point))
    gT, gR = first_order(arm, S, O, P, arm.frame(frame)[0])
    hT, hR = second_order(gT, gR)
    return components(gT), components(gR), cube(hT), cube(hR)


def components(vectors: Vectors) -> list[Row]:
    """Vectors as the columns of an array, (3, n)."""
    return [[v.x for v in vectors], [v.y for v in vectors], [v.z for v in vectors]]


def cube(planes: Planes) -> Cube:
    """An array of vectors with the component as the first index, (3, n, n)."""
    x, y, z = zip(*(components(row) for row in planes), strict=True)
    return [list(x), list(y), list(z)]


def links(arm: Arm, q: Sequence[Scalar]) -> list[Link]:
    """Each link's part in the model; [II_l] is its inertia tensor about C_l in base axes."""
    _, *placed = frames(arm, q)
    S, O = [E.z for E in placed], [E.o for E in placed]
    found = []
    for l, E in enumerate(placed):
        gT, gR = first_order(arm, S, O, E.o + E.out(arm.com[l]), l)
        II = arm.inertia_dyads[l].turned(E.rows)
        found.append(Link(arm.mass[l], gT, gR, [II @ g for g in gR]))
    return found


def mass_matrix(arm: Arm, q: Sequence[Scalar]) -> list[Row]:
    """[I*](q), shape (n, n): eq. (9)."""
    I: list[Row] = [[0] * arm.n for _ in range(arm.n)]
    for l, (m, gT, gR, L) in enumerate(links(arm, q)):
        for j in range(l + 1):
            for i in range(j + 1):
                I[i][j] = I[j][i] = I[i][j] + m * (gT[i] @ gT[j]) + gR[i] @ L[j]
    return I


def inertial_power(model: list[Link]) -> tuple[Cube, Cube, Cube]:
    """The three terms of [P*], shape (n, n, n) each: eq. (10), link by link.

    The last is written out: P3_ijk = (gR_i x gR_j) . [II_l] gR_k.
    """
    P1, P2, P3 = (zeros(len(model)) for _ in range(3))
    for l, (m, gT, gR, L) in enumerate(model):
        hT, hR = second_order(gT, gR)
        for i in range(l + 1):
            for j in range(l + 1):
                turned = gR[i].cross(gR[j])
                for k in range(l + 1):
                    P1[i][j][k] = P1[i][j][k] + m * (gT[i] @ hT[j][k])
                    P2[i][j][k] = P2[i][j][k] + L[i] @ hR[j][k]
                    P3[i][j][k] = P3[i][j][k] + turned @ L[k]
    return P1, P2, P3


def bias(arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Row:
    """qd^T [P*] qd of eq. (8), less the virtual work of the weights, shape (n,)."""
    model, g = links(arm, q), frames(arm, q)[0].out(arm.gravity)
    tau = quadratic(added(*inertial_power(model)), qd)
    for m, gT, _, _ in model:
        tau = [t - m * (g @ gT_i) for t, gT_i in zip(tau, gT, strict=True)]
    return tau


def christoffel(arm: Arm, q: Sequence[Scalar]) -> Cube:
    """Gamma(q), shape (n, n, n): the symmetric part of [P*]."""
    return symmetric_part(added(*inertial_power(links(arm, q))))


# Arrays operated on plane by plane -------------------------------------------------------------


def zeros(n: int) -> Cube:
    """An array (n, n, n) to begin with."""
    return [[[0] * n for _ in range(n)] for _ in range(n)]


def added(P1: Cube, P2: Cube, P3: Cube) -> Cube:
    """[P*] = [P1*] + [P2*] + [P3*]."""
    n = len(P1)
    return [
        [[P1[i][j][k] + P2[i][j][k] + P3[i][j][k] for k in range(n)] for j in range(n)]
        for i in range(n)
    ]


def quadratic(P: Cube, qd: Sequence[Scalar]) -> Row:
    """qd^T [P] qd, plane by plane, shape (n,)."""
    tau: Row = []
    for plane in P:
        total: Scalar = 0
        for row, qd_j in zip(plane, qd, strict=True):
            swept: Scalar = 0
            for P_ijk, qd_k in zip(row, qd, strict=True):
                swept = swept + P_ijk * qd_k
            total = total + qd_j * swept
        tau.append(total)
    return tau


def symmetric_part(P: Cube) -> Cube:
    """(P_ijk + P_ikj) / 2, shape (n, n, n).

    [P*] gives the right torque but is not symmetric in j and k: element by element it is no
    array of Christoffel symbols. Its symmetric part is, exactly.
    """
    n = len(P)
    Gamma = zeros(n)
    for i in range(n):
        for k in range(n):
            Gamma[i][k][k] = P[i][k][k]
            for j in range(k):
                Gamma[i][j][k] = Gamma[i][k][j] = (P[i][j][k] + P[i][k][j]) / 2
    return Gamma
