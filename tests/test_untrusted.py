"""Loading in a child process: the same arms, and bombs that are refused."""

import sys

import numpy as np
import pytest

import armdyn
from armdyn import ModelError
from armdyn.cli import main
from armdyn.loaders import untrusted

BODY = '<body name="a"><joint name="j" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0"/></body>'


def mjcf(body=BODY, before="", after=""):
    return f"<mujoco><!-- small -->{before}<worldbody>{body}</worldbody>{after}</mujoco>"


def nested(levels, count, offset=""):
    opened = f'<replicate count="{count}" offset="1 0 0">' * levels
    return mjcf(opened + BODY + "</replicate>" * levels)


BOMBS = {
    "replicate": nested(1, 1000000),
    "nested": nested(3, 300),
    "keys": mjcf(before='<size nkey="2000000000"/>'),
    "field": mjcf(
        BODY + '<geom type="hfield" hfield="h"/>',
        '<asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>',
    ),
    "flexible": mjcf(
        BODY + '<flexcomp name="f" type="grid" count="2000 2000 20" spacing=".1 .1 .1" dim="3"/>'
    ),
}
POWER = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="arm"><!-- large -->
  <link name="${9**9**9**9}"/></robot>"""


@pytest.mark.sweep
@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused(name):
    pytest.importorskip("mujoco", reason="needs MuJoCo: pip install 'armdyn[mjcf]'")
    assert len(BOMBS[name]) < 400
    with pytest.raises(ModelError, match="reading it takes more than 10 s or 1024 MB"):
        armdyn.load(BOMBS[name], trusted=False)


@pytest.mark.sweep
def test_a_bomb_of_macros_is_refused(tmp_path, capsys):
    pytest.importorskip("xacro", reason="needs xacro: pip install 'armdyn[xacro]'")
    (tmp_path / "arm.xacro").write_text(POWER)
    assert main(["show", str(tmp_path / "arm.xacro"), "--untrusted"]) == 2
    assert "reading it takes more than 10 s" in capsys.readouterr().err


def test_a_child_that_does_not_end_is_ended(monkeypatch):
    """By the parent's clock, which is all that there is on some systems."""
    monkeypatch.setattr(untrusted, "CHILD", "import time; time.sleep(600)")
    monkeypatch.setattr(untrusted, "WALL", 0.5)
    with pytest.raises(ModelError, match="reading it takes more than"):
        armdyn.load("puma560", trusted=False)


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="no limit of memory there")
@pytest.mark.parametrize("what", ["bytearray(2 << 30)", "print('[' * 1000)", "print('[1, 2]')"])
def test_a_child_that_fails_is_no_crash(monkeypatch, what):
    """It asks for too much memory, or writes anything but an arm."""
    child = f"from armdyn.loaders.untrusted import _limit; _limit(); {what}"
    monkeypatch.setattr(untrusted, "CHILD", child)
    with pytest.raises(ModelError, match="ends the process that reads it"):
        armdyn.load("puma560", trusted=False)


@pytest.mark.parametrize("name", ["panda", "scara"])
def test_the_child_reads_the_same_arm(name):
    here, there = armdyn.load(name), armdyn.load(name, trusted=False)
    assert there.chain == here.chain
    assert there.notes == here.notes
    assert there.chain.file == here.chain.file


def test_options_and_errors_pass_through(tmp_path):
    """NumPy's numbers among them; the messages are the same."""
    options = {"tip": "panda_hand_tcp", "lock": {"panda_joint5": np.float64(0.5)}}
    options["gravity"] = np.array([1.0, 2.0, 3.0])
    there = armdyn.load("panda", trusted=False, **options)
    assert there.chain == armdyn.load("panda", **options).chain
    messages = []
    for trusted in True, False:
        with pytest.raises(ModelError) as caught:
            armdyn.load("panda", tip="hnd", trusted=trusted)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    with pytest.raises(ModelError, match="trusted=False takes plain data only"):
        armdyn.load("panda", lock=lambda: 0, trusted=False)
    with pytest.raises(ModelError, match="trusted is True or False"):
        armdyn.load("panda", trusted="no")


def test_no_module_of_the_working_folder_is_imported(tmp_path, monkeypatch):
    """A file may come with modules that bear the names of Python's own."""
    for name in ("json", "pickle", "resource"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("")
    assert armdyn.load("two_link", trusted=False).n == 2


def test_models_of_mujoco_are_compiled_in_the_child(monkeypatch):
    pytest.importorskip("mujoco", reason="needs MuJoCo: pip install 'armdyn[mjcf]'")
    here = armdyn.load(mjcf())
    monkeypatch.setitem(sys.modules, "mujoco", None)
    assert armdyn.load(mjcf(), trusted=False).chain == here.chain
