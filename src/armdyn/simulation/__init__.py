"""Simulation: forward dynamics in time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from armdyn.chain import Chain
from armdyn.engine import function
from armdyn.errors import SimulationError
from armdyn.quantities import Task
from armdyn.robot import Robot
from armdyn.simulation import arguments
from armdyn.simulation.adaptive import Adaptive
from armdyn.simulation.controllers import Controller
from armdyn.simulation.explicit import PAST, Compiled, Sampling, Text
from armdyn.simulation.integrators import ADAPTIVE, INTEGRATORS
from armdyn.simulation.midpoint import Midpoint
from armdyn.simulation.results import Result
from armdyn.simulation.stepper import BrokenOff, Problem, Stepper, Window
from armdyn.simulation.torques import Called, Held, Sampled
from armdyn.simulation.watch import Watch, first_bad_row

Progress = Callable[[int, int], None]  # steps done, steps in all

SEGMENT = 1024  # steps between looks at the motion, fewer where they would fill more bytes than
SEGMENT_BYTES = 2**23


def simulate(
    robot: Robot,
    q0: ArrayLike,
    qd0: ArrayLike | None = None,
    tau: ArrayLike | Callable[..., ArrayLike] | Controller | None = None,
    t: float = 1.0,
    dt: float = 1e-3,
    integrator: str = "ab4",
    *,
    friction: bool = False,
    limits: str = "report",
    every: int = 1,
    rtol: float = 1e-9,
    atol: float = 1e-12,
    progress: Progress | None = None,
) -> Result:
    """The motion of an arm from an initial state under torques.

    Initial states (N, n), or with any batch axes, are simulated together, each with the same bits
    as alone.

    Args:
        robot: the arm.
        q0: initial positions, shape (..., n) [rad or m].
        qd0: initial speeds; None: at rest.
        tau: None for no torque; a constant (n,); an array (..., steps, n), each row held over its
            step; a function tau(t, q, qd); or a controller of ``armdyn.controllers``.
        t: the time to simulate [s], a whole number of steps.
        dt: the step [s].
        integrator: ``ab4``, Adams-Bashforth of fourth order, started by Runge-Kutta wherever a
            held torque jumps (so that with an array of torques it is Runge-Kutta all the way);
            ``rk4``; ``midpoint``, implicit on (q, p) and symplectic: slower, and energy does not
            drift; or SciPy's ``DOP853`` or ``LSODA``, which choose their own steps between the
            rows of the result.
        friction: whether the joints have their friction.
        limits: of positions: ``report`` lists in ``result.violations`` what went beyond them,
            ``stop`` ends a state's motion there (in a batch its rows are then NaN), ``ignore``.
        every: of how many steps one is kept.
        rtol: the relative error that SciPy's integrators allow in a step.
        atol: the absolute one.
        progress: called now and then with the steps done and all steps.

    Raises:
        SimulationError: something cannot be as asked; or the motion left the finite numbers or
            cannot be continued, then ``error.result`` is what was computed until there.
    """
    if not isinstance(robot, Robot):
        raise TypeError(f"simulate takes a Robot, not {type(robot).__name__}; see armdyn.load")
    arguments.choice("integrator", integrator, INTEGRATORS)
    arguments.choice("limits", limits, ("report", "ignore", "stop"))
    arguments.solvable(robot.chain, integrator, friction)
    steps = arguments.whole_steps(t, dt, every)
    q, qd = arguments.initial(robot.n, q0, qd0)
    batch, states = q.shape[:-1], math.prod(q.shape[:-1])
    begun = time.perf_counter()
    problem = Problem(
        robot.chain,
        states,
        float(dt),
        steps,
        bool(friction),
        arguments.torque(robot.chain, tau, batch, steps, float(dt)),
        _forward_dynamics(robot.chain, bool(friction)),
        {name: arguments.positive(name, x) for name, x in (("rtol", rtol), ("atol", atol))},
    )
    run = Run(robot, problem, integrator, limits, every, batch)
    run.begin(q.reshape(states, robot.n), qd.reshape(states, robot.n))
    run.compile_time = time.perf_counter() - begun
    return run.go(progress)


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
    ) -> None:
        self.robot, self.problem, self.every, self.batch = robot, problem, every, batch
        self.integrator = integrator
        self.watch = Watch(robot, limits, batch)
        n, states, steps = robot.n, problem.states, problem.steps
        self.segment = max(16, min(SEGMENT, SEGMENT_BYTES // (8 * n * max(states, 1))))
        self.window = Window(1 + (steps if every == 1 else self.segment), states, n)
        w = self.window
        self.kept = [array[PAST:] for array in (w.q, w.qd, w.qdd, w.tau)]
        if every > 1:
            self.kept = list(np.empty((4, steps // every + 1, states, n)))
        self.stepper = _stepper(integrator, problem, self.window)
        torque = problem.torque
        self.starts = np.zeros(1, int)  # where a segment must be cut
        if isinstance(torque, Held) and not self.stepper.samples:
            if self.stepper.smooth or isinstance(torque, Sampled):
                self.starts = torque.starts(steps)
        self.compile_time = self.begun = 0.0

    def begin(self, q: np.ndarray, qd: np.ndarray) -> None:
        """Sets the first row, and compiles what is needed to get on."""
        k = self.window.row(0)
        self.window.q[k], self.window.qd[k] = q, qd
        self._lay_torque(0, 1)
        self._rate(0)

    def go(self, progress: Progress | None) -> Result:
        """All segments."""
        self.begun = time.perf_counter()
        self.watch.look(0, self._rows(self.window.q, 0, 1))
        first, steps = 0, self.problem.steps
        while first < steps and first <= self.watch.last_stop:
            last = min(first + self.segment, steps)
            self._advance(first, last)
            if progress is not None:
                progress(last, steps)
            first = last
        end = min(first, self.watch.last_stop)
        if end == first:
            self._end(first)
        return self._result(end)

    def _advance(self, first: int, last: int) -> None:
        """One segment, and a look at it."""
        broken: BrokenOff | None = None
        with np.errstate(all="ignore"):
            try:
                for a, b, start in self._legs(first, last):
                    if not self.stepper.samples:
                        self._lay_torque(a, b)
                    self.stepper.advance(a, b, start)
            except BrokenOff as reason:
                broken, last = reason, reason.step
            if self.stepper.late:
                self.stepper.complete(first, last)
            end = self._look(first, last)
        self._keep(first, end + (end < last))
        if end < last:
            raise self._error(end, self._diverged(end + 1))
        if broken is not None:
            self._end(last)
            raise self._error(last, f"at t = {self._time(last)} {broken}")
        if self.every > 1:
            self.window.move(last)

    def _legs(self, first: int, last: int) -> Iterator[tuple[int, int, int]]:
        """(first, last, start) of the parts of a segment, cut where a stretch of torque starts."""
        inner = self.starts[(self.starts > first) & (self.starts < last)].tolist()
        edges = [first, *inner, last]
        for a, b in zip(edges, edges[1:], strict=False):
            yield a, b, int(self.starts[np.searchsorted(self.starts, a, "right") - 1])

    def _lay_torque(self, first: int, last: int) -> None:
        """Puts a held torque where the steps will find it."""
        torque, w, k = self.problem.torque, self.window, self.window.row(first)
        if isinstance(torque, Held):
            state = first * self.problem.dt, w.q[k], w.qd[k]
            w.tau[k : w.row(last)] = torque.rows(first, last, state, w.tau[k - 1])

    def _rate(self, step: int) -> None:
        """Fills in qdd and tau of a row."""
        w, k = self.window, self.window.row(step)
        w.qdd[k], w.tau[k] = self.problem.rate(w.tau[k], step * self.problem.dt, w.q[k], w.qd[k])

    def _end(self, step: int) -> None:
        """Completes the last row."""
        self._lay_torque(step, step + 1)
        self._rate(step)
        self._keep(step, step + 1)

    def _rows(self, array: np.ndarray, first: int, last: int) -> np.ndarray:
        return array[self.window.row(first) : self.window.row(last)]

    def _keep(self, first: int, last: int) -> None:
        """Copies what is to be kept of the steps from first to last, less the last."""
        if self.every == 1:
            return
        begin = -(-first // self.every) * self.every
        target = slice(begin // self.every, -(-last // self.every))
        w = self.window
        for kept, array in zip(self.kept, (w.q, w.qd, w.qdd, w.tau), strict=True):
            kept[target] = self._rows(array, begin, last)[:: self.every]

    # What goes wrong --------------------------------------------------------------------------

    def _look(self, first: int, last: int) -> int:
        """The last step of a segment up to which all states that still move are finite."""
        w, end = self.window, first
        while end < last:
            moving = self.watch.stops > end
            rows = (self._rows(array, end + 1, last + 1) for array in (w.q, w.qd))
            bad = first_bad_row(*(rows if moving.all() else (array[:, moving] for array in rows)))
            begin, end = end, last if bad is None else end + bad
            self.watch.look(begin + 1, self._rows(w.q, begin + 1, end + 1))
            if end < last and self._bad(end + 1).any():
                break
        return end

    def _bad(self, step: int) -> np.ndarray:
        """Which joints of states that still move are not finite at a step."""
        w, k = self.window, self.window.row(step)
        return ~(np.isfinite(w.q[k]) & np.isfinite(w.qd[k])) & (self.watch.stops >= step)[:, None]

    def _diverged(self, step: int) -> str:
        """Says which joint of which state left the finite numbers at this step."""
        speed, bad = self.window.qd[self.window.row(step - 1)], self._bad(step)
        fastest = np.argmax(np.where(bad, np.abs(speed), -1))
        state, joint = np.unravel_index(fastest, bad.shape)
        where = f" of state {state}" if self.batch else ""
        return (
            f"the simulation diverged at t = {self._time(step)}: joint "
            f"{self.robot.joint_names[joint]!r}{where} is no longer finite, after a speed of "
            f"{speed[state, joint]:.3g}; expected a smaller dt or smaller torques"
        )

    def _time(self, step: int) -> str:
        return f"{step * self.problem.dt:.6g} s"

    def _error(self, end: int, message: str) -> SimulationError:
        error = SimulationError(message)
        error.result = self._result(end)
        return error

    def _result(self, end: int) -> Result:
        """What there is up to a step."""
        wall_time = time.perf_counter() - self.begun
        problem, stops = self.problem, self.watch.stops
        t = np.arange(0, end + 1, self.every) * problem.dt

        def shaped(array: np.ndarray) -> np.ndarray:
            for state in np.flatnonzero(stops < end):
                array[stops[state] // self.every + 1 :, state] = np.nan
            whole = array[: len(t)].reshape(len(t), *self.batch, problem.chain.n)
            return np.moveaxis(whole, 0, -2)

        q, qd, qdd, tau = map(shaped, self.kept)
        violations = self.watch.violations(problem.dt)
        return Result(
            self.robot,
            t,
            *(q, qd, qdd, tau),
            integrator=self.integrator,
            dt=problem.dt,
            steps=end,
            friction=problem.friction,
            held=isinstance(problem.torque, Held),
            violations=violations,
            stopped=tuple(map(str, violations)) if self.watch.mode == "stop" else (),
            compile_time=self.compile_time,
            wall_time=wall_time,
        )


@lru_cache(maxsize=64)
def _forward_dynamics(chain: Chain, friction: bool) -> Callable[..., np.ndarray]:
    return function(chain, [Task("forward_dynamics", friction=friction)])


def _stepper(integrator: str, problem: Problem, window: Window) -> Stepper:
    if integrator == "midpoint":
        return Midpoint(problem, window)
    if integrator in ADAPTIVE:
        return Adaptive(problem, window, integrator)
    if isinstance(problem.torque, Called):
        return Text(problem, window, integrator)
    if isinstance(problem.torque, Sampled):
        return Sampling(problem, window, integrator)
    return Compiled(problem, window, integrator)
