"""The papers' lists: every equation, table, figure and claim, with its verdict and its check.

A list is a TOML file a paper in ``lists/``: what the paper set out to do, which equations it
numbers, and an entry each. An entry has its label as printed, a few words, LaTeX in the paper's
letters, the functions that compute it (``by``) or the picture that shows it (``drawn``), the
verdict, and the check that bears it out. A check is a function of ``checks/``, named
``module.function``; for a line of a table ``count`` stands for our count of it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any, Literal

from armdyn.errors import MethodError
from armdyn.forks import importing
from armdyn.papers import PAPERS, find
from armdyn.papers.evidence import Evidence, Word

Kind = Literal["formula", "table", "figure", "claim"]
KINDS: tuple[Kind, ...] = ("formula", "table", "figure", "claim")
VERDICTS: tuple[Word, ...] = ("right", "misprinted", "refuted", "presumed", "not described")
COUNT = "count"  # the check of a line of a table
PREFIXES: dict[str, Kind] = {"Table": "table", "Fig.": "figure", "claim": "claim", "Step": "table"}


@dataclass(frozen=True)
class Entry:
    """One thing that a paper prints.

    Attributes:
        label: as printed: "eq. (9)", "Table II: Present", "Fig. 4", "claim, p. 212: ...".
        says: what it says, in a few words.
        latex: the formula as printed, in the paper's letters.
        corrected: the formula or number as it should be.
        why: what is wrong with the print, or how the verdict is meant.
        by: paths of the functions that compute it, below ``armdyn``.
        drawn: the picture that shows it.
        verdict: on it.
        check: what bears the verdict out.
        line: the line of a table that ``count`` counts.
    """

    label: str
    says: str
    latex: str = ""
    corrected: str = ""
    why: str = ""
    by: tuple[str, ...] = ()
    drawn: str = ""
    verdict: Word | None = None
    check: str = ""
    line: str = ""

    @property
    def kind(self) -> Kind:
        """Formula, table, figure or claim; a line within a figure is a formula."""
        for prefix, kind in PREFIXES.items():
            if self.label.startswith(prefix) and (kind != "figure" or "," not in self.label):
                return kind
        return "formula"

    @property
    def whole(self) -> str:
        """What it is a line of: "Table VI" of "Table VI: type 1, Formulation 2"."""
        return "Steps" if self.label.startswith("Step") else self.label.partition(":")[0]


@dataclass(frozen=True)
class Listed:
    """A paper's list.

    Attributes:
        key: of the paper.
        title: of its page.
        aim: what it set out to do.
        fitted: where literal counts were fitted, and to what.
        later: what later work made of it.
        equations: the ranges of numbers that it prints, "1-67", "A1-A15".
        tests: the files that test its formulas besides.
        entries: all that it prints.
    """

    key: str
    title: str
    aim: str
    fitted: str
    later: str
    equations: tuple[str, ...]
    tests: tuple[str, ...]
    entries: tuple[Entry, ...]


@cache
def listed(key: str) -> Listed:
    """The list of a paper."""
    find(key)  # an unknown key is refused here
    text = files("armdyn.papers").joinpath("lists", f"{key}.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    entries = tuple(_entry(key, given) for given in data.pop("entry"))
    return Listed(
        key,
        entries=entries,
        equations=tuple(data.pop("equations")),
        tests=tuple(data.pop("tests")),
        **{name: value.strip() for name, value in data.items()},
    )


def _entry(key: str, given: dict[str, Any]) -> Entry:
    """An entry, its lists as tuples; what it cannot have is refused."""
    unknown = set(given) - {field.name for field in fields(Entry)}
    if unknown or "label" not in given:
        raise MethodError(f"the list of {key} has an entry with {sorted(unknown)}: {given}")
    texts = {name: value.strip() for name, value in given.items() if isinstance(value, str)}
    return Entry(**{**given, **texts, "by": tuple(given.get("by", ()))})


def lists() -> list[Listed]:
    """All of them."""
    return [listed(key) for key in PAPERS]


# Checks ------------------------------------------------------------------------------------------


def check_of(key: str, entry: Entry) -> Callable[[], Evidence]:
    """The function that bears an entry's verdict out."""
    if entry.check == COUNT:
        with importing:
            from armdyn.papers.checks import counts

        return lambda: counts.line(key, entry.line)
    module, _, name = entry.check.rpartition(".")
    with importing:
        found = getattr(import_module(f"armdyn.papers.checks.{module}"), name, None)
    if found is None:
        raise MethodError(f"{entry.label} of {key} has no check {entry.check}")
    return found


@cache
def evidence(key: str, check: str, line: str = "") -> Evidence:
    """What a check finds; it is run once."""
    return check_of(key, Entry("", "", check=check, line=line))()


@dataclass(frozen=True)
class Outcome:
    """An entry and what its check found; None where it has none."""

    entry: Entry
    evidence: Evidence | None

    @property
    def as_expected(self) -> bool:
        """Whether the check came out as the verdict says."""
        return self.evidence is None or self.evidence.verdict == self.entry.verdict


def outcomes(key: str) -> Iterator[Outcome]:
    """Each entry of a paper with what its check finds, one after the other."""
    for entry in listed(key).entries:
        found = evidence(key, entry.check, entry.line) if entry.check else None
        yield Outcome(entry, found)
