"""Calls of every shape against the contiguous call of the same size: `python -m benchmarks.shapes`.

Strided, broadcast and mixed arrays, lists and ``out=`` views may take at most twice the time of the
contiguous call plus 1 us plus 20 ns a state. All calls of one size take turns, in the same run.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import numpy as np
from rich.console import Console
from rich.table import Table

import armdyn
from benchmarks.timing import Call, interleaved

SIZES = (1, 2, 7, 14, 20, 256, 4096)
ROUNDS = 20
BASE = "contiguous"
LIST_BOUND = 1500.0  # [ns], of the mass matrix of a list of numbers


def every_second(x: np.ndarray) -> np.ndarray:
    """A view of every second row of a larger array."""
    return np.repeat(x, 2, axis=0)[::2]


ARGUMENTS: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], tuple]] = {
    BASE: lambda q, qd, qdd: (q, qd, qdd),
    "qd of one state": lambda q, qd, qdd: (q, qd[0], qdd),
    "qd, qdd of one state": lambda q, qd, qdd: (q, qd[0], qdd[:1]),
    "q[::2]": lambda q, qd, qdd: (every_second(q), qd, qdd),
    "q[:, ::2]": lambda q, qd, qdd: (np.repeat(q, 2, axis=1)[:, ::2], qd, qdd),
    "all backwards": lambda *x: tuple(y[::-1, ::-1].copy()[::-1, ::-1] for y in x),
    "all Fortran": lambda *x: tuple(map(np.asfortranarray, x)),
    "q of float32": lambda q, qd, qdd: (q.astype(np.float32), qd, qdd),
    "q of integers": lambda q, qd, qdd: (q.astype(int), qd, qdd),
    "q a list": lambda q, qd, qdd: (q.tolist(), qd, qdd),
    "three lists": lambda *x: tuple(y.tolist() for y in x),
    "three lists of arrays": lambda *x: tuple(map(list, x)),
}
TARGETS: dict[str, Callable[[tuple[int, ...]], np.ndarray]] = {
    "out[::2]": lambda shape: np.empty((2 * shape[0], *shape[1:]))[::2],
    "out[..., ::2]": lambda shape: np.empty((*shape[:-1], 2 * shape[-1]))[..., ::2],
    "out Fortran": lambda shape: np.empty(shape, order="F"),
}


def calls(robot: armdyn.Robot, states: int) -> Iterator[tuple[str, dict[str, Call]]]:
    """(quantity, calls): each set has a contiguous call to compare with."""
    x = np.random.default_rng(0).uniform(-2, 2, (3, states, robot.n))
    inverse = {label: Call(robot.inverse_dynamics, make(*x)) for label, make in ARGUMENTS.items()}
    for label, target in TARGETS.items():
        inverse[label] = Call(robot.inverse_dynamics, tuple(x), {"out": target(x[0].shape)})
    yield "inverse_dynamics", inverse
    matrix = {BASE: Call(robot.mass_matrix, (x[0],))}
    for label in ("q[::2]", "all Fortran"):
        matrix[label] = Call(robot.mass_matrix, ARGUMENTS[label](*x)[:1])
    for label, target in TARGETS.items():
        out = target((states, robot.n, robot.n))
        matrix[label] = Call(robot.mass_matrix, (x[0],), {"out": out})
    yield "mass_matrix", matrix


def table_of(robot: armdyn.Robot, rounds: int) -> Table:
    table = Table(title=f"{robot.name}: ns a call", title_justify="left")
    for heading in ("quantity", "call"):
        table.add_column(heading)
    for heading in ("states", "ns", "bound", "of bound"):
        table.add_column(heading, justify="right")

    def row(quantity: str, label: str, states: int, found: float, bound: float | None) -> None:
        end = ("", "") if bound is None else (f"{bound:.0f}", f"{found / bound:.2f}")
        table.add_row(quantity, label, str(states), f"{found:.0f}", *end)

    q = np.random.default_rng(0).uniform(-2, 2, robot.n)
    single = {BASE: Call(robot.mass_matrix, (q,)), "a list": Call(robot.mass_matrix, (q.tolist(),))}
    for label, time in interleaved(single, rounds).items():
        bound = None if label == BASE else LIST_BOUND
        row("mass_matrix", f"one state, {label}", 1, time.least * 1e9, bound)
    for states in SIZES:
        for quantity, chosen in calls(robot, states):
            times = {label: 1e9 * t.least for label, t in interleaved(chosen, rounds).items()}
            bound = 2 * times[BASE] + 1000 + 20 * states
            for label, found in times.items():
                row(quantity, label, states, found, None if label == BASE else bound)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--robot", default="panda", help="a shipped robot's name")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="slices of each call")
    given = parser.parse_args()
    Console().print(table_of(armdyn.load(given.robot), given.rounds))


if __name__ == "__main__":
    main()
