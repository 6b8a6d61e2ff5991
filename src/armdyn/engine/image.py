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
from typing import NamedTuple, TypeVar

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
PLAIN = range(5)  # types of symbol: none said, data, function, section, file
ALIGNED = (1, 2, 4, 8, 16, 32, 64)

Found = TypeVar("Found")


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
    link: int  # the section of a table's symbols, or of a symbol table's names
    info: int  # the section that a table of references is about
    align: int
    entry_size: int


class Symbol(NamedTuple):
    """A place in a section; in section 0, of which there is none, it is another object's."""

    name: str
    section: int
    value: int


def flatten(code: bytes, name: str) -> bytes | None:
    """The image of an object file, to be entered at the function ``name``; None if it has none."""
    try:
        return _link(code, name) if LOADABLE else None
    except (Unknown, struct.error, LookupError, ValueError, OverflowError):
        return None


def bare(code: bytes) -> bytes:
    """The image of instructions that refer to nothing."""
    return MARK + b"0 0 0\n" + code


def _link(code: bytes, name: str) -> bytes:
    sections = _sections(code)
    table = _only([k for k, s in enumerate(sections) if s.type == SYMTAB])
    symbols = _symbols(code, sections, sections[table])
    called = sorted({symbol.name for symbol in symbols[1:] if symbol.section == 0})
    if not set(called) <= set(CALLED):
        raise Unknown(called)

    image, start, jumps = bytearray(), {}, {}
    loaded = [k for k, s in enumerate(sections) if s.flags & ALLOC and s.type != UNWIND]
    text = _only([k for k in loaded if sections[k].flags & EXEC])
    for k in loaded:
        if k != text:
            start[k] = _append(image, _content(code, sections[k]), sections[k].align)
    pointers = _append(image, bytes(8 * len(called)), 8)
    start[text] = begin = _append(image, _content(code, sections[text]), PAGE)
    for k, function in enumerate(called):
        jumps[function] = place = _append(image, bytes(JUMP.size), 8)
        JUMP.pack_into(image, place, b"\xff\x25", pointers + 8 * k - (place + JUMP.size))

    def place_of(symbol: Symbol) -> int:
        if symbol.section == 0:
            return jumps[symbol.name]
        if symbol.section not in start or symbol.value > sections[symbol.section].size:
            raise Unknown(symbol)
        return start[symbol.section] + symbol.value

    for section in sections:
        if section.type != RELA or sections[section.info].type == UNWIND:
            continue
        if section.info != text or section.link != table:
            raise Unknown(section)
        for offset, kind, k, addend in REFERENCE.iter_unpack(_content(code, section)):
            if kind != PLT32 and (kind != PC32 or symbols[k].section == 0):
                raise Unknown(kind)
            place, target = begin + offset, place_of(symbols[k]) + addend
            if offset + 4 > sections[text].size or not -8 <= target <= len(image):
                raise Unknown(offset, target)
            struct.pack_into("<i", image, place, target - place)

    entry = _only([s for s in symbols if s.section == text and s.name == name])
    head = f"{begin} {place_of(entry)} {pointers} {' '.join(called)}\n"
    return MARK + head.encode() + bytes(image)


def _sections(code: bytes) -> list[Section]:
    """The sections of an object file of which everything is understood."""
    ident, kind, machine, *_, where, _, _, _, _, size, count, _ = FILE.unpack_from(code)
    if not ident.startswith(ELF) or (kind, machine) != (RELOCATABLE, X86_64):
        raise Unknown(ident)
    if size != SECTION.size or not 0 < count < RESERVED:
        raise Unknown(size, count)
    found = [Section(*SECTION.unpack_from(code, where + k * size)) for k in range(count)]
    for section in found:
        if not section.flags & ALLOC:
            known = section.type in ASIDE
        else:
            flags = section.flags & ~(ALLOC | EXEC | MERGE | STRINGS)
            known = section.type in (PROGBITS, UNWIND) and not flags and section.align in ALIGNED
        if not known:
            raise Unknown(section)
    return found


def _symbols(code: bytes, sections: list[Section], table: Section) -> list[Symbol]:
    names, found = _content(code, sections[table.link]), []
    for start, info, _, section, value, _ in SYMBOL.iter_unpack(_content(code, table)):
        if info & 15 not in PLAIN:
            raise Unknown(info)
        name = names[start : names.index(0, start)]
        found.append(Symbol(name.decode("ascii", "replace"), section, value))
    return found


def _content(code: bytes, section: Section) -> bytes:
    end = section.offset + section.size
    if end > len(code):
        raise Unknown(section)
    return code[section.offset : end]


def _only(found: list[Found]) -> Found:
    """What was found, if it is one."""
    if len(found) != 1:
        raise Unknown(found)
    return found[0]


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
        self.instructions = size - begin  # bytes


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
