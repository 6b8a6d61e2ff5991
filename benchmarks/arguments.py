"""What is given at the call against what is compiled in: `python -m benchmarks.arguments`.

``payload=`` may cost at most a quarter more than the same payload compiled in, in operations (of
arms with six joints and more; a smaller one is soon a quarter of its program) and in time; 4096
different arms (``parameters=``) may take at most 2.5 times as long as 4096 states of
one. A call and the one it is compared with take turns, in the same run, and all quantities pass by
pass; times are of the kernels on one thread. With ``--together`` all calls of a quantity take
turns: then it costs time, too, what the caches keep of the others and have learnt of them. Beside
``parameters=`` stands what it takes only to read those arguments and to store results. (Arms of
which little depends on their parameters take about as long, and can keep to no bound below it.)
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import armdyn
from armdyn.chain.inertia import Inertia
from armdyn.quantities import QUANTITIES
from armdyn.quantities.tasks import Task, cheapest, program_cost, shapes
from benchmarks.bounds import seconds_to_move
from benchmarks.timing import PASSES, Call, interleaved

ASKED = (
    *("mass_matrix", "bias", "christoffel", "coriolis_matrix"),
    *("inverse_dynamics", "forward_dynamics"),
)
Function = Callable[..., Any]

STATES = 4096  # with parameters and results: 2.5 MB and more of an arm of six joints
ROUNDS = 20  # a pass; the parameters of so many arms fill a cache that others use too
PAYLOAD_BOUND, PARAMETERS_BOUND = 1.25, 2.5

COM, ABOUT_COM = (0.03, 0.04, 0.1), ((0.01, 0.001, 5e-4), (0.001, 0.012, 7e-4), (5e-4, 7e-4, 9e-3))


def calls(
    robot: armdyn.Robot, loaded: armdyn.Robot, quantity: str, states: int
) -> list[dict[str, Call]]:
    """One state and many: with a payload given and compiled in; with other parameters, and bare."""
    rng = np.random.default_rng(0)
    state = list(rng.uniform(-2, 2, (len(QUANTITIES[quantity].arguments), states, robot.n)))
    payload = Inertia.from_com(1.3, COM, ABOUT_COM).parameters()
    target = robot.function(quantity)(*state)

    def both(label: str, function: Function, *given: np.ndarray) -> dict[str, Call]:
        one, each = [x[0].copy() for x in state], [np.tile(x, (states, 1)) for x in given]
        keywords = {"out": target, "threads": 1}
        return {
            f"{label} of one": Call(function, (*one, *given)),
            f"{label} of many": Call(function, (*state, *each), keywords, states),
        }

    with_payload = robot.function(quantity, arguments="payload")
    with_parameters = robot.function(quantity, arguments="parameters")
    return [
        both("compiled in", loaded.function(quantity)) | both("payload=", with_payload, payload),
        both("bare", robot.function(quantity))
        | both("parameters=", with_parameters, robot.chain.parameters),
    ]


def operations(chain: armdyn.Chain, quantity: str, *given: str) -> int:
    """What the cheapest program costs."""
    return program_cost(chain, quantity, cheapest(chain, quantity, given), given)


def moving(chain: armdyn.Chain, quantity: str, states: int) -> float:
    """Nanoseconds a state to read its arguments and parameters and to store its results."""
    read = (len(QUANTITIES[quantity].arguments) + 10) * chain.n
    stored = sum(math.prod(shape) for shape in shapes(chain, [Task(quantity)]))
    return 1e9 * seconds_to_move(8 * read, 8 * stored, states)


def times_of(
    chain: armdyn.Chain, loaded: armdyn.Chain, states: int, rounds: int, together: bool
) -> dict[str, dict[str, float]]:
    """Nanoseconds a state of each quantity's calls: the least of all passes."""
    least: dict[str, dict[str, float]] = {quantity: {} for quantity in ASKED}
    for _ in range(PASSES):  # each on arrays and code of its own: it matters which memory they get
        robots = armdyn.Robot(chain), armdyn.Robot(loaded)
        for quantity, known in least.items():
            sets = calls(*robots, quantity, states)
            for taking_turns in [sets[0] | sets[1]] if together else sets:
                for label, time in interleaved(taking_turns, rounds).items():
                    known[label] = min(known.get(label, math.inf), 1e9 * time.least)
    return least


def table_of(name: str, states: int, rounds: int, together: bool) -> Table:
    chain = armdyn.load(name).chain
    loaded = chain.with_payload(1.3, COM, ABOUT_COM)
    table = Table(title=f"{name}: ns a state, and of what is compiled in", title_justify="left")
    table.add_column("quantity")
    headings = ("payload=", "operations", "one", "of", f"{states}", "of")
    for heading in (*headings, "parameters=", "of", "moving"):
        table.add_column(heading, justify="right")
    for quantity, times in times_of(chain, loaded, states, rounds, together).items():
        cost = operations(chain, quantity, "payload")
        one, many = (times[f"payload= of {count}"] for count in ("one", "many"))
        arms = times["parameters= of many"]
        table.add_row(
            quantity,
            f"{cost}",
            share(cost, operations(loaded, quantity), PAYLOAD_BOUND),
            f"{one:.0f}",
            share(one, times["compiled in of one"], PAYLOAD_BOUND),
            f"{many:.1f}",
            share(many, times["compiled in of many"], PAYLOAD_BOUND),
            f"{arms:.1f}",
            share(arms, times["bare of many"], PARAMETERS_BOUND),
            f"{moving(chain, quantity, states):.1f}",
        )
    return table


def share(found: float, base: float, bound: float) -> str:
    """How often the base, marked where it exceeds its bound."""
    return f"{found / base:.2f}{' !' if found > bound * base else ''}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    shipped = armdyn.robots()
    parser.add_argument("--robots", nargs="*", default=shipped, help="names of shipped robots")
    parser.add_argument("--states", type=int, default=STATES, help="states, or arms, of a batch")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="slices of each call, a pass")
    parser.add_argument("--together", action="store_true", help="let all calls take turns")
    given = parser.parse_args()
    for name in given.robots:
        Console(width=120).print(table_of(name, given.states, given.rounds, given.together))


if __name__ == "__main__":
    main()
