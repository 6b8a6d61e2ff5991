"""The files that results are saved to: npz and Zarr (arrays), Parquet and CSV (tables).

All but CSV hold all of a result, bit for bit: beside the numbers stands a text in JSON that says
what they are, the arm included. A table has a line for each state and time; ``columns`` names what
stands in it.
"""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from armdyn.errors import ArmdynError, shorten
from armdyn.forks import importing
from armdyn.output import npz
from armdyn.output.files import check_name, check_writable, unfinished, written
from armdyn.quantities import sizes
from armdyn.robot import Robot

if TYPE_CHECKING:
    from armdyn.simulation.results import Result

VERSION = 1  # of the text beside the numbers
ABOUT = "armdyn"  # what that text is called
MOTION = ("q", "qd", "qdd", "tau")
PLAIN = ("integrator", "dt", "steps", "friction", "held", "compile_time", "wall_time")
Arrays = dict[str, np.ndarray]
Find = Callable[[str, dict[str, Any], Robot], np.ndarray]  # by its name, the text, the arm


class Format(NamedTuple):
    """How a result is written to a path that gets its name later, and how it is read."""

    write: Callable[[Result, Path], None]
    read: Callable[[Path], Result] | None = None  # None: what is written is not all of it
    folder: bool = False  # whether it is one, else a file
    needs: Callable[[], Any] = lambda: None  # imports its package, or says how to get it


def save(result: Result, path: str | Path) -> None:
    """Writes a result to a file, or a folder in .zarr, which is there once it is whole."""
    check_path(path)
    form = FORMATS[_suffix(path)]
    if not form.folder:
        with written(path) as place:
            form.write(result, place)
        return
    try:
        with unfinished(Path(path).absolute().parent) as folder:
            form.write(result, folder / Path(path).name)
    except OSError as error:
        raise ArmdynError(f"cannot write {shorten(str(path))}: {error.strerror or error}") from None


def load(path: str | Path) -> Result:
    """A result from a file that ``save`` wrote."""
    read = FORMATS[_suffix(path)].read if _suffix(path) in FORMATS else None
    if read is None:
        known = ", ".join(suffix for suffix, form in FORMATS.items() if form.read)
        raise ArmdynError(f"cannot load {shorten(str(path))}; expected a name in {known}")
    try:
        return read(Path(path))
    except (OSError, KeyError, ValueError, TypeError) as error:
        if isinstance(error, ArmdynError):
            raise
        raise ArmdynError(f"cannot read a result from {shorten(str(path))}: {error}") from None


def check_suffix(path: str | Path) -> None:
    """Refuse a name that says nothing of what a result could be saved as."""
    if _suffix(path) not in FORMATS:
        raise ArmdynError(
            f"cannot save to {shorten(str(path))}; expected a name in .npz or .csv, or where their "
            "packages are, .parquet or .zarr"
        )
    FORMATS[_suffix(path)].needs()


def check_path(path: str | Path) -> None:
    """Refuse a file that a result could not be saved to."""
    check_suffix(path)
    if not FORMATS[_suffix(path)].folder:
        check_writable(path)
        return
    check_name(path)
    if Path(path).exists():
        raise ArmdynError(f"cannot write {shorten(str(path))}: it is there; expected a new name")
    check_writable(Path(path).absolute().parent / ".armdyn")


def _suffix(path: str | Path) -> str:
    return Path(path).suffix.lower()


# What stands in a file ----------------------------------------------------------------------


def _about(result: Result) -> str:
    """All of a result but its arrays."""
    plain = {name: getattr(result, name) for name in PLAIN}
    return json.dumps(
        {
            "version": VERSION,
            "robot": result.robot.chain.to_toml(),
            "batch": result.q.shape[:-2],
            "rows": len(result.t),
            "t": [] if result.q.size else result.t.tolist(),  # no line of a table has them
            "given": list(result.given),
            "payload_frame": result.payload_frame,
            "violations": result.violations,
            "stopped": result.stopped,
            **plain,
        }
    )


def _result(text: str, find: Find) -> Result:
    """The result that a text tells of, with the arrays that ``find`` finds."""
    with importing:
        from armdyn.loaders import toml
        from armdyn.simulation.results import Result, Violation

    about = json.loads(text)
    if about["version"] != VERSION:
        raise ValueError(f"it is of version {about['version']}, not {VERSION}")
    robot = Robot(toml.load(about["robot"], check="warn"))
    arrays: dict[str, Any] = {
        name: find(name, about, robot) for name in ("t", *MOTION, *about["given"])
    }
    return Result(
        robot,
        **{name: arrays.pop(name) for name in ("t", *MOTION)},
        **{name: about[name] for name in PLAIN},
        violations=tuple(Violation(*each) for each in about["violations"]),
        stopped=tuple(about["stopped"]),
        given=arrays,
        payload_frame=about["payload_frame"],
    )


def _arrays(result: Result) -> Arrays:
    motion = {name: getattr(result, name) for name in ("t", *MOTION)}
    return motion | dict(result.given) | result.energy._asdict()


def columns(result: Result) -> Arrays:
    """The columns of a table: state (of a batch), t, q_JOINT, ..., what was given, energies."""
    n, rows = result.robot.n, len(result.t)
    states = result.q[..., 0, 0].size
    found: Arrays = {}
    if result.q.ndim > 2:
        found["state"] = np.repeat(np.arange(states), rows)
    found["t"] = np.tile(result.t, states)
    for name in MOTION:
        flat = getattr(result, name).reshape(-1, n)
        found |= {f"{name}_{joint}": flat[:, i] for i, joint in enumerate(result.robot.joint_names)}
    for name, array in result.given.items():
        flat = np.repeat(array.reshape(states, array.shape[-1]), rows, axis=0)
        found |= {f"{name}_{i + 1}": column for i, column in enumerate(flat.T)}
    return found | {name: x.reshape(-1) for name, x in result.energy._asdict().items()}


def _of_columns(table: Mapping[str, np.ndarray]) -> Find:
    """Finds a result's arrays among the columns of a table."""

    def find(name: str, about: dict[str, Any], robot: Robot) -> np.ndarray:
        rows, batch = about["rows"], tuple(about["batch"])
        if name == "t":
            return np.array(about["t"]) if about["t"] else table["t"][:rows].copy()
        if name in MOTION:
            names = [f"{name}_{joint}" for joint in robot.joint_names]
            return np.column_stack([table[x] for x in names]).reshape(*batch, rows, robot.n)
        names = [f"{name}_{i + 1}" for i in range(sizes(robot.n, [name])[name])]
        return np.column_stack([table[x][::rows] for x in names]).reshape(*batch, len(names))

    return find


# The formats --------------------------------------------------------------------------------


def _write_npz(result: Result, place: Path) -> None:
    arrays: dict[str, Any] = dict(_arrays(result))
    names: dict[str, Any] = {
        "joints": np.array(result.robot.joint_names),
        "robot": result.robot.name,
    }
    with open(place, "wb") as file:  # to a name in .NPZ, NumPy would add .npz
        np.savez_compressed(file, **(arrays | names | {ABOUT: _about(result)}))


def _read_npz(path: Path) -> Result:
    with npz.arrays(path) as file:
        return _result(str(file[ABOUT]), lambda name, *_: file[name])


def _write_csv(result: Result, place: Path) -> None:
    table = columns(result)
    with open(place, "w", newline="", encoding="utf-8") as lines:
        rows = zip(*(column.tolist() for column in table.values()), strict=True)
        csv.writer(lines).writerows(itertools.chain([table], rows))


def _write_parquet(result: Result, place: Path) -> None:
    pyarrow, parquet = _pyarrow()
    table = pyarrow.table(columns(result)).replace_schema_metadata({ABOUT: _about(result)})
    parquet.write_table(table, place)


def _read_parquet(path: Path) -> Result:
    pyarrow, parquet = _pyarrow()
    try:
        with open(path, "rb") as stream:
            table = parquet.read_table(stream)
    except pyarrow.ArrowException as error:
        raise ValueError(error) from None
    text = (table.schema.metadata or {})[ABOUT.encode()].decode()
    numbers = {name: table[name].to_numpy() for name in table.column_names}
    return _result(text, _of_columns(numbers))


def _pyarrow() -> tuple[Any, Any]:
    try:
        with importing:
            import pyarrow
            from pyarrow import parquet
    except ImportError:
        raise ArmdynError("Parquet needs pyarrow: pip install 'armdyn[cluster]'") from None
    return pyarrow, parquet


def _write_zarr(result: Result, place: Path) -> None:
    zarr = _zarr()
    zarr.save_group(str(place), **_arrays(result))
    zarr.open_group(str(place), mode="r+").attrs[ABOUT] = _about(result)


def _read_zarr(path: Path) -> Result:
    group = _zarr().open_group(str(path), mode="r")
    return _result(group.attrs[ABOUT], lambda name, *_: np.asarray(group[name][...]))


def _zarr() -> Any:
    try:
        with importing:
            import zarr
    except ImportError:
        raise ArmdynError("Zarr needs its package: pip install 'armdyn[zarr]'") from None
    return zarr


FORMATS = {
    ".npz": Format(_write_npz, _read_npz),
    ".csv": Format(_write_csv),
    ".parquet": Format(_write_parquet, _read_parquet, needs=_pyarrow),
    ".zarr": Format(_write_zarr, _read_zarr, folder=True, needs=_zarr),
}
