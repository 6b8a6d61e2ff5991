"""An arm's dynamics as source that others can keep: ``WRITERS`` by language, and ``write``.

A writer makes all files of one language as texts: functions of what was ``asked`` for, with the
same comments in each language, and a self-test.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from armdyn.errors import ExportError
from armdyn.export.asked import DEFAULT as DEFAULT
from armdyn.export.asked import DTYPES as DTYPES
from armdyn.export.asked import result_names as result_names
from armdyn.export.c import c_files
from armdyn.export.comments import MARK
from armdyn.export.comments import comment as comment
from armdyn.export.comments import identifier as identifier
from armdyn.export.javascript import js_files
from armdyn.output.files import unfinished

WRITERS: Mapping[str, Callable[..., dict[str, str]]] = {  # by language
    "c": c_files,
    "js": js_files,
}


def write(files: Mapping[str, str], directory: Path, *, force: bool = False) -> list[Path]:
    """Write files into a directory, made if it is not there; where each of them is then.

    A file appears whole or not at all. One that is there already is replaced if armdyn wrote it.

    Args:
        files: texts by name.
        directory: where they go.
        force: replace files that armdyn did not write, too.

    Raises:
        ExportError: if a file is in the way, or the directory cannot be written.
    """
    if directory.exists() and not directory.is_dir():
        raise ExportError(f"{directory} is not a directory")
    targets = [directory / name for name in files]
    try:
        for target in targets:
            _check_replaceable(target, force)
        directory.mkdir(parents=True, exist_ok=True)
        with unfinished(directory) as folder:
            for name, text in files.items():
                (folder / name).write_text(text, encoding="ascii", newline="\n")
    except OSError as error:
        raise ExportError(f"cannot write to {directory}: {error.strerror}") from None
    return targets


def _check_replaceable(target: Path, force: bool) -> None:
    if target.is_dir():
        raise ExportError(f"{target} is a directory; a file of this name is to be written")
    if force or not os.path.lexists(target):
        return
    try:
        with target.open("rb") as file:
            ours = file.read(len(MARK)) == MARK.encode()
    except OSError:
        ours = False
    if not ours:
        raise ExportError(f"{target} was not written by armdyn; move it away, or use --force")
