"""Simulations past one machine: states in blocks, spread over dask workers.

No state depends on another, and each has the same bits alone and in any batch. So the blocks make
up the run that one process would have made, bit for bit, whoever simulated them; and one whose
worker died is simulated again by another. Only some blocks are under way at a time: neither the
scheduler nor a worker holds all of them.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from armdyn.errors import ArmdynError, SimulationError, listed, shorten, whole_number
from armdyn.forks import importing
from armdyn.identification.cluster import RETRIES, checked
from armdyn.output.progress import told
from armdyn.robot import Robot
from armdyn.simulation import arguments, formats, precision, simulate
from armdyn.simulation.controllers import Controller, Reference
from armdyn.simulation.results import Result, joined
from armdyn.simulation.torques import make_torque
from armdyn.simulation.trajectories import Trajectory

if TYPE_CHECKING:
    from distributed import Client

BLOCK = 4096  # states that a task simulates, at most
STATE = re.compile(r"\bof state (\d+)")  # as errors name one
SHARE = 4  # tasks for each thread of the cluster: that many make up a run, and are under way


@dataclass(frozen=True)
class Work:
    """A simulation that was asked for: its states, flat, and ``simulate``'s other arguments."""

    robot: Robot
    q: np.ndarray  # (states, n), as qd is
    qd: np.ndarray
    tau: Any
    given: Mapping[str, np.ndarray]  # (states, size) each
    options: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        robot: Robot,
        q: np.ndarray,
        qd: np.ndarray,
        tau: Any,
        given: Mapping[str, np.ndarray],
        dtype: np.dtype,
        options: Mapping[str, Any],
    ) -> Work:
        """Of states with any batch axes."""
        batch = q.shape[:-1]
        rows = {name: arguments.flat(array, batch, dtype) for name, array in given.items()}
        q, qd = (arguments.flat(array, batch, dtype) for array in (q, qd))
        return cls(robot, q, qd, tau, rows, options)

    def part(self, rows: slice) -> Work:
        """The work on some of the states."""
        given = {name: array[rows] for name, array in self.given.items()}
        tau = part_of_torque(self.tau, rows)
        return replace(self, q=self.q[rows], qd=self.qd[rows], tau=tau, given=given)

    def done(self, path: str | None, threads: int | None) -> Result | str | ArmdynError:
        """Its result, or the path where that is saved; or the error it ended in.

        An error is an answer, too: tried again, it would come again.
        """
        if path is not None and os.path.exists(path):
            return path  # whole, by a worker that died before it could say so
        try:
            result = simulate(
                self.robot,
                *(self.q, self.qd, self.tau),
                **{**self.options, **self.given},
                check=None,
                threads=threads,
            )
            if path is None:
                return result
            result.save(path)
            return path
        except ArmdynError as error:
            if path is not None and os.path.exists(path):
                return path  # by another worker, in the meantime
            return error


def part_of_torque(tau: Any, rows: slice) -> Any:
    """What makes the torque of some states, of what makes that of all."""
    if isinstance(tau, Controller):
        return replace(tau, reference=_part_of_reference(tau.reference, rows))
    if tau is None or callable(tau) or np.ndim(tau) <= 2:
        return tau
    every = np.asarray(tau)
    return every.reshape(-1, *every.shape[-2:])[rows]


def _part_of_reference(reference: Any, rows: slice) -> Any:
    if isinstance(reference, Trajectory):
        start, end = (_of_states(x, rows) for x in (reference.start, reference.end))
        return replace(reference, start=start, end=end)
    if callable(reference):
        return ReferencePart(reference, rows)
    return reference if reference is None else _of_states(reference, rows)


def _of_states(array: np.ndarray, rows: slice) -> np.ndarray:
    """Those rows of an array (..., n); all of it if that is the same for all states."""
    flat = array.reshape(-1, array.shape[-1])
    return array if len(flat) == 1 else flat[rows]


@dataclass(frozen=True)
class ReferencePart:
    """A user's motion, of some of its states."""

    whole: Reference
    rows: slice

    def __call__(self, t: float) -> Any:
        """The motion at a time; what is none is left to who asks."""
        answer = self.whole(t)
        if not isinstance(answer, tuple):
            return answer
        return tuple(
            part if np.ndim(part) < 2 else _of_states(np.asarray(part), self.rows)
            for part in answer
        )


# On a cluster -------------------------------------------------------------------------------


def spread(
    client: Client, work: Work, batch: tuple[int, ...], tell: arguments.Progress | None
) -> Result[Any]:
    """The result of all states, simulated on the workers of a client."""
    begun = time.perf_counter()
    client = checked(client, SimulationError)
    blocks = _blocks(len(work.q), _share(client, len(work.q)))
    parts = dict(_each(client, work, blocks, [None] * len(blocks), tell))
    result = joined([parts[k] for k in range(len(blocks))], batch)
    return replace(result, wall_time=time.perf_counter() - begun)


def simulate_to(
    folder: str | os.PathLike[str],
    robot: Robot,
    q0: ArrayLike,
    qd0: ArrayLike | None = None,
    tau: Any = None,
    t: float = 1.0,
    dt: float = 1e-3,
    *,
    client: Client | None = None,
    suffix: str = ".parquet",
    states: int = BLOCK,
    progress: arguments.Progress | bool | None = None,
    **options: Any,
) -> list[str]:
    """Simulates into shards: a file for each block of states, for runs larger than any memory.

    ``Result.load`` reads one of them, or several as one run.

    Args:
        folder: where the shards go, new or empty; on a cluster, one that all workers can write to.
        robot: the arm.
        q0: initial positions, shape (..., n), as all that follows as ``armdyn.simulate`` takes it.
        qd0: initial speeds.
        tau: what makes the torque.
        t: the time to simulate [s].
        dt: the step [s].
        client: of the cluster, a ``distributed.Client``; None: this process does it all.
        suffix: of the shards, as ``Result.save`` takes it: .parquet, .zarr, .npz or .csv.
        states: in a shard.
        progress: is told the states done, and all states; True: a bar on stderr.
        options: further arguments of ``armdyn.simulate``, by their names.

    Returns:
        The shards' paths, in the order of the states.
    """
    if not isinstance(robot, Robot):
        raise TypeError(f"simulate_to takes a Robot, not {type(robot).__name__}; see armdyn.load")
    strange = options.keys() - signature(simulate).parameters.keys()
    if strange or "threads" in options:  # a worker has one thread, or as many as it is given
        found = listed(sorted(strange) or ["threads"])
        raise SimulationError(f"simulate_to takes no argument {found}; see armdyn.simulate")
    arrays = {name: options.pop(name, None) for name in ("payload", "gravity", "parameters")}
    frame, check = options.get("payload_frame"), options.pop("check", "error")
    given = arguments.given(robot.chain, arrays, frame, check)
    q, qd = arguments.initial_state(robot.n, q0, qd0, given)
    dtype = precision(q0, qd0, tau, *arrays.values())
    steps = arguments.whole_steps(t, dt, 1, 0)
    make_torque(robot.chain, tau, q.shape[:-1], steps, float(dt), dtype)  # refuses what is wrong
    work = Work.of(robot, q, qd, tau, given, dtype, {**options, "t": t, "dt": dt})
    blocks = _blocks(len(work.q), whole_number("states", states, SimulationError))
    place = _new_folder(folder, suffix)
    paths = [str(place / f"{k:06d}{suffix}") for k in range(len(blocks))]
    if client is not None:
        checked(client, SimulationError)
    title, news = f"simulating {robot.name}", "the states done and all states"
    with told(progress, title, news, SimulationError) as tell:
        for _ in _each(client, work, blocks, paths, tell):
            pass
    return paths


def _new_folder(folder: str | os.PathLike[str], suffix: str) -> Path:
    """The folder, made if there is none."""
    formats.check_suffix(f"shard{suffix}")
    place = Path(folder).absolute()
    try:
        place.mkdir(parents=True, exist_ok=True)
        full = any(place.iterdir())
    except OSError as error:
        reason = error.strerror or error
        raise ArmdynError(f"cannot write to {shorten(str(folder))}: {reason}") from None
    if full:
        raise ArmdynError(f"{shorten(str(folder))} holds files; expected a new or empty folder")
    return place


def _share(client: Client, states: int) -> int:
    threads = sum(client.ncores().values()) or 1
    return min(BLOCK, -(-states // (SHARE * threads)) or 1)


def _blocks(states: int, size: int) -> list[slice]:
    """The states in blocks; no state makes one block, too."""
    return [slice(k, min(k + size, states)) for k in range(0, max(states, 1), size)]


def _each(
    client: Client | None,
    work: Work,
    blocks: Sequence[slice],
    paths: Sequence[str | None],
    tell: arguments.Progress | None,
) -> Iterator[tuple[int, Any]]:
    """The number of each block and its answer, in the order in which they come."""
    done, states = 0, len(work.q)
    tasks: Callable[..., Iterator[tuple[int, Any]]] = _here if client is None else _there(client)
    for k, answer in tasks(work, blocks, paths):
        if isinstance(answer, ArmdynError):
            raise _counted(answer, blocks[k].start)
        done += blocks[k].stop - blocks[k].start
        if tell is not None:
            tell(done, states)
        yield k, answer


def _counted(error: ArmdynError, first: int) -> ArmdynError:
    """The error of a block of states from the first on, which names a state as all are counted."""
    if not isinstance(error, SimulationError):
        return error
    again = SimulationError(
        STATE.sub(lambda found: f"of state {int(found[1]) + first}", str(error))
    )
    again.result = error.result
    return again


def _here(
    work: Work, blocks: Sequence[slice], paths: Sequence[str | None]
) -> Iterator[tuple[int, Any]]:
    for k, (rows, path) in enumerate(zip(blocks, paths, strict=True)):
        yield k, work.part(rows).done(path, threads=None)


def _there(client: Client) -> Callable[..., Iterator[tuple[int, Any]]]:
    """The same on the workers, some blocks at a time."""

    def tasks(
        work: Work, blocks: Sequence[slice], paths: Sequence[str | None]
    ) -> Iterator[tuple[int, Any]]:
        with importing:
            from distributed import as_completed

        coming = as_completed()
        numbers: dict[Any, int] = {}  # of the blocks under way, by their futures

        def begin(k: int) -> None:
            part = work.part(blocks[k])
            future = client.submit(Work.done, part, paths[k], 1, retries=RETRIES, pure=False)
            numbers[future] = k
            coming.add(future)

        todo = iter(range(len(blocks)))
        try:
            for k in islice(todo, SHARE * (sum(client.ncores().values()) or 1)):
                begin(k)
            for future in coming:
                yield numbers.pop(future), future.result()
                for k in islice(todo, 1):
                    begin(k)
        finally:
            client.cancel(list(numbers))

    return tasks
