"""The regressor: joint torque is linear in the links' inertial parameters."""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.algorithms.newton_euler import Motion, Wrench, motion, spin_torque, times
from armdyn.chain.arm import Arm
from armdyn.spatial import ZERO, Scalar, Symmetric, Vector


def regressor(
    arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> list[list[Scalar]]:
    """Y (n, 10 n) with tau = Y p, p the parameters of all links in the order "pinocchio".

    Column k of link l is the torque of the wrench that accelerates a link whose k-th parameter
    is one and whose others are zero, carried inward from E_l joint by joint.
    """
    R, s = arm.rotations(q), arm.shifts(q)
    columns: list[list[Scalar]] = []
    for link, moves in enumerate(motion(arm, q, qd, qdd)):
        for f, t in unit_wrenches(moves):
            column: list[Scalar] = [0] * arm.n
            for i in reversed(range(link + 1)):
                column[i] = t.z if arm.revolute[i] else f.z
                f = R[i].up(f)
                t = R[i].up(t) + s[i].cross(f)
            columns.append(column)
    return [list(row) for row in zip(*columns, strict=True)]


def minimal_regressor(
    arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> list[list[Scalar]]:
    """Ymin (n, p) with tau = Ymin pi, pi the minimal parameters.

    Torque depends on the natural parameters by the minimal ones alone, so the column of a minimal
    parameter is the torque of any links that have one unit of it and nothing of the others. Where
    all joints are revolute a single natural parameter has: Ymin is columns of Y.
    """
    Y = regressor(arm, q, qd, qdd)
    return [[sum(c * row[k] for k, c in unit) for unit in arm.minimal_units] for row in Y]


def unit_wrenches(moves: Motion) -> list[Wrench]:
    """The wrench of a unit of each parameter, m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz."""
    wd, a, U, ww = moves
    units = Vector(1, 0, 0), Vector(0, 1, 0), Vector(0, 0, 1)
    of_mass = [(a, ZERO)]
    of_moment = [(times(U, h), h.cross(a)) for h in units]
    elements = (0, 1, 3, 2, 4, 5)  # of a Symmetric, in the order named
    tensors = [Symmetric(*(int(k == element) for k in range(6))) for element in elements]
    of_tensor = [(ZERO, spin_torque(J, wd, U, ww)) for J in tensors]
    return of_mass + of_moment + of_tensor
