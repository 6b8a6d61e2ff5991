"""Do the tests notice? Change one thing in a module, run its tests, and see whether one fails.

    python -m tests.mutate                             # a sample of every module
    python -m tests.mutate --each 40 algorithms        # forty mutants of each module in that room
    python -m tests.mutate loaders/urdf.py:173         # every mutant of that line
    python -m tests.mutate --seed 2 --save killed.json chain/dh.py

Each mutant is a copy of the package with one operator, constant or condition changed. It is killed
if a test fails or if it runs into the time limit. What survives is printed with its line: a reader
decides whether a test is missing or whether the change makes no difference. A mutant may do
anything, also leave files behind: commit first. Needs os.fork.

A mutant's tests are the files that run the changed function; where the line is in no function, the
files that import the module. To know them, the script runs each test file once under a trace. This
takes as long as two suites, and build/mutate.json keeps the result until the test file changes. The
tests of compiled functions try the mutants of C.
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
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from functools import partial
from pathlib import Path
from types import CodeType
from typing import NamedTuple, NoReturn
from zlib import crc32

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "armdyn"
TIME_LIMIT = 100, 600  # [s] for the tests of one mutant: of the processor, and in all
SLOW_IMPORTS = ["llvmlite.binding", "mpmath", "numpy", "pinocchio", "scipy", "sympy"]
OPTIONS = ["-n", "0", "-p", "no:cacheprovider"]

RECORD = ROOT / "build" / "mutate.json"
MOST = 60  # [s] that the tests of one mutant took under the trace; further files are left out
CALLER = "engine/calls.py"  # whose functions call those in C
IN_C = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&"}
IN_C |= {"+": "-", "-": "+", "*": "+", "/": "*"}
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


def mutants_in_c(module: str, text: str) -> list[Mutant]:
    """The mutants of a file in C: one operator changed, outside comments and texts."""
    hidden = r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|^#(?:\\\n|[^\n])*"""
    plain = re.sub(hidden, lambda m: re.sub(r"[^\n]", "_", m[0]), text, flags=re.S | re.M)
    found = []
    for m in re.finditer(r"(?<= )(?:[<>=!]=|&&|\|\||[-<>+*/])(?= )", plain):
        line, after = plain.count("\n", 0, m.start()) + 1, IN_C[m[0]]
        changed = text[: m.start()] + after + text[m.end() :]
        found.append(Mutant(module, line, text.splitlines()[line - 1].strip(), after, changed))
    return found


def sample(asked: list[str], each: int, seed: int) -> list[Mutant]:
    """Up to ``each`` mutants of each module asked for; all mutants of a line."""
    rng, chosen = random.Random(seed), []
    for path, line in sorted({place for what in asked for place in places(what)}):
        text, module = path.read_text(encoding="utf-8"), path.relative_to(PACKAGE).as_posix()
        if path.suffix == ".c":
            make, found = Mutant, mutants_in_c(module, text)
        else:
            tree = ast.parse(text)
            make, found = partial(mutate, module, tree), spots(tree)
        at = 1 if path.suffix == ".c" else 0  # where a mutant, or a spot, has its line
        found = [spot for spot in found if line in (0, spot[at])]
        drawn = found if line else rng.sample(found, min(each, len(found)))
        chosen += [make(*spot) for spot in drawn]
    return chosen


def places(what: str) -> Iterator[tuple[Path, int]]:
    """The modules of a room, or the one that is named, with the line that is named; 0 is none."""
    name, _, line = what.partition(":")
    for path in [PACKAGE / name] if "." in name else (PACKAGE / name).glob("*.[pc]*"):
        if path.suffix in (".py", ".c"):
            yield path, int(line or 0)


# Tests -------------------------------------------------------------------------------------------


class Ran(NamedTuple):
    """What running a test file ran."""

    text: int  # a checksum of the file
    seconds: float
    names: dict[str, list[str]]  # of each module's functions; "<module>": it was imported


def recorded(files: Sequence[Path], jobs: int) -> dict[str, Ran]:
    """What each test file ran, by its name; those that are not in the record are run."""
    known = {}
    if RECORD.exists():
        known = {name: Ran(*ran) for name, ran in json.loads(RECORD.read_text()).items()}
    new = [f for f in files if f.name not in known or known[f.name].text != crc32(f.read_bytes())]
    RECORD.parent.mkdir(exist_ok=True)
    with multiprocessing.get_context("fork").Pool(jobs, maxtasksperchild=1) as pool:
        for k, (file, ran) in enumerate(zip(new, pool.imap(traced, new), strict=True), start=1):
            known[file.name] = ran
            RECORD.write_text(json.dumps(known), encoding="utf-8")
            print(f"{k} of {len(new)} recorded: {file.name}, {ran.seconds:.1f} s", file=sys.stderr)
    return {file.name: known[file.name] for file in files}


def traced(file: Path) -> Ran:
    """Run a test file in this process, and see what it runs."""
    codes, begun = set[CodeType](), time.process_time()
    for trace in sys.settrace, threading.settrace:
        trace(lambda frame, *_: codes.add(frame.f_code))
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        pytest.main([*OPTIONS, str(file)])
    sys.settrace(None)
    names: dict[str, list[str]] = {}
    for path, name in sorted({(code.co_filename, code.co_name) for code in codes}):
        if path.startswith(f"{PACKAGE}{os.sep}"):
            names.setdefault(Path(path).relative_to(PACKAGE).as_posix(), []).append(name)
    return Ran(crc32(file.read_bytes()), time.process_time() - begun, names)


def tests_of(mutant: Mutant, record: Mapping[str, Ran]) -> list[str]:
    """The test files that run what is changed, those first that run little else."""
    module, name = mutant.module, "<module>"
    if module.endswith(".c"):
        module = CALLER
    else:
        for node in ast.walk(ast.parse((PACKAGE / module).read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.lineno < mutant.line <= node.end_lineno:
                name = node.name  # of the innermost, which comes last
    found = [(file, ran) for file, ran in record.items() if name in ran.names.get(module, ())]
    found.sort(key=lambda each: each[1].seconds * sum(map(len, each[1].names.values())))
    chosen, left = [], float(MOST)
    for file, ran in found:
        if ran.seconds <= left or not chosen:
            chosen.append(f"tests/{file}")
            left -= ran.seconds
    return chosen


def is_killed(task: tuple[Mutant, Sequence[str]]) -> bool:
    """Whether a test fails, or the time is over."""
    mutant, files = task
    return bool(files) and fails(mutant.module, mutant.text, files)


def fails(module: str, text: str, files: Sequence[str]) -> bool:
    """Whether a test in the files fails where the module's text is another."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)  # some tests are an ordinary user's
        source = Path(folder) / "src"
        shutil.copytree(PACKAGE, source / "armdyn")
        (source / "armdyn" / module).write_text(text, encoding="utf-8")
        if module.endswith(".c"):
            shutil.copy(ROOT / "setup.py", folder)
            build = [sys.executable, "setup.py", "-q", "build_ext", "--build-lib", "src"]
            subprocess.run(build, cwd=folder, check=True, capture_output=True)
        child = os.fork()  # which has imported already what takes long
        if child == 0:
            run_tests(str(source), files)
        _, status = os.waitpid(child, 0)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what its tests have started
    return status != 0


def run_tests(folder: str, files: Sequence[str]) -> NoReturn:
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
    os._exit(pytest.main([*OPTIONS, "-x", *files]))


def main() -> None:
    """Mutate what was asked for, and print what survived and the share that was killed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    rooms = sorted({path.parent.name for path in PACKAGE.glob("*/__init__.py")})
    parser.add_argument("what", nargs="*", default=rooms, help="rooms, modules, lines")
    parser.add_argument("--each", type=int, default=8, help="mutants of a module")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--tests", nargs="+", type=Path, help="the only test files that may run")
    parser.add_argument("--trust", action="store_true", help="the tests pass on what is unchanged")
    parser.add_argument("--save", type=Path, help="write the result as JSON")
    asked = parser.parse_args()
    os.chdir(ROOT)
    chosen = sample(asked.what, asked.each, asked.seed)
    for name in SLOW_IMPORTS:
        with suppress(ImportError):
            importlib.import_module(name)
    files = asked.tests or sorted(Path("tests").glob("test_*.py"))
    record = recorded(files, asked.jobs)
    tasks = [(mutant, tests_of(mutant, record)) for mutant in chosen]
    if not asked.trust:  # tests that fail on the package as it is would kill every mutant
        for test in sorted({test for _, tests in tasks for test in tests}):
            if fails("__init__.py", (PACKAGE / "__init__.py").read_text(encoding="utf-8"), [test]):
                raise SystemExit(f"nothing is changed, and yet {test} fails")
    tried, killed, rows = Counter[str](), Counter[str](), []
    with multiprocessing.get_context("fork").Pool(asked.jobs) as pool:
        for (mutant, tests), dead in zip(tasks, pool.imap(is_killed, tasks), strict=True):
            module, line, before, after, _ = mutant
            room = module.partition("/")[0]
            tried[room] += 1
            killed[room] += dead
            rows.append({**mutant._asdict(), "killed": dead, "text": None, "tests": tests})
            if not dead:
                print(f"survived: {module}:{line}: {before!r} -> {after!r}", flush=True)
            if asked.save:
                asked.save.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    for room in tried:
        print(f"{room}: {killed[room]} of {tried[room]} mutants killed")
    print(f"{killed.total()} of {tried.total()} mutants killed")


if __name__ == "__main__":
    main()
