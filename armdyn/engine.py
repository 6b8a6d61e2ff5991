"""From a question about an arm to machine code: tracing, passes, LLVM and the disk cache."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable, Sequence
from functools import cache as once
from pathlib import Path
from typing import Any

import numpy as np

import armdyn
from armdyn import cache, calls
from armdyn.chain import Chain
from armdyn.program import jit, slow
from armdyn.program.passes import place_fma
from armdyn.program.program import Program
from armdyn.quantities import Task, arguments, program, shapes


def function(
    chain: Chain, tasks: Sequence[Task], otherwise: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """A compiled function of arrays for some tasks together; compiles at its first call.

    ``otherwise`` takes the calls that are not of the form ``f(*arrays, out=, threads=)``.
    """
    return calls.Function(
        " ".join(task.quantity for task in tasks),
        arguments(tasks),
        chain.n,
        shapes(chain.n, tasks),
        Compilation(chain, tasks),
        otherwise,
    )


class Compilation:
    """Makes the kernels of some tasks on a chain, and keeps them in memory while it lives.

    A kernel that the disk cache has is taken from there, without tracing; what is stored with it
    says which methods had been chosen.
    """

    def __init__(self, chain: Chain, tasks: Sequence[Task]) -> None:
        self.chain = chain
        self.asked = self.tasks = tuple(tasks)  # tasks: with the methods that were chosen
        self._program: Program | None = None
        self._kernels: list[object] = []

    @property
    def program(self) -> Program:
        """The final program, traced at first need."""
        if self._program is None:
            self.tasks = tuple(task.settled(self.chain) for task in self.asked)
            self._program = place_fma(program(self.chain, self.tasks))
        return self._program

    def __call__(self, kind: str, dtype: str) -> int:
        """The address of the kernel "single" or "batch" for "float64" or "float32"."""
        if not jit.available():
            kernel: Any = slow.Kernel(self.program, kind, dtype)
        else:
            kernel = jit.Kernel(self._code(kind, dtype), kind)
        self._kernels.append(kernel)
        return kernel.address

    def _code(self, kind: str, dtype: str) -> bytes:
        """Object code, from the disk cache or newly made."""
        key = cache.key(repr(self.chain), repr(self.asked), kind, dtype, *fingerprint())
        entry = cache.get(key)
        if entry is None:
            code = jit.compile(self.program, kind, dtype)
            methods = [task.method for task in self.tasks]
            cache.put(key, json.dumps(methods).encode() + b"\n" + code)
            return code
        chosen, _, code = entry.partition(b"\n")
        self.tasks = tuple(map(Task.by, self.asked, json.loads(chosen)))
        return code


@once
def fingerprint() -> tuple[str, ...]:
    """What object code depends on besides the arm: machine, versions, armdyn's own text."""
    here = Path(armdyn.__file__).parent
    files = sorted(here.rglob("*.py"))
    text = [
        f"{path.relative_to(here)} {path.stat().st_size} {path.stat().st_mtime_ns}"
        for path in files
    ]
    return (armdyn.__version__, *map(str, jit.machine()), *text)


def info() -> dict[str, Any]:
    """Versions, processor, back end, call path and cache in use."""
    compiled = jit.available()
    return {
        "armdyn": armdyn.__version__,
        "python": sys.version.split()[0],
        "numpy": np.__version__,
        "llvmlite": jit.machine().llvmlite if compiled else None,
        "cpu": jit.machine().name if compiled else platform.processor(),
        "vector_bytes": jit.machine().vector_bytes if compiled else None,
        "back_end": "llvm" if compiled else "interpreter (slow: llvmlite is not installed)",
        "call_path": "C extension" if calls.EXTENSION else "ctypes (the C extension is not built)",
        "cache": str(cache.directory()) if cache.directory() else None,
    }
