"""The command: measures, says whether the libraries agree, prints and writes what it found."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import armdyn
from armdyn.engine import info
from benchmarks import accuracy, bounds, growth, memory, report, speed, startup
from benchmarks.arms import ARMS, QUANTITIES, arm
from benchmarks.figures import AGREE, Figure, Results, figures
from benchmarks.peers import PEERS
from benchmarks.timing import PASSES, ROUNDS

PARTS = ("single", "batch", "growth", "accuracy", "memory", "startup")
HERE = Path(__file__).parent
QUICK_SIZES = (2, 4, 7, 10)


def main(arguments: list[str] | None = None) -> None:
    """Runs what was asked for; with ``--check``, fails if a figure that was measured is short."""
    options = _options(arguments)
    results = Results(machine=report.machine(options.peers), vector_bytes=info()["vector_bytes"])
    try:
        with tempfile.TemporaryDirectory() as build:
            measure(options, Path(build), results)
    finally:  # of a part that fails, the parts before it are kept
        found = _written(options, results)
    if options.check and any(figure.verdict == "short" for figure in found):
        sys.exit("some figures are short")


def _written(options: argparse.Namespace, results: Results) -> list[Figure]:
    """The figures, shown, and written where the options say."""
    timed = {"agreement"} if results.agreement else set()
    found = [figure for figure in figures(results) if figure.part in timed | set(options.only)]
    report.show(results, found)
    whole = options.only == PARTS and not options.quick and bool(results.startup)
    directory = options.output or (HERE if whole else None)
    if directory:
        report.write(results, found, directory)
    return found


def measure(options: argparse.Namespace, build: Path, results: Results) -> None:
    """All parts that were asked for, those of speed in a process of their own for each setting."""
    cores = sorted(os.sched_getaffinity(0))
    one, everywhere = {cores[-1]}, set(cores)
    rounds, batches = (5, (256, 4096)) if options.quick else (ROUNDS, speed.BATCHES)
    passes = 1 if options.quick else PASSES
    plan = speed.Plan(options.arms, options.peers, build, rounds, batches)
    if {"single", "batch"} & set(options.only):
        results.agreement = _alone(everywhere, speed.agreement, plan)
        apart = [row for row in results.agreement if not row.difference <= AGREE]
        if apart:
            sys.exit(f"the libraries do not agree: {apart}")
    jobs = [(one, speed.single)] if "single" in options.only else []
    if "batch" in options.only:
        chains = [arm(name) for name in options.arms]
        results.bounds = _alone(one, bounds.bounds, chains, tuple(QUANTITIES), batches)
        jobs += [(here, speed.batch) for here in (one, everywhere)[: len(cores)]]
    results.speed = speed.together(
        row for _ in range(passes) for here, job in jobs for row in _alone(here, job, plan)
    )
    if "growth" in options.only:
        sizes = QUICK_SIZES if options.quick else growth.SIZES
        results.growth = _alone(one, growth.growth, sizes)
    if "accuracy" in options.only:
        names = options.arms if options.quick else armdyn.robots()
        states = 2 if options.quick else 25
        results.accuracy = _alone(one, accuracy.accuracy, names, states, ("float64", "float32"))
    if "memory" in options.only:
        results.memory = _alone(everywhere, memory.memory)
    if "startup" in options.only:
        repeats = 1 if options.quick else 5
        names = ("panda",) if options.quick else ("panda", "xarm7")
        results.startup = _alone(one, startup.startup, names, repeats)


def _alone(cores: set[int], job: Callable[..., Any], *arguments: Any) -> Any:
    """What the job returns in a fresh process on these cores."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context, os.sched_setaffinity, (0, cores)) as process:
        return process.submit(job, *arguments).result()


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    names = tuple(peer.name for peer in PEERS)
    for flag, default, text in (
        ("--only", PARTS, "parts to run"),
        ("--arms", ARMS, "arms to time"),
        ("--peers", names, "libraries to time armdyn against"),
    ):
        known = ", ".join(default)
        parser.add_argument(
            flag,
            type=lambda value: tuple(value.split(",")),
            default=default,
            help=f"{text}, separated by commas: {known}",
        )
    parser.add_argument("--quick", action="store_true", help="less of everything, for a first look")
    parser.add_argument("--check", action="store_true", help="fail if a figure is short")
    where = (
        "directory for results.json, results.md and plots; if not given, a whole run writes here"
    )
    parser.add_argument("--output", type=Path, help=f"{where}: {HERE}")
    options = parser.parse_args(arguments)
    unknown = set(options.only) - set(PARTS) | set(options.peers) - set(names)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    return options
