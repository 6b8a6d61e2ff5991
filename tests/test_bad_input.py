"""What cannot be an arm: every mistake in a URDF ends in an error that names it and its value."""

import math
import re

import numpy as np
import pytest

from armdyn import ModelError
from armdyn.chain.limits import MAX_BYTES, MAX_DEPTH, MAX_ELEMENTS
from armdyn.loaders import urdf

INERTIA = '<inertia ixx="0.02" ixy="0.001" ixz="0.002" iyy="0.03" iyz="0.003" izz="0.04"/>'
LOWER = f"""<link name="lower">
    <inertial><origin xyz="0 0.1 0.2" rpy="0 0 0.1"/><mass value="2"/>{INERTIA}</inertial>
  </link>"""
UPPER = f"""<link name="upper">
    <inertial><origin xyz="0.3 0 0"/><mass value="1"/>{INERTIA}</inertial>
  </link>"""
SHOULDER = """<joint name="shoulder" type="revolute">
    <!-- <axis>: of the "arm" --><parent link="base"/><child link="lower"/>
    <origin xyz="0 0 0.5" rpy="0 1.5 0"/><axis xyz="0 0 1"/>
    <limit lower="-2" upper="2.5" velocity="3" effort="40"/>
    <dynamics damping="0.5" friction="0.25"/>
  </joint>"""
ELBOW = """<joint name="elbow" type="continuous">
    <parent link="lower"/><child link="upper"/>
    <origin xyz="0.4 0 0" rpy="0.3 0 0"/><axis xyz="0 1 0"/>
  </joint>"""
FLANGE = """<joint name="flange" type="fixed">
    <parent link="upper"/><child link="tool"/><origin xyz="0 0 0.125" rpy="0 0 0.75"/>
  </joint>"""
GOOD = f"""<?xml version="1.0"?>
<!-- An arm of two joints, <shoulder> & elbow -->
<!-- =====
     as xacro heads its files -->
<robot name="arm"><!-- the links -->
  <link name="base"/>
  {LOWER}
  {UPPER}
  <link name="tool"/> <!-- <link name="none"/> -->
  {SHOULDER}
  {ELBOW}
  {FLANGE}
</robot>"""


def edited(*pairs):
    """The good arm with each old text of the pairs replaced by the new one, once."""
    text = GOOD
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def added(*elements):
    return GOOD.replace("</robot>", "\n".join(elements) + "</robot>")


def in_joint(joint, old, new):
    return edited((joint, joint.replace(old, new, 1)))


def side_arm(name="side", kind="revolute", parent="lower", extra=""):
    """A link and a joint that carries it."""
    return (
        f'<link name="{name}"/><joint name="to_{name}" type="{kind}">'
        f'<parent link="{parent}"/><child link="{name}"/><axis xyz="0 0 1"/>{extra}</joint>'
    )


def bomb():
    """A billion laughs."""
    entities = ['<!ENTITY a "ha">']
    for new, old in zip("bcdefghij", "abcdefghi", strict=True):
        entities.append(f'<!ENTITY {new} "{f"&{old};" * 10}">')
    return f'<!DOCTYPE robot [{"".join(entities)}]><robot name="&j;"/>'


def unmovable(kind):
    return in_joint(ELBOW, 'type="continuous"', f'type="{kind}"')


MIMIC = '<mimic joint="shoulder" multiplier="2" offset="0.5"/>'

# What is wrong: the text, and what the message must say.
TEXTS = {
    "entity bomb": (bomb(), ["DOCTYPE robot", "refused", "line 1"]),
    "external entity": (
        '<!DOCTYPE robot [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"/>',
        ["DOCTYPE robot", "refused"],
    ),
    "external DTD": ('<!DOCTYPE r SYSTEM "http://localhost/r.dtd"><r/>', ["DOCTYPE r", "refused"]),
    "DOCTYPE in UTF-16": ("<!DOCTYPE r []><r/>".encode("utf-16"), ["DOCTYPE r", "refused"]),
    "unknown entity in a document type": (
        '<!DOCTYPE robot><robot name="&arm;"/>',
        ["undefined entity", "line 1"],
    ),
    "unknown entity": ('<robot name="&arm;"/>', ["undefined entity", "line 1"]),
    "more than 10 MB": ("<robot>" + " " * MAX_BYTES, [f"{MAX_BYTES + 7} bytes", f"{MAX_BYTES}"]),
    "too deep": ("<robot>" + "<a>" * MAX_DEPTH, ["<a>", "65 elements deep", "at most 64"]),
    "too many elements": (
        "<robot>" + "<a/>" * MAX_ELEMENTS + "</robot>",
        ["<a>", f"element number {MAX_ELEMENTS + 1}", f"at most {MAX_ELEMENTS}"],
    ),
    "truncated": (GOOD[:-20], ["not well-formed", "line"]),
    "empty": ("", ["not well-formed", "no element found"]),
    "blank": (" \n ", ["not well-formed", "no element found"]),
    "binary": (bytes(range(256)), ["not well-formed", "line 1"]),
    "a picture": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", ["not well-formed"]),
    "lone surrogate": ("<robot name='\ud800'/>", ["not well-formed", "surrogates"]),
    "unknown encoding": (b'<?xml version="1.0" encoding="klingon"?><robot/>', ["klingon"]),
    "not text": (12, ["str or bytes", "12"]),
    "not a robot": ("<sdf version='1.6'/>", ["<sdf>", "expected <robot>"]),
    "empty robot": ("<robot name='x'/>", ["no link", "expected at least two"]),
    "one link": ('<robot name="x"><link name="rock"/></robot>', ["no joint moves", "'rock'"]),
    "only fixed joints": (
        edited(('type="revolute"', 'type="fixed"'), ('type="continuous"', 'type="fixed"')),
        ["no joint moves", "'base'"],
    ),
    "unnamed link": (edited(('<link name="tool"/>', "<link/>")), ["<link> on line", "name"]),
    "blank name": (edited(('link name="tool"', 'link name=" "')), ["link ' '", "blank"]),
    "unnamed joint": (edited(('joint name="elbow"', "joint")), ["<joint> on line", "name"]),
    "joint without type": (edited((' type="fixed"', "")), ["joint 'flange'", "type"]),
    "joint without parent": (edited(('<parent link="base"/>', "")), ["'shoulder'", "<parent>"]),
    "joint without child": (edited(('<child link="tool"/>', "")), ["joint 'flange'", "<child>"]),
    "child without link": (
        edited(('<child link="tool"/>', "<child/>")),
        ["joint 'flange': child", "link"],
    ),
    "two origins": (
        in_joint(ELBOW, "<axis", "<origin/><axis"),
        ["joint 'elbow'", "2 <origin>", "expected one"],
    ),
    "two inertials": (
        in_joint(LOWER, "<inertial>", "<inertial/><inertial>"),
        ["link 'lower'", "2 <inertial>"],
    ),
    "no mass": (in_joint(LOWER, '<mass value="2"/>', ""), ["'lower': inertial", "no <mass>"]),
    "a blank point": (
        in_joint(LOWER, INERTIA, ""),
        ["link 'lower': inertial has no <inertia>", 'check="warn" accepts it'],
    ),
    "mass without value": (
        in_joint(LOWER, ' value="2"', ""),
        ["link 'lower': inertial: mass", "value"],
    ),
    "no inertia": (in_joint(UPPER, INERTIA, ""), ["link 'upper': inertial", "no <inertia>"]),
    "two moments": (
        in_joint(UPPER, ' iyy="0.03"', ""),
        ["link 'upper': inertial: inertia", "iyy"],
    ),
    "a misspelt product": (
        in_joint(UPPER, ' iyz="0.003"', ' izy="0.003"'),
        ["link 'upper': inertial: inertia", "iyz"],
    ),
    "two coordinates": (
        in_joint(ELBOW, 'xyz="0.4 0 0"', 'xyz="0.4 0"'),
        ["joint 'elbow': origin xyz='0.4 0'", "3 finite numbers"],
    ),
    "commas": (in_joint(ELBOW, '"0.4 0 0"', '"0.4, 0, 0"'), ["'0.4, 0, 0'", "3 finite numbers"]),
    "xacro": (
        in_joint(ELBOW, 'rpy="0.3 0 0"', 'rpy="${pi/2} 0 0"'),
        ["joint 'elbow': origin rpy='${pi/2} 0 0'", "run xacro"],
    ),
    "underscored number": (in_joint(LOWER, '"2"', '"1_0"'), ["mass value='1_0'", "finite number"]),
    "foreign digits": (in_joint(LOWER, '"2"', '"٢"'), ["mass value='٢'", "finite number"]),
    "huge length": (in_joint(ELBOW, "0.4 0 0", "1e10 0 0"), ["'1e10 0 0'", "at most 1e+09"]),
    "huge mass": (in_joint(LOWER, '"2"', '"1e300"'), ["mass value='1e300'", "at most 1e+09"]),
    "zero axis": (
        in_joint(ELBOW, '<axis xyz="0 1 0"', '<axis xyz="0 0 0"'),
        ["joint 'elbow': axis xyz='0 0 0'", "not all zero"],
    ),
    "axis without xyz": (in_joint(ELBOW, ' xyz="0 1 0"', ""), ["joint 'elbow': axis", "xyz"]),
    "nearly a type": (
        in_joint(ELBOW, "continuous", "Revolute"),
        ["joint 'elbow' type='Revolute'", "did you mean 'revolute'?"],
    ),
    "unknown type": (
        in_joint(ELBOW, "continuous", "screw"),
        ["joint 'elbow' type='screw'", "expected revolute, continuous, prismatic or fixed"],
    ),
    "floating": (unmovable("floating"), ["joint 'elbow' is floating", "lock=", "tip="]),
    "planar": (unmovable("planar"), ["joint 'elbow' is planar", "expected revolute"]),
    "mimic": (
        in_joint(ELBOW, "<axis", f"{MIMIC}<axis"),
        ["joint 'elbow' mimics 'shoulder'", "lock={'elbow': 0.0}"],
    ),
    "mimic of nothing": (
        in_joint(ELBOW, "<axis", '<mimic joint="wrist"/><axis'),
        ["joint 'elbow' mimics 'wrist'", "no joint"],
    ),
    "mimic without joint": (
        in_joint(ELBOW, "<axis", "<mimic/><axis"),
        ["joint 'elbow': mimic", "joint"],
    ),
    "mimics in a circle": (
        added(
            side_arm("a", extra='<mimic joint="to_b"/>'),
            side_arm("b", extra='<mimic joint="to_a"/>'),
        ),
        ["circle", "'to_a', 'to_b'"],
    ),
    "mimic far away": (
        added(side_arm(), side_arm("b", extra='<mimic joint="to_side" offset="1e99"/>')),
        ["joint 'to_b'", "1e+99", "at most 1e+09"],
    ),
    "two links of a name": (added('<link name="upper"/>'), ["link name 'upper'", "twice"]),
    "two joints of a name": (
        edited(('joint name="flange"', 'joint name="elbow"')),
        ["joint name 'elbow'", "twice"],
    ),
    "unknown parent": (
        edited(('<parent link="upper"/>', '<parent link="uper"/>')),
        ["joint 'flange': parent link 'uper' is unknown", "did you mean 'upper'?"],
    ),
    "unknown child": (
        edited(('<child link="tool"/>', '<child link="towel"/>')),
        ["joint 'flange': child link 'towel' is unknown", "'tool'"],
    ),
    "two parents": (
        added('<joint name="j" type="fixed"><parent link="base"/><child link="upper"/></joint>'),
        ["link 'upper'", "'elbow' and 'j'", "loop"],
    ),
    "cycle": (
        added('<joint name="j" type="fixed"><parent link="tool"/><child link="base"/></joint>'),
        ["loop", "'j'", "'flange'", "'elbow'", "'shoulder'", "expected a tree"],
    ),
    "cycle beside the arm": (
        added(
            '<link name="a"/><link name="b"/>',
            '<joint name="ab" type="fixed"><parent link="a"/><child link="b"/></joint>',
            '<joint name="ba" type="fixed"><parent link="b"/><child link="a"/></joint>',
        ),
        ["loop", "'ab'", "'ba'", "expected a tree"],
    ),
    "its own parent": (
        edited(('<parent link="upper"/>', '<parent link="tool"/>')),
        ["loop", "'flange'"],
    ),
    "two roots": (
        added('<link name="lamp"/>'),
        ["2 links have no parent", "'base', 'lamp'", "expected one root"],
    ),
    "branch at the root": (
        added(side_arm(parent="base")),
        ["branches at its base 'base'", "'shoulder', 'to_side'", "tip=", "'tool'"],
    ),
    "negative mass": (in_joint(UPPER, '"1"', '"-1"'), ["link 'upper'", "mass -1 kg", "negative"]),
    "negative moment": (
        in_joint(UPPER, 'ixx="0.02"', 'ixx="-0.02"'),
        ["link 'upper'", "principal moments (-0.02", "none below zero"],
    ),
    "triangle inequality": (
        in_joint(UPPER, 'izz="0.04"', 'izz="0.4"'),
        ["link 'upper'", "principal moments", "0.4", "triangle inequality"],
    ),
    "inertia without mass": (
        in_joint(UPPER, '<mass value="1"/>', '<mass value="0"/>'),
        ["link 'upper'", "no mass"],
    ),
    "last link without mass": (
        edited((UPPER, '<link name="upper"/>')),
        ["joint 'elbow' moves nothing", "mass", "lock={'elbow': 0}"],
    ),
    "limits in disorder": (
        in_joint(SHOULDER, 'lower="-2"', 'lower="3"'),
        ["joint 'shoulder'", "lower <= upper", "lower 3 and upper 2.5", 'check="warn"'],
    ),
    "commas between": (
        in_joint(SHOULDER, '"0 0 0.5"', '"0, 0, 0.5"'),
        ["xyz='0, 0, 0.5'", "expected 3 finite numbers, with spaces between and no commas"],
    ),
    "a decimal comma": (
        in_joint(SHOULDER, '"0.5" friction', '"0,5" friction'),
        ["damping='0,5' will not do; expected one finite number with a point"],
    ),
    "text before the declaration": (
        "<!-- mine -->" + GOOD,
        ["not well-formed XML", "remove all that comes before <?xml"],
    ),
    "negative speed limit": (
        in_joint(SHOULDER, 'velocity="3"', 'velocity="-3"'),
        ["joint 'shoulder'", "velocity", "-3"],
    ),
    "negative damping": (
        in_joint(SHOULDER, 'damping="0.5"', 'damping="-0.5"'),
        ["joint 'shoulder'", "viscous", "-0.5"],
    ),
    "negative friction": (
        in_joint(SHOULDER, 'friction="0.25"', 'friction="-0.25"'),
        ["joint 'shoulder'", "coulomb", "0.25"],
    ),
    "nearly parallel": (
        edited(('rpy="0.3 0 0"', 'rpy="0 1e-8 0"'), ('<axis xyz="0 1 0"', '<axis xyz="0 0 1"')),
        ["joints 'shoulder' and 'elbow'", "1.00e-08 rad", "relative accuracy", "snap=2e-08"],
    ),
}

# What is wrong: the keywords, and what the message must say.
CHOICES = {
    "nearly a tip": (dict(tip="tol"), ["did you mean 'tool'?"]),
    "nearly a base": (dict(base="lowr"), ["did you mean 'lower'?"]),
    "nearly a joint": (dict(lock={"elbw": 0}), ["did you mean 'elbow'?"]),
    "locks by a list": (dict(lock={"elbow": [0]}), ["joint 'elbow'", "finite number", "[0]"]),
    "check is an array": (dict(check=np.array(["warn"])), ["check is 'error' or 'warn'", "array"]),
    "unknown tip": (dict(tip="tol"), ["tip='tol' is no link", "'tool'"]),
    "tip is no name": (dict(tip=["tool"]), ["tip is one link, not ['tool']", "one robot for each"]),
    "unknown base": (dict(base="floor"), ["base='floor' is no link", "'base'"]),
    "tip before base": (dict(base="upper", tip="lower"), ["'lower'", "outboard", "'upper'"]),
    "tip is base": (dict(tip="base"), ["no joint moves", "base 'base'", "tip 'base'"]),
    "base at the end": (dict(base="upper"), ["no joint moves", "base 'upper'"]),
    "all locked": (dict(lock={"shoulder": 0, "elbow": 1}), ["no joint moves", "'base'"]),
    "locks unknown joint": (dict(lock={"wrist": 0}), ["'wrist'", "no joint", "'elbow'"]),
    "locks fixed joint": (dict(lock={"flange": 0}), ["joint 'flange'", "fixed already"]),
    "locks at nan": (dict(lock={"elbow": math.nan}), ["joint 'elbow'", "finite", "nan"]),
    "locks at infinity": (dict(lock={"elbow": -math.inf}), ["joint 'elbow'", "finite", "-inf"]),
    "locks at True": (dict(lock={"elbow": True}), ["joint 'elbow'", "finite number", "True"]),
    "locks at a word": (dict(lock={"elbow": "up"}), ["joint 'elbow'", "finite", "'up'"]),
    "locks far away": (dict(lock={"elbow": 1e300}), ["joint 'elbow'", "1e+300", "at most"]),
    "lock is a list": (dict(lock=["elbow"]), ["lock", "mapping", "['elbow']"]),
    "negative snap": (dict(snap=-1e-9), ["snap", "-1e-09", "0 <= snap"]),
    "snap is nan": (dict(snap=math.nan), ["snap", "nan"]),
    "snap is a word": (dict(snap="x"), ["snap", "'x'", "pi/4"]),
    "snap is a right angle": (dict(snap=1.6), ["snap", "1.6", "pi/4"]),
    "gravity of two": (dict(gravity=(0, -9.81)), ["gravity", "(3,)", "(0, -9.81)"]),
    "gravity is a number": (dict(gravity=-9.81), ["gravity", "(3,)", "-9.81"]),
    "gravity is a word": (dict(gravity="abc"), ["gravity", "(3,)", "'abc'"]),
    "gravity is nan": (dict(gravity=(0, 0, math.nan)), ["gravity", "finite", "nan"]),
    "unknown check": (dict(check="maybe"), ["check", "'error' or 'warn'", "'maybe'"]),
}

NUMERIC = [m for m in re.finditer(r'(\w+)="([-\d. ]+)"', GOOD) if m[1] != "version"]


def refusal(text, **choices):
    with pytest.raises(ModelError) as caught:
        urdf.load(text, **choices)
    return str(caught.value)


def test_the_good_arm_is_good():
    assert urdf.load(GOOD).n == 2


@pytest.mark.parametrize("case", TEXTS)
def test_texts(case):
    text, says = TEXTS[case]
    message = refusal(text)
    assert [part for part in says if part not in message] == [], message


@pytest.mark.parametrize("case", CHOICES)
def test_choices(case):
    choices, says = CHOICES[case]
    message = refusal(GOOD, **choices)
    assert [part for part in says if part not in message] == [], message


LIMITS = ("lower", "upper", "velocity", "effort")  # of which there may be none


@pytest.mark.parametrize("word", ["nan", "inf", "-Infinity", "1e999", "one", "", "0x10"])
@pytest.mark.parametrize("place", NUMERIC, ids=lambda m: f"{m[1]}={m[2]}")
def test_not_a_number_anywhere(place, word):
    """Each number of the good arm, in turn, is none: the message names attribute and value."""
    if place[1] in LIMITS and word in ("inf", "-Infinity"):
        return
    value = " ".join([word, *place[2].split()[1:]])
    text = GOOD[: place.start(2)] + value + GOOD[place.end(2) :]
    message = refusal(text)
    owner = re.findall(r'<(?:link|joint) name="(\w+)"', GOOD[: place.start()])[-1]
    assert f"{place[1]}={value!r}" in message and f"{owner!r}" in message
    assert "expected" in message


def test_floating_joint_can_be_locked_at_zero_only():
    text = added(side_arm(kind="floating"))
    assert urdf.load(text, lock={"to_side": 0}).locked == (("to_side", 0.0),)
    message = refusal(text, lock={"to_side": 0.5})
    assert "joint 'to_side' is floating" in message and "0.5" in message


def test_long_values_are_shortened():
    message = refusal(in_joint(LOWER, '"2"', f'"{"9" * 5000}"'))
    assert "mass value='999" in message and len(message) < 300


LENGTHENED = ("lower", "upper", "base", "tool", "shoulder", "elbow", "flange", "wrist", "side")


@pytest.mark.parametrize("case", TEXTS)
def test_long_names_are_cut(case):
    """Each mistake again, in an arm whose links and joints have names of 5000 letters."""
    text = TEXTS[case][0]
    if not isinstance(text, str):
        return
    for name in LENGTHENED:
        text = re.sub(rf'="((?:to_)?){name}"', rf'="\1{name}{"x" * 5000}"', text)
    assert len(refusal(text)) < 1000


def test_long_lists_are_cut():
    many = "".join(side_arm(f"l{i}", parent="base") for i in range(300))
    for choices in ({}, {"tip": "tol"}, {"lock": {"wrist": 0}}):
        message = refusal(added(many), **choices)
        assert "and 26" in message and "more" in message and len(message) < 2000


def test_arms_of_thousands_of_joints_are_refused_at_once():
    joints = [side_arm(f"l{i + 1}", parent=f"l{i}" if i else "upper") for i in range(5000)]
    assert "at most 1000, not 5002" in refusal(added(*joints))


def test_warn_loads_what_could_not_exist():
    heavy = in_joint(UPPER, 'izz="0.04"', 'izz="0.4"')
    chain = urdf.load(heavy, check="warn")
    assert any("triangle inequality" in note for note in chain.notes)


@pytest.mark.parametrize("case", TEXTS)
def test_a_refusal_says_if_check_lifts_it(case):
    message = refusal(TEXTS[case][0])
    try:
        urdf.load(TEXTS[case][0], check="warn")
    except ModelError as error:  # the same, or what was found beyond it
        assert str(error) != message or "warn" not in message
    else:
        assert message.endswith('; check="warn" accepts it')


def test_two_origins_are_an_error_or_the_first_of_them():
    twice = in_joint(ELBOW, "<axis", '<origin xyz="9 9 9"/><axis')
    chain = urdf.load(twice, check="warn")
    assert chain == urdf.load(GOOD)
    assert "joint 'elbow' has 2 <origin> elements; expected one; the first is read" in chain.notes


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [('friction="0.25"', 'friction="-0.25"', "coulomb"), ('g="0.5"', 'g="-0.5"', "viscous")],
)
def test_friction_that_drives_is_an_error_or_none(old, new, key):
    text = in_joint(SHOULDER, old, new)
    chain = urdf.load(text, check="warn")
    assert getattr(chain.joints[0], key) in (0.0, (0.0, 0.0))
    (note,) = chain.notes
    assert re.fullmatch(
        rf"joint 'shoulder': {key} friction -0\.\d+ is negative; read as none", note
    )
    fixed = edited((SHOULDER, SHOULDER.replace(old, new).replace("revolute", "fixed")))
    assert urdf.load(fixed).notes == ()  # friction of a joint that does not move is not read


def test_limits_upside_down_are_an_error_or_none():
    """Bullet takes them for no limits."""
    text = in_joint(SHOULDER, 'lower="-2"', 'lower="3"')
    chain = urdf.load(text, check="warn")
    assert (chain.joints[0].lower, chain.joints[0].upper) == (-math.inf, math.inf)
    (note,) = chain.notes
    assert "limits are lower 3 and upper 2.5" in note and note.endswith("; read as none")
    assert urdf.load(text, base="lower").n == 1  # where the joint is off the chain


def test_a_mimic_of_no_joint_is_an_error_or_locked():
    text = added(side_arm(extra='<mimic joint="lost" offset="0.5"/>'))
    assert "joint 'to_side' mimics 'lost', which is no joint" in refusal(text, tip="upper")
    chain = urdf.load(text, tip="upper", check="warn")
    assert chain.locked == (("to_side", 0.0),)
    assert chain.notes == ("joint 'to_side' mimics 'lost', which is no joint; it is locked",)
    on_the_chain = in_joint(ELBOW, "<axis", '<mimic joint="lost"/><axis')
    assert "joint 'elbow' mimics 'lost'" in refusal(on_the_chain, check="warn")
    locked = urdf.load(on_the_chain, check="warn", lock={"elbow": 0.25})
    assert locked.locked == (("elbow", 0.25),)


@pytest.mark.parametrize("size", [math.inf, math.nan, 1e60])
def test_gravity_that_no_place_has(size):
    with pytest.raises(ModelError, match="gravity must be"):
        urdf.load(GOOD, gravity=(size, 0, 0))
