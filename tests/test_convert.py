"""The command ``armdyn convert``: the same arm in another format, or a word on what it lost."""

import csv
import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn import Chain
from armdyn.chain.dh import EARTH
from armdyn.chain.dh_writers import DHText
from armdyn.chain.pose import IDENTITY, Pose
from armdyn.chain.random import _rotation
from armdyn.cli import main
from armdyn.loaders import dh_table
from armdyn.quantities.tasks import Task, formula


def torques(chain, state):
    """Inverse dynamics with friction, in plain floats: nothing is compiled."""
    task = Task("inverse_dynamics", "newton-euler", friction=True)
    return np.array([formula(chain, float, task)(*each) for each in state.tolist()])


def pose(chain, q):
    return np.array(formula(chain, float, Task("pose"))(list(q)))


def somewhere(seed):
    rng = np.random.default_rng(seed)
    return Pose.of(_rotation(rng.standard_normal((3, 3))), rng.uniform(-0.5, 0.5, 3))


def arm(seed, kinds):
    """A random arm on a base anywhere, with a tip anywhere, limits, friction, under any gravity."""
    chain = Chain.random(len(kinds), kinds, seed)
    friction = chain.with_friction(viscous=0.3, coulomb=0.2)
    joints = (
        dataclasses.replace(joint, lower=-1.0 - i, upper=2.0, effort=9.0)
        for i, joint in enumerate(friction.joints)
    )
    places = {"base": somewhere([seed, 1]), "tip": somewhere([seed, 2])}
    return dataclasses.replace(friction, joints=tuple(joints), **places)


def limited(chain, limits):
    """The same arm with these limits of its joints."""
    joints = (dataclasses.replace(j, **own) for j, own in zip(chain.joints, limits, strict=True))
    return dataclasses.replace(chain, joints=tuple(joints))


ARMS = {f"{kinds}-{seed}": arm(seed, kinds) for seed, kinds in enumerate(("RRR", "RPR", "PRRP"))}
ARMS |= {name: armdyn.load(name).chain for name in ("puma560", "scara", "panda")}
ARMS["no-limits"] = Chain.random(3, "PRP", 7)
SOME = ({"lower": -1.0}, {"upper": 2.0, "velocity": 3.0}, {"effort": 9.0}, {"velocity": 3.0}, {})
ARMS["some-limits"] = limited(Chain.random(5, "PRRRP", 7), SOME)
named = pytest.mark.parametrize("name", ARMS)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@named
def test_round_trips_keep_the_dynamics(name, tmp_path, capsys):
    """TOML to URDF to TOML: rotors are what a URDF cannot say; gravity it is told."""
    chain = dataclasses.replace(
        ARMS[name],
        joints=tuple(
            dataclasses.replace(joint, rotor_inertia=0.0, coulomb=(-0.25, 0.25))
            for joint in ARMS[name].joints
        ),
    )
    (tmp_path / "one.toml").write_text(chain.to_toml())
    assert main(["convert", "one.toml", "two.urdf"]) == 0
    assert main(["convert", "two.urdf", "three.toml"]) == 0
    assert main(["convert", "one.toml", "same.toml"]) == 0
    assert armdyn.load("same.toml").chain == chain
    back = armdyn.load("three.toml", gravity=chain.gravity).chain
    state = np.random.default_rng(0).uniform(-1, 1, (5, 3, chain.n))
    expected = torques(chain, state)
    off = np.abs(torques(back, state) - expected).max()
    assert off <= 1e-12 * max(1.0, np.abs(expected).max())
    assert [joint.name for joint in back.joints] == [joint.name for joint in chain.joints]


@named
def test_other_libraries_read_the_urdf(name):
    """They insist on all four numbers of a limit."""
    pinocchio = pytest.importorskip("pinocchio")
    from tests.test_pinocchio import configuration

    chain = dataclasses.replace(ARMS[name], gravity=EARTH)
    model = pinocchio.buildModelFromXML(chain.to_urdf())
    model.armature = np.array([joint.rotor_inertia for joint in chain.joints])
    data, robot = model.createData(), armdyn.Robot(chain)
    for q, qd, qdd in np.random.default_rng(0).uniform(-1, 1, (5, 3, chain.n)):
        torque = pinocchio.rnea(model, data, configuration(model, q), qd, qdd)
        expected = robot.inverse_dynamics(q, qd, qdd)
        np.testing.assert_allclose(torque, expected, rtol=0, atol=1e-12 * abs(expected).max())


@named
def test_limits_come_back_from_a_urdf_and_none_as_none(name):
    chain = ARMS[name]
    back = armdyn.load(chain.to_urdf()).chain
    for limit in ("lower", "upper", "velocity", "effort"):
        assert [getattr(j, limit) for j in back.joints] == [getattr(j, limit) for j in chain.joints]


def test_mjcf_and_xacro_are_read(capsys):
    """Both become the URDF of an arm with the same torques."""
    pytest.importorskip("mujoco", reason="needs MuJoCo: pip install 'armdyn[mjcf]'")
    pytest.importorskip("xacro", reason="needs xacro: pip install 'armdyn[xacro]'")
    body = '<inertial pos="0.1 0.02 -0.05" mass="1.5" diaginertia="0.02 0.03 0.025"/>'
    Path("arm.xml").write_text(
        f"""<mujoco><worldbody><body name="a"><joint name="j1" axis="0 1 0"/>{body}
        <body name="b" pos="0.5 0 0"><joint name="j2" type="slide" axis="0 0 1"/>{body}</body>
        </body></worldbody></mujoco>"""
    )
    Path("arm.xacro").write_text(
        armdyn.load("panda").chain.to_urdf().replace("<robot ", '<robot xmlns:xacro="x" ')
    )
    for source, gravity in (("arm.xml", (0, 0, -9.81)), ("arm.xacro", (0, 0, -9.81))):
        assert main(["convert", source, f"{source}.urdf"]) == 0
        one, two = armdyn.load(source).chain, armdyn.load(f"{source}.urdf", gravity=gravity).chain
        state = np.random.default_rng(0).uniform(-1, 1, (5, 3, one.n))
        assert torques(two, state) == pytest.approx(torques(one, state), rel=0, abs=1e-12)


# DH tables ----------------------------------------------------------------------------------------


@named
@pytest.mark.parametrize("dh", ["modified", "standard"])
def test_a_table_has_the_kinematics_that_it_can_hold(name, dh, capsys):
    """With the base and the tip that it says it leaves out, the arm stands where it stood."""
    chain = ARMS[name]
    Path("arm.toml").write_text(chain.to_toml())
    assert main(["convert", "arm.toml", "arm.csv", "--dh", dh]) == 0
    said = capsys.readouterr().out
    table = DHText.of(chain, "mdh" if dh == "modified" else "dh")
    assert [f"left out: {line}" for line in table.left_out] == said.splitlines()[1:]
    back = armdyn.load("arm.csv").chain
    assert back.kinds == chain.kinds and back.kinematic_only
    before = chain.base if "the first frame stands" in said else IDENTITY
    after = chain.tip if "the tip stands" in said else IDENTITY
    for q in np.random.default_rng(1).uniform(-1, 1, (5, chain.n)):
        whole = before.matrix @ pose(back, q) @ after.matrix
        assert np.abs(whole - pose(chain, q)).max() <= 1e-12


def test_no_name_in_a_table_is_a_formula():
    names = ["=cmd|'/c calc'!A1", "+1+1", "-x", "@SUM(1)", "'", "'=1", "'plain", "'\"=1", "x=1"]
    bare = Chain.random(len(names), seed=1)
    joints = tuple(
        dataclasses.replace(joint, name=name)
        for joint, name in zip(bare.joints, names, strict=True)
    )
    text = DHText.of(dataclasses.replace(bare, joints=joints), "mdh").csv()
    rows = list(csv.reader(line for line in text.splitlines() if line[0] != "#"))
    assert [row[1][:1] for row in rows[1:]] == ["'"] * 8 + ["x"]
    assert [joint.name for joint in dh_table.load(text).joints] == names


@pytest.mark.parametrize("character", ["\0", "\x1b", "\x08", "\ufffe", "\ud800"], ids=ascii)
@pytest.mark.parametrize("what", ["robot", "joint", "link", "frame"])
def test_a_name_that_xml_does_not_have_is_refused(what, character, capsys):
    chain, name = ARMS["puma560"].with_frame("eye"), f"a{character}b"
    if what == "robot":
        chain = dataclasses.replace(chain, name=name)
    else:
        parts = getattr(chain, f"{what}s")
        part = dataclasses.replace(parts[-1], name=name)
        chain = dataclasses.replace(chain, **{f"{what}s": (*parts[:-1], part)})
    with pytest.raises(armdyn.ModelError, match=rf"the name of {what} 'a\\.*b' has the character"):
        chain.to_urdf()
    if character != "\ud800":
        Path("arm.toml").write_text(chain.to_toml(), encoding="utf-8")
        assert main(["convert", "arm.toml", "arm.urdf"]) == 2 and not Path("arm.urdf").exists()
        assert f"the name of {what}" in capsys.readouterr().err


def test_the_standard_table_of_the_puma_is_the_one_in_its_file(capsys):
    """Of the 1986 paper's arm, as Corke prints it; the file has these rows."""
    main(["convert", "puma560", "puma.csv", "--dh", "standard"])
    rows = [line for line in Path("puma.csv").read_text().splitlines() if not line.startswith("#")]
    assert rows[0] == "joint,name,type,a,alpha,d,theta"
    numbers = np.array([row.split(",")[3:] for row in rows[1:]], float)
    h = math.pi / 2
    assert numbers[:, 0].tolist() == [0, 0.4318, 0.0203, 0, 0, 0]
    assert numbers[:, 1].tolist() == [h, 0, -h, h, -h, 0]
    assert numbers[:, 2].tolist() == [0.67183, 0, 0.15005, 0.4318, 0, 0]
    assert not numbers[:, 3].any()


def test_people_and_papers_get_degrees_and_the_variable(capsys):
    main(["convert", "stanford", "arm.txt"])
    text = Path("arm.txt").read_text()
    assert "modified DH table: Rx(beta) Tx(b) Rz(theta) Tz(d)" in text
    rows = [line.split() for line in text.splitlines() if line[:1].isdecimal()]
    chain = armdyn.load("stanford").chain
    assert len(rows) == 6 and rows[2][-1] != "q3" and rows[3][-1] == "q4"
    assert "q3" in rows[2][rows[2].index("joint3") + 3 :][:-1]
    assert f"{math.degrees(chain.joints[1].beta):.10g}" in rows[1]
    assert "not in this table: masses, centres of mass and inertias of the links" in text


def test_latex_is_made_of_names_of_any_kind(capsys):
    chain = armdyn.load("two_link").chain
    names = "a_b & 50% {c} $#~^\\", "line\nbreak"
    joints = map(lambda joint, name: dataclasses.replace(joint, name=name), chain.joints, names)
    Path("odd.toml").write_text(dataclasses.replace(chain, joints=tuple(joints)).to_toml())
    assert main(["convert", "odd.toml", "odd.tex"]) == 0
    rows = [line for line in Path("odd.tex").read_text().splitlines() if line.endswith(r"\\")]
    escaped = r"a\_b \& 50\% \{c\} \$\#\textasciitilde{}\textasciicircum{}\textbackslash{}"
    assert len(rows) == 3 and f"1 & {escaped} & $0$" in rows[1] and "line break" in rows[2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("b,beta,d,theta\n0,0,0,0", "no column 'type'"),
        ("type,b,alpha,d,theta\nrevolute,0,0,0,0", "expected b and beta .modified. or a and alpha"),
        ("type,b,beta,d,theta,mass\nrevolute,0,0,0,0,1", "no column 'mass'"),
        ("type,b,b,beta,d,theta\nrevolute,0,0,0,0,1", "the column 'b' twice"),
        ("type,b,beta,d,theta\nrevolut,0,0,0,0", "line 2: type is 'revolut'; expected revolute"),
        ("# a\ntype,b,beta,d,theta\nrevolute,0,x,0,0", "line 3: beta is 'x'; expected a finite"),
        ("type,b,beta,d,theta\nrevolute,0,0,inf,0", "line 2: d is 'inf'"),
        ("type,b,beta,d,theta\nrevolute,0,0,0", "line 2 has 4 columns; expected 5"),
        ("type,b,beta,d,theta", "no DH table"),
        ('type,b\n"' + "x" * 200_000, "not a CSV file|columns"),
    ],
)
def test_what_is_no_table(text, message):
    Path("arm.csv").write_text(text)
    with pytest.raises(armdyn.ModelError, match=f"^arm.csv: .*{message}"):
        armdyn.load("arm.csv")


def test_degrees_in_a_table_are_noted_and_chains_cannot_be_chosen():
    Path("arm.csv").write_text("type,b,beta,d,theta\nrevolute,0,0,0,0\nprismatic,0,90,0,0\n")
    assert "looks like an angle in degrees" in armdyn.load("arm.csv").notes[1]
    with pytest.raises(armdyn.ModelError, match="this is a DH table"):
        armdyn.load("arm.csv", tip="link2")


# Files --------------------------------------------------------------------------------------------


def test_what_a_urdf_has_no_place_for_is_said(capsys):
    assert main(["convert", "puma560", "puma.urdf"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert (
        said[0] == str(Path("puma.urdf").resolve())
        and "left out: a URDF has no place for the rotors" in said[1]
    )
    assert sum("Coulomb friction that differs by direction" in line for line in said) == 6
    assert main(["convert", "panda", "panda.urdf"]) == 0
    said = capsys.readouterr().out
    assert "they stand on: 'panda_finger_joint1', 'panda_finger_joint2'" in said
    assert "left out: pictures, meshes and collision shapes of the URDF" in said


def test_a_urdf_says_in_the_log_what_it_has_no_place_for(capsys, caplog):
    arm = armdyn.load("panda", tip="panda_hand_tcp", gravity=(0, 0, -1.6))
    text = arm.chain.to_urdf()
    told = [record.getMessage() for record in caplog.records]
    assert told == [
        "panda: a URDF has no place for gravity (0.0, 0.0, -1.6); load it with gravity=",
        "panda: a URDF has no place for the tip; load it with tip='tip'",
    ]
    back = armdyn.load(text, tip="tip", gravity=(0, 0, -1.6))
    q = [0.1, -0.2, 0.3, -1.4, 0.5, 1.6, 0.7]
    assert abs(back.pose(q) - arm.pose(q)).max() < 1e-14
    assert abs(armdyn.load(text).pose(q) - arm.pose(q)).max() > 0.1  # which the log is for
    caplog.clear()
    assert main(["convert", "two_link", "two.urdf"]) == 0
    assert "left out: a URDF has no place for the tip; load it with" in capsys.readouterr().out
    armdyn.load("panda").chain.to_urdf()  # which has its tip at the last link's frame
    assert not caplog.records


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["two_link", "arm.docx"], "cannot convert to 'arm.docx'; expected a name in .urdf, .toml"),
        (["two_link", "arm"], "cannot convert to 'arm'"),
        (["two_link", "arm.xacro"], "cannot convert to 'arm.xacro'"),
        (["two_link", "nowhere/arm.urdf"], "there is no directory 'nowhere'"),
        (["two_link", "folder.urdf"], "it is a directory"),
        (["two_link", "arm.urdf", "--dh", "standard"], "--dh is for DH tables"),
        (["two_lnk", "arm.urdf"], "did you mean 'two_link'?"),
        (["kept.toml", "kept.toml"], "'kept.toml' is the arm's own file"),
        (["two_link"], "FILE"),
    ],
)
def test_what_cannot_be_is_one_line_and_no_file(arguments, complaint, tmp_path, capsys):
    (tmp_path / "folder.urdf").mkdir()
    (tmp_path / "kept.toml").write_text(armdyn.load("two_link").chain.to_toml())
    before = {path.name: path.is_file() and path.read_text() for path in tmp_path.iterdir()}
    try:
        assert main(["convert", *arguments]) == 2
    except SystemExit as end:
        assert end.code == 2
    found = capsys.readouterr()
    assert complaint in found.err and found.err.count("\n") == 1 and not found.out
    assert before == {p.name: p.is_file() and p.read_text() for p in tmp_path.iterdir()}
