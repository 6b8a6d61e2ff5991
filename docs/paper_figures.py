"""Draws the figures of the papers' pages from our computation: ``python docs/paper_figures.py``.

Pictures are PNG files of less than 100 kB in ``docs/papers/``. Only the times of Fig. 4 of
[safeea2018] are not computed here: ``python -m benchmarks.methods --methods crba,gdahj,hybrid
--json docs/papers/times.json`` measures them.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.algorithms import crba, gdahj
from armdyn.chain import Chain
from armdyn.comparison import printed
from armdyn.counting import published
from armdyn.loaders import load
from armdyn.output import files
from tests.papers.samples import Array, Sample, cross

FOLDER = Path(__file__).parent / "papers"
COLOURS = ("#c0392b", "#2e8b57", "#1f5f99")  # x, y, z
INK, BLUE, RED, GREEN = "0.25", "#1f5f99", "#c0392b", "#2e8b57"
TICKS = (5, 10, 20, 50)
SIZES = (5, 10, 20, 40, 70, 100)
DOTS = 120  # an inch
SEED = 4  # an arm whose frames lie apart


def save(figure: Any, path: Path) -> None:
    """Write a picture that is small enough for the pages."""
    with files.written(path) as place:
        figure.savefig(place, dpi=DOTS, format="png")


class Model(Sample):
    """An arm with the centres of mass r_j of its composite bodies."""

    @property
    def r(self) -> list[Array]:
        """By the first link of the body, in base axes."""
        return [self.m[j:] @ self.at.p[j:] / self.m[j:].sum() for j in range(self.n)]


# Mechanisms --------------------------------------------------------------------------------------


def arm() -> Model:
    """The arm of the drawings: four revolute joints."""
    return Model("RRRR", SEED)


def space(figure: Any, *place: int) -> Any:
    """Axes in space, with equal scales and nothing around them."""
    axes = figure.add_subplot(*place, projection="3d")
    axes.set_axis_off()
    return axes


def fit(axes: Any, points: Array) -> None:
    """Show all points, with equal scales."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = (low + high) / 2, (high - low).max() / 2 * 0.82
    for set_limits, centre in zip(
        (axes.set_xlim, axes.set_ylim, axes.set_zlim), middle, strict=True
    ):
        set_limits(centre - half, centre + half)


def arrow(axes: Any, start: Array, end: Array, colour: str, text: str = "", **style: Any) -> None:
    """A vector from a point to a point, with its letter at the middle."""
    axes.quiver(*start, *(end - start), color=colour, arrow_length_ratio=0.12, **style)
    if text:
        axes.text(*(start + 0.55 * (end - start)), text, color=colour, fontsize=11)


def draw_frames(axes: Any, s: Model, names: bool = True) -> None:
    """The links and their normal driving-axis frames, z along the joints."""
    o = np.vstack([np.zeros(3), s.at.o])
    axes.plot(*o.T, color="0.75", linewidth=3, zorder=0)
    for i, (R, origin) in enumerate(zip(s.at.R, s.at.o, strict=True)):
        for column, colour in zip(R.T, COLOURS, strict=True):
            axes.quiver(*origin, *(0.13 * column), color=colour, linewidth=1.2)
        if names:
            axes.text(*(origin - 0.05 * R[:, 0]), f"$E_{i + 1}$", color=INK, fontsize=10)
    axes.scatter(*s.at.p.T, color="0.55", s=18)


def frames(path: Path) -> None:
    """Figs. 1 and 2 of [lin1991]: a composite body seen from the base, and the link frames."""
    s, figure = arm(), files.figure(9, 4.2)
    left, right = space(figure, 1, 2, 1), space(figure, 1, 2, 2)
    for axes in (left, right):
        draw_frames(axes, s)
        fit(axes, np.vstack([np.zeros(3), s.at.o, s.at.p]))
    j, base = 2, s.at.o[0]
    body = s.at.p[j:]
    left.scatter(*body.T, color=GREEN, s=60, alpha=0.5)
    left.scatter(*s.r[j], color=RED, s=40)
    arrow(left, base, s.r[j], RED, "$r_3$")
    arrow(left, base, s.at.o[j], BLUE, "${}^3_0s$")
    arrow(left, base, s.at.p[j], GREEN, "${}^3_0p$")
    left.set_title("Fig. 1: composite body 3, links 3 and 4", fontsize=10)
    for i in range(1, s.n):
        arrow(right, s.at.o[i - 1], s.at.o[i], INK, f"$s_{i + 1}$", linewidth=1)
    right.set_title("Fig. 2: joints turn about z (blue), x (red) along the normal", fontsize=10)
    save(figure, path)


def augmented(path: Path) -> None:
    """Figs. 3 and 4 of [kang]: a generalized augmented body, and how the next one joins it."""
    s, k, figure = arm(), 1, files.figure(9, 4.2)
    left, right = space(figure, 1, 2, 1), space(figure, 1, 2, 2)
    for axes in (left, right):
        draw_frames(axes, s, names=False)
        fit(axes, np.vstack([np.zeros(3), s.at.o, s.at.p]))
        axes.text(*s.at.o[k], f"$O_{k + 1}$", color=INK, fontsize=11)
    left.scatter(*s.at.p[k:].T, color=GREEN, s=60, alpha=0.5)
    left.scatter(*s.r[k], color=RED, s=40)
    arrow(left, s.at.o[k], s.r[k], RED, "$r_2^{c*}$")
    arrow(left, s.at.o[k], s.at.o[k] + 0.3 * s.at.u[k], BLUE, "$S_2$")
    left.set_title("Fig. 3: body 2 is links 2 to 4", fontsize=10)
    arrow(right, s.at.o[k], s.at.p[k], GREEN, "$r_2^{c2}$")
    arrow(right, s.at.o[k], s.at.o[k + 1], INK, "$Q_2^3$")
    arrow(right, s.at.o[k + 1], s.r[k + 1], BLUE, "$r_3^{c*}$")
    arrow(right, s.at.o[k], s.r[k], RED, "$r_2^{c*}$")
    right.set_title("Fig. 4: body 2 from link 2 and body 3", fontsize=10)
    save(figure, path)


def injection(path: Path) -> None:
    """Figs. 1 and 2 of [safeea2018]: what frame j transfers to the centre of mass of link i."""
    s, figure = arm(), files.figure(5.5, 4.4)
    i, j = 3, 1
    axes = space(figure, 1, 1, 1)
    draw_frames(axes, s)
    fit(axes, np.vstack([np.zeros(3), s.at.o, s.at.p]))
    k, p = s.at.u[j], s.at.p[i] - s.at.o[j]
    relative = sum(cross(s.qd[m] * s.at.u[m], s.at.p[i] - s.at.o[m]) for m in range(j + 1, i + 1))
    parts = {
        "tangential": (RED, s.qdd[j] * cross(k, p)),
        "normal": (GREEN, s.qd[j] ** 2 * cross(k, cross(k, p))),
        "Coriolis": (BLUE, 2 * s.qd[j] * cross(k, relative)),
    }
    arrow(axes, s.at.o[j], s.at.p[i], INK, "$p_{Cij}$")
    for name, (colour, a) in parts.items():
        tip = s.at.p[i] + 0.35 * a / np.abs(a).max()
        arrow(axes, s.at.p[i], tip, colour, name, linewidth=2)
    axes.set_title("Figs. 1 and 2: accelerations of link 4 by frame 2 (directions)", fontsize=10)
    save(figure, path)


def elements(path: Path) -> None:
    """Figs. 1 and 2 of [kang]: which elements are independent, n = 6."""
    n, figure = 6, files.figure(9, 2.2)
    grid = figure.subplots(1, n + 1)
    matrix = np.array([[float(i <= k) for k in range(n)] for i in range(n)])
    planes = [
        np.array([[float(max(i, j) <= k) for j in range(n)] for i in range(n)]) for k in range(n)
    ]
    for axes, shown, title in zip(
        grid, (matrix, *planes), ("[I*]", *(f"[P*], k = {k + 1}" for k in range(n))), strict=True
    ):
        axes.imshow(shown, cmap="Blues", vmin=0, vmax=1.4)
        axes.set_xticks(np.arange(n) + 0.5, [])
        axes.set_yticks(np.arange(n) + 0.5, [])
        axes.grid(color="w", linewidth=1)
        axes.tick_params(length=0)
        axes.set_title(title, fontsize=9)
    save(figure, path)


# Numbers -----------------------------------------------------------------------------------------


def plain(axes: Any, heading: str, x: str, y: str) -> None:
    """A plot as the others are."""
    axes.set_title(heading, fontsize=10)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.25, which="both")
    axes.spines[["top", "right"]].set_visible(False)


def times(path: Path) -> None:
    """Fig. 4 of [safeea2018]: the time of one mass matrix over n, kinematics on hand as there."""
    measured = json.loads((FOLDER / "times.json").read_text(encoding="utf-8"))
    figure = files.figure(7, 3.1)
    left, right = figure.subplots(1, 2)
    names = {"crba": ("CRBA", RED), "gdahj": ("GDAHJ", BLUE), "hybrid": ("hybrid (ours)", GREEN)}
    found: dict[tuple[str, bool], dict[int, float]] = {}
    for row in measured["rows"]:
        if row["method"] == "crba" or row["rolled"]:
            times_of = found.setdefault((row["method"], row["kinematics"]), {})
            times_of[row["n"]] = row["seconds"] * 1e6
    for (method, kinematics), by_n in found.items():
        name, colour = names[method]
        if not kinematics:
            left.loglog(list(by_n), list(by_n.values()), "o-", color=colour, label=name)
        if method != "crba":
            crba = found["crba", kinematics]
            sizes = [n for n in by_n if n in crba]
            label = f"CRBA / {name}" + (", with kinematics" if kinematics else "")
            ratio = [crba[n] / by_n[n] for n in sizes]
            right.plot(sizes, ratio, "--" if kinematics else "-", color=colour, label=label)
    right.axhline(1, color="0.5", linewidth=0.8)
    left.set_xticks(TICKS, map(str, TICKS))
    left.set_xticks([], minor=True)
    plain(left, "Fig. 4: time, kinematics on hand", "n", "microseconds")
    plain(right, "ratio of times", "n", "")
    left.legend(frameon=False, fontsize=8)
    right.legend(frameon=False, fontsize=8)
    save(figure, path)


def errors(path: Path) -> None:
    """Fig. 5 of [safeea2018]: eq. (32) between the two methods, and against fifty digits."""
    trials = [trial(n) for n in SIZES]
    figure = files.figure(5.5, 3.4)
    axes = figure.subplots()
    lines = {
        "GDAHJ against CRBA, as in the paper": "0.3",
        "GDAHJ against 50 digits": BLUE,
        "CRBA against 50 digits": RED,
    }
    for k, (label, colour) in enumerate(lines.items()):
        axes.loglog(SIZES, [each[k] for each in trials], "o-", color=colour, label=label)
    plain(axes, "Fig. 5: relative error, eq. (32)", "n", "")
    axes.legend(frameon=False, fontsize=8)
    save(figure, path)


def random_arm(n: int) -> Chain:
    """An arm of n revolute joints by the distributions of [safeea2018], section IV.

    Masses are 1 to 10 kg, tensors positive definite with elements from 1 to 10 kg m^2; angles lie
    in one turn, lengths and centres of mass within 1 m. Few of these tensors can be a body's.
    """
    rng = np.random.default_rng(0)
    turns, lengths = rng.uniform(-np.pi, np.pi, (2, n)), rng.uniform(-1.0, 1.0, (2, n))
    mass, com = rng.uniform(1.0, 10.0, n), rng.uniform(-1.0, 1.0, (n, 3))
    tensors: list[Array] = []
    while len(tensors) < n:
        xx, xy, xz, yy, yz, zz = rng.uniform(1.0, 10.0, 6)
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        tensors += [tensor] if np.linalg.eigvalsh(tensor)[0] > 0 else []
    logging.getLogger("armdyn").setLevel(logging.ERROR)  # each tensor would be a warning
    return Chain.from_mdh(
        beta=turns[0],
        theta=turns[1],
        b=lengths[0],
        d=lengths[1],
        mass=mass,
        com=com,
        inertia=tensors,
        check="warn",
    )


def trial(n: int) -> Array:
    """Eq. (32) between GDAHJ and CRBA, and of each against fifty digits: means of 3 postures."""
    chain, found = random_arm(n), []
    for q in np.random.default_rng(n).uniform(-np.pi, np.pi, (3, n)).tolist():
        A, B = (np.array(m.mass_matrix(chain.on(float), q)) for m in (gdahj, crba))
        with localcontext(prec=50):
            digits = np.array(crba.mass_matrix(chain.on(Decimal), list(map(Decimal, q))))
            A, B = (np.vectorize(Decimal, otypes=[object])(matrix) for matrix in (A, B))
            pairs = ((A, B), (A, digits), (B, digits))
            found.append([np.abs(x - y).sum() / np.abs((x + y) / 2).max() for x, y in pairs])
    return np.array(found, dtype=float).mean(axis=0)


def torques(path: Path) -> None:
    """Fig. 1 of [zomaya1988]: printed torques, and those of the Stanford arm with gravity up."""
    given = published.data()["zomaya1988"]["torques"]
    chain, w = load(given["robot"]).chain, given["w"]
    arm = chain.with_gravity([-g for g in chain.gravity]).on(float)
    figure = files.figure(6.6, 3.7)
    for k, axes in enumerate(figure.subplots(2, 3).flat):
        for (row, method), colour in zip(given["rows"].items(), (BLUE, RED), strict=True):
            cells = [float(case[k]) for case in given[row]]
            axes.plot(w, cells, "o", color=colour, label=f"{row}, printed")
            q = [given["q"]] * chain.n
            found = [printed.torques_of(arm, method, q, [each] * chain.n)[k] for each in w]
            fine = np.linspace(0.5, 1.5, 40)
            curve = np.polyval(np.polyfit(w, found, 2), fine)
            axes.plot(fine, curve, "-", color=colour, label=f"{row}, ours")
        plain(axes, f"joint {k + 1}", "", "N" if k == 2 else "N m")
    figure.axes[0].legend(frameon=False, fontsize=7)
    figure.suptitle(
        "Fig. 1: torques over w, at q = 0.3 with speeds and accelerations w", fontsize=11
    )
    save(figure, path)


PICTURES: dict[str, Callable[[Path], None]] = {
    "lin1991-frames.png": frames,
    "kang-elements.png": elements,
    "kang-bodies.png": augmented,
    "safeea2018-frames.png": injection,
    "safeea2018-time.png": times,
    "safeea2018-error.png": errors,
    "zomaya1988-torques.png": torques,
}


def write(names: Sequence[str] = tuple(PICTURES)) -> None:
    """Draw these."""
    for name in names:
        PICTURES[name](FOLDER / name)


if __name__ == "__main__":
    write()
