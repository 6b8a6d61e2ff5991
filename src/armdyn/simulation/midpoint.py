"""The implicit midpoint rule on (q, p)."""

from __future__ import annotations

import numpy as np

from armdyn.simulation.integration import (
    BrokenOff,
    Integration,
    Problem,
    Window,
    complete_rows,
    constant,
    given_rows,
    still,
    torque_rows,
)
from armdyn.simulation.marching import March, Pointers, routine

ITERATIONS = 4  # in one call of the kernel
MOST = 100  # iterations
FRESH, AGAIN = b"\0", (b"\1", b"\2")  # turns: from the guess to v[0], from either v to the other
ENDS = {  # of the iterations: close, exact of Step
    "float64": (1e-9, 2.0**-50),
    "float32": (1e-3, 2.0**-21),
}


class MidpointIntegration(Integration):
    """The implicit midpoint rule on (q, p); each state iterates until rounding stops it."""

    def __init__(self, problem: Problem, window: Window) -> None:
        super().__init__(problem, window)
        chain, states, torque, dtype = problem.chain, problem.states, problem.torque, problem.dtype
        changes = torque.period is None
        self.asks = changes and torque.law is None  # the function, before every iteration
        self.sampled = not changes and torque.law is not None  # from the state at some steps
        if self.asks:
            self.stride = 64  # the function may take long, and a user waits for news
        close, exact = ENDS[dtype.name]
        step = problem.step(
            "midpoint",
            torque.law if changes else None,
            iterations=1 if self.asks else ITERATIONS,
            close=close,
            exact=exact,
        )
        self.routine = routine(chain, step, dtype.name)
        self.routine.address(states)
        self.momentum = routine(chain, problem.step("momentum"), dtype.name)
        self.momentum.address(states)
        self.p, self.guess, self.tau = np.empty((3, states, chain.n), dtype)
        self.v = np.empty((2, states, chain.n), dtype)  # in turns, one made of the other
        self.change, self.going = np.empty((2, 2, states, 1), dtype)

    def advance(self, first: int, last: int) -> None:
        """Makes the steps one by one, each with as many calls as its states need."""
        if first == 0:
            self._begin()
        for a, b in self.legs(first, last) if self.sampled else [(first, last)]:
            self.hold(a, b)
            self._advance(a, b)

    def complete(self, first: int, last: int) -> None:
        """Fills in accelerations, and torques that are not held."""
        complete_rows(self.problem, self.window, first, last)

    def _advance(self, first: int, last: int) -> None:
        p, guess = np.empty((2, last - first + 1, *self.p.shape), self.problem.dtype)
        p[0], guess[0] = self.p, self.guess
        march = March([self.routine] * 3, self._pointers(first, last, p, guess))
        for step in range(first, last):
            self.step, k = step, step - first
            self._make(step, guess[k], march, k)
        self.p, self.guess = p[-1], guess[-1]

    def _begin(self) -> None:
        """Momentum and guess of the first step."""
        w, k = self.window, self.window.row(0)
        state = [w.q[k:], w.qd[k:], *given_rows(self.problem)]
        self.momentum.march(1, state, [self.p[None]])
        self.guess = w.qd[k] + self.problem.dt / 2 * w.qdd[k]

    def _make(self, step: int, guess: np.ndarray, march: March, row: int) -> None:
        """One step: a call by the first turn, then by the others alternately."""
        self._ask(step, guess, np.ones_like(self.going[0]))
        march.go(FRESH, row)
        calls = 0
        while self.going[calls % 2].any():
            if calls * self.routine.step.iterations > MOST:
                worst = float(self.change[calls % 2].max())
                raise BrokenOff(
                    step,
                    f"at t = {step * self.problem.dt:.6g} s the implicit midpoint is not found "
                    f"within {MOST} iterations (speeds still change by {worst:.1g}, relatively); "
                    "expected a smaller dt, or smooth torques",
                )
            self._ask(step, self.v[calls % 2], self.going[calls % 2])
            march.go(AGAIN[calls % 2], row)
            calls += 1

    def _ask(self, step: int, v: np.ndarray, going: np.ndarray) -> None:
        """Asks the function, if there is one, for the torque halfway at these speeds.

        A state that is done keeps the torque it was done with, however long others take.
        """
        if self.asks:
            h = self.problem.dt
            q = self.window.q[self.window.row(step)] + h / 2 * v
            tau = self.problem.torque.at(np.array([(step + 0.5) * h]), q[None], v[None])[0]
            np.copyto(self.tau, tau, where=going > 0)

    def _pointers(self, first: int, last: int, p: np.ndarray, guess: np.ndarray) -> list[Pointers]:
        """Pointers for the first call of each step, and from either v to the other."""
        w, problem = self.window, self.problem
        k, count = w.row(first), last - first
        if self.asks:
            torque = [still(self.tau)]
        else:
            torque = torque_rows(problem, self.routine.step, w, first, count)
        torque += given_rows(problem)
        h = constant(problem.dt, problem)
        iterates = [
            tuple(still(array[i]) for array in (self.v, self.change, self.going)) for i in (0, 1)
        ]
        fresh = guess, constant(np.inf, problem), constant(1.0, problem)
        outputs = [w.q[k + 1 :], w.qd[k + 1 :], p[1:], guess[1:]]
        return [
            Pointers(count, [w.q[k:], w.qd[k:], p, *source, h, *torque, *outputs, *target])
            for source, target in (
                (fresh, iterates[0]),
                (iterates[0], iterates[1]),
                (iterates[1], iterates[0]),
            )
        ]
