"""The readings of the papers: one entry per distinct finding, from ``readings.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("readings.toml")
KINDS = {  # the only verdicts
    "read as": "our copy has X, Y holds; the copy may be at fault",
    "slip": "the same error in two places, or a contradiction with the paper's own numbers",
    "holds to": "true in the stated range, and not beyond",
    "other rule": "two rules of counting; both counts are given",
    "does not hold": "a counter-example is given",
    "not in our copy": "lost or illegible in the copy, and rebuilt",
    "not described": "the paper prints a number and not what it is made of",
    "not seen": "a statement about a third work, which is repeated and not endorsed",
}


@dataclass(frozen=True)
class Reading:
    """One finding about a paper.

    Attributes:
        id: a short name, unique among all entries.
        paper: its key in docs/references.bib.
        place: where it stands in the paper: "eq. (40)", "Table II, line 3".
        kind: one of KINDS; "holds to n = 14" names its range.
        our_copy: the text of our copy, word for word; "" where the copy has nothing.
        reading: what holds.
        evidence: how we know; for a slip, what rules out damage of the copy.
        test: the test that shows it, "test_kang.py::test_total".
        places: for a slip, further passages of our copy with the same error, word for word.
        contradicts: for a slip, passages of our copy that contradict it, word for word.
        consequences: other places that follow from this one.
    """

    id: str
    paper: str
    place: str
    kind: str
    our_copy: str
    reading: str
    evidence: str
    test: str
    places: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    consequences: tuple[str, ...] = ()


def readings() -> list[Reading]:
    """All entries, in the order of the file, where ``[kang.p4]`` is kang-p4."""
    papers = tomllib.loads(FILE.read_text(encoding="utf-8"))
    lists = ("places", "contradicts", "consequences")
    return [
        Reading(f"{paper}-{name}", paper, **each | {key: tuple(each.get(key, ())) for key in lists})
        for paper, entries in papers.items()
        for name, each in entries.items()
    ]
