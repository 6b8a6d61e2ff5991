"""Kernels without a compiler: quick to make, and the interpreter's numbers."""

import ctypes
import functools

import numpy as np

from armdyn import engine
from armdyn.program.interpreter import evaluate
from armdyn.quantities import tasks

LEAST = {"batch": 2, "states": 2, "seconds": 0}  # of all measurements
POINTERS = ctypes.POINTER(ctypes.c_void_p)
SINGLE = ctypes.CFUNCTYPE(None, POINTERS, POINTERS)
BATCH = ctypes.CFUNCTYPE(None, POINTERS, POINTERS, ctypes.c_int64)


def interpret(patch):
    """Compile nothing: interpret programs, each traced once, without fma, which takes long."""
    patch.setattr(engine.Kernels, "__call__", address)
    patch.setattr(engine, "place_fma", lambda program: program)
    traced = functools.cache(tasks.program)
    for module in (engine, tasks):
        patch.setattr(module, "program", lambda chain, tasks: traced(chain, tuple(tasks)))


def address(kernels, kind, dtype):
    """In place of ``Kernels.__call__``."""
    interpreted = Interpreted(kernels.program, kind, dtype)
    kernels._loaded.append(interpreted)
    return interpreted.address


class Interpreted:
    """A program that is interpreted, state by state; its ``address`` is valid while this lives."""

    def __init__(self, program, kind, dtype):
        self._program, self._dtype = program, np.dtype(dtype)
        self._call = SINGLE(self._one) if kind == "single" else BATCH(self._many)
        self.address = ctypes.cast(self._call, ctypes.c_void_p).value

    def _one(self, sources, targets):
        self._many(sources, targets, 1)

    def _many(self, sources, targets, count):
        program = self._program
        lengths = program.inputs.values()
        inputs = [self._array(sources[k], (count, n)) for k, n in enumerate(lengths)]
        outputs = [
            self._array(targets[k], (count, *shape)) for k, shape in enumerate(program.shapes)
        ]
        for i in range(count):
            state = {name: x[i].tolist() for name, x in zip(program.inputs, inputs, strict=True)}
            results = evaluate(program, state)
            several = results if len(outputs) > 1 else (results,)
            for output, result in zip(outputs, several, strict=True):
                output[i] = result

    def _array(self, address, shape):
        size = int(np.prod(shape)) * self._dtype.itemsize
        memory = (ctypes.c_char * size).from_address(address)
        return np.frombuffer(memory, self._dtype).reshape(shape)
