"""The command line: what it shows, what it prints as JSON, and how it refuses."""

import dataclasses
import errno
import json
import math
import os
import shutil
import signal
import subprocess
import sys
from functools import partial
from importlib import import_module

import pytest

import armdyn
from armdyn import Chain, cli
from armdyn.cli import compare, main, robots, tables
from armdyn.output.report import console
from docs import make_commands
from tests.interpreting import LEAST

posix = pytest.mark.skipif(os.name == "nt", reason="terminals and devices are others there")


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


def test_a_list_may_begin_with_a_minus(capsys):
    for words in (("--q0", "-1,0.5"), ("--q0=-1,0.5",), ("--q0", "-.5,0.5")):
        options = (*words, "--time", "1e-3", "--json")
        status, out, _ = run(capsys, "simulate", "two_link", *options)
        start = float(words[-1].removeprefix("--q0=").partition(",")[0])
        assert status == 0 and json.loads(out)["q"][0] == pytest.approx(start, abs=1e-3)


def stopped(capsys, *arguments):
    """What a call prints that ends by itself, as help does."""
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 0
    return capsys.readouterr().out


def test_help_is_a_command_too(capsys):
    assert stopped(capsys, "help", "eval") == stopped(capsys, "eval", "--help")
    assert stopped(capsys, "help") == stopped(capsys, "--help") == run(capsys)[1]
    assert stopped(capsys, "-V") == f"armdyn {armdyn.__version__}\n"


def test_the_help_lists_commands_in_groups_of_eighty_columns(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = stopped(capsys, "--help")
    assert max(map(len, text.splitlines())) <= 80
    places = [text.index(f"\n{title}:\n") for title in cli.GROUPS]
    assert places == sorted(places)
    for names in cli.GROUPS.values():
        assert all(f"\n  {name} " in text for name in names)


def test_a_robots_name_is_known_in_any_case(capsys):
    assert run(capsys, "show", "UR5") == run(capsys, "show", "ur5")


@posix
@pytest.mark.parametrize("shell", ["bash", "zsh"])
@pytest.mark.parametrize(
    ("typed", "found"),
    [
        (("ev",), {"eval"}),
        (("eval", "ur"), {"ur10", "ur3", "ur5"}),
        (("eval", "ur5", "mass"), {"mass_matrix", "mass_matrix_derivative"}),
        (("eval", "ur5", "--payload"), {"--payload", "--payload-frame"}),
        (("export", "--to", ""), {"c", "js"}),
        (("tables", "--paper", "k"), {"kang"}),
        (("help", "ev"), {"eval"}),
        (("eval", "ur5", "--q", ""), set()),
        (("convert", "ur5", "a_fi"), {"a_file"}),
        (("simulate", "ur5", "--save", "a_fi"), {"a_file"}),
    ],
)
def test_completion(capsys, tmp_path, shell, typed, found):
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"needs {shell}")
    (tmp_path / "a_file").touch()
    script = run(capsys, "completion", shell)[1]
    call = {
        "bash": '{0}COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _armdyn; '
        'printf "%s\\n" "${{COMPREPLY[@]}}"',
        "zsh": "compdef() {{ :; }}; compadd() {{ shift; print -l -- ${{(M)@:#$PREFIX*}}; }}; "
        '_files() {{ print -l -- $PREFIX*(N); }}; {0}words=("$@"); CURRENT=$#; '
        "PREFIX=$words[CURRENT]; _armdyn",
    }[shell].format(script)
    command = [path, *(["-f"] if shell == "zsh" else []), "-c", call, shell, "armdyn", *typed]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.stderr == "" and set(done.stdout.split()) == found


def test_written_files_are_named_in_full(capsys, monkeypatch, tmp_path):
    tmp_path = tmp_path.resolve()
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "convert", "two_link", "arm.toml")[1] == f"{tmp_path / 'arm.toml'}\n"
    out = run(capsys, "export", "two_link", "--quantity", "Gravity")[1]
    assert {*out.splitlines()} == {str(path) for path in tmp_path.glob("two_link*")}
    options = ("--time=1e-2", "--save=run.csv", "--view=run.html")
    lines = run(capsys, "simulate", "two_link", *options)[1].splitlines()
    assert lines[-2:] == [str(tmp_path / "run.csv"), (tmp_path / "run.html").as_uri()]
    json.loads(run(capsys, "simulate", "two_link", *options, "--json")[1])


def test_a_terminal_shows_the_cheapest_methods(capsys, monkeypatch, interpreted):
    found = armdyn.compare(armdyn.load("two_link"), ["mass_matrix"], **LEAST)
    monkeypatch.setattr(compare.comparison, "compare", lambda *arguments, **options: found)
    (ranking,) = found.rankings
    names = [row.method for row in ranking.rows]
    screen = console()
    monkeypatch.setattr(compare, "console", lambda: screen)
    for words, terminal, count in (
        ((), True, 5),
        (("--all",), True, len(names)),
        ((), False, len(names)),
    ):
        monkeypatch.setattr(type(screen), "is_terminal", terminal)
        out = run(capsys, "compare", "two_link", *words)[1]
        listed = [
            line.split()[0] for line in out.replace("*", " ").splitlines() if line.split()[:1]
        ]
        assert [name for name in names if name in listed] == names[:count]
        assert (f"{len(names) - 5} more: --all shows them." in out) == (count == 5)


LONG = "x" * 5000


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("sing",), "no command 'sing'; known: robots, show"),
        (("ls",), "no command 'ls'; did you mean 'robots'?"),
        (("info", "panda"), "no command 'info'; did you mean 'show'?"),
        (("help", "evl"), "no command 'evl'; did you mean 'eval'?"),
        (("eval", "panda", "mass"), "no quantity 'mass'; did you mean 'mass_matrix'?"),
        (("trace", "panda", "mass"), "no quantity 'mass'; did you mean 'mass_matrix'?"),
        (("eval", "no_such_arm", "mass"), "no quantity 'mass'; did you mean 'mass_matrix'?"),
        (("completion", "fish"), "no choice 'fish'; known: bash, zsh"),
        (("comapre",), "no command 'comapre'; did you mean 'compare'?"),
        ((LONG,), "no command 'xxx"),
        (("--jsn", "robots"), "unknown argument '--jsn'"),
        (("show",), "armdyn show --help"),
        (("show", "panda", "--snap", "x"), "--snap: expected a finite number, not 'x'"),
        (("show", "panda", "--snap", "nan"), "--snap: expected a finite number, not 'nan'"),
        (("show", "panda", "more"), "unknown argument 'more' (try 'armdyn show --help')"),
        (("show", "panda", f"--{LONG}"), "armdyn show --help"),
        (("show", "panda", "--lock=--"), "--lock: expected an argument, not '--'"),
        (("compare", "panda", "--metod=crba"), "did you mean --methods? (try 'armdyn compare"),
        (("compare", "panda", "--batch", "1.5"), "--batch: expected a whole number, not '1.5'"),
        (("compare", "panda", "--states", LONG), "--states: expected a whole number, not 'xxx"),
        (("compare", "panda", "--seconds", "inf"), "--seconds: expected a finite number"),
        (("compare", "panda", "--json", "--csv"), "not allowed with argument --json"),
        (("export", "panda", "--dtype", "flot"), "no choice 'flot'; did you mean 'float'?"),
        (("export", "panda", "--to", "rust"), "--to: no choice 'rust'; known: c"),
        (("export", "panda", "--to", "c", "--to=js"), "--to: given twice; expected once (try"),
        (
            ("export", "panda", "--quantity=bias", "--quantity", "pose"),
            "--quantity: given twice; expected once, its items separated by commas",
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_wrong_usage_takes_one_line_and_status_two(capsys, arguments, message):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    out, err = capsys.readouterr()
    assert stop.value.code == 2 and out == ""
    assert message in err and "--help" in err and err.count("\n") == 1 and len(err) < 800


def test_a_parser_may_be_used_again():
    """What one use was given counts for that one only."""
    parser = cli.parser()
    for target in ("c", "js"):
        assert parser.parse_args(["export", "panda", "--to", target]).to == target


def test_alone_it_shows_its_help(capsys):
    status, out, err = run(capsys)
    assert (status, err) == (0, "") and all(command in out for command in cli.COMMANDS)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("show", "panda", "--lock", "panda_joint1=nan"), "--lock takes JOINT=POSITION"),
        (("show", "panda", "--lock", "=1"), "--lock takes JOINT=POSITION with a number, not '=1'"),
        (
            ("show", "panda", "--lock", "a=1", "--lock", "a=2"),
            "--lock is given twice for joint 'a'",
        ),
        (
            ("show", "panda", "--snap", "-1"),
            "snap must be an angle of 0 <= snap < pi/4 [rad], not -1",
        ),
        (("show", "a\0b.urdf"), "cannot read 'a\\x00b.urdf'"),
        (("show", f"{LONG}.urdf"), "cannot read"),
        (("compare", "two_link", "--quantity=,"), "no quantity to compare; known: mass_matrix"),
        (
            ("compare", "two_link", "--states", "9" * 20),
            "hours; expected at most 4500000",
        ),
        (("compare", "two_link", "--states", "9" * 4000), "expected at most 4500000"),
        (
            ("compare", "two_link", "--seconds", "1e300"),
            "seconds is 1e+300, which each quantity takes twice; expected 0 to 3600",
        ),
        (
            ("compare", "two_link", "--seconds", "-1"),
            "seconds is -1.0, which each quantity takes twice; expected 0 to",
        ),
        (("compare", "panda", "--batch", "100000000"), "GB of memory; expected at most"),
        (
            ("compare", "two_link", "--methods=crba,kik"),
            "has no such method: kik; did you mean 'kic'?",
        ),
        (("compare", "two_link", "--plot", "a\0.png"), "cannot write 'a\\x00.png': embedded null"),
        (("compare", "two_link", "--plot", f"{LONG}.png"), "File name too long"),
        (("export", "two_link", "-o", "a\0"), "cannot write 'a\\x00': embedded null"),
        (("export", "two_link", "-o", LONG), "File name too long"),
        (
            ("export", "two_link", "--method=kic,lin1991"),
            "one METHOD, or QUANTITY=METHOD, not 'kic'",
        ),
        (("export", "two_link", "--method=bias=kic,bias=lin1991"), "given twice for 'bias'"),
        (("simulate", "two_link", "--save", "a\0.csv"), "cannot write 'a\\x00.csv': embedded null"),
        (("simulate", "two_link", "--save", f"{LONG}.csv"), "File name too long"),
    ],
    ids=lambda value: str(value)[:40].replace("\0", "NUL"),
)
def test_what_cannot_be_done_is_refused_before_the_work(
    capsys, monkeypatch, tmp_path, arguments, message
):
    if "--plot" in arguments:
        pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, *arguments)
    assert status == 2 and out == "" and os.listdir(tmp_path) == []
    assert message in err and err.startswith("armdyn: ") and err.count("\n") == 1
    assert len(err) < 800


# Failures on the way -----------------------------------------------------------------------------


def failing(monkeypatch, error):
    """The command robots, which fails so."""

    def fail(arguments):
        raise error

    monkeypatch.setattr(robots, "run", fail)


@pytest.mark.parametrize(
    "error, status, message",
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (MemoryError(), 2, "not enough memory"),
        (MemoryError("Unable to allocate 7 TiB"), 2, "not enough memory: Unable to allocate 7 TiB"),
        (RecursionError("maximum"), 2, "the input is nested too deeply"),
        (OSError(errno.ENOSPC, "No space left"), 2, "cannot write the output: No space left"),
        (armdyn.ArmdynError("two\nlines \x1b[2J"), 2, "two lines \\x1b[2J"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_failure_takes_one_line(capsys, monkeypatch, error, status, message):
    failing(monkeypatch, error)
    assert run(capsys, "robots") == (status, "", f"armdyn: {message}\n")


@pytest.mark.parametrize("error", [RuntimeError("defect"), OSError(errno.ENOENT, "no file", "x")])
def test_a_defect_is_seen(monkeypatch, error):
    failing(monkeypatch, error)
    with pytest.raises(type(error)):
        main(["robots"])


def test_a_long_complaint_is_cut(capsys, monkeypatch):
    failing(monkeypatch, armdyn.ArmdynError(LONG))
    _, _, err = run(capsys, "robots")
    assert len(err) == len("armdyn: ") + cli.LONGEST + 1 and "x ... x" in err


def test_an_interrupted_comparison_leaves_nothing_behind(capsys, monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")

    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(compare.comparison, "compare", interrupted)
    found = run(capsys, "compare", "two_link", "--plot", str(tmp_path / "bars.png"))
    assert found == (130, "", "armdyn: interrupted\n")
    assert os.listdir(tmp_path) == []


def test_an_interrupted_comparison_shows_what_was_finished(capsys, monkeypatch):
    finished = armdyn.compare("two_link", "gravity", "newton-euler", batch=1, states=1, seconds=0)

    def interrupted(*arguments, **options):
        raise armdyn.comparison.Interrupted(finished)

    monkeypatch.setattr(compare.comparison, "compare", interrupted)
    found = run(capsys, "compare", "two_link", "--csv")
    assert found == (130, finished.to_csv(), "armdyn: interrupted\n")


@posix
def test_an_interrupted_command_leaves_the_terminal_clean():
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "armdyn", "compare", "two_link", "--seconds", "600"]
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "80"}
    # A job in the background of a shell ignores the signal, and so would what it starts.
    heard = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(
        command, stdout=theirs, stderr=theirs, env=environment, preexec_fn=heard
    ) as process:
        os.close(theirs)
        shown = b""
        while b"stopwatch" not in shown:
            shown += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        try:
            while more := os.read(ours, 4096):
                shown += more
        except OSError:  # how Linux says that the other end is closed
            pass
    os.close(ours)
    assert process.returncode == 130
    assert shown.endswith(b"armdyn: interrupted\r\n") and b"Traceback" not in shown
    clean = shown.rpartition(b"\x1b[2K")[2]  # the bar's line was erased, the cursor is back
    assert shown.rfind(b"\x1b[?25h") > shown.rfind(b"\x1b[?25l")
    assert clean.split(b"\r\n")[-2].endswith(b"armdyn: interrupted")


def program(shell, **environment):
    """What a line of the shell gives, with armdyn in place of ARMDYN."""
    line = shell.replace("ARMDYN", f"{sys.executable} -m armdyn")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"} | environment
    return subprocess.run(line, shell=True, capture_output=True, text=True, env=environment)


@posix
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device is full here")
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["at-exit", "at-once"])
@pytest.mark.parametrize("arguments", ["show panda", "robots --json", "--help"])
def test_a_full_disk_takes_one_line(arguments, unbuffered):
    done = program(f"ARMDYN {arguments} > /dev/full", PYTHONUNBUFFERED=unbuffered)
    assert done.stderr == "armdyn: cannot write the output: No space left on device\n"
    assert done.returncode == 2


@posix
@pytest.mark.parametrize("arguments", ["robots", "show panda --json"])
def test_the_module_runs_as_a_program_and_survives_a_closed_pipe(arguments):
    done = program(f"(ARMDYN {arguments}; echo status $? >&2) | head -1", PYTHONUNBUFFERED="1")
    assert done.stderr == "status 0\n" and done.stdout.count("\n") == 1


@posix
def test_closed_streams_are_survived():
    assert program("ARMDYN robots >&-").stderr == ""
    assert program("ARMDYN show nothing 2>&-").returncode == 2


def test_letters_that_the_terminal_does_not_have_are_written_as_codes(tmp_path):
    (tmp_path / "arm.toml").write_text(
        "name = 'Löwe'\n[[joint]]\ntype = 'revolute'\nlink = {mass = 1, inertia = [1, 1, 1]}",
        encoding="utf-8",
    )
    done = program(f"ARMDYN show {tmp_path / 'arm.toml'}", PYTHONIOENCODING="ascii")
    assert done.stderr == "" and done.stdout.startswith("L\\xf6we: 1 joint")


# Narrow terminals --------------------------------------------------------------------------------


def shown(capsys, monkeypatch, columns, *arguments):
    monkeypatch.setenv("COLUMNS", str(columns))
    status, out, err = run(capsys, *arguments)
    assert (status, err) == (0, "")
    return out


def check_same_words(narrow, wide, columns):
    """The narrow text has every word and number of the wide one whole, within its columns."""
    assert max(map(len, narrow.splitlines())) <= columns < max(map(len, wide.splitlines()))
    assert "…" not in narrow
    words = [{word for word in text.split() if word.strip("─")} for text in (narrow, wide)]
    assert words[0] == words[1]


@pytest.mark.parametrize("arguments", [("robots",), *(("show", name) for name in armdyn.robots())])
def test_a_narrow_terminal_shows_all_of_an_arm(capsys, monkeypatch, arguments):
    texts = [shown(capsys, monkeypatch, width, *arguments) for width in (60, 200)]
    check_same_words(*texts, 60)


@pytest.mark.parametrize("paper", ["kang", "lin1991", "zomaya1988"])
def test_a_narrow_terminal_shows_all_of_a_paper(capsys, monkeypatch, paper):
    made = tables.made([paper])
    monkeypatch.setattr(tables, "made", lambda keys: made)
    texts = [shown(capsys, monkeypatch, width, "tables", "--paper", paper) for width in (60, 200)]
    check_same_words(*texts, 60)


def test_a_narrow_terminal_shows_all_of_a_comparison(capsys, monkeypatch, interpreted):
    found = armdyn.compare(armdyn.load("stanford"), **LEAST)
    monkeypatch.setattr(compare.comparison, "compare", lambda *arguments, **options: found)
    texts = [shown(capsys, monkeypatch, width, "compare", "stanford") for width in (60, 85)]
    check_same_words(*texts, 60)


def test_the_width_is_what_columns_says_if_that_is_a_number(monkeypatch):
    for told, width in (("72", 72), ("0", 40), ("x", 100), ("-3", 100), ("", 100), ("9" * 99, 100)):
        with monkeypatch.context() as told_so:  # undone before pytest itself looks
            told_so.setenv("COLUMNS", told)
            assert console().width == width


NASTY = ["[/b]", "[red]x", ":smile:", "x" * 500, "é\\u001b[2J", "two\\nlines"]


def test_names_of_any_kind_are_shown(capsys, monkeypatch, tmp_path):
    joint = "[[joint]]\nname = \"{0}\"\ntype = 'revolute'\nb = 0.1\n"
    joint += 'link = {{name = "{0}", mass = 1, com = [0.1234567, -0.1234567, 1.234567e-7], '
    joint += "inertia = [1.234567, 1.234567, 1.234567]}}\n"
    text = "".join(joint.format(name) for name in NASTY).replace("b = 0.1\n", "", 1)
    (tmp_path / "arm.toml").write_text(text, encoding="utf-8")
    out = shown(capsys, monkeypatch, 60, "show", str(tmp_path / "arm.toml"))
    assert max(map(len, out.splitlines())) <= 60 and "\x1b" not in out
    for name in ("[/b]", "[red]x", ":smile:", "é\\x1b[2J", "two lines"):
        assert name in out
    assert out.count("(0.1235, -0.1235, 1.235e-07)") == len(NASTY)


@pytest.mark.parametrize(
    "command",
    [
        ["show"],
        ["trace", "pose"],
        ["eval", "mass_matrix", "--q", "0,0"],
        ["compare", "--seconds", "0.1"],
        ["compare", "--csv", "--seconds", "0.1"],
        ["simulate", "--time", "0.1"],
        ["excite", "--duration", "1"],
    ],
    ids=" ".join,
)
def test_no_name_does_anything_to_the_terminal(command, capsys, monkeypatch, tmp_path):
    names = ["j\x1b[2J", "k\x07"]
    chain = Chain.random(2, "RR", seed=1)
    joints = [
        dataclasses.replace(joint, name=name, lower=-0.1, upper=0.1, velocity=1.0)
        for joint, name in zip(chain.joints, names, strict=True)
    ]
    chain = dataclasses.replace(chain, name="a\x1b[2Jrm", joints=tuple(joints))
    (tmp_path / "arm.toml").write_text(chain.to_toml(), encoding="utf-8")
    out = shown(capsys, monkeypatch, 80, command[0], str(tmp_path / "arm.toml"), *command[1:])
    assert "\\x1b" in out and all(c.isprintable() or c == "\n" for c in out)


# The page ----------------------------------------------------------------------------------------


def test_the_page_lists_every_command_and_option():
    """If not: python docs/make_commands.py."""
    page = make_commands.PAGE.read_text(encoding="utf-8")
    assert page == make_commands.markdown()
    for command in cli.COMMANDS:
        parser = cli.Parser(prog=command)
        import_module(f"armdyn.cli.{command}").add_options(parser)
        names = [name for action in parser._actions for name in action.option_strings]
        assert all(f"{name}" in page for name in names if name != "-h")
