"""armdyn: the dynamics of robot arms, M(q) qdd + C(q, qd) qd + g(q) = tau."""

from armdyn.chain import Chain
from armdyn.counting import Count, count
from armdyn.engine import info
from armdyn.errors import ArmdynError, MethodError, ModelError, ShapeError, TraceError
from armdyn.library import load, robots
from armdyn.robot import Robot

__version__ = "0.1.0"

__all__ = [
    "ArmdynError",
    "Chain",
    "Count",
    "MethodError",
    "ModelError",
    "Robot",
    "ShapeError",
    "TraceError",
    "count",
    "info",
    "load",
    "robots",
]
