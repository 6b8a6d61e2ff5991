"""Composites in link frames, columns in the base: the cheap halves of CRBA and of GDAHJ.

This method is ours: [safeea2018] names fewer O(n) operations of GDAHJ as future work. Composite i
is summed in link frames, as in the composite-rigid-body algorithm. The force f and moment mu that
accelerate it along joint i are turned to base axes once, as L = mu + p x f about the base's origin.
An element of the mass matrix is then two dot products. k_i and p_i are axis and origin of joint i.
Joints count from 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.algorithms.crba import composites
from armdyn.algorithms.kinematics import Placed, frames
from armdyn.algorithms.stages import stage
from armdyn.chain.arm import Arm
from armdyn.spatial import ZERO, Row, Scalar, Vector
from armdyn.spatial.matrices import products


def mass_matrix(arm: Arm, q: Sequence[Scalar]) -> list[Row]:
    """M(q), shape (n, n).

    All revolute, kinematics on hand: 3n^2+62n-32 M, 5/2n^2+119/2n-39 A, 2n-2 D; on minimal
    parameters 3n^2+62n-36 M, 5/2n^2+109/2n-46 A, 2n-2 D.
    """
    return dynamics(arm, q, kinematics(arm, q))


@stage("kinematics")
def kinematics(arm: Arm, q: Sequence[Scalar]) -> list[Placed]:
    """R_i and p_i: the link frames in base axes."""
    return frames(arm, q)[1:]


@stage("dynamics")
def dynamics(arm: Arm, q: Sequence[Scalar], placed: list[Placed]) -> list[Row]:
    """A_ij = k_j . L_i + v_j . f_i for j <= i, with v_j = p_j x k_j.

    For a prismatic joint j (0, k_j) stand for (k_j, v_j).
    """
    twists = [
        (E.z, E.o.cross(E.z)) if revolute else (ZERO, E.z)
        for E, revolute in zip(placed, arm.revolute, strict=True)
    ]
    wrenches = []
    for i, (E, (M, h, I)) in enumerate(zip(placed, composites(arm, q), strict=True)):
        if arm.revolute[i]:
            mu, f = E.out(Vector(I.xz, I.yz, I.zz)), E.out(Vector(-h.y, h.x, 0))
        else:
            mu, f = E.out(Vector(h.y, -h.x, 0)), M * E.z
        wrenches.append((mu + E.o.cross(f), f))
    return products(twists, wrenches)
