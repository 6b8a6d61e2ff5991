"""An arm's quantities as functions of CasADi, made of its programs: ``Robot.casadi``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from armdyn.errors import MethodError
from armdyn.forks import importing
from armdyn.program.interpreter import RULES, executed, nested
from armdyn.program.program import Op
from armdyn.quantities import find
from armdyn.quantities.tasks import Task, program

if TYPE_CHECKING:
    from armdyn.chain import Chain


def function(chain: Chain, task: Task) -> Any:
    """The ``casadi.Function`` of a task: what ``Robot.casadi`` gives, and documents."""
    try:
        with importing:
            import casadi
    except ImportError:
        raise MethodError("CasADi is not installed; try pip install 'armdyn[casadi]'") from None
    recorded = program(chain, [task.settled(chain)])
    inputs = {name: casadi.SX.sym(name, size) for name, size in recorded.inputs.items()}
    given = [x[i] for x in inputs.values() for i in range(x.numel())]
    values = executed(recorded, given, casadi.SX, RULES | _rules(casadi))
    numbers = (values[k] for k in recorded.outputs)
    results = [_matrix(casadi, numbers, shape) for shape in recorded.shapes]
    names = [result.name for result in find(task.quantity).results]
    return casadi.Function(task.quantity, [*inputs.values()], results, [*inputs], names)


def _rules(casadi: Any) -> dict[Op, Any]:
    """The operations that SX does in ways of its own."""
    return {
        Op.SIN: casadi.sin,
        Op.COS: casadi.cos,
        Op.SQRT: casadi.sqrt,
        Op.DIV: lambda a, b: a / b,
        Op.FMA: lambda a, b, c: a * b + c,
        Op.SELECT_LT: lambda a, b, x, y: casadi.if_else(a < b, x, y),
    }


def _matrix(casadi: Any, numbers: Any, shape: tuple[int, ...]) -> Any:
    """The next numbers as a matrix: a row for each first index, a column for the others."""
    rows = shape[0] if shape else 1
    flat = nested(numbers, (rows, math.prod(shape[1:])))
    return casadi.vertcat(*(casadi.horzcat(*row) for row in flat))
