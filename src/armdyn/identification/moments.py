"""Moments: all that a fit needs to know of a log, in a few matrices that add up.

Per joint i the Gram matrix of [tau_i | W_i], W_i the joint's block of columns: fits of any kind and
the error of any parameters follow from it. It is kept for up to GROUPS contiguous parts of the log:
cross-validation leaves parts out, and standard deviations are judged by how much they differ.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from armdyn.errors import IdentificationError, cut, listed, shorten
from armdyn.forks import importing
from armdyn.identification.columns import Columns, UserColumn
from armdyn.identification.logs import Log
from armdyn.identification.rows import Block, RowsOf, Segment, segments
from armdyn.output import npz
from armdyn.output.files import written
from armdyn.robot import Robot

if TYPE_CHECKING:
    from armdyn.identification.results import Identification

GROUPS = 64  # contiguous parts at most,
LEAST = 100  # rows in one at least,
LEAST_FILTERED = 50  # about three periods of the cutoff
FORMAT = 1  # of the file


@dataclass(frozen=True, eq=False, repr=False)
class Moments:
    """The moments of logs of one arm; ``a + b`` are those of both.

    Attributes:
        columns: what torque is taken to be linear in.
        grams: a matrix (1 + columns of the joint)^2 for each part and joint i, of [tau_i | W_i].
        crosses: between instruments Z_i and [tau_i | W_i], and between Z_i and Z_i, (parts, 2, ...)
            for each joint; empty without instruments.
        rows: of each part and joint, (parts, n).
        cutoff: of the low-pass [Hz]; None: the logs' own speeds and accelerations, not filtered.
        rest: the speed of each joint below which its rows were left out [rad/s or m/s], (n,).
        origin: theta whose torque was taken off tau.
        notes: what a user should know.
        user: the user's own columns as functions; not saved.
    """

    columns: Columns
    grams: tuple[np.ndarray, ...]
    crosses: tuple[np.ndarray, ...]
    rows: np.ndarray
    cutoff: float | None
    rest: tuple[float, ...]
    origin: np.ndarray
    notes: tuple[str, ...] = ()
    user: Mapping[str, UserColumn] = field(default_factory=dict)

    @cached_property
    def robot(self) -> Robot:
        """The arm."""
        return Robot(self.columns.chain)

    @property
    def groups(self) -> int:
        """The number of contiguous parts."""
        return len(self.rows)

    def __repr__(self) -> str:
        rows = int(self.rows.sum(axis=0).max())
        return (
            f"Moments({cut(self.columns.chain.name)}, {rows} rows in {self.groups} parts, "
            f"{self.columns.count} parameters)"
        )

    def __add__(self, other: Moments) -> Moments:
        """The moments of both records, of which the other is taken to be the later."""
        return self.then(other).merged() if isinstance(other, Moments) else NotImplemented

    def then(self, *others: Moments) -> Moments:
        """The moments of this record and later ones, with the parts of all."""
        found = [self]
        for other in others:
            self._check_like(other)
            same = np.array_equal(self.origin, other.origin)
            found.append(other if same else other.about(self.origin))
        return replace(
            self,
            grams=tuple(map(np.concatenate, zip(*(each.grams for each in found), strict=True))),
            crosses=tuple(map(np.concatenate, zip(*(each.crosses for each in found), strict=True))),
            rows=np.concatenate([each.rows for each in found]),
            notes=tuple(dict.fromkeys(note for each in found for note in each.notes)),
        )

    def _check_like(self, other: Moments) -> None:
        """Refuse what is not of the same arm and the same columns."""
        mine, its = self.columns, other.columns
        pairs = {
            "robot": (mine.chain, its.chain),
            "columns": (mine.names, its.names),
            "cutoff": (self.cutoff, other.cutoff),
            "rest": (self.rest, other.rest),
            "instruments": (bool(self.crosses), bool(other.crosses)),
        }
        for what, (one, two) in pairs.items():
            if one != two:
                odd = sorted({*mine.names} ^ {*its.names}) if what == "columns" else None
                found = f"only one has {listed(odd)}" if odd else f"{shorten(one)}, {shorten(two)}"
                raise IdentificationError(
                    f"moments of different {what} cannot be added: {found}; expected the same"
                )

    def merged(self, most: int = GROUPS) -> Moments:
        """With at most so many parts: neighbours with the fewest rows become one."""
        if self.groups <= most:
            return self
        sizes = self.rows.sum(axis=1).tolist()
        starts = list(range(self.groups))
        while len(sizes) > most:
            pairs = [a + b for a, b in zip(sizes, sizes[1:], strict=False)]
            k = pairs.index(min(pairs))
            sizes[k : k + 2] = [pairs[k]]
            del starts[k + 1]
        return replace(
            self,
            grams=tuple(np.add.reduceat(gram, starts, axis=0) for gram in self.grams),
            crosses=tuple(np.add.reduceat(cross, starts, axis=0) for cross in self.crosses),
            rows=np.add.reduceat(self.rows, starts, axis=0),
        )

    def part(self, groups: np.ndarray) -> Moments:
        """The moments of some parts only."""
        return replace(
            self,
            grams=tuple(gram[groups] for gram in self.grams),
            crosses=tuple(cross[groups] for cross in self.crosses),
            rows=self.rows[groups],
        )

    def about(self, origin: np.ndarray) -> Moments:
        """With the torque of these parameters taken off tau, in place of what was."""
        more = origin - self.origin
        grams, crosses = [], []
        for i, felt in enumerate(self.columns.felt):
            T = np.eye(1 + len(felt))
            T[1:, 0] = -more[felt]
            grams.append(T.T @ self.grams[i] @ T)
            if self.crosses:
                of_torque, of_each_other = self.crosses[i][:, 0] @ T, self.crosses[i][:, 1]
                crosses.append(np.stack([of_torque, of_each_other], axis=1))
        return replace(self, grams=tuple(grams), crosses=tuple(crosses), origin=origin)

    def without(self, some: np.ndarray) -> Moments:
        """With nothing in the columns of some parameters, which are True of (count,)."""
        grams, crosses = [], []
        for i, felt in enumerate(self.columns.felt):
            keep = np.concatenate([[1.0], ~some[felt]])
            grams.append(self.grams[i] * np.outer(keep, keep))
            if self.crosses:
                crosses.append(self.crosses[i] * np.outer(keep, keep))
        return replace(self, grams=tuple(grams), crosses=tuple(crosses))

    def squared_errors(self, theta: np.ndarray) -> np.ndarray:
        """The sum of squared errors of each part and joint, (parts, n), if theta is right."""
        sums = []
        for gram, felt in zip(self.grams, self.columns.felt, strict=True):
            e = np.concatenate([[1.0], (self.origin - theta)[felt]])
            sums.append(np.maximum(np.einsum("i,gij,j->g", e, gram, e), 0.0))
        return np.stack(sums, axis=1)

    def rms(self, theta: np.ndarray) -> np.ndarray:
        """The root of the mean squared error of each joint's torque, (n,) [N m or N]."""
        rows = np.maximum(self.rows.sum(axis=0), 1)
        return np.sqrt(self.squared_errors(theta).sum(axis=0) / rows)

    def fit(self, **options: Any) -> Identification:
        """The parameters that suit these moments: see ``armdyn.identification.estimates.fit``."""
        with importing:
            from armdyn.identification.estimates import fit

        return fit(self, **options)

    # Files ------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the moments to an .npz file."""
        if Path(path).suffix != ".npz":
            raise IdentificationError(f"moments are saved as .npz, not to {shorten(str(path))}")
        arrays: dict[str, Any] = {f"gram{i}": gram for i, gram in enumerate(self.grams)}
        arrays |= {f"cross{i}": cross for i, cross in enumerate(self.crosses)}
        texts: dict[str, Any] = {
            "robot": self.columns.chain.to_toml(),
            "drives": np.array(self.columns.drives, dtype=str),
            "user": np.array(self.columns.user, dtype=str),
            "notes": np.array(self.notes, dtype=str),
        }
        with written(Path(path)) as place, open(place, "wb") as file:
            np.savez_compressed(
                file,
                format=FORMAT,
                rows=self.rows,
                cutoff=np.nan if self.cutoff is None else self.cutoff,
                rest=self.rest,
                origin=self.origin,
                **arrays,
                **texts,
            )

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Moments:
        """Moments from a file that ``save`` wrote."""
        with importing:
            from armdyn.loaders import toml

        try:
            with npz.arrays(path) as file:
                if int(file["format"]) != FORMAT:
                    raise KeyError(f"format {int(file['format'])}")
                chain = toml.load(str(file["robot"]), check="warn")
                columns = Columns(
                    chain, tuple(file["drives"].tolist()), tuple(file["user"].tolist())
                )
                cutoff = float(file["cutoff"])
                return Moments(
                    columns,
                    tuple(file[f"gram{i}"] for i in range(chain.n)),
                    tuple(file[f"cross{i}"] for i in range(chain.n) if f"cross{i}" in file),
                    file["rows"],
                    None if np.isnan(cutoff) else cutoff,
                    tuple(file["rest"].tolist()),
                    file["origin"],
                    tuple(file["notes"].tolist()),
                )
        except (OSError, KeyError, ValueError, TypeError) as error:
            found = shorten(str(path))
            raise IdentificationError(f"cannot read moments from {found}: {error}") from None


# From logs ----------------------------------------------------------------------------------------


def moments(
    robot: Robot,
    log: Log | Iterable[Log],
    *,
    cutoff: float | None = None,
    friction: bool = True,
    rotors: bool = True,
    offsets: bool = True,
    columns: Mapping[str, UserColumn] | Iterable[UserColumn] = (),
    instruments: Log | Iterable[Log] | None = None,
    rest: ArrayLike = 0.0,
    origin: np.ndarray | None = None,
) -> Moments:
    """The moments of a log, or of several, which may come one by one.

    Args:
        robot: the arm; only its geometry matters.
        log: what was measured.
        cutoff: of the low-pass [Hz]; None: the log's own qd and qdd, and nothing is filtered.
        friction: whether each joint has viscous and Coulomb friction.
        rotors: whether each joint has a rotor.
        offsets: whether each joint's torque has an offset.
        columns: further columns, functions (q, qd, qdd) -> (..., n) by their names.
        instruments: a reference motion for each log, row by row, such as the commanded one.
        rest: the speed of a joint below which its rows are left out, a number or (n,).
        origin: parameters whose torque is taken off tau; those that are fitted come close to it.
    """
    user = named(columns)
    plan = Columns.of(robot.chain, friction, rotors, offsets, user)
    slow = _speeds(rest, robot.n)
    start = np.zeros(plan.count) if origin is None else origin
    logs = [log] if isinstance(log, Log) else log
    references = _references(logs, instruments)

    rows_of = RowsOf(plan, user)
    before: list[int] = []  # rows of earlier logs

    def of(log: Log, reference: Log | None) -> Moments:
        names = robot.joint_names
        behind = None if reference is None else reference.for_joints(names)
        pieces, notes = segments(log.for_joints(names), behind, cutoff)
        least = LEAST if cutoff is None else LEAST_FILTERED
        rows = sum(piece.rows for piece in pieces)
        share = math.ceil(GROUPS * rows / (rows + sum(before)))  # more would be merged at once
        before.append(rows)
        parts = min(max(rows // least, 1), share)
        sums = Sums(rows_of, slow, start, parts, reference is not None)
        sums.add_all(pieces)
        return Moments(
            plan,
            tuple(sums.grams),
            tuple(sums.crosses),
            sums.rows,
            cutoff,
            tuple(slow.tolist()),
            start,
            notes,
            user,
        )

    found: list[Moments] = []
    for pair in references:
        found.append(of(*pair))
        if sum(each.groups for each in found) > 2 * GROUPS:
            found = [found[0].then(*found[1:]).merged()]
    if not found:
        raise IdentificationError("there is no log; expected one or more")
    return found[0].then(*found[1:]).merged()


def named(columns: Any) -> dict[str, UserColumn]:
    """The user's columns by name: given so, as pairs, or as functions that have names."""
    if isinstance(columns, Mapping):
        pairs = list(columns.items())
    else:
        several = isinstance(columns, Iterable) and not isinstance(columns, np.ndarray)
        given = list(columns) if several else [columns]
        pairs = [c if isinstance(c, tuple) else (getattr(c, "__name__", ""), c) for c in given]
    for name, function in pairs:
        if not isinstance(name, str) or not name or not callable(function):
            raise IdentificationError(
                f"columns are functions (q, qd, qdd) -> (..., n) by name, not {shorten(columns)}"
            )
    if len(dict(pairs)) < len(pairs):
        raise IdentificationError(f"two columns have one name: {listed(name for name, _ in pairs)}")
    return dict(pairs)


def _speeds(rest: ArrayLike, n: int) -> np.ndarray:
    """The speed below which a joint is at rest, for each joint."""
    try:
        found = np.broadcast_to(np.asarray(rest, float), (n,)).copy()
        if (found >= 0).all():
            return found
    except (TypeError, ValueError, OverflowError):
        pass
    raise IdentificationError(
        f"rest is {shorten(rest)}; expected a speed of at least 0, or {n}, one a joint"
    )


def _references(
    logs: Iterable[Log], instruments: Log | Iterable[Log] | None
) -> Iterable[tuple[Log, Log | None]]:
    """Each log with its reference motion."""
    if instruments is None:
        return ((log, None) for log in logs)
    logs = list(logs)
    behind = [instruments] if isinstance(instruments, Log) else list(instruments)
    if len(behind) != len(logs):
        raise IdentificationError(
            f"{len(behind)} instruments for {len(logs)} logs; expected a reference motion for each"
        )
    return zip(logs, behind, strict=True)


class Sums:
    """Moments of one log while they are summed up."""

    def __init__(
        self,
        rows_of: RowsOf,
        rest: np.ndarray,
        origin: np.ndarray,
        parts: int,
        instruments: bool,
    ) -> None:
        self.rows_of, self.rest, self.origin = rows_of, rest, origin
        self.felt = rows_of.columns.felt
        self.grams = [np.zeros((parts, 1 + len(felt), 1 + len(felt))) for felt in self.felt]
        crossed = self.grams if instruments else []
        self.crosses = [np.zeros((parts, 2, *gram.shape[1:])) for gram in crossed]
        self.rows = np.zeros((parts, len(self.felt)), int)

    def add_all(self, pieces: list[Segment]) -> None:
        """All segments, cut into parts of about the same number of rows."""
        total, parts = sum(piece.rows for piece in pieces), len(self.rows)
        edges = [total * k // parts for k in range(1, parts + 1)]
        first = part = 0
        for piece in pieces:
            start = 0
            while start < piece.rows:
                stop = min(piece.rows, edges[part] - first)
                for block in self.rows_of(piece, start, stop):
                    self._add(part, block)
                start = stop
                part += first + stop == edges[part]
            first += piece.rows

    def _add(self, part: int, block: Block) -> None:
        """A chunk of rows."""
        self.rows[part] += len(block.qd)
        if self.rest.any():
            slow = np.abs(block.qd) < self.rest
            self.rows[part] -= slow.sum(axis=0)
            for joints in block.joints:
                for i, X in enumerate(joints):
                    X[slow[:, i]] = 0.0
        if self.origin.any():
            for X, felt in zip(block.joints[0], self.felt, strict=True):
                X[:, 0] -= X[:, 1:] @ self.origin[felt]
        for i, X in enumerate(block.joints[0]):
            self.grams[i][part] += X.T @ X
        for reference in block.joints[1:]:
            for i, (X, Z) in enumerate(zip(block.joints[0], reference, strict=True)):
                self.crosses[i][part, 0] += Z.T @ X
                self.crosses[i][part, 1] += Z.T @ Z
