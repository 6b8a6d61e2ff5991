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


def test_a_mutant_is_tried_by_the_tests_that_run_its_function():
    """Those first that run little else; a line outside of functions by those that import it."""
    pytest.importorskip("resource", reason="mutants are forked")
    from tests import mutate

    module = "loaders/dh_table.py"
    record = {
        "test_all.py": mutate.Ran(0, 9.0, {module: ["<module>", "_kind"], "robot": ["x"] * 99}),
        "test_dh.py": mutate.Ran(0, 1.0, {module: ["<module>", "_kind"]}),
        "test_other.py": mutate.Ran(0, 0.1, {module: ["<module>"]}),
        "test_calls.py": mutate.Ran(0, 1.0, {mutate.CALLER: ["<module>"]}),
        "test_long.py": mutate.Ran(0, mutate.MOST, {module: ["<module>", "_kind"]}),
    }
    lines = (PACKAGE / module).read_text(encoding="utf-8").splitlines()
    inside = next(k for k, line in enumerate(lines, start=1) if "not in TYPES" in line)
    outside = next(k for k, line in enumerate(lines, start=1) if line.startswith("TYPES"))
    found = {
        line: mutate.tests_of(mutate.Mutant(module, line, "", "", ""), record)
        for line in (inside, outside)
    }
    assert found[inside] == ["tests/test_dh.py", "tests/test_all.py"]
    assert found[outside] == ["tests/test_other.py", "tests/test_dh.py", "tests/test_all.py"]
    in_c = mutate.Mutant("engine/_call.c", 5, "", "", "")
    assert mutate.tests_of(in_c, record) == ["tests/test_calls.py"]


def test_mutants_of_c_stand_outside_comments_and_texts():
    pytest.importorskip("resource", reason="mutants are forked")
    from tests import mutate

    text = '#define A(x) ((x) < 2)\n/* a < b */\nif (a < b && c) // d > e\n    say("f - g", -h);\n'
    found = mutate.mutants_in_c("x.c", text)
    assert [(m.line, m.after) for m in found] == [(3, "<="), (3, "||")]
    assert found[0].text == text.replace("(a < b", "(a <= b")


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
