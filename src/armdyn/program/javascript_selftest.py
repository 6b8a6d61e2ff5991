"""A JavaScript program that compares a module's functions with the interpreter's numbers."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from armdyn.program.javascript import Function, literal
from armdyn.program.selftest import Draws, Number, expected, states

TEXT = """\
import * as functions from {module};

// Of each function, in a few states: the arguments, and of each result [place, value, bound].
const tests = {{
{tests}
}};

function report(name, states) {{
  let largest = 0, share = 0, wrong = 0;
  for (const [given, expected] of states) {{
    const results = [functions[name](...given)].flat(); // of several, or of one
    expected.forEach((numbers, i) => {{
      for (const [place, value, bound] of numbers) {{
        const error = Math.abs(results[i][place] - value);
        wrong += error <= bound ? 0 : 1;
        largest = error <= largest ? largest : error;
        if (error > share * bound) share = error / bound;
      }}
    }});
  }}
  const [error, part] = [largest, share].map((x) => x.toExponential(2));
  const said = `max error ${{error}}, ${{part}} of its bound: ${{wrong ? "FAILED" : "passed"}}`;
  console.log(`${{name.padEnd(40)}} ${{said}}`);
  return wrong > 0;
}}

const failed = Object.entries(tests).filter(([name, states]) => report(name, states));
if (failed.length > 0) throw new Error(`${{failed.length}} of the functions are wrong`);
"""


def selftest(module: str, functions: Sequence[Function], draws: Draws | None = None) -> str:
    """The text of a module that throws if a function of another is wrong in a few random states.

    It prints the largest error of each function. An error that nobody catches ends Node.js with a
    status that is not 0, and a page says so in its console.

    Args:
        module: where the functions are imported from.
        functions: those to try.
        draws: draws what is not to be any numbers.
    """
    tests = (line for function in functions for line in _test(function, draws or {}))
    return TEXT.format(module=json.dumps(module), tests="\n".join(tests))


def _test(function: Function, draws: Draws) -> Iterator[str]:
    """The entry of one function: a line, wrapped, a state."""
    program = function.program
    tried = states(program, draws, "double")
    results = [*expected(program, tried, "double")]
    yield f"  {function.name}: ["
    for i, state in enumerate(tried):
        given = _array(_array(map(literal, state[name])) for name in program.inputs)
        numbers = _array(_array(map(_number, rows[i])) for rows in results)
        yield textwrap.fill(
            f"[{given}, {numbers}],",
            100,
            initial_indent=" " * 4,
            subsequent_indent=" " * 6,
            break_on_hyphens=False,
        )
    yield "  ],"


def _number(number: Number) -> str:
    return f"[{number.place}, {literal(number.value)}, {number.bound}]"


def _array(items: Iterable[str]) -> str:
    return f"[{', '.join(items)}]"
