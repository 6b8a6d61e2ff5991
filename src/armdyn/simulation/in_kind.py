"""Simulations of other libraries' arrays: they run where these lie, and are answered in kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

from armdyn.errors import SimulationError
from armdyn.forks import importing
from armdyn.simulation.controllers import Controller
from armdyn.simulation.results import ARRAYS, Result

NAMES = ("q0", "qd0", "tau", "payload", "gravity", "parameters")


def in_kind(simulate: Callable[..., Result[Any]], asked: dict[str, Any]) -> Result[Any] | None:
    """The result of a simulation with arrays of another library; None if there are none.

    Args:
        simulate: what simulates on NumPy's arrays.
        asked: all its arguments.
    """
    with importing:
        from armdyn import arrays

    given = {name: asked[name] for name in NAMES if asked[name] is not None or name == "q0"}
    if callable(asked["tau"]) or isinstance(asked["tau"], Controller):
        del given["tau"]
    kinds = [arrays.library(type(value)) for value in given.values()]
    if not any(hasattr(kind, "memory") for kind in kinds):
        return None
    mine, values = arrays.together(given) or (None, {})
    assert mine is not None
    for name, value in values.items():
        check_plain(mine, name, value)
    arrays.check_devices([*values], [*map(mine.device, values.values())])
    memory = mine.memory(values["q0"])
    if memory is not None:
        with importing:
            from armdyn.simulation.on_gpu import simulate_on_gpu

        options = {name: value for name, value in asked.items() if name not in (*NAMES, "robot")}
        robot, tau = asked["robot"], asked["tau"]
        with memory.entered():
            return simulate_on_gpu(robot, values, memory, mine.on_host, tau=tau, **options)
    here = {name: mine.on_host(value) for name, value in values.items()}
    try:
        return of_library(mine, simulate(**{**asked, **here}), values["q0"])
    except (SimulationError, KeyboardInterrupt) as error:
        if getattr(error, "result", None) is not None:
            error.result = of_library(mine, error.result, values["q0"])  # type: ignore[union-attr]
        raise


def check_plain(mine: ModuleType, name: str, value: Any) -> None:
    """Refuses an array of which its library wants more than numbers."""
    tracked = getattr(mine, "tracked", None)
    if not mine.has_numbers(value):
        what = f"is traced, by {mine.__name__.rpartition('.')[2]}"
    elif tracked and tracked([value]):
        what = "requires its gradient"
    else:
        return
    raise SimulationError(
        f"{name} {what}, and simulate follows numbers alone; expected an array that is neither "
        "traced nor requires a gradient, or robot.stepper in a loop"
    )


def of_library(mine: ModuleType, result: Result[Any], example: Any) -> Result[Any]:
    """A result with arrays of a library, where another array of it lies."""
    arrays = {name: mine.of_numpy(getattr(result, name), example) for name in ARRAYS}
    given = {name: mine.of_numpy(array, example) for name, array in result.given.items()}
    return replace(result, **arrays, given=given)
