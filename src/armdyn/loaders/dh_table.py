"""A DH table in CSV, as ``armdyn convert`` writes it: an arm's kinematics.

Lines that begin with # are remarks. The first other line names the columns: ``name`` and ``type``
of a joint, and the four of a convention. An apostrophe keeps a spreadsheet from computing
a name such as ``=1+1``, and is no part of it. b and beta are those of a modified table, a and alpha
those of a standard one; lengths are in metres, angles in radians.
"""

from __future__ import annotations

import csv
import io
import math
from codecs import BOM_UTF8
from collections.abc import Sequence
from typing import Literal

from numpy.typing import ArrayLike

from armdyn.chain import Chain, dh
from armdyn.chain.dh import EARTH, SNAP
from armdyn.errors import ModelError, cut, listed, shorten, unknown
from armdyn.output.files import unmarked

TYPES = {"revolute": "R", "prismatic": "P"}
WORDS = ("joint", "name", "type")  # joint: its number, for people


def load(
    text: str | bytes,
    *,
    name: str | None = None,
    gravity: ArrayLike | None = None,
    snap: float | None = None,
    check: Literal["error", "warn"] = "error",
) -> Chain:
    """A chain without masses from the text of a table.

    Args:
        text: the file's content; bytes are UTF-8.
        name: of the arm.
        gravity: acceleration of free fall in the base frame (3,) [m/s^2].
        snap: a constant angle within ``snap`` [rad] of a quarter turn becomes it; 1e-9 if not
            given.
        check: "error" refuses an arm that could not exist, "warn" only logs it.
    """
    head, rows = _lines(text)
    convention = _convention(head)
    table = {key: [_number(key, row, k) for k, row in rows] for key in dh.COLUMNS[convention]}
    names = [
        unmarked(row.get("name", "")) or f"joint{i}" for i, (_, row) in enumerate(rows, start=1)
    ]
    return dh.build(
        convention,
        table,
        joints="".join(_kind(row, k) for k, row in rows),
        joint_names=names,
        name="arm" if name is None else name,
        gravity=EARTH if gravity is None else gravity,
        snap=SNAP if snap is None else snap,
        check=check,
    )


def _lines(text: str | bytes) -> tuple[Sequence[str], list[tuple[int, dict[str, str]]]]:
    """The columns' names, and each row by them, with the number of its line."""
    try:
        plain = text.removeprefix(BOM_UTF8).decode() if isinstance(text, bytes) else text
        read = csv.reader(io.StringIO(plain, newline=""))
        lines = [(read.line_num, [cell.strip() for cell in line]) for line in read]
    except (ValueError, csv.Error) as error:
        raise ModelError(f"not a CSV file: {cut(str(error))}") from None
    filled = [(k, line) for k, line in lines if any(line) and not line[0].startswith("#")]
    if len(filled) < 2:
        raise ModelError("no DH table: expected a line with the columns' names, then one a joint")
    head = filled[0][1]
    for k, line in filled[1:]:
        if len(line) != len(head):
            raise ModelError(f"line {k} has {len(line)} columns; expected {len(head)}")
    return head, [(k, dict(zip(head, line, strict=True))) for k, line in filled[1:]]


def _convention(head: Sequence[str]) -> str:
    """Which table the columns are those of."""
    for key in head:
        known = [*WORDS, *dh.COLUMNS["mdh"], *dh.COLUMNS["dh"][:2]]
        if key not in known:
            raise ModelError("the DH table: " + unknown("column", key, known))
        if list(head).count(key) > 1:
            raise ModelError(f"the DH table has the column {key!r} twice; expected it once")
    for convention, keys in dh.COLUMNS.items():
        strange = [key for key in head if key not in (*WORDS, *keys)]
        if not strange:
            missing = [key for key in ("type", *keys) if key not in head]
            if missing:
                raise ModelError(f"the DH table has no column {listed(map(repr, missing))}")
            return convention
    raise ModelError(
        f"the DH table has the columns {listed(head)}; expected b and beta (modified) or a and "
        "alpha (standard), beside d and theta"
    )


def _kind(row: dict[str, str], k: int) -> str:
    if row["type"] not in TYPES:
        raise ModelError(
            f"line {k}: type is {shorten(row['type'])}; expected revolute or prismatic"
        )
    return TYPES[row["type"]]


def _number(key: str, row: dict[str, str], k: int) -> float:
    try:
        value = float(row[key])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ModelError(f"line {k}: {key} is {shorten(row[key])}; expected a finite number")
    return value
