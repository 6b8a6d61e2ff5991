"""What a call or a derivative may ask for besides arrays: the task of it, if there is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import numpy as np

from armdyn.algorithms import catalogue
from armdyn.errors import MethodError, as_names, shorten, unknown, warn
from armdyn.quantities import check_axes, find, given_to
from armdyn.quantities.tasks import Task, check_arguments
from armdyn.robot.compiled import Axes


class Options(TypedDict, total=False):
    """Of which formulation, frame and axes, with friction, arguments: see ``Robot.derivative``."""

    method: str | None
    frame: str | None
    axes: Axes
    friction: bool
    arguments: str | Sequence[str]
    payload_frame: str | None
    wrench_frame: str | None


def checked(task: Task) -> Task:
    """The task in plain names, if methods, frames and axes are names, friction True or False."""
    if not isinstance(task.friction, bool | np.bool_):
        raise MethodError(f"friction is {shorten(task.friction)}; expected True or False")
    for option in ("method", "frame", "payload_frame", "wrench_frame"):
        value = getattr(task, option)
        if value is not None and not isinstance(value, str):
            raise MethodError(f"method and frame are names, not {option}={shorten(value)}")
    check_axes(task.axes)
    return task._replace(
        method=task.method and str(task.method),
        frame=task.frame and str(task.frame),
        friction=bool(task.friction),
        axes=str(task.axes),
        payload_frame=task.payload_frame and str(task.payload_frame),
        wrench_frame=task.wrench_frame and str(task.wrench_frame),
    )


def with_options(quantity: str, options: Mapping[str, Any]) -> Task:
    """The task of a quantity with options, if it has them."""
    asked = find(quantity)
    has = {
        "method": not asked.function,
        "frame": asked.framed,
        "axes": asked.axes,
        "friction": bool(asked.friction),
        "arguments": bool(asked.at_call),
        "payload_frame": "payload" in asked.at_call,
        "wrench_frame": "wrench" in asked.at_call,
    }
    for option in options:
        if not has.get(option):
            raise MethodError(unknown(f"option of {quantity}", option, [x for x in has if has[x]]))
    rest = dict(options)
    names = as_names("arguments", rest.pop("arguments", ()))
    check_arguments([quantity], names, rest.get("payload_frame"), rest.get("wrench_frame"))
    return checked(Task(quantity, given=given_to(quantity, names), **rest))


_warned: set[str] = set()


def warn_if_approximate(task: Task, what: str = "") -> None:
    """Say once that a method asked for by name, or a derivative of it, is an approximation."""
    if task.method is not None and not catalogue.find(task.quantity, task.method).exact:
        if what + task.method not in _warned:
            warn("%s%s by %s is an approximation", what, task.quantity, task.method)
            _warned.add(what + task.method)
