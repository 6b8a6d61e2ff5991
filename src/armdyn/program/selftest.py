"""A C program that compares exported functions with the interpreter, on the machine they run on."""

from __future__ import annotations

import math
import random
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from armdyn.program import rounding
from armdyn.program.c import Function, literal
from armdyn.program.interpreter import evaluate

STATES = 4  # in which a function is tried
CHECKED = 1000  # numbers of a result that are looked at, in each state

State = dict[str, list[float]]
Draws = Mapping[str, Callable[[random.Random], Sequence[float]]]  # an argument's numbers, by name

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

    It prints the largest error of each function. A number is wrong if it is further from the
    interpreter's than rounding, each time at its worst, explains. The functions, all of one dtype,
    must be declared before this text. ``draws`` draws what is not to be any numbers.
    """
    (dtype,) = {function.dtype for function in functions}
    return TEXT.format(
        dtype=dtype,
        tests="\n\n".join(_test(function, draws or {}) for function in functions),
        calls="\n".join(f"    failed += test_{function.name}();" for function in functions),
    )


def _test(function: Function, draws: Draws) -> str:
    """The C function that tries one function in all states."""
    dtype, sizes, states = function.dtype, function.program.inputs, _states(function, draws)
    tables, checks = [], []
    for name, size in sizes.items():
        rows = [[literal(x, dtype) for x in state[name]] for state in states]
        tables.append(f"static const {dtype} {name}[{STATES}][{size}] = {_table(rows)};")
    for name, size, rows in _expected(function, states):
        count = len(rows[0])
        kind = f"static const struct number {name}_expected[{STATES}][{count}]"
        tables += [f"{kind} = {_table(rows)};", f"static {dtype} {name}[{size}];"]
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


def _states(function: Function, draws: Draws) -> list[State]:
    """Random arguments, each a number of the function's type."""
    chance = random.Random(0)

    def drawn(name: str, size: int) -> list[float]:
        draw = draws.get(name)
        numbers = draw(chance) if draw else [chance.uniform(-3, 3) for _ in range(size)]
        return [rounding.rounded(float(x), function.dtype) for x in numbers]

    inputs = function.program.inputs.items()
    return [{name: drawn(name, size) for name, size in inputs} for _ in range(STATES)]


def _expected(
    function: Function, states: Sequence[State]
) -> Iterator[tuple[str, int, list[list[str]]]]:
    """Each result's name and size, and for each state what is expected there."""
    first = 0
    for name, shape in zip(function.results, function.program.shapes, strict=True):
        size = math.prod(shape)
        places: Sequence[int] = range(size)
        if size > CHECKED:
            places = sorted(random.Random(0).sample(places, CHECKED))
        outputs = tuple(function.program.outputs[first + place] for place in places)
        checked = replace(
            function, program=replace(function.program, outputs=outputs, shapes=((len(outputs),),))
        )
        yield name, size, [_numbers(checked, places, state) for state in states]
        first += size


def _numbers(checked: Function, places: Sequence[int], state: State) -> list[str]:
    """The place, value and bound of each number that is looked at, all results of one program."""
    values = evaluate(checked.program, state)
    bounds = rounding.bounds(checked.program, state, checked.dtype)
    return [
        f"{{{place}, {literal(float(value), 'double')}, {1.01 * bound:.2e}}}"
        for place, value, bound in zip(places, values, bounds, strict=True)
    ]


def _table(rows: Iterable[Iterable[str]]) -> str:
    """Rows of numbers as an initialiser."""
    return "{" + ", ".join("{" + ", ".join(row) + "}" for row in rows) + "}"


def _wrap(table: str) -> str:
    return textwrap.fill(
        table, 100, initial_indent=" " * 4, subsequent_indent=" " * 8, break_on_hyphens=False
    )
