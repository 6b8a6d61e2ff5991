"""SciPy's integrators."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.errors import SimulationError
from armdyn.forks import importing
from armdyn.simulation.integration import BrokenOff, Integration, Problem, Window, complete_rows


class NotFinite(Exception):
    """The solver tried a state that is not finite; it would go on trying for ever."""


class AdaptiveIntegration(Integration):
    """SciPy's integrators with a step size of their own, each state for itself."""

    stride = 64  # each takes long, and a user waits for news

    def __init__(self, problem: Problem, window: Window, method: str) -> None:
        super().__init__(problem, window)
        try:
            with importing:
                from scipy import integrate
        except ImportError:
            raise SimulationError(
                f"{method} is SciPy's: pip install 'armdyn[simulate]', or choose ab4, rk4 or "
                "midpoint"
            ) from None
        self.method = getattr(integrate, method)
        self.solvers: list[Any] = []

    def advance(self, first: int, last: int) -> None:
        """Follows each state's solution from row to row; at a jump of the torque it starts anew."""
        for a, b in self.legs(first, last):
            self.hold(a, b)
            self.step = a
            if self.latest_start(a) == a:
                self.solvers = [self._solver(i, a) for i in range(self.problem.states)]
            self._follow_all(a, b)

    def complete(self, first: int, last: int) -> None:
        """Fills in accelerations, and torques that are not held."""
        complete_rows(self.problem, self.window, first, last)

    def _solver(self, i: int, first: int) -> Any:
        w, problem, n = self.window, self.problem, self.problem.chain.n
        k, state = w.row(first), slice(i, i + 1)
        held = w.tau[k].copy()
        jumps = problem.torque.starts(first + 1, problem.steps)
        end = jumps[0] if jumps else problem.steps

        def rate(t: float, x: np.ndarray) -> np.ndarray:
            if not np.isfinite(x).all():
                raise NotFinite
            q, qd = x[None, :n].copy(), x[None, n:].copy()
            qdd, _ = problem.rate(held, t, q, qd, state)
            return np.append(qd, qdd)

        x = np.append(w.q[k, i], w.qd[k, i])
        return self.method(rate, first * problem.dt, x, end * problem.dt, **problem.tolerances)

    def _follow_all(self, first: int, last: int) -> None:
        """Follows all states, up to where the first of them cannot be followed."""
        broken: BrokenOff | None = None
        for i, solver in enumerate(self.solvers):
            try:
                self._follow(i, solver, first, last)
            except BrokenOff as reason:
                broken, last = reason, reason.step
        if broken is not None:
            raise broken

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
                t = (step - 1) * self.problem.dt
                name = type(solver).__name__
                raise BrokenOff(step - 1, f"at t = {t:.6g} s {name} gave up: {reason}")
            if solver.t > t and between is None:
                between = solver.dense_output()
            x = solver.y if between is None else between(t)
            w.q[k, i], w.qd[k, i] = x[:n], x[n:]
            if i == self.problem.states - 1:
                self.step = step
