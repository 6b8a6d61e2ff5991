"""Files that were asked for: refused before the work if they cannot be, else written whole."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from armdyn.errors import ArmdynError


@contextmanager
def unfinished(directory: Path) -> Iterator[Path]:
    """A directory to write in, whose files move to ``directory`` once all of them are whole."""
    with tempfile.TemporaryDirectory(prefix=".armdyn-", dir=directory) as folder:
        yield Path(folder)
        for file in list(Path(folder).iterdir()):
            os.replace(file, directory / file.name)


@contextmanager
def written(path: str | Path) -> Iterator[Path]:
    """Where to write a file that gets its name, ``path``, once it is whole."""
    check_writable(path)
    target = Path(path).resolve()  # what a link leads to, so that the link stays
    try:
        with unfinished(target.parent) as folder:
            yield folder / target.name
    except OSError as error:
        raise ArmdynError(f"cannot write {str(path)!r}: {error.strerror or error}") from None


def check_writable(path: str | Path) -> None:
    """Refuse a file that could not be written where it was asked for."""
    target = Path(path).resolve()
    if not target.parent.is_dir():
        raise ArmdynError(
            f"cannot write {str(path)!r}: there is no directory {str(Path(path).parent)!r}"
        )
    if target.is_dir():
        raise ArmdynError(f"cannot write {str(path)!r}: it is a directory; expected a file's name")
    if not os.access(target.parent, os.W_OK):
        raise ArmdynError(
            f"cannot write {str(path)!r}: its directory {str(target.parent)!r} is not writable"
        )


def figure(width: float, height: float) -> Any:
    """An empty matplotlib figure of that size [inch]."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ArmdynError("plots need matplotlib: pip install 'armdyn[plot]'") from None
    return Figure(figsize=(width, height), layout="constrained")


def check_picture(path: str | Path) -> None:
    """Refuse what could not be drawn or written, before anything is computed for it."""
    known = figure(1, 1).canvas.get_supported_filetypes()
    if Path(path).suffix.removeprefix(".").lower() not in known:
        raise ArmdynError(
            f"cannot draw {str(path)!r}: its suffix must be one of {', '.join(known)}"
        )
    check_writable(path)


def save_picture(drawn: Any, path: str | Path) -> None:
    """Write a figure; the suffix chooses the format."""
    check_picture(path)
    try:
        with written(path) as place:
            drawn.savefig(place, dpi=160, format=Path(path).suffix.removeprefix(".").lower())
    except RuntimeError as error:  # a format's own tools are missing
        raise ArmdynError(f"cannot draw {str(path)!r}: {error}") from None
