"""What all tests share: a cache of compiled code of their own, gone when they end, and fixtures.

And the ids of tests: what has a name is called by it, so that an id says the method and the arm.
"""

import atexit
import os
import shutil
import tempfile

import hypothesis
import pytest

from armdyn.algorithms import catalogue
from armdyn.program.tape import Tape
from armdyn.quantities import choice, tasks
from tests import durations
from tests.interpreting import interpret

hypothesis.settings.register_profile("armdyn", deadline=None)  # no test fails for being slow
hypothesis.settings.load_profile("armdyn")
LONGEST = 40  # characters of a value in an id

if "PYTEST_XDIST_WORKER" not in os.environ:  # the workers inherit it
    folder = tempfile.mkdtemp(prefix="armdyn-tests-")
    os.environ["ARMDYN_CACHE_DIR"] = os.path.join(folder, "cache")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)


_finish = Tape.finish
Tape.finish = lambda *given: _finish(*given).check()  # every program that any test records


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what is marked
def pytest_collection_modifyitems(items):
    """Marks tests that take long as sweeps."""
    long = durations.listed()
    for item in items:
        if item.nodeid in long:
            item.add_marker(pytest.mark.sweep("long"))


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch):
    """Tables are as wide as they are where nobody says how wide."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def own_catalogue(monkeypatch):
    """The catalogue as a copy that a test may change; no choice made with it is remembered."""
    monkeypatch.setattr(catalogue, "CATALOGUE", dict(catalogue.CATALOGUE))
    monkeypatch.setattr(choice, "remembered", lambda question, names, choose: choose())
    yield catalogue.CATALOGUE
    tasks.forget_costs()


@pytest.fixture
def interpreted(monkeypatch):
    """Compile nothing."""
    interpret(monkeypatch)


@pytest.fixture(scope="module")
def client():
    """A client of two worker processes."""
    pytest.importorskip("distributed", reason="clusters need armdyn[cluster]")
    from armdyn.identification import cluster

    with pytest.MonkeyPatch.context() as patch:
        for name in (*cluster.BLAS, *cluster.MEMORY):  # what the system says goes before
            patch.delenv(name, raising=False)
        with cluster.local(2) as made:
            yield made


def pytest_make_parametrize_id(val):
    """The name of an arm, a robot or a method; short plain values as they are written."""
    name = getattr(getattr(val, "chain", val), "name", None)
    if isinstance(name, str):
        return name
    if isinstance(val, tuple | list | dict) and is_plain(val) and len(repr(val)) <= LONGEST:
        return repr(val)
    return None  # as pytest calls it


def is_plain(val):
    """Whether a value is written alike in every process: no addresses, no order of a set."""
    if isinstance(val, dict):
        return all(map(is_plain, val)) and all(map(is_plain, val.values()))
    if isinstance(val, tuple | list):
        return all(map(is_plain, val))
    return val is None or isinstance(val, str | bytes | int | float)
