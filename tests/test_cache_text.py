"""The disk cache and armdyn's own text: no process runs code made by another text than its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import armdyn

CHANGE = """
_unchanged = energy


def energy(arm, q, qd):
    kinetic, potential = _unchanged(arm, q, qd)
    return kinetic, potential + 1000
"""
ASK = "print(armdyn.Robot(armdyn.Chain.random(2)).energy([0, 0], [0, 0])[1])"
PAUSE = "print('imported', flush=True); input()"


@pytest.fixture
def copy(tmp_path):
    """A copy of the package, and a cache of its own."""
    shutil.copytree(Path(armdyn.__file__).parent, tmp_path / "text" / "armdyn")
    return tmp_path


def start(copy, code):
    environment = os.environ | {
        "PYTHONPATH": str(copy / "text"),
        "ARMDYN_CACHE_DIR": str(copy / "cache"),
    }
    command = [
        sys.executable,
        "-c",
        f"import armdyn; assert {str(copy)!r} in armdyn.__file__\n{code}",
    ]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True)


def answer(process):
    text, _ = process.communicate("go on\n", timeout=60)
    assert process.returncode == 0
    return float(text.split()[-1])


def entries(copy):
    return sorted(copy.glob("cache/*.armdyn"))


def test_code_of_a_process_older_than_the_text_is_not_run(copy):
    """It had imported the algorithm, and compiles after the text has changed."""
    early = start(copy, f"import armdyn.algorithms.kinematics; {PAUSE}; {ASK}")
    assert early.stdout.readline() == "imported\n"
    text = copy / "text/armdyn/algorithms/kinematics.py"
    text.write_text(text.read_text() + CHANGE)
    old = answer(early)
    assert answer(start(copy, ASK)) == pytest.approx(old + 1000)
    assert entries(copy), "the later process keeps its code"


def test_code_of_modules_imported_after_the_text_has_changed_is_not_kept_as_the_old(copy):
    """It had imported a part, imports the rest changed, and then the change is taken back."""
    early = start(copy, f"{PAUSE}; {ASK}")
    assert early.stdout.readline() == "imported\n"
    text = copy / "text/armdyn/algorithms/kinematics.py"
    right, status = text.read_text(), text.stat()
    text.write_text(right + CHANGE)
    new = answer(early)
    text.write_text(right)
    os.utime(text, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert answer(start(copy, ASK)) == pytest.approx(new - 1000)


def test_the_next_process_takes_the_code_from_the_disk(copy):
    first = answer(start(copy, ASK))
    (kept,) = entries(copy)
    before = kept.stat().st_ino
    forbid = "from armdyn.engine import jit; jit.compile = None"
    assert answer(start(copy, f"{forbid}; {ASK}")) == first
    (kept,) = entries(copy)
    assert kept.stat().st_ino == before
