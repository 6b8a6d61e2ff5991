"""Pictures of simulated motions: lines of one state, bands of many."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from armdyn.errors import ShapeError, shorten, whole
from armdyn.output import files

if TYPE_CHECKING:
    from armdyn.simulation.results import Result

BANDS = ((0.0, 1.0, 0.12), (0.25, 0.75, 0.22))  # quantiles between which is drawn, opacity
PLAIN: dict[str, Any] = {"frameon": False, "fontsize": "small", "borderaxespad": 0.2}
STYLES = ("-", "--", ":", "-.")  # of ten joints each, for there are ten colours
UNITS = {  # of revolute joints, of prismatic ones
    "position": ("rad", "m"),
    "speed": ("rad/s", "m/s"),
    "torque": ("N m", "N"),
}


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
        rows = values.reshape(shape)[chosen]
        step = "post" if result.held and values is result.tau else None
        for i, joint in enumerate(result.robot.joint_names):
            _draw_line(axes, result.t, rows[..., i], f"C{i % 10}", joint, step, STYLES[i // 10 % 4])
        axes.set_title(f"{name} [{_unit(name, result.robot.chain.kinds)}]", loc="left")
    for k, (name, values) in enumerate(zip(result.energy._fields, result.energy, strict=True)):
        rows = values.reshape(shape[:2])[chosen]
        _draw_line(panels[3], result.t, rows, ("C0", "C1", "0.2")[k], name, None, "-")
    panels[3].set_title("energy [J]", loc="left")
    panels[3].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, **PLAIN)
    for axes in panels:
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in panels[2:]:
        axes.set_xlabel("time [s]")
    lines = panels[0].get_lines()
    figure.legend(handles=lines, loc="outside lower center", ncols=min(7, len(lines)), **PLAIN)
    figure.suptitle(_title(result, chosen), parse_math=False)
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
