"""What other libraries' arrays cost over NumPy's: `python -m benchmarks.arrays`.

A call of torch's tensors on the CPU may take at most 2 us more than that of NumPy's arrays. JAX's
is compared with an empty function under ``jit``, dask's with a block that does nothing. Where torch
finds a GPU its calls are also made there, without waiting for the results: at most 10 us. JAX's are
made there and nowhere else, if it finds one. Libraries that are not installed are left out; all
calls of a quantity take turns, in the same run.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import armdyn
from armdyn.quantities import QUANTITIES
from benchmarks.timing import ROUNDS, Call, interleaved

ASKED = ("mass_matrix", "gravity", "inverse_dynamics", "forward_dynamics", "energy")
STATES = 4096


def with_torch(function: Callable[..., Any], arrays: Sequence[np.ndarray]) -> dict[str, Call]:
    import torch

    found = {}
    for place, said in {"cpu": "", "cuda": " on a GPU"}.items():
        if place == "cuda" and not torch.cuda.is_available():
            continue
        plain = [torch.tensor(x, device=place) for x in arrays]
        tracked = [x.clone().requires_grad_() for x in plain]
        found |= {
            f"torch's x + x{said}": Call(torch.add, (plain[0], plain[0])),
            f"torch{said}": Call(function, plain),
            f"torch{said}, with its graph": Call(function, tracked),
        }
    return found


def with_jax(function: Callable[..., Any], arrays: Sequence[np.ndarray]) -> dict[str, Call]:
    import jax

    jax.config.update("jax_enable_x64", True)
    given = [jax.numpy.asarray(x) for x in arrays]
    waiting = jax.block_until_ready
    empty, eager, jitted = jax.jit(lambda *x: x[0] + 1), function, jax.jit(function)
    return {
        "JAX's jitted x + 1": Call(lambda *x: waiting(empty(*x)), given),
        "JAX": Call(lambda *x: waiting(eager(*x)), given),
        "JAX, jitted": Call(lambda *x: waiting(jitted(*x)), given),
    }


def with_dask(function: Callable[..., Any], arrays: Sequence[np.ndarray]) -> dict[str, Call]:
    import dask
    import dask.array as da

    if arrays[0].ndim == 1:
        return {}
    given = [da.from_array(x, chunks=(1024, -1)) for x in arrays]
    compute = dask.compute
    return {
        "dask's x + 1": Call(lambda *x: compute(x[0] + 1, scheduler="sync"), given),
        "dask": Call(lambda *x: compute(function(*x), scheduler="sync"), given),
    }


LIBRARIES = (with_torch, with_jax, with_dask)


def calls(robot: armdyn.Robot, quantity: str, states: int | None) -> dict[str, Call]:
    """The call by each library; of a single state if there is no number."""
    shape = (robot.n,) if states is None else (states, robot.n)
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(-2, 2, shape) for _ in QUANTITIES[quantity].arguments]
    function = getattr(robot, quantity)
    found = {"NumPy": Call(function, arrays)}
    for library in LIBRARIES:
        try:
            found |= library(function, arrays)
        except ImportError as missing:
            print(f"left out: {missing}")
    return found


def measured(robot: armdyn.Robot, states: int | None, rounds: int) -> dict[str, dict[str, float]]:
    """Microseconds a call, by quantity and library."""
    return {
        quantity: {
            label: round(1e6 * time.least, 2)
            for label, time in interleaved(calls(robot, quantity, states), rounds).items()
        }
        for quantity in ASKED
    }


def table_of(title: str, times: dict[str, dict[str, float]]) -> Table:
    """A row for each call, a column for each quantity."""
    table = Table(title=title, title_justify="left")
    table.add_column("us a call", no_wrap=True)
    for quantity in times:
        table.add_column(quantity, justify="right")
    for label in times[ASKED[0]]:
        table.add_row(label, *(f"{times[quantity][label]:.2f}" for quantity in times))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arm", default="panda")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", help="where the figures go too")
    chosen = parser.parse_args()
    robot, console, report = armdyn.load(chosen.arm), Console(), {}
    for states in (None, STATES):
        title = f"{robot.name}, {'a state' if states is None else f'{states} states'}"
        report[title] = measured(robot, states, chosen.rounds)
        console.print(table_of(title, report[title]))
    if chosen.json:
        Path(chosen.json).write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
