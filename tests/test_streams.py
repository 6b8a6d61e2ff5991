"""Results larger than the caches: the same bits, and nothing beside them changes."""

import ctypes

import numpy as np
import pytest

import armdyn
from armdyn import Chain
from armdyn.engine import jit
from armdyn.program import drivers
from armdyn.program.fma import place_fma
from armdyn.quantities.tasks import Task, program

POINTERS = ctypes.POINTER(ctypes.c_void_p)
BATCH = ctypes.CFUNCTYPE(None, POINTERS, POINTERS, ctypes.c_int64)
GUARD = 99.0
AROUND = 32  # numbers on either side of a result
PROGRAMS = {
    "one result": (Chain.random(3), ("mass_matrix",)),
    "several results": (Chain.random(3), ("mass_matrix", "gravity", "jacobian", "energy")),
    "tables": (Chain.random(17), ("mass_matrix",)),
    "few results": (Chain.random(3), ("inverse_dynamics",)),
    "constants alone": (Chain.random(1, "P"), ("mass_matrix", "jacobian")),
}


def run(kernel, made, dtype, arrays, count, offset):
    """The results, in memory that begins so many numbers after a line of the cache."""
    places, wholes, found = [], [], []
    for k, shape in enumerate(made.shapes):  # each result as many numbers further off
        size = count * int(np.prod(shape))
        whole = np.full(size + 2 * AROUND + 64 + k, GUARD, dtype)
        start = AROUND + offset + k + -(whole.ctypes.data // whole.itemsize + AROUND) % 64
        wholes.append((whole, start, start + size))
        found.append(whole[start : start + size].reshape(count, -1))
        places.append(found[-1].ctypes.data)
    given = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
    kernel(given, (ctypes.c_void_p * len(places))(*places), count)
    for whole, start, end in wholes:
        assert (whole[:start] == GUARD).all()
        assert (whole[end:] == GUARD).all()
    return found


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_streamed_results_are_the_same_wherever_they_begin(name, dtype):
    chain, quantities = PROGRAMS[name]
    made = place_fma(program(chain, [Task(q).settled(chain) for q in quantities]))
    widest = jit.machine().lanes(dtype)
    for lanes in {widest, widest // 2, 128 // (8 * np.dtype(dtype).itemsize)}:
        texts = {"batch": drivers.batch, "stream": drivers.stream}
        codes = [
            jit.LoadedCode(jit.machine_code(write(made, dtype, lanes), kind), kind)
            for kind, write in texts.items()
        ]
        compare(made, dtype, lanes, *(BATCH(code.address) for code in codes))


def compare(made, dtype, lanes, batch, stream):
    for count in (1, lanes - 1, lanes, lanes + 1, 2 * lanes, 5 * lanes + 3):
        rng = np.random.default_rng(count)
        arrays = [rng.uniform(-1, 1, (count, n)).astype(dtype) for n in made.inputs.values()]
        expected = run(batch, made, dtype, arrays, count, 0)
        for offset in range(0, 64 // np.dtype(dtype).itemsize, 3):
            found = run(stream, made, dtype, arrays, count, offset)
            for a, b in zip(found, expected, strict=True):
                np.testing.assert_array_equal(a.view(f"u{a.itemsize}"), b.view(f"u{b.itemsize}"))


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_batch_larger_than_the_caches_has_the_bits_of_its_parts(dtype, threads):
    robot = armdyn.load("two_link")
    count = 600_001  # 19 or 10 MB of M, and three times that of the Jacobian
    q = np.random.default_rng(0).uniform(-3, 3, (count, 2)).astype(dtype)
    both = robot.function("mass_matrix", "jacobian")
    found = both(q, threads=threads)
    for first in range(0, count, 50_000):
        part = slice(first, first + 50_000)
        for whole, piece in zip(found, both(q[part], threads=1), strict=True):
            np.testing.assert_array_equal(whole[part], piece)
