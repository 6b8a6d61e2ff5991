"""Log: what was measured on an arm, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Log:
    """A record of a motion: row k of each array belongs to the time ``t[k]``."""

    t: np.ndarray
    q: np.ndarray
    tau: np.ndarray
    qd: np.ndarray | None = None
    qdd: np.ndarray | None = None
    name: str = "log"

    def for_joints(self, names: Sequence[str]) -> Log:
        """This log with its columns in the order of an arm's joints."""
        return self
