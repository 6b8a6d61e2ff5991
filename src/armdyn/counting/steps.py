"""A program step by step: its values in a state, where each comes from, and what was saved."""

from __future__ import annotations

import linecache
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import armdyn.algorithms
from armdyn.chain import Chain
from armdyn.counting import OPERATIONS
from armdyn.program.interpreter import step_by_step
from armdyn.program.lines import LineTape, Source
from armdyn.program.passes import needed
from armdyn.program.program import Instruction, Op, Program
from armdyn.program.tables import Loop
from armdyn.quantities import find, sizes
from armdyn.quantities.tasks import Task, formula

FOLDER = str(Path(armdyn.algorithms.__file__).parent)


class Step(NamedTuple):
    """An instruction of the program.

    Attributes:
        place: its number, by which others refer to it.
        instruction: what is done.
        value: what comes out in the state; of a table, a list.
        source: the line of the algorithm that asked for it first; None where it is none of theirs.
    """

    place: int
    instruction: Instruction
    value: Any
    source: Source | None

    @property
    def text(self) -> str:
        """The line of the algorithm itself."""
        if self.source is None:
            return ""
        return linecache.getline(self.source.file, self.source.line).strip()


@dataclass(frozen=True)
class Saved:
    """Operations, sines and cosines included, and what became of them.

    Attributes:
        generic: asked for on a generic arm with such joints.
        asked: asked for on this arm, whose zeros, ones and constants fold.
        recorded: of those, the different ones: equal terms are recorded once.
        program: of those, the ones that a result needs.
    """

    generic: int
    asked: int
    recorded: int
    program: int


@dataclass(frozen=True)
class Steps:
    """A task step by step.

    Attributes:
        task: what is computed, by which method.
        program: with instructions that no result needs, too; their places are those of ``steps``.
        steps: those that a result needs.
        saved: what folding and sharing spared.
    """

    task: Task
    program: Program
    steps: tuple[Step, ...]
    saved: Saved


def trace(chain: Chain, task: Task, state: Mapping[str, Sequence[float]]) -> Steps:
    """Record a task, line by line, and run it in a state."""
    task = task.settled(chain)
    tape, program = _record(chain, task)
    generic, _ = _record(Chain.random(chain.n, chain.kinds), task._replace(frame=None))
    used = needed(program) | set(range(sum(program.inputs.values())))
    values = step_by_step(program, state)
    steps = tuple(
        Step(k, program.instructions[k], values[k], tape.sources[k]) for k in sorted(used)
    )
    every = range(len(program.instructions))
    saved = Saved(
        generic=sum(times for op, times in generic.asked.items() if op in OPERATIONS),
        asked=sum(times for op, times in tape.asked.items() if op in OPERATIONS),
        recorded=sum(_operations(program, k) for k in every),
        program=sum(_operations(program, k) for k in used),
    )
    return Steps(task, program, steps, saved)


def _record(chain: Chain, task: Task) -> tuple[LineTape, Program]:
    """The tape and the program of a task, before anything is dropped."""
    tape = LineTape(sizes(chain.n, find(task.quantity).arguments), FOLDER)
    results = formula(chain, float, task)(*tape.arguments())
    return tape, tape.finish(task.quantity, results)


def _operations(program: Program, k: int) -> int:
    op: Op
    op, _, value = program.instructions[k]
    if isinstance(value, Loop):
        return sum(value.operations().values())
    return int(op in OPERATIONS)
