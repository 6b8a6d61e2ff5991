"""Walker and Orin: composite bodies about their centres of mass.

The method is that of [walker1982]; [lin1991] counts it in Table I and does not describe its lines.
The frames are normal driving-axis frames. A unit acceleration of joint j alone needs a force f and
a torque t about the joint, to move the composite body outside it. Both are carried inward frame by
frame. Joints count from 0; c[i] is the composite's centre of mass from the origin of E_i, E[i] its
tensor about that centre, both in E_i; M is its mass. R v is factored, 8M4A.
"""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.algorithms.lin1991 import Row, across, composite_masses, similarity
from armdyn.algorithms.stages import stage
from armdyn.chain.arm import Arm
from armdyn.spatial import Rotation, Scalar, Symmetric, Vector, steiner


def mass_matrix(arm: Arm, q: Sequence[Scalar]) -> list[Row]:
    """H(q), shape (n, n), column by column.

    All revolute 11n^2+50n-61 M, 7n^2+42n-49 A. Table I prints 11n^2+53n-74 M, 8n^2+52n-62 A; its
    terms in n^2 are ours with R v at 8M5A. Its note b says that the row is that of reference 13,
    less 2(3M+3A)(n-1) for the use of (21).
    """
    n, R, s, M = arm.n, arm.rotations(q), arm.shifts(q), composite_masses(arm)
    c, E = composites(arm, R, s, M)
    H: list[Row] = [[0] * n for _ in range(n)]
    for j in range(n):
        if arm.revolute[j]:
            f = M[j] * across(c[j])
            t = Vector(E[j].xz, E[j].yz, E[j].zz) + c[j].cross(f)
        else:
            f = Vector(0, 0, M[j])
            t = c[j].cross(f)
        for i in reversed(range(j + 1)):
            H[i][j] = H[j][i] = t.z if arm.revolute[i] else f.z
            if i > 0:
                f = R[i].up(f)
                t = R[i].up(t) + s[i].cross(f)
    return H


@stage("composites")
def composites(
    arm: Arm, R: Sequence[Rotation], s: Sequence[Vector], M: Row
) -> tuple[dict[int, Vector], dict[int, Symmetric]]:
    """Centre of mass and tensor about it, outermost first, 57M47A a link.

    Link i joins those outside it; a single Steiner term of their reduced mass m_i M_{i+1} / M_i
    holds what both bring.
    """
    n, share = arm.n, arm.mass_share
    c, E = {n - 1: arm.com[n - 1]}, {n - 1: arm.inertia_about_com[n - 1]}
    for i in reversed(range(n - 1)):
        k = i + 1
        outside = s[k] + R[k].up(c[k])
        apart = arm.com[i] - outside
        c[i] = outside + share[i] * apart
        joined = steiner((share[i] * M[k]) * apart, apart)
        E[i] = arm.inertia_about_com[i] + similarity(R[k], E[k]) + joined
    return c, E
