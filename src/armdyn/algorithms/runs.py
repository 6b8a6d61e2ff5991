"""Links in axes that turn once for a run of parallel joints.

Ours. Parallel joints that follow each other, all in one sense, turn their links about one direction
z. Here all links of such a run stand in the axes of its last one. So no vector is turned between
them: what changes from link to link is the origin alone, that of E_i as ever. Instead the links
before the last, which are constant in their own frames, are turned by the sum of the angles beyond
them, by the addition theorem: no sine beyond the joints' own. A joint on its own is a run of one,
in the axes of E_i.

From a link to the one before there are two moves: by r and about z, then by b along x and about x.
Of a joint on its own r is (0, 0, d), and the turns are by theta and beta; within a run r is all of
the shift, and there are no turns. Joints count from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from armdyn.algorithms.crba import Body, body_about_x
from armdyn.chain.arm import Arm
from armdyn.spatial import Rotation, Scalar, Symmetric, Vector, about_z

Turn = tuple[Scalar, Scalar]  # cos and sin of an angle

UNTURNED = Rotation(1, 0, 1, 0)


class Link(NamedTuple):
    """A link as a body, and how its axes and origin stand to those of the link before."""

    R: Rotation  # to the axes of the link before
    r: Vector  # a shift in the link's axes [m],
    b: Scalar  # and one along x, in the axes between the turns [m]
    body: Body


def links(arm: Arm, q: Sequence[Scalar]) -> list[Link]:
    """The links of an arm in the axes of their runs.

    Of a link that turns about one direction only, ZZ alone is felt: its tensor is not turned.
    """
    R, d = arm.rotations(q), arm.extensions(q)
    _, second, _ = arm.start
    found = []
    beyond: Turn | None = None  # the turn from the link's own axes to those of its run
    for i in reversed(range(arm.n)):
        M, h, I = arm.mass[i], arm.first_moment[i], arm.inertia[i]
        C, S = R[i].C, R[i].S
        if beyond:
            h = Vector(beyond[0] * h.x + beyond[1] * h.y, beyond[0] * h.y - beyond[1] * h.x, h.z)
            I = I if i < second else about_z(beyond[0], -beyond[1], I)
            C, S = C * beyond[0] - S * beyond[1], S * beyond[0] + C * beyond[1]
        if in_run(arm, i):
            r, beyond = Vector(arm.b[i] * C, -arm.b[i] * S, d[i]), (C, S)
            found.append(Link(UNTURNED, r, 0, Body(M, h, I)))
        else:
            turn, r, beyond = Rotation(C, S, R[i].Cb, R[i].Sb), Vector(0, 0, d[i]), None
            found.append(Link(turn, r, arm.b[i], Body(M, h, I)))
    return found[::-1]


def in_run(arm: Arm, i: int) -> bool:
    """Whether joint i turns its link about the direction of the joint before, in the same sense."""
    return arm.parallel[i] and bool(arm.Cb[i] == 1)


# Between a link and the one before ---------------------------------------------------------------


def up_z(R: Rotation, v: Vector) -> Vector:
    """A vector of the link in the axes between, 4M2A."""
    return Vector(R.C * v.x - R.S * v.y, R.S * v.x + R.C * v.y, v.z)


def up_x(R: Rotation, v: Vector) -> Vector:
    """A vector in the axes between, in those of the link before, 4M2A."""
    return Vector(v.x, R.Cb * v.y - R.Sb * v.z, R.Sb * v.y + R.Cb * v.z)


def down_x(R: Rotation, v: Vector) -> Vector:
    """A vector of the link before, in the axes between, 4M2A."""
    return Vector(v.x, R.Cb * v.y + R.Sb * v.z, R.Cb * v.z - R.Sb * v.y)


def inward(link: Link, f: Vector, t: Vector) -> tuple[Vector, Vector]:
    """A force and its moment, seen from the link before, 20M12A."""
    R, r, b, _ = link
    f, t = up_z(R, f), up_z(R, t + r.cross(f))
    return up_x(R, f), up_x(R, t + Vector(b, 0, 0).cross(f))


def composites(chain: Sequence[Link]) -> list[Body]:
    """Links i..n as one body, in the axes of link i from its origin."""
    found = [chain[-1].body]
    for own, link in zip(reversed(chain[:-1]), reversed(chain), strict=False):
        M, h, I = body_inward(link, found[-1])
        found.append(Body(own.body.M + M, own.body.h + h, own.body.I + I))
    return found[::-1]


def body_inward(link: Link, body: Body) -> Body:
    """A body, seen from the link before, 32M33A2D."""
    R, r, b, _ = link
    if R is UNTURNED:
        return body_shifted(r, body)
    M, h, I = body_shifted(r, body)
    return body_about_x(R.Cb, R.Sb, b, Body(M, up_z(R, h), about_z(R.C, R.S, I)))


def body_shifted(r: Vector, body: Body) -> Body:
    """A body seen from an origin that lies at -r."""
    M, h, I = body
    k = h + M * r
    x, y, z = r.x * (h.x + k.x), r.y * (h.y + k.y), r.z * (h.z + k.z)
    I = Symmetric(
        I.xx + y + z,
        I.xy - (h.x * r.y + r.x * k.y),
        I.xz - (h.x * r.z + r.x * k.z),
        I.yy + x + z,
        I.yz - (h.y * r.z + r.y * k.z),
        I.zz + x + y,
    )
    return Body(M, k, I)
