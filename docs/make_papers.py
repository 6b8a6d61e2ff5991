"""Writes docs/papers.md and the pages of docs/papers/: ``python docs/make_papers.py``.

docs/papers.md has the papers' tables beside our counts. A paper's own page has what its list says
(``src/armdyn/papers/lists/``), each formula beside the function that computes it and the check that
proves it, and its tables as docs/papers.md has them; ``errata.md`` what is wrong in all five. The
pages keep their old text until the new ones are whole: counting takes some seconds, and a shell
that sends the output of ``armdyn tables --markdown`` to a file empties that file first.

Pictures are drawn by docs/paper_figures.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from armdyn.cli.tables import made
from armdyn.cli.verify import tally
from armdyn.output import files
from armdyn.papers import PAPERS, rendering
from armdyn.papers.checks import counts
from armdyn.papers.entries import COUNT, Entry, Listed, listed
from armdyn.papers.entries import evidence as run_check
from armdyn.papers.evidence import Evidence

DOCS = Path(__file__).parent
PAGE = DOCS / "papers.md"
BOOK = DOCS / "papers"
ROOT = "../.."  # of the repository, seen from a page of the book

OPENING = """\
<!-- Made by docs/make_papers.py: change that, or src/armdyn/papers/lists/{key}.toml. -->
"""
HOW_TO_READ = """\
Formulas stand in the paper's own letters, as printed. Beside each are the functions that compute it
and the check that bears the verdict out: it evaluates the print, and where that is wrong the
correction too, on random arms with revolute and prismatic joints mixed, against truths that owe
nothing to the paper. `armdyn verify {key}` runs all checks in a terminal, and so does
[`tests/test_book.py`]({root}/tests/test_book.py); the same functions are tested by {tests}.
Errors are relative to the largest element of the truth, the worst of all arms.

- **right**: it holds as printed. **misprinted**: a slip; corrected it holds. **refuted**: wrong by
  the laws of motion, or by the paper's own lines. **presumed**: lost in the copy at hand and
  rebuilt, or without proof in print, and borne out as far as that can be. **not described**: the
  paper prints a number, but not what it takes.
- A count is *right* where ours by the same rules is the same, or less for a reason that the paper's
  own lines show.
"""
ERRATA = """\
# Errata of the five papers

<!-- Made by docs/make_papers.py: change that, or src/armdyn/papers/lists/. -->

Every formula, sign, cell and claim of the five papers that we found wrong: as printed, as
corrected, and what a numeric check finds of both. Formulas are checked on random arms, claims and
counts by counting; errors are relative, the worst of all arms. Some slips may be the copy's and not
the print's: the copies at hand are scanned. What a paper's page calls *presumed* or *not described*
is not wrong, and not here.

All of it can be run, misprints included; the command says so if a check comes out otherwise than
this page:

```sh
armdyn verify zomaya1988
```
"""
SECTIONS = (
    ("formula", "Formulas"),
    ("table", "Tables"),
    ("figure", "Figures"),
    ("claim", "Claims"),
)


def write(page: Path = PAGE) -> None:
    """Count everything, then write the page."""
    text = rendering.markdown(made(list(PAPERS)))
    with files.written(page) as place:
        place.write_text(text, encoding="utf-8")


def write_book() -> None:
    """Write the pages of the book, from the lists and from what docs/papers.md has."""
    for name, text in book(PAGE.read_text(encoding="utf-8")).items():
        with files.written(BOOK / name) as place:
            place.write_text(text, encoding="utf-8")


def book(tables: str) -> dict[str, str]:
    """The pages by their names; ``tables`` is the text of docs/papers.md."""
    pages = {f"{key}.md": paper_page(listed(key), tables) for key in PAPERS}
    return {**pages, "errata.md": errata()}


# A paper's page ----------------------------------------------------------------------------------


def paper_page(paper: Listed, tables: str) -> str:
    """A paper's page."""
    tests = ", ".join(f"[`{test}`]({ROOT}/{test})" for test in paper.tests)
    parts = [
        f"# {paper.title}\n",
        OPENING.format(key=paper.key),
        f"{paper.aim}\n",
        f"**{tally(paper.entries)}** What is wrong is gathered in the [errata](errata.md).\n",
        f"## How to read this\n\n{HOW_TO_READ.format(key=paper.key, root=ROOT, tests=tests)}",
    ]
    for kind, heading in SECTIONS:
        entries = [entry for entry in paper.entries if entry.kind == kind]
        if entries:
            parts.append(f"## {heading}\n")
        for before, entry in zip((None, *entries), entries, strict=False):
            again = before is not None and before.drawn == entry.drawn
            parts.append(shown(paper.key, entry, picture=not again))
        if kind == "table":
            parts += [
                "## Tables, cell by cell\n",
                f"As in [the papers, cell by cell](../papers.md). {paper.fitted}\n",
                section(tables, paper.key),
            ]
    return "\n".join([*parts, f"## What later work made of it\n\n{paper.later}\n"])


def found(key: str, entry: Entry) -> Evidence | None:
    """What the check of an entry finds; of a table's line what the list states that we count."""
    if not entry.check:
        return None
    if entry.check == COUNT:  # counted for docs/papers.md already, and by armdyn verify
        text = counts.stated(counts.printed_line(key, entry.line))
        return Evidence(entry.verdict or "unclear", text)
    return run_check(key, entry.check)


def shown(key: str, entry: Entry, picture: bool = True) -> str:
    """An entry: its formula, the verdict on it, where it is computed and checked."""
    lines = [f"**{marked(entry.label)}**: {marked(entry.says)}.", ""]
    if entry.latex:
        lines += [display(entry.latex), ""]
    if entry.verdict in ("misprinted", "refuted", "presumed") and entry.corrected:
        word = "As rebuilt" if entry.verdict == "presumed" else "It should be"
        lines += [f"{word}", "", display(entry.corrected), ""]
    if entry.drawn and not picture:
        lines += ["In the picture above.", ""]
    elif entry.drawn:
        lines += [f"![{entry.label}: {entry.says}]({entry.drawn})", ""]
    text = "; ".join(remarks(key, entry))
    lines.append(text[0].upper() + text[1:] + ".")
    return "\n".join(lines) + "\n"


def remarks(key: str, entry: Entry) -> Iterator[str]:
    """The verdict and its reason, what the check found, and the links."""
    evidence = found(key, entry)
    if entry.verdict:
        why = f" ({marked(entry.why)})" if entry.why else ""
        yield f"*{entry.verdict}*{why}"
    elif entry.why:
        yield marked(entry.why)
    if evidence:
        yield marked(evidence.found)
    if entry.by:
        word = "drawn by" if entry.drawn else "computed by"
        yield f"{word} {', '.join(map(link, entry.by))}"
    if entry.check and entry.check != COUNT:
        yield f"checked by {check_link(entry.check)}"


def display(latex: str) -> str:
    """A formula on a line of its own; a plain number stays one, and nothing looks like a link."""
    return latex if latex.isdigit() else f"$$\n{latex.replace('](', '] (')}\n$$"


def section(tables: str, key: str) -> str:
    """What docs/papers.md has of a paper, without its heading and citation."""
    match = re.search(rf"^## {key}\n\n.*?\n\n(.*?)(?=^## |\Z)", tables, re.M | re.S)
    if match is None:
        raise ValueError(f"docs/papers.md has no section {key}")
    return match[1].rstrip() + "\n"


# Errata ------------------------------------------------------------------------------------------


def errata() -> str:
    """The page of all that is wrong."""
    parts = [ERRATA, overview()]
    for key in PAPERS:
        paper = listed(key)
        parts.append(f"## {paper.title}\n\nThe whole list is on [its page]({key}.md).\n")
        for kind, heading in SECTIONS:
            wrong = [entry for entry in paper.entries if entry.kind == kind and is_wrong(entry)]
            if wrong:
                parts.append(f"### {heading} of {key}\n")
                parts += [erratum(key, entry) for entry in wrong]
    return "\n".join(parts)


def is_wrong(entry: Entry) -> bool:
    """Whether it belongs to the errata."""
    return entry.verdict in ("misprinted", "refuted")


def overview() -> str:
    """How much is wrong in each paper."""
    lines = ["| paper | entries | misprinted | refuted |", "| --- | ---: | ---: | ---: |"]
    for key in PAPERS:
        words = [entry.verdict for entry in listed(key).entries]
        counts_of = " | ".join(str(words.count(word)) for word in ("misprinted", "refuted"))
        lines.append(f"| [{key}]({key}.md) | {len(words)} | {counts_of} |")
    return "\n".join(lines) + "\n"


def erratum(key: str, entry: Entry) -> str:
    """What is wrong: as printed, as corrected, why, and what the check finds."""
    lines = [f"**{marked(entry.label)}**, {entry.verdict}: {marked(entry.says)}.", ""]
    if entry.latex:
        lines += ["Printed", "", display(entry.latex), ""]
    if entry.corrected:
        lines += ["Corrected", "", display(entry.corrected), ""]
    evidence = found(key, entry)
    why = f"{marked(entry.why[0].upper() + entry.why[1:])}. " if entry.why else ""
    where = "" if entry.check == COUNT else f", by {check_link(entry.check)}"
    lines.append(f"{why}*Check*: {marked(evidence.found if evidence else '')}{where}.")
    return "\n".join(lines) + "\n"


# Links -------------------------------------------------------------------------------------------


def source(path: str) -> tuple[Path, str]:
    """The file of a dotted path below ``armdyn``, or of docs, from the root; the name in it."""
    module, _, name = path.rpartition(".")
    inside = () if module.startswith("docs") else ("src", "armdyn")
    base = Path(*inside, *module.split("."))
    package = base / "__init__.py"
    return (package if (DOCS.parent / package).exists() else base.with_suffix(".py")), name


def link(path: str) -> str:
    """A link to the file of a function."""
    file, name = source(path)
    module = path.rpartition(".")[0].rpartition(".")[2]
    return f"[`{module}.{name}`]({ROOT}/{file.as_posix()})"


def check_link(check: str) -> str:
    """A link to the file of a check."""
    file, name = source(f"papers.checks.{check}")
    return f"[`checks.{check}`]({ROOT}/{file.as_posix()})"


def marked(text: str) -> str:
    """Plain text as Markdown."""
    escaped = re.sub(r"([*\[\]_$])", r"\\\1", text).replace("<", "&lt;")
    return rendering.superscript(escaped)


if __name__ == "__main__":
    write()
    write_book()
