"""The command ``armdyn excite``: what it prints, writes and refuses."""

import json

import numpy as np
import pytest

import armdyn
from armdyn.cli import main

QUICK = ("--duration=4", "--harmonics=3")


def command(capsys, *words):
    """Status, output and error of the command, however it ends."""
    try:
        status = main(("excite", "two_link", *words))
    except SystemExit as stop:  # of argparse
        status = stop.code
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_it_says_the_limits_the_condition_and_what_was_taken(capsys):
    status, out, err = command(capsys, *QUICK, "--speed=1.25", "--acceleration=3,4.5")
    assert status == 0 and err == ""
    for words in ("shoulder", "1.25", "4.5", "two_link, 4 s, 3 harmonics of 0.25 Hz; condition"):
        assert words in out
    assert "joint 'elbow': limits -inf and inf rad narrowed" in out


def test_json_is_the_motion(capsys):
    """Its coefficients are those of sines and cosines."""
    status, out, _ = command(capsys, *QUICK, "--json", "--seed=3", "--no-offsets", "--no-rotors")
    found = json.loads(out)
    same = armdyn.excite(
        armdyn.load("two_link"), 4, harmonics=3, seed=3, offsets=False, rotors=False
    )
    assert status == 0
    assert found["condition"] == pytest.approx(same.condition, rel=1e-6)
    assert found["parameters"] == list(same.parameters)
    assert "viscous_1" in found["parameters"] and "offset_1" not in found["parameters"]
    k, t = np.arange(1, 4), 0.7
    angle = 2 * np.pi * k * t / 4
    series = np.array([1.0, *np.sin(angle), *np.cos(angle)])
    assert np.array(found["coefficients"]) @ series == pytest.approx(same(t)[0], abs=1e-9)


def test_what_it_saves_is_the_motion_at_that_rate(capsys, tmp_path):
    status, _, _ = command(capsys, *QUICK, "--save", str(tmp_path / "ref.csv"), "--rate=50")
    table = np.loadtxt(tmp_path / "ref.csv", delimiter=",", skiprows=1)
    assert status == 0 and table.shape == (201, 7)
    assert table[:, 0] == pytest.approx(np.arange(201) / 50)
    assert np.abs(table[[0, -1], 3:]).max() < 1e-11


def test_it_draws(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    status, _, _ = command(capsys, *QUICK, "--plot", str(tmp_path / "ref.png"))
    assert status == 0 and (tmp_path / "ref.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "words, message",
    [
        (("--rate=10",), "--rate does nothing here: it needs --save"),
        (("--save=ref.txt",), "cannot save to 'ref.txt'; expected a name in .csv or .npz"),
        (("--save=no/such/ref.csv",), "there is no directory 'no/such'"),
        (("--duration=x",), "expected a number, not 'x'"),
        (("--duration=0",), "duration is 0.0; expected a positive number of seconds"),
        (("--harmonics=1",), "harmonics is 1; expected a whole number of at least 2"),
        (("--speed=1,2,3",), "expected a positive number, or 2, one a joint"),
        (("--acceleration=-1",), "acceleration is"),
        (("--duraton=1",), "unknown argument '--duraton=1'; did you mean --duration?"),
    ],
)
def test_what_cannot_be_is_refused(capsys, words, message):
    status, out, err = command(capsys, *words)
    assert status == 2 and out == "" and message in err and err.count("\n") == 1


def test_interrupted_it_writes_nothing(capsys, monkeypatch, tmp_path):
    def stop(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("armdyn.cli.excite.excite", stop)
    status, out, err = command(capsys, "--save", str(tmp_path / "ref.csv"))
    assert (status, out, err) == (130, "", "armdyn: interrupted\n")
    assert not list(tmp_path.iterdir())
