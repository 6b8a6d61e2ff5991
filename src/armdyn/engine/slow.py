"""Kernels without a compiler: the interpreter behind the kernels' signature."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from armdyn.program.interpreter import evaluate
from armdyn.program.program import Program

Pointers = ctypes.POINTER(ctypes.c_void_p)
SINGLE = ctypes.CFUNCTYPE(None, Pointers, Pointers)
BATCH = ctypes.CFUNCTYPE(None, Pointers, Pointers, ctypes.c_int64)


class Kernel:
    """A program that is interpreted, state by state; its ``address`` is valid while this lives."""

    def __init__(self, program: Program, kind: str, dtype: str) -> None:
        self._program, self._dtype = program, np.dtype(dtype)
        self._call = SINGLE(self._one) if kind == "single" else BATCH(self._many)
        self.address = ctypes.cast(self._call, ctypes.c_void_p).value or 0

    def _one(self, sources: Any, targets: Any) -> None:
        self._many(sources, targets, 1)

    def _many(self, sources: Any, targets: Any, count: int) -> None:
        lengths = list(self._program.inputs.values())
        inputs = [self._array(sources[k], (count, n)) for k, n in enumerate(lengths)]
        outputs = [
            self._array(targets[k], (count, *shape)) for k, shape in enumerate(self._program.shapes)
        ]
        for i in range(count):
            state = {
                name: array[i].tolist()
                for name, array in zip(self._program.inputs, inputs, strict=True)
            }
            results = evaluate(self._program, state)
            several = results if len(outputs) > 1 else (results,)
            for output, result in zip(outputs, several, strict=True):
                output[i] = result

    def _array(self, address: int, shape: tuple[int, ...]) -> np.ndarray:
        size = int(np.prod(shape)) * self._dtype.itemsize
        memory: Any = (ctypes.c_char * size).from_address(address)
        return np.frombuffer(memory, self._dtype).reshape(shape)
