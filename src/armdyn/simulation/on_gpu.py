"""Simulations where the initial state lies, if that is a GPU: see ``launches`` for the steps.

The processor only launches, and looks now and then whether all numbers are finite and within the
joints' limits; it reads rows of states that are not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from armdyn.arrays.cuda import Memory
from armdyn.engine import cuda
from armdyn.engine.payloads import Check
from armdyn.errors import ShapeError, SimulationError, shorten
from armdyn.output.progress import told
from armdyn.robot import Robot
from armdyn.simulation import arguments
from armdyn.simulation.controllers import Controller
from armdyn.simulation.integration import PAST, Problem, forward_dynamics
from armdyn.simulation.launches import (
    MOTION,
    GivenOnGPU,
    IntegrationOnGPU,
    WindowOnGPU,
    steps_alike,
)
from armdyn.simulation.results import Result
from armdyn.simulation.run import SEGMENT, Run
from armdyn.simulation.torques import Torque, check_shape, make_torque
from armdyn.simulation.watch import NEVER, Limit, Watch, first_bad_row

OnHost = Callable[[Any], np.ndarray]
SHARE = 16  # of a card's memory, what the rows of a segment may take is one in so many
LEAST = 16  # steps of a segment
ELSEWHERE = "or arrays on the CPU"
ARM = ("payload", "gravity", "parameters")  # what stands in place of the arm's own constants


def simulate_on_gpu(
    robot: Robot,
    values: Mapping[str, Any],
    memory: Memory,
    on_host: OnHost,
    *,
    tau: Any,
    t: float,
    dt: float,
    integrator: str,
    friction: bool,
    limits: str,
    every: int,
    payload_frame: str | None,
    check: Check,
    progress: Any,
    client: Any,
    **_: Any,
) -> Result[Any]:
    """The motion of an arm, on the GPU where its initial state lies.

    ``values`` are the arrays that ``simulate`` was given, by their names, and ``on_host`` has the
    numbers of one; what follows is as ``simulate`` takes it.
    """
    refuse(tau, integrator, limits, client)
    n, friction = robot.n, bool(friction)
    host = {name: on_host(values[name]) for name in ARM if name in values}
    given = arguments.given(robot.chain, {**dict.fromkeys(ARM), **host}, payload_frame, check)
    dtype = precision(values, memory)
    state = {name: values[name] for name in ("q0", "qd0") if name in values}
    for name, value in state.items():
        check_finite(name, value, memory)
    batch = arguments.batch_of(n, state, given)
    states = math.prod(batch)
    most = cuda.driver().memory(memory.number)
    steps = arguments.whole_steps(t, dt, every, 4 * states * n * dtype.itemsize, most)
    news = "the steps done and all steps"
    bar = told(progress, f"simulating {robot.name}", news, SimulationError)
    with bar as report:
        begun = time.perf_counter()
        rows = {name: arguments.flat(array, batch, dtype) for name, array in given.items()}
        torque: Torque
        if isinstance(tau, Controller):
            torque = make_torque(robot.chain, tau, batch, steps, dt, dtype, rows, payload_frame)
        else:
            torque = given_torque(values.get("tau"), memory, batch, steps, n, dtype)
        problem = Problem(
            robot.chain,
            states,
            float(dt),
            steps,
            friction,
            torque,
            forward_dynamics(robot.chain, friction, tuple(given), payload_frame),
            {},
            dtype,
            {name: memory.send(array) for name, array in rows.items()},
            payload_frame,
        )
        run = RunOnGPU(robot, problem, integrator, limits, int(every), batch, memory, on_host)
        if "qd0" not in state:
            state["qd0"] = memory.send(np.zeros(n))
        first = [memory.rows(x, (*batch, n), dtype.name).reshape(states, n) for x in state.values()]
        try:
            run.begin(*first)
            run.compile_time = time.perf_counter() - begun
            return run.go(report)
        finally:
            memory.wait()  # launches may be under way, and need the arrays that are let go here


def refuse(tau: Any, integrator: str, limits: str, client: Any) -> None:
    """Refuses what a GPU cannot do."""
    if integrator not in ("ab4", "rk4"):
        raise SimulationError(
            f"integrator {integrator!r} does not run on a GPU; expected 'ab4' or 'rk4', {ELSEWHERE}"
        )
    if limits == "stop":
        raise SimulationError(
            f"limits='stop' does not run on a GPU; expected 'report' or 'ignore', {ELSEWHERE}"
        )
    if callable(tau) and not isinstance(tau, Controller):
        raise SimulationError(
            f"tau is {shorten(tau)}, a function in Python, which does not run on a GPU; expected "
            f"torques or a controller of armdyn.controllers, {ELSEWHERE}"
        )
    if client is not None:
        raise SimulationError(
            f"client is {shorten(client)}, and q0 lies on a GPU of this machine; expected no "
            f"client, {ELSEWHERE}"
        )


def precision(values: Mapping[str, Any], memory: Memory) -> np.dtype:
    """float32 if all arrays are."""
    for name, value in values.items():
        kind = str(value.dtype).rpartition(".")[2]
        if not kind.startswith(("float", "bfloat", "int", "uint")):
            raise ShapeError(
                f"{name} has dtype {value.dtype}; expected real numbers (float64, float32 or "
                "integers)"
            )
    narrow = all(str(value.dtype).endswith("float32") for value in values.values())
    return np.dtype("float32" if narrow else memory.widest)


def check_finite(name: str, value: Any, memory: Memory) -> None:
    """Refuses an array of which a number is not."""
    if not is_finite(value, memory):
        raise SimulationError(f"{name} is {shorten(value)}; expected finite numbers")


def is_finite(array: Any, memory: Memory) -> bool:
    """Whether all numbers of an array are."""
    return bool(memory.names.isfinite(array).all())


def given_torque(
    tau: Any, memory: Memory, batch: tuple[int, ...], steps: int, n: int, dtype: np.dtype
) -> GivenOnGPU:
    """A torque in the memory of a GPU, or none."""
    if tau is None:
        return GivenOnGPU(memory.send(np.zeros((1, 1, n), dtype)), steps)
    check_finite("tau", tau, memory)
    shape = tuple(tau.shape)
    check_shape(shape, batch, steps, n)
    rows = memory.rows(tau, shape, dtype.name)
    axes = (math.prod(batch), *shape[-2:]) if len(shape) > 2 else (1, math.prod(shape[:-1]), n)
    return GivenOnGPU(rows.reshape(axes), steps)


class RunOnGPU(Run):
    """A simulation under way on a GPU.

    Where only every so many steps leave a row, all alike, and nobody looks at the others, those
    are never written to memory. Else all steps of a segment are.
    """

    window: WindowOnGPU
    integration: IntegrationOnGPU

    def __init__(
        self,
        robot: Robot,
        problem: Problem,
        integrator: str,
        limits: str,
        every: int,
        batch: tuple[int, ...],
        memory: Memory,
        on_host: OnHost,
    ) -> None:
        self.memory, self._fetch = memory, on_host
        self.far = every > 1 and limits == "ignore" and steps_alike(problem, integrator)
        super().__init__(robot, problem, integrator, limits, every, batch, problem.dtype)
        self.watch = WatchOnGPU(self, limits)

    def _arrange(self) -> WindowOnGPU:
        """Makes room for the rows, and what makes the steps."""
        problem, memory = self.problem, self.memory
        self.rows = w = WindowOnGPU(memory, problem, problem.steps, every=self.every)
        room = cuda.driver().memory(memory.number) // SHARE
        self.segment = max(LEAST, min(SEGMENT, room // max(len(MOTION) * w.bytes, 1)))
        if self.far:
            self.segment = max(1, self.segment // self.every) * self.every
        elif self.every > 1:
            w = WindowOnGPU(memory, problem, min(self.segment, problem.steps))
        self.integration = IntegrationOnGPU(problem, w, self.integrator)
        return w

    def begin(self, q: Any, qd: Any) -> None:
        """Sets the first row, and compiles what is needed to get on."""
        for name, array in (("q", q), ("qd", qd)):
            self.window.write(name, 0, self.memory.address(array))
        self._fill(0)

    def on_host(self, row: Any) -> np.ndarray:
        """Rows as NumPy's array."""
        return self._fetch(row)

    def _fill(self, step: int) -> None:
        self.integration.fill(step)

    def _keep(self, first: int, last: int) -> None:
        if self.window is self.rows:
            return
        begin = -(-first // self.every) * self.every
        for step in range(begin, last, self.every):
            self.rows.take(self.window, step)

    def _look(self, first: int, last: int) -> int:
        self.memory.wait()
        w, end = self.window, last
        rows = w.rows(first + 1, last + 1)
        if not self._is_finite(w, last):
            bad = first_bad_row(self.on_host(w.q[rows]), self.on_host(w.qd[rows]))
            end = first + (bad or 0) * w.every
            if self.far:
                end = self._closer_look(end)
        if self.watch.mode != "ignore":
            rows = w.rows(first + 1, end + 1)
            self.watch.look(first + 1, w.q[rows], w.qd[rows])
            self.watch.look_at_torques(first, w.tau[w.rows(first, min(end + 1, last))])
        return end

    def _is_finite(self, window: WindowOnGPU, step: int) -> bool:
        """Whether a row is; a state that is not finite never becomes so again."""
        k = window.row(step)
        return is_finite(window.q[k], self.memory) and is_finite(window.qd[k], self.memory)

    def _closer_look(self, step: int) -> int:
        """The last step, after one that has a row, at which all states are finite."""
        before, integration = self.window, self.integration
        for first in range(step, step + self.every, self.segment):
            last = min(first + self.segment, step + self.every)
            near = WindowOnGPU(self.memory, self.problem, last - first, first)
            near.take(before, first, MOTION[:2])
            integration.window = self.near = before = near
            integration.advance(first, last)
            if not self._is_finite(near, last):
                break
        rows = near.rows(first + 1, last + 1)
        bad = first_bad_row(self.on_host(near.q[rows]), self.on_host(near.qd[rows]))
        return first + (bad or 0)

    def _in_shape(self, rows: Any) -> Any:
        whole = rows.reshape(len(rows), *self.batch, self.robot.n)
        return self.memory.names.moveaxis(whole, 0, -2)

    def _result(self, end: int) -> Result[Any]:
        self.memory.wait()
        self.kept = [getattr(self.rows, name)[PAST:] for name in MOTION]
        found = super()._result(end)
        return replace(found, t=self.memory.send(found.t))


class WatchOnGPU(Watch):
    """Looks at a motion on a GPU, and reads the rows of those states that pass a limit just then.

    Of states that are beyond one already, how far they go is enough.
    """

    def __init__(self, run: RunOnGPU, mode: str) -> None:
        super().__init__(run.robot, mode, run.batch)
        self.run = run

    def look(self, step: int, q: Any, qd: Any) -> None:
        """Takes in the positions and speeds (rows, states, n) from this step on."""
        self._look(self.position, step, q)
        self._look(self.speed, step, qd)

    def look_at_torques(self, step: int, tau: Any) -> None:
        """Takes in the torques (rows, states, n) from this step on."""
        self._look(self.effort, step, tau)

    def _look(self, limit: Limit, step: int, values: Any) -> None:
        if self.mode == "ignore" or not limit.limited or 0 in values.shape:
            return
        memory, on_host, dtype = self.run.memory, self.run.on_host, self.run.dtype.type
        lower, upper = (
            memory.send(np.nextafter(bound.astype(dtype), dtype(inner)))
            for bound, inner in zip(limit.limits, (np.inf, -np.inf), strict=True)
        )
        least, most = memory.names.amin(values, 0), memory.names.amax(values, 0)
        within = (least > lower) & (most < upper)  # NaN is not
        if bool(within.all()):
            return
        which = np.flatnonzero(~on_host(within.all(-1)))
        picked = memory.send(which)
        furthest = np.stack([on_host(least[picked]), on_host(most[picked])])
        limit.begin()
        unknown = limit.since[:, which] == NEVER
        below, above = ~(furthest[0] >= limit.limits[0]), ~(furthest[1] <= limit.limits[1])
        new = (below & unknown[0] | above & unknown[1]).any(axis=-1)
        _take(limit, step, which[~new], furthest[:, ~new])
        if new.any():
            _take(limit, step, which[new], on_host(values[:, memory.send(which[new])]))


def _take(limit: Limit, step: int, states: np.ndarray, values: np.ndarray) -> None:
    """Lets a limit look at the values (rows, states, n) of some states from this step on."""
    part = Limit(limit.kind, limit.limits, len(states))
    part.since, part.worst = limit.since[:, states], limit.worst[:, states]
    if len(states):
        part.look(step, values)
        limit.since[:, states], limit.worst[:, states] = part.since, part.worst
