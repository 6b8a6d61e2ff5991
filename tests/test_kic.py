"""Kang's influence coefficients and the properties of [I*] and [P*].

That the methods are right for every mix of joints is tested in test_methods.py and
test_christoffel.py.
"""

import dataclasses
import itertools

import mpmath
import numpy as np
import pytest

from armdyn import Chain, Robot
from armdyn.algorithms import kic, kic_augmented, kinematics, lagrange
from armdyn.chain import Frame
from armdyn.chain.pose import Pose
from armdyn.counting import growth
from armdyn.counting.polynomial import Polynomial
from armdyn.errors import MethodError, ShapeError

MIXES = ["R", "P", "RRRRR", "RRPRR", "PRRPR", "RPPRR", "PPP"]
ARMS = [Chain.random(len(mix), mix, seed=4) for mix in MIXES]
EVERY_ARM = pytest.mark.parametrize("chain", ARMS, ids=lambda chain: chain.name)


def posture(chain):
    return np.random.default_rng(chain.n).uniform(-3, 3, chain.n).tolist()


# The coefficients are derivatives of the pose ---------------------------------------------------


def with_frames(chain):
    """The arm with a frame on its middle link, and one on its base."""
    pose = Pose.mdh(0.3, 0.7, -1.1, 0.2)
    frames = Frame("camera", chain.n // 2, pose), Frame("pedestal", -1, pose)
    return dataclasses.replace(chain, tip=Pose.mdh(0.1, 0.4, 0.9, -0.2), frames=frames)


def pose_derivatives(chain, q, frame):
    """The pose (4, 4), its first (n, 4, 4) and second (n, n, 4, 4) derivatives.

    By central differences in 60 digits, of which half are left over for the step.
    """
    n, arm, h = chain.n, chain.on(mpmath.mpf), mpmath.mpf(10) ** -15

    def pose(*moved):
        shifted = [
            q_i + h * moved.count(i + 1) - h * moved.count(-i - 1) for i, q_i in enumerate(q)
        ]
        return np.array(kinematics.pose(arm, shifted, frame), object)

    first, second = np.empty((n, 4, 4), object), np.empty((n, n, 4, 4), object)
    for k in range(1, n + 1):
        first[k - 1] = (pose(k) - pose(-k)) / (2 * h)
        for j in range(1, k + 1):
            bend = (pose(j, k) - pose(j, -k) - pose(-j, k) + pose(-j, -k)) / (4 * h * h)
            second[j - 1, k - 1] = second[k - 1, j - 1] = bend
    return pose(), first, second


def axial(W):
    """w of the matrices of w x, (..., 3, 3) to (3, ...)."""
    return np.array([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0]])


@EVERY_ARM
@pytest.mark.parametrize("frame", [None, "camera", "link1", "pedestal"])
def test_coefficients_are_the_derivatives_of_the_pose(chain, frame):
    """dp/dq and d2p/dq2; and of the rotation (dR/dq_k) R^T = [gR_k]x, hR_jk = d gR_k/dq_j."""
    chain, q = with_frames(chain), posture(chain)
    gT, gR, hT, hR = (np.array(a, float) for a in kic.influence(chain.on(float), q, frame))
    with mpmath.workdps(60):
        T, dT, ddT = pose_derivatives(chain, [mpmath.mpf(x) for x in q], frame)
        R, dR, ddR = T[:3, :3], dT[:, :3, :3], ddT[:, :, :3, :3]
        turning = np.einsum("jkab,cb->jkac", ddR, R) + np.einsum("kab,jcb->jkac", dR, dR)
        truth = (
            dT[:, :3, 3].T,
            axial(dR @ R.T),
            np.moveaxis(ddT[:, :, :3, 3], -1, 0),
            axial(turning),
        )
        truth = [np.array(a, float) for a in truth]
    n = chain.n
    assert (gT.shape, gR.shape, hT.shape, hR.shape) == ((3, n), (3, n), (3, n, n), (3, n, n))
    for found, true in zip((gT, gR, hT, hR), truth, strict=True):
        np.testing.assert_allclose(found, true, rtol=0, atol=1e-14)


@EVERY_ARM
@pytest.mark.parametrize("frame", [None, "camera", "link1", "pedestal"])
def test_coefficients_of_a_point_are_those_of_a_frame_there(chain, frame):
    chain, q, point = with_frames(chain), posture(chain), [0.3, -0.2, 0.5]
    link, pose = chain.find_frame(frame)
    there = np.array(pose.translation) + np.array(pose.rotation) @ point
    moved = Frame("there", link, Pose.of(np.array(pose.rotation), there))
    truth = kic.influence(dataclasses.replace(chain, frames=(moved,)).on(float), q, "there")
    for found, true in zip(kic.influence(chain.on(float), q, frame, point), truth, strict=True):
        np.testing.assert_allclose(np.array(found, float), np.array(true, float), atol=1e-14)


def test_points_are_given_at_the_call_and_batched(interpreted):
    """A point on the axis of the last joint, and one off it: velocity by two influences."""
    robot = Robot(ARMS[3])
    q, points = np.array(posture(robot.chain)), np.array([[0.0, 0.0, 0.0], [0.1, 0.2, -0.3]])
    gT, gR, hT, _ = robot.influence(q, "link2", point=points)
    origin = robot.influence(q, "link2")
    arms = robot.pose(q, "link2")[:3, :3] @ points[1]
    assert gT.shape == (2, 3, 5) and hT.shape == (2, 3, 5, 5)
    np.testing.assert_array_equal(gT[0], origin[0])
    np.testing.assert_allclose(gT[1], origin[0] + np.cross(gR[1].T, arms).T, atol=1e-14)


def test_a_point_belongs_to_influence_alone():
    with pytest.raises(MethodError, match="no argument 'point' of pose"):
        Robot(ARMS[3]).function("pose", arguments="point")


# Inertial power of a robot ----------------------------------------------------------------------


@EVERY_ARM
@pytest.mark.parametrize("model", ["original", "augmented"])
def test_inertial_power_of_a_robot_is_christoffel_once_symmetric(chain, model):
    """Batched, by the Lagrangian's symbols, which know nothing of it."""
    robot = Robot(chain)
    q = np.random.default_rng(3).uniform(-3, 3, (2, 1, chain.n))
    terms = robot.inertial_power(q, model=model)
    assert [term.shape for term in terms] == [(2, 1, *(chain.n,) * 3)] * 3
    P = sum(terms)
    truth = [lagrange.christoffel(chain.on(float), one.tolist()) for one in q[:, 0]]
    np.testing.assert_allclose((P + P.swapaxes(-1, -2))[:, 0] / 2, truth, atol=1e-13)


READ_OTHERWISE = {"P4", "P6", "P9", "P10"}


@pytest.mark.parametrize("model", ["original", "augmented"])
def test_the_table_of_properties(model):
    robot = Robot(ARMS[2])
    found = robot.inertial_power_properties(posture(ARMS[2]), model=model)
    assert [row.name for row in found] == [f"P{k}" for k in range(1, 11)]
    assert all(row.holds for row in found)
    assert {row.name for row in found if not row.our_copy_holds} == READ_OTHERWISE
    for row in found:
        assert (row.our_copy == row.reading) == (row.name not in READ_OTHERWISE)


@pytest.mark.parametrize(
    "ask, error, message",
    [
        (
            lambda r: r.inertial_power([0.0] * 4),
            ShapeError,
            r"q has shape \(4,\); expected \(..., 5\)",
        ),
        (lambda r: r.inertial_power("nonsense"), ShapeError, "q has dtype <U8"),
        (lambda r: r.inertial_power([10**400] * 5), ShapeError, "q has dtype object"),
        (lambda r: r.inertial_power([0.0] * 5, model=np.eye(3)), MethodError, "no model array"),
        (
            lambda r: r.inertial_power([0.0] * 5, model="augment"),
            MethodError,
            "did you mean 'augmented'",
        ),
        (lambda r: r.inertial_power_properties([[0.0] * 5]), ShapeError, "one posture"),
    ],
)
def test_what_inertial_power_refuses(ask, error, message):
    with pytest.raises(error, match=message):
        ask(Robot(ARMS[2]))


# Properties of [I*] and [P*] -----------------------------------------------------------------


def original(chain):
    """P1, P2, P3 of the original model, as arrays."""
    model = kic.links(chain.on(float), posture(chain))
    return tuple(np.array(P, float) for P in kic.inertial_power(model))


def independent_elements(chain):
    """P1, P2, P3 as far as the modified model evaluates them."""
    arm = chain.on(float)
    R, c = kic_augmented.placements(arm, posture(chain))
    bodies = kic_augmented.augmented_bodies(arm, R, c)
    gT, gR = kic_augmented.first_order(arm, R, bodies.C)
    _, P, L = kic_augmented.inertia_matrix(bodies, gT, gR)
    MhT, hR = kic_augmented.second_order(P, gR)
    return kic_augmented.independent_elements(bodies.III, gT, gR, L, MhT, hR)


def modified(chain):
    """P1, P2, P3 of the modified model, as arrays."""
    full = kic_augmented.filled_in(chain.n, *independent_elements(chain))
    return tuple(np.array(P, float) for P in full)


def indices(n, condition):
    """All (i, j, k) for which it holds, ready to index an array; counted from 0."""
    chosen = [ijk for ijk in itertools.product(range(n), repeat=3) if condition(*ijk)]
    return tuple(np.array(chosen, int).reshape(-1, 3).T)


def same(a, b):
    return np.allclose(a, b, rtol=0, atol=1e-13)


@EVERY_ARM
@pytest.mark.parametrize("method", [kic, kic_augmented], ids=["kic", "kic-augmented"])
def test_inertia_matrix_is_symmetric_and_positive_definite(method, chain):
    """(P1), (P2)."""
    inertia = np.array(method.mass_matrix(chain.on(float), posture(chain)), float)
    assert (inertia == inertia.T).all()
    assert np.linalg.eigvalsh(inertia).min() > 0


@EVERY_ARM
@pytest.mark.parametrize("model", [original, modified])
def test_inertial_power_has_the_properties(chain, model):
    """(P3) to (P10)."""
    (P1, P2, P3), n = model(chain), chain.n
    assert same(P1, P1.transpose(0, 2, 1))  # P3
    i, j, k = indices(n, lambda i, j, k: j <= min(i, k))
    assert same(P1[i, j, k], -P1[k, j, i])  # P4
    assert same(P1[indices(n, lambda i, j, k: i == max(j, k))], 0)  # P5
    assert same(P2[indices(n, lambda i, j, k: j >= k)], 0)  # P6
    assert same(P3, -P3.transpose(1, 0, 2))  # P7
    assert same(P3[indices(n, lambda i, j, k: i == j)], 0)  # P8
    i, j, k = indices(n, lambda i, j, k: i < j)
    assert same(P3[i, j, k], P2[k, i, j])  # P9
    assert same(P3[j, i, k], -P2[k, i, j])  # P10


@pytest.mark.parametrize("n", range(1, 9))
def test_number_of_independent_elements(n):
    """Section 3: classes of elements that (P3) and (P4) tie together, with and without (P5)."""
    everything = list(itertools.product(range(n), repeat=3))
    leader = {ijk: ijk for ijk in everything}

    def find(ijk):
        while leader[ijk] != ijk:
            ijk = leader[ijk]
        return ijk

    for i, j, k in everything:
        leader[find((i, j, k))] = find((i, k, j))
        if j <= min(i, k):
            leader[find((i, j, k))] = find((k, j, i))
    nonzero = {find((i, j, k)) for i, j, k in everything if i != max(j, k)}
    assert len(nonzero) == Polynomial.parse("1/3n^3-1/3n")(n)
    assert len({find(ijk) for ijk in everything}) == Polynomial.parse("1/3n^3+1/2n^2+1/6n")(n)


def test_the_modified_model_evaluates_no_more_than_these():
    """n = 5: (n^3 - n)/3 elements of P1, as many of P2, half of them of P3, which is skew."""
    assert [len(P) for P in independent_elements(ARMS[2])] == [40, 40, 20]


# Operation counts -------------------------------------------------------------------------------


def test_momentum_needs_less_than_the_seven_steps():
    """Mass matrix and Christoffel symbols together, kinematics included, what both need once."""
    quantities = "christoffel", "mass_matrix"
    symbols, matrix = (growth(q, "momentum", sizes=range(3, 9)) for q in quantities)
    bodies = growth("mass_matrix", "momentum", stage="bodies", sizes=range(3, 9))
    mul, add = (symbols[op] + matrix[op] - bodies[op] for op in ("mul", "add"))
    assert (str(mul), str(add)) == ("n^3+8.5n^2+104.5n-157", "2/3n^3+7n^2+253/3n-116")
    assert mul(6) + add(6) == 1778
