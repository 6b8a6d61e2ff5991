"""The list of readings: its kinds, its evidence, and that our copies say what it quotes.

Set ARMDYN_PAPERS to a folder with the texts of the papers to compare the quotations.
"""

import ast
import os
import re
from pathlib import Path

import pytest

from papers import TITLES
from papers.readings import KINDS, readings

HERE = Path(__file__).parent
ALL = readings()
each = pytest.mark.parametrize("reading", ALL, ids=lambda reading: reading.id)


def kind_of(reading):
    """The kind without its range."""
    return "holds to" if reading.kind.startswith("holds to n = ") else reading.kind


@each
def test_an_entry_is_complete(reading):
    assert reading.paper in TITLES and kind_of(reading) in KINDS
    assert reading.reading and reading.evidence
    assert reading.our_copy or kind_of(reading) in ("not in our copy", "not described")


def test_every_finding_is_listed_once():
    names = [reading.id for reading in ALL]
    assert len(set(names)) == len(names)


@each
def test_a_slip_has_evidence_within_the_paper(reading):
    evidence = reading.places or reading.contradicts
    assert bool(evidence) == (kind_of(reading) == "slip")


@each
def test_the_test_of_an_entry_exists(reading):
    file, _, name = reading.test.partition("::")
    tree = ast.parse((HERE / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def words(text):
    return re.sub(r"\s+", " ", text)


@each
@pytest.mark.skipif("ARMDYN_PAPERS" not in os.environ, reason="ARMDYN_PAPERS names no folder")
def test_our_copy_says_what_is_quoted(reading):
    texts = [
        words(p.read_text(encoding="utf-8"))
        for p in Path(os.environ["ARMDYN_PAPERS"]).glob("*.txt")
    ]
    for quoted in filter(None, (reading.our_copy, *reading.places, *reading.contradicts)):
        assert sum(words(quoted) in text for text in texts) == 1, quoted
