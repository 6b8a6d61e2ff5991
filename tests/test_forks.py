"""Forks: a child never waits for what a thread of its parent had begun."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


@pytest.mark.parametrize("forks", [5, pytest.param(60, marks=pytest.mark.sweep)])
def test_a_child_forked_in_the_middle_of_compiling_compiles_too(forks):
    """Other threads trace, count, compile and drop kernels without a pause."""
    command = [sys.executable, "-m", "tests.forking", str(forks)]
    environment = os.environ | {"ARMDYN_CACHE_DIR": ""}
    done = subprocess.run(
        command, cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, f"a child hung, died or was wrong: {done.stderr}"


def test_a_fork_by_the_thread_that_compiles_does_not_wait_for_itself():
    code = """
import os, signal
from armdyn.engine import jit
signal.alarm(60)
with jit.LOCK:
    child = os.fork()
    if child == 0:
        jit.assemble("define i32 @f() { ret i32 7 }")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", code], check=True)
