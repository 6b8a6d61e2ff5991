"""Pictures of simulated motions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from armdyn.output import files

if TYPE_CHECKING:
    from armdyn.simulation.results import Result


def draw(result: Result, path: str | Path | None, state: int) -> Any:
    """Positions, speeds, torques and energy of one state over time, saved if there is a path."""
    figure = files.figure(10, 7)
    panels = figure.subplots(2, 2, sharex=True).flat
    shape = (-1, len(result.t), result.robot.n)
    for axes, (values, title) in zip(
        panels,
        (
            (result.q, "position [rad or m]"),
            (result.qd, "speed [rad/s or m/s]"),
            (result.tau, "torque [N m or N]"),
        ),
        strict=False,
    ):
        rows = values.reshape(shape)[state]
        drawstyle = "steps-post" if result.held and values is result.tau else "default"
        for i, joint in enumerate(result.robot.joint_names):
            axes.plot(result.t, rows[:, i], label=joint, drawstyle=drawstyle, linewidth=1.2)
        axes.set_title(title)
    panels = figure.axes
    panels[0].legend(frameon=False, fontsize="small")
    for name, values in zip(result.energy._fields, result.energy, strict=True):
        panels[3].plot(result.t, values.reshape(shape[:2])[state], label=name, linewidth=1.2)
    panels[3].set_title("energy [J]")
    panels[3].legend(frameon=False, fontsize="small")
    for axes in panels:
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in panels[2:]:
        axes.set_xlabel("time [s]")
    figure.suptitle(f"{result.robot.name}, {result.integrator}")
    if path is not None:
        files.save_picture(figure, path)
    return figure
