"""A stand-in for NVIDIA's driver: launches go to the simulator of PTX, so that no GPU is needed.

Memory of its devices is memory of this process, at the same addresses. What a kernel may touch must
be allowed, a device each:

    fake = FakeCuda(devices=2)
    fake.install(monkeypatch)          # armdyn finds it in place of libcuda
    q = fake.array(np.zeros((5, 7)), device=1)      # a copy that kernels on device 1 may touch
    kernel.launch([(q.ctypes.data, 7)], [out.ctypes.data], 5, "float64", device=1, stream=0)
    fake.launches[-1].stream           # what was asked for
    fake.fault                         # why a launch failed, None if none did

``fake.allow(array, device)`` allows an array where it lies, ``fake.allow_address(start, size,
device)`` any memory. ``fake.lose()`` makes every later call fail as that of a lost device.
"""

import ctypes
import threading
from ctypes import (
    POINTER,
    c_char_p,
    c_float,
    c_int,
    c_size_t,
    c_ubyte,
    c_uint,
    c_uint64,
    c_void_p,
)
from typing import NamedTuple

import numpy as np

from armdyn.engine import cuda
from tests import ptx_simulator
from tests.ptx_simulator import Memory

NO_MEMORY, NO_DEVICE, ILLEGAL_ADDRESS, LAUNCH_FAILED, INVALID = 2, 100, 700, 719, 1
NO_CONTEXT, BAD_PTX = 201, 218
NAMES = {
    1: b"CUDA_ERROR_INVALID_VALUE",
    3: b"CUDA_ERROR_NOT_INITIALIZED",
    100: b"CUDA_ERROR_NO_DEVICE",
    201: b"CUDA_ERROR_INVALID_CONTEXT",
    218: b"CUDA_ERROR_INVALID_PTX",
    700: b"CUDA_ERROR_ILLEGAL_ADDRESS",
    719: b"CUDA_ERROR_LAUNCH_FAILED",
}
POINTERS = POINTER(c_void_p)
SIGNATURES = {  # of all functions that there are
    "cuInit": [c_uint],
    "cuDeviceGetCount": [POINTER(c_int)],
    "cuDeviceGet": [POINTER(c_int), c_int],
    "cuDeviceGetName": [c_void_p, c_int, c_int],
    "cuDeviceGetAttribute": [POINTER(c_int), c_int, c_int],
    "cuDeviceTotalMem_v2": [POINTER(c_size_t), c_int],
    "cuDevicePrimaryCtxRetain": [POINTERS, c_int],
    "cuCtxGetCurrent": [POINTERS],
    "cuCtxSetCurrent": [c_void_p],
    "cuCtxSynchronize": [],
    "cuStreamSynchronize": [c_void_p],
    "cuModuleLoadDataEx": [POINTERS, c_char_p, c_uint, c_void_p, c_void_p],
    "cuModuleGetFunction": [POINTERS, c_void_p, c_char_p],
    "cuFuncSetAttribute": [c_void_p, c_int, c_int],
    "cuLaunchKernel": [c_void_p, *[c_uint] * 7, c_void_p, c_void_p, POINTERS],
    "cuGetErrorName": [c_int, POINTER(c_char_p)],
    "cuMemAlloc_v2": [POINTER(c_uint64), c_size_t],
    "cuMemFree_v2": [c_uint64],
    "cuMemcpyHtoD_v2": [c_uint64, c_void_p, c_size_t],
    "cuMemcpyDtoH_v2": [c_void_p, c_uint64, c_size_t],
    "cuMemcpyDtoDAsync_v2": [c_uint64, c_uint64, c_size_t, c_void_p],
    "cuMemsetD8Async": [c_uint64, c_ubyte, c_size_t, c_void_p],
    "cuStreamCreate": [POINTERS, c_uint],
    "cuStreamDestroy_v2": [c_void_p],
    "cuMemGetInfo_v2": [POINTER(c_size_t), POINTER(c_size_t)],
    "cuEventCreate": [POINTERS, c_uint],
    "cuEventRecord": [c_void_p, c_void_p],
    "cuEventElapsedTime": [POINTER(c_float), c_void_p, c_void_p],
    "cuDriverGetVersion": [POINTER(c_int)],
}


class Launch(NamedTuple):
    """What a launch asked for."""

    text: str
    grid: int
    shared: int
    stream: int
    device: int
    thread: int


class FakeCuda:
    """The driver's functions as attributes, and what tests want to know of it."""

    def __init__(self, devices=1, shared=227 * 1024):
        self.devices, self.shared_limit = devices, shared
        self.multiprocessors = 1
        self.memories = [Memory() for _ in range(devices)]
        self.launches, self.fault, self.lost = [], None, 0
        self.modules, self.functions = [], {}  # PTX texts; of functions, the bytes they may have
        self.local = threading.local()  # the context that is current in a thread
        self.allocated = {}
        self.streams = []  # that were ever created
        for name, types in SIGNATURES.items():
            setattr(self, name, ctypes.CFUNCTYPE(c_int, *types)(self._guarded(name)))

    def install(self, patch):
        """Let armdyn find it in place of libcuda, and nothing that it started before."""
        patch.setattr(cuda, "open_library", lambda: self)
        patch.setattr(cuda, "_drivers", [])

    def array(self, values, device=0):
        """A copy of an array that kernels on a device may touch."""
        copy = np.array(values)
        self.allow(copy, device)
        return copy

    def allow(self, array, device=0):
        """Let kernels on a device touch an array, which stays in memory; its address."""
        return self.memories[device].allow(array)

    def allow_address(self, start, size, device=0):
        """Let kernels on a device touch so many bytes at an address."""
        self.memories[device].allow_address(start, size)

    def lose(self, code=LAUNCH_FAILED):
        """The devices answer nothing but this from now on."""
        self.lost = code

    def _guarded(self, name):
        do = getattr(self, f"_{name}")

        def guarded(*given):
            if self.lost and name != "cuGetErrorName":
                return self.lost
            try:
                return do(*given) or 0
            except Exception as fault:  # which ctypes would print and swallow
                self.fault = fault
                illegal = isinstance(fault, ptx_simulator.Fault)
                return ILLEGAL_ADDRESS if illegal else LAUNCH_FAILED

        return guarded

    # The functions, without their results, which go where a pointer says --------------------------

    def _cuInit(self, flags):
        return 0

    def _cuDeviceGetCount(self, found):
        found[0] = self.devices

    def _cuDeviceGet(self, found, number):
        found[0] = number

    def _cuDeviceGetName(self, text, size, device):
        ctypes.memmove(text, f"fake {device}\0".encode(), len(f"fake {device}") + 1)

    def _cuDeviceGetAttribute(self, found, which, device):
        known = {cuda.OPT_IN: self.shared_limit, cuda.MULTIPROCESSORS: self.multiprocessors}
        found[0] = known.get(which, 0)

    def _cuDeviceTotalMem_v2(self, found, device):
        found[0] = 2**31

    def _cuDevicePrimaryCtxRetain(self, found, device):
        found[0] = 1000 + device

    def _cuCtxGetCurrent(self, found):
        found[0] = getattr(self.local, "context", None)

    def _cuCtxSetCurrent(self, context):
        self.local.context = context

    def _cuCtxSynchronize(self):
        return 0

    def _cuStreamSynchronize(self, stream):
        return 0

    def _cuModuleLoadDataEx(self, found, text, count, options, values):
        if self._device() is None:
            return NO_CONTEXT
        self.modules.append((text.decode(), self._device()))
        found[0] = len(self.modules)

    def _cuModuleGetFunction(self, found, module, name):
        text, _ = self.modules[module - 1]
        if name.decode() not in ptx_simulator.parse(text).functions:
            return INVALID
        self.functions[module] = 48 * 1024
        found[0] = module

    def _cuFuncSetAttribute(self, function, which, value):
        if which != cuda.MOST_SHARED or value > self.shared_limit:
            return INVALID
        self.functions[function] = value

    def _cuLaunchKernel(self, function, gx, gy, gz, bx, by, bz, shared, stream, given, extra):
        text, device = self.modules[function - 1]
        if self._device() != device:
            return NO_CONTEXT
        if (gy, gz, by, bz) != (1, 1, 1, 1) or shared > self.functions[function]:
            return INVALID
        if (extra[0], extra[2], extra[4]) != (1, 2, None):
            return INVALID
        size = ctypes.cast(extra[3], POINTER(c_size_t))[0]
        block = ctypes.string_at(extra[1], size)
        thread = threading.get_ident()
        self.launches.append(Launch(text, gx, shared, stream or 0, device, thread))
        memory = self.memories[device]
        ptx_simulator.execute(text, block, gx, shared, memory, threads=bx)

    def _cuGetErrorName(self, code, found):
        found[0] = NAMES.get(code, b"CUDA_ERROR_UNKNOWN")

    def _cuMemAlloc_v2(self, found, size):
        array = np.zeros(max(size, 1), np.uint8)
        self.allocated[array.ctypes.data] = array
        self.memories[self._device() or 0].allow(array)
        found[0] = array.ctypes.data

    def _cuMemFree_v2(self, address):
        del self.allocated[address]
        for memory in self.memories:
            memory.forget(address)

    def _cuMemcpyHtoD_v2(self, to, source, size):
        ctypes.memmove(to, source, size)

    def _cuMemcpyDtoH_v2(self, to, source, size):
        ctypes.memmove(to, source, size)

    def _cuMemcpyDtoDAsync_v2(self, to, source, size, stream):
        ctypes.memmove(to, source, size)

    def _cuMemsetD8Async(self, to, value, size, stream):
        ctypes.memset(to, value, size)

    def _cuStreamCreate(self, found, flags):
        self.streams.append(5000 + len(self.streams))
        found[0] = self.streams[-1]

    def _cuStreamDestroy_v2(self, stream):
        assert stream in self.streams

    def _cuMemGetInfo_v2(self, free, total):
        free[0] = total[0] = 2**31

    def _cuEventCreate(self, found, flags):
        found[0] = 1

    def _cuEventRecord(self, event, stream):
        return 0

    def _cuEventElapsedTime(self, found, start, end):
        found[0] = 1.0

    def _cuDriverGetVersion(self, found):
        found[0] = 12040

    def _device(self):
        """The device of the context that is current in this thread."""
        context = getattr(self.local, "context", None)
        return None if context is None else context - 1000
