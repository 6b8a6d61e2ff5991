"""How single calls, tracing and compiling grow with the number of joints.

Tracing and compiling happen once, so they are timed by the processor time that they take, which
others on the machine do not lengthen; both run on one thread. The calls of all sizes then take
turns.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from unittest import mock

import numpy as np

from armdyn.chain import Chain
from armdyn.engine import Compilation, calls
from armdyn.quantities import ARGUMENTS, QUANTITIES
from armdyn.quantities.tasks import Task, quantities_of, shapes
from benchmarks.arms import states
from benchmarks.timing import PASSES, ROUNDS, Call, interleaved

SIZES = (2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 30, 36, 42, 50, 60)
PATIENCE = 30.0  # [s]: a quantity whose first use takes longer is not tried on larger arms,
CUBIC_PATIENCE = 5.0  # nor one that has n^3 numbers, where it takes longer than this
BRIEF = 0.5  # [s]: what compiles faster is compiled again, and the least time counts


@dataclass(frozen=True)
class Growth:
    """One quantity of a generic arm of n revolute joints, float64, ``out=`` given [s]."""

    quantity: str
    n: int
    instructions: int
    trace: float  # with the choice of the method
    compile: float
    call: float

    @property
    def first_use(self) -> float:
        """What the first call takes, without the disk cache."""
        return self.trace + self.compile + self.call

    @property
    def instruction(self) -> float:
        """Seconds an instruction of the single call."""
        return self.call / self.instructions


@dataclass(frozen=True)
class Compiled:
    """A function and what it took to make it; ``code`` is what keeps it alive."""

    code: Compilation
    instructions: int
    trace: float
    compile: float
    call: Call


def is_cubic(quantity: str) -> bool:
    """Whether a quantity has an array of n^3 numbers."""
    chain = Chain.random(12)
    return any(math.prod(shape) >= chain.n**3 for shape in shapes(chain, [Task(quantity)]))


def growth(sizes: tuple[int, ...] = SIZES) -> list[Growth]:
    """All quantities on arms of all sizes, as long as their first use does not take too long."""
    made: dict[tuple[str, int], Compiled] = {}
    with mock.patch.dict("os.environ", ARMDYN_CACHE_DIR=""):
        for quantity in QUANTITIES:
            patience = CUBIC_PATIENCE if is_cubic(quantity) else PATIENCE
            for n in sizes:
                if quantity not in quantities_of(Chain.random(n)):
                    continue
                one = made[quantity, n] = _compile(quantity, Chain.random(n))
                if one.trace + one.compile > patience:
                    break
    times = interleaved({key: one.call for key, one in made.items()}, PASSES * ROUNDS)
    return [
        Growth(*key, one.instructions, one.trace, one.compile, times[key].least)
        for key, one in made.items()
    ]


def _compile(quantity: str, chain: Chain) -> Compiled:
    tasks = [Task(quantity)]
    compilation = Compilation(chain, tasks)
    start = time.process_time()
    program = compilation.program
    instructions = len(program.instructions) + len(program.outputs)  # each result is a store
    traced = time.process_time() - start
    compiled = math.inf
    for _ in range(3):
        start = time.process_time()
        address = compilation("single", "float64")
        compiled = min(compiled, time.process_time() - start)
        if compiled > BRIEF:
            break
    arguments, results = QUANTITIES[quantity].arguments, shapes(chain, tasks)
    taken = {name: calls.Argument(ARGUMENTS[name].shape(chain.n)) for name in arguments}
    function = calls.Function(quantity, taken, results, lambda kind, dtype: address)
    numbers = states(chain)
    out = tuple(np.zeros(shape) for shape in results)
    state = [numbers[argument] for argument in arguments]
    call = Call(function, state, {"out": out if len(out) > 1 else out[0]})
    return Compiled(compilation, instructions, traced, compiled, call)
