"""Byte strings kept on disk from one process to the next, in a directory private to the user.

What is kept is machine code, so nothing is believed that another user could have written. The
directory must be the user's own, no symbolic link, and writable by nobody else; then it is held by
a descriptor and files are opened relative to that, following no link, so that renaming a parent or
planting a link meanwhile leads nowhere. Each file is checked once more when open: a regular file of
the user's, writable by nobody else, of a sane size, whose header agrees with its name and data.
Windows has neither modes nor such descriptors: there the access-control list of the user's
profile, which the default directory inherits, has to do.

Whatever goes wrong is a miss, never an exception. Entries appear by atomic renaming and are read
whole before they are checked, so processes need no locks: at worst an entry is gone. No descriptor
outlives a call, so threads and forks need no care either.
"""

from __future__ import annotations

import os
import re
import stat
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from typing import TypeAlias

from armdyn.errors import warn

VARIABLE = "ARMDYN_CACHE_DIR"  # names the directory; empty: no cache
CAPACITY = 256 * 2**20  # of all entries together [bytes]; one alone may fill a quarter of it
DAY, HOUR = 86400, 3600  # [s]
HEADER = struct.Struct("<8sIQ32s")  # magic, format version, length of the data, checksum
MAGIC, VERSION = b"armdyn\r\n", 2
ENTRY, UNFINISHED = ".armdyn", ".armdyn-unfinished"
OURS = re.compile(r"[0-9a-f]{64}\.armdyn(-unfinished)?")  # no other file is ever removed

POSIX = os.name == "posix"
FILE = sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
Part: TypeAlias = "str | bytes | float | int | tuple[Part, ...]"

_logged: set[str] = set()
_room: dict[str, int] = {}  # bytes to write before looking again: a quarter of what was free


def key(*parts: Part) -> str:
    """The SHA-256, in hexadecimal, of the parts: other types, values or nesting, another key.

    Floats count by their bits, so 0.0 is not -0.0, and 1 is not 1.0; True is the int 1.
    """
    return sha256(_serialised(parts)).hexdigest()


def get(key: str) -> bytes | None:
    """The data last put under the key; None where there is none or it cannot be trusted."""
    try:
        with Folder(_path()) as folder:
            return _read(folder, _name(key))
    except OSError:
        return None


def put(key: str, data: bytes) -> None:
    """Keep the data under the key, if the disk allows; the first trouble of a kind is logged."""
    if len(data) > CAPACITY // 4:
        return
    try:
        with Folder(_path()) as folder:
            _write(folder, _name(key), data)
            room = _room.get(folder.path, 0) - HEADER.size - len(data)
            _room[folder.path] = room if room > 0 else (CAPACITY - _trim(folder)) // 4
    except OSError as trouble:
        reason = trouble.strerror or str(trouble)
        if os.environ.get(VARIABLE) != "" and reason not in _logged:
            _logged.add(reason)
            warn("no disk cache: %s (%s may name another directory)", reason, VARIABLE)


def directory() -> str | None:
    """Where entries are kept, created if need be; None if no cache is in use."""
    return None if why_off() else _path()


def why_off() -> str | None:
    """Why no cache is in use; None if one is."""
    try:
        with Folder(_path()):
            return None
    except OSError as reason:
        return str(reason)


# The directory ------------------------------------------------------------------------------


def _path() -> str:
    """The directory asked for: never a relative one, which an unpacked archive might contain."""
    chosen = os.environ.get(VARIABLE)
    if chosen == "":
        raise OSError(f"{VARIABLE} is empty")
    path = os.path.expanduser(_default() if chosen is None else chosen)
    if os.path.isabs(path):
        return os.path.normpath(path)
    raise OSError(f"{path!r} is not an absolute path")


def _default() -> str:
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA", "~/AppData/Local"), "armdyn", "cache")
    if sys.platform == "darwin":
        return "~/Library/Caches/armdyn"
    caches = os.environ.get("XDG_CACHE_HOME", "")  # to be ignored, says XDG, unless absolute
    return os.path.join(caches if os.path.isabs(caches) else "~/.cache", "armdyn")


def _make(path: str) -> None:
    """Make the directory, and each parent that is missing, private to the user."""
    missing: list[str] = []
    while not os.path.lexists(path) and path not in missing:
        missing.append(path)
        path = os.path.dirname(path)
    for place in reversed(missing):
        with suppress(FileExistsError):
            os.mkdir(place, 0o700)


def _private(status: os.stat_result) -> bool:
    return not POSIX or (status.st_uid == os.geteuid() and not status.st_mode & 0o022)


class Folder:
    """The directory, open and found private; all names are looked up in it and nowhere else."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.prefix = "" if POSIX else f"{path}{os.sep}"
        self.fd: int | None = None
        try:
            _make(path)
            if POSIX:
                self.fd = os.open(path, os.O_DIRECTORY | os.O_NOFOLLOW)
            status = os.lstat(path) if self.fd is None else os.fstat(self.fd)
        except OSError as trouble:
            what = "is a symbolic link" if os.path.islink(path) else trouble.strerror
            raise OSError(f"{path}: {what}") from None
        if not stat.S_ISDIR(status.st_mode) or not _private(status):
            self.__exit__()
            raise OSError(f"{path}: must be a directory of yours that only you can write to")

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        if self.fd is not None:
            os.close(self.fd)

    def opener(self, name: str, flags: int) -> int:
        """For open(): no link is followed, no pipe waited for, and a new file is private."""
        return os.open(name, flags | FILE, 0o600, dir_fd=self.fd)

    def remove(self, name: str) -> None:
        """Remove the file if it is there and can be removed."""
        with suppress(OSError):
            os.unlink(self.prefix + name, dir_fd=self.fd)

    def files(self) -> Iterator[tuple[str, os.stat_result]]:
        """Name and status of each file of ours."""
        with os.scandir(self.path if self.fd is None else self.fd) as listing:
            for entry in listing:
                with suppress(FileNotFoundError):  # another process may be removing it
                    if OURS.fullmatch(entry.name):
                        yield entry.name, entry.stat(follow_symlinks=False)


# Entries: a header and the data, in a file named after the key -------------------------------


def _name(key: str) -> str:
    return sha256(key.encode("utf-8", "surrogatepass")).hexdigest() + ENTRY


def _header(name: str, data: bytes) -> bytes:
    checksum = sha256(name.encode())
    checksum.update(data)
    return HEADER.pack(MAGIC, VERSION, len(data), checksum.digest())


def _read(folder: Folder, name: str) -> bytes | None:
    with open(folder.prefix + name, "rb", opener=folder.opener) as file:
        status = os.fstat(file.fileno())
        sane = stat.S_ISREG(status.st_mode) and status.st_size <= HEADER.size + CAPACITY // 4
        entry = file.read(status.st_size) if sane and _private(status) else b""
    data = entry[HEADER.size :]
    if entry[: HEADER.size] != _header(name, data):
        folder.remove(name)
        return None
    if abs(time.time() - status.st_mtime) > DAY:
        with suppress(OSError):  # a cache that cannot be written to can still be read
            os.utime(folder.prefix + name, dir_fd=folder.fd)
    return data


def _write(folder: Folder, name: str, data: bytes) -> None:
    unfinished, here, fd = os.urandom(32).hex() + UNFINISHED, folder.prefix, folder.fd
    try:
        with open(here + unfinished, "xb", opener=folder.opener) as file:
            file.write(_header(name, data))
            file.write(data)
        os.replace(here + unfinished, here + name, src_dir_fd=fd, dst_dir_fd=fd)
    except BaseException:
        folder.remove(unfinished)
        raise


def _trim(folder: Folder) -> int:
    """Remove what was abandoned and, if over capacity, the least recently used: bytes left."""
    entries, total = [], 0
    for name, status in folder.files():
        if name.endswith(ENTRY):
            entries.append((status.st_mtime_ns, status.st_size, name))
            total += status.st_size
        elif abs(time.time() - status.st_mtime) > HOUR:
            folder.remove(name)
    goal = CAPACITY if total <= CAPACITY else CAPACITY // 4 * 3
    entries.sort(reverse=True)
    while total > goal:
        _, size, name = entries.pop()
        folder.remove(name)
        total -= size
    return total


def _serialised(part: Part) -> bytes:
    """Kind, length and content: no two different parts of a key give the same bytes."""
    match part:
        case int():
            kind, content = b"i", hex(part).encode()
        case float():
            kind, content = b"f", struct.pack("<d", part)
        case str():
            kind, content = b"s", part.encode("utf-8", "surrogatepass")
        case bytes():
            kind, content = b"b", part
        case tuple():
            kind, content = b"t", b"".join(map(_serialised, part))
        case _:
            raise TypeError(f"a key is made of str, bytes, float, int and tuple, not of {part!r}")
    return kind + struct.pack("<Q", len(content)) + content
