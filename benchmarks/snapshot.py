"""What every shipped arm costs now, kept in a file, and compared with what it cost before.

    python -m benchmarks.snapshot --save before.json      # in the older tree
    python -m benchmarks.snapshot --against before.json   # in the newer one; fails if a cost rose

Uses public names only, so that it runs on an older tree too (as a file, by that tree's Python).
Costs are exact. Times are the least of many, and cannot take turns across two trees: each is given
in nanoseconds and in turns of a fixed loop that is timed beside it, which cancels what slows down
the whole machine for a while. No verdict hangs on a time.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from timeit import Timer
from typing import Any

import numpy as np

import armdyn
from armdyn.export import c_files

QUANTITIES = {  # and how many vectors of n numbers each takes
    "mass_matrix": 1,
    "bias": 2,
    "gravity": 1,
    "christoffel": 1,
    "coriolis_matrix": 2,
    "inverse_dynamics": 3,
    "forward_dynamics": 3,
    "pose": 1,
    "jacobian": 1,
    "influence": 1,
    "energy": 2,
    "regressor": 3,
}
BATCH = 4096
TURNS = 1000  # of the fixed loop
SLICE = 1e-3  # [s] of calls timed together
INFO = ("armdyn", "python", "numpy", "llvmlite", "cpu", "call_path")
IMPORT = """
import time, numpy  # which any user of arrays has imported
start = time.perf_counter()
import armdyn
armdyn.load
print(time.perf_counter() - start)
"""


@dataclass(frozen=True)
class Entry:
    """One quantity of one arm; times are None where none were taken."""

    arm: str
    quantity: str
    method: str | None  # None where there is only one
    cost: int  # additions, subtractions, multiplications, and 8 for each division
    instructions: int  # these, sines, cosines and changes of sign
    call: float | None = None  # [ns]
    state: float | None = None  # [ns] in a batch of BATCH, on one thread, in place
    call_turns: float | None = None  # the same in turns of the fixed loop
    state_turns: float | None = None


# Taking a snapshot --------------------------------------------------------------------------------


def take(arms: Sequence[str], quantities: Sequence[str], rounds: int) -> dict[str, Any]:
    """Everything asked for; without rounds, no times."""
    entries = [asdict(entry) for entry in _entries(arms, quantities, rounds)]
    info = armdyn.info()
    return {
        "package": str(Path(armdyn.__file__).parent),
        "info": {name: str(info.get(name)) for name in INFO},
        "import_ms": 1e3 * min(map(_import, range(rounds))) if rounds else None,
        "entries": entries,
    }


def _entries(arms: Sequence[str], quantities: Sequence[str], rounds: int) -> Iterator[Entry]:
    for arm in arms:
        robot = armdyn.load(arm)
        for quantity in quantities:
            entry = count(robot, arm, quantity)
            yield time(robot, entry, rounds) if rounds else entry


def count(robot: Any, arm: str, quantity: str) -> Entry:
    """The method that was chosen and its program's cost, read off the program as exported C."""
    files = c_files(robot.chain, [quantity])
    (header,) = (text for name, text in files.items() if name.endswith("_dynamics.h"))
    (source,) = (text for name, text in files.items() if name.endswith("_dynamics.c"))
    method = re.search(r"Method:[\s*]+([\w-]+)\.", header)
    lines = re.findall(r"^    const double v\d+ = (.+);$", source, re.M)
    operations = Counter(sign for line in lines for sign in line.split()[1:2])
    cost = operations["+"] + operations["-"] + operations["*"] + 8 * operations["/"]
    return Entry(arm, quantity, method and method[1], cost, len(lines))


def time(robot: Any, entry: Entry, rounds: int) -> Entry:
    """The entry with its times, each round beside the fixed loop."""
    function = getattr(robot, entry.quantity)
    rng = np.random.default_rng(0)
    many = rng.uniform(-1, 1, (QUANTITIES[entry.quantity], BATCH, robot.n))
    one = [x[0].copy() for x in many]
    out = function(*many, threads=1)
    timed: dict[str, Callable[[], object]] = {
        "call": lambda: function(*one),
        "state": lambda: function(*many, out=out, threads=1),
        "loop": _loop,
    }
    least = dict.fromkeys(timed, math.inf)
    for _ in range(rounds):
        for name, call in timed.items():
            least[name] = min(least[name], _slice(call))
    call, state, loop = least["call"], least["state"] / BATCH, least["loop"] / TURNS
    measured = {"call": 1e9 * call, "state": 1e9 * state}
    turns = {"call_turns": call / loop, "state_turns": state / loop}
    return Entry(**{**asdict(entry), **measured, **turns})


def _loop() -> float:
    """The fixed loop: plain Python, so that no change of armdyn can change it."""
    total = 0.0
    for k in range(TURNS):
        total += k * 0.5
    return total


def _slice(call: Callable[[], object]) -> float:
    """Seconds a call, over about a slice of calls."""
    timer = Timer("call()", globals={"call": call})
    once = max(timer.timeit(1), 1e-8)
    number = max(1, round(SLICE / once))
    return timer.timeit(number) / number


def _import(_: int) -> float:
    keeping = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}  # byte code, as installing does
    command = [sys.executable, "-c", IMPORT]
    done = subprocess.run(command, env=keeping, capture_output=True, check=True)
    return float(done.stdout)


# Comparing ----------------------------------------------------------------------------------------


def compare(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Print what differs; whether no cost rose and nothing that was there is missing."""
    old, new = (
        {(e["arm"], e["quantity"]): e for e in found["entries"]} for found in (before, after)
    )
    missing = [key for key in old if key not in new]
    risen = 0
    for key in old.keys() & new.keys():
        risen += new[key]["cost"] > old[key]["cost"]
        if any(old[key][name] != new[key][name] for name in ("method", "cost", "instructions")):
            print(*key, _said(old[key]), "->", _said(new[key]))
    for key in missing:
        print(*key, "is missing")
    print(f"costs: {len(old.keys() & new.keys())} compared, {risen} rose, {len(missing)} missing")
    for name in ("call", "state"):
        _compare_times(name, [(old[key], new[key]) for key in old if key in new])
    if before["import_ms"] and after["import_ms"]:
        print(f"import: {before['import_ms']:.1f} -> {after['import_ms']:.1f} ms")
    return not risen and not missing


def _said(entry: dict[str, Any]) -> str:
    method = entry["method"] or "-"
    return f"{method} cost {entry['cost']} ({entry['instructions']} instructions)"


def _compare_times(name: str, pairs: Sequence[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    """The geometric means of the ratios of times, raw and in turns, and the worst of each."""
    timed = [(old, new) for old, new in pairs if old[name] and new[name]]
    for unit, key in (("ns", name), ("turns", f"{name}_turns")):
        ratios = {(new["arm"], new["quantity"]): new[key] / old[key] for old, new in timed}
        if ratios:
            mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
            worst = max(ratios, key=lambda place: ratios[place])
            print(
                f"{name} in {unit}: after / before {mean:.3f} on average, "
                f"at worst {ratios[worst]:.3f} ({' '.join(worst)})"
            )


def show(found: dict[str, Any]) -> None:
    """Print a snapshot, a line an entry."""
    for entry in found["entries"]:
        times = "".join(
            f", {name} {entry[name]:.1f} ns ({entry[f'{name}_turns']:.2f} turns)"
            for name in ("call", "state")
            if entry[name] is not None
        )
        print(f"{entry['arm']} {entry['quantity']}: {_said(entry)}{times}")
    if found["import_ms"]:
        print(f"import: {found['import_ms']:.1f} ms")


def main(arguments: Sequence[str] | None = None) -> int:
    """Take a snapshot and show it, save it or compare it."""
    parser = argparse.ArgumentParser("python -m benchmarks.snapshot", description=__doc__)
    several = {"type": lambda text: tuple(text.split(","))}
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the snapshot there")
    parser.add_argument("--against", type=Path, metavar="FILE", help="compare with that snapshot")
    parser.add_argument("--arms", default=armdyn.robots(), help="separated by commas", **several)
    parser.add_argument(
        "--quantities", default=tuple(QUANTITIES), help="separated by commas", **several
    )
    parser.add_argument("--rounds", type=int, default=20, help="of timing; 0: costs only")
    options = parser.parse_args(arguments)
    before = json.loads(options.against.read_text()) if options.against else None
    found = take(options.arms, options.quantities, options.rounds)
    if options.save:
        options.save.write_text(json.dumps(found, indent=1) + "\n")
    if before is None:
        show(found)
        return 0
    return 0 if compare(before, found) else 1


if __name__ == "__main__":
    sys.exit(main())
