"""The inertia that a frame shows to a force: Lambda = (J M^-1 J^T)^-1, and its inverse.

[khatib1987]: the frame of an arm at rest, without gravity, answers a wrench f with the acceleration
J M^-1 J^T f, and takes the wrench Lambda a to accelerate at a; rows and columns are those of J.
The inverse exists in every posture. Lambda does where the frame can move in all six directions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from armdyn.algorithms import lin1991
from armdyn.algorithms.articulated_body import forward_dynamics
from armdyn.algorithms.drives import with_rotors
from armdyn.algorithms.forward_dynamics import MassMatrix
from armdyn.algorithms.kinematics import jacobian
from armdyn.chain.arm import Arm
from armdyn.chain.checks import postures
from armdyn.spatial import Row, Scalar, select_lt
from armdyn.spatial.matrices import inverse, inverse_between, symmetric_product

MANY = 20  # joints beyond which articulated bodies cost less than M = L^T D L
MOST = 1e12  # how many times heavier a direction may be, the others held; rounding leaves 1e16

OfFrame = Callable[..., list[Row]]  # (arm, q, frame, axes) -> (6, 6)


def inertia_inverse(mass_matrix: MassMatrix = lin1991.mass_matrix) -> OfFrame:
    """J M^-1 J^T (6, 6), symmetric, with M by the function given, and rotors.

    M^-1 times a row of J is the acceleration at rest, without gravity, under such torques: on a
    long arm articulated bodies give it in n steps, which they share.
    """

    def operational_space_inertia_inverse(
        arm: Arm, q: Sequence[Scalar], frame: str | None = None, axes: str = "base"
    ) -> list[Row]:
        J = jacobian(arm, q, frame, axes)
        if arm.n <= MANY:
            return inverse_between(J, with_rotors(mass_matrix(arm, q), arm))
        still, rest = arm.without_gravity(), [0] * arm.n
        return symmetric_product(J, [forward_dynamics(still, q, rest, row) for row in J])

    return operational_space_inertia_inverse


def inertia(mass_matrix: MassMatrix = lin1991.mass_matrix) -> OfFrame:
    """Lambda (6, 6), symmetric; where J is singular each number is infinite or not a number."""
    of_frame = inertia_inverse(mass_matrix)

    def operational_space_inertia(
        arm: Arm, q: Sequence[Scalar], frame: str | None = None, axes: str = "base"
    ) -> list[Row]:
        A = of_frame(arm, q, frame, axes)
        Lambda = inverse(A)
        one: Scalar = 1  # and 0 where J is singular
        for k in range(6):
            i = k - k % 3  # velocities, or angular velocities: those of the same unit
            mobility = A[i][i] + A[i + 1][i + 1] + A[i + 2][i + 2]
            times = mobility * Lambda[k][k]  # 1 at least, but for what rounding leaves of zeros
            one = select_lt(2 * times - 1, 0, 0, select_lt(MOST - times, 0, 0, one))
        one = 1 / one
        return [[one * x for x in row] for row in Lambda]

    return operational_space_inertia


def refuses(arm: Arm, frame: str | None) -> str | None:
    """Why Lambda exists in no posture; None if it does in some. The arm is one on floats."""
    joints = arm.frame(frame)[0] + 1
    if joints < 6:
        return f"{joints} of its joints move the frame, and six directions take six at least"
    for q in postures(arm.n):
        J = np.array(jacobian(arm, q, frame), float).reshape(2, 3, arm.n)
        size = np.linalg.norm(J, axis=(1, 2), keepdims=True)
        if size.all() and np.linalg.matrix_rank((J / size).reshape(6, arm.n), tol=1e-9) == 6:
            return None
    return "its joints move the frame in fewer than six directions, in every posture tried"
