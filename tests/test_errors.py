"""What messages are made of: texts cut short, lists, names that were perhaps meant, numbers."""

import numpy as np
import pytest

from armdyn import errors


def test_text_is_cut_in_its_middle_and_stays_on_one_line():
    assert errors.cut("an arm") == "an arm"
    assert errors.cut("two  spaces") == "two  spaces"  # a name is shown as it is
    assert errors.cut(" a\n\n  b\r\nc ") == "a b c"
    assert errors.cut("bell \a, \x1b[31m, \u202e") == r"bell \x07, \x1b[31m, \u202e"
    long = errors.cut("begin" + "x" * 10**6 + "end")
    assert len(long) == errors.LONGEST and long.startswith("begin") and long.endswith("xend")
    assert " ... " in long


def test_what_does_not_print_never_makes_a_text_longer_than_allowed():
    for length in range(1, 400):
        assert len(errors.cut("\a" * length)) <= errors.LONGEST


def test_values_are_shown_by_their_repr():
    assert errors.shorten("it's") == '"it\'s"'
    assert errors.shorten(np.zeros((2, 2))) == "array([[0., 0.], [0., 0.]])"
    assert "more digits" in errors.shorten(10**10_000)


def test_lists_name_forty_and_count_the_rest():
    names = [f"link{k}" for k in range(100)]
    shown = errors.listed(names)
    assert shown.endswith("link39, and 60 more") and shown.count(",") == 40
    assert errors.listed(names[:40]).endswith("link39")


def test_a_name_that_is_near_is_asked_for():
    assert errors.unknown("arm", "pandda", ["panda", "ur5"]) == (
        "no arm 'pandda'; did you mean 'panda'? known: panda, ur5"
    )
    assert errors.unknown("arm", 3, ["panda"], " here") == "no arm 3 here; known: panda"


class Stubborn:
    def __index__(self):
        raise RuntimeError


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3), np.array(3)])
def test_what_is_a_whole_number(value):
    assert errors.whole(value) == 3 and type(errors.whole(value)) is int


@pytest.mark.parametrize(
    "value", [True, np.True_, 3.0, "3", None, np.timedelta64(3, "s"), np.array([3]), Stubborn()]
)
def test_what_is_no_whole_number(value):
    assert errors.whole(value) is None
    with pytest.raises(errors.MethodError, match="size is .*; expected a whole number of at least"):
        errors.whole_number("size", value, errors.MethodError)
