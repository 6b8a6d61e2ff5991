"""The command ``armdyn eval``: any quantity from the shell."""

import json
from contextlib import suppress

import numpy as np
import pytest

import armdyn
from armdyn.cli import main
from armdyn.quantities import QUANTITIES

ROBOT = armdyn.load("puma560")
STATE = {
    "q": [0.3, -0.2, 0.5, 1.1, -0.7, 0.4],
    "qd": [1.0, -2.0, 0.5, 0.1, 0.0, 3.0],
    "qdd": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
    "tau": [1.0, 2.0, 3.0, -1.0, -2.0, -3.0],
}


def given(quantity):
    """The options of a quantity's arguments."""
    names = QUANTITIES[quantity].arguments
    return [f"--{name}={','.join(map(str, STATE[name]))}" for name in names]


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_json_has_what_the_robot_computes(quantity, capsys):
    assert main(["eval", "puma560", quantity, *given(quantity), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = getattr(ROBOT, quantity)(*(STATE[name] for name in QUANTITIES[quantity].arguments))
    expected = expected if isinstance(expected, tuple) else (expected,)
    names = [result.name for result in QUANTITIES[quantity].results]
    assert list(found["results"]) == names
    for name, value in zip(names, expected, strict=True):
        assert np.array_equal(found["results"][name], value)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_people_read_every_number(quantity, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["eval", "puma560", quantity, *given(quantity)]) == 0
    found = capsys.readouterr().out
    expected = getattr(ROBOT, quantity)(*(STATE[name] for name in QUANTITIES[quantity].arguments))
    expected = expected if isinstance(expected, tuple) else (expected,)
    for value in np.concatenate([np.ravel(x) for x in expected]):
        assert f"{value + 0.0:.6g}" in found


def test_options_reach_the_quantity(capsys):
    q, qd, qdd = (",".join(map(str, STATE[name])) for name in ("q", "qd", "qdd"))
    state = ["--q", q, "--qd", qd, "--qdd", qdd]
    main(["eval", "puma560", "inverse_dynamics", *state, "--friction", "--json"])
    found = json.loads(capsys.readouterr().out)["results"]["tau"]
    whole = ROBOT.inverse_dynamics(STATE["q"], STATE["qd"], STATE["qdd"], friction=True)
    assert np.array_equal(found, whole)
    main(["eval", "puma560", "pose", "--q", q, "--frame", "link3", "--json"])
    found = json.loads(capsys.readouterr().out)["results"]["T"]
    assert np.array_equal(found, ROBOT.pose(STATE["q"], frame="link3"))


def test_axes_are_those_of_the_frame(capsys):
    state = ["--q", ",".join(map(str, STATE["q"]))]
    assert main(["eval", "puma560", "jacobian", *state, "--axes", "frame", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["results"]["J"]
    assert np.array_equal(found, ROBOT.jacobian(STATE["q"], axes="frame"))
    assert main(["eval", "puma560", "jacobian", *state, "--axes", "frame"]) == 0
    assert "the axes are the frame's own" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    "words, said",
    [
        (["eval", "puma560", "rnea"], "no quantity 'rnea'; it is inverse_dynamics here"),
        (["eval", "puma560", "bias", "--axes", "frame"], "--axes does nothing for bias"),
        (["export", "puma560", "--to", "casadi"], "robot.casadi(quantity)"),
    ],
)
def test_a_foreign_name_is_answered_with_the_right_one(words, said, capsys):
    with suppress(SystemExit):
        assert main(words)
    assert said in capsys.readouterr().err


def test_one_number_stands_for_all_joints_and_nothing_for_zeros(capsys):
    main(["eval", "puma560", "bias", "--q", "0.3", "--json"])
    found = json.loads(capsys.readouterr().out)["results"]["b"]
    assert np.array_equal(found, ROBOT.bias(np.full(6, 0.3), np.zeros(6)))


def test_json_has_null_where_there_is_no_number(capsys):
    """Stretched out the Panda is singular: its tip's inertia is infinite or not a number."""
    state = ["--q", "0,0,0,0,0,0,0"]
    assert main(["eval", "panda", "operational_space_inertia", *state, "--json"]) == 0
    out = capsys.readouterr().out
    found = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert None in np.ravel(found["results"]["Lambda"])


LOAD = [2.0, 0.0, 0.0, 0.2, 0.03, 0.0, 0.03, 0.0, 0.0, 0.01]
GIVEN = {"payload": LOAD, "gravity": [0.0, 1.0, -3.0], "wrench": [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]}


@pytest.mark.parametrize("frame", [None, "link3"])
@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_a_load_gravity_and_a_wrench_are_given_as_in_python(quantity, name, frame, capsys):
    if name not in QUANTITIES[quantity].at_call or (frame and name == "gravity"):
        return
    options = [f"--{name}={' '.join(map(str, GIVEN[name]))}"]
    options += [f"--{name}-frame={frame}"] if frame else []
    assert main(["eval", "puma560", quantity, *given(quantity), *options, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    state = (STATE[argument] for argument in QUANTITIES[quantity].arguments)
    frames = {f"{name}_frame": frame} if frame else {}
    expected = getattr(ROBOT, quantity)(*state, **{name: GIVEN[name]}, **frames)
    expected = expected if isinstance(expected, tuple) else (expected,)
    assert found["arguments"][name] == GIVEN[name]
    for value, computed in zip(expected, found["results"].values(), strict=True):
        assert np.array_equal(computed, value)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--q", "0.5 -1, 0 ,2 1 0"], [0.5, -1, 0, 2, 1, 0]),
        (
            ["--q=-90deg,0,0.5,180\u00b0,1e1deg,0"],
            np.radians([-90, 0, 0, 180, 10, 0]) + [0, 0, 0.5, 0, 0, 0],
        ),
        (["--q", "90 deg"], np.full(6, np.pi / 2)),
        (["--q", "90", "--degrees"], np.full(6, np.pi / 2)),
        ([], np.zeros(6)),
    ],
)
def test_angles_may_be_in_degrees(words, expected, capsys):
    assert main(["eval", "PUMA560", "Gravity", *words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    np.testing.assert_allclose(found["arguments"]["q"], expected, rtol=1e-15)
    assert np.array_equal(found["results"]["g"], ROBOT.gravity(found["arguments"]["q"]))


def test_a_joint_that_slides_stays_in_metres(capsys):
    assert main(["eval", "scara", "gravity", "--q=90,0,0.1,0", "--degrees", "--json"]) == 0
    q = json.loads(capsys.readouterr().out)["arguments"]["q"]
    np.testing.assert_allclose(q, [np.pi / 2, 0, 0.1, 0])
    assert main(["eval", "scara", "gravity", "--q=90deg"]) == 2
    assert "--q: joint 'quill' slides; expected m, not degrees" in capsys.readouterr().err


def test_a_position_that_is_not_given_is_named(capsys):
    main(["eval", "puma560", "gravity"])
    assert "At q = 0 for all joints" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["mass_matrix", "--q", "nan,0,0,0,0,0"], "expected finite numbers, not 'nan,0,0,0,0,0'"),
        (["mass_matrix", "--q", "1,,2"], "'1,,2' is not a list of numbers"),
        (["mass_matrix", "--q", "deg"], "'deg' is not a list of numbers"),
        (["inverse_dynamics", "--tau", "90deg"], "'90deg' is not a list of numbers"),
        (["mass_matrix", "--tau", "1,2,3,4,5,6"], "--tau does nothing for mass_matrix"),
        (["mass_matrix", "--wrench", "1,0,0,0,0,0"], "--wrench does nothing for mass_matrix"),
        (["gravity", "--payload-frame", "link3"], "it needs --payload"),
        (["gravity", "--payload", "2"], "payload has shape (1,); expected (..., 10)"),
        (["mass_matrx", "--q", "0"], "did you mean 'mass_matrix'?"),
        (["mass_matrix", "--q", "0,0"], "--q has 2 numbers; expected one, or 6"),
        (["mass_matrix", "--q", "0", "--tau", "1"], "--tau does nothing for mass_matrix"),
        (["mass_matrix", "--q", "0", "--friction"], "--friction does nothing for mass_matrix"),
        (["pose", "--q", "0", "--frame", "linc3"], "did you mean 'link3'?"),
        (["pose", "--q", "0", "--method", "crba"], "--method does nothing for pose"),
        (["mass_matrix", "--q", "a"], "'a' is not a list of numbers"),
    ],
)
def test_what_cannot_be_is_one_line(arguments, complaint, capsys):
    try:
        assert main(["eval", "puma560", *arguments]) == 2
    except SystemExit as end:
        assert end.code == 2
    found = capsys.readouterr()
    assert complaint in found.err
    assert found.err.count("\n") == 1 and not found.out
