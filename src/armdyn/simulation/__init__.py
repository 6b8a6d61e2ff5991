"""Simulation: forward dynamics in time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from armdyn.engine import calls
from armdyn.engine.payloads import Check
from armdyn.engine.workers import by_default
from armdyn.errors import SimulationError, whole_number
from armdyn.forks import importing
from armdyn.output.progress import told
from armdyn.robot import Robot
from armdyn.robot.compiled import A, Given
from armdyn.simulation import arguments
from armdyn.simulation.controllers import Controller
from armdyn.simulation.in_kind import in_kind
from armdyn.simulation.integration import Problem, forward_dynamics
from armdyn.simulation.integrators import ADAPTIVE, INTEGRATORS
from armdyn.simulation.results import Result
from armdyn.simulation.run import Run
from armdyn.simulation.torques import make_torque

if TYPE_CHECKING:
    from distributed import Client

OURS = calls.OURS | {type(None), Controller}


def simulate(
    robot: Robot,
    q0: Given[A],
    qd0: Given[A] | None = None,
    tau: Given[A] | Callable[..., ArrayLike] | Controller | None = None,
    t: float = 1.0,
    dt: float = 1e-3,
    integrator: str = "ab4",
    *,
    friction: bool = False,
    limits: str = "report",
    every: int = 1,
    payload: Given[A] | None = None,
    payload_frame: str | None = None,
    gravity: Given[A] | None = None,
    parameters: Given[A] | None = None,
    check: Check = "error",
    rtol: float = 1e-9,
    atol: float = 1e-12,
    progress: arguments.Progress | bool | None = None,
    threads: int | None = None,
    client: Client | None = None,
) -> Result[A]:
    """The motion of an arm from an initial state under torques.

    Initial states (N, n), or with any batch axes, are simulated together, each with the same bits
    as alone. Where all arrays given are float32, so is the motion; SciPy's integrators compute it
    in float64 all the same, for their tolerances lie below what float32 resolves.

    It runs where the initial state lies: arrays of torch, JAX, CuPy, or of a library that has
    DLPack, are answered with arrays of that library on the same device. On a GPU, which computes
    the same bits, the integrators are ``ab4`` and ``rk4``, torques come from arrays or controllers,
    and no limit stops a motion. There are no gradients:
    ``robot.stepper`` has them.

    Ctrl-C raises KeyboardInterrupt; its ``result`` is what was computed until then.

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
        limits: of position, speed and effort (tau as applied): ``report`` lists in
            ``result.violations`` what went beyond them; ``stop`` ends a state's motion where it
            passes one of position (in a batch its rows are then NaN) and reports the others;
            ``ignore`` does not look.
        every: of how many steps one is kept.
        payload: the ten parameters of a load, shape (..., 10), as Robot's functions take it. Its
            batch axes, and those of gravity and parameters, broadcast against those of q0. A
            controller knows what is given.
        payload_frame: where that load is; None: at the tip.
        gravity: the acceleration of free fall in the base frame, shape (..., 3).
        parameters: those of the links, shape (..., 10 n), in place of the arm's own.
        check: what is done about a payload that no body has: "error", "warn" or None.
        rtol: the relative error that SciPy's integrators allow in a step.
        atol: the absolute one.
        progress: called now and then with the steps done and all steps; True: a bar on stderr.
        threads: the most on which states are spread, where that pays; None: ``ARMDYN_NUM_THREADS``,
            or all cores.
        client: a ``distributed.Client``: the states are spread over the workers of its cluster,
            each with the same bits as here; progress is told the states done, and all states, and
            the ``result`` of an error is that of a block of states.

    Raises:
        SimulationError: something cannot be as asked; or the motion left the finite numbers or
            cannot be continued, then ``error.result`` is what was computed until there.
    """
    asked = dict(locals())
    if not isinstance(robot, Robot):
        raise TypeError(f"simulate takes a Robot, not {type(robot).__name__}; see armdyn.load")
    arguments.check_choice("integrator", integrator, INTEGRATORS)
    arguments.check_choice("limits", limits, ("report", "ignore", "stop"))
    friction = arguments.flag("friction", friction)
    arguments.check_solvable(robot.chain, integrator, friction)
    if not all(type(value) in OURS for value in (q0, qd0, tau, payload, gravity, parameters)):
        answer = in_kind(simulate, asked)
        if answer is not None:
            return answer
    arrays: dict[str, Any] = {"payload": payload, "gravity": gravity, "parameters": parameters}
    given = arguments.given(robot.chain, arrays, payload_frame, check)
    q, qd = arguments.initial_state(robot.n, q0, qd0, given)
    dtype = precision(q0, qd0, tau, *arrays.values())
    computed = np.dtype(float) if integrator in ADAPTIVE else dtype
    steps = arguments.whole_steps(t, dt, every, 4 * q.size * computed.itemsize)
    batch, states = q.shape[:-1], math.prod(q.shape[:-1])
    rows = {name: arguments.flat(x, batch, computed) for name, x in given.items()}
    if threads is not None:
        threads = whole_number("threads", threads, SimulationError)
    parts = "steps" if client is None else "states"
    news = f"the {parts} done and all {parts}"
    bar = told(progress, f"simulating {robot.name}", news, SimulationError)
    tolerances = {name: arguments.positive(name, x) for name, x in (("rtol", rtol), ("atol", atol))}
    with bar as report, by_default(threads):
        begun = time.perf_counter()
        torque = make_torque(
            robot.chain, tau, batch, steps, float(dt), computed, rows, payload_frame
        )
        if client is not None:
            with importing:
                from armdyn.simulation.cluster import Work, spread

            options: dict[str, Any] = {"t": t, "dt": dt, "integrator": integrator, **tolerances}
            options |= {"friction": friction, "limits": limits, "every": every}
            options |= {"payload_frame": payload_frame}
            work = Work.of(robot, q, qd, tau, given, dtype, options)
            return spread(client, work, batch, report)
        problem = Problem(
            robot.chain,
            states,
            float(dt),
            steps,
            friction,
            torque,
            forward_dynamics(robot.chain, friction, tuple(given), payload_frame),
            tolerances,
            computed,
            rows,
            payload_frame,
        )
        run = Run(robot, problem, integrator, limits, int(every), batch, dtype)
        run.begin(q.reshape(states, robot.n), qd.reshape(states, robot.n))
        run.compile_time = time.perf_counter() - begun
        return run.go(report)


def precision(q0: Any, qd0: Any, tau: Any, *others: Any) -> np.dtype:
    """float32 if all numbers that were given are; a function or a controller has no say."""
    told = [] if callable(tau) or isinstance(tau, Controller) else [tau]
    given = [q0, qd0, *told, *others]
    narrow = all(getattr(x, "dtype", None) == np.float32 for x in given if x is not None)
    return np.dtype(np.float32 if narrow else np.float64)
