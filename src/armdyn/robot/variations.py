"""The variations of a Chain as methods of Robot; each returns another Robot."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

from armdyn.chain import Chain

if TYPE_CHECKING:
    from armdyn.robot import Robot

P = ParamSpec("P")


def robot_with(
    change: Callable[Concatenate[Chain, P], Chain],
) -> Callable[Concatenate[Any, P], Robot]:
    """The method of Robot that changes its chain in the same way."""

    @wraps(change)
    def changed(robot: Any, *values: P.args, **named: P.kwargs) -> Robot:
        return type(robot)(change(robot.chain, *values, **named))

    changed.__signature__ = signature(change).replace(return_annotation="Robot")  # type: ignore[attr-defined]
    return changed


class Variations:
    """The same arm with one thing changed."""

    with_payload = robot_with(Chain.with_payload)
    with_frame = robot_with(Chain.with_frame)
    with_friction = robot_with(Chain.with_friction)
    with_rotors = robot_with(Chain.with_rotors)
    with_gravity = robot_with(Chain.with_gravity)
