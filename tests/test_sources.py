"""What load is given: names, paths and texts; every error says which of them was wrong."""

import re
from pathlib import Path

import pytest

from armdyn import ModelError
from armdyn.chain import checks
from armdyn.chain.limits import MAX_BYTES
from armdyn.errors import shorten
from armdyn.loaders import _kind, urdf
from armdyn.loaders import load as load_file
from tests.test_bad_input import ELBOW, GOOD, UPPER, in_joint

FILE = "a .urdf, .xacro, .xml, .mjcf, .toml or .csv file"


def test_file_of_100_megabytes_is_refused_unread(tmp_path):
    path = tmp_path / "arm.urdf"
    with path.open("wb") as file:
        file.truncate(100_000_000)
    with pytest.raises(ModelError, match=r"arm\.urdf has 100000000 bytes"):
        load_file(path)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no endless file here")
def test_endless_file_is_read_no_further_than_the_limit(tmp_path):
    path = tmp_path / "arm.urdf"
    path.symlink_to("/dev/zero")
    with pytest.raises(ModelError, match=rf"arm\.urdf has {MAX_BYTES + 1} bytes"):
        load_file(path)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "load takes a robot's name, a path .* or XML, not None"),
        (5, "load takes a robot's name, a path .* or XML, not 5"),
        ("a\0.urdf", r"cannot read 'a\\x00.urdf': embedded null"),
        (Path("panda"), rf"'panda' is no path to {FILE}; load\('panda'\) is"),
        (Path("arm.txt"), f"'arm.txt' is no path to {FILE}$"),
        (b"<robot/>", "the robot has no link"),
        ("puma56", "no robot named 'puma56'; did you mean 'puma560'"),
        ("x" * 5000, "no robot named 'xxx.{,100}; expected a path"),
        ("nowhere.xacro", "cannot read nowhere.xacro: No such file"),
        (Path("arm.sdf"), "arm.sdf is SDF, which armdyn does not read; convert it to URDF"),
        ("nowhere.mjcf", "cannot read nowhere.mjcf: No such file"),
        (
            b'<robot><xacro:include filename="arm.xacro"/></robot>',
            "<xacro:include> on line 1 is left to xacro; give the file a name that ends in .xacro",
        ),
        (b"<sdf/>", "expected <robot>: this is SDF, which armdyn does not read"),
        ("", "no robot named ''; expected a path"),
        ("/", f"/ is a directory; expected {FILE} in it"),
        (Path("x" * 5000 + ".urdf"), r"cannot read \.\.\. x{50,80}\.urdf: "),
        (b"panda", "not well-formed XML"),
    ],
    ids=shorten,
)
def test_sources_that_cannot_be_read(source, message):
    with pytest.raises(ModelError, match=message):
        load_file(source)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("arm.urdf", in_joint(ELBOW, "continuous", "screw"), "arm.urdf: joint 'elbow' type='scr"),
        ("arm.urdf", in_joint(UPPER, '"1"', '"-1"'), "arm.urdf: arm: link 'upper': mass -1 kg"),
        ("arm.urdf", GOOD[:-20], "arm.urdf: not well-formed XML"),
        ("arm.toml", "joint = 3", "arm.toml: top level: joint must be tables"),
        ("arm.toml", "name = ", "arm.toml: not a TOML file"),
        ("arm.toml", " \n", "arm.toml is empty; expected an arm in URDF, MJCF or TOML"),
        ("arm.urdf", "", "arm.urdf is empty; expected an arm in URDF, MJCF or TOML"),
    ],
)
def test_errors_name_the_file(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ModelError, match=re.escape(message)):
        load_file(path)


def test_a_directory_is_called_one(tmp_path):
    for folder in (tmp_path, tmp_path / "arm.urdf"):
        folder.mkdir(exist_ok=True)
        with pytest.raises(ModelError, match=f"is a directory; expected {FILE}"):
            load_file(folder)


def test_errors_of_a_shipped_arm_name_it():
    with pytest.raises(ModelError, match="^panda: tip='panda_link' is no link; did you mean"):
        load_file("panda", tip="panda_link")
    with pytest.raises(
        ModelError, match="^puma560: base=, tip= and lock= choose a chain of a URDF"
    ):
        load_file("puma560", tip="link1")


def test_bytes_are_xml():
    assert load_file(GOOD.encode()).chain == urdf.load(GOOD)


@pytest.mark.parametrize("gravity", [[1, 2], 9.81, "abc"])
@pytest.mark.parametrize("name", ["panda", "two_link"])
def test_gravity_of_a_file_is_three_numbers(name, gravity):
    with pytest.raises(ModelError, match=r"gravity must be numbers of shape \(3,\)"):
        load_file(name, gravity=gravity)


@pytest.mark.parametrize("gravity", [None, (0, 0, 9.81)])
@pytest.mark.parametrize("name", ["panda", "puma560"])
def test_an_arm_is_built_and_checked_once(name, gravity, monkeypatch):
    checked = []
    monkeypatch.setattr(checks, "motion", lambda chain: checked.append(chain.gravity) or [])
    robot = load_file(name, gravity=gravity)
    assert checked == [robot.chain.gravity] == [gravity or (0, 0, -9.81)]


def test_what_load_is_told_reaches_the_reader_of_urdf():
    """An almost quarter turn is kept with snap=0, and else becomes one."""
    almost = ELBOW.replace('rpy="0.3 0 0"', 'rpy="1.57079632679 0 0"')
    text = GOOD.replace(ELBOW, almost.replace('<axis xyz="0 1 0"', '<axis xyz="0 0 1"'))
    kept, told = urdf.load(text, snap=0), {"gravity": (1, 2, 3), "lock": {"elbow": 0.5}}
    assert load_file(text, snap=0).chain == kept != urdf.load(text) == load_file(text).chain
    assert load_file(text, **told).chain == urdf.load(text, **told)


@pytest.mark.parametrize("nothing", [None, {}])
def test_a_table_has_nothing_to_lock(nothing):
    assert load_file("puma560", lock=nothing).chain == load_file("puma560").chain
    with pytest.raises(ModelError, match="^puma560: base=, tip= and lock= choose a chain of a UR"):
        load_file("puma560", lock={"joint1": 0.5})


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
@pytest.mark.parametrize("tag", ["mujoco", "mujocoinclude", "robot", "mujoco_robot"])
def test_the_first_element_says_what_an_xml_text_is(tag, encoding):
    head = f'<?xml version="1.0" encoding="{encoding.removesuffix("-sig")}"?>'
    comments = "<!-- <mujoco> é --><?robot <mujoco?>" * 2000
    text = f"{head}{comments}\n<{tag} model='a'><mujoco/>".encode(encoding)
    assert _kind(text) == ("mjcf" if tag in ("mujoco", "mujocoinclude") else "urdf")


@pytest.mark.parametrize(
    "text", ["", "\ud800", "<robot name='\ud800'/>", "<mujoco", b"\xff\xfe<\0"]
)
def test_what_is_not_xml_is_left_to_the_reader_of_urdf(text):
    assert _kind(text) == "urdf"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n", "git lfs pull"),
        (b"\x1f\x8b\x08\x00abc", "looks like compressed by gzip; expand it first"),
        (b"PK\x03\x04abc", "looks like a zip archive; unpack it first"),
        (b'\n{"robot": 1}', "looks like JSON"),
        (b"[1]", "looks like JSON"),
        (b"robot:\n  name: arm", "looks like YAML"),
        (b"%YAML 1.2\n---\na: 1", "looks like YAML"),
        (b"404: Not Found", "looks like a page of the web; download the file itself"),
        (b"<!DOCTYPE html>\n<html><meta charset=utf8></html>", "looks like a page of the web"),
        (b"<!DOCTYPE html><html></html>", "this is a page of the web"),
        (b"#usda 1.0\n", "looks like USD, which armdyn does not read"),
        (b"PXR-USDC\x00", "looks like USD"),
        (b"<robot name='a'><group name='arm'/></robot>", "this is SRDF, which groups the links"),
        (b"<?xml version='1.0' encoding='shift_jis'?><robot/>", "save it as UTF-8"),
    ],
    ids=shorten,
)
def test_what_is_no_urdf_is_called_by_its_name(text, message, tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_bytes(text)
    with pytest.raises(ModelError, match=f"^arm.urdf: .*{message}"):
        load_file(path)


@pytest.mark.parametrize("suffix", [".srdf", ".usda", ".USD", ".mjb", ".gz", ".zip", ".world"])
def test_what_is_no_urdf_is_known_by_its_suffix(suffix):
    with pytest.raises(ModelError, match=rf"^arm\{suffix} is (SRDF|USD|SDF|a |compressed).*;"):
        load_file(f"arm{suffix}")


@pytest.mark.parametrize("declared", ["<!DOCTYPE robot>", "\n<!-- a --><!DOCTYPE  robot >\n"])
def test_a_document_type_that_declares_nothing_is_read(declared):
    assert load_file(GOOD.replace("<robot", f"{declared}<robot", 1)).chain == urdf.load(GOOD)
