"""Flat bodies: the minimal parameters once more, regrouped so that Newton-Euler needs less.

Turning a link about its joint's axis z does not change a rod along z, of second moment
E = integral of r r^T dm = e z z^T: it can as well belong to the link before. The paper's minimal
parameters ([lin1999]) hand in such a rod that YY = 0 remains. Here it is all of E_zz: what remains
is flat, as if it lay in the plane across the axis, and its tensor has XX + YY = ZZ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from armdyn.chain import axes
from armdyn.chain.inertia import Inertia
from armdyn.chain.pose import rotation_about

if TYPE_CHECKING:
    from armdyn.chain import Chain


def flattened(chain: Chain, bodies: Sequence[Inertia]) -> list[Inertia]:
    """Flat bodies that move as the minimal ones do, a body a link.

    A link on a prismatic joint keeps no tensor: all of it goes on to the link before. Of a link
    that only turns about the direction of joint r (see ``axes.start``) ZZ alone is felt; the rod
    that it could hand in is along that direction, and felt nowhere. What is not in the set stays
    the integer 0.
    """
    s = axes.start(chain).s
    handed_in = np.zeros((3, 3))  # E of what the link beyond does not keep, in this link's axes
    kept: tuple[float, float, float, float, float, float]
    found = []
    for i in reversed(range(chain.n)):
        joint, body = chain.joints[i], bodies[i]
        E = second_moment(body) + handed_in
        to_inner = rotation_about("x", joint.beta) @ rotation_about("z", joint.theta)
        if joint.kind == "P":
            kept = (0, 0, 0, 0, 0, 0)
            handed_in = to_inner @ E @ to_inner.T
        elif i < s:
            ZZ = float(E[0, 0] + E[1, 1])
            kept = (0, 0, 0, ZZ, 0, ZZ)
            handed_in = np.zeros((3, 3))
        else:
            XX, YY = float(E[1, 1]), float(E[0, 0])
            XY, XZ, YZ = -float(E[0, 1]), -float(E[0, 2]), -float(E[1, 2])
            kept = (XX, XY, XZ, YY, YZ, XX + YY)
            handed_in = E[2, 2] * np.outer(to_inner[:, 2], to_inner[:, 2])
        found.append(Inertia(body.mass, body.first_moment, kept))
    return found[::-1]


def second_moment(body: Inertia) -> np.ndarray:
    """E = tr(J)/2 1 - J, shape (3, 3)."""
    xx, xy, xz, yy, yz, zz = body.tensor
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], float)
    return np.trace(J) / 2 * np.eye(3) - J
