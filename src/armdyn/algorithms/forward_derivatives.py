"""The derivatives of forward dynamics, from those of inverse dynamics by any of their methods.

With M qdd = tau - b(q, qd), the acceleration stays what it is if tau changes as inverse dynamics
says. So dqdd/dq = - M^-1 dtau/dq and dqdd/dqd = - M^-1 dtau/dqd, both at that qdd, and
dqdd/dtau = M^-1 ([singh2022]).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from armdyn.algorithms import newton_euler, singh_base
from armdyn.algorithms.forward_dynamics import Bias, with_rotors
from armdyn.chain.arm import Arm
from armdyn.spatial import Row, Scalar, inverse, times_matrix

Matrices = tuple[list[Row], list[Row], list[Row]]
Derivatives = Callable[[Arm, Sequence[Scalar], Sequence[Scalar], Sequence[Scalar]], Matrices]


def from_methods(derivatives: Derivatives, bias: Bias) -> Derivatives:
    """The method ``ldl`` with the derivatives of inverse dynamics and b by the functions given."""

    def forward_dynamics_derivatives(
        arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar]
    ) -> Matrices:
        """(dqdd/dq, dqdd/dqd, dqdd/dtau), shape (n, n) each; a row an acceleration.

        M, with rotors, is dtau/dqdd at any qdd.
        """
        _, _, M = derivatives(arm, q, qd, [0] * arm.n)
        inverted = inverse(with_rotors(M, arm))
        rest = [t - b for t, b in zip(tau, bias(arm, q, qd), strict=True)]
        qdd = [sum(m * r for m, r in zip(row, rest, strict=True)) for row in inverted]
        dq, dqd, _ = derivatives(arm, q, qd, qdd)
        negative = [[-m for m in row] for row in inverted]
        return times_matrix(negative, dq), times_matrix(negative, dqd), inverted

    return forward_dynamics_derivatives


ldl = from_methods(singh_base.inverse_dynamics_derivatives, newton_euler.bias)
