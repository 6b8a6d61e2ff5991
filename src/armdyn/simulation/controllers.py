"""Ready controllers: torque laws on scalars of any kind, with the signals that they follow.

A law is written once. Traced, it becomes one program with the arm's dynamics and the integrator's
step. Its signals enter as arguments: positions, speeds and accelerations to follow, and gains.

Example:
    controllers.pd_gravity(target, kp=100, kd=20) is a torque for armdyn.simulate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from armdyn.engine.calls import real_array
from armdyn.errors import ShapeError, SimulationError, listed, shorten
from armdyn.simulation.arguments import finite, positive
from armdyn.simulation.trajectories import Trajectory

Vector = np.ndarray  # of n scalars of any kind
Model = Callable[..., np.ndarray]  # model("gravity", q): a quantity of the arm, on such vectors
Reference = Callable[[float], tuple[ArrayLike, ArrayLike, ArrayLike]]  # t -> q, qd, qdd


class Law(NamedTuple):
    """A torque law and the signals that it takes, in order.

    ``q_ref``, ``qd_ref``, ``qdd_ref`` is the motion to follow, ``kp`` and ``kd`` are gains.
    """

    torque: Callable[..., Vector]
    signals: tuple[str, ...] = ()


def _zero(model: Model, q: Vector, qd: Vector) -> Vector:
    return 0 * q


def _gravity(model: Model, q: Vector, qd: Vector) -> Vector:
    return model("gravity", q)


def _pd(
    model: Model, q: Vector, qd: Vector, q_ref: Vector, qd_ref: Vector, kp: Vector, kd: Vector
) -> Vector:
    return kp * (q_ref - q) + kd * (qd_ref - qd)


def _pd_gravity(
    model: Model, q: Vector, qd: Vector, q_ref: Vector, qd_ref: Vector, kp: Vector, kd: Vector
) -> Vector:
    return _pd(model, q, qd, q_ref, qd_ref, kp, kd) + model("gravity", q)


def _computed_torque(
    model: Model,
    q: Vector,
    qd: Vector,
    q_ref: Vector,
    qd_ref: Vector,
    qdd_ref: Vector,
    kp: Vector,
    kd: Vector,
) -> Vector:
    qdd = qdd_ref + kp * (q_ref - q) + kd * (qd_ref - qd)
    return model("mass_matrix", q) @ qdd + model("bias", q, qd)


LAWS: Mapping[str, Law] = {
    "zero": Law(_zero),
    "gravity": Law(_gravity),
    "pd": Law(_pd, ("q_ref", "qd_ref", "kp", "kd")),
    "pd-gravity": Law(_pd_gravity, ("q_ref", "qd_ref", "kp", "kd")),
    "computed-torque": Law(_computed_torque, ("q_ref", "qd_ref", "qdd_ref", "kp", "kd")),
}


@dataclass(frozen=True, eq=False)
class Controller:
    """A law of LAWS with what it follows; made by the functions of this module.

    Attributes:
        law: its name.
        reference: a position to keep, shape (..., n), or a motion t -> (q, qd, qdd).
        kp, kd: gains, numbers or (n,).
        rate: how often the torque is computed and then held [Hz]; None: continuously.
    """

    law: str
    reference: np.ndarray | Reference | None = None
    kp: np.ndarray | None = None
    kd: np.ndarray | None = None
    rate: float | None = None

    def __repr__(self) -> str:
        rate = "continuous" if self.rate is None else f"{self.rate:g} Hz"
        return f"Controller({self.law!r}, {rate})"

    def signals(self, times: np.ndarray, n: int) -> list[np.ndarray]:
        """The law's signals at some times, for an arm of n joints.

        Each has shape (times or 1, states or 1, n), 1 where it is the same for all.
        """
        motion = self._motion(times)
        known = {"kp": self.kp, "kd": self.kd, **motion}
        return [_shaped(name, known[name], name in motion, n) for name in LAWS[self.law].signals]

    def _motion(self, times: np.ndarray) -> dict[str, np.ndarray]:
        """What is to be followed, with an axis of times (or 1) before its own."""
        if self.reference is None:
            return {}
        if isinstance(self.reference, np.ndarray):
            position, rest = self.reference[None], np.zeros_like(self.reference[None])
            return {"q_ref": position, "qd_ref": rest, "qdd_ref": rest}
        motion = _along(self.reference, times)
        return dict(zip(("q_ref", "qd_ref", "qdd_ref"), motion, strict=True))


def zero() -> Controller:
    """No torque: the arm falls."""
    return Controller("zero")


def gravity_compensation(rate: float | None = None) -> Controller:
    """Torque g(q): the arm floats."""
    return Controller("gravity", rate=_rate(rate))


def pd(
    target: ArrayLike | Reference, kp: ArrayLike, kd: ArrayLike, rate: float | None = None
) -> Controller:
    """Torque kp (q_ref - q) + kd (qd_ref - qd): the arm sags by what gravity asks of kp.

    Args:
        target: a position to reach, or a trajectory t -> (q, qd, qdd).
        kp: stiffness [N m/rad], a number or (n,).
        kd: damping [N m s/rad], a number or (n,).
        rate: how often the torque is computed and then held [Hz]; None: continuously.
    """
    return Controller("pd", *_followed("target", target, kp, kd), _rate(rate))


def pd_gravity(
    target: ArrayLike | Reference, kp: ArrayLike, kd: ArrayLike, rate: float | None = None
) -> Controller:
    """Torque kp (q_ref - q) + kd (qd_ref - qd) + g(q).

    Args:
        target: a position to reach, or a trajectory t -> (q, qd, qdd).
        kp: stiffness [N m/rad], a number or (n,).
        kd: damping [N m s/rad], a number or (n,).
        rate: how often the torque is computed and then held [Hz]; None: continuously.
    """
    return Controller("pd-gravity", *_followed("target", target, kp, kd), _rate(rate))


def computed_torque(
    trajectory: ArrayLike | Reference, kp: ArrayLike, kd: ArrayLike, rate: float | None = None
) -> Controller:
    """Torque M(q) (qdd_ref + kp (q_ref - q) + kd (qd_ref - qd)) + b(q, qd).

    On the arm it was made for the error e obeys edd + kd ed + kp e = 0, each joint for itself.

    Args:
        trajectory: t -> (q, qd, qdd), or a position to reach.
        kp: [1/s^2], a number or (n,).
        kd: [1/s], a number or (n,).
        rate: how often the torque is computed and then held [Hz]; None: continuously.
    """
    return Controller("computed-torque", *_followed("trajectory", trajectory, kp, kd), _rate(rate))


def _followed(
    name: str, reference: ArrayLike | Reference, kp: ArrayLike, kd: ArrayLike
) -> tuple[np.ndarray | Reference, np.ndarray, np.ndarray]:
    if not callable(reference):
        reference = finite(name, reference)
        if reference.ndim == 0:
            raise ShapeError(f"{name} is a number; expected an array (n,) or a trajectory")
    return reference, finite("kp", kp), finite("kd", kd)


def _rate(rate: float | None) -> float | None:
    if rate is None:
        return None
    return positive("rate", rate, "a positive number of samples a second")


def _along(reference: Reference, times: np.ndarray) -> tuple[np.ndarray, ...]:
    """A motion at some times; a function that is not ours is asked time by time."""
    if isinstance(reference, Trajectory):
        return reference(times)
    answers = [_answer(reference, float(t)) for t in times]
    try:
        return tuple(np.array(part) for part in zip(*answers, strict=True))
    except ValueError:
        shapes = sorted({array.shape for answer in answers for array in answer})
        raise ShapeError(
            f"the trajectory answers arrays of shapes {listed(map(str, shapes))}; expected one"
        ) from None


def _answer(reference: Reference, t: float) -> tuple[np.ndarray, ...]:
    """What a user's motion answers at a time: q, qd, qdd."""
    answer = reference(t)
    if not isinstance(answer, tuple) or len(answer) != 3:
        raise ShapeError(
            f"the trajectory answers {shorten(answer)} at t = {t:g} s; expected (q, qd, qdd)"
        )
    arrays = tuple(real_array("trajectory", part) for part in answer)
    for name, array in zip(("q", "qd", "qdd"), arrays, strict=True):
        if not np.isfinite(array).all():
            raise SimulationError(
                f"the trajectory answered {name} = {shorten(array.tolist())} at t = {t:g} s; "
                "expected finite numbers"
            )
    return arrays


def _shaped(name: str, value: Any, moving: bool, n: int) -> np.ndarray:
    """A signal with its three axes."""
    array = np.asarray(value, dtype=float)
    if moving and array.ndim > 1 and array.shape[-1] == n:
        return array.reshape(len(array), -1, n)
    if not moving and array.shape in ((), (n,)):
        return np.broadcast_to(array, (1, 1, n))
    found = array.shape[1:] if moving else array.shape
    expected = f"(..., {n})" if moving else f"a number or ({n},)"
    raise ShapeError(f"{name} has shape {found}; expected {expected} for this arm's {n} joints")
