"""The papers: what their tables print, beside what we count; one module for each paper.

A paper's module holds the printed numbers as data, and ``TABLES``: functions that run the methods
on counting scalars and compare. None of our own counts is written down. ``claims`` has the
comparison and its verdicts, ``rendering`` the forms in which it is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from armdyn.errors import MethodError, unknown
from armdyn.papers import kang, lin1991, lin1999, safeea2018, zomaya1988
from armdyn.papers.claims import Grid, Table


@dataclass(frozen=True)
class Paper:
    """A paper, and its tables: each is counted when it is called."""

    citation: str
    tables: tuple[Callable[[], Table | Grid], ...]


PAPERS = {  # by their keys in docs/references.bib
    "lin1991": Paper(lin1991.CITATION, lin1991.TABLES),
    "lin1999": Paper(lin1999.CITATION, lin1999.TABLES),
    "kang": Paper(kang.CITATION, kang.TABLES),
    "safeea2018": Paper(safeea2018.CITATION, safeea2018.TABLES),
    "zomaya1988": Paper(zomaya1988.CITATION, zomaya1988.TABLES),
}


def find(key: str) -> Paper:
    """The paper of that key."""
    if key not in PAPERS:
        raise MethodError(unknown("paper", key, PAPERS))
    return PAPERS[key]
