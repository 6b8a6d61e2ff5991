"""Programs written as JavaScript: their numbers are the interpreter's."""

import json
import math
import shutil
import struct
import subprocess
from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn import Chain
from armdyn.errors import ExportError
from armdyn.program.fma import place_fma
from armdyn.program.interpreter import evaluate
from armdyn.program.javascript import PART, Function, literal, string
from armdyn.program.program import Instruction, Op, Program
from armdyn.program.tape import record
from armdyn.quantities import find
from armdyn.quantities.tasks import Task, program

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="needs Node.js")
EPS = 2.0**-52
BITS = """\
const view = new DataView(new ArrayBuffer(8));
const bits = (x) => { view.setFloat64(0, x); return view.getBigUint64(0).toString(16); };
const number = (h) => { view.setBigUint64(0, BigInt("0x" + h)); return view.getFloat64(0); };
"""


def node(text):
    """What Node.js prints when it runs a text, as JSON."""
    command = [NODE, "--input-type=module", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def bits(x):
    return struct.pack(">d", x).hex()


def called(function, states):
    """The numbers that a function gives in some states, all results one after the other."""
    names = function.program.inputs
    given = [[[bits(x) for x in state[name]] for name in names] for state in states]
    lines = [
        BITS,
        function.definition,
        f"const states = {json.dumps(given)}.map((state) => state.map((x) => x.map(number)));",
        f"const found = states.map((x) => [{function.name}(...x)].flat());",
        "console.log(JSON.stringify(found.map((y) => y.flatMap((z) => Array.from(z, bits)))));",
    ]
    rows = node("\n".join(lines))
    return [[struct.unpack(">d", bytes.fromhex(x.zfill(16)))[0] for x in row] for row in rows]


def interpreted(whole, state):
    """The same numbers by the interpreter."""
    return evaluate(replace(whole, shapes=((len(whole.outputs),),)), state)


def function_of(chain, quantity, part=PART):
    task = Task(quantity).settled(chain)
    names = [result.name for result in find(quantity).results]
    return Function(program(chain, [task]), quantity, names, part)


def states_of(whole, count):
    rng = np.random.default_rng(1)
    return [
        {name: rng.uniform(-3, 3, size).tolist() for name, size in whole.inputs.items()}
        for _ in range(count)
    ]


# Numbers -----------------------------------------------------------------------------------------


@needs_node
@pytest.mark.parametrize("part", [PART, 7])
def test_every_operation_equals_the_interpreter_bit_for_bit(part):
    inputs = record(list, {"x": 4}).instructions
    constants = [2.0, -3.5, 0.1, -0.0, math.inf, -math.inf, math.nan, 5e-324, 1.7e308]
    code = [*inputs, *(Instruction(Op.CONSTANT, (), value) for value in constants)]
    for a in (0, 1, 4, 5, 7, 8):
        code += [Instruction(op, (a,)) for op in (Op.NEG, Op.SQRT)]
        for b in (1, 5, 6, 7, 9):
            code += [Instruction(op, (a, b)) for op in (Op.ADD, Op.SUB, Op.MUL, Op.DIV)]
            code.append(Instruction(Op.SELECT_LT, (a, b, 2, 3)))
    outputs = tuple(range(len(code)))
    everything = Program("f", {"x": 4}, tuple(code), outputs, ((len(code),),)).check()
    given = [[0.3, 2.0, -1.5, 7.0], [-0.0, 0.0, 1.0, 1e300], [math.nan, -1e-310, 2.0, -3.0]]
    found = called(Function(everything, "f", ["y"], part), [{"x": x} for x in given])
    for x, row in zip(given, found, strict=True):
        pairs = zip(row, interpreted(everything, {"x": x}), strict=True)
        assert all(bits(a) == bits(b) or (a != a and b != b) for a, b in pairs)


@needs_node
@pytest.mark.parametrize("name", armdyn.robots())
@pytest.mark.parametrize("quantity", ["mass_matrix", "bias", "forward_dynamics", "energy"])
def test_shipped_arms_have_the_interpreters_numbers(quantity, name):
    function = function_of(armdyn.load(name).chain, quantity)
    states = states_of(function.program, 20)
    for state, row in zip(states, called(function, states), strict=True):
        judge = np.array(interpreted(function.program, state))
        assert np.abs(np.array(row) - judge).max() <= 1e-13 * np.abs(judge).max()


@needs_node
def test_tables_of_large_arms_are_written_out():
    chain = Chain.random(30, seed=1)
    for task in (Task("mass_matrix", "hybrid"), Task("forward_dynamics", "ldl")):
        function = Function(program(chain, [task]), "f", ["y"])
        assert any(op in (Op.PRODUCTS, Op.SOLUTION) for op, _, _ in function.program.instructions)
        (state,) = states_of(function.program, 1)
        (row,) = called(function, [state])
        judge = np.array(interpreted(function.program, state))
        assert np.abs(np.array(row) - judge).max() <= 1e-11 * np.abs(judge).max()


@needs_node
def test_results_go_where_they_are_told():
    function = function_of(armdyn.load("puma560").chain, "energy")
    text = "const k = new Float64Array(1), [a, b] = energy([0,0,0,0,0,0], [1,0,0,0,0,0], k);"
    found = node(
        f"{function.definition}\n{text}\nconsole.log(JSON.stringify([a === k, k[0], b[0]]))"
    )
    kinetic, potential = armdyn.load("puma560").energy([0] * 6, [1, 0, 0, 0, 0, 0])
    assert found[0] is True
    assert found[1:] == pytest.approx([kinetic, potential], rel=1e-14)


# Text --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1, "0.1"), (-2.0, "(-2.0)"), (-0.0, "(-0.0)"), (math.inf, "Infinity"), (5e-324, "5e-324")],
)
def test_a_constant_is_written_in_the_fewest_digits_that_give_it_back(value, text):
    assert literal(value) == text
    assert literal(math.nan) == "NaN"


def test_parts_are_no_longer_than_asked():
    function = function_of(armdyn.load("puma560").chain, "mass_matrix", part=50)
    bodies = function.definition.split("\n\n")
    assert len(bodies) > 3
    for body in bodies[1:]:
        assert sum(" = " in line for line in body.splitlines()) <= 2 * 50


def test_a_fused_product_is_refused():
    whole = record(lambda x: [x[0] * x[1] + x[2]], {"x": 3})
    with pytest.raises(ExportError, match="JavaScript has no fma"):
        _ = Function(place_fma(whole), "f", ["y"]).definition


@pytest.mark.parametrize(
    "text", ["</script><script>alert(1)</script>", "*/ x", "a\nb", "\u2028", '"']
)
def test_a_text_cannot_leave_its_literal(text):
    written = string(text)
    assert written.isascii()
    assert "</" not in written and "*/" not in written and "\n" not in written
    assert json.loads(written) == text
