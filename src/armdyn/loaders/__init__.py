"""The arms that ship with armdyn, and how any arm is loaded."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from typing import Literal

from armdyn.chain import SNAP, Chain
from armdyn.errors import ModelError, shorten
from armdyn.robot import Robot

MODELS = resources.files("armdyn") / "models"
SUFFIXES = (".toml", ".urdf")


def robots() -> tuple[str, ...]:
    """The names of the arms that ship with armdyn."""
    names = (Path(entry.name) for entry in MODELS.iterdir())
    return tuple(sorted(name.stem for name in names if name.suffix in SUFFIXES))


def load(
    source: str | bytes | os.PathLike[str],
    *,
    base: str | None = None,
    tip: str | None = None,
    lock: Mapping[str, float] | None = None,
    gravity: Sequence[float] | None = None,
    snap: float | None = None,
    check: Literal["error", "warn"] = "error",
) -> Robot:
    """A robot from a shipped arm's name, a path to a .urdf or .toml file, or the XML of a URDF.

    Args:
        source: what to load.
        base: the link of a URDF to stand on, in place of its root.
        tip: the link of a URDF at which the chain ends; it moves exactly the joints between.
        lock: positions [rad or m] of joints of a URDF that do not move.
        gravity: acceleration of free fall in the base frame (3,) [m/s^2]; if not given,
            what a .toml file says, else (0, 0, -9.81).
        snap: a constant angle within ``snap`` [rad] of a quarter turn becomes it; if not given,
            what a .toml file says, else 1e-9.
        check: "error" refuses an arm that could not exist, "warn" only logs it.

    Raises:
        ModelError: if the source cannot be read, or describes no physical arm.
    """
    from armdyn.loaders import toml, urdf  # with their parsers, when first needed

    text, name, suffix = _read(source)
    chain: Chain
    if suffix == ".urdf":
        turns = SNAP if snap is None else snap
        chain = urdf.load(text, name=name, base=base, tip=tip, lock=lock, snap=turns, check=check)
    elif base is not None or tip is not None or lock:
        raise ModelError(f"base=, tip= and lock= choose a chain of a URDF; {name!r} is a .toml arm")
    else:
        chain = toml.load(text, name=name, snap=snap, check=check)
    return Robot(chain if gravity is None else chain.with_gravity(gravity))


def _read(source: str | bytes | os.PathLike[str]) -> tuple[str | bytes, str | None, str]:
    """(text, name of the arm if the source has one, kind of the text by suffix)."""
    from armdyn.loaders.markup import MAX_BYTES, check_size

    if isinstance(source, bytes):
        return source, None, ".urdf"
    if not isinstance(source, str | os.PathLike):
        raise ModelError(
            "load takes a robot's name, a path to a .urdf or .toml file, or XML, not "
            + shorten(source)
        )
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
        return source, None, ".urdf"
    if isinstance(source, str) and source in robots():
        (entry,) = (e for e in MODELS.iterdir() if Path(e.name).stem == source)
        return entry.read_bytes(), source, Path(entry.name).suffix
    path = Path(source)
    if path.suffix.lower() not in (*SUFFIXES, ".xml"):
        raise ModelError(_unknown(source))
    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES + 1)
            check_size(max(len(text), os.fstat(file.fileno()).st_size), str(path))
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"cannot read {shorten(str(path))}: {error}") from None
    return text, path.stem, ".toml" if path.suffix.lower() == ".toml" else ".urdf"


def _unknown(source: str | os.PathLike[str]) -> str:
    if not isinstance(source, str):
        name = os.fspath(source)
        hint = f"; load({name!r}) is the shipped arm" if name in robots() else ""
        return f"{name!r} is no path to a .urdf or .toml file{hint}"
    near = get_close_matches(source, robots(), 1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return (
        f"no robot named {source!r}; {hint}expected a path to a .urdf or .toml file, or one of: "
        + ", ".join(robots())
    )
