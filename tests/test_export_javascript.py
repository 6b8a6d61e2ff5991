"""Exported JavaScript: its self-test passes under Node.js, and fails where a number is wrong."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn import Chain, export
from armdyn.errors import ExportError, MethodError
from armdyn.quantities import GIVEN, QUANTITIES
from armdyn.quantities.tasks import quantities_of
from tests.sweeping import few
from tests.test_export_files import HOSTILE, renamed, run

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="needs Node.js")
PUMA, STANFORD, TWO_LINK = (armdyn.load(name).chain for name in ("puma560", "stanford", "two_link"))
SLIDES = Chain.random(4, "PRPR", seed=3)
PAGE = Path(__file__).parents[1] / "docs" / "export.md"


@pytest.fixture
def exported(tmp_path):
    """Exports an arm into a directory of its own; returns the module and the self-test."""

    def run(chain, quantities=export.DEFAULT, **options):
        return export.write(export.js_files(chain, quantities, **options), tmp_path / "out")

    return run


def node(path):
    """Run a file: its exit status, what it prints and what it complains of."""
    done = subprocess.run([NODE, path], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def printed(path, text):
    """What a text prints as JSON that imports everything a module exports, as ``arm``."""
    script = path.with_name("script.mjs")
    script.write_text(f'import * as arm from "./{path.name}";\nconsole.log(JSON.stringify({text}))')
    status, out, err = node(script)
    assert status == 0, err
    return json.loads(out)


# Numbers -----------------------------------------------------------------------------------------


@needs_node
@pytest.mark.parametrize("chain", few([STANFORD, PUMA, SLIDES], 0))
def test_the_self_test_passes_for_every_quantity(chain, exported):
    quantities = quantities_of(chain)
    _, test = exported(chain, quantities)
    status, out, err = node(test)
    assert status == 0 and err == ""
    lines = [line.split() for line in out.splitlines()]
    assert [line[0] for line in lines] == [*quantities]
    assert {line[-1] for line in lines} == {"passed"}


@needs_node
def test_the_self_test_passes_with_arguments_friction_and_derivatives(exported):
    asked = ["inverse_dynamics", "forward_dynamics", "gravity"]
    derivatives = ["derivative", "jvp", "vjp", "hvp"]
    given = [name for name in GIVEN if name in QUANTITIES["inverse_dynamics"].at_call]
    _, test = exported(
        STANFORD, asked, friction=True, arguments=given, derivatives=derivatives, wrt="q"
    )
    status, out, err = node(test)
    assert status == 0 and err == ""
    assert out.count("passed") == 5 * len(asked)


@needs_node
@pytest.mark.parametrize("quantity", ["mass_matrix", "bias", "energy"])
def test_the_self_test_fails_where_a_number_is_wrong(quantity, exported):
    """A sine for a cosine, a constant that is off by a thousandth, a result that is no number."""
    module, test = exported(TWO_LINK, [quantity])
    text = module.read_text()
    assert node(test)[0] == 0
    constant = re.search(r"\* (\d+\.\d+);", text)[1]
    nothing = re.sub(r"(\w+)\[0\] = v\d+;", r"\1[0] = NaN;", text)
    off = text.replace(f" {constant};", f" {1.001 * float(constant)!r};")
    for wrong in (text.replace("Math.cos(", "Math.sin("), off, nothing):
        assert wrong != text
        module.write_text(wrong)
        status, out, err = node(test)
        assert status == 1 and "FAILED" in out and "1 of the functions are wrong" in err


@needs_node
def test_a_part_of_the_numbers_is_checked_where_there_are_too_many(exported, monkeypatch):
    monkeypatch.setattr("armdyn.program.selftest.CHECKED", 3)
    module, test = exported(TWO_LINK, ["christoffel"])
    assert node(test)[0] == 0
    expected = re.findall(r"\[(\d), [^,]+, [\d.e+-]+\]", " ".join(test.read_text().split()))
    assert len(expected) == 4 * 3  # in four states


@needs_node
def test_a_caller_gets_what_the_robot_gives(exported):
    robot, q = armdyn.load("puma560"), [0.1, -0.4, 0.7, 1.2, -0.3, 0.5]
    module, _ = exported(robot, ["mass_matrix", "influence"])
    made, given, shared, influences = printed(
        module,
        f"(() => {{ const q = {q}, M = new Float64Array(36), made = arm.mass_matrix(q);"
        " const same = arm.mass_matrix(new Float64Array(q), M) === M;"
        " return [[...made], [...M], same, arm.influence(q).map((x) => [...x])]; })()",
    )
    assert made == given and shared is True
    np.testing.assert_allclose(np.reshape(made, (6, 6)), robot.mass_matrix(q), rtol=1e-13)
    for found, judge in zip(influences, robot.influence(q), strict=True):
        np.testing.assert_allclose(found, np.ravel(judge), rtol=0, atol=1e-14)


@needs_node
def test_the_block_of_the_documentation_runs(exported):
    module, _ = exported(PUMA, ["mass_matrix", "gravity", "energy"])
    (text,) = re.findall(r"^```js\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    script = module.with_name("page.mjs")
    script.write_text(text + "console.log(JSON.stringify([[...g], kinetic[0], potential[0]]));\n")
    status, out, err = node(script)
    assert status == 0, err
    robot, q = armdyn.load("puma560"), [0, 0.5, -1, 0, 0.3, 0]
    g, *energies = json.loads(out)
    np.testing.assert_allclose(g, robot.gravity(q), atol=1e-12)
    np.testing.assert_allclose(energies, robot.energy(q, [1, 0, 0, 0, 0, 0]), rtol=1e-13)


# Text --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", armdyn.robots())
def test_every_shipped_arm_is_exported(name):
    chain = armdyn.load(name).chain
    files = export.js_files(chain, ["mass_matrix", "bias"])
    assert list(files) == [f"{name}_dynamics.mjs", f"{name}_selftest.mjs"]
    assert files == export.js_files(armdyn.load(name), ["mass_matrix", "bias"], dtype="float64")
    for text in files.values():
        assert text.isascii() and text.startswith(export.MARK) and text.endswith("\n")
    module, _ = files.values()
    exports = re.findall(r"^export (?:function|const) (\w+)", module, re.M)
    assert exports == ["joints", "mass_matrix", "bias"]


def test_the_module_says_what_the_header_of_c_says():
    chain, quantities = armdyn.load("panda").chain, ["bias", "pose"]
    frame, methods = chain.frames[0].name, {"bias": "zomaya-morris"}
    options = {"methods": methods, "frame": frame, "arguments": ["payload"]}
    module, _ = export.js_files(chain, quantities, **options).values()
    header, *_ = export.c_files(chain, quantities, **options).values()
    opening = header.partition(" * The functions need")[0]
    assert "Locked joint" in opening and "payload holds" in opening
    assert module.startswith(opening)
    sentences = " ".join(module.replace("\n *", "").split())
    assert "T is 4 x 4." in sentences and f"Here it is frame {frame}" in sentences
    assert "Method: zomaya-morris, an approximation." in sentences


@needs_node
@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_no_name_can_inject_code_or_leave_the_directory(name, exported, tmp_path):
    chain = renamed(name)
    module, test = exported(chain, ["mass_matrix"])
    start = module.name.removesuffix("_dynamics.mjs")
    assert re.fullmatch("[a-z][a-z0-9]*(_[a-z0-9]+)*", start) and len(start) <= 44
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert {*module.parent.iterdir()} == {module, test}
    assert all(path.read_text().startswith(export.MARK) for path in (module, test))
    status, out, err = node(test)
    assert status == 0 and err == "" and out.count("\n") == 1
    found = printed(module, "[Object.keys(arm), arm.joints]")
    kinds = [{"name": joint.name, "kind": "revolute"} for joint in chain.joints]
    assert found == [["joints", "mass_matrix"], kinds]


def test_no_joint_can_end_a_script_or_a_comment():
    chain = renamed("</script><!-- */ `${x}` //")
    module, _ = export.js_files(chain, ["mass_matrix"]).values()
    assert "</" not in module and "<!--" not in module
    bare = re.sub(r"/\*.*?\*/", " ", module, flags=re.DOTALL)
    plain, _ = export.js_files(TWO_LINK, ["mass_matrix"]).values()
    names = re.compile(r'name: "(?:[^"\\]|\\.)*"')
    assert names.sub("", bare) == names.sub("", re.sub(r"/\*.*?\*/", " ", plain, flags=re.DOTALL))


def test_slides_are_called_prismatic():
    module, _ = export.js_files(SLIDES, ["gravity"]).values()
    assert re.findall(r'kind: "(\w+)"', module) == ["prismatic", "revolute"] * 2


# Asking ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float", "float32"])
def test_numbers_of_single_precision_are_refused(dtype):
    with pytest.raises(ExportError, match=f"JavaScript has no '{dtype}': its numbers are double"):
        export.js_files(TWO_LINK, dtype=dtype)


def test_what_is_wrong_is_refused_as_for_c():
    for wrong in ({"quantities": "mass"}, {"frame": "x"}, {"wrt": "q"}, {"derivatives": "x"}):
        said = []
        for files in export.WRITERS.values():
            with pytest.raises(MethodError) as error:
                files(TWO_LINK, **wrong)
            said.append(str(error.value))
        assert len({*said}) == 1
    with pytest.raises(ExportError, match="3 is no arm"):
        export.js_files(3)
    with pytest.raises(ExportError, match="name is 3; expected a string"):
        export.js_files(TWO_LINK, name=3)


@needs_node
def test_the_command_writes_what_runs(capsys, tmp_path):
    export_two_links = ("export", "two_link", "--to", "js", "-o", tmp_path)
    for _ in range(2):  # what armdyn wrote is written again
        status, out, err = run(capsys, *export_two_links, "--quantity", "all", "--name", "Left Arm")
        assert status == 0 and err == ""
    paths = [tmp_path / f"left_arm_{end}.mjs" for end in ("dynamics", "selftest")]
    assert out.splitlines() == [*map(str, paths)]
    status, out, _ = node(paths[1])
    assert status == 0 and out.count("passed") == len(quantities_of(TWO_LINK)) <= len(QUANTITIES)


def test_the_command_refuses_single_precision_in_one_line(capsys, tmp_path):
    folder = tmp_path / "out"
    status, out, err = run(
        capsys, "export", "two_link", "--to", "js", "--dtype", "float", "-o", folder
    )
    assert status == 2 and out == "" and not folder.exists()
    assert err == "armdyn: JavaScript has no 'float': its numbers are double\n"
