"""One text for every scalar: floats, complex, mpmath, SymPy and exact rationals."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy

from armdyn import Chain
from armdyn.algorithms import kinematics, newton_euler
from armdyn.algorithms.catalogue import CATALOGUE
from armdyn.quantities import QUANTITIES
from armdyn.spatial import Rotation, Symmetric, Vector, sincos, steiner

EXACT = [(q, m) for q, row in CATALOGUE.items() for m in row]


@pytest.mark.parametrize("quantity, method", EXACT, ids=lambda x: getattr(x, "name", x))
def test_mpmath_runs_through_the_same_text(quantity, method):
    """In 50 digits the doubles' rounding shows, and nothing else."""
    chain = Chain.random(4, "RRRR", seed=2)
    state = (
        np.random.default_rng(0).uniform(-2, 2, (len(QUANTITIES[quantity].arguments), 4)).tolist()
    )
    plain = np.array(method.function(chain.on(float, method.view), *state), float)
    with mpmath.workdps(50):
        digits = method.function(
            chain.on(mpmath.mpf, method.view), *([mpmath.mpf(x) for x in row] for row in state)
        )
        entries = np.array(digits, object).ravel()
        assert any(isinstance(x, mpmath.mpf) for x in entries)
        np.testing.assert_allclose(
            np.array([float(x) for x in entries]),
            plain.ravel(),
            rtol=0,
            atol=1e-12 * np.abs(plain).max(),
        )


def rational_arm():
    """Right angles and short binary fractions: every constant is exact."""
    return Chain.from_mdh(
        b=[0, 0.25, 0.5],
        beta=np.pi / 2 * np.array([0, 1, 0]),
        d=[0.125, 0, 0.5],
        theta=np.pi / 2 * np.array([0, 1, 2]),
        joints="RRP",
        mass=[1, 2, 4],
        com=[[0.5, 0.25, 0.125]] * 3,
        inertia=[[0.5, 0.5, 0.5]] * 3,
    )


def test_rationals_stay_rational_with_angles_as_cos_and_sin():
    """qd^T M qd / 2 is the kinetic energy, exactly, and M is symmetric, exactly."""
    arm = rational_arm().on(Fraction)
    q = [(Fraction(3, 5), Fraction(4, 5)), (Fraction(5, 13), Fraction(-12, 13)), Fraction(1, 3)]
    qd = [Fraction(2, 7), Fraction(-1, 3), Fraction(5)]
    M = newton_euler.mass_matrix(arm, q)
    energy, _ = kinematics.energy(arm, q, qd)
    assert all(isinstance(x, Fraction | int) for row in M for x in row)
    assert energy == sum(M[i][j] * qd[i] * qd[j] for i in range(3) for j in range(3)) / 2
    C = newton_euler.coriolis_matrix(arm, q, qd)
    velocity = [
        b - g
        for b, g in zip(newton_euler.bias(arm, q, qd), newton_euler.gravity(arm, q), strict=True)
    ]
    assert [sum(C[i][j] * qd[j] for j in range(3)) for i in range(3)] == velocity


def test_sympy_gives_the_closed_form_of_a_pendulum():
    """g(q) = -m l g0 cos q for a rod in the vertical plane, as a formula."""
    chain = Chain.from_mdh(
        b=[0],
        beta=[np.pi / 2],
        d=[0],
        theta=[0],
        mass=[2],
        com=[[0.5, 0, 0]],
        inertia=[[0, 0, 0]],
        gravity=(0, 0, -10),
    )
    q = sympy.Symbol("q", real=True)
    (torque,) = newton_euler.gravity(chain.on(sympy.Rational), [q])
    assert sympy.simplify(torque - 2 * sympy.Rational(1, 2) * 10 * sympy.cos(q)) == 0


def test_sincos_of_infinity_is_not_a_number():
    assert all(np.isnan(sincos(np.inf)))


def random_rotation(rng):
    beta, theta = rng.uniform(-3, 3, 2)
    return Rotation(np.cos(theta), np.sin(theta), np.cos(beta), np.sin(beta))


def matrix(R):
    return np.array([list(row) for row in R.rows()])


def full(J):
    return np.array([[J.xx, J.xy, J.xz], [J.xy, J.yy, J.yz], [J.xz, J.yz, J.zz]])


def test_plane_rotations_are_the_matrix_product():
    rng = np.random.default_rng(3)
    R = random_rotation(rng)
    v, J = Vector(*rng.normal(size=3)), Symmetric(*rng.normal(size=6))
    np.testing.assert_allclose(matrix(R) @ matrix(R).T, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(list(R.up(v)), matrix(R) @ list(v), atol=1e-14)
    np.testing.assert_allclose(list(R.down(v)), matrix(R).T @ list(v), atol=1e-14)
    np.testing.assert_allclose(full(R.similarity(J)), matrix(R) @ full(J) @ matrix(R).T, atol=1e-14)
    np.testing.assert_allclose(list(J @ v), full(J) @ list(v), atol=1e-14)
    c = np.array(list(v))
    np.testing.assert_allclose(full(steiner(2 * v, v)), 2 * (c @ c * np.eye(3) - np.outer(c, c)))


def test_pairs_turn_by_any_constant_offset():
    """(cos, sin) in place of the angle, where theta is no quarter turn."""
    chain = Chain.random(3, seed=8)
    q = [0.3, -1.2, 2.0]
    pairs = [(np.cos(x), np.sin(x)) for x in q]
    by_angle = newton_euler.mass_matrix(chain.on(float), q)
    np.testing.assert_allclose(
        newton_euler.mass_matrix(chain.on(float), pairs), by_angle, rtol=1e-13
    )


def test_a_scalar_without_a_sine_says_how_to_give_it_one():
    class Odd:
        pass

    with pytest.raises(TypeError, match="no sine of a Odd.*sincos.register"):
        sincos(Odd())
