"""Arms without masses: they have poses and Jacobians, and say what dynamics would need."""

import dataclasses
import json

import numpy as np
import pytest

import armdyn
from armdyn import Chain, ModelError, Robot
from armdyn.cli import main
from armdyn.quantities import QUANTITIES
from armdyn.quantities.tasks import quantities_of

ROWS = {"b": [0, 0.3], "beta": [0, 1.0], "d": [0.1, 0], "theta": [0, 0.2]}
FREE = ("pose", "jacobian", "jacobian_derivative", "acceleration_bias", "influence")
FREE += ("regressor", "minimal_regressor")
URDF = """<robot name="bare"><link name="base"/><link name="upper"/><link name="fore"/>
  <joint name="a" type="continuous"><parent link="base"/><child link="upper"/></joint>
  <joint name="b" type="prismatic"><parent link="upper"/><child link="fore"/>
    <origin xyz="0 0.5 0" rpy="0.3 0 0"/></joint></robot>"""


def bare(name="puma560"):
    """A shipped arm without its masses and rotors."""
    chain = armdyn.load(name).chain.with_rotors(0.0)
    return chain.with_parameters(np.zeros((chain.n, 10)))


def test_a_urdf_without_masses_has_poses():
    robot = armdyn.load(URDF)
    T = robot.pose([0.0, 0.7])
    assert T[:3, 3] == pytest.approx([0.7, 0.5, 0.0], abs=1e-15)  # both axes are x
    assert robot.jacobian([0.0, 0.7])[:, 1] == pytest.approx([1, 0, 0, 0, 0, 0], abs=1e-15)
    assert robot.notes == ("no link has mass: the arm has poses and Jacobians, but no dynamics",)


def test_a_table_without_masses_has_the_poses_of_the_arm_with_them():
    whole = Robot(Chain.from_mdh(**ROWS, mass=[1, 1], inertia=np.ones((2, 3))))
    robot, q = Robot(Chain.from_mdh(**ROWS)), [0.4, -0.8]
    assert np.array_equal(robot.pose(q), whole.pose(q))
    assert np.array_equal(robot.jacobian(q), whole.jacobian(q))


@pytest.mark.parametrize("quantity", [name for name in QUANTITIES if name not in FREE])
def test_dynamics_say_what_is_missing(quantity):
    robot = armdyn.load(URDF)
    state = [[0.1, 0.2]] * len(QUANTITIES[quantity].arguments)
    message = f"bare has no {quantity}: links 'upper', 'fore' have no mass.*an arm has pose, jacob"
    with pytest.raises(ModelError, match=message):
        getattr(robot, quantity)(*state)


def test_whatever_asks_for_dynamics_is_told():
    robot = armdyn.load(URDF)
    for ask in (
        lambda: robot.function("pose", "mass_matrix")([0, 0]),
        lambda: robot.derivative("gravity")([0, 0]),
        lambda: robot.methods("mass_matrix"),
        lambda: robot.mass_matrix([0, 0], method="lin1991"),
        lambda: robot.mass_matrix([0, 0], payload=[1, 0, 0, 0, 1, 0, 1, 0, 0, 1]),
        lambda: armdyn.simulate(robot, [0, 0], t=0.1),
        lambda: armdyn.compare(robot, "mass_matrix", seconds=0),
        lambda: armdyn.count(robot, "mass_matrix", "crba", kind="program"),
    ):
        with pytest.raises(ModelError, match="links 'upper', 'fore' have no mass"):
            ask()
    assert armdyn.count(robot, "mass_matrix", "crba").mul > 0  # a literal count is that of any arm


def test_what_needs_no_inertia_is_computed():
    chain, whole = bare("two_link"), armdyn.load("two_link")
    assert quantities_of(chain) == [name for name in QUANTITIES if name in FREE]
    q, qd, qdd = [0.3, -0.4], [1.0, 2.0], [0.5, 0.1]
    Y = Robot(chain).regressor(q, qd, qdd)
    assert Y @ whole.chain.parameters == pytest.approx(whole.inverse_dynamics(q, qd, qdd))


def test_masses_may_come_with_the_call():
    whole = armdyn.load("two_link")
    M = Robot(bare("two_link")).mass_matrix([0.3, -0.4], parameters=whole.chain.parameters)
    assert pytest.approx(whole.mass_matrix([0.3, -0.4]), rel=1e-14) == M


def test_masses_are_identified_from_a_log():
    """Of an arm whose description has none: the regressor is all that it takes."""
    pytest.importorskip("scipy", reason="the low-pass filter is SciPy's")
    whole = armdyn.load("two_link")
    t = np.arange(0, 3, 0.01)
    waves = np.array([[1.0, 0.7], [2.3, 3.1]])
    q = np.sin(t[:, None] * waves[0]) + 0.5 * np.sin(t[:, None] * waves[1])
    qd = np.cos(t[:, None] * waves[0]) * waves[0] + 0.5 * np.cos(t[:, None] * waves[1]) * waves[1]
    qdd = -np.sin(t[:, None] * waves[0]) * waves[0] ** 2
    qdd -= 0.5 * np.sin(t[:, None] * waves[1]) * waves[1] ** 2
    log = armdyn.Log(t=t, q=q, qd=qd, qdd=qdd, tau=whole.inverse_dynamics(q, qd, qdd))
    fixed = {"friction": False, "rotors": False, "offsets": False, "cutoff": None, "prior": None}
    found = armdyn.identify(Robot(bare("two_link")), log, **fixed)
    expected = {each.name: each.value for each in whole.minimal_parameters()}
    assert {each.name: each.value for each in found.parameters} == pytest.approx(expected, abs=1e-9)


def test_rotors_alone_are_dynamics():
    chain = bare("two_link").with_rotors(0.5)
    assert not chain.kinematic_only
    assert np.array_equal(Robot(chain).mass_matrix([0, 0]), 0.5 * np.eye(2))


def test_an_arm_that_lacks_some_masses_is_an_error_as_ever():
    chain = armdyn.load("two_link").chain
    half = chain.parameters.reshape(2, 10) * [[1], [0]]
    with pytest.raises(ModelError, match="joint 'elbow' moves nothing that has inertia"):
        chain.with_parameters(half)
    with pytest.raises(ModelError, match="'upper_arm': it has no mass but an inertia"):
        chain.with_parameters([[0, 0, 0, 0, 1, 0, 1, 0, 0, 1], [0] * 10])


def test_tables_with_centres_but_no_mass_are_refused():
    with pytest.raises(ModelError, match="a chain needs the links' inertia"):
        Chain.from_mdh(**ROWS, com=[[0, 0, 0.1]] * 2)


def test_such_an_arm_is_written_and_read():
    chain = dataclasses.replace(bare(), gravity=(0.0, 0.0, -9.81))
    assert armdyn.loaders.toml.load(chain.to_toml()) == chain
    back = armdyn.load(chain.to_urdf())
    q = np.linspace(-1, 1, 6)
    np.testing.assert_allclose(back.pose(q), Robot(chain).pose(q), rtol=0, atol=1e-14)


def test_show_and_eval_and_export(tmp_path, capsys):
    (tmp_path / "bare.urdf").write_text(URDF)
    path = str(tmp_path / "bare.urdf")
    assert main(["show", path]) == 0
    shown = capsys.readouterr().out
    assert "note: no link has mass" in shown and "consistent" not in shown
    assert main(["eval", path, "pose", "--q", "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["results"]["T"][1][3] == pytest.approx(0.5)
    assert main(["eval", path, "gravity", "--q", "0"]) == 2
    assert "links 'upper', 'fore' have no mass" in capsys.readouterr().err
    assert main(["export", path, "-o", str(tmp_path)]) == 2
    assert "links 'upper', 'fore' have no mass" in capsys.readouterr().err
    assert main(["export", path, "--quantity", "all", "-o", str(tmp_path)]) == 0
