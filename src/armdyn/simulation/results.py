"""Result: what a simulation leaves behind."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from armdyn.errors import ArmdynError, shorten
from armdyn.output.files import check_writable, written
from armdyn.robot import Robot

if TYPE_CHECKING:
    from armdyn.view import Page

GREGORY = np.array([3 / 8, 7 / 6, 23 / 24])  # the outer weights of a sum of fourth order


class Energy(NamedTuple):
    """Energies [J], one a row, batch axes first."""

    kinetic: np.ndarray
    potential: np.ndarray
    total: np.ndarray


class Violation(NamedTuple):
    """A joint that went beyond a limit."""

    joint: str
    side: str  # "lower" or "upper"
    limit: float  # [rad or m, rad/s or m/s, N m or N]
    t: float  # when it first was beyond [s]
    worst: float  # the value furthest beyond
    state: int | None  # which of a batch, counted in C order; None: there is one
    kind: str = "position"  # or "speed", or "effort": the torque or force that is applied

    def __str__(self) -> str:
        state = "" if self.state is None else f" in state {self.state}"
        of = "" if self.kind == "position" else f" of {self.kind}"
        return (
            f"joint {shorten(self.joint)} passes its {self.side} limit{of} {self.limit:.6g} at "
            f"t = {self.t:.6g} s{state} and reaches {self.worst:.6g}"
        )


@dataclass(frozen=True, eq=False)
class Result:
    """A simulated motion: row k of each array belongs to the time ``t[k]``.

    Attributes:
        robot: the arm.
        t: times [s], shape (rows,).
        q, qd, qdd: the motion, shape (..., rows, n), batch axes first.
        tau: the torques, of that shape; a held torque acts from its row to the next one.
        integrator: its name.
        dt: the step [s]; rows may be further apart.
        steps: how many were made.
        friction: whether the joints had their friction.
        held: whether torques were held over each step.
        violations: joints that went beyond their limits of position, speed or effort.
        stopped: why it ended before its time, a line a state; empty if it did not.
        compile_time, wall_time: what making the program took, and what running it took [s].
    """

    robot: Robot
    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    integrator: str
    dt: float
    steps: int
    friction: bool
    held: bool
    violations: tuple[Violation, ...]
    stopped: tuple[str, ...]
    compile_time: float
    wall_time: float

    @cached_property
    def energy(self) -> Energy:
        """Kinetic, potential and total energy [J], shape (..., rows) each."""
        kinetic, potential = self.robot.energy(self.q, self.qd)
        return Energy(kinetic, potential, kinetic + potential)

    @cached_property
    def drift(self) -> np.ndarray:
        """What the energy gained beyond the work done on the arm [J], shape (...).

        It is what the integrator got wrong, and what the work between rows is wrong by: held
        torques work exactly, others and friction by a sum of fourth order.
        """
        total = self.energy.total
        return total[..., -1] - total[..., 0] - self._work()

    def _work(self) -> np.ndarray:
        work = np.zeros(self.q.shape[:-2])
        flowing = -self._friction()
        if self.held:
            way = np.diff(self.q, axis=-2)
            work += (self.tau[..., :-1, :] * way).sum(axis=(-1, -2))
        else:
            flowing = flowing + self.tau
        power = (self.qd * flowing).sum(axis=-1)
        weights = np.ones(len(self.t))
        if len(weights) >= 2 * len(GREGORY):
            weights[:3], weights[-3:] = GREGORY, GREGORY[::-1]
        else:
            weights[[0, -1]] = 0.5 if len(weights) > 1 else 0.0
        apart = self.t[1] - self.t[0] if len(self.t) > 1 else 0.0
        return work + apart * (power * weights).sum(axis=-1)

    def _friction(self) -> np.ndarray:
        joints = self.robot.chain.joints if self.friction else ()
        loss = np.zeros_like(self.qd)
        for i, joint in enumerate(joints):
            qd, (negative, positive) = self.qd[..., i], joint.coulomb
            loss[..., i] = joint.viscous * qd + np.select([qd > 0, qd < 0], [positive, negative], 0)
        return loss

    # Out of the program -----------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Writes all rows to a file, ``.npz`` (arrays) or ``.csv`` (a line a row and state)."""
        check_path(path)
        with written(path) as place:
            if Path(path).suffix.lower() == ".npz":
                with open(place, "wb") as file:  # to a name in .NPZ, NumPy would add .npz
                    np.savez_compressed(file, **self._arrays())
            else:
                with open(place, "w", newline="", encoding="utf-8") as lines:
                    csv.writer(lines).writerows(self._lines())

    def _arrays(self) -> dict[str, Any]:
        motion = {name: getattr(self, name) for name in ("t", "q", "qd", "qdd", "tau")}
        names = np.array(self.robot.joint_names)
        return motion | self.energy._asdict() | {"joints": names, "robot": self.robot.name}

    def _lines(self) -> Iterator[list[Any]]:
        n, batch = self.robot.n, self.q.ndim > 2
        columns = [f"{x}_{j}" for x in ("q", "qd", "qdd", "tau") for j in self.robot.joint_names]
        yield [*(["state"] if batch else []), "t", *columns, *Energy._fields]
        motion = [x.reshape(-1, len(self.t), n) for x in (self.q, self.qd, self.qdd, self.tau)]
        energy = [x.reshape(-1, len(self.t), 1) for x in self.energy]
        for state, rows in enumerate(np.concatenate([*motion, *energy], axis=-1)):
            for t, row in zip(self.t.tolist(), rows.tolist(), strict=True):
                yield [*([state] if batch else []), t, *row]

    def plot(self, path: str | Path | None = None, state: int | None = None) -> Any:
        """A figure of positions, speeds, torques and energy over time.

        A batch is drawn as bands: the median, between quartiles, between the least and the most.

        Args:
            path: where to save it, if anywhere; the suffix chooses the format.
            state: one state of a batch, counted in C order, in place of all.
        """
        from armdyn.simulation.motion_figure import draw

        return draw(self, path, state)

    def view(self, state: int = 0) -> Page:
        """A page that plays this motion, of one state of a batch; a notebook shows it.

        Args:
            state: which of a batch, counted in C order.
        """
        from armdyn.view import view

        return view(self.robot, self, state)

    # To be read -------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"Result({self.summary()})"

    def summary(self) -> str:
        """The run in a line: steps, time taken, energy drift, and what went wrong."""
        states = self.q[..., 0, 0].size
        many = f"{states} states of " if self.q.ndim > 2 else ""
        parts = [
            f"{many}{self.robot.name}, {self.steps} steps of {self.dt * 1e3:.4g} ms "
            f"by {self.integrator} in {self.wall_time:.3g} s"
        ]
        if self.compile_time > 0.01:
            parts[0] += f" (compiled in {self.compile_time:.2g} s)"
        finite = self.drift[np.isfinite(self.drift)]
        if finite.size:
            parts.append(f"energy drift {np.abs(finite).max():.2g} J")
        for kind, of in (("position", ""), ("speed", " of speed"), ("effort", " of effort")):
            joints = len({each.joint for each in self.violations if each.kind == kind})
            if joints:
                parts.append(f"{joints} joint{'s'[: joints > 1]} beyond limits{of}")
        if self.stopped:
            parts.append("stopped: " + (self.stopped[0] if not many else f"{len(self.stopped)}"))
        return "; ".join(parts)

    def _repr_html_(self) -> str:
        """A table of the joints for notebooks."""
        from armdyn.output.report import html_table

        headings = ("joint", "start", "end", "least", "most", "top speed", "top torque")
        axes = tuple(range(self.q.ndim - 1))
        columns = [
            self.q[..., 0, :].reshape(-1, self.robot.n)[0],
            self.q[..., -1, :].reshape(-1, self.robot.n)[0],
            np.nanmin(self.q, axis=axes),
            np.nanmax(self.q, axis=axes),
            np.nanmax(np.abs(self.qd), axis=axes),
            np.nanmax(np.abs(self.tau), axis=axes),
        ]
        cells = [
            [name, *(f"{column[i]:.4g}" for column in columns)]
            for i, name in enumerate(self.robot.joint_names)
        ]
        return f"<p>{escape(self.summary())}</p>\n" + html_table(headings, cells)


def check_path(path: str | Path) -> None:
    """Refuse a file that a result could not be saved to."""
    if Path(path).suffix.lower() not in (".npz", ".csv"):
        raise ArmdynError(f"cannot save to {shorten(str(path))}; expected a name in .npz or .csv")
    check_writable(path)
