"""An arm as a stick figure: links, joint axes, frames and masses in space."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from armdyn.algorithms.kinematics import IN_ITSELF, Placed, frames, named_frame
from armdyn.chain.arm import Arm
from armdyn.errors import ShapeError, cut, shorten
from armdyn.output import files
from armdyn.spatial import Vector

if TYPE_CHECKING:
    from armdyn.chain import Chain

LINK, REVOLUTE, PRISMATIC, MASS = "#37424d", "#c0392b", "#2e8b57", "#b8860b"
AXES = {"x": "#d62728", "y": "#2ca02c", "z": "#1f77b4"}
LENGTH = 0.07  # of the axes of a frame, in parts of the figure's size,
AXIS = {"R": 0.1, "P": 0.16}  # and of half a joint's axis
ROOM = 0.58  # of that size to each side of the middle
LARGEST = 260.0  # area of the heaviest link's mark [points^2]
SMALLEST = 1e-3  # m: the size of an arm all of whose frames coincide


def draw(chain: Chain, q: ArrayLike | None = None, path: str | Path | None = None) -> Any:
    """The arm at a posture, saved if there is a path: see ``Robot.plot``."""
    posture = home(chain) if q is None else np.asarray(q, float)
    if posture.shape != (chain.n,) or not np.isfinite(posture).all():
        raise ShapeError(f"q has one finite number for each of {chain.n} joints, not {shorten(q)}")
    arm, state = chain.on(float), posture.tolist()
    placed = frames(arm, state)
    tip = named_frame(arm, state, None)
    skeleton = np.array([*_skeleton(arm, state, placed), list(tip.o)])
    figure = files.figure(8.0, 7.0)
    axes = figure.add_subplot(projection="3d", computed_zorder=False)
    size = max(float(np.ptp(skeleton, axis=0).max()), SMALLEST)
    axes.plot(*skeleton.T, color=LINK, linewidth=3, solid_capstyle="round", label="links")
    for name, kind, colour in (("revolute", "R", REVOLUTE), ("prismatic", "P", PRISMATIC)):
        half = AXIS[kind] * size
        _draw_axes(axes, chain, placed[1:], kind, f"axis of a {name} joint", colour, half)
    _draw_frames(axes, [IN_ITSELF, *placed[1:], tip], LENGTH * size)
    _draw_masses(axes, chain, placed[1:])
    _write_names(axes, [*placed[1:], tip], [*map(str, range(1, chain.n + 1)), "tip"], 0.02 * size)
    middle = (skeleton.min(axis=0) + skeleton.max(axis=0)) / 2
    for axis, centre in zip("xyz", middle.tolist(), strict=True):
        getattr(axes, f"set_{axis}label")(f"{axis} [m]")
        getattr(axes, f"set_{axis}lim")(centre - ROOM * size, centre + ROOM * size)
        axes.locator_params(axis, nbins=6)
    axes.set_box_aspect((1, 1, 1), zoom=1.1)
    shown = ", ".join(f"{x + 0.0:.3g}" for x in posture)
    figure.suptitle(f"{cut(chain.name)} at q = ({shown})", parse_math=False)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize="small")
    if path is not None:
        files.save_picture(figure, path)
    return figure


def home(chain: Chain) -> np.ndarray:
    """Zero, or the nearest position within a joint's limits."""
    return np.array([min(max(0.0, joint.lower), joint.upper) for joint in chain.joints])


def _skeleton(arm: Arm, q: Sequence[float], placed: Sequence[Placed]) -> Iterator[list[float]]:
    """The base's origin, then of each joint the foot of the common normal, and its frame."""
    yield [0.0, 0.0, 0.0]
    yield list(placed[0].o)
    for b, before, here in zip(arm.b, placed, placed[1:], strict=False):
        yield list(before.o + b * before.x)
        yield list(here.o)


def _draw_axes(
    axes: Any,
    chain: Chain,
    placed: Sequence[Placed],
    kind: str,
    label: str,
    colour: str,
    half: float,
) -> None:
    """The axes of the joints of one kind, as pieces of them."""
    style = {
        "color": colour,
        "linewidth": 6 if kind == "R" else 3,
        "alpha": 0.55 if kind == "R" else 0.9,
        "zorder": 3,
    }
    for joint, frame in zip(chain.joints, placed, strict=True):
        if joint.kind == kind:
            o, z = np.array([*frame.o]), np.array([*frame.z])
            ends = np.array([o - half * z, o + half * z])
            dashes = "-" if kind == "R" else (0, (2, 1))
            axes.plot(*ends.T, linestyle=dashes, label=label, solid_capstyle="butt", **style)
            label = "_"  # one line in the legend


def _draw_frames(axes: Any, placed: Sequence[Placed], length: float) -> None:
    """The axes of every frame."""
    for name, colour in AXES.items():
        for k, frame in enumerate(placed):
            o, way = np.array([*frame.o]), np.array([*getattr(frame, name)])
            ends = np.array([o, o + length * way])
            label = f"{name} of a frame" if k == 0 else "_"
            axes.plot(*ends.T, color=colour, linewidth=1.4, label=label, zorder=5)


def _write_names(axes: Any, placed: Sequence[Placed], names: Sequence[str], near: float) -> None:
    """The joints' numbers beside their frames; frames in one place share a line."""
    spots: list[tuple[np.ndarray, list[str]]] = []
    for frame, name in zip(placed, names, strict=True):
        o = np.array([*frame.o])
        here = next((names for spot, names in spots if np.linalg.norm(spot - o) < near), None)
        if here is None:
            spots.append((o, [name]))
        else:
            here.append(name)
    for o, here in spots:
        axes.text(*o, "   " + ", ".join(here), color=LINK, fontsize="small", zorder=10)


def _draw_masses(axes: Any, chain: Chain, placed: Sequence[Placed]) -> None:
    """The centres of mass of the links that have one, larger where they are heavier."""
    heavy = [(f, x.inertia) for f, x in zip(placed, chain.links, strict=True) if x.inertia.mass > 0]
    if not heavy:
        return
    centres = (frame.o + frame.out(Vector(*body.com.tolist())) for frame, body in heavy)
    places = np.array([[*centre] for centre in centres])
    masses = np.array([body.mass for _, body in heavy])
    areas = LARGEST * masses / masses.max()
    label = f"centres of mass, area by mass: at most {masses.max():.3g} kg"
    spots = {"color": MASS, "edgecolor": "white", "alpha": 0.85, "depthshade": False, "zorder": 4}
    axes.scatter(*places.T, s=np.maximum(areas, math.sqrt(LARGEST)), label=label, **spots)
