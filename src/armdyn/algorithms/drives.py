"""What the drives add, of which no paper speaks: rotor inertia and friction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from armdyn.chain.arm import Arm
from armdyn.spatial import Row, Scalar, select_lt

Formula = Callable[..., Any]  # lists of n scalars in, a list of n out


# Rotors, reflected to their joints ---------------------------------------------------------------


def with_rotors(M: Sequence[Sequence[Scalar]], arm: Arm) -> list[Row]:
    """M with the rotors' inertia, reflected to their joints, on its diagonal."""
    rotor = arm.rotor_inertia
    return [[m + rotor[i] if i == j else m for j, m in enumerate(row)] for i, row in enumerate(M)]


def on_diagonal(arm: Arm, M: Sequence[Row], q: Row) -> list[Row]:
    """The mass matrix with rotors."""
    return with_rotors(M, arm)


def on_torque(arm: Arm, tau: Row, q: Row, qd: Row, qdd: Row) -> Row:
    """The torque of a motion with rotors."""
    return [t + rotor * a for t, rotor, a in zip(tau, arm.rotor_inertia, qdd, strict=True)]


def on_derivatives(
    arm: Arm, three: tuple[list[Row], ...], q: Row, qd: Row, qdd: Row
) -> tuple[list[Row], ...]:
    """The derivatives of inverse dynamics with rotors: they are in M, dtau/dqdd, alone."""
    dq, dqd, dqdd = three
    return dq, dqd, with_rotors(dqdd, arm)


def on_kinetic(arm: Arm, both: tuple[Scalar, Scalar], q: Row, qd: Row) -> tuple[Scalar, Scalar]:
    """(kinetic, potential) energy with rotors."""
    kinetic, potential = both
    doubled = sum(rotor * v * v for rotor, v in zip(arm.rotor_inertia, qd, strict=True))
    return kinetic + doubled / 2, potential


# Friction ----------------------------------------------------------------------------------------


def friction(arm: Arm, qd: Sequence[Scalar]) -> list[Scalar]:
    """What friction takes off the torques: viscous qd + coulomb(sign qd), with sign(0) = 0."""
    return [
        viscous * v + select_lt(v, 0, negative, select_lt(-v, 0, positive, 0))
        for viscous, (negative, positive), v in zip(arm.viscous, arm.coulomb, qd, strict=True)
    ]


def overcome(arm: Arm, frictionless: Formula) -> Formula:
    """Inverse dynamics with friction added to the torque that a motion takes."""
    return lambda q, qd, qdd: [
        tau + loss for tau, loss in zip(frictionless(q, qd, qdd), friction(arm, qd), strict=True)
    ]


def taken_off(arm: Arm, frictionless: Formula) -> Formula:
    """Forward dynamics with friction taken off the torque that is given."""
    return lambda q, qd, tau: frictionless(
        q, qd, [t - loss for t, loss in zip(tau, friction(arm, qd), strict=True)]
    )


# That of Coulomb's friction is 0 wherever it has a derivative, and taken as 0 where it jumps.


def slope_added(arm: Arm, frictionless: Formula) -> Formula:
    """The derivatives of inverse dynamics with friction: viscous on the diagonal of dtau/dqd."""

    def derivatives(q: Row, qd: Row, qdd: Row) -> tuple[list[Row], ...]:
        dq, dqd, dqdd = frictionless(q, qd, qdd)
        damped = [list(row) for row in dqd]
        for i, viscous in enumerate(arm.viscous):
            damped[i][i] = damped[i][i] + viscous
        return dq, damped, dqdd

    return derivatives


def slope_taken_off(arm: Arm, frictionless: Formula) -> Formula:
    """The derivatives of forward dynamics with friction taken off the torque that is given."""

    def derivatives(q: Row, qd: Row, tau: Row) -> tuple[list[Row], ...]:
        rest = [t - loss for t, loss in zip(tau, friction(arm, qd), strict=True)]
        dq, dqd, dtau = frictionless(q, qd, rest)
        damped = [
            [a - b * viscous for a, b, viscous in zip(*rows, arm.viscous, strict=True)]
            for rows in zip(dqd, dtau, strict=True)
        ]
        return dq, damped, dtau

    return derivatives
