"""What kernels ask of the caches: rows to come, their own code, and nothing that is not there."""

import ctypes
import math
import re

import numpy as np
import pytest

import armdyn
from armdyn.engine import Compilation, jit
from armdyn.program import drivers
from armdyn.program.ahead import A_LINE_OF_TEXT, BRIEF, BROAD, KEPT, LINE, PASSING
from armdyn.program.fma import place_fma
from armdyn.program.tape import record
from armdyn.quantities.tasks import Task
from tests.test_llvm import CALLS

ASK = re.compile(r"call void @llvm\.prefetch\.p0\(ptr (\S+), .*\)")
TOLD = """
declare void @asked(ptr)
declare void @told(ptr, ptr)
"""
LANES = [lanes for lanes in (2, 4, 8) if lanes <= jit.machine().lanes("float64")]


def asks(program, arrays, lanes, kind="batch", results=None):
    """Runs a kernel that calls us where it would ask: a list of addresses a block, and of its code.

    The code is where ``part0`` begins and where that of the loop around it ends. A kernel that is
    given its results' memory is one that asks for lines of it.
    """
    blocks, code = [], []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def asked(address):
        blocks[-1].append(address)

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
    def told(begin, end):
        blocks.append([])
        code[:] = begin, end

    options = {"ask": True} if results else {}
    text = getattr(drivers, kind)(program, "float64", lanes, **options)
    begin = "define internal void @near(ptr %here) noinline {\n"
    assert text.count(begin) == 1
    text = text.replace(begin, begin + "  call void @told(ptr @part0, ptr @behind)\n")
    text = ASK.sub(r"call void @asked(ptr \1)", text) + TOLD
    symbols = {
        name: ctypes.cast(function, ctypes.c_void_p).value
        for name, function in (("asked", asked), ("told", told))
    }
    loaded = jit.LoadedCode(jit.machine_code(text, kind), kind, symbols)
    count = len(arrays[0])
    results = results or [np.zeros((count, *shape)) for shape in program.shapes]
    tables = [
        (ctypes.c_void_p * len(each))(*(x.ctypes.data for x in each)) for each in (arrays, results)
    ]
    CALLS["batch"](loaded.address)(*tables, count)
    return blocks, code


def with_parameters(arm, quantity, count):
    """A program with wide rows, and its arguments."""
    robot = armdyn.load(arm)
    program = Compilation(robot.chain, [Task(quantity, given=("parameters",))]).program
    arrays = [np.zeros((count, n)) for n in program.inputs.values()]
    arrays[-1][:] = robot.chain.parameters
    return program, arrays


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("kind", ["batch", "stream"])
@pytest.mark.parametrize("quantity", ["bias", "inverse_dynamics"])
def test_all_code_is_asked_for_in_turn(quantity, kind, lanes):
    """Before many rows have passed, every whole line of it, and nothing beyond."""
    program, arrays = with_parameters("stanford", quantity, 900 * lanes)
    blocks, (begin, end) = asks(program, arrays, lanes, kind)
    assert len(blocks) >= 898  # a stream's first two are computed before its loop
    row = 8 * (sum(program.inputs.values()) + len(program.outputs))
    turn = -(-PASSING // (lanes * row)) + 1  # blocks
    assert turn < 700
    found = [{x for x in block if begin <= x < end} for block in blocks]
    others = {x for block in blocks for x in block} - set().union(*found)
    spans = [(x.ctypes.data, x.ctypes.data + x.nbytes) for x in arrays]
    assert all(any(first <= x < last for first, last in spans) for x in others)
    for start in (0, 97):
        lines = set().union(*found[start : start + turn])
        assert sorted(lines) == list(range(begin, end - LINE + 1, LINE))


def lines_of(block, x):
    """Which lines of an array a block asks for, counted from its beginning."""
    begin = x.ctypes.data // LINE
    return {a // LINE - begin for a in block if x.ctypes.data <= a < x.ctypes.data + x.nbytes}


def lines_with(x, states, columns):
    """In which lines these numbers are."""
    begin = x.ctypes.data // LINE
    return {x[s : s + 1, k:].ctypes.data // LINE - begin for s in states for k in columns}


def at_a_line(shape):
    """An array of zeros that begins with a line."""
    memory = np.zeros(math.prod(shape) + LINE // 8)
    skipped = -memory.ctypes.data % LINE // 8
    return memory[skipped : skipped + math.prod(shape)].reshape(shape)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("steps", [0, BRIEF])
def test_rows_to_come_are_asked_for(steps, lanes):
    """Lines of which some number is used, a block or two before, and none behind the last block."""

    def rule(q, p):
        total = p[0] * p[1] + q[1]
        for _ in range(steps):
            total = total * q[1] + p[39]
        return [total, p[39]]

    program = place_fma(record(rule, {"q": 2, "p": 40}))
    q, p = at_a_line((6 * lanes + 1, 2)), at_a_line((6 * lanes + 1, 40))
    blocks, _ = asks(program, [q, p], lanes)
    before = 1 if steps else 2
    for i, block in enumerate(blocks[:6]):
        after = min(i + before, 5)
        states = range(after * lanes, (after + 1) * lanes)
        assert lines_of(block, p) == lines_with(p, states, (0, 1, 39))
        assert lines_of(block, q) == (set() if steps else lines_with(q, states, (1,)))
    assert len(blocks) == 7  # and the state left over, in a block of its own
    assert not lines_of(blocks[6], p) | lines_of(blocks[6], q)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("numbers, steps", [(2, 0), (40, 0), (40, BRIEF)])
def test_lines_to_store_in_are_asked_for(numbers, steps, lanes):
    """All of wide results, one block before, as rows to come then are; none of narrow ones."""
    broad, narrow = BROAD // 8, BROAD // 8 - 1

    def rule(p):
        total = p[0] * p[1]
        for _ in range(steps):
            total = total * p[1] + p[0]
        return [total + k for k in range(broad)], [total - k for k in range(narrow)]

    program = place_fma(record(rule, {"p": numbers}))
    p = at_a_line((6 * lanes + 1, numbers))
    p[:] = 1 + np.arange(len(p))[:, None] / 16
    wide, slim = (at_a_line((6 * lanes + 1, n)) for n in (broad, narrow))
    blocks, _ = asks(program, [p], lanes, results=[wide, slim])
    for i, block in enumerate(blocks[:6]):
        after = min(i + 1, 5)
        states = range(after * lanes, (after + 1) * lanes)
        assert lines_of(block, wide) == lines_with(wide, states, range(broad))
        assert lines_of(block, p) == (lines_with(p, states, (0, 1)) if numbers > 2 else set())
    assert len(blocks) == 7 and not lines_of(blocks[6], wide)
    assert not any(lines_of(block, slim) for block in blocks)
    plain = [np.zeros_like(wide), np.zeros_like(slim)]
    asks(program, [p], lanes, results=plain)
    np.testing.assert_array_equal(wide, plain[0])
    if not steps:
        np.testing.assert_array_equal(wide, (p[:, :1] * p[:, 1:2]) + np.arange(broad))
        np.testing.assert_array_equal(slim, (p[:, :1] * p[:, 1:2]) - np.arange(narrow))


def test_where_lines_are_asked_for_nothing_is_staged():
    """Nor is anything asked for by a kernel of several parts, or by one of narrow results."""
    chain = armdyn.load("panda").chain
    tasks = {x: Compilation(chain, [Task(x)]).program for x in ("mass_matrix", "bias")}
    long = armdyn.load("xarm7").chain
    tasks["long"] = Compilation(long, [Task("inverse_dynamics_second_derivatives")]).program
    to_store = "i32 1, i32 3, i32 1"
    for name, program in tasks.items():
        may = name == "mass_matrix"
        assert to_store not in drivers.batch(program, "float64", 8)
        assert (to_store in drivers.batch(program, "float64", 8, ask=True)) == may
        text = drivers.stream(program, "float64", 8, ask=True)
        assert "define void @stream(" in text
        assert (to_store in text) == may and ("stream.loop:" in text) != may


def test_narrow_rows_alone_are_not_asked_for():
    """Processors bring near what they meet in order."""
    q = np.zeros((4 * LANES[-1], 31))
    blocks, _ = asks(place_fma(record(lambda q: [q[0] * q[30]], {"q": 31})), [q], LANES[-1])
    assert blocks and not any(lines_of(block, q) for block in blocks)


def test_two_wide_arguments_are_both_asked_for():
    lanes = LANES[-1]
    program = place_fma(record(lambda p, r: [p[0] * r[0]], {"p": 40, "r": 50}))
    arrays = [np.ones((4 * lanes, 40)), np.ones((4 * lanes, 50))]
    blocks, _ = asks(program, arrays, lanes)
    for x in arrays:
        for block, after in zip(blocks, (2, 3, 3, 3), strict=True):
            asked = {(address - x.ctypes.data) // LINE for address in block}
            states = range(after * lanes, (after + 1) * lanes)
            assert {state * x[0].nbytes // LINE for state in states} <= asked


@pytest.mark.parametrize("states", [0, 1, LANES[-1], LANES[-1] + 1])
def test_very_wide_rows_ask_for_no_more_than_there_is(states):
    """Of code: a block's rows fill the cache, so that all of it would be asked for in each."""
    program = place_fma(record(lambda p: [p[0] * p[1]], {"p": 40000}))
    rows = np.zeros((states, 40000))
    blocks, code = asks(program, [rows], LANES[-1])
    assert len(blocks) == -(-states // LANES[-1])
    for block in blocks:
        found = [x for x in block if not code[0] <= x < code[1]]
        assert len(found) <= LANES[-1]  # a line of each row


def test_a_program_of_nothing_asks_for_nothing():
    assert "@near" not in drivers.batch(record(lambda: [], {}), "float64", 8)


def test_asks_are_reckoned_as_what_they_are():
    """Code that would be kept near without them is, where it still fits the cache with them."""
    chain = armdyn.load("panda").chain
    program = Compilation(chain, [Task("christoffel")]).program
    text = drivers.batch(program, "float64", 8, ask=True)
    assert text.count("\n") * A_LINE_OF_TEXT > KEPT and "@near" in text
    code = jit.LoadedCode(jit.machine_code(text, "batch"), "batch").instructions
    assert code is None or code < 32 << 10


def test_code_that_outgrows_the_innermost_cache_is_left_alone():
    chain = armdyn.load("xarm7").chain
    program = Compilation(chain, [Task("forward_dynamics_derivatives")]).program
    text = drivers.batch(program, "float64", 8)
    assert text.count("\n") * 9 > KEPT
    assert "@near" not in text
