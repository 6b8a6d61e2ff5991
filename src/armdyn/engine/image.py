"""Machine code as a flat image: made once of an object file, loaded without a linker.

An image is what a linker would leave in memory: constants and pointers to the functions of C that
the code calls, then, from the next page on, the code. References inside are relative, so it works
wherever it lies; loading copies it, fills in the pointers and makes it executable, read-only.

Only the objects that LLVM writes of kernels for x86-64 in ELF have an image: sections of code and
constants, references of 32 bits from one to another, calls of a few functions. An object with
anything else in it has none, and LLVM's own linker loads it; nothing is guessed.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
from collections.abc import Mapping
from ctypes import CDLL, addressof, c_char, c_int, c_size_t, c_void_p, cast, get_errno
from functools import cache
from typing import Any, NamedTuple

from armdyn.errors import ArmdynError

LOADABLE = sys.platform == "linux" and sys.maxsize > 2**32 and os.uname().machine == "x86_64"

MARK = b"image "  # an image begins so, and no object
PAGE = 4096  # bytes
CALLED = ("free", "malloc", "memcpy", "memmove", "memset")  # all that kernels call
JUMP = struct.Struct("<2si")  # to where a pointer says, which lies so many bytes further on

# The words of the format: "System V ABI, AMD64 Supplement", and elf(5)
FILE = struct.Struct("<16sHHIQQQIHHHHHH")  # the header of a file,
SECTION = struct.Struct("<IIQQQQIIQQ")  # of a section,
SYMBOL = struct.Struct("<IBBHQQ")  # and rows of tables
REFERENCE = struct.Struct("<QIIq")
ELF, RELOCATABLE, X86_64 = b"\x7fELF\x02\x01\x01", 1, 62  # of 64 bits, the least byte first
PROGBITS, SYMTAB, STRTAB, RELA, UNWIND = 1, 2, 3, 4, 0x70000001  # types of section
ASIDE = (0, PROGBITS, SYMTAB, STRTAB, RELA)  # those of a section that is not loaded
ALLOC, EXEC, MERGE, STRINGS = 2, 4, 0x10, 0x20  # flags of one
PC32, PLT32 = 2, 4  # kinds of reference: both are symbol + addend - place
RESERVED = 0xFF00  # numbers of sections that are none


class Unknown(Exception):
    """Something in an object file that is not understood."""


class Section(NamedTuple):
    """The header of a section."""

    name: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry_size: int


def flatten(code: bytes, name: str) -> bytes | None:
    """The image of an object file, to be entered at the function ``name``; None if it has none."""
    try:
        return _link(code, name) if LOADABLE else None
    except (Unknown, struct.error, LookupError, ValueError, OverflowError):
        return None


def _link(code: bytes, name: str) -> bytes:
    sections = _sections(code)
    loaded = [k for k, s in enumerate(sections) if s.flags & ALLOC and s.type != UNWIND]
    constants = [k for k in loaded if not sections[k].flags & EXEC]
    (text,) = _only(k for k in loaded if sections[k].flags & EXEC)
    (table,) = _only(k for k, s in enumerate(sections) if s.type == SYMTAB)
    symbols = list(SYMBOL.iter_unpack(_content(code, sections[table])))
    names = _content(code, sections[sections[table].link])

    def name_of(symbol: int) -> str:
        start = symbols[symbol][0]
        return names[start : names.index(0, start)].decode("ascii", "replace")

    image, start = bytearray(), {}
    for k in constants:
        start[k] = _append(image, _content(code, sections[k]), sections[k].align)
    called = sorted({name_of(k) for k, s in enumerate(symbols) if k and s[3] == 0})
    if not set(called) <= set(CALLED):
        raise Unknown(called)
    pointers = _append(image, bytes(8 * len(called)), 8)
    start[text] = begin = _append(image, _content(code, sections[text]), PAGE)
    jumps = {}
    for k, function in enumerate(called):
        jumps[function] = place = _append(image, bytes(JUMP.size), 8)
        JUMP.pack_into(image, place, b"\xff\x25", pointers + 8 * k - (place + JUMP.size))

    def place_of(symbol: int, kind: int) -> int:
        _, _, _, section, value, _ = symbols[symbol]
        if section == 0 and kind == PLT32:
            return jumps[name_of(symbol)]
        if section not in start or value > sections[section].size:
            raise Unknown(name_of(symbol))
        return start[section] + value

    for section in sections:
        if section.type != RELA or sections[section.info].type == UNWIND:
            continue
        if section.info != text or section.link != table:
            raise Unknown(section)
        for offset, kind, symbol, addend in REFERENCE.iter_unpack(_content(code, section)):
            if kind not in (PC32, PLT32) or offset + 4 > sections[text].size:
                raise Unknown(kind)
            target = place_of(symbol, kind) + addend
            if not -8 <= target <= len(image):  # it counts from the instruction's end
                raise Unknown(target)
            struct.pack_into("<i", image, begin + offset, target - (begin + offset))

    (entry,) = _only(k for k, s in enumerate(symbols) if s[3] == text and name_of(k) == name)
    head = f"{begin} {place_of(entry, 0)} {pointers} {' '.join(called)}\n"
    return MARK + head.encode() + bytes(image)


def bare(code: bytes) -> bytes:
    """The image of instructions that refer to nothing."""
    return MARK + b"0 0 0\n" + code


def _sections(code: bytes) -> list[Section]:
    """The sections of an object file of which everything is understood."""
    ident, kind, machine, *_, where, _, _, _, _, size, count, _ = FILE.unpack_from(code)
    if not ident.startswith(ELF) or (kind, machine) != (RELOCATABLE, X86_64):
        raise Unknown(ident)
    if size != SECTION.size or not 0 < count < RESERVED:
        raise Unknown(size, count)
    found = [Section(*SECTION.unpack_from(code, where + k * size)) for k in range(count)]
    for section in found:
        known = (PROGBITS, UNWIND) if section.flags & ALLOC else ASIDE
        flags = section.flags & ~(ALLOC | EXEC | MERGE | STRINGS)
        if section.type not in known or (flags and section.flags & ALLOC):
            raise Unknown(section)
        if section.flags & ALLOC and section.align not in (1, 2, 4, 8, 16, 32, 64):
            raise Unknown(section)
    return found


def _content(code: bytes, section: Section) -> bytes:
    end = section.offset + section.size
    if end > len(code):
        raise Unknown(section)
    return code[section.offset : end]


def _only(found: Any) -> list[int]:
    """What was found, if it is one."""
    several = list(found)
    if len(several) != 1:
        raise Unknown(several)
    return several


def _append(image: bytearray, content: bytes, align: int) -> int:
    """Add content to an image, and say where it begins."""
    image += bytes(-len(image) % align)
    image += content
    return len(image) - len(content)


class LoadedImage:
    """An image in memory; the ``address`` of its function is valid while this lives.

    ``symbols`` are the addresses of functions to call in place of the process's own.
    """

    def __init__(self, data: bytes, symbols: Mapping[str, int] | None = None) -> None:
        head, _, image = data.partition(b"\n")
        begin, entry, pointers = map(int, head.split()[1:4])
        names = head.decode().split()[4:]
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        size = len(image)
        self._memory = mmap.mmap(-1, size, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        self._memory[:] = image
        for k, name in enumerate(names):
            address = (symbols or {}).get(name) or _address(name)
            struct.pack_into("<Q", self._memory, pointers + 8 * k, address)
        base = addressof(c_char.from_buffer(self._memory))
        _protect(base, begin, mmap.PROT_READ)
        _protect(base + begin, size - begin, mmap.PROT_READ | mmap.PROT_EXEC)
        self.address: int = base + entry


@cache
def _process() -> CDLL:
    """The functions that this process has."""
    process = CDLL(None, use_errno=True)
    process.mprotect.argtypes = c_void_p, c_size_t, c_int
    return process


def _address(name: str) -> int:
    return cast(getattr(_process(), name), c_void_p).value or 0


def _protect(address: int, size: int, how: int) -> None:
    if _process().mprotect(address, size, how):
        reason = os.strerror(get_errno())
        raise ArmdynError(f"no executable memory, which compiled code needs: {reason}")
