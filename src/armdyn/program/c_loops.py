"""Tables of products, triangular solutions, and the same many times as loops, in C99.

A table has an area of the scratch array ``w``: its operands in their order, what it needs besides,
and its results. Each operation is a statement of its own, so that no compiler contracts two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from armdyn.program.program import Op
from armdyn.program.tables import Each, Loop, Products, Solution

Operation = Callable[..., str]  # an operation on operands by their text


def size(table: Loop) -> int:
    """How many numbers the area of a table has."""
    return results(table) + table.results


def results(table: Loop) -> int:
    """Where in its area the results of a table begin."""
    return table.n**2 + table.n if isinstance(table, Solution) else table.operands


def copy(to: str, source: int, length: int) -> str:
    """Numbers of the scratch array to another place."""
    return f"for (int i = 0; i < {length}; i++) {to}[i] = w[{source} + i];"


def lines(table: Loop, begin: int, dtype: str, operation: Operation) -> list[str]:
    """The statements that compute a table whose area begins there."""
    body = BODIES[type(table)](table, begin, _Lines(dtype, operation))
    return ["{", *(f"    {line}" for line in body), "}"]


class _Lines:
    """Statements as they are written, each of one operation."""

    def __init__(self, dtype: str, operation: Operation) -> None:
        self.dtype, self.operation = dtype, operation
        self.written: list[str] = []

    def do(self, op: Op, *operands: str) -> str:
        """The name of what an operation gives; a negative is written where it is used."""
        if op is Op.NEG:
            return f"-{operands[0]}"
        name = f"t{len(self.written)}"
        text = self.operation(op, *operands)
        self.written.append(f"const {self.dtype} {name} = {text};")
        return name

    def taken(self) -> list[str]:
        """The statements since the last time."""
        found, self.written = self.written, []
        return found


def _indented(lines: Sequence[str], depth: int) -> list[str]:
    return [" " * 4 * depth + line for line in lines]


def _products(table: Products, begin: int, text: _Lines) -> list[str]:
    n, length, dtype = table.n, table.length, text.dtype
    a, b = ([f"{x}[{i * n}]" for i in range(length)] for x in "ab")
    value = table.element(text.do, a, b)
    return [
        f"{dtype} *T = w + {begin + table.operands};",
        f"for (int i = 0; i < {n}; i++) {{",
        "    for (int j = 0; j <= i; j++) {",
        f"        const {dtype} *a = w + {begin} + j, *b = w + {begin + n * length} + i;",
        *_indented(text.taken(), 2),
        f"        T[i * {n} + j] = {value};",
        f"        T[j * {n} + i] = {value};",
        "    }",
        "}",
    ]


def _each(table: Each, begin: int, text: _Lines) -> list[str]:
    n, end = table.n, table.n * table.columns

    def given(k: int) -> str:
        if k < table.columns:
            return f"w[{begin + k * n} + i]"
        return f"w[{begin + end + k - table.columns}]"

    first = begin + table.operands
    stores = [f"w[{first + r * n} + i] = {v};" for r, v in table.element(text.do, given)]
    return [
        f"for (int i = 0; i < {n}; i++) {{",
        *_indented(text.taken(), 1),
        *_indented(stores, 1),
        "}",
    ]


def _solution(table: Solution, begin: int, text: _Lines) -> list[str]:
    n, dtype = table.n, text.dtype

    def less_product(c: str, a: str, b: str) -> list[str]:
        value = table.less_product(text.do, c, a, b)
        return [*text.taken(), f"{c} = {value};"]

    triangle = n * (n + 1) // 2
    return [
        f"{dtype} *A = w + {begin}, *y = A + {triangle};",
        f"{dtype} *L = y + {n}, *x = L + {n * (n - 1) // 2};",
        f"for (int k = {n - 1}; k >= 0; k--) {{",
        f"    {dtype} *A_k = A + k * (k + 1) / 2, *L_k = L + k * (k - 1) / 2;",
        f"    const {dtype} pivot = 1 / A_k[k];",
        "    for (int i = 0; i < k; i++) {",
        f"        {dtype} *A_i = A + i * (i + 1) / 2;",
        "        L_k[i] = pivot * A_k[i];",
        "        for (int j = 0; j <= i; j++) {",
        *_indented(less_product("A_i[j]", "L_k[i]", "A_k[j]"), 3),
        "        }",
        *_indented(less_product("y[i]", "L_k[i]", "y[k]"), 2),
        "    }",
        "    x[k] = pivot * y[k];",
        "}",
        f"for (int k = 0; k < {n}; k++) {{",
        f"    const {dtype} *L_k = L + k * (k - 1) / 2;",
        "    for (int i = 0; i < k; i++) {",
        *_indented(less_product("x[k]", "L_k[i]", "x[i]"), 2),
        "    }",
        "}",
    ]


BODIES: dict[type[Loop], Callable[[Any, int, _Lines], list[str]]] = {
    Products: _products,
    Solution: _solution,
    Each: _each,
}
