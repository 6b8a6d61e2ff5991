"""How the Jacobian of a frame changes while the arm moves, and the acceleration that this brings.

Column k of J has the halves gT_k, velocity, and gR_k, angular velocity. [kang] calls them influence
coefficients and gives their derivatives (see ``kic.second_order``): joint j turns all that lies
beyond it, so d gT_k/dq_j is gR_j x gT_k for j <= k and gR_k x gT_j for j > k, and d gR_k/dq_j is
gR_j x gR_k for j < k. Summed over j with the speeds, these are products with running sums.
"""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.algorithms.kinematics import columns, rows
from armdyn.chain.arm import Arm
from armdyn.spatial import ZERO, Row, Scalar


def jacobian_derivative(
    arm: Arm,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    frame: str | None = None,
    axes: str = "base",
) -> list[Row]:
    """dJ/dt (6, n) of a named link or frame (None: the tip), J in base axes or the frame's own."""
    gT, gR = columns(arm, q, frame, axes)
    w = [ZERO]  # of the links before each joint, and of the frame
    for k in range(len(gR)):
        w.append(w[k] + qd[k] * gR[k])
    spin = w[-1] if axes == "frame" else ZERO  # of the axes in which J is expressed
    v = ZERO  # of the frame, by the joints beyond joint k
    for k in reversed(range(len(gR))):
        turned, lengthened = (w[k + 1] - spin).cross(gT[k]), gR[k].cross(v)
        v = v + qd[k] * gT[k]
        gT[k], gR[k] = turned + lengthened, (w[k] - spin).cross(gR[k])
    return rows(arm, gT, gR)


def acceleration_bias(
    arm: Arm,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    frame: str | None = None,
    axes: str = "base",
) -> Row:
    """dJ/dt qd (6,) of a named link or frame (None: the tip), J in base axes or the frame's own.

    In base axes this is the acceleration of the frame's origin [m/s^2], then the frame's angular
    acceleration [rad/s^2], of a motion at constant joint speeds.
    """
    a, wd, v, w = ZERO, ZERO, ZERO, ZERO
    for gT, gR, speed in zip(*columns(arm, q, frame, axes), qd, strict=False):
        v_k, w_k = speed * gT, speed * gR
        a, wd = a + (w + (w + w_k)).cross(v_k), wd + w.cross(w_k)
        v, w = v + v_k, w + w_k
    if axes == "frame":
        a = a - w.cross(v)
    return [*a, *wd]
