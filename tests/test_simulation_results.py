"""What a simulation leaves behind: files, pictures, reprs, and the command that makes them."""

import csv
import errno
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import armdyn
from armdyn import ArmdynError, controllers
from armdyn.cli import main

ROBOT = armdyn.load("puma560")


@pytest.fixture(scope="module")
def run():
    return armdyn.simulate(ROBOT, np.zeros(6), t=0.5)


@pytest.fixture(scope="module")
def many():
    return armdyn.simulate(ROBOT, np.zeros((3, 6)), t=0.01)


def test_repr_says_steps_time_drift_and_limits(run, many):
    assert repr(run).startswith("Result(puma560, 500 steps of 1 ms by ab4 in ")
    assert "; energy drift " in repr(run) and "; 1 joint beyond limits)" in repr(run)
    assert repr(many).startswith("Result(3 states of puma560, 10 steps")
    assert "\n" not in repr(run)


@pytest.mark.parametrize("which", ["run", "many"])
def test_html_has_a_row_a_joint(which, request):
    html = request.getfixturevalue(which)._repr_html_()
    assert html.count("<tr>") == 7 and all(name in html for name in ROBOT.joint_names)


def test_energy_is_the_robots(run):
    kinetic, potential = ROBOT.energy(run.q[100], run.qd[100])
    assert run.energy.kinetic[100] == kinetic and run.energy.potential[100] == potential
    assert run.energy.total[100] == kinetic + potential
    assert run.drift == run.energy.total[-1] - run.energy.total[0]


@pytest.mark.parametrize("which", ["run", "many"])
def test_npz_holds_all_arrays(which, request, tmp_path):
    result = request.getfixturevalue(which)
    result.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as file:
        for name in ("t", "q", "qd", "qdd", "tau"):
            np.testing.assert_array_equal(file[name], getattr(result, name))
        np.testing.assert_array_equal(file["total"], result.energy.total)
        assert tuple(file["joints"]) == ROBOT.joint_names and str(file["robot"]) == "puma560"


def test_csv_holds_all_numbers_exactly(run, many, tmp_path):
    run.save(str(tmp_path / "run.csv"))
    head, *lines = csv.reader((tmp_path / "run.csv").read_text().splitlines())
    assert head[:3] == ["t", "q_joint1", "q_joint2"] and head[-1] == "total"
    rows = np.array(lines, dtype=float)
    expected = [run.t[:, None], run.q, run.qd, run.qdd, run.tau, np.transpose(run.energy)]
    np.testing.assert_array_equal(rows, np.concatenate(expected, axis=1))
    many.save(tmp_path / "many.csv")
    head, *lines = csv.reader((tmp_path / "many.csv").read_text().splitlines())
    assert head[:2] == ["state", "t"] and len(lines) == 33 and lines[-1][0] == "2"


def test_files_that_cannot_be_are_refused(run, tmp_path):
    with pytest.raises(ArmdynError, match=r"'run.txt'; expected a name in .npz or .csv"):
        run.save("run.txt")
    with pytest.raises(ArmdynError, match="cannot write .*nowhere"):
        run.save(tmp_path / "nowhere" / "run.npz")
    with pytest.raises(ArmdynError, match=r"cannot draw 'run.xyz': its suffix must be .*png"):
        run.plot("run.xyz")


@pytest.mark.parametrize("name", ["run.npz", "run.NPZ", "run.csv"])
def test_a_file_appears_whole_or_not_at_all(run, tmp_path, monkeypatch, name):
    run.save(tmp_path / name)
    whole = (tmp_path / name).read_bytes()

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    monkeypatch.setattr(csv, "writer", lambda file: SimpleNamespace(writerows=full))
    with pytest.raises(ArmdynError, match=f"cannot write .*{name}': No space left on device"):
        run.save(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes() == whole


def test_plot_shows_positions_speeds_torques_and_energy(run, many, tmp_path):
    figure = run.plot(tmp_path / "run.svg")
    assert (tmp_path / "run.svg").stat().st_size > 10_000
    titles = [axes.get_title("left").partition(" ")[0] for axes in figure.axes]
    assert titles == ["position", "speed", "torque", "energy"]
    drawn = figure.axes[0].lines[2].get_ydata()
    np.testing.assert_array_equal(drawn, run.q[:, 2])
    np.testing.assert_array_equal(many.plot(state=1).axes[1].lines[5].get_ydata(), many.qd[1, :, 5])


def test_a_notebook_shows_the_figure(run):
    """By the bytes of a picture; a plain figure without pyplot is shown as text."""
    shown = run.plot()._repr_png_()
    assert shown.startswith(b"\x89PNG\r\n") and len(shown) > 10_000


def test_without_matplotlib_plot_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ArmdynError, match=r"pip install 'armdyn\[plot\]'"):
        run.plot()


# The command --------------------------------------------------------------------------------


def command(capsys, *arguments):
    status = main(("simulate", *arguments))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_the_command_prints_a_summary_and_what_passed_its_limits(capsys):
    status, out, err = command(capsys, "puma560", "--time", "0.5")
    assert status == 0 and err == ""
    first, second = out.splitlines()
    assert first.startswith("puma560, 500 steps of 1 ms by ab4 in ") and "energy drift" in first
    assert second.startswith("joint 'joint2' passes its lower limit")


def test_the_command_follows_a_trajectory_and_writes_files(capsys, tmp_path):
    target = "0.1,-0.4,0.3,-0.2,0.5,0.6"
    options = ("--controller", "computed-torque", f"--target={target}", "--time", "0.3")
    files = "--plot", str(tmp_path / "run.png"), "--save", str(tmp_path / "run.npz")
    status, out, _ = command(
        capsys, "puma560", *options, "--trajectory", "quintic", "--duration=0.2", *files, "--json"
    )
    data = json.loads(out)
    assert status == 0 and data["steps"] == 300 and data["robot"] == "puma560"
    assert abs(data["energy_drift"]) < 1e-4 and data["violations"] == [] == data["stopped"]
    reached = [float(x) for x in target.split(",")]  # AB4 errs where the jerk jumps, at 0.2 s
    np.testing.assert_allclose(data["q"], reached, atol=1e-4)
    with np.load(tmp_path / "run.npz") as file:
        np.testing.assert_array_equal(file["q"][-1], data["q"])
    assert (tmp_path / "run.png").stat().st_size > 10_000


WAYS = {
    "a constant": (["--tau", "1"], np.ones(6)),
    "gravity": (["--controller", "gravity"], controllers.gravity_compensation()),
    "pd": (
        ["--controller=pd-gravity", "--target=0.1", "--kp=50", "--kd=5", "--rate=500"],
        controllers.pd_gravity(np.full(6, 0.1), 50, 5, rate=500),
    ),
    "trapezoidal": (
        ["--controller=computed-torque", "--target=0.1", "--trajectory=trapezoidal"]
        + ["--speed=1", "--acceleration=20", "--kp=100", "--kd=20"],
        controllers.computed_torque(
            armdyn.trajectories.trapezoidal(np.zeros(6), np.full(6, 0.1), 1, 20), 100, 20
        ),
    ),
    "cycloidal": (
        ["--controller=computed-torque", "--target=0.1", "--trajectory=cycloidal"],
        controllers.computed_torque(
            armdyn.trajectories.cycloidal(np.zeros(6), np.full(6, 0.1), 0.02), 100, 20
        ),
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_options_mean_what_the_function_means(capsys, way):
    options, tau = WAYS[way]
    arguments = ["puma560", *options, "--time=0.02", "--qd0=0.1", "--friction", "--every=2"]
    status, out, err = command(capsys, *arguments, "--json")
    assert status == 0, err
    expected = armdyn.simulate(
        ROBOT, np.zeros(6), np.full(6, 0.1), tau, t=0.02, friction=True, every=2
    )
    np.testing.assert_array_equal(json.loads(out)["q"], expected.q[-1])


def test_default_gains_reach_the_target_and_starts_lie_within_limits(capsys):
    target = "0.3,-0.5,0.2,-2,0.1,1.5,0.5"
    options = ["--controller=pd-gravity", f"--target={target}", "--time=5", "--json"]
    status, out, _ = command(capsys, "panda", *options)
    data = json.loads(out)
    assert status == 0
    assert not [each for each in data["violations"] if each["kind"] == "position"]
    np.testing.assert_allclose(data["q"], [float(x) for x in target.split(",")], atol=1e-2)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("--q0", "1,2"), "--q0 has 2 numbers; expected one, or 6"),
        (("--controller", "pd-gravity"), "needs a --target"),
        (
            ("--controller=pd-gravity", "--target=1", "--trajectory=trapezoidal"),
            "trapezoidal needs an --acceleration",
        ),
        (("--time", "0.0105"), "t is 0.0105 s; expected a whole number of steps"),
        (("--save", "run.txt", "--time", "1e6"), "expected a name in .npz or .csv"),
        (("--plot", "nowhere/run.png", "--time", "1e6"), "there is no directory 'nowhere'"),
        (("--save", "folder.npz", "--time", "1e6"), "it is a directory; expected a file's name"),
    ],
)
def test_errors_take_one_line_and_status_two(capsys, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.npz").mkdir()
    status, out, err = command(capsys, "puma560", *arguments)
    assert status == 2 and out == ""
    assert message in err and err.startswith("armdyn: ") and err.count("\n") == 1


def test_what_was_computed_before_it_diverged_is_saved(capsys, tmp_path):
    options = ["--controller=pd-gravity", "--target=1", "--kp=1e7", "--kd=1e5", "--time=2"]
    status, out, err = command(capsys, "puma560", *options, "--save", str(tmp_path / "run.npz"))
    assert status == 2 and out == "" and "diverged at t = " in err
    with np.load(tmp_path / "run.npz") as file:
        assert 1 < len(file["t"]) < 2001 and np.isfinite(file["q"]).all()
