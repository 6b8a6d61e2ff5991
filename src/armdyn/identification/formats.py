"""The files that logs come in, read block by block: CSV, NumPy's npz, Parquet.

Columns are found by their names: ``t`` (or ``time``), ``q1``, ``q2``, ..., ``tau1``, ..., perhaps
``qd1``, ... and ``qdd1``, ...; or by the joints' names, ``q_elbow``, ``tau_elbow``. Others are not
read.
"""

from __future__ import annotations

import io
import os
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from armdyn.errors import IdentificationError, cut, listed, shorten
from armdyn.forks import importing
from armdyn.output import npz

SIGNALS = ("q", "tau", "qd", "qdd")
TIMES = ("t", "time")
NAMED = re.compile(r"(q|tau|qd|qdd)(?:([0-9]{1,4})|_(.+))")
BYTES = 1 << 22  # of a block of CSV
ROWS = 1 << 16  # of a block of another kind


class Block(NamedTuple):
    """Some rows of a file."""

    arrays: dict[str, np.ndarray]  # t (rows,); q, tau and perhaps qd and qdd (rows, n)
    joints: tuple[str, ...]  # their names, where the file tells them
    lines: np.ndarray | None  # of the file, a number a row, where it has lines
    done: int  # how much of the file is read, in its own measure
    total: int


class Layout(NamedTuple):
    """Which columns of a table hold what."""

    columns: dict[str, list[str]]  # of t one name, of each other signal one a joint
    joints: tuple[str, ...]

    @property
    def wanted(self) -> list[str]:
        """All columns that are read, in the order in which ``arrays`` takes them."""
        return [name for names in self.columns.values() for name in names]

    def arrays(self, table: np.ndarray) -> dict[str, np.ndarray]:
        """The signals of a table (rows, wanted)."""
        found, first = {}, 0
        for signal, names in self.columns.items():
            part = table[:, first : first + len(names)]
            found[signal] = part[:, 0] if signal == "t" else part
            first += len(names)
        return found


def layout(names: Sequence[str]) -> Layout:
    """What columns of these names hold; else an IdentificationError."""
    twins = {name for name, times in Counter(names).items() if times > 1}
    times = [name for name in names if name.lower() in TIMES]
    groups: dict[str, dict[str, str]] = {signal: {} for signal in SIGNALS}
    for name in names:
        if match := NAMED.fullmatch(name):
            signal, number, joint = match.groups()
            key = joint or str(int(number))
            twins |= {name} if key in groups[signal] else set()
            groups[signal][key] = name
    if twins:
        raise IdentificationError(f"two columns are named {shorten(min(twins))}; expected one")
    if len(times) != 1:
        found = f"two columns of time, {listed(times)}" if times else "no column of time, t"
        raise IdentificationError(f"{found}; the columns are: {listed(names)}")
    joints = _joints(groups, names)
    columns = {signal: [group[j] for j in joints] for signal, group in groups.items() if group}
    named = () if joints[0].isdecimal() else tuple(joints)
    return Layout({"t": times, **columns}, named)


def _joints(groups: Mapping[str, Mapping[str, str]], names: Sequence[str]) -> list[str]:
    """The joints that all signals have, in order."""
    for signal in ("q", "tau"):
        if not groups[signal]:
            raise IdentificationError(
                f"no columns {signal}1, {signal}2, ...; the columns are: {listed(names)}"
            )
    joints = list(groups["q"])
    if all(map(str.isdecimal, joints)):
        joints = sorted(joints, key=int)
        counted = [str(k) for k in range(int(joints[0] != "0"), int(joints[-1]) + 1)]
        for joint in counted:
            if joint not in groups["q"]:
                raise IdentificationError(f"no column q{joint}, but q{joints[-1]}")
    elif any(map(str.isdecimal, joints)):
        raise IdentificationError(
            f"some joints are numbered, others named: {listed(groups['q'].values())}"
        )
    for signal, group in groups.items():
        link = "" if joints[0].isdecimal() else "_"
        for joint in joints if group else ():
            if joint not in group:
                raise IdentificationError(
                    f"no column {cut(signal + link + joint)}, but q{cut(link + joint)}"
                )
        for joint, name in group.items():
            if joint not in groups["q"]:
                raise IdentificationError(f"column {cut(name)} has no column q{cut(link + joint)}")
    return joints


# CSV ----------------------------------------------------------------------------------------


def csv_blocks(path: Path) -> Iterator[Block]:
    """The rows of a text whose first line names the columns."""
    total = os.path.getsize(path)
    with open(path, "rb") as file:
        header = file.readline().removeprefix(BOM_UTF8).decode(errors="replace").lstrip("#").strip()
        mark = next((each for each in ";\t," if each in header), ",")
        names = [cell.strip().strip('"') for cell in header.split(mark)]
        if all(map(_is_number, names)):
            raise IdentificationError(
                f"line 1 is {shorten(header)}; expected the columns' names: t, q1, ..., tau1, ..."
            )
        table = CsvTable(mark, names, layout(names))
        line = 2
        while lines := file.readlines(BYTES):
            rows, numbers = table.rows(lines, line)
            arrays = table.layout.arrays(rows)
            yield Block(arrays, table.layout.joints, numbers, file.tell(), total)
            line += len(lines)


class CsvTable(NamedTuple):
    """How a CSV file is written, and what its columns are."""

    mark: str  # between cells
    names: list[str]
    layout: Layout

    def places(self) -> list[tuple[str, int]]:
        """The names of all columns that are read, and which columns these are."""
        places = {name: k for k, name in enumerate(self.names)}
        return [(name, places[name]) for name in self.layout.wanted]

    def rows(self, lines: list[bytes], first: int) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of some lines, (rows, wanted), and the number of each row's line."""
        wanted = [place for _, place in self.places()]
        text = b"".join(lines)
        try:
            if text.count(self.mark.encode()) != len(lines) * (len(self.names) - 1):
                raise ValueError("other cells than the first line names")
            table = np.loadtxt(
                io.BytesIO(text), delimiter=self.mark, comments=None, usecols=wanted, ndmin=2
            )
            if len(table) != len(lines):
                raise ValueError("blank lines")
        except ValueError:  # slower, cell by cell: to find the fault, if it is one
            return self.careful_rows(lines, first)
        return table, np.arange(first, first + len(lines))

    def careful_rows(self, lines: list[bytes], first: int) -> tuple[np.ndarray, np.ndarray]:
        """The same, cell by cell: an empty cell is NaN, a blank line no row."""
        wanted = self.places()
        numbers = [k for k, text in enumerate(lines) if text.strip()]
        table = np.empty((len(numbers), len(wanted)))
        for row, k in enumerate(numbers):
            cells = lines[k].decode("utf-8", "replace").strip("\r\n").split(self.mark)
            if len(cells) != len(self.names):
                raise IdentificationError(
                    f"line {first + k} has {len(cells)} cells; expected {len(self.names)}, as "
                    "line 1 has"
                )
            for column, (name, place) in enumerate(wanted):
                cell = cells[place].strip()
                if cell and not _is_number(cell):
                    raise IdentificationError(
                        f"line {first + k}, column {shorten(name)}: {shorten(cell)} is no number"
                    )
                table[row, column] = float(cell) if cell else np.nan
        return table, np.array(numbers, dtype=int) + first


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # which Python allows in a number


# npz ----------------------------------------------------------------------------------------


def npz_blocks(path: Path) -> Iterator[Block]:
    """The rows of arrays t (N,), q (N, n), tau (N, n), perhaps qd and qdd; or of columns."""
    with npz.arrays(path) as file:
        if "q" in file:
            arrays = {key: file[key] for key in ("t", *SIGNALS) if key in file}
            named = np.ravel(file["joints"]) if "joints" in file else ()
            joints = tuple(map(str, named))
        else:
            found = layout(list(file))
            columns = [_column(name, file[name]) for name in found.wanted]
            _check_lengths(dict(zip(found.wanted, columns, strict=True)))
            arrays, joints = found.arrays(np.column_stack(columns)), found.joints
    for needed in ("t", "q", "tau"):
        if needed not in arrays:
            raise IdentificationError(f"no array {needed}; it holds: {listed(arrays)}")
    arrays = {key: _numbers(f"array {key}", value) for key, value in arrays.items()}
    for key, value in arrays.items():
        if value.ndim != 1 + (key != "t"):
            form = "(rows,)" if key == "t" else "(rows, joints)"
            raise IdentificationError(f"array {key} has shape {value.shape}; expected {form}")
    _check_lengths(arrays)
    total = len(arrays["t"])
    for first in range(0, total, ROWS):
        last = min(first + ROWS, total)
        part = {key: value[first:last] for key, value in arrays.items()}
        yield Block(part, joints, None, last, total)


def _check_lengths(arrays: Mapping[str, np.ndarray]) -> None:
    lengths = {key: len(value) for key, value in arrays.items()}
    if len(set(lengths.values())) > 1:
        said = listed(f"{key} {length}" for key, length in lengths.items())
        raise IdentificationError(f"arrays have different numbers of rows: {said}")


def _column(name: str, value: np.ndarray) -> np.ndarray:
    if value.ndim != 1:
        raise IdentificationError(f"array {cut(name)} has shape {value.shape}; expected (rows,)")
    return _numbers(f"array {cut(name)}", value)


def _numbers(what: str, value: np.ndarray) -> np.ndarray:
    if value.dtype.kind not in "iuf":
        raise IdentificationError(f"{what} is of type {value.dtype}; expected real numbers")
    return value.astype(float, copy=False)


# Parquet ------------------------------------------------------------------------------------


def parquet_blocks(path: Path) -> Iterator[Block]:
    """The rows of a table in Parquet; a null is NaN."""
    try:
        with importing:
            import pyarrow
            from pyarrow import parquet
    except ImportError:
        raise IdentificationError(
            "Parquet needs pyarrow: pip install 'armdyn[cluster]'; or write .npz or .csv"
        ) from None
    try:
        with open(path, "rb") as stream, parquet.ParquetFile(stream) as file:
            found = layout(file.schema_arrow.names)
            for name in found.wanted:
                kind = file.schema_arrow.field(name).type
                if not (pyarrow.types.is_floating(kind) or pyarrow.types.is_integer(kind)):
                    raise IdentificationError(
                        f"column {shorten(name)} is of type {kind}; expected real numbers"
                    )
            done, total = 0, file.metadata.num_rows
            for batch in file.iter_batches(ROWS, columns=found.wanted):
                done += batch.num_rows
                yield Block(found.arrays(_table(batch, found)), found.joints, None, done, total)
    except pyarrow.ArrowException as error:
        raise IdentificationError(f"not a Parquet file that can be read: {error}") from None


def _table(batch: Any, found: Layout) -> np.ndarray:
    columns = (batch.column(name).to_numpy(zero_copy_only=False) for name in found.wanted)
    return np.column_stack([np.asarray(column, dtype=float) for column in columns])


READERS = {".csv": csv_blocks, ".npz": npz_blocks, ".parquet": parquet_blocks}
