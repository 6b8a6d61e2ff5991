"""What the page draws of a chain: joints, the paths of its links, masses and ellipsoids."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from armdyn.chain import Chain
from armdyn.chain.inertia import Inertia
from armdyn.chain.parts import Joint

DETOUR = 1.75  # a path along axes is drawn unless so much longer than the straight way
ON_AXIS = 1e-6  # of the arm's length: a link's frame this near its joint's axis is on it

Point = np.ndarray


def drawing(chain: Chain) -> dict[str, Any]:
    """The arm as plain data; positions in metres, in the frame E_i of each link."""
    nodes = [_node(chain, i) for i in range(chain.n)]
    paths = [_path(chain, nodes, i) for i in range(chain.n)]
    pedestal = _pedestal(chain, nodes[0])
    reach = sum(map(_length, [pedestal, *paths])) + sum(map(_slide, chain.joints))
    return {
        "name": chain.name,
        "mass": chain.mass,
        "gravity": list(chain.gravity),
        "base": chain.base.matrix.ravel().tolist(),
        "tip": chain.tip.matrix.ravel().tolist(),
        "reach": reach or 1.0,
        "pedestal": [point.tolist() for point in pedestal],
        "joints": [_joint(joint, node) for joint, node in zip(chain.joints, nodes, strict=True)],
        "links": [
            {
                "name": link.name,
                "mass": link.inertia.mass,
                "com": link.inertia.com.tolist(),
                "ellipsoid": ellipsoid(link.inertia),
                "path": [point.tolist() for point in path],
            }
            for link, path in zip(chain.links, paths, strict=True)
        ],
        "notes": list(chain.notes),
    }


def _joint(joint: Joint, node: float) -> dict[str, Any]:
    """A joint's row of the table, its limits (None where there is none) and its place on z."""
    limits = {key: _finite(getattr(joint, key)) for key in ("lower", "upper", "velocity", "effort")}
    row = {key: getattr(joint, key) for key in ("name", "kind", "b", "beta", "d", "theta")}
    return {**row, **limits, "node": node, "rod": _rod(joint, node)}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _rod(joint: Joint, node: float) -> list[float] | None:
    """From where to where on z the rod of a sliding joint goes: it never leaves its link.

    None for a joint that turns, or slides without limits.
    """
    if joint.kind == "R" or not (math.isfinite(joint.lower) and math.isfinite(joint.upper)):
        return None
    return [node - max(joint.upper, 0.0), node - min(joint.lower, 0.0)]


def _slide(joint: Joint) -> float:
    """How far a joint slides from zero [m]."""
    if joint.kind == "R":
        return 0.0
    return max(abs(x) if math.isfinite(x) else 0.0 for x in (joint.lower, joint.upper))


# Paths -------------------------------------------------------------------------------------------


def _node(chain: Chain, i: int) -> float:
    """Where on z_i joint i is drawn: at its link's own frame, if that stands on the axis."""
    link, pose = chain.find_frame(chain.links[i].name)
    x, y, z = pose.translation
    scale = max(math.hypot(x, y, z), *(math.hypot(j.b, j.d) for j in chain.joints))
    return z if link == i and math.hypot(x, y) <= ON_AXIS * scale else 0.0


def _path(chain: Chain, nodes: Sequence[float], i: int) -> list[Point]:
    """The way from joint i to the next one, or to the tip, in E_i."""
    start = np.array([0.0, 0.0, nodes[i]])
    if i + 1 == chain.n:
        end = np.array(chain.tip.translation)
        return _short([start, np.array([0.0, 0.0, end[2]]), end])
    row = chain.joints[i + 1]
    corner = np.array([row.b, 0.0, 0.0])
    along = np.array([0.0, -math.sin(row.beta), math.cos(row.beta)])
    return _short([start, np.zeros(3), corner, corner + (row.d + nodes[i + 1]) * along])


def _pedestal(chain: Chain, node: float) -> list[Point]:
    """The way from the base's origin to the first joint, in the base frame."""
    pose = chain.base
    end = np.array(pose.translation) + node * np.array(pose.rotation)[:, 2]
    return _short([np.zeros(3), np.array([0.0, 0.0, end[2]]), end])


def _short(path: list[Point]) -> list[Point]:
    """A path without corners that are none, or the straight way where the path is a detour."""
    straight = float(np.linalg.norm(path[-1] - path[0]))
    if _length(path) > DETOUR * straight:
        path = [path[0], path[-1]]
    kept = [path[0]]
    for point in path[1:]:
        if np.linalg.norm(point - kept[-1]) > 1e-9 * max(1.0, straight):
            kept.append(point)
    return kept


def _length(path: Sequence[Point]) -> float:
    return float(sum(np.linalg.norm(b - a) for a, b in zip(path, path[1:], strict=False)))


# Inertia -----------------------------------------------------------------------------------------


def ellipsoid(body: Inertia) -> dict[str, Any] | None:
    """The solid ellipsoid of even density that has this body's mass and inertia.

    Its half axes a, b, c [m] follow from the principal moments: m (b^2 + c^2) / 5 = I_a, and so
    on. None for a body that has no mass.
    """
    if body.mass <= 0:
        return None
    moments, axes = np.linalg.eigh(body.about_com)
    squares = 2.5 / body.mass * (moments.sum() - 2 * moments)
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1
    return {"radii": np.sqrt(squares.clip(0.0)).tolist(), "axes": axes.ravel().tolist()}
