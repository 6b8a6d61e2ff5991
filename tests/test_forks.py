"""Forks: a child never waits for what a thread of its parent had begun."""

import contextlib
import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

from armdyn import forks
from tests import storm

PROJECT = Path(__file__).parent.parent

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


def run(code):
    """What a fresh process prints, which ends by itself."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"ARMDYN_CACHE_DIR": ""},
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("forks", [10, pytest.param(100, marks=pytest.mark.sweep)])
def test_a_child_forked_in_the_middle_of_anything_does_the_same(forks):
    """Other threads import, trace, count, compile and drop kernels without a pause."""
    came, bad = storm.campaign("forking", forks, storm.FORKS)
    assert came == forks and not bad


def test_a_fork_by_the_thread_that_compiles_does_not_wait_for_itself():
    code = """
import os, signal
from armdyn.engine import jit, llvm_thread
signal.alarm(60)
with llvm_thread.LOCK:
    child = os.fork()
    if child == 0:
        jit.assemble("define i32 @f() { ret i32 7 }")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""
    run(code)


GRAVITY = "armdyn.load('two_link').gravity([0, 0])"
FIRST_USES = {  # what a thread does, and a module which that imports
    "a public name": ("armdyn.load", "armdyn.loaders"),
    "a reader": ("armdyn.load('two_link')", "armdyn.loaders.toml"),
    "the checks of an arm": ("armdyn.load('two_link')", "armdyn.algorithms.crba"),
    "a random arm": ("armdyn.Chain.random(2)", "numpy.random"),
    "a method of Robot": ("armdyn.load('two_link').stepper(0.1)", "armdyn.simulation.stepper"),
    "an algorithm": (GRAVITY, "armdyn.algorithms.newton_euler"),
    "LLVM": (GRAVITY, "llvmlite.binding"),
    "the writer of its language": (GRAVITY, "armdyn.program.llvm"),
}

FIRST_USE = """
import os, signal, sys, threading, time
import numpy, armdyn
begun = threading.Event()

class Slow:
    def find_spec(name, path=None, target=None):
        if name == {module!r}:
            begun.set()
            time.sleep(0.3)

sys.meta_path.insert(0, Slow)
thread = threading.Thread(target=lambda: {use})
thread.start()
assert begun.wait(60)
child = os.fork()
if child == 0:
    signal.alarm(20)
    {use}
    os._exit(0)
thread.join()
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.parametrize(("use", "module"), FIRST_USES.values(), ids=FIRST_USES)
def test_a_fork_waits_for_an_import_within_a_call(use, module):
    """A module that a parent's thread was importing would never be ready in the child."""
    assert run(FIRST_USE.format(use=use, module=module)) == "0\n"


INTERRUPTED = """
import os, signal, threading, time
from armdyn import forks
from armdyn.engine import llvm_thread
from tests.storm import all_are_free

begun, done, signal_sent = threading.Event(), [], []

def hold():
    with forks.LOCKS[{which}]:
        begun.set()
        time.sleep(0.6)
        done.append(True)

def interrupt():
    signal_sent.append(not done)
    os.kill(os.getpid(), signal.SIGINT)

thread = threading.Thread(target=hold)
thread.start()
begun.wait()
threading.Timer(0.2, interrupt).start()
try:
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        os._exit(0 if done and all_are_free() else 1)
    time.sleep(30)
except KeyboardInterrupt:
    print("interrupted", signal_sent, os.waitpid(child, 0)[1], all_are_free())
"""


@pytest.mark.parametrize("which", [0, 1])
def test_an_interrupt_while_a_fork_waits_comes_when_it_is_over(which):
    """The fork waits nevertheless, and holds nothing afterwards."""
    assert run(INTERRUPTED.format(which=which)) == "interrupted [True] 0 True\n"


def test_what_a_fork_held_is_released_whatever_was_interrupted():
    """Hooks are called as a fork calls them: what one of them raises, the others do not see.

    An interrupt comes at the first step of their Python code, then at the second, and so on.
    """
    steps, interrupted = 0, []

    def interrupt(frame, event, argument):
        nonlocal steps
        if frame.f_code.co_filename != forks.__file__:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            steps += 1
            if steps == place:
                interrupted.append((place, frame.f_code.co_name))
                raise KeyboardInterrupt  # which also ends the tracing
        return interrupt

    before = sys.gettrace()
    try:
        for place in itertools.count(1):
            steps = 0
            for hook in (forks.hold, forks.hold, forks.let_go, forks.let_go):
                sys.settrace(interrupt if len(interrupted) < place else None)
                with contextlib.suppress(KeyboardInterrupt):
                    hook()
                sys.settrace(before)
                if hook is forks.hold:
                    held = len(forks._fork.held)
            assert held == len(forks.LOCKS)
            assert not forks._fork.held
            assert not any(lock._is_owned() for lock in forks.LOCKS)
            if len(interrupted) < place:
                break
    finally:
        sys.settrace(before)
        forks._fork.interrupted = False
    assert {"hold", "let_go"} <= {name for _, name in interrupted} and place > 50


THREADS = """
import os
from armdyn import forks
from armdyn.engine import jit

for k in range(100):
    jit.assemble(f"define i32 @f{k}() {{ ret i32 7 }}")
    forks.hold()
    threads = os.listdir("/proc/self/task")
    forks.let_go()
    assert len(threads) == 1, threads
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")
def test_no_thread_is_left_when_a_process_forks(monkeypatch):
    """Python 3.12 warns of a fork of a process that has threads."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    run(THREADS)
