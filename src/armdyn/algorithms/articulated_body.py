"""The articulated-body algorithm: joint accelerations at a cost proportional to the joints.

[Featherstone1983] on the normal driving-axis frames of the papers. Accelerations are those of the
frames' origins, and gravity is an upward acceleration of the base, as in ``newton_euler``, where
the print has spatial accelerations: so the velocity products c and p need no linear velocity.
Rotor inertia is the one term ``rotor``. Joints count from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from armdyn.chain.arm import Arm
from armdyn.spatial import Z_AXIS, ZERO, Rotation, Row, Scalar, Symmetric, Vector, about_z

Tensor = tuple[Vector, Vector, Vector]  # by its rows
Pair = tuple[Vector, Vector]  # (angular, linear): (wd, a) of a motion, (t, f) of a wrench


@dataclass(frozen=True)
class Inertia:
    """A 6x6 inertia at the origin of E_i, in its axes: t = J wd + H a, f = H^T wd + M a."""

    J: Symmetric
    H: Tensor
    M: Symmetric

    def __add__(self, other: Inertia) -> Inertia:
        x, y, z = (mine + its for mine, its in zip(self.H, other.H, strict=True))
        return Inertia(self.J + other.J, (x, y, z), self.M + other.M)

    def __matmul__(self, motion: Pair) -> Pair:
        wd, a = motion
        return self.J @ wd + applied(self.H, a), applied(transposed(self.H), wd) + self.M @ a

    def swapped(self) -> Inertia:
        """Angular and linear exchanged: what is said of a turn then holds of a slide."""
        return Inertia(self.M, transposed(self.H), self.J)


def applied(H: Tensor, v: Vector) -> Vector:
    """H v."""
    x, y, z = H
    return Vector(x @ v, y @ v, z @ v)


def transposed(H: Tensor) -> Tensor:
    """H^T."""
    x, y, z = (Vector(*column) for column in zip(*H, strict=True))
    return x, y, z


def rigid(m: Scalar, h: Vector, J: Symmetric) -> Inertia:
    """The inertia of one link: H v = h x v."""
    H = Vector(0, -h.z, h.y), Vector(h.z, 0, -h.x), Vector(-h.y, h.x, 0)
    return Inertia(J, H, Symmetric(m, 0, 0, m, 0, m))


def response(inertia: Inertia, rotor: Scalar) -> tuple[Pair, Scalar]:
    """(U / D, 1 / D) of a joint free to turn about z: U = I z, D = z.U + rotor."""
    J, H = inertia.J, inertia.H
    reciprocal = 1 / (J.zz + rotor)
    k = Vector(reciprocal * J.xz, reciprocal * J.yz, 1 - rotor * reciprocal)
    return (k, reciprocal * H[2]), reciprocal


def released(inertia: Inertia, k: Pair, share: Scalar) -> Inertia:
    """I - U U^T / D, what is felt on the inner side of a joint free to turn about z, by U / D.

    Along z itself nothing but the rotor is felt: row z is that of I times share = rotor / D.
    """
    J, (x, y, z), M = inertia.J, inertia.H, inertia.M
    (kx, ky, _), v = k
    return Inertia(
        Symmetric(
            J.xx - kx * J.xz,
            J.xy - kx * J.yz,
            share * J.xz,
            J.yy - ky * J.yz,
            share * J.yz,
            share * J.zz,
        ),
        (x - kx * z, y - ky * z, share * z),
        M - Symmetric(v.x * z.x, v.x * z.y, v.x * z.z, v.y * z.y, v.y * z.z, v.z * z.z),
    )


def screwed(C: Scalar, S: Scalar, d: Scalar, inertia: Inertia) -> Inertia:
    """The inertia seen from where its frame stands turned about z (cos C, sin S), shifted by d."""
    J, M = about_z(C, S, inertia.J), about_z(C, S, inertia.M)
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = inertia.H
    w = S * (xx - yy) + C * (xy + yx)
    x = Vector(xx - S * w, C * w - yx, C * xz - S * yz)
    y = Vector(C * w - xy, yy + S * w, S * xz + C * yz)
    z = Vector(C * zx - S * zy, S * zx + C * zy, zz)
    outer_x, outer_y = x - d * Vector(M.xy, M.yy, M.yz), y + d * Vector(M.xx, M.xy, M.xz)
    J = Symmetric(
        J.xx - d * (x.y + outer_x.y),
        J.xy + d * (outer_x.x - y.y),
        J.xz - d * z.y,
        J.yy + d * (y.x + outer_y.x),
        J.yz + d * z.x,
        J.zz,
    )
    return Inertia(J, (outer_x, outer_y, z), M)


def relabelled(inertia: Inertia) -> Inertia:
    """The same inertia with the axes y, z, x called x, y, z; three times is none at all."""
    J, M = (Symmetric(A.yy, A.yz, A.xy, A.zz, A.xz, A.xx) for A in (inertia.J, inertia.M))
    x, y, z = (Vector(row.y, row.z, row.x) for row in inertia.H)
    return Inertia(J, (y, z, x), M)


def inward(R: Rotation, b: Scalar, d: Scalar, inertia: Inertia) -> Inertia:
    """An inertia of E_i seen in E_{i-1}: a screw about z_i, then one about x_{i-1}."""
    turned = screwed(R.C, R.S, d, inertia)
    return relabelled(relabelled(screwed(R.Cb, R.Sb, b, relabelled(turned))))


def velocity_products(
    arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> tuple[list[Pair], list[Pair]]:
    """c_i, what velocities add to the acceleration from link to link, and p_i, to the wrench."""
    c, p, w = [], [], ZERO
    for i, (R, s) in enumerate(zip(arm.rotations(q), arm.shifts(q), strict=True)):
        centripetal, w = R.down(w.cross(w.cross(s))), R.down(w)
        turn = w.cross(qd[i] * Z_AXIS)
        if arm.revolute[i]:
            c.append((turn, centripetal))
            w = w + qd[i] * Z_AXIS
        else:
            c.append((ZERO, centripetal + 2 * turn))
        h, J = arm.first_moment[i], arm.inertia[i]
        p.append((w.cross(J @ w), w.cross(w.cross(h))))
    return c, p


def forward_dynamics(
    arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar]
) -> Row:
    """Joint accelerations qdd (n,) under torques tau, rotors included."""
    R, s, d = arm.rotations(q), arm.shifts(q), arm.extensions(q)
    c, p = velocity_products(arm, q, qd)
    links = zip(arm.mass, arm.first_moment, arm.inertia, strict=True)
    inertia = [rigid(m, h, J) for m, h, J in links]
    k: list[Pair] = [(ZERO, ZERO)] * arm.n  # U / D
    driven: Row = [0] * arm.n  # u / D: qdd_i if link i-1 stood still
    for i in reversed(range(arm.n)):
        (t, f), rotor = p[i], arm.rotor_inertia[i]
        body = inertia[i] if arm.revolute[i] else inertia[i].swapped()
        along, reciprocal = response(body, rotor)
        k[i] = along if arm.revolute[i] else along[::-1]
        u = tau[i] - (t.z if arm.revolute[i] else f.z)
        driven[i] = reciprocal * u
        if i > 0:
            left = released(body, along, rotor * reciprocal)
            left = left if arm.revolute[i] else left.swapped()
            t_c, f_c = left @ c[i]
            f = R[i].up(f + f_c + u * k[i][1])
            t = R[i].up(t + t_c + u * k[i][0]) + s[i].cross(f)
            p[i - 1] = p[i - 1][0] + t, p[i - 1][1] + f
            inertia[i - 1] = inertia[i - 1] + inward(R[i], arm.b[i], d[i], left)
    qdd: Row = [0] * arm.n
    wd, a = ZERO, -arm.gravity
    for i in range(arm.n):
        a = R[i].down(a + wd.cross(s[i])) + c[i][1]
        wd = R[i].down(wd) + c[i][0]
        qdd[i] = driven[i] - k[i][0] @ wd - k[i][1] @ a
        if arm.revolute[i]:
            wd = wd + qdd[i] * Z_AXIS
        else:
            a = a + qdd[i] * Z_AXIS
    return qdd
