"""PTX of programs, by llvmlite: text that a driver turns into a card's own code.

It is made for the oldest cards that have what is needed; a driver compiles it for the card it has,
and keeps that on disk by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from armdyn.engine import jit
from armdyn.engine.llvm_thread import binding, on_llvm_thread
from armdyn.errors import ArmdynError
from armdyn.forks import importing

if TYPE_CHECKING:
    from armdyn.program.program import Program
    from armdyn.program.ptx_module import Module

CARD, FEATURES = "sm_70", "+ptx63"  # cards from 2017 on, drivers from 2018 on
LIMITS = (48 * 1024, 99 * 1024, 163 * 1024, 227 * 1024)  # bytes of a block's shared memory
SHARED = b"// shared "  # begins the first line, which says how many bytes a block needs,
SEVERAL = b" several"  # and ends with this where a thread may take several states


def compile(program: Program, dtype: str, limit: int) -> bytes:
    """The PTX of a program's kernel, for cards that give a block so much shared memory."""
    with importing:
        from armdyn.program import ptx

    jit.check_size(program, "single")
    return assemble(ptx.module(program, dtype, limit))


def compile_march(
    program: Program, dtype: str, states: Sequence[tuple[int, int]], still: Sequence[int] = ()
) -> bytes:
    """The PTX of a kernel that repeats a program; see ``program.ptx_march``."""
    with importing:
        from armdyn.program import ptx_march

    jit.check_size(program, "single")
    return assemble(ptx_march.module(program, dtype, states, still))


@on_llvm_thread
def assemble(module: Module) -> bytes:
    """The PTX of a module, after a line that says how it is launched."""
    with binding().create_context() as context:
        target = _target_machine()
        with binding().parse_assembly(module.text, context) as parsed:
            parsed.data_layout = str(target.target_data)
            parsed.verify()
            text = target.emit_assembly(parsed)
    several = SEVERAL if module.several else b""
    return SHARED + f"{module.shared}".encode() + several + f"\n{text}".encode()


def shared_bytes(code: bytes) -> int:
    """How much shared memory a block of a kernel needs."""
    return int(_first_line(code).removeprefix(SHARED).removesuffix(SEVERAL))


def takes_several(code: bytes) -> bool:
    """Whether a kernel's threads go on to further states, where there are more than threads."""
    return _first_line(code).endswith(SEVERAL)


def _first_line(code: bytes) -> bytes:
    return code.partition(b"\n")[0]


def limit(available: int) -> int:
    """The largest of LIMITS that a card has, for which kernels are made."""
    return max((each for each in LIMITS if each <= available), default=LIMITS[0])


@cache
def _target_machine() -> Any:
    llvm = binding()
    try:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        target = llvm.Target.from_triple("nvptx64-nvidia-cuda")
    except RuntimeError as trouble:
        raise ArmdynError(
            f"this llvmlite makes no code for NVIDIA's GPUs: {trouble}. Expected what 'pip install "
            "llvmlite' installs"
        ) from trouble
    return target.create_target_machine(cpu=CARD, features=FEATURES, opt=2)
