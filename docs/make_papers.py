"""Fills in the papers' pages: ``python docs/make_papers.py``.

The pages ``docs/papers/KEY.md`` are written by hand, except for two blocks between markers: the
paper's tables, printed beside counted, and its readings, from ``papers/readings.toml``.
``docs/papers.md`` and ``docs/papers/readings.md`` are made here. Their pictures are drawn by
``docs/paper_figures.py``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))  # run as a script, too

from armdyn.chain import Chain  # noqa: E402
from armdyn.comparison import printed  # noqa: E402
from armdyn.counting import Count, Kind, count, published  # noqa: E402
from papers import TITLES  # noqa: E402
from papers.readings import KINDS, Reading, readings  # noqa: E402

TESTS = "../../tests/papers"
DETAILS = (", cells M/A", "line by line")  # in the titles of tables that the pages leave out
N = 6  # joints of the methods side by side
OURS: tuple[Kind, ...] = ("literal", "folded", "shared")

PAPERS = """\
# The five papers

<!-- Made by docs/make_papers.py: change that. -->

Every formulation of five papers on the dynamics of robot arms is in armdyn. Each paper has a page:
its aim, the functions that implement each section, its tables beside our counts, and the statements
that do not hold.

| paper | citation | readings |
| --- | --- | ---: |
{papers}

A reading is a place where our copy of a paper and the mathematics disagree. Our copies are
machine-read, so [Readings of the five papers](papers/readings.md) blames nobody for their losses.
`python -m pytest tests/papers` tests the papers' statements one by one.

## Operations of whole methods

Multiplications/additions for six joints, D doublings. One kind of count per column:

- **printed**: the paper's number, by its own rule. `armdyn tables` names the rule.
- **its lines**: the printed lines of its algorithm, added up (`armdyn.count(..., kind="paper")`).
- **literal**, **folded**, **shared**: our method, by the [kinds of `armdyn.count`](comparing.md).

Where a paper leaves out a part of the method, only the other part, our *stage*, is counted.

| paper | method | joints | printed | its lines | literal | folded | shared |
| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |
{methods}
"""
READINGS = """\
# Readings of the five papers

<!-- Made by docs/make_papers.py from papers/readings.toml: change that. -->

Where our copy of a paper and the mathematics disagree. Our copies are machine-read, and lose
primes, indices and signs. So an entry accuses nobody, except where the paper itself shows that the
copy is not at fault. The evidence and the test of each entry stand on the page of its paper. All
other numbered equations hold as our copies have them. A page names the definitions and changes of
axes that have no test of their own; the methods use them.
"""


def main() -> None:
    """Write what is out of date."""
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")


def pages() -> dict[Path, str]:
    """The texts of all pages."""
    found = {
        DOCS / "papers.md": PAPERS.format(papers="\n".join(papers()), methods="\n".join(methods())),
        DOCS / "papers" / "readings.md": "\n".join([READINGS, *by_kind()]),
    }
    for key in TITLES:
        path = DOCS / "papers" / f"{key}.md"
        text = path.read_text(encoding="utf-8")
        text = filled(text, "tables", "\n".join(tables(key)))
        mine = [reading for reading in readings() if reading.paper == key]
        found[path] = filled(text, "readings", "\n".join(map(entry, mine)))
    return found


def filled(text: str, block: str, inside: str) -> str:
    """The text of a page with a block between its markers."""
    begin, end = f"<!-- {block}: begin -->", f"<!-- {block}: end -->"
    before, found, rest = text.partition(begin)
    _, ended, after = rest.partition(end)
    if not (found and ended):
        raise ValueError(f"the page {text[:40]!r} has no markers {begin} and {end}")
    return f"{before}{begin}\n\n{inside.strip()}\n\n{end}{after}"


def tables(key: str) -> Iterator[str]:
    """The tables of a paper's page, and the command that prints all cells and lines."""
    for grid in printed.grids(key):
        if not any(word in grid.title for word in DETAILS):
            yield printed.markdown(grid)
    yield f"`armdyn tables --paper {key}` prints all tables, with their cells and lines."


def papers() -> Iterator[str]:
    """The five papers, a row each."""
    for key, title in TITLES.items():
        number = sum(reading.paper == key for reading in readings())
        link = f"[{title}](papers/{key}.md)"
        yield f"| {link} | {printed.citation(key)} | {number} |"


def methods() -> Iterator[str]:
    """Each printed line that is a method of ours, a row each."""
    for line in published.lines():
        several = len(line.parts) > 1 and not isinstance(line.quantity, str)  # not done by one call
        if several or line.stage not in (None, "dynamics") or not (line.method and line.printed):
            continue
        chain = Chain.random(N, line.kinds(N))
        ours = [count(chain, line.quantity, line.method, kind, line.stage) for kind in OURS]
        added = line.by_the_paper if line.by_the_paper is not line.printed else None
        pairs = [pair and f"{int(pair[0](N))}/{int(pair[1](N))}" for pair in (line.printed, added)]
        what = line.quantity if isinstance(line.quantity, str) else " and ".join(line.quantity)
        of = "" if what == "mass_matrix" else f", {what}"
        stage = f", stage `{line.stage}`" if line.stage else ""
        cells = [line.paper, f"`{line.method}`{stage}{of}", chain.kinds, *pairs, *map(shown, ours)]
        yield "| " + " | ".join(cell or "" for cell in cells) + " |"


def shown(found: Count) -> str:
    """Multiplications, additions and doublings."""
    return f"{found.mul}/{found.add}" + (f" {found.double}D" if found.double else "")


# Readings ----------------------------------------------------------------------------------------


def entry(reading: Reading) -> str:
    """A reading on the page of its paper."""
    parts = [f"**{plain(reading.place)}**, *{reading.kind}*: {sentence(reading.reading)}"]
    if reading.our_copy:
        parts.append(f"Our copy: {code(reading.our_copy)}.")
    parts.append(sentence(reading.evidence))
    parts += [f"The same in: {code(text)}." for text in reading.places]
    parts += [f"Against it: {code(text)}." for text in reading.contradicts]
    parts += [f"It follows: {sentence(text)}" for text in reading.consequences]
    name = reading.test.partition("::")[0]
    parts.append(f"Test: [`{reading.test}`]({TESTS}/{name}).")
    return "- " + " ".join(parts)


def by_kind() -> Iterator[str]:
    """All readings, kind by kind."""
    every = readings()
    for kind, meaning in KINDS.items():
        found = [each for each in every if each.kind == kind or each.kind.startswith(f"{kind} n")]
        if found:
            yield f"## {capital(kind)} ({len(found)})\n\n{capital(meaning)}.\n"
            yield "\n".join(f"- {brief(each)}" for each in found) + "\n"


def capital(text: str) -> str:
    """With a capital letter at the beginning."""
    return text[0].upper() + text[1:]


def brief(reading: Reading) -> str:
    """A reading in the list of all."""
    told = reading.kind if reading.kind.startswith("holds to") else ""
    what = f"({told}) {sentence(reading.reading)}" if told else sentence(reading.reading)
    return f"[{reading.paper}]({reading.paper}.md), {plain(reading.place)}: {what}"


def sentence(text: str) -> str:
    """Plain text as Markdown, with a full stop."""
    return plain(text) + ("" if text.endswith((".", "?", "!")) else ".")


def plain(text: str) -> str:
    """Plain text as Markdown; `code` stays."""
    pieces = " ".join(text.split()).split("`")
    pieces[::2] = [
        re.sub(r"([*_\[\]~$])", r"\\\1", piece).replace("<", "&lt;") for piece in pieces[::2]
    ]
    return "`".join(pieces)


def code(text: str) -> str:
    """A quotation, letter by letter."""
    fence = "``" if "`" in text else "`"
    return f"{fence}{' '.join(text.split())}{fence}"


if __name__ == "__main__":
    main()
