"""What moments of long records cost: ``python -m benchmarks.cluster [--minutes M] [--workers N]``.

Writes a record of a Panda at 1 kHz in shards of a minute, as Parquet and as npz, and measures
reading and summing up, in this process and on dask workers, with the cost of a month worked out.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import armdyn
from armdyn.identification import cluster
from armdyn.identification.logs import Log
from armdyn.identification.moments import moments

RATE = 1000  # Hz
SHARD = 60  # s
CUTOFF = 10.0  # Hz
MONTH = 30 * 24 * 3600 * RATE  # rows


class Cost(NamedTuple):
    """Of one row: processor time and elapsed time [s]."""

    cpu: float
    wall: float


def measured(work: Callable[[], Any], rows: int) -> Cost:
    """What a piece of work costs for each of so many rows, in this process."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return Cost((time.process_time() - cpu) / rows, (time.perf_counter() - wall) / rows)


def write_shards(robot: armdyn.Robot, folder: Path, minutes: int) -> dict[str, list[str]]:
    """Shards of one record, by their format."""
    from pyarrow import parquet, table

    motion, rng = armdyn.excite(robot, 10.0), np.random.default_rng(0)
    found: dict[str, list[str]] = {"parquet": [], "npz": []}
    for k in range(minutes):
        t = k * SHARD + np.arange(SHARD * RATE) / RATE
        q, qd, qdd = motion(t % motion.duration)
        tau = robot.inverse_dynamics(q, qd, qdd) + 0.1 * rng.standard_normal(q.shape)
        names = [f"{x}{j + 1}" for x in ("q", "tau") for j in range(robot.n)]
        columns = dict(zip(names, np.hstack([q, tau]).T, strict=True))
        path = folder / f"{k:04}"
        parquet.write_table(table({"t": t, **columns}), f"{path}.parquet")
        np.savez(f"{path}.npz", t=t, q=q, tau=tau)
        for kind, paths in found.items():
            paths.append(f"{path}.{kind}")
    return found


def main() -> None:
    """Measure, and print what a month would cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2])
    arguments = parser.parse_args()
    robot = armdyn.load("panda")
    with tempfile.TemporaryDirectory() as folder:
        shards = write_shards(robot, Path(folder), arguments.minutes)
        rows = arguments.minutes * SHARD * RATE
        for kind, paths in shards.items():
            size = sum(Path(path).stat().st_size for path in paths) / rows
            print(f"{kind}: {size:.0f} bytes a row, a month {size * MONTH / 1e9:.0f} GB")
            report(
                f"reading {kind}", measured(lambda paths=paths: list(map(Log.read, paths)), rows)
            )
        log = Log.read(shards["npz"][0])
        moments(robot, log, cutoff=CUTOFF)  # compiled, and not measured
        some = SHARD * RATE
        report("summing up", measured(lambda: moments(robot, log, cutoff=CUTOFF), some))
        paths = shards["parquet"]
        cluster.moments(robot, paths[:1], cutoff=CUTOFF)
        alone = measured(lambda: cluster.moments(robot, paths, cutoff=CUTOFF), rows)
        report("both, in one process", alone)
        for count in arguments.workers:
            with cluster.local(count) as client:
                client.run(cluster.shard_moments, robot.chain, {"cutoff": CUTOFF}, 1, paths[0])
                before = sum(client.run(time.process_time).values())
                start = time.perf_counter()
                cluster.moments(robot, paths, client, cutoff=CUTOFF)
                wall = (time.perf_counter() - start) / rows
                cpu = (sum(client.run(time.process_time).values()) - before) / rows
            report(f"both, on {count} workers", Cost(cpu, wall))
            print(f"    {alone.wall / wall:.2f} times as fast as one process, by the clock")


def report(what: str, cost: Cost) -> None:
    core, clock = (seconds * MONTH / 3600 for seconds in cost)
    print(
        f"{what}: {cost.cpu * 1e6:.2f} us of a core a row, {cost.wall * 1e6:.2f} us by the clock; "
        f"a month {core:.2f} h of a core, {clock:.2f} h by the clock"
    )


if __name__ == "__main__":
    main()
