"""The command ``armdyn identify``: what it finds, writes, keeps when interrupted, and refuses."""

import json

import numpy as np
import pytest

import armdyn
from armdyn.cli import identify, main
from armdyn.identification.moments import Moments


def command(capsys, *words):
    """Status, output and error of the command, however it ends."""
    try:
        status = main(("identify", *map(str, words)))
    except SystemExit as stop:  # of argparse
        status = stop.code
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Three motions of the two-link arm; the torques have noise of 0.01 N m."""
    robot, rng = armdyn.load("two_link"), np.random.default_rng(0)
    folder, paths = tmp_path_factory.mktemp("logs"), []
    for seed in range(3):
        motion = armdyn.excite(robot, 4.0, harmonics=3, seed=seed).sample(200)
        tau = robot.inverse_dynamics(*motion[1:]) + 0.01 * rng.standard_normal(motion.q.shape)
        paths.append(folder / f"{seed}.npz")
        np.savez(paths[-1], **motion._asdict(), tau=tau)
    return paths


@pytest.fixture
def counted(monkeypatch):
    """The names of the logs of which moments are made."""
    seen = []

    def of(robot, log, **options):
        seen.append(log.name)
        return made(robot, log, **options)

    made = identify.moments
    monkeypatch.setattr(identify, "moments", of)
    return seen


def test_it_says_parameters_errors_and_notes(capsys, logs):
    status, out, err = command(capsys, "two_link", *logs[:2], "--hold-out", logs[2])
    assert status == 0 and err == ""
    for words in ("kx_2", "kg m", "shoulder", "Measured minus predicted torque", "no low-pass"):
        assert words in out


def test_json_is_what_the_function_finds(capsys, logs):
    status, out, _ = command(
        capsys, "two_link", *logs[:2], "--hold-out", logs[2], "--json", "--no-rotors"
    )
    found = json.loads(out)
    same = armdyn.identify(
        armdyn.load("two_link"), [armdyn.Log.read(path) for path in logs[:2]], rotors=False
    )
    assert status == 0
    assert [each["name"] for each in found["parameters"]] == [p.name for p in same.parameters]
    values = [each["value"] for each in found["parameters"]]
    assert values == pytest.approx([p.value for p in same.parameters], rel=1e-9)
    assert found["rms"] == pytest.approx(same.rms)
    ahead = found["hold_out"][str(logs[2])]
    assert ahead["rms"] == pytest.approx(same.validate(armdyn.Log.read(logs[2])).rms)
    assert ahead["rms"] == pytest.approx([0.01, 0.01], rel=0.1)  # the noise


def test_a_payload_alone(capsys, tmp_path):
    robot = armdyn.load("ur5")
    loaded = armdyn.Robot(robot.chain.with_payload(mass=1.7, com=(0.05, 0.02, 0.1)))
    q, qd, qdd = np.random.default_rng(2).uniform(-2, 2, (3, 400, robot.n))
    tau = loaded.inverse_dynamics(q, qd, qdd)
    t = np.cumsum(np.full(400, 10.0))  # states of their own, which no rate connects
    np.savez(tmp_path / "a.npz", t=t, q=q, qd=qd, qdd=qdd, tau=tau)
    words = ("--payload", "--json", "--weight=1e-9", "--rest=0")
    status, out, err = command(capsys, "ur5", tmp_path / "a.npz", *words)
    assert status == 0, err
    values = [each["value"] for each in json.loads(out)["parameters"]]
    assert values[:4] == pytest.approx([1.7, 0.085, 0.034, 0.17], abs=1e-3)


def test_it_writes_the_arm_and_the_picture(capsys, logs, tmp_path):
    pytest.importorskip("matplotlib")
    status, _, _ = command(
        capsys, "two_link", logs[0], "--save", tmp_path / "new.toml", "--plot", tmp_path / "fit.png"
    )
    assert status == 0 and (tmp_path / "fit.png").read_bytes().startswith(b"\x89PNG")
    old, new = armdyn.load("two_link"), armdyn.load(tmp_path / "new.toml")
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 20, 2))
    ours, theirs = (robot.inverse_dynamics(q, qd, qdd) for robot in (new, old))
    assert ours == pytest.approx(theirs, abs=0.02)


# Sums of many logs -------------------------------------------------------------------------------


def test_moments_are_kept_and_gone_on_from(capsys, logs, tmp_path, counted):
    """In two goes the same is found as in one, and no log is summed up twice."""
    kept, once = tmp_path / "kept.npz", tmp_path / "once.npz"
    assert command(capsys, "two_link", *logs[:2], "--moments", kept)[0] == 0
    assert counted == ["0.npz", "1.npz"]
    status, out, _ = command(capsys, "two_link", *logs, "--moments", kept, "--json")
    assert status == 0 and counted == ["0.npz", "1.npz", "2.npz"]
    _, whole, _ = command(capsys, "two_link", *logs, "--moments", once, "--json")
    assert json.loads(out) == json.loads(whole)


def test_interrupted_it_keeps_what_was_summed_up(capsys, logs, tmp_path, monkeypatch):
    kept, once = tmp_path / "kept.npz", tmp_path / "once.npz"
    made = identify.moments

    def stopping(robot, log, **options):
        if log.name == "2.npz":
            raise KeyboardInterrupt
        return made(robot, log, **options)

    with monkeypatch.context() as patch:
        patch.setattr(identify, "moments", stopping)
        status, out, err = command(capsys, "two_link", *logs, "--moments", kept)
    assert (status, out, err) == (130, "", "armdyn: interrupted\n")
    assert [note for note in Moments.load(kept).notes if note.startswith("part 1 of")] == [
        f"part 1 of {path}, 801 rows" for path in logs[:2]
    ]
    status, resumed, _ = command(capsys, "two_link", *logs, "--moments", kept, "--json")
    _, whole, _ = command(capsys, "two_link", *logs, "--moments", once, "--json")
    assert status == 0 and json.loads(resumed) == json.loads(whole)


def test_moments_of_another_arm_or_other_options_are_refused(capsys, logs, tmp_path):
    kept = tmp_path / "kept.npz"
    assert command(capsys, "two_link", logs[0], "--moments", kept, "--rest=0.1")[0] == 0
    status, _, err = command(capsys, "scara", logs[0], "--moments", kept)
    assert status == 2 and "are of another arm, 'two_link'; expected those of 'scara'" in err
    for words, message in (
        (("--rest=0.2",), "were made with rest (0.1, 0.1), not 0.2"),
        (("--cutoff=5",), "were made with cutoff None, not 5.0"),
        (("--no-friction",), "were made with friction True, not False"),
    ):
        status, _, err = command(capsys, "two_link", logs[0], "--moments", kept, *words)
        assert status == 2 and message in err


# Refused -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words, message",
    [
        ((), "the following arguments are required: LOG"),
        (("no.csv",), "cannot read 'no.csv': No such file"),
        (("a.txt",), "cannot read a log from 'a.txt'; expected a name in"),
        (("a.csv", "--save=new.docx"), "--save 'new.docx'; expected a name in .urdf or .toml"),
        (("a.csv", "--moments=m.csv"), "--moments 'm.csv'; expected a name in .npz"),
        (("a.csv", "--save=no/such/new.urdf"), "there is no directory 'no/such'"),
        (("a.csv", "--cutoff=x"), "expected a number, not 'x'"),
        (("a.csv", "--holdout=b.csv"), "did you mean --hold-out?"),
    ],
)
def test_what_cannot_be_is_refused(capsys, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    status, out, err = command(capsys, "two_link", *words)
    assert status == 2 and out == "" and message in err and err.count("\n") == 1
    assert not list(tmp_path.iterdir())
