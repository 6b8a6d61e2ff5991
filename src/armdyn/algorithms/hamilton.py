"""Momentum, and what motion adds to its rate: the arm in Hamilton's variables (q, p).

With p = M(q) qd the equations of motion are pd = dT/dq - g(q) + tau and qd = M(q)^-1 p, where T is
the kinetic energy as a function of q and qd. Link frames, from base to tip and back. Joints count
from 0. Rotor inertia is not in here: it adds its part to p, and as it is constant none to dT/dq.
"""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.chain.arm import Arm
from armdyn.spatial import Z_AXIS, ZERO, Row, Scalar, Vector


def momentum_and_slope(arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar]) -> tuple[Row, Row]:
    """(p, dT/dq), shape (n,) each: momenta M(q) qd, and the slope of the kinetic energy.

    Ours. The twist of joint i, S_i, turns with the joints before it; so do the links it carries.
    Of T = 1/2 sum V_k . I_k V_k there remains dT/dq_i = H_i . (V_i x S_i), with V_i the twist of
    link i and H_i the momentum of links i..n, both at the origin of E_i, while p_i = H_i . S_i.
    """
    R, s = arm.rotations(q), arm.shifts(q)
    w, v = ZERO, ZERO
    twists: list[tuple[Vector, Vector]] = []  # angular velocity, velocity of the origin
    P: list[Vector] = []  # linear momentum, and its moment about the origin of E_i
    L: list[Vector] = []
    for i, (m, h, J) in enumerate(zip(arm.mass, arm.first_moment, arm.inertia, strict=True)):
        w, v = R[i].down(w), R[i].down(v + w.cross(s[i]))
        if arm.revolute[i]:
            w = w + qd[i] * Z_AXIS
        else:
            v = v + qd[i] * Z_AXIS
        twists.append((w, v))
        P.append(m * v + w.cross(h))
        L.append(J @ w + h.cross(v))
    p: Row = [0] * arm.n
    slope: Row = [0] * arm.n
    for i in reversed(range(arm.n)):
        w, v = twists[i]
        if arm.revolute[i]:
            p[i] = L[i].z
            slope[i] = L[i].x * w.y - L[i].y * w.x + P[i].x * v.y - P[i].y * v.x
        else:
            p[i] = P[i].z
            slope[i] = P[i].x * w.y - P[i].y * w.x
        if i > 0:
            force = R[i].up(P[i])
            P[i - 1] = P[i - 1] + force
            L[i - 1] = L[i - 1] + R[i].up(L[i]) + s[i].cross(force)
    return p, slope
