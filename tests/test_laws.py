"""Physical laws, over arms and states: what no library can get wrong together with us."""

import numpy as np
import pytest
from hypothesis import given, settings

from armdyn.algorithms import kinematics, newton_euler
from armdyn.chain.minimal import MinimalParameters
from armdyn.quantities import AXES
from armdyn.quantities.tasks import Task, formula, quantities_of
from tests.arms import moving

STEP = 1e-30  # of the complex step, whose error is its square
TIGHT = 1e-11

settings.register_profile("laws", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("laws")


def close(found, expected, tolerance=TIGHT):
    found, expected = np.asarray(found), np.asarray(expected)
    scale = max(np.abs(expected).max(), np.abs(found).max(), 1.0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale)


METHODS = dict.fromkeys(("energy", "regressor", "minimal_regressor", "pose", "jacobian"))
METHODS |= {"jacobian_derivative": None, "acceleration_bias": None}
METHODS |= {"operational_space_inertia": None, "operational_space_inertia_inverse": None}


class Robot:
    """The quantities of a chain in plain floats, by Newton-Euler: no compiler in between."""

    def __init__(self, chain):
        self.chain = chain

    def __getattr__(self, quantity):
        task = Task(quantity, METHODS.get(quantity, "newton-euler"))
        function = formula(self.chain, float, task)
        return lambda *state: np.array(function(*(row.tolist() for row in state)), float)


def rate(function, *paths):
    """d/dt of function along straight paths (x, dx/dt), by complex step."""
    points = [(x + 1j * STEP * v).tolist() for x, v in paths]
    return np.array(function(*points), complex).imag / STEP


@given(moving(3))
def test_joint_power_is_the_rate_of_change_of_energy(case):
    """qd . tau = d/dt (kinetic + potential): one line tests three algorithms."""
    chain, q, qd, qdd = case
    energy = formula(chain, complex, Task("energy"))
    change = rate(energy, (q, qd), (qd, qdd)).sum()
    tau = Robot(chain).inverse_dynamics(q, qd, qdd)
    terms = np.abs(qd * tau).sum()
    assert change == pytest.approx(qd @ tau, rel=0, abs=TIGHT * max(terms, 1.0))


@given(moving(1))
def test_mass_matrix_is_symmetric_and_positive_definite(case):
    chain, q = case
    M = Robot(chain).mass_matrix(q)
    close(M, M.T)
    scale = np.sqrt(M.diagonal())
    assert np.linalg.eigvalsh(M / np.outer(scale, scale)).min() > 0


@given(moving(3))
def test_torque_is_mass_matrix_times_acceleration_plus_bias(case):
    """M = d tau / d qdd."""
    chain, q, qd, qdd = case
    robot = Robot(chain)
    close(
        robot.inverse_dynamics(q, qd, qdd),
        robot.mass_matrix(q) @ qdd + robot.bias(q, qd),
    )


@given(moving(2))
def test_kinetic_energy_is_half_the_quadratic_form_of_the_mass_matrix(case):
    chain, q, qd = case
    robot = Robot(chain)
    close(robot.energy(q, qd)[0], 0.5 * qd @ robot.mass_matrix(q) @ qd)


@given(moving(1))
def test_gravity_is_the_gradient_of_the_potential(case):
    chain, q = case
    arm = chain.on(complex)
    slope = [rate(lambda x: kinematics.potential(arm, x), (q, unit)) for unit in np.eye(chain.n)]
    close(Robot(chain).gravity(q), slope)


@given(moving(2))
def test_mdot_minus_2c_is_skew(case):
    chain, q, qd = case
    arm = chain.on(complex)
    Mdot = rate(lambda x: newton_euler.mass_matrix(arm, x), (q, qd))
    skew = Mdot - 2 * Robot(chain).coriolis_matrix(q, qd)
    close(skew, -skew.T)


@given(moving(2))
def test_coriolis_matrix_times_speed_plus_gravity_is_bias(case):
    chain, q, qd = case
    robot = Robot(chain)
    close(robot.coriolis_matrix(q, qd) @ qd + robot.gravity(q), robot.bias(q, qd))


@given(moving(3))
def test_torque_is_linear_in_the_parameters(case):
    chain, q, qd, qdd = case
    robot = Robot(chain)
    rotors = np.array([joint.rotor_inertia for joint in chain.joints])
    tau = robot.regressor(q, qd, qdd) @ chain.parameters + rotors * qdd
    close(tau, robot.inverse_dynamics(q, qd, qdd))


@given(moving(3))
def test_torque_is_linear_in_the_minimal_parameters(case):
    """And where all joints are revolute, the minimal regressor is columns of the whole one."""
    chain, q, qd, qdd = case
    robot, minimal = Robot(chain), MinimalParameters(chain)
    Y, found = robot.regressor(q, qd, qdd), robot.minimal_regressor(q, qd, qdd)
    close(found @ minimal.values, Y @ chain.parameters)
    close(found @ minimal.coefficients, Y)
    if "P" not in chain.kinds:
        assert {tuple(column) for column in found.T} <= {tuple(column) for column in Y.T}


@given(moving(2))
def test_jacobian_is_the_velocity_of_the_tip(case):
    chain, q, qd = case
    arm = chain.on(complex)
    robot = Robot(chain)
    pose, change = robot.pose(q), rate(lambda x: kinematics.pose(arm, x), (q, qd))
    spin = change[:3, :3] @ pose[:3, :3].T
    twist = [*change[:3, 3], spin[2, 1], spin[0, 2], spin[1, 0]]
    close(robot.jacobian(q) @ qd, twist)


@given(moving(2))
def test_the_jacobian_changes_at_its_derivative(case):
    chain, q, qd = case
    for axes in AXES:
        task = Task("jacobian", axes=axes)
        change = rate(formula(chain, complex, task), (q, qd))
        found = formula(chain, float, Task("jacobian_derivative", axes=axes))
        close(found(q.tolist(), qd.tolist()), change)


@given(moving(3))
def test_the_acceleration_of_the_tip_is_that_of_the_joints_plus_the_bias(case):
    """d/dt (J qd) = J qdd + acceleration bias."""
    chain, q, qd, qdd = case
    robot, jacobian = Robot(chain), formula(chain, complex, Task("jacobian"))
    twist = rate(lambda x, v: np.array(jacobian(x)) @ np.array(v), (q, qd), (qd, qdd))
    close(robot.jacobian(q) @ qdd + robot.acceleration_bias(q, qd), twist)


@given(moving(1))
def test_a_wrench_does_positive_work_and_the_joints_feel_its_power(case):
    """At rest and without gravity: J qdd = A w for M qdd = J^T w, and w . A w is not negative."""
    chain, q = case
    robot = Robot(chain)
    A, J = robot.operational_space_inertia_inverse(q), robot.jacobian(q)
    scale = np.sqrt(robot.mass_matrix(q).diagonal())  # solve in units in which M is near to 1
    M = robot.mass_matrix(q) / np.outer(scale, scale)
    close(A, (J / scale) @ np.linalg.solve(M, (J / scale).T), 1e-9)
    assert np.linalg.eigvalsh(A).min() > -1e-12 * np.abs(A).max()


@given(moving(1, min_joints=6))
def test_the_operational_space_inertia_undoes_its_inverse(case):
    chain, q = case
    if "operational_space_inertia" in quantities_of(chain):
        A = Robot(chain).operational_space_inertia_inverse(q)
        Lambda = Robot(chain).operational_space_inertia(q)
        close(Lambda @ A, np.eye(6), 1e-14 * np.abs(Lambda).max() * np.abs(A).max())


@given(moving(1))
def test_poses_are_rigid(case):
    chain, q = case
    R = Robot(chain).pose(q)[:3, :3]
    close(R @ R.T, np.eye(3))
    assert np.linalg.det(R) == pytest.approx(1.0)


@given(moving(1))
def test_a_payload_is_one_more_body_on_the_last_link(case):
    """The torque of the loaded arm is that of the arm plus the load's wrench through J^T."""
    chain, q = case
    mass, com = 1.5, np.array([0.1, -0.2, 0.3])
    loaded = Robot(chain.with_payload(mass, com))
    robot = Robot(chain)
    pose = robot.pose(q)
    J = robot.jacobian(q)
    lever = pose[:3, :3] @ com
    force = -mass * np.array(chain.gravity)
    close(
        loaded.gravity(q),
        robot.gravity(q) + J.T @ np.concatenate([force, np.cross(lever, force)]),
    )
