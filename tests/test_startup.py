"""A fresh process: it imports what it needs to answer, and no more."""

import inspect
import os
import subprocess
import sys
from types import FunctionType

import numpy as np
import pytest

import armdyn
from armdyn.algorithms import catalogue, crba, late
from armdyn.chain import checks
from armdyn.engine import image
from armdyn.quantities import QUANTITIES

FIRST = """
import sys, numpy
before = set(sys.modules)  # an environment may import modules of its own at its start
import armdyn
q = numpy.full(7, 0.1)
print(armdyn.load("panda").inverse_dynamics(q, q, q).tolist())
print(*set(sys.modules) - before)
"""


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    ).stdout


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    """The torque that a process finds with an empty cache, then one with a filled one; modules."""
    cache = str(tmp_path_factory.mktemp("cache"))
    found = []
    for _ in range(2):
        torque, modules = run(FIRST, ARMDYN_CACHE_DIR=cache).splitlines()
        found.append((torque, set(modules.split())))
    return found


def test_the_torque_from_the_cache_is_the_same(processes):
    (compiled, _), (cached, _) = processes
    assert cached == compiled


@pytest.mark.skipif(not image.LOADABLE, reason="LLVM loads the code here")
def test_a_kernel_from_the_cache_needs_no_llvmlite(processes):
    (_, first), (_, second) = processes
    assert "llvmlite" in first
    assert not [name for name in second if name.startswith("llvmlite")]


def test_a_kernel_from_the_cache_needs_no_algorithm_but_that_of_the_checks(processes):
    (_, first), (_, second) = processes
    computing = {f"armdyn.algorithms.{name}" for name in ("newton_euler", "drives", "lagrange")}
    assert "armdyn.algorithms.newton_euler" in first and not computing & second
    assert "armdyn.algorithms.crba" in second


def test_what_only_compiling_or_other_files_need_is_not_imported(processes):
    (_, first), (_, second) = processes
    assert "armdyn.program.llvm" in first and "armdyn.program.llvm" not in second
    slow = {"numpy.random", "tomllib", "importlib.resources", "pathlib", "json"}
    assert not slow & second


# Algorithms that are imported late ----------------------------------------------------------------


def test_every_name_in_the_catalogue_is_a_function():
    rows = [*catalogue.CATALOGUE.values(), *catalogue.TOGETHER.values()]
    named = [f for row in rows for m in row for f in (m.function, m.join) if f]
    named += [
        f for q in QUANTITIES.values() for f in (q.function, q.rotors, q.friction) if f is not None
    ]
    assert len(named) > 40
    for function in named:
        found = inspect.unwrap(function)
        assert isinstance(found, FunctionType) and "armdyn.algorithms." in found.__module__


def test_a_late_function_is_the_function():
    function = late.Late("crba").mass_matrix
    assert inspect.unwrap(function) is crba.mass_matrix
    arm, q = armdyn.load("two_link").chain.on(float), [0.3, 0.4]
    assert function(arm, q) == crba.mass_matrix(arm, q)


# The postures at which an arm is checked ----------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 7, 60])
def test_postures_are_spread_over_a_turn_and_differ(n):
    postures = np.array(list(checks.postures(n)))
    assert postures.shape == (checks.POSTURES, n)
    assert (abs(postures) <= np.pi).all()
    apart = abs(np.subtract.outer(postures.ravel(), postures.ravel()))
    assert apart[~np.eye(postures.size, dtype=bool)].min() > 1 / postures.size
    assert np.ptp(postures) > np.pi / 2
