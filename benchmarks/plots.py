"""Plots of what a run found."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from benchmarks.arms import QUANTITIES  # noqa: E402
from benchmarks.figures import ARM, Results  # noqa: E402
from benchmarks.growth import Growth  # noqa: E402


def draw(results: Results, directory: Path) -> None:
    """Writes a plot of each part for which there is something to draw."""
    if results.speed:
        _speed(results, directory / "speed.png")
    if results.growth:
        _growth(results.growth, directory / "growth.png")


def _speed(results: Results, path: Path) -> None:
    """Time a state on one core, each library's ways of calling, for the Panda."""
    rows = [row for row in results.speed if row.arm == ARM and row.cores == 1]
    figure, axes = plt.subplots(1, len(QUANTITIES), figsize=(14, 4.5), sharey=True)
    for axis, quantity in zip(axes, QUANTITIES, strict=True):
        mine = {
            f"{row.library}, {_call(row.batch, row.states)}, {row.form}"
            + (f", {row.dtype}" if row.dtype != "float64" else ""): row.least
            for row in rows
            if row.quantity == quantity and (row.batch == 1 or row.states > 1)
        }
        names = list(mine)
        colours = ["C3" if name.startswith("armdyn") else "C0" for name in names]
        axis.barh(names, [mine[name] * 1e9 for name in names], color=colours)
        axis.set(xscale="log", xlabel="ns a state", title=quantity)
        axis.grid(axis="x", alpha=0.3)
    axes[0].invert_yaxis()
    _save(figure, path)


def _call(batch: int, states: int) -> str:
    return "single" if batch == 1 else str(states)


def _growth(rows: list[Growth], path: Path) -> None:
    """Call, time an instruction, trace and compile time over size."""
    figure, axes = plt.subplots(2, 2, figsize=(11, 8))
    for axis in axes.flat:
        axis.set_prop_cycle(color=plt.get_cmap("tab20").colors)
        axis.grid(alpha=0.3)
    for quantity, group in groupby(rows, lambda row: row.quantity):
        mine = list(group)
        n, instructions = [row.n for row in mine], [row.instructions for row in mine]
        axes[0, 0].loglog(n, [row.call * 1e6 for row in mine], ".-", label=quantity)
        axes[0, 1].semilogy(n, [row.instruction * 1e9 for row in mine], ".-")
        axes[1, 0].loglog(instructions, [row.trace for row in mine], ".-")
        axes[1, 1].loglog(instructions, [row.compile for row in mine], ".-")
    axes[0, 0].set(xlabel="joints", ylabel="single call [us]")
    axes[0, 1].set(xlabel="joints", ylabel="single call, an instruction [ns]")
    axes[1, 0].set(xlabel="instructions", ylabel="trace [s]")
    axes[1, 1].set(xlabel="instructions", ylabel="compile [s]")
    axes[0, 0].legend(fontsize=7)
    _save(figure, path)


def _save(figure: plt.Figure, path: Path) -> None:
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
