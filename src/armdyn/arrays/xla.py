"""Handlers for XLA, which runs what JAX compiles: between its call frames and our kernels.

XLA calls a handler with a pointer to an XLA_FFI_CallFrame, a struct of its stable C interface
(xla/ffi/api/c_api.h). A handler is machine code that LLVM makes of the text below: it needs neither
headers nor Python's lock. On a GPU it launches the kernel on the stream of the frame. What it
cannot do itself, such as the first call on a device, and what goes wrong, it leaves to Python.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    addressof,
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
from armdyn.engine.cuda import DEVICES, HEAD, STREAM, WARPS, Head
from armdyn.errors import cut

VERSION = 0, 1  # of the interface: the oldest that has all that is used here
METADATA = 1  # the extension by which XLA asks for it
CREATE_ERROR, FORGET_ERROR, GET_STREAM, GET_DEVICE = 6, 8, 10, 23  # in XLA_FFI_Api, a pointer each
INTERNAL = 13  # XLA_FFI_Error_Code
HANDLER = QUESTION = CFUNCTYPE(c_void_p, c_void_p)
FORGET = CFUNCTYPE(None, c_void_p)


# XLA's structs ------------------------------------------------------------------------------


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
        ("api", POINTER(c_void_p)),  # XLA_FFI_Api, which begins with its size in bytes
        ("context", c_void_p),
        ("stage", c_int),
        ("arguments", Buffers),
        ("results", Buffers),
    ]


class Asked(Structure):
    """XLA_FFI_Stream_Get_Args, and XLA_FFI_DeviceOrdinal_Get_Args: a question and its answer.

    XLA_FFI_Error_Destroy_Args too, with an error in place of the context.
    """

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
    """XLA_FFI_Metadata_Extension: XLA asks for the metadata."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("type", c_int),
        ("next", c_void_p),
        ("metadata", c_void_p),
    ]


class Metadata(Structure):
    """XLA_FFI_Metadata, as far as it is written here."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("version_size", c_size_t),
        ("version_extension", c_void_p),
        ("major", c_int),
        ("minor", c_int),
        ("traits", c_int),
    ]


# On the CPU and on a GPU --------------------------------------------------------------------

BEGIN = f"""
define ptr @handler(ptr %frame) {{
  %extension.at = getelementptr i8, ptr %frame, i64 {Frame.extension.offset}
  %extension = load ptr, ptr %extension.at
  %none = icmp eq ptr %extension, null
  br i1 %none, label %run, label %look
look:
  %type.at = getelementptr i8, ptr %extension, i64 {Extension.type.offset}
  %type = load i32, ptr %type.at
  %wanted = icmp eq i32 %type, {METADATA}
  br i1 %wanted, label %tell, label %run
tell:
  %metadata.at = getelementptr i8, ptr %extension, i64 {Extension.metadata.offset}
  %metadata = load ptr, ptr %metadata.at
  %major = getelementptr i8, ptr %metadata, i64 {Metadata.major.offset}
  store i32 {VERSION[0]}, ptr %major
  %minor = getelementptr i8, ptr %metadata, i64 {Metadata.minor.offset}
  store i32 {VERSION[1]}, ptr %minor
  %traits = getelementptr i8, ptr %metadata, i64 {Metadata.traits.offset}
  store i32 0, ptr %traits
  ret ptr null
run:
"""
COUNT = f"""
  %rank.at = getelementptr i8, ptr %in.0, i64 {Buffer.rank.offset}
  %rank = load i64, ptr %rank.at
  %dims.at = getelementptr i8, ptr %in.0, i64 {Buffer.dims.offset}
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
"""


def text(takes: Sequence[int], results: int, work: str) -> str:
    """A handler that does some ``work``, which ends in a branch to ``done``.

    Arguments have so many numbers a state. The work finds their memory in %in.0.data, %in.1.data
    and so on, that of results in %out.0.data, ..., and the number of states, not 0, in %count.
    """
    return f"""{BEGIN}{_memory("in", Frame.arguments.offset, len(takes))}
{_memory("out", Frame.results.offset, results)}{COUNT}
  %count = udiv i64 %all, {takes[0]}
  %empty = icmp eq i64 %count, 0
  br i1 %empty, label %done, label %work
work:
{work}
done:
  ret ptr null
}}
"""


def _memory(name: str, part: int, count: int) -> str:
    """Reads where the memory of a frame's buffers lies."""
    lines = [
        f"  %{name}.list.at = getelementptr i8, ptr %frame, i64 {part + Buffers.buffers.offset}",
        f"  %{name}.list = load ptr, ptr %{name}.list.at",
    ]
    for k in range(count):
        lines += [
            f"  %{name}.{k}.at = getelementptr ptr, ptr %{name}.list, i64 {k}",
            f"  %{name}.{k} = load ptr, ptr %{name}.{k}.at",
            f"  %{name}.{k}.data.at = getelementptr i8, ptr %{name}.{k}, i64 {Buffer.data.offset}",
            f"  %{name}.{k}.data = load ptr, ptr %{name}.{k}.data.at",
        ]
    return "\n".join(lines)


def _stores(name: str, first: int, values: Sequence[str]) -> str:
    """Stores values one after the other, from a place on."""
    return "\n".join(
        f"  %{name}.{k} = getelementptr i64, ptr %{name}, i64 {k}\n  store {value}, ptr %{name}.{k}"
        for k, value in enumerate(values, first)
    )


# On the CPU ---------------------------------------------------------------------------------


class OnCPU:
    """The handler of a function's kernel on the CPU; ``address`` is valid while this lives."""

    def __init__(self, path: CarefulPath, dtype: str, kind: str) -> None:
        takes = [*map(math.prod, path.takes)]
        self._path = path  # which owns the kernel
        kernel = path.address(kind, FLOAT32 if dtype == "float32" else FLOAT64)
        code = jit.machine_code(on_cpu(takes, len(path.shapes)), "handler")
        self._code = jit.LoadedCode(code, "handler", {"kernel": kernel})
        self.address = self._code.address


def on_cpu(takes: Sequence[int], results: int) -> str:
    """The text of a handler that calls a kernel."""
    read = [f"ptr %in.{k}.data" for k in range(len(takes))]
    written = [f"ptr %out.{k}.data" for k in range(results)]
    work = f"""
  %read = alloca [{len(takes)} x ptr]
  %written = alloca [{results} x ptr]
{_stores("read", 0, read)}
{_stores("written", 0, written)}
  call void @kernel(ptr %read, ptr %written, i64 %count)
  br label %done
"""
    return f"declare void @kernel(ptr, ptr, i64)\n{text(takes, results, work)}"


# On a GPU -----------------------------------------------------------------------------------

# Whether XLA answers a question on a frame, of which there is a number.
ASK = f"""
define internal i1 @ask(ptr %frame, i64 %number, ptr %asked) {{
  %api.at = getelementptr i8, ptr %frame, i64 {Frame.api.offset}
  %api = load ptr, ptr %api.at
  %size = load i64, ptr %api
  %place = mul i64 %number, 8
  %known = icmp ult i64 %place, %size
  br i1 %known, label %ask, label %no
ask:
  %extension = getelementptr i8, ptr %asked, i64 {Asked.extension.offset}
  %context = getelementptr i8, ptr %asked, i64 {Asked.context.offset}
  %answer = getelementptr i8, ptr %asked, i64 {Asked.answer.offset}
  %here.at = getelementptr i8, ptr %frame, i64 {Frame.context.offset}
  %here = load ptr, ptr %here.at
  store i64 {sizeof(Asked)}, ptr %asked
  store ptr null, ptr %extension
  store ptr %here, ptr %context
  store ptr null, ptr %answer
  %question.at = getelementptr i8, ptr %api, i64 %place
  %question = load ptr, ptr %question.at
  %trouble = call ptr %question(ptr %asked)
  %fine = icmp eq ptr %trouble, null
  br i1 %fine, label %yes, label %forget
forget:
  store ptr %trouble, ptr %context
  %forget.at = getelementptr ptr, ptr %api, i64 {FORGET_ERROR}
  %forgets = load ptr, ptr %forget.at
  call void %forgets(ptr %asked)
  br label %no
yes:
  ret i1 true
no:
  ret i1 false
}}
"""


def on_gpu(takes: Sequence[int], results: int, heads: int, python: int) -> str:
    """The text of a handler that launches a kernel, or else calls the handler in ``python``.

    Args:
        takes: how many numbers each argument has.
        results: how many there are.
        heads: the address of what launches begin with, one for each of DEVICES.
        python: the address of a handler.
    """
    given = []
    for k, numbers in enumerate(takes):
        given += [f"ptr %in.{k}.data", f"i64 {numbers}"]
    given += [*(f"ptr %out.{k}.data" for k in range(results)), "i64 %count"]
    words = len(HEAD) + len(given)
    copies = "\n".join(
        f"  %from.{k} = getelementptr i64, ptr %head, i64 {k}\n"
        f"  %word.{k} = load i64, ptr %from.{k}"
        for k in range(len(HEAD))
    )
    head = [f"i64 %word.{k}" for k in range(len(HEAD))]
    head[STREAM], head[WARPS] = "i64 %stream", "i64 %warps"
    work = f"""
  %block = alloca [{words} x i64]
  %asked = alloca [{sizeof(Asked)} x i8], align 8
  %answer = getelementptr i8, ptr %asked, i64 {Asked.answer.offset}
  %has.device = call i1 @ask(ptr %frame, i64 {GET_DEVICE}, ptr %asked)
  br i1 %has.device, label %find, label %slowly
find:
  %number = load i32, ptr %answer
  %device = zext i32 %number to i64
  %near = icmp ult i64 %device, {DEVICES}
  br i1 %near, label %made, label %slowly
made:
  %offset = mul i64 %device, {sizeof(Head)}
  %head = getelementptr i8, ptr inttoptr (i64 {heads} to ptr), i64 %offset
  %entry.at = getelementptr i8, ptr %head, i64 {Head.launcher.offset}
  %entry = load atomic ptr, ptr %entry.at acquire, align 8
  %is.made = icmp ne ptr %entry, null
  br i1 %is.made, label %alive, label %slowly
alive:
  %launch = load ptr, ptr %entry
  %is.alive = icmp ne ptr %launch, null
  br i1 %is.alive, label %behind, label %slowly
behind:
  %has.stream = call i1 @ask(ptr %frame, i64 {GET_STREAM}, ptr %asked)
  br i1 %has.stream, label %fill, label %slowly
fill:
  %stream = load i64, ptr %answer
  %rounded = add i64 %count, 31
  %warps = lshr i64 %rounded, 5
{copies}
{_stores("block", 0, [*head, *given])}
  %code = call i32 %launch(ptr %block, i64 {8 * words})
  %launched = icmp eq i32 %code, 0
  br i1 %launched, label %done, label %slowly
slowly:
  %said = call ptr inttoptr (i64 {python} to ptr)(ptr %frame)
  ret ptr %said
"""
    return ASK + text(takes, results, work)


class OnGPU:
    """The handler of a function on a GPU; ``address`` is valid while this lives."""

    def __init__(self, path: CarefulPath, dtype: str) -> None:
        self._kernel, self._dtype = cuda.kernel(path), dtype
        self._takes = [math.prod(shape) for shape in path.takes]
        self.slow = HANDLER(self._handle)
        heads = addressof(self._kernel.heads) + sizeof(Head) * DEVICES * (dtype == "float32")
        python = cast(self.slow, c_void_p).value or 0
        made = on_gpu(self._takes, len(path.shapes), heads, python)
        self._code = jit.LoadedCode(jit.machine_code(made, "handler"), "handler")
        self.address = self._code.address

    def _handle(self, at: int) -> int | None:
        """The handler in Python: makes the kernel at the first call, and says what goes wrong."""
        frame = Frame.from_address(at)
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
        self._kernel.launch(
            [(each.data, row) for each, row in zip(inputs, self._takes, strict=True)],
            [each.data for each in outputs],
            math.prod(inputs[0].dims[: inputs[0].rank]) // self._takes[0],
            self._dtype,
            ask(frame, GET_DEVICE) & 0xFFFFFFFF,
            ask(frame, GET_STREAM),
        )


def ask(frame: Any, place: int) -> int:
    """What XLA says of the call: its stream, or the number of its GPU."""
    asked = Asked(sizeof(Asked), None, frame.context, None)
    known = place * sizeof(c_void_p) < (frame.api[0] or 0)  # which is the size of the table
    trouble = QUESTION(frame.api[place])(byref(asked)) if known else None
    if trouble:
        asked.context = trouble
        FORGET(frame.api[FORGET_ERROR])(byref(asked))
    if trouble or not known:
        raise RuntimeError(f"XLA does not answer question {place} of its interface")
    return asked.answer or 0
