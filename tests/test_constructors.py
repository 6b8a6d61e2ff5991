"""Whatever is given to a constructor: a chain, or an armdyn error that says which argument."""

import dataclasses
import math
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armdyn import ArmdynError, Chain, ModelError
from armdyn.chain import Frame, Joint, Link
from armdyn.chain.at_call import NOTHING
from armdyn.chain.inertia import Inertia
from armdyn.chain.pose import Pose
from armdyn.loaders import load
from tests.test_bad_input import GOOD


class Stubborn:
    """An object that is no array, and fails at saying so."""

    def __array__(self, *arguments, **keywords):
        raise RuntimeError("no array")


class Loop:
    """An object that fails while it is iterated over."""

    def __iter__(self):
        yield 1.0
        raise OSError("no more")


NASTY = {
    "none": lambda: None,
    "word": lambda: "x",
    "empty word": lambda: "",
    "long word": lambda: "x" * 10_000,
    "surrogate": lambda: "\ud800",
    "bytes": lambda: b"RR",
    "true": lambda: True,
    "np true": lambda: np.True_,
    "nan": lambda: math.nan,
    "inf": lambda: math.inf,
    "-inf": lambda: -math.inf,
    "1e200": lambda: 1e200,
    "-1e200": lambda: -1e200,
    "1e308": lambda: 1e308,
    "1e-320": lambda: 1e-320,
    "-1": lambda: -1,
    "0": lambda: 0,
    "7": lambda: 7.0,
    "huge int": lambda: 10**400,
    "unprintable int": lambda: 10**5000,
    "complex": lambda: 1j,
    "np complex": lambda: np.array([1j, 1.0]),
    "complex objects": lambda: np.array([np.complex128(1j), 1.0], object),
    "date": lambda: np.datetime64("2020-01-01"),
    "dates": lambda: np.array(["2020-01-01", "2021-01-01"], "datetime64[D]"),
    "span": lambda: np.timedelta64(3, "s"),
    "ragged": lambda: [[1], [1, 2]],
    "empty list": lambda: [],
    "list": lambda: [0.0, 1.0],
    "list of inf": lambda: [0.0, math.inf],
    "list of large": lambda: [1e200, -1e308],
    "list of words": lambda: ["a", "b"],
    "list of none": lambda: [None, None],
    "list of lists": lambda: [[1.0, 2.0], [3.0, 4.0]],
    "list of arrays": lambda: [np.zeros(2), np.zeros((3, 3))],
    "0-d": lambda: np.array(1.0),
    "0-d word": lambda: np.array("R"),
    "0-d object": lambda: np.array(None, object),
    "words": lambda: np.array(["R", "R"]),
    "objects": lambda: np.array([1, None], object),
    "array": lambda: np.zeros(2),
    "large array": lambda: np.full((2, 3), 1e200),
    "large tensors": lambda: np.full((2, 3, 3), 1e308),
    "large matrix": lambda: np.full((4, 4), 1e308),
    "matrix of inf": lambda: np.full((4, 4), math.inf),
    "parameters": lambda: np.full((2, 10), 1e300),
    "longdouble": lambda: np.array([np.longdouble("1e4000"), 1]),
    "set": lambda: {1.0, 2.0},
    "dict": lambda: {"a": 1},
    "generator": lambda: (x for x in (0.0, 1.0)),
    "loop": Loop,
    "stubborn": Stubborn,
    "list of stubborn": lambda: [Stubborn(), Stubborn()],
    "function": lambda: len,
    "pose": lambda: Pose(((1e200,) * 3,) * 3),
    "ragged pose": lambda: Pose(((1.0,), (1.0, 2.0))),
    "pose of words": lambda: Pose("x", None),
    "inertia": lambda: Inertia(1e200, (1e200,) * 3, (1e308,) * 6),
    "inertia of words": lambda: Inertia("x", None, Stubborn()),
    "frames": lambda: [Frame("f", 10**400)],
    "lock": lambda: {"elbow": Stubborn(), 1: None},
    "surrogate path": lambda: "\ud800.urdf",
    "far frames": lambda: [Frame("f", 0, Pose(translation=(1e200, 0, 0)))],
}
SOUND = dict(
    d=[0.1, 0.2],
    theta=[0.3, 0.4],
    joints="RP",
    mass=[1.0, 2.0],
    com=[[0.1, 0, 0]] * 2,
    inertia=[[0.1, 0.1, 0.1]] * 2,
    inertia_about="com",
    order="pinocchio",
    rotor_inertia=[0.1, 0.2],
    viscous=0.1,
    coulomb=0.2,
    limits=[-1, 1],
    joint_names=["one", "two"],
    link_names=["a", "b"],
    base=np.eye(4),
    tip=Pose(),
    gravity=(0, 0, -9.81),
    frames=[Frame("eye", 0)],
    name="arm",
    degrees=False,
    snap=1e-9,
    check="error",
)
MDH = {**SOUND, "b": [0, 0.5], "beta": [0, 1.0]}
DH = {**SOUND, "a": [0, 0.5], "alpha": [0, 1.0]}
TEN = {key: MDH[key] for key in MDH if key not in ("mass", "com", "inertia")}
ARM = Chain.random(2, "RP", seed=1)
ROW = dict(name="j", kind="R", **dict.fromkeys(("b", "beta", "d", "theta"), 0.0))
MOTOR = dict(rotor_inertia=1.0, viscous=1.0, coulomb=(0, 0), lower=0, upper=1)
MAKERS = {  # what is called, and arguments that are sound
    "from_mdh": (Chain.from_mdh, MDH),
    "from_dh": (Chain.from_dh, DH),
    "from_mdh, parameters": (
        Chain.from_mdh,
        {**TEN, "parameters": ARM.parameters_in("pinocchio")},
    ),
    "with_gravity": (ARM.with_gravity, dict(gravity=(0, 0, 1), check=None)),
    "with_payload": (
        ARM.with_payload,
        dict(mass=1, com=(0, 0, 1), inertia=np.eye(3), check="warn"),
    ),
    "with_payload, frame": (ARM.with_payload, dict(mass=1, frame="link1")),
    "with_frame": (
        ARM.with_frame,
        dict(name="eye", link="link1", pose=np.eye(4), check=None),
    ),
    "with_frame, base": (ARM.with_frame, dict(name="eye", link=-1, pose=Pose())),
    "with_friction": (
        ARM.with_friction,
        dict(viscous=[0.1, 0.2], coulomb=[[-1, 2], [0, 3]], check="warn"),
    ),
    "with_rotors": (ARM.with_rotors, dict(inertia=[0.1, 0.2], check="error")),
    "with_parameters": (
        ARM.with_parameters,
        dict(parameters=ARM.parameters, order="pinocchio", check="warn"),
    ),
    "random": (Chain.random, dict(n=2, joints="RP", seed=1, structure="generic")),
    "find_frame": (ARM.find_frame, dict(name="link1")),
    "parameters_in": (ARM.parameters_in, dict(order="khalil")),
    "on": (ARM.on, dict(number=float, parameters="natural", call=NOTHING)),
    "seen_as": (ARM.seen_as, dict(view="minimal", any_gravity=True)),
    "Chain": (
        Chain,
        {field.name: getattr(ARM, field.name) for field in dataclasses.fields(Chain)},
    ),
    "load URDF": (
        load,
        dict(
            source=GOOD, base="base", tip="tool", lock={}, gravity=(0, 0, 1), snap=0, check="warn"
        ),
    ),
    "load TOML": (load, dict(source="two_link", gravity=(0, 0, 1), snap=0, check="error")),
    "Joint": (Joint, {**ROW, **MOTOR, "velocity": 1.0, "effort": 1.0}),
    "Link": (Link, dict(name="l", inertia=Inertia(1.0))),
    "Frame": (Frame, dict(name="f", link=0, pose=Pose())),
    "Inertia.of": (Inertia.of, dict(mass=1, first_moment=(0, 0, 0), tensor=np.eye(3))),
    "Inertia.from_com": (Inertia.from_com, dict(mass=1, com=(0, 0, 0), about_com=np.eye(3))),
    "Inertia.from_parameters": (
        Inertia.from_parameters,
        dict(ten=np.ones(10), order="khalil"),
    ),
    "Inertia": (
        lambda **fields: Link("l", Inertia(**fields)),
        dict(mass=1.0, first_moment=(0, 0, 0), tensor=(1, 0, 0, 1, 0, 1)),
    ),
    "Pose.of": (Pose.of, dict(rotation=np.eye(3), translation=(0, 0, 0))),
    "Pose.mdh": (Pose.mdh, dict(b=1, beta=2.0, theta=3.0, d=4)),
    "Pose.from_matrix": (Pose.from_matrix, dict(matrix=np.eye(4))),
    "Pose": (
        lambda **fields: Frame("f", 0, Pose(**fields)),
        dict(rotation=np.eye(3), translation=(0, 0, 0)),
    ),
}
PLACES = [(maker, argument) for maker, (_, sound) in MAKERS.items() for argument in sound]


def ends_well(maker, changes):
    """A result, or an armdyn error of a readable length; no warning either way."""
    make, sound = MAKERS[maker]
    arguments = {**sound, **{key: NASTY[case]() for key, case in changes.items()}}
    if "number" in changes and callable(arguments["number"]):  # which is trusted to be one
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            made = make(**arguments)
        except ArmdynError as error:
            assert 10 < len(str(error)) < 2000, str(error)
            return
        if isinstance(made, Chain):
            assert len(repr(made)) < 200
            assert np.isfinite(made.parameters).all()


@pytest.mark.parametrize("maker", MAKERS)
def test_sound_arguments_are_accepted(maker):
    make, sound = MAKERS[maker]
    make(**sound)


@pytest.mark.parametrize(("maker", "argument"), PLACES, ids=map("-".join, PLACES))
def test_each_argument_replaced(maker, argument):
    """Every argument in turn by everything nasty."""
    for case in NASTY:
        ends_well(maker, {argument: case})


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_several_arguments_replaced(data):
    maker = data.draw(st.sampled_from(list(MAKERS)))
    keys = st.sampled_from(list(MAKERS[maker][1]))
    ends_well(maker, data.draw(st.dictionaries(keys, st.sampled_from(list(NASTY)), max_size=4)))


NAMED = {  # argument of from_mdh: what is given, and how the message begins or goes on
    "check": (np.array(["error"]), "check is 'error' or 'warn', not array"),
    "degrees": (np.zeros(2), "degrees is True or False, not array"),
    "inertia_about": (np.array(["com", "com"]), "inertia_about is 'com' or 'origin', not array"),
    "order": (np.array("pinocchio"), "no parameter order array"),
    "name": (np.array(["arm"]), "the name of a chain must be a string, not array"),
    "joint_names": (np.array("one"), "joint_names must be a list of 2 names, not array"),
    "frames": (np.array("eye"), "frames must be a tuple of Frame, not array"),
    "joints": (np.array("RR"), "joints must be a letter a joint, such as 'RRP', not array"),
    "mass": ([1.0, 1e200], "link 'b': mass, first moment and inertia must be at most 1e.50"),
    "com": ([[1e200, 0, 0]] * 2, "link 'a': mass, first moment and inertia must be finite"),
    "inertia": (1e200, "link 'a': mass, first moment and inertia must be at most"),
    "b": ([0, 1e200], r"joint 'two': b must be at most 1e\+50 in size, not 1e\+200"),
    "beta": ([0, math.inf], "joint 'two': beta must be finite, not inf"),
    "theta": ([math.inf, 0], "base: the pose must be finite"),
    "d": (Stubborn(), "d must be numbers of shape .2,., not <.*Stubborn"),
    "tip": (Pose(translation=(1e200, 0, 0)), r"tip: the pose must be at most 1e\+50"),
    "gravity": ((0, 0, 1e308), r"gravity must be at most 1e\+50 in size"),
}


@pytest.mark.parametrize("argument", NAMED)
def test_the_argument_is_named(argument):
    value, message = NAMED[argument]
    with pytest.raises(ModelError, match=message):
        Chain.from_mdh(**{**MDH, argument: value})


def test_a_mass_matrix_that_is_not_finite_is_refused_whatever_the_check():
    """m d^2 of a TOML table of numbers that each fit a double, and do not fit together."""
    from armdyn.loaders import toml

    text = """
        [[joint]]
        type = "revolute"
        link = {mass = 1, inertia = [1, 1, 1]}
        [[joint]]
        type = "revolute"
        b = 1e160
        link = {mass = 1, inertia = [1, 1, 1]}
    """
    for check in ("error", "warn"):
        with pytest.raises(ModelError, match=r"joint 'joint2': b must be at most 1e\+50"):
            toml.load(text, check=check)
    assert toml.load(text.replace("1e160", "1e2")).n == 2


def test_a_and_alpha_are_other_names_of_b_and_beta():
    craig = {"a" if key == "b" else "alpha" if key == "beta" else key: MDH[key] for key in MDH}
    assert Chain.from_mdh(**craig) == Chain.from_mdh(**MDH)
    with pytest.raises(ModelError, match="b and a are the same column; give one of them"):
        Chain.from_mdh(**MDH, a=[0, 0.5])
    with pytest.raises(ModelError, match="beta and alpha are the same column"):
        Chain.from_mdh(**MDH, alpha=[0, 0.5])
    with pytest.raises(ModelError, match="b is missing: the table needs the column b .or a."):
        Chain.from_mdh(**{key: MDH[key] for key in MDH if key != "b"})


@pytest.mark.parametrize(("make", "sound"), [(Chain.from_mdh, MDH), (Chain.from_dh, DH)])
@pytest.mark.parametrize(("typo", "right"), [("masses", "mass"), ("link_name", "link_names")])
def test_a_misspelt_argument_is_named_and_put_right(make, sound, typo, right):
    with pytest.raises(TypeError, match=f"no argument '{typo}'; did you mean '{right}'. known: "):
        make(**sound, **{typo: 1})


def test_check_is_this_chains_own_unless_given():
    broken = ARM.parameters_in("pinocchio")
    broken[0, 0] = -1
    with pytest.raises(ModelError, match="mass -1 kg is negative"):
        ARM.with_parameters(broken)
    lenient = ARM.with_parameters(broken, check="warn")
    assert (lenient.check, ARM.check) == ("warn", "error")
    assert any("mass -1 kg is negative" in note for note in lenient.notes)
    assert lenient.with_gravity((0, 0, 0)).check == "warn"
    assert ARM.with_gravity((0, 0, 0), check="warn").check == "warn"
    assert ARM.with_payload(1.0, check="warn").check == "warn"
    with pytest.raises(ModelError, match="mass -1 kg is negative"):
        lenient.with_gravity((0, 0, 0), check="error")


def test_any_kind_of_real_number_is_one():
    """Exact ones, NumPy's, flags; each here is a number that a double holds."""
    kinds = (Fraction, Decimal, int, np.float32, np.int8, lambda x: np.array(x), lambda x: x == 1)
    plain = Chain.from_mdh(**{**MDH, "mass": [1.0, 1.0], "b": [0.0, 1.0]})
    for kind in kinds:
        found = Chain.from_mdh(**{**MDH, "mass": [kind(1)] * 2, "b": [kind(0), kind(1)]})
        assert found == plain


def test_a_mask_is_refused():
    with pytest.raises(ModelError, match="parameters is a masked array, some of it masked"):
        ARM.with_parameters(np.ma.masked_less(ARM.parameters, 1e9))
