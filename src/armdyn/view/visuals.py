"""The pictures of a URDF: boxes, cylinders, spheres and meshes of the links that a chain has.

The chain does not keep them: they are read again from the file that it came from.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from armdyn.chain import Chain
from armdyn.chain.limits import LARGEST, MAX_BYTES
from armdyn.chain.parts import Frame
from armdyn.chain.pose import IDENTITY, Pose, rotation_rpy
from armdyn.errors import ModelError, shorten
from armdyn.loaders.markup import Element, parse
from armdyn.loaders.tree import quoted
from armdyn.view import meshes
from armdyn.view.folders import Folders

MOST = 2000  # shapes on a page
HEAVIEST = 4_000_000  # triangles that are read, in all
ONE = (1.0, 1.0, 1.0)
ORIGIN = (0.0, 0.0, 0.0)


class Visuals(NamedTuple):
    """The shapes to draw, each in the frame of its link; what could not be drawn, and of which.

    ``bare`` are the links (the base is -1) that have less than their description says.
    """

    shapes: list[dict[str, Any]]
    bare: list[int]
    notes: list[str]


class _Shape(NamedTuple):
    """A shape of a link that stands in a frame; the mesh, if it is one."""

    data: dict[str, Any]
    frame: Frame
    mesh: meshes.Mesh | None = None


def visuals(chain: Chain) -> Visuals:
    """What the file says about an arm's looks; nothing for an arm that is from no URDF file."""
    if chain.file is None:
        return Visuals([], [], [])
    path = Path(chain.file.path)
    try:
        with path.open("rb") as file:
            robot = parse(file.read(MAX_BYTES))
    except (OSError, ModelError):
        return Visuals([], [], [f"{shorten(path.name)} cannot be read again for its pictures"])
    reader = _Reader(Folders(path, dict(chain.file.packages)), _palette(robot), {})
    frames = {frame.name: frame for frame in reversed(chain.frames)}
    shapes: list[_Shape] = []
    bare, undrawn = set(), dict[str, list[str]]()  # the links of each problem
    for link in robot.named("link"):
        frame = frames.get(link.attributes.get("name", ""))
        if frame is None:  # inboard of the chain's base
            continue
        try:
            shapes += [reader.shape(visual, frame) for visual in link.named("visual")]
        except ModelError as error:
            shapes = [shape for shape in shapes if shape.frame is not frame]
            bare.add(frame.link)
            undrawn.setdefault(str(error), []).append(frame.name)
    notes = [
        f"{'links' if names[1:] else 'link'} {quoted(names)} "
        f"{'are drawn as capsules' if names[1:] else 'is drawn as a capsule'}: {problem}"
        for problem, names in undrawn.items()
    ]
    return _fitting(shapes, bare, notes)


def _fitting(shapes: list[_Shape], bare: set[int], notes: list[str]) -> Visuals:
    """The shapes as data, with meshes simplified until all of them fit."""
    if len(shapes) > MOST:
        return Visuals(
            [], [], [*notes, f"{len(shapes)} shapes are too many to draw; expected {MOST}"]
        )
    counts = [0 if shape.mesh is None else len(shape.mesh.triangles) for shape in shapes]
    found = []
    for shape, share, count in zip(shapes, meshes.shares(counts), counts, strict=True):
        if shape.mesh is None:
            found.append(shape)
            continue
        simple = meshes.simplified(shape.mesh, share)
        if simple is None:
            bare.add(shape.frame.link)
            notes.append(
                f"link {shorten(shape.frame.name)} is drawn as a capsule: its mesh of {count} "
                "triangles does not fit"
            )
            continue
        if len(simple.triangles) < count:
            notes.append(
                f"link {shorten(shape.frame.name)}: mesh simplified from {count} to "
                f"{len(simple.triangles)} triangles"
            )
        found.append(shape._replace(data=shape.data | meshes.as_data(simple)))
    return Visuals([shape.data for shape in found], sorted(bare), notes)


class _Reader(NamedTuple):
    """Reads <visual> elements.

    ``palette`` has the robot's named colours, ``known`` the meshes that were read already.
    """

    folders: Folders
    palette: dict[str, list[float]]
    known: dict[Path, meshes.Mesh]

    def shape(self, visual: Element, frame: Frame) -> _Shape:
        """A shape in the frame E_i of the link that carries it."""
        place = frame.pose @ _pose(visual.only("origin"))
        geometry = visual.needed("geometry")
        for kind in ("box", "cylinder", "capsule", "sphere", "mesh"):
            element = geometry.only(kind)
            if element is not None:
                break
        else:
            raise ModelError(f"{geometry.label} is no box, cylinder, capsule, sphere or mesh")
        data = {
            "link": frame.link,
            "kind": kind,
            "place": place.matrix.ravel().tolist(),
            "colour": self._colour(visual.only("material")),
        }
        if kind == "mesh":
            mesh = self._mesh(self.folders.find(element.text("filename")))
            scale = element.triple("scale", ONE, LARGEST)
            return _Shape(data, frame, mesh._replace(points=mesh.points * scale))
        return _Shape(data | {"size": list(_size(kind, element))}, frame)

    def _mesh(self, path: Path) -> meshes.Mesh:
        """The mesh in a file, which is read once."""
        if path not in self.known:
            mesh = meshes.read(path)
            if sum(len(x.triangles) for x in (mesh, *self.known.values())) > HEAVIEST:
                raise ModelError(f"the arm's meshes have more than {HEAVIEST} triangles")
            self.known[path] = mesh
        return self.known[path]

    def _colour(self, material: Element | None) -> list[float] | None:
        """Red, green, blue and opacity."""
        if material is None:
            return None
        own = _rgba(material)
        return own or self.palette.get(material.attributes.get("name", ""))


def _size(kind: str, element: Element) -> Iterator[float]:
    if kind == "box":
        yield from element.triple("size", None, LARGEST)
        return
    yield element.number("radius", None, LARGEST)
    if kind != "sphere":
        yield element.number("length", None, LARGEST)


def _palette(robot: Element) -> dict[str, list[float]]:
    """The colours of the materials that have names."""
    links = [visual for link in robot.named("link") for visual in link.named("visual")]
    named = [m for element in (robot, *links) for m in element.named("material")]
    colours = ((m.attributes.get("name", ""), _rgba(m)) for m in named)
    return {name: colour for name, colour in colours if colour}


def _rgba(material: Element) -> list[float] | None:
    """The colour of a material; None where it has none that can be read."""
    for colour in material.named("color"):
        try:
            numbers = [float(word) for word in colour.attributes.get("rgba", "").split()]
        except ValueError:
            continue
        if len(numbers) == 4 and all(0 <= x <= 1 for x in numbers):
            return numbers
    return None


def _pose(origin: Element | None) -> Pose:
    """An <origin>, as the loader reads it but for snapping."""
    if origin is None:
        return IDENTITY
    angles = origin.triple("rpy", ORIGIN, LARGEST)
    return Pose.of(rotation_rpy(*angles), origin.triple("xyz", ORIGIN, LARGEST))
