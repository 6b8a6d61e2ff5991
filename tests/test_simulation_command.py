"""The command ``armdyn simulate``: what it refuses, and what it keeps when it is interrupted."""

import json

import numpy as np
import pytest

import armdyn
from armdyn.cli import main


def command(capsys, *words):
    """Status, output and error of the command, however it ends."""
    try:
        status = main(("simulate", "two_link", *words))
    except SystemExit as stop:  # of argparse
        status = stop.code
    captured = capsys.readouterr()
    return status, captured.out, captured.err


FOLLOW = ("--controller=pd-gravity", "--target=1")
CONTROLLED = "--controller pd, pd-gravity or computed-torque"
IDLE = [
    (("--trajectory", "quintic", "--target", "1,1"), "--target", CONTROLLED),
    (("--trajectory", "quintic"), "--trajectory", CONTROLLED),
    (("--kp", "5"), "--kp", CONTROLLED),
    (("--controller=gravity", "--kd=5"), "--kd", CONTROLLED),
    (("--tau=1", "--kp=5"), "--kp", CONTROLLED),
    (("--rate", "100"), "--rate", "a --controller other than zero"),
    ((*FOLLOW, "--duration", "1"), "--duration", "--trajectory quintic or cycloidal"),
    (
        (*FOLLOW, "--trajectory=trapezoidal", "--acceleration=1", "--duration=1"),
        "--duration",
        "--trajectory quintic or cycloidal",
    ),
    ((*FOLLOW, "--trajectory=quintic", "--speed=1"), "--speed", "--trajectory trapezoidal"),
    ((*FOLLOW, "--acceleration", "1"), "--acceleration", "--trajectory trapezoidal"),
    (("--rtol", "1e-6"), "--rtol", "--integrator DOP853 or LSODA"),
    (("--integrator=midpoint", "--atol=1e-6"), "--atol", "--integrator DOP853 or LSODA"),
]


@pytest.mark.parametrize("words, option, needs", IDLE)
def test_an_option_that_does_nothing_is_refused(capsys, words, option, needs):
    status, out, err = command(capsys, *words)
    assert status == 2 and out == ""
    assert err == f"armdyn: {option} does nothing here: it needs {needs}\n"


def test_angles_that_look_like_degrees_are_remarked_on(capsys, caplog):
    words = ("--controller=pd-gravity", "--target=0,-90", "--q0=45,1", "--time=0.01")
    assert command(capsys, *words)[0] == 0
    assert [record.getMessage() for record in caplog.records] == [
        "--q0: joint 'shoulder' = 45 rad looks like an angle in degrees",
        "--target: joint 'elbow' = -90 rad looks like an angle in degrees",
    ]


def test_the_tolerances_of_the_command_are_those_of_the_function(capsys):
    words = ("--integrator=DOP853", "--rtol=1e-4", "--atol=1e-5", "--qd0=3", "--time=0.5")
    status, out, _ = command(capsys, *words, "--json")
    robot, loose = armdyn.load("two_link"), {"rtol": 1e-4, "atol": 1e-5}
    start = robot, np.zeros(2), np.full(2, 3.0)
    expected = armdyn.simulate(*start, t=0.5, integrator="DOP853", **loose)
    tight = armdyn.simulate(*start, t=0.5, integrator="DOP853")
    assert status == 0 and json.loads(out)["q"] == expected.q[-1].tolist() != tight.q[-1].tolist()


@pytest.mark.parametrize("form", [("--q0", "-1,0.5"), ("--q0=-1,0.5",), ("--q0", "-1.,.5")])
def test_a_list_may_begin_with_a_minus(capsys, form):
    status, out, err = command(capsys, *form, "--time=0.01", "--json")
    assert status == 0, err
    expected = armdyn.simulate(armdyn.load("two_link"), [-1, 0.5], t=0.01)
    assert json.loads(out)["q"] == expected.q[-1].tolist()


@pytest.mark.parametrize("option", ["--q0", "--qd0", "--tau", "--target", "--kp", "--speed"])
@pytest.mark.parametrize("text", ["1,x", "", "1,,2", "1;2", "1" * 3000 + "x"])
def test_a_bad_list_is_one_line_that_names_the_option(capsys, option, text):
    status, out, err = command(capsys, f"{option}={text}")
    assert status == 2 and out == "" and err.count("\n") == 1
    assert f"{option}: " in err and "is not a list of numbers" in err and len(err) < 300


@pytest.mark.parametrize(
    "words, message",
    [
        (("--dt", "1e-300"), "are 1e+300 steps, and to keep all takes 6.4e+289 TB of memory"),
        (("--time", "1e9"), "are 1e+12 steps, and to keep all takes 64 TB of memory"),
        (("--dt", "short"), "--dt: expected a number, not 'short' (try 'armdyn simulate --help')"),
        (("--every", "1.5"), "--every: expected a whole number, not '1.5'"),
        (("--integrator", "rk5"), "--integrator: no choice 'rk5'; did you mean 'rk4'?"),
        (("--dt", "nan"), "dt is nan; expected a positive number"),
        (("--time", "-1"), "t is -1.0; expected a positive number"),
        (("--every", "0"), "every is 0; expected a positive whole number"),
        (("--q0", "nan"), "--q0: expected finite numbers, not 'nan'"),
        ((*FOLLOW, "--rate", "inf"), "rate is inf; expected a positive number"),
        (("--integrator=DOP853", "--rtol=0"), "rtol is 0.0; expected a positive number"),
    ],
)
def test_numbers_that_cannot_be_take_one_line(capsys, words, message):
    status, out, err = command(capsys, *words)
    assert status == 2 and out == "" and err.startswith("armdyn: ") and err.count("\n") == 1
    assert message in err


def test_speeds_and_torques_beyond_their_limits_are_told(capsys):
    words = ["simulate", "scara", "--tau=500", "--time=0.1"]
    assert main(words) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert "beyond limits of speed" in first and "4 joints beyond limits of effort" in first
    assert sum(" limit of effort " in line for line in lines) == 4
    main([*words, "--json"])
    found = json.loads(capsys.readouterr().out)["violations"]
    assert {each["kind"] for each in found} >= {"speed", "effort"}


def test_what_was_computed_before_ctrl_c_is_saved(capsys, tmp_path, monkeypatch):
    whole = armdyn.simulate(armdyn.load("two_link"), [0.0, 0.0], t=9.0)

    def interrupted(*given, progress, **options):
        def stop(done, steps):
            if done > 5000:
                raise KeyboardInterrupt

        assert progress is True
        return armdyn.simulate(*given, progress=stop, **options)

    monkeypatch.setattr("armdyn.cli.simulate.simulate", interrupted)
    try:
        status = main(["simulate", "two_link", "--time=9", f"--save={tmp_path / 'run.npz'}"])
    except KeyboardInterrupt:
        status = 130
    assert status == 130 and capsys.readouterr().out == ""
    with np.load(tmp_path / "run.npz") as file:
        assert 5000 < len(file["t"]) < 9000
        np.testing.assert_array_equal(file["q"], whole.q[: len(file["t"])])
