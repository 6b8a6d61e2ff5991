"""Moments of more logs than one machine should read: mapped over dask workers, summed in a tree.

Each worker reads a shard, a file of a contiguous part of the record, and answers with its moments:
some hundred kilobytes, however long the shard. Which shards make which of the GROUPS parts of the
result is settled beforehand, so that it does not depend on who was ready first, and a shard whose
worker died can be summed up again by another.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from armdyn.chain import Chain
from armdyn.engine import workers
from armdyn.errors import ArmdynError, IdentificationError, shorten, warn, whole_number
from armdyn.forks import importing
from armdyn.identification.columns import UserColumn
from armdyn.identification.logs import Log
from armdyn.identification.moments import GROUPS, Moments
from armdyn.identification.moments import moments as moments_of
from armdyn.output.progress import told
from armdyn.robot import Robot

if TYPE_CHECKING:
    from distributed import Client

Path = str | os.PathLike[str]

BRANCHES = 8  # moments that one task of the tree sums up
RETRIES = 3  # of a task that fails, such as one whose disk did not answer
BLAS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
MEMORY = {  # of a worker: what is freed is used again; by dask's choice it goes back at once,
    "MALLOC_TRIM_THRESHOLD_": 2**28,  # and to get it again takes longer than all the rest
    "MALLOC_MMAP_THRESHOLD_": 2**25,
}
ENVIRONMENT = "distributed.nanny.pre-spawn-environ"
MISSING = "clusters are dask's: pip install 'armdyn[cluster]'"


def moments(
    robot: Robot,
    shards: Iterable[Path],
    client: Client | None = None,
    *,
    cutoff: float | None,
    rest: ArrayLike = 0.0,
    friction: bool = True,
    rotors: bool = True,
    offsets: bool = True,
    columns: Mapping[str, UserColumn] | Iterable[UserColumn] = (),
    retries: int = RETRIES,
    progress: bool | Callable[[int, int], object] | None = None,
) -> Moments:
    """The moments of logs in many files, summed up where the workers of a cluster are.

    ``.fit()`` of what it answers makes the ``Identification``. The same shards in the same order
    give the same moments but for rounding, on whatever workers, and without a client.

    Args:
        robot: the arm.
        shards: paths of .parquet, .npz or .csv files as ``armdyn.Log`` reads, in the order of
            time, which all workers can read. Each is filtered by itself.
        client: of the cluster, a ``distributed.Client``; None: this process does it all.
        cutoff: of the low-pass [Hz]; None: the logs' own qd and qdd, and nothing is filtered. One
            shard tells which suits: ``armdyn.identify(robot, log).cutoff``.
        rest: the speed below which a joint's rows are left out, a number or (n,).
        friction: whether each joint has viscous and Coulomb friction.
        rotors: whether each joint has a rotor.
        offsets: whether each joint's torque has an offset.
        columns: further columns, functions (q, qd, qdd) -> (..., n) by their names.
        retries: how often a task that failed is tried again.
        progress: True shows a bar on stderr; a function is told the shards done, and all shards.

    Raises:
        IdentificationError: if a shard cannot be read, or does not suit the arm; it names the file.
    """
    if not isinstance(robot, Robot):
        raise IdentificationError(f"expected a Robot, as armdyn.load gives, not {shorten(robot)}")
    paths = _paths(shards)
    options: dict[str, Any] = {
        "cutoff": cutoff,
        "rest": rest,
        "friction": friction,
        "rotors": rotors,
        "offsets": offsets,
        "columns": columns,
    }
    task = partial(shard_moments, robot.chain, options, max(1, GROUPS // len(paths)))
    again = whole_number("retries", retries, IdentificationError, least=0)
    news = "the shards done, and all shards"
    with told(progress, "summing up", news, IdentificationError) as tell:
        if client is None:
            return _here(task, paths, tell)
        return Tree(checked(client, IdentificationError), again).total(task, paths, tell)


def _paths(shards: Any) -> list[str]:
    if isinstance(shards, str | os.PathLike):
        raise IdentificationError(f"shards is {shorten(shards)}; expected a list of paths")
    try:
        found = [os.fspath(path) for path in shards]
    except TypeError:
        raise IdentificationError(
            f"shards are paths of files that workers read, not {shorten(shards)}"
        ) from None
    if not found:
        raise IdentificationError("there are no shards; expected one or more")
    return found


# On a worker --------------------------------------------------------------------------------------


def shard_moments(chain: Chain, options: Mapping[str, Any], groups: int, path: str) -> Moments:
    """The moments of one file, in at most so many parts; on one thread: others have the rest."""
    _check_blas()
    with workers.by_default(1):
        found = moments_of(Robot(chain), Log.parts(path), **options)
    return _light(found.merged(groups))


def summed(groups: int | None, found: Sequence[Moments]) -> Moments:
    """The sum; as so many parts, or as all parts of all of them."""
    total = reduce(add, found)
    return _light(total if groups is None else total.merged(groups))


def _light(found: Moments) -> Moments:
    """As it is sent: without what it has compiled, which is its process's own."""
    return replace(found, columns=replace(found.columns))


def _check_blas() -> None:
    """Say in the worker's log that its BLAS takes the cores of others."""
    if _in_worker() and not any(os.environ.get(name) == "1" for name in BLAS):
        warn("%s is not 1 in a dask worker: BLAS may take the cores of other workers", BLAS[0])


def _in_worker() -> bool:
    try:
        with importing:
            from distributed import get_worker

        return bool(get_worker())
    except (ImportError, ValueError):  # no dask, or not in one of its workers
        return False


# The tree -----------------------------------------------------------------------------------------


def plan(count: int) -> list[range]:
    """Which shards, by number, make which part: each alone if they are few, else neighbours."""
    parts = min(count, GROUPS)
    edges = [count * k // parts for k in range(parts + 1)]
    return [range(a, b) for a, b in zip(edges, edges[1:], strict=False)]


def _here(
    task: Callable[[str], Moments], paths: list[str], tell: Callable[[int, int], object] | None
) -> Moments:
    """All of it in this process, one shard after the other."""
    parts = []
    for numbers in plan(len(paths)):
        part: Moments | None = None
        for k in numbers:
            found = task(paths[k])
            part = found if part is None else summed(1, [part, found])
            if tell is not None:
                tell(k + 1, len(paths))
        assert part is not None  # no part is without a shard
        parts.append(part)
    return summed(None, parts)


@dataclass(frozen=True)
class Tree:
    """Sums on the workers of a client, each of at most BRANCHES moments."""

    client: Client
    retries: int

    def total(
        self,
        task: Callable[[str], Moments],
        paths: list[str],
        tell: Callable[[int, int], object] | None,
    ) -> Moments:
        """The moments of all files."""
        with importing:
            from distributed import as_completed

        leaves = self.client.map(task, paths, retries=self.retries, pure=False)
        parts = [
            self._sum([leaves[k] for k in numbers], None if len(numbers) == 1 else 1)
            for numbers in plan(len(paths))
        ]
        whole = self._sum(parts, None)
        try:
            done = 0
            for leaf in as_completed(leaves):
                if leaf is not whole:  # the sum that it is in holds it as long as it needs it
                    leaf.release()
                done += 1
                if tell is not None:
                    tell(done, len(paths))
            return whole.result()
        except BaseException:
            self.client.cancel([whole, *parts, *leaves])
            raise

    def _sum(self, futures: list[Any], groups: int | None) -> Any:
        """The future of a sum, in order."""
        while len(futures) > 1:
            futures = [
                self.client.submit(
                    summed, groups, futures[k : k + BRANCHES], retries=self.retries, pure=False
                )
                for k in range(0, len(futures), BRANCHES)
            ]
        return futures[0]


# Clusters -----------------------------------------------------------------------------------------


def checked(client: Any, error: type[ArmdynError]) -> Client:
    """The client, if it is one; else that error."""
    try:
        with importing:
            from distributed import Client
    except ImportError:
        raise error(MISSING) from None
    if not isinstance(client, Client):
        raise error(f"client is {shorten(client)}; expected a distributed.Client, or None")
    return client


@contextmanager
def local(processes: int | None = None) -> Iterator[Client]:
    """A client of worker processes on this machine, as many as it has cores if not said otherwise.

    Each has one thread, for armdyn and, unless the environment says otherwise, for BLAS. They end
    with the block.
    """
    try:
        with importing:
            from dask import config
            from distributed import Client, LocalCluster
    except ImportError:
        raise IdentificationError(MISSING) from None
    count = processes if processes is not None else workers.cores()
    number = whole_number("processes", count, IdentificationError)
    settings = dict(config.get(ENVIRONMENT, {})) | dict.fromkeys(BLAS, 1) | MEMORY
    with (
        config.set({ENVIRONMENT: settings}),
        LocalCluster(
            n_workers=number, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as made,
        Client(made) as client,
    ):
        yield client
