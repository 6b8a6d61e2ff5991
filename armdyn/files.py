"""Files that were asked for: refused before the work if they cannot be, written after it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from armdyn.errors import ArmdynError


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
    check_directory(path)


def check_directory(path: str | Path) -> None:
    """Refuse a file in a directory that is not there."""
    if not os.path.isdir(Path(path).parent):
        raise ArmdynError(
            f"cannot write {str(path)!r}: there is no directory {str(Path(path).parent)!r}"
        )


def save_picture(drawn: Any, path: str | Path) -> None:
    """Write a figure; the suffix chooses the format."""
    check_picture(path)
    try:
        drawn.savefig(path, dpi=160)
    except (OSError, RuntimeError) as error:  # RuntimeError: a format's own tools are missing
        reason = getattr(error, "strerror", None) or error
        raise ArmdynError(f"cannot write {str(path)!r}: {reason}") from None
