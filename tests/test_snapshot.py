"""A snapshot says what arms cost, and a comparison of two says what rose."""

import json

import pytest

import armdyn
from benchmarks import snapshot

ARM = ["--arms", "two_link", "--rounds", "0"]


@pytest.fixture
def before(tmp_path, capsys):
    """A file with what the arm costs."""
    path = tmp_path / "before.json"
    assert snapshot.main([*ARM, "--save", str(path)]) == 0
    assert "two_link mass_matrix: " in capsys.readouterr().out
    return path


def change(path, quantity, **values):
    """Let a saved snapshot say something else of a quantity."""
    found = json.loads(path.read_text())
    (entry,) = (entry for entry in found["entries"] if entry["quantity"] == quantity)
    entry.update(values)
    path.write_text(json.dumps(found))


@pytest.mark.parametrize("arm", ["two_link", "scara", "puma560"])
@pytest.mark.parametrize("quantity", ["mass_matrix", "bias", "forward_dynamics"])
def test_an_entry_says_what_methods_and_count_say(quantity, arm):
    robot = armdyn.load(arm)
    entry = snapshot.count(robot, arm, quantity)
    (chosen,) = (row for row in robot.methods(quantity) if row.chosen)
    assert (entry.method, entry.cost) == (chosen.name, chosen.operations)
    assert entry.instructions > 0


def test_every_quantity_of_the_arm_has_an_entry(before):
    found = json.loads(before.read_text())["entries"]
    assert [entry["quantity"] for entry in found] == list(snapshot.QUANTITIES)


def test_the_same_tree_costs_the_same(before, capsys):
    assert snapshot.main([*ARM, "--against", str(before)]) == 0
    said = capsys.readouterr().out
    assert said == f"costs: {len(snapshot.QUANTITIES)} compared, 0 rose, 0 missing\n"


def test_a_cost_that_rose_is_named_and_fails(before, capsys):
    change(before, "bias", cost=1)
    assert snapshot.main([*ARM, "--against", str(before)]) == 1
    said = capsys.readouterr().out
    assert "two_link bias " in said and " cost 1 (" in said and "1 rose" in said


def test_a_cost_that_fell_or_another_method_is_named_and_passes(before, capsys):
    change(before, "bias", cost=10**6)
    change(before, "mass_matrix", method="lagrange")
    assert snapshot.main([*ARM, "--against", str(before)]) == 0
    said = capsys.readouterr().out
    assert "two_link bias" in said and "two_link mass_matrix lagrange" in said


def test_a_quantity_that_vanished_fails(before, capsys):
    assert snapshot.main([*ARM, "--quantities", "bias", "--against", str(before)]) == 1
    assert "two_link pose is missing" in capsys.readouterr().out


def test_times_are_compared_raw_and_against_the_fixed_loop(tmp_path, capsys):
    path = tmp_path / "before.json"
    few = ["--arms", "two_link", "--quantities", "gravity", "--rounds", "1"]
    assert snapshot.main([*few, "--save", str(path)]) == 0
    change(path, "gravity", call=1.0, call_turns=1e9)
    snapshot.main([*few, "--against", str(path)])
    said = capsys.readouterr().out
    for line in (
        "call in ns: ",
        "call in turns: ",
        "state in ns: ",
        "state in turns: ",
        "import: ",
    ):
        assert line in said
