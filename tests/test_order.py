"""The order in which kernels meet a program's instructions: nothing before what it needs."""

import pytest

import armdyn
from armdyn.engine import Compilation
from armdyn.program.llvm import units
from armdyn.program.order import (
    fewest_waiting,
    longest_chain_first,
    reciprocals_first,
    sines_first,
    terms_soon,
)
from armdyn.program.program import TRIG, Op
from armdyn.program.tape import record
from armdyn.quantities.tasks import Task
from armdyn.spatial import sincos

ORDERS = [None, longest_chain_first, fewest_waiting, reciprocals_first, terms_soon]


def programs():
    panda = armdyn.load("panda").chain
    yield Compilation(panda, [Task("forward_dynamics")]).program
    yield Compilation(panda, [Task("bias", given=("parameters",))]).program

    def nested(q):  # sines of sines, and arithmetic that neither needs
        s, c = sincos(q[0] * q[1])
        deeper, _ = sincos(s + q[2])
        return [deeper * (q[1] - 3.0), c + q[2] * q[2], q[0] * q[2]]

    yield record(nested, {"q": 3})
    yield record(lambda q: [q[0] * q[1], -q[0]], {"q": 2})  # no sine at all


@pytest.mark.parametrize("arrange", ORDERS)
@pytest.mark.parametrize("late", [False, True])
def test_every_instruction_comes_once_and_behind_what_it_needs(arrange, late):
    for program in programs():
        found = units(program, arrange)
        if late:
            found = sines_first(program, found)
        order = [k for unit in found for k in unit]
        once = set(order)
        assert len(order) == len(once)
        left_out = {ins.op for k, ins in enumerate(program.instructions) if k not in once}
        assert left_out <= {Op.INPUT, Op.CONSTANT, Op.PART}
        place = {k: i for i, unit in enumerate(found) for k in unit}
        for k in order:
            assert all(place.get(arg, -1) < place[k] for arg in program.instructions[k].args)


def test_what_no_sine_needs_waits_for_its_first_use():
    program = Compilation(
        armdyn.load("stanford").chain, [Task("bias", given=("parameters",))]
    ).program
    code = program.instructions
    plain = units(program)
    late = sines_first(program, plain)

    def before_sines(found):
        return next(i for i, unit in enumerate(found) if code[unit[0]].op in TRIG)

    assert before_sines(plain) > 20
    assert before_sines(late) == 0


def test_terms_soon_keeps_fewer_values_in_use():
    """Of the Panda's forward dynamics, whose registers are the scarcest of all."""
    program = Compilation(armdyn.load("panda").chain, [Task("forward_dynamics")]).program
    assert most_in_use(program, units(program, terms_soon)) < most_in_use(program, units(program))


@pytest.mark.parametrize("arm", ["panda", "ur5", "puma560", "stanford", "kinova", "xarm7"])
@pytest.mark.parametrize("quantity", ["bias", "inverse_dynamics", "forward_dynamics"])
def test_fewer_values_wait_than_with_long_chains_first(arm, quantity):
    program = Compilation(armdyn.load(arm).chain, [Task(quantity)]).program
    fewest = most_in_use(program, units(program, fewest_waiting))
    assert fewest < most_in_use(program, units(program, longest_chain_first))


def test_a_matrix_is_decomposed_before_there_are_forces():
    """Forward dynamics: what depends on qd or tau stands behind the last reciprocal."""
    program = Compilation(armdyn.load("panda").chain, [Task("forward_dynamics")]).program
    code, moving = program.instructions, set(range(7, 21))  # qd and tau
    for k, (_, args, _) in enumerate(code):
        if moving.intersection(args):
            moving.add(k)
    recorded = [k for unit in units(program) for k in unit if code[k].op not in TRIG]
    found = reciprocals_first(program, recorded)
    last = max(i for i, k in enumerate(found) if code[k].op is Op.DIV)
    assert not moving.intersection(found[:last])
    assert len(moving.intersection(recorded[:last])) > 100
    assert [k for k in found if k in moving] == [k for k in recorded if k in moving]


def most_in_use(program, found):
    """The most values that wait at once, arguments and constants aside."""
    place = {k: i for i, unit in enumerate(found) for k in unit}
    last = {}
    for k, i in place.items():
        for arg in program.instructions[k].args:
            last[arg] = max(last.get(arg, 0), i)
    ends = [0] * (len(found) + 1)
    for k, i in place.items():
        ends[i] += 1
        ends[last.get(k, len(found))] -= 1
    most = now = 0
    for change in ends:
        now += change
        most = max(most, now)
    return most
