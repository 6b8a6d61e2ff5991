"""Derivatives in exported C: they compile, pass their self-tests, and say what they are."""

import ctypes
import subprocess

import numpy as np
import pytest

import armdyn
from armdyn import Chain, MethodError, Robot, export
from armdyn.cli import main
from armdyn.quantities.tasks import quantities_of
from tests.arms import with_rotors
from tests.c_compiler import STRICT, gcc, needs_compiler

KINDS = ("derivative", "jvp", "vjp", "hvp")
ARM = with_rotors(Chain.random(3, "RPR", seed=2))

ALL = [name for name in quantities_of(ARM) if "derivative" not in name]  # those are some already


def written(folder, *arguments, **options):
    files = export.c_files(*arguments, **options)
    export.write(files, folder)
    return next(iter(files)).removesuffix("_dynamics.h")


@needs_compiler
@pytest.mark.parametrize("dtype", ["double", "float"])
@pytest.mark.parametrize(
    "quantities",
    [
        ["inverse_dynamics", "mass_matrix", "energy"],
        pytest.param(ALL, marks=pytest.mark.sweep),
    ],
    ids=["some", "all"],
)
def test_derivatives_pass_their_self_tests(tmp_path, quantities, dtype):
    prefix = written(tmp_path, ARM, quantities, dtype=dtype, derivatives=KINDS, name="arm")
    sources = [tmp_path / f"{prefix}_selftest.c", tmp_path / f"{prefix}_dynamics.c"]
    gcc(*STRICT, *sources, "-o", tmp_path / "test", "-lm")
    done = subprocess.run([tmp_path / "test"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("passed") == 5 * len(quantities)


@needs_compiler
def test_exported_gradients_are_the_robots(tmp_path):
    robot = armdyn.load("puma560")
    prefix = written(
        tmp_path, robot, "inverse_dynamics", derivatives=["vjp", "derivative"], wrt=["qd", "q"]
    )
    shared = tmp_path / "arm.so"
    gcc(*STRICT, "-O2", "-fPIC", "-shared", tmp_path / f"{prefix}_dynamics.c", "-o", shared, "-lm")
    library = ctypes.CDLL(str(shared))
    numbers = list(np.random.default_rng(0).normal(size=(4, 6)))
    for kind, taken, results in (("vjp", 4, [(6,)] * 2), ("derivative", 3, [(6, 6)] * 2)):
        out = [np.empty(shape) for shape in results]
        function = getattr(library, f"puma560_inverse_dynamics_{kind}")
        function(*(ctypes.c_void_p(x.ctypes.data) for x in [*numbers[:taken], *out]))
        right = getattr(robot, kind)("inverse_dynamics", ["qd", "q"])(*numbers[:taken])
        for found, expected in zip(out, right, strict=True):
            scale = np.abs(expected).max()
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * scale)


def test_the_header_says_what_each_derivative_is():
    files = export.c_files(
        armdyn.load("two_link"),
        ["bias", "energy"],
        derivatives=KINDS,
        methods={"bias": "zomaya-morris"},
        wrt="qd",
    )
    header = " ".join(files["two_link_dynamics.h"].replace("\n *", "").split())
    for text in (
        "void two_link_bias_derivative(const double q[2], const double qd[2], double db_dqd[4]);",
        "db_dqd is 2 x 2. Method: zomaya-morris, an approximation.",
        "The derivative of bias along a direction of qd.",
        "const double qd_tangent[2], double b_tangent[2]);",
        "The gradient of b_cotangent . b of bias with respect to qd.",
        "const double kinetic_cotangent[1], const double potential_cotangent[1], double qd_cota",
        "The Hessian of b_cotangent . b of bias times a direction of qd.",
        "const double b_cotangent[2], const double qd_tangent[2], double qd_hvp[2]);",
    ):
        assert text in header


def test_unknown_derivatives_are_refused():
    for options, message in (
        ({"derivatives": "vpj"}, "no derivative 'vpj'; did you mean 'vjp'"),
        ({"derivatives": 3}, "derivatives are names, not 3"),
        ({"derivatives": "vjp", "wrt": "qdd"}, "no argument of bias 'qdd'; did you mean 'qd'"),
        ({"wrt": "q"}, "wrt is 'q', but no derivative is to be exported"),
    ):
        with pytest.raises(MethodError, match=message):
            export.c_files(ARM, ["bias"], **options)


def test_the_command(tmp_path, capsys):
    command = ["export", "two_link", "--quantity", "gravity", "--derivative", "vjp,jvp,vjp"]
    assert main([*command, "--wrt", "q", "-o", str(tmp_path)]) == 0
    header = (tmp_path / "two_link_dynamics.h").read_text()
    assert header.count("void two_link_gravity") == 3
    assert main([*command, "--wrt", "p", "-o", str(tmp_path)]) != 0
    assert "no argument of gravity 'p'" in capsys.readouterr().err


def test_the_same_derivatives_as_robots():
    assert set(KINDS) == set(export.asked.KINDS)
    assert all(callable(getattr(Robot, kind)) for kind in KINDS)
