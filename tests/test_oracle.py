"""Uicker and Kahn's Lagrangian equations in sixty digits, which share no line with the package.

With A_l(q_l) the 4 x 4 transform of joint l, T_l = base A_1 ... A_l and the pseudo-inertia J_l of
link l, all in exact sums of products:

    tau_i = sum_l sum_j tr(dT_l/dq_j J_l dT_l/dq_i') qdd_j
          + sum_l sum_jk tr(d2T_l/dq_j dq_k J_l dT_l/dq_i') qd_j qd_k
          - sum_l g' dT_l/dq_i (h_l, m_l)
"""

import numpy as np
import pytest
from mpmath import matrix, mp, mpf, workdps

from armdyn import Chain, Robot
from armdyn.chain.random import STRUCTURES
from tests.arms import with_rotors

DIGITS = 60
WORST = 1e-13  # of the largest number


def transform(joint, q):
    """Rx(beta) Tx(b) Rz(theta) Tz(d), and what dA/dq = A Q multiplies it by."""
    turn, slide = (q, 0) if joint.kind == "R" else (0, q)
    c, s = mp.cos(mpf(joint.beta)), mp.sin(mpf(joint.beta))
    X = matrix([[1, 0, 0, joint.b], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])
    c, s = mp.cos(mpf(joint.theta) + turn), mp.sin(mpf(joint.theta) + turn)
    Z = matrix([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, mpf(joint.d) + slide], [0, 0, 0, 1]])
    Q = matrix(4, 4)
    if joint.kind == "R":
        Q[0, 1], Q[1, 0] = -1, 1
    else:
        Q[2, 3] = 1
    return X * Z, Q


def pseudo_inertia(body):
    """The integral of (r, 1) (r, 1)' dm."""
    m, x, y, z, Jxx, Jxy, Jyy, Jxz, Jyz, Jzz = map(mpf, body.parameters().tolist())
    half = (Jxx + Jyy + Jzz) / 2
    return matrix(
        [
            [half - Jxx, -Jxy, -Jxz, x],
            [-Jxy, half - Jyy, -Jyz, y],
            [-Jxz, -Jyz, half - Jzz, z],
            [x, y, z, m],
        ]
    )


def uicker_kahn(chain, q, qd, qdd):
    """(M, bias, torque) of the formula above and the rotors, in sixty digits."""
    n = chain.n
    moved = [transform(joint, mpf(x)) for joint, x in zip(chain.joints, q, strict=True)]

    def derived(last, *joints):
        """The derivative of T_last with respect to these joints, zero if one lies beyond."""
        T = matrix(chain.base.matrix.tolist())
        for i, (A, Q) in enumerate(moved[: last + 1]):
            T = T * A * Q ** joints.count(i) if i in joints else T * A
        return T

    def inner(X, J, Y):
        return sum(x * y for x, y in zip(X * J, Y, strict=True))

    M, bias = matrix(n, n), matrix(n, 1)
    g = matrix([*chain.gravity, 0])
    for k, link in enumerate(chain.links):
        J, joints = pseudo_inertia(link.inertia), range(k + 1)
        first = [derived(k, i) for i in joints]
        curved = matrix(4, 4)
        for a in joints:
            for b in joints:
                curved += derived(k, a, b) * (mpf(qd[a]) * mpf(qd[b]))
        for i in joints:
            bias[i] += inner(curved, J, first[i]) - (g.T * first[i] * J[:, 3])[0]
            for j in joints:
                M[i, j] += inner(first[j], J, first[i])
    for i, joint in enumerate(chain.joints):
        M[i, i] += mpf(joint.rotor_inertia)
    return M, bias, M * matrix(qdd) + bias


def test_a_pendulum_is_the_closed_form():
    """A point of 2 kg at 0.5 m from an axis along x: g m l cos(q), m l^2."""
    point = dict(mass=[2.0], com=[[0.5, 0, 0]], inertia=[[0, 0, 0]], inertia_about="com")
    chain = Chain.from_mdh(b=[0], beta=[np.pi / 2], d=[0], theta=[0], joints="R", **point)
    with workdps(DIGITS):
        M, bias, _ = uicker_kahn(chain, [0.3], [2.0], [0.0])
        assert abs(M[0] - mpf("0.5")) < 1e-30
        assert abs(bias[0] - mpf(9.81) * mp.cos(mpf(0.3))) < 1e-15  # beta is no exact quarter turn


@pytest.mark.sweep
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7])
@pytest.mark.parametrize("seed", range(3))
def test_numbers_are_those_of_sixty_digits(n, seed):
    rng = np.random.default_rng([n, seed])
    kinds = "".join(rng.choice([*"RRP"], n))
    structure = STRUCTURES[rng.integers(len(STRUCTURES))] if n >= 3 else "generic"
    chain = Chain.random(n, kinds, seed, structure)
    chain = with_rotors(chain) if seed % 2 else chain
    robot, (q, qd, qdd) = Robot(chain), rng.uniform(-3, 3, (3, n))
    found = robot.mass_matrix(q), robot.bias(q, qd), robot.inverse_dynamics(q, qd, qdd)
    with workdps(DIGITS):
        for result, truth in zip(found, uicker_kahn(chain, q, qd, qdd), strict=True):
            largest = max(map(abs, truth))
            apart = [x - y for x, y in zip(map(mpf, result.ravel().tolist()), truth, strict=True)]
            assert max(map(abs, apart)) <= WORST * largest
