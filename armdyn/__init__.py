"""armdyn: the dynamics of robot arms, M(q) qdd + C(q, qd) qd + g(q) = tau."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from armdyn.chain import Chain
from armdyn.errors import (
    ArmdynError,
    ExportError,
    MethodError,
    ModelError,
    ShapeError,
    SimulationError,
    TraceError,
)
from armdyn.library import load, robots
from armdyn.robot import Robot

if TYPE_CHECKING:
    from armdyn import controllers, trajectories
    from armdyn.comparison import compare
    from armdyn.counting import Count, count
    from armdyn.engine import info
    from armdyn.simulation import simulate

__version__ = "0.1.0"

__all__ = [
    "ArmdynError",
    "Chain",
    "Count",
    "ExportError",
    "MethodError",
    "ModelError",
    "Robot",
    "ShapeError",
    "SimulationError",
    "TraceError",
    "compare",
    "controllers",
    "count",
    "info",
    "load",
    "robots",
    "simulate",
    "trajectories",
]

_LATER = {  # imported when they are first asked for
    "Count": "counting",
    "compare": "comparison",
    "controllers": None,
    "count": "counting",
    "info": "engine",
    "simulate": "simulation",
    "trajectories": None,
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'armdyn' has no attribute {name!r}")
    home = _LATER[name]
    value = (
        getattr(import_module(f"armdyn.{home}"), name) if home else import_module(f"armdyn.{name}")
    )
    globals()[name] = value
    return value
