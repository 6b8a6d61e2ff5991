"""Whether the stages of a Runge-Kutta step, one after the other, have its bits.

All of them but the sign of a zero, which ``Terms.term`` does not look at.

A kernel that repeats a stage is shorter than one of the whole step, and quicker. But ``place_fma``
sees the products of one stage, or of all, and may fuse others into sums. So both programs are run
on names in place of numbers, and compared operation by operation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from armdyn.chain import Chain
from armdyn.program.interpreter import RULES
from armdyn.program.program import Op, Program, Value
from armdyn.simulation.integrators import RK4
from armdyn.simulation.step import STATE, Step, StepKernels

EXACT = (Op.ADD, Op.SUB, Op.MUL, Op.NEG)  # on the number of a stage, which is small and whole


@lru_cache(maxsize=64)
def stages_are_the_step(chain: Chain, step: Step, stage: Step) -> bool:
    """Whether so many stages make the same operations as a step, under signals that stand still."""
    whole, part = StepKernels(chain, step), StepKernels(chain, stage)
    terms = Terms()
    states = len(STATE[stage.method]) - 2  # all but h and zero
    begin: dict[str, str | float] = {
        "x": "q",
        "v": "qd",
        "number": 0.0,
        "zero": -0.0,
        "moves": -0.0,
        "kicks": -0.0,
    }
    known = [
        [terms.given(begin.get(name, name), i) for i in range(length)]
        for name, length in ((name.partition("@")[0], k) for name, k in part.inputs.items())
    ]
    state, others = known[:states], known[states:]
    for _ in RK4.weights:
        state = terms.run(part.program, [*state, *others])
    named = [(name.partition("@")[0], length) for name, length in whole.inputs.items()]
    expected = terms.run(whole.program, [[terms.given(x, i) for i in range(k)] for x, k in named])
    return state[:2] == expected[:2]


class Terms:
    """Operations on names and on each other, each known by one number."""

    def __init__(self) -> None:
        self._places: dict[object, int] = {}
        self._numbers: dict[int, float] = {}  # of the terms that are constants

    def given(self, what: str | float, index: int) -> int:
        """An element of an argument, by its name; or a number."""
        return self._place((what, index)) if isinstance(what, str) else self.constant(what)

    def constant(self, number: float) -> int:
        """A number."""
        place = self._place(abs(number))
        if math.copysign(1, number) < 0:
            place = -place
        self._numbers[place] = number
        return place

    def run(self, program: Program, inputs: Sequence[Sequence[int]]) -> list[list[int]]:
        """The results of a program, one list each."""
        values = [x for each in inputs for x in each]
        for op, args, value in program.instructions[len(values) :]:
            if op is Op.CONSTANT:
                assert isinstance(value, float)
                values.append(self.constant(value))
            else:
                values.append(self.term(op, *(values[k] for k in args), value=value))
        results = iter(values[k] for k in program.outputs)
        return [[next(results) for _ in range(math.prod(shape))] for shape in program.shapes]

    def term(self, op: Op, *args: int, value: Value = None) -> int:
        """An operation, or what it is as it stands: of numbers, or of one that changes nothing.

        A term is signed, for signs are moved out of it: which is exact, but for the sign of a sum
        that is zero.
        """
        numbers = [self._numbers.get(x) for x in args]
        if op is Op.SELECT_LT and None not in numbers[:2]:
            return args[2] if numbers[0] < numbers[1] else args[3]  # type: ignore[operator]
        if op in EXACT and None not in numbers:
            return self.constant(RULES[op](*numbers))
        if op is Op.NEG:
            return -args[0]
        if op is Op.SUB:
            return self.term(Op.ADD, args[0], -args[1])
        if op is Op.FMA:
            product = self.term(Op.MUL, *args[:2])
            return product if is_nothing(numbers[2]) else self._signed(op, product, args[2])
        if op is Op.ADD:
            return self._signed(op, *sorted(args, key=abs))
        if op is Op.MUL and 1 in numbers:
            return args[1 - numbers.index(1)]
        if op is Op.MUL or op is Op.DIV:
            size = sorted(map(abs, args)) if op is Op.MUL else map(abs, args)
            found = self._place((op, *size))
            return found if (args[0] < 0) == (args[1] < 0) else -found
        return self._place((op, args, value))

    def _signed(self, op: Op, a: int, b: int) -> int:
        """A sum, its last term positive."""
        return self._place((op, a, b)) if b > 0 else -self._place((op, -a, -b))

    def _place(self, key: object) -> int:
        return self._places.setdefault(key, 1 + len(self._places))


def is_nothing(number: float | None) -> bool:
    """Whether a number is -0, to which any other is added without a change."""
    return number is not None and number == 0 and math.copysign(1, number) < 0
