"""The linear system about a state, in continuous time or for one step of a simulation."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from armdyn.algorithms import newton_euler
from armdyn.algorithms.drives import with_rotors
from armdyn.algorithms.dual import slopes, variables
from armdyn.algorithms.hamilton import momentum_and_slope
from armdyn.chain import Chain
from armdyn.chain.at_call import AtCall
from armdyn.engine import Kernels, calls
from armdyn.engine.payloads import Check
from armdyn.errors import ShapeError, SimulationError
from armdyn.program.passes import drop_unused
from armdyn.program.program import Program
from armdyn.program.tape import record
from armdyn.quantities import sizes
from armdyn.quantities.tasks import Task
from armdyn.robot import Robot
from armdyn.robot.compiled import check_finite
from armdyn.simulation import arguments, simulate
from armdyn.simulation.integrators import ADAPTIVE, INTEGRATORS, RK4
from armdyn.simulation.step import Model, Vector
from armdyn.spatial import Row

Linear = tuple[np.ndarray, np.ndarray, np.ndarray]


def linearize(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    dt: float | None = None,
    integrator: str = "ab4",
    *,
    friction: bool = False,
    payload: ArrayLike | None = None,
    payload_frame: str | None = None,
    gravity: ArrayLike | None = None,
    parameters: ArrayLike | None = None,
    check: Check = "error",
    threads: int | None = None,
) -> Linear:
    """The linear system about a state: of the motion in time, or of one step of ``simulate``.

    The state x = (q, qd) is one vector of 2n numbers. Leading axes are batch axes. To first order:

    - without ``dt``, the rate at x + dx under tau + dtau is dx/dt = rate + A dx + B dtau, with
      A = [[0, I], [dqdd/dq, dqdd/dqd]] and B = [[0], [M^-1]];
    - with ``dt``, a step from x + dx under tau + dtau ends at next + A dx + B dtau.

    Args:
        robot: the arm.
        q: positions, shape (..., n) [rad or m].
        qd: speeds, shape (..., n).
        tau: torques, shape (..., n), held over the step.
        dt: the step [s]; None: continuous time.
        integrator: of the step: ``ab4`` or ``rk4``, which take the same step here, because
            the torque is constant over it; or ``midpoint``, whose equation is solved first and
            then differentiated.
        friction: whether the joints have their friction; Coulomb's has the derivative 0.
        payload: the ten parameters of a load, shape (..., 10), as Robot's functions take it.
        payload_frame: where that load is; None: at the tip.
        gravity: the acceleration of free fall in the base frame, shape (..., 3).
        parameters: those of the links, shape (..., 10 n), in place of the arm's own.
        check: what to do about a payload that no body has, and about results that
            ``parameters`` make infinite or nan: "error", "warn" or None.
        threads: the most on which a batch is spread, as in Robot's functions.

    Returns:
        next, the state after the step, or the rate (qd, qdd) (..., 2n); its derivatives with
        respect to the state, A (..., 2n, 2n), and to the torque, B (..., 2n, n).

    Raises:
        SimulationError: for DOP853 and LSODA, which choose their own steps; for an integrator
            without ``dt``.
    """
    if not isinstance(robot, Robot):
        raise TypeError(f"linearize takes a Robot, not {type(robot).__name__}; see armdyn.load")
    arguments.check_choice("integrator", integrator, INTEGRATORS)
    friction = arguments.flag("friction", friction)
    if integrator in ADAPTIVE:
        raise SimulationError(
            f"{integrator} chooses its own steps, which have no derivative; expected ab4, rk4 or "
            "midpoint"
        )
    arrays = {"payload": payload, "gravity": gravity, "parameters": parameters}
    given = arguments.given(robot.chain, arrays, payload_frame, check)
    q, qd, tau = _state(robot.n, q, qd, tau)
    if dt is None:
        if integrator != "ab4":
            raise SimulationError(
                f"integrator is {integrator!r}, but dt is None; expected a step dt [s], because a "
                "system in continuous time has no integrator"
            )
        found = _continuous(robot, friction, payload_frame, q, qd, tau, given, threads)
    else:
        h = arguments.positive("dt", dt)
        arguments.check_solvable(robot.chain, integrator, friction)
        asked = _Asked(robot.chain, friction, tuple(given), payload_frame)
        if integrator == "midpoint":
            found = _midpoint(robot, asked, q, qd, tau, h, given, threads)
        else:
            function = _runge_kutta(asked)
            found = function(q, qd, tau, np.array([h]), *given.values(), threads=threads)
    if parameters is not None:
        check_finite("linearize", (q, qd, tau, *given.values()), found, check)
    return found


class _Asked(NamedTuple):
    """What a linear system depends on, and is compiled for."""

    chain: Chain
    friction: bool
    given: tuple[str, ...]
    payload_frame: str | None

    @property
    def takes(self) -> dict[str, calls.Argument]:
        """What is given in place of the arm's own constants."""
        found = sizes(self.chain.n, self.given)
        return {name: calls.Argument((size,)) for name, size in found.items()}


def _state(n: int, *arrays: ArrayLike) -> list[np.ndarray]:
    """q, qd and tau, of one shape (..., n)."""
    found = [arguments.finite(name, x) for name, x in zip(("q", "qd", "tau"), arrays, strict=True)]
    for name, array in zip(("q", "qd", "tau"), found, strict=True):
        if array.ndim == 0 or array.shape[-1] != n:
            raise ShapeError(f"{name} has shape {array.shape}; expected (..., {n})")
    try:
        return list(np.broadcast_arrays(*found))
    except ValueError:
        shapes = ", ".join(str(array.shape) for array in found)
        raise ShapeError(f"batch axes do not broadcast: q, qd, tau have {shapes}") from None


def _continuous(
    robot: Robot,
    friction: bool,
    payload_frame: str | None,
    q: np.ndarray,
    qd: np.ndarray,
    tau: np.ndarray,
    given: dict[str, np.ndarray],
    threads: int | None,
) -> Linear:
    """The rate (qd, qdd) and its derivatives."""
    names = "forward_dynamics", "forward_dynamics_derivatives"
    tasks = (Task.with_given(name, given, payload_frame) for name in names)
    function = robot._do(*(task._replace(friction=friction) for task in tasks))
    qdd, dq, dqd, dtau = function(q, qd, tau, *given.values(), threads=threads)
    rate = np.concatenate([np.broadcast_to(qd, qdd.shape), qdd], axis=-1)
    zero = np.zeros_like(dq)
    moved = np.concatenate([zero, zero + np.eye(robot.n)], axis=-1)
    A = np.concatenate([moved, np.concatenate([dq, dqd], axis=-1)], axis=-2)
    return rate, A, np.concatenate([zero, dtau], axis=-2)


# Runge-Kutta: the same step on vectors with their derivatives beside them ------------------------


class _RungeKutta(Kernels):
    """The kernels of a step of RK4 and its derivatives."""

    def __init__(self, asked: _Asked) -> None:
        super().__init__(asked.chain, ("linearize", "rk4", *asked[1:]))
        self._asked = asked

    def trace(self) -> Program:
        """The program. A vector has a row a joint: its value, then its slopes by q, qd and tau."""
        n, (_, friction, names, frame) = self.chain.n, self._asked
        ones, zeros = np.eye(n, dtype=object), np.zeros((n, n), dtype=object)

        def text(q: Row, qd: Row, tau: Row, h: Row, *given: Row) -> tuple[list[Any], ...]:
            vectors = map(np.array, given)
            model = Model(self.chain, friction, dict(zip(names, vectors, strict=True)), frame)
            by_tau = np.hstack([zeros, zeros, ones])

            def rate(c: float, x: Vector, v: Vector) -> tuple[Vector, Vector]:
                state = x[:, 0], v[:, 0], np.array(tau, dtype=object)
                qdd, _ = model.rate(lambda *_: state[2], c, *state[:2])
                dq, dqd, dtau = model("forward_dynamics_derivatives", *state, friction=friction)
                moved = dq @ x[:, 1:] + dqd @ v[:, 1:] + dtau @ by_tau
                return np.column_stack([qdd, moved]), by_tau

            x = np.column_stack([q, ones, zeros, zeros])
            v = np.column_stack([qd, zeros, ones, zeros])
            after = np.vstack(RK4.step(rate, np.array(h, dtype=object), x, v)[:2])
            parts = after[:, 0], after[:, 1 : 2 * n + 1], after[:, 2 * n + 1 :]
            return tuple(part.tolist() for part in parts)

        inputs = {"q": n, "qd": n, "tau": n, "h": 1} | sizes(n, names)
        return drop_unused(record(text, inputs, "linearize"))


@lru_cache(maxsize=64)
def _runge_kutta(asked: _Asked) -> Callable[..., Linear]:
    n = asked.chain.n
    takes = {name: calls.Argument((n,)) for name in ("q", "qd", "tau")} | {
        "h": calls.Argument((1,))
    }
    shapes = (2 * n,), (2 * n, 2 * n), (2 * n, n)
    return calls.Function("linearize", takes | asked.takes, shapes, _RungeKutta(asked))


# The implicit midpoint: the step is found by ``simulate``, then its equation is differentiated ----


class _Slopes(Kernels):
    """The kernels of the slopes of momentum M(q) v and of the force dT/dq - g, by q and by v."""

    def __init__(self, asked: _Asked) -> None:
        super().__init__(asked.chain, ("linearize", "midpoint", *asked[1:]))
        self._asked = asked

    def trace(self) -> Program:
        """The program: d(M v)/dq, M, d(force)/dq, d(force)/dv."""
        n, (_, friction, names, frame) = self.chain.n, self._asked

        def text(q: Row, v: Row, *given: Row) -> tuple[list[Row], ...]:
            call = AtCall(payload_frame=frame, **dict(zip(names, given, strict=True)))
            arm = self.chain.on(float, call=call)
            state = variables(q, v)
            p, slope = momentum_and_slope(arm, *state)
            force = [a - b for a, b in zip(slope, newton_euler.gravity(arm, state[0]), strict=True)]
            p_q, p_v, f_q, f_v = (
                [slopes(x, state, first, n) for x in numbers]
                for numbers in (p, force)
                for first in (0, n)
            )
            for i, viscous in enumerate(arm.viscous if friction else []):
                f_v[i][i] = f_v[i][i] - viscous
            return p_q, with_rotors(p_v, arm), f_q, f_v

        return drop_unused(record(text, {"q": n, "v": n} | sizes(n, names), "midpoint slopes"))


@lru_cache(maxsize=64)
def _slopes(asked: _Asked) -> Callable[..., tuple[np.ndarray, ...]]:
    n = asked.chain.n
    takes = {name: calls.Argument((n,)) for name in ("q", "v")} | asked.takes
    return calls.Function("slopes", takes, ((n, n),) * 4, _Slopes(asked))


def _midpoint(
    robot: Robot,
    asked: _Asked,
    q: np.ndarray,
    qd: np.ndarray,
    tau: np.ndarray,
    h: float,
    given: dict[str, np.ndarray],
    threads: int | None,
) -> Linear:
    """The midpoint rule's step, and the derivatives of the equation that it solves.

    With momentum E(q, v) = M(q) v and force F, the speed v at the midpoint m = q + h/2 v solves
    E(m, v) - p - h/2 (F(m, v) + tau) = 0. Then q' = q + h v, p' = p + h (F(m, v) + tau), and qd' is
    what has that momentum, M(q') qd' = p'.
    """
    n = robot.n
    batch = np.broadcast_shapes(*(x.shape[:-1] for x in (q, *given.values())))
    held = np.broadcast_to(tau, (*batch, n))[..., None, :]
    options: dict[str, Any] = {"friction": asked.friction, "limits": "ignore", "threads": threads}
    constants: dict[str, Any] = {**given, "payload_frame": asked.payload_frame, "check": None}
    run = simulate(robot, q, qd, held, h, h, "midpoint", **options, **constants)

    def slope(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
        return _slopes(asked)(q, v, *given.values(), threads=threads)

    q1, qd1 = run.q[..., -1, :], run.qd[..., -1, :]
    v = (q1 - q) / h
    E_q, E_v, F_q, F_v = slope(q + h / 2 * v, v)
    one = np.broadcast_to(np.eye(n), E_v.shape)
    zero = np.zeros_like(one)
    by_q = np.concatenate([one, zero, zero], axis=-1)  # slopes by q, qd and tau
    by_tau = np.concatenate([zero, zero, one], axis=-1)
    p_q, p_qd, _, _ = slope(q, qd)
    by_p = np.concatenate([p_q, p_qd, zero], axis=-1)
    slope_m, slope_v = E_q - h / 2 * F_q, E_v - h / 2 * F_v
    dv = np.linalg.solve(slope_v + h / 2 * slope_m, by_p + h / 2 * by_tau - slope_m @ by_q)
    dq = by_q + h * dv
    dp = by_p + h * (F_q @ (by_q + h / 2 * dv) + F_v @ dv + by_tau)
    last_q, M, _, _ = slope(q1, qd1)
    dqd = np.linalg.solve(M, dp - last_q @ dq)
    both = np.concatenate([dq, dqd], axis=-2)
    return np.concatenate([q1, qd1], axis=-1), both[..., : 2 * n], both[..., 2 * n :]
