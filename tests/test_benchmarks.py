"""The benchmarks run and judge rightly; how fast anything is, no test says."""

import json
import math
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.quantities import SEVERAL, reference
from benchmarks import accuracy, methods
from benchmarks.accuracy import Terms
from benchmarks.arms import ARMS, arm, states, urdf
from benchmarks.figures import Figure, Results, exponent, figures
from benchmarks.growth import Growth
from benchmarks.speed import Plan, Row, batch, together
from benchmarks.timing import Call, interleaved

ROOT = Path(__file__).parent.parent


def test_a_quick_run_measures_pinocchio_and_writes_what_it_found(tmp_path):
    pytest.importorskip("pinocchio")
    options = "--quick --arms two_link --peers pinocchio --only single".split()
    command = [sys.executable, "-m", "benchmarks", *options, "--output", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "results.json").read_text())
    assert {row["library"] for row in found["speed"]} >= {"armdyn", "pinocchio"}
    assert all(0 < row["least"] <= row["median"] for row in found["speed"])
    assert all(row["difference"] < 1e-12 for row in found["agreement"])
    assert len({row["quantity"] for row in found["agreement"]}) == 4
    assert "two_link: single call, 1 core" in (tmp_path / "results.md").read_text()


def test_batches_are_measured_beside_float32_and_a_single_call(tmp_path):
    pytest.importorskip("pinocchio")
    rows = batch(Plan(("two_link",), ("pinocchio",), tmp_path, rounds=1, batches=(64,)))
    seen = {(row.library, row.dtype, row.states) for row in rows}
    assert seen == {
        ("armdyn", "float64", 64),
        ("armdyn", "float32", 64),
        ("pinocchio", "float64", 64),
        ("pinocchio", "float64", 1),
    }


@pytest.mark.parametrize("name", ARMS)
def test_the_urdf_that_peers_get_is_the_same_arm(name):
    chain = arm(name)
    ours, theirs = armdyn.Robot(chain), armdyn.load(urdf(chain))
    assert not any(joint.rotor_inertia for joint in chain.joints)
    state = states(chain, 5)
    for quantity, arguments in (("mass_matrix", ["q"]), ("bias", ["q", "qd"])):
        numbers = [state[argument] for argument in arguments]
        expected = getattr(ours, quantity)(*numbers)
        np.testing.assert_allclose(
            getattr(theirs, quantity)(*numbers), expected, atol=1e-12 * np.abs(expected).max()
        )


def test_terms_are_summed_by_absolute_value():
    a, b = Terms(3.0), Terms(-2.0)
    difference = (a + b) * (a - b) - 4
    assert difference.value == 1.0  # 9 - 4 - 4
    assert difference.size == 29.0  # (3 + 2)(3 + 2) + 4
    assert (a / b).value == -1.5
    assert (a / b).size == 1.5


def test_the_truth_of_accuracy_is_the_method_that_judges_the_others(monkeypatch):
    asked = []
    plain = accuracy.formula

    def formula(chain, number, task):
        asked.append((number, task))
        return plain(chain, number, task)

    monkeypatch.setattr(accuracy, "formula", formula)
    found = accuracy.accuracy(("two_link",), 1, ("float64",))
    assert all(row.error < 50 for row in found)
    chain = armdyn.load("two_link").chain
    truths = {task.quantity: task.method for number, task in asked if number is not Terms}
    judged = {name for name, method in truths.items() if method} - {"mass_matrix", "bias"}
    unjudged = {"mass_matrix", "bias", "forward_dynamics", *accuracy.SOLVED}
    assert judged == {*SEVERAL} - unjudged
    assert all(truths[name] == reference(chain, name) for name in judged)


def test_methods_are_timed_rolled_and_unrolled_with_kinematics_and_without(tmp_path, capsys):
    where = tmp_path / "rows.json"
    asked = ["--methods", "crba,gdahj,hybrid", "--sizes", "3,9", "--rounds", "1"]
    methods.main([*asked, "--json", str(where)])  # which compares all with each other
    rows = [methods.Row(**row) for row in json.loads(where.read_text())["rows"]]
    forms = {(row.method, row.n, row.rolled, row.kinematics) for row in rows}
    assert len(forms) == len(rows) == 2 * 2 * 5  # the table of two of three can be rolled
    assert not any(row.rolled for row in rows if row.method == "crba")
    assert all(row.seconds > 0 for row in rows)
    size = {(row.method, row.n, row.rolled, row.kinematics): row.instructions for row in rows}
    for (method, n, rolled, kinematics), instructions in size.items():
        if kinematics:
            assert instructions > size[method, n, rolled, False]
    assert "gdahj, unrolled/rolled" in capsys.readouterr().out


def test_calls_take_turns_with_what_they_were_given():
    seen = []
    calls = {
        "one": Call(lambda a, b: seen.append((a, b)), [1, 2]),
        "other": Call(lambda a, out: seen.append((a, out)), [3], {"out": 4}),
    }
    times = interleaved(calls, rounds=3, slice_s=1e-5)
    assert set(times) == {"one", "other"}
    assert set(seen) == {(1, 2), (3, 4)}
    turns = sum(before != after for before, after in pairwise(seen))
    assert turns >= 5  # three rounds of two


def test_a_figure_is_reached_or_short_or_not_measured():
    assert Figure("single", "", 6.0, 6.0, at_least=True).verdict == "pass"
    assert Figure("single", "", 5.9, 6.0, at_least=True).verdict == "short"
    assert Figure("accuracy", "", 50.1, 50.0).verdict == "short"
    assert Figure("accuracy", "", math.nan, 50.0).verdict == "short"
    assert Figure("accuracy", "", None, 50.0).verdict == "not measured"
    assert {figure.verdict for figure in figures(Results())} == {"not measured"}


def test_figures_are_ratios_of_rows_of_one_run():
    def row(library, form, size, count, least, cores=1):
        return Row("panda", "bias", library, form, "float64", size, count, cores, least, 2 * least)

    rows = [
        row("pinocchio", "new array", 1, 1, 7e-6),
        row("armdyn", "new array", 1, 1, 1e-6),
        row("pinocchio", "new array", 4096, 1, 9e-6),
        row("armdyn", "in place", 4096, 4096, 9e-6, cores=2),
        row("armdyn", "in place", 4096, 4096, 0.1e-6),
        row("armdyn", "in place", 100_000, 100_000, 0.2e-6),
    ]
    found = {figure.what: figure for figure in figures(Results(speed=rows, vector_bytes=64))}
    assert found["panda: bias against pinocchio"].value == pytest.approx(7)
    assert found["bias, 4096 states, against a pinocchio call"].value == pytest.approx(90)
    assert found["bias, 100000 states, speed kept from 4096"].verdict == "short"
    assert found["bias against casadi"].verdict == "not measured"


def test_growth_is_judged_by_steps_and_by_the_slope_of_compile_time():
    def grown(n, compile, call):
        return Growth("bias", n, 1000 * n, 0.1, compile, call)

    linear = [grown(n, 0.01 * n, 1e-6 * n) for n in (2, 4, 8, 16)]
    square = [grown(n, 0.01 * n * n, 1e-6 * n) for n in (2, 4, 8, 16)]
    assert exponent(linear) == pytest.approx(1)
    assert exponent(square) == pytest.approx(2)
    step = [*linear, grown(32, 0.32, 4e-6 * 32)]
    found = {figure.what: figure for figure in figures(Results(growth=step))}
    worst = found["largest step of the time an instruction (bias at 32 joints)"]
    assert worst.value == pytest.approx(4)
    assert worst.verdict == "short"


def test_passes_are_put_together_row_by_row():
    def row(quantity, least, median):
        return Row("panda", quantity, "armdyn", "in place", "float64", 1, 1, 1, least, median)

    passes = [row("bias", 2.0, 5.0), row("gravity", 1.0, 1.5), row("bias", 3.0, 4.0)]
    found = together([*passes, row("bias", 4.0, 9.0)])
    assert found == [row("bias", 2.0, 5.0), row("gravity", 1.0, 1.5)]
