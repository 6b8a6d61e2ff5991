"""Pictures of exciting motions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from armdyn.output import files

if TYPE_CHECKING:
    from armdyn.identification.excitation import Excitation

TIMES = 1000  # drawn


def draw(excitation: Excitation, path: str | Path | None) -> Any:
    """Position, speed and acceleration in parts of what is allowed, saved if there is a path."""
    figure = files.figure(10, 7)
    t = np.linspace(0, excitation.duration, TIMES)
    q, qd, qdd = excitation(t)
    limits = excitation.limits
    half, speed, acceleration = limits.sizes
    panels = (
        ((q - limits.centre) / half, "position, from the middle of its range"),
        (qd / speed, "speed"),
        (qdd / acceleration, "acceleration"),
    )
    drawn = figure.subplots(3, 1, sharex=True)
    for axes, (values, title) in zip(drawn, panels, strict=True):
        axes.plot(t, values, linewidth=1.2, label=excitation.robot.joint_names)
        axes.axhspan(-1, 1, color="0.5", alpha=0.08, linewidth=0)
        axes.set_title(f"{title}, in parts of its limit")
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    lines = drawn[0].get_lines()[: excitation.robot.n]
    place: dict[str, Any] = {"loc": "outside lower center", "ncols": min(7, len(lines))}
    figure.legend(handles=lines, frameon=False, fontsize="small", **place)
    drawn[2].set_xlabel("time [s]")
    figure.suptitle(excitation.summary(), parse_math=False)
    if path is not None:
        files.save_picture(figure, path)
    return figure
