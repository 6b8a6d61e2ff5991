"""armdyn: the dynamics of robot arms, M(q) qdd + C(q, qd) qd + g(q) = tau.

``_HOMES`` is the list of public names; docs/api.md describes them, and all else is private.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # "as" says to type checkers that a name is public
    from armdyn.chain import Chain as Chain
    from armdyn.comparison import compare as compare
    from armdyn.counting import Count as Count
    from armdyn.counting import count as count
    from armdyn.engine import info as info
    from armdyn.engine.recorded import compile as compile
    from armdyn.errors import ArmdynError as ArmdynError
    from armdyn.errors import DeviceError as DeviceError
    from armdyn.errors import ExportError as ExportError
    from armdyn.errors import IdentificationError as IdentificationError
    from armdyn.errors import MethodError as MethodError
    from armdyn.errors import ModelError as ModelError
    from armdyn.errors import ShapeError as ShapeError
    from armdyn.errors import SimulationError as SimulationError
    from armdyn.errors import TraceError as TraceError
    from armdyn.identification import identify as identify
    from armdyn.identification.excitation import excite as excite
    from armdyn.identification.logs import Log as Log
    from armdyn.identification.moments import Moments as Moments
    from armdyn.identification.results import Identification as Identification
    from armdyn.loaders import load as load
    from armdyn.loaders import robots as robots
    from armdyn.quantities.users import register as register
    from armdyn.robot import Robot as Robot
    from armdyn.simulation import controllers as controllers
    from armdyn.simulation import simulate as simulate
    from armdyn.simulation import trajectories as trajectories
    from armdyn.simulation.linear import linearize as linearize

__version__ = "0.1.0"


def _files(folder: str = os.path.dirname(__file__)) -> list[str]:
    """Path, size and time of change of each file of armdyn's text, as they are now."""
    found: list[str] = []
    with os.scandir(folder) as listing:
        for entry in listing:
            if entry.name.endswith(".py"):
                status = entry.stat()
                found.append(f"{entry.path} {status.st_size} {status.st_mtime_ns}")
            elif entry.is_dir() and entry.name != "__pycache__":
                found += _files(entry.path)
    return sorted(found)


try:
    _IMPORTED = _files()  # before any other module is; armdyn.engine keys its disk cache by it
except OSError:
    _IMPORTED = []  # not on a disk

from armdyn.forks import importing as _importing  # noqa: E402  after that list

_HOMES = {  # of the public names; a room is imported when a name of it is first asked for
    "ArmdynError": "errors",
    "Chain": "chain",
    "Count": "counting",
    "DeviceError": "errors",
    "ExportError": "errors",
    "Identification": "identification.results",
    "IdentificationError": "errors",
    "Log": "identification.logs",
    "MethodError": "errors",
    "ModelError": "errors",
    "Moments": "identification.moments",
    "Robot": "robot",
    "ShapeError": "errors",
    "SimulationError": "errors",
    "TraceError": "errors",
    "compare": "comparison",
    "compile": "engine.recorded",
    "controllers": "simulation",
    "count": "counting",
    "excite": "identification.excitation",
    "identify": "identification",
    "info": "engine",
    "linearize": "simulation.linear",
    "load": "loaders",
    "register": "quantities.users",
    "robots": "loaders",
    "simulate": "simulation",
    "trajectories": "simulation",
}
__all__ = list(_HOMES)


if not TYPE_CHECKING:  # or a type checker would take any name for a public one

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            with _importing:
                hint = import_module("armdyn.errors").meant(name, _HOMES)
                use = name[0] != "_" and import_module("armdyn.robot.fixed").OF_ARMDYN
            if use and name.lower() in use:
                hint = f"use {use[name.lower()]}"
            raise AttributeError(f"module 'armdyn' has no attribute {name!r}; {hint}".rstrip("; "))
        with _importing:
            value = getattr(import_module(f"armdyn.{_HOMES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted([*_HOMES, "__version__"])
