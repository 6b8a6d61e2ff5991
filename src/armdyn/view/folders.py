"""Where an arm's mesh files may lie: in the folders of its description, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from armdyn.errors import ModelError, shorten
from armdyn.loaders.packages import MANIFEST, Given, Packages

SUBFOLDERS = ("urdf", "robots", "robot", "xacro")  # of a description, beside that of its meshes


class Folders:
    """The folders of a URDF: its own, its package's, and those of packages that it names."""

    def __init__(self, urdf: Path, given: Given | None = None) -> None:
        self.own = urdf.resolve().parent
        self.package = self._package()
        self.packages = Packages(self.own, given)

    def _package(self) -> Path:
        """The package that the file belongs to; the folder that holds its kind without one."""
        for folder in (self.own, *self.own.parents[:2]):
            if (folder / MANIFEST).is_file():
                return folder
        return self.own.parent if self.own.name in SUBFOLDERS else self.own

    def find(self, name: str) -> Path:
        """The file that a mesh's name stands for.

        Raises:
            ModelError: if there is none, or it lies outside the folders.
        """
        if "\0" in name:
            raise ModelError(f"mesh {shorten(name)} is no name of a file")
        outside = False
        try:
            for root, folder, rest in self._candidates(name):
                path = (folder / rest).resolve()  # what links lead to counts
                if not path.is_relative_to(root):
                    outside = True
                elif path.is_file():
                    return path
        except (OSError, RuntimeError, ValueError) as error:  # too long, links in a circle, ...
            if isinstance(error, ModelError):
                raise
            raise ModelError(f"mesh {shorten(name)} is no name of a file") from None
        why = "lies outside the arm's folders" if outside else "is not there"
        raise ModelError(f"mesh {shorten(name)} {why}")

    def _candidates(self, name: str) -> list[tuple[Path, Path, str]]:
        """Folders that must hold the file, those it is looked for from, and its name there."""
        scheme, separator, rest = name.partition("://")
        if not separator:
            return [(self.package, folder, name) for folder in (self.own, self.package)]
        if scheme == "file":
            return [(self.package, self.package, unquote(urlsplit(name).path))]
        if scheme not in ("package", "model"):
            raise ModelError(f"mesh {shorten(name)} is in no file; expected package:// or a path")
        package, _, inside = rest.partition("/")
        tried = [(self.package, inside), (self.own, rest), (self.own, inside)]
        if found := self.packages.find(package):
            tried.insert(0, (found.resolve(), inside))
        return [(folder, folder, file) for folder, file in tried]
