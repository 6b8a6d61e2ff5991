"""Texts meant to keep a reader busy: no reader's time grows faster than its text."""

import time

import pytest

import armdyn
from armdyn import ModelError
from tests.test_bad_input import GOOD, added, side_arm

ARM = GOOD[GOOD.index("<robot") :]


def followers(n):
    """Joints of which each mimics the one before."""
    mimic = '<mimic joint="to_s{}"/>'
    arms = (side_arm(f"s{i}", parent="upper", extra=mimic.format(i - 1)) for i in range(1, n))
    return added(side_arm("s0", parent="upper"), *arms)


def fixed(n, parent):
    """Links that are fixed to one another, or all to one link."""
    return added(
        side_arm("s0", "fixed", "tool"),
        *(side_arm(f"s{i}", "fixed", parent(i)) for i in range(1, n)),
    )


TEXTS = {  # the size to begin with, and the text of a size
    "closed comments": (20_000, lambda n: "<!-- <a> -->" * n + ARM),
    "closed comments, many lines": (20_000, lambda n: "<!--\n - <\n-->\n" * n + ARM),
    "open comments": (20_000, lambda n: "<!-- " * n + ARM),
    "one comment": (20_000, lambda n: "<!-- " + "<? -" * n + " -->" + ARM),
    "one open comment": (20_000, lambda n: "<!-- " + "<? - " * n + ARM),
    "instructions": (20_000, lambda n: "<?a " * n + ARM),
    "closed instructions": (20_000, lambda n: "<?a b?>" * n + ARM),
    "an open tag": (200_000, lambda n: "<robot name='" + "x" * n),
    "a long tag": (200_000, lambda n: f"<{'x' * n}>"),
    "a name of many letters": (200_000, lambda n: GOOD.replace("upper", "upper" + "x" * n)),
    "many attributes": (3_000, lambda n: "<robot " + "".join(f"x{i}='' " for i in range(n)) + ">"),
    "mimics of mimics": (500, followers),
    "links in a row": (250, lambda n: fixed(n, lambda i: f"s{i - 1}")),
    "links on one link": (250, lambda n: fixed(n, lambda i: "s0")),
}


def busy(text):
    """The least CPU time of five loads [s]."""
    times = []
    for _ in range(5):
        start = time.process_time()
        try:
            armdyn.load(text)
        except ModelError:
            pass
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.sweep
@pytest.mark.parametrize("kind", TEXTS)
def test_time_grows_no_faster_than_the_text(kind):
    """Four times the text, less than eight times as long."""
    n, text = TEXTS[kind]
    armdyn.load(GOOD)  # imports
    assert busy(text(4 * n)) < 8 * busy(text(n))
