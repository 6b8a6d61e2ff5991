"""Machine code: sines to two units in the last place, the same bits alone and in a batch."""

import ctypes
import math
import platform
import re
from collections import Counter

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import armdyn
from armdyn import Chain
from armdyn.engine import Compilation, jit, llvm_thread
from armdyn.program import drivers, llvm
from armdyn.program.fma import place_fma
from armdyn.program.interpreter import evaluate
from armdyn.program.tape import record, sqrt
from armdyn.quantities.tasks import Task, program
from armdyn.spatial import select_lt, sincos

POINTERS = ctypes.POINTER(ctypes.c_void_p)
CALLS = {
    "single": ctypes.CFUNCTYPE(None, POINTERS, POINTERS),
    "batch": ctypes.CFUNCTYPE(None, POINTERS, POINTERS, ctypes.c_int64),
}


class Machine:
    """A compiled program, called on arrays without any of the call path's help."""

    def __init__(self, program, dtype="float64", symbols=None):
        self.program, self.dtype = program, np.dtype(dtype)
        self.kernels = {
            k: jit.LoadedCode(jit.compile(program, k, dtype), k, symbols) for k in CALLS
        }

    def run(self, kind, *inputs):
        count = len(inputs[0])
        inputs = [np.ascontiguousarray(x, self.dtype) for x in inputs]
        outputs = [np.full((count, *shape), 99, self.dtype) for shape in self.program.shapes]
        if kind == "batch":
            self._call(kind, inputs, outputs, count)
        else:
            for i in range(count):
                self._call(kind, [x[i] for x in inputs], [y[i : i + 1] for y in outputs])
        return outputs

    def _call(self, kind, inputs, outputs, *count):
        tables = [
            (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))
            for arrays in (inputs, outputs)
        ]
        CALLS[kind](self.kernels[kind].address)(*tables, *count)


def same_bits(found, expected):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a.view(f"u{a.itemsize}"), b.view(f"u{b.itemsize}"))


@pytest.mark.parametrize(
    ("dtype", "lanes"),
    [("float64", 2), ("float64", 4), ("float64", 8), ("float32", 4)]
    + [("float32", 8), ("float32", 16)],
)
def test_rows_of_every_width_come_and_go_on_vectors_of_every_length(dtype, lanes):
    for width in range(1, lanes + 3):
        program = record(lambda q: [x + 1 for x in q[::-1]], {"q": width})
        text = drivers.batch(program, dtype, lanes)
        code = jit.LoadedCode(jit.machine_code(text, "batch"), "batch")
        count = 3 * lanes + 1
        q = np.arange(count * width, dtype=dtype).reshape(count, width)
        out = np.full((count + 2, width), -1, dtype)
        given, taken = ((ctypes.c_void_p * 1)(x.ctypes.data) for x in (q, out[1:]))
        CALLS["batch"](code.address)(given, taken, count)
        np.testing.assert_array_equal(out[1:-1], q[:, ::-1] + 1)
        assert (out[[0, -1]] == -1).all()


# Sines and cosines -------------------------------------------------------------------------------


def angles(limit, seed=0):
    """Angles of every size up to the limit, and the numbers next to multiples of pi/2."""
    rng = np.random.default_rng(seed)
    spread = np.exp(rng.uniform(np.log(1e-20), np.log(limit), 4000))
    whole = np.unique(rng.integers(1, int(limit / 1.6), 4000))
    with mpmath.workdps(60):
        near = np.array([float(k * mpmath.pi / 2) for k in whole.tolist()])
    both = np.concatenate([spread, near, np.nextafter(near, 0), np.nextafter(near, np.inf)])
    return both * rng.choice([-1, 1], len(both))


@pytest.fixture(scope="module", params=["float64", "float32"])
def trig(request):
    pair = record(lambda x: [sincos(x[0])[0], sincos(x[0])[1]], {"x": 1}, "sincos")
    return Machine(pair, request.param)


def errors_in_ulp(trig, x):
    x = x.astype(trig.dtype).astype(float)
    (found,) = trig.run("batch", x[:, None])
    with mpmath.workdps(60):
        exact = [(mpmath.sin(mpmath.mpf(v)), mpmath.cos(mpmath.mpf(v))) for v in x.tolist()]
        worst = 0.0
        for pair, row in zip(exact, found.tolist(), strict=True):
            for true, value in zip(pair, row, strict=True):
                ulp = float(np.spacing(np.abs(trig.dtype.type(float(true)))))
                worst = max(worst, float(abs(mpmath.mpf(value) - true)) / ulp)
    return worst


def test_sines_are_within_two_units_in_the_last_place(trig):
    assert errors_in_ulp(trig, angles(1e6)) < 2


def test_sines_of_the_doubles_nearest_to_multiples_of_half_pi(trig):
    """Convergents of pi/2: where reduction loses most, numerators below 1e6 and beyond."""
    found = []
    with mpmath.workdps(60):
        x = mpmath.pi / 2
        a, h, k = [int(x)], [1, int(x)], [0, 1]
        rest = x - a[0]
        while h[-1] < 1e12:
            rest = 1 / rest
            digit = int(rest)
            rest -= digit
            h.append(digit * h[-1] + h[-2])
            k.append(digit * k[-1] + k[-2])
            found.append(float(h[-1]))
    assert len(found) > 15
    limit = 1e12 if trig.dtype == np.float64 else 1e6
    assert errors_in_ulp(trig, np.array([f for f in found if f < limit])) < 2


def test_sines_of_far_angles(trig):
    """To the largest number; the double nearest to a multiple of pi/2 is 6381956970095103 2^797."""
    rng = np.random.default_rng(0)
    largest = float(np.finfo(trig.dtype).max)
    far = np.exp(rng.uniform(np.log(1e5), np.log(largest), 1000)) * rng.choice([-1, 1], 1000)
    known = np.array([1.1e12, 1e15, 2.0**60, 1e22, 1e38, largest])
    if trig.dtype == np.float64:
        nearest = 6381956970095103 * 2.0**797
        known = np.append(known, [nearest, -nearest, 5.319372648326541e255])
    assert errors_in_ulp(trig, np.append(far, known)) < 2


def test_far_angles_leave_their_neighbours_alone(trig):
    near = np.random.default_rng(0).uniform(-3, 3, (64, 1)).astype(trig.dtype)
    mixed = near.copy()
    mixed[::5], mixed[1::7], mixed[2::9] = np.inf, 1e30, np.nan
    (alone,), (together,) = trig.run("batch", near), trig.run("batch", mixed)
    kept = (mixed == near)[:, 0]
    assert kept.sum() > 30
    same_bits([together[kept]], [alone[kept]])


def test_sines_of_what_is_no_number_are_no_numbers(trig):
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0])
    (found,) = trig.run("batch", x[:, None])
    assert np.isnan(found[:3]).all()
    np.testing.assert_array_equal(found[3:5], [[0, 1], [0, 1]])
    np.testing.assert_allclose(found[5], [math.sin(1), math.cos(1)], rtol=1e-6)


# Kernels -----------------------------------------------------------------------------------------

TASKS = ["mass_matrix", "bias", "inverse_dynamics", "forward_dynamics", "energy", "pose"]


def fused_program(chain, *quantities):
    tasks = [Task(quantity).settled(chain) for quantity in quantities]
    return place_fma(program(chain, tasks))


def states(program, count, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-3, 3, (count, n)) for n in program.inputs.values()]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["puma560", "stanford", "two_link", "panda"])
def test_a_state_has_the_same_bits_alone_and_anywhere_in_a_batch(name, dtype):
    for quantity in TASKS:
        machine = Machine(fused_program(armdyn.load(name).chain, quantity), dtype)
        inputs = states(machine.program, 19)
        alone = machine.run("single", *inputs)
        for count in (1, 2, 3, 4, 7, 8, 9, 16, 19):
            for start in {0, 19 - count}:
                part = slice(start, start + count)
                batch = machine.run("batch", *(x[part] for x in inputs))
                same_bits(batch, [y[part] for y in alone])


def test_an_empty_batch_touches_nothing():
    machine = Machine(fused_program(Chain.random(2), "mass_matrix"))
    assert machine.run("batch", np.empty((0, 2)))[0].shape == (0, 2, 2)


@pytest.mark.parametrize("quantity", TASKS)
def test_kernels_do_what_the_interpreter_does(quantity):
    """Equal but for the sines' last bits, which enter everything."""
    machine = Machine(fused_program(Chain.random(5, "RPRRP", seed=2), quantity))
    inputs = states(machine.program, 6)
    found = machine.run("single", *inputs)
    for i in range(6):
        state = {k: x[i].tolist() for k, x in zip(machine.program.inputs, inputs, strict=True)}
        truth = evaluate(machine.program, state)
        for a, b in zip(found, truth if len(found) > 1 else [truth], strict=True):
            b = np.array(b)
            np.testing.assert_allclose(a[i], b, rtol=0, atol=1e-13 * max(1, np.abs(b).max()))


def test_a_program_cut_into_parts_keeps_its_bits(monkeypatch):
    for quantity in ("mass_matrix", "forward_dynamics"):
        whole = Machine(fused_program(Chain.random(6, "RRPRRR", seed=4), quantity))
        inputs = states(whole.program, 9)
        expected = whole.run("single", *inputs)
        monkeypatch.setattr(llvm, "WHOLE", 0)
        monkeypatch.setattr(llvm, "PART", 50)
        pieces = Machine(whole.program)
        monkeypatch.undo()
        same_bits(pieces.run("single", *inputs), expected)
        same_bits(pieces.run("batch", *inputs), expected)


def test_cuts_are_really_made(monkeypatch):
    monkeypatch.setattr(llvm, "WHOLE", 0)
    monkeypatch.setattr(llvm, "PART", 50)
    text = drivers.single(fused_program(Chain.random(4), "mass_matrix"), "float64", 4)
    assert "@part3(" in text


def test_memory_from_the_heap_keeps_the_bits(monkeypatch):
    for quantity in ("mass_matrix", "forward_dynamics"):
        monkeypatch.setattr(llvm, "WHOLE", 0)
        monkeypatch.setattr(llvm, "PART", 50)
        stack = Machine(fused_program(Chain.random(6, "RRPRRR", seed=4), quantity))
        inputs = states(stack.program, 9)
        expected = stack.run("single", *inputs)
        monkeypatch.setattr(drivers, "STACK", 0)
        heap = Machine(stack.program)
        for kind, emit in (("single", drivers.single), ("batch", drivers.batch)):
            assert "call ptr @malloc" in emit(stack.program, "float64", 4)
            same_bits(heap.run(kind, *inputs), expected)
        monkeypatch.undo()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_without_memory_results_are_not_numbers(monkeypatch, dtype):
    monkeypatch.setattr(llvm, "WHOLE", 0)
    monkeypatch.setattr(llvm, "PART", 50)
    monkeypatch.setattr(drivers, "STACK", 0)
    none = jit.LoadedCode(jit.assemble("define ptr @none(i64 %n) {\nret ptr null\n}"), "none")
    made = fused_program(Chain.random(4, seed=4), "mass_matrix", "energy")
    machine = Machine(made, dtype, {"malloc": none.address})
    for kind in CALLS:
        for result in machine.run(kind, *states(made, 9)):
            assert np.isnan(result).all()


def test_rows_of_constants():
    """Long ones are copied from tables, short ones stored."""
    numbers = np.random.default_rng(3).normal(size=500).round(1)
    numbers[100:300] = 0.0
    constants = numbers.tolist()

    def mixed(x):
        return (constants, [*constants[:70], x[0] * x[1], *constants[70:200], x[1]], constants[:9])

    for dtype in ("float64", "float32"):
        machine = Machine(record(mixed, {"x": 2}, "mixed"), dtype)
        (x,) = states(machine.program, 11)
        x = x.astype(dtype)
        expected = [
            np.tile(numbers, (11, 1)),
            np.column_stack([np.tile(numbers[:70], (11, 1)), x[:, 0] * x[:, 1]]),
        ]
        for kind in CALLS:
            found = machine.run(kind, x)
            assert (found[0] == expected[0].astype(dtype)).all()
            assert (found[1][:, :71] == expected[1].astype(dtype)).all()
            assert (found[1][:, 71:201] == numbers[70:200].astype(dtype)).all()
            assert (found[1][:, 201] == x[:, 1]).all()
            assert (found[2] == numbers[:9].astype(dtype)).all()


def every_operation(x, y):
    """All operations, sines inside sines, constants and inputs as results, results of any shape."""
    (s, c), (t, _) = sincos(x[0]), sincos(x[1] + 2 * x[0])
    u, v = sincos(s * 3 + y[0])
    w, _ = sincos(u - v)
    root = sqrt(c * c + t * t)
    picked = select_lt(s, c, x[0], y[1])
    return (
        [[root, w], [picked, -s]],
        [1.5, x[2], 0],
        s / (2 + c) - 1 / (3 + t),
        [[v * y[2] - t * s, s * c + y[0], u] for _ in range(4)],
    )


@pytest.mark.parametrize("fuse", [False, True])
def test_every_operation_and_any_shape(fuse):
    made = record(every_operation, {"x": 3, "y": 3}, "every")
    machine = Machine(place_fma(made) if fuse else made)
    inputs = states(machine.program, 11)
    alone = machine.run("single", *inputs)
    same_bits(machine.run("batch", *inputs), alone)
    for i in range(11):
        truth = every_operation_in_floats(*(x[i] for x in inputs))
        for a, b in zip(alone, truth, strict=True):
            np.testing.assert_allclose(a[i], b, rtol=0, atol=1e-14)


def every_operation_in_floats(x, y):
    s, c, t = math.sin(x[0]), math.cos(x[0]), math.sin(x[1] + 2 * x[0])
    u, v = math.sin(s * 3 + y[0]), math.cos(s * 3 + y[0])
    return (
        [[math.hypot(c, t), math.sin(u - v)], [x[0] if s < c else y[1], -s]],
        [1.5, x[2], 0],
        s / (2 + c) - 1 / (3 + t),
        [[v * y[2] - t * s, s * c + y[0], u]] * 4,
    )


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.integers(1, 9), st.integers(1, 12), st.integers(0, 30))
def test_rows_of_any_width_are_transposed_right(width, columns, count):
    """Copying inputs to outputs, permuted: every width, every number of states."""
    rng = np.random.default_rng(width * 1000 + columns)
    picks = rng.integers(0, width, columns).tolist()
    machine = Machine(record(lambda x: [x[p] for p in picks], {"x": width}, "pick"))
    x = rng.normal(size=(count, width))
    same_bits(machine.run("batch", x), [x[:, picks]])


@pytest.mark.skipif("x86" not in platform.machine().lower(), reason="reads code of x86")
@pytest.mark.parametrize("kind", ["batch", "stream"])
def test_vectors_wait_on_the_stack_at_multiples_of_their_size(kind):
    """So that each lies in one line of the cache."""
    lanes = jit.machine().lanes("float64")
    if lanes == 2:
        pytest.skip("vectors of 16 bytes lie so anyway")
    chain = armdyn.load("panda").chain
    whole = Compilation(chain, [Task("forward_dynamics")]).program
    text = getattr(drivers, kind)(whole, "float64", lanes)
    with llvm_thread.binding().parse_assembly(text) as module, jit._target_machine() as target:
        code = target.emit_assembly(module)
    part = code[code.index("part0:") : code.index("near:")]
    moves = Counter(re.findall(r"(vmov[au]p[sd])\s.*\(%rsp\)", part))
    assert moves["vmovaps"] + moves["vmovapd"] > 50
    assert not moves["vmovups"] + moves["vmovupd"]
