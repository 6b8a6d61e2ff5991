"""xacro: macros expanded on the way in."""

import sys

import numpy as np
import pytest

import armdyn
from armdyn import ModelError

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
