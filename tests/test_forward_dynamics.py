"""Forward dynamics: it undoes inverse dynamics, on arms of every kind, with and without rotors."""

import dataclasses
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from armdyn import Chain
from armdyn.algorithms import articulated_body, forward_dynamics, lagrange, newton_euler
from armdyn.algorithms.catalogue import CATALOGUE
from armdyn.chain import Link
from armdyn.counting import count
from armdyn.program.tape import record
from tests.arms import with_rotors
from tests.test_methods import ARMS, gravities, relative_error

ANY_ARM = [m for m in CATALOGUE["forward_dynamics"] if m.name != "ldl-shoulder"]
METHODS = pytest.mark.parametrize("method", ANY_ARM, ids=lambda method: method.name)


def torque(arm, q, qd, qdd):
    """Of a motion, rotors included."""
    tau = newton_euler.inverse_dynamics(arm, q, qd, qdd)
    return [t + rotor * a for t, rotor, a in zip(tau, arm.rotor_inertia, qdd, strict=True)]


def some_rotors(chain):
    """The same arm with a rotor in every other joint."""
    geared = with_rotors(chain).joints
    joints = (pair[i % 2] for i, pair in enumerate(zip(geared, chain.joints, strict=True)))
    return dataclasses.replace(chain, joints=tuple(joints))


@METHODS
def test_undoes_inverse_dynamics(method):
    """FD after ID is the identity, to 1e-11 relative, on every arm, mount and state."""
    rng = np.random.default_rng(3)
    for drawn in ARMS:
        for chain in (*gravities(drawn), with_rotors(drawn), some_rotors(drawn)):
            arm = chain.on(float)
            q, qd, qdd = rng.uniform(-3, 3, (3, chain.n)).tolist()
            found = method.function(arm, q, qd, torque(arm, q, qd, qdd))
            assert relative_error(found, qdd) < 1e-11, f"{method.name} on {chain.name}"


@METHODS
def test_exact_on_rational_arms(method):
    """In fractions, with right angles between the axes, the circle closes without any error."""
    rng = np.random.default_rng(4)
    for mix in ("R", "P", "RRRR", "PRRP", "RPRPR"):
        drawn = with_rotors(Chain.random(len(mix), mix, seed=1, structure="orthogonal"))
        arm = drawn.on(Fraction)
        draws = rng.integers(1, 9, (4, drawn.n))
        halves, q_p, qd, qdd = ([Fraction(int(x), 7) for x in row] for row in draws)
        q = [
            ((1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)) if kind == "R" else p
            for t, p, kind in zip(halves, q_p, mix, strict=True)
        ]
        assert method.function(arm, q, qd, torque(arm, q, qd, qdd)) == qdd


@METHODS
@pytest.mark.parametrize("rotor", [0.0, 0.3])
def test_pendulum(method, rotor):
    """One link: qdd = (tau - m g l sin q) / (m l^2 + I + rotor)."""
    m, length, moment, q, tau = 2.0, 0.7, 0.05, 0.4, 1.5
    pendulum = Chain.from_mdh(
        b=0,
        beta=90,
        d=0,
        theta=-90,
        joints="R",
        degrees=True,
        mass=m,
        com=[(length, 0, 0)],
        inertia=[(moment, moment, moment)],
        rotor_inertia=rotor,
    )
    expected = (tau - m * 9.81 * length * math.sin(q)) / (m * length**2 + moment + rotor)
    found = method.function(pendulum.on(float), [q], [3.0], [tau])
    assert found == pytest.approx([expected], rel=1e-14)


@METHODS
@pytest.mark.parametrize("mix", ["RRR", "PRR", "RPR", "PPR", "RRRRRR", "RPRPRP"])
def test_massless_inner_links(method, mix):
    """A link without mass is legal where mass lies outboard; all but the last two here."""
    drawn = Chain.random(len(mix), mix, seed=6)
    hollow = tuple(Link(link.name) for link in drawn.links[:-2]) + drawn.links[-2:]
    rng = np.random.default_rng(5)
    for chain in (
        dataclasses.replace(drawn, links=(drawn.links[0], Link("hollow"), *drawn.links[2:])),
        dataclasses.replace(with_rotors(drawn), links=hollow),
    ):
        arm = chain.on(float)
        q, qd, qdd = rng.uniform(-3, 3, (3, chain.n)).tolist()
        found = method.function(arm, q, qd, torque(arm, q, qd, qdd))
        assert relative_error(found, qdd) < 1e-11


@METHODS
def test_joint_that_moves_nothing_but_its_rotor(method):
    """A massless link between two joints on one axis: only the rotors make M regular."""
    drawn = Chain.random(4, seed=8)
    axis = dataclasses.replace(drawn.joints[2], b=0.0, beta=0.0)
    chain = dataclasses.replace(
        with_rotors(dataclasses.replace(drawn, joints=(*drawn.joints[:2], axis, drawn.joints[3]))),
        links=(drawn.links[0], Link("hollow"), *drawn.links[2:]),
    )
    arm, (q, qd, qdd) = chain.on(float), np.random.default_rng(6).uniform(-3, 3, (3, 4)).tolist()
    assert relative_error(method.function(arm, q, qd, torque(arm, q, qd, qdd)), qdd) < 1e-11


def test_ldl_from_any_methods():
    """``from_methods`` takes M and b from wherever they come."""
    chain = with_rotors(Chain.random(5, "RPRRP", seed=2))
    arm, rng = chain.on(float), np.random.default_rng(7)
    q, qd, tau = rng.uniform(-3, 3, (3, 5)).tolist()
    by_lagrange = forward_dynamics.from_methods(lagrange.mass_matrix, lagrange.bias)
    expected = articulated_body.forward_dynamics(arm, q, qd, tau)
    np.testing.assert_allclose(by_lagrange(arm, q, qd, tau), expected, rtol=1e-11)


def test_solve_on_the_hilbert_matrix():
    """The inverse's entries are integers; the sum of all of them is n^2."""
    n = 8
    hilbert = [[Fraction(1, i + j + 1) for j in range(n)] for i in range(n)]
    assert sum(forward_dynamics.solve(hilbert, [1] * n)) == n * n


def test_articulated_body_costs_the_same_for_every_further_joint():
    """O(n): literal counts of generic revolute arms grow by one and the same amount a joint."""
    costs = [
        dataclasses.astuple(count(Chain.random(n), "forward_dynamics", "articulated-body"))
        for n in range(3, 9)
    ]
    steps = np.diff(costs, axis=0)
    assert (steps == steps[0]).all()
    assert steps[0].any()


@pytest.mark.parametrize("n", range(1, 8))
def test_solve_costs(n):
    """A dense M: (n^3 - n)/6 products and sums to decompose it, the rest is of order n^2."""

    def solve(flat, y):
        return forward_dynamics.solve([flat[i * n : (i + 1) * n] for i in range(n)], y)

    program = record(solve, {"M": n * n, "y": n})
    ops = Counter(instruction.op.value for instruction in program.instructions)
    assert ops["mul"] == (n**3 - n) // 6 + 3 * (n * n - n) // 2 + n
    assert ops["add"] + ops["sub"] == (n**3 - n) // 6 + n * n - n
    assert ops["div"] == n
