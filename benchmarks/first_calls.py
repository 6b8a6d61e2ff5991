"""The cost of first calls in fresh processes: recording, passes, LLVM.

    python -m benchmarks.first_calls
    python -m benchmarks.first_calls --against ../older/src   # in turns with another tree

Numbers are seconds of processor time, of all threads, the least of several processes. Imports of
armdyn and torch and the loading of the arm are not in them. ``cold`` starts with an empty disk
cache. ``known`` starts with the same function's other kernel on disk, that for a batch or that for
one state, and ``cached`` with the kernel itself.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ONE, MANY = "x", "X"
CALLS = {  # what is called, on {0}; whether that is one state or many
    "mass_matrix": ("robot.mass_matrix({0})", ONE),
    "inverse_dynamics": ("robot.inverse_dynamics({0}, {0}, {0})", ONE),
    "forward_dynamics": ("robot.forward_dynamics({0}, {0}, {0})", ONE),
    "inverse_dynamics_derivatives": ("robot.inverse_dynamics_derivatives({0}, {0}, {0})", ONE),
    "forward_dynamics_derivatives": ("robot.forward_dynamics_derivatives({0}, {0}, {0})", ONE),
    "the same of 100 states": ("robot.forward_dynamics_derivatives({0}, {0}, {0})", MANY),
    "linearize": ("armdyn.linearize(robot, {0}, {0}, {0}, 1e-3)", ONE),
    "torch forward and backward": (
        "robot.forward_dynamics(*map(tensor, ({0}, {0}, {0}))).sum().backward()",
        ONE,
    ),
}
WAYS = ("cold", "known", "cached")
PROGRAM = """
import gc, sys, time
import numpy as np
import armdyn
arm, call = sys.argv[1:]
robot = armdyn.load(arm)
x, X = np.full(robot.n, 0.1), np.full((100, robot.n), 0.1)
if "tensor" in call:
    import torch
    tensor = lambda array: torch.tensor(array, requires_grad=True)
    tensor(x).sum().backward()
gc.collect()  # what imports have left, which would be collected at any moment
start = time.process_time()
exec(call)
print(time.process_time() - start)
"""


def seconds(source: Path, arm: str, name: str, way: str) -> float:
    """Processor time of one first call in a fresh process, by armdyn from that directory."""
    call, states = CALLS[name]
    other = MANY if states == ONE else ONE
    before = {"cold": (), "known": (other,), "cached": (states,)}[way]
    with tempfile.TemporaryDirectory() as cache:
        *_, found = (_run(source, cache, arm, call.format(x)) for x in (*before, states))
    return found


def _run(source: Path, cache: str, arm: str, call: str) -> float:
    keeping = {"ARMDYN_CACHE_DIR": cache, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPATH": str(source)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, arm, call],
        env={**os.environ, **keeping},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each call."""
    here = Path(__file__).parents[1] / "src"
    parser = argparse.ArgumentParser("python -m benchmarks.first_calls", description=__doc__)
    parser.add_argument("--arm", default="panda")
    parser.add_argument("--calls", default=",".join(CALLS), help="separated by commas")
    parser.add_argument("--ways", default=",".join(WAYS), help="separated by commas")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--against", type=Path, help="directory that has another armdyn")
    options = parser.parse_args(arguments)
    trees = [here] if options.against is None else [options.against.resolve(), here]
    for name in options.calls.split(","):
        for way in options.ways.split(","):
            least = [float("inf")] * len(trees)
            for _ in range(options.rounds):
                for k, tree in enumerate(trees):
                    least[k] = min(least[k], seconds(tree, options.arm, name, way))
            ratio = f"  {least[-1] / least[0] - 1:+.0%}" if len(least) > 1 else ""
            print(f"{name:30} {way:7}", *(f"{x:7.3f}" for x in least), ratio, flush=True)


if __name__ == "__main__":
    main()
