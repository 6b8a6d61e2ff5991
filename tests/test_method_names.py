"""Methods that the field knows by other names: rnea is newton-euler, aba is articulated-body."""

import json

import numpy as np
import pytest

import armdyn
from armdyn import MethodError
from armdyn.algorithms.catalogue import ALIASES, CATALOGUE
from armdyn.cli import main
from armdyn.quantities import QUANTITIES
from tests.interpreting import LEAST

NAMES = [
    (quantity, alias, name)
    for quantity, methods in CATALOGUE.items()
    for alias, name in ALIASES.items()
    if name in {method.name for method in methods}
]


def test_no_method_has_the_name_of_another():
    taken = {method.name for methods in CATALOGUE.values() for method in methods}
    assert set(ALIASES.values()) <= taken and taken.isdisjoint(ALIASES)


@pytest.mark.parametrize("quantity, alias, name", NAMES)
def test_robot_and_count_take_either_name(quantity, alias, name):
    robot = armdyn.load("two_link")
    state = np.random.default_rng(0).normal(size=(len(QUANTITIES[quantity].arguments), robot.n))
    compute = getattr(robot, quantity)
    np.testing.assert_array_equal(compute(*state, method=alias), compute(*state, method=name))
    np.testing.assert_array_equal(
        compute(*state, method=alias.upper()), compute(*state, method=name)
    )
    for kind in ("literal", "program"):
        counts = [armdyn.count(robot, quantity, either, kind) for either in (alias, name)]
        assert counts[0] == counts[1]


def test_rnea_and_aba_are_known_where_they_are_looked_for():
    found = {(quantity, alias) for quantity, alias, _ in NAMES}
    torques = ("inverse_dynamics", "bias", "gravity", "mass_matrix", "coriolis_matrix")
    assert found >= {(quantity, "rnea") for quantity in torques}
    assert ("forward_dynamics", "aba") in found
    with pytest.raises(MethodError, match="no method 'aba'"):
        armdyn.load("two_link").mass_matrix([0, 0], method="aba")


@pytest.mark.parametrize(
    "name, known",
    [
        ("Formulation 3", "lin-fang-3"),
        ("Kawasaki", "lin-fang-5"),
        ("Renaud", "renaud"),
        ("GDAHJ", "gdahj"),
    ],
)
def test_methods_are_known_by_the_names_in_the_papers_texts(name, known, interpreted):
    robot = armdyn.load("two_link")
    found = armdyn.compare(robot, ["mass_matrix"], [name], **LEAST)
    assert [row.method for row in found.rankings[0].rows] == [known]
    literal = armdyn.count(robot, "mass_matrix", name)
    assert literal == armdyn.count(robot, "mass_matrix", known)
    pair = "mass_matrix", "bias"
    assert armdyn.count(robot, pair, "LIN1991") == armdyn.count(robot, pair, "lin1991")
    with pytest.raises(MethodError, match="no method 'formulation 6'"):
        armdyn.count(robot, "mass_matrix", "formulation 6")


@pytest.mark.parametrize("method", [3, ["crba"], {"crba": 1}, ("crba",)])
def test_what_is_no_name_is_no_method(method):
    robot = armdyn.load("two_link")
    with pytest.raises(MethodError, match="method and frame are names"):
        robot.mass_matrix([0, 0], method=method)
    with pytest.raises(MethodError, match="method is .*; expected a name"):
        armdyn.count(robot, "mass_matrix", method)


def test_comparison_and_export_take_either_name(capsys, tmp_path, interpreted):
    robot = armdyn.load("two_link")
    found = armdyn.compare(robot, ["bias"], ["rnea"], **LEAST)
    assert [row.method for row in found.rankings[0].rows] == ["newton-euler"]
    options = ["--batch=2", "--states=2", "--seconds=0", "--json"]
    assert main(["compare", "two_link", "--methods=rnea,crba", *options]) == 0
    tables = json.loads(capsys.readouterr().out)["quantities"]
    names = [sorted(row["method"] for row in table["methods"]) for table in tables]
    assert names == [["crba", "newton-euler"], ["newton-euler"]]
    texts = []
    for either in ("rnea", "newton-euler"):
        where = tmp_path / either
        options = ["--quantity=mass_matrix", f"--method={either}", "-o", str(where)]
        assert main(["export", "two_link", *options]) == 0
        texts.append({path.name: path.read_text() for path in where.iterdir()})
    assert texts[0] == texts[1] and "Method: newton-euler." in texts[0]["two_link_dynamics.h"]
