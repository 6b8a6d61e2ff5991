"""Where the links stand and how fast they move: poses, Jacobians and energy in the base frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from armdyn.chain.arm import Arm
from armdyn.spatial import ZERO, Rotation, Row, Scalar, Vector


class Placed(NamedTuple):
    """A frame in the base: its axes x, y, z and its origin o [m], all in base axes."""

    x: Vector
    y: Vector
    z: Vector
    o: Vector

    def out(self, v: Vector) -> Vector:
        """A vector of this frame, in base axes."""
        return v.x * self.x + v.y * self.y + v.z * self.z

    @property
    def rows(self) -> tuple[Vector, Vector, Vector]:
        """Its rotation, row by row."""
        x, y, z = (Vector(*row) for row in zip(self.x, self.y, self.z, strict=True))
        return x, y, z


IN_ITSELF = Placed(Vector(1, 0, 0), Vector(0, 1, 0), Vector(0, 0, 1), ZERO)


def frames(arm: Arm, q: Sequence[Scalar]) -> list[Placed]:
    """E_0, E_1, ..., E_n in the base frame: n + 1 of them, E_0 first."""
    rows, origin = arm.base
    x, y, z = (Vector(*column) for column in zip(*rows, strict=True))
    return outward(arm, q, Placed(x, y, z, origin), 0)


def frames_in_first(arm: Arm, q: Sequence[Scalar]) -> list[Placed]:
    """E_1, ..., E_n in E_1: n of them, which is all that the mass matrix depends on."""
    return outward(arm, q, IN_ITSELF, 1)


def outward(arm: Arm, q: Sequence[Scalar], start: Placed, joint: int) -> list[Placed]:
    """A frame and those that follow it, beyond ``joint`` and the joints after it."""
    placed = [start]
    turns = zip(arm.rotations(q), arm.b, arm.extensions(q), strict=True)
    for R, b, d in list(turns)[joint:]:
        x, y, z = turned(R, placed[-1])
        placed.append(Placed(x, y, z, placed[-1].o + b * placed[-1].x + d * z))
    return placed


def turned(R: Rotation, before: Placed) -> tuple[Vector, Vector, Vector]:
    """The axes of the frame that follows."""
    x, y, z, _ = before
    y, z = R.Cb * y + R.Sb * z, R.Cb * z - R.Sb * y
    return R.C * x + R.S * y, R.C * y - R.S * x, z


def frames_from_last(arm: Arm, q: Sequence[Scalar]) -> list[Placed]:
    """E_1, ..., E_n in the axes of E_1, their origins seen from that of E_n."""
    placed, d, o = [IN_ITSELF], arm.extensions(q), ZERO
    for R in arm.rotations(q)[1:]:
        placed.append(Placed(*turned(R, placed[-1]), ZERO))
    for i in reversed(range(1, arm.n)):
        o = o - arm.b[i] * placed[i - 1].x - d[i] * placed[i].z
        placed[i - 1] = placed[i - 1]._replace(o=o)
    return placed


def named_frame(arm: Arm, q: Sequence[Scalar], frame: str | None = None) -> Placed:
    """A named link or frame (None: the tip) in the base frame."""
    link, rows, origin = arm.frame(frame)
    carrier = frames(arm, q)[link + 1] if link >= 0 else IN_ITSELF
    x, y, z = (carrier.out(Vector(*column)) for column in zip(*rows, strict=True))
    return Placed(x, y, z, carrier.o + carrier.out(origin))


def pose(arm: Arm, q: Sequence[Scalar], frame: str | None = None) -> list[list[Scalar]]:
    """The homogeneous matrix (4, 4) of a named link or frame (None: the tip) in the base frame."""
    x, y, z, o = named_frame(arm, q, frame)
    return [list(row) for row in zip(x, y, z, o, strict=True)] + [[0, 0, 0, 1]]


def jacobian(
    arm: Arm, q: Sequence[Scalar], frame: str | None = None, axes: str = "base"
) -> list[Row]:
    """J (6, n): velocity [m/s] then angular velocity [rad/s] of the frame's origin.

    In the axes of the base or, with ``axes="frame"``, in those of the frame itself.
    """
    return rows(arm, *columns(arm, q, frame, axes))


def columns(
    arm: Arm, q: Sequence[Scalar], frame: str | None, axes: str
) -> tuple[list[Vector], list[Vector]]:
    """The halves of J's columns, velocity and angular velocity, of the joints that move the frame.

    Column k is (z_k x (p - o_k), z_k) for a revolute joint, (z_k, 0) for a prismatic one.
    """
    link, _, p = arm.frame(frame)
    if axes == "frame":
        placed, p = inward(arm, q, frame), ZERO
    elif placed := frames(arm, q)[1 : link + 2]:
        p = placed[-1].o + placed[-1].out(p)
    joints = list(zip(arm.revolute, placed, strict=False))
    gT = [E.z.cross(p - E.o) if revolute else E.z for revolute, E in joints]
    gR = [E.z if revolute else ZERO for revolute, E in joints]
    return gT, gR


def rows(arm: Arm, gT: list[Vector], gR: list[Vector]) -> list[Row]:
    """Six rows of n numbers, of the halves of columns; zero beyond the joints that have some."""
    beyond = [ZERO] * (arm.n - len(gT))
    return [list(row) for half in (gT, gR) for row in zip(*half, *beyond, strict=True)]


def inward(arm: Arm, q: Sequence[Scalar], frame: str | None) -> list[Placed]:
    """E_1, ..., E_l in a named frame (None: the tip), l the link that carries it."""
    link, (x, y, z), origin = arm.frame(frame)
    if link < 0:
        return []
    R, d = arm.rotations(q), arm.extensions(q)
    o = -(origin.x * x + origin.y * y + origin.z * z)
    placed = [Placed(x, y, z, o)]
    for i in range(link, 0, -1):
        o = o - d[i] * z
        x, y = R[i].C * x - R[i].S * y, R[i].S * x + R[i].C * y
        y, z = R[i].Cb * y - R[i].Sb * z, R[i].Sb * y + R[i].Cb * z
        o = o - arm.b[i] * x
        placed.append(Placed(x, y, z, o))
    return placed[::-1]


def energy(arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar]) -> tuple[Scalar, Scalar]:
    """(kinetic, potential) energy [J]; the potential is zero at the base origin.

    Kinetic energy sums 1/2 m v.v + v.(w x m c) + 1/2 w.J w in each link's own frame.
    """
    R, s = arm.rotations(q), arm.shifts(q)
    w, v = ZERO, ZERO
    doubled: Scalar = 0
    for i in range(arm.n):
        w, v = R[i].down(w), R[i].down(v + w.cross(s[i]))
        if arm.revolute[i]:
            w = w + Vector(0, 0, qd[i])
        else:
            v = v + Vector(0, 0, qd[i])
        m, h, J = arm.mass[i], arm.first_moment[i], arm.inertia[i]
        doubled = doubled + m * (v @ v) + 2 * (v @ w.cross(h)) + w @ (J @ w)
    return doubled / 2, potential(arm, q)


def potential(arm: Arm, q: Sequence[Scalar]) -> Scalar:
    """Potential energy [J], zero with all mass at the base origin."""
    start, *placed = frames(arm, q)
    moment = ZERO
    for i, frame in enumerate(placed):
        moment = moment + arm.mass[i] * frame.o + frame.out(arm.first_moment[i])
    return -(start.out(arm.gravity) @ moment)
