"""Every method of the mass matrix over the number of joints: `python -m benchmarks.methods`.

As Fig. 4 of [safeea2018]: the time of one evaluation on random arms of n revolute joints, with
direct kinematics and without, which then is on hand as the paper has it: sines, cosines and link
rotations for all methods, frames in base axes for those that begin with them. The paper's program
was rolled, loops over joints; here a method is recorded once and is straight-line code, but for the
table of products with which GDAHJ and the hybrid end: that is loops where it is *rolled*,
instructions where it is *unrolled*. A method without such a table has one form.

What is timed is machine code called by machine code, so that nothing of Python is in it. All
programs take turns, and the least of many slices counts.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from ctypes import CFUNCTYPE, c_int64, c_void_p
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path
from unittest import mock

import numpy as np

import armdyn
from armdyn.algorithms import catalogue
from armdyn.algorithms.stages import watcher
from armdyn.chain import Chain
from armdyn.counting.tapes import StageTape
from armdyn.engine import jit
from armdyn.program import drivers, tape
from armdyn.program.fma import place_fma
from armdyn.program.interpreter import evaluate
from armdyn.program.passes import drop_unused
from armdyn.program.program import TABLES, Instruction, Op, Program

SIZES = (5, 7, 10, 13, 16, 20, 25, 30, 40, 50, 60, 80, 100)
PATIENCE = 2.0  # [s]: a method that takes longer to trace and compile is not tried on larger arms
ROUNDS = 40
SLICE = 1e-3  # [s]
AGREE = 1e-10  # of the largest element: how much two methods may differ
ON_HAND = "on hand"  # the mark of sines, cosines and link rotations
WITHOUT = (ON_HAND, "kinematics")  # marks of what is not computed without kinematics

REPEAT = """
define void @repeat(ptr %in, ptr %out, i64 %count) {
entry:
  br label %turn
turn:
  %i = phi i64 [ 0, %entry ], [ %next, %turn ]
  call void @single(ptr %in, ptr %out)
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %turn, label %done
done:
  ret void
}
"""
LOOP = CFUNCTYPE(None, c_void_p, c_void_p, c_int64)


@dataclass(frozen=True)
class Row:
    """One evaluation of M by a method, float64 [s]."""

    method: str
    n: int
    rolled: bool
    kinematics: bool
    instructions: int
    seconds: float


class Kernel:
    """A program as machine code that repeats it, on numbers that were given."""

    def __init__(self, program: Program, given: Sequence[float]) -> None:
        self.instructions = len(program.instructions)
        text = drivers.single(program, "float64", jit.machine().lanes("float64", widest=jit.BRISK))
        self._code = jit.LoadedCode(jit.machine_code(text + REPEAT, "repeat"), "repeat")
        self._loop = LOOP(self._code.address)
        self._given, self.M = np.array(given), np.zeros(program.shapes[0])
        self._in = np.array([self._given.ctypes.data], dtype=np.uintp)
        self._out = np.array([self.M.ctypes.data], dtype=np.uintp)
        self._addresses = self._in.ctypes.data, self._out.ctypes.data
        self.count = 1
        while min(self(self.count) for _ in range(3)) < SLICE / 2:
            self.count *= 2

    def __call__(self, count: int) -> float:
        """The seconds of so many evaluations."""
        start = time.perf_counter()
        self._loop(*self._addresses, count)
        return time.perf_counter() - start


def measure(
    methods: Sequence[str], sizes: Sequence[int], rounds: int, patience: float
) -> list[Row]:
    """All methods on arms of all sizes, in each form, as long as making one takes so long."""
    kernels: dict[tuple[str, int, bool, bool], Kernel] = {}
    todo = [(method, rolled) for method in methods for rolled in (True, False)]
    for n in sizes:
        chain = Chain.random(n)
        q = np.random.default_rng(n).uniform(-math.pi, math.pi, n).tolist()
        truth = armdyn.Robot(chain).mass_matrix(q)
        for method, rolled in todo.copy():
            start = time.process_time()
            for kinematics, program, given in forms(chain, method, rolled, q):
                kernel = Kernel(place_fma(program), given)
                apart = float(np.abs(kernel.M - truth).max() / np.abs(truth).max())
                if not apart <= AGREE:
                    raise SystemExit(f"{method} at n = {n} is off by {apart:.1e}")
                kernels[method, n, rolled, kinematics] = kernel
            if time.process_time() - start > patience:
                todo.remove((method, rolled))
    least = dict.fromkeys(kernels, math.inf)
    for _ in range(rounds):
        for key, kernel in kernels.items():
            least[key] = min(least[key], kernel(kernel.count) / kernel.count)
    return [Row(*key, kernels[key].instructions, seconds) for key, seconds in least.items()]


# A method's programs ------------------------------------------------------------------------------


def forms(
    chain: Chain, method: str, rolled: bool, q: list[float]
) -> Iterator[tuple[bool, Program, list[float]]]:
    """(with kinematics, program, its input); none where there is nothing to roll."""
    whole, marks = record(chain, method, rolled)
    if rolled and not any(instruction.op in TABLES for instruction in whole.instructions):
        return
    yield True, drop_unused(whole), q
    rest, handed = without(whole, marks)
    known = Program("known", whole.inputs, whole.instructions, handed, ((len(handed),),))
    yield False, drop_unused(rest), evaluate(drop_unused(known), {"q": q})


def record(chain: Chain, method: str, rolled: bool) -> tuple[Program, list[tuple[str, ...]]]:
    """The program of M, and the marks of its instructions."""
    found = catalogue.find("mass_matrix", method)
    arm = chain.on(float, found.view)
    with mock.patch.object(tape, "LOOPED", 0 if rolled else math.inf):
        stages = StageTape({"q": chain.n}, "dynamics")
        (q,) = stages.arguments()
        with stages.mark(ON_HAND):
            arm.extensions(q)
            for R in arm.rotations(q):
                R.rows()
        stages.put_on_hand()
        token = watcher.set(stages.mark)
        try:
            program = stages.finish(method, found.function(arm, q))
        finally:
            watcher.reset(token)
    return program, stages.marks


def without(program: Program, marks: Sequence[tuple[str, ...]]) -> tuple[Program, tuple[int, ...]]:
    """The program with what its kinematics hands over as inputs, and where that is computed."""
    code = program.instructions
    known = [
        op is Op.INPUT or any(name in marks[k] for name in WITHOUT)
        for k, (op, _, _) in enumerate(code)
    ]
    used = {arg for k, (_, args, _) in enumerate(code) if not known[k] for arg in args}
    used |= set(program.outputs)
    handed = tuple(sorted(k for k in used if known[k] and code[k].op is not Op.CONSTANT))
    place = {k: i for i, k in enumerate(handed)}
    made = [Instruction(Op.INPUT, (), f"known[{i}]") for i in range(len(handed))]
    for k, (op, args, value) in enumerate(code):
        if k not in place and (not known[k] or op is Op.CONSTANT):
            place[k] = len(made)
            made.append(Instruction(op, tuple(place[arg] for arg in args), value))
    outputs = tuple(place[k] for k in program.outputs)
    inputs = {"known": len(handed)}
    return Program(program.name, inputs, tuple(made), outputs, program.shapes).check(), handed


# What is shown ------------------------------------------------------------------------------------


def table(rows: Sequence[Row], kinematics: bool) -> str:
    """Microseconds, a line a method and form, a column a size."""
    sizes = sorted({row.n for row in rows})
    lines: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    looped = {row.method for row in rows if row.rolled}
    for row in rows:
        if row.kinematics == kinematics:
            form = "rolled" if row.rolled else "unrolled" if row.method in looped else ""
            lines[row.method, form][row.n] = row.seconds * 1e6
    found = [f"{'':28}" + "".join(f"{n:>8}" for n in sizes)]
    for (method, form), times in lines.items():
        cells = "".join(f"{times[n]:8.2f}" if n in times else f"{'-':>8}" for n in sizes)
        found.append(f"{method:19}{form:9}{cells}")
    return "\n".join(found)


def gains(rows: Sequence[Row]) -> str:
    """What rolling gains, and CRBA against GDAHJ and the hybrid, at each size."""
    time_of = {(r.method, r.n, r.rolled, r.kinematics): r.seconds for r in rows}
    sizes = sorted({row.n for row in rows})
    found = []

    def line(what: str, above: tuple[str, bool], below: tuple[str, bool], kinematics: bool) -> None:
        cells = ""
        for n in sizes:
            pair = [time_of.get((m, n, rolled, kinematics)) for m, rolled in (above, below)]
            cells += f"{pair[0] / pair[1]:8.2f}" if pair[0] and pair[1] else f"{'-':>8}"
        found.append(f"{what:28}{cells}")

    for kinematics in (True, False):
        found.append("with kinematics" if kinematics else "kinematics on hand")
        for method in ("gdahj", "hybrid"):
            line(f"  {method}, unrolled/rolled", (method, False), (method, True), kinematics)
            line(f"  crba/{method}, rolled", ("crba", False), (method, True), kinematics)
            line(f"  crba/{method}, unrolled", ("crba", False), (method, False), kinematics)
    return "\n".join(found)


def draw(rows: Sequence[Row], path: Path) -> None:
    """Time over n, with kinematics and without; dashed where unrolled loops were possible."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(13, 6), sharey=True)
    looped = {row.method for row in rows if row.rolled}
    names = dict.fromkeys(row.method for row in rows)
    colours = dict(zip(names, cycle(plt.get_cmap("tab20").colors), strict=False))
    for axis, kinematics in zip(axes, (True, False), strict=True):
        for method, colour in colours.items():
            for rolled in (True, False):
                mine = [
                    row
                    for row in rows
                    if (row.method, row.rolled, row.kinematics) == (method, rolled, kinematics)
                ]
                if mine:
                    style = "--" if method in looped and not rolled else "-"
                    label = method + (" (unrolled)" if style == "--" else "")
                    n, us = [row.n for row in mine], [row.seconds * 1e6 for row in mine]
                    axis.loglog(n, us, f".{style}", color=colour, label=label, linewidth=1)
        title = "with kinematics" if kinematics else "kinematics on hand"
        axis.set(xlabel="joints", ylabel="M(q) [us]", title=title)
        axis.grid(alpha=0.3, which="both")
    axes[0].legend(fontsize=7, ncols=2)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main(arguments: list[str] | None = None) -> None:
    """Prints the tables, and writes what it was asked to."""
    parser = argparse.ArgumentParser("python -m benchmarks.methods", description=__doc__)
    known = [m.name for m in catalogue.methods("mass_matrix") if m.exact and not m.registered]

    def names(text: str) -> list[str]:
        return [catalogue.find("mass_matrix", name).name for name in text.split(",")]

    def numbers(text: str) -> list[int]:
        return [int(number) for number in text.split(",")]

    parser.add_argument("--methods", type=names, default=known, help="separated by commas")
    parser.add_argument("--sizes", type=numbers, default=SIZES, help="separated by commas")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="slices of each program")
    parser.add_argument(
        "--patience", type=float, default=PATIENCE, help="seconds to make a method's programs"
    )
    parser.add_argument("--json", type=Path, help="a file for the numbers")
    parser.add_argument("--plot", type=Path, help="a file for the plot")
    options = parser.parse_args(arguments)
    rows = measure(options.methods, options.sizes, options.rounds, options.patience)
    print(f"M of random arms, one evaluation, us; {armdyn.info()['cpu']}")
    for kinematics in (True, False):
        print(f"\n{'with kinematics' if kinematics else 'kinematics on hand'}")
        print(table(rows, kinematics))
    print(f"\nratios\n{gains(rows)}")
    if options.json:
        found = {"cpu": armdyn.info()["cpu"], "rows": [asdict(row) for row in rows]}
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    if options.plot:
        draw(rows, options.plot)


if __name__ == "__main__":
    main()
