"""A simulated motion as the page plays it: few enough rows, in single precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from armdyn.errors import SimulationError, shorten, whole
from armdyn.view.packing import packed

if TYPE_CHECKING:
    from armdyn.simulation.results import Result

NUMBERS = 60_000  # in all, which are a third of a megabyte as text
ROWS = 1500  # at most


def motion(result: Result, state: int) -> dict[str, Any]:
    """The rows of one state of a batch: times, positions, speeds, torques and energies."""
    result = result.numpy()
    rows, n = len(result.t), result.robot.n
    states = result.q.size // (rows * n)
    place = whole(state)
    if place is None or not 0 <= place < states:
        raise SimulationError(f"state is {shorten(state)}; expected one of 0 to {states - 1}")

    def of(array: np.ndarray, *shape: int) -> np.ndarray:
        return array.reshape(states, rows, *shape)[place]

    columns = {"q": of(result.q, n), "qd": of(result.qd, n), "tau": of(result.tau, n)}
    columns |= {"kinetic": of(result.energy.kinetic), "potential": of(result.energy.potential)}
    finite = np.isfinite(columns["q"]).all(axis=1)
    last = rows if finite.all() else max(1, int(finite.argmin()))  # it broke off there
    most = max(2, min(ROWS, NUMBERS // (3 * n + 3)))
    kept = np.unique(np.linspace(0, last - 1, min(last, most)).round().astype(int))
    return {
        "summary": result.summary(),
        "held": result.held,
        "t": packed(result.t[kept], "<f4"),
        **{name: packed(column[kept], "<f4") for name, column in columns.items()},
    }
