"""What torch.compile sees of a compiled function, whose own call is C: one that it leaves whole.

Nothing of this runs in a plain call. torch finds ``call`` in the dictionary of the C type, where it
looks for Python to trace, and finds that it calls something which it takes into its graph as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from ctypes import cast, py_object
from types import SimpleNamespace
from typing import Any, TypeVar

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)

wholes = SimpleNamespace()  # functions that torch does not look into, by a name


def done_while_tracing(function: F) -> F:
    """Marks what torch calls while it traces, for the plain value that it answers with.

    It must also be called with plain values, before torch 2.12: with ids of what is ``living``.
    """
    function._dynamo_marked_constant = True  # type: ignore[attr-defined]
    return function


def living(number: int) -> Any:
    """The object with that id, which somebody else keeps alive."""
    return cast(number, py_object).value


def is_tracing() -> bool:
    """Whether torch.compile looks into Python just now."""
    if "torch._dynamo" not in sys.modules:
        return False
    return sys.modules["torch._guards"].TracingContext.try_get() is not None


def call(self: Function, *values: Any, **named: Any) -> Any:
    """The same as calling it."""
    name = whole(id(self))
    return getattr(wholes, name)(*values, **named)


@done_while_tracing
def whole(number: int) -> str:
    """The name of a function that does the same as the one with that id, and is left whole."""
    name = f"of_{number}"  # which stays: this keeps the function
    if not hasattr(wholes, name):
        function: Function = living(number)
        same: Function = lambda *values, **named: function(*values, **named)  # noqa: E731
        setattr(wholes, name, sys.modules["torch"].compiler.allow_in_graph(same))
    return name
