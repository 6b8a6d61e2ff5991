"""Forward dynamics by solving M(q) qdd = tau - b(q, qd), with M and b by any of their methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from armdyn.algorithms import lin1991, newton_euler
from armdyn.chain.arm import Arm
from armdyn.spatial import Row, Scalar

MassMatrix = Callable[[Arm, Sequence[Scalar]], list[Row]]
Bias = Callable[[Arm, Sequence[Scalar], Sequence[Scalar]], Row]
ForwardDynamics = Callable[[Arm, Sequence[Scalar], Sequence[Scalar], Sequence[Scalar]], Row]


def solve(M: Sequence[Sequence[Scalar]], y: Sequence[Scalar]) -> Row:
    """The x with M x = y, M symmetric positive definite: M = L^T D L, L unit lower triangular.

    [Lin1991] recommends the L D L^T decomposition; this is that of the joints counted from the
    tip. The outermost joint is eliminated first, since M is simplest there (M_nn of a last
    revolute joint is constant). No pivoting and no square root; one division a joint.
    """
    n = len(M)
    A, x = [list(row) for row in M], list(y)
    L: list[Row] = [[0] * n for _ in range(n)]
    pivot: Row = [0] * n  # 1 / D_k
    for k in reversed(range(n)):
        pivot[k] = 1 / A[k][k]
        for i in range(k):
            L[k][i] = pivot[k] * A[k][i]
            for j in range(i + 1):
                A[i][j] = A[i][j] - L[k][i] * A[k][j]
            x[i] = x[i] - L[k][i] * x[k]  # L^-T y
    for k in range(n):
        x[k] = pivot[k] * x[k]
        for i in range(k):
            x[k] = x[k] - L[k][i] * x[i]
    return x


def with_rotors(M: Sequence[Sequence[Scalar]], arm: Arm) -> list[Row]:
    """M with the rotors' inertia, reflected to their joints, on its diagonal."""
    rotor = arm.rotor_inertia
    return [[m + rotor[i] if i == j else m for j, m in enumerate(row)] for i, row in enumerate(M)]


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
