"""Writes docs/methods.md, the catalogue with its papers: ``python docs/make_methods.py``."""

from __future__ import annotations

import inspect
import re
import unicodedata
from pathlib import Path

from armdyn.algorithms.catalogue import CATALOGUE, STATE, Method
from armdyn.chain import Chain
from armdyn.counting import count, growth
from armdyn.counting.polynomial import Polynomial

DOCS = Path(__file__).parent
PAGE = DOCS / "methods.md"
SIZES = (6, 7)  # joints for which operations are printed

OPENING = """\
# The catalogue of methods

<!-- Made by docs/make_methods.py: change that, or src/armdyn/algorithms/catalogue.py. -->

Each method is one function in one file, in the letters of its paper, for any mix of revolute and
prismatic joints. All but those marked *approximate* are exact. Those marked *minimal* work on the
[minimal parameters](quantities.md#parameters-of-the-links), found in advance.

*Operations* are multiplications, additions and doublings on a generic arm of n revolute joints, as
`armdyn.count` counts them by default: line by line, with the entries of the rotation matrices on
hand. [The papers, cell by cell](papers.md) compares them with what the papers print. The program of
a given arm takes far fewer, for what is zero, constant or computed already costs nothing;
`robot.methods(quantity)` says how many, and which method is chosen when none is named.
"""


def markdown() -> str:
    """The page."""
    cited = {method.paper for methods in CATALOGUE.values() for method in methods}
    entries = {key: entry for key, entry in bibliography().items() if key in cited}
    parts = [OPENING]
    for quantity, methods in CATALOGUE.items():
        if "+" in quantity:
            title = " and ".join(f"`{name}`" for name in quantity.split("+")) + " together"
        else:
            title = f"`{quantity}({', '.join(STATE[quantity])})`"
        parts.append(f"\n## {title}\n\n{table(quantity, methods)}")
    parts.append("\n## Papers\n\n")
    parts += [f"- **{key}**: {citation(entry)}\n" for key, entry in entries.items()]
    parts.append("- **armdyn**: ours; the file says how.\n")
    return "".join(parts)


def table(quantity: str, methods: tuple[Method, ...]) -> str:
    """The methods of a quantity."""
    heading = ["method", "paper", "operations", *(f"n = {n}" for n in SIZES)]
    rules = ["---"] * 3 + ["---:"] * len(SIZES)
    rows = [row(quantity, method) for method in methods]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (heading, rules, *rows))


def row(quantity: str, method: Method) -> list[str]:
    """A method: its file, where it is from, what it costs."""
    file = Path(inspect.getsourcefile(inspect.unwrap(method.function)) or "").name
    source = ", ".join(filter(None, [method.paper, method.where, *remarks(method, file)]))
    total, divisions = operations(quantity, method)
    cost = str(total).replace("^2", "²").replace("^3", "³").replace("^4", "⁴")
    cost += f", and {divisions} divisions" if divisions.coefficients else ""
    name = f"[`{method.name}`](../src/armdyn/algorithms/{file})"
    return [name, source, cost, *(str(total(n)) for n in SIZES)]


def remarks(method: Method, file: str) -> list[str]:
    """What sets a method apart from the others."""
    found = {
        "from the Christoffel symbols": file == "coriolis.py",
        "*minimal*": method.view == "minimal",
        "*approximate*": not method.exact,
    }
    return [remark for remark, there in found.items() if there]


def operations(quantity: str, method: Method) -> tuple[Polynomial, Polynomial]:
    """Multiplications, additions and doublings together, and divisions, on generic arms.

    They are counted only where the catalogue does not say it all.
    """
    if method.generic and not count(Chain.random(2), quantity, method.name).div:
        return Polynomial.parse(method.generic), Polynomial()
    counts = growth(quantity, method.name)
    return counts["mul"] + counts["add"] + counts["double"], counts["div"]


# The bibliography --------------------------------------------------------------------------------

ENTRY = re.compile(r"^@(\w+)\{(\w+),\n(.*?)^\}$", re.M | re.S)
FIELD = re.compile(r"^  (\w+) = \{(.*)\},$", re.M)
ACCENTS = {"'": "\u0301", "`": "\u0300", '"': "\u0308", "^": "\u0302", "c": "\u0327"}


def bibliography() -> dict[str, dict[str, str]]:
    """The entries of docs/references.bib by key, each its fields in plain text."""
    text = (DOCS / "references.bib").read_text(encoding="utf-8")
    return {
        key: {name: unbraced(value) for name, value in FIELD.findall(fields)}
        for _, key, fields in ENTRY.findall(text)
    }


def unbraced(value: str) -> str:
    """A field's text without TeX: accents composed, braces and double hyphens gone."""

    def accented(match: re.Match[str]) -> str:
        return unicodedata.normalize("NFC", match[2] + ACCENTS[match[1]])

    value = re.sub(r"\{\\(['`\"^c])\{?(\w)\}?\}", accented, value)
    return value.replace("{", "").replace("}", "").replace("--", "–")


def citation(entry: dict[str, str]) -> str:
    """An entry as a line of text."""
    authors = [" ".join(reversed(a.split(", "))) for a in entry["author"].split(" and ")]
    listed = authors[0] if len(authors) == 1 else f"{', '.join(authors[:-1])} and {authors[-1]}"
    container = entry.get("journal") or entry.get("booktitle") or entry.get("publisher")
    report = " ".join(filter(None, [entry.get("type"), entry.get("number")]))
    if "journal" in entry:
        volume = entry.get("volume", "")
        issue = f"({entry['number']})" if "number" in entry else ""
        place = f"{container} {volume}{issue}".strip()
    else:
        place = ", ".join(filter(None, [container or entry.get("institution"), report]))
    year, pages = entry.get("year"), entry.get("pages")
    parts = [f"{listed}, *{entry['title']}*", place, pages, year, entry.get("note")]
    return ", ".join(filter(None, parts)) + "."


if __name__ == "__main__":
    PAGE.write_text(markdown(), encoding="utf-8")
