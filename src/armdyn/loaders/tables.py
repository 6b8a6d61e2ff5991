"""Tables of a TOML file, read key by key: every mistake is named, shown and put right in words."""

from __future__ import annotations

import re
import tomllib
from codecs import BOM_UTF8
from collections.abc import Sequence
from typing import Any

import numpy as np

from armdyn.chain.given import Triple, triple
from armdyn.chain.limits import MAX_PARTS, MAX_TOML
from armdyn.errors import ModelError, cut, listed, meant, shorten

Shape = tuple[int, ...]

NUMBER: Shape = ()
PAIR: Shape = (2,)
VECTOR: Shape = (3,)
MATRIX: Shape = (3, 3)
WORDS = {NUMBER: "a number", PAIR: "2 numbers", VECTOR: "3 numbers", MATRIX: "a 3 x 3 matrix"}
# Strings, closed or not, and comments; linear, because it tries no character twice.
QUOTED = re.compile(
    r'''"""(?:[^"\\]|\\.|"(?!""))*+"{0,5}|"(?:[^"\\\n]|\\.)*+"?'''
    r"""|'''(?:[^']|'(?!''))*+'{0,5}|'[^'\n]*+'?|(#)[^\n]*+""",
    re.DOTALL,
)
LONG_KEY = re.compile(rf"(?<![\w-])[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++){{{MAX_PARTS}}}")


def parse(text: str | bytes) -> dict[str, Any]:
    """The entries of a TOML file; bytes are UTF-8."""
    try:
        text = text.removeprefix(BOM_UTF8).decode() if isinstance(text, bytes) else text
        if len(text) > MAX_TOML:
            raise ModelError(f"{len(text)} characters of TOML; expected at most {MAX_TOML}")
        if key := LONG_KEY.search(QUOTED.sub(lambda found: "" if found[1] else "x", text)):
            raise ModelError(f"a key has more than {MAX_PARTS} parts: {cut(key[0])}")
        return tomllib.loads(text)
    except ModelError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelError(f"not a TOML file: {cut(str(error))}") from None


class Table:
    """One table of the file, read key by key; a key that it must not have is an error at once."""

    def __init__(self, where: str, entries: object, known: Sequence[str]) -> None:
        if not isinstance(entries, dict):
            raise ModelError(f"{where} must be a table, not {shorten(entries)}")
        for key in entries:
            if key not in known:
                hint = f". {meant(key, known)}".rstrip(" .")
                raise ModelError(
                    f"{where}: unknown key {shorten(key)}; known: {listed(known)}{hint}"
                )
        self.where, self.entries = where, entries

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def wrong(self, key: str, expected: str) -> ModelError:
        """The error to raise where ``key`` is missing or holds something else."""
        if key not in self.entries:
            return ModelError(f"{self.where}: the key {key!r} is missing; expected {expected}")
        found = shorten(self.entries[key])
        return ModelError(f"{self.where}: {key} must be {expected}, not {found}")

    def array(
        self, key: str, *shapes: Shape, default: Any = None, infinite: bool = False
    ) -> np.ndarray:
        """The numbers under ``key``, of one of the shapes, finite unless they may be infinite."""
        if key not in self.entries and default is not None:
            return np.array(default, float)
        value = self.entries.get(key)
        expected = " or ".join(WORDS[shape] for shape in shapes)
        if _shape(value) not in shapes:
            raise self.wrong(key, expected)
        try:
            numbers = np.array(value, float)
        except OverflowError:  # an integer of any length is TOML
            raise self.wrong(key, f"{expected} that a double can hold") from None
        if not (infinite or np.isfinite(numbers).all()):
            raise self.wrong(key, f"{expected}, finite")
        return numbers

    def number(self, key: str, default: float | None = None, infinite: bool = False) -> float:
        """One number."""
        return float(self.array(key, NUMBER, default=default, infinite=infinite))

    def vector(self, key: str, default: Sequence[float] | None = None) -> Triple:
        """Three numbers."""
        return triple(self.array(key, VECTOR, default=default))

    def text(self, key: str, default: str | None = None) -> str:
        """A string."""
        value = self.entries.get(key, default)
        if not isinstance(value, str):
            raise self.wrong(key, "a string")
        return value

    def texts(self, key: str) -> list[str]:
        """A list of strings, empty if it is not there."""
        value = self.entries.get(key, [])
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            raise self.wrong(key, "a list of strings")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self.entries.get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def choice(self, key: str, options: Sequence[str], default: str | None = None) -> str:
        """One of a few words."""
        value = self.entries.get(key, default)
        if not isinstance(value, str) or value not in options:
            words = (
                " or ".join(map(shorten, options))
                if len(options) < 5
                else "one of: " + listed(map(repr, options))
            )
            raise self.wrong(key, words)
        return value

    def table(self, key: str, known: Sequence[str]) -> Table:
        """A table inside this one, empty if it is not there."""
        return Table(f"{self.where}, {key}", self.entries.get(key, {}), known)

    def tables(self, key: str, known: Sequence[str]) -> list[Table]:
        """The tables ``[[key]]``, each named by its ``name`` or counted from 1 in errors."""
        rows = self.entries.get(key, [])
        if not isinstance(rows, list):
            raise self.wrong(key, f"tables, each under [[{key}]]")
        return [Table(_called(key, i, row), row, known) for i, row in enumerate(rows)]


def _called(key: str, i: int, row: object) -> str:
    name = row.get("name") if isinstance(row, dict) else None
    return f"{key} {shorten(name)}" if isinstance(name, str) else f"{key} {i + 1}"


def _shape(value: object) -> Shape | None:
    """The shape of nested lists of numbers, None for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return NUMBER
    if isinstance(value, list) and value:
        shapes = [_shape(entry) for entry in value]
        if shapes[0] is not None and shapes.count(shapes[0]) == len(shapes):
            return (len(value), *shapes[0])
    return None
