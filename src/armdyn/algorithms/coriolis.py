"""The Coriolis matrix and the slopes of M from Christoffel symbols, whichever way they were had."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from armdyn.chain.arm import Arm
from armdyn.spatial import Row, Scalar


def from_christoffel(
    christoffel: Callable[[Arm, Sequence[Scalar]], list[list[Row]]],
) -> Callable[[Arm, Sequence[Scalar], Sequence[Scalar]], list[Row]]:
    """The method that takes its symbols from ``christoffel``."""

    def coriolis_matrix(arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Row]:
        """C_ij = sum over k of Gamma_ijk qd_k, shape (n, n), for which Mdot - 2 C is skew."""
        return [
            [sum(g * v for g, v in zip(Gamma_ij, qd, strict=True)) for Gamma_ij in Gamma_i]
            for Gamma_i in christoffel(arm, q)
        ]

    return coriolis_matrix


def slopes_from_christoffel(
    christoffel: Callable[[Arm, Sequence[Scalar]], list[list[Row]]],
) -> Callable[[Arm, Sequence[Scalar]], list[list[Row]]]:
    """The method of dM/dq that takes its symbols from ``christoffel``."""

    def mass_matrix_derivative(arm: Arm, q: Sequence[Scalar]) -> list[list[Row]]:
        """dM_ij/dq_k = Gamma_ijk + Gamma_jik, shape (n, n, n)."""
        return slopes(christoffel(arm, q))

    return mass_matrix_derivative


def slopes(Gamma: Sequence[Sequence[Row]]) -> list[list[Row]]:
    """Gamma_ijk + Gamma_jik, which is symmetric in i and j."""
    n = len(Gamma)
    dM: list[list[Row]] = [[[0] * n for _ in range(n)] for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            pairs = zip(Gamma[i][j], Gamma[j][i], strict=True)
            dM[i][j] = dM[j][i] = [a + b for a, b in pairs]
    return dM
