"""Whatever stands on the command line ends in status 0, or in status 2 and a line that says why."""

import contextlib
import io
import os
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import armdyn
from armdyn import cli, comparison
from armdyn.cli import excite, identify, main, simulate, tables
from armdyn.comparison import stopwatch
from armdyn.identification.moments import Moments
from tests.interpreting import interpret

LONG = "x" * 5000
WORDS = [
    "",
    " ",
    ",",
    "=",
    "-",
    "--",
    "..",
    "no/such",
    LONG,
    "a\0b",
    "\ud800",
    "é\x1b[2J\n",
    "[/b]",
]
NUMBERS = ["0", "1", "2", "-1", "0.5", "1e-9", "nan", "inf", "-inf", "1e300", "9" * 20, "9" * 5000]
LISTS = ["1,2", "0.1,-0.2", "-1,0", "1,,2", "1,x", "nan,1", "1,2,3", "two words", "1;2"]
ARMS = ["two_link", "panda", "pumma560", ".", "none.urdf", "a\0b.urdf", f"{LONG}.toml", "<robot"]
LINKS = ["panda_link3", "panda_joint1=0.5", "panda_joint1=nan", "panda_joint1=1e9", "=1", "x=1=2"]
NAMES = ["gravity", "bias", "all", "pose", "gravity,bias", "rnea", "lin1991", "rnea,crba", "gravty"]
PAIRS = ["gravity=rnea", "gravity=rnea,gravity=lin1991", "bias=", "=rnea", "kang", "lin1992"]
FILES = ["out.docx", "out.csv", "out.npz", "no/such/out.png", "a\0.png", f"{LONG}.csv", "taken"]

OPTIONS, FLAGS = {}, set()  # command -> its options, and those without a parameter
for command in cli.COMMANDS:
    parser = cli.Parser(prog=command)
    import_module(f"armdyn.cli.{command}").add_options(parser)
    OPTIONS[command] = sorted(name for action in parser._actions for name in action.option_strings)
    FLAGS |= {a.option_strings[0] for a in parser._actions if a.nargs == 0}
FRONTS = {  # with what is quick
    **dict.fromkeys(("show", "simulate", "excite", "export"), ["two_link"]),
    "compare": ["two_link", "--quantity=gravity"],
    "convert": ["two_link", "out.urdf"],
    "identify": ["two_link", "log.npz"],
}
value = st.one_of(
    *map(st.sampled_from, (WORDS, NUMBERS, LISTS, ARMS, LINKS, NAMES, PAIRS, FILES)),
    st.text(max_size=12),
    st.floats().map(repr),
)


KINDS = {  # what an option is made for, where that is not numbers
    **dict.fromkeys(
        ("--plot", "--save", "--output", "-o", "--name", "--moments", "--hold-out"), FILES
    ),
    **dict.fromkeys(("--quantity", "--methods", "--method"), NAMES + PAIRS),
    **dict.fromkeys(("--base", "--tip", "--lock"), LINKS),
    **dict.fromkeys(("--q0", "--qd0", "--tau", "--target", "--kp", "--kd", "--speed"), LISTS),
    "--paper": PAIRS,
    "--to": ["c", "rust"],
    "--dtype": ["float", "flot"],
}


@st.composite
def option(draw, command):
    """An option with a value, most often of its kind; sometimes misspelt, or with none."""
    name = draw(st.sampled_from(OPTIONS[command]))
    kind = st.sampled_from(KINDS.get(name, NUMBERS))
    word = draw(st.one_of(kind, kind, kind, value))
    if name in FLAGS or draw(st.integers(0, 9)) == 0:
        return [name]
    return draw(st.sampled_from([[name, word], [f"{name}={word}"], [name[:-1], word]]))


@st.composite
def command_line(draw):
    """A command with some of its options; most have an arm that is quick."""
    command = draw(st.sampled_from(cli.COMMANDS))
    options = draw(st.lists(option(command), max_size=3))
    front = list(FRONTS.get(command, []))
    if front and draw(st.integers(0, 4)) == 0:
        front[0] = draw(st.sampled_from(ARMS))
    return [command, *front, *(word for words in options for word in words)]


@pytest.fixture(scope="module", autouse=True)
def quick(tmp_path_factory):
    """What takes long is done once: the programs, the stopwatch, a simulation, a paper's tables."""
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "taken").mkdir()
    robot = armdyn.load("two_link")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        motion = armdyn.simulate(robot, [0.0, 0.0], t=0.01, dt=1e-3)
        patch.setattr(simulate, "simulate", lambda *arguments, **options: motion)
        telling = armdyn.excite(robot, 1.0, harmonics=2, friction=False, offsets=False)
        patch.setattr(excite, "excite", lambda *arguments, **options: telling)
        samples = telling.sample(100)
        tau = robot.inverse_dynamics(*samples[1:])
        np.savez("log.npz", **samples._asdict(), tau=tau)
        found = armdyn.identify(robot, armdyn.Log.read("log.npz"))
        patch.setattr(identify, "identify", lambda *arguments, **options: found)
        patch.setattr(identify, "summed", lambda *arguments: found.moments)
        patch.setattr(Moments, "fit", lambda *arguments, **options: found)
        counted = tables.made(["zomaya1988"])
        patch.setattr(tables, "made", lambda keys: counted)
        interpret(patch)
        patch.setattr(comparison, "STATES", 2)
        patch.setattr(stopwatch, "least", lambda calls, seconds: dict.fromkeys(calls, 1e-6))
        yield


def status_of(words):
    """The exit status, and what was written to stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(words)
        except SystemExit as stop:
            status = stop.code
    return status, out.getvalue(), err.getvalue()


def check(words):
    status, out, err = status_of(words)
    assert status in (0, 2), err
    if status == 2:
        line = err.splitlines()[-1]
        assert line.startswith("armdyn: ") and err.count("\n") <= 2 and len(line) < 800
        assert line.isprintable() and "Traceback" not in err
    else:
        assert out or err == ""
    assert not [name for name in os.listdir() if name.startswith(".armdyn-")]  # half-written


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_each_option_with_each_value_ends_well(command):
    front = FRONTS.get(command, [])
    for name in OPTIONS[command]:
        for word in [*KINDS.get(name, NUMBERS), *WORDS[len(name) % 3 :: 3]]:  # a third of all words
            check([command, *front, name] if name in FLAGS else [command, *front, name, word])


@given(command_line())
@settings(max_examples=100, deadline=None)
def test_commands_with_any_options_end_well(words):
    check(words)


@given(st.lists(value, max_size=4))
@settings(max_examples=60, deadline=None)
def test_any_words_end_well(words):
    check(words)


@pytest.mark.sweep
@given(command_line())
@settings(max_examples=800, deadline=None)
def test_many_commands_with_any_options_end_well(words):
    check(words)
