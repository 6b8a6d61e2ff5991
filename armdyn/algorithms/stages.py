"""Stages: parts of an algorithm that a paper's table counts apart."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

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
