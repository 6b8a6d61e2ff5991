"""Stepper: one step of many arms in one call, as learning and sampling controllers need it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armdyn.chain.at_call import loaded_link
from armdyn.engine import calls, traced
from armdyn.engine.payloads import Check, Payloads
from armdyn.errors import MethodError, ShapeError, SimulationError, shorten, whole_number
from armdyn.forks import importing
from armdyn.quantities import ARGUMENTS, EACH
from armdyn.robot import Robot
from armdyn.robot.compiled import check_finite, numbers
from armdyn.simulation import arguments
from armdyn.simulation.controllers import LAWS
from armdyn.simulation.step import GAINS, Step, StepKernels

ACTIONS = ("torque", *(name for name, law in LAWS.items() if "q_ref" in law.signals))
Pair = tuple[np.ndarray, np.ndarray]
Constants = tuple[Any, ...]  # the length of a step, then gains


class Stepper:
    """Steps of an arm, or of many at once: made by ``Robot.stepper``, which describes it.

    Attributes:
        robot: the arm.
        dt: the time that a call moves it by [s].
        action: what an action is: "torque", or the law of a controller that makes one of it.
    """

    def __init__(
        self,
        robot: Robot,
        dt: float,
        action: str = "torque",
        *,
        kp: ArrayLike | None = None,
        kd: ArrayLike | None = None,
        integrator: str = "rk4",
        friction: bool = False,
        limits: str = "ignore",
        substeps: int = 1,
        payload_frame: str | None = None,
    ) -> None:
        arguments.check_choice("action", action, ACTIONS)
        arguments.check_choice("integrator", integrator, ("rk4",))
        arguments.check_choice("limits", limits, ("ignore", "clamp"))
        if payload_frame is not None:
            loaded_link(robot.chain, payload_frame)
        friction = arguments.flag("friction", friction)
        self.robot, self.dt, self.action = robot, arguments.positive("dt", dt), action
        self._substeps = whole_number("substeps", substeps, SimulationError)
        self._options: dict[str, Any] = {
            "kp": kp,
            "kd": kd,
            "integrator": integrator,
            "friction": friction,
            "limits": limits,
            "substeps": self._substeps,
            "payload_frame": payload_frame,
        }
        self._step = Step(
            integrator,
            None if action == "torque" else action,
            friction,
            payload_frame=payload_frame,
            alone=True,
            clamped=limits == "clamp",
        )
        gains = _gains(robot.n, action, {"kp": kp, "kd": kd})
        self._wide: Constants = (np.array([self.dt / self._substeps]), *gains)
        self._narrow: Constants = tuple(x.astype(np.float32) for x in self._wide)
        self._numbers: Constants = tuple(x.tolist() for x in self._wide)  # beside others' arrays
        self._kept: dict[Any, Constants] = {}  # by the type, place and precision of arrays
        self._payloads = Payloads(robot.chain)
        self._functions: dict[tuple[str, ...], Callable[..., Pair]] = {}  # by what is given

    def step(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        action: ArrayLike,
        *,
        payload: ArrayLike | None = None,
        gravity: ArrayLike | None = None,
        parameters: ArrayLike | None = None,
        check: Check = "error",
        out: Pair | None = None,
        threads: int | None = None,
    ) -> Pair:
        """The positions and speeds after ``dt`` under an action that is held so long.

        Leading axes are batch axes and broadcast against each other; where all arrays are float32,
        so is the step. A state has the same bits alone, in any batch, and in ``simulate``.

        Args:
            q: positions, shape (..., n) [rad or m].
            qd: speeds, shape (..., n).
            action: torques, or positions to go to, shape (..., n).
            payload: the ten parameters of a load, shape (..., 10), as Robot's functions take it.
            gravity: the acceleration of free fall in the base frame, shape (..., 3).
            parameters: those of the links, shape (..., 10 n), in place of the arm's own.
            check: what to do about a payload that no body has, and about a step that
                ``parameters`` make infinite or nan: "error", "warn" or None.
            out: two arrays that receive the positions and speeds, of memory of their own.
            threads: the most on which a batch is spread.
        """
        names: tuple[str, ...] = ()
        given: list[ArrayLike] = []
        if payload is not None or gravity is not None or parameters is not None:
            arrays = {"payload": payload, "gravity": gravity, "parameters": parameters}
            names = tuple(name for name, array in arrays.items() if array is not None)
            given = [array for array in arrays.values() if array is not None]
            if payload is not None:
                self._payloads.check(numbers(payload), check)
        function = self._functions.get(names) or self._made(names)
        h, *gains = constants = self._constants_beside(q, qd, action, *given)
        numpys = constants is self._narrow or constants is self._wide
        pairs: list[Any] = [None, None]  # one is read while the other is written
        for k in range(self._substeps - 1):
            room = pairs[k % 2] if numpys else None  # gradients need theirs
            q, qd = pairs[k % 2] = function(
                q, qd, h, action, *gains, *given, out=room, threads=threads
            )
        result = function(q, qd, h, action, *gains, *given, out=out, threads=threads)
        if parameters is not None:
            check_finite("step", (q, qd, action, *given), result, check)
        return result

    def _constants_beside(self, *arrays: Any) -> Constants:
        """The step's length and the gains, in the precision of arrays, or for their library."""
        narrow = True
        for array in arrays:
            if type(array) is np.ndarray:
                narrow = narrow and array.dtype is calls.FLOAT32
            elif isinstance(array, list | tuple | np.ndarray):
                narrow = narrow and getattr(array, "dtype", None) == calls.FLOAT32
            else:
                return self._constants_of_library(*arrays)
        return self._narrow if narrow else self._wide

    def _constants_of_library(self, *values: Any) -> Constants:
        """The same for arrays of another library, of which one is traced or all lie somewhere.

        There they are made once, and kept: to send them to a GPU takes longer than a step.
        """
        if is_traced():
            return self._numbers
        with importing:
            from armdyn import arrays

        others = [value for value in values if arrays.library(type(value)) is not None]
        wide = [value for value in others if "float32" not in str(getattr(value, "dtype", None))]
        example = (wide or others or [None])[0]
        library: Any = arrays.library(type(example))
        dtype = getattr(example, "dtype", None)
        if dtype is None or not hasattr(library, "device") or not library.has_numbers(example):
            return self._numbers
        try:
            key = type(example), library.device(example), dtype
        except ShapeError:  # it lies on several devices
            return self._numbers
        if key not in self._kept:
            made = tuple(library.like(numbers, example) for numbers in self._numbers)
            if not all(map(library.has_numbers, made)):  # it is traced all the same, by JAX
                return made
            self._kept.setdefault(key, made)
        return self._kept[key]

    def _made(self, given: tuple[str, ...]) -> Callable[..., Pair]:
        """The step as a function of q, qd, h, the action, gains, and what is given; kept."""
        n, step = self.robot.n, dataclasses.replace(self._step, given=given)
        each = EACH.format(n=n)
        what = "a torque" if step.law is None else "a position"
        takes = {
            "q": calls.Argument((n,), each),
            "qd": calls.Argument((n,), each),
            "h": calls.Argument((1,)),
            "action": calls.Argument((n,), f"{what} for each of {n} joints"),
            **{name: calls.Argument((n,), each) for name, _ in step.torque if name in GAINS},
        }
        for name in given:
            meaning = ARGUMENTS[name].meaning.format(n=n)
            takes[name] = calls.Argument(ARGUMENTS[name].shape(n), meaning)
        kernels = StepKernels(self.robot.chain, step)
        function = calls.Function("step", takes, ((n,), (n,)), kernels)
        return self._functions.setdefault(given, function)

    def __repr__(self) -> str:
        return f"Stepper({self.robot.name!r}, {self.dt:g} s, {self.action!r})"

    def __reduce__(self) -> Any:
        return partial(Stepper, **self._options), (self.robot, self.dt, self.action)


@traced.done_while_tracing
def is_traced() -> bool:
    """Whether torch.compile looks into a step just now."""
    return traced.is_tracing()


def _gains(n: int, action: str, given: dict[str, ArrayLike | None]) -> list[np.ndarray]:
    """The gains that the law of an action takes, shape (..., n) each."""
    taken = LAWS[action].signals if action != "torque" else ()
    found = []
    for name, value in given.items():
        if (value is None) == (name in taken):
            missing = "which needs one" if value is None else "which takes none"
            raise MethodError(f"{name} is {shorten(value)} with the action {action!r}, {missing}")
        if value is None:
            continue
        gain = arguments.finite(name, value)
        if gain.ndim and gain.shape[-1] != n:
            raise ShapeError(f"{name} has shape {gain.shape}; expected a number or (..., {n})")
        found.append(gain if gain.ndim else np.full(n, float(gain)))
    return found
