"""Machine code of programs, by llvmlite: text to object code, object code to an address.

Object code may come from an earlier process; what it was made for, this machine and these
versions, is told by ``machine()``. llvmlite is imported at first use.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

from armdyn.program import drivers
from armdyn.program.program import Program

BRISK = 32  # bytes of a vector; after a wider one some processors are slow for a while

_lock = threading.Lock()  # LLVM's global context is one for all threads


@cache
def available() -> bool:
    """Whether llvmlite is installed."""
    return importlib.util.find_spec("llvmlite") is not None


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
def _binding() -> ModuleType:
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


@cache
def machine() -> Machine:
    """This machine, as LLVM sees it."""
    import llvmlite

    binding = _binding()
    features = binding.get_host_cpu_features()
    wide = 64 if features.get("avx512f") else 32 if features.get("avx") else 16
    name = binding.get_host_cpu_name()
    return Machine(name, features.flatten(), wide, llvmlite.__version__)


def _target_machine() -> Any:
    binding, here = _binding(), machine()
    target = binding.Target.from_default_triple()
    # Straight-line code needs no passes, and no scheduling after registers are allocated (level 2),
    # whose time grows with the square of a function's length.
    return target.create_target_machine(
        cpu=here.name, features=here.features, opt=1, reloc="pic", codemodel="small", jit=True
    )


def compile(program: Program, kind: str, dtype: str) -> bytes:
    """Object code of the kernel "single" or "batch" for "float64" or "float32"."""
    if kind == "single":
        return assemble(drivers.single(program, dtype, machine().lanes(dtype, widest=BRISK)))
    return assemble(drivers.batch(program, dtype, machine().lanes(dtype)))


def assemble(text: str) -> bytes:
    """Object code of a module in LLVM's language."""
    with _lock:
        module = _binding().parse_assembly(text)
        return bytes(_target_machine().emit_object(module))


class Kernel:
    """Object code in memory; the ``address`` of one function in it is valid while this lives.

    ``symbols`` are the addresses of what it calls, besides what the process has under its name.
    """

    def __init__(self, code: bytes, kind: str, symbols: Mapping[str, int] | None = None) -> None:
        binding = _binding()
        with _lock:
            self._jit = binding.create_lljit_compiler(_target_machine())
            builder = binding.JITLibraryBuilder().add_object_img(code).add_current_process()
            for name, address in (symbols or {}).items():
                builder.import_symbol(name, address)
            self._library = builder.export_symbol(kind).link(self._jit, kind)
            self.address: int = self._library[kind]
