"""Comparisons without compiling: quick, and of the same methods."""

import functools

from armdyn import engine, quantities
from armdyn.engine import jit

LEAST = {"batch": 2, "states": 2, "seconds": 0}  # of all measurements


def interpret(patch):
    """Compile nothing: interpret programs, each traced once, without fma, which takes long."""
    patch.setattr(jit, "available", lambda: False)
    patch.setattr(engine, "place_fma", lambda program: program)
    traced = functools.cache(quantities.program)
    for module in (engine, quantities):
        patch.setattr(module, "program", lambda chain, tasks: traced(chain, tuple(tasks)))
