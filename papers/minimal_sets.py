"""The two sets of minimal parameters that [lin1999] distinguishes.

Lin's set is in ``armdyn.chain.minimal``: it is read from the constants k_i and U_i of composite
bodies. The set of Khalil, Gautier and Mayeda regroups link by link, by the rules of Gautier and
Khalil (1990) for modified DH tables. Each joint passes inward what it cannot tell apart:

- a revolute joint passes M, MZ and YY;
- a prismatic joint passes the tensor. It also passes MX and MY if it lies between joints r and s
  of Theorem 1 and is parallel to joint r.

The two sets are the same combinations if all joints are revolute. They differ before a prismatic
joint: k_i and U_i include mass and first moment of the links beyond it, MX and ZZ do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.chain import Chain, Joint, axes
from armdyn.chain.minimal import KHALIL, handed_in, members_of, seen_from_matrix
from armdyn.chain.pose import Pose, rotation_about

Array = np.ndarray[Any, np.dtype[np.float64]]

M, MX, MY, MZ, XX, XY, YY, XZ, YZ, ZZ = range(10)  # places of a link's parameters
TENSOR = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))  # of XX to ZZ


def khalil(chain: Chain) -> dict[str, Array]:
    """The set of Khalil, Gautier and Mayeda: name -> coefficients in ``chain.parameters``, (10 n,).

    "XX2" names XX of link 2 with everything regrouped into it. Torques are these values times the
    regressor's columns of the same names.
    """
    n = chain.n
    r, s, u = axes.start(chain)
    in_place = axes.turns_in_place(chain)
    grouped = np.eye(10 * n).reshape(n, 10, 10 * n)
    found: list[dict[str, Array]] = []
    for i in reversed(range(n)):
        joint, link = chain.joints[i], grouped[i]
        parallel = r < i < s and not any(u[i][:2])
        if joint.kind == "R" and i >= s:
            kept = {k: link[k] for k in (XX, XY, XZ, YZ, ZZ, MX, MY)}
            kept[XX] = link[XX] - link[YY]
        elif joint.kind == "R":
            kept = {k: link[k] for k in ((ZZ,) if in_place[i] else (ZZ, MX, MY))}
        elif i < r or parallel:
            kept = {M: link[M]}
        elif i < s:
            kept = {M: link[M], **across(np.array(u[i], dtype=float), link)}
        else:
            kept = {k: link[k] for k in (M, MX, MY, MZ)}
        found.append({f"{KHALIL[k]}{i + 1}": row for k, row in kept.items()})
        if i and joint.kind == "R":
            grouped[i - 1] += past_revolute(joint, link)
        elif i:
            grouped[i - 1] += past_prismatic(joint, link, parallel)
    return {name: row for kept in reversed(found) for name, row in kept.items()}


def across(u: Array, link: Array) -> dict[int, Array]:
    """Two of MX, MY and MZ, the third regrouped into them; u is joint r's axis in the link."""
    gone = max((k for k in range(3) if abs(u[k]) > axes.ROUNDING), default=0)
    rest = (k for k in range(3) if k != gone)
    return {MX + k: link[MX + k] - u[k] / u[gone] * link[MX + gone] for k in rest}


def past_revolute(joint: Joint, link: Array) -> Array:
    """Contributions of M, MZ and YY to the ten parameters of the link before."""
    d, r, C, S = joint.b, joint.d, np.cos(joint.beta), np.sin(joint.beta)
    m = link[M]
    z = link[MZ] + r * m
    w = link[YY] + 2 * r * link[MZ] + r**2 * m
    first = [m, d * m, -S * z, C * z]
    tensor = [w, d * S * z, C**2 * w + d**2 * m, -d * C * z, C * S * w, S**2 * w + d**2 * m]
    return np.array(first + tensor)


def past_prismatic(joint: Joint, link: Array, parallel: bool) -> Array:
    """Contributions of the tensor, and of MX and MY past a joint parallel to joint r."""
    R = rotation_about("x", joint.beta) @ rotation_about("z", joint.theta)
    J = np.zeros((3, 3, link.shape[1]))
    for k, (i, j) in enumerate(TENSOR):
        J[i, j] = J[j, i] = link[XX + k]
    J = np.einsum("ia,jb,abp->ijp", R, R, J)
    handed = np.zeros_like(link)
    if parallel:
        handed[MX : MZ + 1] = x, y, z = R[:, :2] @ link[MX : MY + 1]
        b = joint.b
        J[1, 1] += 2 * b * x
        J[2, 2] += 2 * b * x
        J[0, 1] -= b * y
        J[0, 2] -= b * z
    handed[XX:] = [J[i, j] for i, j in TENSOR]
    return handed


def lin_earlier(chain: Chain) -> Array:
    """Lin's set as the Remark of [lin1999] describes that of his earlier works, (count, 10 n).

    There U_i includes (U_{i+1})_33 past a revolute joint too.
    """
    own = np.eye(10 * chain.n).reshape(chain.n, 10, 10 * chain.n)
    constants = [own[-1]]
    for i in reversed(range(1, chain.n)):
        joint = chain.joints[i]
        handed = handed_in(joint)
        if joint.kind == "R":
            pose = Pose.mdh(joint.b, joint.beta, joint.theta, joint.d)
            handed = handed + seen_from_matrix(pose) @ np.diag(np.eye(10)[ZZ])
        constants.append(own[i - 1] + handed @ constants[-1])
    pairs = zip(members_of(chain), reversed(constants), strict=True)
    rows = [member.read @ each for members, each in pairs for member in members]
    return np.array(rows).reshape(-1, 10 * chain.n)
