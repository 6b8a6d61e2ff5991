"""How single calls, tracing and compiling grow with the number of joints."""

from __future__ import annotations

import time
from dataclasses import dataclass
from unittest import mock

import numpy as np

from armdyn import calls
from armdyn.chain import Chain
from armdyn.engine import Compilation
from armdyn.quantities import ARGUMENTS, SHAPES, Task, shapes
from benchmarks.arms import states
from benchmarks.timing import Call, interleaved

SIZES = (2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 36, 40, 45, 50, 55, 60)
PATIENCE = 60.0  # [s]: a quantity whose compilation takes longer is not tried on larger arms


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


def growth(sizes: tuple[int, ...] = SIZES, patience: float = PATIENCE) -> list[Growth]:
    """All quantities on arms of all sizes, as long as compiling them takes no more than that."""
    found = []
    with mock.patch.dict("os.environ", ARMDYN_CACHE_DIR=""):
        for quantity in SHAPES:
            for n in sizes:
                found.append(_measure(quantity, Chain.random(n)))
                if found[-1].first_use > patience:
                    break
    return found


def _measure(quantity: str, chain: Chain) -> Growth:
    tasks = [Task(quantity)]
    compilation = Compilation(chain, tasks)
    start = time.perf_counter()
    instructions = len(compilation.program.instructions)
    traced = time.perf_counter()
    address = compilation("single", "float64")
    compiled = time.perf_counter()
    arguments, results = ARGUMENTS[quantity], shapes(chain.n, tasks)
    function = calls.Function(quantity, arguments, chain.n, results, lambda kind, dtype: address)
    numbers = states(chain)
    out = tuple(np.zeros(shape) for shape in results)
    call = Call(
        function,
        [numbers[argument] for argument in arguments],
        {"out": out if len(out) > 1 else out[0]},
    )
    call()
    taken = interleaved({quantity: call}, rounds=15)[quantity].least
    return Growth(quantity, chain.n, instructions, traced - start, compiled - traced, taken)
