"""Files that were asked for: refused before the work if they cannot be, else written whole."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from armdyn.errors import ArmdynError, listed, shorten
from armdyn.forks import importing

FORMULA = ("=", "+", "-", "@", "'")  # a spreadsheet computes a cell that begins so; ' marks one


def marked(text: str) -> str:
    """Text for a cell of CSV, behind an apostrophe if a spreadsheet would compute it."""
    return f"'{text}" if text.startswith(FORMULA) else text


def unmarked(cell: str) -> str:
    """The text that ``marked`` made a cell of."""
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(FORMULA) else cell


@contextmanager
def unfinished(directory: Path) -> Iterator[Path]:
    """A directory to write in, whose files move to ``directory`` once all of them are whole."""
    with tempfile.TemporaryDirectory(prefix=".armdyn-", dir=directory) as folder:
        yield Path(folder)
        for file in list(Path(folder).iterdir()):
            os.replace(file, directory / file.name)


@contextmanager
def written(path: str | Path) -> Iterator[Path]:
    """Where to write a file that gets its name, ``path``, once it is whole.

    What is there keeps its mode, and a link leads on to the new file; what is no file but takes
    bytes, such as a pipe, gets them as they come.
    """
    check_writable(path)
    target = Path(os.path.realpath(path))
    try:
        if os.path.exists(target) and not os.path.isfile(target):
            yield target
        else:
            with unfinished(target.parent) as folder:
                yield folder / target.name
                if os.path.exists(target):
                    shutil.copymode(target, folder / target.name)
    except OSError as error:
        raise ArmdynError(f"cannot write {_quoted(path)}: {error.strerror or error}") from None


def check_name(path: str | Path) -> None:
    """Refuse what nothing can be called: a NUL in it, or more letters than the system takes."""
    if "\0" in os.fspath(path):
        raise ArmdynError(f"cannot write {_quoted(path)}: embedded null character")
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ArmdynError(f"cannot write {_quoted(path)}: {reason}") from None


def check_writable(path: str | Path) -> None:
    """Refuse a file that could not be written where it was asked for."""
    check_name(path)
    target = os.path.realpath(path)
    folder = os.path.dirname(target if os.path.islink(path) else path) or "."
    if not os.path.isdir(folder):
        raise ArmdynError(f"cannot write {_quoted(path)}: there is no directory {_quoted(folder)}")
    if os.path.isdir(target):
        raise ArmdynError(
            f"cannot write {_quoted(path)}: it is a directory; expected a file's name"
        )
    if os.path.exists(target) and not os.access(target, os.W_OK):
        raise ArmdynError(f"cannot write {_quoted(path)}: it is not writable")
    if not os.access(os.path.dirname(target), os.W_OK | os.X_OK):
        raise ArmdynError(
            f"cannot write {_quoted(path)}: directory {_quoted(folder)} is not writable"
        )


def figure(width: float, height: float) -> Any:
    """An empty matplotlib figure of that size [inch], which notebooks show."""
    try:
        with importing:
            from matplotlib.figure import Figure
    except ImportError:
        raise ArmdynError("plots need matplotlib: pip install 'armdyn[plot]'") from None

    class Shown(Figure):  # in a notebook, whatever matplotlib's back end is
        def _repr_png_(self) -> bytes:
            page = io.BytesIO()
            self.savefig(page, format="png")
            return page.getvalue()

    return Shown(figsize=(width, height), layout="constrained")


def check_picture(path: str | Path) -> None:
    """Refuse what could not be drawn or written, before anything is computed for it."""
    known = figure(1, 1).canvas.get_supported_filetypes()
    if Path(path).suffix.removeprefix(".").lower() not in known:
        raise ArmdynError(f"cannot draw {_quoted(path)}: its suffix must be one of {listed(known)}")
    check_writable(path)


def save_picture(drawn: Any, path: str | Path) -> None:
    """Write a figure; the suffix chooses the format."""
    check_picture(path)
    try:
        with written(path) as place:
            drawn.savefig(place, dpi=160, format=Path(path).suffix.removeprefix(".").lower())
    except RuntimeError as error:  # a format's own tools are missing
        raise ArmdynError(f"cannot draw {_quoted(path)}: {error}") from None


def _quoted(path: str | Path) -> str:
    return shorten(str(path))
