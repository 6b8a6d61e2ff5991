"""The Lagrangian formulation of Zomaya and Morris (1988), and its approximation."""

import numpy as np
import pytest

from armdyn import Chain
from armdyn.algorithms import kinematics, lagrange, newton_euler, zomaya_morris
from armdyn.algorithms.catalogue import find
from armdyn.loaders import load
from armdyn.spatial import Vector
from tests.arms import with_rotors

MIXES = ("RRR", "PRR", "RPR", "RRP", "PPR", "RRPRRR", "PRPRRP")


@pytest.fixture(scope="module")
def stanford():
    """The Stanford arm of Paul 1981 and Bejczy 1974, actuator inertia included."""
    return load("stanford").chain


# The formulas ------------------------------------------------------------------------------------


def matrix(delta):
    """Eq. (7)."""
    return np.vstack([np.transpose([list(c) for c in delta.columns()]), np.zeros(4)])


def placements(arm, q):
    """H_l of each link, (4, 4)."""
    links = kinematics.frames(arm, q)[1:]
    return [np.vstack([np.transpose([list(c) for c in link]), [0, 0, 0, 1]]) for link in links]


@pytest.mark.parametrize("mix", MIXES)
def test_derivatives_of_the_transformations(mix):
    """By complex step: dH_l/dq_k = H_l Delta_k, and d2H_l/dq_j dq_k = H_l Delta_min Delta_max."""
    chain, h = Chain.random(len(mix), mix, seed=2), 1e-30
    q = np.random.default_rng(0).uniform(-3, 3, chain.n)
    arm, exact = chain.on(complex), chain.on(float)
    H = placements(exact, q.tolist())
    Delta = [[matrix(d) for d in row] for row in lagrange.differentials(exact, q.tolist())]
    for j in range(chain.n):
        moved = (q + 1j * h * np.eye(chain.n)[j]).tolist()
        Hs = placements(arm, moved)
        Deltas = lagrange.differentials(arm, moved)
        for end in range(j, chain.n):
            first = Hs[end].imag / h
            np.testing.assert_allclose(first, H[end] @ Delta[end][j], atol=1e-13)
            for k in range(end + 1):
                second = (Hs[end] @ matrix(Deltas[end][k])).imag / h
                product = Delta[end][min(j, k)] @ Delta[end][max(j, k)]
                np.testing.assert_allclose(second, H[end] @ product, atol=1e-13)


def printed_trace(delta_i, delta_j, delta_k, moments, mass, centre):
    """m_11 + m_22 + m_33 by Q1 to Q9 of eq. (17), with minus signs for Q5 and Q7."""
    (ix, iy, iz), (dix, diy, diz) = delta_i
    (jx, jy, jz), _ = delta_j
    (kx, ky, kz), (dkx, dky, dkz) = delta_k
    (Ixx, Iyy, Izz), m, (x, y, z) = moments, mass, centre
    sx, sy, sz = (-Ixx + Iyy + Izz) / 2, (Ixx - Iyy + Izz) / 2, (Ixx + Iyy - Izz) / 2
    Q1 = -iz * (jy * kx * sy + (dky * -jz + jy * dkz) * m * y)
    Q2 = iy * (jz * kx * sz + (-jz * dky + jy * dkz) * m * z)
    Q3 = ((-jz * kz - jy * ky) * x + jy * kx * y + jz * kx * z - jz * dky + jy * dkz) * m * dix
    Q4 = iz * (ky * jx * sx + (jz * dkx - jx * dkz) * m * x)
    Q5 = -ix * (jz * ky * sz + (jz * dkx - jx * dkz) * m * z)
    Q6 = (jx * ky * x + (-jz * kz - jx * kx) * y + jz * ky * z + jz * dkx - jx * dkz) * m * diy
    Q7 = -iy * (kz * jx * sx + (-jy * dkx + jx * dky) * m * x)
    Q8 = ix * (kz * jy * sy + (-jy * dkx + jx * dky) * m * y)
    Q9 = (jx * kz * x + jy * kz * y + (-jy * ky - jx * kx) * z - jy * dkx + jx * dky) * m * diz
    return Q1 + Q2 + Q3 + Q4 + Q5 + Q6 + Q7 + Q8 + Q9


def test_trace_is_the_printed_expansion(stanford):
    """Eq. (17), for links without products of inertia: the Stanford arm's have none."""
    arm, q = stanford.on(float), [0.3, -0.8, 0.4, 1.1, -0.6, 0.9]
    deltas = lagrange.differentials(arm, q)
    P = zomaya_morris.velocity_coefficients(arm, deltas)
    Q = np.zeros((6, 6, 6))
    for end, row in enumerate(deltas):
        xx, xy, xz, yy, yz, zz = arm.inertia[end]
        assert xy == xz == yz == 0
        body = (xx, yy, zz), arm.mass[end], tuple(arm.com[end])
        for i, j, k in np.ndindex(end + 1, end + 1, end + 1):
            Q[i, j, k] += printed_trace(row[i], row[j], row[k], *body)
    np.testing.assert_allclose(P, Q, atol=1e-14)


# The approximation -------------------------------------------------------------------------------


@pytest.mark.parametrize("mix", MIXES)
def test_approximation_is_exact_at_rest_and_for_one_moving_joint(mix):
    """What it neglects is the order of two different joints."""
    chain = Chain.random(len(mix), mix, seed=4)
    arm, q = chain.on(float), np.random.default_rng(1).uniform(-3, 3, chain.n).tolist()
    for qd in np.vstack([np.zeros(chain.n), 2 * np.eye(chain.n)]).tolist():
        np.testing.assert_allclose(
            zomaya_morris.bias(arm, q, qd), newton_euler.bias(arm, q, qd), atol=1e-12
        )


def test_neglected_term_is_not_small(stanford):
    """Velocity torques of the Stanford arm, all joints at 0.3 with equal speed: 18 to 196 % off."""
    arm, q, qd = stanford.on(float).without_gravity(), [0.3] * 6, [1.0] * 6
    exact = np.array(newton_euler.bias(arm, q, qd))
    error = np.abs(np.array(zomaya_morris.bias(arm, q, qd)) / exact - 1)
    assert error.min() == pytest.approx(0.18, abs=0.005)
    assert error.max() == pytest.approx(1.96, abs=0.005)
    assert error[5] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("mix", MIXES)
def test_nine_terms_are_the_trace_of_links_without_products_of_inertia(mix):
    """Eq. (17): m_11, m_22, m_33 are the diagonal of Delta_j Delta_k J Delta_i^T, term by term."""
    chain = Chain.random(len(mix), mix, seed=3)
    arm = chain.on(float)
    q = np.random.default_rng(1).uniform(-3, 3, chain.n).tolist()
    Delta = lagrange.differentials(arm, q)[-1]
    full = lagrange.pseudo_inertias(arm)[-1]
    x, y, z, h = full.columns
    bare = Vector(x.x, 0, 0), Vector(0, y.y, 0), Vector(0, 0, z.z), h
    J = full._replace(columns=bare)
    square = np.vstack([np.transpose([list(c) for c in bare]), [*h, J.m]])
    for i, j, k in np.ndindex(3, 3, 3):
        M = matrix(Delta[j]) @ matrix(Delta[k]) @ square @ matrix(Delta[i]).T
        Q = zomaya_morris.nine_terms(Delta[i], Delta[j], Delta[k], J)
        by_threes = np.reshape(np.array(Q, float), (3, 3)).sum(axis=1)
        np.testing.assert_allclose(by_threes, np.diag(M)[:3], atol=1e-12)


@pytest.mark.parametrize("mix", MIXES)
def test_gravity_recursion_is_the_slope_of_the_potential(mix):
    """Eq. (10), by complex step."""
    chain, h = Chain.random(len(mix), mix, seed=2), 1e-30
    q = np.random.default_rng(0).uniform(-3, 3, chain.n)
    for view in ("natural", "minimal"):
        found = lagrange.gravity(chain.on(float, view), q.tolist())
        for j, torque in enumerate(found):
            moved = (q + 1j * h * np.eye(chain.n)[j]).tolist()
            slope = complex(kinematics.potential(chain.on(complex), moved)).imag / h
            assert torque == pytest.approx(slope, abs=1e-11)


def test_only_the_approximation_is_marked_so():
    for quantity in ("bias", "inverse_dynamics", "christoffel"):
        assert not find(quantity, "zomaya-morris").exact
        assert find(quantity, "lagrange").exact


def test_rotors_stay_out():
    """They are added once, elsewhere."""
    chain, q = Chain.random(4, "RPRR", seed=1), [0.1, 0.2, 0.3, 0.4]
    plain, geared = chain.on(float), with_rotors(chain).on(float)
    assert lagrange.mass_matrix(plain, q) == lagrange.mass_matrix(geared, q)
