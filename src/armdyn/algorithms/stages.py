"""What a paper's count must see of an algorithm: its stages, and the zeros it computes with."""

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
    """0, where a paper keeps it in an array and computes with it as with any other number."""
    return stored_zero.get()
