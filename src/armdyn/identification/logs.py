"""Log: what was measured on an arm, row by row."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from armdyn.chain.given import is_masked
from armdyn.chain.limits import LARGEST
from armdyn.chain.parts import assign
from armdyn.errors import IdentificationError, cut, listed, shorten, unknown, whole_number
from armdyn.identification.formats import READERS, Block
from armdyn.output.progress import told


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    """A record of a motion: row k of each array belongs to the time ``t[k]``.

    A row with a number that is not finite is left out where the log is used, and counted.

    Attributes:
        t: times [s], rising, shape (N,).
        q: joint positions [rad or m], base to tip, shape (N, n).
        tau: torques at the joints, not at their motors [N m or N], shape (N, n).
        qd: joint speeds [rad/s or m/s], shape (N, n), if they were recorded.
        qdd: joint accelerations [rad/s^2 or m/s^2], shape (N, n), if they were recorded.
        name: what messages call it; of a log that was read, the file's name.
        joints: the joints' names in the order of the columns, where they are known.
    """

    t: np.ndarray
    q: np.ndarray
    tau: np.ndarray
    qd: np.ndarray | None = None
    qdd: np.ndarray | None = None
    name: str = "log"
    joints: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise IdentificationError(f"a log's name is a string, not {shorten(self.name)}")
        for key in ("t", "q", "tau", "qd", "qdd"):
            if key in ("t", "q", "tau") or getattr(self, key) is not None:
                assign(self, key, self._numbers(key))
        rows, shape = len(self.t), np.shape(self.q)
        if not rows or not self.n:
            raise IdentificationError(f"{cut(self.name)}: the log is empty")
        for key in ("q", "tau", "qd", "qdd"):
            found = getattr(self, key)
            if found is not None and found.shape != (rows, self.n):
                expected = f"({rows}, {self.n})" if shape[0] == rows else f"({rows}, joints)"
                raise IdentificationError(
                    f"{cut(self.name)}: {key} has shape {found.shape}; expected {expected}, a row "
                    "a time and a column a joint"
                )
        assign(self, "joints", tuple(map(str, self.joints)))
        if self.joints and len(self.joints) != self.n:
            raise IdentificationError(
                f"{cut(self.name)}: {len(self.joints)} names of joints ({listed(self.joints)}) for "
                f"{self.n} columns of q"
            )
        if twins := [joint for joint, times in Counter(self.joints).items() if times > 1]:
            raise IdentificationError(
                f"{cut(self.name)}: two columns of one joint: {listed(twins)}"
            )
        _check_rising(self.t, -np.inf, cut(self.name), lambda k: f"row {k}")
        for key in ("q", "tau", "qd", "qdd"):
            self._check_sizes(key)

    def _check_sizes(self, key: str) -> None:
        """Refuse numbers that no arm has, whose squares would outgrow a double."""
        array = getattr(self, key)
        if array is None or not (beyond := np.isfinite(array) & (np.abs(array) > LARGEST)).any():
            return
        row, k = (int(place) for place in np.argwhere(beyond)[0])
        least, most = np.nanmin(array[:, k]), np.nanmax(array[:, k])
        raise IdentificationError(
            f"{cut(self.name)}: column {key}{'_' if self.joints else ''}"
            f"{cut(self.joints[k]) if self.joints else k + 1} goes from {least:.4g} to {most:.4g}, "
            f"row {row} is {array[row, k]:.4g}; expected at most {LARGEST:.0e} in size, or nan"
        )

    def _numbers(self, key: str) -> np.ndarray:
        value = getattr(self, key)
        if is_masked(value):
            raise IdentificationError(
                f"{cut(self.name)}: {key} is a masked array; expected nan where it is masked"
            )
        try:
            found = np.asarray(value)
            if found.dtype.kind in "iuf" and found.ndim == (1 if key == "t" else 2):
                return found.astype(float, copy=False)
        except Exception:  # ragged, or whatever its own conversion raises
            pass
        form = "(N,)" if key == "t" else "(N, n)"
        raise IdentificationError(
            f"{cut(self.name)}: {key} must be real numbers of shape {form}, not {_described(value)}"
        )

    @property
    def n(self) -> int:
        """The number of joints."""
        return int(self.q.shape[1])

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        seconds = np.ptp(self.t[np.isfinite(self.t)]) if np.isfinite(self.t).any() else np.nan
        given = "".join(f", {key}" for key in ("qd", "qdd") if getattr(self, key) is not None)
        return (
            f"Log({shorten(self.name)}, {len(self)} rows over {seconds:.4g} s, {self.n} joints, "
            f"with q, tau{given})"
        )

    def for_joints(self, names: Sequence[str]) -> Log:
        """This log with its columns in the order of an arm's joints.

        Args:
            names: of the arm's joints, base to tip. Where the log has no names, its columns are
                taken to be in that order.

        Raises:
            IdentificationError: if the log has other joints, or not as many.
        """
        if not self.joints and self.n != len(names):
            raise IdentificationError(
                f"{cut(self.name)}: q has {self.n} columns, but the arm has {len(names)} joints: "
                + listed(names)
            )
        if not self.joints or self.joints == tuple(names):
            return self
        places = {joint: k for k, joint in enumerate(self.joints)}
        for name in names:
            if name not in places:
                said = unknown("columns of joint", name, self.joints)
                raise IdentificationError(f"{cut(self.name)}: {said}")
        order = [places[name] for name in names]
        return replace(
            self,
            q=self.q[:, order],
            tau=self.tau[:, order],
            qd=None if self.qd is None else self.qd[:, order],
            qdd=None if self.qdd is None else self.qdd[:, order],
            joints=tuple(names),
        )

    # From files -----------------------------------------------------------------------------

    @staticmethod
    def read(
        path: str | os.PathLike[str],
        *,
        progress: bool | Callable[[int, int], object] | None = None,
    ) -> Log:
        """A log from a .csv, .npz or .parquet file.

        A CSV file's first line names the columns, and so do Parquet's: t, q1, q2, ..., tau1, ...,
        and if they were recorded qd1, ..., qdd1, ...; or, by the joints' names, q_elbow,
        tau_elbow. Other columns are not read. An npz file holds arrays t (N,), q (N, n), tau
        (N, n), and perhaps qd, qdd and the names ``joints``. An empty cell is NaN.

        Args:
            path: of the file.
            progress: True shows a bar on stderr; a function is told how much is read, and of how
                much.

        Raises:
            IdentificationError: if the file cannot be read, or is no log; it names column, line
                and value.
        """
        news = "how much is read, and of how much"
        with told(progress, "reading", news, IdentificationError) as tell:
            return _joined(list(_blocks(path, tell)), Path(path).name)

    @staticmethod
    def parts(path: str | os.PathLike[str], rows: int = 1_000_000) -> Iterator[Log]:
        """The same file as logs of at least ``rows`` rows, one after the other.

        Only one of them is in memory (of an .npz file, all), so that a file may be larger.

        Args:
            path: of the file.
            rows: of each part; the last has what is left.
        """
        least = whole_number("rows", rows, IdentificationError)
        held: list[Block] = []
        for block in _blocks(path, None):
            held.append(block)
            if sum(len(each.arrays["t"]) for each in held) >= least:
                yield _joined(held, Path(path).name)
                held = []
        if held:
            yield _joined(held, Path(path).name)


def _blocks(
    path: str | os.PathLike[str], tell: Callable[[int, int], object] | None
) -> Iterator[Block]:
    """The blocks of a file, their times checked to rise; every error names the file."""
    if not isinstance(path, str | os.PathLike):
        raise IdentificationError(f"a log is read from a path, not from {shorten(path)}")
    place = Path(path)
    if place.suffix.lower() not in READERS:
        raise IdentificationError(
            f"cannot read a log from {shorten(str(path))}; expected a name in {' '.join(READERS)}"
        )
    label, last, rows = cut(place.name), -np.inf, 0
    try:
        for block in READERS[place.suffix.lower()](place):
            t = block.arrays["t"]
            last = _check_rising(t, last, label, _namer(block, rows))
            rows += len(t)
            yield block
            if tell is not None:
                tell(block.done, block.total)
    except IdentificationError as error:
        raise IdentificationError(f"{label}: {str(error).removeprefix(f'{label}: ')}") from None
    except OSError as error:
        raise IdentificationError(
            f"cannot read {shorten(str(path))}: {error.strerror or error}"
        ) from None
    except ValueError as error:  # not what its suffix says
        raise IdentificationError(f"cannot read {shorten(str(path))}: {error}") from None
    if not rows:
        raise IdentificationError(f"{label}: no row")


def _namer(block: Block, before: int) -> Callable[[int], str]:
    lines = block.lines
    return lambda k: f"row {before + k}" if lines is None else f"line {lines[k]}"


def _joined(blocks: list[Block], name: str) -> Log:
    arrays = {
        key: np.concatenate([block.arrays[key] for block in blocks]) for key in blocks[0].arrays
    }
    return Log(**arrays, name=name, joints=blocks[0].joints)


def _check_rising(t: np.ndarray, last: float, label: str, name: Callable[[int], str]) -> float:
    """The last finite time; refuses one that does not lie after the one before it."""
    finite = np.flatnonzero(np.isfinite(t))
    times = np.concatenate([[last], t[finite]])
    stays = np.flatnonzero(times[1:] <= times[:-1])
    if stays.size:
        k = int(stays[0])
        raise IdentificationError(
            f"{label}: {name(int(finite[k]))}, column t: {times[k + 1]:.9g} s does not lie after "
            f"{times[k]:.9g} s in the row before; expected rising times"
        )
    return float(times[-1])


def _described(value: object) -> str:
    shape = getattr(value, "shape", None)
    return shorten(value) if shape is None else f"an array of shape {shape}"
