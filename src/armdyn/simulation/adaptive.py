"""SciPy's integrators."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.errors import SimulationError
from armdyn.simulation.stepper import BrokenOff, Problem, Stepper, Window
from armdyn.simulation.torques import Held


class NotFinite(Exception):
    """The solver tried a state that is not finite; it would go on trying for ever."""


class Adaptive(Stepper):
    """SciPy's integrators with a step size of their own, each state for itself."""

    smooth = late = True

    def __init__(self, problem: Problem, window: Window, method: str) -> None:
        super().__init__(problem, window)
        try:
            from scipy import integrate
        except ImportError:
            raise SimulationError(
                f"{method} is SciPy's: pip install 'armdyn[simulate]', or choose ab4, rk4 or "
                "midpoint"
            ) from None
        self.method = getattr(integrate, method)
        torque, steps = problem.torque, problem.steps
        jumps = torque.starts(steps)[1:] if isinstance(torque, Held) else np.zeros(0, int)
        self.ends = np.append(jumps, steps)  # of smooth stretches
        self.solvers: list[Any] = []

    def advance(self, first: int, last: int, start: int) -> None:
        """Follows each state's solution from row to row."""
        if first == start:
            end = float(self.ends[np.searchsorted(self.ends, first, "right")])
            self.solvers = [self._solver(i, first, end) for i in range(self.problem.states)]
        for i, solver in enumerate(self.solvers):
            self._follow(i, solver, first, last)

    def _solver(self, i: int, first: int, end: float) -> Any:
        w, problem, n = self.window, self.problem, self.problem.chain.n
        k, state = w.row(first), slice(i, i + 1)
        held = w.tau[k].copy()

        def rate(t: float, x: np.ndarray) -> np.ndarray:
            if not np.isfinite(x).all():
                raise NotFinite
            q, qd = x[None, :n].copy(), x[None, n:].copy()
            qdd, _ = problem.rate(held, t, q, qd, state)
            return np.append(qd, qdd)

        x = np.append(w.q[k, i], w.qd[k, i])
        times = first * problem.dt, end * problem.dt
        return self.method(rate, times[0], x, times[1], **problem.tolerances)

    def _follow(self, i: int, solver: Any, first: int, last: int) -> None:
        w, n = self.window, self.problem.chain.n
        between = None  # the solution within the solver's last step
        for step in range(first + 1, last + 1):
            k, t = w.row(step), step * self.problem.dt
            try:
                while solver.t < t and solver.status == "running":
                    reason, between = solver.step(), None
            except NotFinite:
                w.q[k:, i] = w.qd[k:, i] = np.nan
                return
            if solver.status == "failed":
                raise BrokenOff(step - 1, f"{type(solver).__name__} gave up: {reason}")
            if solver.t > t and between is None:
                between = solver.dense_output()
            x = solver.y if between is None else between(t)
            w.q[k, i], w.qd[k, i] = x[:n], x[n:]
