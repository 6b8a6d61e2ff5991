"""Runs the corpus: `python -m tests.corpus --help`."""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from tests.corpus import __doc__ as ABOUT
from tests.corpus.examine import CLOSE, MOVED, Finding, examine
from tests.corpus.packages import MORE, PACKAGES, RobotFile, fetch, robot_files
from tests.corpus.workers import results

TABLE = Path(__file__).parent / "expected.csv"
COLUMNS = ("package", "file", "outcome", "then", "joints", "compared with")
FOLDER = Path(__file__).parents[2] / "build" / "corpus"
SLOW = 1.0  # [s] to load a file, above which it is listed
Rows = dict[tuple[str, str], tuple[str, ...]]


def main() -> int:
    """Try all files; returns 1 for a fault or a difference from the table."""
    parser = argparse.ArgumentParser(
        "python -m tests.corpus",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("packages", nargs="*", help="packages, in place of the usual ones")
    parser.add_argument("--more", action="store_true", help="the large packages, too")
    parser.add_argument("--update", action="store_true", help="write the table")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="for the downloads")
    parser.add_argument("--summary", type=Path, help="a file for the counts, in Markdown")
    asked = parser.parse_args()
    known = PACKAGES | MORE
    names = asked.packages or list(known if asked.more else PACKAGES)
    if unknown := [name for name in names if name not in known]:
        parser.error(f"{unknown} are not in packages.py; known: {', '.join(known)}")
    if problem := fetch(names, asked.folder):
        print(f"The corpus is skipped: {problem}")
        return 0
    start = time.monotonic()
    files = list(robot_files(names, asked.folder))
    found = {file: _finding(answer) for file, answer in results(examine, files)}
    text = "\n".join(summary(found))
    print(text, f"\n{time.monotonic() - start:.0f} s")
    if asked.summary:
        asked.summary.write_text(text + "\n", encoding="utf-8")
    rows = {(file.package, file.place): row(finding) for file, finding in found.items()}
    expected = read_table()
    if asked.update:
        write_table({key: v for key, v in expected.items() if key[0] not in names} | rows)
        return 0
    expected = {key: v for key, v in expected.items() if key[0] in names}
    changed = [key for key in sorted(expected | rows) if expected.get(key) != rows.get(key)]
    for key in changed:
        before, after = (", ".join(table.get(key, ["none"])) for table in (expected, rows))
        print(*key, f"\n    expected: {before}\n    found:    {after}")
    return int(bool(changed) or any(finding.faults for finding in found.values()))


def _finding(answer: Finding | str) -> Finding:
    """The finding of a process, or one that says how the process ended."""
    if isinstance(answer, Finding):
        return answer
    return Finding(answer.partition(":")[0], faults=(answer,))


def row(finding: Finding) -> tuple[str, ...]:
    """A file's row of the table, after its package and place."""
    return finding.outcome, finding.then, finding.joints, finding.reference


def read_table() -> Rows:
    """The expected row of each file."""
    if not TABLE.exists():
        return {}
    with TABLE.open(newline="", encoding="utf-8") as file:
        return {(line[0], line[1]): tuple(line[2:]) for line in list(csv.reader(file))[1:]}


def write_table(rows: Rows) -> None:
    """Write the expected row of each file."""
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows((*key, *rows[key]) for key in sorted(rows))


def summary(found: Mapping[RobotFile, Finding]) -> Iterator[str]:
    """Files by outcome, agreement, times and faults."""
    kinds = ("urdf", "mjcf", "xacro")
    counts = Counter((file.kind, _ending(finding)) for file, finding in found.items())
    yield "| outcome | URDF | MJCF | xacro |\n|---|---|---|---|"
    totals = Counter(ending for (_, ending) in counts.elements())
    for ending, _ in totals.most_common():
        yield f"| {ending} | " + " | ".join(str(counts[kind, ending]) for kind in kinds) + " |"
    yield "| in all | " + " | ".join(str(sum(f.kind == k for f in found)) for k in kinds) + " |"
    yield ""
    for reference, errors in _agreement(found).items():
        middle, high, most = np.quantile(errors, (0.5, 0.95, 1.0))
        close = sum(error <= CLOSE for error in errors)
        yield (
            f"{reference}: {len(errors)} robots, {close} within {CLOSE:g}; the largest error of "
            f"each: median {middle:.1e}, 95 % {high:.1e}, all {most:.1e}"
        )
    times = sorted(((f.seconds, file.place) for file, f in found.items()), reverse=True)
    yield f"Load: median {np.median([t for t, _ in times]):.3f} s, most {times[0][0]:.2f} s"
    yield from (f"  {seconds:.1f} s {place}" for seconds, place in times if seconds > SLOW)
    yield from (
        f"FAULT {file.package} {file.place}: {fault}"
        for file, finding in found.items()
        for fault in finding.faults
    )


def _ending(finding: Finding) -> str:
    return finding.outcome + (f", then {finding.then}" if finding.then else "")


def _agreement(found: Mapping[RobotFile, Finding]) -> dict[str, list[float]]:
    """The largest error of each robot, by reference."""
    errors: dict[str, list[float]] = {}
    for finding in found.values():
        for moved in (False, True):
            here = [x for name, x in finding.errors.items() if name.endswith(MOVED) == moved]
            reference = finding.reference.partition(" to ")[0] + MOVED * moved
            errors.setdefault(reference, []).extend([max(here)] if here else [])
    return {reference: most for reference, most in errors.items() if most}


if __name__ == "__main__":
    sys.exit(main())
