"""Writes docs/papers.md, the papers' tables beside our counts: ``python docs/make_papers.py``.

The page keeps its old text until the new one is whole: counting takes some seconds, and a shell
that sends the output of ``armdyn tables --markdown`` to a file empties that file first.
"""

from __future__ import annotations

from pathlib import Path

from armdyn.cli.tables import made
from armdyn.output import files
from armdyn.papers import PAPERS, rendering

PAGE = Path(__file__).parent / "papers.md"


def write(page: Path = PAGE) -> None:
    """Count everything, then write the page."""
    text = rendering.markdown(made(list(PAPERS)))
    with files.written(page) as place:
        place.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
