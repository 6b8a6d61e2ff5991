"""The command line: what it shows, what it prints as JSON, and how it refuses."""

import json
import math
import subprocess
import sys

import pytest

import armdyn
from armdyn.cli import main


def run(capsys, *arguments):
    status = main(arguments)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_robots_lists_every_shipped_arm(capsys):
    status, out, _ = run(capsys, "robots")
    assert status == 0 and all(name in out for name in armdyn.robots())
    rows = json.loads(run(capsys, "robots", "--json")[1])
    assert [row["name"] for row in rows] == list(armdyn.robots())


@pytest.mark.parametrize("name", armdyn.robots())
def test_show_shows_every_shipped_arm(capsys, name):
    robot = armdyn.load(name)
    status, out, _ = run(capsys, "show", name)
    assert status == 0
    assert all(joint in out for joint in robot.joint_names)
    assert "consistent: every link" in out
    assert "mass [kg]" in out and "Joints [rad, N m; prismatic: m, N]" in out
    data = json.loads(run(capsys, "show", name, "--json")[1])
    assert [joint["name"] for joint in data["joints"]] == list(robot.joint_names)
    assert data["findings"] == []


def test_show_tells_what_was_locked(capsys):
    _, out, _ = run(capsys, "show", "panda")
    assert "locked: panda_finger_joint1 at 0" in out
    _, out, _ = run(capsys, "show", "panda", "--lock", "panda_joint7=0.5")
    assert "locked: panda_joint7 at 0.5" in out


def test_a_file_says_what_is_snapped_unless_told_otherwise(capsys, tmp_path):
    almost = math.pi / 2 + 1e-10
    row = "[[joint]]\ntype = 'revolute'\nlink = {mass = 1, inertia = [1, 1, 1]}\nbeta ="
    path = tmp_path / "arm.toml"
    path.write_text(f"snap = 0\n{row} 0\n{row} {almost}")
    for options, beta in (((), almost), (("--snap", "1e-9"), math.pi / 2)):
        data = json.loads(run(capsys, "show", str(path), "--json", *options)[1])
        assert data["joints"][1]["beta"] == beta


BROKEN = "<robot name='r'><link name='a'>"


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("show", "no_such_file.urdf"), "cannot read no_such_file.urdf"),
        (("show", "pumma560"), "did you mean 'puma560'?"),
        (("show", BROKEN), "XML"),
        (("show", "puma560", "--tip", "x"), "base=, tip= and lock= choose a chain of a URDF"),
        (("show", "panda", "--tip", "nowhere"), "nowhere"),
        (("show", "panda", "--lock", "panda_joint1"), "JOINT=POSITION"),
        (("show", "panda", "--lock", "nothing=1"), "nothing"),
    ],
)
def test_errors_take_one_line_and_status_two(capsys, arguments, message):
    status, out, err = run(capsys, *arguments)
    assert status == 2 and out == ""
    assert message in err and err.startswith("armdyn: ") and err.count("\n") == 1


@pytest.mark.parametrize("arguments", [(), ("dance",), ("show",), ("show", "panda", "--snap", "x")])
def test_wrong_usage_takes_one_line_and_status_two(capsys, arguments):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    err = capsys.readouterr().err
    assert stop.value.code == 2 and err.count("\n") == 1 and "--help" in err


def test_the_module_runs_as_a_program_and_survives_a_closed_pipe():
    command = f"{sys.executable} -m armdyn robots | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stderr == ""
