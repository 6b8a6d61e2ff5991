"""Algorithms named before they are imported: a robot whose kernels are on the disk needs none."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from armdyn.forks import importing


class Late:
    """A module of algorithms, to be imported when one of them is first called."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return LateFunction(self._module, name)


class LateFunction:
    """A function of such a module."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def __repr__(self) -> str:
        return f"<{self._module}.{self._name}>"

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """The function itself."""
        with importing:
            module = import_module(f"armdyn.algorithms.{self._module}")
        return getattr(module, self._name)

    def __call__(self, *given: Any, **named: Any) -> Any:
        """What the function answers."""
        return self.__wrapped__(*given, **named)
