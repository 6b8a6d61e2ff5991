"""The reader of URDF reads, refuses or notes everything that bears on an arm's motion."""

import numpy as np
import pytest

import armdyn
from armdyn import ModelError
from tests.test_bad_input import (
    ELBOW,
    GOOD,
    INERTIA,
    LOWER,
    SHOULDER,
    UPPER,
    added,
    edited,
    in_joint,
)

LINK, AXIS = '<link name="upper">', '<axis xyz="0 1 0"/>'
VERSION = 'name="arm"', 'name="arm" version="{}"'


def notes(text, **choices):
    return armdyn.load(text, **choices).notes


def refused_unless_warned(text, message):
    """The notes of an arm that only check="warn" loads."""
    with pytest.raises(ModelError, match=message) as caught:
        armdyn.load(text)
    assert str(caught.value).endswith('; check="warn" accepts it')
    return notes(text, check="warn")


def held_against_pinocchio(robot, text):
    pin = pytest.importorskip("pinocchio", reason="needs Pinocchio: pip install pin")
    model = pin.buildModelFromXML(text)
    data = model.createData()
    q, qd = np.random.default_rng(0).uniform(-1, 1, (2, model.nv))
    if model.nq != model.nv:  # a continuous joint has (cos, sin)
        full = pin.integrate(model, pin.neutral(model), q)
    else:
        full = q
    assert robot.bias(q, qd) == pytest.approx(pin.nle(model, data, full, qd), rel=1e-11)
    M = pin.crba(model, data, full)
    M = np.triu(M) + np.triu(M, 1).T
    assert robot.mass_matrix(q) == pytest.approx(M, rel=1e-11)


# Quaternions and versions ---------------------------------------------------------------------


@pytest.mark.parametrize("quaternion", ["0.1 -0.2 0.3 0.9", "0 0 0 -2", "3 3 3 3"])
@pytest.mark.parametrize("version", ["1.1", "1.2"])
def test_quaternions_turn_as_pinocchio_says(quaternion, version):
    text = edited(
        (VERSION[0], VERSION[1].format(version)),
        ('xyz="0 0.1 0.2" rpy="0 0 0.1"', f'xyz="0 0.1 0.2" quat_xyzw="{quaternion}"'),
        ('xyz="0.4 0 0" rpy="0.3 0 0"', f'xyz="0.4 0 0" quat_xyzw="{quaternion}"'),
    )
    held_against_pinocchio(armdyn.load(text), text)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([('rpy="0.3 0 0"', 'rpy="0 0 0" quat_xyzw="0 0 0 1"')], "origin has rpy and quat_xyzw"),
        ([('rpy="0.3 0 0"', 'quat_xyzw="0 0 0 0"')], "quat_xyzw='0 0 0 0' is no rotation"),
        ([('rpy="0.3 0 0"', 'quat_xyzw="0 0 1"')], "expected 4 finite numbers"),
    ],
)
def test_quaternions_that_are_none(pairs, message):
    with pytest.raises(ModelError, match=message):
        armdyn.load(edited((VERSION[0], VERSION[1].format("1.1")), *pairs))


def test_versions():
    for known in ("1.0", "1.1", "1.2"):
        assert notes(edited((VERSION[0], VERSION[1].format(known)))) == ()
    limits = in_joint(SHOULDER, 'effort="40"', 'effort="40" acceleration="2" jerk="1"')
    assert notes(limits) == ()  # no quantity depends on them
    unknown = edited((VERSION[0], VERSION[1].format("9.9")))
    (note,) = refused_unless_warned(unknown, "version='9.9' is unknown; expected 1.0, 1.1, 1.2")
    assert note.endswith("read as 1.2")
    early = in_joint(ELBOW, 'rpy="0.3 0 0"', 'quat_xyzw="0.6 0 0 0.8"')
    (note,) = refused_unless_warned(early, "elbow': origin has quat_xyzw, which URDF has from ver")
    turned = in_joint(ELBOW, 'rpy="0.3 0 0"', f'rpy="{2 * np.arctan2(0.6, 0.8)} 0 0"')
    found, q = armdyn.load(early, check="warn"), [0.3, 0.4]
    assert found.mass_matrix(q) == pytest.approx(armdyn.load(turned).mass_matrix(q), rel=1e-14)


# Misspelt and left over -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "old", "new", "note"),
    [
        (ELBOW, "rpy=", "rpi=", "joint 'elbow': 'rpi' of <origin>; 'rpy'"),
        (ELBOW, "xyz=", "xzy=", "joint 'elbow': 'xzy' of <origin>; 'xyz'"),
        (ELBOW, '"0 1 0"', '"0 1 0" rpy="0"', "joint 'elbow': 'rpy' of <axis>"),
        (UPPER, "ixx=", 'ixxx="1" ixx=', "link 'upper': inertial: 'ixxx' of <inertia>; 'ixx'"),
        (SHOULDER, "effort", "efort", "joint 'shoulder': 'efort' of <limit>; 'effort'"),
        (SHOULDER, "friction", "fricton", "joint 'shoulder': 'fricton' of <dynamics>; 'friction'"),
        (ELBOW, "<origin", "<Origin", "joint 'elbow': <Origin>; 'origin'"),
        (SHOULDER, "<dynamics", "<dinamics", "joint 'shoulder': <dinamics>; 'dynamics'"),
        (LOWER, "<origin", "<orgin", "link 'lower': inertial: <orgin>; 'origin'"),
        (LOWER, "<inertial>", "<Inertial/><inertial>", "link 'lower': <Inertial>; 'inertial'"),
        (LOWER, "<mass ", '<mass unit="g" ', "link 'lower': inertial: 'unit' of <mass>"),
        (ELBOW, "<joint", "<Joint/><joint", "robot 'arm': <Joint>; 'joint'"),
    ],
)
def test_what_is_misspelt_is_noted(part, old, new, note):
    place, _, likely = note.partition("; ")
    hint = f"; did you mean {likely}?" if likely else ""
    text = edited((part, part.replace(old, new, 1)))
    assert notes(text)[0] == f"{place} is not read{hint}"


def test_attributes_of_other_readers_are_no_slips_of_the_pen():
    text = in_joint(SHOULDER, 'effort="40"', 'effort="40" drake:acceleration="3"')
    text = text.replace("<robot ", '<robot xmlns:drake="http://drake.mit.edu" ')
    text = text.replace('friction="0.25"', 'friction="0.25" D="1" K="2"')
    assert notes(text, tip="lower") == (
        "joint 'shoulder': 'drake:acceleration' of <limit> is not read",
        "joint 'shoulder': 'D', 'K' of <dynamics> are not read",
    )


def test_a_misspelt_attribute_of_a_mimic_is_noted():
    text = in_joint(ELBOW, "<axis", '<mimic joint="shoulder" multiplyer="2"/><axis')
    (note,) = notes(text, lock={"elbow": 0})
    assert note == "joint 'elbow': 'multiplyer' of <mimic> is not read; did you mean 'multiplier'?"


def test_what_other_programs_read_is_not_noted():
    clutter = '<hardwareInterface/><safety_controller k_velocity="1"/><calibration rising="0"/>'
    assert notes(in_joint(ELBOW, "<axis", f"{clutter}<axis")) == ()


def test_definitions_of_xacro_that_nothing_uses_are_noted():
    named = edited(("<robot ", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" '))
    text = named.replace("  <link", '  <xacro:property name="width" value="0.2"/><link', 1)
    assert notes(text) == ("xacro:property 'width': a definition of xacro is not read",)
    assert armdyn.load(text) == armdyn.load(GOOD)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (LINK, LINK + '<xacro:cylinder m="3"/>', "xacro:cylinder in link 'upper' is left to xacro"),
        (AXIS, AXIS + "<xacro:limits/>", "xacro:limits in joint 'elbow' is left to xacro"),
        (INERTIA, INERTIA + '<a b="${c}"/>', r"b='\${c}' in link 'lower' is left to xacro"),
        (LINK, LINK + '<visual name="$(arg x)"/>', r"name='\$\(arg x\)' in link 'upper'"),
        (LINK, '<xacro:arm name="a"/>' + LINK, "xacro:arm 'a' is left to xacro"),
        (LINK, '<include filename="a"/>' + LINK, "<include> on line .* may hide links"),
        (LINK, '<xi:include href="a"/>' + LINK, "<xi:include> on line .* may hide links"),
        (LINK, '<group><link name="x"/></group>' + LINK, "<group> on line .* may hide links"),
        (LINK, LINK + '<include filename="a"/>', "include in link 'upper' is no element of URDF"),
    ],
)
def test_what_may_hide_links_is_refused(old, new, message):
    note, *_ = refused_unless_warned(edited((old, new)), message)
    assert note.endswith("; it is not read")


# Motors ---------------------------------------------------------------------------------------


def transmission(joint, inside, motors=1):
    motor = f'<actuator name="m">{inside}</actuator>' * motors
    return f'<transmission name="t"><joint name="{joint}"/>{motor}</transmission>'


def test_rotors_are_read_from_transmissions():
    """What turns at 10 times the joint's speed weighs 100 times as much at the joint."""
    ros = "<motorInertia>0.005</motorInertia><mechanicalReduction>-10</mechanicalReduction>"
    drake = '<drake:rotor_inertia value="0.25"/><drake:gear_ratio value="2"/>'
    drake = f"<mechanicalReduction>1</mechanicalReduction>{drake}"  # Drake does not read it
    text = added(transmission("shoulder", ros), transmission("elbow", drake))
    robot, q = armdyn.load(text), [0.2, 0.3]
    rotors = robot.mass_matrix(q) - armdyn.load(GOOD).mass_matrix(q)
    assert rotors == pytest.approx(np.diag([0.5, 1.0]), abs=1e-15)
    assert (
        robot.notes[0] == "'shoulder': rotor inertia 0.5 (at the joint) is read from <transmission>"
    )
    twice = armdyn.load(added(transmission("elbow", drake), transmission("elbow", drake)))
    assert twice.chain.joints[1].rotor_inertia == 2.0


def test_reductions_without_inertia_are_noted_first():
    gear = "<mechanicalReduction> 79.5 </mechanicalReduction>"
    snapped = ELBOW.replace("0.3 0 0", "1.57079632679 0 0")
    text = added(*(transmission(joint, gear) for joint in ("shoulder", "elbow")))
    said = (
        "'shoulder' by 79.5, 'elbow' by 79.5: reduced without a <motorInertia>, so that rotors "
        "weigh nothing"
    )
    assert notes(text.replace(ELBOW, snapped))[0] == said
    assert notes(added(transmission("elbow", "<mechanicalReduction>1</mechanicalReduction>"))) == ()
    coupled = transmission("elbow", "<motorInertia>1</motorInertia>", motors=2)
    assert notes(added(coupled)) == (
        "'elbow': motor inertia of a coupled <transmission> is not read",
    )


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (transmission("x", "<motorInertia>1</motorInertia>"), "'x': motor inertia is not read: no"),
        (
            '<transmission name="t"><motorInertia>1</motorInertia></transmission>',
            "transmission 't': motor inertia of a coupled <transmission> is not read",
        ),
        (
            transmission("elbow", "<motorinertia>1</motorinertia>"),
            "actuator 'm': <motorinertia> is not read; did you mean 'motorInertia'?",
        ),
        (
            "<Transmission/>",
            "robot 'arm': <Transmission> is not read; did you mean 'transmission'?",
        ),
    ],
)
def test_motors_that_are_not_read_are_noted(text, note):
    (found,) = notes(added(text))
    assert found.startswith(note)


def test_the_motor_inertia_of_a_whole_transmission():
    plain = transmission("elbow", "<mechanicalReduction>3</mechanicalReduction>")
    text = plain.replace("<actuator", "<motorInertia>2</motorInertia><actuator")
    assert armdyn.load(added(text)).chain.joints[1].rotor_inertia == 18
    with pytest.raises(ModelError, match="mechanicalReduction .*='0' is no reduction"):
        armdyn.load(added(text.replace(">3<", ">0<")))


# Gravity --------------------------------------------------------------------------------------

BODY = "<inertial><origin xyz='0.2 0.3 0.5'/><mass value='2'/>" + INERTIA + "</inertial>"
ROLLED = f"""<robot name="r"> <!-- an arm on a link that is rolled, on one that turns -->
  <link name="world"/><link name="turret">{BODY}</link><link name="wall"/>
  <link name="a">{BODY}</link><link name="b">{BODY}</link>
  <joint name="i" type="revolute"><parent link="world"/><child link="turret"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
  <joint name="roll" type="fixed"><parent link="turret"/><child link="wall"/>
    <origin xyz="0.1 0 0.2" rpy="1.5707963267948966 0 0"/></joint>
  <joint name="j" type="revolute"><parent link="wall"/><child link="a"/>
    <axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
  <joint name="k" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 0.5"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" velocity="1" effort="1"/></joint>
</robot>"""


@pytest.mark.parametrize("angle", [0.0, 0.7])
@pytest.mark.parametrize("given", [None, (1.0, -2.0, 3.0)])
def test_gravity_is_turned_into_the_base(angle, given):
    pin = pytest.importorskip("pinocchio", reason="needs Pinocchio: pip install pin")
    model = pin.buildModelFromXML(ROLLED)
    if given is not None:
        model.gravity.linear = np.array(given)
    q = [0.4, -0.9]
    expected = pin.computeGeneralizedGravity(model, model.createData(), np.array([angle, *q]))[1:]
    lock = {"i": angle} if angle else {}
    robot = armdyn.load(ROLLED, base="wall", lock=lock, gravity=given)
    assert robot.gravity(q) == pytest.approx(expected, rel=1e-13)
    assert robot.locked == lock
    whole = armdyn.load(ROLLED, lock={"i": angle}, gravity=given)
    assert whole.gravity(q) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("angle", [0.0, 0.7])
def test_gravity_of_a_model_is_turned_into_the_base(angle):
    """MuJoCo's own, of the same arm; joint i starts at 0.3, and stands at 0 unless locked."""
    mujoco = pytest.importorskip("mujoco", reason="needs MuJoCo: pip install 'armdyn[mjcf]'")
    body = "<inertial pos='0.2 0.3 0.5' mass='2' diaginertia='0.02 0.03 0.04'/>"
    text = f"""<mujoco><!-- as above -->
      <compiler angle="radian"/><option gravity="1 2 -9"/><worldbody>
      <body name="turret"><joint name="i" axis="0 1 0" ref="0.3"/>{body}
        <body name="wall" pos="0.1 0 0.2" quat="1 1 0 0">
          <body name="a"><joint name="j" axis="0 0 1"/>{body}
            <body name="b" pos="0 0 0.5"><joint name="k" axis="0 1 0"/>{body}</body></body>
        </body></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:] = [angle, 0.4, -0.9]
    mujoco.mj_forward(model, data)
    lock = {"i": angle} if angle else {}
    robot = armdyn.load(text, base="wall", lock=lock)
    assert robot.gravity([0.4, -0.9]) == pytest.approx(data.qfrc_bias[1:], rel=1e-12)


# What is meant --------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["inf", "+inf", "Infinity", " INF "])
def test_limits_may_be_infinite(word):
    written = f'lower="-{word.strip(" +")}" upper="{word}" velocity="{word}" effort="{word}"'
    text = in_joint(SHOULDER, 'lower="-2" upper="2.5" velocity="3" effort="40"', written)
    joint = armdyn.load(text).chain.joints[0]
    assert (joint.lower, joint.upper) == (-np.inf, np.inf)
    assert joint.velocity == joint.effort == np.inf and notes(text) == ()


def test_limits_of_zero_are_noted():
    text = in_joint(SHOULDER, 'velocity="3" effort="40"', 'velocity="0" effort="0.0"')
    joint = armdyn.load(text).chain.joints[0]
    assert joint.velocity == joint.effort == np.inf
    assert notes(text) == tuple(
        f"joint 'shoulder': {key} limit 0 is read as no limit" for key in ("velocity", "effort")
    )
    still = in_joint(SHOULDER, 'lower="-2" upper="2.5"', "")
    assert notes(still) == ("joint 'shoulder': limits 0 and 0 leave no room to move",)


def test_products_of_inertia_may_be_left_out():
    zero = '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.04"/>'
    short = '<inertia ixx="0.02" iyy="0.03" izz="0.04"/>'
    assert armdyn.load(edited((INERTIA, short))) == armdyn.load(edited((INERTIA, zero)))
    assert notes(edited((INERTIA, short))) == ()


def test_a_link_without_a_tensor_is_a_point_if_told_so():
    (note,) = refused_unless_warned(edited((INERTIA, "")), "'lower': inertial has no <inertia>")
    assert note.endswith("read as a point")


@pytest.mark.parametrize(
    ("part", "old", "new", "note"),
    [
        (ELBOW, "0.3 0 0", "0 5 0", "joint 'elbow': origin rpy='0 5 0': a round number beyond"),
        (LOWER, "0 0 0.1", "4.5 0 0", "link 'lower': inertial: origin rpy='4.5 0 0': a round num"),
        (ELBOW, "0.4 0 0", "0 1000 0", "joint 'elbow': origin xyz='0 1000 0': more than 50 m"),
        (UPPER, "0.3 0 0", "89 0 0", "link 'upper': inertial: origin xyz='89 0 0': more than 50"),
        (LOWER, '"0.04"', '"1e6" iyy="1e6"', "link 'lower' of 2 kg has a moment of 1e+06 kg m^2"),
    ],
)
def test_what_is_implausible_is_noted(part, old, new, note):
    text = edited((part, part.replace(old, new, 1).replace('iyy="0.03" ', "", "iyy" in new)))
    assert notes(text)[0].startswith(note)


@pytest.mark.parametrize("rpy", ["3.14159 -3.1416 6.2832", "4.71238898038 0 -4.712", "3 -2.5 1"])
def test_turns_of_more_than_half_are_not_implausible(rpy):
    """Quarter turns, as files print them, and angles that nothing speaks against."""
    assert not any("degrees" in note for note in notes(in_joint(ELBOW, "0.3 0 0", rpy)))


def test_small_changes_of_angles_are_one_note():
    """Rounded quarter turns of several elements are one line."""
    almost = GOOD.replace('rpy="0 0 0.1"', 'rpy="1.57079632679 0 1.57079632679"')
    almost = almost.replace('rpy="0 0 0.75"', 'rpy="0 3.14159265359 0"')
    assert notes(almost) == ("2 angles snapped, at most 9.8e-12 rad",)
