"""From a question about an arm to machine code: tracing, passes, LLVM and the disk cache."""

from __future__ import annotations

import gc
import platform
import sys
from ast import literal_eval
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache as once
from typing import Any

import numpy as np

import armdyn
from armdyn.algorithms.catalogue import registered
from armdyn.chain import Chain
from armdyn.engine import cache, calls, jit, processor
from armdyn.errors import ArmdynError, warn
from armdyn.program.fma import place_fma
from armdyn.program.program import Program
from armdyn.quantities import ARGUMENTS, choice
from armdyn.quantities.tasks import Task, arguments, program, shapes

RARELY = 1_000_000  # objects more than there were, when Python looks for garbage among them


def function(
    chain: Chain,
    tasks: Sequence[Task],
    options: calls.Options | None = None,
    code: Compilation | None = None,
) -> Callable[..., Any]:
    """A compiled function of arrays for some tasks together; compiles at its first call.

    ``options`` says what a call may ask for besides; see ``calls.Function``. ``code`` makes its
    kernels, for who wants to know of them.
    """
    return calls.Function(
        " ".join(task.quantity for task in tasks),
        taken(chain.n, tasks),
        shapes(chain, tasks),
        Compilation(chain, tasks) if code is None else code,
        options,
    )


def taken(n: int, tasks: Sequence[Task]) -> dict[str, calls.Argument]:
    """What a call of some tasks together takes, on an arm of n joints."""
    return {
        name: calls.Argument(each.shape(n), each.meaning.format(n=n))
        for name, each in ((name, ARGUMENTS[name]) for name in arguments(tasks))
    }


class Code:
    """Makes the kernels of one program, and keeps them in memory while it lives.

    A kernel that the disk cache has, under the question, is taken from there without tracing.
    """

    choices: Sequence[str | None] = ()  # made while tracing; stored with the code

    def __init__(self) -> None:
        self._program: Program | None = None
        self._loaded: list[jit.LoadedCode] = []
        self.instructions: dict[tuple[str, str], int | None] = {}  # bytes of each kernel

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_program": None, "_loaded": []}  # made again where it is needed

    def trace(self) -> Program:
        """The program without unused instructions, before any other pass."""
        raise NotImplementedError

    def question(self) -> tuple[str, ...]:
        """All that the program depends on besides armdyn's own text."""
        raise NotImplementedError

    @property
    def program(self) -> Program:
        """The final program, traced at first need."""
        if self._program is None:
            self._program = place_fma(self.trace())
        return self._program

    def __call__(self, kind: str, dtype: str) -> int:
        """The address of the kernel "single", "batch" or "stream" for "float64" or "float32"."""
        loaded = jit.LoadedCode(self._code(kind, dtype), kind)
        self._loaded.append(loaded)
        self.instructions[kind, dtype] = loaded.instructions
        return loaded.address

    def _code(self, kind: str, dtype: str) -> bytes:
        """Object code, from the disk cache or newly made."""
        return self.kept(lambda: jit.compile(self.program, kind, dtype), kind, dtype)

    def kept(self, make: Callable[[], bytes], *form: str) -> bytes:
        """What ``make`` makes of the program, from the disk cache if it is there.

        ``form`` says what that is, besides the question.
        """
        key = cache.key(*self.question(), *form, *fingerprint())
        entry = cache.get(key) if is_as_imported() else None
        if entry is None:
            with rarely_collected():
                code = make()
            if is_as_imported():  # still, after modules that tracing imported
                cache.put(key, repr(list(self.choices)).encode() + b"\n" + code)
            return code
        choices, _, code = entry.partition(b"\n")
        self.choices = literal_eval(choices.decode())
        return code


class Kernels(Code):
    """The kernels of a program on a chain.

    ``asked`` says by its repr all that the program depends on besides the chain.
    """

    def __init__(self, chain: Chain, asked: object) -> None:
        super().__init__()
        self.chain, self.asked = chain, asked

    def question(self) -> tuple[str, ...]:
        """The chain, and what was asked of it."""
        # What a user registered is not in armdyn's text: then the program itself is the question.
        return self.chain.key, str(self.program) if registered() else repr(self.asked)


class Compilation(Kernels):
    """The kernels of some tasks together; the choices are their methods."""

    def __init__(self, chain: Chain, tasks: Sequence[Task]) -> None:
        self._tasks = tuple(tasks)
        super().__init__(chain, self._tasks)

    def trace(self) -> Program:
        """The tasks' program, by the methods that suit the chain best."""
        settled = [task.settled(self.chain) for task in self._tasks]
        self.choices = [task.method for task in settled]
        return program(self.chain, settled)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks, with the methods that were chosen as soon as they are known."""
        choices = self.choices or [task.method for task in self._tasks]
        return tuple(map(Task.by, self._tasks, choices))


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Let Python collect garbage rarely, because a program in the making is none.

    Collection that is switched off stays off.
    """
    with calls.COMPILING:  # or the thresholds of one thread would be restored by another
        usual = gc.get_threshold()
        gc.set_threshold(max(RARELY, usual[0]) if usual[0] else 0, *usual[1:])
        try:
            yield
        finally:
            gc.set_threshold(*usual)


def chosen_before(question: str, names: Sequence[str], choose: Callable[[], str]) -> str:
    """Which of the methods was chosen for this question, from the disk cache; or it is now."""
    if registered():  # what a user registered is not in armdyn's text
        return choose()
    key = cache.key("choice", question, armdyn.__version__, *armdyn._IMPORTED)
    name = (cache.get(key) or b"").decode(errors="replace")
    if name not in names:
        name = choose()
        if is_as_imported():
            cache.put(key, name.encode())
    return name


choice.remembered = chosen_before


@once
def fingerprint() -> tuple[str, ...]:
    """What object code depends on besides the arm: machine, versions, armdyn's own text."""
    machine = processor.description() or tuple(map(str, jit.machine()))
    return (armdyn.__version__, *machine, *armdyn._IMPORTED)


def is_as_imported() -> bool:
    """Whether the files of armdyn are those that this process runs.

    They were listed before any module was imported. If they are the same now, then so they were
    when each module was, early or late. If not, it is unknown which text the process runs, and
    the disk is left alone.
    """
    try:
        same = bool(armdyn._IMPORTED) and armdyn._files() == armdyn._IMPORTED
    except OSError:
        same = False
    if not same:
        _say_once("no disk cache: armdyn's files are not those that this process has imported")
    return same


@once
def _say_once(line: str) -> None:
    warn(line)


def info() -> dict[str, Any]:
    """Versions, processor, back end, call path and cache in use."""
    try:
        machine, back_end = jit.machine(), "llvm"
    except ArmdynError as trouble:
        machine, back_end = None, f"none: {trouble}"
    return {
        "armdyn": armdyn.__version__,
        "python": sys.version.split()[0],
        "numpy": np.__version__,
        "llvmlite": machine and machine.llvmlite,
        "cpu": machine.name if machine else platform.processor(),
        "vector_bytes": machine and machine.vector_bytes,
        "back_end": back_end,
        "call_path": call_path(),
        "cache": cache.directory(),
    }


def call_path() -> str:
    """What answers a plain call, see armdyn/engine/calls.py."""
    return "C extension" if calls.EXTENSION else "ctypes (the C extension is not built)"
