"""The page as text: what stands on it, what does not, and which files it is made of."""

import base64
import hashlib
import json
import re
import struct
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn import Chain, cli
from armdyn.chain.inertia import Inertia
from armdyn.errors import ArmdynError, ModelError, SimulationError
from armdyn.view import Page, assembly, meshes
from armdyn.view.drawing import drawing, ellipsoid
from armdyn.view.folders import Folders
from armdyn.view.visuals import visuals

HOSTILE = "</script><img src=x onerror=alert(1)>{{page}}&\"'\u2028\ud800"


class Reader(HTMLParser):
    """The tags of a page with their attributes, and the text of each script and style."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.texts.append((tag, dict(attributes), []))

    def handle_endtag(self, tag):
        self.texts.append(("", {}, []))

    def handle_data(self, data):
        if self.texts:
            self.texts[-1][2].append(data)

    def named(self, wanted):
        return [(a, "".join(text)) for tag, a, text in self.texts if tag == wanted]


def arm_of(page):
    """The data of a page."""
    (found,) = (text for a, text in Reader(page.text).named("script") if a.get("id") == "arm-data")
    return json.loads(found)


def cube(side=1.0):
    """The points and triangles of a cube about the origin."""
    points = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) - 0.5
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    corners = [(a, b, c) for a, b, c, _ in quads] + [(a, c, d) for a, _, c, d in quads]
    return meshes.Mesh(points * side, np.array(corners))


def stl(mesh):
    """A mesh as a binary STL file."""
    rows = b"".join(
        struct.pack("<12fH", *[0] * 3, *mesh.points[corners].ravel(), 0)
        for corners in mesh.triangles
    )
    return bytes(80) + struct.pack("<I", len(mesh.triangles)) + rows


def ball(rings, radius=1.0):
    """A sphere of many triangles."""
    u, v = np.meshgrid(np.linspace(0, np.pi, rings), np.linspace(0, 2 * np.pi, 2 * rings))
    points = np.stack([np.sin(u) * np.cos(v), np.sin(u) * np.sin(v), np.cos(u)], axis=-1)
    k = np.arange(u.size).reshape(u.shape)
    a, b, c, d = (x.ravel() for x in (k[:-1, :-1], k[1:, :-1], k[1:, 1:], k[:-1, 1:]))
    triangles = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    return meshes.Mesh(radius * points.reshape(-1, 3), triangles)


# The page -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["two_link", "stanford", "xarm7"])
def test_a_page_is_small_whole_and_alone(name):
    page = armdyn.load(name).view()
    assert len(page.text) < 1_200_000 < assembly.LIMIT
    assert page.text.isascii() and "{{" not in page.text.partition("<script>")[0]
    for tag, attributes in Reader(page.text).tags:
        assert "style" not in attributes  # which the policy forbids
        for key in ("src", "href", "action", "srcset", "data"):
            assert attributes.get(key, "data:").startswith("data:"), (tag, attributes)
        assert not [key for key in attributes if key.startswith("on")]
    assert not re.search(r"@import|url\(|importScripts|fetch\(|XMLHttpRequest\(", own_text())


def own_text():
    return assembly._modules() + assembly._asset("page.css")


def test_the_policy_names_the_scripts_of_the_page_and_nothing_else():
    reader = Reader(armdyn.load("two_link").view().text)
    metas = [a for tag, a in reader.tags if tag == "meta" and "http-equiv" in a]
    assert [meta["http-equiv"] for meta in metas] == ["Content-Security-Policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in metas[0]["content"].split(";"))
    texts = {"script-src": [], "style-src": [text for _, text in reader.named("style")]}
    scripts = reader.named("script")
    texts["script-src"] = [text for a, text in scripts if a.get("type") != "application/json"]
    assert len(scripts) == 4 and len(texts["script-src"]) == 3
    for rule, found in texts.items():
        hashes = (base64.b64encode(hashlib.sha256(x.encode()).digest()).decode() for x in found)
        assert rules[rule].split() == [f"'sha256-{x}'" for x in hashes]
    assert rules["default-src"] == "'none'" and rules["base-uri"] == "'none'"
    assert not re.search("unsafe|http", metas[0]["content"])


def test_names_are_data_and_never_markup():
    chain = armdyn.load("two_link").chain
    joints = tuple(replace(joint, name=f"{HOSTILE}{i}") for i, joint in enumerate(chain.joints))
    hostile = armdyn.Robot(replace(chain, name=HOSTILE, joints=joints))
    page, plain = hostile.view(), armdyn.load("two_link").view()
    assert page.text.isascii()
    tags = [tag for tag, _ in Reader(page.text).tags]
    assert tags == [tag for tag, _ in Reader(plain.text).tags]
    assert arm_of(page)["name"] == HOSTILE
    assert arm_of(page)["joints"][1]["name"] == f"{HOSTILE}1"


def test_the_modules_make_one_script():
    """Names at their top level differ, and what a module imports stands before it."""
    names, seen = [], set()
    for name in assembly.MODULES:
        text = assembly._asset(f"{name}.js")
        for imported in re.findall(r'from "\./(\w+)\.js"', text):
            assert imported in {*seen, "three"}, f"{name} imports {imported}"
        seen.add(name)
        names += re.findall(
            r"^(?:export )?(?:async )?(?:function|class|const|let) (\w+)", text, re.M
        )
        assert len(text.splitlines()) < 450
    assert len(names) == len(set(names))
    assert "import " not in assembly._modules() and "export " not in assembly._modules()


def test_a_methods_name_reaches_the_page_as_a_string(monkeypatch):
    from armdyn.algorithms import catalogue
    from armdyn.view.programs import programs

    chain = armdyn.load("two_link").chain
    methods = catalogue.methods("bias")
    renamed = (replace(methods[0], name='"]: alert(1), ["</script>'), *methods[1:])
    monkeypatch.setitem(catalogue.CATALOGUE, "bias", renamed)
    script = programs(chain).script
    assert "</script>" not in script and '["\\"]: alert(1), [' in script


def test_an_arm_too_large_for_a_page_is_refused(monkeypatch):
    monkeypatch.setattr(assembly, "LIMIT", 600_000)
    with pytest.raises(ArmdynError, match="the page of 'two_link' would have .* bytes"):
        armdyn.load("two_link").view()


def test_formulations_beyond_the_room_are_named_only(monkeypatch):
    from armdyn.view import programs

    monkeypatch.setattr(programs, "ROOM", 30_000)
    arm = arm_of(armdyn.load("stanford").view())
    for rows in arm["methods"].values():
        assert [row["here"] for row in rows if row["chosen"]] == [True]
        assert [row["operations"] for row in rows] == sorted(row["operations"] for row in rows)
    assert not all(row["here"] for row in arm["methods"]["mass_matrix"])


def test_formulations_of_endless_length_are_not_tried(monkeypatch):
    from armdyn.algorithms import catalogue
    from armdyn.view import programs

    chain = armdyn.load("two_link").chain
    counts = {"kic": programs.LONGEST + 1, "crba": programs.LONGEST}
    known = lambda quantity, name, n: counts.get(name)  # noqa: E731
    monkeypatch.setattr(catalogue, "operations", known)
    names = [row["name"] for row in programs.programs(chain).methods["mass_matrix"]]
    assert "kic" not in names and {"crba", "lin1991"} <= {*names}


def test_a_page_is_saved_and_opened(tmp_path, monkeypatch):
    page = Page("title", "text")
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or True)
    assert page.open(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text() == "text"
    assert opened == [(tmp_path / "a.html").resolve().as_uri()]
    with pytest.raises(ArmdynError, match="expected a name in .html"):
        page.save(tmp_path / "a.txt")


def test_a_notebook_shows_it_in_a_frame_of_its_own():
    page = armdyn.load("two_link").view()
    ((tag, attributes),) = Reader(page._repr_html_()).tags
    assert tag == "iframe" and attributes["srcdoc"] == page.text
    assert attributes["sandbox"] == "allow-scripts"


# The commands -------------------------------------------------------------------------------------


def test_the_command_writes_a_page_and_says_where(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("webbrowser.open", lambda url: pytest.fail("it opened a browser"))
    path = tmp_path / "arm.html"
    assert cli.main(["view", "two_link", "--save", str(path), "--no-open"]) == 0
    assert capsys.readouterr().out.strip() == str(path)
    assert path.read_text().startswith("<!DOCTYPE html>")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert cli.main(["view", "two_link", "--no-open"]) == 0
    found = Path(capsys.readouterr().out.strip())
    assert found.name == "two_link.html" and found.is_relative_to(tmp_path) and found.exists()


def test_the_command_refuses_a_file_before_the_work(tmp_path, capsys):
    assert cli.main(["view", "two_link", "--save", str(tmp_path / "arm.png")]) == 2
    assert "expected a name in .html" in capsys.readouterr().err
    command = ["simulate", "two_link", "--time", "0.01", "--view", str(tmp_path / "no" / "a.html")]
    assert cli.main(command) == 2
    assert "there is no directory" in capsys.readouterr().err


def test_a_simulated_motion_is_on_its_page(tmp_path):
    path = tmp_path / "run.html"
    command = ["simulate", "two_link", "--time", "2", "--dt", "1e-3", "--view", str(path)]
    assert cli.main(command) == 0
    motion = arm_of(Page("", path.read_text()))["motion"]
    times = np.frombuffer(base64.b64decode(motion["t"]), "<f4")
    q = np.frombuffer(base64.b64decode(motion["q"]), "<f4").reshape(len(times), 2)
    result = armdyn.simulate(armdyn.load("two_link"), [0, 0], [0, 0], None, 2.0, 1e-3)
    rows = np.rint(times * 1000).astype(int)
    assert 1000 < len(rows) <= 1500 and rows[0] == 0 and rows[-1] == 2000
    np.testing.assert_allclose(q, result.q[rows], rtol=1e-6, atol=1e-6)
    assert motion["summary"].startswith("two_link, 2000 steps")


def test_one_state_of_a_batch_is_played():
    q0 = np.array([[0.1, 0.2], [0.3, 0.4]])
    result = armdyn.simulate(armdyn.load("two_link"), q0, np.zeros(2), None, 0.05, 1e-2)
    for state in (0, 1):
        motion = arm_of(result.view(state))["motion"]
        q = np.frombuffer(base64.b64decode(motion["q"]), "<f4")
        np.testing.assert_allclose(q[:2], q0[state], rtol=1e-6)
    with pytest.raises(SimulationError, match="state is 2; expected one of 0 to 1"):
        result.view(2)


# The drawing --------------------------------------------------------------------------------------


def test_the_ellipsoid_of_a_solid_ellipsoid_is_itself():
    a, b, c, mass = 0.3, 0.2, 0.1, 5.0
    own = np.diag([b * b + c * c, a * a + c * c, a * a + b * b]) * mass / 5
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    found = ellipsoid(Inertia.from_com(mass, [0.1, -0.2, 0.3], turn @ own @ turn.T))
    axes = np.array(found["axes"]).reshape(3, 3)
    assert np.linalg.det(axes) == pytest.approx(1)
    shape = axes @ np.diag(np.square(found["radii"])) @ axes.T
    np.testing.assert_allclose(shape, turn @ np.diag([a * a, b * b, c * c]) @ turn.T, atol=1e-12)
    assert ellipsoid(Inertia()) is None


@pytest.mark.parametrize("name", armdyn.robots())
def test_paths_lead_from_joint_to_joint(name):
    """Whatever the positions, a link's path ends where the next joint is drawn."""
    chain = armdyn.load(name).chain
    drawn = drawing(chain)
    joints = drawn["joints"]
    for i, link in enumerate(drawn["links"][:-1]):
        row = chain.joints[i + 1]
        beta = row.beta
        z = np.array([0, -np.sin(beta), np.cos(beta)])
        place = np.array([row.b, 0, 0]) + (row.d + joints[i + 1]["node"]) * z
        np.testing.assert_allclose(link["path"][0], [0, 0, joints[i]["node"]], atol=1e-12)
        np.testing.assert_allclose(link["path"][-1], place, atol=1e-9)
    np.testing.assert_allclose(drawn["links"][-1]["path"][-1], chain.tip.translation, atol=1e-9)
    assert json.loads(json.dumps(drawn, allow_nan=False)) == drawn


# Meshes -------------------------------------------------------------------------------------------


def text_stl(mesh):
    facets = "".join(
        "facet normal 0 0 0\nouter loop\n"
        + "".join("vertex {:.6f} {:.6f} {:.6e}\n".format(*mesh.points[k]) for k in corners)
        + "endloop\nendfacet\n"
        for corners in mesh.triangles
    )
    return f"solid cube\n{facets}endsolid cube\n".encode()


def text_obj(mesh):
    points = "".join("v {} {} {}\n".format(*point) for point in mesh.points)
    quads = "f 1/1/1 2 4 3\nf -4 -2 -1 -3\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n"
    return f"# a cube\n{points}{quads}".encode()


def volume(mesh):
    a, b, c = (mesh.points[mesh.triangles[:, k]] for k in range(3))
    return float((a * np.cross(b, c)).sum() / 6)


@pytest.mark.parametrize(
    ("name", "write"), [("cube.stl", stl), ("cube.STL", text_stl), ("cube.obj", text_obj)]
)
def test_a_mesh_is_read(tmp_path, name, write):
    (tmp_path / name).write_bytes(write(cube(2.0)))
    mesh = meshes.read(tmp_path / name)
    assert mesh.points.shape == (8, 3) and mesh.triangles.shape == (12, 3)
    assert abs(volume(mesh)) == pytest.approx(8)


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("a.stl", b"", "no whole STL file"),
        ("a.stl", stl(cube())[:-1], "no whole STL file"),
        ("a.stl", b"solid nothing\nendsolid", "no triangle"),
        ("a.stl", b"solid a vertex 1 2 x", "no whole STL file"),
        ("a.obj", b"v 0 0 0\nf 1 2 3\n", "no whole OBJ file"),
        ("a.obj", b"v 0 0\nf 1 1 1\n", "no whole OBJ file"),
        ("a.obj", b"v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3", "a number that is none"),
        ("a.dae", b"<COLLADA/>", "is .dae that armdyn reads"),
    ],
)
def test_a_broken_mesh_is_an_error(tmp_path, name, data, problem):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ModelError, match=problem):
        meshes.read(tmp_path / name)


def test_a_simpler_mesh_keeps_its_shape():
    fine = meshes.welded(ball(120))
    coarse = meshes.simplified(fine, 3000)
    assert 500 < len(coarse.triangles) <= 3000 < len(fine.triangles)
    assert abs(volume(coarse)) == pytest.approx(4 / 3 * np.pi, rel=0.05)
    assert np.abs(np.linalg.norm(coarse.points, axis=1) - 1).max() < 0.1
    assert meshes.simplified(fine, 10**6) is fine and meshes.simplified(fine, 2) is None


def test_shares_are_fair():
    assert meshes.shares([10, 500, 1000], 3000) == [10, 500, 1000]
    assert meshes.shares([10, 500, 1000], 600) == [10, 295, 295]
    assert meshes.shares([], 5) == []


def test_a_mesh_comes_back_from_the_page():
    mesh = meshes.welded(ball(20, 0.3))
    data = meshes.as_data(mesh)
    steps = np.frombuffer(base64.b64decode(data["points"]), "<u2").reshape(-1, 3)
    points = np.array(data["low"]) + steps * data["step"]
    places = np.frombuffer(base64.b64decode(data["triangles"]), "<u2").reshape(-1, 3)
    np.testing.assert_allclose(points[places], mesh.points[mesh.triangles], atol=1e-5)


# Visuals of a URDF --------------------------------------------------------------------------------

URDF = """<robot name="arm">
  <material name="teal"><color rgba="0 0.5 0.5 1"/></material>
  <link name="foot">
    <visual><geometry><cylinder radius="0.1" length="0.05"/></geometry></visual>
  </link>
  <link name="arm">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual>
      <origin xyz="0 0 0.2" rpy="0 1.5707963267948966 0"/>
      <geometry><mesh filename="FILE" scale="0.1 0.1 0.2"/></geometry><material name="teal"/>
    </visual>
    <visual><geometry><box size="0.1 0.2 0.3"/></geometry></visual>
  </link>
  <joint name="hinge" type="continuous">
    <parent link="foot"/><child link="arm"/><origin xyz="0 0 0.3"/><axis xyz="0 1 0"/>
  </joint>
</robot>
"""


def loaded(folder, file, sub=""):
    """An arm from a file in a folder, whose mesh has that name."""
    path = folder / sub / "arm.urdf"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(URDF.replace("FILE", file))
    return armdyn.load(path)


def test_the_visuals_stand_where_the_description_puts_them(tmp_path):
    (tmp_path / "cube.stl").write_bytes(stl(cube()))
    robot = loaded(tmp_path, "cube.stl")
    looks = visuals(robot.chain)
    assert looks.notes == [] and looks.bare == []
    foot, mesh, box = looks.shapes
    assert (foot["link"], foot["kind"], foot["size"]) == (-1, "cylinder", [0.1, 0.05])
    assert (mesh["link"], mesh["kind"], mesh["colour"]) == (0, "mesh", [0, 0.5, 0.5, 1])
    assert (box["kind"], box["size"], box["colour"]) == ("box", [0.1, 0.2, 0.3], None)
    link, pose = robot.chain.find_frame("arm")
    origin = np.array([[0, 0, 1, 0], [0, 1, 0, 0], [-1, 0, 0, 0.2], [0, 0, 0, 1]])
    np.testing.assert_allclose(np.reshape(mesh["place"], (4, 4)), pose.matrix @ origin, atol=1e-15)
    sides = np.array(mesh["step"]) * 65535
    np.testing.assert_allclose(sides, [0.1, 0.1, 0.2])
    assert len(arm_of(robot.view())["shapes"]) == 3


@pytest.mark.parametrize("file", ["package://arm/meshes/cube.stl", "../meshes/cube.stl"])
def test_meshes_of_a_package_are_found(tmp_path, file):
    package = tmp_path / "arm"
    (package / "meshes").mkdir(parents=True)
    (package / "meshes" / "cube.stl").write_bytes(stl(cube()))
    assert len(visuals(loaded(package, file, "urdf").chain).shapes) == 3
    beside = tmp_path / "looks"
    (beside / "meshes").mkdir(parents=True)
    (beside / "meshes" / "other.stl").write_bytes(stl(cube()))
    robot = loaded(package, "package://looks/meshes/other.stl", "urdf")
    assert len(visuals(robot.chain).shapes) == 1  # a folder, but no package
    (beside / "package.xml").write_text("<package/>")
    assert len(visuals(robot.chain).shapes) == 3


@pytest.fixture
def secret(tmp_path):
    """A mesh that lies outside the arm's folder, and a link that leads there."""
    path = tmp_path / "secret" / "cube.stl"
    path.parent.mkdir()
    path.write_bytes(stl(cube()))
    folder = tmp_path / "home" / "arm"
    folder.mkdir(parents=True)
    (folder / "link.stl").symlink_to(path)
    return folder, path


@pytest.mark.parametrize(
    "file",
    [
        "../../secret/cube.stl",
        "{path}",
        "file://{path}",
        "file:///..{path}",
        "package://../../secret/cube.stl",
        "package://arm/../../../secret/cube.stl",
        "package://../secret/cube.stl",
        "package:///{path}",
        "link.stl",
    ],
)
def test_no_mesh_is_read_outside_the_arms_folders(secret, file):
    folder, path = secret
    looks = visuals(loaded(folder, file.format(path=path)).chain)
    (note,) = looks.notes
    assert "'arm' is drawn as a capsule: mesh" in note
    assert "outside the arm's folders" in note or "is not there" in note
    assert looks.bare == [0] and [shape["link"] for shape in looks.shapes] == [-1]


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        ("http://example.org/cube.stl", "is in no file"),
        ("cube.dae", "that armdyn reads"),
        ("gone.stl", "is not there"),
        (".", "is not there"),
        ("/dev/zero", "outside the arm's folders"),
    ],
)
def test_a_mesh_that_cannot_be_had_becomes_a_capsule(tmp_path, file, problem):
    (tmp_path / "cube.dae").write_text("<COLLADA/>")
    page = loaded(tmp_path, file).view()
    assert len(page.notes) == 1 and problem in page.notes[0]
    assert page.notes[0] in arm_of(page)["notes"] and arm_of(page)["bare"] == [0]


def test_large_meshes_are_simplified_and_said_so(tmp_path, monkeypatch):
    (tmp_path / "ball.stl").write_bytes(stl(ball(60)))
    monkeypatch.setattr(meshes.shares, "__defaults__", (2000,))
    looks = visuals(loaded(tmp_path, "ball.stl").chain)
    assert re.search(r"mesh simplified from \d+ to \d+ triangles", looks.notes[0])
    assert len(looks.shapes) == 3
    monkeypatch.setattr(meshes.shares, "__defaults__", (3,))
    looks = visuals(loaded(tmp_path, "ball.stl").chain)
    assert "does not fit" in looks.notes[0] and looks.bare == [0]


def test_an_arm_from_no_file_has_no_pictures(tmp_path):
    assert visuals(Chain.random(3)) == ([], [], [])
    robot = loaded(tmp_path, "cube.stl")
    (tmp_path / "arm.urdf").unlink()
    looks = visuals(robot.chain)
    assert looks.shapes == [] and "cannot be read again" in looks.notes[0]


def test_a_file_name_that_is_none_is_refused(tmp_path):
    with pytest.raises(ModelError, match="is no name of a file"):
        Folders(tmp_path / "arm.urdf").find("a\0b")
