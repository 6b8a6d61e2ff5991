"""The letters of the algorithms are those of docs/notation.md."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = {
    path.stem: path
    for path in sorted((ROOT / "src" / "armdyn" / "algorithms").glob("*.py"))
    if path.stem not in ("__init__", "catalogue", "method", "stages")  # no algorithms
}
LETTERS = 3  # a longer name is a word, and speaks for itself
INDICES = {"i", "j", "k", "m", "n", "_"}
ROW = re.compile(r"^\| (`.*?) \|.*\| (\S[^|]*) \|$", re.M)


def rows():
    """(names, files) of each row of the tables; the files of a row may be "all"."""
    page = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")
    for names, files in ROW.findall(page):
        where = {"all"} if files == "all" else set(re.findall(r"`(\w+)`", files))
        assert where, names
        yield set(re.findall(r"`([^`]+)`", names)), where


def assigned(path):
    """The short names that a file assigns, with a line where it does."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    stored = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    lines = {node.id: node.lineno for node in stored}
    return {name: n for name, n in lines.items() if len(name) <= LETTERS and name not in INDICES}


@pytest.mark.parametrize("file", FILES)
def test_every_letter_of_an_algorithm_is_in_the_notation(file):
    listed = set().union(*(names for names, files in rows() if files & {"all", file}))
    missing = {name: line for name, line in assigned(FILES[file]).items() if name not in listed}
    assert not missing, f"docs/notation.md lacks letters of {file}.py (with a line): {missing}"


def test_every_letter_of_the_notation_stands_in_the_files_it_names():
    for names, files in rows():
        for file in files - {"all"}:
            assert file in FILES, file
            words = set(re.findall(r"\w+", FILES[file].read_text(encoding="utf-8")))
            assert names <= words, f"{file}.py has no {', '.join(sorted(names - words))}"
