"""The composite-rigid-body algorithm in link frames, as Table I of [safeea2018] counts it.

[featherstone2014], eq. 10.3. Composite i is links i..n as one body in E_i: its mass M, first
moment h and inertia tensor I about the frame's origin. Column i of the mass matrix is the force
that accelerates composite i along joint i, carried inward frame by frame. Seen from the frame
before, bodies and forces move by two screws: (theta, d) about z, then (beta, b) about x. Joints
count from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from armdyn.algorithms.stages import stage, zero
from armdyn.chain.arm import Arm
from armdyn.spatial import Row, Scalar, Symmetric, Vector, about_x, about_z


class Body(NamedTuple):
    """A body in a frame: mass, first moment, and inertia tensor about the origin."""

    M: Scalar
    h: Vector
    I: Symmetric


class Force(NamedTuple):
    """A force in a frame, and its moment about the origin."""

    f: Vector
    t: Vector


def mass_matrix(arm: Arm, q: Sequence[Scalar]) -> list[Row]:
    """M(q), shape (n, n).

    All revolute 10n^2+22n-32 M, 6n^2+33n-39 A, 2n-2 D; Table I has 37n-43 in the additions.
    """
    return columns(arm, q, composites(arm, q))


@stage("composites")
def composites(arm: Arm, q: Sequence[Scalar]) -> list[Body]:
    """The composite bodies, each in its own frame; 32M39A2D a joint but the last."""
    R, d = arm.rotations(q), arm.extensions(q)
    links = [Body(*link) for link in zip(arm.mass, arm.first_moment, arm.inertia, strict=True)]
    found = links[-1:]
    for i in reversed(range(arm.n - 1)):
        M, h, I = body_about_z(R[i + 1].C, R[i + 1].S, d[i + 1], found[-1])
        M, h, I = body_about_x(R[i + 1].Cb, R[i + 1].Sb, arm.b[i + 1], Body(M, h, I))
        found.append(Body(links[i].M + M, links[i].h + h, links[i].I + I))
    return found[::-1]


@stage("columns")
def columns(arm: Arm, q: Sequence[Scalar], bodies: Sequence[Body]) -> list[Row]:
    """Column by column, from the diagonal inward; 20M12A a step."""
    n, R, d = arm.n, arm.rotations(q), arm.extensions(q)
    A: list[Row] = [[0] * n for _ in range(n)]
    for i, body in enumerate(bodies):
        force = column(body, arm.revolute[i])
        A[i][i] = felt(force, arm.revolute[i])
        for j in reversed(range(i)):
            force = force_about_z(R[j + 1].C, R[j + 1].S, d[j + 1], force)
            force = force_about_x(R[j + 1].Cb, R[j + 1].Sb, arm.b[j + 1], force)
            A[i][j] = A[j][i] = felt(force, arm.revolute[j])
    return A


def column(body: Body, revolute: bool) -> Force:
    """What accelerates the body along its joint: a column of its 6 by 6 inertia matrix.

    The zero of f is an element of that matrix like any other, and charged in Table I; using it
    would save 3M3A a column.
    """
    M, h, I = body
    if revolute:
        return Force(Vector(-h.y, h.x, zero()), Vector(I.xz, I.yz, I.zz))
    return Force(Vector(0, 0, M), Vector(h.y, -h.x, 0))


def felt(force: Force, revolute: bool) -> Scalar:
    """What a joint along z feels of the force."""
    return force.t.z if revolute else force.f.z


def body_about_z(C: Scalar, S: Scalar, d: Scalar, body: Body) -> Body:
    """A body seen across the screw (theta, d) about z, 16M15A1D."""
    M, h, I = body
    z = h.z + M * d
    D = d * (h.z + z)
    I = Symmetric(I.xx + D, I.xy, I.xz - d * h.x, I.yy + D, I.yz - d * h.y, I.zz)
    return Body(M, Vector(C * h.x - S * h.y, S * h.x + C * h.y, z), about_z(C, S, I))


def body_about_x(C: Scalar, S: Scalar, b: Scalar, body: Body) -> Body:
    """A body seen across the screw (beta, b) about x, 16M15A1D; b is a constant."""
    M, h, I = body
    D = (2 * b) * h.x + M * b * b
    I = Symmetric(I.xx, I.xy - b * h.y, I.xz - b * h.z, I.yy + D, I.yz, I.zz + D)
    h = Vector(h.x + M * b, C * h.y - S * h.z, S * h.y + C * h.z)
    return Body(M, h, about_x(C, S, I))


def force_about_z(C: Scalar, S: Scalar, d: Scalar, force: Force) -> Force:
    """A force seen across the screw (theta, d) about z, 10M6A."""
    f, t = force
    t = Vector(t.x - d * f.y, t.y + d * f.x, t.z)
    f = Vector(C * f.x - S * f.y, S * f.x + C * f.y, f.z)
    return Force(f, Vector(C * t.x - S * t.y, S * t.x + C * t.y, t.z))


def force_about_x(C: Scalar, S: Scalar, b: Scalar, force: Force) -> Force:
    """A force seen across the screw (beta, b) about x, 10M6A."""
    f, t = force
    t = Vector(t.x, t.y - b * f.z, t.z + b * f.y)
    f = Vector(f.x, C * f.y - S * f.z, S * f.y + C * f.z)
    return Force(f, Vector(t.x, C * t.y - S * t.z, S * t.y + C * t.z))
