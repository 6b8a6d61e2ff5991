"""Frame injection: what each frame brings into each link, acceleration and inertial moment.

[safeea2018], section II, equations (4) to (17), in its letters and all in base axes: frame j turns
about k_j through p_j, and all that it does to link i >= j is a linear acceleration of the link's
centre of mass, ``pdd_C``, and an inertial moment about it, ``mu_C``. Each has three parts: by the
angular acceleration of the frame, by its speed squared, and by its speed together with those of
the frames between j and i. Joints count from 0.

The paper takes the mass matrix from the first parts alone (see ``gdahj``). Added up over the frames
they are the whole motion of a link, and so the whole of eq. (1): that, the weight of the links and
prismatic joints are ours. All equations hold as they stand; (13) is omega x I omega, and (15) the
product of two frames' spins by a single matrix L.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from armdyn.algorithms.kinematics import frames
from armdyn.algorithms.stages import stage
from armdyn.chain.arm import Arm
from armdyn.spatial import ZERO, Row, Scalar, Symmetric, Vector


class Frame(NamedTuple):
    """Frame j: its axis and origin, and its motion relative to the frame before it."""

    k: Vector
    p: Vector
    eps: Vector  # (5), angular acceleration; zero where it slides
    omega: Vector  # (7), angular velocity; zero where it slides
    v: Vector  # speed along k where it slides, else zero
    a: Vector  # acceleration along k where it slides, else zero


class Link(NamedTuple):
    """Link i: its mass, its centre of mass, and its inertia tensor about that, in base axes."""

    m: Scalar
    p_C: Vector
    I: Symmetric


def inverse_dynamics(
    arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> Row:
    """Joint torques tau (n,) of a motion: eq. (1), from what all frames inject into all links."""
    base, *placed = frames(arm, q)
    moving = zip(arm.revolute, placed, qd, qdd, strict=True)
    injecting = [frame(turns, E.z, E.o, v, a) for turns, E, v, a in moving]
    g = base.out(arm.gravity)
    tau: Row = [0] * arm.n
    for i, E in enumerate(placed):
        I = arm.inertia_about_com[i].turned(E.rows)
        link = Link(arm.mass[i], E.o + E.out(arm.com[i]), I)
        inner = injecting[: i + 1]
        f = link.m * (added(accelerations(inner, link)) - g)
        mu_C = added(moments(inner, link))
        for j, (k, p, *_) in enumerate(inner):
            if arm.revolute[j]:
                tau[j] = tau[j] + k @ (mu_C + (link.p_C - p).cross(f))
            else:
                tau[j] = tau[j] + k @ f
    return tau


def frame(turns: bool, k: Vector, p: Vector, speed: Scalar, acceleration: Scalar) -> Frame:
    """(5) and (7), or the same along k for a prismatic joint."""
    along, faster = speed * k, acceleration * k
    if turns:
        return Frame(k, p, faster, along, ZERO, ZERO)
    return Frame(k, p, ZERO, ZERO, along, faster)


@stage("accelerations")
def accelerations(inner: Sequence[Frame], link: Link) -> list[Vector]:
    """pdd_Cij of each frame j <= i: eqs. (4) to (11)."""
    found = []
    v_r = ZERO  # (10), of the frames between j and i
    for _, p, eps, omega, v, a in reversed(inner):
        p_Cij = link.p_C - p
        tangential = eps.cross(p_Cij)  # (4)
        normal = omega.cross(omega.cross(p_Cij))  # (6), (8)
        coriolis = (2 * omega).cross(v_r)  # (9)
        found.append(tangential + normal + coriolis + a)  # (11)
        v_r = v_r + omega.cross(p_Cij) + v
    return found[::-1]


@stage("moments")
def moments(inner: Sequence[Frame], link: Link) -> list[Vector]:
    """mu_Cij of each frame j <= i: eqs. (12) to (17)."""
    found = []
    minus_half_L = link.I.less_half_trace()  # (14): L_i = tr(I) 1 - 2 I
    omega_r = ZERO  # (16), of the frames between j and i
    for _, _, eps, omega, _, _ in reversed(inner):
        K = minus_half_L @ omega
        tangential = link.I @ eps  # (12)
        normal = omega.cross(K)  # (13): 1/2 (L omega) x omega
        coriolis = (2 * omega_r).cross(K)  # (15): (L omega) x omega_r
        found.append(tangential + normal + coriolis)  # (17)
        omega_r = omega_r + omega
    return found[::-1]


def added(vectors: Sequence[Vector]) -> Vector:
    """The sum of what all frames inject."""
    total = ZERO
    for v in vectors:
        total = total + v
    return total
