"""One thread for linear algebra: on matrices as small as these, several wait for each other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module


@contextmanager
def one_thread() -> Iterator[None]:
    """Within this, NumPy's linear algebra runs on one thread, where threadpoolctl is installed."""
    try:
        threads = import_module("threadpoolctl")
    except ImportError:
        yield
    else:
        with threads.threadpool_limits(1, "blas"):
            yield
