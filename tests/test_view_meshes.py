"""What a URDF looks like: its meshes, read and simplified, and which files are read for it."""

import base64
import re
import struct

import numpy as np
import pytest

import armdyn
from armdyn import Chain
from armdyn.errors import ModelError
from armdyn.view import meshes
from armdyn.view.folders import Folders
from armdyn.view.visuals import visuals
from tests.test_view import arm_of


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
        ("a.dae", b"<COLLADA/>", "mesh is a .dae file, which armdyn does not read; STL and"),
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
        ("cube.dae", "is a .dae file, which armdyn does not read"),
        ("cube", "is a file without a suffix, which"),
        ("gone.stl", "is not there"),
        ("file://[x", "is no name of a file"),
        ("x" * 5000, "is no name of a file"),
        (".", "is not there"),
        ("/dev/zero", "outside the arm's folders"),
    ],
)
def test_a_mesh_that_cannot_be_had_becomes_a_capsule(tmp_path, file, problem):
    for name in "cube.dae", "cube":
        (tmp_path / name).write_text("<COLLADA/>")
    page = loaded(tmp_path, file).view()
    assert len(page.notes) == 1 and problem in page.notes[0]
    assert page.notes[0] in arm_of(page)["notes"] and arm_of(page)["bare"] == [0]


def test_one_note_names_all_links_whose_meshes_are_of_a_kind_that_is_not_read(tmp_path):
    (tmp_path / "cube.dae").write_text("<COLLADA/>")
    visual = '<visual><geometry><mesh filename="cube.dae"/></geometry></visual>'
    text = armdyn.load("two_link").chain.to_urdf().replace("<inertial>", f"{visual}<inertial>")
    (tmp_path / "arm.urdf").write_text(text)
    assert visuals(armdyn.load(tmp_path / "arm.urdf").chain).notes == [
        "links 'upper_arm', 'forearm' are drawn as capsules: mesh is a .dae file, which armdyn "
        "does not read; STL and OBJ files are read"
    ]


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
