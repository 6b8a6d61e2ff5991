"""armdyn's TOML format: what is written is read back bit for bit, and no mistake goes unnamed."""

import dataclasses
import json
import logging
import math
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armdyn import ArmdynError, Chain, ModelError
from armdyn.chain import Frame, Joint, Link
from armdyn.chain.dh import COLUMNS
from armdyn.chain.inertia import Inertia
from armdyn.chain.limits import MAX_TOML
from armdyn.chain.pose import Pose, rotation_about
from armdyn.chain.writers import to_toml
from armdyn.loaders import toml
from tests.arms import chains

EXAMPLE = re.search(
    r"```toml\n(.*?)```",
    (Path(__file__).parent.parent / "docs" / "format.md").read_text(encoding="utf-8"),
    re.DOTALL,
)[1]
BODY = "type = 'revolute'\nlink = {mass = 1, inertia = [1, 1, 1]}"


def assert_same(chain, truth):
    """Equal in every bit: the text holds every float's shortest exact digits, signed zeros too."""
    assert chain == truth
    assert chain.notes == truth.notes
    assert to_toml(chain) == to_toml(truth)


# Round trips --------------------------------------------------------------------------------

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
DIGITS = st.floats(-1e6, 1e6) | st.sampled_from([-0.0, 5e-324, 0.1 + 0.2])


@st.composite
def decorated(draw):
    """A random arm with all that a chain can carry besides its table."""
    chain = draw(chains(max_joints=5))
    names = draw(st.lists(NAMES, unique=True, min_size=3, max_size=3))
    turn = rotation_about("x", draw(DIGITS)) @ rotation_about("y", draw(DIGITS))
    shift = draw(st.tuples(DIGITS, DIGITS, DIGITS))
    limits = dict(lower=-math.inf, upper=draw(DIGITS), velocity=abs(draw(DIGITS)), effort=1e-7)
    links = (dataclasses.replace(chain.links[0], name=names[0] + "."), *chain.links[1:])
    return dataclasses.replace(
        chain,
        name=draw(NAMES),
        joints=(dataclasses.replace(chain.joints[0], **limits), *chain.joints[1:]),
        links=links,
        tip=Pose.of(turn, shift),
        gravity=draw(st.tuples(DIGITS, DIGITS, DIGITS)),
        frames=(Frame(names[1] + "!", 0, Pose.of(turn.T, shift)), Frame(names[2] + "?", -1)),
        locked=((draw(NAMES), draw(DIGITS)),),
        notes=tuple(draw(st.lists(NAMES, max_size=2))),
    )


@given(decorated())
@settings(max_examples=200, deadline=None)
def test_a_chain_is_read_back_bit_for_bit(chain):
    assert_same(toml.load(to_toml(chain)), chain)


def test_angles_near_a_quarter_turn_survive_writing():
    """Loaded with snap = 0, such an arm must not be snapped when it is read back."""
    almost = math.pi / 2 + 1e-12
    chain = Chain.from_mdh(
        b=[0, 1], beta=[0, almost], d=0, theta=[0, almost], mass=1, inertia=[[1, 1, 1]], snap=0
    )
    again = toml.load(chain.to_toml())
    assert again.joints[1].beta == almost
    assert_same(again, chain)
    assert toml.load(chain.to_toml(), snap=1e-9).joints[1].beta == math.pi / 2


def test_an_impossible_arm_is_read_back_under_check_warn(caplog):
    chain = Chain.from_mdh(
        b=[0], beta=[0], d=[0], theta=[0], mass=1, inertia=[[1, 1, 9]], check="warn"
    )
    text = chain.to_toml()
    with pytest.raises(ModelError, match="triangle inequality"):
        toml.load(text)
    with caplog.at_level(logging.CRITICAL):
        assert_same(toml.load(text, check="warn"), chain)


# What the keys mean -------------------------------------------------------------------------

TABLE = dict(d=[0.1, 0.2, 0.3], theta=[10.0, 20.0, 30.0])
BODIES = dict(
    mass=[1, 2, 3], com=[[0.1, 0.2, 0.3]] * 3, inertia=[[1.0, 1.2, 1.4]] * 3, joints="RPR"
)


def written(keys, columns, **top):
    """A file in degrees with that table, those bodies and a frame on link 2."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in top.items()]
    lines += ["degrees = true", "name = 'arm'", "tip.rpy = [90, 0, 45]"]
    for i, kind in enumerate(BODIES["joints"]):
        lines += ["[[joint]]", f"type = '{'revolute' if kind == 'R' else 'prismatic'}'"]
        lines += [f"{key} = {column[i]}" for key, column in zip(keys, columns, strict=True)]
        lines += ["limits = [-90, 90]", "[joint.link]"]
        lines += [f"{key} = {BODIES[key][i]}" for key in ("mass", "com", "inertia")]
    return "\n".join(
        [*lines, "[[frame]]", "name = 'eye'", "link = 'link2'", "translation = [1,2,3]"]
    )


@pytest.mark.parametrize("about", ["com", "origin"])
@pytest.mark.parametrize("convention", ["mdh", "dh"])
def test_a_file_means_what_the_constructor_means(convention, about):
    """The first row's constants too, which move into the base."""
    lengths, twists = [0.7, 0.8, 0.9], [90.0, 45.0, -90.0]
    keys, make = {
        "mdh": (("b", "beta", "d", "theta"), Chain.from_mdh),
        "dh": (("a", "alpha", "d", "theta"), Chain.from_dh),
    }[convention]
    columns = (lengths, twists, TABLE["d"], TABLE["theta"])
    tip = Pose.of(rotation_about("z", math.pi / 4) @ rotation_about("x", math.pi / 2))
    expected = make(
        **dict(zip(keys, columns, strict=True)),
        **BODIES,
        tip=tip,
        limits=[[-90, 90]] * 3,
        degrees=True,
        inertia_about=about,
        frames=[Frame("eye", 1, Pose.of(np.eye(3), [1, 2, 3]))],
    )
    found = toml.load(written(keys, columns, convention=convention, inertia_about=about))
    assert found.joints == expected.joints
    assert [joint.lower for joint in found.joints] == [-math.pi / 2, -90, -math.pi / 2]
    for ours, theirs in ((found.base, expected.base), (found.tip, expected.tip)):
        np.testing.assert_allclose(ours.matrix, theirs.matrix, rtol=0, atol=1e-15)
    np.testing.assert_allclose(found.parameters, expected.parameters, rtol=1e-14, atol=1e-16)
    np.testing.assert_allclose(
        found.frames[0].pose.matrix, expected.frames[0].pose.matrix, rtol=0, atol=1e-15
    )


def test_every_way_to_give_an_inertia_gives_the_same_link():
    """m = 2 kg at c = (1, 2, 3) m: the tensor about the origin is m (c.c 1 - c c^T) more."""
    about_com = "[[9, 1, 0], [1, 8, 0], [0, 0, 7]]"
    about_origin = "[[35, -3, -6], [-3, 28, -12], [-6, -12, 17]]"
    ways = [
        ("com", f"com = [1, 2, 3], inertia = {about_com}"),
        ("origin", f"com = [1, 2, 3], inertia = {about_origin}"),
        ("origin", f"first_moment = [2, 4, 6], inertia = {about_origin}"),
    ]
    files = (
        f"inertia_about = '{about}'\n[[joint]]\ntype = 'revolute'\nlink = {{mass = 2, {body}}}"
        for about, body in ways
    )
    first, *others = (toml.load(file).links for file in files)
    assert first[0].inertia.first_moment == (2, 4, 6)
    assert others == [first, first]


def test_what_is_left_out_is_as_documented():
    """The tables of docs/format.md, "if left out"; a rotor, so that the joint moves something."""
    text = "[[joint]]\ntype = 'revolute'\nrotor_inertia = 1\nlink = {mass = 2}"
    expected = Chain(
        "arm", (Joint("joint1", "R", rotor_inertia=1.0),), (Link("link1", Inertia(2.0)),)
    )
    assert_same(toml.load(text), expected)
    assert expected.gravity == (0, 0, -9.81) and expected.base == expected.tip == Pose()
    bare = toml.load("[[joint]]\ntype = 'prismatic'\nrotor_inertia = 1")
    assert bare.links == (Link("link1", Inertia()),)
    framed = toml.load(f"{text}\n[[frame]]\nname = 'f'")
    assert framed.frames == (Frame("f", -1, Pose()),)


def test_the_documented_example_loads():
    chain = toml.load(EXAMPLE)
    assert [joint.name for joint in chain.joints] == ["table", "slide"]
    assert chain.base.translation == (0, 0, 0.4)
    assert chain.joints[0].upper == math.radians(170)
    assert chain.joints[1].beta == -math.pi / 2
    assert chain.joints[1].upper == 0.8
    assert chain.joints[0].coulomb == (-0.8, 0.8)
    assert chain.find_frame("camera") == (
        1,
        Pose.of(rotation_about("y", math.pi / 2), (0, 0.05, 0.1)),
    )
    assert_same(toml.load(chain.to_toml()), chain)


LONG_KEYS = {
    "bare": "a.a.a.a.a.a.a.a.a = 1",
    "quoted": """'#' . "=\\"" . a . a . a . a . a . a . a = 1""",
    "of a table": "[a.a.a.a.a.a.a.a.a]",
    "in a line": "name = {a.a.a.a.a.a.a.a.a = 1}",
    "behind a string": 'name = """a\\""""""\na.a.a.a.a.a.a.a.a = 1',
    "behind quotes": "name = '''''a'''''\na.a.a.a.a.a.a.a.a = 1",
    "behind a quote": 'name = "\'"\na.a.a.a.a.a.a.a.a = 1',
    "behind a comment": '# """\na.a.a.a.a.a.a.a.a = 1',
}


@pytest.mark.parametrize("case", LONG_KEYS)
def test_a_key_of_many_parts_is_refused_unread(case):
    with pytest.raises(ModelError, match=r"a key has more than 8 parts: \w ?\."):
        toml.load(LONG_KEYS[case])
    assert tomllib.loads(LONG_KEYS[case])  # TOML allows it


def test_dots_elsewhere_are_no_parts_of_a_key():
    dots = ".".join("a" * 99)
    text = f"# {dots}\nnotes = ['{dots}', \"\\\"{dots}\", '''\n{dots}''']  # {dots}\n"
    assert toml.load(text + EXAMPLE).notes[0] == dots


def test_much_toml_is_refused_unread():
    with pytest.raises(
        ModelError, match=f"2000001 characters of TOML; expected at most {MAX_TOML}"
    ):
        toml.load("#" * (MAX_TOML + 1))


@pytest.mark.parametrize("depth", [90, 240, 300, 450, 480])
def test_nested_arrays_are_refused(depth):
    for text in f"snap = {'[' * depth}1{']' * depth}", f"snap = {'{a=' * depth}1{'}' * depth}":
        with pytest.raises(ModelError, match=r"not a TOML file|snap must be a number"):
            toml.load(text)


def test_what_the_caller_says():
    chain = toml.load(EXAMPLE, gravity=(0, 1, 0), name="other")
    assert chain.gravity == (0, 1, 0)
    assert chain.name == "slider"  # the file names its arm itself
    assert toml.load(f"[[joint]]\n{BODY}", name="other").name == "other"
    assert toml.load(EXAMPLE.encode()) == toml.load(EXAMPLE)


def test_every_snapped_angle_is_noted():
    """Those of poses, and the last alpha of a standard table, which is in no row."""
    near = math.pi / 2 + 1e-10
    top = f"convention = 'dh'\nbase.rpy = [0, {near}, 0]\ntip.rpy = [{near}, 0, 1]"
    frame = f"[[frame]]\nname = 'eye'\nrpy = [0, 0, {near}]"
    text = f"{top}\n[[joint]]\nname = 'j'\nalpha = {near}\n{BODY}\n{frame}"
    said = "snapped by -1.0e-10 rad to a quarter turn"
    chain = toml.load(text)
    whats = (
        "joint 'j': alpha",
        "top level, base: pitch",
        "top level, tip: roll",
        "frame 'eye': yaw",
    )
    assert chain.notes == tuple(f"{what} {said}" for what in whats)
    assert chain.base.rotation == ((0, 0, 1), (0, 1, 0), (-1, 0, 0))
    assert toml.load(text, snap=0).notes == ()


@pytest.mark.parametrize("gravity", [-9.81, [0, 1], "abc"])
def test_gravity_is_three_numbers(gravity):
    with pytest.raises(
        ModelError, match=re.escape(f"gravity must be numbers of shape (3,), not {gravity!r}")
    ):
        toml.load(EXAMPLE, gravity=gravity)


# Mistakes -----------------------------------------------------------------------------------

MISTAKES = {  # name -> (top level, entries of the joint, words of the error)
    "not TOML": ("name = ", "", "not a TOML file"),
    "deeply nested": ("name = " + "[" * 100_000, "", "not a TOML file"),
    "number of 5000 digits": (f"snap = {'9' * 5000}", "", "not a TOML file"),
    "number of 400 digits": (f"snap = 1{'0' * 400}", "", "snap must be a number that a double"),
    "unknown key": ("nmae = 'x'", "", "top level: unknown key 'nmae'; known: name, desc"),
    "unknown key of a joint": ("", "alpha = 1", "joint 1: unknown key 'alpha'; known: name, type"),
    "unknown key of dh": ("convention = 'dh'", "beta = 1", "unknown key 'beta'"),
    "unknown key of a link": ("", "link = {mas = 1}", "joint 1, link: unknown key 'mas'"),
    "unknown key of base": ("base.xyz = [1, 2, 3]", "", "base: unknown key 'xyz'"),
    "name no string": ("name = 3", "", "name must be a string, not 3"),
    "licence no string": ("licence = true", "", "licence must be a string, not True"),
    "notes no list": ("notes = 'x'", "", "notes must be a list of strings, not 'x'"),
    "notes of numbers": ("notes = [1]", "", "notes must be a list of strings, not [1]"),
    "unknown convention": ("convention = 'DH'", "", "must be 'mdh' or 'dh', not 'DH'"),
    "unknown point": ("inertia_about = 'tip'", "", "'com' or 'origin', not 'tip'"),
    "degrees no flag": ("degrees = 1", "", "degrees must be true or false, not 1"),
    "gravity one number": ("gravity = 9.81", "", "gravity must be 3 numbers, not 9.81"),
    "gravity two numbers": ("gravity = [0, 9.81]", "", "gravity must be 3 numbers, not [0, 9.81]"),
    "gravity words": ("gravity = ['0', '0', '1']", "", "gravity must be 3 numbers"),
    "gravity flags": ("gravity = [true, false, true]", "", "gravity must be 3 numbers"),
    "gravity not finite": ("gravity = [0, 0, nan]", "", "gravity must be 3 numbers, finite"),
    "gravity a date": ("gravity = 1979-05-27", "", "gravity must be 3 numbers"),
    "snap negative": ("snap = -1", "", "0 <= snap < pi/4 [rad], not -1.0"),
    "snap a right angle": ("snap = 1.6", "", "0 <= snap < pi/4 [rad], not 1.6"),
    "no type": ("", "type = ''", "joint 1: type must be 'revolute' or 'prismatic', not ''"),
    "joint name no string": ("", "name = 1", "joint 1: name must be a string"),
    "b a string": ("", "name = 'j'\nb = '1'", "joint 'j': b must be a number, not '1'"),
    "b a flag": ("", "b = true", "b must be a number, not True"),
    "theta infinite": ("", "theta = inf", "theta must be a number, finite, not inf"),
    "rotor negative": ("", "rotor_inertia = -1", "rotor_inertia must not be negative"),
    "viscous negative": ("", "viscous = -1", "viscous must not be negative"),
    "coulomb of three": ("", "coulomb = [1, 2, 3]", "coulomb must be a number or 2 numbers"),
    "coulomb turned round": ("", "coulomb = [1, -1]", "coulomb friction is (torque at negative"),
    "limits one number": ("", "limits = 3", "limits must be 2 numbers, not 3"),
    "limits turned round": ("", "limits = [1, -1]", "limits must be lower <= upper"),
    "limits nan": ("", "limits = [nan, 1]", "limits must be lower <= upper"),
    "effort negative": ("", "effort = -1", "effort must not be negative"),
    "link no table": ("", "link = 3", "joint 1, link must be a table, not 3"),
    "link without mass": ("", "link = {com = [0, 0, 0]}", "the key 'mass' is missing"),
    "mass negative": ("", "link = {mass = -1}", "mass -1 kg is negative"),
    "mass nan": ("", "link = {mass = nan}", "link: mass must be a number, finite, not nan"),
    "com of two": ("", "link = {mass = 1, com = [0, 0]}", "com must be 3 numbers, not [0, 0]"),
    "inertia of six": (
        "",
        "link = {mass = 1, inertia = [1, 1, 1, 0, 0, 0]}",
        "inertia must be 3 numbers or a 3 x 3 matrix, not [1, 1, 1, 0, 0, 0]",
    ),
    "inertia ragged": (
        "",
        "link = {mass = 1, inertia = [[1, 0, 0], [0, 1], [0, 0, 1]]}",
        "inertia must be 3 numbers or a 3 x 3 matrix",
    ),
    "inertia not symmetric": (
        "",
        "link = {mass = 1, inertia = [[1, 2, 0], [0, 1, 0], [0, 0, 1]]}",
        "inertia must be symmetric, not [[1, 2, 0]",
    ),
    "inertia impossible": ("", "link = {mass = 1, inertia = [1, 1, 9]}", "triangle inequality"),
    "first moment about com": (
        "",
        "link = {mass = 1, first_moment = [0, 0, 0], inertia = [1, 1, 1]}",
        "joint 1, link: first_moment stands in place of com, and needs inertia_about = 'origin'",
    ),
    "first moment and com": (
        "inertia_about = 'origin'",
        "link = {mass = 1, com = [0, 0, 0], first_moment = [0, 0, 0]}",
        "first_moment stands in place of com",
    ),
    "rotation no rotation": (
        "base.rotation = [[1, 0, 0], [0, 1, 0], [0, 0, -1]]",
        "",
        "base: rotation must be a rotation matrix, not [[1, 0, 0]",
    ),
    "rotation and rpy": (
        "tip = {rpy = [0, 0, 0], rotation = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}",
        "",
        "tip: rpy must be absent where rotation is given",
    ),
    "frame no table": ("frame = [1]", "", "frame 1 must be a table, not 1"),
    "frames no list": ("frame = {name = 'f'}", "", "must be tables, each under [[frame]]"),
    "frame without name": ("frame = [{}]", "", "frame 1: the key 'name' is missing"),
    "frame on no link": (
        "frame = [{name = 'f', link = 'hand'}]",
        "",
        "frame 'f': link must be 'link1', not 'hand'",
    ),
    "frame name of a link": ("frame = [{name = 'link1'}]", "", "frame 'link1' bears the name"),
    "locked without position": ("locked = [{joint = 'x'}]", "", "the key 'position' is missing"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named(mistake):
    top, joint, words = MISTAKES[mistake]
    default = {"type": "type = 'revolute'", "link": "link = {mass = 1, inertia = [1, 1, 1]}"}
    given = [line for key, line in default.items() if not re.search(rf"^{key} =", joint, re.M)]
    with pytest.raises(ModelError, match=re.escape(words)):
        toml.load("\n".join([top, "[[joint]]", joint, *given]))


LONG = "x" * 5000


@pytest.mark.parametrize(
    "text",
    [
        f"{LONG} = 1",
        f"name = 'a'\n[{LONG}]\n[{LONG}]",
        f"convention = '{LONG}'",
        f"gravity = [{'1, ' * 5000}]",
        f"[[joint]]\nname = '{LONG}'\ntype = 'x'",
        f"[[joint]]\nname = '{LONG}'\nbb = 1\n{BODY}",
        f"[[joint]]\nname = '{LONG}'\nviscous = -1\n{BODY}",
        f"name = '{LONG}'\n[[joint]]\n{BODY}\n[[joint]]\nname = '{LONG}'\ntype = 'revolute'",
        f"[[joint]]\ntype = 'revolute'\nlink = {{name = '{LONG}', mass = -1, inertia = [1, 1, 1]}}",
        f"[[joint]]\n{BODY}\n[[frame]]\nname = '{LONG}'\nlink = 'lnk1'",
        "\n".join([f"[[joint]]\n{BODY}"] * 300 + ["[[frame]]\nname = 'f'\nlink = 'lnk1'"]),
        "\n".join([f"[[joint]]\nviscous = -1\n{BODY}"] * 300),
    ],
    ids=range(12),
)
def test_messages_are_no_pages(text):
    with pytest.raises(ModelError) as caught:
        toml.load(text)
    assert 20 < len(str(caught.value)) < 1000


def test_a_key_that_was_meant_is_named():
    with pytest.raises(ModelError, match="unknown key 'nmae'; known: .*did you mean 'name'"):
        toml.load(f"nmae = 'x'\n[[joint]]\n{BODY}")


def test_missing_parts_are_named():
    for text, words in {
        "": "the key 'joint' is missing; expected one table [[joint]] a joint",
        "joint = []": "joint must be one table [[joint]] a joint, not []",
        "[[joint]]": "joint 1: the key 'type' is missing; expected 'revolute' or 'prismatic'",
        f"[[joint]]\n{BODY}\n[[joint]]\ntype = 'revolute'": "joint 'joint2' moves nothing that has",
        f"[[joint]]\nname = 'a'\n{BODY}\n[[joint]]\nname = 'a'\n{BODY}": "'a' is used twice",
        b"name = '\xff'": "not a TOML file",
    }.items():
        with pytest.raises(ModelError, match=re.escape(words)):
            toml.load(text)


WILD = st.recursive(
    st.booleans() | st.integers() | st.floats() | NAMES | st.sampled_from([10**400, 1e308, 5e-324]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abd"), inner, max_size=2)
    ),
    max_leaves=8,
)
SIZES = st.sampled_from([0.0, -0.0, 1.0, 0.3, -2.0, 1e-200, 1e200, 1e308, -1e308, 5e-324])
VECTORS = st.lists(SIZES, min_size=3, max_size=3)


def sometimes(usual):
    return st.one_of(usual, usual, usual, usual, WILD)


def inline(value):
    """A value as TOML text, written independently of the package."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {inline(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    if isinstance(value, str):
        return '"' + "".join(f"\\U{ord(letter):08x}" for letter in value) + '"'
    return str(value).lower()


@st.composite
def files(draw):
    """Files of nearly the right form, with numbers of every size and now and then anything."""
    convention = draw(st.sampled_from(["mdh", "dh"]))
    link = st.fixed_dictionaries(
        {"mass": sometimes(SIZES.map(abs))},
        optional={
            "com": sometimes(VECTORS),
            "inertia": sometimes(SIZES.map(lambda size: [abs(size)] * 3) | VECTORS),
        },
    )
    joint = st.fixed_dictionaries(
        {"type": sometimes(st.sampled_from(["revolute", "prismatic"])), "link": sometimes(link)},
        optional={
            key: sometimes(SIZES) for key in (*COLUMNS[convention], *toml.MOTOR) if key != "limits"
        },
    )
    pose = st.fixed_dictionaries({}, optional={"translation": VECTORS, "rpy": sometimes(VECTORS)})
    top = {
        "joint": draw(sometimes(st.lists(joint, min_size=1, max_size=3))),
        **draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "gravity": sometimes(VECTORS),
                    "base": sometimes(pose),
                    "tip": sometimes(pose),
                    "degrees": sometimes(st.booleans()),
                    "inertia_about": sometimes(st.sampled_from(["com", "origin"])),
                    "frame": WILD,
                    "locked": WILD,
                },
            )
        ),
    }
    lines = [f"{key} = {inline(value)}" for key, value in top.items()]
    return "\n".join([f"convention = '{convention}'", *lines])


@given(files() | st.text(), st.sampled_from(["error", "warn"]))
@settings(max_examples=400, deadline=None)
def test_whatever_the_file_says_it_is_a_chain_or_an_armdyn_error(text, check):
    try:
        chain = toml.load(text, check=check)
    except ArmdynError:
        return
    assert_same(toml.load(to_toml(chain), check="warn"), chain)
