"""Exported C that takes payload, gravity and parameters, has friction, and knows frames."""

import ctypes
import dataclasses
import re

import numpy as np
import pytest

import armdyn
from armdyn import Robot, export
from armdyn.chain.parts import Frame
from armdyn.chain.pose import Pose
from armdyn.errors import ArmdynError
from armdyn.quantities import QUANTITIES
from tests.arms import with_rotors
from tests.c_compiler import STRICT, gcc, needs_compiler
from tests.test_export_files import run, selftest
from tests.test_given import bodies

CHAIN = dataclasses.replace(
    with_rotors(armdyn.load("puma560").chain),
    frames=(Frame("*/ camera", 3, Pose(translation=(0.1, 0.0, 0.2))),),
)
ROBOT = Robot(CHAIN)


def library(folder, **options):
    """The exported functions, in memory, and the header's text."""
    files = export.c_files(CHAIN, name="arm", **options)
    export.write(files, folder)
    gcc(*STRICT, "-O1", "-shared", "-fPIC", folder / "arm_dynamics.c", "-o", folder / "a.so", "-lm")
    return ctypes.CDLL(str(folder / "a.so")), files["arm_dynamics.h"]


def call(function, shape, *arrays):
    kept = [np.ascontiguousarray(x, float) for x in arrays]
    out = np.empty(shape)
    function(*(x.ctypes.data_as(ctypes.c_void_p) for x in (*kept, out)))
    return out


@needs_compiler
def test_c_is_given_what_python_is(tmp_path):
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-2, 2, (3, 6))
    (*_, payload), gravity = bodies(rng), rng.uniform(-9, 9, 3)
    compiled, header = library(
        tmp_path,
        quantities=["inverse_dynamics", "mass_matrix", "pose", "jacobian"],
        axes="frame",
        arguments=["payload", "gravity"],
        friction=True,
        frame="*/ camera",
        payload_frame="*/ camera",
    )
    given = {"payload": payload, "payload_frame": "*/ camera"}
    tau = call(compiled.arm_inverse_dynamics, 6, q, qd, qdd, payload, gravity)
    expected = ROBOT.inverse_dynamics(q, qd, qdd, gravity=gravity, friction=True, **given)
    np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-13 * np.abs(expected).max())
    M = call(compiled.arm_mass_matrix, (6, 6), q, payload)
    np.testing.assert_allclose(M, ROBOT.mass_matrix(q, **given), rtol=0, atol=1e-12)
    T = call(compiled.arm_pose, (4, 4), q)
    np.testing.assert_allclose(T, ROBOT.pose(q, "*/ camera"), rtol=0, atol=1e-14)
    J = call(compiled.arm_jacobian, (6, 6), q)
    expected = ROBOT.jacobian(q, "*/ camera", axes="frame")
    np.testing.assert_allclose(J, expected, rtol=0, atol=1e-13)
    text = " ".join(header.replace("\n *", " ").split())
    assert "place of the tip. Here the axes are the frame's own." in text
    assert "about the origin of frame <2a><2f> camera and in its axes" in text
    assert "Here it is frame <2a><2f> camera in place of the tip." in text
    assert "With friction." in text and "*/ camera" not in header
    assert re.search(r"const double payload\[10\], const double gravity\[3\]", text)


@needs_compiler
@pytest.mark.sweep
@pytest.mark.parametrize("dtype", ["double", "float"])
@pytest.mark.parametrize("arguments", [["payload", "gravity"], ["parameters"]])
def test_every_self_test_passes_with_arguments(arguments, dtype, tmp_path):
    asked = [name for name, quantity in QUANTITIES.items() if "payload" in quantity.at_call]
    assert_self_tests_pass(asked, arguments, dtype, tmp_path)


@needs_compiler
@pytest.mark.parametrize("dtype", ["double", "float"])
@pytest.mark.parametrize("arguments", [["payload", "gravity"], ["parameters"]])
def test_the_self_test_passes_with_arguments(arguments, dtype, tmp_path):
    asked = ["mass_matrix", "inverse_dynamics", "forward_dynamics"]
    assert_self_tests_pass(asked, arguments, dtype, tmp_path)


def assert_self_tests_pass(asked, arguments, dtype, tmp_path):
    """Bodies are drawn that can exist; in double without contraction there is no error at all."""
    files = export.c_files(
        CHAIN, asked, name="arm", dtype=dtype, arguments=arguments, friction=True
    )
    export.write(files, tmp_path)
    status, said = selftest(tmp_path, "arm")
    assert status == 0 and said.count("passed") == len(asked)
    if dtype == "double":
        assert said.count("max error 0.00e+00") == len(asked)


@needs_compiler
def test_c_takes_a_wrench_and_has_derivatives_by_what_is_given(tmp_path):
    rng = np.random.default_rng(1)
    q, qd, qdd, weights = rng.uniform(-2, 2, (4, 6))
    (*_, payload), wrench = bodies(rng), rng.uniform(-9, 9, 6)
    options = {
        "arguments": ["payload", "wrench"],
        "friction": True,
        "payload_frame": "*/ camera",
        "wrench_frame": "*/ camera",
    }
    asked = {"derivatives": ["derivative", "vjp"], "wrt": ["payload"]}
    compiled, header = library(tmp_path, quantities="inverse_dynamics", **asked, **options)
    state = q, qd, qdd, payload, wrench
    tau = call(compiled.arm_inverse_dynamics, 6, *state)
    frames = {"payload_frame": "*/ camera", "wrench_frame": "*/ camera", "friction": True}
    expected = ROBOT.inverse_dynamics(q, qd, qdd, payload=payload, wrench=wrench, **frames)
    np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-13 * np.abs(expected).max())
    J = call(compiled.arm_inverse_dynamics_derivative, (6, 10), *state)
    expected = ROBOT.derivative("inverse_dynamics", "payload", **options)(*state)
    np.testing.assert_allclose(J, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    gradient = call(compiled.arm_inverse_dynamics_vjp, 10, *state, weights)
    np.testing.assert_allclose(gradient, weights @ J, rtol=0, atol=1e-11 * np.abs(J).max())
    text = " ".join(header.replace("\n *", " ").split())
    assert "wrench holds fx, fy, fz [N], mx, my, mz [N m] that act on the arm at frame" in text
    status, said = selftest(tmp_path, "arm")
    assert status == 0 and said.count("passed") == 3


def test_without_them_the_text_is_as_it_was():
    """Nothing is said of what was not asked for."""
    header = export.c_files(CHAIN, name="arm")["arm_dynamics.h"]
    assert "Friction is left out.\n" in header
    assert "payload" not in header and "With friction" not in header


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"arguments": "paylod"}, "no argument 'paylod' of .*; did you mean 'payload'"),
        ({"arguments": "gravity", "quantities": "mass_matrix"}, "no argument 'gravity' of mass_ma"),
        ({"frame": "hand"}, "frame='hand' has no effect: none of .* depends on it"),
        ({"axes": "frame"}, "axes='frame' has no effect: none of .* depends on it"),
        ({"frame": "hnad", "quantities": "pose"}, "no link or frame named 'hnad'"),
        ({"friction": True, "quantities": "pose"}, "friction, but none of pose has any"),
        ({"friction": "yes"}, "friction is 'yes'; expected True or False"),
        ({"payload_frame": "hand"}, "payload_frame='hand' without a payload"),
        ({"wrench_frame": "hand"}, "wrench_frame='hand' without a wrench"),
        ({"wrench_frame": "hnad", "arguments": "wrench"}, "no link or frame named 'hnad'"),
        ({"payload_frame": "hnad", "arguments": "payload"}, "no link or frame named 'hnad'"),
    ],
)
def test_what_concerns_no_quantity_is_refused(options, message):
    with pytest.raises(ArmdynError, match=message):
        export.c_files(CHAIN, **options)


@needs_compiler
def test_the_command_takes_them(capsys, tmp_path):
    options = ("--arguments", "payload,gravity", "--friction", "--frame", "link4")
    asked = ("--quantity", "inverse_dynamics,jacobian", "--payload-frame", "link6")
    assert run(capsys, "export", "puma560", "-o", tmp_path, *options, *asked)[0] == 0
    header = (tmp_path / "puma560_dynamics.h").read_text()
    assert "frame link6 and" in header and "Here it is frame link4 in place" in header
    assert selftest(tmp_path, "puma560")[0] == 0
