"""What a run found, as tables on the screen, JSON, a short Markdown page and plots."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.table import Table

from armdyn import engine
from benchmarks.arms import QUANTITIES
from benchmarks.figures import Figure, Results
from benchmarks.peers import PEERS, Armdyn
from benchmarks.speed import Row

METHOD = """\
By `python -m benchmarks`: all calls of a table took turns in slices of 2 ms, and the least of many
slices counts; one core means a process that is bound to it. All libraries had the same reduced
model, without rotors. "New array" is the call a user writes, array in, array out, dropped before
the next call, so that armdyn gives the same array out again; "in place"
leaves the result in memory that was given (for CasADi: the inputs stand in its buffers as well).
CasADi runs adam's formulas as C, by gcc -O2 or -O3, whichever is faster, with -march=native; "in
lanes" is the same text with a vector of states in place of a number, on arrays laid out for it.
What the machine could do at best is measured in the same run: a loop of multiply-adds, a loop of
stores. Ratios are judged by instruction set; on others than those named they are only reported.
On all cores armdyn decides by itself whether threads pay. Errors are against 50 digits, in eps of
the sum of the absolute values of the terms; of forward dynamics, the backward error."""
COLOURS = {"pass": "green", "short": "bold red", "not measured": "dim"}


def machine(peers: tuple[str, ...]) -> dict[str, str]:
    """The machine and the versions of everything measured."""
    found = {
        "processor": _processor(),
        "vectors": f"{engine.info()['vector_bytes']} bytes",
        "cores": str(len(os.sched_getaffinity(0))),
        "system": f"{platform.system()} {platform.machine()}",
        "call path": engine.info()["call_path"],
        "python": platform.python_version(),
        "armdyn": Armdyn.versions(),
    }
    for peer in PEERS:
        reason = peer.missing() if peer.name in peers else "not asked for"
        found[peer.name] = f"not measured ({reason})" if reason else peer.versions()
    return found


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()}, {engine.info()['cpu']}"


# On the screen ------------------------------------------------------------------------------


def show(results: Results, found: list[Figure]) -> None:
    """Prints all tables."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=110)
    for key, value in results.machine.items():
        console.print(f"[dim]{key:16}[/] {value}")
    for title, columns, rows in tables(results):
        table = Table(*columns, title=title, title_justify="left")
        for row in rows:
            table.add_row(*row)
        console.print(table)
    table = Table("part", "figure", "found", "wanted", "", title="figures", title_justify="left")
    for figure in found:
        verdict = f"[{COLOURS[figure.verdict]}]{figure.verdict}[/]"
        table.add_row(figure.part, figure.what, _found(figure), _wanted(figure), verdict)
    console.print(table)
    verdicts = [figure.verdict for figure in found]
    console.print(", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in COLOURS))


def tables(results: Results) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Title, columns and rows of each table for which there is something."""
    for (name, batch, cores), rows in _settings(results.speed):
        columns = ["ns a state", *QUANTITIES]
        plural = "s" if cores > 1 else ""
        call = "single call" if batch == 1 else f"batch of {batch}"
        yield f"{name}: {call}, {cores} core{plural}", columns, _by_library(rows)
    if results.bounds:
        columns = ["arm", "quantity", "dtype", "states", "ns to compute", "ns to store"]
        body = [
            [b.arm, b.quantity, b.dtype, str(b.states)]
            + [f"{seconds * 1e9:.1f}" for seconds in (b.computing, b.storing)]
            for b in results.bounds
        ]
        yield "what the machine could do at best, a state, one core", columns, body
    if results.startup:
        body = [
            [
                row.what,
                row.arm,
                row.quantity,
                f"{row.seconds * 1e3:.1f}",
                f"{row.median * 1e3:.1f}",
                f"{row.processor * 1e3:.1f}",
            ]
            for row in results.startup
        ]
        columns = ["what", "arm", "quantity", "ms", "median", "ms of processor time"]
        yield "fresh process, import to first result", columns, body
    if results.memory:
        body = [
            [row.quantity, row.form, str(row.threads), f"{row.resident}", f"{row.allocated}"]
            for row in results.memory
        ]
        columns = ["quantity", "inputs", "threads", "resident", "allocated"]
        yield "bytes beyond inputs and outputs", columns, body
    if results.accuracy:
        yield "largest error in eps of the terms", *_accuracy(results)
    if results.growth:
        columns = ["quantity", "n", "instructions", "trace ms", "compile ms", "call us"]
        body = [
            [
                row.quantity,
                str(row.n),
                str(row.instructions),
                f"{row.trace * 1e3:.1f}",
                f"{row.compile * 1e3:.1f}",
                f"{row.call * 1e6:.3f}",
                f"{row.instruction * 1e9:.3f}",
            ]
            for row in results.growth
        ]
        yield "growth, generic arms", [*columns, "ns an instruction"], body


def _settings(rows: list[Row]) -> Iterator[tuple[tuple[str, int, int], list[Row]]]:
    """The rows that were measured in turns: by arm, size of the batch, and cores."""

    def setting(row: Row) -> tuple[str, int, int]:
        return row.arm, row.batch, row.cores

    for key, group in groupby(sorted(rows, key=setting), setting):
        yield key, list(group)


def _by_library(rows: list[Row]) -> list[list[str]]:
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    for row in rows:
        label = (row.library, row.form, row.dtype)
        found.setdefault(label, {})[row.quantity] = f"{row.least * 1e9:.1f}"
    return [
        [
            f"{library}, {form}" + (f", {dtype}" if dtype != "float64" else ""),
            *(times.get(quantity, "") for quantity in QUANTITIES),
        ]
        for (library, form, dtype), times in found.items()
    ]


def _accuracy(results: Results) -> tuple[list[str], list[list[str]]]:
    arms = list(dict.fromkeys(row.arm for row in results.accuracy))
    lines: dict[tuple[str, str], dict[str, str]] = {}
    for row in results.accuracy:
        lines.setdefault((row.quantity, row.dtype), {})[row.arm] = f"{row.error:.2f}"
    body = [[*key, *(errors.get(arm, "") for arm in arms)] for key, errors in lines.items()]
    return ["quantity", "dtype", *arms], body


def _found(figure: Figure) -> str:
    return "" if figure.value is None else f"{figure.value:.3g} {figure.unit}".strip()


def _wanted(figure: Figure) -> str:
    sense = ">=" if figure.at_least else "<="
    return f"{sense} {figure.limit:g} {figure.unit}".strip()


# In files -----------------------------------------------------------------------------------


def write(results: Results, found: list[Figure], directory: Path) -> None:
    """Writes results.json, results.md and, where matplotlib is installed, plots."""
    directory.mkdir(parents=True, exist_ok=True)
    verdicts = [figure._asdict() | {"verdict": figure.verdict} for figure in found]
    content = asdict(results) | {"figures": verdicts}
    (directory / "results.json").write_text(json.dumps(content, indent=1) + "\n")
    (directory / "results.md").write_text(markdown(results, found))
    try:
        from benchmarks import plots
    except ImportError as reason:
        print(f"no plots: {reason}")
    else:
        plots.draw(results, directory)


def markdown(results: Results, found: list[Figure]) -> str:
    """The machine, the tables of speed and the figures."""
    lines = ["# Measured", "", METHOD, ""]
    lines += [f"- {key}: {value}" for key, value in results.machine.items()]
    shown = [table for table in tables(results) if not table[0].startswith(("growth", "bytes"))]
    figures = [[f.part, f.what, _found(f), _wanted(f), f.verdict] for f in found]
    shown.append(("figures", ["part", "figure", "found", "wanted", "verdict"], figures))
    for title, columns, rows in shown:
        lines += ["", f"## {title}", "", _line(columns), _line(["---"] * len(columns))]
        lines += [_line(row) for row in rows]
    return "\n".join(lines) + "\n"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
