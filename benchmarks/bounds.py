"""What this machine can do at best on one core, to set the times of batches beside.

A quantity takes so many vector operations a state: arithmetic, and the turning of rows into lanes
and back. Each of them the machine could do as fast as a multiply-add that waits for nothing. And
its results are so many bytes, which take their time to be stored, and wide arguments to be read.
All are measured here, by loops that do nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from ctypes import CFUNCTYPE, c_int64, c_void_p
from dataclasses import dataclass

import numpy as np

from armdyn.chain import Chain
from armdyn.engine import Compilation, jit
from armdyn.program.program import Op
from armdyn.program.sincos import FORMATS, Lanes
from armdyn.quantities.tasks import Task, shapes

CHAINS = 16  # of multiply-adds that do not wait for one another
TURNS = 20_000  # of the loop
REPEATS = 60

ARITHMETIC = """
define void @loop(ptr %in, ptr %out, i64 %count) {{
entry:
  br label %turn
turn:
  %i = phi i64 [ 0, %entry ], [ %next, %turn ]
{begin}
{work}
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %turn, label %done
done:
{end}
  ret void
}}
declare {real} @llvm.fma.{suffix}({real}, {real}, {real})
"""
MOVING = """
define void @loop(ptr %in, ptr %out, i64 %count) {{
entry:
  br label %turn
turn:
  %i = phi i64 [ 0, %entry ], [ %next, %turn ]
  %from.offset = mul i64 %i, {read}
  %from = getelementptr i8, ptr %in, i64 %from.offset
  %to.offset = mul i64 %i, {stored}
  %to = getelementptr i8, ptr %out, i64 %to.offset
{work}
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %turn, label %done
done:
  ret void
}}
"""
READ = """\
  %place{k} = getelementptr i8, ptr %from, i64 {offset}
  %number{k} = load volatile {real}, ptr %place{k}, align {size}"""
STORED = """\
  %there{k} = getelementptr i8, ptr %to, i64 {offset}
  store {real} splat (double 1.0), ptr %there{k}, align {size}"""
LOOP = CFUNCTYPE(None, c_void_p, c_void_p, c_int64)


@dataclass(frozen=True)
class Bound:
    """The least seconds a state of a quantity in a batch, for its operations and for its stores."""

    arm: str
    quantity: str
    dtype: str
    states: int
    computing: float
    storing: float

    @property
    def seconds(self) -> float:
        """What the slower of both takes."""
        return max(self.computing, self.storing)


def bounds(
    chains: list[Chain], quantities: tuple[str, ...], batches: tuple[int, ...]
) -> list[Bound]:
    """The bounds of all quantities, in both types, for batches of some sizes."""
    found = []
    for dtype in ("float64", "float32"):
        operation = seconds_an_operation(dtype)
        for chain in chains:
            for quantity in quantities:
                lanes = jit.machine().lanes(dtype)
                work = operations(chain, quantity, lanes) * operation / lanes
                width = sum(int(np.prod(shape)) for shape in shapes(chain, [Task(quantity)]))
                row = width * np.dtype(dtype).itemsize
                for count in batches:
                    stores = seconds_to_move(0, row, count)
                    found.append(Bound(chain.name, quantity, dtype, count, work, stores))
    return found


def operations(chain: Chain, quantity: str, lanes: int) -> int:
    """Vector operations of a quantity: its program's, its sines' polynomials, its rows' turns.

    A square of rows is turned by as many shuffles a row as two has powers up to the lanes; by one
    less where halves of vectors are loaded, as arguments are.
    """
    program = Compilation(chain, [Task(quantity)]).program
    plain = (Op.ADD, Op.SUB, Op.MUL, Op.FMA, Op.DIV, Op.SQRT)
    count = sum(instruction.op in plain for instruction in program.instructions)
    angles = {i.args[0] for i in program.instructions if i.op in (Op.SIN, Op.COS)}
    levels = lanes.bit_length() - 1
    turns = (levels - 1) * sum(program.inputs.values()) + levels * len(program.outputs)
    return count + len(angles) * _operations_a_sine() + turns


def _operations_a_sine() -> int:
    """Arithmetic instructions of one angle's sine and cosine."""
    lines: list[str] = []

    def emit(line: str) -> str:
        lines.append(line)
        return f"%v{len(lines)}"

    vectors = Lanes(emit, FORMATS["float64"], 8)
    vectors.sincos(vectors.reduced(["%x"]))
    return sum(any(word in line for word in ("fma", "fmul", "fsub", "fadd")) for line in lines)


def seconds_an_operation(dtype: str) -> float:
    """The time of a multiply-add of full vectors that waits for nothing."""
    lanes = jit.machine().lanes(dtype)
    scalar = {"float64": "double", "float32": "float"}[dtype]
    real, suffix = f"<{lanes} x {scalar}>", f"v{lanes}f{FORMATS[dtype].bits}"
    begin = [
        f"  %a{k} = phi {real} [ splat ({scalar} 1.0), %entry ], [ %b{k}, %turn ]"
        for k in range(CHAINS)
    ]
    factor = f"{real} splat ({scalar} 0.5)"
    work = [
        f"  %b{k} = call {real} @llvm.fma.{suffix}({real} %a{k}, {factor}, {factor})"
        for k in range(CHAINS)
    ]
    end = []
    for k in range(CHAINS):
        end.append(f"  %p{k} = getelementptr {real}, ptr %out, i64 {k}")
        end.append(f"  store {real} %b{k}, ptr %p{k}, align 64")
    text = ARITHMETIC.format(
        real=real, suffix=suffix, begin="\n".join(begin), work="\n".join(work), end="\n".join(end)
    )
    return _least(text, 0, 64 * CHAINS, TURNS) / CHAINS


def seconds_to_move(read: int, stored: int, states: int) -> float:
    """The time to read and store so many bytes of each state, again and again, by full vectors."""
    lanes = jit.machine().lanes("float64")
    size, real = 8 * lanes, f"<{lanes} x double>"
    block = 2 * lanes  # states whose rows are whole vectors, those of float32 too
    work = [
        text.format(k=k, offset=k * size, real=real, size=size)
        for text, row in ((READ, read), (STORED, stored))
        for k in range(block * row // size)
    ]
    text = MOVING.format(read=block * read, stored=block * stored, work="\n".join(work))
    turns = -(-states // block)
    return _least(text, turns * block * read, turns * block * stored, turns) / block


def _least(text: str, read: int, stored: int, turns: int) -> float:
    """The least seconds a turn of a loop that reads and stores so many bytes in all."""
    code = jit.LoadedCode(jit.machine_code(text, "loop"), "loop")
    loop: Callable[..., None] = LOOP(code.address)
    arrays = [np.ones(size // 8 + 16) for size in (read, stored)]  # zeros need no memory to be read
    places = [-(-array.ctypes.data // 64) * 64 for array in arrays]
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        loop(*places, turns)
        times.append(time.perf_counter() - start)
    return min(times) / turns
