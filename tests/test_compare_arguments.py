"""What compare and the export take: names and robots for arms, sizes within reason."""

import numpy as np
import pytest

import armdyn
from armdyn import Chain, ExportError, MethodError, ModelError, Robot, comparison, export
from armdyn.comparison import Interrupted, limits
from tests.interpreting import LEAST

# The arm -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arm", ["two_link", armdyn.load("two_link"), armdyn.load("two_link").chain]
)
def test_compare_takes_a_name_a_robot_or_a_chain(arm, interpreted):
    found = armdyn.compare(arm, "gravity", "lin1991", **LEAST)
    assert found.robot == "two_link"
    assert [[row.method for row in ranking.rows] for ranking in found.rankings] == [["lin1991"]]


def test_compare_refuses_what_is_no_arm():
    with pytest.raises(MethodError, match="3 is no arm; expected a Robot, a Chain or a"):
        armdyn.compare(3)
    with pytest.raises(ModelError, match="two_lnk"):
        armdyn.compare("two_lnk")


def test_source_is_exported_of_a_robot_or_a_chain():
    robot = armdyn.load("two_link")
    assert export.c_files(robot, ["gravity"]) == export.c_files(robot.chain, "gravity")
    with pytest.raises(ExportError, match="'two_link' is no arm; expected a Robot or a Chain"):
        export.c_files("two_link", ["gravity"])


@pytest.mark.parametrize("numpy_name, c_name", [("float32", "float"), ("float64", "double")])
def test_source_is_exported_in_types_of_either_name(numpy_name, c_name):
    chain = Chain.random(2)
    by_numpy = export.c_files(chain, ["gravity"], dtype=numpy_name)
    assert by_numpy == export.c_files(chain, ["gravity"], dtype=c_name)
    assert f"const {c_name} " in by_numpy["generic_rr_0_dynamics.c"]


@pytest.mark.parametrize("dtype", ["flaot", "float16", np.float32, ["float"], None])
def test_source_in_unknown_types_is_refused(dtype):
    with pytest.raises(ExportError, match="no type of numbers .*known: double, float"):
        export.c_files(Chain.random(2), ["gravity"], dtype=dtype)


def test_languages_are_listed_with_who_writes_them():
    assert export.WRITERS["c"] is export.c_files


# Names -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ask",
    [
        lambda name: armdyn.compare("two_link", "bias", [name]),
        lambda name: armdyn.compare("two_link", "bias", ["lin1991", name]),
        lambda name: armdyn.count(Chain.random(2), "bias", name),
        lambda name: armdyn.load("two_link").bias([0, 0], [0, 0], method=name),
        lambda name: export.c_files(Chain.random(2), ["bias"], methods={"bias": name}),
    ],
    ids=["compare", "compare one of two", "count", "call", "c_files"],
)
def test_the_method_that_was_meant_is_named(ask):
    with pytest.raises(MethodError, match="newton-oiler.*did you mean 'newton-euler'?.*known: lin"):
        ask("newton-oiler")


def test_methods_have_the_names_that_others_use(interpreted):
    """rnea and aba are what most libraries call them."""
    robot = armdyn.load("two_link")
    q, qd, x = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    np.testing.assert_array_equal(
        robot.inverse_dynamics(q, qd, x, method="rnea"),
        robot.inverse_dynamics(q, qd, x, method="newton-euler"),
    )
    np.testing.assert_array_equal(
        robot.forward_dynamics(q, qd, x, method="aba"),
        robot.forward_dynamics(q, qd, x, method="articulated-body"),
    )
    assert armdyn.count(robot, "bias", "rnea") == armdyn.count(robot, "bias", "newton-euler")
    (ranking,) = armdyn.compare(robot, "bias", ["rnea"], **LEAST).rankings
    assert [row.method for row in ranking.rows] == ["newton-euler"]


@pytest.mark.parametrize("methods", [[3], [["lin1991"]]])
def test_methods_are_names(methods):
    with pytest.raises(MethodError, match="methods are names, not"):
        armdyn.compare("two_link", "bias", methods)


def test_at_least_one_quantity_is_compared():
    with pytest.raises(MethodError, match="no quantity to compare; known: mass_matrix"):
        armdyn.compare("two_link", [])


# Sizes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given, message",
    [
        ({"states": 99999999999999999999}, r"states is 9{20}, which takes 2.22e\+13 hours"),
        ({"states": 10**7}, "states is 10000000, which takes 2.22 hours; expected at most 4500000"),
        ({"states": 4 * 10**6}, "which takes 6.66 GB of memory; expected at most 2403846"),
        ({"states": 10**400}, "takes countless hours"),
        ({"states": 0}, "states is 0; expected 1 or more"),
        ({"states": 2.5}, "states is 2.5; expected 1 or more, a whole number"),
        ({"states": "many"}, "states is 'many'"),
        (
            {"batch": 10**15},
            r"batch is 10{15}, which takes 1.28e\+08 GB of memory; expected at",
        ),
        ({"batch": -1}, "batch is -1; expected 1 or more"),
        ({"batch": True}, "batch is True"),
        ({"seconds": 1e300}, r"seconds is 1e\+300, which each quantity takes twice; expected 0 to"),
        ({"seconds": float("nan")}, "seconds is nan"),
        ({"seconds": float("inf")}, "seconds is inf"),
        ({"seconds": -1}, "seconds is -1"),
        ({"seconds": "long"}, "seconds is 'long'"),
        ({"progress": 3}, "progress is 3; expected True, or a function"),
    ],
    ids=lambda given: "-".join(map(str, given)) if isinstance(given, dict) else "",
)
def test_what_would_take_for_ever_is_refused_before_anything_is_done(given, message, monkeypatch):
    monkeypatch.setattr(comparison, "_Bench", pytest.fail)
    with pytest.raises(MethodError, match=message):
        armdyn.compare("two_link", "christoffel", **given)


def test_the_limits_are_those_of_the_message():
    """At most means at most: so many pass, one more does not."""
    most = limits.MOST_BYTES // (8 * (4 * 2 + 2 * 2))
    limits.check_sizes(Chain.random(2), ["mass_matrix"], most, 1, limits.MOST_SECONDS)
    with pytest.raises(MethodError, match=f"expected at most {most}"):
        limits.check_sizes(Chain.random(2), ["mass_matrix"], most + 1, 1, 0)


# Progress, pictures, interruptions ---------------------------------------------------------------


@pytest.mark.parametrize("progress", [True, False, None])
def test_progress_may_be_a_bar_or_nothing(progress, interpreted, capsys):
    armdyn.compare("two_link", "gravity", "lin1991", **LEAST, progress=progress)
    assert capsys.readouterr().out == ""


def test_a_picture_without_a_path_is_a_figure_that_notebooks_show(interpreted, tmp_path):
    pytest.importorskip("matplotlib")
    found = armdyn.compare("two_link", "gravity", **LEAST)
    figure = found.plot()
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert len(figure.axes) == 2
    written = found.plot(tmp_path / "bars.svg")
    assert (tmp_path / "bars.svg").read_text().startswith("<?xml") and len(written.axes) == 2


def test_what_was_finished_survives_an_interruption(interpreted):
    def interrupt(what, done, total):
        if what.startswith("bias by"):
            raise KeyboardInterrupt

    robot = Robot(Chain.random(2))
    with pytest.raises(KeyboardInterrupt) as stopped:
        armdyn.compare(robot, ["gravity", "bias"], "newton-euler", **LEAST, progress=interrupt)
    assert isinstance(stopped.value, Interrupted)
    (ranking,) = stopped.value.partial.rankings
    assert ranking.quantity == "gravity" and ranking.rows[0].verdict == "right"
    assert "newton-euler" in str(stopped.value.partial)


def test_an_interruption_at_once_leaves_an_empty_comparison(interpreted):
    def interrupt(*step):
        raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        armdyn.compare("two_link", **LEAST, progress=interrupt)
    partial = stopped.value.partial
    assert partial.rankings == () and partial.to_csv() == "" and partial.to_dict()["robot"]
    assert "two_link" in repr(partial)
