"""Ctrl-C while something compiles: the call ends, and nothing else comes of it."""

import contextlib
import gc
import os
import subprocess
import sys
from ctypes import CFUNCTYPE, c_int32

import pytest

import armdyn
from armdyn.algorithms.stages import stored_zero
from armdyn.counting import rules
from armdyn.engine import jit, llvm_thread
from tests import storm

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends signals to itself")

# Steps of llvmlite that leave something undone where they are cut off: which, and which time
STEPS = {
    "the module is not yet entered": ("ffi.ObjectRef.__enter__", 2),
    "the target is not yet closed": ("ffi.ObjectRef.close", 1),
    "the context is not yet closed": ("ffi.ObjectRef.close", 3),
    "a string is not yet given back": ("ffi.OutputString.__exit__", 1),
    "the lock is just taken": ("ffi._LLVMLock.__enter__", 3),
    "the lock is not yet given back": ("ffi._LLVMLock.__exit__", 1),
    "the lock is not yet given back, later": ("ffi._LLVMLock.__exit__", 3),
}

INTERRUPTED = """
import gc, os, signal, threading
import numpy as np
import armdyn
from llvmlite.binding import ffi, module

robot, q = armdyn.load("puma560"), np.zeros(6)
robot.gravity(q)  # LLVM is ready
step, left = {step}, [{which}]

def interrupted(self, *given):
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGINT)
    return step(self, *given)

{step} = interrupted
try:
    robot.mass_matrix(q)
    for _ in range(10**9):
        pass  # Ctrl-C comes within microseconds, if late
except KeyboardInterrupt as interrupt:
    interrupt.__traceback__ = None
else:
    raise SystemExit("no KeyboardInterrupt")
gc.collect()
{step} = step
other = threading.Thread(target=robot.bias, args=(q, q))
other.start()
other.join(60)
assert not other.is_alive(), "LLVM is locked for ever"
assert robot.mass_matrix(q).shape == (6, 6)
"""


AWAKE = """
import os, signal, threading
import numpy as np
import armdyn
from llvmlite.binding import targets

robot, go_on, code = armdyn.load("puma560"), threading.Event(), []
emit = targets.TargetMachine.emit_object

def slowly(self, module):
    os.kill(os.getpid(), signal.SIGINT)
    assert go_on.wait(60)
    code.append(emit(self, module))
    return code[0]

targets.TargetMachine.emit_object = slowly
try:
    robot.gravity(np.zeros(6))
except KeyboardInterrupt:
    targets.TargetMachine.emit_object = emit
    go_on.set()  # only now the work may come to its end
print(robot.gravity(np.zeros(6)).shape, len(code))
"""

LEAVING = """
import os, sys, threading, time
import armdyn
from llvmlite.binding import targets

begun, emit = threading.Event(), targets.TargetMachine.emit_object

def slowly(self, module):
    begun.set()
    time.sleep({seconds})
    print("compiled", flush=True)
    return emit(self, module)

targets.TargetMachine.emit_object = slowly
robot = armdyn.load("two_link")
threading.Thread(target=robot.gravity, args=([0, 0],), daemon=True).start()
begun.wait()
sys.exit(3)
"""

IMPORTING = """
import os, signal, sys
import armdyn

class Interrupt:
    def find_spec(name, path=None, target=None):
        if name == "armdyn.chain.random":
            os.kill(os.getpid(), signal.SIGINT)
            os.getpid()  # here Python sees it

sys.meta_path.insert(0, Interrupt)
try:
    armdyn.Chain.random(2)
except KeyboardInterrupt:
    print("armdyn.chain.random" in sys.modules)
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


def child(code, **environment):
    """What a fresh process without a disk cache, which must end by itself, says and returns."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"ARMDYN_CACHE_DIR": ""} | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(("step", "which"), STEPS.values(), ids=STEPS)
def test_an_interrupt_between_steps_of_llvmlite_ends_the_call_alone(step, which):
    done = child(INTERRUPTED.format(step=step, which=which))
    assert (done.returncode, done.stderr) == (0, "")


def test_an_interrupt_ends_the_waiting_before_the_compiling():
    """The work goes on without its caller, and a repeated call is none the worse for it."""
    done = child(AWAKE)
    assert (done.stdout, done.stderr) == ("(6,) 1\n", "")


def test_the_end_of_the_interpreter_waits_for_the_compiling():
    done = child(LEAVING.format(seconds=0.5))
    assert (done.returncode, done.stdout, done.stderr) == (3, "compiled\n", "")


@pytest.mark.sweep
def test_the_end_of_the_interpreter_does_not_wait_for_ever():
    done = child(LEAVING.format(seconds=1000))
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "")


def test_an_interrupt_during_an_import_comes_after_it():
    """Python's import is never cut off: it would leave a lock of Python's own held."""
    assert child(IMPORTING).stdout == "True\nTrue\n"


@pytest.mark.parametrize("interrupts", [20, pytest.param(500, marks=pytest.mark.sweep)])
def test_interrupts_at_random_moments_leave_nothing_behind(interrupts):
    came, bad = storm.campaign("interrupted", interrupts, storm.INTERRUPTS)
    assert came == interrupts and not bad


def test_llvms_objects_are_closed_by_the_next_work_after_their_owner():
    """Where LLVM links, they must not be closed on a thread that Ctrl-C may interrupt."""
    code = jit.assemble("define i32 @f() {\nret i32 7\n}")
    loaded = jit.LoadedCode(code, "f")
    assert CFUNCTYPE(c_int32)(loaded.address)() == 7
    objects = list(llvm_thread._kept.values())[-1]
    del loaded
    gc.collect()
    assert not any(each.closed for each in objects)
    jit.assemble("define i32 @g() {\nret i32 8\n}")
    assert all(each.closed for each in objects)


def test_an_interrupt_at_the_end_of_a_count_leaves_no_rule_behind(monkeypatch):
    """Its rules would change the numbers of all later calls."""
    tally = rules._tally

    class Interrupted:
        get, set = tally.get, tally.set

        def reset(self, token):
            tally.reset(token)
            raise KeyboardInterrupt

    monkeypatch.setattr(rules, "_tally", Interrupted())
    with contextlib.suppress(KeyboardInterrupt):
        armdyn.count(armdyn.load("two_link"), "gravity", "newton-euler", kind="literal")
    assert tally.get() is None and stored_zero.get() == 0
