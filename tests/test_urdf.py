"""The URDF reader: which chain it takes, the frames it gives it, and what it says of both."""

import math
from importlib import resources
from xml.etree import ElementTree

import numpy as np
import pytest

from armdyn import Chain, ModelError
from armdyn.algorithms import kinematics, newton_euler
from armdyn.chain.pose import Pose, quarter_turns
from armdyn.loaders import urdf
from tests.test_bad_input import ELBOW, GOOD, LOWER, SHOULDER, added, edited, in_joint, side_arm
from tests.urdf_writer import write

MODELS = resources.files("armdyn") / "models"
QUARTER = math.pi / 2


def shipped(name, **choices):
    return urdf.load((MODELS / f"{name}.urdf").read_bytes(), **choices)


def tip_pose(chain, q, frame=None):
    return np.array(kinematics.pose(chain.on(float), list(q), frame))


# The frames ---------------------------------------------------------------------------------


def test_panda_has_the_table_its_maker_prints():
    """Franka Emika, FCI documentation, Denavit-Hartenberg parameters (Craig's convention)."""
    chain = shipped("panda")
    table = chain.to_mdh()
    assert table["b"].tolist() == [0, 0, 0, 0.0825, -0.0825, 0, 0.088]
    assert table["d"].tolist() == [0, 0, 0.316, 0, 0.384, 0, 0]
    assert table["beta"].tolist() == [x * QUARTER for x in (0, -1, 1, 1, -1, 1, 1)]
    assert not table["theta"].any()
    assert chain.base == Pose(translation=(0.0, 0.0, 0.333))
    assert chain.find_frame("panda_link8") == (6, Pose(translation=(0.0, 0.0, 0.107)))


def test_ur5_has_the_table_its_maker_prints():
    """Universal Robots, "DH parameters": a, d and alpha, up to the signs of turned x-axes."""
    chain = shipped("ur5")
    table = chain.to_mdh()
    assert table["b"] == pytest.approx([0, 0, 0.425, 0.39225, 0, 0], abs=1e-15)
    assert table["d"] == pytest.approx([0, 0, 0, 0.10915, 0.09465, 0], abs=1e-15)
    assert table["beta"].tolist() == [x * QUARTER for x in (0, -1, 0, 0, -1, 1)]
    assert np.count_nonzero(table["b"]) == np.count_nonzero(table["d"]) == 2
    assert chain.find_frame("tool0")[1].translation == pytest.approx((0, 0, 0.0823), abs=1e-15)


def lumped(*bodies):
    """One joint about x that carries bodies (mass, x [m], moment of inertia [kg m^2])."""
    links = "".join(
        f'''<link name="b{i}"><inertial><origin xyz="{x} 0 0"/><mass value="{mass}"/>
        <inertia ixx="{moment}" iyy="{moment}" izz="{moment}" ixy="0" ixz="0" iyz="0"/>
        </inertial></link>
        <joint name="f{i}" type="fixed"><parent link="a"/><child link="b{i}"/></joint>'''
        for i, (mass, x, moment) in enumerate(bodies)
    )
    return urdf.load(
        f"""<robot name="r"><link name="base"/><link name="a"/>{links}
        <joint name="j" type="continuous"><parent link="base"/><child link="a"/></joint>
        </robot>""".encode(),
        check="warn",
    )


def test_what_cancels_but_for_rounding_is_zero():
    (link,) = lumped((0.1, 1.3, 0.1), (0.2, 1.3, 0.2), (-0.3, 1.3, -0.3)).links
    assert link.inertia.is_zero


def test_a_small_body_far_off_keeps_its_own_moments():
    """Small against m r^2, not against the moment about the axis that passes through it."""
    (link,) = lumped((1.0, 10.0, 1e-12)).links
    assert sorted(link.inertia.matrix.diagonal()) == pytest.approx([1e-12, 100, 100], 1e-12, 0)


@pytest.mark.parametrize("seed", range(12))
def test_exact_zeros_survive_any_placement_of_the_links_frames(seed):
    """Twist and distance of two axes do not depend on frames: what was drawn as 0 is found so."""
    original = Chain.random(6, None, seed, "orthogonal")
    found = urdf.load(write(original, seed), tip="tip")
    for drawn, joint in zip(original.joints[1:], found.joints[1:], strict=True):
        k, turns = quarter_turns(drawn.beta), quarter_turns(joint.beta)
        assert turns is not None and turns % 2 == k % 2
        if k % 2:  # crossing axes have one common normal
            assert (joint.b == 0) == (drawn.b == 0)
        assert abs(joint.b) == pytest.approx(abs(drawn.b), abs=1e-14)
        assert abs(joint.theta) <= QUARTER


@pytest.mark.parametrize("structure", ["parallel", "antiparallel", "coincident"])
def test_parallel_axes_shift_no_frame_along_them(structure):
    """d = 0 where an axis is parallel to the next; b = 0 and theta = 0 where they coincide."""
    for seed in range(6):
        found = urdf.load(write(Chain.random(7, None, seed, structure), seed), tip="tip")
        for i, (joint, following) in enumerate(zip(found.joints, found.joints[1:], strict=False)):
            if following.beta in (0, math.pi):
                assert joint.d == 0
                assert i == 0 or following.b != 0 or joint.theta == 0


def test_prismatic_axes_meet_the_axis_before_and_cost_no_offset():
    for seed in range(20):
        kinds = "".join(np.random.default_rng(seed).choice(list("RP"), 6))
        found = urdf.load(write(Chain.random(6, kinds, seed), seed), tip="tip")
        assert all(joint.b == 0 for joint in found.joints if joint.kind == "P")


def test_prismatic_axis_is_laid_through_the_joint_beyond():
    """The Stanford arm's slide meets axis 2 and runs into the wrist: one offset, at joint 2."""
    stanford = Chain.from_mdh(
        joints="RRPRRR",
        b=[0] * 6,
        beta=[0, -90, 90, 0, -90, 90],
        d=[0, 0.1524, 0.5, 0, 0, 0],
        theta=[0] * 6,
        degrees=True,
        mass=[1] * 6,
        inertia=[(0.1, 0.1, 0.1)] * 6,
    )
    found = urdf.load(write(stanford, 3), tip="tip").to_mdh()
    assert not found["b"].any()
    assert abs(found["d"][1]) == pytest.approx(0.1524, abs=1e-14)
    assert not found["d"][[0, 3, 4, 5]].any()


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_one_joint_stands_in_its_links_own_frame(kind):
    chain = urdf.load(in_joint(SHOULDER, "revolute", kind), tip="lower")
    assert chain.n == 1 and chain.tip == Pose() == chain.find_frame("lower")[1]


# Which chain --------------------------------------------------------------------------------


def test_trunk_ends_where_two_joints_leave_a_link():
    chain = shipped("panda")
    assert [joint.name for joint in chain.joints] == [f"panda_joint{i}" for i in range(1, 8)]
    assert chain.locked == (("panda_finger_joint1", 0.0), ("panda_finger_joint2", 0.0))
    assert chain.find_frame("panda_leftfinger")[0] == 6
    assert chain.tip == chain.find_frame("panda_link7")[1]


def test_tip_moves_exactly_the_joints_up_to_it():
    chain = shipped("panda", tip="panda_leftfinger", lock={"panda_finger_joint2": 0.0})
    assert chain.n == 8 and chain.joints[-1].name == "panda_finger_joint1"
    assert chain.locked == (("panda_finger_joint2", 0.0),)
    chain = shipped("panda", tip="panda_link3")
    assert chain.n == 3 and len(chain.locked) == 6


def test_mimic_joint_is_locked_where_its_leader_puts_it():
    chain = shipped("panda", lock={"panda_finger_joint1": 0.03})
    assert dict(chain.locked) == {"panda_finger_joint1": 0.03, "panda_finger_joint2": 0.03}
    left, right = (chain.find_frame(f"panda_{side}finger")[1] for side in ("left", "right"))
    apart = np.subtract(left.translation, right.translation)
    assert np.linalg.norm(apart) == pytest.approx(0.06, rel=1e-12)
    followed = in_joint(
        ELBOW, "<axis", '<mimic joint="shoulder" multiplier="-2" offset="0.5"/><axis'
    )
    with pytest.raises(ModelError, match="no joint moves"):
        urdf.load(followed, lock={"shoulder": 0.25})
    assert urdf.load(followed, tip="lower", check="warn").locked == (("elbow", 0.5),)


def test_a_heavy_joint_that_follows_one_that_moves_is_refused():
    """Its inertia belongs in the mass matrix: 0.03 kg at the fingers, of which half would be."""
    with pytest.raises(ModelError) as refused:
        shipped("panda", tip="panda_leftfinger")
    told = str(refused.value)
    assert "'panda_finger_joint2' mimics 'panda_finger_joint1', which moves, and carries" in told
    assert "lock={'panda_finger_joint1': 0.0}" in told and "tip='panda_hand'" in told
    assert shipped("panda", tip="panda_hand").n == 7
    chain = shipped("panda", tip="panda_leftfinger", check="warn")
    assert chain.notes[0] == (
        "joint 'panda_finger_joint2' mimics 'panda_finger_joint1', which moves, but is locked at "
        "0: M and gravity lack what it carries"
    )


def test_the_mass_of_a_follower_may_stand_further_out():
    """Without mass, or if it stands still, it is locked with a note."""
    follower = side_arm("x", extra='<mimic joint="shoulder" multiplier="2"/>')
    light = added(follower, side_arm("y", parent="x"))
    body = LOWER[LOWER.index("<inertial>") : LOWER.index("</link>")]
    heavy = light.replace('<link name="y"/>', f'<link name="y">{body}</link>')
    with pytest.raises(ModelError, match="'to_x' mimics 'shoulder', which moves, and") as refused:
        urdf.load(heavy, tip="upper")
    assert "lock={'shoulder': 0.0}" in str(refused.value)
    assert "tip=" not in str(refused.value)  # nothing moves before the shoulder
    with pytest.raises(ModelError, match=r"lock={'to_x': 0.0} locks it; check="):  # else no arm
        urdf.load(heavy, tip="lower")
    assert urdf.load(heavy, tip="lower", lock={"to_x": 0.0}).n == 1
    for text in light, heavy.replace('multiplier="2"', 'multiplier="0"'):
        note = urdf.load(text, tip="lower").notes[-1]
        assert note == "joint 'to_x' mimics 'shoulder', which moves, but is locked at 0"


def test_mimic_of_a_mimic_follows_the_first_of_them():
    """x = -2 leader + 0.5, y = 3 x + 0.25 = -6 leader + 1.75."""
    text = added(
        side_arm("leader"),
        side_arm("x", extra='<mimic joint="to_leader" multiplier="-2" offset="0.5"/>'),
        side_arm("y", extra='<mimic joint="to_x" multiplier="3" offset="0.25"/>'),
    )
    chain = urdf.load(text, tip="upper", lock={"to_leader": 0.125})
    assert dict(chain.locked) == {"to_leader": 0.125, "to_x": 0.25, "to_y": 1.0}
    held = urdf.load(text, tip="upper", lock={"to_leader": 0.125, "to_x": 1.0})
    assert dict(held.locked) == {"to_leader": 0.125, "to_x": 1.0, "to_y": 3.25}
    assert dict(urdf.load(text, tip="upper").locked)["to_y"] == 1.75


def test_locked_joint_is_the_arm_at_that_position():
    whole = urdf.load(GOOD, tip="tool")
    for locked, others in (("shoulder", [1]), ("elbow", [0])):
        part = urdf.load(GOOD, tip="tool", lock={locked: 0.7})
        q = np.where(np.arange(2) == others[0], -0.4, 0.7)
        assert tip_pose(part, [-0.4]) == pytest.approx(tip_pose(whole, q), abs=1e-14)
        M = newton_euler.mass_matrix(whole.on(float), q.tolist())
        assert newton_euler.mass_matrix(part.on(float), [-0.4])[0][0] == pytest.approx(
            M[others[0]][others[0]], rel=1e-12
        )


def test_one_branch_locked_leaves_the_other():
    text = added(side_arm(parent="base"))
    chain = urdf.load(text, lock={"to_side": 1})
    assert [joint.name for joint in chain.joints] == ["shoulder", "elbow"]
    assert chain.find_frame("side")[0] == -1
    other = urdf.load(text, tip="upper")
    assert (other.joints, other.links) == (chain.joints, chain.links)
    assert (other.locked, chain.locked) == ((("to_side", 0.0),), (("to_side", 1.0),))


def test_base_is_a_mere_change_of_frame():
    """On the same arm, seen from a link fixed to its root, gravity turned along."""
    original = Chain.random(5, "RPRRP", 4)
    text = write(original, 4)
    whole = urdf.load(text, tip="tip")
    mount = np.array(whole.find_frame("mount")[1].matrix)
    part = urdf.load(text, base="mount", tip="tip")
    assert part.gravity == pytest.approx(mount[:3, :3].T @ whole.gravity, rel=1e-14)
    q, qd = np.random.default_rng(0).uniform(-2, 2, (2, 5)).tolist()
    assert mount @ tip_pose(part, q) == pytest.approx(tip_pose(whole, q), abs=1e-13)
    forces = [newton_euler.bias(chain.on(float), q, qd) for chain in (whole, part)]
    assert forces[0] == pytest.approx(forces[1], rel=1e-12)
    assert "base" not in part.frame_names


def test_base_in_mid_arm_drops_what_lies_before():
    chain = shipped("panda", base="panda_link3")
    assert chain.n == 4 and chain.joints[0].name == "panda_joint4"
    assert "panda_link2" not in chain.frame_names


# What is read -------------------------------------------------------------------------------


def test_names_limits_and_friction():
    chain = urdf.load(GOOD)
    shoulder, elbow = chain.joints
    assert (chain.name, [link.name for link in chain.links]) == ("arm", ["lower", "upper"])
    assert (shoulder.lower, shoulder.upper) == (-2, 2.5)
    assert (shoulder.velocity, shoulder.effort) == (3, 40)
    assert (shoulder.viscous, shoulder.coulomb) == (0.5, (-0.25, 0.25))
    assert (elbow.lower, elbow.upper, elbow.effort) == (-math.inf, math.inf, math.inf)
    assert urdf.load(GOOD, name="mine").name == "mine"


def test_continuous_joints_have_no_limits():
    limited = in_joint(ELBOW, "<axis", '<limit lower="-1" upper="1" velocity="5"/><axis')
    elbow = urdf.load(limited).joints[1]
    assert (elbow.lower, elbow.upper, elbow.velocity) == (-math.inf, math.inf, 5)


@pytest.mark.parametrize(
    ("written", "limits"),
    [('upper="2.5"', (0.0, 2.5)), ('lower="-2"', (-2.0, 0.0)), ("", (0.0, 0.0))],
)
def test_a_limit_that_is_not_written_is_zero(written, limits):
    """As the format has it: both are "optional, defaults to 0"."""
    text = in_joint(SHOULDER, 'lower="-2" upper="2.5"', written)
    shoulder = urdf.load(text).joints[0]
    assert (shoulder.lower, shoulder.upper) == limits


def test_a_speed_or_effort_that_is_not_written_has_no_limit():
    shoulder = urdf.load(in_joint(SHOULDER, 'velocity="3" effort="40"', "")).joints[0]
    assert (shoulder.velocity, shoulder.effort) == (math.inf, math.inf)


@pytest.mark.parametrize(
    ("written", "viscous", "coulomb"),
    [('damping="0.5"', 0.5, (0, 0)), ('friction="0.25"', 0.0, (-0.25, 0.25)), ("", 0.0, (0, 0))],
)
def test_friction_that_is_not_written_is_none(written, viscous, coulomb):
    text = in_joint(SHOULDER, 'damping="0.5" friction="0.25"', written)
    shoulder = urdf.load(text).joints[0]
    assert (shoulder.viscous, shoulder.coulomb) == (viscous, coulomb)


def test_a_joint_without_limit_has_none():
    limit = '<limit lower="-2" upper="2.5" velocity="3" effort="40"/>'
    shoulder = urdf.load(in_joint(SHOULDER, limit, "")).joints[0]
    assert (shoulder.lower, shoulder.upper) == (-math.inf, math.inf)


@pytest.mark.parametrize("largest", [3.402823466e38, 1.7976931348623157e308, 1e38])
def test_the_largest_numbers_say_that_there_is_no_limit(largest):
    """Those of a float and of a double, which programs write for want of an infinity."""
    written = f'lower="{-largest}" upper="{largest}" velocity="{largest}" effort="{largest}"'
    text = in_joint(SHOULDER, 'lower="-2" upper="2.5" velocity="3" effort="40"', written)
    shoulder = urdf.load(text).joints[0]
    assert (shoulder.lower, shoulder.upper) == (-math.inf, math.inf)
    assert (shoulder.velocity, shoulder.effort) == (math.inf, math.inf)
    half = urdf.load(in_joint(SHOULDER, 'upper="2.5"', f'upper="{largest}"')).joints[0]
    assert (half.lower, half.upper) == (-2, math.inf)
    finite = in_joint(SHOULDER, 'effort="40"', 'effort="9.9e37"')
    assert urdf.load(finite).joints[0].effort == 9.9e37


def test_links_are_seen_in_their_own_frames():
    """Frames of the good arm by hand: each joint's origin, then its turn about its axis."""
    chain = urdf.load(GOOD)
    turned = Pose.mdh(0, 0, 0.25, 0)  # about z
    pitch = Pose.of(
        [[math.cos(1.5), 0, math.sin(1.5)], [0, 1, 0], [-math.sin(1.5), 0, math.cos(1.5)]]
    )
    lower = Pose(translation=(0, 0, 0.5)) @ pitch @ turned
    roll = Pose.mdh(0, 0.3, 0, 0)
    upper = lower @ Pose(translation=(0.4, 0, 0)) @ roll
    assert set(chain.frame_names) == {"base", "lower", "upper", "tool"}
    assert tip_pose(chain, [0.25, 0], "base") == pytest.approx(np.eye(4), abs=0)
    assert tip_pose(chain, [0.25, 0], "lower") == pytest.approx(lower.matrix, abs=1e-15)
    assert tip_pose(chain, [0.25, 0], "upper") == pytest.approx(upper.matrix, abs=1e-15)
    assert tip_pose(chain, [0.25, 0]) == pytest.approx(upper.matrix, abs=1e-15)


def test_inertia_fixed_to_the_base_is_dropped():
    stone = LOWER.replace('"lower"', '"base"')
    assert urdf.load(edited(('<link name="base"/>', stone))) == urdf.load(GOOD)


def test_what_is_no_arm_is_not_read():
    clutter = added(
        '<transmission name="t"><joint name="shoulder"/></transmission>',
        '<gazebo reference="lower"><mu1>nan</mu1></gazebo>',
        '<material name="red"><color rgba="x"/></material>',
    )
    mesh = '<visual><origin xyz="?"/><geometry><mesh filename="package://a/b.stl"/></geometry></visual>'
    clutter = clutter.replace('<link name="lower">', f'<link name="lower">{mesh}')
    fixed_axis = clutter.replace(
        '<origin xyz="0 0 0.125"', '<axis xyz="0 0 0"/><origin xyz="0 0 0.125"'
    )
    assert urdf.load(fixed_axis) == urdf.load(GOOD)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings(encoding):
    named = GOOD.replace(
        'version="1.0"', f'version="1.0" encoding="{encoding.removesuffix("-sig")}"'
    )
    named = named.replace('name="arm"', 'name="Ärmchen"')
    assert urdf.load(named.encode(encoding)).name == "Ärmchen"


def test_axis_of_any_length_is_a_direction():
    for factor in (1e-300, 1e-5, 7, 1e300):
        longer = in_joint(SHOULDER, '<axis xyz="0 0 1"', f'<axis xyz="0 0 {factor}"')
        assert urdf.load(longer) == urdf.load(GOOD)


def test_axis_is_x_if_not_given():
    along_x = in_joint(SHOULDER, '<axis xyz="0 0 1"/>', '<axis xyz="1 0 0"/>')
    assert urdf.load(in_joint(SHOULDER, '<axis xyz="0 0 1"/>', "")) == urdf.load(along_x)


# What is noted ------------------------------------------------------------------------------


def test_snapped_angles_are_noted_and_can_be_kept():
    along_z = ELBOW.replace('<axis xyz="0 1 0"', '<axis xyz="0 0 1"')
    text = edited((ELBOW, along_z.replace('rpy="0.3 0 0"', 'rpy="1.57079632679 0 0"')))
    snapped, kept = urdf.load(text), urdf.load(text, snap=0)
    assert snapped.notes == ("1 angle snapped, at most 4.9e-12 rad",)
    assert (snapped.joints[1].beta, kept.joints[1].beta) == (QUARTER, 1.57079632679)
    assert not kept.notes


def test_snap_turns_printed_angles_into_quarter_turns():
    """The xArm's URDF prints 1.5708: it keeps its 3.7e-6 rad unless told otherwise."""
    assert not any(quarter_turns(joint.beta) for joint in shipped("xarm7").joints)
    chain = shipped("xarm7", snap=1e-5)
    assert all(quarter_turns(joint.beta) is not None for joint in chain.joints)
    *snapped, cost = chain.notes
    assert len(snapped) == 6 and all("snapped by 3.7e-06 rad" in note for note in snapped)
    assert cost.startswith("angles snapped by 2.2e-05 rad in all may cost a relative accuracy of")


def test_slanted_axis_is_snapped_and_noted():
    text = in_joint(ELBOW, '<axis xyz="0 1 0"', '<axis xyz="3e-10 -1 0"')
    notes = urdf.load(text).notes
    assert notes == ("1 angle snapped, at most 3.0e-10 rad",)  # without a cost: it is rounding
    (note, cost) = urdf.load(text.replace("3e-10", "3e-8"), snap=1e-7).notes
    assert "xyz='3e-8 -1 0' snapped by 3.0e-08 rad" in note and "angles snapped by" in cost


def test_a_lock_outside_its_limits_is_noted():
    notes = urdf.load(GOOD, lock={"shoulder": 2.75}).notes
    assert notes == ("joint 'shoulder' is locked at 2.75, outside its limits -2 and 2.5",)
    assert urdf.load(GOOD, lock={"shoulder": 2.5}).notes == ()
    assert urdf.load(GOOD, lock={"elbow": 3.0}).notes == ()  # continuous


def test_angles_that_look_like_degrees_are_noted():
    said = "rad looks like an angle in degrees"
    limits = in_joint(SHOULDER, 'lower="-2" upper="2.5"', 'lower="-170" upper="170"')
    assert urdf.load(limits).notes == (f"joint 'shoulder': a limit = -170 {said}",)
    turned = urdf.load(in_joint(ELBOW, 'rpy="0.3 0 0"', 'rpy="0 -90 0"'))
    assert f"joint 'elbow': origin rpy = -90 {said}" in turned.notes
    assert urdf.load(GOOD, lock={"elbow": 45}).notes == (f"lock: joint 'elbow' = 45 {said}",)
    for sound in ("-12.5", "-1e4"):  # two turns of a wrist; what people write for "no limit"
        assert urdf.load(in_joint(SHOULDER, 'lower="-2"', f'lower="{sound}"')).notes == ()
    slide = SHOULDER.replace("revolute", "prismatic").replace('upper="2.5"', 'upper="100"')
    assert urdf.load(edited((SHOULDER, slide))).notes == ()


@pytest.mark.parametrize(
    ("limits", "reach"),
    [
        ('lower="-0.75" upper="0.5"', 0.75),
        ('lower="-inf" upper="inf"', 0.4),
        ('lower="-1e308" upper="0.5"', 0.4),
    ],
)
def test_what_snapping_costs_is_said_with_how_far_slides_go(limits, reach):
    """The farther of a slide's limits; the arm's length, 0.4 m, where they do not say."""
    along_z = ELBOW.replace('rpy="0.3 0 0"', 'rpy="5e-10 0 0"').replace('"0 1 0"', '"0 0 1"')
    slide = along_z.replace("continuous", "prismatic").replace(
        "</joint>", f'<limit {limits} velocity="1" effort="1"/></joint>'
    )
    tool = 'xyz="0 0 0.125"', 'xyz="0 0 0"'
    (note,) = urdf.load(edited((ELBOW, slide), tool), snap=0).notes
    assert "made parallel" in note and f"while slides stay within {reach} m in all" in note
    (note,) = urdf.load(edited((ELBOW, along_z)), snap=0).notes
    assert "made parallel" in note and "slides" not in note


def test_plain_numbers():
    """A chain is plain data: no number of another library hides in it."""
    chain = shipped("ur10")
    for joint in chain.joints:
        assert {type(x) for x in (joint.b, joint.beta, joint.d, joint.theta)} == {float}


def scaled(text, kilogram, metre):
    """A URDF with other units of mass and length; seconds and radians stay."""
    units = {
        "xyz": lambda tag: 1 if tag == "axis" else metre,
        "value": lambda tag: kilogram,
        **dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), lambda _: kilogram * metre**2),
    }
    root = ElementTree.fromstring(text)
    for element in root.iter():
        for attribute in units.keys() & element.attrib.keys():
            size = units[attribute](element.tag)
            numbers = [float(number) * size for number in element.get(attribute).split()]
            element.set(attribute, " ".join(map(repr, numbers)))
    return ElementTree.tostring(root)


@pytest.mark.parametrize("kilogram", [2.0**-60, 1.0, 2.0**10])
@pytest.mark.parametrize("metre", [2.0**-30, 1.0, 2.0**8])
def test_units_of_mass_and_length_do_not_matter(kilogram, metre):
    """In powers of two nothing is rounded: the same arm, bit for bit."""
    here, there = urdf.load(GOOD), urdf.load(scaled(GOOD, kilogram, metre))
    units = kilogram * np.array([1, *[metre] * 3, *[metre**2] * 6])
    expected = here.parameters.reshape(-1, 10) * units
    np.testing.assert_array_equal(there.parameters.reshape(-1, 10), expected)
    for key, unit in (("b", metre), ("d", metre), ("beta", 1), ("theta", 1)):
        np.testing.assert_array_equal(there.to_mdh()[key], here.to_mdh()[key] * unit)
