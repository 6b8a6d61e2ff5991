"""Derivatives of any compiled function, as functions of the same kind: for those who go on with it.

``derived`` has the derivatives that users ask for by name, of one quantity. These are of whatever
a function computes, several quantities or a derivative, with respect to all that it takes; and they
have derivatives in turn.
"""

from __future__ import annotations

from typing import Literal

from armdyn.engine import Code, calls
from armdyn.errors import MethodError
from armdyn.program.adjoints import vjp
from armdyn.program.program import Program
from armdyn.program.tangents import jvp

Kind = Literal["jvp", "vjp"]


class Differentiated(Code):
    """The kernels of a derivative of other kernels' program."""

    def __init__(self, code: Code, kind: Kind) -> None:
        super().__init__()
        self.code, self.kind = code, kind

    def trace(self) -> Program:
        """The derivative of the other program."""
        program = self.code.trace()
        self.choices = self.code.choices
        return {"jvp": jvp, "vjp": vjp}[self.kind](program)

    def question(self) -> tuple[str, ...]:
        """What the other program depends on, and the kind of derivative."""
        return (*self.code.question(), self.kind)


def differentiated(path: calls.CarefulPath, kind: Kind) -> calls.CarefulPath:
    """The function of a derivative, made once.

    "jvp" takes what the function takes, then a tangent for each argument, and gives the tangents of
    the results. "vjp" takes what the function takes, then a cotangent for each result, and gives
    those of the arguments.
    """
    if kind not in path.others:
        code = path.compile
        if not isinstance(code, Code):
            raise MethodError(f"{path.name} has no program that could be differentiated")
        added, given = (path.takes, path.shapes) if kind == "jvp" else (path.shapes, path.takes)
        arguments = {
            name: calls.Argument(shape)
            for name, shape in zip(path.arguments, path.takes, strict=True)
        }
        for shape in added:
            arguments[f"argument{len(arguments) + 1}"] = calls.Argument(shape)
        made = calls.Function(f"{path.name} {kind}", arguments, given, Differentiated(code, kind))
        path.others.setdefault(kind, made)
    return path.others[kind].path
