"""Have a log's numbers the units and signs that they should have?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from armdyn.errors import IdentificationError, cut, shorten
from armdyn.identification.logs import Log
from armdyn.robot import Robot

if TYPE_CHECKING:
    from armdyn.identification.signals import Motions

DEGREE = 180 / math.pi
ANGLES = {1.0: "", DEGREE: "qd in degrees", 1 / DEGREE: "q in degrees"}
TIMES = {1.0: "", 1e3: "t in milliseconds", 1e6: "t in microseconds", 1e9: "t in nanoseconds"}
NEAR = 1.25  # a factor of slopes that are taken for the same
LOOSE = 0.9  # a correlation below which a slope says nothing
WINDOWS = 50  # of a record, over each of which qd is summed up
ROWS = 4000  # of a log that torques are judged by
TOLD = 0.5  # of a torque's variance: what a model must explain to be judged by
GEARED = 5.0  # a factor beyond which a torque is not the joint's own


def check_speeds(
    log: Log, times: Sequence[np.ndarray], signals: Sequence[Mapping[str, np.ndarray]]
) -> None:
    """Refuse speeds that are not the rates of the positions, in radians and seconds.

    What counts is the way that qd makes over a window of time, on the way that q goes: unlike
    differences from row to row, that is not lost in noise.
    """
    ways, gone = np.empty((0, log.n)), np.empty((0, log.n))
    window = max(1, sum(map(len, times)) // WINDOWS)
    for t, found in zip(times, signals, strict=True):
        if len(t) > 1:
            steps = np.diff(t, prepend=t[0], append=t[-1])
            summed = (found["qd"] * ((steps[1:] + steps[:-1]) / 2)[:, None]).cumsum(axis=0)
            w = min(window, len(t) - 1)
            every = max(1, len(t) // ROWS)  # windows overlap, and some tell enough
            ways = np.concatenate([ways, found["q"][w::every] - found["q"][:-w:every]])
            gone = np.concatenate([gone, summed[w::every] - summed[:-w:every]])
    for i in range(log.n):
        q, qd = ways[:, i], gone[:, i]
        sizes = float(q @ q), float(qd @ qd)
        if min(sizes) == 0 or abs(q @ qd) < LOOSE * math.sqrt(sizes[0]) * math.sqrt(sizes[1]):
            continue  # it does not move, or only as noise does
        slope = float(q @ qd) / sizes[0]
        if not 1 / NEAR < slope < NEAR:
            joint = shorten(log.joints[i]) if log.joints else str(i + 1)
            raise IdentificationError(
                f"{cut(log.name)}: qd of joint {joint} is {slope:.4g} times dq/dt"
                f"{_explanation(slope)}; expected radians (or metres) and seconds"
            )


def _explanation(slope: float) -> str:
    """What may have made a slope of qd on dq/dt other than 1, in words."""
    for angle, turned in ANGLES.items():
        for time, timed in TIMES.items():
            if 1 / NEAR < slope / (angle * time) < NEAR:
                return f", as with {' and '.join(filter(None, (turned, timed)))}"
    if 1 / NEAR < slope / (60 / math.tau) < NEAR:
        return ", as with qd in revolutions a minute"
    return ", which has another sign" if slope < 0 else ""


def doubts(robot: Robot, motions: Motions) -> list[str]:
    """What looks wrong beside the given robot, in words: torques' signs and sizes, angles.

    A joint's torque is compared with what gravity makes of the given robot, or where that says
    nothing, such as about an upright axis, with what its motion makes of it. A robot whose masses
    are guessed will do, for only a wrong sign or a factor like a gear ratio is told.
    """
    q, qd, qdd, tau = (np.concatenate(each) for each in zip(*motions.segments, strict=True))
    every = max(1, len(q) // ROWS)
    q, qd, qdd, tau = q[::every], qd[::every], qdd[::every], tau[::every]
    found = list(_beyond_limits(robot, q))
    if robot.chain.kinematic_only:  # there is nothing to compare with
        return found
    weight = robot.gravity(q)
    motion = robot.inverse_dynamics(q, qd, qdd) - weight
    for i, name in enumerate(robot.joint_names):
        rest = [qd[:, i], np.sign(qd[:, i]), np.ones(len(q))]
        for cause, x, other in (("gravity", weight, motion), ("motion", motion, weight)):
            factor = _factor(tau[:, i], x[:, i], np.column_stack([other[:, i], *rest]))
            if factor is not None:
                said = _doubt(factor, cause)
                found += [f"the torque of joint {shorten(name)} is {said}"] if said else []
                break
    return found


def _factor(tau: np.ndarray, x: np.ndarray, others: np.ndarray) -> float | None:
    """The coefficient of x in tau beside others; None if x explains too little of it."""
    scale = np.sqrt((others**2).mean(axis=0))
    basis = others[:, scale > 0] / scale[scale > 0]
    alone, left = (each - basis @ np.linalg.lstsq(basis, each, rcond=None)[0] for each in (x, tau))
    size = float(alone @ alone)
    if size <= 1e-6 * float(x @ x) or not left.any():
        return None
    factor = float(alone @ left) / size
    return factor if factor**2 * size > TOLD * float(left @ left) else None


def _doubt(factor: float, cause: str) -> str:
    """What such a factor may mean, in words; empty if it means nothing.

    The motion of a rotor, which a given robot seldom knows of, makes a factor larger: a large one
    of the motion means nothing, and the gear behind a small one is larger still.
    """
    size, turned = abs(factor), " with its sign the other way" if factor < 0 else ""
    said = f"{factor:.3g} times what {cause} makes of the given robot"
    if size < 1 / GEARED:
        least = "about" if cause == "gravity" else "at least"
        return (
            f"{said}: is it measured at the motor{turned}, behind a gear of {least} {1 / size:.3g}?"
        )
    if size > GEARED and cause == "gravity":
        return f"{said}: is it multiplied by a gear ratio once too often{turned}?"
    return f"{said}: is its sign the other way?" if turned else ""


def _beyond_limits(robot: Robot, q: np.ndarray) -> Iterator[str]:
    lower, upper = robot.position_limits.T
    least, most = q.min(axis=0), q.max(axis=0)
    slack = 0.05 * np.where(np.isfinite(upper - lower), upper - lower, 0.0)
    for i in np.flatnonzero((least < lower - slack) | (most > upper + slack)):
        turned = robot.chain.kinds[i] == "R" and max(-least[i], most[i]) > 3 * math.tau
        yield (
            f"joint {shorten(robot.joint_names[i])} moves from {least[i]:.4g} to {most[i]:.4g}, "
            f"beyond its limits {lower[i]:.4g} and {upper[i]:.4g}"
            + (": is q in degrees?" if turned else "")
        )
