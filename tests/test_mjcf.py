"""MJCF: arms as MuJoCo compiles them, judged by MuJoCo."""

import sys

import numpy as np
import pytest

import armdyn
from armdyn import Chain, ModelError

mujoco = pytest.importorskip("mujoco", reason="needs MuJoCo: pip install 'armdyn[mjcf]'")

BALL = '<inertial pos="0.1 0.02 -0.05" mass="1.5" diaginertia="0.02 0.03 0.025"/>'
FULL = (
    '<inertial pos="0 0.1 0" mass="2" fullinertia="0.03 0.02 0.025 0.002 -0.001 0.003"/>'
    '<site name="flange" pos="0 0 0.1" quat="0.5 0.5 -0.5 0.5"/>'
)
MODELS = {  # what each has that the others have not
    "planar": f"""<mujoco><worldbody>
        <body name="a"><joint name="j1" axis="0 0 1"/>{BALL}
          <body name="b" pos="0.5 0 0"><joint name="j2" axis="0 0 1"/>{FULL}</body></body>
        </worldbody></mujoco>""",
    "degrees": f"""<mujoco><compiler angle="degree" eulerseq="zyx"/><worldbody>
        <body name="a" euler="30 20 10"><joint name="j1" axis="0 1 0" range="-90 45"/>{BALL}
          <body name="b" pos="0.5 0.1 0" euler="90 0 -90">
            <joint name="j2" axis="1 0 0" ref="20"/>{FULL}</body></body>
        </worldbody></mujoco>""",
    "radians": f"""<mujoco><compiler angle="radian"/><worldbody>
        <body name="a" quat="0.707107 0.707107 0 0"><joint name="j1" axis="1 2 3"/>{BALL}
          <body name="b" pos="0.1 0.2 0.3" axisangle="0 1 1 0.7">
            <joint name="j2" axis="0 0 -1" ref="0.4" range="-1 2"/>{FULL}</body></body>
        </worldbody></mujoco>""",
    "off the origin": f"""<mujoco><worldbody>
        <body name="a" pos="0 0 0.3"><joint name="j1" pos="0.1 0 0.2" axis="0 1 0"/>{BALL}
          <body name="b" pos="0.5 0 0"><joint name="j2" pos="0 -0.1 0" axis="0 0 1" ref="15"/>
          {FULL}</body></body></worldbody></mujoco>""",
    "slides": f"""<mujoco><worldbody>
        <body name="a"><joint name="j1" type="slide" axis="1 0 0" range="-1 1"/>{BALL}
          <body name="b" pos="0.1 0 0.2"><joint name="j2" axis="0 1 0"/>{FULL}
            <body name="c" pos="0 0 0.4" euler="45 0 0">
              <joint name="j3" type="slide" axis="0 1 1" ref="0.1"/>{BALL}</body></body></body>
        </worldbody></mujoco>""",
    "several joints on a body": f"""<mujoco><worldbody>
        <body name="a"><joint name="j1" axis="0 0 1" pos="0 0.1 0"/>
          <joint name="j2" axis="0 1 0"/><joint name="j3" type="slide" axis="1 0 0" ref="0.2"/>
          {BALL}<body name="b" pos="0.5 0 0"><joint name="j4" axis="1 1 0" pos="0.05 0 0"/>
          {FULL}</body></body></worldbody></mujoco>""",
    "classes and defaults": f"""<mujoco>
        <default><joint damping="0.5" armature="0.01"/>
          <default class="wrist"><joint armature="0.2" frictionloss="0.3" axis="0 1 0"/></default>
        </default>
        <worldbody><body name="a"><joint name="j1" axis="0 0 1"/>{BALL}
          <body name="b" pos="0.5 0 0" childclass="wrist"><joint name="j2"/>{FULL}
            <body name="c" pos="0 0.3 0"><joint name="j3" axis="1 0 0"/>{BALL}</body></body></body>
        </worldbody></mujoco>""",
    "inertia of shapes": """<mujoco><compiler inertiafromgeom="true"/><worldbody>
        <body name="a"><joint name="j1" axis="0 0 1"/>
          <geom type="capsule" fromto="0 0 0 0.4 0 0.1" size="0.05" density="800"/>
          <body name="b" pos="0.4 0 0.1"><joint name="j2" axis="0 1 0"/>
            <geom type="box" size="0.1 0.05 0.02" pos="0.1 0 0" euler="10 20 30"/>
            <geom type="sphere" size="0.03" pos="0.2 0 0"/>
            <site name="tip" pos="0.2 0 0"/></body></body>
        </worldbody></mujoco>""",
    "a pedestal, a tool and gravity": f"""<mujoco><option gravity="1 -2 -9"/><worldbody>
        <geom type="plane" size="1 1 0.1"/>
        <body name="pedestal" pos="0 0 0.5" euler="0 0 90">{BALL}
          <body name="a" pos="0.1 0 0"><joint name="j1" axis="0 0 1"/>{BALL}
            <body name="b" pos="0.5 0 0"><joint name="j2" axis="0 1 0"/>{BALL}
              <body name="tool" pos="0 0 0.2" euler="90 0 0">{FULL}</body></body></body></body>
        </worldbody></mujoco>""",
    "motors": f"""<mujoco><worldbody>
        <body name="a"><joint name="j1" axis="0 0 1" actuatorfrcrange="-5 7"/>{BALL}
          <body name="b" pos="0.5 0 0"><joint name="j2" axis="0 1 0" stiffness="3"/>{FULL}</body>
        </body></worldbody>
        <actuator><motor joint="j2" gear="10" forcerange="-2 2"/></actuator></mujoco>""",
}


def full(model, data):
    """MuJoCo's mass matrix."""
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    return M


def judge(robot, model, states=20):
    """Hold M, bias and the pose of every body and site against MuJoCo's."""
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    for _ in range(states):
        data.qpos[:], data.qvel[:] = rng.uniform(-2, 2, (2, model.nv))
        mujoco.mj_forward(model, data)
        q, qd = data.qpos.copy(), data.qvel.copy()
        M, bias = full(model, data), data.qfrc_bias
        assert np.abs(robot.mass_matrix(q) - M).max() <= 1e-12 * np.abs(M).max()
        assert np.abs(robot.bias(q, qd) - bias).max() <= 1e-12 * max(1, np.abs(bias).max())
        bodies = [(model.body(i).name, data.xpos[i], data.xmat[i]) for i in range(model.nbody)]
        sites = [
            (model.site(i).name, data.site_xpos[i], data.site_xmat[i]) for i in range(model.nsite)
        ]
        for name, position, matrix in [*bodies, *sites]:
            T = robot.pose(q, frame=name)
            assert np.abs(T[:3, 3] - position).max() <= 1e-12
            assert np.abs(T[:3, :3] - matrix.reshape(3, 3)).max() <= 1e-12


@pytest.mark.parametrize("name", MODELS)
def test_arms_move_as_mujoco_says(name):
    model = mujoco.MjModel.from_xml_string(MODELS[name])
    robot = armdyn.load(MODELS[name])
    assert list(robot.joint_names) == [model.joint(j).name for j in range(model.njnt)]
    judge(robot, model)


def test_files_that_include_others(tmp_path):
    """The arm's classes stand in a file of their own, and so does its wrist."""
    (tmp_path / "classes.xml").write_text(
        '<mujoco><default><default class="wrist"><joint armature="0.2"/></default></default>'
        "</mujoco>"
    )
    (tmp_path / "wrist.xml").write_text(
        f'<mujoco><body name="b" pos="0.5 0 0"><joint name="j2" class="wrist"/>{FULL}</body>'
        "</mujoco>"
    )
    (tmp_path / "arm.xml").write_text(
        '<mujoco><include file="classes.xml"/><worldbody>'
        f'<body name="a"><joint name="j1" axis="0 1 0"/>{BALL}<include file="wrist.xml"/></body>'
        "</worldbody></mujoco>"
    )
    robot = armdyn.load(tmp_path / "arm.xml")
    assert robot.name == "arm"
    assert robot.chain.joints[1].rotor_inertia == 0.2
    judge(robot, mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml")))


def test_what_mujoco_warns_of_is_a_note_and_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = MODELS["planar"].replace("<mujoco>", '<mujoco><option timestep="nan"/>', 1)
    arm = armdyn.load(text)
    (note,) = arm.notes
    assert note.startswith("MuJoCo warns: ") and "NaN" in note
    assert mujoco.get_mju_user_warning() is None
    assert armdyn.load(text, trusted=False).notes == arm.notes
    heard = []
    mujoco.set_mju_user_warning(heard.append)  # a user's own
    try:
        assert armdyn.load(text).notes == () and len(heard) == 1
        assert mujoco.get_mju_user_warning() == heard.append
    finally:
        mujoco.set_mju_user_warning(None)
    assert not list(tmp_path.iterdir())


def test_what_a_joint_has():
    first, second, third = armdyn.load(MODELS["classes and defaults"]).chain.joints
    assert (first.viscous, first.rotor_inertia, first.coulomb) == (0.5, 0.01, (0, 0))
    assert (second.viscous, second.rotor_inertia, second.coulomb) == (0.5, 0.2, (-0.3, 0.3))
    assert third.coulomb == (-0.3, 0.3)
    limits = armdyn.load(MODELS["degrees"]).position_limits
    assert limits[0] == pytest.approx(np.radians([-90, 45]), rel=1e-15)
    assert np.isinf(limits[1]).all()


def test_no_limit_stays_none_through_a_urdf_and_mujoco(tmp_path):
    """A URDF says it by the largest number, and MuJoCo keeps that as a range."""
    chain = Chain.random(3, "PRP", 7)
    model = mujoco.MjModel.from_xml_string(chain.to_urdf())
    mujoco.mj_saveLastXML(str(tmp_path / "arm.xml"), model)
    back = armdyn.load(tmp_path / "arm.xml")
    assert np.isinf(back.position_limits).all() and np.isinf(back.effort_limits).all()


def test_motors_and_springs():
    robot = armdyn.load(MODELS["motors"])
    assert robot.effort_limits.tolist() == [5, 20]
    assert robot.notes == ("springs of joints are not read: 'j2'",)


def test_the_tip_is_a_body_and_gravity_is_the_models():
    robot = armdyn.load(MODELS["off the origin"])
    q = [0.3, -0.8]
    assert np.array_equal(robot.pose(q), robot.pose(q, frame="b"))
    robot = armdyn.load(MODELS["a pedestal, a tool and gravity"])
    assert robot.chain.gravity == (1, -2, -9)
    assert armdyn.load(MODELS["planar"], gravity=(0, 0, 1)).chain.gravity == (0, 0, 1)


def test_gravity_is_given_in_the_axes_of_the_base():
    """On the pedestal, which is turned, the torques are those of the whole model."""
    text = MODELS["a pedestal, a tool and gravity"]
    whole, part = armdyn.load(text), armdyn.load(text, base="pedestal")
    q, qd = [0.4, 0.9], [1.0, -2.0]
    assert part.bias(q, qd) == pytest.approx(whole.bias(q, qd), rel=1e-13)


def test_chains_are_chosen_as_of_a_urdf():
    text = MODELS["classes and defaults"]
    assert armdyn.load(text, tip="b").joint_names == ("j1", "j2")
    assert armdyn.load(text, lock={"j3": 0.5}).locked == {"j3": 0.5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<mujoco/>", "expected"),
        ("<mujoco><worldbody><bod/></worldbody></mujoco>", "MuJoCo cannot read it: .*bod"),
        (
            f'<mujoco><worldbody><body><freejoint name="f"/>{BALL}</body></worldbody></mujoco>',
            "joint 'f' is floating",
        ),
        (
            f'<mujoco><worldbody><body><joint name="s" type="ball"/>{BALL}</body></worldbody>'
            "</mujoco>",
            "joint 's' is ball",
        ),
    ],
)
def test_what_is_no_arm(text, message):
    with pytest.raises(ModelError, match=message):
        armdyn.load(text)


def test_a_missing_file_is_named(tmp_path):
    path = tmp_path / "arm.mjcf"
    path.write_text('<mujoco><include file="nowhere.xml"/></mujoco>')
    with pytest.raises(ModelError, match=r"arm.mjcf: MuJoCo cannot read it: .*nowhere.xml"):
        armdyn.load(path)


def test_without_mujoco_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ModelError, match=r"pip install 'armdyn\[mjcf\]'"):
        armdyn.load(MODELS["planar"])
