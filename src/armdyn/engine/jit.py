"""Machine code of programs, by llvmlite: text to machine code, machine code to an address.

Machine code is a flat image where there is one (see image.py), else an object file for LLVM's
linker. It may come from an earlier process. llvmlite and the writers of LLVM's language are
imported at first use: an image from the disk needs neither.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from armdyn.engine import image, processor
from armdyn.engine.llvm_thread import binding, keep, on_llvm_thread
from armdyn.errors import ArmdynError, MethodError, shorten, warn
from armdyn.forks import importing
from armdyn.program.program import Op, Program
from armdyn.program.tables import Loop

BRISK = 32  # bytes of a vector; after a wider one some processors are slow for a while

VARIABLE = "ARMDYN_COMPILE_SECONDS"  # the most that compiling may take, by the estimate
MOST, LONG = 120.0, 5.0  # [s]: that limit if none is set; what is said beforehand
AN_INSTRUCTION = 70e-6  # [s] to compile one, measured on a processor of 2023,
A_STORE = {"single": 100e-6, "batch": 300e-6, "stream": 300e-6}  # and to store a number of a result

MANY = ("batch", "stream")  # kinds of kernel that are for many states
ORDERED_ANEW = range(1300, 6000)  # lines of a module's text, see ``_level``


class Machine(NamedTuple):
    """The processor that code is made for."""

    name: str
    features: str
    vector_bytes: int
    llvmlite: str

    def lanes(self, dtype: str, widest: int = 64) -> int:
        """How many numbers a vector holds, one of at most ``widest`` bytes."""
        return min(self.vector_bytes, widest) // {"float64": 8, "float32": 4}[dtype]


@cache
@on_llvm_thread
def machine() -> Machine:
    """This machine, as LLVM sees it."""
    llvm = binding()
    features = llvm.get_host_cpu_features()
    wide = 64 if features.get("avx512f") else 32 if features.get("avx") else 16
    name = llvm.get_host_cpu_name()
    version = sys.modules["llvmlite"].__version__
    return Machine(name, features.flatten(), wide, version)


def _target_machine(level: int = 1) -> Any:
    """LLVM's code generator; at level 2 it orders code anew after registers are allocated."""
    here, target = machine(), binding().Target.from_default_triple()
    return target.create_target_machine(
        cpu=here.name, features=here.features, opt=level, reloc="pic", codemodel="small", jit=True
    )


def _level(text: str, kind: str) -> int:
    """The level at which a module is compiled. Straight-line code needs no passes.

    In kernels for many states that are long, values wait on the stack: to order their loads pays.
    In longer ones it takes too long, for its time grows with the square of a function's length.
    """
    return 2 if kind in MANY and text.count("\n") in ORDERED_ANEW else 1


def compile(program: Program, kind: str, dtype: str) -> bytes:
    """Machine code of the kernel "single", "batch" or "stream" for "float64" or "float32"."""
    with importing:
        from armdyn.program import drivers

    check_size(program, kind)
    if kind == "single":
        text = drivers.single(program, dtype, _lanes_of_one(program, dtype))
    else:
        many = {"batch": drivers.batch, "stream": drivers.stream}[kind]
        text = many(program, dtype, machine().lanes(dtype), processor.storing() == "asked for")
    return machine_code(text, kind)


def _lanes_of_one(program: Program, dtype: str) -> int:
    """How wide the vectors of the kernel for one state are: brisk, unless it has long loops."""
    brisk, widest = machine().lanes(dtype, widest=BRISK), machine().lanes(dtype)
    rows = [value.n for _, _, value in program.instructions if isinstance(value, Loop)]
    looped = [n for n in rows if n >= brisk]  # shorter ones are unrolled
    return widest if min(looped, default=0) >= 2 * widest else brisk


def check_size(program: Program, kind: str) -> None:
    """Say so if a program takes long to compile, refuse it if it takes too long.

    The time grows with the number of instructions and not faster, so it is known beforehand. A
    table is one, whatever its size, and its parts are read and stored by loops.
    """
    code = program.instructions
    count = sum(instruction.op is not Op.PART for instruction in code)
    stores = sum(code[k].op not in (Op.CONSTANT, Op.PART) for k in program.outputs)
    seconds = count * AN_INSTRUCTION + stores * A_STORE[kind]
    if seconds < LONG:
        return
    what = f"{program.name}: {count} instructions and {stores} numbers to store"
    limit = longest()
    if seconds > limit:
        raise MethodError(
            f"{what} would take about {seconds:.0f} s to compile; expected at most {limit:g} s. "
            f"Another method= may need fewer (robot.methods lists them), or set {VARIABLE}"
        )
    warn("%s take about %.0f s to compile", what, seconds)


def longest() -> float:
    """ARMDYN_COMPILE_SECONDS where it is set, else MOST."""
    asked = os.environ.get(VARIABLE, "").strip() or str(MOST)
    try:
        seconds = float(asked)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise ArmdynError(f"{VARIABLE} is {shorten(asked)}; expected a number of seconds")
    return seconds


@on_llvm_thread
def assemble(text: str, kind: str = "") -> bytes:
    """Object code of a module in LLVM's language, of a kind of kernel if it is one."""
    llvm = binding()
    with (
        llvm.create_context() as context,  # of its own: it keeps all constants it ever met
        llvm.parse_assembly(text, context) as module,
        _target_machine(_level(text, kind)) as target,
    ):
        return bytes(target.emit_object(module))


def machine_code(text: str, name: str) -> bytes:
    """Code of a module in LLVM's language that can be loaded anywhere, to be entered at a function.

    LLVM's own linker, which takes object code, gives up in a process whose memory is far apart.
    """
    code = assemble(text, name)
    return image.flatten(code, name) or code


class LoadedCode:
    """Machine code in memory; the ``address`` of one function in it is valid while this lives.

    ``symbols`` are the addresses of what it calls, besides what the process has under its name;
    ``instructions`` is how many bytes of instructions it has, None where that is not known.
    """

    instructions: int | None = None

    def __init__(self, code: bytes, kind: str, symbols: Mapping[str, int] | None = None) -> None:
        if code.startswith(image.MARK):
            self._image = image.LoadedImage(code, symbols)
            self.address: int = self._image.address
            self.instructions = self._image.instructions
            return
        self.address = _link(self, code, kind, symbols or {})


@on_llvm_thread
def _link(owner: LoadedCode, code: bytes, kind: str, symbols: Mapping[str, int]) -> int:
    """The address of the function in object code, which is there while the owner lives."""
    llvm = binding()
    jit = llvm.create_lljit_compiler(_target_machine())
    builder = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
    for name, address in symbols.items():
        builder.import_symbol(name, address)
    library = builder.export_symbol(kind).link(jit, kind)
    keep(owner, library, jit)
    return int(library[kind])
