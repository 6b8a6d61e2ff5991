"""Pictures of an identification: torques, measured and predicted; parameters and intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from armdyn.errors import cut
from armdyn.output import files

MEASURED, PREDICTED, LEFT_OVER, PRIOR = "#8c8c8c", "#1f5f99", "#c0392b", "#b8a038"
NORMAL = 1.959964  # standard deviations to each side of 95 % of a normal distribution
MOST_POINTS = 4000  # of a line: more are not seen
SPREAD = 20.0  # times the median: beyond it values are drawn on a logarithmic scale
LONGEST = 22  # characters of a parameter's name


class Torques(NamedTuple):
    """Torques of a motion, in segments between which nothing is known."""

    joints: Sequence[str]  # their names
    kinds: str  # "R" or "P" of each
    times: Sequence[np.ndarray]  # [s], (M,) each
    measured: Sequence[np.ndarray]  # (M, n) each
    predicted: Sequence[np.ndarray]
    rms: Sequence[float] = ()  # of their difference, where not all rows count


class Estimate(NamedTuple):
    """A parameter as it is drawn."""

    name: str
    value: float
    deviation: float  # standard; infinite: not determined
    unit: str
    prior: float = math.nan  # what was thought before


def draw(
    title: str,
    torques: Torques | None = None,
    estimates: Sequence[Estimate] = (),
    path: str | Path | None = None,
) -> Any:
    """A figure of torques over time and of parameters, whichever is given.

    Args:
        title: what stands above it.
        torques: measured and predicted ones.
        estimates: the parameters.
        path: where to save it, if anywhere; the suffix chooses the format.
    """
    heights = [1.7 * len(torques.joints)] if torques else []
    heights += [2.1 * len(_by_unit(estimates))] if estimates else []
    figure = files.figure(9.0 * max(1, len(heights)), max([3.0, *heights]) + 0.5)
    places = list(np.ravel(figure.subfigures(1, max(1, len(heights)))))
    if torques:
        draw_torques(places.pop(0), torques)
    if estimates:
        draw_parameters(places.pop(0), estimates)
    figure.suptitle(title, parse_math=False)
    if path is not None:
        files.save_picture(figure, path)
    return figure


def draw_torques(place: Any, torques: Torques) -> None:
    """A panel a joint: measured and predicted torque, and what is left over."""
    panels = place.subplots(len(torques.joints), 1, sharex=True, squeeze=False).ravel()
    for i, axes in enumerate(panels):
        unit = "N m" if torques.kinds[i] == "R" else "N"
        rms = torques.rms[i] if len(torques.rms) else _rms(torques, i)
        for k, t in enumerate(torques.times):
            every = slice(None, None, max(1, math.ceil(len(t) / MOST_POINTS)))
            measured, predicted = torques.measured[k][every, i], torques.predicted[k][every, i]
            lines = (
                ("measured", measured, MEASURED, 1.6),
                ("predicted", predicted, PREDICTED, 0.9),
                ("measured - predicted", measured - predicted, LEFT_OVER, 0.7),
            )
            for label, values, colour, width in lines:
                named = label if i == k == 0 else None
                axes.plot(t[every], values, color=colour, linewidth=width, label=named)
        axes.set_ylabel(f"torque [{unit}]" if unit == "N m" else f"force [{unit}]")
        said = f"{cut(torques.joints[i], LONGEST)}: rms of the difference {rms:.3g} {unit}"
        axes.set_title(said, loc="left", fontsize="small", parse_math=False)
        _tidy(axes)
    panels[-1].set_xlabel("time [s]")
    _legend(panels[0])


def _rms(torques: Torques, i: int) -> float:
    pairs = zip(torques.measured, torques.predicted, strict=True)
    error = np.concatenate([measured[:, i] - predicted[:, i] for measured, predicted in pairs])
    return math.sqrt(float(np.mean(error**2)))


def draw_parameters(place: Any, estimates: Sequence[Estimate]) -> None:
    """A panel a unit: each value with its interval of 95 %, and what was thought before."""
    groups = _by_unit(estimates)
    panels = place.subplots(len(groups), 1, squeeze=False).ravel()
    for axes, (unit, group) in zip(panels, groups.items(), strict=True):
        spots = np.arange(len(group))
        values = np.array([each.value for each in group])
        half = NORMAL * np.array([each.deviation for each in group])
        told = np.isfinite(half)
        if (usual := float(np.median(np.abs(values)))) and np.abs(values).max() > SPREAD * usual:
            axes.set_yscale("symlog", linthresh=usual)
        before = [each.prior for each in group]
        if np.isfinite(before).any():
            hollow = {"color": PRIOR, "markersize": 6, "fillstyle": "none", "label": "before"}
            axes.plot(spots, before, "D", **hollow)
        found = {"color": PREDICTED, "markersize": 3.5, "capsize": 2.5, "linewidth": 1.1}
        points = spots[told], values[told], half[told]
        axes.errorbar(*points, fmt="o", label="identified, 95 %", **found)
        if not told.all():
            unknown = {"color": LEFT_OVER, "markersize": 5, "label": "not determined"}
            axes.plot(spots[~told], values[~told], "x", **unknown)
        names = [cut(each.name, LONGEST) for each in group]
        axes.set_xticks(spots, names, rotation=90, fontsize="x-small", parse_math=False)
        axes.set_xlim(-0.7, len(group) - 0.3)
        axes.set_ylabel(f"[{unit}]" if unit else "")
        axes.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
        _tidy(axes)
    _legend(panels[0])


def _by_unit(estimates: Sequence[Estimate]) -> dict[str, list[Estimate]]:
    groups: dict[str, list[Estimate]] = {}
    for each in estimates:
        groups.setdefault(each.unit, []).append(each)
    return groups


def _legend(axes: Any) -> None:
    """Above the panel, where it hides nothing."""
    place: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1.0, 0.98)}
    axes.legend(frameon=False, fontsize="small", ncols=3, borderaxespad=0.0, **place)


def _tidy(axes: Any) -> None:
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
