"""The second derivatives of inverse dynamics, from the first ones and Christoffel symbols.

With dtau/dq and dtau/dqd on dual numbers, their slopes by q are d2tau/dq dq and d2tau/dqd dq; the
speeds enter by Christoffel symbols alone, d2tau_i/dqd_j dqd_k = 2 Gamma_ijk, and the accelerations
by the slopes of M. All are tensors [i, j, k]: torque i, by the first variable of joint j and the
second one of joint k.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from armdyn.algorithms import lin1991, singh, singh_base
from armdyn.algorithms.coriolis import slopes as slopes_of_M
from armdyn.algorithms.dual import slopes, variables
from armdyn.algorithms.forward_derivatives import Derivatives
from armdyn.chain.arm import Arm
from armdyn.spatial import Row, Scalar

Tensor = list[list[Row]]
Second = Callable[..., tuple[Tensor, Tensor, Tensor, Tensor]]


def from_methods(
    derivatives: Derivatives, christoffel: Callable[[Arm, Sequence[Scalar]], Tensor]
) -> Second:
    """The method with first derivatives and Christoffel symbols by the functions given."""

    def inverse_dynamics_second_derivatives(
        arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """d2tau_i by (q_j, q_k), (q_j, qd_k), (qd_j, qd_k), (q_j, qdd_k), shape (n, n, n) each.

        Of the slopes d/dq_j dtau_i/dq_k those with j <= k are taken, and the others are equal.
        """
        n = arm.n
        given = variables(q)
        dq, dqd, _ = derivatives(arm, given[0], qd, qdd)
        by_q = [[slopes(x, given, 0, n) for x in row] for row in dq]  # [i][k][j]
        by_qd = [[slopes(x, given, 0, n) for x in row] for row in dqd]
        Gamma = christoffel(arm, q)
        dM = slopes_of_M(Gamma)
        return (
            tensor(n, lambda i, j, k: by_q[i][max(j, k)][min(j, k)]),
            tensor(n, lambda i, j, k: by_qd[i][k][j]),
            tensor(n, lambda i, j, k: 2 * Gamma[i][j][k]),
            tensor(n, lambda i, j, k: dM[i][k][j]),
        )

    return inverse_dynamics_second_derivatives


def tensor(n: int, element: Callable[[int, int, int], Scalar]) -> Tensor:
    """The tensor of these elements."""
    return [[[element(i, j, k) for k in range(n)] for j in range(n)] for i in range(n)]


in_link_frames = from_methods(singh.inverse_dynamics_derivatives, lin1991.christoffel)
in_base_axes = from_methods(singh_base.inverse_dynamics_derivatives, lin1991.christoffel)
