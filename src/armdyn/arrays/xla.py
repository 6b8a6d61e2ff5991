"""Handlers for XLA, which runs what JAX compiles: between its call frames and our kernels.

XLA calls a handler with a pointer to an XLA_FFI_CallFrame, a struct of its stable C interface
(xla/ffi/api/c_api.h). On the CPU the handler is machine code that LLVM makes of the text below: it
needs neither headers nor Python's lock. On a GPU it is Python, which launches the kernel on the
stream of the frame.
"""

from __future__ import annotations

import math
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_int,
    c_int64,
    c_size_t,
    c_void_p,
    cast,
    sizeof,
)
from typing import Any

from armdyn.arrays import cuda
from armdyn.engine import jit
from armdyn.engine.calls import FLOAT32, FLOAT64, CarefulPath
from armdyn.errors import cut

VERSION = 0, 1  # of the interface: the oldest that has all that is used here
METADATA = 1  # the extension by which XLA asks for it
HANDLER = CFUNCTYPE(c_void_p, c_void_p)

# Where things lie in the structs, in bytes.
EXTENSION, ARGUMENTS, RESULTS = 8, 40, 80  # of a frame
LIST = 32  # of pointers to buffers, in its arguments and in its results
DATA, RANK, DIMS = 24, 32, 40  # of a buffer
EXTENSION_TYPE, EXTENSION_METADATA = 8, 24
MAJOR, MINOR, TRAITS = 24, 28, 32  # of the metadata

HEAD = f"""
declare void @kernel(ptr, ptr, i64)

define ptr @handler(ptr %frame) {{
  %extension.at = getelementptr i8, ptr %frame, i64 {EXTENSION}
  %extension = load ptr, ptr %extension.at
  %none = icmp eq ptr %extension, null
  br i1 %none, label %run, label %look
look:
  %type.at = getelementptr i8, ptr %extension, i64 {EXTENSION_TYPE}
  %type = load i32, ptr %type.at
  %asked = icmp eq i32 %type, {METADATA}
  br i1 %asked, label %tell, label %run
tell:
  %metadata.at = getelementptr i8, ptr %extension, i64 {EXTENSION_METADATA}
  %metadata = load ptr, ptr %metadata.at
  %major = getelementptr i8, ptr %metadata, i64 {MAJOR}
  store i32 {VERSION[0]}, ptr %major
  %minor = getelementptr i8, ptr %metadata, i64 {MINOR}
  store i32 {VERSION[1]}, ptr %minor
  %traits = getelementptr i8, ptr %metadata, i64 {TRAITS}
  store i32 0, ptr %traits
  ret ptr null
run:
"""


def text(inputs: int, results: int, numbers: int) -> str:
    """The handler of a kernel with so many inputs and results, so many numbers a state in one."""
    return "".join(
        [
            HEAD,
            f"  %in = alloca [{inputs} x ptr]\n  %out = alloca [{results} x ptr]\n",
            *_pointers("in", ARGUMENTS, inputs),
            *_pointers("out", RESULTS, results),
            f"""
  %rank.at = getelementptr i8, ptr %in.0, i64 {RANK}
  %rank = load i64, ptr %rank.at
  %dims.at = getelementptr i8, ptr %in.0, i64 {DIMS}
  %dims = load ptr, ptr %dims.at
  br label %next
next:
  %axis = phi i64 [ 0, %run ], [ %axis.after, %times ]
  %all = phi i64 [ 1, %run ], [ %all.after, %times ]
  %more = icmp slt i64 %axis, %rank
  br i1 %more, label %times, label %counted
times:
  %length.at = getelementptr i64, ptr %dims, i64 %axis
  %length = load i64, ptr %length.at
  %all.after = mul i64 %all, %length
  %axis.after = add i64 %axis, 1
  br label %next
counted:
  %count = udiv i64 %all, {numbers}
  %empty = icmp eq i64 %count, 0
  br i1 %empty, label %done, label %work
work:
  call void @kernel(ptr %in, ptr %out, i64 %count)
  br label %done
done:
  ret ptr null
}}
""",
        ]
    )


def _pointers(name: str, part: int, count: int) -> list[str]:
    """Reads where the memory of a frame's buffers lies, into an array of pointers."""
    lines = [
        f"  %{name}.list.at = getelementptr i8, ptr %frame, i64 {part + LIST}\n",
        f"  %{name}.list = load ptr, ptr %{name}.list.at\n",
    ]
    for k in range(count):
        lines += [
            f"  %{name}.{k}.at = getelementptr ptr, ptr %{name}.list, i64 {k}\n",
            f"  %{name}.{k} = load ptr, ptr %{name}.{k}.at\n",
            f"  %{name}.{k}.data.at = getelementptr i8, ptr %{name}.{k}, i64 {DATA}\n",
            f"  %{name}.{k}.data = load ptr, ptr %{name}.{k}.data.at\n",
            f"  %{name}.{k}.to = getelementptr ptr, ptr %{name}, i64 {k}\n",
            f"  store ptr %{name}.{k}.data, ptr %{name}.{k}.to\n",
        ]
    return lines


class OnCPU:
    """The handler of a function's kernel on the CPU; ``address`` is valid while this lives."""

    def __init__(self, path: CarefulPath, dtype: str, kind: str) -> None:
        made = text(len(path.takes), len(path.shapes), math.prod(path.takes[0]))
        self._path = path  # which owns the kernel
        kernel = path.address(kind, FLOAT32 if dtype == "float32" else FLOAT64)
        symbols = {"kernel": kernel}
        self._code = jit.LoadedCode(jit.machine_code(made, "handler"), "handler", symbols)
        self.address = self._code.address


# On a GPU -----------------------------------------------------------------------------------


class Buffer(Structure):
    """XLA_FFI_Buffer: an array."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("dtype", c_int),
        ("data", c_void_p),
        ("rank", c_int64),
        ("dims", POINTER(c_int64)),
    ]


class Buffers(Structure):
    """XLA_FFI_Args and XLA_FFI_Rets: arrays."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("size", c_int64),
        ("types", c_void_p),
        ("buffers", POINTER(POINTER(Buffer))),
    ]


class Frame(Structure):
    """XLA_FFI_CallFrame, as far as it is read here."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("api", POINTER(c_void_p)),
        ("context", c_void_p),
        ("stage", c_int),
        ("arguments", Buffers),
        ("results", Buffers),
    ]


class Asked(Structure):
    """XLA_FFI_Stream_Get_Args, and XLA_FFI_DeviceOrdinal_Get_Args: a question and its answer."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("context", c_void_p),
        ("answer", c_void_p),
    ]


class Trouble(Structure):
    """XLA_FFI_Error_Create_Args: a message."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("extension", c_void_p),
        ("message", c_char_p),
        ("code", c_int),
    ]


class Extension(Structure):
    """XLA_FFI_Metadata_Extension: XLA asks for the metadata, of which a pointer to ints is read."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("type", c_int),
        ("next", c_void_p),
        ("metadata", c_void_p),
    ]


QUESTION = CFUNCTYPE(c_void_p, c_void_p)
CREATE_ERROR, GET_STREAM, GET_DEVICE = 6, 10, 23  # places in XLA_FFI_Api, a pointer each
INTERNAL = 13  # XLA_FFI_Error_Code


class OnGPU:
    """The handler of a function on a GPU; ``address`` is valid while this lives."""

    def __init__(self, path: CarefulPath, dtype: str) -> None:
        self._kernel, self._takes, self._dtype = cuda.kernel(path), path.takes, dtype
        self._handler = HANDLER(self._handle)
        self.address = cast(self._handler, c_void_p).value or 0

    def _handle(self, at: int) -> int | None:
        frame = Frame.from_address(at)
        if frame.extension:
            extension = Extension.from_address(frame.extension)
            if extension.type == METADATA:
                for place, number in zip((MAJOR, MINOR, TRAITS), (*VERSION, 0), strict=True):
                    c_int.from_address(extension.metadata + place).value = number
                return None
        try:
            self._launch(frame)
        except Exception as trouble:  # XLA raises it where its user waits
            message = cut(f"{type(trouble).__name__}: {trouble}", 500).encode()
            error = Trouble(sizeof(Trouble), None, message, INTERNAL)
            return QUESTION(frame.api[CREATE_ERROR])(byref(error))
        return None

    def _launch(self, frame: Any) -> None:
        inputs = [frame.arguments.buffers[k][0] for k in range(frame.arguments.size)]
        outputs = [frame.results.buffers[k][0] for k in range(frame.results.size)]
        rows = [math.prod(shape) for shape in self._takes]
        count = math.prod(inputs[0].dims[: inputs[0].rank]) // rows[0]
        if not count:
            return
        self._kernel.launch(
            [(each.data, row) for each, row in zip(inputs, rows, strict=True)],
            [each.data for each in outputs],
            count,
            self._dtype,
            ask(frame, GET_DEVICE) & 0xFFFFFFFF,
            ask(frame, GET_STREAM),
        )


def ask(frame: Any, place: int) -> int:
    """What XLA says of the call: its stream, or the number of its GPU."""
    asked = Asked(sizeof(Asked), None, frame.context, None)
    known = place * sizeof(c_void_p) < (frame.api[0] or 0)  # which is the size of the table
    if not known or QUESTION(frame.api[place])(byref(asked)):
        raise RuntimeError(f"XLA does not answer question {place} of its interface")
    return asked.answer or 0
