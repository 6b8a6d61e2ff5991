"""Meshes for the page: read from STL or OBJ, and simplified until they fit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from armdyn.errors import ModelError, cut
from armdyn.view.packing import packed

MAX_BYTES = 64_000_000  # of a file
TRIANGLES = 45_000  # on a page, in all
FINEST, COARSEST = 1024, 4  # cells along a mesh's longest side
STEPS = 65535  # of a coordinate


class Mesh(NamedTuple):
    """Triangles: points (p, 3) [m], and the places of three points each (t, 3)."""

    points: np.ndarray
    triangles: np.ndarray


def read(path: Path) -> Mesh:
    """The mesh in an STL or OBJ file."""
    readers = {".stl": _stl, ".obj": _obj}
    name, suffix = cut(path.name), path.suffix.lower()
    if suffix not in readers:
        kind = f"a {cut(suffix)} file" if suffix else "a file without a suffix"
        raise ModelError(f"mesh is {kind}, which armdyn does not read; STL and OBJ files are read")
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ModelError(f"mesh {name} cannot be read: {error.strerror}") from None
    if len(data) > MAX_BYTES:
        raise ModelError(f"mesh {name} has more than {MAX_BYTES} bytes")
    try:
        mesh = readers[suffix](data)
    except (ValueError, IndexError, OverflowError):
        raise ModelError(f"mesh {name} is no whole {suffix[1:].upper()} file") from None
    if not len(mesh.triangles) or not np.isfinite(mesh.points).all():
        raise ModelError(f"mesh {name} has no triangle, or a number that is none")
    return welded(mesh)


def _stl(data: bytes) -> Mesh:
    """Binary, which says in bytes 80 to 84 how many triangles there are, or text."""
    count = int.from_bytes(data[80:84], "little")
    if len(data) == 84 + 50 * count:
        rows = np.frombuffer(data, np.uint8, offset=84).reshape(count, 50)
        points = rows[:, 12:48].copy().view("<f4").astype(float)  # after the normal
    else:
        if not data.lstrip().startswith(b"solid"):
            raise ValueError
        words = re.findall(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)", data)
        points = np.array(words, dtype="S32").astype(float)
    corners = points.reshape(-1, 3)
    return Mesh(corners, np.arange(len(corners)).reshape(-1, 3))


def _obj(data: bytes) -> Mesh:
    """The vertices and faces; a face of more than three corners is a fan of triangles."""
    points: list[list[float]] = []
    triangles: list[tuple[int, int, int]] = []
    for line in data.split(b"\n"):
        words = line.split()
        if words[:1] == [b"v"]:
            points.append([float(word) for word in words[1:4]])
        elif words[:1] == [b"f"]:
            corners = [int(word.split(b"/")[0]) for word in words[1:]]
            places = [k - 1 if k > 0 else len(points) + k for k in corners]
            triangles += zip([places[0]] * (len(places) - 2), places[1:], places[2:], strict=False)
    mesh = Mesh(np.array(points).reshape(-1, 3), np.array(triangles, dtype=int).reshape(-1, 3))
    if len(mesh.triangles) and not 0 <= mesh.triangles.min() <= mesh.triangles.max() < len(points):
        raise ValueError
    return mesh


# Simpler meshes ----------------------------------------------------------------------------------


def welded(mesh: Mesh) -> Mesh:
    """The same triangles on points that are listed once, without triangles that are lines."""
    first, places = _distinct(mesh.points)
    return Mesh(mesh.points[first], _proper(places[mesh.triangles]))


def _distinct(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each row stands first, and which of these every row is."""
    order = np.lexsort(rows.T)
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (rows[order[1:]] != rows[order[:-1]]).any(axis=1)
    places = np.empty(len(rows), dtype=int)
    places[order] = np.cumsum(new) - 1
    return order[new], places


def clustered(mesh: Mesh, cells: int) -> Mesh:
    """A mesh with one point, their mean, for all points in a cell of a grid.

    ``cells`` is how many there are along the longest side.
    """
    low = mesh.points.min(axis=0)
    size = float(np.ptp(mesh.points, axis=0).max()) or 1.0
    cell = np.minimum((mesh.points - low) * (cells / size), cells - 1).astype(np.int64)
    keys = (cell[:, 0] * cells + cell[:, 1]) * cells + cell[:, 2]
    _, places, count = np.unique(keys, return_inverse=True, return_counts=True)
    sums = [np.bincount(places, column) for column in mesh.points.T]
    return Mesh(np.stack(sums, axis=1) / count[:, None], _proper(places[mesh.triangles]))


def simplified(mesh: Mesh, most: int) -> Mesh | None:
    """The mesh itself, or the finest clustering of it with at most so many triangles."""
    if len(mesh.triangles) <= most:
        return mesh
    cells = min(FINEST, int(3 * most**0.5))  # a finer grid has more triangles on any surface
    while cells >= COARSEST:
        coarse = clustered(mesh, cells)
        if 0 < len(coarse.triangles) <= most:
            return coarse
        cells = int(cells * 0.8)
    return None


def shares(counts: Sequence[int], total: int = TRIANGLES) -> list[int]:
    """How many triangles each mesh may keep: a small one all, the others equally many."""
    left, order = total, sorted(range(len(counts)), key=lambda k: counts[k])
    found = [0] * len(counts)
    for place, k in enumerate(order):
        found[k] = min(counts[k], left // (len(counts) - place))
        left -= found[k]
    return found


def _proper(triangles: np.ndarray) -> np.ndarray:
    """Triangles whose corners differ, each once."""
    a, b, c = triangles.T
    kept = triangles[(a != b) & (b != c) & (c != a)]
    if not len(kept):
        return kept.reshape(0, 3)
    return kept[np.sort(_distinct(np.sort(kept, axis=1))[0])]


def as_data(mesh: Mesh) -> dict[str, Any]:
    """A mesh as the page unpacks it: points in steps of its box, 65535 along each side."""
    used, places = np.unique(mesh.triangles, return_inverse=True)
    points = mesh.points[used]
    low = points.min(axis=0)
    step = np.ptp(points, axis=0) / STEPS
    steps = np.divide(points - low, step, out=np.zeros_like(points), where=step > 0)
    wide = len(points) > 65536
    return {
        "low": low.tolist(),
        "step": step.tolist(),
        "points": packed(steps.round(), "<u2"),
        "triangles": packed(places.reshape(-1), "<u4" if wide else "<u2"),
        "wide": wide,
    }
