"""Writes src/armdyn/algorithms/costs.py, counting every method: ``python docs/make_costs.py``."""

from __future__ import annotations

import math
from pathlib import Path

from armdyn import Chain
from armdyn.algorithms import catalogue
from armdyn.algorithms.catalogue import Asked
from armdyn.counting import growth
from armdyn.counting.polynomial import Polynomial

GENERIC = Chain.random(4).on(float)
MODULE = Path(catalogue.__file__).parent / "costs.py"
OPENING = '''\
"""What the methods cost on generic arms; made by docs/make_costs.py, which counts them.

Of each method the multiplications, additions and doublings on a generic arm of n revolute joints,
counted literally, as a polynomial in n: its denominator, and its numerators from n^0 on.
"""

from collections.abc import Mapping

Counted = tuple[int, tuple[int, ...]]

COSTS: Mapping[str | tuple[str, ...], Mapping[str, Counted]] = {
'''


def module() -> str:
    """The module's text."""
    lines = [OPENING]
    for quantity, methods in [*catalogue.CATALOGUE.items(), *catalogue.TOGETHER.items()]:
        key = f"{quantity}".replace("'", '"') if isinstance(quantity, tuple) else f'"{quantity}"'
        lines.append(f"    {key}: {{\n")
        for method in methods:
            if method.refuses(GENERIC):
                continue
            total = operations(quantity, method.name)
            lines.append(f'        "{method.name}": {plain(total)},  # {total}\n')
        lines.append("    },\n")
    return "".join([*lines, "}\n"])


def operations(quantity: Asked, name: str) -> Polynomial:
    """Multiplications, additions and doublings together."""
    counts = growth(quantity, name)
    return counts["mul"] + counts["add"] + counts["double"]


def plain(polynomial: Polynomial) -> tuple[int, tuple[int, ...]]:
    """Its denominator and numerators."""
    denominator = math.lcm(*(c.denominator for c in polynomial.coefficients))
    return denominator, tuple(int(c * denominator) for c in polynomial.coefficients)


if __name__ == "__main__":
    MODULE.write_text(module(), encoding="utf-8")
