"""Packages of ROS, found by name as ``$(find NAME)`` and ``package://NAME/`` mean them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain, islice
from pathlib import Path

from armdyn.chain.limits import MAX_BYTES
from armdyn.errors import ModelError, shorten
from armdyn.forks import importing

SCHEME = "package://"
MANIFEST = "package.xml"
NAME = re.compile(r"[A-Za-z_][\w.-]*")
LEVELS = 8  # folders above a file, itself included, that are searched
MOST = 1000  # folders in a folder
Given = Mapping[str, str | os.PathLike[str]]


class Packages:
    """The packages that a file can name.

    They are, in this order: those given; the package that holds the file, and those above it;
    packages in the file's folder, or in a folder above it; those in the folders of
    ROS_PACKAGE_PATH; those installed below AMENT_PREFIX_PATH. Last comes a folder above the file
    that bears the name and has no manifest.
    """

    def __init__(self, start: Path, given: Given | None = None) -> None:
        self.above = [start.resolve(), *start.resolve().parents][:LEVELS]
        self.given = _checked({} if given is None else given)

    def find(self, name: str) -> Path | None:
        """The folder of a package, None if there is none."""
        if name in self.given:
            return self.given[name]
        if not NAME.fullmatch(name):
            return None
        if name in self._nearby:
            return self._nearby[name]
        for prefix in _paths("AMENT_PREFIX_PATH"):
            if _name(prefix / "share" / name):
                return prefix / "share" / name
        return next((folder for folder in self.above if folder.name == name), None)

    def file(self, address: str) -> Path:
        """The path of ``package://NAME/PATH``."""
        name, _, inside = address.removeprefix(SCHEME).partition("/")
        folder = self.find(name)
        if folder is None:
            raise ModelError(f"{shorten(address)}: {missing(name)}")
        return folder / inside

    @cached_property
    def _nearby(self) -> dict[str, Path]:
        """Packages above the file, in these folders, and in ROS_PACKAGE_PATH."""
        roots = list(_paths("ROS_PACKAGE_PATH"))
        inside = list(_all_inside(roots))
        folders = chain(self.above, _all_inside(self.above), roots, inside, _all_inside(inside))
        found: dict[str, Path] = {}
        for folder in folders:
            found.setdefault(_name(folder), folder)
        found.pop("", None)
        return found


def missing(name: str) -> str:
    """The message that there is no such package."""
    return (
        f"no package {shorten(name)} near the file, in ROS_PACKAGE_PATH or AMENT_PREFIX_PATH; "
        f"packages={{{shorten(name)}: '/its/folder'}} says where it is"
    )


def _checked(given: Given) -> dict[str, Path]:
    """The packages that a caller gives, as absolute paths."""
    if not isinstance(given, Mapping):
        raise ModelError(f"packages is a mapping from names to folders, not {shorten(given)}")
    found = {}
    for name, folder in given.items():
        try:
            path = Path(folder).resolve()
            there = path.is_dir()
        except (OSError, RuntimeError, TypeError, ValueError):
            there = False
        if not (isinstance(name, str) and there):
            raise ModelError(f"packages: {shorten(name)} is at {shorten(folder)}, no folder")
        found[name] = path
    return found


def _name(folder: Path) -> str:
    """The name of the package in a folder, the folder's own if it has none; empty: no package."""
    with importing:
        from xml.etree import ElementTree

    try:
        with (folder / MANIFEST).open("rb") as file:
            root = ElementTree.fromstring(file.read(MAX_BYTES // 100))
    except (OSError, ValueError, ElementTree.ParseError):
        return ""
    return (root.findtext("name") or folder.name).strip()


def _inside(folder: Path) -> list[Path]:
    """The folders in a folder, in the order of their names."""
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(entry) for entry in islice(entries, MOST) if entry.is_dir())
    except OSError:
        return []


def _all_inside(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from _inside(folder)


def _paths(variable: str) -> Iterator[Path]:
    return (Path(text) for text in os.environ.get(variable, "").split(os.pathsep) if text)
