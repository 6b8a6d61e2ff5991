"""The documentation holds: its blocks run and print what it says, its links lead somewhere."""

import contextlib
import importlib.util
import io
import os
import re
import shlex
import subprocess
from pathlib import Path

import numpy as np
import pytest

from armdyn import cli
from armdyn.algorithms import catalogue
from armdyn.quantities import QUANTITIES
from docs import make_identification, make_methods, make_quantities
from tests.c_compiler import CC

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FOLDERS = (DOCS, DOCS / "papers", DOCS / "tutorials")
PAGES = [
    *(ROOT / "README.md", ROOT / "CONTRIBUTING.md"),
    *(page for folder in FOLDERS for page in sorted(folder.glob("*.md"))),
]
COMPILED = ("cc", "size", "./selftest", "./loop")  # commands that are run where there is a compiler
LARGE = ("torch", "xacro")  # packages whose blocks are run where they are installed
NOT_RUN = object()
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
CITED = re.compile(r"\[([A-Za-z]+\d{4}[a-z]?|kang)\]")
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]\d+)?")
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"`[^`\n]+`")  # in a line
NEEDS = {"torch": "torch", "jax": "jax"}  # a page's package, which the suite does without
pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def blocks(page):
    """(language, text) of each fenced block."""
    return [match.groups() for match in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def run_python(text, names, page):
    exec(compile(text, f"block of {page.name}", "exec"), names)


def run_shell(text):
    """The commands of armdyn, on a short stopwatch, and what compiles; what installs is not run."""
    for line in text.splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["armdyn"]:
            timed = "compare" in words and "--seconds" not in words
            hurried = ["--seconds", "0.05"] if timed else []
            assert cli.main(words[1:] + hurried) == 0, line
        elif words and words[0] in COMPILED:
            done = subprocess.run(line, shell=True, capture_output=True, text=True)
            assert done.returncode == 0, f"{line}: {done.stderr}"
            print(done.stdout)


def cannot_run(language, text):
    """Whether a block needs what this machine does not have."""
    if language == "python":
        wanted = re.findall(r"^import (\w+)", text, re.M)
        wanted += ["xacro"] * (".xacro" in text)
        return any(importlib.util.find_spec(name) is None for name in wanted if name in LARGE)
    return language == "sh" and CC is None and any(word in text.split() for word in COMPILED)


def save(text):
    """A block whose first line is a comment with a file's name is that file."""
    named = re.match(r"(?:<!--|#|/\*) (\S+\.(?:urdf|toml|c))\b", text)
    if named:
        Path(named[1]).write_text(text, encoding="utf-8")


def plain(text):
    """What is printed, whatever the spaces and the signs of zeros; a line ... stands for any."""
    return re.sub(r"-(0\.0*)(?![\d])", r"\1", " ".join(text.split()))


def outputs(page):
    """(what a page says its blocks print, what they print), for each block of text."""
    names, printed = {"__name__": "docs"}, None
    for language, text in blocks(page):
        if language == "text":
            if printed is not NOT_RUN:
                yield text, printed
            continue
        if cannot_run(language, text):
            printed = NOT_RUN
            continue
        with contextlib.redirect_stdout(io.StringIO()) as out:
            if language == "python":
                run_python(text, names, page)
            elif language == "sh":
                run_shell(text)
            else:
                save(text)
        printed = out.getvalue().replace(f"{Path.cwd()}{os.sep}", "/home/me/")


@pytest.fixture
def own_print_options():
    """How arrays are printed is a page's own business."""
    with np.printoptions():
        yield


@pages
def test_blocks_run_and_print_what_the_page_says(
    page, tmp_path, monkeypatch, own_catalogue, own_print_options
):
    if page.stem in NEEDS:
        pytest.importorskip(NEEDS[page.stem], reason=f"the page is about {NEEDS[page.stem]}")
    monkeypatch.chdir(tmp_path)
    for said, printed in outputs(page):
        pattern = ".*".join(re.escape(plain(part)) for part in said.split("...\n"))
        assert re.fullmatch(pattern, plain(printed)), f"{page.name} says\n{said}\nnot\n{printed}"


def anchors(page):
    """The anchors of a page's headings, as GitHub and Sphinx make them."""
    headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", page.read_text(encoding="utf-8")), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pages
def test_links_lead_to_files_and_headings_that_exist(page):
    text = CODE.sub("code", BLOCK.sub("", page.read_text(encoding="utf-8")))
    for link in LINK.findall(text):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_every_paper_of_the_catalogue_is_in_the_bibliography():
    listed = make_methods.bibliography()
    for quantity, methods in catalogue.CATALOGUE.items():
        for method in methods:
            assert method.paper in {"armdyn", *listed}, f"{quantity} by {method.name}"


def test_what_docstrings_cite_is_in_the_bibliography():
    listed = make_methods.bibliography()
    for source in sorted((ROOT / "src" / "armdyn").rglob("*.py")):
        for key in CITED.findall(source.read_text(encoding="utf-8")):
            assert key.lower() in listed, f"{source.name} cites {key}"


def test_the_table_of_quantities_is_fresh():
    """If not: python docs/make_quantities.py."""
    assert make_quantities.PAGE.read_text(encoding="utf-8") == make_quantities.page()
    assert make_quantities.table() in make_quantities.page()


def test_every_formula_of_the_table_stands_in_a_sentence_of_the_code():
    sentences = " ".join(quantity.sentence for quantity in QUANTITIES.values())
    assert [plain for plain in make_quantities.FORMULAS if plain not in sentences] == []


def test_the_catalogue_page_is_fresh():
    """If not: python docs/make_methods.py."""
    page = make_methods.PAGE.read_text(encoding="utf-8")
    assert page == make_methods.markdown()


@pytest.mark.sweep
def test_the_walk_through_of_an_identification_is_fresh():
    """If not: python docs/make_identification.py. Other machines round otherwise."""
    pytest.importorskip("scipy", reason="the low-pass filter is SciPy's")
    pytest.importorskip("matplotlib")
    page = make_identification.PAGE.read_text(encoding="utf-8")
    made = make_identification.page()
    assert NUMBER.sub("#", plain(made)) == NUMBER.sub("#", plain(page))
    numbers = [[float(x) for x in NUMBER.findall(text)] for text in (made, page)]
    assert numbers[0] == pytest.approx(numbers[1], rel=0.02, abs=1e-3)
