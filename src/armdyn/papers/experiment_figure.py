"""Draws the experiment of [safeea2018]: operations and errors over the number of joints."""

from __future__ import annotations

from typing import Any

from armdyn.output import files
from armdyn.papers import experiment, safeea2018
from armdyn.papers.claims import Part

NAMES = {"crba": "CRBA", "gdahj": "GDAHJ", "hybrid": "hybrid (ours)"}
COLOURS = {"crba": "#c0392b", "gdahj": "#1f5f99", "hybrid": "#2e8b57"}
TICKS = (5, 10, 20, 40, 70, 100)


def draw(path: str) -> None:
    """Operations over n with the crossovers marked, and errors; the suffix chooses the format."""
    figure = files.figure(10, 4.4)
    left, right = figure.subplots(1, 2)
    _operations(left)
    _errors(right)
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(TICKS, map(str, TICKS))
        axes.set_xticks([], minor=True)
        axes.set_xlabel("n, revolute joints")
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    files.save_picture(figure, path)


def _operations(axes: Any) -> None:
    """M + A + D, kinematics on hand, and from where on GDAHJ and hybrid take fewer than CRBA."""
    sizes = range(TICKS[0], TICKS[-1] + 1)
    for method in NAMES:
        taken = [experiment.operations(n)[method] for n in sizes]
        axes.plot(sizes, taken, color=COLOURS[method], label=NAMES[method])
    crba = safeea2018.cost((Part("crba"),))
    for method, place, side in (("gdahj", (-8, 14), "right"), ("hybrid", (12, -16), "left")):
        stage = experiment.STAGES[method]
        n = safeea2018.crossover(safeea2018.cost((Part(method, stage=stage),)), crba)
        height = experiment.operations(n)[method]
        axes.plot([n], [height], "o", color=COLOURS[method], markersize=7)
        axes.annotate(
            f"fewer than CRBA\nfrom n = {n}",
            (n, height),
            place,
            textcoords="offset points",
            horizontalalignment=side,
            color=COLOURS[method],
        )
    axes.set_title("Operations for the mass matrix, M + A + D")
    axes.legend(frameon=False, loc="upper left")


def _errors(axes: Any) -> None:
    """Eq. (32) against fifty digits, and between GDAHJ and CRBA as the paper has it."""
    trials = [experiment.trial(n) for n in experiment.SIZES]
    sizes = [trial.n for trial in trials]
    for method in NAMES:
        errors = [trial.errors[method] for trial in trials]
        axes.plot(sizes, errors, "o-", color=COLOURS[method], label=NAMES[method])
    apart = [trial.apart for trial in trials]
    axes.plot(sizes, apart, ":", color="0.4", label="GDAHJ against CRBA")
    axes.set_title(f"Error by eq. (32), against {experiment.DIGITS} digits")
    axes.legend(frameon=False, loc="upper left")
