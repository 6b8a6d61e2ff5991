"""The papers' lists: nothing that they print is missing, and every verdict comes out."""

import ast
import dataclasses
import importlib
import json
import math
import re
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from armdyn.cli import main
from armdyn.papers import PAPERS, entries, evidence
from armdyn.papers.entries import COUNT, VERDICTS, Entry, check_of, listed
from armdyn.papers.samples import draw
from docs import make_papers, paper_figures

ROOT = Path(__file__).parents[1]

# What the papers number, read off them.
EQUATIONS = {
    "lin1991": {"": 67, "A": 15},
    "lin1999": {"": 55, "A": 10, "B": 12, "C": 3},
    "kang": {"": 29, "P": 10},
    "safeea2018": {"": 32},
    "zomaya1988": {"": 17},
}
TABLES = {
    "lin1991": ("Table I", "Table II"),
    "lin1999": ("Table I", "II", "III", "IV", "V", "VI", "VII", "VIII"),
    "kang": (),  # but the steps of section 4.2, and Appendix 1
    "safeea2018": ("Table I",),
    "zomaya1988": ("Table 1", "2", "3", "4"),
}
FIGURES = {
    "lin1991": ("1", "2", "3", "A1"),
    "lin1999": (),
    "kang": ("1", "2", "3", "4"),
    "safeea2018": ("1", "2", "3", "4", "5"),
    "zomaya1988": ("1",),
}

ENTRIES = [(key, entry) for key in PAPERS for entry in listed(key).entries]
CHECKS = sorted({(key, e.check) for key, e in ENTRIES if e.check and e.check != COUNT})
LINES = sorted({(key, e.line) for key, e in ENTRIES if e.check == COUNT})
every_paper = pytest.mark.parametrize("key", PAPERS)


def expected(key):
    return [f"{letter}{k}" for letter, last in EQUATIONS[key].items() for k in range(1, last + 1)]


def numbers(entry):
    """The equations that an entry is about."""
    if several := re.fullmatch(r"eqs\. \((\d+)\) to \((\d+)\)", entry.label):
        return [str(k) for k in range(int(several[1]), int(several[2]) + 1)]
    return re.findall(r"^eq\. \((\w+)\)$", entry.label)


# Nothing is missing ------------------------------------------------------------------------------


@every_paper
def test_every_equation_is_listed_once(key):
    found = [number for entry in listed(key).entries for number in numbers(entry)]
    assert sorted(found) == sorted(expected(key))


@every_paper
def test_the_list_states_the_numbers_that_the_paper_has(key):
    stated = []
    for span in listed(key).equations:
        first, last = span.split("-")
        letter = first.rstrip("0123456789")
        stated += [
            f"{letter}{k}"
            for k in range(int(first.lstrip(letter) or 1), int(last.lstrip(letter)) + 1)
        ]
    assert stated == expected(key)


@every_paper
def test_every_table_and_figure_is_listed(key):
    labels = [entry.label for entry in listed(key).entries]
    for table in TABLES[key]:
        name = f"Table {table.removeprefix('Table ')}"
        assert any(label == name or label.startswith(f"{name}:") for label in labels), name
    for figure in FIGURES[key]:
        assert f"Fig. {figure}" in labels
    assert any(label.startswith("claim") for label in labels)
    assert len(set(labels)) == len(labels)


def test_a_missing_equation_is_noticed(monkeypatch):
    kang = listed("kang")
    short = dataclasses.replace(kang, entries=kang.entries[1:])
    monkeypatch.setitem(globals(), "listed", lambda key: short)
    with pytest.raises(AssertionError):
        test_every_equation_is_listed_once("kang")


def test_an_entry_says_what_became_of_it():
    for key, entry in ENTRIES:
        assert entry.says, (key, entry.label)
        assert entry.by or entry.drawn or entry.verdict, (key, entry.label)
        assert entry.verdict is None or entry.verdict in VERDICTS
        assert bool(entry.verdict) == bool(entry.check), f"{entry.label}: no verdict without check"
        if entry.verdict == "misprinted":
            assert entry.corrected, f"{key}, {entry.label}: what would be right?"
        assert not (entry.kind == "formula" and entry.verdict is None)


def test_functions_exist():
    for key, entry in ENTRIES:
        for path in entry.by:
            module, _, name = path.rpartition(".")
            home = module if module.startswith("docs") else f"armdyn.{module}"
            assert hasattr(importlib.import_module(home), name), f"{key}, {entry.label}: {path}"
        if entry.check:
            assert callable(check_of(key, entry))


def test_pictures_exist_and_are_small():
    for key, entry in ENTRIES:
        if entry.drawn:
            picture = make_papers.BOOK / entry.drawn
            assert picture.stat().st_size < 100_000, (key, entry.drawn)
            assert entry.drawn in paper_figures.PICTURES
            drawing = paper_figures.PICTURES[entry.drawn]
            assert entry.by == (f"docs.paper_figures.{drawing.__name__}",)


def test_a_wrong_list_is_refused():
    with pytest.raises(ValueError, match="no check kang.nothing"):
        check_of("kang", Entry("eq. (1)", "", check="kang.nothing"))
    with pytest.raises(ValueError, match="verdikt"):
        entries._entry("kang", {"label": "eq. (1)", "verdikt": "right"})


# Every verdict comes out -------------------------------------------------------------------------


def verdicts(key, check="", line=""):
    return {
        entry.verdict
        for entry in listed(key).entries
        if (entry.check == check if check else entry.line == line and entry.check == COUNT)
    }


@pytest.mark.parametrize("key, check", CHECKS, ids=[f"{key}-{check}" for key, check in CHECKS])
def test_evidence_is_as_the_verdict_says(key, check):
    found = entries.evidence(key, check)
    assert {found.verdict} == verdicts(key, check), found


@pytest.mark.sweep
@pytest.mark.parametrize("key, line", LINES, ids=[f"{key}-{line}" for key, line in LINES])
def test_counts_are_as_the_verdict_says(key, line):
    found = entries.evidence(key, COUNT, line)
    assert {found.verdict} == verdicts(key, line=line), found


@pytest.mark.parametrize(
    "printed, corrected, slip, word",
    [
        ([1e-15, 1e-14], None, True, "right"),
        ([1e-15, 0.1], None, True, "refuted"),
        ([1e-15, 0.1], [1e-15], True, "misprinted"),
        ([1e-15, 0.1], [1e-15], False, "refuted"),
        ([1e-15], [1e-15], True, "right"),
        ([0.1], [0.1], True, "unclear"),
        ([1e-6], None, True, "unclear"),
        ([1e-6], [1e-15], True, "unclear"),
    ],
)
def test_the_numbers_make_the_verdict(printed, corrected, slip, word):
    assert evidence.formula(printed, corrected, slip).verdict == word


def test_what_was_rebuilt_is_presumed_only_where_it_holds():
    assert evidence.rebuilt([1e-15], "it").verdict == "presumed"
    assert evidence.rebuilt([1e-3], "it").verdict == "refuted"


def test_truths_obey_the_laws_of_motion():
    """M is symmetric and definite, dM/dt - 2C skew, energy changes by what gravity does."""
    for s in draw():
        assert np.allclose(s.M, s.M.T) and np.linalg.eigvalsh(s.M)[0] > 0
        C = s.Gamma @ s.qd
        step = 1e-6
        rate = (s.mass_matrix(s.q + step * s.qd) - s.mass_matrix(s.q - step * s.qd)) / (2 * step)
        skew = rate - 2 * C
        assert np.allclose(skew, -skew.T, atol=1e-7 * np.abs(s.M).max())


def test_checks_need_numpy_alone():
    """``armdyn verify`` runs on a fresh installation."""
    folder = ROOT / "src" / "armdyn" / "papers"
    allowed = {"armdyn", "numpy", *sys.stdlib_module_names}
    for file in [*(folder / "checks").glob("*.py"), folder / "samples.py", folder / "entries.py"]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [node.module] if isinstance(node, ast.ImportFrom) else node.names
                for name in names:
                    top = (name if isinstance(name, str) else name.name).partition(".")[0]
                    assert top in allowed, f"{file.name} imports {top}"


# The command -------------------------------------------------------------------------------------


def test_verify_shows_what_is_wrong_and_adds_up(capsys):
    assert main(["verify", "zomaya1988"]) == 0
    out = capsys.readouterr().out
    assert "eq. (17)" in out and "misprinted" in out and "eq. (9)" not in out
    words = " ".join(out.split())
    assert "17 formulas, 4 tables, 1 figure, 9 claims: 14 right, 3 misprinted, 12 refuted" in words
    assert "30 of 30 verdicts borne out" in words


def test_verify_as_json(capsys):
    assert main(["verify", "zomaya1988", "--json"]) == 0
    (paper,) = json.loads(capsys.readouterr().out)
    assert [e["label"] for e in paper["entries"]][:2] == ["eq. (1)", "eq. (2)"]
    assert all(e["borne_out"] for e in paper["entries"])
    wrong = paper["entries"][0]
    assert wrong["printed_error"] > 1 and wrong["corrected_error"] < 1e-12


def test_verify_complains_when_a_check_comes_out_otherwise(capsys, monkeypatch):
    """A misprint that is none, say."""
    paper = listed("zomaya1988")
    altered = [
        dataclasses.replace(entry, verdict="misprinted") if entry.label == "eq. (9)" else entry
        for entry in paper.entries
    ]
    changed = dataclasses.replace(paper, entries=tuple(altered))
    monkeypatch.setattr(entries, "listed", lambda key: changed)
    assert main(["verify", "zomaya1988"]) == 2
    assert "1 checks came out otherwise: zomaya1988, eq. (9): right" in capsys.readouterr().err


def test_verify_of_an_unknown_paper(capsys):
    assert main(["verify", "kan"]) == 2
    assert "no paper 'kan'; did you mean 'kang'?" in capsys.readouterr().err


@pytest.mark.sweep
def test_verify_of_all_papers(capsys):
    assert main(["verify"]) == 0
    assert capsys.readouterr().out.count("verdicts borne out") == len(PAPERS)


# The pages ---------------------------------------------------------------------------------------


def test_the_pages_are_fresh():
    """If not: python docs/make_papers.py."""
    made = make_papers.book(make_papers.PAGE.read_text(encoding="utf-8"))
    kept = {page.name: page.read_text(encoding="utf-8") for page in make_papers.BOOK.glob("*.md")}
    assert made == kept


def test_errata_have_all_that_is_wrong():
    page = (make_papers.BOOK / "errata.md").read_text(encoding="utf-8")
    wrong = [entry for _, entry in ENTRIES if entry.verdict in ("misprinted", "refuted")]
    assert page.count("*Check*") == len(wrong)
    for entry in wrong:
        assert f"**{make_papers.marked(entry.label)}**" in page


@cache
def names_in(file):
    """What a file defines or imports."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    defined = {getattr(node, "name", None) for node in tree.body}
    defined |= {getattr(t, "id", None) for n in tree.body for t in getattr(n, "targets", ())}
    return defined | {a.asname or a.name for n in tree.body for a in getattr(n, "names", ())}


def test_links_lead_to_the_functions_they_name():
    """[`module.name`](file): the file has that name."""
    for page in make_papers.BOOK.glob("*.md"):
        links = re.findall(r"\[`([\w.]+)`\]\(([^)]+\.py)\)", page.read_text(encoding="utf-8"))
        assert links
        for path, file in set(links):
            names = names_in((page.parent / file).resolve())
            assert path.rpartition(".")[2] in names, f"{page.name}: {path} is not in {file}"


def test_formulas_are_set_in_pairs_of_braces():
    for key, entry in ENTRIES:
        for text in (entry.latex, entry.corrected):
            assert text.count("{") == text.count("}"), (key, entry.label)
            assert text.count(r"\begin") == text.count(r"\end"), (key, entry.label)
            assert not re.search(r"\\(hat|bar|d?dot|tilde) ?\\(math|bold)", text), (
                key,
                entry.label,
            )


def test_what_is_no_number_holds_nowhere():
    nothing = evidence.error([1.0, math.nan], [1.0, 2.0])
    assert evidence.formula([1e-16, nothing]).verdict == "refuted"
    assert evidence.formula([1e-16, math.nan]).verdict == "refuted"
    assert evidence.formula([1.0], [1e-16, nothing]).verdict == "unclear"
    assert evidence.rebuilt([1e-16, math.nan], "it").verdict == "refuted"
