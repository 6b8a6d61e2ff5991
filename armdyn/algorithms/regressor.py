"""The regressor: joint torque is linear in the links' inertial parameters."""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.algorithms.newton_euler import motion
from armdyn.arm import Arm
from armdyn.spatial import ZERO, Scalar, Vector

Wrench = tuple[Vector, Vector]  # force, and its moment about the origin of the frame at hand


def regressor(
    arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> list[list[Scalar]]:
    """Y (n, 10 n) with tau = Y p, p the parameters of all links in the order "pinocchio".

    Column k of link l is the torque of the wrench that accelerates a link whose k-th parameter
    is one and whose others are zero, carried inward from E_l joint by joint.
    """
    R, s = arm.rotations(q), arm.shifts(q)
    columns: list[list[Scalar]] = []
    for link, (w, wd, a) in enumerate(motion(arm, q, qd, qdd)):
        for f, t in unit_wrenches(w, wd, a):
            column: list[Scalar] = [0] * arm.n
            for i in reversed(range(link + 1)):
                column[i] = t.z if arm.revolute[i] else f.z
                f = R[i].up(f)
                t = R[i].up(t) + s[i].cross(f)
            columns.append(column)
    return [list(row) for row in zip(*columns, strict=True)]


def unit_wrenches(w: Vector, wd: Vector, a: Vector) -> list[Wrench]:
    """The wrench of a unit of each parameter, m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz."""
    units = Vector(1, 0, 0), Vector(0, 1, 0), Vector(0, 0, 1)
    x, y, z = units
    of_mass = [(a, ZERO)]
    of_moment = [(wd.cross(h) + w.cross(w.cross(h)), h.cross(a)) for h in units]
    elements = ((x, x), (x, y), (y, y), (x, z), (y, z), (z, z))
    of_tensor = [(ZERO, element(i, j, wd) + w.cross(element(i, j, w))) for i, j in elements]
    return of_mass + of_moment + of_tensor


def element(i: Vector, j: Vector, v: Vector) -> Vector:
    """J v for the tensor J whose only elements are J_ij = J_ji = 1."""
    return (j @ v) * i if i is j else (j @ v) * i + (i @ v) * j
