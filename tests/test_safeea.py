"""GDAHJ, CRBA and the hybrid of both: Table I of [safeea2018], its composites, its error.

That the methods are right for every mix of joints is tested in test_methods.py.
"""

import dataclasses

import mpmath
import numpy as np
import pytest

from armdyn import Chain, Robot
from armdyn.algorithms import crba, frame_injection, gdahj, hybrid, kinematics, newton_euler
from armdyn.algorithms.catalogue import find
from armdyn.chain.inertia import Inertia
from armdyn.chain.pose import Pose
from armdyn.counting import count, growth
from armdyn.counting.polynomial import Polynomial
from armdyn.spatial import ZERO, Vector

SIZES = range(2, 9)


def full(J):
    return np.array([list(row) for row in J.rows()])


def cross_matrix(v):
    return np.cross(np.eye(3), -np.asarray(v))


# Frame injection ---------------------------------------------------------------------------------

STEP = mpmath.mpf(10) ** -15  # of central differences in sixty digits


def injected(chain, q, qd, qdd):
    """What each link gets of all frames: its acceleration and its inertial moment."""
    arm = chain.on(mpmath.mpf)
    placed = kinematics.frames(arm, q)[1:]
    moving = zip(arm.revolute, placed, qd, qdd, strict=True)
    frames = [frame_injection.frame(turns, E.z, E.o, v, a) for turns, E, v, a in moving]
    for i, E in enumerate(placed):
        tensor = arm.inertia_about_com[i].turned(E.rows)
        link = frame_injection.Link(arm.mass[i], E.o + E.out(arm.com[i]), tensor)
        yield tuple(
            frame_injection.added(part(frames[: i + 1], link))
            for part in (frame_injection.accelerations, frame_injection.moments)
        )


def momentum(chain, q, qd):
    """Of each link the position of its centre, and its angular momentum about that."""
    arm = chain.on(mpmath.mpf)
    omega = ZERO
    for i, E in enumerate(kinematics.frames(arm, q)[1:]):
        omega = omega + qd[i] * E.z if arm.revolute[i] else omega
        tensor = arm.inertia_about_com[i].turned(E.rows)
        yield E.o + E.out(arm.com[i]), tensor @ omega


@pytest.mark.parametrize("mix", ["RRRR", "RPRR", "PRPR"])
def test_frames_inject_the_acceleration_and_the_moment_of_each_link(mix):
    """Eqs. (4) to (17) against derivatives in time: of position, twice; of momentum, once."""
    chain = Chain.random(len(mix), mix, seed=6)
    q, qd, qdd = np.random.default_rng(2).uniform(-2, 2, (3, chain.n))

    def at(t):
        state = zip(map(mpmath.mpf, q), qd, qdd, strict=True)
        pairs = [(x + v * t + a * t * t / 2, v + a * t) for x, v, a in state]
        return list(momentum(chain, [x for x, _ in pairs], [v for _, v in pairs]))

    with mpmath.workdps(60):
        before, now, after = at(-STEP), at(mpmath.mpf(0)), at(STEP)
        found = injected(chain, *(list(map(mpmath.mpf, row)) for row in (q, qd, qdd)))
        for i, (acceleration, moment) in enumerate(found):
            outer = after[i][0] + before[i][0] - now[i][0] - now[i][0]
            spin = after[i][1] - before[i][1]
            for ours, truth in zip(acceleration, outer, strict=True):
                assert abs(ours - truth / STEP**2) < 1e-12
            for ours, truth in zip(moment, spin, strict=True):
                assert abs(ours - truth / (2 * STEP)) < 1e-12


# Operation counts -------------------------------------------------------------------------------


def test_gdahj_takes_what_table_1_says():
    """(3n^2+88n-3) m + (2.5n^2+95.5n-18) a, direct kinematics excluded."""
    found = growth("mass_matrix", "gdahj", stage="dynamics", sizes=SIZES)
    assert (str(found["mul"]), str(found["add"])) == ("3n^2+88n-3", "2.5n^2+95.5n-18")


def test_gdahj_in_one_sum_takes_less():
    found = growth("mass_matrix", "gdahj-one-sum", stage="dynamics", sizes=SIZES)
    assert (str(found["mul"]), str(found["add"])) == ("3n^2+88n-12", "2.5n^2+89.5n-33")


def test_crba_takes_the_multiplications_of_table_1():
    """(10n^2+22n-32) m; its 6n^2+37n-43 additions are 4n-4 more than are needed."""
    found = growth("mass_matrix", "crba", sizes=SIZES)
    assert (str(found["mul"]), str(found["add"])) == ("10n^2+22n-32", "6n^2+33n-39")
    assert str(found["double"]) == "2n-2"


def test_using_the_zero_of_each_column_saves_crba_three_operations_a_column():
    """Folded; what the constants of the first and the last link save does not grow with n."""
    literal = growth("mass_matrix", "crba", sizes=range(3, 9))
    folded = growth("mass_matrix", "crba", "folded", sizes=range(3, 9))
    for op in ("mul", "add"):
        assert (literal[op] - folded[op]).coefficients[1:] == (3,)


@pytest.mark.parametrize(
    "method, mul, add",
    [
        pytest.param("hybrid", "3n^2+62n-32", "2.5n^2+59.5n-39", id="hybrid"),
        pytest.param("hybrid-minimal", "3n^2+62n-36", "2.5n^2+54.5n-46", id="hybrid-minimal"),
    ],
)
def test_hybrid_is_cheaper_than_either(method, mul, add):
    """Kinematics excluded, as for GDAHJ; it pays off from 7 joints on, GDAHJ from 13."""
    found = growth("mass_matrix", method, stage="dynamics", sizes=SIZES)
    assert (str(found["mul"]), str(found["add"]), str(found["double"])) == (mul, add, "2n-2")


def cost(method, n, stage=None):
    return count(Chain.random(n), "mass_matrix", method, stage=stage).cost


def crossover(method, stage):
    """The smallest n for which it takes fewer operations than CRBA takes by Table I."""
    published = Polynomial.parse("10n^2+22n-32") + Polynomial.parse("6n^2+37n-43")
    return next(n for n in range(2, 30) if cost(method, n, stage) < published(n))


def test_crossover_with_crba():
    """13 joints as printed; with the kinematics paid for, 17."""
    assert crossover("gdahj", "dynamics") == 13
    assert crossover("gdahj", None) == 17
    assert crossover("hybrid", "dynamics") == 7
    assert crossover("hybrid", None) == 11


# What the recursions sum ------------------------------------------------------------------------


@pytest.mark.parametrize("mix", ["RRRR", "PRPR"])
@pytest.mark.parametrize("sums", [gdahj.Apart, gdahj.AsOne])
def test_gdahj_composites_are_the_sums_they_stand_for(mix, sums):
    """sig, s, b and D by their definitions, from the links' poses."""
    chain = Chain.random(4, mix, seed=8)
    arm, q = chain.on(float), [0.3, -1.2, 2.0, 0.7]
    R, p = gdahj.kinematics(arm, q)
    turn = [np.array([list(row) for row in rows]) for rows in R]
    origin = np.array([list(v) for v in p])
    mass = [link.inertia.mass for link in chain.links]
    c = [p + R @ link.inertia.com for p, R, link in zip(origin, turn, chain.links, strict=False)]
    tensors = [R @ link.inertia.about_com @ R.T for R, link in zip(turn, chain.links, strict=True)]
    for i, (sig, s, b, D) in enumerate(gdahj.composites(arm, R, p, ZERO, sums())):
        outer = range(i, 4)
        assert sig == pytest.approx(sum(mass[i:]))
        np.testing.assert_allclose(list(s), sum(mass[k] * c[k] for k in outer))
        np.testing.assert_allclose(list(b), sum(mass[k] * (c[k] - origin[i]) for k in outer))
        products = (mass[k] * cross_matrix(c[k] - origin[i]) @ cross_matrix(c[k]) for k in outer)
        truth = sum(tensors[i:]) - sum(products)
        np.testing.assert_allclose([list(row) for row in D], truth, atol=1e-13)


@pytest.mark.parametrize("mix", ["RRRR", "PRPR"])
def test_crba_composites_are_the_links_seen_from_inner_frames(mix):
    chain = Chain.random(4, mix, seed=8)
    q = [0.3, -1.2, 2.0, 0.7]
    body = Inertia()
    for i in reversed(range(4)):
        body = chain.links[i].inertia + body
        M, h, J = crba.composites(chain.on(float), q)[i]
        assert M == pytest.approx(body.mass)
        np.testing.assert_allclose(list(h), body.first_moment, atol=1e-14)
        np.testing.assert_allclose(full(J), body.matrix, atol=1e-14)
        joint = chain.joints[i]
        turn, slide = (q[i], 0.0) if joint.kind == "R" else (0.0, q[i])
        pose = Pose.mdh(joint.b, joint.beta, joint.theta + turn, joint.d + slide)
        body = body.seen_from(pose)


@pytest.mark.parametrize(
    "moments",
    [
        pytest.param((0.0, 0.0, 0.0), id="point"),
        pytest.param((1.0, 1.0, 1.0), id="ball"),
        pytest.param((0.0, 2.0, 2.0), id="rod"),
        pytest.param((1.0, 1.0, 2.0), id="disc"),
        pytest.param((1.0, 2.0, 2.5), id="brick"),
    ],
)
def test_any_inertia_is_a_sum_of_dyads(moments):
    """Point, ball, rod, disc, brick: R (lam 1 + u u^T + v v^T) R^T is the tensor turned by R."""
    rng = np.random.default_rng(6)
    axes, R = (np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(2))
    tensor = axes @ np.diag(moments) @ axes.T
    link = {"mass": [1], "com": [[1, 0.5, 0]], "inertia": [tensor]}
    dyads = Chain.from_mdh(b=[0], beta=[0], d=[0], theta=[0], **link).on(float).inertia_dyads[0]
    turned = dyads.turned(tuple(Vector(*row) for row in R))
    np.testing.assert_allclose(full(turned), R @ tensor @ R.T, atol=1e-14)


# Arms at the edge, and large ones ---------------------------------------------------------------

BY_CENTRES = (
    "kic",
    "kic-augmented",
    "gdahj",
    "gdahj-one-sum",
    "momentum",
    "lin1991",
    "walker-orin",
)
WITHOUT_MASS = pytest.mark.parametrize(
    "links",
    [[0], [1, 2], [4], [3, 4], [0, 1, 2, 3, 4]],
    ids=lambda links: f"no mass in {links}",
)


def without_mass(chain, links):
    rows = chain.parameters_in("pinocchio")
    rows[links] = 0.0
    return dataclasses.replace(chain, check="warn").with_parameters(rows)


@pytest.mark.parametrize("mix", ["RRRRR", "RPRRP"])
@WITHOUT_MASS
@pytest.mark.parametrize("method", [*BY_CENTRES, "crba", "hybrid"])
def test_links_without_mass(method, mix, links):
    """Inner ones, and outer ones that leave a composite body without mass: 0 / 0 if unguarded."""
    chain = without_mass(Chain.random(5, mix, seed=1), links)
    q = np.random.default_rng(3).uniform(-3, 3, 5).tolist()
    M = np.array(newton_euler.mass_matrix(chain.on(float), q), float)
    found = find("mass_matrix", method).function(chain.on(float), q)
    np.testing.assert_allclose(np.array(found, float), M, atol=1e-13)


@pytest.mark.parametrize("mix", ["RRRRR", "RPRRP"])
@WITHOUT_MASS
@pytest.mark.parametrize("method", ["kic", "kic-augmented", "lin1991"])
def test_bias_of_links_without_mass(method, mix, links):
    chain = without_mass(Chain.random(5, mix, seed=1), links)
    q, qd = np.random.default_rng(3).uniform(-3, 3, (2, 5)).tolist()
    b = np.array(newton_euler.bias(chain.on(float), q, qd), float)
    found = find("bias", method).function(chain.on(float), q, qd)
    np.testing.assert_allclose(np.array(found, float), b, atol=1e-11)


@pytest.mark.parametrize("method", BY_CENTRES)
def test_massless_outer_links_compile_to_numbers(method):
    """In the compiled program, and in numbers whose 0 / 0 is NaN and no error."""
    chain = without_mass(Chain.random(5, "RRPRR", seed=1), [3, 4])
    q = np.random.default_rng(3).uniform(-3, 3, 5)
    M = np.array(newton_euler.mass_matrix(chain.on(float), q.tolist()), float)
    np.testing.assert_allclose(Robot(chain).mass_matrix(q, method=method), M, atol=1e-13)
    found = find("mass_matrix", method).function(chain.on(np.float64), list(q))
    np.testing.assert_allclose(np.array(found, float), M, atol=1e-13)


def test_a_flange_without_mass_is_legal_where_mass_lies_outboard():
    """The share of its mass in that of the links from it outward is zero; no warning, no check."""
    rows = Chain.random(4, seed=2).parameters_in("pinocchio")
    rows[2] = 0.0
    chain = Chain.random(4, seed=2).with_parameters(rows)
    assert chain.on(float).mass_share[2] == 0
    assert chain.on(float).mass_share[3] == 1


@pytest.mark.parametrize("n", [5, 25, 60])
def test_relative_error_of_the_experiment(n):
    """Eq. (32): the sum of all differences over the largest element."""
    rng = np.random.default_rng(n)
    chain, q = Chain.random(n, seed=n), rng.uniform(-np.pi, np.pi, n).tolist()
    A = np.array(crba.mass_matrix(chain.on(float), q), float)
    for method in (gdahj, hybrid):
        B = np.array(method.mass_matrix(chain.on(float), q), float)
        assert np.abs(A - B).sum() / np.abs((A + B) / 2).max() < 1e-15 * n**2
