"""Threads of linear algebra: one while a fit runs, and as many as before when none does."""

import sys
import threading

import pytest

from armdyn.identification import blas
from armdyn.identification.blas import one_thread

FOUND = blas._openblas()
pytestmark = pytest.mark.skipif(FOUND is None, reason="NumPy's linear algebra is not OpenBLAS's")


@pytest.fixture
def threads(monkeypatch):
    """OpenBLAS's number of threads, which begins at 2; no other library may count them."""
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    put, get = FOUND
    before = get()
    put(2)
    yield get
    put(before)


def test_fits_run_on_one_thread(threads):
    if threads() != 2:
        pytest.skip("OpenBLAS was built for one thread")
    with one_thread():
        assert threads() == 1
        with one_thread():
            assert threads() == 1
        assert threads() == 1
    assert threads() == 2


def test_an_error_restores_the_threads(threads):
    with pytest.raises(ZeroDivisionError), one_thread():
        raise ZeroDivisionError
    assert threads() == 2


def test_of_two_fits_at_the_same_time_the_last_restores_the_threads(threads):
    begun, done = threading.Event(), threading.Event()

    def fit():
        with one_thread():
            begun.set()
            done.wait()

    other = threading.Thread(target=fit)
    with one_thread():
        other.start()
        begun.wait()
    assert threads() == 1  # the other still runs
    done.set()
    other.join()
    assert threads() == 2


def test_the_libraries_of_every_platform_are_looked_into(monkeypatch, tmp_path):
    """On Windows names are found in the bundled library alone."""
    if not list((blas.Path(blas.np.__file__).parents[1] / "numpy.libs").glob("*openblas*")):
        pytest.skip("NumPy has no library bundled")
    real = blas.ctypes.CDLL

    def windows(file):
        if "openblas" not in file:
            raise OSError
        return real(file)

    monkeypatch.setattr(blas.ctypes, "CDLL", windows)
    assert blas._openblas.__wrapped__()[1]() == FOUND[1]()
