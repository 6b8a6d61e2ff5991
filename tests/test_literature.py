"""The page of the literature: fresh, and no claim on it that its own rows do not bear out."""

import re

import pytest

from docs import make_literature
from docs.make_literature import figures, total


@pytest.fixture(scope="module")
def rows():
    return figures()


def test_the_page_is_fresh():
    page = make_literature.PAGE.read_text(encoding="utf-8")
    assert page == make_literature.markdown(), "run python docs/make_literature.py"


def test_figures_of_textbooks():
    """Of n joints: 412n-277 and 320n-201, 150n-48 and 131n-48."""
    published = {figure.who: figure.published for figure in figures()}
    assert published["Hollerbach 1980, 3 x 3 Lagrangian"] == (412 * 6 - 277, 320 * 6 - 201)
    assert published["Luh, Walker and Paul 1980"] == (150 * 6 - 48, 131 * 6 - 48)


def test_every_claim_of_fewest_holds_against_every_row_of_its_kind(rows):
    fewest, _ = make_literature.claims(rows)
    assert len(fewest) > 3
    for text in fewest:
        quantity, arm, kind, ours = re.fullmatch(
            r"(.*?), (generic \w+|Puma 560|Stanford), by (.*) \((\d+), next \d+\)", text
        ).groups()
        same = [f for f in rows if (f.quantity, f.arm, f.kind) == (quantity, arm, kind)]
        assert same and all(int(ours) < total(f.published) for f in same)
        assert all(f.ours()[1].cost == int(ours) for f in same)


def test_nothing_is_claimed_where_figures_are_missing(rows):
    fewest, _ = make_literature.claims(rows)
    assert not any("inverse dynamics" in text or "Puma" in text for text in fewest)


def test_every_figure_says_how_it_is_known(rows):
    known = ("its paper", "quoted, ", "abstract", "its text", "commonly quoted", "none looked up")
    for figure in rows:
        assert figure.known.startswith(known)
        assert (figure.published is None) == (figure.known == "none looked up")
