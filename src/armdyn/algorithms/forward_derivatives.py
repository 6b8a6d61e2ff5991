"""The derivatives of forward dynamics, from those of inverse dynamics by any of their methods.

The acceleration stays what it is if tau changes as inverse dynamics says. So
dqdd/dq = - M^-1 dtau/dq and dqdd/dqd = - M^-1 dtau/dqd, both at that qdd, and dqdd/dtau = M^-1
([singh2022]). Torque is a quadratic form in qd, so dtau/dqd = 2 C at any qdd, and
M qdd = tau - 1/2 dtau/dqd qd - g(q).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from armdyn.algorithms import newton_euler, singh_base
from armdyn.algorithms.drives import with_rotors
from armdyn.chain.arm import Arm
from armdyn.spatial import Row, Scalar
from armdyn.spatial.each import each
from armdyn.spatial.matrices import inverse

Matrices = tuple[list[Row], list[Row], list[Row]]
Gravity = Callable[[Arm, Sequence[Scalar]], Row]
Derivatives = Callable[[Arm, Sequence[Scalar], Sequence[Scalar], Sequence[Scalar]], Matrices]


def from_methods(derivatives: Derivatives, gravity: Gravity) -> Derivatives:
    """The method ``ldl`` with the derivatives of inverse dynamics and g by the functions given."""

    def forward_dynamics_derivatives(
        arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar]
    ) -> Matrices:
        """(dqdd/dq, dqdd/dqd, dqdd/dtau), shape (n, n) each; a row an acceleration.

        M, with rotors, is dtau/dqdd at any qdd.
        """
        _, dqd, M = derivatives(arm, q, qd, [0] * arm.n)
        inverted = inverse(with_rotors(M, arm))
        motion = [product / 2 for product in applied(dqd, qd)]  # C qd
        rest = [t - c - g for t, c, g in zip(tau, motion, gravity(arm, q), strict=True)]
        qdd = applied(inverted, rest)
        dq, dqd, _ = derivatives(arm, q, qd, qdd)
        negative = tuple(tuple(-m for m in row) for row in inverted)
        columns = [*zip(*dq, strict=True), *zip(*dqd, strict=True)]
        changes = each(applied, [negative] * len(columns), columns)  # of qdd by each q, each qd
        return transposed(changes[: arm.n]), transposed(changes[arm.n :]), inverted

    return forward_dynamics_derivatives


def applied(A: Sequence[Sequence[Scalar]], x: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """A x."""
    return tuple(sum(a * b for a, b in zip(row, x, strict=True)) for row in A)


def transposed(A: Sequence[Sequence[Scalar]]) -> list[Row]:
    """A^T."""
    return [list(row) for row in zip(*A, strict=True)]


ldl = from_methods(singh_base.inverse_dynamics_derivatives, newton_euler.gravity)
