"""The columns of the regression: what torque is linear in, and the program that computes them.

The parameters theta of a fit are an arm's minimal parameters, then a rotor, viscous and Coulomb
friction and an offset a joint, as far as asked for, then the user's own columns. Joint i feels only
its own link and those beyond it: its block is its torque, then the columns of those links, its own
drive's, and the user's. A rotor that is not fitted is the arm's own, and its torque is taken off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from armdyn.algorithms.regressor import minimal_regressor
from armdyn.chain import Chain
from armdyn.chain.minimal import MinimalParameters, members_of
from armdyn.engine import Kernels, calls
from armdyn.errors import ShapeError, shorten
from armdyn.program.passes import drop_unused
from armdyn.program.program import Program
from armdyn.program.tape import record
from armdyn.spatial import Row, Scalar, select_lt

UserColumn = Callable[[np.ndarray, np.ndarray, np.ndarray], Any]  # (q, qd, qdd) -> (..., n)

DRIVES = ("rotor", "viscous", "coulomb", "offset")
UNITS = {  # of a revolute joint, of a prismatic one
    "rotor": ("kg m^2", "kg"),
    "viscous": ("N m s/rad", "N s/m"),
    "coulomb": ("N m", "N"),
    "offset": ("N m", "N"),
}


_minimal = lru_cache(maxsize=16)(MinimalParameters)  # for all Columns of the same chain


@dataclass(frozen=True)
class Columns:
    """What torque is taken to be linear in, on one arm.

    Attributes:
        chain: the arm.
        drives: which of DRIVES each joint has a column of, in that order.
        user: names of the user's own columns.
    """

    chain: Chain
    drives: tuple[str, ...] = DRIVES
    user: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, chain: Chain, friction: bool, rotors: bool, offsets: bool, user: Mapping[str, Any]
    ) -> Columns:
        """The columns that were asked for."""
        asked = {"rotor": rotors, "viscous": friction, "coulomb": friction, "offset": offsets}
        for name, value in (("friction", friction), ("rotors", rotors), ("offsets", offsets)):
            if not isinstance(value, bool | np.bool_):
                raise ShapeError(f"{name} is {shorten(value)}; expected True or False")
        return cls(chain, tuple(name for name in DRIVES if asked[name]), tuple(user))

    @cached_property
    def minimal(self) -> MinimalParameters:
        """The arm's minimal parameters."""
        return _minimal(self.chain)

    @property
    def count(self) -> int:
        """The number of parameters."""
        return len(self.names)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the parameters: "U33_1" as in ``robot.minimal_parameters()``, "viscous_3", ..."""
        drives = [f"{name}_{i + 1}" for name in self.drives for i in range(self.chain.n)]
        return (*self.minimal.names, *drives, *self.user)

    @cached_property
    def units(self) -> tuple[str, ...]:
        """Of the parameters; of a user's column it is unknown, and empty."""
        of_letter = {"U": "kg m^2", "k": "kg m", "m": "kg"}
        prismatic = [kind == "P" for kind in self.chain.kinds]
        drives = [UNITS[name][p] for name in self.drives for p in prismatic]
        return (
            *(of_letter[name[0]] for name in self.minimal.names),
            *drives,
            *("" for _ in self.user),
        )

    def place(self, drive: str) -> slice:
        """Where the joints' parameters of that drive stand in theta; nowhere if it has none."""
        if drive not in self.drives:
            return slice(0, 0)
        first = len(self.minimal) + self.drives.index(drive) * self.chain.n
        return slice(first, first + self.chain.n)

    @cached_property
    def felt(self) -> tuple[np.ndarray, ...]:
        """Which parameters joint i feels, in the order of its block's columns behind the torque."""
        n, p = self.chain.n, len(self.minimal)
        links = np.repeat(range(n), list(map(len, members_of(self.chain))))
        own = [[self.place(drive).start + i for drive in self.drives] for i in range(n)]
        user = range(self.count - len(self.user), self.count)
        return tuple(
            np.array([*(k for k in range(p) if links[k] >= i), *own[i], *user], int)
            for i in range(n)
        )

    @cached_property
    def bounds(self) -> np.ndarray:
        """Where each joint's block begins in a row of the program, (n + 1,); no user columns."""
        widths = [1 + len(felt) - len(self.user) for felt in self.felt]
        return np.cumsum([0, *widths])

    @cached_property
    def natural(self) -> np.ndarray:
        """The matrix from ten parameters a link, drives and user columns to theta, (count, ...)."""
        extra = self.count - len(self.minimal)
        C = self.minimal.coefficients
        return np.block(
            [[C, np.zeros((len(C), extra))], [np.zeros((extra, C.shape[1])), np.eye(extra)]]
        )

    @property
    def given(self) -> np.ndarray:
        """The arm's own theta: a drive's offset is what its two Coulomb numbers share."""
        joints = self.chain.joints
        values = {
            "rotor": [joint.rotor_inertia for joint in joints],
            "viscous": [joint.viscous for joint in joints],
            "coulomb": [(joint.coulomb[1] - joint.coulomb[0]) / 2 for joint in joints],
            "offset": [(joint.coulomb[1] + joint.coulomb[0]) / 2 for joint in joints],
        }
        drives = [values[name] for name in self.drives]
        return np.concatenate([self.minimal.values, *drives, np.zeros(len(self.user))])

    @cached_property
    def blocks(self) -> Callable[..., np.ndarray]:
        """The compiled function (q, qd, qdd, tau) -> rows (..., bounds[-1]), block by block."""
        shape = (int(self.bounds[-1]),)
        kernels = BlockKernels(self.chain, self)
        each = calls.Argument((self.chain.n,), "one number a joint")
        taken = dict.fromkeys(("q", "qd", "qdd", "tau"), each)
        return calls.Function("blocks", taken, (shape,), kernels)

    def __repr__(self) -> str:  # by which compiled code is known
        return f"Columns({self.drives})"


class BlockKernels(Kernels):
    """The kernels of the blocks of all joints."""

    def __init__(self, chain: Chain, columns: Columns) -> None:
        super().__init__(chain, columns)
        self.columns = columns

    def trace(self) -> Program:
        """The program of one row."""
        inputs = dict.fromkeys(("q", "qd", "qdd", "tau"), self.chain.n)
        return drop_unused(record(self._row, inputs, "blocks"))

    def _row(self, q: Row, qd: Row, qdd: Row, tau: Row) -> Row:
        columns, p = self.columns, len(self.columns.minimal)
        Y = minimal_regressor(self.chain.on(float), q, qd, qdd)
        row: list[Scalar] = []
        for i, felt in enumerate(columns.felt):
            drive = {"rotor": qdd[i], "viscous": qd[i], "coulomb": sign(qd[i]), "offset": 1.0}
            links = [Y[i][k] for k in felt if k < p]
            held = 0.0 if "rotor" in columns.drives else self.chain.joints[i].rotor_inertia
            row += [tau[i] - held * qdd[i], *links, *(drive[name] for name in columns.drives)]
        return row


def sign(v: Scalar) -> Scalar:
    """1, -1 or 0."""
    return select_lt(v, 0, -1, select_lt(-v, 0, 1, 0))
