"""Exported files: self-tests that can fail, names that cannot harm, writing, the command."""

import dataclasses
import functools
import os
import re
import shutil
import stat
import subprocess

import numpy as np
import pytest

import armdyn
from armdyn import Chain, export
from armdyn.chain.random import STRUCTURES
from armdyn.cli import main
from armdyn.errors import ExportError
from armdyn.program.c import literal
from armdyn.quantities import QUANTITIES
from armdyn.quantities.tasks import quantities_of
from tests.arms import with_rotors
from tests.c_compiler import CC, STRICT, gcc, needs_compiler

CORE = ("mass_matrix", "bias", "forward_dynamics")
PANDA, PUMA, TWO_LINK = (armdyn.load(name).chain for name in ("panda", "puma560", "two_link"))


# The files ---------------------------------------------------------------------------------------


def test_without_a_word_about_quantities_a_controllers_are_exported():
    texts = export.c_files(armdyn.load("two_link"), dtype="float32")
    assert texts == export.c_files(
        TWO_LINK, [*CORE[:2], "inverse_dynamics", CORE[2]], dtype="float"
    )


@pytest.fixture
def exported(tmp_path):
    """Exports an arm into a directory of its own; returns the directory and the prefix."""

    def run(chain, quantities=CORE, **options):
        files = export.c_files(chain, quantities, **options)
        folder = tmp_path / "out"
        export.write(files, folder)
        return folder, next(iter(files)).removesuffix("_dynamics.h")

    return run


def selftest(folder, prefix, *flags):
    """Compile and run the self-test: its exit status and what it prints."""
    sources = [folder / f"{prefix}_selftest.c", folder / f"{prefix}_dynamics.c"]
    gcc(*STRICT, *flags, *sources, "-o", folder / "test", "-lm")
    done = subprocess.run([folder / "test"], capture_output=True, text=True)
    assert done.stderr == ""
    return done.returncode, done.stdout


@needs_compiler
def test_the_self_test_finds_no_error_at_all_in_double(exported):
    status, out = selftest(*exported(PUMA), "-O2")
    assert status == 0 and out.count("max error 0.00e+00") == out.count("passed") == len(CORE)


@needs_compiler
@pytest.mark.parametrize("dtype", ["double", "float"])
def test_the_self_test_passes_where_a_compiler_contracts(exported, dtype):
    folder, prefix = exported(PANDA, dtype=dtype)
    flags = ["-Wconversion", "-Wdouble-promotion", "-Wshadow", "-O2"]
    status, out = selftest(folder, prefix, *flags, "-march=native", "-ffp-contract=fast")
    assert status == 0 and out.count("passed") == len(CORE)


@needs_compiler
@pytest.mark.parametrize("dtype", ["double", "float"])
def test_the_self_test_fails_where_a_number_is_wrong(exported, dtype):
    """A sine for a cosine, and a constant that is off by a thousandth."""
    folder, prefix = exported(TWO_LINK, ["bias"], dtype=dtype)
    source = folder / f"{prefix}_dynamics.c"
    text = source.read_text()
    assert selftest(folder, prefix)[0] == 0
    constant = re.search(r"\* (0x1\.[0-9a-f]+p[+-]\d+f?)", text)[1]
    off = literal(1.001 * float.fromhex(constant.removesuffix("f")), dtype)
    sine = "sinf(" if dtype == "float" else "sin("
    for wrong in (text.replace(sine, sine.replace("sin", "cos")), text.replace(constant, off)):
        source.write_text(wrong)
        status, out = selftest(folder, prefix)
        assert status == 1 and "FAILED" in out


@pytest.fixture
def sanitizers(tmp_path):
    """The compiler's options, if it has them."""
    flags = ["-O1", "-fsanitize=undefined,address", "-fno-sanitize-recover=all"]
    probe = tmp_path / "probe.c"
    probe.write_text("int main(void) { return 0; }\n")
    if subprocess.run(
        [CC, *flags, probe, "-o", tmp_path / "probe"], capture_output=True
    ).returncode:
        pytest.skip("no sanitizers")
    return flags


@needs_compiler
def test_nothing_undefined_happens_and_nothing_is_touched_out_of_bounds(exported, sanitizers):
    chain = Chain.random(3, "PRP", seed=5)
    folder, prefix = exported(chain, quantities_of(chain))
    assert selftest(folder, prefix, *sanitizers)[0] == 0


@needs_compiler
@pytest.mark.sweep
@pytest.mark.parametrize("dtype", ["double", "float"])
@pytest.mark.parametrize("seed", range(5))
def test_nothing_undefined_happens_on_any_arm(exported, sanitizers, seed, dtype):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    kinds = "".join(rng.choice([*"RRP"], n))
    chain = with_rotors(Chain.random(n, kinds, seed, STRUCTURES[seed] if n > 2 else "generic"))
    folder, prefix = exported(chain, CORE, dtype=dtype)
    assert selftest(folder, prefix, *sanitizers)[0] == 0


@needs_compiler
def test_a_part_of_the_numbers_is_checked_where_there_are_too_many(exported, monkeypatch):
    monkeypatch.setattr("armdyn.program.selftest.CHECKED", 5)
    folder, prefix = exported(TWO_LINK, ["christoffel"])
    assert "Gamma_expected[4][5]" in (folder / f"{prefix}_selftest.c").read_text()
    assert selftest(folder, prefix)[0] == 0


@needs_compiler
@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler")
def test_the_header_serves_cpp(exported):
    folder, prefix = exported(TWO_LINK, ["mass_matrix"])
    gcc(*STRICT, "-c", folder / f"{prefix}_dynamics.c", "-o", folder / "c.o")
    (folder / "main.cpp").write_text(
        f'#include "{prefix}_dynamics.h"\n#include "{prefix}_dynamics.h"\n'
        "int main() { double q[TWO_LINK_JOINTS] = {0.1, 0.2}, M[4] = {0};\n"
        f"  {prefix}_mass_matrix(q, M); return M[0] > 0 && M[1] == M[2] ? 0 : 1; }}\n"
    )
    command = ["g++", "-std=c++98", "-Wall", "-Wextra", "-Werror", "-pedantic", "main.cpp", "c.o"]
    subprocess.run([*command, "-o", "cpp", "-lm"], cwd=folder, check=True)
    assert subprocess.run([folder / "cpp"]).returncode == 0


@needs_compiler
@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm")
def test_it_keeps_nothing_and_needs_nothing_but_libm(exported):
    folder, prefix = exported(PUMA, QUANTITIES)
    gcc(*STRICT, "-c", folder / f"{prefix}_dynamics.c", "-o", folder / "c.o")
    done = subprocess.run(["nm", folder / "c.o"], capture_output=True, text=True, check=True)
    symbols = [line.split()[-2:] for line in done.stdout.splitlines()]
    assert {kind for kind, _ in symbols} <= {"T", "t", "U", "r"}  # no variable, not even a static
    assert {name for kind, name in symbols if kind == "U"} <= {"sin", "cos", "sincos"}
    assert {name for kind, name in symbols if kind == "T"} == {
        f"puma560_{quantity}" for quantity in QUANTITIES
    }


@pytest.mark.parametrize("name", armdyn.robots())
def test_every_shipped_arm_is_exported(name):
    chain = armdyn.load(name).chain
    files = export.c_files(chain, CORE)
    assert list(files) == [f"{name}_dynamics.h", f"{name}_dynamics.c", f"{name}_selftest.c"]
    assert files == export.c_files(chain, CORE)  # the same text every time
    for text in files.values():
        assert text.isascii() and text.startswith(export.MARK) and text.endswith("\n")
    header, source, _ = files.values()
    assert f"void {name}_mass_matrix(const double q[{chain.n}], double M[{chain.n**2}]);" in header
    assert all(joint.name in header for joint in chain.joints)
    assert "fma(" not in source


def test_the_header_says_what_a_user_needs():
    chain = dataclasses.replace(armdyn.load("stanford").chain, gravity=(0.5, 0.0, -1.62))
    header = export.c_files(chain, ["mass_matrix", "bias"], methods={"bias": "zomaya-morris"})[
        "stanford_dynamics.h"
    ]
    assert "Gravity is (0.5, 0.0, -1.62) m/s^2" in header
    assert "q [m], tau [N], rotor" in header and "q [rad], tau [N m], rotor" in header
    sentences = " ".join(header.replace("\n *", "").split())
    assert "M is 6 x 6." in sentences
    assert "Method: zomaya-morris, an approximation." in sentences
    assert (
        "Locked joint: panda_finger_joint1 at 0.0."
        in (export.c_files(PANDA, ["gravity"])["panda_dynamics.h"])
    )
    assert max(map(len, header.splitlines())) <= 110


# Names -------------------------------------------------------------------------------------------

HOSTILE = [
    'x"; system("rm -rf /"); //',
    "*/ int main(void) { return 1; } /*",
    "../../etc/passwd",
    "/etc/passwd",
    "line\nbreak\r#error \\",
    "??/\n#error trigraph ??/",
    "\\",
    "",
    " ",
    "int",
    "math",
    "con",
    "7axis",
    "__reserved__",
    "%s%n{0}{name}",
    "Ünïcödé Ärm",
    "机器人",
    "\u202e/* \u2066 */",
    "\ud800 lone",
    "a\0b",
    "long " * 100,
]


def renamed(name):
    """Two links, with that name wherever a name can be."""
    chain = TWO_LINK
    joints = tuple(
        dataclasses.replace(joint, name=f"{name}{i}") for i, joint in enumerate(chain.joints)
    )
    return dataclasses.replace(chain, name=name, joints=joints, locked=((name, 0.5),))


@needs_compiler
@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_no_name_can_inject_code_or_leave_the_directory(name, exported, tmp_path):
    folder, prefix = exported(renamed(name), ["mass_matrix"])
    assert re.fullmatch("[a-z][a-z0-9]*(_[a-z0-9]+)*", prefix) and len(prefix) <= 44
    assert os.listdir(tmp_path) == ["out"]
    assert sorted(os.listdir(folder)) == [
        f"{prefix}_dynamics.c",
        f"{prefix}_dynamics.h",
        f"{prefix}_selftest.c",
    ]
    plain = export.c_files(TWO_LINK, ["mass_matrix"])
    for file in folder.iterdir():
        text = file.read_text()
        expected = plain[file.name.replace(prefix, "two_link", 1)]
        assert tokens(text, prefix) == tokens(expected, "two_link")
        gcc(*STRICT, "-Wcomment", "-Wtrigraphs", "-I", folder, "-fsyntax-only", "-x", "c", file)


def tokens(text, prefix):
    """A C text without its comments, as a compiler sees it, the arm's name taken out."""
    bare = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    bare = bare.replace(prefix.upper() + "_", "NAME_").replace(prefix + "_", "name_")
    return bare.split()


def test_names_stay_legible():
    assert export.identifier("UR5e (left)") == "ur5e_left"
    assert export.identifier("Ünïcödé") == "unicode"
    assert export.identifier("7axis") == "arm_7axis"
    assert export.comment("joint_1 (a*b)/c") == "joint_1 <28>a<2a>b<29><2f>c"


# Writing -----------------------------------------------------------------------------------------

FILES = {"a.h": export.MARK + "0: a */\n", "a.c": export.MARK + "0: b */\n"}


def test_files_are_written_whole_and_again(tmp_path):
    folder = tmp_path / "new" / "folder"
    assert export.write(FILES, folder) == [folder / "a.h", folder / "a.c"]
    changed = FILES | {"a.c": export.MARK + "1: c */\n"}
    export.write(changed, folder)
    assert {path.name: path.read_text() for path in folder.iterdir()} == changed
    mode = stat.S_IMODE((folder / "a.h").stat().st_mode)
    assert mode == 0o666 & ~umask()


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_file_that_is_not_ours_is_kept(tmp_path):
    (tmp_path / "a.c").write_text("int mine;\n")
    with pytest.raises(ExportError, match=r"a\.c was not written by armdyn; .* --force"):
        export.write(FILES, tmp_path)
    assert os.listdir(tmp_path) == ["a.c"] and (tmp_path / "a.c").read_text() == "int mine;\n"
    export.write(FILES, tmp_path, force=True)
    assert (tmp_path / "a.c").read_text() == FILES["a.c"]


def test_a_link_is_replaced_and_never_written_through(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("kept")
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "a.c").symlink_to(elsewhere)
    with pytest.raises(ExportError, match="was not written by armdyn"):
        export.write(FILES, folder)
    export.write(FILES, folder, force=True)
    assert elsewhere.read_text() == "kept" and not (folder / "a.c").is_symlink()


def test_what_is_in_the_way_is_named(tmp_path):
    (tmp_path / "a.c").mkdir()
    with pytest.raises(ExportError, match=r"a\.c is a directory"):
        export.write(FILES, tmp_path, force=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(ExportError, match="file is not a directory"):
        export.write(FILES, tmp_path / "file")
    with pytest.raises(ExportError, match="cannot write to"):
        export.write(FILES, tmp_path / "file" / "below")


def test_nothing_half_written_is_left_behind(tmp_path, monkeypatch):
    def full(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(ExportError, match="No space left on device"):
        export.write(FILES, tmp_path)
    assert os.listdir(tmp_path) == []


# The command -------------------------------------------------------------------------------------


def run(capsys, *arguments):
    status = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@needs_compiler
def test_the_command_writes_what_compiles(capsys, tmp_path):
    quantities = "mass_matrix,bias,forward_dynamics"
    status, out, err = run(
        capsys, "export", "puma560", "--quantity", quantities, "--to", "c", "-o", tmp_path
    )
    names = ("puma560_dynamics.h", "puma560_dynamics.c", "puma560_selftest.c")
    assert status == 0 and err == ""
    assert out.splitlines() == [str(tmp_path / name) for name in names]
    assert selftest(tmp_path, "puma560")[0] == 0


def test_the_command_takes_methods_type_and_name(capsys, tmp_path):
    export_puma = functools.partial(run, capsys, "export", "puma560", "-o", tmp_path)
    options = ("--dtype", "float", "--name", "Left Arm")
    methods = "mass_matrix=gdahj,bias=lin1991"
    assert export_puma("--quantity", "mass_matrix,bias", "--method", methods, *options)[0] == 0
    header = (tmp_path / "left_arm_dynamics.h").read_text()
    assert "void left_arm_mass_matrix(const float q[6], float M[36]);" in header
    assert "Method: gdahj." in header and "Method: lin1991." in header
    assert export_puma("--quantity", "mass_matrix,bias", "--method", "lin1991")[0] == 0
    assert (tmp_path / "puma560_dynamics.h").read_text().count("Method: lin1991.") == 2
    assert export_puma("--quantity", "all", "--force")[0] == 0
    header = (tmp_path / "puma560_dynamics.h").read_text()
    assert all(f"void puma560_{quantity}(" in header for quantity in QUANTITIES)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("--quantity", "mass_matrix,inertia"), "no quantity 'inertia'; known: mass_matrix, bias"),
        (("--quantity", ","), "no quantity to export"),
        (("--method", "gdahj"), "no method 'gdahj' for bias"),
        (("--method", "pose=gdahj"), "a method for pose, 'gdahj', but it is not to be exported"),
        (("--quantity", "pose", "--method", "x"), "pose has one method only; it cannot be 'x'"),
        (("--method", "mass=gdahj"), "no quantity 'mass'"),
    ],
)
def test_the_command_says_what_is_wrong_in_one_line(capsys, tmp_path, arguments, message):
    status, out, err = run(capsys, "export", "puma560", "-o", tmp_path / "out", *arguments)
    assert status == 2 and out == ""
    assert message in err and err.startswith("armdyn: ") and err.count("\n") == 1
    assert os.listdir(tmp_path) == []
