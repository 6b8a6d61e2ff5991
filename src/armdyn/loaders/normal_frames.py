"""Joint axes as they stand at q = 0 in, normal driving-axis frames (modified DH) out.

A joint frame J_i stands on link i with its z-axis along joint axis i. The step from J_i to
J_{i+1} splits, in one way up to signs, into Rz(turn_out) Tz(slide_out) Rx(beta) Tx(b)
Rz(-turn_in) Tz(-slide_in): out along axis i to the common normal, along the normal, and on axis
i + 1 back to J_{i+1}. So E_i is J_i turned and slid by ``out``, and what lies between ``in`` of
the step before and ``out`` of this one is theta_i and d_i.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from armdyn.chain.given import Triple
from armdyn.chain.pose import QUARTER, Pose, cos_sin, quarter_turns, rotation_about
from armdyn.errors import ModelError, shorten

EPS = sys.float_info.epsilon
ROUNDING = 64 * EPS  # of a rotation's entries, or of the arm's length: noise, read as zero
PARALLEL = 1e-9  # rad: axes closer than this are parallel, x-axes closer to square are square
STEEP = 0.1  # rad: a free line that leans less against another is better laid on a known point
NOTED, REFUSED = 1e-12, 1e-7  # relative accuracy that nearly parallel axes may cost
COSTS = "cost a relative accuracy of up to"
SEVERAL = 8.0  # times the loss predicted; random arms have lost five times it, one in thousands


class Axis(NamedTuple):
    """A joint of a serial arm at q = 0."""

    name: str
    revolute: bool
    placement: Pose  # of link i's own frame in that of link i - 1 (the first: in the base frame)
    direction: Triple  # a unit vector in link i's own frame, through whose origin the axis runs


class Extent(NamedTuple):
    """How large an arm is, with all joints at zero."""

    reach: float  # its length [m], the measure of rounding
    slides: float  # how far its prismatic joints slide from q = 0, together [m]
    inertia: float  # the largest that a joint moves [kg m^2, or kg]
    carried: tuple[float, ...]  # the mass that each joint moves [kg]

    def gyration(self, i: int) -> float:
        """The radius [m] at which what joint i carries would have that inertia, or the reach."""
        if self.inertia <= 0 or self.carried[i] <= 0:
            return self.reach
        return min(self.reach, math.sqrt(self.inertia / self.carried[i]))


class TableRow(NamedTuple):
    """One row of the modified DH table, and where E_i stands in link i's own frame."""

    b: float
    beta: float
    d: float
    theta: float
    frame: Pose


class Step(NamedTuple):
    """The common normal of two successive axes; turns [rad] and slides [m] as the module says."""

    turn_out: float
    slide_out: float
    b: float
    beta: float
    turn_in: float
    slide_in: float


def normal_frames(
    axes: Sequence[Axis], extent: Extent, snap: float, moved: list[float]
) -> tuple[list[TableRow], list[str]]:
    """The rows of the table, the first of them zero, and notes on what was moved or lost.

    Args:
        axes: the joints from base to tip.
        extent: of the arm.
        snap: angles within ``snap`` [rad] of a quarter turn become it.
        moved: by how much each angle was snapped before [rad], to which those snapped here are
            added. Snapping by less than PARALLEL costs nothing: it is the rounding of the file.
    """
    reach = extent.reach
    joint_frames = _joint_frames(axes, reach)
    rows: list[TableRow] = []
    notes: list[str] = []
    before = Step(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for i, axis in enumerate(axes):
        if i + 1 < len(axes):
            across = joint_frames[i].inverse() @ axes[i + 1].placement @ joint_frames[i + 1]
            step = _step(tidy(across, reach), before, reach, snap)
            notes += _losses(axes, i, across, step, extent, snap)
        else:  # nothing follows: x_n as it comes, so that theta_n = d_n = 0
            step = Step(before.turn_in, before.slide_in, 0.0, 0.0, 0.0, 0.0)
        frame = joint_frames[i] @ _along_z(step.turn_out, step.slide_out)
        angles = before.beta, _angle(step.turn_out - before.turn_in)
        beta, theta = (_angle(angle, snap) for angle in angles)
        if i == 0:
            rows.append(TableRow(0.0, 0.0, 0.0, 0.0, tidy(frame, reach)))
        else:
            d = _length(step.slide_out - before.slide_in, reach)
            rows.append(TableRow(before.b, beta, d, theta, tidy(frame, reach)))
            notes += _moved(axis.name, angles, (beta, theta))
            moved += abs(beta - angles[0]), abs(theta - angles[1])
        before = step
    large = sum(move for move in moved if move > PARALLEL)
    if large:
        bound = _tilted(large, extent, 0)
        notes.append(f"angles snapped by {large:.1e} rad in all may {COSTS} {bound}")
    return _with_offsets_in_slides(axes, rows, reach), notes


def _with_offsets_in_slides(
    axes: Sequence[Axis], rows: Sequence[TableRow], reach: float
) -> list[TableRow]:
    """An offset along a revolute axis that is parallel to a prismatic one goes into the slide.

    There it costs nothing, for the slide varies anyway.
    """
    rows = list(rows)
    for i in range(len(rows) - 1):
        outer = rows[i + 1]
        if axes[i + 1].revolute and not axes[i].revolute and outer.beta in (0.0, 2 * QUARTER):
            shift = outer.d if outer.beta == 0 else -outer.d
            frame = tidy(rows[i].frame @ _along_z(0.0, shift), reach)
            d = _length(rows[i].d + shift, reach) if i > 0 else 0.0
            rows[i] = rows[i]._replace(d=d, frame=frame)
            rows[i + 1] = outer._replace(d=0.0)
    return rows


def tidy(pose: Pose, reach: float) -> Pose:
    """A pose without rounding noise: entries of the rotation near 0 and +-1, lengths near 0."""
    R = np.array(pose.rotation)
    whole = np.rint(R) + 0.0  # no negative zero
    R = np.where(abs(R - whole) <= ROUNDING, whole, R)
    return Pose.of(R, [_length(x, reach) for x in pose.translation])


def _length(x: float, reach: float) -> float:
    return float(x) if abs(x) > ROUNDING * reach else 0.0


def _angle(angle: float, snap: float = 0.0) -> float:
    """An angle in (-pi, pi], made a quarter turn where it is within ``snap`` or rounding of it."""
    angle = math.remainder(angle, 4 * QUARTER)
    k = quarter_turns(angle, max(snap, ROUNDING))
    return angle if k is None else k * QUARTER


def _along_z(turn: float, slide: float) -> Pose:
    return Pose.of(rotation_about("z", turn), (0.0, 0.0, slide))


# Joint frames -------------------------------------------------------------------------------


def _joint_frames(axes: Sequence[Axis], reach: float) -> list[Pose]:
    """J_i in link i's own frame: z along the axis, the origin on it.

    A prismatic axis has a direction but no place, so that its line can be laid where it meets
    the axis before; the origin then lies near joint i + 1, where that line passes.
    """
    frames: list[Pose] = []
    for i, axis in enumerate(axes):
        turn = _upright(np.array(axis.direction))
        anchor = np.zeros(3)
        if not axis.revolute:
            follower = axes[i + 1].placement.translation if i + 1 < len(axes) else (0.0, 0.0, 0.0)
            anchor = np.array(follower)
            if frames:
                previous = axis.placement.inverse() @ frames[-1]
                anchor = _meeting(previous, turn[:, 2], anchor)
        frames.append(tidy(Pose.of(turn, anchor), reach))
    return frames


def _upright(z: np.ndarray) -> np.ndarray:
    """Axes with that z, and x as near as can be to the coordinate axis that z is farthest from."""
    farthest = np.eye(3)[abs(z).argmin()]
    x = farthest - (farthest @ z) * z
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def _meeting(previous: Pose, direction: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """A point near ``goal`` whose line along ``direction`` meets the z-axis of ``previous``."""
    origin = np.array(previous.translation)
    normal = np.cross(np.array(previous.rotation)[:, 2], direction)
    lean = np.linalg.norm(normal)
    if lean < STEEP:
        return origin
    normal = normal / lean
    return goal - (normal @ (goal - origin)) * normal


# The common normal --------------------------------------------------------------------------


def _step(across: Pose, before: Step, reach: float, snap: float) -> Step:
    """The step from J_i to J_{i+1}, which stands ``across`` in J_i.

    What geometry leaves free is chosen for d_i = 0 (parallel axes) and theta_i = 0 (coincident
    axes) against the step before.
    """
    R, w = np.array(across.rotation), np.array(across.translation)
    z = R[:, 2]
    parallel = _angle_off_parallel(z) <= max(PARALLEL, snap)
    if not parallel:
        turn_out = math.atan2(z[0], -z[1])
    elif _length(math.hypot(w[0], w[1]), reach):
        turn_out = math.atan2(w[1], w[0])
    else:
        turn_out = before.turn_in
    turn_out = _facing(_angle(turn_out), before.turn_in, w, reach)
    c, s = cos_sin(turn_out)
    x, y = np.array([c, s, 0.0]), np.array([-s, c, 0.0])
    if parallel:
        beta = 0.0 if z[2] > 0 else 2 * QUARTER
        slide_out = before.slide_in
        slide_in = (slide_out - w[2]) * math.copysign(1.0, z[2])
    else:
        beta = math.atan2(-(z @ y), z[2])
        slide_in = -(w @ y) / (z @ y)
        slide_out = w[2] + slide_in * z[2]
    x_in = R.T @ x
    return Step(
        turn_out,
        _length(slide_out, reach),
        _length(w @ x, reach),
        _angle(beta),
        _angle(math.atan2(x_in[1], x_in[0])),
        _length(slide_in, reach),
    )


def _angle_off_parallel(z: np.ndarray) -> float:
    return math.atan2(math.hypot(z[0], z[1]), abs(z[2]))


def _facing(turn: float, turn_in: float, w: np.ndarray, reach: float) -> float:
    """The normal's direction, of the two it has: |theta_i| < 90 degrees, else b_{i+1} >= 0."""
    theta = _angle(turn - turn_in)
    c, s = cos_sin(turn)
    b = _length(c * float(w[0]) + s * float(w[1]), reach)
    if abs(abs(theta) - QUARTER) > PARALLEL:
        away = abs(theta) > QUARTER
    else:
        away = b < 0 or (b == 0 and theta < 0)
    return _angle(turn + 2 * QUARTER) if away else turn


# What is moved, what is lost ----------------------------------------------------------------


def _moved(name: str, angles: tuple[float, float], snapped: tuple[float, float]) -> list[str]:
    moves = [after - before for before, after in zip(angles, snapped, strict=True)]
    return [
        f"joint {shorten(name)}: {what} snapped by {move:.1e} rad to a quarter turn"
        for what, move in zip(("beta", "theta"), moves, strict=True)
        if abs(move) > PARALLEL
    ]


def _losses(
    axes: Sequence[Axis], i: int, across: Pose, step: Step, extent: Extent, snap: float
) -> list[str]:
    """What it costs that axes i and i + 1 are nearly parallel, of the largest a quantity can be.

    Made parallel, they misplace what they carry, along with its slides; else their common normal
    runs off, and the frames with it. Either weighs the more, the closer to its joints mass lies.
    """
    angle = _angle_off_parallel(np.array(across.rotation)[:, 2])
    if angle <= ROUNDING or angle >= max(STEEP, snap):
        return []
    first, second = shorten(axes[i].name), shorten(axes[i + 1].name)
    pair = f"the axes of joints {first} and {second} are {angle:.2e} rad off parallel"
    if angle <= max(PARALLEL, snap):
        return [f"{pair}: made parallel, which may {COSTS} {_tilted(angle, extent, i + 1)}"]
    away = max(abs(step.slide_out), abs(step.slide_in))
    loss = EPS * (away / extent.gyration(i + 1)) ** 2
    said = (
        f"{pair}, so that their common normal stands {away:.1e} m away and may {COSTS} "
        f"{SEVERAL * loss:.1e}"
    )
    if loss > REFUSED:
        raise ModelError(f"{said}; snap={_round_up(angle):g} (rad) accepts making them parallel")
    return [said] if SEVERAL * loss > NOTED else []


def _tilted(angle: float, extent: Extent, i: int) -> str:
    """The relative accuracy that may be lost where joint i is turned by that much [rad]."""
    bound = SEVERAL * angle * (extent.reach + extent.slides) / extent.gyration(i)
    slides = f" while slides stay within {extent.slides:.3g} m in all" if extent.slides else ""
    return f"{bound:.1e}{slides}"


def _round_up(angle: float) -> float:
    """An angle a little larger, with one digit."""
    size = 10.0 ** math.floor(math.log10(angle))
    return math.ceil(1.0001 * angle / size) * size
