"""Products and the sums they enter, as fma: one instruction and one rounding for two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from armdyn.program.order import CYCLES
from armdyn.program.passes import Rewriter, drop_unused
from armdyn.program.program import Op, Program
from armdyn.program.tables import Each, Loop

SUMS = (Op.ADD, Op.SUB)


class Product(NamedTuple):
    """A term of a sum that is not computed by itself."""

    left: int  # its factors, in the new program
    right: int
    is_subtracted: bool
    sums: int  # that want it

    def turned(self) -> Product:
        """The same with the other sign."""
        return Product(self.left, self.right, not self.is_subtracted, self.sums)


class Fuser(Rewriter):
    """A program as it is copied, with products taken into sums."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._ready: list[int] = []

    def ready(self, k: int) -> int:
        """The cycle at which the new value k is there."""
        known = self._ready
        if k >= len(known):
            for op, args, _ in self.instructions[len(known) : k + 1]:
                known.append(max([known[arg] for arg in args], default=0) + CYCLES.get(op, 0))
        return known[k]

    def signed(self, k: int, negative: bool) -> int:
        """The value k of the new program, or what is as far on the other side of zero."""
        return self.append(Op.NEG, k) if negative else k

    def taken_in(self, products: Sequence[Product], total: int) -> int:
        """The total with all products added."""
        for left, right, is_subtracted, _ in self._in_turn(products):
            total = self.append(Op.FMA, self.signed(left, is_subtracted), right, total)
        return total

    def summed(self, products: Sequence[Product]) -> int:
        """Products alone, added up."""
        first, *others = self._in_turn(products)
        total = self.append(Op.MUL, first.left, first.right)
        return self.taken_in(others, self.signed(total, first.is_subtracted))

    def _in_turn(self, products: Sequence[Product]) -> Sequence[Product]:
        return sorted(products, key=self._turn) if len(products) > 1 else products

    def _turn(self, product: Product) -> tuple[int, int]:
        """What is smaller, comes first: what many sums begin with they may share; then by time."""
        return -product.sums, max(self.ready(product.left), self.ready(product.right))


def place_fma(program: Program) -> Program:
    """Make products and the sums they enter fma. A table is told to do so by itself.

    A product that sums alone want is taken in by each of them. A sum of nothing but products, if
    it is a term of one sum and nothing else, waits for that one, which takes in its products:
    begun by itself, it would cost an instruction more. Other terms are added as recorded, each
    rounded as it was.
    """
    code = program.instructions
    sums, others = [0] * len(code), [0] * len(code)  # that want a value
    for op, args, _ in code:
        for arg in args:
            (sums if op in SUMS else others)[arg] += 1
    for k in program.outputs:
        others[k] += 1
    made = Fuser(program)
    place = made.place
    waiting: dict[int, list[Product]] = {}  # the products of values that are not computed
    for k, (op, args, value) in enumerate(code):
        there = [place[arg] for arg in args]
        if value is not None and isinstance(value, Loop):
            if isinstance(value, Each):
                value = value.by(place_fma(value.program()))
            place[k] = made.append(op, *there, value=replace(value, fused=True))
        elif op is Op.MUL and not others[k]:
            waiting[k] = [Product(there[0], there[1], False, sums[k])]
        elif op in SUMS and (args[0] in waiting or args[1] in waiting):
            first, second = (waiting.get(arg, []) for arg in args)
            if op is Op.SUB:
                second = [each.turned() for each in second]
            if not first:
                place[k] = made.taken_in(second, there[0])
            elif not second:
                place[k] = made.taken_in(first, made.signed(there[1], op is Op.SUB))
            elif sums[k] == 1 and not others[k]:
                waiting[k] = first + second
            else:
                place[k] = made.summed(first + second)
        else:
            place[k] = made.append(op, *there, value=value)
    return drop_unused(made.finish())
