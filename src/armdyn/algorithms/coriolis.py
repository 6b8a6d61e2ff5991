"""The Coriolis matrix from Christoffel symbols, whichever way they were had."""

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
