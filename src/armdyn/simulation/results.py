"""Result: what a simulation leaves behind."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

import numpy as np

from armdyn.errors import ArmdynError, shorten
from armdyn.forks import importing
from armdyn.robot import Robot
from armdyn.robot.compiled import A, numbers
from armdyn.simulation import formats

if TYPE_CHECKING:
    from armdyn.view import Page

ARRAYS = ("t", "q", "qd", "qdd", "tau")
KINDS = ("position", "speed", "effort")  # of limits
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
class Result(Generic[A]):
    """A simulated motion: row k of each array belongs to the time ``t[k]``.

    Arrays are of the library whose arrays the simulation was given, where those lie; ``numpy``
    makes NumPy's of them. What is written, drawn or printed is so by itself.

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
        given: what stood in place of the arm's own constants, by name, shape (..., size).
        payload_frame: where a payload was given; None: at the tip.
    """

    robot: Robot
    t: A
    q: A
    qd: A
    qdd: A
    tau: A
    integrator: str
    dt: float
    steps: int
    friction: bool
    held: bool
    violations: tuple[Violation, ...]
    stopped: tuple[str, ...]
    compile_time: float
    wall_time: float
    given: Mapping[str, A] = field(default_factory=dict)
    payload_frame: str | None = None

    def numpy(self) -> Result:
        """This result with NumPy's arrays, copied from a GPU if need be; itself if it has them."""
        itself: Any = self
        return itself if type(self.q) is np.ndarray else self._on_host

    @cached_property
    def _on_host(self) -> Result:
        given = {name: numbers(array) for name, array in self.given.items()}
        motion: Any = {name: numbers(getattr(self, name)) for name in ARRAYS}
        return replace(self, **motion, given=given)  # type: ignore[return-value]

    @cached_property
    def energy(self) -> Energy:
        """Kinetic, potential and total energy [J], shape (..., rows) each."""
        arrays: Mapping[str, Any] = self.given
        given: dict[str, Any] = {name: x[..., None, :] for name, x in arrays.items()}
        if self.payload_frame is not None:
            given["payload_frame"] = self.payload_frame
        if given:
            given["check"] = None  # the run has looked at it
        energies: Any = self.robot.energy(self.q, self.qd, **given)
        kinetic, potential = energies
        return Energy(kinetic, potential, kinetic + potential)

    @cached_property
    def drift(self) -> np.ndarray:
        """What the energy gained beyond the work done on the arm [J], NumPy's, shape (...).

        It is what the integrator got wrong, and what the work between rows is wrong by: held
        torques work exactly, others and friction by a sum of fourth order.
        """
        here = self.numpy()
        total = here.energy.total
        return total[..., -1] - total[..., 0] - here._work()

    def _work(self: Result) -> np.ndarray:
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

    def _friction(self: Result) -> np.ndarray:
        joints = self.robot.chain.joints if self.friction else ()
        loss = np.zeros_like(self.qd)
        for i, joint in enumerate(joints):
            qd, (negative, positive) = self.qd[..., i], joint.coulomb
            loss[..., i] = joint.viscous * qd + np.select([qd > 0, qd < 0], [positive, negative], 0)
        return loss

    def _kind(self) -> tuple[Any, ...]:
        """What results of the same run have in common."""
        return (
            *(self.robot, self.integrator, self.dt, self.friction, self.held),
            *(tuple(self.given), self.payload_frame, self.q.dtype),
        )

    # Out of the program -----------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Writes all rows to ``.npz`` or ``.zarr`` (arrays), ``.parquet`` or ``.csv`` (tables).

        A table has a line for each state and row, and the columns of ``to_dataframe``. All but
        CSV hold the whole result: ``Result.load`` reads it back, bit for bit.
        """
        formats.save(self.numpy(), path)

    @staticmethod
    def load(path: str | Path | Sequence[str | Path]) -> Result:
        """A result from a file that ``save`` wrote; of several files, all states one after another.

        Raises:
            ArmdynError: it cannot be read, or files hold runs that do not belong together.
        """
        if isinstance(path, str | os.PathLike):
            return formats.load(path)
        return joined([formats.load(each) for each in path])

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with a line for each state and row.

        Its columns are ``state`` (of a batch, counted in C order), ``t``, ``q_JOINT``,
        ``qd_JOINT``, ``qdd_JOINT`` and ``tau_JOINT`` of each joint, what was given at the call,
        such as ``payload_1``, and the energies ``kinetic``, ``potential`` and ``total``.
        """
        try:
            with importing:
                from pandas import DataFrame
        except ImportError:
            raise ArmdynError("DataFrames are pandas': pip install 'armdyn[pandas]'") from None
        return DataFrame(formats.columns(self.numpy()))

    def plot(self, path: str | Path | None = None, state: int | None = None) -> Any:
        """A figure of positions, speeds, torques and energy over time.

        A batch is drawn as bands: the median, between quartiles, between the least and the most.

        Args:
            path: where to save it, if anywhere; the suffix chooses the format.
            state: one state of a batch, counted in C order, in place of all.
        """
        with importing:
            from armdyn.simulation.motion_figure import draw

        return draw(self.numpy(), path, state)

    def view(self, state: int = 0) -> Page:
        """A page that plays this motion, of one state of a batch; a notebook shows it.

        Args:
            state: which of a batch, counted in C order.
        """
        with importing:
            from armdyn.view import view

        return view(self.robot, self.numpy(), state)

    # To be read -------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"Result({self.summary()})"

    def summary(self) -> str:
        """The run in a line: steps, time taken, energy drift, and what went wrong."""
        states = math.prod(self.q.shape[:-2])
        many = f"{states} states of " if len(self.q.shape) > 2 else ""
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
        with importing:
            from armdyn.output.report import html_table

        headings = ("joint", "start", "end", "least", "most", "top speed", "top torque")
        here = self.numpy()
        axes = tuple(range(here.q.ndim - 1))
        columns = [
            here.q[..., 0, :].reshape(-1, self.robot.n)[0],
            here.q[..., -1, :].reshape(-1, self.robot.n)[0],
            np.nanmin(here.q, axis=axes),
            np.nanmax(here.q, axis=axes),
            np.nanmax(np.abs(here.qd), axis=axes),
            np.nanmax(np.abs(here.tau), axis=axes),
        ]
        cells = [
            [name, *(f"{column[i]:.4g}" for column in columns)]
            for i, name in enumerate(self.robot.joint_names)
        ]
        return f"<p>{escape(self.summary())}</p>\n" + html_table(headings, cells)


def joined(parts: Sequence[Result], batch: tuple[int, ...] | None = None) -> Result:
    """Results of the same run for other states, as one: all states one after another.

    Where some states stopped early, their rows are NaN from there on. ``batch`` are the batch axes
    of all states together.
    """
    if not parts:
        raise ArmdynError("there are no results; expected one or more")
    parts = [part.numpy() for part in parts]
    first = max(parts, key=lambda part: len(part.t))
    for part in parts:
        if part._kind() != first._kind() or (part.t != first.t[: len(part.t)]).any():
            raise ArmdynError(f"{part} and {first} do not belong together; expected parts of a run")
    counts = [part.q[..., 0, 0].size for part in parts]
    begins = np.cumsum([0, *counts])
    shape = (int(begins[-1]),) if batch is None else batch

    def motion(name: str) -> np.ndarray:
        found = np.full((begins[-1], len(first.t), first.robot.n), np.nan, first.q.dtype)
        for begin, count, part in zip(begins, counts, parts, strict=False):
            rows = getattr(part, name).reshape(count, len(part.t), first.robot.n)
            found[begin : begin + count, : len(part.t)] = rows
        return found.reshape(*shape, *found.shape[1:])

    def given(name: str) -> np.ndarray:
        size = first.given[name].shape[-1]
        found = [part.given[name].reshape(-1, size) for part in parts]
        return np.concatenate(found).reshape(*shape, size)

    order = {name: i for i, name in enumerate(first.robot.joint_names)}
    violations = sorted(
        (
            each._replace(state=int(begin) + (each.state or 0) if shape else None)
            for begin, part in zip(begins, parts, strict=False)
            for each in part.violations
        ),
        key=lambda v: (v.t, KINDS.index(v.kind), v.side, v.state, order[v.joint]),
    )
    stopping = any(part.stopped for part in parts)
    return replace(
        first,
        q=motion("q"),
        qd=motion("qd"),
        qdd=motion("qdd"),
        tau=motion("tau"),
        given={name: given(name) for name in first.given},
        violations=tuple(violations),
        stopped=tuple(str(v) for v in violations if stopping and v.kind == "position"),
        compile_time=max(part.compile_time for part in parts),
        wall_time=sum(part.wall_time for part in parts),
    )
