"""Forward dynamics by solving M(q) qdd = tau - b(q, qd), with M and b by any of their methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from armdyn.algorithms import lin1991, newton_euler
from armdyn.algorithms.drives import with_rotors
from armdyn.chain.arm import Arm
from armdyn.spatial import Row, Scalar
from armdyn.spatial.matrices import solve

MassMatrix = Callable[[Arm, Sequence[Scalar]], list[Row]]
Bias = Callable[[Arm, Sequence[Scalar], Sequence[Scalar]], Row]
ForwardDynamics = Callable[[Arm, Sequence[Scalar], Sequence[Scalar], Sequence[Scalar]], Row]


def from_methods(mass_matrix: MassMatrix, bias: Bias) -> ForwardDynamics:
    """The method ``ldl`` with M and b by the functions given."""

    def forward_dynamics(
        arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar]
    ) -> Row:
        """Joint accelerations qdd (n,) under torques tau: M, with rotors, and b, then L^T D L."""
        rest = [t - b for t, b in zip(tau, bias(arm, q, qd), strict=True)]
        return solve(with_rotors(mass_matrix(arm, q), arm), rest)

    return forward_dynamics


ldl = from_methods(lin1991.mass_matrix, newton_euler.bias)
