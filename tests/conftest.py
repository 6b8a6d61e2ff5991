"""What all tests share: a cache of compiled code of their own, gone when they end, and fixtures."""

import atexit
import os
import shutil
import tempfile

import pytest

from armdyn import quantities
from armdyn.algorithms import catalogue
from tests.interpreting import interpret

if "PYTEST_XDIST_WORKER" not in os.environ:  # the workers inherit it
    folder = tempfile.mkdtemp(prefix="armdyn-tests-")
    os.environ["ARMDYN_CACHE_DIR"] = os.path.join(folder, "cache")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)


@pytest.fixture
def own_catalogue(monkeypatch):
    """The catalogue as a copy that a test may change; no choice made with it is remembered."""
    monkeypatch.setattr(catalogue, "CATALOGUE", dict(catalogue.CATALOGUE))
    yield catalogue.CATALOGUE
    for remembered in (quantities.cheapest, quantities.program_cost):
        remembered.cache_clear()


@pytest.fixture
def interpreted(monkeypatch):
    """Compile nothing."""
    interpret(monkeypatch)
