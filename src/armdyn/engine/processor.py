"""This very processor and the installed llvmlite, told apart from others without LLVM.

Code is made for what LLVM finds: the processor's name and features. LLVM finds them by the
instructions CPUID and XGETBV, so their answers are as good a key, and asking costs some
microseconds. A cache that comes to another machine, with a container or on a home in the network,
finds other answers there, and its code is not run.
"""

from __future__ import annotations

import os
from ctypes import PYFUNCTYPE, c_uint32, c_void_p
from functools import cache
from importlib.util import find_spec
from typing import Literal

from armdyn.engine import image
from armdyn.errors import ArmdynError

# void f(uint32_t eax, uint32_t ecx, uint32_t answer[4]), the answer in eax, ebx, ecx, edx
CPUID = bytes.fromhex(
    "53 49 89 d0 89 f8 89 f1 0f a2"  #     push rbx; mov r8, rdx; mov eax, edi; mov ecx, esi; cpuid
    "41 89 00 41 89 58 04"  #              mov [r8], eax; mov [r8+4], ebx
    "41 89 48 08 41 89 50 0c 5b c3"  #     mov [r8+8], ecx; mov [r8+12], edx; pop rbx; ret
)
XGETBV = bytes.fromhex(
    "49 89 d0 89 f1 0f 01 d0"  #           mov r8, rdx; mov ecx, esi; xgetbv
    "41 89 00 41 89 50 0c c3"  #           mov [r8], eax; mov [r8+12], edx; ret
)
EAX, EBX, ECX, EDX = range(4)
FEATURES = (  # leaf, sub-leaf and registers that LLVM reads; others tell one core from another
    (0x00000001, 0, (EAX, ECX, EDX)),
    (0x00000007, 0, (EAX, EBX, ECX, EDX)),
    (0x00000007, 1, (EAX, EBX, ECX, EDX)),
    (0x0000000D, 1, (EAX,)),
    (0x00000014, 0, (EBX,)),
    (0x00000019, 0, (EBX,)),
    (0x0000001E, 1, (EAX,)),
    (0x00000024, 0, (EBX,)),
    (0x80000001, 0, (ECX, EDX)),
    (0x80000002, 0, (EAX, EBX, ECX, EDX)),  # the name, in three pieces
    (0x80000003, 0, (EAX, EBX, ECX, EDX)),
    (0x80000004, 0, (EAX, EBX, ECX, EDX)),
    (0x80000008, 0, (EBX,)),
)
AMD, INTEL = 0x68747541, 0x756E6547  # how their names begin, in ebx of leaf 0
ZEN5 = 0x1A  # a family
OSXSAVE = 1 << 27  # of leaf 1, ecx: the system saves vectors, and XGETBV may be asked which


@cache
def description() -> tuple[str, ...] | None:
    """What code is made for, and by which llvmlite; None where that cannot be told without LLVM."""
    maker = llvmlite()
    if maker is None or not image.LOADABLE:
        return None
    try:
        return maker, *(f"{number:x}" for number in features())
    except ArmdynError:  # no executable memory
        return None


def features() -> list[int]:
    """What the processor says of itself and of what the system lets programs use."""
    cpuid, xgetbv = _Instruction(CPUID), _Instruction(XGETBV)
    last = {0: cpuid(0)[EAX], 0x80000000: cpuid(0x80000000)[EAX]}
    found = cpuid(0)  # the maker
    for leaf, inner, registers in FEATURES:
        answer = cpuid(leaf, inner) if leaf <= last[leaf & 0x80000000] else [0] * 4
        found += [answer[register] for register in registers]
    saved = cpuid(1)[ECX] & OSXSAVE
    return [*found, xgetbv()[EAX] if saved else 0]


@cache
def storing() -> Literal["staged", "asked for", "plain"]:
    """How kernels for many states best store rows of results that a cache cannot hold.

    On Zen 4 ``program/streams.py`` stages what outgrows all caches. Intel's processors wait for
    lines to store in unless ``program/ahead.py`` asked for them, which is faster where it can be
    done. Zen 5 takes rows fastest as they come. Others are taken to be like Zen 4.
    """
    if not image.LOADABLE:
        return "staged"
    try:
        cpuid = _Instruction(CPUID)
        maker, signature = cpuid(0)[EBX], cpuid(1)[EAX]
    except ArmdynError:  # no executable memory
        return "staged"
    if maker == INTEL:
        return "asked for"
    return "plain" if maker == AMD and family(signature) == ZEN5 else "staged"


def family(signature: int) -> int:
    """Which family of processors a signature, eax of leaf 1, is of."""
    base = signature >> 8 & 0xF
    return base + (signature >> 20 & 0xFF) if base == 0xF else base


class _Instruction:
    """An instruction, to be called with what it finds in eax and ecx."""

    def __init__(self, code: bytes) -> None:
        self._loaded = image.LoadedImage(image.bare(code))
        self._call = PYFUNCTYPE(None, c_uint32, c_uint32, c_void_p)(self._loaded.address)

    def __call__(self, eax: int = 0, ecx: int = 0) -> list[int]:
        answer = (c_uint32 * 4)()
        self._call(eax, ecx, answer)
        return list(answer)


def llvmlite() -> str | None:
    """The version that is installed, as its own text says it; None where that cannot be read."""
    try:
        spec = find_spec("llvmlite")
        if spec is None or spec.origin is None:
            return None
        with open(os.path.join(os.path.dirname(spec.origin), "_version.py")) as file:
            return file.read()
    except (ImportError, OSError, ValueError):
        return None
