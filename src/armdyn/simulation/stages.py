"""A Runge-Kutta step as a program, made of its stages one after the other.

In the stage's program fma have their places already. So a kernel that repeats the stage has the
bits of one that makes the whole step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from armdyn.program.interpreter import RULES
from armdyn.program.passes import drop_unused
from armdyn.program.program import Instruction, Op, Program, Value, input_names

FOLDED = (Op.ADD, Op.SUB, Op.MUL, Op.NEG)  # where numbers are small and whole, as a stage's is
SMALL = 2.0**12  # products of such numbers are exact in float32 too
RATES = ("qd_ref", "qdd_ref")  # of what a law follows; zero where that is a position
CARRIED = ("q", "qd", "x", "v", "moves", "kicks", "number")  # the results that a stage hands on


def first_results(program: Program, name: str, count: int) -> Program:
    """A program with so many of its results, under a name of its own."""
    shapes = program.shapes[:count]
    outputs = program.outputs[: sum(map(math.prod, shapes))]
    return drop_unused(replace(program, name=name, outputs=outputs, shapes=shapes))


def joined(stage: Program, name: str, inputs: Mapping[str, int], nodes: Sequence[float]) -> Program:
    """The step that begins with q and qd, one stage for each node: a fraction of it.

    Its results are the next q and qd, and what its first stage gives besides what is carried on.
    Of a stage's arguments ``signal@0`` the step may have one for each node, or one for all. Rates
    of a position that it has no argument for are zero.
    """
    step = Joined(inputs)
    given, nothing = step.arguments(), step.constant(-0.0)
    none = [nothing] * inputs["q"]
    state = {"x": given["q"], "v": given["qd"], "moves": none, "kicks": none}
    rates: list[list[int]] = []
    for number, node in enumerate(nodes):
        known = {**state, **given, "number": [step.constant(float(number))], "zero": [nothing]}
        for signal, size in stage.inputs.items():
            what, _, _ = signal.partition("@")
            if what in RATES:
                known.setdefault(signal, [step.constant(0.0)] * size)
            known[signal] = next(
                known[x] for x in (f"{what}@{node}", f"{what}@None", signal) if x in known
            )
        rows = step.run(stage, known)
        state = dict(zip(CARRIED, rows, strict=False))
        rates = rates or rows[len(CARRIED) :]
    outputs = [k for row in (state["q"], state["qd"], *rates) for k in row]
    shapes = (*stage.shapes[:2], *stage.shapes[len(CARRIED) :])
    made = Program(name, inputs, tuple(step.instructions), tuple(outputs), shapes)
    return drop_unused(made)


class Joined:
    """A program as stages are appended to it; what a stage's number decides is decided here."""

    def __init__(self, inputs: Mapping[str, int]) -> None:
        self.inputs = inputs
        self.instructions = [Instruction(Op.INPUT, (), name) for name in input_names(inputs)]
        self._places: dict[object, int] = {}
        self._numbers: dict[int, float] = {}  # of the constants, by their places

    def arguments(self) -> dict[str, list[int]]:
        """The places of the inputs."""
        places = iter(range(len(self.instructions)))
        return {name: [next(places) for _ in range(size)] for name, size in self.inputs.items()}

    def constant(self, number: float) -> int:
        """The place of a constant; 0 and -0 are two."""
        place = self._append(Op.CONSTANT, (), number, (Op.CONSTANT, repr(number)))
        self._numbers[place] = number
        return place

    def run(self, stage: Program, given: Mapping[str, list[int]]) -> list[list[int]]:
        """The places of each of a stage's results, its inputs standing at the places given."""
        there = [place for name in stage.inputs for place in given[name]]
        for op, args, value in stage.instructions[len(there) :]:
            if op is Op.CONSTANT:
                there.append(self.constant(value))
            else:
                there.append(self._do(op, tuple(there[arg] for arg in args), value))
        results = iter(stage.outputs)
        return [[there[next(results)] for _ in range(math.prod(x))] for x in stage.shapes]

    def _do(self, op: Op, args: tuple[int, ...], value: Value) -> int:
        """The place of an operation, or of what it gives as it stands, without any rounding."""
        numbers = [self._numbers.get(arg) for arg in args]
        if op is Op.SELECT_LT and None not in numbers[:2]:
            return args[2] if numbers[0] < numbers[1] else args[3]  # type: ignore[operator]
        if op in FOLDED and all(map(_is_small_and_whole, numbers)):
            return self.constant(RULES[op](*numbers))
        if op is Op.FMA and _is_nothing(numbers[2]):
            return self._do(Op.MUL, args[:2], None)
        if op is Op.ADD and _is_nothing(numbers[0]):
            return args[1]
        if op is Op.MUL and 1.0 in numbers:
            return args[1 - numbers.index(1.0)]
        return self._append(op, args, value, (op, args, value))

    def _append(self, op: Op, args: tuple[int, ...], value: Value, key: object) -> int:
        if key not in self._places:
            self._places[key] = len(self.instructions)
            self.instructions.append(Instruction(op, args, value))
        return self._places[key]


def _is_small_and_whole(number: float | None) -> bool:
    return number is not None and number.is_integer() and abs(number) < SMALL


def _is_nothing(number: float | None) -> bool:
    """Whether a number is -0, to which any other is added without a change."""
    return number == 0 and math.copysign(1, number) < 0
