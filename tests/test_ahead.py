"""What kernels ask of the caches: rows to come, their own code, and nothing that is not there."""

import ctypes
import re

import numpy as np
import pytest

import armdyn
from armdyn.engine import Compilation, jit
from armdyn.program import drivers
from armdyn.program.ahead import APART, INNERMOST, LINE, PASSING
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


def asks(program, arrays, lanes, kind="batch"):
    """Runs a kernel that calls us where it would ask: a list of addresses a block, and of its code.

    The code is where ``part0`` begins and where that of the loop around it ends.
    """
    blocks, code = [], []

    def asked(address):
        blocks[-1].append(address)

    def told(begin, end):
        blocks.append([])
        code[:] = begin, end

    text = getattr(drivers, kind)(program, "float64", lanes)
    begin = "define internal void @near(ptr %here) noinline {\n"
    assert text.count(begin) == 1
    text = text.replace(begin, begin + "  call void @told(ptr @part0, ptr @behind)\n")
    run(ASK.sub(r"call void @asked(ptr \1)", text), kind, program, arrays, asked, told)
    return blocks, code


def run(text, kind, program, arrays, asked, told=lambda begin, end: None):
    """Calls a kernel whose text may call these."""
    called = {
        "asked": ctypes.CFUNCTYPE(None, ctypes.c_void_p)(asked),
        "told": ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(told),
    }
    symbols = {
        name: ctypes.cast(function, ctypes.c_void_p).value for name, function in called.items()
    }
    loaded = jit.LoadedCode(jit.machine_code(text + TOLD, kind), kind, symbols)
    count = len(arrays[0])
    results = [np.zeros((count, *shape)) for shape in program.shapes]
    tables = [
        (ctypes.c_void_p * len(each))(*(x.ctypes.data for x in each)) for each in (arrays, results)
    ]
    CALLS["batch"](loaded.address)(*tables, count)


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
    first, last = arrays[-1].ctypes.data, arrays[-1].ctypes.data + arrays[-1].nbytes
    assert all(first <= x < last for x in others)
    for start in (0, 97):
        lines = set().union(*found[start : start + turn])
        assert sorted(lines) == list(range(begin, end - LINE + 1, LINE))


@pytest.mark.parametrize("lanes", LANES)
def test_rows_to_come_are_asked_for_a_block_before(lanes):
    """Lines of which some number is used, and none behind the last block."""
    program = place_fma(record(lambda p: [p[0] * p[1], p[39] + p[0]], {"p": 40}))
    memory = np.zeros(40 * (5 * lanes + 1) + 8)
    skipped = -memory.ctypes.data % LINE // 8
    rows = memory[skipped : skipped + 40 * (5 * lanes + 1)].reshape(-1, 40)
    blocks, _ = asks(program, [rows], lanes)
    base = rows.ctypes.data
    for i, block in enumerate(blocks[:5]):
        states = range((i + 1) * lanes, (i + 2) * lanes) if i < 4 else range(4 * lanes, 5 * lanes)
        needed = {(320 * state + 8 * k) // LINE for state in states for k in (0, 1, 39)}
        inside = {(x - base) // LINE for x in block if base <= x < base + rows.nbytes}
        assert inside == needed
    assert len(blocks) == 6  # and the state left over, in a block of its own
    assert not any(base <= x < base + rows.nbytes for x in blocks[5])


def test_two_wide_arguments_are_both_asked_for():
    lanes = LANES[-1]
    program = place_fma(record(lambda p, r: [p[0] * r[0]], {"p": 40, "r": 50}))
    arrays = [np.ones((3 * lanes, 40)), np.ones((3 * lanes, 50))]
    blocks, _ = asks(program, arrays, lanes)
    for x in arrays:
        for block, after in zip(blocks, (1, 2, 2), strict=True):
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


@pytest.mark.parametrize("lanes", LANES)
def test_wide_rows_pass_on_two_stacks_in_turn(lanes):
    """From one to the other whenever a cache's share of rows has passed; what is left, on one."""
    states = 4 * PASSING // 320 // lanes * lanes + 1
    program = place_fma(record(lambda p: [p[0] * p[39]], {"p": 40}))
    rows, stacks = np.ones((states, 40)), []
    text = drivers.batch(program, "float64", lanes)
    begin = re.search(r"define internal void @part0\(.*\nentry:\n", text).group()
    place = "  %place = alloca i8\n  call void @asked(ptr %place)\n"
    run(text.replace(begin, begin + place), "batch", program, [rows], stacks.append)
    passed = [(rows.ctypes.data + 320 * i) // PASSING for i in range(0, states - 1, lanes)]
    assert len(stacks) == len(passed) + 1
    assert max(stacks) - min(stacks) == APART
    assert stacks[:-1] == [max(stacks) - APART * (turn % 2) for turn in passed]
    assert stacks[-1] in (min(stacks), max(stacks))


def test_a_program_of_nothing_asks_for_nothing():
    assert "@near" not in drivers.batch(record(lambda: [], {}), "float64", 8)


def test_code_that_outgrows_the_innermost_cache_is_left_alone():
    chain = armdyn.load("xarm7").chain
    program = Compilation(chain, [Task("forward_dynamics_derivatives")]).program
    text = drivers.batch(program, "float64", 8)
    assert text.count("\n") * 9 > INNERMOST
    assert "@near" not in text
