"""The words of errors: what was meant, what is shown of a value, what is no name."""

import numpy as np
import pytest

import armdyn
from armdyn import MethodError, ModelError, errors, export
from armdyn.errors import as_names, meant, shorten

KNOWN = ("lin1991", "crba", "crba-minimal", "newton-euler", "pd-gravity")


@pytest.mark.parametrize(
    "typed, right",
    [
        ("cbra", "crba"),
        ("CRBA", "crba"),
        ("Lin1991", "lin1991"),
        ("newton", "newton-euler"),
        ("pd", "pd-gravity"),
        ("PD", "pd-gravity"),
    ],
)
def test_a_near_name_was_meant(typed, right):
    assert meant(typed, KNOWN) == f"did you mean {right!r}? "


@pytest.mark.parametrize("typed", ["", "p", "zzz", 3, None])
def test_where_no_name_is_near_none_was_meant(typed):
    assert meant(typed, KNOWN) == ""


def test_a_shipped_arm_is_found_in_any_case():
    assert armdyn.load("PANDA") == armdyn.load("panda")
    with pytest.raises(ModelError, match="no robot named 'pandda'; did you mean 'panda'"):
        armdyn.load("pandda")


def test_a_public_name_was_meant():
    with pytest.raises(AttributeError, match="no attribute 'laod'; did you mean 'load'\\?$"):
        armdyn.laod  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'zzz'$"):
        armdyn.zzz  # noqa: B018


class Mute:
    """What cannot be shown, gone through or measured."""

    def __repr__(self):
        raise RuntimeError("no words")

    def __iter__(self):
        raise OSError("no way")


def test_what_cannot_be_shown_is_called_by_its_type():
    assert shorten(Mute()) == "a Mute"
    with pytest.raises(ModelError, match="mass must be .*, not a Mute"):
        armdyn.load("two_link").chain.with_payload(mass=Mute())


NO_NAMES = [None, 3, [3], [[]], np.array(3.0), np.array("bias"), np.zeros((2, 2)), Mute()]


@pytest.mark.parametrize("given", NO_NAMES, ids=lambda given: type(given).__name__)
@pytest.mark.parametrize(
    "ask",
    [
        lambda robot, given: as_names("quantities", given),
        lambda robot, given: armdyn.count(robot, given),
        lambda robot, given: armdyn.compare(robot, given),
        lambda robot, given: export.c_files(robot, given),
    ],
    ids=["as_names", "count", "compare", "c_files"],
)
def test_what_is_no_name_is_told(ask, given):
    with pytest.raises(MethodError, match="quantities are names, not"):
        ask(armdyn.load("two_link"), given)


@pytest.mark.parametrize("given", [3, [3], np.zeros(2), Mute()], ids=lambda x: type(x).__name__)
@pytest.mark.parametrize(
    "ask, message",
    [
        (lambda robot, x: armdyn.count(robot, "bias", x), "method is .*expected a name"),
        (lambda robot, x: armdyn.count(robot, "bias", kind=x), "no kind of count .*known: literal"),
        (lambda robot, x: armdyn.count(robot, "bias", stage=x), "stage is .*expected a name"),
        (lambda robot, x: armdyn.compare(robot, "bias", x), "methods are names, not"),
        (lambda robot, x: export.c_files(robot, "bias", methods=x), "methods is .*by quantity"),
        (lambda robot, x: export.c_files(robot, "bias", name=x), "name is .*expected a string"),
        (lambda robot, x: armdyn.simulate(robot, [0, 0], friction=x), "True or False"),
    ],
    ids=["method", "kind", "stage", "methods", "c_files methods", "c_files name", "friction"],
)
def test_what_is_not_what_an_option_takes_is_told(ask, message, given):
    with pytest.raises(errors.ArmdynError, match=message):
        ask(armdyn.load("two_link"), given)


def test_seconds_are_a_number():
    with pytest.raises(MethodError, match="seconds is array"):
        armdyn.compare("two_link", "bias", seconds=np.zeros(2))


@pytest.mark.parametrize(
    "ask",
    [
        lambda long: armdyn.count(long, "bias"),
        lambda long: armdyn.count(armdyn.load("two_link"), "bias", stage=long),
    ],
    ids=["robot", "stage"],
)
def test_a_long_value_is_cut(ask):
    with pytest.raises(MethodError) as told:
        ask("x" * 5000)
    assert len(str(told.value)) < 300


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
