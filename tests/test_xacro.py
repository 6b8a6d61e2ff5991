"""xacro: macros expanded on the way in."""

import os
import sys

import numpy as np
import pytest

import armdyn
from armdyn import ModelError
from armdyn.cli import main
from armdyn.loaders.packages import Packages
from armdyn.view.visuals import visuals

pytest.importorskip("xacro", reason="needs xacro: pip install 'armdyn[xacro]'")

MACROS = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="arm">
  <xacro:property name="length" value="0.5"/>
  <xacro:macro name="part" params="name parent">
    <link name="${name}"><inertial><origin xyz="${length / 2} 0 0"/><mass value="2"/>
      <inertia ixx="0.01" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="turn_${name}" type="continuous"><parent link="${parent}"/><child link="${name}"/>
      <origin xyz="${length if parent != 'base' else 0} 0 0"/><axis xyz="0 1 0"/></joint>
  </xacro:macro>
</robot>"""
ARM = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="arm">
  <xacro:include filename="macros.xacro"/>
  <link name="base"/>
  <xacro:part name="upper" parent="base"/>
  <xacro:part name="lower" parent="upper"/>
</robot>"""


def test_macros_make_the_arm_that_they_describe(tmp_path):
    """Two equal rods in a plane, by the textbook's formula."""
    (tmp_path / "macros.xacro").write_text(MACROS)
    (tmp_path / "arm.urdf.xacro").write_text(ARM)
    robot = armdyn.load(tmp_path / "arm.urdf.xacro")
    assert robot.name == "arm" and robot.joint_names == ("turn_upper", "turn_lower")
    m, length, c, inertia = 2.0, 0.5, 0.25, 0.05
    C = np.cos(0.7)
    lower = inertia + m * c**2
    both = lower + m * length * c * C
    first = 2 * lower + m * length**2 + 2 * m * length * c * C
    found = robot.mass_matrix([0.2, 0.7])
    assert np.allclose(found, [[first, both], [both, lower]], rtol=1e-14)


def test_a_macro_that_fails_is_told(tmp_path):
    (tmp_path / "arm.xacro").write_text(ARM)
    with pytest.raises(ModelError, match=r"arm.xacro: xacro cannot expand it: .*macros.xacro"):
        armdyn.load(tmp_path / "arm.xacro")


def test_without_xacro_the_extra_is_named(tmp_path, monkeypatch):
    (tmp_path / "arm.xacro").write_text(ARM)
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(ModelError, match=r"pip install 'armdyn\[xacro\]'"):
        armdyn.load(tmp_path / "arm.xacro")


ARGUED = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="arm"><!-- of $(arg kind) -->
  <xacro:arg name="length" default="0.5"/>
  <xacro:include filename="$(find parts)/urdf/$(arg kind).xacro"/>
  <link name="base"/>
  <xacro:part name="upper" parent="base"/>
  <xacro:part name="lower" parent="upper"/>
</robot>"""
OTHER = "<package><!-- <name>other</name> --><name> {} </name></package>"


def package(folder, name, manifest=OTHER):
    """A package in a folder, with the macros of an arm's parts in it."""
    (folder / "urdf").mkdir(parents=True, exist_ok=True)
    (folder / "package.xml").write_text(manifest.format(name))
    text = MACROS.replace('value="0.5"', 'value="$(arg length)"')
    (folder / "urdf" / "rod.xacro").write_text(text)
    return folder


@pytest.fixture
def arm(tmp_path, monkeypatch):
    """A file of macros in a package, which takes its parts from another."""
    for name in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(name, raising=False)
    path = package(tmp_path / "work" / "repository" / "arm", "arm") / "urdf" / "arm.urdf.xacro"
    path.write_text(ARGUED)
    return path


def reach(robot):
    """How far the second joint's axis is from the first's [m]."""
    return np.linalg.norm(robot.pose([0.0, 0.0], frame="lower")[:3, 3])


@pytest.mark.parametrize("place", ["arm", "", "parts-1.2", "../parts"])
def test_packages_near_the_file_are_found(arm, place):
    """Above the file, or beside a folder above it, whatever the folder's own name."""
    package(arm.parents[2] / place, "parts")
    for given, length in ({}, 0.5), ({"length": 0.8}, 0.8):
        robot = armdyn.load(arm, xacro={"kind": "rod", **given})
        assert reach(robot) == pytest.approx(length)


@pytest.mark.parametrize(
    ("variable", "place"),
    [
        ("ROS_PACKAGE_PATH", "."),
        ("ROS_PACKAGE_PATH", "parts"),
        ("ROS_PACKAGE_PATH", "repository/parts"),
        ("AMENT_PREFIX_PATH", "share/parts"),
        (None, "anything"),
    ],
)
def test_packages_installed_or_given_are_found(arm, tmp_path, monkeypatch, variable, place):
    root = tmp_path / "else" / "where"
    folder = package(root / place, "parts")
    with pytest.raises(ModelError, match=r"no package 'parts' .*packages=\{'parts': .*ros2 run xa"):
        armdyn.load(arm, xacro={"kind": "rod"})
    if variable:
        monkeypatch.setenv(variable, f"{tmp_path / 'nowhere'}{os.pathsep}{root}")
    given = None if variable else {"parts": folder}
    assert reach(armdyn.load(arm, xacro={"kind": "rod"}, packages=given)) == 0.5


def test_given_packages_come_first_and_nothing_stays(arm, tmp_path):
    from xacro import substitution_args

    own = substitution_args._eval_find, substitution_args._eval_dict["find"]
    near = package(arm.parents[2] / "parts", "parts")
    other = package(tmp_path / "else" / "other", "parts")
    (near / "urdf" / "rod.xacro").write_text("<robot/>")
    assert armdyn.load(arm, xacro={"kind": "rod"}, packages={"parts": str(other)}).n == 2
    with pytest.raises(ModelError):
        armdyn.load(arm, xacro={"kind": "rod"})
    assert own == (substitution_args._eval_find, substitution_args._eval_dict["find"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "its argument 'kind' has no default; xacro={'kind': value} gives one"),
        ({"xacro": {"knid": "rod"}}, "its argument 'kind' has no default"),
        (
            {"xacro": {"kind": "rod", "lenght": 1}},
            "xacro: no argument 'lenght'; did you",
        ),
        ({"xacro": {"kind": [1]}}, r"xacro: 'kind': \[1\] is no argument"),
        ({"xacro": "kind=rod"}, "xacro is a mapping"),
        ({"packages": {"parts": "/no/where"}}, "packages: 'parts' is at '/no/where', no folder"),
        ({"packages": ["/tmp"]}, "packages is a mapping"),
    ],
)
def test_arguments_that_are_missing_or_wrong(arm, options, message):
    package(arm.parents[2] / "parts", "parts")
    with pytest.raises(ModelError, match=rf"^arm.urdf.xacro: {message}"):
        armdyn.load(arm, **options)


def test_a_file_of_macros_only(tmp_path):
    (tmp_path / "macros.xacro").write_text(MACROS)
    with pytest.raises(ModelError, match=r"macros.xacro: it defines macros only, .* that calls"):
        armdyn.load(tmp_path / "macros.xacro")


def test_arguments_of_other_files_are_refused():
    with pytest.raises(ModelError, match=r"panda: xacro= gives arguments to a .xacro file"):
        armdyn.load("panda", xacro={"kind": "rod"})


def test_addresses_in_packages(tmp_path, monkeypatch):
    folder = package(tmp_path / "arms", "my_arm")
    (folder / "urdf" / "arm.toml").write_text(armdyn.load("two_link").chain.to_toml())
    address = "package://my_arm/urdf/arm.toml"
    assert armdyn.load(address, packages={"my_arm": folder}).n == 2
    monkeypatch.chdir(tmp_path / "arms" / "urdf")
    assert armdyn.load(address).n == 2
    with pytest.raises(ModelError, match=r"'package://arm2/x': no package 'arm2' .*packages="):
        armdyn.load("package://arm2/x")
    with pytest.raises(ModelError, match="packages is a mapping from names to folders"):
        armdyn.load("panda", packages=np.zeros(0))


def test_meshes_of_given_packages(tmp_path):
    """The page looks for them in these folders, and nowhere beyond."""
    looks = tmp_path / "looks"
    looks.mkdir()
    (looks / "part.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    (tmp_path / "secret.obj").write_text((looks / "part.obj").read_text())
    text = armdyn.load("two_link").chain.to_urdf()
    path = tmp_path / "deep" / "arm.urdf"
    path.parent.mkdir()
    for file, count in ("part.obj", 1), ("../secret.obj", 0):
        mesh = f'<visual><geometry><mesh filename="package://looks/{file}"/></geometry></visual>'
        path.write_text(text.replace("<inertial>", f"{mesh}<inertial>", 1))
        chain = armdyn.load(path, packages={"looks": looks}).chain
        assert len(visuals(chain).shapes) == count


def test_the_command_line_takes_arguments_and_packages(arm, tmp_path, capsys):
    parts = package(tmp_path / "else" / "parts", "parts")
    given = ["show", str(arm), "--xacro", "kind=rod", "--xacro", "length=0.25"]
    assert main([*given, "--package", f"parts={parts}"]) == 0
    assert "turn_lower" in capsys.readouterr().out
    assert main([*given, "--package", f"parts={parts}", "--xacro", "kind=rod"]) == 2
    assert "--xacro is given twice for 'kind'" in capsys.readouterr().err
    assert main([*given, "--package", "parts"]) == 2
    assert "--package takes NAME=FOLDER, not 'parts'" in capsys.readouterr().err


def test_what_is_no_package(tmp_path):
    """Manifests that are broken, or not there; names that lead elsewhere."""
    package(tmp_path / "broken", "broken", "<package><name>{}")
    (tmp_path / "bare").mkdir()
    known = Packages(tmp_path / "bare")
    assert known.find("bare") == tmp_path / "bare"  # a folder above the file
    for name in ("broken", "..", "", "a/b", "x\0"):
        assert known.find(name) is None
