"""Do the tests notice? Change one thing in a module, run its tests, and see whether one fails.

    python -m tests.mutate                        # a sample of every module below
    python -m tests.mutate --each 40 algorithms   # forty mutants of each module in that room
    python -m tests.mutate --seed 2 --save killed.json loaders/urdf.py

Each mutant is a copy of the package with one operator, constant or condition changed. It is killed
if a test fails or if it runs into the time limit. What survives is printed with its line: a reader
decides whether a test is missing or whether the change makes no difference.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from rich.progress import track

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "armdyn"
TIME_LIMIT = 300  # [s] for the tests of one mutant

TESTS = {  # of a room or module: the files that would notice, the quickest first
    "algorithms": ["laws", "methods", "pinocchio", "forward_dynamics", "christoffel", "coriolis"],
    "algorithms/lin1991.py": ["lin1991", "laws", "methods", "counting"],
    "algorithms/lin_fang.py": ["lin_fang", "laws", "methods", "counting"],
    "algorithms/lin_fang_minimal.py": ["lin_fang", "laws", "methods", "counting"],
    "algorithms/kic.py": ["kic", "laws", "methods"],
    "algorithms/kic_augmented.py": ["kic", "laws", "methods"],
    "algorithms/gdahj.py": ["safeea", "laws", "methods"],
    "algorithms/lagrange.py": ["lagrange", "laws", "methods"],
    "loaders": ["urdf", "toml", "models", "bad_input", "pinocchio", "fuzz"],
    "program/passes.py": ["program", "llvm", "counting", "engine"],
    "engine/calls.py": ["calls", "call_threads", "extension", "robot"],
    "engine/blocks.py": ["calls", "call_threads", "stress"],
    "engine/cache.py": ["cache", "cache_key", "cache_size"],
}
COMPARED = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
COMPUTED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


class Mutant(NamedTuple):
    """A module with one thing changed."""

    module: str
    line: int
    before: str
    after: str
    text: str


def mutants(module: str) -> Iterator[Mutant]:
    """All mutants of a module."""
    tree = ast.parse((PACKAGE / module).read_text(encoding="utf-8"))
    hidden = set(map(id, annotations_and_words(tree)))
    nodes = list(ast.walk(tree))
    for k, node in enumerate(nodes):
        if id(node) in hidden:
            continue
        for changed in changes(node):
            twin = copy.deepcopy(tree)
            place = list(ast.walk(twin))[k]
            before = ast.unparse(place)
            changed(place)
            yield Mutant(
                module, getattr(node, "lineno", 0), before, ast.unparse(place), ast.unparse(twin)
            )


def annotations_and_words(tree: ast.Module) -> Iterator[ast.AST]:
    """Nodes that no behaviour depends on: annotations, texts, imports, type aliases."""
    for node in ast.walk(tree):
        unread = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.Import | ast.ImportFrom | ast.JoinedStr | ast.Raise):
            unread.append(node)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            unread.append(node)
        for part in unread:
            if part is not None:
                yield from ast.walk(part)


def changes(node: ast.AST) -> Iterator:
    """The ways to change one node, each a function of its twin in the copied tree."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARED:
            yield lambda twin: twin.ops.__setitem__(0, COMPARED[type(op)]())
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in COMPUTED:
            yield lambda twin: setattr(twin, "op", COMPUTED[type(op)]())
        case ast.BoolOp(op=op):
            other = ast.Or if isinstance(op, ast.And) else ast.And
            yield lambda twin: setattr(twin, "op", other())
        case ast.UnaryOp(op=ast.Not()):
            yield lambda twin: setattr(twin, "operand", ast.UnaryOp(ast.Not(), twin.operand))
        case ast.UnaryOp(op=ast.USub()):
            yield lambda twin: setattr(twin, "op", ast.UAdd())
        case ast.Constant(value=bool(value)):
            yield lambda twin: setattr(twin, "value", not value)
        case ast.Constant(value=int() | float() as value):
            yield lambda twin: setattr(
                twin, "value", value + 1 if isinstance(value, int) else 2 * value + 1
            )
        case ast.If() | ast.IfExp():
            yield lambda twin: setattr(twin, "test", ast.Constant(True))
            yield lambda twin: setattr(twin, "test", ast.Constant(False))


def tests_of(module: str) -> list[str]:
    """The test files that would notice a change in a module."""
    names = TESTS.get(module) or TESTS.get(module.partition("/")[0]) or []
    files = [f"tests/test_{name}.py" for name in names]
    return [file for file in files if (ROOT / file).exists()]


def is_killed(mutant: Mutant) -> bool:
    """Whether a test fails, or the time is over."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(
            PACKAGE, Path(folder) / "armdyn", ignore=shutil.ignore_patterns("__pycache__")
        )
        (Path(folder) / "armdyn" / mutant.module).write_text(mutant.text, encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
        try:
            done = subprocess.run(
                [*command, *tests_of(mutant.module)],
                cwd=ROOT,
                env=environment,
                capture_output=True,
                timeout=TIME_LIMIT,
            )
        except subprocess.TimeoutExpired:
            return True
    return done.returncode != 0


def main() -> None:
    """Mutate what was asked for, and print what survived and the share that was killed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", nargs="*", default=list(TESTS), help="rooms or modules")
    parser.add_argument("--each", type=int, default=10, help="mutants of a module")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--save", type=Path, help="write the result as JSON")
    asked = parser.parse_args()
    modules = sorted(
        {
            str(path.relative_to(PACKAGE))
            for what in asked.what
            for path in (
                [PACKAGE / what] if what.endswith(".py") else (PACKAGE / what).rglob("*.py")
            )
        }
    )
    rng = random.Random(asked.seed)
    chosen = []
    for module in modules:
        found = list(mutants(module))
        chosen += rng.sample(found, min(asked.each, len(found)))
    with ThreadPoolExecutor(asked.jobs) as pool:
        killed = list(track(pool.map(is_killed, chosen), "mutants", total=len(chosen)))
    for mutant, dead in zip(chosen, killed, strict=True):
        if not dead:
            print(f"survived: {mutant.module}:{mutant.line}: {mutant.before!r} -> {mutant.after!r}")
    print(f"{sum(killed)} of {len(killed)} mutants killed")
    if asked.save:
        rows = [{**m._asdict(), "killed": k} for m, k in zip(chosen, killed, strict=True)]
        asked.save.write_text(
            json.dumps([{k: v for k, v in r.items() if k != "text"} for r in rows], indent=1)
        )


if __name__ == "__main__":
    main()
