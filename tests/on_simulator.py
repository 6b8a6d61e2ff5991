"""Programs on the simulator of PTX, and on the processor: both on the same arrays."""

import ctypes

import numpy as np

from armdyn.engine import jit, ptx
from armdyn.program.ptx import module
from tests.ptx_simulator import Memory, execute, pack

LIMIT = ptx.LIMITS[-1]
POINTERS = ctypes.POINTER(ctypes.c_void_p)
SINGLE = ctypes.CFUNCTYPE(None, POINTERS, POINTERS)


def states(program, dtype, count, seed=0):
    """Arguments of so many states, with far angles, infinity, NaN and subnormals among them."""
    rng = np.random.default_rng(seed)
    tiny = np.finfo(dtype).smallest_subnormal * 1000.0  # and its products are less than any number
    found = []
    for length in program.inputs.values():
        x = rng.uniform(-3, 3, (count, length))
        x[1::11] *= 1e7
        x[2::11, -1] = 1e30
        x[3::11, 0] = np.nan
        x[4::11, length // 2] = -np.inf
        x[5::11] *= 1e13
        x[6::11] = -0.0
        x[7::11] *= tiny
        found.append(x.astype(dtype))
    return found


def simulated(program, dtype, inputs, limit=LIMIT, change=lambda text: text, off=0, more=0):
    """The results of a program's PTX; ``off`` numbers lie before those of each result.

    The kernel is told of ``more`` states than there are.
    """
    made = module(program, dtype, limit)
    text = change(ptx.assemble(made).decode())
    memory, given, count = Memory(), [], max(len(x) for x in inputs)
    for x in inputs:
        memory.allow_address(x.ctypes.data, (len(x) - 1) * x.strides[0] + x[0].nbytes)
        given += [x.ctypes.data, x.strides[0] // x.itemsize]
    outputs = []
    for shape in program.shapes:
        size = count * int(np.prod(shape))
        whole = np.full(off + size, 7.25, dtype)
        outputs.append(whole[off:].reshape(count, *shape))
        memory.allow_address(outputs[-1].ctypes.data, size * whole.itemsize)
        given.append(outputs[-1].ctypes.data)
    blocks = -(-count // 32)
    if made.several:
        blocks = -(-blocks // 3)  # most threads have three states, some of the last ones two
    execute(text, pack(*given, count + more), blocks, made.shared, memory)
    return outputs


def compiled(program, dtype):
    """A program for this processor, for ``computed``."""
    return jit.LoadedCode(jit.compile(program, "single", dtype), "single")


def computed(program, dtype, inputs, code=None):
    """The results by the kernel for this processor, a state at a time."""
    code = code or compiled(program, dtype)
    inputs = [np.ascontiguousarray(x) for x in inputs]
    outputs = [np.empty((len(inputs[0]), *shape), dtype) for shape in program.shapes]
    for i in range(len(inputs[0])):
        tables = [
            (ctypes.c_void_p * len(arrays))(*(a[i : i + 1].ctypes.data for a in arrays))
            for arrays in (inputs, outputs)
        ]
        SINGLE(code.address)(*tables)
    return outputs


def same_bits(found, expected):
    """All numbers have the same bits, but for what is NaN in both."""
    for a, b in zip(found, expected, strict=True):
        kind = f"u{a.itemsize}"
        same = (a.view(kind) == b.view(kind)) | (np.isnan(a) & np.isnan(b))
        assert same.all(), f"{(~same).sum()} of {same.size} numbers differ"
