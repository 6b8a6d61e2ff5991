"""A C program that compares written functions with the interpreter, on the machine they run on."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence

from armdyn.program.c import Function, literal
from armdyn.program.selftest import STATES, Draws, Number, expected, states

TEXT = """\
#include <math.h>
#include <stdio.h>

struct number {{
    int place; /* in the result */
    double value;
    double bound; /* of the error */
}};

struct finding {{
    double error; /* the largest */
    double share; /* of its bound, the largest */
    int wrong;
}};

static void compare(struct finding *all, const {dtype} *found, const struct number *expected,
                    int count)
{{
    for (int i = 0; i < count; i++) {{
        const double error = fabs((double)found[expected[i].place] - expected[i].value);
        all->wrong += !(error <= expected[i].bound);
        all->error = error <= all->error ? all->error : error;
        if (error > all->share * expected[i].bound)
            all->share = error / expected[i].bound;
    }}
}}

static int report(const char *function, struct finding all)
{{
    printf("%-40s max error %8.2e, %8.2e of its bound: %s\\n", function, all.error, all.share,
           all.wrong ? "FAILED" : "passed");
    return all.wrong != 0;
}}

{tests}

int main(void)
{{
    int failed = 0;
{calls}
    return failed != 0;
}}
"""


def selftest(functions: Sequence[Function], draws: Draws | None = None) -> str:
    """The text of a ``main`` that returns nonzero if a function of a few random states is wrong.

    It prints the largest error of each function. The functions, all of one dtype, must be declared
    before this text.
    """
    (dtype,) = {function.dtype for function in functions}
    return TEXT.format(
        dtype=dtype,
        tests="\n\n".join(_test(function, draws or {}) for function in functions),
        calls="\n".join(f"    failed += test_{function.name}();" for function in functions),
    )


def _test(function: Function, draws: Draws) -> str:
    """The C function that tries one function in all states."""
    program, dtype, sizes = function.program, function.dtype, function.program.inputs
    tried = states(program, draws, dtype)
    tables, checks = [], []
    for name, size in sizes.items():
        rows = [[literal(x, dtype) for x in state[name]] for state in tried]
        tables.append(f"static const {dtype} {name}[{STATES}][{size}] = {_table(rows)};")
    found = zip(function.results, program.shapes, expected(program, tried, dtype), strict=True)
    for name, shape, numbers in found:
        rows, count = [[_number(x) for x in row] for row in numbers], len(numbers[0])
        kind = f"static const struct number {name}_expected[{STATES}][{count}]"
        tables += [f"{kind} = {_table(rows)};", f"static {dtype} {name}[{math.prod(shape)}];"]
        checks.append(f"        compare(&all, {name}, {name}_expected[i], {count});")
    arguments = ", ".join([*(f"{name}[i]" for name in sizes), *function.results])
    lines = [
        f"static int test_{function.name}(void)",
        "{",
        *map(_wrap, tables),
        "    struct finding all = {0, 0, 0};",
        f"    for (int i = 0; i < {STATES}; i++) {{",
        f"        {function.name}({arguments});",
        *checks,
        "    }",
        f'    return report("{function.name}", all);',
        "}",
    ]
    return "\n".join(lines)


def _number(number: Number) -> str:
    """A struct number, as an initialiser."""
    return f"{{{number.place}, {literal(number.value, 'double')}, {number.bound}}}"


def _table(rows: Iterable[Iterable[str]]) -> str:
    """Rows of numbers as an initialiser."""
    return "{" + ", ".join("{" + ", ".join(row) + "}" for row in rows) + "}"


def _wrap(table: str) -> str:
    return textwrap.fill(
        table, 100, initial_indent=" " * 4, subsequent_indent=" " * 8, break_on_hyphens=False
    )
