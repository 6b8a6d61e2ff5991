"""Whole LLVM modules: a kernel's parts, and the function that is called from outside.

``single(in, out)`` works on one state, ``batch(in, out, count)`` on many: blocks of as many states
as a vector has lanes go straight from array to array; the states that are left over go through a
block of their own, filled up with zeros. ``stream(in, out, count)`` does the same where the results
of a call are larger than the caches (streams.py).

Processors tell loads and stores in flight apart by the last bits of their addresses. Constants lie
from the start of a page on, so a kernel for many makes its stack begin with one: what the parts set
aside then lies at the end of another. A stack wherever it happened to be cost up to half the speed.
(No result depends on that, so no test can hold it: ``benchmarks/speed.py`` does.)

Vectors that wait on the stack for their use lie at multiples of their size, in one line of the
cache. LLVM would put them at any multiple of 16 bytes; across two lines each takes twice as long.

A stack may be small, in a thread above all. So scratch and buffers that are not small come from
the heap; where that has no more, all results are NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from armdyn.program.ahead import (
    BROAD,
    LINE,
    NOTHING,
    Coming,
    coming,
    lines_to_store,
    near,
    rows_to_come,
)
from armdyn.program.far import far, far_angle, table
from armdyn.program.llvm import Writer
from armdyn.program.program import Program
from armdyn.program.sincos import FORMATS
from armdyn.program.streams import Streams
from armdyn.program.text import Text

PAGE = 4096  # bytes that the last bits of an address tell apart
STACK = 8192  # bytes of scratch and buffers that a kernel takes from the stack
CALLED = 16  # bytes at whose multiples a stack is when a function is called

COMMON = """
declare ptr @malloc(i64)
declare void @free(ptr)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare i64 @llvm.umin.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
!0 = !{!"branch_weights", i32 1, i32 1048576}
"""

BLOCKS = """
define void @{name}(ptr %in, ptr %out, i64 %count) {{
entry:
{pointers}
  %frame = alloca i8, align {page}
{room}
  %whole = and i64 %count, -{width}
  %left = sub i64 %count, %whole
  br label %{first}
{stream}
loop:
  %i = phi i64 [ 0, %{before} ], [ %next, %block ]
  %next = add i64 %i, {width}
  %more = icmp ult i64 %i, %whole
  br i1 %more, label %block, label %rest
block:
{places}
{later}
{call_here}
  br label %loop
rest:
  %none = icmp eq i64 %left, 0
  br i1 %none, label %done, label %copy
copy:
{copy_in}
{call_buffered}
{copy_out}
  br label %done
done:
{leave}
}}
"""
AHEAD = """\
  %further = add i64 %i, {further}
  %last = sub i64 %whole, {width}
  %ahead = call i64 @llvm.umin.i64(i64 %further, i64 %last)
"""


class Room:
    """Memory of a driver under some names, each of so many bytes: on the stack, or on the heap."""

    def __init__(self, areas: dict[str, int]) -> None:
        self.areas = areas
        self.heap = sum(areas.values()) > STACK
        self.block = "ready" if self.heap else "entry"  # where the driver goes on

    def take(self) -> list[str]:
        """Set it aside; in a driver's first block."""
        if not self.heap:
            return [f"  {x} = alloca [{n} x i8], align {LINE}" for x, n in self.areas.items()]
        places, end = [], 0
        for name, size in self.areas.items():
            places.append(f"  {name} = getelementptr i8, ptr %room, i64 {end}")
            end += -(-size // LINE) * LINE
        return [
            f"  %taken = call ptr @malloc(i64 {end + PAGE})",
            "  %nothing = icmp eq ptr %taken, null",
            "  br i1 %nothing, label %refuse, label %ready",
            "ready:",
            "  %first = ptrtoint ptr %taken to i64",
            f"  %above = add i64 %first, {PAGE - 1}",
            f"  %aligned = and i64 %above, -{PAGE}",
            "  %room = inttoptr i64 %aligned to ptr",
            *places,
        ]

    def leave(self, rows: dict[str, int], count: str) -> list[str]:
        """Return it, and from the driver; or return with all of the results' rows NaN."""
        if not self.heap:
            return ["  ret void"]
        lines = ["  call void @free(ptr %taken)", "  ret void", "refuse:"]
        for x, row in rows.items():  # a number whose bits are all 1 is NaN
            lines.append(f"  {x}.all = mul i64 {count}, {row}")
            lines.append(f"  call void @llvm.memset.p0.i64(ptr {x}, i8 -1, i64 {x}.all, i1 0)")
        return [*lines, "  ret void"]


def single(program: Program, dtype: str, width: int) -> str:
    """The module of the kernel for one state, ``single(in, out)``."""
    writer = Writer(program, FORMATS[dtype], 1, width)
    room = Room(scratch(writer))
    text = Text()
    text.lines += [*pointers(writer), *room.take()]
    whole = len(writer.parts) == 1 and not writer.scratch
    if whole:
        writer.part(0, text)
    else:
        text.lines += calls(writer, writer.names)
    text.lines += room.leave(bytes_a_state(writer, writer.results), "1")
    driver = define("void @single(ptr %in, ptr %out)", text)
    return "\n".join([*declarations(writer), COMMON, *([] if whole else parts(writer)), driver])


def batch(program: Program, dtype: str, width: int, ask: bool = False, name: str = "batch") -> str:
    """The module of the kernel for many states, ``batch(in, out, count)``.

    On some processors it should ``ask`` for the lines that wide results will be stored in.
    """
    writer = Writer(program, FORMATS[dtype], width, width)
    row, rows = (bytes_a_state(writer, names) for names in (writer.names, writer.arguments))
    room = {f"{x}.buffer": width * size for x, size in row.items()}
    stored = broad(writer) if ask else {}
    ahead = coming(writer.program, rows, stored) if len(writer.parts) == 1 else NOTHING
    later = [f"{x}.later" for x in ahead.names]
    asks = rows_to_come(writer.program, rows, ahead, width) + lines_to_store(stored, width)
    functions = parts(writer, later, asks)
    code = near(functions, [*row.values()], width)

    def compute(names: list[str]) -> list[str]:
        """A block, and what of a later one to bring near; of the states left over themselves."""
        there = dict(zip(writer.names, names, strict=True))
        after = [f"{x}.later" if there[x] == f"{x}.here" else there[x] for x in ahead.names]
        return [*code.call(names), *calls(writer, names, after)]

    driver = blocks(name, writer, room, compute, ahead=ahead)
    return "\n".join([*declarations(writer), COMMON, *functions, code.text, driver, code.end])


def stream(program: Program, dtype: str, width: int, ask: bool = False) -> str:
    """The module of the kernel for so many states that their results outgrow the caches.

    A program of several parts sends a block's results to memory after the parts of the next one.
    Where ``batch`` can ``ask`` for lines, that is faster: then it is the same kernel once more.
    """
    writer = Writer(program, FORMATS[dtype], width, width)
    if ask and broad(writer):
        return batch(program, dtype, width, ask, "stream")
    row, results = (bytes_a_state(writer, names) for names in (writer.names, writer.results))
    streams = Streams(row, results, width, writer.type, width * writer.form.bits // 8)
    room = {f"{x}.buffer": streams.room(x) for x in row}
    if len(writer.parts) > 1:
        functions, compute = parts(writer), partial(calls, writer)

        def send(names: list[str]) -> list[str]:
            return [*compute(names), *streams.flow()]

    else:
        functions = parts(writer, streams.moving(), streams.vectors())
        compute = partial(calls, writer, more=streams.nothing())
        send = partial(calls, writer, more=streams.moving())
    code = near(functions, [*row.values()], width)

    def send_near(names: list[str]) -> list[str]:
        return [*code.call(names), *send(names)]

    driver = blocks("stream", writer, room, compute, streams.blocks(compute, send_near))
    functions += [code.text, streams.function()]
    return "\n".join([*declarations(writer), COMMON, *functions, driver, code.end])


def broad(writer: Writer) -> dict[str, int]:
    """The results whose lines a kernel may ask for, and their bytes a state."""
    rows = bytes_a_state(writer, writer.results)
    return {x: row for x, row in rows.items() if row >= BROAD and len(writer.parts) == 1}


def blocks(
    name: str,
    writer: Writer,
    areas: dict[str, int],
    compute: Callable[[list[str]], list[str]],
    stream: str = "",
    ahead: Coming = NOTHING,
) -> str:
    """A kernel for many states, that computes block by block and then the states left over.

    With ``stream`` it goes there first, which ends in ``loop`` or in ``rest``. What is asked for
    ``ahead`` has a ``.later`` too: its rows some blocks later, at most of the last.
    """
    room = Room(scratch(writer) | areas)
    row, width = bytes_a_state(writer, writer.names), writer.lanes

    def each(line: str, names: Sequence[str]) -> str:
        return "\n".join(line.format(x=x, row=row[x], block=width * row[x]) for x in names)

    return BLOCKS.format(
        name=name,
        width=width,
        page=PAGE,
        pointers="\n".join(pointers(writer)),
        room="\n".join(room.take()),
        first="stream" if stream else "loop",
        stream=stream,
        before="stream" if stream else room.block,
        places=each(
            "  {x}.offset = mul i64 %i, {row}\n"
            "  {x}.here = getelementptr i8, ptr {x}, i64 {x}.offset",
            writer.names,
        ),
        later=(AHEAD.format(further=width * ahead.blocks, width=width) if ahead.names else "")
        + each(
            "  {x}.ahead = mul i64 %ahead, {row}\n"
            "  {x}.later = getelementptr i8, ptr {x}, i64 {x}.ahead",
            ahead.names,
        ),
        call_here="\n".join(compute([f"{x}.here" for x in writer.names])),
        copy_in=each(
            "  {x}.skip = mul i64 %whole, {row}\n"
            "  {x}.last = getelementptr i8, ptr {x}, i64 {x}.skip\n"
            "  {x}.bytes = mul i64 %left, {row}",
            writer.names,
        )
        + "\n"
        + each(
            "  call void @llvm.memset.p0.i64(ptr {x}.buffer, i8 0, i64 {block}, i1 0)\n"
            "  call void @llvm.memcpy.p0.p0.i64(ptr {x}.buffer, ptr {x}.last, i64 {x}.bytes, i1 0)",
            writer.arguments,
        ),
        call_buffered="\n".join(compute([f"{x}.buffer" for x in writer.names])),
        copy_out=each(
            "  call void @llvm.memcpy.p0.p0.i64(ptr {x}.last, ptr {x}.buffer, i64 {x}.bytes, i1 0)",
            writer.results,
        ),
        leave="\n".join(room.leave(bytes_a_state(writer, writer.results), "%count")),
    )


def pointers(writer: Writer) -> list[str]:
    """Take the pointers out of the arrays %in and %out."""
    lines = []
    for array, names in (("%in", writer.arguments), ("%out", writer.results)):
        for place, name in enumerate(names):
            lines.append(f"  {name}.cell = getelementptr ptr, ptr {array}, i64 {place}")
            lines.append(f"  {name} = load ptr, ptr {name}.cell")
    return lines


def scratch(writer: Writer) -> dict[str, int]:
    """The scratch array of a kernel that needs one, and its size in bytes."""
    size = writer.scratch * writer.lanes * writer.form.bits // 8
    return {"%scratch": size} if size else {}


def bytes_a_state(writer: Writer, names: list[str]) -> dict[str, int]:
    """The bytes that one state takes, of each argument or result."""
    numbers = [*writer.program.inputs.values(), *writer.sizes]
    sizes = dict(zip(writer.names, numbers, strict=True))
    return {name: sizes[name] * writer.form.bits // 8 for name in names}


def calls(writer: Writer, names: list[str], more: Sequence[str] = ()) -> list[str]:
    """Call part after part, with the pointers of a block, and what else they take."""
    scratch = "%scratch" if writer.scratch else "null"
    arguments = ", ".join(f"ptr {name}" for name in [*names, scratch, *more])
    return [f"  call void @part{i}({arguments})" for i in range(len(writer.parts))]


def parts(writer: Writer, more: Sequence[str] = (), between: Sequence[str] = ()) -> list[str]:
    """The parts as functions of the pointers and the scratch array.

    They may take more pointers, which others use ``between`` their own instructions.
    """
    found = []
    parameters = ", ".join(f"ptr {name}" for name in [*writer.names, "%scratch", *more])
    vector = writer.lanes * writer.form.bits // 8
    aligned = f" alignstack({vector})" if vector > CALLED else ""
    for i in range(len(writer.parts)):
        text = Text()
        writer.part(i, text, between)
        text.do("ret void")
        found.append(define(f"internal void @part{i}({parameters}) noinline{aligned}", text))
    return found


def declarations(writer: Writer) -> list[str]:
    """The intrinsics and tables that a kernel uses, and the function ``far``."""
    form = writer.form
    found = [*writer.tables_text(), *writer.areas.functions()]
    found += [table(), far_angle(), far(form, writer.width)]
    found.append("declare double @llvm.fma.f64(double, double, double)")  # of far_angle
    for lanes in (1, writer.width):
        real = form.scalar if lanes == 1 else f"<{lanes} x {form.scalar}>"
        suffix = f"f{form.bits}" if lanes == 1 else f"v{lanes}f{form.bits}"
        found.append(f"declare {real} @llvm.fma.{suffix}({real}, {real}, {real})")
        found += [f"declare {real} @llvm.{f}.{suffix}({real})" for f in ("sqrt", "fabs")]
    return list(dict.fromkeys(found))


def define(head: str, text: Text) -> str:
    """A function's definition."""
    return "\n".join([f"define {head} {{", *text.lines, "}"])
