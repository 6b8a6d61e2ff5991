"""An arm is the whole robot, or what it leaves out is said; whatever a message offers works."""

import re

import numpy as np
import pytest

import armdyn
from armdyn import ModelError

INERTIA = '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>'
MASS = f'<inertial><mass value="1"/><!-- of a <ball> -->{INERTIA}</inertial>'
KINDS = {"-": "revolute", ":": "revolute", "=": "fixed", "~": "floating"}


def robot(*joints):
    """A URDF of joints such as "base-a", "a=b" (fixed), "a~b" (floating), "a:b:c" (mimics c)."""
    split = [re.fullmatch(r"(\w+)([-=~:])(\w+):?(\w*)", each).groups() for each in joints]
    links = dict.fromkeys(name for parent, _, child, _ in split for name in (parent, child))
    parts = ["<!-- a <tree> -->", *(f'<link name="{name}">{MASS}</link>' for name in links)]
    for parent, mark, child, leader in split:
        follows = f'<mimic joint="to_{leader}"/>' if leader else ""
        parts.append(
            f'<joint name="to_{child}" type="{KINDS[mark]}"><parent link="{parent}"/>{follows}'
            f'<child link="{child}"/><origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/></joint>'
        )
    return f"<robot name='r'>{''.join(parts)}</robot>"


ARM = ("base-a", "a-b", "b-c", "c-d", "d-e", "e-f")


def test_a_trunk_that_leaves_out_half_of_the_joints_says_so_first():
    text = robot("base-a", "a-head", "a=shoulder", "shoulder-b", "b-c")
    arm = armdyn.load(text)
    said = (
        "the arm ends at 'a', which carries 'to_head' and 'to_b'; 3 joints are locked; "
        "tip='c' gives 3"
    )
    assert arm.n == 1 and arm.notes[0] == said
    assert repr(arm) == f"Robot('r', R, {arm.chain.mass:.3g} kg, tip 'a'; {said})"
    assert armdyn.load(text, tip="c").n == 3
    assert not armdyn.load(text, tip="a").notes  # as asked


def test_what_a_hand_adds_is_not_said():
    """Fingers beyond an arm are fewer, or follow one another."""
    fingers = "f-thumb", "f-index", *(f"f:x{i}:index" for i in range(9))
    assert armdyn.load(robot(*ARM, *fingers)).notes == ()
    panda = armdyn.load("panda")
    assert not any(note.startswith("the arm ends") for note in panda.notes)
    assert repr(panda) == "Robot('panda', RRRRRRR, 16.8 kg, tip 'panda_link7')"
    assert repr(armdyn.load("panda", tip="panda_hand")).endswith("kg, tip 'panda_hand')")


def test_bodies_that_float_are_no_branches():
    text = robot("base~cube", "base=table", "table~ball", "ball=handle", *ARM)
    arm = armdyn.load(text)
    assert arm.joint_names == armdyn.load(robot(*ARM)).joint_names
    assert arm.locked == {} and "cube" not in arm.chain.frame_names
    (note,) = arm.notes
    assert note == "bodies that float freely and carry no joint are left out: 'cube', 'ball'"
    kept = armdyn.load(text, lock={"to_cube": 0})
    assert kept.locked == {"to_cube": 0} and "cube" in kept.chain.frame_names
    with pytest.raises(ModelError, match="joint 'to_cube' is floating"):
        armdyn.load(robot("base~cube"))
    with pytest.raises(ModelError, match="joint 'to_cube' is floating"):
        armdyn.load(robot("base~cube", "base~ball"))


def test_bodies_that_float_in_a_scene():
    mujoco = pytest.importorskip("mujoco", reason="needs MuJoCo: pip install 'armdyn[mjcf]'")
    body = '<inertial pos="0 0 0.5" mass="1" diaginertia="1 1 1"/>'
    text = f"""<mujoco><worldbody><!-- a cube beside an arm -->
      <body name="cube" pos="1 0 0"><freejoint name="free"/><geom size="0.1"/>
        <site name="grasp"/></body>
      <body name="a"><joint name="j" axis="0 1 0"/>{body}</body></worldbody></mujoco>"""
    arm = armdyn.load(text)
    data = mujoco.MjData(mujoco.MjModel.from_xml_string(text))
    data.qpos[-1] = 0.3
    mujoco.mj_forward(data.model, data)
    assert arm.gravity([0.3])[0] == pytest.approx(data.qfrc_bias[-1], rel=1e-14)
    assert "bodies that float freely and carry no joint are left out: 'cube'" in arm.notes


@pytest.mark.parametrize("seed", range(40))
def test_every_tip_that_a_message_offers_works(seed):
    """Trees drawn at random, of joints of all kinds; every mimic is locked."""
    rng = np.random.default_rng(seed)
    joints, moving = [], []
    for i in range(12):
        parent, mark = f"l{rng.integers(i)}" if i > seed % 3 else "base", rng.choice(list("---=~:"))
        leader = rng.choice(moving) if mark == ":" and moving else ""
        moving += [f"l{i}"] if mark == "-" else []
        joints.append(f"{parent}{mark}l{i}:{leader}" if leader else f"{parent}{mark}l{i}")
    text = robot(*joints)
    try:
        said = "".join(armdyn.load(text).notes)
    except ModelError as error:
        said = str(error)
    for tip, n in re.findall(r"tip='(\w+)' gives (\d+)", said):
        assert armdyn.load(text, tip=tip, check="warn").n == int(n) > armdyn.load(text).n
    for tip in re.findall(r"'(\w+)'", said.partition("by tip=: ")[2]):
        assert armdyn.load(text, tip=tip, check="warn").n > 0


def test_no_tip_is_offered_beyond_a_joint_that_moves_no_mass():
    text = robot("base-a", "base-b", "b-c", "c=d").replace(MASS, "", 5)
    text = text.replace('<link name="b"></link>', f'<link name="b">{MASS}</link>')
    text = text.replace('<link name="a"></link>', f'<link name="a">{MASS}</link>')
    with pytest.raises(ModelError, match="choose one of its tips by tip=: 'a', 'b'$"):
        armdyn.load(text)
    assert armdyn.load(text, tip="b").n == 1
