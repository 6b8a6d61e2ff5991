"""Lilly and Orin's spatial composite-body method.

[lin1999], (12) to (17), has it as the spatial form of formulation 1: the Method IV of its
reference 6. Its letters: K_i is the spatial inertia of composite body i, the links i to n, at the
origin of E_i and in its axes; X_i takes a force from E_i to E_{i-1}; phi_i is the axis of joint i.
Spatial vectors are pairs of a torque and a force. K_i comes from K_{i+1} as X K X^T. Joints count
from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from armdyn.algorithms.renaud import crossed
from armdyn.algorithms.stages import stage
from armdyn.chain.arm import Arm
from armdyn.spatial import Rotation, Row, Scalar, Symmetric, Vector, steiner


class Force(NamedTuple):
    """f-tilde: a torque about a frame's origin, and a force."""

    t: Vector
    f: Vector

    def along(self, revolute: bool) -> Scalar:
        """The product phi . f-tilde (17); phi is the z axis of the joint."""
        return self.t.z if revolute else self.f.z


class Body(NamedTuple):
    """K (12): J-hat, c-hat and m-hat of a composite body."""

    J: Symmetric
    c: Vector
    m: Scalar

    def times_axis(self, revolute: bool) -> Force:
        """K phi (15): the third or the sixth column."""
        if revolute:
            return Force(Vector(self.J.xz, self.J.yz, self.J.zz), Vector(-self.c.y, self.c.x, 0))
        return Force(Vector(self.c.y, -self.c.x, 0), Vector(0, 0, self.m))


class Shift(NamedTuple):
    """X_i (13): R_i, and s_i from the origin of E_{i-1} to that of E_i, in E_{i-1}."""

    R: Rotation
    s: Vector

    def force(self, given: Force) -> Force:
        """X f-tilde."""
        f = self.R.up(given.f)
        return Force(self.R.up(given.t) + self.s.cross(f), f)

    def body(self, K: Body) -> Body:
        """X K X^T."""
        s, c, ms = self.s, self.R.up(K.c), K.m * self.s
        J = self.R.similarity(K.J) + crossed(s, c) + steiner(ms, s)
        return Body(J, c + ms, K.m)


def mass_matrix(arm: Arm, q: Sequence[Scalar]) -> list[Row]:
    """D(q), shape (n, n)."""
    X = [Shift(R, s) for R, s in zip(arm.rotations(q), arm.shifts(q), strict=True)]
    return matrix(arm, X, composites(arm, X))


@stage("composites")
def composites(arm: Arm, X: Sequence[Shift]) -> list[Body]:
    """K_i, from the tip inward."""
    links = [Body(*link) for link in zip(arm.inertia, arm.first_moment, arm.mass, strict=True)]
    K = links[-1:]
    for i in reversed(range(1, arm.n)):
        outer = X[i].body(K[-1])
        K.append(Body(*(mine + theirs for mine, theirs in zip(links[i - 1], outer, strict=True))))
    return K[::-1]


@stage("matrix")
def matrix(arm: Arm, X: Sequence[Shift], K: Sequence[Body]) -> list[Row]:
    """D_ji by (15) to (17)."""
    D: list[Row] = [[0] * arm.n for _ in range(arm.n)]
    for i in range(arm.n):
        force = K[i].times_axis(arm.revolute[i])
        D[i][i] = force.along(arm.revolute[i])
        for j in reversed(range(i)):
            force = X[j + 1].force(force)
            D[j][i] = D[i][j] = force.along(arm.revolute[j])
    return D
