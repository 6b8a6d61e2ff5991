"""Zomaya and Morris's simplified Coriolis and centripetal terms, [Zomaya1988]: an approximation.

The paper neglects the second term of eq. (12), H_l times the derivative of Delta_k by q_j. That
term is zero for j <= k. For j > k it is H_l (Delta_k Delta_j - Delta_j Delta_k), as large as the
term kept. ``lagrange`` takes j and k in order, which is exact and takes fewer operations.
"""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.algorithms.lagrange import (
    Delta,
    Differentials,
    PseudoInertia,
    differentials,
    gravity_terms,
    inertia_coefficients,
    pseudo_inertias,
    times,
    times_inertia,
    trace,
    with_inertia,
)
from armdyn.chain.arm import Arm
from armdyn.spatial import Row, Scalar


def velocity_coefficients(arm: Arm, deltas: Differentials) -> list[list[Row]]:
    """P_ijk, shape (n, n, n): sum over l of Tr(Delta_j Delta_k J_l Delta_i^T), eqs. (13) to (17).

    As eq. (16) has it, for every j and k; it is read with Tr. Products of inertia, which eq. (17)
    leaves out, are kept. P_iji = 0, because Delta_i J Delta_i^T is symmetric; of the exact
    coefficients this holds for j <= i only. The paper's rule "P_ij = 0 always", before its
    conclusion, is read as P_iii = 0, which holds of both.
    """
    n = arm.n
    P: list[list[Row]] = [[[0] * n for _ in range(n)] for _ in range(n)]
    for Delta_l, J in zip(deltas, pseudo_inertias(arm), strict=True):
        for k, Delta_k in enumerate(Delta_l):
            A = times_inertia(Delta_k, J)
            for j, Delta_j in enumerate(Delta_l):
                B = times(Delta_j, A)
                for i, Delta_i in enumerate(Delta_l):
                    if i != k:
                        P[i][j][k] = P[i][j][k] + trace(B, Delta_i)
    return P


def nine_terms(Delta_i: Delta, Delta_j: Delta, Delta_k: Delta, J: PseudoInertia) -> Row:
    """Q1 to Q9 of eq. (17), of one link, for which m_11 = Q1 + Q2 + Q3, and so on by threes.

    Their sum is Tr(Delta_j Delta_k J Delta_i^T) of a link whose products of inertia I_xy, I_xz,
    I_yz are zero, as eq. (17) assumes. Q5 and Q7 are read with a minus sign.
    """
    (ix, iy, iz), i = Delta_i
    (jx, jy, jz), _ = Delta_j
    (kx, ky, kz), k = Delta_k
    Jx, Jy, Jz = J.columns[0].x, J.columns[1].y, J.columns[2].z
    h, m = J.h, J.m
    a = jy * k.z - jz * k.y  # the last column of Delta_j Delta_k
    b = jz * k.x - jx * k.z
    c = jx * k.y - jy * k.x
    return [
        -iz * (jy * kx * Jy + a * h.y),
        iy * (jz * kx * Jz + a * h.z),
        i.x * (-(jz * kz + jy * ky) * h.x + jy * kx * h.y + jz * kx * h.z + m * a),
        iz * (jx * ky * Jx + b * h.x),
        -ix * (jz * ky * Jz + b * h.z),
        i.y * (jx * ky * h.x - (jz * kz + jx * kx) * h.y + jz * ky * h.z + m * b),
        -iy * (jx * kz * Jx + c * h.x),
        ix * (jy * kz * Jy + c * h.y),
        i.z * (jx * kz * h.x + jy * kz * h.y - (jy * ky + jx * kx) * h.z + m * c),
    ]


def bias(arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Row:
    """C(q, qd) qd + g(q), shape (n,), its first part approximate: the last two sums of eq. (2)."""
    return bias_terms(arm, q, qd, differentials(arm, q))


def bias_terms(arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar], deltas: Differentials) -> Row:
    """The last two sums of eq. (2)."""
    tau = gravity_terms(arm, q, deltas)
    P = velocity_coefficients(arm, deltas)
    for k in range(arm.n):
        for j in range(arm.n):
            product = qd[j] * qd[k]
            for i in range(arm.n):
                tau[i] = tau[i] + P[i][j][k] * product
    return tau


def inverse_dynamics(
    arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> Row:
    """F(q, qd, qdd), shape (n,), its Coriolis part approximate: eq. (2)."""
    deltas = differentials(arm, q)
    return with_inertia(inertia_coefficients(arm, deltas), bias_terms(arm, q, qd, deltas), qdd)


def christoffel(arm: Arm, q: Sequence[Scalar]) -> list[list[Row]]:
    """P_ijk, shape (n, n, n), by eqs. (13) to (17): Gamma_ijk for j <= k, approximate for j > k."""
    return velocity_coefficients(arm, differentials(arm, q))
