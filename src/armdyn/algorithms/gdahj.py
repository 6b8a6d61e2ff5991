"""GDAHJ, the geometric dynamics algorithm for a high number of joints.

[safeea2018], section III, in its letters: k_i and p_i are axis and origin of joint i, R_i is the
rotation of its frame, p_ci the centre of mass of link i and pc_i = p_ci - p_i, all in base axes;
[a]x is the matrix of the product a x. Joints count from 0. Of the links l = i..n together

    sig_i = sum m_l,  s_i = sum m_l p_cl,  b_i = sum m_l (p_cl - p_i),
    D_i = sum (R_l I_l R_l^T - m_l [p_cl - p_i]x [p_cl]x),

and joint i feels of joint j <= i: A_ij = k_j . d_i + t_j . y_i.

The page with equations (18) to (31) and Algorithm 1 is missing from our copy; the recursion is
rebuilt from these definitions. The published count, 3n^2+88n-3 M, 5/2n^2+191/2n-18 A with R_i
and p_i given, comes out where D_i is kept as two sums (``Apart``) and where s and b start from
zeros that are charged like numbers. Its n^2 and n terms leave no choice; the charges at i = n were
fitted to its constants. Prismatic joints, which the paper leaves out, are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from armdyn.algorithms.kinematics import frames
from armdyn.algorithms.stages import stage, zero
from armdyn.chain.arm import Arm
from armdyn.spatial import ZERO, Row, Scalar, Symmetric, Vector, double_cross
from armdyn.spatial.matrices import products

Vectors = list[Vector]
Matrix = tuple[Vector, Vector, Vector]  # by its rows


class Apart(NamedTuple):
    """D_i as two sums: J_i of the tensors, F_i of the products."""

    J: Symmetric = Symmetric(0, 0, 0, 0, 0, 0)
    F: Matrix = (ZERO, ZERO, ZERO)

    def with_tensor(self, I: Symmetric) -> Apart:
        """With R_i I_i R_i^T added."""
        return Apart(self.J + I, self.F)

    def less(self, product: Matrix) -> Apart:
        """With a product [a]x [b]x taken off."""
        return Apart(self.J, minus(self.F, product))

    def matrix(self) -> Matrix:
        """D_i = J_i + F_i."""
        return plus(self.J.rows(), self.F)


class AsOne(NamedTuple):
    """D_i as one sum, which takes fewer additions."""

    D: Matrix = (ZERO, ZERO, ZERO)

    def with_tensor(self, I: Symmetric) -> AsOne:
        """With R_i I_i R_i^T added."""
        return AsOne(plus(self.D, I.rows()))

    def less(self, product: Matrix) -> AsOne:
        """With a product [a]x [b]x taken off."""
        return AsOne(minus(self.D, product))

    def matrix(self) -> Matrix:
        """D_i."""
        return self.D


class Composite(NamedTuple):
    """Links i..n together, as above."""

    sig: Scalar
    s: Vector
    b: Vector
    D: Matrix


def mass_matrix(arm: Arm, q: Sequence[Scalar]) -> list[Row]:
    """A(q), shape (n, n), as published."""
    R, p = kinematics(arm, q)
    return dynamics(arm, R, p, Vector(zero(), zero(), zero()), Apart())


def mass_matrix_in_one_sum(arm: Arm, q: Sequence[Scalar]) -> list[Row]:
    """A(q), shape (n, n), no zero charged, D_i as one sum: 3n^2+88n-12 M, 5/2n^2+179/2n-33 A."""
    R, p = kinematics(arm, q)
    return dynamics(arm, R, p[: arm.n], ZERO, AsOne())


@stage("kinematics")
def kinematics(arm: Arm, q: Sequence[Scalar]) -> tuple[list[Matrix], Vectors]:
    """R_i and p_i, which the paper takes as on hand; the last p is the tip's."""
    placed = frames(arm, q)[1:]
    tip = placed[-1].o + placed[-1].out(arm.frame()[2])
    return [E.rows for E in placed], [*(E.o for E in placed), tip]


@stage("dynamics")
def dynamics(arm: Arm, R: list[Matrix], p: Vectors, none: Vector, D: Apart | AsOne) -> list[Row]:
    """Algorithm 1: d_i = D_i^T k_i, y_i = b_i x k_i, t_j = k_j x p_j, and the nested loop.

    For a prismatic joint i d_i = s_i x k_i and y_i = - sig_i k_i; for a prismatic joint j
    (0, - k_j) stand for (k_j, t_j).
    """
    n = arm.n
    k = [Vector(x.z, y.z, z.z) for x, y, z in R]
    pairs = [(k[j], k[j].cross(p[j])) if arm.revolute[j] else (ZERO, -k[j]) for j in range(n)]
    bodies = composites(arm, R, p, none, D)
    forces = [force(k[i], body, arm.revolute[i]) for i, body in enumerate(bodies)]
    return products(pairs, forces)


def force(k: Vector, body: Composite, revolute: bool) -> tuple[Vector, Vector]:
    """d_i and y_i of joint i along k."""
    sig, s, b, D = body
    if revolute:
        d, y = k.x * D[0] + k.y * D[1] + k.z * D[2], b.cross(k)
    else:
        d, y = s.cross(k), -sig * k
    return d, y


def composites(
    arm: Arm, R: list[Matrix], p: Vectors, none: Vector, D: Apart | AsOne
) -> list[Composite]:
    """The recursion from the last link inward; s and b start from ``none``, D from an empty sum.

    With l_i = p_{i+1} - p_i, which is zero beyond the last p:
    b_i = b_{i+1} + m_i pc_i + sig_{i+1} l_i,
    D_i = D_{i+1} + R_i I_i R_i^T - [m_i pc_i]x [p_ci]x - [l_i]x [s_{i+1}]x.
    """
    sig, s, b = 0, none, none
    found: list[Composite] = []
    for i in reversed(range(arm.n)):
        m, pc = arm.mass[i], rotated(R[i], arm.com[i])
        l = p[i + 1] - p[i] if i + 1 < len(p) else ZERO
        p_c, m_pc = p[i] + pc, m * pc
        D = D.with_tensor(arm.inertia_dyads[i].turned(R[i]))
        D = D.less(double_cross(m_pc, p_c)).less(double_cross(l, s))
        b = b + m_pc + sig * l
        s = s + m * p_c
        sig = sig + m
        found.append(Composite(sig, s, b, D.matrix()))
    return found[::-1]


def rotated(R: Matrix, v: Vector) -> Vector:
    """R v, 9M6A."""
    return Vector(R[0] @ v, R[1] @ v, R[2] @ v)


def plus(A: Matrix, B: Matrix) -> Matrix:
    """A + B."""
    return A[0] + B[0], A[1] + B[1], A[2] + B[2]


def minus(A: Matrix, B: Matrix) -> Matrix:
    """A - B."""
    return A[0] - B[0], A[1] - B[1], A[2] - B[2]
