"""The Lagrangian formulation with differential transformations, [Zomaya1988].

A joint's motion moves frame E_l by the 4x4 matrix Delta of eq. (7), and everything is the trace of
a product of such matrices with the link's pseudo-inertia J of eq. (8). Joints and links count
from 0. The paper's frames stand at the outer ends of the links (standard DH); here they are the
normal driving-axis frames, so joint i moves along z_i, not z_{i-1}. Rotor inertia is not in here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from armdyn.chain.arm import Arm
from armdyn.spatial import Z_AXIS, ZERO, Row, Scalar, Vector

Columns = tuple[Vector, Vector, Vector, Vector]  # of a 4x4 matrix, without its last row


class Delta(NamedTuple):
    """^l Delta_i, eq. (7): the differential rotation and translation of E_l a motion of joint i."""

    delta: Vector
    d: Vector

    def columns(self) -> Columns:
        """The matrix itself; its last row is zero."""
        x, y, z = self.delta
        return Vector(0, z, -y), Vector(-z, 0, x), Vector(y, -x, 0), self.d


Differentials = list[list[Delta]]  # ^l Delta_i by [l][i], i <= l


class PseudoInertia(NamedTuple):
    """J_l, eq. (8): the columns of its first three rows, then its last row (m x, m y, m z), m."""

    columns: Columns
    h: Vector
    m: Scalar


def differentials(arm: Arm, q: Sequence[Scalar]) -> Differentials:
    """Every ^l Delta_i, from link to link outward: eq. (6) is d H_l / d q_i = H_l ^l Delta_i."""
    table: Differentials = []
    inner: list[Delta] = []
    for R, s, revolute in zip(arm.rotations(q), arm.shifts(q), arm.revolute, strict=True):
        carried = [Delta(R.down(delta), R.down(d + delta.cross(s))) for delta, d in inner]
        inner = [*carried, Delta(Z_AXIS, ZERO) if revolute else Delta(ZERO, Z_AXIS)]
        table.append(inner)
    return table


def pseudo_inertias(arm: Arm) -> list[PseudoInertia]:
    """J_l of each link, about the origin of E_l.

    The paper's I_xy, I_xz, I_yz are integrals of products, minus the tensor's elements. Element
    (3, 1) is read as I_xz.
    """
    matrices = []
    for m, h, (xx, xy, xz, yy, yz, zz) in zip(arm.mass, arm.first_moment, arm.inertia, strict=True):
        x = Vector((yy + zz - xx) / 2, -xy, -xz)
        y = Vector(-xy, (xx + zz - yy) / 2, -yz)
        z = Vector(-xz, -yz, (xx + yy - zz) / 2)
        matrices.append(PseudoInertia((x, y, z, h), h, m))
    return matrices


def times_inertia(Delta_k: Delta, J: PseudoInertia) -> Columns:
    """Delta_k J, whose last row is zero."""
    delta, d = Delta_k
    a, b, c, h = (delta.cross(column) for column in J.columns)
    return a + J.h.x * d, b + J.h.y * d, c + J.h.z * d, h + J.m * d


def times(Delta_j: Delta, A: Columns) -> Columns:
    """Delta_j A for a matrix A whose last row is zero."""
    a, b, c, d = (Delta_j.delta.cross(column) for column in A)
    return a, b, c, d


def trace(A: Columns, Delta_i: Delta) -> Scalar:
    """Tr(A Delta_i^T), the m_11 + m_22 + m_33 of eq. (17), 9M8A."""
    a, b, c, d = Delta_i.columns()
    return A[0] @ a + A[1] @ b + A[2] @ c + A[3] @ d


def mass_matrix(arm: Arm, q: Sequence[Scalar]) -> list[Row]:
    """M(q), shape (n, n), by eqs. (3) and (9)."""
    return inertia_coefficients(arm, differentials(arm, q))


def inertia_coefficients(arm: Arm, deltas: Differentials) -> list[Row]:
    """P_ij, shape (n, n): sum over l of Tr(Delta_j J_l Delta_i^T), eq. (9)."""
    n = arm.n
    P: list[Row] = [[0] * n for _ in range(n)]
    for Delta_l, J in zip(deltas, pseudo_inertias(arm), strict=True):
        for j, Delta_j in enumerate(Delta_l):
            A = times_inertia(Delta_j, J)
            for i, Delta_i in enumerate(Delta_l[: j + 1]):
                P[i][j] = P[i][j] + trace(A, Delta_i)
    return [[P[min(i, j)][max(i, j)] for j in range(n)] for i in range(n)]


def velocity_coefficients(arm: Arm, deltas: Differentials) -> list[list[Row]]:
    """P_ijk for j <= k, by [i][j][k]: sum over l of Tr(Delta_j Delta_k J_l Delta_i^T), eq. (16).

    Eq. (16) is read with Tr. Differs from the paper, which takes j and k in any order: the second
    derivative of H_l is H_l Delta_min Delta_max of j and k, so for j <= k nothing is neglected in
    eqs. (13) and (14). As the paper says before its conclusion, P_ijk = 0 for i = k >= j, because
    Delta_i J Delta_i^T is symmetric.
    """
    n = arm.n
    P: list[list[Row]] = [[[0] * n for _ in range(n)] for _ in range(n)]
    for Delta_l, J in zip(deltas, pseudo_inertias(arm), strict=True):
        for k, Delta_k in enumerate(Delta_l):
            A = times_inertia(Delta_k, J)
            for j, Delta_j in enumerate(Delta_l[: k + 1]):
                B = times(Delta_j, A)
                for i, Delta_i in enumerate(Delta_l):
                    if i != k:
                        P[i][j][k] = P[i][j][k] + trace(B, Delta_i)
    return P


def christoffel(arm: Arm, q: Sequence[Scalar]) -> list[list[Row]]:
    """Gamma(q), shape (n, n, n): Gamma_ijk = Gamma_ikj = P_ijk of eq. (16) for j <= k."""
    n = arm.n
    P = velocity_coefficients(arm, differentials(arm, q))
    return [[[Pi[min(j, k)][max(j, k)] for k in range(n)] for j in range(n)] for Pi in P]


def gravity_terms(arm: Arm, q: Sequence[Scalar], deltas: Differentials) -> Row:
    """g(q), shape (n,): P_i = - sum over l of m_l g^T H_l Delta_i r_l, eqs. (5) and (6)."""
    P: Row = [0] * arm.n
    g = arm.gravity
    for R, Delta_l, m, h in zip(arm.rotations(q), deltas, arm.mass, arm.first_moment, strict=True):
        g = R.down(g)
        for i, (delta, d) in enumerate(Delta_l):
            P[i] = P[i] - g @ (delta.cross(h) + m * d)
    return P


def gravity(arm: Arm, q: Sequence[Scalar]) -> Row:
    """g(q), shape (n,): P_i = g_i^T (sum over l >= i of m_l r_l), eq. (10), from the tip inward.

    g_i, whose definition our copy lost, is (-g_y, g_x, 0 | 0) for a revolute joint i and
    (0, 0, 0 | -g_z) for a prismatic one, of gravity in the frame whose z is the joint's axis. The
    centres of mass r_l have a fourth component 1; their sum is link i's and the outer links', moved
    in.
    """
    R, s = arm.rotations(q), arm.shifts(q)
    g = [arm.gravity]
    for i in range(arm.n):
        g.append(R[i].down(g[i]))
    P: Row = [0] * arm.n
    h, m = ZERO, 0
    for i in reversed(range(arm.n)):
        h, m = arm.first_moment[i] + h, arm.mass[i] + m
        P[i] = g[i + 1].x * h.y - g[i + 1].y * h.x if arm.revolute[i] else -(m * g[i + 1].z)
        if i > 0:
            h = m * s[i] + R[i].up(h)
    return P


def bias(arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Row:
    """C(q, qd) qd + g(q), shape (n,): the last two sums of eq. (2)."""
    return bias_terms(arm, q, qd, differentials(arm, q))


def bias_terms(arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar], deltas: Differentials) -> Row:
    """The last two sums of eq. (2), each product of velocities taken once."""
    tau = gravity_terms(arm, q, deltas)
    P = velocity_coefficients(arm, deltas)
    for k in range(arm.n):
        for j in range(k + 1):
            product = qd[k] * qd[k] if j == k else 2 * (qd[j] * qd[k])
            for i in range(arm.n):
                tau[i] = tau[i] + P[i][j][k] * product
    return tau


def inverse_dynamics(
    arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> Row:
    """F(q, qd, qdd), shape (n,): eq. (2)."""
    deltas = differentials(arm, q)
    return with_inertia(inertia_coefficients(arm, deltas), bias_terms(arm, q, qd, deltas), qdd)


def with_inertia(P: Sequence[Row], tau: Row, qdd: Sequence[Scalar]) -> Row:
    """The first sum of eq. (2), added to the others."""
    return [
        sum((P_ij * a for P_ij, a in zip(row, qdd, strict=True)), torque)
        for row, torque in zip(P, tau, strict=True)
    ]
