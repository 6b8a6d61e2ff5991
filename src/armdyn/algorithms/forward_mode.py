"""Derivatives without a formula of their own: algorithms on dual numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from armdyn.algorithms import articulated_body, crba, newton_euler
from armdyn.algorithms.dual import Dual, slopes, variables
from armdyn.chain.arm import Arm
from armdyn.spatial import Row, Scalar

Tensor = list[list[Row]]


def by_arguments(function: Callable[..., Row]) -> Callable[..., tuple[list[Row], ...]]:
    """Of a function (arm, x, y, ...) -> n numbers, its derivatives by x, by y, ..., (n, n) each."""

    def derivatives(arm: Arm, *state: Sequence[Scalar]) -> tuple[list[Row], ...]:
        """A row a result, a column a joint."""
        n, given = arm.n, variables(*state)
        results = function(arm, *given)
        blocks = [blocks_of(x, given, n) for x in results]
        return tuple(list(block) for block in zip(*blocks, strict=True))

    return derivatives


def blocks_of(x: Scalar, given: Sequence[Sequence[Dual]], n: int) -> list[Row]:
    """The derivatives of a number by each argument."""
    return [slopes(x, given, k * n, n) for k in range(len(given))]


def by_q(
    mass_matrix: Callable[[Arm, Sequence[Scalar]], list[Row]],
) -> Callable[[Arm, Sequence[Scalar]], Tensor]:
    """The method of dM/dq that takes M from ``mass_matrix``."""

    def mass_matrix_derivative(arm: Arm, q: Sequence[Scalar]) -> Tensor:
        """dM_ij/dq_k, shape (n, n, n)."""
        given = variables(q)
        return [[slopes(x, given, 0, arm.n) for x in row] for row in mass_matrix(arm, *given)]

    return mass_matrix_derivative


def inverse_dynamics_second_derivatives(
    arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Newton-Euler on dual numbers of dual numbers; results as in ``second_derivatives``."""
    given = variables(q, qd, qdd)
    dq, dqd, _ = inverse_dynamics_derivatives(arm, *given)
    qq, q_qd, q_qdd = (
        [[blocks_of(x, given, arm.n)[k] for x in row] for row in dq] for k in range(3)
    )
    return qq, q_qd, [[blocks_of(x, given, arm.n)[1] for x in row] for row in dqd], q_qdd


mass_matrix_derivative = by_q(crba.mass_matrix)
inverse_dynamics_derivatives = by_arguments(newton_euler.inverse_dynamics)
forward_dynamics_derivatives = by_arguments(articulated_body.forward_dynamics)
