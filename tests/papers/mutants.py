"""Can each test of the papers fail? Change its statement, and see whether it does.

    python -m tests.papers.mutants              # every test of this folder
    python -m tests.papers.mutants kang -v      # those of test_kang.py, with the changes

A statement stands in its test: numbers, signs, indices. One of them at a time is changed (a number
by one, + to -, < to >=, a digit of a text) until an assertion fails. The comparison that an assert
makes and its tolerance stay as they are. A test that passes whatever is changed proves nothing; the
script lists it and exits with 1.
"""

from __future__ import annotations

import argparse
import ast
import copy
import inspect
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

import pytest

HERE = Path(__file__).parent
SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.USub: ast.UAdd,
}
MOST = 60  # mutants of one test
TOLERANCE = 1e-3  # smaller numbers are tolerances, no part of a statement


def mutants(function: FunctionType) -> Iterator[tuple[str, FunctionType]]:
    """What is changed, and the test with that change."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list.clear()
    if ast.get_docstring(definition) is not None:
        del definition.body[0]
    kept = {id(node.test) for node in ast.walk(tree) if isinstance(node, ast.Assert)}
    for place, node in enumerate(ast.walk(tree)):
        for change in () if id(node) in kept else changed(node):
            mutant = copy.deepcopy(tree)
            target = list(ast.walk(mutant))[place]
            before = ast.unparse(target) if isinstance(target, ast.expr) else type(node).__name__
            line = getattr(target, "lineno", 0)
            for name, value in change.items():
                setattr(target, name, value)
            scope = dict(function.__globals__)
            exec(compile(ast.fix_missing_locations(mutant), "<mutant>", "exec"), scope)
            yield f"line {line}: {before} -> {change}", scope[function.__name__]


def changed(node: ast.AST) -> Iterator[dict[str, object]]:
    """The changes of one node, as new values of its fields."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        if node.value == 0 or abs(node.value) > TOLERANCE:
            yield {"value": node.value + 1}
    if isinstance(node, ast.BinOp | ast.UnaryOp) and type(node.op) in SWAPPED:
        yield {"op": SWAPPED[type(node.op)]()}
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPPED:
        yield {"ops": [SWAPPED[type(node.ops[0])](), *node.ops[1:]]}
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        for k, letter in enumerate(node.value):
            if letter.isdigit():  # of a printed polynomial or cell
                yield {"value": f"{node.value[:k]}{(int(letter) + 1) % 10}{node.value[k + 1 :]}"}


class Mutating:
    """A plugin of pytest that runs the mutants of each collected test."""

    def __init__(self) -> None:
        self.killed: dict[str, str] = {}  # tests by name, and the change that each noticed
        self.toothless: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Function) -> None:
        name = f"{item.path.name}::{item.originalname}"
        if name in self.killed:
            return
        plain = item.obj
        arguments = {key: item.funcargs[key] for key in item._fixtureinfo.argnames}
        for k, (change, mutant) in enumerate(mutants(plain)):
            if k == MOST:
                break
            try:
                mutant(**arguments)
            except AssertionError:
                self.killed[name] = change
                break
            except Exception:  # no number was found wrong
                continue
        item.obj = lambda **_: None


def main() -> int:
    """Run it; 1 if a test cannot fail."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("papers", nargs="*", help="test_NAME.py for each; all if none is given")
    parser.add_argument("-v", "--verbose", action="store_true", help="show what each test noticed")
    given = parser.parse_args()
    files = [HERE / f"test_{name}.py" for name in given.papers] or [
        file for file in sorted(HERE.glob("test_*.py")) if file.name != "test_readings.py"
    ]
    plugin = Mutating()
    names: set[str] = set()
    plugin.pytest_collection_finish = lambda session: names.update(  # type: ignore[attr-defined]
        f"{item.path.name}::{item.originalname}" for item in session.items
    )
    pytest.main(["-q", "-n", "0", "-p", "no:cacheprovider", "-m", "", *map(str, files)], [plugin])
    for name in sorted(plugin.killed):
        if given.verbose:
            print(f"{name}: {plugin.killed[name]}")
    missed = sorted(names - set(plugin.killed))
    for name in missed:
        print(f"{name} passes whatever is changed in it")
    print(f"{len(plugin.killed)} of {len(names)} killed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
