"""Writes down which tests take long, for the suite to leave them to the sweeps.

    python -m pytest -p tests.durations -n auto -m "sweep or not sweep"

measures the processor time of every test, with a cache of compiled code that is empty at first, and
writes those that take more than LIMIT to ``long.txt``. ``conftest`` marks them as sweeps; a test
that says so itself is not listed.
"""

import os
from pathlib import Path

import pytest

LIMIT = 0.6  # [s]
LIST = Path(__file__).with_name("long.txt")
SPENT = "processor seconds"


def listed():
    """The ids of tests that take long."""
    return frozenset(LIST.read_text(encoding="utf-8").splitlines())


def is_listed_alone(item):
    """Whether nothing but the list can make a sweep of a test."""
    return all(mark.args == ("long",) for mark in item.iter_markers("sweep"))


def seconds():
    """Processor time of this process and of those that it waited for."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    begun = seconds()
    try:
        return (yield)
    finally:
        if is_listed_alone(item):
            item.user_properties.append((SPENT, seconds() - begun))


found = set()


def pytest_runtest_logreport(report):
    spent = dict(report.user_properties).get(SPENT, 0)
    if report.when == "call" and spent > LIMIT:
        found.add(report.nodeid)


def pytest_sessionfinish(session):
    if "PYTEST_XDIST_WORKER" not in os.environ:
        lines = sorted(found)
        LIST.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
