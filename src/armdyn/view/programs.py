"""An arm's programs as the page's JavaScript: each formulation that fits, by quantity and name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from armdyn.algorithms import catalogue
from armdyn.chain import Chain
from armdyn.program.javascript import Function, string
from armdyn.program.passes import cost
from armdyn.quantities import find
from armdyn.quantities.tasks import Task, cheapest, program, quantities_of
from armdyn.quantities.users import refusal

CHOICE = ("mass_matrix", "bias", "forward_dynamics")  # those that the page lets people choose
ALONE = ("gravity", "energy", "pose", "jacobian")
ROOM = 360_000  # for formulations beside those that are needed [byte]
LONGEST = 15_000  # operations on a generic arm beyond which a formulation is not even tried

SCRIPT = """\
"use strict";
const armdynPrograms = (() => {{
{functions}
return {{
{entries}
}};
}})();
"""


class Written(NamedTuple):
    """A formulation of a quantity, written as JavaScript."""

    quantity: str
    method: str
    text: str  # of the function, whose name is its place in the script
    operations: int
    chosen: bool


class Programs(NamedTuple):
    """The script, and by quantity what the page says about each of its methods."""

    script: str
    methods: dict[str, list[dict[str, Any]]]


def programs(chain: Chain) -> Programs:
    """All that the page computes of an arm, the cheapest method of each quantity first of all.

    Quantities that the arm does not have are left out, and with them what the page shows of them.
    """
    able = set(quantities_of(chain))
    written = [one for name in CHOICE if name in able for one in _formulations(chain, name)]
    needed = [one for one in written if one.chosen]
    others = sorted((one for one in written if not one.chosen), key=lambda one: len(one.text))
    kept, size = list(needed), 0
    for one in others:
        size += len(one.text)
        if size <= ROOM:
            kept.append(one)
    alone = [name for name in ALONE if name in able]
    return Programs(_script(chain, alone, kept), _methods(written, kept))


def _formulations(chain: Chain, quantity: str) -> list[Written]:
    """The exact methods of a quantity that apply to this arm, but for those of endless length."""
    chosen = cheapest(chain, quantity)
    found = []
    for k, method in enumerate(catalogue.methods(quantity)):
        known = catalogue.operations(quantity, method.name, chain.n) or 0
        fits = method.exact and known <= LONGEST and refusal(chain, quantity, method) is None
        if fits or method.name == chosen:
            text, operations = _written(chain, Task(quantity, method.name), f"{quantity}_{k}")
            found.append(Written(quantity, method.name, text, operations, method.name == chosen))
    return found


def _written(chain: Chain, task: Task, name: str) -> tuple[str, int]:
    """A task as a JavaScript function, and how many operations it takes."""
    traced = program(chain, [task.settled(chain)])
    results = tuple(result.name for result in find(task.quantity).results)
    return _short(Function(traced, name, results).definition), cost(traced)


def _short(text: str) -> str:
    """The same function in fewer letters: there is no string in it, and no comment."""
    text = re.sub(r"\n +", "\n", text)
    text = re.sub(r" ([=*/+<?:-]) ", r"\1", text)
    declared = r"^(const v.*);\n(?=const v)"  # one const declares all that follow one another
    return re.sub(r"(?<=,\n)const ", "", re.sub(declared, r"\1,\n", text, flags=re.M))


def _script(chain: Chain, alone: Sequence[str], kept: Sequence[Written]) -> str:
    """The script of all functions, and the table in which the page finds them."""
    functions, entries = [], []
    for quantity in alone:
        functions.append(_written(chain, Task(quantity), quantity)[0])
        entries.append(f"{quantity},")
    for quantity in dict.fromkeys(one.quantity for one in kept):
        own = [one for one in kept if one.quantity == quantity]
        functions += (one.text for one in own)
        named = (f"[{string(one.method)}]: {_name(one.text)}" for one in own)
        entries.append(f"{quantity}: {{ {', '.join(named)} }},")
    return SCRIPT.format(functions="\n".join(functions), entries="\n".join(entries))


def _name(text: str) -> str:
    return text.removeprefix("function ").partition("(")[0]


def _methods(
    written: Sequence[Written], kept: Sequence[Written]
) -> dict[str, list[dict[str, Any]]]:
    """What the page says about each method, those with the fewest operations first."""
    return {
        quantity: [
            {
                "name": one.method,
                "operations": one.operations,
                "chosen": one.chosen,
                "here": one in kept,
            }
            for one in sorted(written, key=lambda one: one.operations)
            if one.quantity == quantity
        ]
        for quantity in dict.fromkeys(one.quantity for one in written)
    }
