"""Slopes: the derivative of each operation by its operands, for tangents and adjoints alike.

A derivative is a sum of terms: a tangent (among adjoints: a cotangent) times a slope. Terms are
kept apart until all are there. Then those of one tangent are taken together, for the sum of their
slopes is often on the tape already: in a rotation y = (c x1 - s x2, s x1 + c x2) the tangent of the
angle enters y1 by the slope -(s x1 + c x2), which is -y2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from armdyn.program.program import Op
from armdyn.program.replay import Replay
from armdyn.program.tape import Traced
from armdyn.spatial import Row, Scalar, sincos

Term = tuple[Scalar, Scalar]  # a tangent or cotangent, and the slope that it is multiplied by

SLOPES: dict[Op, Callable[[Replay, Row, Scalar], Sequence[Scalar]]] = {
    # of y = op(x) by each operand; the others, DIV and SELECT_LT, have rules of their own
    Op.ADD: lambda on, x, y: (1, 1),
    Op.SUB: lambda on, x, y: (1, -1),
    Op.MUL: lambda on, x, y: (x[1], x[0]),
    Op.NEG: lambda on, x, y: (-1,),
    Op.FMA: lambda on, x, y: (x[1], x[0], 1),
    Op.SIN: lambda on, x, y: (sincos(x[0])[1],),
    Op.COS: lambda on, x, y: (-sincos(x[0])[0],),
    Op.SQRT: lambda on, x, y: (on.do(Op.DIV, 0.5, y),),
}


def slopes(on: Replay, k: int) -> Iterable[tuple[int, Scalar]]:
    """The places that instruction k depends on, and its slope by each of them."""
    op, args, _ = on.program.instructions[k]
    return _by_angle(on, k) or zip(args, SLOPES[op](on, on.at(args), on.values[k]), strict=True)


def _by_angle(on: Replay, k: int) -> list[tuple[int, Scalar]]:
    """Of a product cos(q) a, the slopes by q and a, if sin(q) a is on the tape; or the reverse.

    Otherwise nothing: then the slopes by the cosine and a take fewer operations.
    """
    op, args, _ = on.program.instructions[k]
    for trig, other in (args, args[::-1]) if op is Op.MUL else ():
        kind, angle, _ = on.program.instructions[trig]
        if kind is Op.SIN or kind is Op.COS:
            sine, cosine = sincos(on.values[angle[0]])
            slope = on.tape.product(cosine if kind is Op.SIN else -sine, on.values[other])
            if slope is not None:
                return [(angle[0], slope), (other, on.values[trig])]
    return []


def together(terms: Iterable[Term]) -> list[Term]:
    """The same sum, a term for each tangent; all that are constant are one."""
    found: dict[int | None, Term] = {}
    for tangent, slope in terms:
        place = None
        if not isinstance(tangent, Traced):
            tangent, slope = 1, slope * tangent
        elif tangent.ref < 0:
            tangent, slope = -tangent, -slope
        if isinstance(tangent, Traced):
            place = tangent.ref
        found[place] = (tangent, found[place][1] + slope if place in found else slope)
    return [(tangent, slope) for tangent, slope in found.values() if not is_zero(slope)]


def total(terms: Iterable[Term]) -> Scalar:
    """The sum of terms."""
    return sum((tangent * slope for tangent, slope in together(terms)), 0)


def is_zero(x: Scalar) -> bool:
    """Whether a number is the constant zero."""
    return isinstance(x, (int, float)) and x == 0
