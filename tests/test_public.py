"""What is public: one list, in ``armdyn/__init__.py``; all of it is described in docs/api.md."""

import ast
import importlib
import re
import rlcompleter
from pathlib import Path

import pytest

import armdyn

ROOT = Path(__file__).parents[1]
API = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
DIRECTIVE = re.compile(r"^\.\. auto(module|class|function):: ([\w.]+)", re.M)
MEMBERS = re.compile(r"^\.\. automodule:: ([\w.]+)\n   :members: (.+)$", re.M)


def described():
    """The dotted names that docs/api.md describes."""
    names = {name for _, name in DIRECTIVE.findall(API)}
    for module, members in MEMBERS.findall(API):
        names |= {f"{module}.{member.strip()}" for member in members.split(",")}
    return names


def resolve(dotted):
    """What a dotted name stands for."""
    thing = armdyn
    for place, name in enumerate(dotted.split(".")[1:], start=2):
        if not hasattr(thing, name):
            importlib.import_module(".".join(dotted.split(".")[:place]))
        thing = getattr(thing, name)
    return thing


def test_dir_lists_the_public_names_and_nothing_else():
    import armdyn.cli  # which imports every room, and each becomes an attribute of armdyn

    assert set(dir(armdyn)) == {*armdyn._HOMES, "__version__"}
    assert set(armdyn.__all__) == set(armdyn._HOMES)
    assert len(dir(armdyn)) < 40
    assert {"load", "robots", "Robot", "Chain", "simulate", "compare", "count"} <= set(dir(armdyn))


def test_completion_offers_the_public_names_and_nothing_else():
    completer = rlcompleter.Completer({"armdyn": armdyn})
    offered = []
    while (match := completer.complete("armdyn.", len(offered))) is not None:
        offered.append(match)
    names = {match.removeprefix("armdyn.").rstrip("()") for match in offered}
    assert {name for name in names if not name.startswith("_")} == set(armdyn._HOMES)


@pytest.mark.parametrize("name", armdyn._HOMES)
def test_a_public_name_is_there_and_described(name):
    thing = getattr(armdyn, name)
    assert thing.__doc__
    places = [t for t in map(resolve, sorted(described())) if t is thing]
    assert places, f"docs/api.md does not describe armdyn.{name}"


@pytest.mark.parametrize("name", sorted(described()))
def test_what_the_page_describes_exists(name):
    assert resolve(name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'armdyn' has no attribute 'lode'"):
        _ = armdyn.lode


def test_type_checkers_are_told_the_same_homes():
    tree = ast.parse(Path(armdyn.__file__).read_text(encoding="utf-8"))
    branches = [n for n in tree.body if isinstance(n, ast.If) and isinstance(n.test, ast.Name)]
    (told,) = (n for n in branches if n.test.id == "TYPE_CHECKING")
    homes = {}
    for statement in told.body:
        for alias in statement.names:
            assert alias.asname == alias.name
            homes[alias.name] = statement.module.removeprefix("armdyn.")
    assert homes == armdyn._HOMES


def test_the_version_is_said_alike_everywhere():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.+)$", citation, re.M)[1] == armdyn.__version__
