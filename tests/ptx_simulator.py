"""Executes PTX on NumPy, as far as armdyn writes it: what a GPU would do, and what it must not.

All threads of a grid go in lockstep, each instruction on an array over the threads; where they go
different ways, those that are behind go first. A barrier of a warp holds its threads until the last
one comes. Numbers are rounded as IEEE 754 has it, an fma once.

It is wrong, and a ``Fault``, to read or write outside of the memory that was allowed, to do so at
an address that is no multiple of the size, to touch a word of shared memory that another thread has
written, or to write one that another has touched, without a barrier between, and to wait at a
barrier that not all threads of the warp come to.
"""

import ctypes
import re
import struct

import numpy as np

from tests.ptx_rules import RULES, compare, convert, shift
from tests.ptx_text import KINDS, parse

WARP = 32
ROUNDED = ("add", "sub", "mul", "div", "rcp", "sqrt", "fma")
LOCAL = 1 << 60  # where generic addresses of local memory begin


class Fault(Exception):
    """What a GPU must not be asked to do."""


class Memory:
    """The memory that a kernel may touch: ``allow`` an array, or bytes at an address."""

    def __init__(self):
        self.regions = []  # (address, array of bytes, what keeps them alive)

    def allow(self, array):
        """An array's memory; its address."""
        start = array.ctypes.data
        self.allow_address(start, array.nbytes, array)
        return start

    def allow_address(self, start, size, keep=None):
        """So many bytes of this process at an address."""
        if size:
            raw = np.frombuffer((ctypes.c_char * size).from_address(start), np.uint8)
            self.regions.append((start, raw, keep))

    def forget(self, start):
        """No longer allow what begins at an address."""
        self.regions = [region for region in self.regions if region[0] != start]

    def place(self, addresses, size):
        """The array that the addresses lie in, and where in it."""
        low, high = int(addresses.min()), int(addresses.max()) + size
        for start, raw, _ in self.regions:
            if start <= low and high <= start + len(raw):
                return raw, addresses - np.uint64(start)
        raise Fault(f"global memory from {low:#x} to {high:#x}, which is not allowed")


class Run:
    """The execution of a kernel on a grid of blocks."""

    def __init__(self, module, memory, grid, shared, threads):
        self.module, self.count = module, grid * threads
        self.tid = np.tile(np.arange(threads, dtype=np.uint32), grid)
        self.block = np.repeat(np.arange(grid, dtype=np.uint32), threads)
        self.threads = np.full(self.count, threads, np.uint32)
        self.blocks = np.full(self.count, grid, np.uint32)
        self.memory = memory
        self.symbols = {name: memory.allow(table) for name, table in module.tables.items()}
        self.shared = np.full((grid, shared), 0xFF, np.uint8)  # NaN, in numbers
        words = (grid, -(-shared // 4))
        self.writer, self.reader = np.full(words, -1), np.full(words, -1)
        self.executed = 0
        self.fetched = 0  # addresses that were fetched ahead

    def call(self, function, threads, given):
        """Execute a function on some threads: bytes of its parameters in, and of its result out."""
        frame = Frame(self, function, threads, given)
        with np.errstate(all="ignore"):
            frame.go()
        return frame.result

    # Shared memory ----------------------------------------------------------------------------

    def check_race(self, threads, offsets, size, writes):
        """Note who touches which words; a Fault if another did, with no barrier between."""
        for word in range(0, size, 4):
            at = self.block[threads], (offsets + word) // 4
            me = self.tid[threads].astype(int)
            others = [self.writer[at]] + ([self.reader[at]] if writes else [])
            if any(((other != -1) & (other != me)).any() for other in others):
                raise Fault("a race in shared memory")
            if writes:
                self.writer[at] = me
                if (self.writer[at] != me).any():
                    raise Fault("two threads write one word of shared memory")
            else:
                before = self.reader[at]
                self.reader[at] = np.where((before == -1) | (before == me), me, -2)

    def pass_barrier(self, blocks):
        """Forget who touched what."""
        self.writer[blocks] = -1
        self.reader[blocks] = -1


class Frame:
    """A function while it is executed on some threads."""

    def __init__(self, run, function, threads, given):
        self.run, self.function, self.threads = run, function, threads
        self.given, self.n = given, len(threads)
        self.result = np.zeros((self.n, 64), np.uint8)
        self.params = {}  # of calls under way
        self.values = {}
        self.local = np.zeros((self.n, function.local[1]), np.uint8)
        self.carry = np.zeros(self.n, np.uint64)
        self.pc = np.zeros(self.n, int)
        self.waits = np.zeros(self.n, bool)

    def go(self):
        """Until all threads have returned."""
        code, end = self.function.code, len(self.function.code)
        everyone = np.arange(self.n)
        while True:
            going = (self.pc < end) & ~self.waits
            if not going.any():
                break
            at = int(self.pc[going].min())
            here = going & (self.pc == at)
            self.active = everyone if here.all() else np.flatnonzero(here)
            # Straight on, as long as all go the same way and meet none of the others.
            others = self.pc[going & ~here]
            stop = int(others.min()) if len(others) else end
            while at < stop:
                instruction = code[at]
                try:
                    jump = self.execute(instruction)
                except Fault as fault:
                    raise Fault(f"{fault}, by '{instruction.line}'") from None
                self.run.executed += 1
                at += 1
                if jump is not None:
                    self.pc[self.active] = jump
                    break
            else:
                self.pc[self.active] = at
        if self.waits.any():
            raise Fault("a barrier that not all threads of a warp come to")

    # Operands ---------------------------------------------------------------------------------

    def kind(self, register):
        """What a register holds: declared by its name, or for many by what that begins with."""
        declared, name = self.function.registers, register[1:]
        return declared[name if name in declared else name.rstrip("0123456789")]

    def get(self, operand, kind):
        """An operand's values on the active threads, as a type."""
        kind = KINDS[kind] if isinstance(kind, str) else kind
        if operand.startswith("%"):
            run = self.run
            special = {"%tid.x": run.tid, "%ctaid.x": run.block, "%ntid.x": run.threads}
            special["%nctaid.x"] = run.blocks
            special["%nsmid"] = np.ones_like(run.tid)  # a card of one multiprocessor
            if operand in special:
                return special[operand][self.threads][self.active]
            if operand not in self.values:
                raise Fault(f"{operand} is not known")
            raw = self.values[operand][self.active]
            if raw.dtype == kind:
                return raw
            if raw.dtype.itemsize != kind.itemsize:
                return raw.astype(f"u{kind.itemsize}").view(kind)
            return raw.view(kind)
        return np.broadcast_to(self.constant(operand, kind), len(self.active))

    def constant(self, operand, kind):
        """A number that stands in the text."""
        if operand.startswith("0f"):
            return np.array(int(operand[2:], 16), np.uint32).view(kind)
        if operand.startswith("0d"):
            return np.array(int(operand[2:], 16), np.uint64).view(kind)
        if re.match(r"-?\d", operand):
            bits = 8 * kind.itemsize
            return np.array(int(operand, 0) % 2**bits, f"u{kind.itemsize}").view(kind)
        return np.array(self.symbol(operand), np.uint64).view(kind)

    def symbol(self, name):
        if name == self.function.local[0]:
            return 0
        return self.run.symbols.get(name, 0)  # shared memory begins at 0

    def set(self, register, value):
        """Give a register its values on the active threads."""
        kind = self.kind(register)
        value = np.asarray(value)
        if value.dtype != kind:
            signed = value.dtype.kind == "i" and value.dtype.itemsize < kind.itemsize
            value = value.astype(f"i{kind.itemsize}") if signed else value
            same = value.dtype.itemsize == kind.itemsize
            value = value.view(kind) if same else value.astype(kind)
        if len(self.active) == self.n:
            self.values[register] = value if value.flags.owndata else value.copy()
            return
        if register not in self.values:
            self.values[register] = np.zeros(self.n, kind)
        self.values[register][self.active] = value

    # Instructions -----------------------------------------------------------------------------

    def execute(self, instruction):
        """One instruction on the active threads; where each of them goes on, if elsewhere."""
        parts, operands = instruction.parts, instruction.operands
        if parts[0] == "bra":
            target, here = self.function.labels[operands[0]], self.here(instruction)
            if instruction.guard is None:
                return target
            taken = self.get(instruction.guard.lstrip("!"), "pred")
            taken = ~taken if instruction.guard.startswith("!") else taken
            return np.where(taken, target, here + 1)
        if instruction.guard is not None:
            raise NotImplementedError(instruction.line)
        if parts[0] == "ret":
            return len(self.function.code)
        if instruction.op == "bar.warp.sync":
            return self.barrier(instruction)
        if parts[0] in ("ld", "st"):
            return self.access(parts, operands)
        if parts[0] == "call":
            return self.call(operands)
        if parts[0] == "prefetch":
            return self.fetch(operands[0].strip("[]"))
        return self.compute(instruction, parts, operands)

    def here(self, instruction):
        if not hasattr(self.function, "places"):
            self.function.places = {id(x): k for k, x in enumerate(self.function.code)}
        return self.function.places[id(instruction)]

    def barrier(self, instruction):
        """Wait for the others of the warp."""
        at = self.here(instruction)
        self.pc[self.active], self.waits[self.active] = at, True
        held = (self.waits & (self.pc == at)).reshape(-1, WARP).all(1)
        released = np.repeat(held, WARP)
        self.waits &= ~released
        self.pc[released] = at + 1
        self.run.pass_barrier(self.run.block[self.threads[released]])
        return self.pc[self.active]

    def fetch(self, operand):
        """Nothing happens, but what is fetched must be there."""
        addresses = self.get(operand, "u64")
        self.run.memory.place(addresses, 1)
        self.run.fetched += len(addresses)

    def call(self, operands):
        *result, name, given = operands
        function = self.run.module.functions[name]
        names = [x.strip() for x in given.strip("()").split(",")]
        block = np.zeros((len(self.active), function.size), np.uint8)
        for parameter, (offset, size) in zip(names, function.parameters.values(), strict=True):
            block[:, offset : offset + size] = self.params[parameter][self.active, :size]
        back = self.run.call(function, self.threads[self.active], block)
        for place in result:
            self.params.setdefault(place.strip("() "), np.zeros((self.n, 64), np.uint8))
            self.params[place.strip("() ")][self.active] = back

    def access(self, parts, operands):
        """Loads and stores of all kinds, of one number or several."""
        writes = parts[0] == "st"
        place, values = operands if writes else operands[::-1]
        names = [x.strip() for x in values.strip("{}").split(",")]
        kind, size = KINDS[parts[-1]], KINDS[parts[-1]].itemsize
        base, _, offset = place.strip("[]").replace("+-", "-").partition("+")
        base, minus, less = base.partition("-")
        offset = int(offset or 0) - int(less or 0)
        space = parts[1] if parts[1] in ("global", "shared", "local", "param") else "generic"
        if space == "param":
            return self.parameter(base, offset, names, kind, writes)
        addresses = self.get(base, "u64" if not base.startswith("%") else self.kind(base))
        addresses = addresses.astype(np.uint64) + np.uint64(offset % 2**64)
        whole = size * len(names)
        if (addresses % np.uint64(whole)).any():
            raise Fault(f"an address that is no multiple of {whole}")
        if space == "generic" and (addresses >= LOCAL).any():
            space, addresses = "local", addresses - np.uint64(LOCAL)
        raw, rows, at = self.memory(space, addresses, whole, writes)
        index = at[:, None] + np.arange(whole)
        if writes:
            found = [self.get(name, kind).astype(kind) for name in names]
            block = np.stack(found, 1).view(np.uint8).reshape(len(at), whole)
            raw[(rows[:, None], index) if rows is not None else index] = block
            return
        block = raw[(rows[:, None], index) if rows is not None else index]
        found = np.ascontiguousarray(block).view(kind)
        for i, name in enumerate(names):
            self.set(name, found[:, i].copy())

    def memory(self, space, addresses, size, writes):
        """Bytes, the row of each thread or None, and where in it the address is."""
        at = addresses.astype(np.int64)
        if space in ("global", "generic"):
            raw, places = self.run.memory.place(addresses, size)
            return raw, None, places.astype(np.int64)
        raw = self.run.shared if space == "shared" else self.local
        if at.min() < 0 or at.max() + size > raw.shape[1]:
            raise Fault(f"{space} memory at {at.max()}, of {raw.shape[1]} bytes")
        if space == "local":
            return raw, self.active, at
        threads = self.threads[self.active]
        self.run.check_race(threads, at, size, writes)
        return raw, self.run.block[threads], at

    def parameter(self, base, offset, names, kind, writes):
        """The parameters of this function, its result, and those of a call."""
        own = self.function.parameters
        if base in own:
            raw, offset = self.given, offset + own[base][0]
        elif base.startswith("func_retval"):
            raw = self.result
        else:
            raw = self.params.setdefault(base, np.zeros((self.n, 64), np.uint8))
        for name in names:
            if writes:
                block = np.ascontiguousarray(self.get(name, kind).astype(kind)).view(np.uint8)
                block = block.reshape(-1, kind.itemsize)
                raw[self.active, offset : offset + kind.itemsize] = block
            else:
                block = np.ascontiguousarray(raw[self.active, offset : offset + kind.itemsize])
                self.set(name, block.view(kind)[:, 0].copy())
            offset += kind.itemsize

    def compute(self, instruction, parts, operands):
        """Everything that makes a value of values."""
        name, kind = parts[0], parts[-1]
        target, *given = operands
        if name == "mov" and (target.startswith("{") or given[0].startswith("{")):
            return self.set_together(target, given[0])
        if name == "setp":
            a, b = (self.get(x, kind) for x in given)
            return self.set(target, compare(parts[1], a, b))
        if name == "selp":
            chosen = self.get(given[2], "pred")
            return self.set(target, np.where(chosen, *(self.get(x, kind) for x in given[:2])))
        if name == "cvt":
            return self.set(target, convert(parts, self.get(given[0], kind)))
        if name == "cvta":
            value = self.get(given[0], "u64")
            return self.set(target, value + np.uint64(LOCAL if parts[1] == "local" else 0))
        if name in ("addc", "subc") or "cc" in parts:
            return self.set(target, self.with_carry(parts, [self.get(x, kind) for x in given]))
        if name == "mul" and parts[1] == "wide":
            wide = KINDS[f"{kind[0]}{2 * int(kind[1:])}"]
            a, b = (self.get(x, kind).astype(wide) for x in given)
            return self.set(target, a * b)
        if name in ("shl", "shr"):
            value, by = self.get(given[0], kind), self.get(given[1], "u32")
            return self.set(target, shift(name, value, by))
        rule = RULES.get(".".join(parts[:2]) if name in ("mul", "mad", "shf", "rcp") else name)
        rule = rule or RULES.get(name)
        if rule is None:
            raise NotImplementedError(instruction.line)
        if "f32" in parts or "f64" in parts:
            if name in ROUNDED and "rn" not in parts and parts[:3] != ["rcp", "approx", "ftz"]:
                raise Fault("an operation that may be fused or rounded in another way")
        return self.set(target, rule(*(self.get(x, kind) for x in given)))

    def set_together(self, target, given):
        """Two halves of a register to one, or one to two."""
        if target.startswith("{"):
            whole = self.get(given, "b64")
            low, high = (x.strip() for x in target.strip("{}").split(","))
            for half, value in ((low, whole), (high, whole >> np.uint64(32))):
                if half != "_":
                    self.set(half, value.astype(np.uint32))
            return
        halves = [self.get(x.strip(), "b32") for x in given.strip("{}").split(",")]
        low, high = (half.astype(np.uint64) for half in halves)
        self.set(target, low | high << np.uint64(32))

    def with_carry(self, parts, given):
        """Sums and differences of numbers that are longer than a register."""
        bits = int(parts[-1][1:])
        a, b = (x.astype(object) % 2**bits for x in given)
        before = self.carry[self.active].astype(object) if parts[0].endswith("c") else 0
        total = a + b + before if parts[0].startswith("add") else a - b - before
        if "cc" in parts:
            self.carry[self.active] = np.array([not 0 <= x < 2**bits for x in total])
        return np.array([x % 2**bits for x in total], f"u{bits // 8}")


def execute(text, given, grid, shared, memory, kernel="kernel", threads=WARP):
    """Run a kernel on so many blocks.

    Args:
        text: the PTX.
        given: the bytes of its parameters.
        grid: how many blocks.
        shared: bytes of dynamic shared memory of a block, which is a warp if there are any.
        memory: what it may touch.
        kernel: its name.
        threads: of a block.
    """
    if shared and threads != WARP:
        raise Fault(f"{threads} threads of a block share memory, where barriers hold {WARP}")
    module = parse(text)
    function = module.functions[kernel]
    if len(given) != function.size:
        raise Fault(f"{len(given)} bytes of parameters, where {kernel} takes {function.size}")
    run = Run(module, memory, grid, shared, threads)
    rows = np.tile(np.frombuffer(given, np.uint8), (run.count, 1))
    try:
        run.call(function, np.arange(run.count), rows)
    finally:
        for place in run.symbols.values():
            memory.forget(place)
    return run


def pack(*numbers):
    """Parameters that are all 64-bit numbers, as the bytes that a kernel takes."""
    return struct.pack(f"<{len(numbers)}q", *numbers)
