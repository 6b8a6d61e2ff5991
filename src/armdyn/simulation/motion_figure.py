"""Pictures of simulated motions: lines of one state, bands of many."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from armdyn.errors import ShapeError, shorten, whole
from armdyn.output import files
from armdyn.robot import Robot

if TYPE_CHECKING:
    from armdyn.simulation.results import Result
    from armdyn.simulation.trajectories import Trajectory

BANDS = ((0.0, 1.0, 0.12), (0.25, 0.75, 0.22))  # quantiles between which is drawn, opacity
PLAIN: dict[str, Any] = {"frameon": False, "fontsize": "small", "borderaxespad": 0.2}
STYLES = ("-", "--", ":", "-.")  # of ten joints each, for there are ten colours
UNITS = {  # of revolute joints, of prismatic ones
    "position": ("rad", "m"),
    "speed": ("rad/s", "m/s"),
    "acceleration": ("rad/s^2", "m/s^2"),
    "torque": ("N m", "N"),
}
MOTION = ("position", "speed", "acceleration")
POINTS = 1001  # of a trajectory that is drawn
DASHES = (0, (4, 4))  # of limits


def draw(result: Result, path: str | Path | None, state: int | None) -> Any:
    """Positions, speeds, torques and energy over time, saved if there is a path.

    Of one state as lines; of a batch, where no state is named, as bands.
    """
    chosen = _chosen(result, state)
    figure = files.figure(10, 7.5)
    panels = list(figure.subplots(2, 2, sharex=True).flat)
    shape = (-1, len(result.t), result.robot.n)
    motion = {"position": result.q, "speed": result.qd, "torque": result.tau}
    for axes, (name, values) in zip(panels, motion.items(), strict=False):
        step = "post" if result.held and values is result.tau else None
        _draw_joints(axes, result.t, values.reshape(shape)[chosen], result.robot.joint_names, step)
        axes.set_title(f"{name} [{_unit(name, result.robot.chain.kinds)}]", loc="left")
    for k, (name, values) in enumerate(zip(result.energy._fields, result.energy, strict=True)):
        rows = values.reshape(shape[:2])[chosen]
        _draw_line(panels[3], result.t, rows, ("C0", "C1", "0.2")[k], name, None, "-")
    panels[3].set_title("energy [J]", loc="left")
    panels[3].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, **PLAIN)
    return _finish(figure, panels, 2, _title(result, chosen), path)


def draw_trajectory(trajectory: Trajectory, path: str | Path | None, robot: Robot | None) -> Any:
    """Positions, speeds and accelerations over time, with an arm's limits as dashed lines."""
    n = trajectory.start.shape[-1]
    if robot is not None and (not isinstance(robot, Robot) or robot.n != n):
        raise ShapeError(f"robot is {shorten(robot)}; expected a Robot of {n} joints, or None")
    names = robot.joint_names if robot else [f"joint {i + 1}" for i in range(n)]
    t = np.linspace(0.0, trajectory.duration, POINTS)
    figure = files.figure(10, 7.5)
    panels = list(figure.subplots(3, 1, sharex=True))
    limits = (robot.position_limits, robot.velocity_limits[:, None] * (-1, 1)) if robot else ()
    for k, (name, values) in enumerate(zip(MOTION, trajectory(t), strict=True)):
        rows = np.moveaxis(values.reshape(POINTS, -1, n), 0, 1)
        _draw_joints(panels[k], t, rows if len(rows) > 1 else rows[0], names, None)
        unit = f" [{_unit(name, robot.chain.kinds)}]" if robot else ""
        panels[k].set_title(name + unit, loc="left")
        for i, pair in enumerate(limits[k] if k < len(limits) else ()):
            for level in pair[np.isfinite(pair)]:
                panels[k].axhline(level, color=f"C{i % 10}", linewidth=0.8, linestyle=DASHES)
    title = f"{trajectory.name}, {trajectory.duration:.4g} s"
    return _finish(figure, panels, 1, f"{robot.name}, {title}" if robot else title, path)


def _draw_joints(
    axes: Any, t: np.ndarray, rows: np.ndarray, names: Sequence[str], step: str | None
) -> None:
    for i, joint in enumerate(names):
        _draw_line(axes, t, rows[..., i], f"C{i % 10}", joint, step, STYLES[i // 10 % 4])


def _finish(figure: Any, panels: list[Any], last: int, title: str, path: str | Path | None) -> Any:
    """Grids, the time below the last panels, one legend and the title; saved if there is a path."""
    lines = [line for line in panels[0].get_lines() if not line.get_label().startswith("_")]
    for axes in panels:
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in panels[-last:]:
        axes.set_xlabel("time [s]")
    figure.legend(handles=lines, loc="outside lower center", ncols=min(7, len(lines)), **PLAIN)
    figure.suptitle(title, parse_math=False)
    if path is not None:
        files.save_picture(figure, path)
    return figure


def _chosen(result: Result, state: int | None) -> slice | int:
    """The states to draw, of a batch in C order."""
    states = result.q[..., 0, 0].size
    if state is None:
        return slice(None) if states > 1 else 0
    number = whole(state)
    if number is None or not -states <= number < states:
        raise ShapeError(f"state is {shorten(state)}; expected one of {states}, counted from 0")
    return number


def _draw_line(
    axes: Any,
    t: np.ndarray,
    rows: np.ndarray,
    colour: str,
    label: str,
    step: str | None,
    linestyle: str,
) -> None:
    """One state as a line; of several the median, in bands."""
    style = {"color": colour, "label": label, "linewidth": 1.2, "linestyle": linestyle}
    drawstyle = f"steps-{step}" if step else "default"
    if rows.ndim == 1:
        axes.plot(t, rows, drawstyle=drawstyle, **style)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a time that no state has reached
        for low, high, opacity in BANDS:
            ends = np.nanquantile(rows, (low, high), axis=0)
            axes.fill_between(t, *ends, color=colour, alpha=opacity, linewidth=0, step=step)
        axes.plot(t, np.nanmedian(rows, axis=0), drawstyle=drawstyle, **style)


def _unit(name: str, kinds: str) -> str:
    turning, sliding = UNITS[name]
    units = [unit for unit, kind in ((turning, "R"), (sliding, "P")) if kind in kinds]
    return " or ".join(units)


def _title(result: Result, chosen: slice | int) -> str:
    named = f"{result.robot.name}, {result.integrator}"
    states = result.q[..., 0, 0].size
    if isinstance(chosen, slice):
        return f"{named}: median, quartiles and extremes of {states} states"
    return named if states == 1 else f"{named}: state {chosen} of {states}"
