"""Flat bodies: the minimal parameters once more, regrouped so that Newton-Euler needs less.

Turning a link about its joint's axis z does not change a rod along z, of second moment
E = integral of r r^T dm = e z z^T: it can as well belong to the link before. The paper's minimal
parameters ([lin1999]) hand in such a rod that YY = 0 remains. Here it is all of E_zz: what remains
is flat, as if it lay in the plane across the axis, and its tensor has XX + YY = ZZ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from armdyn.chain import axes
from armdyn.chain.inertia import Inertia
from armdyn.chain.pose import rotation_about
from armdyn.spatial import Row, Scalar, Symmetric
from armdyn.spatial.matrices import linear

if TYPE_CHECKING:
    from armdyn.chain import Chain


def flattened(
    chain: Chain, bodies: Sequence[Inertia], number: Callable[[float], Scalar] = float
) -> list[Inertia]:
    """Flat bodies that move as the minimal ones do, a body a link, of any scalars.

    A link on a prismatic joint keeps no tensor: all of it goes on to the link before. Of a link
    that only turns about the direction of joint r (see ``axes.start``) ZZ alone is felt; the rod
    that it could hand in is along that direction, and felt nowhere. What is not in the set stays
    the integer 0.
    """
    s = axes.start(chain).s
    nothing = Symmetric(0, 0, 0, 0, 0, 0)
    handed_in = nothing  # E of what the link beyond does not keep, in this link's axes
    kept: tuple[Scalar, Scalar, Scalar, Scalar, Scalar, Scalar]
    found = []
    for i in reversed(range(chain.n)):
        joint, body = chain.joints[i], bodies[i]
        E = second_moment(body) + handed_in
        to_inner = rotation_about("x", joint.beta) @ rotation_about("z", joint.theta)
        if joint.kind == "P":
            kept = (0, 0, 0, 0, 0, 0)
            handed_in = turned(to_inner, list(E), number)
        elif i < s:
            ZZ = E.xx + E.yy
            kept = (0, 0, 0, ZZ, 0, ZZ)
            handed_in = nothing
        else:
            kept = (E.yy, -E.xy, -E.xz, E.xx, -E.yz, E.yy + E.xx)
            handed_in = turned(to_inner, [0, 0, 0, 0, 0, E.zz], number)
        found.append(Inertia(body.mass, body.first_moment, kept))
    return found[::-1]


def second_moment(body: Inertia) -> Symmetric:
    """E = tr(J)/2 1 - J."""
    xx, xy, xz, yy, yz, zz = body.tensor
    half = (xx + yy + zz) / 2
    return Symmetric(half - xx, -xy, -xz, half - yy, -yz, half - zz)


def turned(R: np.ndarray, six: Row, number: Callable[[float], Scalar]) -> Symmetric:
    """R E R^T of a constant rotation, E by its six elements."""
    pairs = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    products = [
        [R[i, k] * R[j, m] + (R[i, m] * R[j, k] if k != m else 0) for k, m in pairs]
        for i, j in pairs
    ]
    return Symmetric(*linear(products, six, number))
