"""Methods of fourth order, by compiled steps or by their text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from armdyn.simulation.integrators import AB4, RK4
from armdyn.simulation.marching import Table, march_in_turns, routine
from armdyn.simulation.step import Step
from armdyn.simulation.stepper import PAST, Problem, Stepper, Window, constant, torque_rows
from armdyn.simulation.torques import Held, Sampled

MANY = 100  # steps by Runge-Kutta that are worth compiling it


class Text(Stepper):
    """RK4, or AB4 started by it: the integrator's text on arrays of floats."""

    def __init__(self, problem: Problem, window: Window, method: str) -> None:
        super().__init__(problem, window)
        self.past = PAST if method == "ab4" else problem.steps

    def advance(self, first: int, last: int, start: int) -> None:
        """Makes the steps one by one."""
        w, problem, h = self.window, self.problem, self.problem.dt
        for step in range(first, last):
            k = w.row(step)

            def rate(c: float, q: np.ndarray, qd: np.ndarray, step: int = step, k: int = k) -> Any:
                return problem.rate(w.tau[k], (step + c) * h, q, qd)

            if step < start + self.past:
                results = RK4.step(rate, h, w.q[k], w.qd[k])
            else:
                speeds = [w.qd[k - j] for j in range(PAST + 1)]
                accelerations = [w.qdd[k - j] for j in range(1, PAST + 1)]
                results = AB4.step(rate, h, w.q[k], speeds, accelerations)
            w.q[k + 1], w.qd[k + 1], w.qdd[k], w.tau[k] = results


class Compiled(Stepper):
    """RK4, or AB4 started by it: controller, dynamics and integrator in one kernel.

    AB4 starts again wherever a held torque may jump; where that happens within PAST steps, again
    and again, nothing but RK4 is left of it.
    """

    def __init__(self, problem: Problem, window: Window, method: str) -> None:
        super().__init__(problem, window)
        torque, steps = problem.torque, problem.steps
        jumps = torque.starts(steps) if isinstance(torque, Held) else np.zeros(1, int)
        if np.diff(jumps, append=steps).max() <= PAST:
            method = "rk4"
        law = problem.controller.law if problem.controller else None
        self.routine = routine(problem.chain, Step(method, law, problem.friction))
        self.routine.kernel(problem.states)
        self.start: Callable[[int, int, int], None] | None = None
        if method == "ab4":
            self.smooth = True
            starter = Text if len(jumps) * PAST < MANY else Compiled
            self.start = starter(problem, window, "rk4").advance

    def advance(self, first: int, last: int, start: int) -> None:
        """Makes all steps in one march, after those that start it."""
        if self.start and first < start + PAST:
            middle = min(start + PAST, last)
            self.start(first, middle, start)
            first = middle
        if first < last:
            inputs, outputs = rows_of(self.routine.step, self.problem, self.window, first, last)
            self.routine.march(last - first, inputs, outputs)


class Sampling(Stepper):
    """RK4, or AB4 started by it anew in every period, with a controller that samples.

    A step that begins a period makes the torque, the others hold it.
    """

    samples = True

    def __init__(self, problem: Problem, window: Window, method: str) -> None:
        super().__init__(problem, window)
        assert isinstance(problem.torque, Sampled) and problem.controller is not None
        self.period = problem.torque.period
        steps = [Step("rk4", problem.controller.law, problem.friction, sampled=True)]
        if self.period > 1:
            steps.append(Step("rk4", None, problem.friction, sampled=True))
        if self.period > PAST and method == "ab4":
            steps.append(Step("ab4", None, problem.friction, sampled=True))
        self.routines = [routine(problem.chain, step) for step in steps]
        for each in self.routines:
            each.kernel(problem.states)

    def advance(self, first: int, last: int, start: int) -> None:
        """Makes the steps by their routines in turns."""
        turns = [0, *[1] * (PAST - 1), *[len(self.routines) - 1] * self.period][: self.period]
        plan = [turns[step % self.period] for step in range(first, last)]
        tables = []
        for each in self.routines:
            inputs, outputs = rows_of(each.step, self.problem, self.window, first, last)
            tables.append(Table(last - first, [*inputs, *outputs]))
        march_in_turns(plan, self.routines, tables)


def rows_of(
    step: Step, problem: Problem, window: Window, first: int, last: int
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """What the steps from first to last read and write."""
    w, k = window, window.row(first)
    inputs = [w.q[k:], w.qd[k:]]
    if step.method == "ab4":
        inputs += [array[k - j :] for array in (w.qd, w.qdd) for j in range(1, PAST + 1)]
    inputs.append(constant(problem.dt, problem.states))
    if step.sampled and step.law is None:
        inputs.append(w.tau[k - 1 :])
    else:
        inputs += torque_rows(problem, step, w, first, last - first)
    outputs = [w.q[k + 1 :], w.qd[k + 1 :], w.qdd[k:], w.tau[k:]]
    return inputs, outputs if step.law or step.sampled else outputs[:3]
