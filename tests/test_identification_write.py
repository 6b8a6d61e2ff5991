"""Identified arms as files: read back as the same arm, and of a URDF only numbers changed."""

import dataclasses
import re

import numpy as np
import pytest

import armdyn
from armdyn import Chain, IdentificationError, ModelError
from armdyn.chain.inertia import Inertia
from armdyn.identification import write
from armdyn.loaders.markup import DECIMAL
from tests.motions import recorded
from tests.sweeping import few
from tests.urdf_writer import write as random_urdf

HAND = """<?xml version="1.0" encoding="utf-8"?>
<!-- Handmade; mass in kg. <inertial><mass value="9"/></inertial> is no element here: é, 中 -->
<robot name='hand made'   version = "1.0">
\t<link name="world"/>   <!-- nothing -->
\t<link name="upper">
\t\t<visual><origin xyz="7 7 7"/><geometry><box size="1 1 1"/></geometry></visual>
\t\t<inertial>
\t\t\t<!-- <mass value="3"/> -->
\t\t\t<inertia  izz = "0.03" ixx='.02'   ixy="0"
\t\t\t          ixz="0.00" iyz="-1e-3" iyy="2.5E-2" />
\t\t\t<mass value = " 2.50 " />
\t\t\t<origin rpy="0.1 -0.2 0.3" xyz="0  0.05
\t\t\t                              0.1"/>
\t\t</inertial>
\t</link>
\t<link name="bracket"><inertial><mass value="0.4"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3"
\t   ixy="0" ixz="0" iyz="0"/></inertial></link>
\t<link name="fore">
\t\t<inertial>
\t\t\t<origin xyz="0.2 0 0"/>
\t\t\t<origin xyz="9 9 9"/>
\t\t\t<mass value="1.2"/>
\t\t\t<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/>
\t\t</inertial>
\t</link>
\t<link name="wrist"/>
\t<link name="tool" >
\t\t<inertial><origin rpy="0 0 1.5707963" xyz="0 0 0.05"/><mass value="0.3"/>
\t\t<inertia ixx="2e-4" ixy="0" ixz="0" iyy="3e-4" iyz="0" izz="2e-4"/></inertial>
\t</link>
\t<link name="finger">
\t\t<inertial><mass value="0.05"/><inertia ixx="1e-5" ixy="0" ixz="0" iyy="1e-5" iyz="0"
\t\t izz="1e-5"/>
\t\t</inertial>
\t</link>
\t<joint type="revolute" name="shoulder">
\t\t<parent link="world"/><child link="upper"/>
\t\t<origin xyz="0 0 0.4"/><axis xyz="0 1 0"/>
\t\t<limit lower="-2" upper="2" effort="50" velocity="3"/>
\t\t<dynamics friction="0.20" damping="0.1"/>
\t</joint>
\t<joint name="weld" type="fixed">
\t\t<parent link="upper"/><child link="bracket"/><origin xyz="0 0 0.3" rpy="0.2 0 0"/>
\t</joint>
\t<joint name="elbow" type="continuous">
\t\t<parent link="bracket"/>
\t\t<child link="fore"/>
\t\t<axis xyz="0.6 0.8 0"/>
\t</joint>
\t<joint name="slide" type="prismatic">
\t\t<parent link="fore"/>
\t\t<child link="wrist"/>
\t\t<origin xyz="0.4 0 0"/>
\t\t<axis xyz="1 0 0"/>
\t\t<limit lower="0" upper="0.2" effort="9" velocity="1"/>
\t\t<dynamics/>
\t</joint>
\t<joint name="turn" type="revolute">
\t\t<parent link="wrist"/><child link="tool"/><axis xyz="1 0 0"/>
\t\t<limit lower="-3" upper="3" effort="9" velocity="1"/>
\t</joint>
\t<joint name="grip" type="prismatic">
\t\t<parent link="tool"/><child link="finger"/><axis xyz="0 1 0"/>
\t\t<limit lower="0" upper="0.1" effort="9" velocity="1"/>
\t</joint>
</robot>
<!-- the end -->"""
CHOICES = [
    {},
    {"tip": "fore"},
    {"tip": "finger"},
    {"lock": {"elbow": 0.7, "grip": 0.03}},
    {"base": "upper", "tip": "tool"},
    {"snap": 1e-3},
]


def identified(chain, seed=0):
    """The arm with other inertias and friction, as an identification gives it."""
    rng = np.random.default_rng(seed)
    links, joints = [], []
    for joint, link in zip(chain.joints, chain.links, strict=True):
        more = Inertia.from_com(
            rng.uniform(0.1, 0.5), rng.uniform(-0.1, 0.1, 3), np.diag([0.01, 0.012, 0.013])
        )
        viscous, coulomb = rng.uniform(0.1, 2, 2).tolist()
        links.append(dataclasses.replace(link, inertia=link.inertia + more))
        joints.append(dataclasses.replace(joint, viscous=viscous, coulomb=(-coulomb, coulomb)))
    return dataclasses.replace(chain, joints=tuple(joints), links=tuple(links))


def without_rotors(chain):
    joints = (dataclasses.replace(joint, rotor_inertia=0.0) for joint in chain.joints)
    return dataclasses.replace(chain, joints=tuple(joints))


def assert_same_torques(chain, other):
    """To 1e-12 N m, with friction; all else of the two arms alike."""
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 40, chain.n))
    one, two = (
        armdyn.Robot(each).inverse_dynamics(q, qd, qdd, friction=True) for each in (chain, other)
    )
    assert np.abs(one).max() > 0.1
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-12)
    assert [joint.name for joint in chain.joints] == [joint.name for joint in other.joints]
    np.testing.assert_array_equal(
        armdyn.Robot(chain).position_limits, armdyn.Robot(other).position_limits
    )


def numbers_aside(text):
    """A text with a # for each number in quotes."""
    words = re.compile(r"(?<=[\s\"'])" + DECIMAL.pattern + r"(?=[\s\"'])")
    return words.sub("#", text)


# Round trips --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", armdyn.robots())
def test_a_shipped_arm_is_read_back_from_urdf(tmp_path, name):
    chain = without_rotors(identified(armdyn.load(name).chain))
    write.save(chain, tmp_path / "new.urdf")
    back = armdyn.load(tmp_path / "new.urdf", gravity=chain.gravity)
    assert_same_torques(chain, back.chain)


@pytest.mark.parametrize(
    "chain",
    few(
        [
            *(Chain.random(5, "RPRRP", seed=seed) for seed in range(3)),
            armdyn.load(HAND, check="warn", tip="tool", lock={"elbow": 0.3}).chain,
            *(armdyn.load(name).chain for name in armdyn.robots()),
        ],
        *(0, 3, 4, 9),
    ),
)
def test_a_chain_as_urdf_has_the_same_frames_limits_and_torques(chain):
    lopsided = (dataclasses.replace(j, coulomb=(-0.1, 0.1)) for j in without_rotors(chain).joints)
    chain = dataclasses.replace(chain, joints=tuple(lopsided))
    text = chain.to_urdf()
    tip = "tip" if '<link name="tip"/>' in text else None
    back = armdyn.load(text, gravity=chain.gravity, tip=tip)
    assert_same_torques(chain, back.chain)
    robot, q = armdyn.Robot(chain), np.linspace(-0.5, 0.5, chain.n)
    for frame in (None, *chain.frame_names):
        np.testing.assert_allclose(robot.pose(q, frame), back.pose(q, frame), rtol=0, atol=1e-14)
    for limits in ("velocity_limits", "effort_limits"):
        np.testing.assert_array_equal(getattr(robot, limits), getattr(back, limits))


@pytest.mark.parametrize("name", ["panda", "puma560"])
def test_a_shipped_arm_is_read_back_from_toml_bit_for_bit(tmp_path, name):
    chain = identified(armdyn.load(name).chain)
    assert write.save(chain, tmp_path / "new.toml") == ()
    assert armdyn.load(tmp_path / "new.toml").chain == chain


@pytest.mark.parametrize("seed", range(6))
def test_a_random_urdf_is_read_back(tmp_path, seed):
    """Frames anywhere, bodies of several links, everything on one line an element."""
    kinds = "RPRRP" if seed % 2 else "RRRRR"
    text = random_urdf(Chain.random(5, kinds, seed=seed), seed)
    (tmp_path / "arm.urdf").write_text(text)
    chain = identified(armdyn.load(tmp_path / "arm.urdf").chain, seed)
    write.save(chain, tmp_path / "new.urdf")
    assert numbers_aside((tmp_path / "new.urdf").read_text()) == numbers_aside(text)
    assert_same_torques(chain, armdyn.load(tmp_path / "new.urdf").chain)


@pytest.mark.parametrize("choices", CHOICES, ids=lambda choices: "-".join(choices) or "plain")
def test_a_handmade_urdf_is_read_back_with_the_same_choices(tmp_path, choices):
    """Comments, two origins, odd spaces; locked joints, tip= and base=."""
    (tmp_path / "arm.urdf").write_text(HAND, encoding="utf-8")
    robot = armdyn.load(tmp_path / "arm.urdf", check="warn", **choices)
    chain = identified(robot.chain)
    write.save(chain, tmp_path / "new.urdf")
    back = armdyn.load(tmp_path / "new.urdf", check="warn", **choices)
    assert_same_torques(chain, back.chain)
    assert chain.locked == back.chain.locked and chain.frames == back.chain.frames


# The same, with all that it lacks, so that nothing has to be put in.
FULL = (
    HAND.replace(
        '<link name="wrist"/>',
        '<link name="wrist"><inertial><mass value="1"/><origin xyz="0 0 0"/><inertia ixx="1" '
        'ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>',
    )
    .replace('<mass value="0.05"/>', '<mass value="0.05"/><origin rpy="0 0 2" xyz="0 0 0"/>')
    .replace('<mass value="0.4"/>', '<mass value="0.4"/><origin xyz="0 0 0"/>')
    .replace('<axis xyz="1 0 0"/>', '<dynamics friction="0.0" damping="0"/><axis xyz="1 0 0"/>')
    .replace(
        '<axis xyz="0.6 0.8 0"/>', '<axis xyz="0.6 0.8 0"/>  <dynamics damping="1" friction="2"/>'
    )
    .replace(
        '<axis xyz="0 1 0"/>\n\t\t<limit lower="0"',
        "<dynamics damping='1' friction='0'/><axis xyz=\"0 1 0\"/>\n\t\t<limit lower=\"0\"",
    )  # fmt: skip
    .replace("\t\t<dynamics/>\n", "")
)


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["unix", "windows"])
def test_of_a_handmade_urdf_only_numbers_change(tmp_path, end):
    old = FULL.replace("\n", end).encode("utf-8-sig")
    (tmp_path / "arm.urdf").write_bytes(old)
    chain = identified(armdyn.load(tmp_path / "arm.urdf", check="warn").chain)
    assert chain.n == 5
    assert write.save(chain, tmp_path / "new.urdf") == ()
    new = (tmp_path / "new.urdf").read_bytes()
    assert new != old and numbers_aside(new.decode()) == numbers_aside(old.decode())
    for kept in ("9 9 9", "7 7 7", 'rpy="0.1 -0.2 0.3"', '<mass value="3"/>', 'value="0.4"'):
        assert kept in new.decode()


def test_what_is_identified_is_saved_into_the_users_own_urdf(tmp_path):
    """From a log of the arm that the file describes wrongly, to the file that describes it."""
    (tmp_path / "arm.urdf").write_text(FULL, encoding="utf-8")
    robot = armdyn.load(tmp_path / "arm.urdf", check="warn")
    log = recorded(armdyn.Robot(identified(robot.chain)), 3000)
    found = armdyn.identify(robot, log, rotors=False, offsets=False)
    assert found.save(tmp_path / "new.urdf") == ()
    new = (tmp_path / "new.urdf").read_text(encoding="utf-8")
    assert new != FULL and numbers_aside(new) == numbers_aside(FULL)
    again = armdyn.load(tmp_path / "new.urdf", check="warn")
    assert_same_torques(found.robot.chain, again.chain)
    tau = again.inverse_dynamics(log.q, log.qd, log.qdd, friction=True)
    np.testing.assert_allclose(tau, log.tau, rtol=0, atol=1e-6)


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["unix", "windows"])
def test_what_a_urdf_lacks_is_put_in_with_its_indentation(tmp_path, end):
    (tmp_path / "arm.urdf").write_bytes(HAND.replace("\n", end).encode())
    chain = identified(armdyn.load(tmp_path / "arm.urdf", check="warn").chain)
    write.save(chain, tmp_path / "new.urdf")
    new = numbers_aside((tmp_path / "new.urdf").read_bytes().decode()).replace(end, "\n")
    for wanted in (
        """
\t<link name="wrist">
\t\t<inertial>
\t\t\t<origin xyz="# # #" rpy="# # #"/>
\t\t\t<mass value="#"/>
\t\t\t<inertia ixx="#" ixy="#" ixz="#" iyy="#" iyz="#" izz="#"/>
\t\t</inertial>
\t</link>
""",
        """
\t\t<axis xyz="# # #"/>
\t\t<dynamics damping="#" friction="#"/>
\t</joint>
""",
        """
\t\t<limit lower="#" upper="#" effort="#" velocity="#"/>
\t\t<dynamics friction="#" damping="#"/>
\t</joint>
""",
        """
\t\t<inertial>
\t\t\t<origin xyz="# # #"/><mass value="#"/><inertia""",
    ):
        assert wanted in new, f"{wanted} is not in {new}"


def test_an_arm_that_did_not_change_leaves_the_file_as_it_was(tmp_path):
    for choices in CHOICES:
        (tmp_path / "arm.urdf").write_text(HAND, encoding="utf-8")
        chain = armdyn.load(tmp_path / "arm.urdf", check="warn", **choices).chain
        assert write.save(chain, tmp_path / "new.urdf") == ()
        assert (tmp_path / "new.urdf").read_bytes() == (tmp_path / "arm.urdf").read_bytes()
    for name in ("panda", "ur5", "kinova", "xarm7"):
        chain = armdyn.load(name).chain
        write.save(chain, tmp_path / "new.urdf")
        with open(chain.file.path, "rb") as file:
            assert (tmp_path / "new.urdf").read_bytes() == file.read()


def test_a_link_that_did_not_change_keeps_its_digits(tmp_path):
    chain = armdyn.load("ur5").chain
    ten = chain.parameters_in("pinocchio")
    ten[2, 0] += 0.5  # the mass of the third link alone
    write.save(chain.with_parameters(ten), tmp_path / "new.urdf")
    with open(chain.file.path) as file:
        old = file.read().splitlines()
    new = (tmp_path / "new.urdf").read_text().splitlines()
    changed = [a for a, b in zip(old, new, strict=True) if a != b]
    assert 2 <= len(changed) <= 3 and all("<limit" not in line for line in changed)


# Where what goes ----------------------------------------------------------------------------

TWO = """<robot name="two">
  <link name="base"/>
  <link name="flange"/>
  <link name="arm"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="flange"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="weld" type="fixed"><parent link="flange"/><child link="arm"/></joint>
</robot>"""


def two(tmp_path, change, text=TWO):
    (tmp_path / "arm.urdf").write_text(text)
    chain = armdyn.load(tmp_path / "arm.urdf", gravity=(0, -9.81, 0)).chain
    chain = chain.with_parameters(chain.parameters + change, check="warn")
    notes = write.save(chain, tmp_path / "new.urdf")
    back = armdyn.load(tmp_path / "new.urdf", gravity=(0, -9.81, 0)).chain
    np.testing.assert_allclose(back.parameters, chain.parameters, rtol=0, atol=1e-13)
    return (tmp_path / "new.urdf").read_text(), notes


def test_the_difference_goes_to_the_link_that_the_joint_moves(tmp_path):
    more = Inertia.from_com(0.5, (0.1, 0.0, 0.0), 0.01 * np.eye(3)).parameters()
    text, notes = two(tmp_path, more)
    assert '<mass value="0.5"/>' in text and TWO.split('<link name="arm">')[1] in text
    assert all("gravity" in note for note in notes)


def test_what_a_link_without_mass_cannot_say_goes_to_the_one_fixed_to_it(tmp_path):
    text, notes = two(tmp_path, [0, -0.1, 0, 0, 0, 0, 0, 0, 0, 0])  # a first moment alone
    assert '<link name="flange"/>' in text and '<origin xyz="0.45 0 0"/>' in text
    assert any("'flange' has no mass of its own" in note for note in notes)


def test_a_link_that_could_be_no_body_by_itself_is_noted(tmp_path):
    less = Inertia.from_com(0.5, (0.5, 0.0, 0.0), 0.01 * np.eye(3)).parameters()
    text, notes = two(tmp_path, -less)
    assert '<mass value="-0.5"/>' in text
    assert any("link 'flange' alone could be no body (mass -0.5 kg" in note for note in notes)


@pytest.mark.parametrize(
    ("joint", "wanted"),
    [
        (
            '<parent link="base"/><child link="flange"/>\n    <axis xyz="0 0 1"></axis></joint>',
            '<joint name="hinge" type="continuous">\n    <dynamics damping="0.5" friction="0.25"/>'
            '<parent link="base"/>',
        ),
        (
            '<parent link="base"/><child link="flange"/></joint>',
            '<child link="flange"/>\n    <dynamics damping="0.5" friction="0.25"/></joint>',
        ),
    ],
    ids=["open", "closed"],
)
def test_friction_is_put_in_behind_the_last_child_unless_that_is_open(tmp_path, joint, wanted):
    start, end = TWO.index("<parent"), TWO.index("</joint>") + len("</joint>")
    text = TWO[:start].replace("revolute", "continuous") + joint + TWO[end:]
    (tmp_path / "arm.urdf").write_text(text)
    chain = armdyn.load(tmp_path / "arm.urdf", gravity=(0, -9.81, 0)).chain
    hinge = dataclasses.replace(chain.joints[0], viscous=0.5, coulomb=(-0.25, 0.25))
    write.save(dataclasses.replace(chain, joints=(hinge,)), tmp_path / "new.urdf")
    new = (tmp_path / "new.urdf").read_text()
    assert wanted in new
    again = armdyn.load(tmp_path / "new.urdf").chain.joints[0]
    assert (again.viscous, again.coulomb) == (0.5, (-0.25, 0.25))


def test_rotors_gravity_and_lopsided_friction_are_said_to_have_no_place(tmp_path):
    chain = armdyn.load("puma560").chain
    notes = write.save(chain.with_gravity((0, 0, -1.62)), tmp_path / "new.urdf")
    assert any("no place for the rotors of joints 'joint1', 'joint2'" in note for note in notes)
    assert any("no place for gravity (0.0, 0.0, -1.62)" in note for note in notes)
    assert any("joint 'joint1' has -27.2358 and 24.7314" in note for note in notes)


# Whose file ---------------------------------------------------------------------------------


def test_a_template_is_written_into_in_place_of_the_file_of_the_arm(tmp_path):
    (tmp_path / "arm.urdf").write_text(HAND, encoding="utf-8")
    (tmp_path / "other.urdf").write_text(HAND.replace("Handmade", "Another"), encoding="utf-8")
    chain = identified(armdyn.load(tmp_path / "arm.urdf", check="warn").chain)
    write.save(chain, tmp_path / "new.urdf", template=tmp_path / "other.urdf")
    assert "Another" in (tmp_path / "new.urdf").read_text(encoding="utf-8")


def test_an_arm_of_no_file_gets_a_urdf_of_its_own(tmp_path):
    chain = identified(armdyn.load(HAND, check="warn").chain)
    assert chain.file is None
    (note,) = write.save(chain, tmp_path / "new.urdf")
    assert "comes from no URDF file" in note
    assert_same_torques(chain, armdyn.load(tmp_path / "new.urdf").chain)


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("none.urdf", "cannot read .*none.urdf.*: No such file"),
        (
            "other.urdf",
            "other.urdf: no joint 'shoulder' that moves link 'upper'; expected the file",
        ),
        ("more.urdf", "more.urdf: link 'extra' has no place in the arm"),
        ("wide.urdf", "wide.urdf: .*cannot be found in the text; expected XML in UTF-8"),
        ("bad.urdf", "bad.urdf: not well-formed XML"),
    ],
)
def test_what_cannot_be_written_into_is_refused_and_nothing_written(tmp_path, template, message):
    more = (
        '<link name="extra"/><joint name="x" type="fixed"><parent link="upper"/><child link="extra"'
    )
    texts = {
        "arm.urdf": HAND.encode(),
        "other.urdf": TWO.encode(),
        "more.urdf": HAND.replace("</robot>", f"{more}/></joint></robot>").encode(),
        "wide.urdf": HAND.replace("utf-8", "utf-16").encode("utf-16"),
        "bad.urdf": HAND[:-50].encode(),
    }
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text)
    chain = identified(armdyn.load(tmp_path / "arm.urdf", check="warn").chain)
    (tmp_path / "new.urdf").write_text("as it was")
    with pytest.raises(IdentificationError, match=message):
        write.save(chain, tmp_path / "new.urdf", template=tmp_path / template)
    assert (tmp_path / "new.urdf").read_text() == "as it was"


def test_other_names_of_files_are_refused(tmp_path):
    with pytest.raises(IdentificationError, match="expected a name in .toml or .urdf"):
        write.save(armdyn.load("two_link").chain, tmp_path / "new.xml")


def test_a_loaded_arm_remembers_its_file_and_its_variations_do(tmp_path, monkeypatch):
    (tmp_path / "arm.urdf").write_text(HAND, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    chain = armdyn.load("arm.urdf", check="warn", snap=1e-4).chain
    assert chain.with_gravity((0, 0, 0)).file == (str(tmp_path / "arm.urdf"), 1e-4, ())
    assert armdyn.load("two_link").chain.file is None
    with pytest.raises(ModelError, match="file is a File, not 'arm.urdf'"):
        dataclasses.replace(chain, file="arm.urdf")
