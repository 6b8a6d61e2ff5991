"""What self-tests of written functions compare with: states, and the interpreter's numbers there.

A number is wrong if it is further from the interpreter's than rounding, each time at its worst,
explains.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from armdyn.program import rounding
from armdyn.program.interpreter import evaluate
from armdyn.program.program import Program

STATES = 4  # in which a function is tried
CHECKED = 1000  # numbers of a result that are looked at, in each state

State = dict[str, list[float]]
Draws = Mapping[str, Callable[[random.Random], Sequence[float]]]  # an argument's numbers, by name


class Number(NamedTuple):
    """A number that is expected: its place in the result, and how far off it may be."""

    place: int
    value: float
    bound: str  # a literal, three digits in any language


def states(program: Program, draws: Draws, dtype: str) -> list[State]:
    """Random arguments, each a number of a type; ``draws`` draws what is not to be any numbers."""
    chance = random.Random(0)

    def drawn(name: str, size: int) -> list[float]:
        draw = draws.get(name)
        numbers = draw(chance) if draw else [chance.uniform(-3, 3) for _ in range(size)]
        return [rounding.rounded(float(x), dtype) for x in numbers]

    inputs = program.inputs.items()
    return [{name: drawn(name, size) for name, size in inputs} for _ in range(STATES)]


def expected(program: Program, tried: Sequence[State], dtype: str) -> Iterator[list[list[Number]]]:
    """For each result, and each state, the numbers that are looked at."""
    first = 0
    for size in map(math.prod, program.shapes):
        places: Sequence[int] = range(size)
        if size > CHECKED:
            places = sorted(random.Random(0).sample(places, CHECKED))
        outputs = tuple(program.outputs[first + place] for place in places)
        checked = replace(program, outputs=outputs, shapes=((len(outputs),),))
        yield [_numbers(checked, places, state, dtype) for state in tried]
        first += size


def _numbers(checked: Program, places: Sequence[int], state: State, dtype: str) -> list[Number]:
    """The numbers at some places of a result, all results of one program."""
    values = evaluate(checked, state)
    bounds = rounding.bounds(checked, state, dtype)
    return [
        Number(place, float(value), f"{1.01 * bound:.2e}")
        for place, value, bound in zip(places, values, bounds, strict=True)
    ]
