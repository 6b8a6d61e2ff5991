"""What the site is made of: formulas, pages of the arms, numbers, links."""

import json
import re

import pytest

import armdyn
from tests.test_docs import BLOCK, PAGES

pytest.importorskip("sphinx", reason="the site is made by Sphinx: install the extra docs")

from docutils import nodes  # noqa: E402
from docutils.utils.math.latex2mathml import tex2mathml  # noqa: E402

from docs import gallery, links, mathml, measured  # noqa: E402

FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+(?:\n[^$\n]+)?)\$", re.S)
CODE = re.compile(r"`[^`]+`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_formula_can_be_typeset(page):
    text = CODE.sub("", BLOCK.sub("", page.read_text(encoding="utf-8")))
    for display, inline in FORMULA.findall(text):
        assert tex2mathml(mathml.mended(display or inline).strip()).startswith("<math"), (
            display or inline
        )


def typeset(tex):
    return re.sub(r"\s+", "", mathml.made(nodes.math(tex, tex), as_block=False))


def test_a_formula_becomes_what_it_says():
    made = typeset(r"M(q)\,\ddot q = \tau")
    assert "<mi>M</mi>" in made and "<mi>τ</mi>" in made and "¨" in made


@pytest.mark.parametrize("tex", [r"\frac12", r"\frac 1{2}", r"\frac{1}2", r"\Big(\frac12\Big)"])
def test_a_fraction_needs_no_braces(tex):
    assert "<mfrac><mn>1</mn><mn>2</mn></mfrac>" in typeset(tex)


@pytest.mark.parametrize("tex", [r"\dot q_k", r"\hat m_i", r"\dot\omega_0"])
def test_an_index_stands_beside_an_accented_letter_not_under_it(tex):
    made = typeset(tex)
    assert "<msub>" in made and "munder" not in made


def test_names_of_functions_stand_apart():
    space = typeset(r"b\,c").count("<mspace")
    assert typeset(r"b \cos q_2").count("<mspace") == 2 * space == 2
    assert typeset(r"\cos(q)").count("<mspace") == 0


def test_a_formula_that_cannot_be_read_is_a_warning(caplog):
    assert typeset(r"\nonsense{x}") == r"<code>\nonsense{x}</code>"
    assert "nonsense" in caplog.text


@pytest.mark.parametrize("name", ["two_link", "scara"])
def test_an_arm_has_a_page_with_its_numbers(name):
    """Against the file that ships: masses, and how far apart the axes are."""
    text = gallery.page(name)
    chain = armdyn.load(name).chain
    assert f"moves {chain.mass:.4g} kg" in text
    assert len(re.findall(r"^\| \S+ \| (?:revolute|prismatic) \|", text, re.M)) == chain.n
    count = armdyn.count(chain, "mass_matrix", kind="program")
    (row,) = re.findall(r"^\| `mass_matrix` \| `\S+` \| (\d+) \| (\d+) \| (\d+) \|$", text, re.M)
    assert tuple(map(int, row)) == (count.mul, count.add + count.double, count.trig)


def test_every_arm_that_ships_has_a_card_and_a_first_sentence():
    for name in armdyn.robots():
        assert f'href="arms/{name}.html"' in gallery.card(name)
        assert gallery.origin(name).endswith(".") and len(gallery.origin(name)) > 10


def test_a_picture_has_a_joint_for_each_joint_and_stays_within_its_frame():
    drawn = gallery.picture(armdyn.load("ur5"))
    assert drawn.count("<circle") == 6
    (line,) = re.findall(r'points="([^"]+)"', drawn)
    for number in re.findall(r"-?[\d.]+", line):
        assert 0 <= float(number) <= gallery.SIZE


def test_the_three_numbers_are_those_of_the_results():
    """Of times that are easily divided; other arms, forms and machines do not count."""

    def row(quantity, library, form, batch, least, **other):
        keys = {"arm": "panda", "dtype": "float64", "cores": 1, "quantity": quantity}
        return keys | {"library": library, "form": form, "batch": batch, "least": least} | other

    speed = [
        row("mass_matrix", "armdyn", "new array", 1, 150e-9),
        row("mass_matrix", "armdyn", "new array", 1, 1.0, arm="ur5"),
        row("mass_matrix", "armdyn", "new array", 1, 1.0, dtype="float32"),
        row("forward_dynamics", "armdyn", "new array", 1, 400e-9),
        row("forward_dynamics", "pinocchio", "new array", 1, 3e-6),
        row("inverse_dynamics", "armdyn", "in place", 4096, 25e-9),
        row("inverse_dynamics", "armdyn", "in place", 4096, 1.0, cores=2),
    ]
    numbers = [number for number, _ in measured.three({"speed": speed})]
    assert numbers == ["150 ns", "7.5 times", "40 million"]


def test_the_results_have_what_the_home_page_shows():
    results = json.loads(measured.RESULTS.read_text(encoding="utf-8"))
    assert len(measured.three(results)) == 3 and results["machine"]["processor"]


def test_links_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "b.html").write_text('<h1 id="top">B</h1>')
    (tmp_path / "a.html").write_text(
        '<a href="b.html#top">right</a> <a href="c.html">x</a> <a href="b.html#no">x</a>'
        '<a href="#me">x</a> <a href="https://example.org">outside</a>'
        '<img src="data:image/png;base64,AA"> <script src="https://example.org/x.js"></script>'
        "<script>const x = '<a href=\"d.html\">';</script>"
    )
    assert links.complaints(tmp_path) == [
        "a.html: #me leads to no heading",
        "a.html: b.html#no leads to no heading",
        "a.html: c.html leads nowhere",
        "a.html: https://example.org/x.js is loaded from another host",
    ]
