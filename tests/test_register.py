"""Methods that users bring: listed, counted, compared and judged like ours; chosen if right."""

import logging
import math

import numpy as np
import pytest

import armdyn
from armdyn import Chain, MethodError, Robot, TraceError
from armdyn.algorithms import lin1991, newton_euler
from armdyn.export import c_files
from armdyn.quantities import choice
from armdyn.quantities.tasks import Task, cheapest, formula
from armdyn.quantities.users import register
from tests.interpreting import LEAST

CHAIN = Chain.random(3, "RPR", seed=11)


def proves_right(name):
    """Whether a registered method of gravity gives what the reference gives."""
    return choice.proves_right(
        CHAIN, "gravity", name, lambda method: formula(CHAIN, float, Task("gravity", method))
    )


def by_falling(arm, q):
    """g(q) as the torque of an arm at rest."""
    rest = [0] * arm.n
    return newton_euler.inverse_dynamics(arm, q, rest, rest)


def free(arm, q):
    """Wrong, and cheaper than anything right."""
    return [q[0]] * arm.n


def test_a_registered_method_joins_methods_count_and_calls(own_catalogue):
    armdyn.register("gravity", "by-falling", by_falling, paper="folklore")
    robot = Robot(CHAIN)
    (row,) = (row for row in robot.methods("gravity") if row.name == "by-falling")
    assert (row.paper, row.exact) == ("folklore", True)
    assert row.operations == armdyn.count(robot, "gravity", "by-falling", "program").cost
    literal = armdyn.count(robot, "gravity", "newton-euler")
    assert armdyn.count(robot, "gravity", "by-falling") == literal  # the same recursion at rest
    q = np.random.default_rng(0).uniform(-2, 2, (4, 3))
    found = robot.gravity(q, method="by-falling")
    np.testing.assert_allclose(found, robot.gravity(q), rtol=0, atol=1e-12)


def test_a_registered_method_is_compared_and_a_wrong_one_is_called_wrong(
    own_catalogue, interpreted
):
    register("gravity", "by-falling", by_falling)
    register("gravity", "free", free)
    (ranking,) = armdyn.compare(CHAIN, "gravity", **LEAST).rankings
    verdicts = {row.method: row.verdict for row in ranking.rows}
    assert verdicts["by-falling"] == "right" and verdicts["free"] == "wrong"
    assert [row.method for row in ranking.wrong] == ["free"]
    assert ranking.chosen not in ("free", "by-falling")
    assert any("free is WRONG" in remark for remark in ranking.remarks)


@pytest.mark.parametrize("arm", ["two_link", "panda"])
def test_a_wrong_method_is_never_chosen_however_cheap(arm, own_catalogue, caplog):
    chain = armdyn.load(arm).chain
    before = cheapest(chain, "gravity"), Robot(chain).gravity(np.ones(chain.n))
    register("gravity", "free", free)
    with caplog.at_level(logging.WARNING, "armdyn"):
        assert cheapest(chain, "gravity") == before[0]
    (record,) = caplog.records
    assert f"gravity of '{arm}' is not computed by free: it is off what" in record.getMessage()
    np.testing.assert_array_equal(Robot(chain).gravity(np.ones(chain.n)), before[1])
    (row,) = (row for row in Robot(chain).methods("gravity") if row.name == "free")
    assert row.operations == 0 and not row.chosen


def test_an_error_in_one_small_joint_is_seen(own_catalogue):
    """Of the last, whose torque is the smallest, a hundred-millionth."""

    def slightly(arm, q):
        tau = by_falling(arm, q)
        return [*tau[:-1], tau[-1] * (1 + 1e-8)]

    register("gravity", "slightly", slightly)
    assert not proves_right("slightly")
    register("gravity", "by-falling", by_falling)
    assert proves_right("by-falling")


def test_a_right_method_that_is_cheaper_is_chosen(own_catalogue):
    """Of two methods that are both right the registered one takes fewer operations."""
    kept = "newton-euler"
    own_catalogue["gravity"] = tuple(m for m in own_catalogue["gravity"] if m.name == kept)
    cheapest.cache_clear()
    assert cheapest(CHAIN, "gravity") == kept
    register("gravity", "mine", lin1991.gravity)
    assert cheapest(CHAIN, "gravity") == "mine"
    costs = {row.name: row.operations for row in Robot(CHAIN).methods("gravity")}
    assert costs["mine"] < costs[kept]


def test_forward_dynamics_takes_a_registered_mass_matrix_only_if_it_is_right(own_catalogue):
    """ldl is made of what is chosen."""
    state = np.random.default_rng(1).uniform(-1, 1, (3, 3))
    expected = Robot(CHAIN).forward_dynamics(*state)
    register("mass_matrix", "identity", lambda arm, q: np.eye(arm.n, dtype=int).tolist())
    register("mass_matrix", "ldl", lambda arm, q: np.eye(arm.n, dtype=int).tolist())
    found = Robot(CHAIN).forward_dynamics(*state, method="ldl")
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize(
    "function, error, message",
    [
        (lambda arm, q: [q[99]], IndexError, "out of range"),
        (lambda arm, q: [math.sin(x) for x in q], TraceError, "asked a traced number"),
        (lambda arm, q: [x if x > 0 else 0 for x in q], TraceError, "branch"),
        (lambda arm, q: q[:-1], TraceError, r"gravity by broken gives the shapes \(\(2,\),\)"),
        (lambda arm, q: [q], TraceError, r"expected \(\(3,\),\)"),
    ],
    ids=["raises", "floats only", "branches", "too short", "too deep"],
)
def test_a_broken_method_is_passed_over_but_says_so_when_asked_for(
    function, error, message, own_catalogue, caplog
):
    expected = Robot(CHAIN).gravity([0.1, 0.2, 0.3])
    register("gravity", "broken", function)
    with caplog.at_level(logging.WARNING, "armdyn"):
        np.testing.assert_array_equal(Robot(CHAIN).gravity([0.1, 0.2, 0.3]), expected)
    assert any("is not computed by broken" in record.getMessage() for record in caplog.records)
    with pytest.raises(error, match=message):
        Robot(CHAIN).gravity([0.1, 0.2, 0.3], method="broken")


def test_a_broken_method_leaves_the_others_listed_and_compared(own_catalogue, interpreted):
    names = [row.name for row in Robot(CHAIN).methods("gravity")]
    register("gravity", "broken", lambda arm, q: [q[99]])
    assert [row.name for row in Robot(CHAIN).methods("gravity")] == names
    (ranking,) = armdyn.compare(CHAIN, "gravity", **LEAST).rankings
    assert sorted(row.method for row in ranking.rows) == sorted(names)
    reason = "broken does not apply to this arm: it fails with IndexError: list index out of range."
    assert reason in ranking.remarks


def test_what_is_not_finite_is_not_right(own_catalogue):
    register("gravity", "nan", lambda arm, q: [math.nan] * arm.n)
    assert not proves_right("nan")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("mass", "mine", free), "no quantity 'mass'; .*known: mass_matrix"),
        ((["gravity"], "mine", free), r"no quantity \['gravity'\]"),
        (("pose", "mine", free), "pose has one method only; a method can be registered for mass"),
        (("gravity", "lin1991", free), "gravity has a method 'lin1991' already"),
        (("gravity", "rnea", free), "gravity has a method 'rnea' already"),
        (("gravity", "Lin1991", free), "gravity has a method 'Lin1991' already"),
        (("gravity", "", free), "'' cannot be a method's name; expected letters"),
        (("gravity", "*/ system();", free), "cannot be a method's name"),
        (("gravity", "a,b", free), "cannot be a method's name"),
        (("gravity", 3, free), "3 cannot be a method's name"),
        (("gravity", "mine", 3), r"function is 3; expected a function of \(arm, q\)"),
        (("bias", "mine", free), r"missing a required argument|too many positional.*\(arm, q, qd"),
        (("gravity", "mine", free, 3), "paper is 3; expected a text"),
    ],
)
def test_what_cannot_be_registered_is_refused(arguments, message, own_catalogue):
    before = dict(own_catalogue)
    with pytest.raises(MethodError, match=message):
        register(*arguments)
    assert own_catalogue == before


def test_a_name_is_taken_once(own_catalogue):
    register("gravity", "mine", free)
    with pytest.raises(MethodError, match="gravity has a method 'mine' already"):
        register("gravity", "mine", by_falling)
    register("bias", "mine", newton_euler.bias)


def test_two_functions_of_one_name_share_no_compiled_code(own_catalogue):
    """As in two processes, one after the other, with the same cache on the disk."""
    q = np.array([0.1, 0.2, 0.3])
    shipped = own_catalogue["gravity"]
    found = []
    for factor in (1, 2, 1):
        own_catalogue["gravity"] = shipped
        register("gravity", "mine", lambda arm, q, f=factor: [f * x for x in by_falling(arm, q)])
        found.append(Robot(CHAIN).gravity(q, method="mine"))
    np.testing.assert_allclose(found[1], 2 * found[0], rtol=1e-14)
    np.testing.assert_array_equal(found[2], found[0])


def test_a_choice_made_with_other_methods_is_not_read_from_the_disk(own_catalogue):
    """Nor is the choice of a registered method left there for those who do not have it."""
    chain = Chain.random(3, "RRP", seed=12)
    q = np.array([0.1, 0.2, 0.3])
    plain = Robot(chain).gravity(q)
    shipped = own_catalogue["gravity"]
    own_catalogue["gravity"] = tuple(m for m in shipped if m.name == "newton-euler")
    register("gravity", "mine", lin1991.gravity)
    assert cheapest(chain, "gravity") == "mine"
    np.testing.assert_allclose(Robot(chain).gravity(q), plain, rtol=1e-12)
    own_catalogue["gravity"] = shipped
    cheapest.cache_clear()
    again = Robot(chain)
    np.testing.assert_array_equal(again.gravity(q), plain)
    assert "mine" not in [row.name for row in again.methods("gravity")]


def test_a_registered_method_is_exported_by_its_name(own_catalogue):
    register("gravity", "by-falling", by_falling)
    files = c_files(CHAIN, "gravity", methods={"gravity": "by-falling"})
    (header,) = (text for name, text in files.items() if name.endswith(".h"))
    assert "Method: by-falling." in header


def test_register_is_public():
    assert "register" in dir(armdyn) and armdyn.register is register
