"""Programs: straight-line code that an algorithm leaves behind when it runs on traced scalars.

A function of one's own becomes a program by ``record``. ``evaluate`` runs it on numbers of any
kind, ``jvp``, ``vjp`` and ``jacobian`` differentiate it, ``armdyn.compile`` makes it fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from armdyn.forks import importing

if TYPE_CHECKING:  # "as" says to type checkers that a name is public
    from armdyn.program.adjoints import vjp as vjp
    from armdyn.program.interpreter import evaluate as evaluate
    from armdyn.program.jacobians import jacobian as jacobian
    from armdyn.program.tangents import jvp as jvp
    from armdyn.program.tape import record as record
    from armdyn.program.tape import sqrt as sqrt

_HOMES = {  # of the public names; most processes need none of them
    "evaluate": "interpreter",
    "jacobian": "jacobians",
    "jvp": "tangents",
    "record": "tape",
    "sqrt": "tape",
    "vjp": "adjoints",
}
__all__ = list(_HOMES)


if not TYPE_CHECKING:  # or a type checker would take any name for a public one

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module 'armdyn.program' has no attribute {name!r}")
        with importing:
            value = getattr(import_module(f"armdyn.program.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
