"""Explicit methods of fourth order, compiled or in Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.simulation.integration import (
    PAST,
    Integration,
    Problem,
    Window,
    constant,
    given_rows,
    torque_rows,
)
from armdyn.simulation.integrators import AB4, RK4
from armdyn.simulation.marching import March, Pointers, Routine, routine
from armdyn.simulation.step import Step

MANY = 100  # steps by Runge-Kutta that are worth compiling it


class PythonIntegration(Integration):
    """RK4, or AB4 started by it, on arrays of floats: for functions, which cannot be compiled."""

    stride = 64  # the function may take long, and a user waits for news

    def __init__(self, problem: Problem, window: Window, method: str) -> None:
        super().__init__(problem, window)
        self.past = PAST if method == "ab4" else problem.steps

    def advance(self, first: int, last: int) -> None:
        """Makes the steps one by one."""
        w, problem, h = self.window, self.problem, self.problem.dt
        ready = self.latest_start(first) + self.past  # from where on AB4 knows enough
        for step in range(first, last):
            self.step, k = step, w.row(step)

            def rate(c: float, q: np.ndarray, qd: np.ndarray, step: int = step, k: int = k) -> Any:
                return problem.rate(w.tau[k], (step + c) * h, q, qd)

            if step < ready:
                results = RK4.step(rate, h, w.q[k], w.qd[k])
            else:
                speeds = [w.qd[k - j] for j in range(PAST + 1)]
                accelerations = [w.qdd[k - j] for j in range(1, PAST + 1)]
                results = AB4.step(rate, h, w.q[k], speeds, accelerations)
            w.q[k + 1], w.qd[k + 1], w.qdd[k], w.tau[k] = results


class RK4Integration(Integration):
    """RK4: controller, dynamics and integrator in one kernel."""

    def __init__(self, problem: Problem, window: Window) -> None:
        super().__init__(problem, window)
        self.routine = compiled(problem.step("rk4", problem.torque.law), problem)

    def advance(self, first: int, last: int) -> None:
        """Makes all steps in one march."""
        self.step = first
        self.hold(first, last)
        inputs, outputs = rows_of(self.routine.step, self.problem, self.window, first, last)
        self.routine.march(last - first, inputs, outputs)


class AB4Integration(Integration):
    """AB4, started by RK4 wherever the torque may jump: a kernel as that of RK4Integration."""

    def __init__(self, problem: Problem, window: Window) -> None:
        super().__init__(problem, window)
        self.routine = compiled(problem.step("ab4", problem.torque.law), problem)
        few = len(problem.torque.starts(0, problem.steps)) * PAST < MANY
        self.starter: Integration = (
            PythonIntegration(problem, window, "rk4") if few else RK4Integration(problem, window)
        )

    def advance(self, first: int, last: int) -> None:
        """Makes the steps up to the next jump in one march, after those that start it."""
        for a, b in self.legs(first, last):
            self.step = a
            self.hold(a, b)
            ready = max(a, min(b, self.latest_start(a) + PAST))
            if a < ready:
                self.starter.advance(a, ready)
            if ready < b:
                inputs, outputs = rows_of(self.routine.step, self.problem, self.window, ready, b)
                self.routine.march(b - ready, inputs, outputs)


class SamplingIntegration(Integration):
    """RK4, or AB4 started by it anew in every period, with a controller that samples.

    A step that begins a period makes the torque, the others hold it.
    """

    def __init__(self, problem: Problem, window: Window, method: str) -> None:
        super().__init__(problem, window)
        self.period = problem.torque.period or 1
        steps = [problem.step("rk4", problem.torque.law, sampled=True)]
        if self.period > 1:
            steps.append(problem.step("rk4", sampled=True))
        if self.period > PAST and method == "ab4":
            steps.append(problem.step("ab4", sampled=True))
        self.routines = [compiled(step, problem) for step in steps]

    def advance(self, first: int, last: int) -> None:
        """Makes the steps by their routines in turns."""
        self.step = first
        turns, ready = [0, *[1] * (PAST - 1)], len(self.routines) - 1
        into = [step % self.period for step in range(first, last)]
        plan = [turns[since] if since < PAST else ready for since in into]
        tables = []
        for each in self.routines:
            inputs, outputs = rows_of(each.step, self.problem, self.window, first, last)
            tables.append(Pointers(last - first, [*inputs, *outputs]))
        March(self.routines, tables).go(bytes(plan))


def explicit_integration(problem: Problem, window: Window, method: str) -> Integration:
    """What makes the steps of ``ab4`` or ``rk4`` under this torque."""
    torque = problem.torque
    if torque.law is None and torque.period is None:
        return PythonIntegration(problem, window, method)
    if torque.law is not None and torque.period is not None:
        return SamplingIntegration(problem, window, method)
    longest = min(torque.period or problem.steps, problem.steps)
    if method == "rk4" or longest <= PAST:  # AB4 would never get beyond its start
        return RK4Integration(problem, window)
    return AB4Integration(problem, window)


def compiled(step: Step, problem: Problem) -> Routine:
    """The routine of a step, with the kernel that the problem needs."""
    made = routine(problem.chain, step, problem.dtype.name)
    made.address(problem.states)
    return made


def rows_of(
    step: Step, problem: Problem, window: Window, first: int, last: int
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """What the steps from first to last read and write."""
    w, k = window, window.row(first)
    inputs = [w.q[k:], w.qd[k:]]
    if step.method == "ab4":
        inputs += [array[k - j :] for array in (w.qd, w.qdd) for j in range(1, PAST + 1)]
    inputs.append(constant(problem.dt, problem))
    if step.sampled and step.law is None:
        inputs.append(w.tau[k - 1 :])
    else:
        inputs += torque_rows(problem, step, w, first, last - first)
    inputs += given_rows(problem)
    outputs = [w.q[k + 1 :], w.qd[k + 1 :], w.qdd[k:], w.tau[k:]]
    return inputs, outputs if step.law or step.sampled else outputs[:3]
