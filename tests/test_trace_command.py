"""``armdyn trace``: a program step by step, with values, lines of the algorithm, what was saved."""

import json
import math

import numpy as np
import pytest

import armdyn
from armdyn.cli import main
from armdyn.counting.steps import trace
from armdyn.program.passes import cost, drop_unused
from armdyn.program.program import Op
from armdyn.quantities.tasks import Task, formula, program

ROBOT = armdyn.load("two_link")
Q = [0.3, 0.5]


def shown(capsys, *arguments):
    assert main(["trace", *arguments]) == 0
    return capsys.readouterr().out


def test_the_two_link_arm_as_textbooks_have_it(capsys):
    """M_01 = I + m l c cos q_2 with its values, and the lines that made it."""
    out = shown(capsys, "two_link", "mass_matrix", "--method=crba", "--q=0.3,0.5")
    assert "mass_matrix of two_link by crba" in out
    assert "crba.py:" in out and "R, d = arm.rotations(q), arm.extensions(q)" in out
    assert f"cos(%1) = {math.cos(0.5):.6g}" in out
    (line,) = [line for line in out.splitlines() if line.strip().startswith("M[0][1]")]
    assert float(line.split("=")[-1]) == pytest.approx(ROBOT.mass_matrix(Q)[0, 1], rel=1e-5)


@pytest.mark.parametrize("quantity, method", [("bias", "lin1991"), ("christoffel", "kic")])
def test_steps_are_the_program_and_its_values(quantity, method):
    """Recorded with lines or without, the same instructions; each value follows from the others."""
    chain = armdyn.Chain.random(3, "RPR")
    state = {"q": [0.3, 0.5, -1.0], "qd": [1.0, -0.5, 0.2]}
    taken = {name: state[name] for name in armdyn.quantities.find(quantity).arguments}
    found = trace(chain, Task(quantity, method), taken)
    plain = program(chain, [Task(quantity, method)])
    assert drop_unused(found.program) == plain
    assert len(found.steps) == len(plain.instructions)
    values = {step.place: step.value for step in found.steps}
    for step in found.steps:
        op, args, _ = step.instruction
        if op is Op.MUL:
            assert step.value == values[args[0]] * values[args[1]]
        if op is Op.SUB:
            assert step.value == values[args[0]] - values[args[1]]
    truth = formula(chain, float, Task(quantity, method))(*taken.values())
    results = [values[k] for k in found.program.outputs]
    np.testing.assert_allclose(results, np.ravel(truth), atol=1e-13)


def test_every_operation_comes_from_a_line_of_an_algorithm():
    found = trace(ROBOT.chain, Task("mass_matrix", "lin1991"), {"q": Q})
    for step in found.steps:
        if step.instruction.op in (Op.ADD, Op.SUB, Op.MUL, Op.COS, Op.SIN):
            assert step.source.file.endswith("lin1991.py")
            assert step.text


def test_what_was_saved_adds_up():
    """Each stage leaves fewer, the last as many as the program costs but for sines and cosines."""
    chain = armdyn.load("puma560").chain
    found = trace(chain, Task("mass_matrix", "crba"), {"q": [0.1] * 6})
    saved = found.saved
    assert saved.generic > saved.asked > saved.recorded > saved.program
    turns = sum(step.instruction.op in (Op.SIN, Op.COS) for step in found.steps)
    assert saved.program == cost(program(chain, [Task("mass_matrix", "crba")])) + turns


def test_a_large_program_is_shown_in_part(capsys):
    brief = shown(capsys, "stanford", "bias")
    assert "steps more; --all shows them" in brief and len(brief.splitlines()) < 150
    full = shown(capsys, "stanford", "bias", "--all")
    assert "--all" not in full and len(full.splitlines()) > len(brief.splitlines())


def test_a_large_arm_has_tables(capsys, tmp_path):
    path = tmp_path / "long.toml"
    path.write_text(armdyn.Chain.random(16).to_toml(), encoding="utf-8")
    out = shown(capsys, str(path), "mass_matrix", "--method=hybrid", "--all")
    assert "= products(" in out and "256 numbers" in out and "element 0 of %" in out


def test_json_has_every_step(capsys):
    out = shown(capsys, "two_link", "gravity", "--json", "--q=0.3,0.5")
    found = json.loads(out)
    assert found["method"] and found["arguments"] == {"q": Q}
    values = {step["place"]: step["value"] for step in found["steps"]}
    np.testing.assert_allclose([values[k] for k in found["outputs"]], ROBOT.gravity(Q))
    assert set(found["operations"]) == {"generic", "asked", "recorded", "program"}
    assert all(step["text"] for step in found["steps"] if step["operation"] == "mul")


def test_quantities_of_a_frame(capsys):
    out = shown(capsys, "panda", "jacobian", "--frame=panda_link3", "--q=0.1")
    assert "kinematics.py:" in out


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["two_link", "mass_matrix", "--method=crab"], "did you mean 'crba'"),
        (["two_link", "pose", "--method=crba"], "--method does nothing for pose"),
        (["two_link", "mass_matrix", "--qd=1"], "--qd does nothing for mass_matrix"),
        (["two_link", "mass_matrix", "--q=1,2,3"], "--q has 3 numbers"),
    ],
)
def test_what_cannot_be_traced_is_refused_in_a_line(capsys, arguments, message):
    assert main(["trace", *arguments]) == 2
    out, err = capsys.readouterr()
    assert not out and message in err and err.count("\n") == 1
