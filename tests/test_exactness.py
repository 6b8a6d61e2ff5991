"""What a comparison measures: errors against fifty digits, operations, times in turns."""

import math
from decimal import Decimal, localcontext

import mpmath
import numpy as np
import pytest

import armdyn
from armdyn import Chain, Robot, quantities
from armdyn.comparison import exactness, stopwatch
from armdyn.counting import published
from armdyn.quantities.tasks import Task, formula
from tests.interpreting import LEAST


@pytest.mark.parametrize("quantity", quantities.SEVERAL)
def test_the_reference_has_fifty_digits(quantity):
    """Against mpmath, which finds its sines by other means."""
    chain = Chain.random(3, "RPR", seed=2)
    states = exactness.random_states(chain, 1)
    reference = exactness.Reference(chain, quantity, states)
    with mpmath.workdps(60):
        function = formula(chain, mpmath.mpf, Task(quantity, reference.method))
        names = quantities.QUANTITIES[quantity].arguments
        truth = function(*([mpmath.mpf(x) for x in states[name][0].tolist()] for name in names))
        flat = exactness.leaves(truth)
        with localcontext(prec=60):
            for found, true in zip(reference._truth[0], flat, strict=True):
                apart = abs(mpmath.mpf(str(Decimal(found))) - true)
                assert apart <= mpmath.mpf(10) ** -46 * max(1, abs(true))


def test_errors_are_relative_to_the_largest_number_of_the_joint():
    chain = Chain.random(2, "RR", seed=1)
    states = exactness.random_states(chain, 5)
    reference = exactness.Reference(chain, "bias", states)
    exact = np.array(reference._truth, dtype=float)
    assert reference.error(exact) < 1e-16
    off = exact.copy()
    off[3, 1] += 1e-3
    assert reference.error(off) == pytest.approx(1e-3 / np.abs(exact[:, 1]).max())


def test_random_states_lie_within_limits():
    robot = armdyn.load("panda")
    q = exactness.random_states(robot.chain, 200)["q"]
    lower, upper = robot.position_limits.T
    assert (q >= lower).all() and (q <= upper).all()
    assert (q.max(axis=0) - q.min(axis=0) > 0.9 * (upper - lower)).all()
    assert np.abs(exactness.random_states(Chain.random(3), 99)["q"]).max() <= math.pi


@pytest.mark.parametrize(
    "method, joints, printed",
    [
        ("lin1991", "RRRRRR", 524 + 380),  # Table I of lin1991, n = 6
        ("walker-orin", "RRRRRR", 640 + 538),
        ("renaud", "RRRRRRRR", 976 + 720),
        ("lin-fang-1-minimal", "RRRRRR", 407 + 301),  # Table VIII of lin1999, types 1 and 2
        ("lin-fang-1-minimal", "RRPRRR", 399 + 295),
        ("lin-fang-2-minimal", "RRPR", 165 + 131),
        ("lin1991", "RRPRRR", None),  # counted for revolute joints only
        ("lin-fang-1-minimal", "RRR", None),  # printed from n = 4 on
        ("lin-fang-1", "RRRRRR", None),  # its Table VI leaves out the composite bodies
        ("gdahj", "RRRRRR", None),  # its table leaves out the kinematics
        ("hybrid", "RRRRRR", None),  # ours
    ],
)
def test_published_operations_are_those_printed_for_whole_methods(method, joints, printed):
    line = published.find("mass_matrix", method, None, joints)
    assert (line and sum(polynomial(len(joints)) for polynomial in line.printed)) == printed


def test_what_is_printed_stands_apart_from_what_is_counted(interpreted):
    """A printed 1218 for Fijany and Bejczy in E_2 is by another rule than a counted 942 in E_n."""
    robot, names = Robot(Chain.random(6)), ["fijany-bejczy", "fijany-bejczy-2", "hybrid"]
    found = armdyn.compare(robot, ["mass_matrix"], names, **LEAST)
    rows = {row.method: row for row in found.rankings[0].rows}
    for name in names:
        assert rows[name].operations_generic == armdyn.count(robot, "mass_matrix", name).cost
    assert [rows[name].operations_printed for name in names] == [None, 1218, None]
    assert [rows[name].printed_by for name in names] == [None, "lin1991", None]


def test_the_stopwatch_gives_everyone_turns():
    turns = []
    calls = {name: stopwatch.Call(turns.append, [name]) for name in "ab"}
    times = stopwatch.least(calls, 0.02)
    assert set(times) == set("ab") and all(0 < time < math.inf for time in times.values())
    changes = sum(one != next for one, next in zip(turns, turns[1:], strict=False))
    assert changes >= 3  # a and b to find out how long they take, then at least once more
    assert stopwatch.least({}, 0) == {}
