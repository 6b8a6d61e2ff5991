"""MJCF: motors, tendons, flags and media, judged by MuJoCo; notes on the rest."""

import itertools

import numpy as np
import pytest

import armdyn
from armdyn import ModelError

mujoco = pytest.importorskip("mujoco", reason="needs MuJoCo: pip install 'armdyn[mjcf]'")

BODY = '<inertial pos="0.1 0 0.5" mass="1" diaginertia="1 1 1"/><geom size="0.1"/>'


def model(first="", second="", rest="", option=""):
    """Two hinges, j and k, with some attributes, and a text after the bodies."""
    return f"""<mujoco><!-- two bodies -->{option}<worldbody>
      <body name="a"><joint name="j" axis="0 1 0" {first}/>{BODY}
        <body name="b" pos="0 0 1"><joint name="k" axis="1 0 0" {second}/>{BODY}</body></body>
      </worldbody>{rest}</mujoco>"""


def motors(*each):
    return "<actuator>" + "".join(f"<motor {one}/>" for one in each) + "</actuator>"


def tendon(attributes, *joints):
    wraps = "".join(f'<joint joint="{name}" coef="{coef}"/>' for name, coef in joints)
    return f'<tendon><fixed name="t" {attributes}>{wraps}</fixed></tendon>'


ONE, BOTH = [("j", -2)], [("j", 2), ("k", 3)]
READ = {  # what each has; all of it changes M, bias or linear damping
    "no gravity": model(option='<option><flag gravity="disable"/></option>'),
    "armature of a motor": model(rest=motors('joint="j" gear="10" armature="0.5"')),
    "armature of two": model(
        rest=motors('joint="j" gear="3" armature="0.5"', 'joint="j" gear="2" armature="0.2"')
    ),
    "armature in the parent": model(rest=motors('jointinparent="k" gear="-4" armature="0.5"')),
    "damping of a motor": model("damping='1'", rest=motors('joint="j" gear="2" damping="3"')),
    "a tendon": model("armature='1'", rest=tendon('armature="0.7" damping="0.3"', *ONE)),
    "a motor on a tendon": model(
        rest=tendon("", *ONE) + motors('tendon="t" gear="3" armature="0.2" damping="0.4"')
    ),
    "no damper": model("damping='3'", option='<option><flag damper="disable"/></option>'),
}


def of_mujoco(text, q, qd):
    compiled = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(compiled)
    data.qpos[:], data.qvel[:] = q, qd
    mujoco.mj_forward(compiled, data)
    M = np.zeros((compiled.nv, compiled.nv))
    mujoco.mj_fullM(compiled, data, M)
    return M, data.qfrc_bias, data.qfrc_passive


@pytest.mark.parametrize("name", READ)
def test_what_moves_the_arm_is_read(name):
    robot, q, qd = armdyn.load(READ[name]), [0.3, -0.8], [0.7, 1.1]
    M, bias, passive = of_mujoco(READ[name], q, qd)
    assert robot.notes == ()
    assert robot.mass_matrix(q) == pytest.approx(M, rel=1e-12)
    assert robot.bias(q, qd) == pytest.approx(bias, rel=1e-12, abs=1e-12)
    viscous = [joint.viscous for joint in robot.chain.joints]
    assert np.multiply(viscous, qd) == pytest.approx(-passive, rel=1e-12)


NOTED = {  # what is not read, by the notes on it
    "terms of damping beyond the linear one are not read: 'j'": model("damping='1 2 3'"),
    "terms of damping beyond the linear one are not read: 'k'": model(
        rest=motors('joint="k" damping="1 2 3"')
    ),
    "springs of joints are not read: 'k'": model("stiffness='0'", "stiffness='0 2'"),
    "springs of tendons are not read: 't'": model(rest=tendon("stiffness='3'", *ONE)),
    "limits of tendons are not read: 't'": model(rest=tendon("limited='true' range='-1 1'", *ONE)),
    "cross terms of tendon friction are not read: 't'": model(rest=tendon("damping='2'", *BOTH)),
    "gains of servos are not read: 'k'": model(
        rest='<actuator><position joint="k" kp="3" kv="1"/></actuator>'
    ),
    "forces of the medium are not read: density 1.2, viscosity 2e-05": model(
        option='<option density="1.2" viscosity="2e-5"/>'
    ),
    "terms of gravity compensation are not read: 'b'": model().replace(
        'name="b"', 'name="b" gravcomp="1"'
    ),
    "equality constraints on the joints that move are not read: 'j and k'": model(
        rest='<equality><joint joint1="j" joint2="k" polycoef="0 1 0 0 0"/></equality>'
    ),
    "equality constraints on the joints that move are not read: 'world and b'": model(
        rest='<equality><connect body1="world" body2="b" anchor="0 0 0"/></equality>'
    ),
    "actuators that act on no joint or fixed tendon are not read: 'push'": model(
        rest='<actuator><motor name="push" body="b"/></actuator>'
    ).replace("<motor", "<adhesion ctrlrange='0 1'"),
}


@pytest.mark.parametrize("note", NOTED)
def test_what_is_not_read_is_noted(note):
    assert armdyn.load(NOTED[note]).notes == (note,)


def test_what_acts_on_locked_joints_is_told_apart():
    """A gripper's coupling does nothing to an arm whose fingers are locked; nor do its springs."""
    rest = '<equality><joint joint1="k"/></equality>' + motors('joint="k"')
    robot = armdyn.load(model("", "stiffness='3'", rest), lock={"k": 0.2})
    assert robot.notes == ("equality constraints among what is locked are not read: 'k'",)


EFFORTS = {
    "gear times control": ([300, np.inf], motors('joint="j" gear="100" ctrlrange="-3 4"')),
    "force before control": ([20, np.inf], motors('joint="j" gear="-10" forcerange="-2 2"')),
    "both": ([3, np.inf], motors('joint="j" ctrlrange="-9 9" forcerange="-3 3"')),
    "two motors": (
        *([5, np.inf],),
        motors('joint="j" forcerange="-2 2"', 'joint="j" forcerange="-3 3"'),
    ),
    "one of them unlimited": ([np.inf] * 2, motors('joint="j" forcerange="-2 2"', 'joint="j"')),
    "two that pull": (
        *([4, np.inf],),
        motors('joint="j" forcerange="0 5"', 'joint="j" gear="-2" forcerange="0 2"'),
    ),
    "in the parent": ([np.inf, 6], motors('jointinparent="k" gear="2" ctrlrange="-3 3"')),
    "by a tendon": ([10, 15], tendon("", *BOTH) + motors('tendon="t" gear="5" ctrlrange="-1 1"')),
    "the limit of a tendon, before the gear": (
        *([12, 18],),
        tendon("actuatorfrcrange='-4 2'", *BOTH)
        + motors('tendon="t" gear="3" ctrlrange="-9 9"', 'tendon="t" gear="3"'),
    ),
    "the limit of a tendon with two gears": (
        *([10, np.inf],),
        tendon("actuatorfrcrange='-1 1'", *ONE)
        + motors(
            'tendon="t" gear="5" forcerange="-.5 .5"', 'tendon="t" gear="-5" ctrlrange="-.5 .5"'
        ),
    ),
    "a servo's control is no force": (
        *([np.inf] * 2,),
        '<actuator><position joint="j" ctrlrange="-1 1"/></actuator>',
    ),
}


@pytest.mark.parametrize("name", EFFORTS)
def test_effort_is_what_the_motors_of_a_joint_give_together(name):
    efforts, rest = EFFORTS[name]
    assert armdyn.load(model(rest=rest)).effort_limits.tolist() == efforts


def test_a_tendon_with_armature_over_joints_that_move_is_refused():
    """It couples them: no rotor's inertia can say that. With one of them locked it is read."""
    text = model(rest=tendon("armature='0.7'", *BOTH))
    with pytest.raises(ModelError, match=r"mass matrix of 'j' and 'k'.*joints: 't'; check=.warn."):
        armdyn.load(text)
    assert "mass matrix of 'j' and 'k'" in armdyn.load(text, check="warn").notes[0]
    M, _, _ = of_mujoco(text, [0.3, 0.1], [0.7, 0])
    robot = armdyn.load(text, lock={"k": 0.1})
    assert robot.mass_matrix([0.3]) == pytest.approx(M[:1, :1], rel=1e-12)


def test_a_tendon_in_space_with_armature_is_refused():
    text = model(
        rest="<tendon><spatial armature='2'><site site='s'/><site site='e'/></spatial></tendon>"
    ).replace("</body></body>", "<site name='e' pos='0 .3 0'/></body><site name='s'/></body>")
    with pytest.raises(ModelError, match="mass matrix of .*: 'tendon0'; check=.warn."):
        armdyn.load(text)


@pytest.mark.parametrize("quantity", ["mass matrix", "bias force"])
def test_a_misread_model_is_refused(quantity, monkeypatch):
    """Each model is compared with MuJoCo's own M and bias, whatever was overlooked in it."""
    from armdyn.loaders import mjcf

    if quantity == "mass matrix":
        monkeypatch.setattr(mjcf.Drives, "_sum", lambda *_: 0.0)
    else:
        monkeypatch.setattr(mjcf.Drives, "disabled", lambda *_: False)
    text = model(
        rest=motors('joint="k" gear="10" armature="1e-5"'),
        option='<option gravity="0 0 -0.01"><flag gravity="disable"/></option>',
    )
    with pytest.raises(ModelError, match=f"{quantity} of .* is read, MuJoCo has .* check=.warn."):
        armdyn.load(text)


@pytest.mark.parametrize(
    "size", ["1e9 x", "1e9", "much", "1.0e+09 while slides stay within 1 m in all"]
)
def test_names_grant_no_tolerance(size, monkeypatch):
    """Notes say what snapping may cost, and the comparison allows that; names stand in notes."""
    from armdyn.loaders import mjcf

    text = model("stiffness='2'")
    named = text.replace('name="j"', f'name="cost a relative accuracy of up to {size}"')
    assert armdyn.load(named).n == 2
    monkeypatch.setattr(mjcf.Reader, "gravity", lambda _: np.zeros(3))
    with pytest.raises(ModelError, match="bias force of .* is read, MuJoCo has"):
        armdyn.load(named)


def test_what_snapping_may_cost_is_allowed():
    text = model().replace('name="k" axis="1 0 0"', 'name="k" axis="1 3e-5 0"')
    assert any("cost a relative accuracy" in note for note in armdyn.load(text, snap=1e-3).notes)


def test_gravity_of_ones_own_and_locked_joints_differ_from_the_model():
    """So the comparison leaves gravity out, and locks joints, where a caller says so."""
    text = model("ref='20'", "ref='-30'")
    for base, lock in itertools.product([None, "a"], [{}, {"j": 0.4}]):
        for gravity in (None, (1, 2, 3)):
            robot = armdyn.load(text, base=base, lock=lock, gravity=gravity)
            assert robot.notes == ()


def test_given_names_come_first():
    """A body named as another would be called, and a joint, and a point between two joints."""
    text = f"""<mujoco><worldbody><body name="body2"><joint name="joint1"/>{BODY}
      <body pos="0 0 1"><joint axis="1 0 0" pos="0 0 0.1"/>{BODY}<site name="joint1_ of body2_"/>
      <site name="body2"/></body></body></worldbody></mujoco>"""
    robot = armdyn.load(text)
    assert robot.joint_names == ("joint1", "joint1_")
    assert {"body2", "body2_", "body2 (site)"} < set(robot.chain.frame_names)


def test_points_between_the_joints_of_a_body_need_no_mass():
    body = f'<body name="a"><joint name="x" axis="1 0 0"/><joint axis="0 1 0"/>{BODY}</body>'
    assert armdyn.load(f"<mujoco><worldbody>{body}</worldbody></mujoco>").notes == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('pos="0 0 1"', 'pos="1.4e154 0 0"'), "body 'b': pos .* will not do; expected at most"),
        (('mass="1"', 'mass="1e300"'), "body 'a': mass 1e.300 will not do"),
        (('name="k"', 'name="k" type="slide" ref="1e200"'), "joint's ref is too large"),
        (("-->", '--><option gravity="0 0 -1e300"/>'), "gravity is too large"),
    ],
)
def test_places_and_masses_beyond_all_bounds(change, message):
    with pytest.raises(ModelError, match=message):
        armdyn.load(model().replace(*change, 1))
