"""Loading in a child process with limited time and memory, for files that nobody vouches for.

The child reads the source and returns the arm in TOML, so that no object of its making reaches
this process. It protects against files that take for ever or fill the memory. It is no sandbox:
macros of xacro may still read files.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
from contextlib import suppress
from typing import Any

from armdyn.chain import Chain
from armdyn.chain.limits import MAX_BYTES
from armdyn.chain.parts import File, assign
from armdyn.errors import ArmdynError, ModelError, shorten
from armdyn.forks import importing
from armdyn.loaders import toml

CPU, WALL = 10, 15  # s: of processor time, and in all
MEMORY = 1 << 30  # bytes
CHILD = "from armdyn.loaders.untrusted import answer; answer()"
SINGLE = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}  # they take memory


def load(source: Any, options: dict[str, Any]) -> Chain:
    """A chain as ``armdyn.load`` reads it with those options, but in a child process."""
    if not sys.executable:
        raise ModelError("trusted=False needs a Python program to run, and sys.executable is empty")
    try:
        request = pickle.dumps((source, options))
    except Exception as error:  # whatever an object's own way of being pickled raises
        raise ModelError(f"trusted=False takes plain data only: {shorten(error)}") from None
    paths = os.pathsep.join(path for path in sys.path if path)
    call = [sys.executable, "-P", "-c", CHILD]  # -P: no modules from the working folder
    with tempfile.TemporaryFile() as output:
        with suppress(subprocess.TimeoutExpired):
            subprocess.run(
                call,
                input=request,
                stdout=output,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **SINGLE, "PYTHONPATH": paths},
                timeout=WALL,
            )
        output.seek(0)
        reply = output.read(2 * MAX_BYTES)
    try:
        problem, text, file = json.loads(reply)
    except (ValueError, TypeError, RecursionError):
        raise ModelError(
            f"reading it takes more than {CPU} s or {MEMORY >> 20} MB, or ends the process that "
            "reads it; trusted=True reads it without limits"
        ) from None
    if problem:
        raise ModelError(str(problem))
    chain = toml.load(text, check=options["check"])
    if file:
        path, snap, packages = file
        assign(chain, "file", File(path, snap, tuple(map(tuple, packages))))
    return chain


def answer() -> None:
    """What the child does: loads what it is asked to, and writes an error or the arm."""
    _limit()
    with importing:
        import armdyn

    source, options = pickle.load(sys.stdin.buffer)
    output = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # where parsers may print
    try:
        chain = armdyn.load(source, **options).chain
        reply = "", chain.to_toml(), chain.file
    except ArmdynError as error:
        reply = str(error), "", None
    with os.fdopen(output, "w") as stream:
        json.dump(reply, stream)


def _limit() -> None:
    """Limit this process's time and memory, where the system can."""
    try:
        with importing:
            import resource
    except ImportError:  # on Windows, where the parent's clock alone limits it
        return
    limits = {resource.RLIMIT_CPU: CPU, resource.RLIMIT_AS: MEMORY, resource.RLIMIT_CORE: 0}
    for what, most in limits.items():
        with suppress(OSError, ValueError):  # macOS limits no address space
            resource.setrlimit(what, (most, most))
