"""A simulation under way."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from armdyn.errors import SimulationError, shorten
from armdyn.robot import Robot
from armdyn.simulation.adaptive import AdaptiveIntegration
from armdyn.simulation.arguments import Progress
from armdyn.simulation.explicit import explicit_integration
from armdyn.simulation.integration import PAST, BrokenOff, Integration, Problem, Window
from armdyn.simulation.integrators import ADAPTIVE
from armdyn.simulation.midpoint import MidpointIntegration
from armdyn.simulation.results import Result
from armdyn.simulation.torques import TorqueNotFinite
from armdyn.simulation.watch import Watch, first_bad_row

SEGMENT = 1024  # steps between looks at the motion, fewer where they would fill more bytes than
SEGMENT_BYTES = 2**23


class Run:
    """A simulation under way: segment by segment, with a look at the motion after each."""

    def __init__(
        self,
        robot: Robot,
        problem: Problem,
        integrator: str,
        limits: str,
        every: int,
        batch: tuple[int, ...],
        dtype: np.dtype,
    ) -> None:
        self.robot, self.problem, self.every, self.batch = robot, problem, every, batch
        self.integrator, self.dtype = integrator, dtype  # of the result's arrays
        self.watch = Watch(robot, limits, batch)
        self.segment = max(
            16, min(SEGMENT, SEGMENT_BYTES // (8 * robot.n * max(problem.states, 1)))
        )
        self.window = self._arrange()
        self.near = self.window  # the rows about the step at which the motion diverged
        self.first = 0  # the step at which the segment under way begins
        self.compile_time = self.begun = 0.0

    def _arrange(self) -> Window:
        """Makes room for the rows, and what makes the steps."""
        problem, rows = self.problem, self.problem.steps if self.every == 1 else self.segment
        shape = problem.states, self.robot.n
        w = Window(1 + rows, *shape, problem.dtype)
        self.kept = [array[PAST:] for array in (w.q, w.qd, w.qdd, w.tau)]
        if self.every > 1:
            count = problem.steps // self.every + 1
            self.kept = list(np.empty((4, count, *shape), problem.dtype))
        self.integration: Integration = make_integration(self.integrator, problem, w)
        self.segment = min(self.segment, self.integration.stride)
        return w

    def begin(self, q: np.ndarray, qd: np.ndarray) -> None:
        """Sets the first row, and compiles what is needed to get on."""
        k = self.window.row(0)
        self.window.q[k], self.window.qd[k] = q, qd
        self._fill(0)

    def go(self, progress: Progress | None) -> Result[Any]:
        """All segments.

        Ctrl-C passes through as KeyboardInterrupt; its ``result`` is what was computed before.
        """
        self.begun = time.perf_counter()
        start = self.window.rows(0, 1)
        self.watch.look(0, self.window.q[start], self.window.qd[start])
        steps = self.problem.steps
        try:
            while self.first < steps and self.first <= self.watch.last_stop:
                self._advance(self.first, min(self.first + self.segment, steps))
                if progress is not None:
                    progress(self.first, steps)
            end = min(self.first, self.watch.last_stop)
            if end == self.first:
                self._end(end)
        except (TorqueNotFinite, KeyboardInterrupt) as error:
            error.result = self._result(self._whole_until())  # type: ignore[union-attr]
            raise
        return self._result(end)

    def _advance(self, first: int, last: int) -> None:
        """One segment, and a look at it."""
        broken: BrokenOff | None = None
        with np.errstate(all="ignore"):
            try:
                self.integration.advance(first, last)
            except BrokenOff as reason:
                broken, last = reason, reason.step
            self.integration.complete(first, last)
            end = self._look(first, last)
        self._keep(first, end + (end < last))
        if end < last:
            raise self._error(end, self._diverged(end + 1))
        if broken is not None:
            self._end(last)
            raise self._error(last, broken.reason)
        self.first = self.integration.step = last
        if self.every > 1:
            self.window.move(last)

    def _fill(self, step: int) -> None:
        """Fills in tau and qdd of a row."""
        w, k = self.window, self.window.row(step)
        with np.errstate(all="ignore"):
            self.integration.hold(step, step + 1)
            t = step * self.problem.dt
            w.qdd[k], w.tau[k] = self.problem.rate(w.tau[k], t, w.q[k], w.qd[k])

    def _end(self, step: int) -> None:
        """Completes the last row."""
        self._fill(step)
        self.watch.look_at_torques(step, self.window.tau[self.window.rows(step, step + 1)])
        self._keep(step, step + 1)

    def _keep(self, first: int, last: int) -> None:
        """Copies what is to be kept of the steps from first to last, less the last."""
        if self.every == 1:
            return
        begin = -(-first // self.every) * self.every
        target = slice(begin // self.every, -(-last // self.every))
        w = self.window
        for kept, array in zip(self.kept, (w.q, w.qd, w.qdd, w.tau), strict=True):
            kept[target] = array[w.rows(begin, last)][:: self.every]

    # What goes wrong --------------------------------------------------------------------------

    def on_host(self, row: Any) -> np.ndarray:
        """A row as NumPy's array."""
        return row

    def _look(self, first: int, last: int) -> int:
        """The last step of a segment up to which all states that still move are finite."""
        w, end = self.window, first
        while end < last:
            moving = self.watch.stops > end
            rows = (array[w.rows(end + 1, last + 1)] for array in (w.q, w.qd))
            bad = first_bad_row(*(rows if moving.all() else (array[:, moving] for array in rows)))
            begin, end = end, last if bad is None else end + bad
            new = w.rows(begin + 1, end + 1)
            self.watch.look(begin + 1, w.q[new], w.qd[new])
            if end < last and self._bad(end + 1).any():
                break
        self.watch.look_at_torques(first, w.tau[w.rows(first, min(end + 1, last))])
        return end

    def _bad(self, step: int) -> np.ndarray:
        """Which joints of states that still move are not finite at a step."""
        w, k = self.near, self.near.row(step)
        finite = np.isfinite(self.on_host(w.q[k])) & np.isfinite(self.on_host(w.qd[k]))
        return ~finite & (self.watch.stops >= step)[:, None]

    def _diverged(self, step: int) -> str:
        """Says which joint of which state left the finite numbers at this step."""
        speed, bad = self.on_host(self.near.qd[self.near.row(step - 1)]), self._bad(step)
        fastest = np.argmax(np.where(bad, np.abs(speed), -1))
        state, joint = np.unravel_index(fastest, bad.shape)
        name = shorten(self.robot.joint_names[joint])
        where = f" of state {state}" if self.batch else ""
        return (
            f"the simulation diverged at t = {step * self.problem.dt:.6g} s: joint {name}{where} "
            f"is no longer finite, after a speed of {speed[state, joint]:.3g}; expected a "
            "smaller dt or smaller torques"
        )

    def _whole_until(self) -> int:
        """The last step whose row is whole, when a segment is left before its end."""
        first, end = self.first, max(self.integration.step - 1, 0)
        with np.errstate(all="ignore"):
            try:
                self.integration.complete(first, end + 1)
            except TorqueNotFinite:
                end = max(first - 1, 0)
            if end > first:
                end = self._look(first, end)
        self._keep(first, end + 1)
        return min(end, self.watch.last_stop)

    def _error(self, end: int, message: str) -> SimulationError:
        error = SimulationError(message)
        error.result = self._result(end)
        return error

    def _result(self, end: int) -> Result[Any]:
        """What there is up to a step."""
        wall_time = time.perf_counter() - self.begun
        problem, stops = self.problem, self.watch.stops
        t = np.arange(0, end + 1, self.every) * problem.dt

        def shaped(array: np.ndarray) -> np.ndarray:
            for state in np.flatnonzero(stops < end):
                array[stops[state] // self.every + 1 :, state] = np.nan
            return self._in_shape(array[: len(t)])

        q, qd, qdd, tau = map(shaped, self.kept)
        violations, stopping = self.watch.violations(problem.dt), self.watch.mode == "stop"
        return Result(
            self.robot,
            t,
            *(q, qd, qdd, tau),
            integrator=self.integrator,
            dt=problem.dt,
            steps=end,
            friction=problem.friction,
            held=problem.torque.period is not None,
            violations=violations,
            stopped=tuple(str(v) for v in violations if stopping and v.kind == "position"),
            compile_time=self.compile_time,
            wall_time=wall_time,
            given={
                name: array.reshape(*self.batch, array.shape[-1])
                for name, array in problem.given.items()
            },
            payload_frame=problem.payload_frame,
        )

    def _in_shape(self, rows: Any) -> Any:
        """Rows (rows, states, n) with their batch axes in front."""
        whole = rows.reshape(len(rows), *self.batch, self.robot.n)
        return np.moveaxis(whole, 0, -2).astype(self.dtype, copy=False)


def make_integration(integrator: str, problem: Problem, window: Window) -> Integration:
    """What makes the steps of an integrator."""
    if integrator == "midpoint":
        return MidpointIntegration(problem, window)
    if integrator in ADAPTIVE:
        return AdaptiveIntegration(problem, window, integrator)
    return explicit_integration(problem, window, integrator)
