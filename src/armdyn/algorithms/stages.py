"""Marks in an algorithm that a count of its operations reads: its stages, and stored zeros.

A table of a paper may count a part of an algorithm only; that part is a function marked ``stage``.
Everyone else runs the algorithm as if the marks were not there.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

stored_zero: ContextVar[Any] = ContextVar("stored_zero", default=0)
Watcher = Callable[[str], AbstractContextManager[object]]
watcher: ContextVar[Watcher] = ContextVar("watcher", default=lambda name: nullcontext())


def stage(name: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Mark a function as the stage ``name``; whoever sets ``watcher`` sees it begin and end."""

    def mark(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def run(*args: P.args, **kwargs: P.kwargs) -> T:
            with watcher.get()(name):
                return function(*args, **kwargs)

        return run

    return mark


def zero() -> Any:
    """0, where a paper is taken to keep it in an array and to compute with it as with any number.

    Literal counts charge it: rule 5 of :mod:`armdyn.counting`.
    """
    return stored_zero.get()
