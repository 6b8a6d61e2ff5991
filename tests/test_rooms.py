"""The rooms of the package: what stands in the hall, and which way imports point.

Fails by naming the room: see CONTRIBUTING.md, "Where things live".
"""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import armdyn

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "armdyn"
HALL = {"__init__", "__main__", "errors", "forks"}


def python(*arguments, folder, path=PACKAGE.parent):
    """What a fresh interpreter does in a folder, where it looks in ``path`` for packages."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        timeout=120,
    )


def imported_with(module):
    """The modules that a fresh interpreter has after importing one."""
    done = python("-c", f"import sys, {module}; print(*sys.modules)", folder=ROOT)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


# The hall -----------------------------------------------------------------------------------------


def test_the_hall_holds_a_few_modules_and_rooms():
    inside = [path for path in PACKAGE.iterdir() if path.name != "__pycache__"]
    assert {path.stem for path in inside if path.is_file()} == {*HALL, "py"}  # py.typed
    assert (PACKAGE / "py.typed").exists()


def test_every_room_says_what_it_is_for():
    rooms = [path for path in PACKAGE.iterdir() if path.is_dir() and list(path.glob("*.py"))]
    for room in rooms:
        text = (room / "__init__.py").read_text(encoding="utf-8")
        assert text.startswith('"""'), f"{room.name} has no docstring"


# The contract -------------------------------------------------------------------------------------


def lint(folder):
    """import-linter on the tree in a folder, with the contract in its pyproject.toml."""
    pytest.importorskip("importlinter")
    code = "from importlinter.cli import lint_imports_command as run; run(['--no-cache'])"
    return python("-c", code, folder=folder, path=folder / "src")


@pytest.fixture
def copy(tmp_path):
    """A copy of the tree, to break."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    aside = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(PACKAGE, tmp_path / "src" / "armdyn", ignore=aside)
    return tmp_path


def test_imports_point_one_way(copy):
    done = lint(copy)
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


@pytest.mark.parametrize(
    ("module", "forbidden", "contract"),
    [
        ("program/passes.py", "armdyn.chain", "program knows nothing of robots BROKEN"),
        ("algorithms/crba.py", "armdyn.program.tape", "algorithms know nothing of programs BROKEN"),
        ("engine/cache.py", "armdyn.loaders", "dependencies point one way BROKEN"),
        ("errors.py", "armdyn.output.files", "dependencies point one way BROKEN"),
    ],
    ids=["program-chain", "algorithms-program", "engine-loaders", "errors-output"],
)
def test_a_forbidden_import_breaks_the_contract(copy, module, forbidden, contract):
    path = copy / "src" / "armdyn" / module
    late = f"\n\ndef late() -> None:\n    import {forbidden}\n"  # inside a function counts too
    path.write_text(path.read_text(encoding="utf-8") + late, encoding="utf-8")
    done = lint(copy)
    assert done.returncode == 1
    assert contract in done.stdout


def test_a_module_outside_the_rooms_breaks_the_contract(copy):
    (copy / "src" / "armdyn" / "helpers.py").write_text("")
    done = lint(copy)
    assert done.returncode == 1
    assert "helpers" in done.stdout


# What an import costs -----------------------------------------------------------------------------


def test_importing_armdyn_imports_nothing_else():
    modules = imported_with("armdyn")
    assert [name for name in modules if name.startswith("armdyn.")] == ["armdyn.forks"]
    assert not modules & {"numpy", "llvmlite", "rich", "scipy", "matplotlib"}


@pytest.mark.parametrize("module", ["armdyn.chain", "armdyn.spatial", "armdyn.errors"])
def test_the_arm_as_data_imports_no_algorithm(module):
    modules = imported_with(module)
    assert [name for name in modules if name.startswith("armdyn.algorithms")] == []


def imports_within_functions(tree):
    """What a module imports when its functions are called, outside of ``with importing``."""
    found = []

    def look(node, is_within):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            is_within = True
        if isinstance(node, ast.With) and "importing" in ast.unparse(node.items[0]):
            return
        name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        imports = isinstance(node, ast.Import | ast.ImportFrom) or name.startswith("np.random.")
        if is_within and (imports or name in ("import_module", "__import__")):
            found.append(ast.unparse(node))
        for each in ast.iter_child_nodes(node):
            look(each, is_within)

    look(tree, False)
    return found


def test_every_import_within_a_function_is_one_that_forks_and_interrupts_wait_for():
    """Except on the command line, which neither forks nor goes on after Ctrl-C."""
    paths = [path for path in PACKAGE.rglob("*.py") if PACKAGE / "cli" not in path.parents]
    trees = {path.name: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    found = {name: imports_within_functions(tree) for name, tree in trees.items()}
    assert {name: imports for name, imports in found.items() if imports} == {}


def test_an_import_within_a_function_is_found():
    tree = ast.parse("import a\ndef f():\n    with importing:\n        import b\n    import c")
    assert imports_within_functions(tree) == ["import c"]


@pytest.mark.parametrize("module", ["armdyn.robot", "armdyn.loaders"])
def test_nothing_slow_is_imported_before_a_robot_computes(module):
    assert not imported_with(module) & {"llvmlite", "rich", "scipy", "matplotlib"}


# The package, not the clone -----------------------------------------------------------------------


def test_a_folder_that_holds_a_clone_does_not_hide_the_package(tmp_path):
    """Python would take the clone's folder for a package if it did not find the installed one."""
    clone = tmp_path / "armdyn"
    (clone / "src" / "armdyn").mkdir(parents=True)
    (clone / "src" / "armdyn" / "__init__.py").write_text("")
    code = "import armdyn; print(armdyn.load('two_link').n); print(armdyn.__file__)"
    done = python("-c", code, folder=tmp_path, path="")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["2", armdyn.__file__]


def test_the_clone_itself_does_not_look_like_the_package():
    assert not list(ROOT.glob("__init__.py")) and not list((ROOT / "armdyn").glob("*.py"))


def test_the_module_is_the_command_line(tmp_path):
    done = python("-m", "armdyn", "robots", folder=tmp_path)
    assert done.returncode == 0 and "panda" in done.stdout, done.stderr
