"""The guide for contributors tells the truth: what it names is there, and all rooms are named."""

import re
import tomllib
from pathlib import Path

import pytest

import armdyn

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "armdyn"
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ANSWERS = re.findall(r"^\| (Where .+\?) \| \[`.+`\]\((.+)\).* \| `(.+)` \|$", GUIDE, re.M)
ROOMS = re.findall(r"^\| `([\w./]+)` \| .+ \|$", GUIDE, re.M)
TOOLS = ("ruff check", "ruff format", "mypy", "lint-imports")


def section(title):
    """The text below a heading."""
    return re.split(r"^## ", GUIDE.split(f"## {title}\n", 1)[1], maxsplit=1, flags=re.M)[0]


@pytest.mark.parametrize(("question", "file", "symbol"), ANSWERS, ids=[row[0] for row in ANSWERS])
def test_the_answer_is_where_the_guide_says(question, file, symbol):
    assert symbol in (ROOT / file).read_text(encoding="utf-8")


def test_a_newcomer_finds_fifteen_answers():
    rows = section("Where things live").count("| Where ")
    assert rows == len(ANSWERS) == len({question for question, _, _ in ANSWERS}) >= 15


def test_every_room_has_a_row():
    hidden = {"__init__.py", "__main__.py", "__pycache__", "py.typed"}
    inside = {path.name + "/" * path.is_dir() for path in PACKAGE.iterdir()}
    assert set(ROOMS) == inside - hidden - {"__pycache__/"}


def test_rooms_stand_in_the_order_of_the_contract():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    level = {room.strip(): k for k, layer in enumerate(layers) for room in layer.split(":")}
    found = [room.removesuffix("/").removesuffix(".py") for room in ROOMS]
    levels = [level[room] for room in found if room != "models"]
    assert levels == sorted(levels)


def test_the_test_files_that_the_guide_names_exist():
    named = re.findall(r"`(test_\S+?\.py)`", section("Tests"))
    assert len(named) > 10
    for pattern in named:
        assert list((ROOT / "tests").glob(pattern)), pattern


def test_mutants_are_tried_on_modules_and_tests_that_exist():
    pytest.importorskip("resource", reason="mutants are forked")
    from tests import mutate

    for what in mutate.TESTS:
        assert list(mutate.places(what)) and (PACKAGE / what).exists(), what
        for file in mutate.tests_of(what):
            assert (ROOT / file).exists(), file


def test_hooks_run_the_tools_of_the_environment():
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert re.findall(r"entry: (.+)", hooks) == list(TOOLS)
    assert set(re.findall(r"(?:repo|language): (.+)", hooks)) == {"local", "system"}
    assert all(tool in (ROOT / ".ci" / "run").read_text(encoding="utf-8") for tool in TOOLS)


@pytest.mark.parametrize("robot", [armdyn.load("two_link"), armdyn.load("scara")])
@pytest.mark.parametrize("chain", [armdyn.load("stanford").chain])
@pytest.mark.parametrize("limits", [(0, 1), {"a": [None]}])
def test_ids_say_the_arm(robot, chain, limits, request):
    assert request.node.name.endswith(f"[{limits}-stanford-{robot.chain.name}]")
