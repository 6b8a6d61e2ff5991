"""Could this arm exist? The checks a chain passes once, when it is built."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from armdyn.chain import dh
from armdyn.chain.limits import HUGE, MOST_JOINTS
from armdyn.errors import shorten
from armdyn.forks import importing

if TYPE_CHECKING:
    from armdyn.chain import Chain, Joint

POSTURES = 3
GOLDEN = (math.sqrt(5) - 1) / 2  # its multiples, less their whole parts, are nowhere alike
SINGULAR = 1e-13  # of M scaled to a unit diagonal; rounding leaves about n eps
CUT = "the arm ends at"  # how a note begins on an arm that leaves out much of its robot
INDEFINITE = (
    "the mass matrix is not positive definite at a posture tried: forward dynamics, which does not "
    "pivot, may lose digits or divide by zero"
)


class Finding(str):
    """A note that is found in the chain itself, so that a changed chain does not inherit it."""


def findings(chain: Chain) -> list[str]:
    """All that keeps this arm from existing, in words."""
    return bodies(chain) + ([] if chain.kinematic_only else motion(chain))


def structure(chain: Chain) -> Iterator[str]:
    """What keeps a chain from being one at all, in words."""
    n = len(chain.joints)
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
        yield from (
            f"{what} name {shorten(name)} is used twice" for name in times if times[name] > 1
        )
    places = {link.name: i for i, link in enumerate(chain.links)}
    for frame in chain.frames:
        if places.get(frame.name, frame.link) != frame.link:
            yield f"frame {shorten(frame.name)} bears the name of a link it is not fixed to"
        if not -1 <= frame.link < n:
            yield (
                f"frame {shorten(frame.name)} is fixed to link {shorten(frame.link)}, but links "
                f"count from -1 (base) to {n - 1}"
            )


def unusable(chain: Chain) -> list[str]:
    """Entries that no method can compute with, or not of the sign they must have, in words."""
    found = [
        f"link {shorten(link.name)}: {error}"
        for link in chain.links
        for error in link.inertia.errors()
    ]
    for joint in chain.joints:
        found += (f"joint {shorten(joint.name)}: {error}" for error in _of_joint(joint))
    found += _too_large("gravity", chain.gravity)
    for what, pose in [("base", chain.base), ("tip", chain.tip)] + [
        (f"frame {shorten(frame.name)}", frame.pose) for frame in chain.frames
    ]:
        large = _too_large("the pose", pose.matrix.tolist())
        if large:
            found.append(f"{what}: {large[0]}")
        elif not pose.is_rigid:
            found.append(
                f"{what}: not a rigid placement (rotation and translation): "
                + shorten(pose.matrix.tolist())
            )
    return found


def _of_joint(joint: Joint) -> Iterator[str]:
    for field in ("b", "beta", "d", "theta", "rotor_inertia", "viscous", "coulomb"):
        yield from _too_large(field, getattr(joint, field))
    for field in ("rotor_inertia", "viscous", "velocity", "effort"):
        value = getattr(joint, field)
        if not value >= 0:
            yield f"{field} must not be negative, is {value}"
    if joint.coulomb[0] > 0 or joint.coulomb[1] < 0:
        yield (
            "coulomb friction is (torque at negative speed <= 0, torque at positive speed >= 0), "
            f"not {joint.coulomb}"
        )
    if not joint.lower <= joint.upper:
        yield f"limits must be lower <= upper, not {joint.lower} and {joint.upper}"


def _too_large(what: str, value: Any) -> list[str]:
    """That something is not finite, or so large that methods overflow."""
    size = abs(value) if isinstance(value, float) else np.abs(value).max()
    if not np.isfinite(size):
        return [f"{what} must be finite, not {shorten(value)}"]
    if size > HUGE:
        return [f"{what} must be at most {HUGE:g} in size, not {shorten(value)}"]
    return []


def bodies(chain: Chain) -> list[str]:
    """Links that no physical body could be, in words."""
    return [
        f"link {shorten(link.name)}: {finding}"
        for link in chain.links
        for finding in link.inertia.findings()
    ]


def massless(chain: Chain) -> list[str]:
    """Links without mass that other links stand on, or all of them: legal, worth a note."""
    if chain.kinematic_only:
        return ["no link has mass: the arm has poses and Jacobians, but no dynamics"]
    bare = [
        link.name
        for joint, link in zip(chain.joints, chain.links, strict=True)
        if link.inertia.is_zero
        and not link.name.startswith(f"{joint.name} of ")  # between two joints of an MJCF body
    ]
    return [f"link {shorten(name)} has no mass" for name in bare]


def odd_angles(chain: Chain) -> list[str]:
    """Angles that look like degrees: legal, worth a note."""
    notes = []
    for joint in chain.joints:
        what = f"joint {shorten(joint.name)}"
        notes += dh.in_degrees(f"{what}: beta", joint.beta)
        notes += dh.in_degrees(f"{what}: theta", joint.theta)
        if joint.kind == "R":
            notes += dh.in_degrees(f"{what}: a limit", joint.lower, joint.upper)
    return notes


def motion(chain: Chain) -> list[str]:
    """Joints that can accelerate without any torque, found at a few postures."""
    with importing:
        from armdyn.algorithms.crba import mass_matrix  # the one algorithm that a chain asks

    arm = chain.on(float)
    rotors = np.array([joint.rotor_inertia for joint in chain.joints])
    for q in postures(chain.n):
        M: np.ndarray = np.array(mass_matrix(arm, q)) + np.diag(rotors)
        scale = np.sqrt(np.abs(M.diagonal()))
        scale[scale == 0] = 1.0
        with np.errstate(over="ignore"):
            scaled = M / scale / scale[:, None]
        if not np.isfinite(scaled).all():
            return [INDEFINITE]
        moments, directions = np.linalg.eigh(scaled)
        least = int(np.abs(moments).argmin())
        if abs(moments[least]) > SINGULAR:
            return [INDEFINITE] if moments[0] < 0 else []
        worst = int(np.abs(directions[:, least]).argmax())
    name = chain.joints[worst].name
    return [
        f"joint {shorten(name)} moves nothing that has inertia: the mass matrix is singular at "
        "every posture tried; give the links beyond it mass, or lock it: "
        f"lock={{{shorten(name)}: 0}}"
    ]


def postures(n: int) -> Iterator[list[float]]:
    """A few postures of n joints, angles from -pi to pi, without any pattern."""
    for k in range(POSTURES):
        parts = (GOLDEN * (k * n + i + 1) % 1 for i in range(n))
        yield [math.pi * (2 * part - 1) for part in parts]
