"""Fijany and Bejczy: Renaud's composite bodies, their forces carried inward in one frame E_k.

[lin1991], Appendix, (A10) to (A15), after [fijany1990]. Joints count from 0; r is the first
revolute joint. The axes x, y, z of every frame are expressed in E_k, so that a force passes from
joint to joint without a rotation; ``ch[j]`` and ``Jh[j]`` are c-hat_j and J-hat_j in E_j. The
authors take k = 2 in their first paper, whose count Table I has, and k = n in their second. On
six revolute joints k = 1 to 6 take 955, 891, 886, 889, 896, 942 operations by the literal count.

The terms of prismatic joints in (A10) and (A11) are included. (A14) is f^<k> = -R f_E^<j> here, and
t_jj^<k> = -R t_E^<j>; our copy of the paper has f_E^<k>, and t_jj = t_E.
"""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.algorithms import renaud
from armdyn.algorithms.lin1991 import Row, composite_masses, first_revolute
from armdyn.algorithms.stages import stage
from armdyn.chain.arm import Arm
from armdyn.spatial import Rotation, Scalar, Symmetric, Vector

Axes = tuple[Vector, Vector, Vector]


def mass_matrix(arm: Arm, q: Sequence[Scalar]) -> list[Row]:
    """H(q), shape (n, n), by (A12) and (A13), with k = n.

    All revolute, n >= 3, 4.5n^2+92.5n-179 M, 4n^2+62n-124 A, 3n-6 D. The paper prints no count of
    its lines. Here a shift takes 6M3A, and c-hat_1 is not computed, because H does not need it.
    """
    return in_frame(arm, q, arm.n)


def mass_matrix_in_second(arm: Arm, q: Sequence[Scalar]) -> list[Row]:
    """H(q), shape (n, n), by (A12) and (A13), with k = 2.

    All revolute, n >= 4, 4.5n^2+90.5n-201 M, 4n^2+61n-135 A, 3n-6 D. Table I prints
    4.5n^2+115.5n-175 M, 4n^2+88n-134 A.
    """
    return in_frame(arm, q, min(2, arm.n))


def in_frame(arm: Arm, q: Sequence[Scalar], k: int) -> list[Row]:
    """H(q), shape (n, n), by (A12) and (A13), in E_k; k counts from 1 as in the paper."""
    n, r, mh, R = arm.n, first_revolute(arm), composite_masses(arm), arm.rotations(q)
    frames = axes(R, k)
    ch, Jh = composites(arm, R, arm.shifts(q), mh)
    s = shifts(arm, q, frames)
    H: list[Row] = [[0] * n for _ in range(n)]
    for j in range(n):
        H[j][j] = Jh[j].zz if arm.revolute[j] else mh[j]
        if j > 0:
            x, y, z = frames[j]
            c = ch[j]
            if arm.revolute[j]:  # (A10), (A11), (A14)
                f, t = c.x * y - c.y * x, Jh[j].xz * x + Jh[j].yz * y + Jh[j].zz * z
            else:
                f, t = mh[j] * z, c.y * x - c.x * y
        for m in reversed(range(j)):
            z = frames[m][2]
            if m >= r:
                t = t + s[m + 1].cross(f)  # (A15)
            H[m][j] = H[j][m] = z @ t if arm.revolute[m] else z @ f
    return H


@stage("composites")
def composites(
    arm: Arm, R: Sequence[Rotation], s: Sequence[Vector], mh: Row
) -> tuple[dict[int, Vector], dict[int, Symmetric]]:
    """c-hat_j from joint 2 outward and J-hat_j, by (A7) and (A8)."""
    ch, Jh = renaud.composites(arm, R, s, mh, innermost=1)
    if arm.revolute[0] and arm.n > 1:
        X, Y, _ = R[1].rows()
        c = Vector(X @ ch[1], Y @ ch[1], 0)  # 5M3A: the (3, 3) needs no more
        zz = renaud.polar_moment(arm.inertia[0], R[1], Jh[1], s[1], mh[1] * s[1], c)
        Jh[0] = Symmetric(0, 0, 0, 0, 0, zz)
    return ch, Jh


@stage("axes")
def axes(R: Sequence[Rotation], k: int) -> list[Axes]:
    """The axes of E_1, ..., E_n in E_k, 24M12A each but those of E_k and of its neighbours."""
    unit = Vector(1, 0, 0), Vector(0, 1, 0), Vector(0, 0, 1)
    frames = [unit]
    x, y, z = unit
    for i in reversed(range(1, k)):
        x, t = R[i].C * x - R[i].S * y, R[i].S * x + R[i].C * y
        y, z = R[i].Cb * t - R[i].Sb * z, R[i].Sb * t + R[i].Cb * z
        frames.insert(0, (x, y, z))
    x, y, z = unit
    for i in range(k, len(R)):
        t, z = R[i].Cb * y + R[i].Sb * z, R[i].Cb * z - R[i].Sb * y
        x, y = R[i].C * x + R[i].S * t, R[i].C * t - R[i].S * x
        frames.append((x, y, z))
    return frames


@stage("axes")
def shifts(arm: Arm, q: Sequence[Scalar], frames: Sequence[Axes]) -> dict[int, Vector]:
    """From the origin of E_{i-1} to that of E_i, in E_k: b_i x_{i-1} + d_i z_i."""
    d = arm.extensions(q)
    return {i: arm.b[i] * frames[i - 1][0] + d[i] * frames[i][2] for i in range(1, arm.n)}
