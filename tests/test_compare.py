"""The comparison of all methods on an arm: what it measures, flags and says."""

import json
import math
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import armdyn
from armdyn import Chain, Robot
from armdyn.algorithms import catalogue
from armdyn.cli import main
from armdyn.comparison import exactness
from armdyn.comparison.ranking import Measured, ranked
from armdyn.quantities.tasks import cheapest
from tests.interpreting import LEAST


@pytest.fixture
def fresh(monkeypatch, interpreted):
    """An arm that no cache knows, and the catalogue to be changed for it."""
    monkeypatch.setattr(catalogue, "CATALOGUE", dict(catalogue.CATALOGUE))
    name = f"fresh {np.random.default_rng().integers(2**60)}"
    return Robot(replace(Chain.random(3, "RPR", seed=8), name=name))


def sabotage(quantity, name, change):
    """The catalogue's method, with its result changed."""

    def tampered(method):
        if method.name != name:
            return method
        return replace(method, function=lambda *given: change(method.function(*given)))

    catalogue.CATALOGUE[quantity] = tuple(map(tampered, catalogue.CATALOGUE[quantity]))


# JSON --------------------------------------------------------------------------------------------

NUMBER = (int, float)
WHOLE = {
    "robot": str,
    "joints": str,
    "batch_states": int,
    "error_states": int,
    "error_digits": int,
    "back_end": str,
    "cpu": str,
    "quantities": list,
}
QUANTITY = {"quantity": str, "chosen": str, "reason": str, "remarks": list, "methods": list}
QUANTITY |= {"runner_up": (str, type(None))}
METHOD = {
    "method": str,
    "paper": str,
    "where": str,
    "exact": bool,
    "chosen": bool,
    "operations_generic": int,
    "operations_printed": (int, type(None)),
    "printed_by": (str, type(None)),
    "operations": int,
    "call_ns": NUMBER,
    "batch_ns_per_state": NUMBER,
    "error_relative": NUMBER,
    "error_eps": NUMBER,
    "verdict": str,
    "depth": int,
    "code_bytes": (int, type(None)),  # None where nothing is compiled
}


def conforms(found, schema):
    assert set(found) == set(schema)
    for key, kind in schema.items():
        assert isinstance(found[key], kind), key
        assert kind is bool or not isinstance(found[key], bool), key


def validated(text):
    """The comparison that was printed as JSON, if all in it is as it must be."""
    found = json.loads(text, parse_constant=pytest.fail)  # neither NaN nor Infinity
    conforms(found, WHOLE)
    assert set(found["joints"]) <= {"R", "P"} and found["error_digits"] == 50
    for table in found["quantities"]:
        conforms(table, QUANTITY)
        for row in table["methods"]:
            conforms(row, METHOD)
            assert row["verdict"] in {"right", "wrong", "approximate", "not run"}
            assert row["call_ns"] > 0 and row["batch_ns_per_state"] > 0
        operations = [row["operations"] for row in table["methods"]]
        assert operations == sorted(operations)
        assert [row["method"] for row in table["methods"] if row["chosen"]] == [table["chosen"]]
    return found


def unshipped():
    """An arm of the package example-robot-data that does not ship with armdyn."""
    try:
        files = metadata.files("example-robot-data") or []
    except metadata.PackageNotFoundError:
        files = []
    found = [str(file.locate()) for file in files if file.name == "z1.urdf"]
    skip = pytest.mark.skip("example-robot-data is not installed")
    return found or [pytest.param("z1.urdf", marks=skip)]


COMPARED = ["two_link", "stanford", "puma560", "panda", *unshipped()]  # of each kind, one


@pytest.mark.parametrize("arm", COMPARED, ids=lambda arm: Path(arm).stem)
def test_every_arm_compares_and_every_exact_method_is_right(arm, capsys, interpreted):
    assert main(["compare", arm, "--json", "--batch=1", "--states=1", "--seconds=0"]) == 0
    found = validated(capsys.readouterr().out)
    robot = armdyn.load(arm)
    assert found["robot"] == robot.name
    assert [table["quantity"] for table in found["quantities"]] == ["mass_matrix", "bias"]
    for table in found["quantities"]:
        costs = {row["method"]: row["operations"] for row in table["methods"]}
        assert costs == {row.name: row.operations for row in robot.methods(table["quantity"])}
        assert table["chosen"] == cheapest(robot.chain, table["quantity"])
        for row in table["methods"]:
            assert row["verdict"] == ("right" if row["exact"] else "approximate")
            assert not row["exact"] or row["error_relative"] < 1e-11


def test_compiled_methods_compare_on_other_quantities_too(capsys):
    arguments = ["--batch=2", "--states=3", "--seconds=0"]
    names = "mass_matrix,gravity,forward_dynamics,coriolis_matrix"
    assert main(["compare", "two_link", "--json", "--quantity", names, *arguments]) == 0
    found = validated(capsys.readouterr().out)
    assert found["back_end"] == "llvm"
    for table in found["quantities"]:
        for row in table["methods"]:
            assert not row["exact"] or row["error_relative"] < 1e-14


# What is wrong is flagged ------------------------------------------------------------------------


def test_a_wrong_method_is_flagged(fresh, capsys, monkeypatch):
    def doubled(b):
        return [*b[:-1], 2 * b[-1]]

    sabotage("bias", "lin1991", doubled)
    monkeypatch.setattr(armdyn, "load", lambda *source, **how: fresh)
    options = ["--quantity=bias,mass_matrix", "--batch=2", "--states=3", "--seconds=0"]
    assert main(["compare", "any", "--methods=lin1991,newton-euler,crba", *options]) == 2
    out, err = capsys.readouterr()
    (line,) = (line for line in out.splitlines() if "wrong: " in line)
    assert line.split()[0] == "lin1991"
    error = float(line.split()[-1])
    assert 0.1 < error <= 1.0  # of the last joint's torque, which was doubled, its largest
    assert f"lin1991 is WRONG on this arm: an error of {error:.1e}" in " ".join(out.split())
    assert err == f"armdyn: wrong on {fresh.name!r}: bias by lin1991\n"


def test_an_error_in_few_states_is_not_averaged_away(fresh):
    """By (q_0 / pi)^512 a method is off where the first joint has almost turned round, only."""
    method = catalogue.find("mass_matrix", "crba")

    def tampered(arm, q):
        off = q[0] / math.pi
        for _ in range(9):
            off = off * off
        return [[x + off * x for x in row] for row in method.function(arm, q)]

    true = catalogue.find("mass_matrix", "newton-euler")
    catalogue.CATALOGUE["mass_matrix"] = (true, replace(method, function=tampered))
    found = armdyn.compare(fresh, ["mass_matrix"], **LEAST | {"states": 40})
    turns = np.abs(exactness.random_states(fresh.chain, 40)["q"][:, 0]) / math.pi
    assert (turns**512 > 1e-10).sum() == 2  # of 40
    (row,) = found.rankings[0].wrong
    assert row.method == "crba" and 0.1 < row.error / turns.max() ** 512 <= 1


def test_a_wrong_method_that_robot_chooses_is_said_to_be_wrong(fresh, capsys):
    name = cheapest(Robot(Chain.random(3, "RPR", seed=8)).chain, "mass_matrix")
    sabotage("mass_matrix", name, lambda M: [*M[:-1], [*M[-1][:-1], M[-1][-1] * 1.000001]])
    found = armdyn.compare(fresh, ["mass_matrix"], **LEAST)
    (ranking,) = found.rankings
    (row,) = ranking.wrong
    assert row.method == name == ranking.chosen and row.chosen
    right = next(row.method for row in ranking.rows if row.verdict == "right")
    assert f"but its result is WRONG; the cheapest right one is {right}." in ranking.reason
    assert "1 WRONG" in repr(found) and "wrong: " in str(found) and "WRONG" in found._repr_html_()


def test_what_is_not_finite_is_wrong(fresh):
    sabotage("bias", "newton-euler-minimal", lambda b: [b[0] * math.inf, *b[1:]])
    found = armdyn.compare(fresh, ["bias"], ["newton-euler-minimal"], **LEAST)
    (row,) = found.rankings[0].rows
    assert row.verdict == "wrong" and row.error == math.inf
    (record,) = found.to_dict()["quantities"][0]["methods"]
    assert record["error_relative"] is None
    json.dumps(found.to_dict(), allow_nan=False)


def test_a_wrong_reference_is_suspected(fresh):
    sabotage("bias", "newton-euler", lambda b: [-x for x in b])
    found = armdyn.compare(fresh, ["bias"], ["lin1991", "kic", "newton-euler"], **LEAST)
    assert {row.method for row in found.rankings[0].wrong} == {"lin1991", "kic"}
    assert any("it may be the one that is wrong" in text for text in found.rankings[0].remarks)


def test_an_approximation_shows_its_error_and_is_never_chosen(fresh):
    found = armdyn.compare(fresh, ["bias"], **LEAST)
    (row,) = (row for row in found.rankings[0].rows if row.method == "zomaya-morris")
    assert row.verdict == "approximate" and row.error > 1e-3 and not row.chosen
    assert f"approximate: {row.error:.1e}" in str(found)
    assert any("zomaya-morris is an approximation" in text for text in found.rankings[0].remarks)


def nearly_parallel(tilt):
    """An arm whose first axes are tilted against each other by so much [rad]."""
    body = (
        '<inertial><origin xyz="0.1 0.02 0.05"/><mass value="2"/>'
        '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.025"/></inertial>'
    )
    turns = ("0 0 0", f"{tilt} 0 0", "1.2 0.3 0")
    parts = "".join(
        f'<link name="l{i}">{body}</link><joint name="j{i}" type="continuous"><parent link='
        f'"{f"l{i - 1}" if i else "base"}"/><child link="l{i}"/><axis xyz="0 0 1"/>'
        f'<origin xyz="0.3 0.1 0.2" rpy="{turn}"/></joint>'
        for i, turn in enumerate(turns)
    )
    return armdyn.load(f'<robot name="tilted"><link name="base"/>{parts}</robot>')


def test_what_remote_frames_cost_is_shown_but_not_called_wrong(interpreted):
    found = armdyn.compare(nearly_parallel(1e-5), ["mass_matrix"], **LEAST | {"states": 10})
    (ranking,) = found.rankings
    errors = {row.method: row.error for row in ranking.rows}
    assert not ranking.wrong
    assert errors["newton-euler"] < 1e-13 < 1e-10 < errors["lin-fang-1-minimal"]
    assert any("loses digits on this arm" in remark for remark in ranking.remarks)


# What is said ------------------------------------------------------------------------------------


def row(method, operations, call=100.0, batch=10.0, error=1e-16, chosen=False):
    return Measured(method, "paper", "", True, chosen, 1, operations, call, batch, error, "right")


def said(*rows, chosen="a", cost=10):
    judge = SimpleNamespace(method="newton-euler", tolerance=1e-10)
    ranking = ranked("bias", list(rows), chosen, cost, judge, {})
    return ranking.reason, " ".join(ranking.remarks)


def test_the_choice_is_explained():
    ours, other = row("a", 10, chosen=True), row("b", 12)
    assert "a: with 10 the fewest operations" in said(ours, other)[0]
    assert "b comes next with 12, 20% more." in said(ours, other)[0]
    assert "as few as b, and named first" in said(ours, replace(other, operations=10))[0]
    assert "b would take 9" in said(ours, replace(other, operations=9))[0]
    assert "no other exact method" in said(ours)[0]
    assert "a, 10 operations on this arm, which is not among these" in said(other)[0]


def test_the_choice_says_what_it_is_like_beside_the_next():
    ours = replace(row("a", 10, chosen=True), depth=4, code_bytes=300)
    other = replace(row("b", 12), depth=5, code_bytes=280)
    assert said(ours, other)[0].endswith(
        "Its longest chain of operations is 4, that of b 5; "
        "its code takes 300 bytes, that of b 280."
    )
    assert said(ours, replace(other, code_bytes=None))[0].endswith("that of b 5.")


def test_depth_and_code_of_compiled_methods():
    """More operations take more code; a chain is no longer than all operations."""
    found = armdyn.compare("two_link", "gravity", batch=2, states=2, seconds=0)
    for each in found.rankings[0].rows:
        assert each.code_bytes is None or each.code_bytes > 4 * each.operations
        assert 0 < each.depth <= each.operations
    assert found.rankings[0].runner_up is found.rankings[0].rows[1]


def test_the_stopwatch_may_disagree():
    ours = row("a", 10, chosen=True)
    assert said(ours, row("b", 12, 96.0, 9.6))[1].startswith("The stopwatch agrees")
    found = said(ours, row("b", 12, 80.0, 9.6), row("c", 20, 90.0, 5.0))[1]
    assert found == (
        "The stopwatch disagrees with the count: a call takes 20% less time by b than by a; "
        "a state in a batch takes 50% less time by c than by a."
    )
    quick_but_wrong = replace(row("b", 12, 1.0, 1.0), verdict="wrong", error=0.1)
    assert "stopwatch disagrees" not in said(ours, row("c", 20), quick_but_wrong)[1]


def test_what_does_not_apply_or_takes_too_long_is_said(fresh, monkeypatch):
    able = catalogue.find("mass_matrix", "crba")
    unable = replace(able, name="unable", refuses=lambda arm: "it slides")
    endless = replace(able, name="endless")
    counted = catalogue.COSTS["mass_matrix"] | {"endless": (1, (0, 0, 0, 0, 9999))}
    monkeypatch.setattr(catalogue, "COSTS", catalogue.COSTS | {"mass_matrix": counted})
    true = catalogue.find("mass_matrix", "newton-euler")
    catalogue.CATALOGUE["mass_matrix"] = (true, able, unable, endless)
    found = armdyn.compare(fresh, ["mass_matrix"], **LEAST)
    (ranking,) = found.rankings
    assert "unable does not apply to this arm: it slides." in ranking.remarks
    assert any("unless asked for by name: endless" in remark for remark in ranking.remarks)
    last = ranking.rows[-1]
    assert (last.method, last.verdict, last.call_ns) == ("endless", "not run", None)
    assert "not run" in str(found)


@pytest.mark.parametrize(
    "options, message",
    [
        (["--quantity=pose"], "no methods to compare for quantity 'pose'; known: mass_matrix"),
        (["--quantity=mass_matrix+bias"], "no methods to compare"),
        (["--methods=zzz"], "mass_matrix has no such method: zzz; known: lin1991"),
        (["--methods="], "mass_matrix has no such method: none"),
        (["--batch=0"], "batch is 0; expected 1 or more"),
        (["--states=-1"], "states is -1"),
        (["--plot=bars.docx"], "its suffix must be one of"),
        (["--plot=nowhere/bars.png"], "there is no directory 'nowhere'"),
    ],
)
def test_what_cannot_be_compared_is_refused_at_once(options, message, capsys):
    assert main(["compare", "two_link", *options]) == 2
    out, err = capsys.readouterr()
    assert out == "" and message in err and err.count("\n") == 1


def test_methods_of_any_quantity_may_be_named(interpreted):
    """A name need not be known to all quantities, but to each one name at least."""
    robot = armdyn.load("two_link")
    found = armdyn.compare(robot, ["mass_matrix", "bias"], ["crba", "lin1991"], **LEAST)
    names = [{row.method for row in ranking.rows} for ranking in found.rankings]
    assert names == [{"crba", "lin1991"}, {"lin1991"}]
