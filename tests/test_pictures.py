"""Pictures: the arm stands where it stands, units and legends are there, and nothing is hidden."""

import dataclasses

import numpy as np
import pytest

import armdyn
from armdyn import ArmdynError, Chain, Robot, ShapeError
from armdyn.chain.pose import Pose
from armdyn.cli import main
from armdyn.simulation.results import Result

pytest.importorskip("matplotlib")


def motion(robot, batch=(), rows=30):
    """A result of made-up numbers, for which nothing is computed but energies of no interest."""
    rng = np.random.default_rng(0)
    q, qd, qdd, tau = rng.uniform(-1, 1, (4, *batch, rows, robot.n)).cumsum(axis=-2)
    made = Result(
        robot, np.linspace(0, 1, rows), q, qd, qdd, tau, "ab4", 0.01, rows, False, False,
        (), (), 0.0, 0.0,
    )  # fmt: skip
    zeros = np.zeros((*batch, rows))
    made.__dict__["energy"] = armdyn.simulation.results.Energy(zeros, zeros + 1, zeros + 1)
    return made


def legends(figure):
    return [*figure.legends, *(axes.get_legend() for axes in figure.axes if axes.get_legend())]


def hidden(figure):
    """The legends that lie over a panel."""
    figure.canvas.draw()
    return [
        legend
        for legend in legends(figure)
        for axes in figure.axes
        if legend.get_window_extent().shrunk(0.99, 0.99).overlaps(axes.patch.get_window_extent())
    ]


# The stick figure ---------------------------------------------------------------------------------


def drawn(figure, label):
    """The ends of the line with that label, in space."""
    (line,) = (each for each in figure.axes[0].lines if each.get_label() == label)
    return np.array(line.get_data_3d()).T


@pytest.mark.parametrize("name", ["panda", "scara"])
def test_the_arm_ends_at_its_tip_and_passes_every_joint(name):
    robot = armdyn.load(name)
    q = np.linspace(-0.5, 0.5, robot.n)
    links = drawn(robot.plot(q), "links")
    places = [robot.chain.base.translation]
    from armdyn.algorithms.kinematics import frames, pose

    arm = robot.chain.on(float)
    places += [[*frame.o] for frame in frames(arm, q.tolist())]
    for place in places:
        assert np.linalg.norm(links - place, axis=1).min() < 1e-12
    tip = np.array(pose(arm, q.tolist()))[:3, 3]
    assert links[0].tolist() == [0, 0, 0]
    assert links[-1] == pytest.approx(tip, abs=1e-12)
    lengths = np.linalg.norm(np.diff(links, axis=0), axis=1)
    table = robot.chain.to_mdh()
    assert lengths[1::2][: robot.n] == pytest.approx(np.abs(table["b"]), abs=1e-12)


def test_masses_stand_at_the_centres_of_mass():
    robot = armdyn.load("two_link")
    (spots,) = robot.plot([np.pi / 2, 0.0]).axes[0].collections
    x, y, z = (np.array(each) for each in spots._offsets3d)
    assert x == pytest.approx([0, 0], abs=1e-15) and y == pytest.approx([0.2, 0.65])
    sizes = spots.get_sizes()
    assert sizes[0] / sizes[1] == pytest.approx(1.5)  # 3 kg, 2 kg
    assert "at most 3 kg" in spots.get_label() and not z.any()


def test_units_and_what_the_figure_means_are_told():
    figure = armdyn.load("scara").plot()
    (axes,) = figure.axes
    labels = [axes.get_xlabel(), axes.get_ylabel(), axes.get_zlabel()]
    assert labels == ["x [m]", "y [m]", "z [m]"]
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts[:3] == ["links", "axis of a revolute joint", "axis of a prismatic joint"]
    assert texts[-1].startswith("centres of mass") and len(texts) == 7
    assert not hidden(figure)


def test_without_a_posture_it_stands_within_its_limits():
    chain = armdyn.load("two_link").chain
    joints = (dataclasses.replace(joint, lower=0.5) for joint in chain.joints)
    figure = Robot(dataclasses.replace(chain, joints=tuple(joints))).plot()
    assert "q = (0.5, 0.5)" in figure.get_suptitle()


def test_odd_arms_are_drawn(tmp_path):
    """One point, no mass, a name that is no mathematics, far from the base."""
    dot = Chain.from_mdh(b=[0], beta=[0], d=[0], theta=[0], name="$\\frac{$")
    Robot(dot).plot([0.3], tmp_path / "dot.svg")
    far = dataclasses.replace(Chain.random(2, "PP"), base=Pose.of(np.eye(3), (1e6, 0, 0)))
    Robot(far).plot(path=tmp_path / "far.png")
    assert (tmp_path / "dot.svg").stat().st_size > 5000
    assert (tmp_path / "far.png").stat().st_size > 5000


def test_what_cannot_be_drawn_is_said(tmp_path, capsys):
    robot = armdyn.load("two_link")
    for q in ([0.1], [[0, 0]], [0, np.nan]):
        with pytest.raises(ShapeError, match="one finite number for each of 2 joints"):
            robot.plot(q)
    with pytest.raises(ArmdynError, match="its suffix must be"):
        robot.plot(path=tmp_path / "arm.xyz")
    assert main(["show", "two_link", "--q", "0"]) == 2
    assert "add --plot FILE" in capsys.readouterr().err
    assert main(["show", "two_link", "--plot", str(tmp_path / "no" / "arm.png")]) == 2
    assert "there is no directory" in capsys.readouterr().err


def test_show_draws_it(tmp_path, capsys):
    path = tmp_path / "arm.png"
    assert main(["show", "two_link", "--plot", str(path), "--q", "0.3,-0.5"]) == 0
    assert path.read_bytes().startswith(b"\x89PNG") and "two_link" in capsys.readouterr().out


# Motions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [(), (5,)], ids=["one", "many"])
def test_legends_hide_nothing_and_units_are_there(batch):
    figure = motion(armdyn.load("panda"), batch).plot()
    assert not hidden(figure)
    titles = [axes.get_title("left") for axes in figure.axes]
    assert titles == ["position [rad]", "speed [rad/s]", "torque [N m]", "energy [J]"]
    assert [axes.get_xlabel() for axes in figure.axes[2:]] == ["time [s]"] * 2
    (joints,) = figure.legends
    assert [text.get_text() for text in joints.get_texts()] == [*armdyn.load("panda").joint_names]


def test_units_are_those_of_the_joints():
    titles = [axes.get_title("left") for axes in motion(armdyn.load("scara"), rows=3).plot().axes]
    assert titles[:3] == ["position [rad or m]", "speed [rad/s or m/s]", "torque [N m or N]"]


def test_a_batch_is_a_band_about_its_median():
    result = motion(armdyn.load("two_link"), (2, 3))
    result.q[0, 1, 20:] = np.nan  # a state that stopped
    result.q[:, :, 29] = np.nan  # and none that came so far
    figure = result.plot()
    axes = figure.axes[0]
    rows = result.q.reshape(6, 30, 2)
    for i in range(2):
        middle = axes.lines[i].get_ydata()
        assert middle[:29] == pytest.approx(np.nanmedian(rows[:, :29, i], axis=0))
        outer, inner = axes.collections[2 * i : 2 * i + 2]
        for band, low, high in ((outer, 0.0, 1.0), (inner, 0.25, 0.75)):
            corners = np.concatenate([path.vertices for path in band.get_paths()])
            at = corners[np.isclose(corners[:, 0], result.t[10]), 1]
            assert at.min() == pytest.approx(np.quantile(rows[:, 10, i], low))
            assert at.max() == pytest.approx(np.quantile(rows[:, 10, i], high))
    assert "median, quartiles and extremes of 6 states" in figure.get_suptitle()
    one = result.plot(state=4)
    assert one.axes[0].lines[1].get_ydata() == pytest.approx(rows[4, :, 1], nan_ok=True)
    assert not one.axes[0].collections and "state 4 of 6" in one.get_suptitle()
    with pytest.raises(ShapeError, match="state is 6; expected one of 6, counted from 0"):
        result.plot(state=6)
