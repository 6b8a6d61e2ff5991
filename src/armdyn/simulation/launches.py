"""The steps of ``ab4`` and ``rk4`` on a GPU, in launches during which states stay in registers.

A kernel repeats the program that the processor repeats, or the stage of which that is made: so
states have the same bits on both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np

from armdyn.arrays.cuda import Memory
from armdyn.chain import Chain
from armdyn.engine import calls, cuda, gpu
from armdyn.simulation.controllers import LAWS
from armdyn.simulation.integration import PAST, Integration, Problem, Window
from armdyn.simulation.integrators import RK4
from armdyn.simulation.stages import CARRIED
from armdyn.simulation.step import STATE, Step, StepKernels
from armdyn.simulation.torques import ALL, Torque

LONGEST = 1024  # steps of one launch in a row of them; each is waited for, to let Ctrl-C through
MOTION = ("q", "qd", "qdd", "tau")
STATES = {"rk4": 2, "rk4-stage": len(CARRIED), "ab4-round": 8}  # arguments that the results replace
NOWHERE = 0  # the address of what nobody wants
TARGETS = {  # what each result is, of MOTION; "" where nobody wants it
    "rk4": MOTION,
    "rk4-stage": ("q", "qd", *[""] * (len(CARRIED) - 2)),
    "ab4-round": ("q", "qd", "", "", "", "qdd", "", "", "tau"),
}

Rows = tuple[int, int, int]  # an address; the numbers from a state's row to the next, from a step's


class WindowOnGPU(Window):
    """Rows of q, qd, qdd and tau on a GPU, of each step or of every so many."""

    def __init__(
        self, memory: Memory, problem: Problem, steps: int, start: int = 0, every: int = 1
    ) -> None:
        shape = (PAST + 1 + steps // every, problem.states, problem.chain.n)
        self.q, self.qd, self.qdd, self.tau = (
            memory.empty(shape, problem.dtype.name) for _ in MOTION
        )
        self.memory, self.start, self.every = memory, start, every
        self._begins = {name: memory.address(getattr(self, name)) for name in MOTION}
        self.bytes = math.prod(shape[1:]) * problem.dtype.itemsize  # of a row

    def row(self, step: int) -> int:
        """The row of a step, or of the next one that has a row."""
        return PAST - (self.start - step) // self.every

    def place(self, name: str, step: int) -> int:
        """The address of a row."""
        return self._begins[name] + self.row(step) * self.bytes

    def write(self, name: str, step: int, source: int) -> None:
        """Lets a row be what stands at an address."""
        place, memory = self.place(name, step), self.memory
        if self.bytes:
            cuda.driver().copy(memory.number, place, source, self.bytes, memory.stream)

    def take(self, other: WindowOnGPU, step: int, names: Sequence[str] = MOTION) -> None:
        """Copies a step's row from another window."""
        for name in names:
            self.write(name, step, other.place(name, step))

    def move(self, start: int) -> None:
        """Lets the window begin at a later step, unless all steps that it has rows for fit in."""
        if self.every > 1:
            return
        rows = [(name, start - j) for name in MOTION for j in range(PAST, -1, -1)]
        places = [self.place(*row) for row in rows]
        self.start = start
        for row, place in zip(rows, places, strict=True):
            self.write(*row, place)


class GivenOnGPU(Torque):
    """Torques in a GPU's memory, constant or one a step: shape (states or 1, steps or 1, n)."""

    def __init__(self, values: Any, steps: int) -> None:
        self.values, self.length = values, values.shape[1]
        self.period = 1 if self.length > 1 else steps

    def at(
        self, times: np.ndarray, q: np.ndarray, qd: np.ndarray, states: slice = ALL
    ) -> np.ndarray:
        """Not for the processor."""
        raise NotImplementedError


@lru_cache(maxsize=64)
def marching(chain: Chain, step: Step) -> gpu.March:
    """What repeats a step on GPUs; kept for the next simulation."""
    code, n = StepKernels(chain, step), chain.n
    takes = tuple((length,) for length in code.inputs.values())
    shapes = ((n,),) * len(TARGETS[step.method])
    states, torque = STATES[step.method], len(STATE[step.method])
    still = [*range(states, torque), *range(torque + len(step.torque), len(takes))]
    if step.method == "rk4-stage":
        shapes = (*shapes[:-1], (1,))  # its number
        still = [*range(states, len(takes))]  # the torque too: see ``_quickest``
    return gpu.March(code, takes, shapes, [(k, k) for k in range(states)], still)


@lru_cache(maxsize=64)
def controlling(chain: Chain, step: Step) -> Callable[..., Any]:
    """The torque of a law, as a function of arrays of any library."""
    code = StepKernels(chain, step)
    names = [name.partition("@")[0] for name in code.inputs]  # all at the step's beginning
    takes = {
        name: calls.Argument((length,))
        for name, length in zip(names, code.inputs.values(), strict=True)
    }
    return calls.Function("control", takes, ((chain.n,),), code)


def steps_alike(problem: Problem, method: str) -> bool:
    """Whether all steps are the same, made by Runge and Kutta's method."""
    period = problem.torque.period
    if problem.torque.law is not None and period is not None:
        return period == 1
    return method == "rk4" or min(period or problem.steps, problem.steps) <= PAST


class IntegrationOnGPU(Integration):
    """RK4, or AB4 started by it, under torques that are given or that a law makes.

    As on the processor: AB4 is started by RK4 in the library's own arithmetic, as NumPy's does it;
    with a controller that samples, a step that begins a period makes the torque, the others hold
    it.
    """

    window: WindowOnGPU

    def __init__(self, problem: Problem, window: WindowOnGPU, method: str) -> None:
        super().__init__(problem, window)
        torque, n = problem.torque, problem.chain.n
        self.memory, self.dtype = window.memory, problem.dtype
        self.sampling = torque.law is not None and torque.period is not None
        handed_on = torque.law is None or self.sampling  # the torque, from argument to result
        self.rk4 = problem.step("rk4", torque.law, sampled=handed_on)
        self.held = problem.step("rk4", sampled=True)
        self.ab4: Step | None = None
        if method == "ab4" and min(torque.period or problem.steps, problem.steps) > PAST:
            law = None if self.sampling else torque.law
            self.ab4 = problem.step("ab4-round", law, sampled=handed_on)
        self._sent: list[Any] = []  # of which launches have addresses
        self._h, self._zero, self._number = (
            self._still(np.full(1, x)) for x in (problem.dt, -0.0, 0.0)
        )
        self._none = self._still(np.full(n, -0.0))
        self._given = [
            (self.memory.address(array), array.shape[-1], 0) for array in problem.given.values()
        ]
        self._constant: dict[Step, list[Rows]] = {}  # signals of a law that do not move
        self._lasting = len(self._sent)
        if window.every > 1:
            self._far = self._quickest()
            shape = problem.states, n
            self._between = [self.memory.empty(shape, self.dtype.name) for _ in range(4)]

    def _quickest(self) -> Step:
        """What makes steps that leave no row: one of its stages, where the torque stands still."""
        problem, torque = self.problem, self.problem.torque
        if isinstance(torque, GivenOnGPU):
            still = torque.length == 1
        else:
            still = all(len(signal) == 1 for signal in torque.signals(np.zeros(2)))
        return problem.step("rk4-stage", torque.law) if still and not self.sampling else self.rk4

    # Steps --------------------------------------------------------------------------------------

    def advance(self, first: int, last: int) -> None:
        """Makes the steps, each kind of them in a launch."""
        w = self.window
        if w.every > 1:
            return self._advance_far(first, last)
        for step, steps in groupby(range(first, last), self._kind):
            a, *_ = several = list(steps)
            self.step = a
            if step is None:
                self._start(several)
                continue
            targets = {name: w.place(name, a + (name in MOTION[:2])) for name in MOTION}
            self._launch(step, a, len(several), [w.place("q", a), w.place("qd", a)], targets)
        self._wait()

    def _advance_far(self, first: int, last: int) -> None:
        """Makes steps that are alike, of which only every so many has a row."""
        w, places = self.window, [self.memory.address(array) for array in self._between]
        state, between = places[:2], places[2:]  # a launch must not write where it reads
        for step in range(first, last, w.every):
            self.step = step
            end, start = step + w.every, [w.place("q", step), w.place("qd", step)]
            made = {name: w.place(name, step) for name in MOTION[2:]}
            self._launch(self.rk4, step, 1, start, {"q": state[0], "qd": state[1], **made})
            for a in range(step + 1, end, LONGEST):
                count = min(LONGEST, end - a)
                reached = [w.place("q", end), w.place("qd", end)] if a + count == end else between
                targets = dict(zip(MOTION[:2], reached, strict=True))
                self._launch(self._far, a, count, state, targets, count)
                state, between = between, state
                if count == LONGEST:
                    cuda.driver().wait(self.memory.number, self.memory.stream)
        self._wait()

    def _kind(self, step: int) -> Step | None:
        """By what a step is made; None: by what starts AB4."""
        period = self.problem.torque.period or self.problem.steps
        since = step % period if self.sampling else step
        if self.sampling and since < PAST or self.ab4 is None:
            return self.held if self.sampling and since else self.rk4
        return self.ab4 if since >= PAST else None

    def _launch(
        self,
        step: Step,
        first: int,
        count: int,
        state: Sequence[int],
        targets: Mapping[str, int],
        every: int = 1,
    ) -> None:
        """Makes so many steps from the state at two addresses; targets are those of MOTION."""
        problem, w, n = self.problem, self.window, self.problem.chain.n
        rows: list[Rows] = [(address, n, 0) for address in state]
        if step.method == "ab4-round":
            past = [(name, first - j) for name in ("qd", "qdd") for j in range(1, PAST + 1)]
            rows += [(w.place(*row), n, 0) for row in past] + [self._h]
        elif step.method == "rk4-stage":
            rows += [*rows, self._none, self._none, self._number, self._h, self._zero]
            count, every = len(RK4.weights) * count, len(RK4.weights) * every
        else:
            rows.append(self._h)
        rows += self._torque(step, first, count) + self._given
        march = marching(problem.chain, step)
        assert not any(rows[k][2] for k in march.still)
        results = [targets.get(name, NOWHERE) for name in TARGETS[step.method]]
        where = self.dtype.name, self.memory.number, self.memory.stream
        march.launch(rows, results, problem.states, count, every, *where)

    def _start(self, steps: Sequence[int]) -> None:
        """Makes steps by the library's arithmetic."""
        w, h = self.window, self.problem.dt
        for step in steps:
            self.step, k = step, w.row(step)

            def rate(c: float, q: Any, qd: Any, step: int = step) -> tuple[Any, Any]:
                tau = self._torque_at(step, (step + c) * h, q, qd)
                return self.problem.forward_dynamics(q, qd, tau, *self.problem.given.values()), tau

            results = RK4.step(rate, h, w.q[k], w.qd[k])
            for name, array in zip(MOTION, results, strict=True):
                self._write(name, step + (name in MOTION[:2]), array)

    def fill(self, step: int) -> None:
        """Fills in tau and qdd of a row."""
        self.memory.wait()
        w, k = self.window, self.window.row(step)
        period = self.problem.torque.period or 1
        if self.sampling and step % period:
            tau = w.tau[w.row(step - 1)]
        else:
            tau = self._torque_at(step, step * self.problem.dt, w.q[k], w.qd[k])
        given = self.problem.given.values()
        self._write("tau", step, tau)
        self._write("qdd", step, self.problem.forward_dynamics(w.q[k], w.qd[k], tau, *given))

    # Torques ------------------------------------------------------------------------------------

    def _torque_at(self, step: int, t: float, q: Any, qd: Any) -> Any:
        """The torque of all states, that is given or that the law makes."""
        problem, torque = self.problem, self.problem.torque
        if isinstance(torque, GivenOnGPU):
            row = torque.values[:, min(step, torque.length - 1)]
            return self.memory.rows(row, (problem.states, problem.chain.n), self.dtype.name)
        names, frame = tuple(problem.given), problem.payload_frame
        law = Step("control", torque.law, given=names, payload_frame=frame)
        signals = [np.ascontiguousarray(x[0], self.dtype) for x in torque.signals(np.array([t]))]
        sent = map(self.memory.send, signals)
        return controlling(problem.chain, law)(q, qd, *sent, *problem.given.values())

    def _torque(self, step: Step, first: int, count: int) -> list[Rows]:
        """The rows that a step makes its torque of: of given or held torques, or of signals."""
        torque, n = self.problem.torque, self.problem.chain.n
        if isinstance(torque, GivenOnGPU):
            states, length, _ = torque.values.shape
            moving = length > 1
            begin = self.memory.address(torque.values) + moving * first * n * self.dtype.itemsize
            return [(begin, length * n if states > 1 else 0, moving * n)]
        if step.law is None:
            return [(self.window.place("tau", first - 1), n, 0)]
        if step not in self._constant:
            parts = 2 if 1 / 2 in step.nodes else 1  # of a step, at which signals are needed
            times = (first + np.arange(parts * count + 1) / parts) * self.problem.dt
            names, signals = LAWS[step.law].signals, torque.signals(times)
            found = dict(zip(names, signals, strict=True))
            sent = {name: self._rows(signal) for name, signal in found.items()}
            rows = [self._from(sent[name], parts, c or 0) for name, c in step.torque]
            if any(len(signal) > 1 for signal in signals):
                return rows
            self._constant[step] = rows
            self._lasting = len(self._sent)
        return self._constant[step]

    def _from(self, rows: Rows, parts: int, c: float) -> Rows:
        """The rows of a signal at a fraction of each step, of rows so many times a step."""
        begin, states, steps = rows
        return begin + int(parts * c) * steps * self.dtype.itemsize, states, parts * steps

    # Memory -------------------------------------------------------------------------------------

    def _rows(self, array: np.ndarray) -> Rows:
        """A copy of an array (steps or 1, states or 1, numbers) on the GPU."""
        steps, states, numbers = array.shape
        self._sent.append(self.memory.send(np.ascontiguousarray(array, self.dtype)))
        begin = self.memory.address(self._sent[-1])
        return begin, numbers if states > 1 else 0, states * numbers if steps > 1 else 0

    def _still(self, numbers: np.ndarray) -> Rows:
        """The same numbers for all states and steps."""
        return self._rows(numbers[None, None])

    def _write(self, name: str, step: int, array: Any) -> None:
        """Lets a row be an array."""
        shape = (self.problem.states, self.problem.chain.n)
        plain = self.memory.rows(array, shape, self.dtype.name)
        self.window.write(name, step, self.memory.address(plain))
        self.memory.wait()

    def _wait(self) -> None:
        """Lets go of what launches needed."""
        self.memory.wait()
        del self._sent[self._lasting :]
