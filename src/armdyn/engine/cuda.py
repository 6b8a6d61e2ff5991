"""NVIDIA's driver, by ctypes: contexts, code on a card, launches.

The driver is a library that comes with the card's own software: nothing else is needed. All that is
done here is asked for by ``gpu``; a kernel's arguments are addresses of memory that others have.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import (
    Structure,
    byref,
    c_char_p,
    c_int,
    c_int64,
    c_size_t,
    c_uint,
    c_uint64,
    c_void_p,
    create_string_buffer,
)
from struct import Struct
from typing import Any

from armdyn import forks
from armdyn.engine import cache, fingerprint, is_as_imported, jit
from armdyn.errors import DeviceError

LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
MULTIPROCESSORS = 16  # attribute of a device
OPT_IN = 97  # attribute of a device: bytes of a block's shared memory
FREELY = 48 * 1024  # bytes of shared memory that a block has without asking
MOST_SHARED = 8  # attribute of a function: bytes of shared memory that it asks for
ERROR_LOG, ERROR_LOG_SIZE = 5, 6  # options of the driver's compiler
LOG = 2000  # bytes of what it says

# What a block of arguments begins with: see LAUNCH. The last word has two halves: the bytes of
# shared memory; and, where a thread may take several states, how many blocks are few, else 0.
HEAD = "QQQQQQqq"
STREAM, WARPS = 5, 6  # places in it that each launch fills
DEVICES = 16  # for so many of a machine there are heads; a launch on others is Python's
# Of kernels whose threads may take several states:
FEW = 64  # blocks of a multiprocessor, up to which a thread takes one;
SEVERAL = 8  # states that it takes at most, but for
MANY = 2**25  # blocks, of which all threads can still be counted in 32 bits
LAUNCH = f"""
declare i32 @llvm.umax.i32(i32, i32)
declare i32 @llvm.umin.i32(i32, i32)
define i32 @launch(ptr %block, i64 %bytes) {{
  %get = load ptr, ptr %block
  %set.cell = getelementptr i64, ptr %block, i64 1
  %launch.cell = getelementptr i64, ptr %block, i64 2
  %function.cell = getelementptr i64, ptr %block, i64 3
  %context.cell = getelementptr i64, ptr %block, i64 4
  %stream.cell = getelementptr i64, ptr %block, i64 5
  %warps.cell = getelementptr i64, ptr %block, i64 6
  %shared.cell = getelementptr i64, ptr %block, i64 7
  %few.cell = getelementptr i32, ptr %block, i64 15
  %arguments = getelementptr i64, ptr %block, i64 8
  %set = load ptr, ptr %set.cell
  %launch = load ptr, ptr %launch.cell
  %function = load ptr, ptr %function.cell
  %context = load ptr, ptr %context.cell
  %stream = load ptr, ptr %stream.cell
  %warps = load i32, ptr %warps.cell
  %shared = load i32, ptr %shared.cell
  %few = load i32, ptr %few.cell
  %alone = icmp ne i32 %shared, 0
  %threads = select i1 %alone, i32 32, i32 64
  %more = add i32 %warps, 1
  %pairs = lshr i32 %more, 1
  %each = select i1 %alone, i32 %warps, i32 %pairs
  %rounded = add i32 %pairs, {SEVERAL - 1}
  %share = udiv i32 %rounded, {SEVERAL}
  %enough = call i32 @llvm.umax.i32(i32 %share, i32 %few)
  %most = call i32 @llvm.umin.i32(i32 %enough, i32 {MANY})
  %fewer = call i32 @llvm.umin.i32(i32 %pairs, i32 %most)
  %takes.several = icmp ne i32 %few, 0
  %grid = select i1 %takes.several, i32 %fewer, i32 %each
  %current = alloca ptr
  %size = alloca i64
  %extra = alloca [5 x ptr]
  %length = sub i64 %bytes, 64
  store i64 %length, ptr %size
  store ptr null, ptr %current
  store ptr inttoptr (i64 1 to ptr), ptr %extra
  %extra.1 = getelementptr ptr, ptr %extra, i64 1
  store ptr %arguments, ptr %extra.1
  %extra.2 = getelementptr ptr, ptr %extra, i64 2
  store ptr inttoptr (i64 2 to ptr), ptr %extra.2
  %extra.3 = getelementptr ptr, ptr %extra, i64 3
  store ptr %size, ptr %extra.3
  %extra.4 = getelementptr ptr, ptr %extra, i64 4
  store ptr null, ptr %extra.4
  %asked = call i32 %get(ptr %current)
  %before = load ptr, ptr %current
  %same = icmp eq ptr %before, %context
  br i1 %same, label %go, label %enter
enter:
  %entered = call i32 %set(ptr %context)
  %fine = icmp eq i32 %entered, 0
  br i1 %fine, label %go, label %fail
fail:
  ret i32 %entered
go:
  %done = call i32 %launch(ptr %function, i32 %grid, i32 1, i32 1, i32 %threads, i32 1, i32 1, i32 %shared, ptr %stream, ptr null, ptr %extra)
  %none = icmp eq ptr %before, null
  %stay = or i1 %same, %none
  br i1 %stay, label %end, label %leave
leave:
  %left = call i32 %set(ptr %before)
  br label %end
end:
  ret i32 %done
}}
"""  # noqa: E501
Launcher = Callable[[bytes, int], int]


class Head(Structure):
    """What launches of a kernel on a device begin with, for callers that are not Python.

    ``launcher`` is null until the rest is known. Then it says where the address of the launcher
    stands, or 0 where the driver is of no use any more. engine/_exchange.c has the same struct.
    """

    _fields_ = [("words", c_int64 * len(HEAD)), ("launcher", c_size_t)]


LOCK = forks.free_in_children(threading.RLock())  # held while the driver or a module is loaded


def open_library() -> Any:
    """The driver's library."""
    return ctypes.CDLL(LIBRARY)


class Driver:
    """The driver, started: its devices, their contexts, and the code that is on them.

    Attributes:
        devices: how many there are.
        trouble: why it is of no use any more; empty if it is.
        entry: the address of the launcher, 0 where the driver is of no use any more.
    """

    def __init__(self, library: Any) -> None:
        self.library, self.trouble = library, ""
        self.check(library.cuInit(c_uint(0)))
        count = c_int()
        self.check(library.cuDeviceGetCount(byref(count)))
        self.devices = count.value
        self._contexts: dict[int, int] = {}
        self._functions: dict[tuple[int, bytes], int] = {}
        self._code = jit.LoadedCode(_launcher(), "launch")
        self.entry = c_size_t(self._code.address)
        self.launch: Launcher = ctypes.CFUNCTYPE(c_int, c_char_p, c_size_t)(self._code.address)
        names = ("cuCtxGetCurrent", "cuCtxSetCurrent", "cuLaunchKernel")
        self.addresses = [_address(getattr(library, name)) for name in names]

    def check(self, code: int) -> None:
        """A DeviceError for whatever code is not 0."""
        if not code:
            return
        name = c_char_p()
        self.library.cuGetErrorName(c_int(code), byref(name))
        said = (name.value or b"").decode() or f"error {code}"
        raise DeviceError(f"{said}: {TROUBLES.get(code, 'the GPU did not do as it was asked')}")

    def device(self, number: int) -> int:
        """The driver's own name of a device."""
        if not 0 <= number < self.devices:
            raise DeviceError(f"no GPU {number}; this machine has {self.devices}, counted from 0")
        found = c_int()
        self.check(self.library.cuDeviceGet(byref(found), c_int(number)))
        return found.value

    def attribute(self, number: int, which: int) -> int:
        """A number that the driver knows of a device."""
        found = c_int()
        device = c_int(self.device(number))
        self.check(self.library.cuDeviceGetAttribute(byref(found), c_int(which), device))
        return found.value

    def few_blocks(self, number: int) -> int:
        """The blocks up to which no thread of a device goes on to further states."""
        return FEW * self.attribute(number, MULTIPROCESSORS)

    def name(self, number: int) -> str:
        """What a device is called."""
        text = create_string_buffer(256)
        device = c_int(self.device(number))
        self.check(self.library.cuDeviceGetName(text, c_int(len(text)), device))
        return text.value.decode("utf-8", "replace")

    def context(self, number: int) -> int:
        """The primary context of a device, which all libraries of the process share."""
        if number not in self._contexts:
            device, found = c_int(self.device(number)), c_void_p()
            self.check(self.library.cuDevicePrimaryCtxRetain(byref(found), device))
            self._contexts[number] = found.value or 0
        return self._contexts[number]

    def enter(self, number: int) -> None:
        """Make a device's primary context that of this thread."""
        self.check(self.library.cuCtxSetCurrent(c_void_p(self.context(number))))

    @contextmanager
    def entered(self, number: int) -> Iterator[None]:
        """While this lasts, a device's primary context is that of this thread."""
        before = c_void_p()
        self.check(self.library.cuCtxGetCurrent(byref(before)))
        self.enter(number)
        try:
            yield
        finally:
            if before.value:
                self.library.cuCtxSetCurrent(before)

    def memory(self, number: int) -> int:
        """The bytes of memory that a device has."""
        found, device = c_size_t(), c_int(self.device(number))
        self.check(self.library.cuDeviceTotalMem_v2(byref(found), device))
        return found.value

    def copy(self, number: int, to: int, source: int, size: int, stream: int) -> None:
        """Copy bytes within a device's memory, behind what the stream has to do."""
        places = c_uint64(to), c_uint64(source), c_size_t(size)
        with self.entered(number):
            self.check(self.library.cuMemcpyDtoDAsync_v2(*places, c_void_p(stream)))

    def wait(self, number: int, stream: int) -> None:
        """Wait until a stream has done what it has to do."""
        with self.entered(number):
            self.check(self.library.cuStreamSynchronize(c_void_p(stream)))

    def function(self, number: int, text: bytes, shared: int) -> int:
        """The kernel of a PTX text on a device, loaded at first need and then kept."""
        with LOCK:
            if (number, text) not in self._functions:
                with self.entered(number):
                    self._functions[number, text] = self._load(text, shared)
            return self._functions[number, text]

    def _load(self, text: bytes, shared: int) -> int:
        module, function = c_void_p(), c_void_p()
        log = create_string_buffer(LOG)
        options = (c_int * 2)(ERROR_LOG, ERROR_LOG_SIZE)
        values = (c_void_p * 2)(ctypes.addressof(log), LOG)
        code = self.library.cuModuleLoadDataEx(
            byref(module), c_char_p(text), c_uint(2), options, values
        )
        if code and log.value:
            said = log.value.decode("utf-8", "replace").strip()
            raise DeviceError(f"the driver cannot compile this kernel: {said}")
        self.check(code)
        self.check(self.library.cuModuleGetFunction(byref(function), module, c_char_p(b"kernel")))
        if shared > FREELY:
            asked = c_int(MOST_SHARED), c_int(shared)
            self.check(self.library.cuFuncSetAttribute(function, *asked))
        return function.value or 0


TROUBLES = {
    2: "the GPU's memory is full",
    3: "this process was forked from one that uses the GPU; start it by spawn instead",
    100: "this machine has the driver, but no GPU that it can use",
    209: "the GPU is older than what kernels are made for (compute capability 7.0)",
    218: "the driver is older than what kernels are made for (CUDA 10)",
    222: "the driver is older than what kernels are made for (CUDA 10)",
    **dict.fromkeys((4, 201, 709), "the GPU's context is gone; this process cannot use it again"),
    **dict.fromkeys(
        (46, 214, 700, 702, 716, 719, 999),
        "the GPU no longer answers this process, which must be started again",
    ),
}

_drivers: list[Driver] = []  # one, once it is started


def driver() -> Driver:
    """The driver, started at first need; a DeviceError where there is none that can be used."""
    if not _drivers:
        with LOCK:
            if not _drivers:
                _drivers.append(_start())
    found = _drivers[0]
    if found.trouble:
        raise DeviceError(found.trouble)
    return found


def check_usable() -> None:
    """A DeviceError if the driver was started, and cannot be used any more: in a forked process."""
    if _drivers:
        driver()


def _start() -> Driver:
    try:
        library = open_library()
    except OSError as trouble:
        raise DeviceError(f"no CUDA driver on this machine: {trouble}") from None
    found = Driver(library)
    if not found.devices:
        raise DeviceError(f"no CUDA driver on this machine can be used: {TROUBLES[100]}")
    return found


def _address(function: Any) -> int:
    return ctypes.cast(function, c_void_p).value or 0


def _launcher() -> bytes:
    """The machine code of LAUNCH, from the disk cache or newly made."""
    key = cache.key("launch", *fingerprint())
    code = cache.get(key) if is_as_imported() else None
    if code is None:
        code = jit.machine_code(LAUNCH, "launch")
        if is_as_imported():
            cache.put(key, code)
    return code


def _leave_behind() -> None:
    """In a child: what the parent has of the driver cannot be used there."""
    for each in _drivers:
        each.trouble = f"the GPU cannot be used here: {TROUBLES[3]}"
        each.entry.value = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_behind)


def arguments(count: int) -> Struct:
    """A block of HEAD and so many 64-bit numbers, for ``Driver.launch``."""
    return Struct(f"={HEAD}{count}q")
