"""Could this arm exist? The checks a chain passes once, when it is built."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from armdyn.chain.dh import MOST_JOINTS
from armdyn.errors import shorten

if TYPE_CHECKING:
    from armdyn.chain import Chain

POSTURES = 3
SINGULAR = 1e-13  # of M scaled to a unit diagonal; rounding leaves about n eps
INDEFINITE = (
    "the mass matrix is not positive definite at a posture tried: forward dynamics, which does not "
    "pivot, may lose digits or divide by zero"
)


class Finding(str):
    """A note that is found in the chain itself, so that a changed chain does not inherit it."""


def findings(chain: Chain) -> list[str]:
    """All that keeps this arm from existing, in words."""
    return bodies(chain) + motion(chain)


def structure(chain: Chain) -> Iterator[str]:
    """What keeps a chain from being one at all, in words."""
    n = len(chain.joints)
    if chain.check not in ("error", "warn"):
        yield f"check is 'error' or 'warn', not {shorten(chain.check)}"
    if not 1 <= n <= MOST_JOINTS or n != len(chain.links):
        yield (
            f"expected at least one joint, at most {MOST_JOINTS}, and one link a joint, not "
            f"{n} joints and {len(chain.links)} links"
        )
        return
    first = chain.joints[0]
    if (first.b, first.beta, first.d, first.theta) != (0, 0, 0, 0):
        yield ("the first joint's b, beta, d and theta belong into base=; Chain.from_mdh does that")
    for what, named in (("joint", chain.joints), ("link", chain.links), ("frame", chain.frames)):
        times = Counter(part.name for part in named)
        yield from (f"{what} name {name!r} is used twice" for name in times if times[name] > 1)
    numbers = {link.name: i for i, link in enumerate(chain.links)}
    for frame in chain.frames:
        if numbers.get(frame.name, frame.link) != frame.link:
            yield f"frame {frame.name!r} bears the name of a link it is not fixed to"
        if not -1 <= frame.link < n:
            yield (
                f"frame {frame.name!r} is fixed to link {frame.link}, but links count from -1 "
                f"(base) to {n - 1}"
            )


def numbers(chain: Chain) -> list[str]:
    """Entries that no method can compute with, or not of the sign they must have, in words."""
    found = [
        f"link {link.name!r}: {error}" for link in chain.links for error in link.inertia.errors()
    ]
    for joint in chain.joints:
        for field in ("b", "beta", "d", "theta", "rotor_inertia", "viscous", "coulomb"):
            value = getattr(joint, field)
            if not np.isfinite(value).all():
                found.append(f"joint {joint.name!r}: {field} must be finite, not {value}")
        for field in ("rotor_inertia", "viscous", "velocity", "effort"):
            value = getattr(joint, field)
            if not value >= 0:
                found.append(f"joint {joint.name!r}: {field} must not be negative, is {value}")
        if joint.coulomb[0] > 0 or joint.coulomb[1] < 0:
            found.append(
                f"joint {joint.name!r}: coulomb friction is (torque at negative speed <= 0, torque "
                f"at positive speed >= 0), not {joint.coulomb}"
            )
        if not joint.lower <= joint.upper:
            found.append(
                f"joint {joint.name!r}: limits must be lower <= upper, not "
                f"{joint.lower} and {joint.upper}"
            )
    if not np.isfinite(chain.gravity).all():
        found.append(f"gravity must be finite, not {chain.gravity}")
    for what, pose in [("base", chain.base), ("tip", chain.tip)] + [
        (f"frame {frame.name!r}", frame.pose) for frame in chain.frames
    ]:
        if not np.isfinite(pose.matrix).all():
            found.append(f"{what}: the pose must be finite, not {pose.matrix.tolist()}")
        elif not pose.is_rigid:
            found.append(
                f"{what}: not a rigid placement (rotation and translation): {pose.matrix.tolist()}"
            )
    return found


def bodies(chain: Chain) -> list[str]:
    """Links that no physical body could be, in words."""
    return [
        f"link {link.name!r}: {finding}"
        for link in chain.links
        for finding in link.inertia.findings()
    ]


def massless(chain: Chain) -> list[str]:
    """Links without mass that other links stand on: legal, worth a note."""
    return [f"link {link.name!r} has no mass" for link in chain.links if link.inertia.is_zero]


def motion(chain: Chain) -> list[str]:
    """Joints that can accelerate without any torque, found at a few random postures."""
    from armdyn.algorithms.crba import mass_matrix  # the one algorithm that a chain asks

    arm = chain.on(float)
    rng = np.random.default_rng(0)
    rotors = np.array([joint.rotor_inertia for joint in chain.joints])
    for q in rng.uniform(-math.pi, math.pi, (POSTURES, chain.n)):
        M: np.ndarray = np.array(mass_matrix(arm, q.tolist())) + np.diag(rotors)
        if not np.isfinite(M).all():
            return ["the mass matrix has entries too large for a double; expected SI units"]
        scale = np.sqrt(np.abs(M.diagonal()))
        scale[scale == 0] = 1.0
        moments, directions = np.linalg.eigh(M / scale / scale[:, None])
        least = int(np.abs(moments).argmin())
        if abs(moments[least]) > SINGULAR:
            return [INDEFINITE] if moments[0] < 0 else []
        worst = int(np.abs(directions[:, least]).argmax())
    name = chain.joints[worst].name
    return [
        f"joint {name!r} moves nothing that has inertia: the mass matrix is singular at every "
        "posture tried; give the links beyond it mass, or lock it"
    ]
