"""Runs the walk-through of docs/identification.md on real logs, and writes what it prints.

Its blocks of ``py`` are run one after the other in a folder that holds the logs; what each prints
is written into the block of ``none`` behind it, and a ``figure`` that it leaves to the picture that
the page shows behind it.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from armdyn.output import files

PAGE = Path(__file__).parent / "identification.md"
LOGS = Path(__file__).parents[1] / "tests" / "data" / "kr300"
HEADING = "## A walk-through: "  # of the part of the page that is run
BLOCK = re.compile(
    r"^```py\n(.*?)^```\n(?:\n```none\n(.*?)^```\n)?(?:\n!\[[^]]*\]\((\S+)\)\n)?", re.M | re.S
)
DOTS = 65  # of a picture, an inch


def page(draw: bool = False) -> str:
    """The page with what its blocks print made anew; and its pictures too, if they shall be."""
    text = PAGE.read_text(encoding="utf-8")
    start = text.index(HEADING)
    names: dict[str, Any] = {"__name__": "docs"}
    with in_folder_of_logs():
        return text[:start] + BLOCK.sub(lambda block: made(block, names, draw), text[start:])


def made(block: re.Match[str], names: dict[str, Any], draw: bool) -> str:
    """A block with what it prints and draws now."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(block[1], f"block of {PAGE.name}", "exec"), names)
    figure = names.pop("figure", None)
    if draw and block[3]:
        with files.written(PAGE.parent / block[3]) as place:
            figure.savefig(place, dpi=DOTS, format="png")
    if block[2] is None:
        return block[0]
    a, b = (place - block.start() for place in block.span(2))
    return block[0][:a] + out.getvalue() + block[0][b:]


@contextlib.contextmanager
def in_folder_of_logs() -> Iterator[None]:
    """Works in a folder of its own, in which the logs are."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        for log in LOGS.glob("*.npz"):
            shutil.copy(log, folder)
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


if __name__ == "__main__":
    new = page(draw=True)
    with files.written(PAGE) as place:
        place.write_text(new, encoding="utf-8")
