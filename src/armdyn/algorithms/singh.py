"""The derivatives of inverse dynamics in closed form, in link frames.

[singh2022], for joints of one speed each. S_j is the twist of joint j, v_j and a_j are velocity and
acceleration of link j (gravity as an upward acceleration of the base). The twists that move with
the links, Psid_j = v_j x S_j and Psidd_j = a_j x S_j + v_j x Psid_j, give for j <= i, with the
composite body I_i of links i..n, its matrix B_i, and the force f_i that moves it

    dtau_i/dq_j  = S_i . (2 B_i Psid_j + I_i Psidd_j)
    dtau_j/dq_i  = S_j . (2 B_i Psid_i + I_i Psidd_i + S_i x* f_i)
    dtau_i/dqd_j = 2 S_i . (B_i S_j + I_i Psid_j),  dtau_j/dqd_i = 2 S_j . (B_i S_i + I_i Psid_i)
    dtau_i/dqdd_j = S_i . I_i S_j.

Differs from the paper: B has 12 numbers, and velocities are counted from the origin of the frame at
hand, as in ``echeandia_wensing``, so that of a revolute joint Psid_j is (w x z, 0) and Psidd_j is
(U z, a x z), U the matrix of ``newton_euler``; of a prismatic one (0, w x z) and (0, U z). What is
doubled is doubled in the velocities that B is made of. Joints count from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from armdyn.algorithms.crba import Body
from armdyn.algorithms.echeandia_wensing import (
    Flow,
    flows,
    forces,
    forces_inward,
    velocities,
)
from armdyn.algorithms.newton_euler import Wrench, accelerator, times
from armdyn.algorithms.newton_euler_flat import spin_torque
from armdyn.algorithms.runs import Link, composites, inward, links, up_x
from armdyn.chain.arm import Arm
from armdyn.spatial import Z_AXIS, ZERO, Row, Scalar, Symmetric, Vector

Matrix = list[Row]


class Motion(NamedTuple):
    """How a link moves: its angular velocity, its origin's acceleration, its U, and w w^T."""

    w: Vector
    a: Vector
    U: tuple[Vector, Vector, Vector]
    ww: Symmetric

    @property
    def y(self) -> Vector:
        """U z."""
        return Vector(*(row.z for row in self.U))


def inverse_dynamics_derivatives(
    arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> tuple[Matrix, Matrix, Matrix]:
    """(dtau/dq, dtau/dqd, dtau/dqdd), shape (n, n) each; a row a torque, a column a joint."""
    n, chain = arm.n, links(arm, q)
    w2, drift2 = velocities(arm, chain, qd, times=2)  # they make twice p, K, F1 and F3
    motion, bodies = motions(arm, chain, qd, qdd), composites(chain)
    wrench = carried(chain, motion)
    dq, dqd, dqdd = ([[0] * n for _ in range(n)] for _ in range(3))
    for i, flow in enumerate(flows(chain, bodies, w2, drift2)):
        F = forces(arm.revolute[i], bodies[i], flow, w2[i])
        g = turned_force(arm.revolute[i], bodies[i], flow, motion[i], wrench[i])
        for j in reversed(range(i + 1)):
            if j < i:
                F, g = forces_inward(chain[j + 1], drift2[j + 1], F), inward(chain[j + 1], *g)
            (w, a, *_), y = motion[j], motion[j].y
            if arm.revolute[j]:
                dq[j][i], dqd[j][i], dqdd[j][i] = g[1].z, F.t.z, F.L.z
                felt = F.N.x * w.y - F.N.y * w.x + F.P.x * a.y - F.P.y * a.x
                dq[i][j] = F.L @ y + felt
                dqd[i][j] = F.L.x * w2[j].y - F.L.y * w2[j].x + F.N.z
            else:
                dq[j][i], dqd[j][i], dqdd[j][i] = g[0].z, F.f.z, F.P.z
                dq[i][j] = F.P @ y
                dqd[i][j] = F.P.x * w2[j].y - F.P.y * w2[j].x
            dqdd[i][j] = dqdd[j][i]
    return dq, dqd, dqdd


def motions(
    arm: Arm, chain: Sequence[Link], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> list[Motion]:
    """The motion of each link, as in ``newton_euler``."""
    w, wd, a = ZERO, ZERO, -arm.gravity
    U, ww = accelerator(w, wd)
    found = []
    for i, (R, r, b, _) in enumerate(chain):
        a = R.down(a + times(U, up_x(R, r) + Vector(b, 0, 0)))
        w, wd = R.down(w), R.down(wd)
        if arm.revolute[i]:
            wd = wd + w.cross(qd[i] * Z_AXIS) + qdd[i] * Z_AXIS
            w = w + qd[i] * Z_AXIS
        else:
            a = a + 2 * w.cross(qd[i] * Z_AXIS) + qdd[i] * Z_AXIS
        U, ww = accelerator(w, wd)
        found.append(Motion(w, a, U, ww))
    return found


def carried(chain: Sequence[Link], motion: Sequence[Motion]) -> list[Wrench]:
    """f_i: what moves links i..n, a force and its moment about the origin of link i."""
    force, moment = ZERO, ZERO
    found: list[Wrench] = []
    for link, (_, a, U, ww) in zip(reversed(chain), reversed(motion), strict=True):
        m, h, J = link.body
        force = force + m * a + times(U, h)
        moment = moment + spin_torque(J, U, ww) + h.cross(a)
        found.append((force, moment))
        force, moment = inward(link, force, moment)
    return found[::-1]


def turned_force(
    revolute: bool, body: Body, doubled: Flow, motion: Motion, wrench: Wrench
) -> Wrench:
    """2 B Psid + I Psidd + S x* f of a composite body and the joint that carries it."""
    (M, h, I), (p, (Kx, Ky, Kz)), (w, a, *_), y = body, doubled, motion, motion.y
    f, t = wrench
    if not revolute:
        return M * y, h.cross(y) + Vector(-f.y, f.x, 0)
    u, l = w.cross(Z_AXIS), a.cross(Z_AXIS)
    couple = Vector(
        (Ky.y + Kz.z) * u.x - Kx.y * u.y,
        (Kx.x + Kz.z) * u.y - Ky.x * u.x,
        -(Kz.x * u.x + Kz.y * u.y),
    )
    force = M * l + y.cross(h) + u.cross(p) + Vector(-f.y, f.x, 0)
    return force, I @ y + h.cross(l) + couple + Vector(-t.y, t.x, 0)
