"""The arms that ship with armdyn, and how any arm is loaded."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from armdyn.chain import Chain
from armdyn.chain.dh import EARTH, SNAP
from armdyn.chain.given import flag
from armdyn.chain.limits import MAX_BYTES
from armdyn.chain.parts import File, assign
from armdyn.errors import LONGEST, ModelError, cut, listed, meant, shorten
from armdyn.forks import importing
from armdyn.robot import Robot

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import ArrayLike

    from armdyn.loaders.packages import Packages

MODELS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "models")
SUFFIXES = (".toml", ".urdf")  # of arms that ship
XML = (".urdf", ".xacro", ".xml", ".mjcf")
TABLES = {".toml": "toml", ".csv": "dh_table"}  # what a file of armdyn's own says
OTHERS = {  # not read
    **{".sdf": "sdf", ".world": "sdf", ".srdf": "srdf", ".mjb": "mjb", ".gz": "gzip"},
    **{".usd": "usd", ".usda": "usd", ".usdc": "usd", ".usdz": "usd", ".zip": "zip"},
}
FILE = "a .urdf, .xacro, .xml, .mjcf, .toml or .csv file"


def robots() -> tuple[str, ...]:
    """The names of the arms that ship with armdyn."""
    return tuple(sorted(_shipped()))


def _shipped() -> dict[str, str]:
    """The kind of file that each shipped arm's is."""
    files = map(os.path.splitext, os.listdir(MODELS))
    return {name: suffix for name, suffix in files if suffix in SUFFIXES}


def load(
    source: str | bytes | os.PathLike[str],
    *,
    base: str | None = None,
    tip: str | None = None,
    lock: Mapping[str, float] | None = None,
    gravity: ArrayLike | None = None,
    snap: float | None = None,
    check: Literal["error", "warn"] = "error",
    xacro: Mapping[str, Any] | None = None,
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
    trusted: bool = True,
) -> Robot:
    """A robot from a shipped arm's name, a path, or XML: URDF, MJCF, xacro, TOML, a DH table.

    MJCF needs MuJoCo (``armdyn[mjcf]``), a .xacro file xacro (``armdyn[xacro]``). An arm none of
    whose links has mass has poses and Jacobians, and no dynamics.

    Args:
        source: what to load; the case of a shipped arm's name does not matter.
        base: the link of a URDF or MJCF to stand on, in place of its root.
        tip: the link of it at which the chain ends; it moves exactly the joints between.
        lock: positions [rad or m] of joints of it that do not move.
        gravity: acceleration of free fall (3,) [m/s^2] in the axes of the root link, or of a
            table's base; if not given, what a .toml file or MJCF says, else (0, 0, -9.81).
        snap: a constant angle within ``snap`` [rad] of a quarter turn becomes it; if not given,
            what a .toml file says, else 1e-9.
        check: "error" refuses an arm that could not exist, "warn" only logs it.
        xacro: arguments of the macros in a .xacro file.
        packages: folders of packages by name, for ``$(find NAME)`` and ``package://NAME/``, in
            place of those near the file, in ROS_PACKAGE_PATH and in AMENT_PREFIX_PATH.
        trusted: False reads the source in a child process, limited to 10 s and 1 GB.

    Raises:
        ModelError: if the source cannot be read, or describes no physical arm.
    """
    if not flag("trusted", trusted):
        with importing:
            from armdyn.loaders import untrusted

        asked: dict[str, Any] = {"base": base, "tip": tip, "lock": lock, "gravity": gravity}
        asked |= {"snap": snap, "check": check, "xacro": xacro, "packages": packages}
        return Robot(untrusted.load(source, asked))
    if isinstance(source, str) and source.startswith("package://"):
        source = _packages(packages).file(source)
    read = _read(source)
    if xacro is not None and read.kind != "xacro":
        raise ModelError(f"{read.label}xacro= gives arguments to a .xacro file; this is none")
    if read.kind in TABLES.values():
        locks = lock is not None and not (isinstance(lock, Mapping) and len(lock) == 0)
        if base is not None or tip is not None or locks:
            form = "TOML" if read.kind == "toml" else "a DH table"
            raise ModelError(
                f"{read.label}base=, tip= and lock= choose a chain of a URDF; this is {form}"
            )
        options: dict[str, Any] = {"gravity": gravity, "snap": snap}
    else:
        options = {"base": base, "tip": tip, "lock": lock, "snap": SNAP if snap is None else snap}
        options["gravity"] = EARTH if gravity is None and read.kind != "mjcf" else gravity
    if read.kind == "xacro":
        options |= {"arguments": xacro, "packages": packages}
    with importing:
        reader = import_module(f"armdyn.loaders.{read.kind}")  # with its parser
    try:
        chain: Chain = reader.load(read.text, name=read.name, check=check, **options)
    except ModelError as error:
        raise ModelError(read.label + str(error).removeprefix(read.label)) from None
    if read.kind == "urdf" and read.path:
        given = {} if packages is None else _packages(packages).given
        named = tuple((name, str(folder)) for name, folder in given.items())
        assign(chain, "file", File(read.path, float(options["snap"]), named))
    return Robot(chain)


def _packages(given: Mapping[str, str | os.PathLike[str]] | None) -> Packages:
    """The packages that can be named without a file."""
    with importing:
        from pathlib import Path

        from armdyn.loaders.packages import Packages

    return Packages(Path(), given)


class Source(NamedTuple):
    """What was read: a text, the name of its arm if it has one, and what messages call it."""

    text: str | bytes | Path  # of MJCF or xacro in a file, its path, for it may include others
    name: str | None = None
    kind: str = "urdf"  # of text: the module that reads it
    label: str = ""
    path: str = ""  # of the file, if the text stands in one


def _read(source: str | bytes | os.PathLike[str]) -> Source:
    if isinstance(source, bytes):
        return Source(source, kind=_kind(source))
    if not isinstance(source, str | os.PathLike):
        raise ModelError(
            f"load takes a robot's name, a path to {FILE}, or XML, not {shorten(source)}"
        )
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
        return Source(source, kind=_kind(source))
    name = source.lower() if isinstance(source, str) else ""
    if name in (shipped := _shipped()):
        place = os.path.join(MODELS, name + shipped[name])
        with open(place, "rb") as file:
            return Source(file.read(), name, shipped[name][1:], f"{name}: ", place)
    with importing:
        from pathlib import Path

    try:
        path = Path(source)
        if source and os.path.isdir(path):  # which a name that no file can have is not
            raise ModelError(f"{_shown(path)} is a directory; expected {FILE} in it")
        if path.suffix.lower() not in (*TABLES, *XML):
            raise ModelError(_unknown(source, path))
        return _read_file(path)
    except OSError as error:
        raise ModelError(f"cannot read {_shown(Path(source))}: {error.strerror}") from None
    except ModelError:
        raise
    except (ValueError, TypeError) as error:  # a name that no file can have
        raise ModelError(f"cannot read {shorten(source)}: {error}") from None


def _read_file(path: Path) -> Source:
    with importing:
        from armdyn.loaders.markup import check_size

    with path.open("rb") as file:
        text = file.read(MAX_BYTES + 1)
        check_size(max(len(text), os.fstat(file.fileno()).st_size), _shown(path))
    if not text.strip():
        raise ModelError(f"{_shown(path)} is empty; expected an arm in URDF, MJCF or TOML")
    label, suffix = f"{cut(path.name)}: ", path.suffix.lower()
    if suffix in TABLES:
        return Source(text, path.stem, TABLES[suffix], label)
    if suffix == ".xacro":
        return Source(path, path.stem.partition(".")[0], "xacro", label)
    kind = "mjcf" if suffix == ".mjcf" else _kind(text)
    if kind == "mjcf":
        return Source(path, path.stem, kind, label)
    return Source(text, path.stem, kind, label, os.path.abspath(path))


def _kind(text: str | bytes) -> str:
    """Which module reads an XML text, by its first element."""
    with importing:
        from armdyn.loaders.markup import root_tag

    return "mjcf" if root_tag(text.lstrip()) in ("mujoco", "mujocoinclude") else "urdf"


def _shown(path: Path) -> str:
    """A path as messages show it: its end is what tells files apart."""
    text = str(path)
    return text if len(text) <= LONGEST else f"... {text[4 - LONGEST :]}"


def _unknown(source: str | os.PathLike[str], path: Path) -> str:
    """Why a source that names no shipped arm cannot be read, and what to do."""
    with importing:
        from armdyn.loaders.markup import FOREIGN

    if path.suffix.lower() in OTHERS:
        return f"{_shown(path)} is {FOREIGN[OTHERS[path.suffix.lower()]]}"
    if not isinstance(source, str):
        hint = f"; load({str(path)!r}) is the shipped arm" if str(path) in robots() else ""
        return f"{shorten(str(path))} is no path to {FILE}{hint}"
    return (
        f"no robot named {shorten(source)}; {meant(source, robots())}expected a path to {FILE}, "
        f"or one of: {listed(robots())}"
    )
