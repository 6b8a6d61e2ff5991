"""Programs that users record, as functions of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from armdyn.engine import Code, calls
from armdyn.errors import TraceError
from armdyn.program.passes import drop_unused
from armdyn.program.program import Program

MOST_AXES = 4  # of a result of one state, as in _rows.h


class Recorded(Code):
    """The kernels of a program, whatever it computes."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self._recorded = program

    def trace(self) -> Program:
        """The program, without what no result needs."""
        return drop_unused(self._recorded)

    def question(self) -> tuple[str, ...]:
        """The program itself."""
        return ("", str(self._recorded))


def compile(program: Program) -> Callable[..., Any]:
    """A function of arrays that computes a program, compiled at its first call.

    It is called like the functions of a Robot: with an array (..., size) for each argument of the
    program, whose leading axes are batch axes and broadcast against each other, and with ``out=``
    and ``threads=``. It answers with an array for each result, in a tuple if there are several.

    Args:
        program: made by ``armdyn.program.record``, or a derivative of such a one.

    Raises:
        TraceError: for what is no program, or one with more arguments, results or axes than a call
            can have.
    """
    if not isinstance(program, Program):
        raise TraceError(f"compile takes a Program, not {type(program).__name__}; see record")
    taken, given = len(program.inputs), len(program.shapes)
    axes = max(map(len, program.shapes), default=0)
    most = calls.MOST_ARGUMENTS, calls.MOST_RESULTS, MOST_AXES
    if not (1 <= taken <= most[0] and 1 <= given <= most[1] and axes <= most[2]):
        raise TraceError(
            f"{program.name} has {taken} arguments and {given} results of up to {axes} axes; "
            f"expected 1 to {most[0]}, 1 to {most[1]} and up to {most[2]}"
        )
    arguments = {name: calls.Argument((size,)) for name, size in program.inputs.items()}
    return calls.Function(program.name, arguments, program.shapes, Recorded(program))
