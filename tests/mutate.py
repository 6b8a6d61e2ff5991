"""Do the tests notice? Change one thing in a module, run its tests, and see whether one fails.

    python -m tests.mutate                             # a sample of every module below
    python -m tests.mutate --each 40 algorithms        # forty mutants of each module in that room
    python -m tests.mutate loaders/urdf.py:173         # every mutant of that line
    python -m tests.mutate --seed 2 --save killed.json chain/dh.py

Each mutant is a copy of the package with one operator, constant or condition changed. It is killed
if a test fails or if it runs into the time limit. What survives is printed with its line: a reader
decides whether a test is missing or whether the change makes no difference. A mutant may do
anything, also leave files behind: commit first. Needs os.fork.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, NoReturn

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "armdyn"
TIME_LIMIT = 100, 600  # [s] for the tests of one mutant: of the processor, and in all
SLOW_IMPORTS = ["llvmlite.binding", "mpmath", "numpy", "pinocchio", "scipy", "sympy"]
OPTIONS = ["-x", "-n", "0", "-p", "no:cacheprovider"]

TESTS = {  # of a room or module: the files that would notice, the quickest first
    "algorithms": ["costs", "methods"],
    "algorithms/articulated_body.py": ["costs", "forward_dynamics", "methods"],
    "algorithms/catalogue.py": ["costs", "method_names", "register", "methods"],
    "algorithms/coriolis.py": ["coriolis", "christoffel", "costs"],
    "algorithms/drives.py": ["robot", "forward_dynamics", "laws"],
    "algorithms/forward_dynamics.py": ["costs", "forward_dynamics", "methods"],
    "algorithms/gdahj.py": ["costs", "safeea", "methods"],
    "algorithms/hamilton.py": ["simulation", "simulation_runs"],
    "algorithms/kic.py": ["costs", "kic", "methods"],
    "algorithms/kic_augmented.py": ["costs", "chain", "kic", "methods"],
    "algorithms/kinematics.py": ["robot", "urdf", "laws", "pinocchio"],
    "algorithms/lagrange.py": ["costs", "lagrange", "methods"],
    "algorithms/lin1991.py": ["costs", "lin1991", "counting", "methods"],
    "algorithms/lin_fang.py": ["costs", "lin_fang", "counting", "methods"],
    "algorithms/lin_fang_minimal.py": ["costs", "lin_fang", "counting", "methods"],
    "algorithms/momentum.py": ["costs", "christoffel", "methods"],
    "algorithms/regressor.py": ["laws", "minimal"],
    "algorithms/stages.py": ["counting", "safeea", "papers"],
    "algorithms/zomaya_morris.py": ["costs", "lagrange", "papers"],
    "chain": ["constructors", "chain", "bad_input", "toml", "urdf", "chain_checks"],
    "chain/axes.py": ["costs", "minimal", "lin_fang"],
    "chain/minimal.py": ["costs", "minimal", "lin_fang"],
    "engine/blocks.py": ["recycling", "workers", "stack", "calls", "call_threads"],
    "engine/cache.py": ["cache_size", "cache", "cache_key", "cache_text"],
    "engine/calls.py": ["recycling", "extension", "robot", "calls", "call_threads"],
    "engine/workers.py": ["workers", "calls", "call_threads", "forks"],
    "identification/formats.py": ["logs"],
    "identification/logs.py": ["logs"],
    "identification/plots.py": ["identification_plots"],
    "identification/signals.py": ["signals"],
    "identification/spans.py": ["identification_write"],
    "identification/units.py": ["signals"],
    "identification/write.py": ["identification_write"],
    "identification/allowed.py": ["excitation"],
    "identification/cluster.py": ["cluster"],
    "identification/descent.py": ["excitation"],
    "identification/excitation.py": ["excitation", "excite_command"],
    "identification/fourier.py": ["excitation"],
    "identification/information.py": ["excitation"],
    "identification/search.py": ["excitation"],
    "loaders": ["bad_input", "sources", "urdf", "toml", "models", "fuzz", "pinocchio"],
    "program/adjoints.py": ["tangents"],
    "program/jacobians.py": ["tangents"],
    "program/passes.py": ["program", "costs", "llvm"],
    "program/replay.py": ["tangents", "recorded"],
    "program/slopes.py": ["tangents"],
    "program/tangents.py": ["tangents"],
    "simulation/cluster.py": ["cluster_simulation"],
    "simulation/formats.py": ["simulation_formats", "simulation_results"],
    "simulation/step.py": ["stepper", "simulation_given", "simulation_runs"],
    "simulation/stepper.py": ["stepper"],
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


# Mutants -----------------------------------------------------------------------------------------


def spots(tree: ast.Module) -> list[tuple[int, int, Callable]]:
    """All that can be changed: the line, which node of a walk it is, and what changes it."""
    hidden = set(map(id, untold(tree)))
    return [
        (getattr(node, "lineno", 0), k, change)
        for k, node in enumerate(ast.walk(tree))
        if id(node) not in hidden
        for change in changes(node)
    ]


def mutate(module: str, tree: ast.Module, line: int, k: int, change: Callable) -> Mutant:
    """The module with one spot changed."""
    twin = copy.deepcopy(tree)
    place = list(ast.walk(twin))[k]
    before = ast.unparse(place)
    change(place)
    return Mutant(module, line, before, ast.unparse(place), ast.unparse(twin))


def untold(tree: ast.Module) -> Iterator[ast.AST]:
    """Nodes whose change says nothing of the tests.

    Annotations, texts and what is raised with them; imports; decorators; ``strict=``, which guards
    against what cannot happen; types in ``isinstance``, which fail at once.
    """
    for node in ast.walk(tree):
        unread = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        unread += getattr(node, "decorator_list", [])
        match node:
            case ast.Import() | ast.ImportFrom() | ast.JoinedStr() | ast.Raise():
                unread.append(node)
            case ast.If(test=ast.Name("TYPE_CHECKING")) | ast.keyword(arg="strict"):
                unread.append(node)
            case ast.Call(func=ast.Name("isinstance"), args=[_, types]):
                unread.append(types)
        for part in unread:
            if part is not None:
                yield from ast.walk(part)


def changes(node: ast.AST) -> Iterator[Callable]:
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


def sample(asked: list[str], each: int, seed: int) -> list[Mutant]:
    """So many mutants of each module that a room's or module's name stands for; all of a line."""
    rng, chosen = random.Random(seed), []
    for path, line in sorted({place for what in asked for place in places(what)}):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found = [spot for spot in spots(tree) if line in (0, spot[0])]
        drawn = found if line else rng.sample(found, min(each, len(found)))
        module = path.relative_to(PACKAGE).as_posix()
        chosen += [mutate(module, tree, *spot) for spot in drawn]
    return chosen


def places(what: str) -> Iterator[tuple[Path, int]]:
    """The modules of a room, or the one that is named, with the line that is named; 0 is none."""
    name, _, line = what.partition(":")
    for path in [PACKAGE / name] if name.endswith(".py") else (PACKAGE / name).glob("*.py"):
        yield path, int(line or 0)


# Tests -------------------------------------------------------------------------------------------


def tests_of(module: str) -> tuple[str, ...]:
    """The test files that would notice a change in a module."""
    names = TESTS.get(module) or TESTS[module.partition("/")[0]]
    return tuple(f"tests/test_{name}.py" for name in names)


def is_killed(mutant: Mutant) -> bool:
    """Whether a test fails, or the time is over."""
    return fails(mutant.module, mutant.text, tests_of(mutant.module))


def fails(module: str, text: str, files: Sequence[str]) -> bool:
    """Whether a test in the files fails where the module's text is another."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)  # some tests are an ordinary user's
        shutil.copytree(PACKAGE, Path(folder) / "armdyn")
        (Path(folder) / "armdyn" / module).write_text(text, encoding="utf-8")
        child = os.fork()  # which has imported already what takes long
        if child == 0:
            run_tests(folder, module, files)
        _, status = os.waitpid(child, 0)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what its tests have started
    return status != 0


def run_tests(folder: str, module: str, files: Sequence[str]) -> NoReturn:
    """End with status 0 if the tests pass on the package in the folder."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (TIME_LIMIT[0], TIME_LIMIT[0]))
    signal.alarm(TIME_LIMIT[1])
    os.environ |= {"PYTHONPATH": folder, "TMPDIR": folder, "HYPOTHESIS_STORAGE_DIRECTORY": folder}
    tempfile.tempdir = folder
    sys.path.insert(0, folder)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    os._exit(pytest.main([*OPTIONS, *files], [NamesakesFirst(module)]))


class NamesakesFirst:
    """Lets pytest begin with the tests that name the module: they are the likeliest to notice."""

    def __init__(self, module: str) -> None:
        stem = Path(module).stem
        self.names = stem, stem.replace("_", "-")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Called by pytest."""
        items.sort(key=lambda item: not any(name in item.nodeid for name in self.names))


def check_unchanged(modules: set[str]) -> None:
    """Refuse tests that fail on the package as it is: they would kill every mutant."""
    files = sorted({file for module in modules for file in tests_of(module)})
    module = min(modules)
    text = ast.unparse(ast.parse((PACKAGE / module).read_text(encoding="utf-8")))
    if fails(module, text, files):
        raise SystemExit(f"nothing is changed, and yet one of these fails: {' '.join(files)}")


def main() -> None:
    """Mutate what was asked for, and print what survived and the share that was killed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", nargs="*", default=sorted(TESTS), help="rooms, modules, lines")
    parser.add_argument("--each", type=int, default=8, help="mutants of a module")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--trust", action="store_true", help="the tests pass on what is unchanged")
    parser.add_argument("--save", type=Path, help="write the result as JSON")
    asked = parser.parse_args()
    os.chdir(ROOT)
    chosen = sample(asked.what, asked.each, asked.seed)
    for name in SLOW_IMPORTS:
        with suppress(ImportError):
            importlib.import_module(name)
    if not asked.trust:
        check_unchanged({mutant.module for mutant in chosen})
    tried, killed, rows = Counter[str](), Counter[str](), []
    with multiprocessing.get_context("fork").Pool(asked.jobs) as pool:
        for mutant, dead in zip(chosen, pool.imap(is_killed, chosen), strict=True):
            module, line, before, after, _ = mutant
            room = module.partition("/")[0]
            tried[room] += 1
            killed[room] += dead
            rows.append({**mutant._asdict(), "killed": dead, "text": None})
            if not dead:
                print(f"survived: {module}:{line}: {before!r} -> {after!r}", flush=True)
            if asked.save:
                asked.save.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    for room in tried:
        print(f"{room}: {killed[room]} of {tried[room]} mutants killed")
    print(f"{killed.total()} of {tried.total()} mutants killed")


if __name__ == "__main__":
    main()
