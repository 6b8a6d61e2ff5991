"""What instructions with many results compute: tables of products, solutions, the same many times.

On a large arm these are most of the work, and the same for all pairs of joints, so writers make
loops of them. Here stands what the loops mean, operation by operation: any order of execution that
keeps these operations gives the same bits.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

from armdyn.program.program import Instruction, Op, Program

Do = Callable[..., Any]  # do(op, *operands): an operation on whatever the operands are


@dataclass(frozen=True)
class Loop:
    """What all have: their size, and whether a product and the sum it enters are one fma."""

    n: int
    fused: bool = False

    op: ClassVar[Op]

    @property
    def operands(self) -> int:
        """How many numbers it takes."""
        raise NotImplementedError

    @property
    def results(self) -> int:
        """How many numbers it gives."""
        raise NotImplementedError

    def has(self, index: int) -> bool:
        """Whether there is a result of that index."""
        raise NotImplementedError

    def unrolled(self, operands: Sequence[Any], do: Do) -> list[Any]:
        """All results by their indices."""
        raise NotImplementedError

    def operations(self) -> Counter[Op]:
        """How often each operation is executed, were nothing fused."""
        raise NotImplementedError

    def less_product(self, do: Do, c: Any, a: Any, b: Any) -> Any:
        """C - a b."""
        if self.fused:
            return do(Op.FMA, do(Op.NEG, a), b, c)
        return do(Op.SUB, c, do(Op.MUL, a, b))


@dataclass(frozen=True)
class Products(Loop):
    """T_ij = T_ji = a_j . b_i for j <= i, of n rows a and n rows b; result i n + j for j <= i.

    The products of each group of numbers are summed in order, then the groups are. Operands are
    the first numbers of all a, the second ones and so on, then those of b.
    """

    groups: tuple[int, ...] = (3,)

    op = Op.PRODUCTS

    @property
    def length(self) -> int:
        """How many numbers a row has."""
        return sum(self.groups)

    @property
    def columns(self) -> int:
        """How many numbers a row a and a row b have together."""
        return 2 * self.length

    @property
    def operands(self) -> int:
        """How many numbers it takes."""
        return self.n * self.columns

    @property
    def results(self) -> int:
        """How many numbers it gives, with those above the diagonal."""
        return self.n**2

    def has(self, index: int) -> bool:
        """Whether there is a result of that index."""
        return 0 <= index < self.n**2 and index % self.n <= index // self.n

    def mirrored(self, index: int) -> int:
        """The index i n + j of the element at j, i."""
        i, j = divmod(index, self.n)
        return j * self.n + i

    def element(self, do: Do, a: Sequence[Any], b: Sequence[Any]) -> Any:
        """One a . b."""
        pairs = iter(zip(a, b, strict=True))
        total = None
        for group in self.groups:
            part = do(Op.MUL, *next(pairs))
            for _ in range(group - 1):
                x, y = next(pairs)
                part = do(Op.FMA, x, y, part) if self.fused else do(Op.ADD, part, do(Op.MUL, x, y))
            total = part if total is None else do(Op.ADD, total, part)
        return total

    def unrolled(self, operands: Sequence[Any], do: Do) -> list[Any]:
        """All results by their indices, and the same above the diagonal."""
        n = self.n
        middle = n * self.length
        T: list[Any] = [None] * n**2
        for i in range(n):
            b = operands[middle + i :: n]
            for j in range(i + 1):
                T[i * n + j] = T[j * n + i] = self.element(do, operands[j:middle:n], b)
        return T

    def operations(self) -> Counter[Op]:
        """How often each operation is executed, were nothing fused."""
        pairs = self.n * (self.n + 1) // 2
        return Counter({Op.MUL: pairs * self.length, Op.ADD: pairs * (self.length - 1)})


@dataclass(frozen=True)
class Solution(Loop):
    """The x with M x = y by M = L^T D L, as ``spatial.matrices`` has it; result i is x_i.

    Operands are the rows of M up to its diagonal, then y, then the number 1.
    """

    op = Op.SOLUTION

    @property
    def operands(self) -> int:
        """How many numbers it takes."""
        return self.triangle + self.n + 1

    @property
    def results(self) -> int:
        """How many numbers it gives."""
        return self.n

    @property
    def triangle(self) -> int:
        """How many numbers of M it takes; those of y follow."""
        return self.n * (self.n + 1) // 2

    def place(self, i: int, j: int) -> int:
        """Which operand M_ij is."""
        i, j = max(i, j), min(i, j)
        return i * (i + 1) // 2 + j

    def has(self, index: int) -> bool:
        """Whether there is a result of that index."""
        return 0 <= index < self.n

    def unrolled(self, operands: Sequence[Any], do: Do) -> list[Any]:
        """All results."""
        n, given = self.n, iter(operands)
        A = [[next(given) for _ in range(i + 1)] for i in range(n)]
        y = [next(given) for _ in range(n)]
        one = next(given)
        L: list[list[Any]] = [[] for _ in range(n)]
        x = [one] * n
        for k in reversed(range(n)):
            pivot = do(Op.DIV, one, A[k][k])
            L[k] = [do(Op.MUL, pivot, A[k][i]) for i in range(k)]
            for i in range(k):
                for j in range(i + 1):
                    A[i][j] = self.less_product(do, A[i][j], L[k][i], A[k][j])
                y[i] = self.less_product(do, y[i], L[k][i], y[k])
            x[k] = do(Op.MUL, pivot, y[k])
        for k in range(n):
            for i in range(k):
                x[k] = self.less_product(do, x[k], L[k][i], x[i])
        return x

    def operations(self) -> Counter[Op]:
        """How often each operation is executed, were nothing fused."""
        n = self.n
        pairs = n * (n - 1) // 2
        sums = pairs * (n + 1) // 3 + 2 * pairs
        return Counter({Op.DIV: n, Op.MUL: sums + pairs + n, Op.SUB: sums})


@dataclass(frozen=True)
class Each(Loop):
    """The same function of each of n items; result r n + i is its r-th result for item i.

    Operands are the first numbers of all items, the second ones and so on, then numbers that all
    items share, constants among them.

    Attributes:
        columns: how many numbers an item has.
        shared: how many numbers all items share.
        body: what the function does; the numbers of an item come first, then the shared ones.
        outputs: the places of its results.
    """

    columns: int = 0
    shared: int = 0
    body: tuple[Instruction, ...] = ()
    outputs: tuple[int, ...] = ()

    op = Op.EACH

    @property
    def operands(self) -> int:
        """How many numbers it takes."""
        return self.columns * self.n + self.shared

    @property
    def results(self) -> int:
        """How many numbers it gives."""
        return self.n * len(self.outputs)

    def has(self, index: int) -> bool:
        """Whether there is a result of that index."""
        return 0 <= index < self.results

    def element(self, do: Do, given: Callable[[int], Any]) -> Iterator[tuple[int, Any]]:
        """The results for one item, each with its index as soon as it is known.

        ``given`` tells a number of the item, or one that all share, when it is first needed.
        """
        results: dict[int, list[int]] = {}
        for r, k in enumerate(self.outputs):
            results.setdefault(k, []).append(r)
        values: dict[int, Any] = {}

        def use(k: int) -> Any:
            if k not in values:
                values[k] = given(k)
            return values[k]

        for k, (op, args, _) in enumerate(self.body):
            if op is not Op.INPUT:
                values[k] = do(op, *map(use, args))
            for r in results.get(k, ()):
                yield r, use(k)

    def unrolled(self, operands: Sequence[Any], do: Do) -> list[Any]:
        """All results by their indices."""
        n, end = self.n, self.columns * self.n
        found: list[Any] = [None] * self.results
        for i in range(n):
            own = [*operands[i:end:n], *operands[end:]]
            for r, value in self.element(do, own.__getitem__):
                found[r * n + i] = value
        return found

    def operations(self) -> Counter[Op]:
        """How often each operation is executed, were nothing fused."""
        once = Counter(op for op, _, _ in self.body)
        fused = once.pop(Op.FMA, 0)
        once += Counter({Op.MUL: fused, Op.ADD: fused})
        free = (Op.INPUT, Op.NEG)
        return Counter({op: self.n * times for op, times in once.items() if op not in free})

    def program(self) -> Program:
        """The function of an item as a program."""
        inputs = {"item": self.columns, "shared": self.shared}
        return Program("each", inputs, self.body, self.outputs, ((len(self.outputs),),))

    def by(self, program: Program) -> Each:
        """The same with another program of an item, one that has no constants."""
        body, outputs = program.instructions, program.outputs
        return replace(self, body=body, outputs=outputs)


class Run(NamedTuple):
    """Neighbouring numbers that are neighbouring results of one table.

    ``start`` is where they begin, ``first`` the index of the first in the table, stored whole:
    the elements above its diagonal are there too.
    """

    start: int
    table: int
    first: int
    length: int


def runs(program: Program, places: Sequence[int], least: int = 1) -> Iterator[Run]:
    """The longest runs among numbers by their places, those of at least so many."""
    at = 0
    while at < len(places):
        op, args, index = program.instructions[places[at]]
        length = 0
        if op is Op.PART:
            table: Any = program.instructions[args[0]].value
            starts = {index, table.mirrored(index)} if table.op is Op.PRODUCTS else {index}
            found = [(_length(program, places, at, args[0], table, i), i) for i in starts]
            length, index = max(found)
            if length >= least:
                yield Run(at, args[0], index, length)
        at += max(length, 1)


def _length(
    program: Program, places: Sequence[int], at: int, where: int, table: Any, index: int
) -> int:
    """How many numbers from ``at`` on are those of a table from ``index`` on."""
    for end in range(at, len(places)):
        op, args, part = program.instructions[places[end]]
        here = index + end - at
        same = part == here or (table.op is Op.PRODUCTS and part == table.mirrored(here))
        if op is not Op.PART or args[0] != where or not same:
            return end - at
    return len(places) - at


class Shared(NamedTuple):
    """Two tables of products that share a result: up to the diagonal of each row, and beyond it."""

    lower: int
    upper: int


def shared(program: Program, places: Sequence[int]) -> Shared | None:
    """The tables of which a result consists, if it is shared so and nothing else needs them."""
    n = math.isqrt(len(places))
    if n < 2 or n * n != len(places):
        return None
    parts = [program.instructions[places[k]] for k in (n, 1)]
    if any(op is not Op.PART for op, _, _ in parts):
        return None
    both = Shared(*(args[0] for _, args, _ in parts))
    if both.lower == both.upper:
        return None
    for k, place in enumerate(places):
        i, j = divmod(k, n)
        wanted = (both.lower, k) if j <= i else (both.upper, j * n + i)
        op, args, index = program.instructions[place]
        if op is not Op.PART or (args[0], index) != wanted:
            return None
    return None if _used_besides(program, both, len(places)) else both


def _used_besides(program: Program, both: Shared, outputs: int) -> bool:
    """Whether parts of the tables are used by more than so many outputs."""
    code = program.instructions

    def is_of_them(k: int) -> bool:
        return code[k].op is Op.PART and code[k].args[0] in both

    if any(is_of_them(arg) for _, args, _ in code for arg in args):
        return True
    return sum(map(is_of_them, program.outputs)) > outputs
